"""The owner's adjustments of the money book: what one day may cost, and which lost call was not billed."""

from __future__ import annotations

from datetime import datetime

from shared.model.errors import Misconfigured
from shared.money.ledger_rows import insert, last_day, text
from shared.money.token_budget import Caps, budget_day, raise_forbidden
from shared.store.database import Database
from shared.system.fault import fault_point


class OwnerAdjustments:
    """Each is durable when it returns. `db` is the database of the home."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def raise_cap(self, to: int, caps: Caps, why: str, now: datetime) -> str:
        """Let today cost up to `to`; said again, the last word counts. -> the day that it holds for.

        `caps`: the policy's. Misconfigured if `to` is not between its day and its month. Against another cap the owner
        is warned anew.
        """
        if forbidden := raise_forbidden(to, caps):
            raise Misconfigured(forbidden)
        with self._db.transaction() as db:
            day = budget_day(now, last_day(db))
            values = (day, to, text(now), why)
            db.execute("insert or replace into cap_raises (day, amount, at, why) values (?, ?, ?, ?)", values)
            db.execute("delete from budget_warnings where scope = 'day' and period = ? and cap <> ?", (day, to))
        fault_point("cap.raised")
        return day

    def write_off(self, number: int, amount: int, why: str, now: datetime) -> int:
        """Book a lost call at no more than `amount` -> what it was booked at. It stays lost.

        Misconfigured if it is not lost, or is booked at less.
        """
        with self._db.transaction() as db:
            call = db.execute("select state, amount from calls where id = ?", (number,)).fetchone()
            if call is None or call["state"] != "lost":
                state = f"call {number} is {call['state']}, not lost" if call else f"there is no call {number}"
                raise Misconfigured(f"{state}; the lost ones stand with their numbers in: python main.py budget")
            booked: int = call["amount"]
            if amount > booked:
                told = f"call {number} is booked at less already; type an --amount below that, or none for 0"
                raise Misconfigured(told)
            if amount < booked:
                insert(db, "write_offs", call=number, at=text(now), booked=booked, amount=amount, why=why)
                db.execute("update calls set amount = ? where id = ? and state = 'lost'", (amount, number))
        fault_point("call.written-off")
        return booked
