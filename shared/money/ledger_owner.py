"""The owner's word about money: what one day may cost, and which lost call was not billed."""

from __future__ import annotations

from datetime import datetime

from shared.model.errors import Misconfigured
from shared.money.ledger_reader import LedgerViews
from shared.money.ledger_rows import last_day, lower_lost, set_raise
from shared.money.token_budget import Caps, budget_day, raise_forbidden
from shared.system.fault import fault_point


class LedgerOwner(LedgerViews):
    """Both are durable when they return."""

    def raise_cap(self, to: int, caps: Caps, why: str, now: datetime) -> str:
        """Today may cost up to `to`; said again, the last word counts. -> the day that it holds for.

        `caps`: the policy's. Misconfigured if `to` is not between its day and its month.
        """
        if forbidden := raise_forbidden(to, caps):
            raise Misconfigured(forbidden)
        with self._db.transaction() as db:
            day = budget_day(now, last_day(db))
            set_raise(db, day, to, why, now)
        fault_point("cap.raised")
        return day

    def write_off(self, number: int, amount: int, why: str, now: datetime) -> int:
        """A lost call was billed at most at `amount`, the owner says -> what it was booked at. It stays lost.

        Misconfigured if it is not lost, or is booked at less.
        """
        with self._db.transaction() as db:
            booked = lower_lost(db, number, amount, why, now)
        fault_point("call.written-off")
        return booked
