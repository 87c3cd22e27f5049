"""Who is signed in, and what was ordered of late. The only module that reads and writes the tables of the board."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from sisimpur.shared.store.chain import heard_by
from sisimpur.shared.store.database import Database

VIA = "board"  # as the audit calls it
LINK_LASTS = timedelta(minutes=10)
IDLE, LONGEST = timedelta(hours=12), timedelta(days=30)  # of a session: without use, and at all
SEEN_EACH = timedelta(minutes=5)  # more is not written
KEPT = timedelta(hours=24)  # answers to orders
DIGITS = 32  # bytes of a key
NAMED = 8  # digits of a session's digest: the audit calls it so, and no later session gets an old one's name


@dataclass(frozen=True)
class BoardSession:
    """A browser that is signed in. Its token is known to that browser alone."""

    id: str
    made: str
    seen: str  # last used, to some minutes
    until: str  # at the latest


class BoardKeys:
    """Links that sign in once, and sessions. Their texts are given out once; what is kept are digests."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def link(self, now: datetime) -> str:
        """Make the code of a link."""
        code, at = secrets.token_urlsafe(DIGITS), _utc(now)
        with self._db.transaction() as db:
            values = (_digest(code), "link", at, at, _utc(now + LINK_LASTS))
            db.execute("insert into board_keys values (?, ?, ?, ?, ?)", values)
        return code

    def sign_in(self, code: str, now: datetime) -> str:
        """Return the token of a new session; empty: no such link, or it was used, or is too old."""
        token, at = secrets.token_urlsafe(DIGITS), _utc(now)
        with heard_by(VIA), self._db.transaction() as db:
            db.execute("delete from board_keys where until < ? or (kind = 'session' and seen < ?)", (at, _idle(now)))
            used = db.execute("delete from board_keys where digest = ? and kind = 'link'", (_digest(code),))
            if not used.rowcount:
                return ""
            values = (_digest(token), "session", at, at, _utc(now + LONGEST))
            db.execute("insert into board_keys values (?, ?, ?, ?, ?)", values)
        return token

    def is_signed_in(self, token: str, now: datetime) -> bool:
        """Tell it, and no more: a line for news that only stays open is no use of a session."""
        return bool(self._seen(token, now))

    def lets_in(self, token: str, now: datetime) -> bool:
        """Tell whether it is signed in, and keep that it was used."""
        seen = self._seen(token, now)
        if seen and seen < _utc(now - SEEN_EACH):
            with self._db.transaction() as db:
                db.execute("update board_keys set seen = ? where digest = ?", (_utc(now), _digest(token)))
        return bool(seen)

    def _seen(self, token: str, now: datetime) -> str:
        sql = "select seen from board_keys where digest = ? and kind = 'session' and until >= ? and seen >= ?"
        row = self._db.row(sql, (_digest(token), _utc(now), _idle(now)))
        return str(row["seen"]) if row else ""

    def sessions(self, now: datetime) -> list[BoardSession]:
        """Return those that would be let in now, the last used one first."""
        sql = (
            "select substr(digest, 1, ?) as id, made, seen, until from board_keys"
            " where kind = 'session' and until >= ? and seen >= ? order by seen desc, made desc, digest"
        )
        return [BoardSession(**row) for row in self._db.rows(sql, (NAMED, _utc(now), _idle(now)))]

    def close(self, id_: str) -> bool:
        """End a session, whoever is signed in with it. False: there is none of this name."""
        with self._db.transaction() as db:
            sql = "delete from board_keys where kind = 'session' and substr(digest, 1, ?) = ?"
            return bool(db.execute(sql, (NAMED, id_)).rowcount)

    def sign_out(self, token: str) -> None:
        with heard_by(VIA), self._db.transaction() as db:
            db.execute("delete from board_keys where digest = ?", (_digest(token),))


@dataclass(frozen=True)
class BoardAnswer:
    """Answer to an order: the status of HTTP, and a JSON text."""

    status: int
    text: str


class BoardOrders:
    """Answers to orders by the browser's key: what is said twice is done once."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def answered(self, key: str, asked: str) -> BoardAnswer | None:
        """None: the key is new. What else was asked under it before is answered as such."""
        row = self._db.row("select asked, status, answer from board_orders where key = ?", (key,))
        if row is None:
            return None
        if row["asked"] != asked:
            return BoardAnswer(422, "")
        return BoardAnswer(row["status"], row["answer"])

    def keep(self, key: str, asked: str, answer: BoardAnswer, now: datetime) -> None:
        with self._db.transaction() as db:
            db.execute("delete from board_orders where at < ?", (_utc(now - KEPT),))
            values = (key, asked, answer.status, answer.text, _utc(now))
            db.execute("insert into board_orders values (?, ?, ?, ?, ?)", values)


def _digest(key: str) -> str:
    return sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def _utc(now: datetime) -> str:
    return now.astimezone(UTC).isoformat(timespec="seconds")


def _idle(now: datetime) -> str:
    return _utc(now - IDLE)
