"""Passkeys that sign somebody in: the only module that reads and writes their table. None of it is a secret."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from datetime import datetime

from sisimpur.shared.model.errors import Refused
from sisimpur.shared.store.database import OfDatabase, in_utc
from sisimpur.web.api.base.rights import Role
from sisimpur.web.api.base.sign_in import Listed, SignedIn, end_sessions, named, new_session, nobody

MOST = 50  # in a home
MOST_SESSIONS = 10  # by one of them: one that many phones share signs the oldest out
OF_ALL = "select id, site, role, name, made, used, person from board_passkeys order by used desc, made desc, id"


@dataclass(frozen=True)
class PasskeyFacts:
    """What an authenticator has shown. `credential`: its name for the key, in base64url; `public_key`: COSE."""

    credential: str
    public_key: bytes
    count: int


@dataclass(frozen=True)
class Passkey:
    id: str
    site: str
    role: str
    name: str
    made: str
    used: str  # signed last


@dataclass(frozen=True)
class OwnPasskey(Passkey):
    """`person`: whose it is; that is told to nobody."""

    person: str


class Passkeys(OfDatabase):
    """Passkeys by what their authenticators call them. Who closes one closes what came by it, too."""

    def add(self, who: SignedIn, site: str, name: str, facts: PasskeyFacts, now: datetime) -> str:
        """Keep one for the role that `who` has. Return its id. Refused: there are too many, or it is there."""
        id_, at = named(facts.credential), in_utc(now)
        with self._db.transaction() as db:
            if db.execute("select count(*) from board_passkeys").fetchone()[0] >= MOST:
                raise Refused(f"{MOST} passkeys are as many as a team may have; delete one that nobody uses")
            sql = (
                "insert into board_passkeys (credential, id, site, public_key, count, role, person, name, made, used)"
                " values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing"
            )
            what = (facts.credential, id_, site, facts.public_key, facts.count, who.role, self._person(who), name)
            if not db.execute(sql, (*what, at, at)).rowcount:
                raise Refused("this passkey is there already")
        return id_

    def key_of(self, credential: str, site: str) -> bytes:
        """Return its public key; empty: none of this name is for this site."""
        sql = "select public_key from board_passkeys where credential = ? and site = ?"
        row = self._db.row(sql, (credential, site))
        return bytes(row["public_key"]) if row else b""

    def sign_in(self, credential: str, count: int, now: datetime, listed: Listed = nobody) -> str:
        """Return the token of a new session. Empty: it was deleted meanwhile, or its count went back, which is told.

        `count`: as its authenticator has just signed it. `listed`: who its account is now. Refused: nobody any more.
        """
        with self._db.transaction() as db:
            if not (found := _counted(db, credential, count, now)):
                return ""
            role, account = found["role"], found["person"] if ":" in found["person"] else ""
            if account:
                if not (person := listed(account)):
                    raise Refused("who added this passkey is not on the list any more")
                role = person.role
            end_sessions(db, found["id"], but=MOST_SESSIONS - 1)
            return new_session(db, role, now, found["id"], account)

    def counts(self, credential: str, count: int, now: datetime) -> bool:
        """Keep that it has signed once more, for an order. False: as `sign_in`."""
        with self._db.transaction() as db:
            return _counted(db, credential, count, now) is not None

    def all(self) -> list[OwnPasskey]:
        """Return them, the last used first."""
        return [OwnPasskey(**row) for row in self._db.rows(OF_ALL)]

    def of(self, who: SignedIn) -> list[OwnPasskey]:
        """Return those that `who` may see and delete: the own ones, and all for an owner."""
        mine = self._person(who)
        return [one for one in self.all() if who.role is Role.OWNER or one.person == mine]

    def credentials(self, who: SignedIn, site: str) -> list[str]:
        """Return what authenticators call the own ones there: none makes a second one."""
        sql = "select credential from board_passkeys where person = ? and site = ?"
        return [row["credential"] for row in self._db.rows(sql, (self._person(who), site))]

    def close(self, id_: str, now: datetime) -> bool:
        """Delete one, and end all sessions that came by it. False: there is none of this name."""
        with self._db.transaction() as db:
            db.execute("update board_passkeys set ended = ? where id = ?", (in_utc(now), id_))
            is_there = bool(db.execute("delete from board_passkeys where id = ?", (id_,)).rowcount)
            if is_there:
                end_sessions(db, id_)
        return is_there

    def _person(self, who: SignedIn) -> str:
        """Return the account that it goes back to, which has to be listed still; or the session by a link."""
        row = self._db.row("select person from board_passkeys where id = ?", (who.passkey,)) if who.passkey else None
        return str(row["person"]) if row else who.account or who.id


def _counted(db: sqlite3.Connection, credential: str, count: int, now: datetime) -> sqlite3.Row | None:
    """Keep its count, and return it. None: it was deleted meanwhile, or its count went back, which is told."""
    at = in_utc(now)
    sql = (
        "update board_passkeys set count = ?, used = ?"
        " where credential = ? and (count < ? or (count = 0 and ? = 0)) returning id, role, person"
    )
    found = db.execute(sql, (count, at, credential, count, count)).fetchall()
    if not found:
        db.execute("update board_passkeys set refused = ? where credential = ?", (at, credential))
    return found[0] if found else None
