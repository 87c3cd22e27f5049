"""One daemon after the other: who began, who is dead, and that the dead write nothing any more."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest

from bench.trace import counting
from sisimpur.shared.model.errors import Replaced
from sisimpur.shared.store.activity import STOPPED, Activity, Epoch, Epochs
from sisimpur.shared.store.database import Database
from sisimpur.shared.system.clock import ManualClock
from tests.killing import finishes, killed_at, points, snippet

NOW = datetime(2026, 11, 20, 8, tzinfo=UTC)
LATER, LATEST = NOW + timedelta(hours=1), NOW + timedelta(hours=2)
ONE_LIFE = """
    import sys
    from datetime import datetime, UTC
    from pathlib import Path
    from sisimpur.shared.store.database import Database
    from sisimpur.shared.store.activity import Epochs

    db = Database(Path(sys.argv[1]))
    epochs, now = Epochs(db), datetime(2026, 11, 20, 8, tzinfo=UTC)
    number = epochs.begin(7, now)
    db.guard(number)
    epochs.ready(number, now)
    epochs.seen(number, now)
    epochs.end(number, now, "stopped")
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "agents.db"


@pytest.fixture
def db(path: Path) -> Iterator[Database]:
    db = Database(path)
    yield db
    db.close()


def a_run_without_end(db: Database, agent: str = "coder") -> None:
    with Activity(db).running(agent, "2026-11-20", ManualClock(NOW), "t", 1):
        pass
    with db.transaction() as connection:
        connection.execute("update agent_runs set ended_at = null, result = null")


# --- one after the other -------------------------------------------------------------------------------------


def test_where_nobody_ever_began_there_is_no_last_one(db: Database) -> None:
    assert Epochs(db).last() is None


def test_each_has_the_next_number_and_the_newest_is_the_last(db: Database) -> None:
    epochs = Epochs(db)
    assert [epochs.begin(pid, NOW) for pid in (70, 71, 72)] == [1, 2, 3]
    assert epochs.last() == Epoch(3, 72, NOW, None, NOW, None, "")


def test_a_life_is_told_from_its_begin_to_its_end(db: Database) -> None:
    epochs = Epochs(db)
    number = epochs.begin(70, NOW)
    epochs.ready(number, LATER)
    assert epochs.last() == Epoch(1, 70, NOW, LATER, LATER, None, "")
    epochs.seen(number, LATEST)
    epochs.end(number, LATEST, STOPPED)
    assert epochs.last() == Epoch(1, 70, NOW, LATER, LATEST, LATEST, STOPPED)


def test_who_ended_without_a_word_ended_at_its_last_sign_of_life(db: Database) -> None:
    epochs = Epochs(db)
    epochs.seen(epochs.begin(70, NOW), LATER)
    epochs.begin(71, LATEST)
    row = db.row("select ended_at, how from epochs where number = 1")
    assert row and (datetime.fromisoformat(row["ended_at"]), row["how"]) == (LATER, "cut off")


def test_an_end_that_was_told_is_kept_by_the_next_begin(db: Database) -> None:
    epochs = Epochs(db)
    epochs.end(epochs.begin(70, NOW), LATER, "a bug")
    epochs.begin(71, LATEST)
    row = db.row("select ended_at, how from epochs where number = 1")
    assert row and (datetime.fromisoformat(row["ended_at"]), row["how"]) == (LATER, "a bug")


def test_the_runs_of_the_dead_end_with_the_next_begin_and_are_no_problem_of_the_day(db: Database) -> None:
    a_run_without_end(db)
    Epochs(db).begin(70, LATER)
    row = db.row("select ended_at, result from agent_runs")
    assert row and (row["ended_at"], row["result"]) == (LATER.isoformat(), "cut off: the program ended")
    assert Activity(db).open_runs() == ()
    assert Activity(db).bad_ends("2026-11-20") == ()


# --- the guard -----------------------------------------------------------------------------------------------


def test_who_was_replaced_writes_nothing_any_more_but_may_look(db: Database, path: Path) -> None:
    db.guard(Epochs(db).begin(70, NOW))
    with db.transaction() as connection:
        connection.execute("insert into cap_raises values ('2026-11-20', 1, 'now', 'ours')")
    Epochs(Database(path)).begin(71, LATER)
    with pytest.raises(Replaced, match="another daemon has taken over"), db.transaction() as connection:
        connection.execute("delete from cap_raises")
    with pytest.raises(Replaced):
        Epochs(db).seen(1, LATEST)
    assert [row["why"] for row in db.rows("select why from cap_raises")] == ["ours"]


def test_the_newest_epoch_is_read_again_when_anybody_else_has_written_and_only_then(path: Path) -> None:
    """Under the write lock, where nobody else can: what was read before is as true as what would be read now."""
    with counting() as trace, closing(Database(path)) as db, closing(Database(path)) as owners:
        db.guard(Epochs(db).begin(70, NOW))
        days = count()

        def reads(writer: Database) -> int:
            before = trace.reads
            with writer.transaction() as connection:
                connection.execute("insert into upkeep_looks values (?, '')", (next(days),))  # no audit hears of it
            return trace.reads - before

        assert [reads(db), reads(db), reads(db)] == [1, 0, 0]
        assert [reads(owners), reads(db), reads(db)] == [0, 1, 0]
        Epochs(owners).begin(71, LATER)
        for _ in range(2):
            with pytest.raises(Replaced):
                reads(db)


def test_the_guard_holds_in_every_thread(db: Database, path: Path) -> None:
    db.guard(Epochs(db).begin(70, NOW))
    Epochs(Database(path)).begin(71, LATER)
    said: list[str] = []

    def work() -> None:
        try:
            Epochs(db).seen(1, LATEST)
        except Replaced:
            said.append("replaced")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert said == ["replaced"]


def test_a_transaction_that_is_refused_keeps_nobody_else_waiting(db: Database, path: Path) -> None:
    db.guard(Epochs(db).begin(70, NOW))
    other = Database(path)
    number = Epochs(other).begin(71, LATER)
    with pytest.raises(Replaced):
        Epochs(db).seen(1, LATEST)
    Epochs(other).seen(number, LATEST)  # would wait ten seconds for the lock, and fail


def test_the_owners_commands_are_of_no_epoch(db: Database, path: Path) -> None:
    owners = Database(path)
    Epochs(db).begin(70, NOW)
    with owners.transaction() as connection:
        connection.execute("insert into cap_raises values ('2026-11-20', 1, 'now', 'his')")
    assert db.row("select 1 from cap_raises") is not None


# --- killed in between ---------------------------------------------------------------------------------------


def test_killed_anywhere_the_next_one_begins_above_it_and_one_alone_is_open(path: Path) -> None:
    life = snippet(ONE_LIFE, str(path))
    passed = [name for name in points(snippet(ONE_LIFE, str(path.with_name("clean.db")))) if name.startswith("epoch")]
    assert passed == ["epoch.begun", "epoch.ended"]
    for number, point in enumerate(passed, 1):
        killed_at(point, life)
        last = Epochs(Database(path)).last()
        assert last and (last.number, last.ended is None) == (number, point == "epoch.begun")
    finishes(life)
    rows = Database(path).rows("select how from epochs order by number")
    assert [row["how"] for row in rows] == ["cut off", STOPPED, STOPPED]


def test_a_pid_says_nothing_about_who_is_the_newest(db: Database) -> None:
    epochs = Epochs(db)
    first, second = epochs.begin(os.getpid(), NOW), epochs.begin(os.getpid(), LATER)
    db.guard(first)
    with pytest.raises(Replaced):
        epochs.ready(second, LATEST)
