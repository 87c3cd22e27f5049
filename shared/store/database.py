"""Door to memory. The only module that opens agents.db and brings its schema up to date.

One connection per thread, WAL with `synchronous=FULL`: what is acknowledged survives a power cut. What was read is not
read again before somebody has written. The schema grows by the numbered files in schema/, each applied once, in order,
in one transaction.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter

from sisimpur.shared.model.errors import Misconfigured, Replaced, Unavailable
from sisimpur.shared.system.fault import fault_point

READS = ("select ", "with ")
MOST_ANSWERS = 500  # that are kept of one book
Answers = dict[tuple[str, tuple[Any, ...]], list[sqlite3.Row]]
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


class _Held:
    """A thread's connection: closed when the thread ends, not when somebody collects garbage months later.

    It keeps the answers to each book's questions: SQLite counts what other connections write, and we tell it of ours.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self._answers: dict[str, Answers] = {}
        self._version = -1

    def rows(self, book: str, sql: str, values: tuple[Any, ...]) -> list[sqlite3.Row]:
        if self.connection.in_transaction:
            return self.connection.execute(sql, values).fetchall()
        if not sql.lstrip().startswith(READS):
            self._answers.clear()
            return self.connection.execute(sql, values).fetchall()
        (version,) = self.connection.execute("pragma data_version").fetchone()
        if version != self._version:
            self._answers, self._version = {}, version
        kept = self._answers.setdefault(book, {})
        if (sql, values) not in kept:
            if len(kept) >= MOST_ANSWERS:
                kept.clear()
            kept[sql, values] = self.connection.execute(sql, values).fetchall()
        return kept[sql, values]

    def forget(self, book: str) -> None:
        """Forget what was read of this book, and what nobody knows the book of; without a name: all."""
        for name in (book, "") if book else tuple(self._answers):
            self._answers.pop(name, None)

    def close(self) -> None:
        self.connection.close()

    __del__ = close


class Database:
    """`path` is created if it is absent; its folder must exist."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._epoch = 0  # 0: anybody's, as the owner's commands are
        self._local = threading.local()
        self._migrate()

    @contextmanager
    def transaction(self, book: str = "") -> Iterator[sqlite3.Connection]:
        """A write transaction: taken at once, so that what is read inside is still true when it is written.

        `book`: it writes the tables of that one alone; see Tables.
        """
        with self._named():
            held = self._connection()
            connection = held.connection
            connection.execute("begin immediate")
            try:
                self._check_guard(connection)
                yield connection
                connection.execute("commit")
            except BaseException:
                if connection.in_transaction:  # also when the commit itself failed: a full disk
                    connection.execute("rollback")
                raise
            finally:
                held.forget(book)

    def guard(self, epoch: int) -> None:
        """From now on each transaction asks first whether this is still the newest epoch; else it is Replaced."""
        self._epoch = epoch

    def rows(self, sql: str, values: Sequence[Any] = (), book: str = "") -> list[sqlite3.Row]:
        """`book`: it reads the tables of that one alone; see Tables."""
        with self._named():
            return list(self._connection().rows(book, sql, tuple(values)))

    def row(self, sql: str, values: Sequence[Any] = ()) -> sqlite3.Row | None:
        found = self.rows(sql, values)
        return found[0] if found else None

    def close(self) -> None:
        """Close this thread's connection; the last one to close folds the write-ahead log into the file."""
        if hasattr(self._local, "held"):
            self._local.held.close()
            del self._local.held

    def _check_guard(self, connection: sqlite3.Connection) -> None:
        if self._epoch:
            (newest,) = connection.execute("select max(number) from epochs").fetchone()
            if newest != self._epoch:
                raise Replaced("another daemon has taken over this home; this one ends, and changes nothing any more")

    def _connection(self) -> _Held:
        if not hasattr(self._local, "held"):
            self._local.held = _Held(self._connect())
        held: _Held = self._local.held
        return held

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, isolation_level=None, timeout=10, check_same_thread=False)  # see _Held
        connection.row_factory = sqlite3.Row
        for pragma in ("journal_mode=wal", "synchronous=full", "foreign_keys=on"):
            connection.execute(f"pragma {pragma}")
        return connection

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
            raise Unavailable(f"{self.path} {_why_not(self.path, error)}; nothing is lost") from None
        except sqlite3.DatabaseError as error:
            if type(error) is not sqlite3.DatabaseError:
                raise
            raise Misconfigured(
                f"{self.path} cannot be used ({error}); put a copy back, or move it away and lower today's cap by what "
                "was spent: a new one knows of nothing"
            ) from None


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


class Tables:
    """Some tables of the database, which one module alone writes and reads: its answers last until it writes again."""

    def __init__(self, db: Database, name: str) -> None:
        self._db = db
        self._name = name

    def transaction(self) -> AbstractContextManager[sqlite3.Connection]:
        return self._db.transaction(self._name)

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[sqlite3.Row]:
        return self._db.rows(sql, values, self._name)

    def row(self, sql: str, values: Sequence[Any] = ()) -> sqlite3.Row | None:
        found = self.rows(sql, values)
        return found[0] if found else None


def row_to(kind: type[T], row: sqlite3.Row, **more: object) -> T:
    """A dataclass from the columns that bear the names of its fields, each made its field's type.

    `more`: the fields that have no column, or whose column says it in other words.
    """
    made: T = _form(kind).validate_python(dict(row) | more)
    return made


def statements(script: str) -> Iterator[str]:
    """One statement after the other: `executescript` would commit between them."""
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
