"""Door to memory. The only module that opens agents.db and brings its schema up to date.

One connection per process, WAL with `synchronous=FULL`: what is acknowledged survives a power cut. What was read is not
read again before somebody has written to its tables. The schema grows by the numbered files in schema/, each applied
once, in order, in one transaction.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter

from sisimpur.shared.model.errors import Misconfigured, Replaced, Unavailable
from sisimpur.shared.store import chain
from sisimpur.shared.system.fault import fault_point

READS = ("select ", "with ")
WRITES = (sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE)
SCHEMA_TABLE = "sqlite_master"  # who writes it makes or changes a table
MOST_ANSWERS = 5000
DAMAGED = "Could not decode"  # so Python complains of a text that is none
NEWEST_EPOCH = "select max(number) from epochs"
SCHEMA = Path(__file__).parent / "schema"

T = TypeVar("T")
_form: Callable[[Any], TypeAdapter[Any]] = cache(TypeAdapter)  # to make one takes long


class Form(Generic[T]):
    """A type as it is kept in a column, in JSON. What reads it is made when it is first needed: that takes long."""

    def __init__(self, kind: type[T]) -> None:
        self._kind = kind

    def validate_json(self, text: str | bytes) -> T:
        found: T = _form(self._kind).validate_json(text)
        return found

    def dump_json(self, value: T) -> bytes:
        return _form(self._kind).dump_json(value)


@dataclass
class _Tables:
    """Tables that a statement reads and writes, by triggers and views too: SQLite says so when it compiles it."""

    reads: set[str | None] = field(default_factory=set)
    writes: set[str | None] = field(default_factory=set)

    def note(self, action: int, name: str | None, *_: str | None) -> int:
        if action == sqlite3.SQLITE_READ:
            self.reads.add(name)
        elif action in WRITES:
            self.writes.add(name)
        return sqlite3.SQLITE_OK  # it asks whether the statement may: anything may


@dataclass(frozen=True)
class _Answer:
    rows: list[sqlite3.Row]
    made: dict[Callable[[list[sqlite3.Row]], Any], Any] = field(default_factory=dict)  # of the rows, by what made it

    def as_made(self, make: Callable[[list[sqlite3.Row]], T]) -> T:
        if make not in self.made:
            self.made[make] = make(self.rows)
        found: T = self.made[make]
        return found


class _Connection(sqlite3.Connection):
    """A connection that keeps what it has read until somebody writes to a table from which it came.

    What other connections write SQLite counts.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._new = _Tables()
        self._tables: dict[str, _Tables] = {}  # of each statement
        self._written: set[str | None] = set()  # since `forget`
        self._answers: dict[str, dict[tuple[Any, ...], _Answer]] = {}
        self._version = -1
        self.set_authorizer(self._new.note)

    def execute(self, sql: str, values: Any = (), /) -> sqlite3.Cursor:
        try:
            return super().execute(sql, values)
        finally:
            self._compiled(sql)

    def executemany(self, sql: str, values: Any, /) -> sqlite3.Cursor:
        try:
            return super().executemany(sql, values)
        finally:
            self._compiled(sql)

    def answer(self, sql: str, values: tuple[Any, ...]) -> _Answer:
        """In a transaction nothing is kept: it may be taken back."""
        if self.in_transaction:
            return self._asked(sql, values)
        if sql.lstrip().startswith(READS):
            return self.kept(sql, values)
        self._answers.clear()
        return self._asked(sql, values)

    def kept(self, sql: str, values: tuple[Any, ...] = ()) -> _Answer:
        """What was read before, if it is still true. Of what is committed only."""
        (version,) = super().execute("pragma data_version").fetchone()
        if version != self._version:
            self._answers, self._version = {}, version
        found = self._answers.get(sql, {}).get(values)
        if found is None:
            found = self._asked(sql, values)
            if sum(map(len, self._answers.values())) >= MOST_ANSWERS:
                self._answers.clear()
            self._answers.setdefault(sql, {})[values] = found
        return found

    def _asked(self, sql: str, values: tuple[Any, ...]) -> _Answer:
        return _Answer(self.execute(sql, values).fetchall())

    def has_written(self, table: str) -> bool:
        """Tell whether a statement since `forget` may have, or a trigger of it."""
        return table in self._written

    def forget(self) -> None:
        """Forget what was read of the tables that were written since the last time."""
        for sql in [sql for sql in self._answers if not self._written.isdisjoint(self._tables[sql].reads)]:
            del self._answers[sql]
        self._written.clear()

    def _compiled(self, sql: str) -> None:
        """Learn the tables of a statement; one that was compiled before is not compiled again."""
        new, known = self._new, self._tables.setdefault(sql, _Tables())
        known.reads |= new.reads
        known.writes |= new.writes
        if not sql.lstrip().startswith(READS):
            self._written |= known.writes
            if SCHEMA_TABLE in new.writes:
                self._answers.clear()
        new.reads.clear()
        new.writes.clear()


