"""How the team gets on: tasks that came to an end, calendar week after calendar week. Pure.

Days are those of the owner's wall clock, so summer time moves none, and a week at the turn of the year is one week.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from typing import Literal, TypeVar

from sisimpur.shared.model.lifecycle import Event

Figure = Literal["sent_back", "cost", "minutes", "tokens"]  # of a merged task
Period = TypeVar("Period")

ENDS = (Event.MERGED, Event.EXHAUSTED, Event.CANCELLED)
REOPENS = (Event.SICK, Event.RETRIED, Event.WITHDRAWN)
MOST_WEEKS = 4  # the present one among them
ENGINE = "coder"  # the agent whose tokens write code; all others' only arrange for that


@dataclass(frozen=True)
class TaskEnding:
    """How a task stood when a week was over. `sent_back`: attempts, before it was merged; the rest of its whole life.

    `cost`: nano-dollars; `minutes`: that agents worked on it, since the owner last gave its attempts back.
    """

    task: str
    day: str
    merged: bool
    sent_back: int = 0
    cost: int = 0
    minutes: float = 0.0
    tokens: int = 0


@dataclass(frozen=True)
class Burnt:
    """Tokens, sent and received, that an agent took on a day."""

    day: str
    agent: str
    tokens: int


@dataclass(frozen=True)
class Tally:
    """How many tasks a week or a month has left at an end, and how many of them merged."""

    tasks: int = 0
    merged: int = 0

    @property
    def success(self) -> float:
        return self.merged / self.tasks if self.tasks else 0.0


@dataclass(frozen=True)
class Week:
    """A calendar week in which tasks came to an end; it begins on a Monday. Averages are None if nothing was merged."""

    monday: date
    endings: tuple[TaskEnding, ...]
    tokens: int = 0
    arranging: int = 0  # of these, whatever is not the engine's

    @property
    def number(self) -> int:
        return self.monday.isocalendar().week

    @property
    def tally(self) -> Tally:
        return Tally(len(self.endings), len(self.merged))

    @property
    def merged(self) -> tuple[TaskEnding, ...]:
        return tuple(one for one in self.endings if one.merged)

    @property
    def orchestration(self) -> float | None:
        return self.arranging / self.tokens if self.tokens else None

    def each(self, what: Figure) -> float | None:
        """Per merged task."""
        values: list[float] = [getattr(one, what) for one in self.merged]
        return sum(values) / len(values) if values else None


def monday_of(day: str) -> date:
    """`day`: it begins with YYYY-MM-DD, as the owner's wall clock showed it: summer time moves no day."""
    return _monday_of(day[:10])


@lru_cache(maxsize=1_000)  # a report asks it of thousands of rows, of few days
def _monday_of(day: str) -> date:
    found = date.fromisoformat(day)
    return found - timedelta(days=found.weekday())


def ends_by_week(happened: Iterable[tuple[str, Event]]) -> dict[date, tuple[str, Event]]:
    """(when, event), the oldest first -> for each week the end with which it left the task, if that was one.

    What happens in a later week takes nothing back: figures of weeks that are over stay.
    """
    return _ends(happened, monday_of)


def ended_in(month: str, lives: Iterable[Iterable[tuple[str, Event]]]) -> Tally:
    """(when, event) of each task -> how the month (`2026-11`) left them."""
    ends = (_ends(life, lambda at: at[:7]).get(month) for life in lives)
    found = [event is Event.MERGED for _, event in filter(None, ends)]
    return Tally(len(found), sum(found))


def _ends(happened: Iterable[tuple[str, Event]], period: Callable[[str], Period]) -> dict[Period, tuple[str, Event]]:
    found: dict[Period, tuple[str, Event]] = {}
    for at, event in happened:
        if event in ENDS:
            found[period(at)] = (at, event)
        elif event in REOPENS:
            found.pop(period(at), None)
    return found


@lru_cache(maxsize=100)
def first_monday(day: str) -> date:
    """Of the weeks that are looked at on that day."""
    return monday_of(day) - timedelta(weeks=MOST_WEEKS - 1)


def looked_from(day: str) -> str:
    """The first day that a report of that day looks at: of its month, or of the weeks before, whichever is earlier."""
    return min(first_monday(day).isoformat(), f"{day[:7]}-01")


def weeks(endings: Iterable[TaskEnding], burnt: Iterable[Burnt], day: str) -> tuple[Week, ...]:
    """Those with endings, up to that day, the newest first."""
    by_week: dict[date, list[TaskEnding]] = {}
    for ending in endings:
        if first_monday(day) <= monday_of(ending.day) and ending.day <= day:
            by_week.setdefault(monday_of(ending.day), []).append(ending)
    spent = [one for one in burnt if one.day <= day]
    return tuple(_week(monday, by_week[monday], spent) for monday in sorted(by_week, reverse=True))


def _week(monday: date, endings: Sequence[TaskEnding], burnt: Sequence[Burnt]) -> Week:
    theirs = [one for one in burnt if monday_of(one.day) == monday]
    arranging = sum(one.tokens for one in theirs if one.agent != ENGINE)
    return Week(monday, tuple(endings), sum(one.tokens for one in theirs), arranging)
