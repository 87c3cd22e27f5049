"""Who did what, from where: the rows of `audit`, and whether each follows from the one before."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.store.chain import BEGIN, COLUMNS, sealed
from sisimpur.shared.store.database import OfDatabase

PAGE = 5_000  # rows that are read at once
LONGEST_ZONE = timedelta(hours=26)  # between two clocks' names of one moment
SPANS = {"h": "hours", "d": "days", "m": "minutes"}
MESSAGES = ("notice", "epoch")  # rows that telling the head would add itself, and begins of daemons
SHORTEST_HEAD = 12  # letters
ASKED = f"/* read once */ select {', '.join(COLUMNS)}, hash from audit"  # noqa: S608 (our own names)

NEXT = f"{ASKED} where seq > ? order by seq limit ?"


@dataclass(frozen=True)
class AuditRow:
    seq: int
    at: str
    kind: str
    actor: str
    via: str
    subject: str
    commit_id: str
    detail: str  # JSON
    hash: str  # empty: not sealed yet


@dataclass(frozen=True)
class AuditHead:
    """How many rows there are up to the one with this hash."""

    rows: int
    hash: str


class AuditBook(OfDatabase):
    def rows(self, since: datetime | None = None, kind: str = "", after: int = 0) -> Iterator[AuditRow]:
        """Yield them in the order in which they were written. `after`: the number of the last one that is known."""
        earliest = (since - LONGEST_ZONE).isoformat() if since else ""
        if since:
            (first,) = self._db.rows("select min(seq) n from audit indexed by audit_by_time where at >= ?", (earliest,))
            if first["n"] is None:
                return
            after = max(after, first["n"] - 1)
        for row in self._pages(after, earliest, kind):
            if since is None or _moment(row.at, since) >= since:
                yield row

    def page(self, after: int, most: int, earliest: str = "", kind: str = "") -> list[AuditRow]:
        """Return rows after the one with this number, in their order. `kind`: empty: of each."""
        sql = f"{ASKED} where seq > ? and +at >= ? and ? in ('', kind) order by seq limit ?"
        return [AuditRow(*row) for row in self._db.rows(sql, (after, earliest, kind, most))]

    def subjects(self, after: int) -> list[tuple[int, str, str]]:
        """Return number, kind and subject of the rows after this one: without details, which may be long."""
        sql = "/* read once */ select seq, kind, subject from audit where seq > ? order by seq limit ?"
        return [tuple(row) for row in self._db.rows(sql, (after, PAGE))]

    def newest(self) -> int:
        """Return the number of the last row; 0: there is none."""
        (last,) = self._db.rows("select coalesce(max(seq), 0) n from audit")
        return int(last["n"])

    def head(self) -> AuditHead | None:
        """Return the newest row but for messages: a message that tells it does not change it. None: there is no row."""
        marks = ", ".join("?" * len(MESSAGES))
        sql = f"select seq, hash from audit where hash <> '' and kind not in ({marks}) order by seq desc limit 1"  # noqa: S608
        row = self._db.row(sql, MESSAGES)
        return AuditHead(*row) if row else None

    def holds(self, head: str) -> AuditHead:
        """Return the row that a report has told, by its hash or the beginning of it. Misconfigured: it is not there."""
        if not re.fullmatch(rf"[0-9a-f]{{{SHORTEST_HEAD},64}}", head):
            raise Misconfigured(f"{head} is no head of the audit: type at least {SHORTEST_HEAD} letters of one")
        row = self._db.row("select seq, hash from audit where substr(hash, 1, ?) = ?", (len(head), head))
        if row is None:
            raise Misconfigured(f"no row of the audit has the head {head}: it was changed since; compare with a backup")
        return AuditHead(*row)

    def check(self) -> AuditHead:
        """Misconfigured: the first row that does not follow from the one before."""
        head, number, unsealed = BEGIN, 0, 0
        while rows := self._db.rows(NEXT, (number, PAGE)):
            for row in rows:  # a quarter of a million in a second: nothing is made of a row that follows
                seq, *texts, hash_ = row
                if seq != number + 1:
                    raise _missing(number + 1)
                if hash_ and unsealed:
                    raise Misconfigured(f"row {unsealed} of the audit has lost its hash; compare with a backup")
                number = seq
                if not hash_:
                    unsealed = unsealed or number
                elif sealed(head, seq, texts) == hash_:
                    head = hash_
                else:
                    raise _changed(AuditRow(*row))
        (last,) = self._db.rows("select coalesce(max(seq), 0) n from sqlite_sequence where name = 'audit'")
        if last["n"] > number:
            raise _missing(number + 1)
        return AuditHead(number, head)

    def _pages(self, after: int, earliest: str = "", kind: str = "") -> Iterator[AuditRow]:
        while found := self.page(after, PAGE, earliest, kind):
            yield from found
            after = found[-1].seq


def _missing(number: int) -> Misconfigured:
    return Misconfigured(f"row {number} of the audit is missing; compare with a backup")


def _changed(row: AuditRow) -> Misconfigured:
    return Misconfigured(
        f"row {row.seq} of the audit ({row.at}, {row.kind}, {row.subject}) does not follow from the one before: "
        "it was changed, or one before it; compare with a backup"
    )


def _moment(at: str, like: datetime) -> datetime:
    """A day alone begins in the owner's time zone."""
    found = datetime.fromisoformat(at)
    return found if found.tzinfo else found.replace(tzinfo=like.tzinfo)


def moment_of(text: str, now: datetime) -> datetime:
    """Since when: a day, `yesterday`, `today`, or how long ago. Misconfigured: none of these."""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if text in ("today", "yesterday"):
        return midnight - timedelta(days=text == "yesterday")
    if found := re.fullmatch(r"(\d{1,5})([hdm])", text):
        return now - timedelta(**{SPANS[found[2]]: int(found[1])})
    try:
        return _moment(text, now)
    except ValueError:
        raise Misconfigured(f"{text} is no time; write a day (2026-11-22), yesterday, today, 2h or 3d") from None
