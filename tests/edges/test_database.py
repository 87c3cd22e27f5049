"""The memory's door: one connection for all threads of a process, which reads again only what may have changed."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pydantic import ValidationError

from bench.trace import counting
from sisimpur.shared.model.errors import Unavailable
from sisimpur.shared.store.database import SCHEMA, Database, row_to, statements
from tests.killing import EVERY_POINT, killed_at, points, snippet

pytestmark = pytest.mark.disk


def test_the_files_of_the_schema_are_numbered_without_a_gap() -> None:
    """Of two with one number, or after a gap, an older home would miss one for ever."""
    numbers = [int(path.name[:4]) for path in sorted(SCHEMA.glob("*.sql"))]
    assert numbers == list(range(1, len(numbers) + 1))


MAKES = """
    import sys
    from pathlib import Path
    from sisimpur.shared.store.database import Database
    Database(Path(sys.argv[1]))
"""


def test_killed_between_two_steps_of_the_schema_the_next_start_makes_all_of_it(tmp_path: Path) -> None:
    """Homes of other tests have it made already (tests/books.py)."""
    passed = points(snippet(MAKES, str(tmp_path / "whole.db")))
    steps = passed.count("migrate.step")
    assert steps == len([*SCHEMA.glob("*.sql")])
    whole = schema_of(tmp_path / "whole.db")
    for number in range(1, steps + 1) if EVERY_POINT else (1, steps // 2, steps):
        path = tmp_path / f"{number}.db"
        killed_at(f"migrate.step#{number}", snippet(MAKES, str(path)))
        with closing(sqlite3.connect(path)) as left:
            assert left.execute("pragma user_version").fetchone() == (0,), "half a schema"
        Database(path).close()
        assert schema_of(path) == whole


def schema_of(path: Path) -> list[tuple[object, ...]]:
    """What it is made of, and the step that it has come to."""
    with closing(sqlite3.connect(path)) as book:
        rows = book.execute("select type, name, tbl_name, sql from sqlite_schema order by type, name").fetchall()
        return [*rows, *book.execute("pragma user_version").fetchall()]


# --- threads -------------------------------------------------------------------------------------------------

THREADS, TURNS = 16, 12


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    with closing(Database(tmp_path / "agents.db")) as db:
        with db.transaction() as connection:
            connection.execute("create table notes (thread, turn, half)")
        yield db


def test_what_a_thread_writes_is_there_once_and_what_it_takes_back_is_not_whatever_others_do(db: Database) -> None:
    """No write is lost, none is taken back by another thread, and nobody sees half of one."""
    halves = "select thread, turn, count(*) found from notes group by thread, turn having found <> 2"
    begin, failures = threading.Barrier(THREADS), []

    def work(thread: int) -> None:
        begin.wait()
        for turn in range(TURNS):
            with suppress(ZeroDivisionError), db.transaction() as connection:
                connection.execute("insert into notes values (?, ?, 1)", (thread, turn))
                connection.execute("insert into notes values (?, ?, 2)", (thread, turn))
                _ = 1 / (turn % 3)  # every third is taken back
            failures.extend(db.rows(halves))
            failures.extend(db.rows("select * from notes where thread = ? and turn % 3 = 0", (thread,)))
            (mine,) = db.rows("select count(*) from notes where thread = ?", (thread,))
            assert mine[0] == 2 * sum(bool(one % 3) for one in range(turn + 1))

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(work, range(THREADS)))
    assert not failures
    written = {(row["thread"], row["turn"]) for row in db.rows("select * from notes")}
    assert written == {(thread, turn) for thread in range(THREADS) for turn in range(TURNS) if turn % 3}


def test_all_threads_have_one_connection(db: Database) -> None:
    before = len(os.listdir("/proc/self/fd"))
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(db.rows, ["select * from notes"] * THREADS))
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_thread_that_is_broken_off_in_a_transaction_leaves_it_to_nobody(db: Database) -> None:
    def work() -> None:
        with suppress(SystemExit), db.transaction() as connection:
            connection.execute("insert into notes values (1, 1, 1)")
            raise SystemExit

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    with db.transaction() as connection:
        connection.execute("insert into notes values (2, 2, 2)")
    assert [row["thread"] for row in db.rows("select * from notes")] == [2]


# --- what was read ---------------------------------------------------------------------------------------------

TABLES = """
    create table parents (id integer primary key, name);
    create table children (parent references parents on delete cascade, name);
    create table told (name);
    create view names as select name from children;
    create trigger told_of after insert on parents begin insert into told values (new.name); end;
    insert into parents values (1, 'a'), (2, 'b');
    insert into children values (1, 'c'), (2, 'd');
