"""The audit: every fact leaves a row in its own transaction; none is taken, changed, swapped or put in unseen."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from sisimpur.cli.app import main
from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.record.audit import AuditBook, AuditRow, moment_of
from sisimpur.shared.store.activity import Epochs
from sisimpur.shared.store.chain import heard_by
from sisimpur.shared.store.database import Database
from tests.books import new_book
from tests.journey.stage import repository

pytestmark = pytest.mark.disk
NOW = datetime(2026, 11, 22, 9, 30, tzinfo=UTC)
TASK = "insert into tasks values ('t', 'a title', 'g', 'w', 'high', '2026-11-22', '', '')"
RULING = "insert into rulings (task, subject, kind, why, at) values ('t', 'x', 'approve', 'because', ?)"
FACTS = {  # of each kind: how it is written
    "task": (
        "insert into task_events (task, at, event, from_state, to_state)"
        " values ('t', '2026-11-22', 'merged', 'in_review', 'completed')",
        "update task_events set done = 1",
    ),
    "attempt": (
        "insert into attempts (task, number, round, started_at) values ('t', 1, 1, '2026-11-22')",
        "update attempts set outcome = 'ok', ended_at = '2026-11-22'",
    ),
    "check": (
        "insert into gate_runs values ('t', 'abc', 'check', 1, '2026-11-22', null)",
        "update gate_runs set answer_json = '{}'",
    ),
    "review": (
        "insert into gate_runs values ('t', 'abc', 'review', 1, '2026-11-22', null)",
        "update gate_runs set answer_json = '{}'",
    ),
    "epoch": (
        "insert into epochs (number, kind, pid, began_at) values (7, 'daemon', 1, '2026-11-22')",
        "update epochs set ended_at = '2026-11-23', how = 'it was stopped'",
    ),
    "waiver": ("insert into waivers values ('t', 'u', '', '2026-11-22')",),
    "answer": ("insert into answers values ('g', 'w', 'which?', 'that', '2026-11-22')",),
    "cap": ("insert into cap_raises values ('2026-11-22', 1, '2026-11-22', '')",),
    "effect": (
        "insert into intents values ('k', 'push', 't', 'd', 'planned', '', '2026-11-22')",
        "update intents set state = 'done', external_id = '7'",
    ),
    "deploy": (
        "insert into deploys (place, commit_id, back_to, asked, stage, begun_at)"
        " values ('production', 'abc', '', 0, 'begun', '2026-11-22')",
    ),
    "order": ("insert into deploy_orders (place, commit_id, at) values ('production', 'abc', '2026-11-22')",),
    "pause": ("insert into deploy_pauses (at, why) values ('2026-11-22', '')",),
    "notice": (
        "insert into notices (key, service, digest, notice_json, at, state)"
        " values ('k', 'discord', 'd', '{}', '2026-11-22', 'sending')",
        "update notices set state = 'delivered'",
    ),
    "plan": ("insert into daily_plans (day) values ('2026-11-22')", "update daily_plans set plan_json = '{}'"),
    "vision": ("insert into visions (day, digest, vision_json, guards_json) values ('2026-11-22', 'd', '{}', '[]')",),
}


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    with closing(new_book(tmp_path / "agents.db")) as db:
        with db.transaction() as connection:
            connection.execute(TASK)
        yield db


def rule(db: Database, times: int = 1, at: datetime = NOW) -> None:
    for _ in range(times):
        with db.transaction() as connection:
            connection.execute(RULING, (at.isoformat(),))


def all_rows(db: Database) -> list[AuditRow]:
    return list(AuditBook(db).rows())


# --- what is written -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", FACTS)
def test_each_fact_leaves_a_sealed_row_in_its_own_transaction(db: Database, kind: str) -> None:
    with suppress(ZeroDivisionError), db.transaction() as connection:
        for sql in FACTS[kind]:
            connection.execute(sql)
        _ = 1 / 0
    assert all_rows(db) == []
    with db.transaction() as connection:
        for sql in FACTS[kind]:
            connection.execute(sql)
    found = all_rows(db)
    assert {row.kind for row in found} == {kind} and all(row.hash and row.via == "terminal" for row in found)
    assert AuditBook(db).check().rows == len(found)


def test_a_row_says_whose_word_it_was_and_from_where(db: Database) -> None:
    rule(db)
    db.guard(Epochs(db).begin(1, NOW))
    rule(db)
    with heard_by("pull request"):
        rule(db)
        with db.transaction() as connection:
            connection.execute(FACTS["attempt"][0])
    told = [(row.kind, row.actor, row.via) for row in all_rows(db) if row.kind != "epoch"]
    assert told == [
        ("ruling", "owner", "terminal"),
        ("ruling", "owner", "file"),
        ("ruling", "owner", "pull request"),
        ("attempt", "team", "daemon"),
    ]


def test_what_a_plain_connection_writes_is_sealed_by_the_next_transaction(db: Database) -> None:
    with closing(sqlite3.connect(db.path)) as other, other:
        other.execute(RULING, ("2026-11-22",))
    assert [row.hash for row in all_rows(db)] == [""]
    rule(db)
    assert all(row.hash for row in all_rows(db))
    assert AuditBook(db).check().rows == 2


def test_a_kill_before_the_end_leaves_neither_fact_nor_row_and_one_after_it_both(db: Database) -> None:
    path = db.path
    db.close()
    for is_whole in (False, True):
        if (child := os.fork()) == 0:
            own = Database(path)
            with own.transaction() as connection:
                connection.execute(RULING, (NOW.isoformat(),))
                if not is_whole:
                    os._exit(9)
            os._exit(9)
        os.waitpid(child, 0)
        assert [len(db.rows(f"select * from {name}")) for name in ("rulings", "audit")] == [is_whole] * 2
        db.close()
    assert AuditBook(db).check().rows == 1


def test_a_clock_that_is_set_back_harms_nothing(db: Database) -> None:
    rule(db)
    rule(db, at=NOW - timedelta(days=400))
    assert [row.seq for row in all_rows(db)] == [1, 2]
    assert AuditBook(db).check().rows == 2


# --- what is found -------------------------------------------------------------------------------------------

LONG = 6
COLUMN = some.sampled_from(["at", "kind", "actor", "via", "subject", "commit_id", "detail", "hash"])
ROW = some.integers(1, LONG)
NAMES = "at, kind, actor, via, subject, commit_id, detail, hash"


def tampered(db: Database, *steps: str) -> None:
    """By somebody who takes the guards away first."""
    with closing(sqlite3.connect(db.path)) as other, other:
        for guard in ("audit_stays", "audit_is_sealed"):
            other.execute(f"drop trigger if exists {guard}")
        for step in steps:
            other.execute(step)


def check_is_broken(steps: tuple[str, ...], folder: Path) -> None:
    path = folder / "tampered.db"
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(folder / "agents.db")) as whole, closing(sqlite3.connect(path)) as copy:
        whole.backup(copy)
    with closing(Database(path)) as db:
        assert AuditBook(db).check().rows == LONG
        tampered(db, *steps)
        with pytest.raises(Misconfigured, match=r"row \d+ of the audit"):
            AuditBook(db).check()


FEW = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def long(db: Database) -> Path:
    for number in range(LONG):
        rule(db, at=NOW + timedelta(minutes=number))
    return db.path.parent


@FEW
@given(row=ROW, column=COLUMN)
def test_a_changed_row_is_found(long: Path, row: int, column: str) -> None:
    value = "iif(actor = 'team', 'owner', 'team')" if column == "actor" else f"{column} || 'x'"
    check_is_broken((f"update audit set {column} = {value} where seq = {row}",), long)


@FEW
@given(row=ROW)
def test_a_row_that_is_gone_is_found_the_last_one_too(long: Path, row: int) -> None:
    check_is_broken((f"delete from audit where seq = {row}",), long)


@FEW
@given(row=some.integers(1, LONG - 1))
def test_two_rows_that_were_swapped_are_found(long: Path, row: int) -> None:
    moves = ((row, 99), (row + 1, row), (99, row + 1))
    check_is_broken(tuple(f"update audit set seq = {to} where seq = {of}" for of, to in moves), long)


@FEW
@given(row=ROW, of=ROW)
def test_a_row_that_was_put_in_is_found(long: Path, row: int, of: int) -> None:
    moved = tuple(f"update audit set seq = {number + 1} where seq = {number}" for number in range(LONG, row - 1, -1))
    copy = f"insert into audit (seq, {NAMES}) select {row}, {NAMES} from audit where seq = {of + (of >= row)}"
    check_is_broken((*moved, copy), long)


def test_a_row_without_a_hash_among_sealed_ones_is_found(long: Path) -> None:
    check_is_broken(("update audit set hash = '' where seq = 3",), long)


def test_a_row_whose_bytes_are_no_text_any_more_is_told_in_one_line(long: Path) -> None:
    with closing(Database(long / "agents.db")) as db:
        tampered(db, "update audit set detail = cast(x'7bff7d' as text) where seq = 3")
        with pytest.raises(Misconfigured, match="holds a text that was changed or damaged; put a copy back"):
            AuditBook(db).check()


@pytest.mark.parametrize("sql", ["delete from audit", "update audit set detail = '{}'"])
def test_the_database_itself_keeps_what_was_written(db: Database, sql: str) -> None:
    rule(db)
    with pytest.raises(sqlite3.IntegrityError, match="stays in the audit"), db.transaction() as connection:
        connection.execute(sql)


def test_a_message_that_tells_the_head_does_not_change_it(db: Database) -> None:
    assert AuditBook(db).head() is None
    rule(db, 2)
    head = AuditBook(db).head()
    for kind in ("notice", "epoch"):
        with db.transaction() as connection:
            for sql in FACTS[kind]:
                connection.execute(sql)
    assert head == AuditBook(db).head() and head and head.rows == 2
    rule(db)
    assert (newest := AuditBook(db).head()) and newest.rows > 2


def test_a_head_that_was_told_is_found_in_a_chain_that_has_grown_since_and_not_in_another(long: Path) -> None:
    with closing(Database(long / "agents.db")) as db:
        told = AuditBook(db).head()
        rule(db, 3)
        assert told and AuditBook(db).holds(told.hash) == AuditBook(db).holds(told.hash[:12]) == told
        for wrong, words in (
            ("f" * 64, "compare with a backup"),
            ("abc", "at least 12 letters"),
            ("_" * 12, "no head"),
        ):
            with pytest.raises(Misconfigured, match=words):
                AuditBook(db).holds(wrong)


# --- asking --------------------------------------------------------------------------------------------------


def test_what_is_asked_for_by_time_is_the_moment_whatever_zone_the_row_names(db: Database) -> None:
    rule(db, at=NOW - timedelta(hours=3))
    rule(db, at=(NOW - timedelta(hours=1)).astimezone())
    assert [row.seq for row in AuditBook(db).rows(moment_of("2h", NOW))] == [2]
    assert [row.seq for row in AuditBook(db).rows(moment_of("today", NOW))] == [1, 2]
    assert list(AuditBook(db).rows(moment_of("yesterday", NOW), kind="deploy")) == []
    assert list(AuditBook(db).rows(NOW + timedelta(days=9))) == []
    with pytest.raises(Misconfigured, match="write a day"):
        moment_of("soon", NOW)


def test_yesterday_is_told_quickly_in_a_home_of_years(db: Database) -> None:
    with db.transaction() as connection:
        connection.execute(
            "with recursive n(i) as (select 1 union all select i + 1 from n where i < 300000)"
            " insert into audit (at, kind, actor, subject, commit_id, detail, hash)"
            " select strftime('%Y-%m-%dT%H:%M:%S+00:00', '2024-01-01', '+' || (i * 5) || ' minutes'), 'task', 'team',"
            " 't', '', '{}', 'x' from n"
        )
    (last,) = db.rows("select max(at) at from audit")
    begun = time.perf_counter()
    found = len(list(AuditBook(db).rows(datetime.fromisoformat(last["at"]) - timedelta(days=1))))
    took = time.perf_counter() - begun
    assert 280 <= found <= 290
    assert took < 0.5


def test_the_command_tells_what_the_owner_did_and_names_a_changed_row(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home"

    def typed(*words: str) -> int:
        return main(["--home", str(home), *words])

    assert typed("init", "--target", str(repository(tmp_path / "site"))) == 0
    capsys.readouterr()
    assert typed("audit") == 0
    assert capsys.readouterr().out == "nothing of what you asked for is written down yet\n"
    assert typed("audit", "--json") == 0
    assert capsys.readouterr().out == ""
    assert typed("raise-cap", "12.50", "--why", "a big day") == 0
    capsys.readouterr()
    assert typed("audit", "--since", "yesterday") == 0
    assert "owner (terminal)" in (told := capsys.readouterr().out) and "why a big day" in told
    assert typed("audit", "verify") == 0
    assert "1 row, chain whole, head " in capsys.readouterr().out
    with closing(Database(home / ".state" / "agents.db")) as db:
        head = AuditBook(db).head()
    assert typed("raise-cap", "13.00") == 0
    assert head and typed("audit", "verify", "--head", head.hash) == 0
    assert "it still holds the head" in capsys.readouterr().out
    assert typed("audit", "--head", head.hash) == 1
    assert "audit verify --head" in capsys.readouterr().err
    with closing(Database(home / ".state" / "agents.db")) as db:
        tampered(db, "update audit set detail = '{}'")
    assert typed("audit", "verify") == 1
    assert capsys.readouterr().err.startswith("audit: row 1 of the audit")
