"""The days with work so far -> what the month will have cost at its end, by plain arithmetic. Pure."""

from __future__ import annotations

import calendar
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

MOST_DAYS = 7  # of work that make the pace


@dataclass(frozen=True)
class Forecast:
    """Nano-dollars; `days` with work make the pace, and `left` days of the month come after today."""

    days: int
    pace: int
    left: int
    end_of_month: int


def forecast(today: str, used: Mapping[str, int]) -> Forecast | None:
    """`used` by day, today's too. Today counts for the pace only if there was no other day; None: there was none."""
    past = sorted(day for day, amount in used.items() if amount and day < today)[-MOST_DAYS:]
    with_work = past or [day for day in (today,) if used.get(day)]
    if not with_work:
        return None
    pace = sum(used[day] for day in with_work) // len(with_work)
    at = date.fromisoformat(today)
    left = calendar.monthrange(at.year, at.month)[1] - at.day
    so_far = sum(amount for day, amount in used.items() if day[:7] == today[:7])
    return Forecast(len(with_work), pace, left, so_far + pace * left)
