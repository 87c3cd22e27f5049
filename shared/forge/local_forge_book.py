"""Door to forge.db. The only module that knows the tables of the local forge.

What writes takes the connection of an open transaction, so that the caller decides what belongs together.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

from sisimpur.shared.forge.forge import CheckResult, Comment, ForgeRefused, Issue, Pull, Review, is_ours
from sisimpur.shared.model.errors import ForgeUnavailable
from sisimpur.shared.store.database import Database, row_to, statements

SCHEMA = Path(__file__).with_name("local_forge.sql")
SAID = """
    select * from (
        select 'comment' as kind, rowid as id, author, body, at, null as verdict, '' as sha from comment
        where number = ?
        union all
        select 'review', id, author, body, at, verdict, sha from review where number = ?
    ) order by julianday(at), kind, id
"""
SOME = """
    select * from pull where number in (
        select number from item where kind = 'pull' and state = 'open'
        union all
        select * from (
            select number from item where kind = 'pull' and state <> 'open' order by number desc limit ?
        )
    ) order by number desc
"""
OF_PULL = ("number", "title", "body", "head", "base", "head_sha", "state", "author", "merge_sha")  # columns and fields
EPOCH = "1970-01-01T00:00:00+00:00"


@dataclass(frozen=True)
class PlannedMerge:
    """A merge commit that was written for a pull request; it happened if it is part of the base branch."""

    number: int
    merge_sha: str
    head_sha: str
    base_sha: str
    base: str  # branch


class LocalForgeRepository(Database):
    """The file in the forge's repository; `home` is that repository's address, for showing."""

    def __init__(self, path: Path, home: str) -> None:
        self._home = home
        super().__init__(path)

    def _migrate(self) -> None:
        if not self._has()["plans"]:
            with self.transaction() as db:
                for statement in statements(SCHEMA.read_text("utf-8")):
                    db.execute(statement)
        has = self._has()
        for table in ("comment", "review"):  # books of the first days do not say when something was said
            if not has[table]:
                with self.transaction() as db:
                    self._add_time(db, table)

    def _has(self) -> sqlite3.Row:
        (row,) = self.rows(
            "select (select 1 from sqlite_master where name = 'merge_plan') plans,"
            " (select 1 from pragma_table_info('comment') where name = 'at') comment,"
            " (select 1 from pragma_table_info('review') where name = 'at') review"
        )
        return row

    def _add_time(self, db: sqlite3.Connection, table: str) -> None:
        known = db.execute("select 1 from pragma_table_info(?) where name = 'at'", (table,)).fetchone()
        if not known:  # another process may have been faster
            db.execute(f"alter table {table} add column at text not null default '{EPOCH}'")

    @contextmanager
    def _named(self) -> Iterator[None]:
        """The database's own errors, as the forge's. What remains are bugs of ours."""
        try:
            yield
        except sqlite3.OperationalError as error:  # locked, or the disk is full
            raise ForgeUnavailable(f"{self.path}: {error}") from None
        except sqlite3.DatabaseError as error:
            if isinstance(error, (sqlite3.IntegrityError, sqlite3.ProgrammingError)):
                raise
            raise ForgeRefused(f"{self.path} cannot be used ({error}); put a copy from a backup in its place") from None

    # -- pull requests ----------------------------------------------------------------------------------------

    def pull(self, number: int) -> Pull:
        row = self.row("select * from pull where number = ?", (number,))
        if row is None:
            raise ForgeRefused(f"there is no pull request #{number}")
        return self._pull(row)

    def item(self, number: int) -> int:
        """Check its number; ForgeRefused if there is neither a pull request nor an issue."""
        if not self.rows("select 1 from item where number = ?", (number,)):
            raise ForgeRefused(f"there is no pull request and no issue #{number}")
        return number

    def pulls(self, every: bool = False, ended: int | None = None) -> list[Pull]:
        """The newest first. `ended`: at most so many of those that are not open; None: all."""
        if not every:
            rows = self.rows("select * from pull where state = 'open' order by +number desc")  # `+`: by its index
        elif ended is None:
            rows = self.rows("select * from pull order by number desc")
        else:
            rows = self.rows(SOME, (ended,))
        return [self._pull(r) for r in rows]

    def open_branches(self) -> set[tuple[str, str]]:
        """Head and base of each open pull request: the heads must be there."""
        rows = self.rows("select head, base from item where kind = 'pull' and state = 'open'")
        return {(row["head"], row["base"]) for row in rows}

    def find(self, head: str, base: str) -> Pull | None:
        row = self.row(
            "select * from pull where head = ? and base = ? order by state <> 'open', number desc limit 1", (head, base)
        )
        return self._pull(row) if row else None

    def add_pull(self, db: sqlite3.Connection, pull: Pull) -> int:
        """`pull.number` is not looked at; the answer is the new number."""
        cursor = db.execute(
            "insert into item (kind, title, body, author, head, base, head_sha, draft)"
            " values ('pull', ?, ?, ?, ?, ?, ?, ?)",
            (pull.title, pull.body, pull.author, pull.head, pull.base, pull.head_sha, pull.draft),
        )
        return cursor.lastrowid or 0

    def reword(self, db: sqlite3.Connection, number: int, title: str, body: str) -> None:
        db.execute("update item set title = ?, body = ? where number = ?", (title, body, number))

    def label(self, db: sqlite3.Connection, number: int, labels: Sequence[str]) -> None:
        db.executemany("insert or ignore into label values (?, ?)", [(number, name) for name in labels])

    def closed(self, db: sqlite3.Connection, number: int, head_sha: str) -> None:
        db.execute("update item set state = 'closed', head_sha = ? where number = ?", (head_sha, number))

    # -- merges -----------------------------------------------------------------------------------------------

    def plan(self, db: sqlite3.Connection, plan: PlannedMerge) -> None:
        values = (plan.merge_sha, plan.number, plan.head_sha, plan.base_sha)
        db.execute("insert or ignore into merge_plan values (?, ?, ?, ?)", values)

    def open_plans(self) -> list[PlannedMerge]:
        """Merges of open pull requests, planned by somebody who is at it, or died over it."""
        rows = self.rows(
            "select p.*, i.base from merge_plan p join item i using (number) where i.kind = 'pull' and i.state = 'open'"
        )
        return [row_to(PlannedMerge, row) for row in rows]

    def merged(self, db: sqlite3.Connection, number: int, head_sha: str, merge_sha: str) -> None:
        db.execute(
            "update item set state = 'merged', head_sha = ?, merge_sha = ? where number = ?",
            (head_sha, merge_sha, number),
        )

    def base_before(self, merge_sha: str) -> str | None:
        """The base's commit just before this merge of ours."""
        row = self.row("select base_sha from merge_plan where merge_sha = ?", (merge_sha,))
        return row["base_sha"] if row else None

    # -- issues, comments, reviews, statuses ------------------------------------------------------------------

    def issues(self) -> list[Issue]:
        return [
            row_to(Issue, row, labels=_names(row["labels"]), url=self._url(row["number"]))
            for row in self.rows("select * from issue where state = 'open' order by number desc")
        ]

    def ready(self, db: sqlite3.Connection, number: int) -> None:
        db.execute("update item set draft = 0 where number = ?", (number,))

    def comment(self, db: sqlite3.Connection, number: int, key: str, author: str, body: str, at: datetime) -> None:
        db.execute(
            "insert into comment (number, key, author, body, at) values (?, ?, ?, ?, ?)"
            " on conflict (number, key, author) do update set body = excluded.body where body <> excluded.body",
            (number, key, author, body, at.isoformat()),
        )

    def comments(self, number: int, us: Collection[str]) -> list[Comment]:
        rows = self.rows(SAID, (number, number))
        return [
            row_to(
                Comment,
                row,
                id=f"{row['kind']}-{row['id']}",
                ours=row["kind"] == "review" or is_ours(row["author"], row["body"], us),
            )
            for row in rows
        ]

    def review(self, db: sqlite3.Connection, number: int, given: Review, at: datetime) -> None:
        db.execute(
            "insert or ignore into review (number, author, verdict, sha, body, formal, at)"
            " values (?, ?, ?, ?, ?, ?, ?)",
            (number, given.author, given.verdict, given.sha, given.body, given.formal, at.isoformat()),
        )

    def reviews(self, number: int) -> list[Review]:
        rows = self.rows("select * from review where number = ? order by id", (number,))
        return [row_to(Review, row) for row in rows]

    def set_status(self, db: sqlite3.Connection, sha: str, context: str, state: CheckResult, note: str) -> None:
        db.execute(
            "insert into status values (?, ?, ?, ?)"
            " on conflict (sha, context) do update set state = excluded.state, note = excluded.note",
            (sha, context, state, note),
        )

    def statuses(self, sha: str) -> dict[str, CheckResult]:
        rows = self.rows("select context, state from status where sha = ? order by context", (sha,))
        return {r["context"]: r["state"] for r in rows}

    def _pull(self, row: sqlite3.Row) -> Pull:
        """Made by hand: a home of years has thousands, and `prs` shows them all."""
        draft, labels, url = bool(row["draft"]), _names(row["labels"]), self._url(row["number"])
        return Pull(**{name: row[name] for name in OF_PULL}, draft=draft, labels=labels, url=url)

    def _url(self, number: int) -> str:
        return f"{self._home}#{number}"


def _names(labels: str | None) -> frozenset[str]:
    return frozenset(labels.split("\n")) if labels else frozenset()


def readable_uri(path: Path) -> str:
    """`file://` and the path, as its owner reads it: of other alphabets only what does not print is escaped."""
    text = str(path.absolute())
    shown = (one if ord(one) > 127 and one.isprintable() else quote(os.fsencode(one)) for one in text)
    return f"file://{''.join(shown)}"
