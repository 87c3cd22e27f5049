"""The roadmap: what goals need, how fast we are, what the owner has put where -> the week of each goal. Pure.

Sizes are tasks, amounts are nano-dollars, days are YYYY-MM-DD. A week begins on a Monday; it is a milestone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction

from sisimpur.agents.orchestrator.goals.standing import GoalEnd
from sisimpur.agents.orchestrator.roadmap.weeks import monday_of
from sisimpur.shared.model.work import Difficulty, Priority, TaskSpec

# Tokens of one task, sent and received, over all its model calls: what a forecast rests on until there is experience.
PROFILE: Mapping[Difficulty, tuple[int, int]] = {
    Difficulty.EASY: (12_000, 3_000),
    Difficulty.MEDIUM: (40_000, 8_000),
    Difficulty.HARD: (120_000, 20_000),
}


LATER, DONE, FREE = "later", "done", ""  # places of a pin that are no week; FREE: we choose

ENOUGH, MOST = 3, 14  # merged tasks that a pace rests on
GUESSED_MINUTES = 10  # that a task takes, as long as too few are merged
SLOWEST = Fraction(1, 7)  # tasks a day: so every goal has a week, and the weeks come to an end
WEEK = timedelta(weeks=1)
SHOWN = 8 * WEEK  # that a goal which is done stands there
FARTHEST = 520 * WEEK  # that a goal can be put ahead


@dataclass(frozen=True)
class Room:
    """What a day allows. `minutes`: of work, of all hands together; `guess`: what a task costs until we know better."""

    tasks: int
    cap: int
    minutes: int
    guess: int


@dataclass(frozen=True)
class Pace:
    """`tasks` a day; what one costs and takes; `merged`: how many tasks say so, 0: it is a guess."""

    tasks: Fraction
    cost: int
    minutes: int
    merged: int = 0

    def room(self, days: int) -> int:
        """Tasks that so many days have room for."""
        return int(self.tasks * days)


@dataclass(frozen=True)
class Need:
    """A goal with what it took, and what is still to be done for it."""

    id: str
    title: str
    priority: Priority = Priority.MEDIUM
    merged: int = 0
    open: int = 0  # tasks that are not over, or have failed
    to_come: int = 0  # probably
    cost: int = 0  # so far
    done_on: str = ""  # empty: it is open
    proposed: bool = False  # somebody else's wish: after all of the owner's
    note: str = ""  # what keeps it
    asked: bool = False  # a question about it waits for the owner
    end: GoalEnd | None = None  # what is next, if all its tasks are merged

    @property
    def size(self) -> int:
        return self.open + self.to_come


@dataclass(frozen=True)
class GoalPin:
    """The owner's word about a goal. `place`: a Monday, LATER, DONE or FREE; `rank`: how many stand there before it."""

    goal: str
    place: str
    rank: int = 0


@dataclass(frozen=True)
class RoadmapEntry:
    need: Need
    yours: bool = False  # its place is the owner's choice

    @property
    def is_done(self) -> bool:
        return bool(self.need.done_on)


@dataclass(frozen=True)
class Milestone:
    """A week. What is done comes first, then the others in the order of their turn.

    `load`: tasks that are worked on in it, also for goals of later weeks; `room`: that it has room for.
    """

    monday: date
    entries: tuple[RoadmapEntry, ...] = ()
    load: int = 0
    room: int = 0

    @property
    def done(self) -> int:
        return sum(entry.is_done for entry in self.entries)

    @property
    def sunday(self) -> date:
        return self.monday + WEEK - timedelta(days=1)


@dataclass(frozen=True)
class Roadmap:
    """`weeks`: the oldest first, those without goals only if there is work in them. `later`: not planned for now."""

    pace: Pace
    weeks: tuple[Milestone, ...] = ()
    later: tuple[RoadmapEntry, ...] = ()

    @property
    def ends(self) -> date | None:
        """The last day of the week in which the last goal is done; None: none is open."""
        ends = [week.sunday for week in self.weeks if week.done < len(week.entries)]
        return max(ends, default=None)

    @property
    def entries(self) -> Iterator[RoadmapEntry]:
        """All of them, in their order."""
        yield from (entry for _, entry in self.places)

    @property
    def places(self) -> Iterator[tuple[Milestone | None, RoadmapEntry]]:
        """All of them, in their order, each with its week; None: it stands below LATER."""
        yield from ((week, entry) for week in self.weeks for entry in week.entries)
        yield from ((None, entry) for entry in self.later)


# --- decisions -----------------------------------------------------------------------------------------------


def pace(merged: Sequence[tuple[int, float]], room: Room) -> Pace:
    """`merged`: (cost, minutes of work) of the newest merged tasks. The least of what room, money and time allow."""
    known = len(merged) if len(merged) >= ENOUGH else 0
    cost = sum(cost for cost, _ in merged) // known if known else room.guess
    minutes = round(sum(minutes for _, minutes in merged) / known) if known else GUESSED_MINUTES
    limits = [Fraction(room.tasks)]
    limits += [Fraction(room.cap, cost)] if cost > 0 else []
    limits += [Fraction(room.minutes, minutes)] if minutes > 0 else []
    return Pace(max(min(limits), SLOWEST), cost, minutes, known)


