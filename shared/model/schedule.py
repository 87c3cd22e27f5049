"""Phases of a day: the owner's times, what was run, and now -> what is due, and what is too late.

Times are compared as the owner's wall clock shows them, and what was run is known by day and name. So summer time
skips nothing and repeats nothing, and a clock that is set back begins nothing a second time. Below: what is waited for,
and how long until another try. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Literal, TypeVar

WORK = "work"

Standing = Literal["begun", "ended", "failed"]
Fate = Literal["ahead", "due", "missed", "over"]

ONE_DAY = timedelta(days=1)


@dataclass(frozen=True)
class Slot:
    """A phase, and when it begins on the owner's wall clock."""

    name: str
    at: time


@dataclass(frozen=True)
class Schedule:
    """`slots`: in their order, the last is the evening. WORK is no run: it is a window, open until the evening.

    The others each have a while in which they may be begun: until the evening, the evening until the next morning,
    and nothing as late as `catch_up`.
    """

    slots: tuple[Slot, ...]
    catch_up: timedelta

    @property
    def evening(self) -> Slot:
        return self.slots[-1]


@dataclass(frozen=True)
class Ran:
    """Record of a phase on one day. `problem`: why it failed, or what the owner has to mend after it.

    `missed`: nobody was there; it was not run at all.
    """

    begun: datetime
    ended: datetime | None
    problem: str = ""
    missed: bool = False

    @property
    def standing(self) -> Standing:
        if self.ended:
            return "ended"
        return "failed" if self.problem else "begun"


@dataclass(frozen=True)
class Due:
    """A phase of a day, and by how much its time has passed."""

    day: str
    name: str
    late: timedelta


@dataclass(frozen=True)
class Outlook:
    """`due` is to be begun, or resumed; `missed` are to be recorded as such; `working`: tasks may be begun.

    `next_name` at `next_at`: the next time of the schedule, whatever stands there.
    """

    due: Due | None
    missed: tuple[Due, ...]
    working: bool
    next_name: str
    next_at: datetime


def outlook(schedule: Schedule, now: datetime, ran: Callable[[str], Mapping[str, Standing]]) -> Outlook:
    """`now`: aware, in the owner's zone; `ran`: day -> what was run of it, by name; names of no slot are allowed there.

    One phase at a time, in order: as long as one is begun it is `due`, also while somebody runs it. A failed one
    holds up nothing and is not due again: whoever wants it tried once more says "begun" of it.
    """
    wall = now.replace(tzinfo=None, fold=0)
    today = _fates(schedule, wall.date(), wall, ran)
    fates = {**_last_night(schedule, wall, ran), **today}
    at, name = next((at, name) for at, name in _times(schedule, wall.date()) if at > wall)
    return Outlook(
        due=next((phase for phase, fate in fates.items() if fate == "due"), None),
        missed=tuple(phase for phase, fate in fates.items() if fate == "missed"),
        working=_is_open(schedule, wall, {phase.name: fate for phase, fate in today.items()}),
        next_name=name,
        next_at=at.replace(tzinfo=now.tzinfo),
    )


def clock_is_behind(now: datetime, newest_day: str) -> bool:
    """Tell whether the clock is a day or more behind the newest day on which anything was run (empty: none)."""
    return bool(newest_day) and now.date() < date.fromisoformat(newest_day) - ONE_DAY


# --- one day, by the wall clock ------------------------------------------------------------------------------


def _fates(
    schedule: Schedule, day: date, wall: datetime, ran: Callable[[str], Mapping[str, Standing]]
) -> dict[Due, Fate]:
    """List them in the order of the schedule, without WORK."""
    rows = ran(day.isoformat())
    slots = [slot for slot in schedule.slots if slot.name != WORK]
    fates: dict[Due, Fate] = {}
    for number, slot in enumerate(slots, 1):
        overtaken = any(later.name in rows for later in slots[number:])
        fate = _fate(schedule, day, slot, wall, rows.get(slot.name), overtaken)
        fates[Due(day.isoformat(), slot.name, wall - datetime.combine(day, slot.at))] = fate
    return fates


def _fate(
    schedule: Schedule, day: date, slot: Slot, wall: datetime, standing: Standing | None, overtaken: bool
) -> Fate:
    """`overtaken`: a later phase of that day was begun. What was begun itself may be resumed all the same."""
    begins, ends = _while(schedule, day, slot)
    if standing in ("ended", "failed"):
        return "over"
    if wall < begins:
        return "ahead"
    if standing == "begun":
        return "due" if wall < ends else "over"
    return "due" if wall < min(ends, begins + schedule.catch_up) and not overtaken else "missed"


def _while(schedule: Schedule, day: date, slot: Slot) -> tuple[datetime, datetime]:
    if slot == schedule.evening:
        return datetime.combine(day, slot.at), datetime.combine(day + ONE_DAY, schedule.slots[0].at)
    return datetime.combine(day, slot.at), datetime.combine(day, schedule.evening.at)


def _last_night(schedule: Schedule, wall: datetime, ran: Callable[[str], Mapping[str, Standing]]) -> dict[Due, Fate]:
    """Yesterday's evening, if there was anything of that day to be summed up."""
    yesterday = wall.date() - ONE_DAY
    if not ran(yesterday.isoformat()):
        return {}
    fates = _fates(schedule, yesterday, wall, ran)
    return {phase: fate for phase, fate in fates.items() if phase.name == schedule.evening.name}


def _is_open(schedule: Schedule, wall: datetime, today: Mapping[str, Fate]) -> bool:
    """The window for work: what comes before it is behind us, well or badly."""
    names = [slot.name for slot in schedule.slots]
    window = schedule.slots[names.index(WORK)]
    before = names[: names.index(WORK)]
    in_time = window.at <= wall.time() < schedule.evening.at
    return in_time and all(today[name] in ("over", "missed") for name in before)


def _times(schedule: Schedule, day: date) -> Iterator[tuple[datetime, str]]:
    for days in (day, day + ONE_DAY):
        yield from ((datetime.combine(days, slot.at), slot.name) for slot in schedule.slots)


# --- waiting --------------------------------------------------------------------------------------------------

Obstacle = Literal[
    "start", "trouble", "halt", "cap", "model", "forge", "deploys", "vision", "attempt", "machine", "time"
]
Time = TypeVar("Time", float, timedelta)


@dataclass(frozen=True)
class Wait:
    """`until`: nothing is tried before; None: as soon as it is needed, or as the owner does something about it.

    `why`: in words; may be empty.
    """

    what: Obstacle
    since: datetime | None = None
    until: datetime | None = None
    why: str = ""


def back_off(failed: int, first: Time, longest: Time) -> Time:
    """Time to wait before another try: twice as long each time. `failed`: tries that failed before the last one."""
    return min(first * 2.0 ** min(failed, 10), longest)


@dataclass(frozen=True)
class Backoff:
    """Time after a try that failed, `times` of them in a row: nobody tries again before `until`."""

    times: int
    since: datetime
    until: datetime

    def lasts(self, now: datetime) -> bool:
        """Tell whether it does; a clock that was set back makes nobody wait longer."""
        return self.since <= now < self.until


def failed_again(before: Backoff | None, now: datetime, first: timedelta, longest: timedelta) -> Backoff:
    """One more try has failed; `before`: None: the first."""
    times = before.times if before else 0
    return Backoff(times + 1, now, now + back_off(times, first, longest))
