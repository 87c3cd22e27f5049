"""Messages to the owner, remembered: intended, delivered (with its id), or why not.

A service that cannot be asked gets the same words at most twice: a second time only if the first answer was lost.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from pydantic import ValidationError

from sisimpur.shared.notify.notice import Notice
from sisimpur.shared.store.database import Form, OfDatabase, row_to
from sisimpur.shared.system.fault import fault_point

NOTICE = Form(Notice)
MOST_BLIND = 2  # tries without an answer

State = Literal["planned", "sending", "delivered", "perhaps", "refused"]


@dataclass(frozen=True)
class Slip:
    """The state of one message at one service."""

    key: str
    service: str
    title: str
    state: State
    message_id: str
    posts: int  # times that it was delivered, in whichever words
    blind: int
    tried_at: datetime | None
    why: str

    @property
    def is_due(self) -> bool:
        """Tell whether what is wanted is not there, and one more try is allowed."""
        return self.state not in ("delivered", "refused") and (bool(self.message_id) or self.blind < MOST_BLIND)

    @property
    def stands_alone(self) -> bool:
        """Tell whether nothing stands beside it when it is sent: it changes what is there, or is the first."""
        return bool(self.message_id) or not (self.posts or self.blind)

    @property
    def is_perhaps_there(self) -> bool:
        """Tell whether it was sent, and nobody knows what came of it."""
        return not self.message_id and self.blind > 0


class NoticeRepository(OfDatabase):
    """`db` is the database of the home."""

    def intend(self, notice: Notice, service: str, now: datetime, as_news: bool = True) -> Slip:
        """Note what is to stand there from now on. The same again changes nothing; other words are a new intention.

        They may be tried once more, however many answers were lost. Where what was said cannot be changed, a picture
        alone is nothing new, and without `as_news` nothing is.
        """
        digest = hashlib.sha256(NOTICE.dump_json(_plain(notice)) + (notice.picture.png if notice.picture else b""))
        values = (notice.key, service, digest.hexdigest(), NOTICE.dump_json(_plain(notice)).decode(), now.isoformat())
        with self._db.transaction() as db:
            db.execute(
                "insert into notices (key, service, digest, notice_json, at, state) values (?, ?, ?, ?, ?, 'planned')"
                " on conflict do update set digest = excluded.digest, notice_json = excluded.notice_json,"
                " at = excluded.at, state = 'planned', blind = min(blind, ?) where digest <> excluded.digest"
                " and not (state = 'delivered' and message_id = '' and (notice_json = excluded.notice_json or not ?))",
                (*values, MOST_BLIND - 1, as_news),
            )
            slip = _slip(db.execute("select * from notices where key = ? and service = ?", values[:2]).fetchone())
        fault_point("notice.planned")
        return slip

    def trying(self, slip: Slip, now: datetime) -> None:
        """Note a try before it is sent: if we die meanwhile, a message without an id may or may not be there."""
        self._set(slip, "state = 'sending', tried_at = ?, blind = blind + (message_id = '')", now.isoformat())
        fault_point("notice.sending")

    def delivered(self, slip: Slip, message_id: str) -> None:
        fault_point("notice.sent")
        self._set(slip, "state = 'delivered', message_id = ?, posts = posts + 1, blind = 0, why = ''", message_id)
        fault_point("notice.done")

    def undelivered(self, slip: Slip, why: str) -> None:
        """Note that it is certainly not there."""
        self._set(slip, "state = 'planned', blind = max(blind - (message_id = ''), 0), why = ?", why)
        fault_point("notice.undelivered")

    def unknown(self, slip: Slip, why: str) -> None:
        """Note that the answer was lost; also that of a new message in place of one that was gone."""
        self._set(slip, "state = 'perhaps', message_id = '', blind = max(blind, 1), why = ?", why)
        fault_point("notice.unknown")

    def refused(self, slip: Slip, why: str) -> None:
        """Note that the service never takes these words: they are not tried again."""
        self._set(slip, "state = 'refused', blind = 0, why = ?", why)
        fault_point("notice.refused")

    def told(self, slips: Sequence[Slip], key: str) -> None:
        """Note that the message `key` has said that these did not arrive."""
        for slip in slips:
            self._set(slip, "told_in = ?", key)
            fault_point("notice.told")

    # -- looking ----------------------------------------------------------------------------------------------

    def was_said(self, what: str) -> bool:
        """Tell whether there is a message whose key is this after its day, of whichever day."""
        sql = "select 1 from notices where substr(key, length('YYYY-MM-DD:') + 1) = ?"
        return self._db.row(sql, (what,)) is not None

    def parts_said(self, what: str) -> set[str]:
        """Return the parts A, B … of all keys `DAY:what:A-B-…`, of whichever day."""
        sql = "select substr(key, length('YYYY-MM-DD:') + 1) as said from notices where said glob ?"
        return {part for row in self._db.rows(sql, (f"{what}:*",)) for part in row["said"].partition(":")[2].split("-")}

    def is_delivered(self, key: str, service: str) -> bool:
        """Tell whether the message stands there in its newest words."""
        sql = "select 1 from notices where key = ? and service = ? and state = 'delivered'"
        return self._db.row(sql, (key, service)) is not None

    def due(self, day: str) -> tuple[tuple[Notice, Slip], ...]:
        """Messages of that day that are still to be delivered, in the order in which they were meant."""
        rows = self._db.rows("select * from notices where key like ? || ':%' order by rowid", (day,))
        return tuple((notice, slip) for row in rows if (slip := _slip(row)).is_due and (notice := _notice(row)))

    def unsent(self, key: str) -> tuple[Slip, ...]:
        """Other messages that did not arrive, or only perhaps: what the message `key` has to tell, the oldest first."""
        rows = self._db.rows(
            "select * from notices where state <> 'delivered' and key <> ? and told_in in ('', ?) order by rowid",
            (key, key),
        )
        return tuple(_slip(row) for row in rows)

    def _set(self, slip: Slip, what: str, *values: str) -> None:
        self._db.write(
            f"update notices set {what} where key = ? and service = ?",  # noqa: S608
            (*values, slip.key, slip.service),
        )


def _plain(notice: Notice) -> Notice:
    return replace(notice, picture=None, pdf=b"")


def _notice(row: sqlite3.Row) -> Notice | None:
    """None: another version of this program wrote it."""
    try:
        return NOTICE.validate_json(row["notice_json"])
    except ValidationError:
        return None


def _slip(row: sqlite3.Row) -> Slip:
    found = _notice(row)
    return row_to(Slip, row, title=found.title if found else row["key"], tried_at=row["tried_at"] or None)
