"""Browsers that are notified. Each belongs to the session of the board that asked for it, and ends with it.

A session that nobody has used for half a day lets nobody in, but its phone is told on: it lay there for a night.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from urllib.parse import urlsplit

from sisimpur.shared.model.errors import Refused
from sisimpur.shared.notify.phone.sealing import BrowserKeys
from sisimpur.shared.store.database import OfDatabase, in_utc, row_to
from sisimpur.shared.system.fault import fault_point

MOST_EACH, MOST = 5, 100  # of one session, of all
WITH_SESSION = (
    "select pushes.*, board_keys.until as lasts, account from pushes"
    " join board_keys on board_keys.digest = pushes.session where board_keys.kind = 'session' order by pushes.made, id"
)
KEEP = (  # for a session that is there: what ends it ends this
    "insert into pushes (id, session, endpoint, p256dh, auth, language, made)"
    " select ?, digest, ?, ?, ?, ?, ? from board_keys where digest = ? and kind = 'session'"
)


@dataclass(frozen=True)
class Push:
    """One browser. `endpoint`: where its service takes what is for it: a secret, since whoever knows it may send."""

    id: str
    session: str  # the digest by which the board knows it
    endpoint: str = field(repr=False)
    p256dh: str = field(repr=False)
    auth: str = field(repr=False)
    language: str
    made: str
    told: str = ""
    why: str = ""

    @property
    def service(self) -> str:
        return urlsplit(self.endpoint).hostname or ""

    @property
    def keys(self) -> BrowserKeys:
        return BrowserKeys(self.p256dh, self.auth)


class PushBook(OfDatabase):
    def keep(self, session: str, endpoint: str, keys: BrowserKeys, language: str, now: datetime) -> Push:
        """Note one; the same browser again takes the place of what was there.

        Refused: there are too many, or no such session.
        """
        push = Push(secrets.token_hex(4), session, endpoint, keys.p256dh, keys.auth, language, in_utc(now))
        with self._db.transaction() as db:
            db.execute("delete from pushes where endpoint = ?", (endpoint,))
            all_, own = db.execute("select count(*), total(session = ?) from pushes", (session,)).fetchone()
            if own >= MOST_EACH or all_ >= MOST:
                raise Refused(f"{MOST_EACH} for one session are enough, and {MOST} for all; remove one first")
            values = (push.id, endpoint, keys.p256dh, keys.auth, language, push.made, session)
            if not db.execute(KEEP, values).rowcount:
                raise Refused("who asked for this is not signed in any more")
        fault_point("phone.kept")
        return push

    def alive(self, now: datetime, is_told: Callable[[str], bool] = bool) -> list[Push]:
        """Return those whose session was not ended, the oldest first. `is_told`: whether an account is, now."""
        at = in_utc(now)  # not in the words of the question, which is asked each tick
        rows = [row for row in self._db.rows(WITH_SESSION) if row["lasts"] >= at]
        return [row_to(Push, row) for row in rows if not row["account"] or is_told(row["account"])]

    def end(self, id_: str) -> None:
        self._db.write("delete from pushes where id = ?", (id_,))
        fault_point("phone.ended")

    def note(self, id_: str, now: datetime, why: str = "") -> None:
        """Note what came of the last one. `why`: it was not taken; empty: it was."""
        what = "why = ?" if why else "why = ?, told = ?"
        values = (why,) if why else (why, in_utc(now))
        self._db.write(f"update pushes set {what} where id = ?", (*values, id_))  # noqa: S608 (our words)
        fault_point("phone.noted")