def lay_out(needs: Iterable[Need], pins: Iterable[GoalPin], pace: Pace, today: str, used: int = 0) -> Roadmap:
    """What the owner has put into a week stands there; the rest in the first week in which its last task fits.

    The rest comes by priority, then in the order of `needs`; a goal for which nothing is left to do stands below LATER.
    What is pinned to weeks that are over comes in this one. `used`: tasks of today that are over.
    """
    own = {pin.goal: pin for pin in pins if pin.place != FREE}
    done, later, free = list[Need](), list[Need](), deque[Need]()
    fixed, put_off = dict[date, list[tuple[GoalPin, Need]]](), list[tuple[GoalPin, Need]]()
    first = monday_of(today)
    for need in sorted(needs, key=lambda need: (need.proposed, need.priority.rank)):
        pin = own.get(need.id)
        if need.done_on:
            done.append(need)
        elif pin and pin.place == LATER:
            put_off.append((pin, need))
        elif pin and pin.place != DONE:
            fixed.setdefault(min(max(monday_of(pin.place), first), first + FARTHEST), []).append((pin, need))
        elif need.size:
            free.append(need)
        else:
            later.append(need)
    weeks = {week.monday: week for week in _weeks(free, fixed, pace, date.fromisoformat(today), used)}
    for monday, entries in _done(done, first).items():
        week = weeks.get(monday, Milestone(monday))
        weeks[monday] = Milestone(monday, (*entries, *week.entries), week.load, week.room)
    return Roadmap(pace, tuple(weeks[monday] for monday in sorted(weeks)), _ordered(later, put_off))


def next_goals(roadmap: Roadmap, today: str) -> tuple[str, ...]:
    """Ids in the order of their turn: neither done, nor put off, nor put into a week to come."""
    present = monday_of(today)
    turns = ((week, entry) for week in roadmap.weeks for entry in week.entries if not entry.is_done)
    return tuple(entry.need.id for week, entry in turns if not (entry.yours and week.monday > present))


def applied(pins: Mapping[str, GoalPin], changes: Iterable[GoalPin]) -> dict[str, GoalPin]:
    """The pins by goal, after the owner's newest words."""
    now = {**pins, **{change.goal: change for change in changes}}
    return {goal: pin for goal, pin in now.items() if pin.place != FREE}


def _done(needs: Iterable[Need], first: date) -> dict[date, list[RoadmapEntry]]:
    """What is done, by the week in which it was done: not the very old."""
    found: dict[date, list[RoadmapEntry]] = {}
    for need in sorted(needs, key=lambda need: need.done_on):
        monday = min(monday_of(need.done_on), first)  # a clock that was wrong
        if monday > first - SHOWN:
            found.setdefault(monday, []).append(RoadmapEntry(need))
    return found


def _weeks(
    free: deque[Need], fixed: Mapping[date, Sequence[tuple[GoalPin, Need]]], pace: Pace, today: date, used: int
) -> Iterator[Milestone]:
    """From this one on, until every goal has its place.

    What is pinned takes its room first; what does not fit into its week takes from the next ones. So the room for the
    others up to a week is the most that was left at the end of any week before: more room makes nothing later.
    """
    wanted = sum(need.size for need in free)
    monday, pinned, usable, taken = monday_of(today.isoformat()), 0, 0, 0
    while free or any(at >= monday for at in fixed):
        here, before, days = list[Need](), usable, (monday + WEEK - today).days
        own = fixed.get(monday, ())
        load = sum(need.size for _, need in own)
        pinned += load
        room = max(0, pace.room(days) - used)
        usable = max(usable, room - pinned)
        while free and taken + free[0].size <= usable:
            taken += free[0].size
            here.append(free.popleft())
        load += min(usable, wanted) - min(before, wanted)
        if here or own or load:
            yield Milestone(monday, _ordered(here, own), load, room - max(0, pace.room(max(days - 7, 0)) - used))
        monday += WEEK


def _ordered(others: Iterable[Need], own: Iterable[tuple[GoalPin, Need]]) -> tuple[RoadmapEntry, ...]:
    """What the owner has put there stands where he has put it, the others around it."""
    entries = [RoadmapEntry(need) for need in others]
    for pin, need in sorted(own, key=lambda one: (one[0].rank, one[0].place)):
        entries.insert(pin.rank, RoadmapEntry(need, yours=True))
    return tuple(entries)


def forecast(tasks: Iterable[TaskSpec], per_token: tuple[int, int], experience: tuple[int, int]) -> int:
    """What the tasks will probably cost, in nano-dollars: from the cost of finished ones, or from the profile.

    `per_token` is the coder's price for a token sent and received; `experience`: how many tasks are finished, and what
    they have cost together.
    """
    tasks = list(tasks)
    finished, cost = experience
    if finished >= 3:
        return len(tasks) * (cost // finished)
    sent, received = per_token
    return sum(PROFILE[task.difficulty][0] * sent + PROFILE[task.difficulty][1] * received for task in tasks)


@dataclass(frozen=True)
class RoadmapAccount:
    """Where the roadmap stands: this week's milestone, and when all of it is probably done."""

    week: str = ""  # the day on which this week began, in words; empty: there is no roadmap yet
    done: int = 0  # of this week's goals
    goals: int = 0
    next: tuple[str, ...] = ()  # titles, in the order of their turn
    ends: str = ""  # the day in words; empty: nothing is open
    pace: str = ""  # in words
    later: int = 0  # goals that are not planned for now
    own: tuple[str, ...] = ()  # the owner's bullets that are no goals
    problem: str = ""  # why the file cannot be read
