"""The course of a day's spending, for readers: how much was taken from the caps, and when. Nothing here writes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from shared.store.database import Database, Tables

LAST_MINUTE = 24 * 60 - 1


class LedgerCourse:
    """`db` is the database of the home."""

    def __init__(self, db: Database) -> None:
        self._db = Tables(db, "money")

    def of(self, day: str) -> tuple[Spending, ...]:
        """What was booked on that day, in order. Its sum is what the day's cap has lost."""
        rows = self._db.rows(
            "select at, amount from calls where day = ? and state <> 'refused' and amount > 0 order by id", (day,)
        )
        found = (Spending(_minute(row["at"], day), row["amount"]) for row in rows)
        return tuple(sorted(found, key=lambda one: one.minute))


def _minute(at: str, day: str) -> int:
    """A clock that was set back or runs past midnight books on a day that is not its own."""
    when = datetime.fromisoformat(at)
    if (found := when.date().isoformat()) != day:
        return 0 if found < day else LAST_MINUTE
    return when.hour * 60 + when.minute


@dataclass(frozen=True)
class Spending:
    """Money that was taken from the cap at some minute of the day (0-1439)."""

    minute: int
    amount: int