"""
QUESTIONS = (
    "select * from parents",
    "select count(*) from children",
    "select * from names",
    "select * from told",
    "with found as (select parent from children) select * from parents where id in found",
    "select p.name from parents p where exists (select 1 from children where parent = p.id)",
    "select value from json_each('[1, 2]') where value in (select id from parents)",
    "select name from sqlite_master",
    "select name from pragma_table_info('told')",
)
WRITES = (
    "insert into parents (name) values ('e')",
    "update children set name = 'f'",
    "delete from parents where id = 1",
    "insert or replace into parents values (1, 'g')",
    "delete from told",
    "delete from parents where id in (select value from json_each('[2]'))",
    "create table more (a)",
    "alter table told add column b",
    "drop view names",
)


@pytest.fixture
def family(tmp_path: Path) -> Iterator[Database]:
    with closing(Database(tmp_path / "agents.db")) as db:
        with db.transaction() as connection:
            for statement in statements(TABLES):
                connection.execute(statement)
        yield db


def answers(db: Database) -> dict[str, list[tuple[object, ...]]]:
    questions = [one for one in QUESTIONS if "names" not in one or has_names(db)]
    return {question: [tuple(row) for row in db.rows(question)] for question in questions}


def has_names(db: Database) -> bool:
    with closing(sqlite3.connect(db.path)) as other:
        return other.execute("select 1 from sqlite_master where name = 'names'").fetchone() is not None


def truth(db: Database) -> dict[str, list[tuple[object, ...]]]:
    with closing(Database(db.path)) as other:
        return answers(other)


@pytest.mark.parametrize("who", ["we", "another process"])
def test_after_any_write_each_answer_is_the_one_that_a_new_reader_gets(family: Database, who: str) -> None:
    """Also by a trigger, a cascade, a view, or a change of the tables themselves; the second time as the first."""
    with closing(Database(family.path)) as other:
        writer = family if who == "we" else other
        for write in (*WRITES, *WRITES):
            answers(family)
            with suppress(Unavailable), writer.transaction() as connection:  # the table is made or changed already
                connection.execute(write)
            assert answers(family) == truth(family)


def test_what_was_written_and_taken_back_was_never_read(family: Database) -> None:
    before = answers(family)
    with suppress(ZeroDivisionError), family.transaction() as connection:
        connection.execute("delete from parents")
        assert family.rows("select * from parents") == []  # who writes sees what it wrote
        raise ZeroDivisionError
    assert answers(family) == before


def test_a_question_is_read_again_only_when_its_own_tables_were_written(tmp_path: Path) -> None:
    with counting() as trace, closing(Database(tmp_path / "agents.db")) as db:

        def reads(question: str) -> int:
            before = trace.reads
            with ThreadPoolExecutor(1) as pool:  # whatever thread asks
                pool.submit(db.rows, question).result()
            return trace.reads - before

        tasks, halts = "select * from tasks", "select reason from halts where not ended"
        assert [reads(tasks), reads(tasks), reads(halts), reads(halts)] == [1, 0, 1, 0]
        with db.transaction() as connection:
            connection.execute("delete from halts")
        assert [reads(tasks), reads(halts), reads(halts)] == [0, 1, 0]
        with closing(Database(tmp_path / "agents.db")) as other, other.transaction() as connection:
            connection.execute("delete from halts")
        assert [reads(tasks), reads(halts)] == [1, 1]  # another process may have written anything


def test_a_version_is_another_one_after_each_write_and_each_opening(db: Database) -> None:
    seen = [db.version()]
    assert db.version() == seen[0]
    with closing(Database(db.path)) as other:
        for who in (db, other):
            with who.transaction() as connection:
                connection.execute("insert into notes values (1, 1, 1)")
            seen.append(db.version())
    for _ in range(3):
        db.close()
        seen.append(db.version())
    assert len(set(seen)) == len(seen)


# --- rows ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kept:
    name: str
    at: datetime
    is_old: bool
    words: tuple[str, ...]


def test_a_row_becomes_a_dataclass_by_the_names_of_its_columns(tmp_path: Path) -> None:
    with closing(Database(tmp_path / "agents.db")) as db:
        row = db.row("select 'a' name, '2026-11-22T20:00:00+00:00' at, 1 is_old, 'b c' words, 'x' other")
        assert row
        made = row_to(Kept, row, words=row["words"].split())
        assert made == Kept("a", datetime(2026, 11, 22, 20, tzinfo=UTC), True, ("b", "c"))
        with pytest.raises(ValidationError):
            row_to(Kept, row)
