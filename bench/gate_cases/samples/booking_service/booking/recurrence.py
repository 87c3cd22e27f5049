"""Series: the same again, each day, week or month."""

import calendar
from dataclasses import dataclass
from datetime import date, datetime, timedelta

MOST = 366


@dataclass(frozen=True)
class Rule:
    """`every`: 2 and "weekly" is each second week. It ends after `count` times or with the day `until`.

    `skip`: days that are left out; they count.
    """

    frequency: str
    every: int = 1
    count: int | None = None
    until: date | None = None
    skip: tuple[date, ...] = ()

    def __post_init__(self):
        if self.frequency not in ("daily", "weekly", "monthly"):
            raise ValueError(f"unknown frequency: {self.frequency}")
        if self.every < 1:
            raise ValueError("every must be at least 1")
        if (self.count is None) == (self.until is None):
            raise ValueError("either count or until")

    def occurrences(self, first: datetime) -> list[datetime]:
        """Local times, the first one included. Raises ValueError if there are more than 366."""
        found, number = [], 0
        while self.count is None or number < self.count:
            when = self._nth(first, number)
            if self.until is not None and when.date() > self.until:
                break
            if number >= MOST:
                raise ValueError(f"more than {MOST} times")
            if when.date() not in self.skip:
                found.append(when)
            number += 1
        return found

    def _nth(self, first, number):
        steps = number * self.every
        if self.frequency == "daily":
            return first + timedelta(days=steps)
        if self.frequency == "weekly":
            return first + timedelta(weeks=steps)
        return _add_months(first, steps)


def _add_months(moment, months):
    """The same day of a later month, or that month's last day."""
    year, month = divmod(moment.year * 12 + moment.month - 1 + months, 12)
    last = calendar.monthrange(year, month + 1)[1]
    return moment.replace(year=year, month=month + 1, day=min(moment.day, last))
