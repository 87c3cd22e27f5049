"""Who is signed in, and what was ordered of late. The only module that reads and writes these two tables."""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

from sisimpur.shared.config.settings_sign_in import ListedPerson
from sisimpur.shared.model.errors import TeamError
from sisimpur.shared.model.text import sha256_of
from sisimpur.shared.store.database import Database, in_utc
from sisimpur.web.api.base.rights import Role

LINK_LASTS = timedelta(minutes=10)
IDLE, LONGEST = timedelta(hours=12), timedelta(days=30)  # of a session: without use, and at all
SEEN_EACH = timedelta(minutes=5)  # more is not written
KEPT = timedelta(hours=24)  # answers to orders
DIGITS = 32  # bytes of a key
NAMED = 8  # digits of a session's digest: the audit calls it so, and no later session gets an old one's name
MARK = "sis_"  # how a key of a script begins: whoever finds one knows what it opens
BY_LINK = "link"
Listed = Callable[[str], ListedPerson | None]  # an account -> who that is now; TeamError: nobody can tell
IN_USE = "until >= ? and (kind = 'key' or (kind = 'session' and seen >= ?))"
NOTIFIED = "digest in (select session from pushes)"


@dataclass(frozen=True)
class SignedIn:
    """Who asks: a browser, or a script by its key. `key`: what it came with."""

    digest: str  # of its token
    role: Role
    name: str = ""
    key: str = field(default="", repr=False)
    passkey: str = ""  # by which it came, if it did
    account: str = ""  # with which it came, if it did

    @property
    def id(self) -> str:
        """How it is called."""
        return self.digest[:NAMED]

    @property
    def via(self) -> str:
        """As the audit calls it."""
        is_plain = self.role is Role.OWNER and not self.account  # he came by a link of the terminal, and has no name
        return "board" if is_plain else f"board: {self.role} {self.name or self.id}"


@dataclass(frozen=True)
class BoardSession:
    """A browser that is signed in, or a script's key. Its token is known to them alone. `role`: of a key its scope."""

    id: str
    kind: Literal["session", "key"]
    role: Role
    name: str  # of a key, or of who signed in with an account
    by: str  # link, passkey, google or github; of a key nothing
    made: str
    seen: str  # last used, to some minutes
    until: str  # at the latest
    passkey: str = ""  # which one it came by, if it did
    pushes: int = 0  # browsers that are notified for it


def nobody(_account: str) -> None:
    return None