class Database:
    """`path` is created if it is absent; its folder must exist. All threads of a process share its one connection."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._epoch = 0  # 0: anybody's, as the owner's commands are
        self._lock = threading.RLock()
        self._open: _Connection | None = None
        self._times_opened = 0
        self._migrate()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """A write transaction: taken at once, so that what is read inside is still true when it is written.

        Other threads wait for its end, as other processes do.
        """
        with self._named(), self._lock:
            connection = self._connection()
            try:
                connection.execute("begin immediate")
                self._check_guard(connection)
                yield connection
                if connection.has_written(chain.TABLE):
                    chain.seal(connection, is_daemon=self._epoch != 0)
                connection.execute("commit")
            except BaseException:
                if connection.in_transaction:  # also when the commit itself failed: a full disk
                    connection.execute("rollback")
                raise
            finally:
                connection.forget()

    def write(self, sql: str, values: Sequence[Any] = ()) -> None:
        """A transaction of one statement."""
        with self.transaction() as db:
            db.execute(sql, values)

    def guard(self, epoch: int) -> None:
        """From now on each transaction asks first whether this is still the newest epoch; else it is Replaced."""
        self._epoch = epoch

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[sqlite3.Row]:
        with self._named(), self._lock:
            return list(self._connection().answer(sql, tuple(values)).rows)

    def made(self, make: Callable[[list[sqlite3.Row]], T], sql: str, values: Sequence[Any] = ()) -> T:
        """What `make` makes of the rows: made once for as long as they are kept, so that nobody may change it."""
        with self._named(), self._lock:
            return self._connection().answer(sql, tuple(values)).as_made(make)

    def row(self, sql: str, values: Sequence[Any] = ()) -> sqlite3.Row | None:
        found = self.rows(sql, values)
        return found[0] if found else None

    def version(self) -> tuple[int, int, int]:
        """Another one when somebody has written since: another connection, or this one; or when it was opened again."""
        with self._named(), self._lock:
            one = self._connection()
            return self._times_opened, one.execute("pragma data_version").fetchone()[0], one.total_changes

    def close(self) -> None:
        """Whoever asks again opens it again; the last one to close folds the write-ahead log into the file."""
        with self._lock:
            if self._open:
                self._open.close()
                self._open = None

    def _check_guard(self, connection: _Connection) -> None:
        """Nobody else can write now: what was read before is true if no other connection has written since."""
        if self._epoch and connection.kept(NEWEST_EPOCH).rows[0][0] != self._epoch:
            raise Replaced("another daemon has taken over this home; this one ends, and changes nothing any more")

    def _connection(self) -> _Connection:
        if self._open is None:
            self._times_opened += 1  # a connection counts from its own beginning
            self._open = sqlite3.connect(
                self.path, timeout=10, isolation_level=None, check_same_thread=False, factory=_Connection
            )
            self._open.row_factory = sqlite3.Row
            for pragma in ("journal_mode=wal", "synchronous=full", "foreign_keys=on"):
                self._open.execute(f"pragma {pragma}")
        return self._open

    def _migrate(self) -> None:
        with self.transaction() as db:
            done = db.execute("pragma user_version").fetchone()[0]
            steps = sorted(SCHEMA.glob("*.sql"))
            if done > len(steps):
                raise Misconfigured(f"{self.path} is from a newer version of this program; update the program")
            for number, step in enumerate(steps[done:], done + 1):
                for statement in statements(step.read_text("utf-8")):
                    db.execute(statement)
                fault_point("migrate.step")
                db.execute(f"pragma user_version = {number}")

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Turn what SQLite complains about into what the owner can do. A broken rule of the schema is our bug."""
        try:
            yield
        except sqlite3.OperationalError as error:
            if DAMAGED in str(error):
                raise Misconfigured(f"{self.path} holds a text that was changed or damaged; put a copy back") from None
            raise Unavailable(f"{self.path} {_why_not(self.path, error)}; nothing is lost") from None
        except sqlite3.DatabaseError as error:
            if type(error) is not sqlite3.DatabaseError:
                raise
            raise Misconfigured(
                f"{self.path} cannot be used ({error}); put a copy back, or move it away and lower today's cap by what "
                "was spent: a new one knows of nothing"
            ) from None


class OfDatabase:
    """What keeps rows there."""

    def __init__(self, db: Database) -> None:
        self._db = db


def _why_not(path: Path, error: sqlite3.Error) -> str:
    """What keeps it from being written, as the file system says it: SQLite calls all of it an error of the disk."""
    try:
        disk = os.statvfs(path.parent)
    except OSError:
        return f"is in use or cannot be written ({error}); try again"
    if disk.f_flag & os.ST_RDONLY:
        return "lies on a read-only file system: mount it writable"
    if disk.f_bavail == 0 or (disk.f_files and disk.f_favail == 0):
        return f"cannot be written: its disk {'takes no more files' if disk.f_bavail else 'is full'}"
    return f"is in use or cannot be written ({error}); try again"


def in_utc(at: datetime) -> str:
    """Text by which two times can be compared: to the second."""
    return at.astimezone(UTC).isoformat(timespec="seconds")


def row_to(kind: type[T], row: sqlite3.Row, **more: object) -> T:
    """A dataclass from the columns that bear the names of its fields, each made its field's type.

    `more`: the fields that have no column, or whose column says it in other words.
    """
    made: T = _form(kind).validate_python(dict(row) | more)
    return made


def when(text: str | None) -> datetime | None:
    """Read a time; None: it is not written."""
    return datetime.fromisoformat(text) if text else None


def statements(script: str) -> Iterator[str]:
    """One statement after the other: `executescript` would commit between them."""
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