class BoardKeys:
    """Links that sign in once, sessions, and keys of scripts. Their texts are given out once; kept are digests.

    `listed`: whose account counts now. A session that began with one lets in nobody else, and has the role of today.
    """

    def __init__(self, db: Database, listed: Listed = nobody) -> None:
        self._db, self._listed = db, listed

    def link(self, now: datetime, role: Role = Role.OWNER) -> str:
        """Make the code of a link."""
        code = secrets.token_urlsafe(DIGITS)
        with self._db.transaction() as db:
            _keep(db, code, ("link", role, ""), now, now + LINK_LASTS)
        return code

    def make_key(self, name: str, scope: Role, now: datetime, days: int) -> str:
        """Make a key of a script, for so many days."""
        key = MARK + secrets.token_urlsafe(DIGITS)
        with self._db.transaction() as db:
            _keep(db, key, ("key", scope, name), now, now + timedelta(days=days))
        return key

    def sign_in(self, code: str, now: datetime) -> str:
        """Return the token of a new session; empty: no such link, or it was used, or is too old."""
        with self._db.transaction() as db:
            _forget_old(db, now)
            sql = "delete from board_keys where digest = ? and kind = 'link' returning role"
            used = db.execute(sql, (sha256_of(code),)).fetchall()
            return new_session(db, used[0]["role"], now) if used else ""

    def enter(self, account: str, role: Role, now: datetime) -> str:
        """Return the token of a new session of somebody who is listed by this account."""
        with self._db.transaction() as db:
            _forget_old(db, now)
            return new_session(db, role, now, account=account)

    def role(self, token: str, now: datetime) -> Role | None:
        """Tell it, and no more: a line for news that only stays open is no use of a session. None: not signed in."""
        row = self._row(token, now)
        who = row and self._who(row)
        return who[0] if who else None

    def lets_in(self, token: str, now: datetime) -> SignedIn | None:
        """Return who it is, and keep that it was used. None: nobody who is signed in."""
        row = self._row(token, now)
        if row is None or (who := self._who(row)) is None:
            return None
        if row["seen"] < in_utc(now - SEEN_EACH):
            with self._db.transaction() as db:
                db.execute("update board_keys set seen = ? where digest = ?", (in_utc(now), sha256_of(token)))
        role, name = who
        said = f"{name} ({_by(row)})" if row["account"] else name
        return SignedIn(row["digest"], role, said, token, row["passkey"], row["account"])

    def _who(self, row: sqlite3.Row) -> tuple[Role, str] | None:
        """Return role and name; of an account's session as they are today. None: it is not listed any more."""
        if not row["account"]:
            return Role(row["role"]), row["name"]
        person = self._listed(row["account"])
        return (Role(person.role), person.name) if person else None

    def _row(self, token: str, now: datetime) -> sqlite3.Row | None:
        sql = f"select * from board_keys where digest = ? and {IN_USE}"  # noqa: S608 (our words)
        return self._db.row(sql, (sha256_of(token), in_utc(now), _idle(now)))

    def sessions(self, now: datetime) -> list[BoardSession]:
        """Return those that would be let in now, and keys, the last used one first."""
        sql = (
            "select *, (select count(*) from pushes where session = digest) as pushes from board_keys"  # noqa: S608
            f" where {IN_USE} or (kind = 'session' and until >= ? and {NOTIFIED}) order by seen desc, made desc, digest"
        )
        rows = self._db.rows(sql, (in_utc(now), _idle(now), in_utc(now)))
        return [one for row in rows if (one := self._session(row))]

    def _session(self, row: sqlite3.Row) -> BoardSession | None:
        who: tuple[Role, str] | None = (Role(row["role"]), row["account"])
        with suppress(TeamError):  # the list cannot be read: it is shown as it began
            who = self._who(row)
        times = row["made"], row["seen"], row["until"]
        by, id_ = _by(row), row["digest"][:NAMED]
        return BoardSession(id_, row["kind"], *who, by, *times, row["passkey"], row["pushes"]) if who else None

    def close(self, id_: str) -> bool:
        """End a session or a key, whoever uses it. False: there is none of this name."""
        with self._db.transaction() as db:
            sql = "delete from board_keys where kind <> 'link' and substr(digest, 1, ?) = ?"
            return bool(db.execute(sql, (NAMED, id_)).rowcount)

    def sign_out(self, token: str) -> None:
        with self._db.transaction() as db:
            db.execute("delete from board_keys where digest = ?", (sha256_of(token),))


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
            db.execute("delete from board_orders where at < ?", (in_utc(now - KEPT),))
            values = (key, asked, answer.status, answer.text, in_utc(now))
            db.execute("insert into board_orders values (?, ?, ?, ?, ?)", values)


def named(key: str) -> str:
    """Return what a session or a key is called where its text may not stand."""
    return sha256_of(key)[:NAMED]


def new_session(db: sqlite3.Connection, role: str, now: datetime, passkey: str = "", account: str = "") -> str:
    """Keep a session, within a transaction, and return its token. `passkey`, `account`: which one it came by."""
    token = secrets.token_urlsafe(DIGITS)
    _keep(db, token, ("session", role, "", passkey, account), now, now + LONGEST)
    return token


def end_sessions(db: sqlite3.Connection, passkey: str, but: int = 0) -> None:
    """End those that came by it, within a transaction. `but`: so many go on, the newest."""
    newest = "select digest from board_keys where passkey = ? order by made desc, digest limit ?"
    sql = f"delete from board_keys where passkey = ? and digest not in ({newest})"  # noqa: S608 (our words)
    db.execute(sql, (passkey, passkey, but))


def _keep(db: sqlite3.Connection, text: str, what: Sequence[str], now: datetime, until: datetime) -> None:
    """`what`: kind, role, name; of a session also the passkey and the account that it came by."""
    more = ("passkey", "account")[: len(what) - 3]
    columns = ("digest", "made", "seen", "until", "kind", "role", "name", *more)
    values = (sha256_of(text), in_utc(now), in_utc(now), in_utc(until), *what)
    db.execute(f"insert into board_keys ({', '.join(columns)}) values ({', '.join('?' * len(values))})", values)  # noqa: S608


def _forget_old(db: sqlite3.Connection, now: datetime) -> None:
    """Who is notified is kept until the end: a phone that lay there for a night hears what waits in the morning."""
    sql = f"delete from board_keys where until < ? or (kind = 'session' and seen < ? and not {NOTIFIED})"  # noqa: S608
    db.execute(sql, (in_utc(now), _idle(now)))


def _by(row: sqlite3.Row) -> str:
    """Say by what somebody signed in; of a key nothing."""
    if row["kind"] == "key":
        return ""
    return "passkey" if row["passkey"] else row["account"].partition(":")[0] or BY_LINK


def _idle(now: datetime) -> str:
    return in_utc(now - IDLE)
