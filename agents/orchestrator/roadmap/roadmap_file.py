"""ROADMAP.md's outline -> Sheet: which bullet stands where; and what the owner says by having changed it. Pure.

The id in backticks says which goal a bullet is; without one its title does, as it stood there when we wrote it last.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

from sisimpur.agents.orchestrator.roadmap.roadmap import DONE, FREE, LATER, GoalPin
from sisimpur.agents.orchestrator.roadmap.weeks import monday_of
from sisimpur.agents.orchestrator.vision.goal_ids import normalised
from sisimpur.shared.model.work import MarkdownLine

MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
TOP = ""  # the place above all headings
FAR = timedelta(days=45)  # from a month's middle: what stands below its heading lies within
OTHER = "# "  # begins the place below a heading that is none of ours

BOX = re.compile(r"\[([ xX])\](?:\s+|$)")
ID = re.compile(r"`([a-z]-[0-9a-z]+)`")
YOURS = re.compile(r"\*yours\*|\byours\W*$", re.IGNORECASE)
PRIORITY = re.compile(r" \((?:critical|high|medium|low)\)(?=:|\s|$)", re.IGNORECASE)
NAME = "|".join(f"{name[:3]}(?:{name[3:]})?" for name in MONTHS)
MONTH = re.compile(rf"({NAME}),? (\d{{4}})\b", re.IGNORECASE | re.ASCII)
WEEK_OF = re.compile(  # 14 December, Dec 14, 14th December 2027, 2027-12-14
    rf"Week of (?:(\d{{1,2}})(?:st|nd|rd|th|\.)? ({NAME})\b|({NAME}) (\d{{1,2}})(?:st|nd|rd|th)?\b)(?:,? (\d{{4}}))?"
    r"|Week of (\d{4})-(\d\d)-(\d\d)\b",
    re.IGNORECASE | re.ASCII,
)


@dataclass(frozen=True)
class Bullet:
    """`place`: a Monday, LATER, TOP or OTHER...; `text`: all of it; `goal` empty: it is the owner's own."""

    place: str
    text: str
    goal: str = ""
    ticked: bool = False
    yours: bool = False
    notes: tuple[str, ...] = ()  # what is nested in it

    @property
    def title(self) -> str:
        text = YOURS.sub("", BOX.sub("", self.text, count=1))
        ends = [found.start() for found in PRIORITY.finditer(text)]
        return text[: ends[-1]] if ends else text


@dataclass(frozen=True)
class Sheet:
    """`headings`: the weeks, also by their months, and LATER, whether anything stands below them or not."""

    bullets: tuple[Bullet, ...] = ()
    headings: frozenset[str] = frozenset()
    this_week: str = LATER  # its Monday, when the file was read

    @property
    def goals(self) -> dict[str, Bullet]:
        return {bullet.goal: bullet for bullet in self.bullets if bullet.goal}

    @property
    def own(self) -> tuple[Bullet, ...]:
        return tuple(bullet for bullet in self.bullets if not bullet.goal)


NOTHING = Sheet()


def read(outline: Sequence[MarkdownLine], today: str) -> Sheet:
    """`today`: weeks that stand below no month are those nearest to it. Text above the first heading is the head."""
    place, near = TOP, date.fromisoformat(today)
    bullets: list[Bullet] = []
    headings: set[str] = set()
    for line in outline:
        if line.kind == "heading":
            place, near = entered(line, near, date.fromisoformat(today))
            if place != TOP and not place.startswith(OTHER):
                headings.add(place)
        elif line.level and bullets and bullets[-1].place == place:
            bullets[-1] = replace(bullets[-1], notes=(*bullets[-1].notes, line.text))
        elif line.kind == "bullet" or place != TOP:
            bullets.append(bullet_at(place, line.text))
    return Sheet(tuple(bullets), frozenset(headings), monday_of(today).isoformat())


def entered(heading: MarkdownLine, near: date, today: date) -> tuple[str, date]:
    """The place below a heading, and the day near which weeks below it lie."""
    text = heading.text
    if found := MONTH.match(text):
        month = _day(int(found[2]), _number(found[1]), 1)
        return (_first_monday(month), month.replace(day=15)) if month else (f"{OTHER}{text}", near)
    if (found := WEEK_OF.match(text)) and (monday := _week(found, near, today)):
        return monday, near
    if normalised(text) == (LATER,):
        return LATER, near
    return (TOP if heading.level == 1 else f"{OTHER}{text}"), near


def bullet_at(place: str, text: str) -> Bullet:
    box, ids = BOX.match(text), list(ID.finditer(text))
    tail = text[ids[-1].end() :] if ids else text
    ticked = bool(box and box[1] != " ")
    return Bullet(place, text, ids[-1][1] if ids else "", ticked, bool(YOURS.search(tail)))


def _number(month: str) -> int:
    """Of a month by its name, whole or short."""
    return next(number for number, name in enumerate(MONTHS, 1) if name[:3].casefold() == month[:3].casefold())


def _week(found: re.Match[str], near: date, today: date) -> str:
    """The Monday of the week that a heading names; empty: there is no such day."""
    if found[6]:
        day = _day(int(found[6]), int(found[7]), int(found[8]))
    else:
        number, month = int(found[1] or found[4]), _number(found[2] or found[3])
        day = _day(int(found[5]), month, number) if found[5] else _nearest(number, month, near, today)
    return monday_of(day.isoformat()).isoformat() if day else ""


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _first_monday(month: date) -> str:
    return next(month.replace(day=day) for day in range(1, 8) if month.replace(day=day).weekday() == 0).isoformat()


def _nearest(day: int, month: int, near: date, today: date) -> date | None:
    """What is over and far from the month that it stands below is meant to come."""
    days = [one for years in (-1, 0, 1, 2) if (one := _day(near.year + years, month, day))]
    found = min(days, key=lambda one: abs(one - near), default=None)
    if found is None or found >= today - FAR or abs(found - near) <= FAR:
        return found
    return min((one for one in days if one >= today), default=found)


# --- which bullet is which goal ------------------------------------------------------------------------------


def recognised(written: Sheet, found: Sheet) -> Sheet:
    """What was found, each goal that we wrote at most once; all that is no such goal is the owner's own.

    Of a bullet that was copied the copy counts: it is the one that stands elsewhere.
    """
    before = written.goals
    chosen = {id(bullet): bullet.goal for bullet in _of_goals(before, found)}
    titles: dict[tuple[str, ...], list[str]] = {}
    for goal, was in before.items():
        if goal not in chosen.values():
            titles.setdefault(normalised(was.title), []).append(goal)
    for bullet in found.bullets:
        if not bullet.goal and (same := titles.get(normalised(bullet.title))):
            chosen[id(bullet)] = same.pop(0)
    kept = (bullet for bullet in found.bullets if id(bullet) in chosen or bullet.goal not in before)
    return replace(found, bullets=tuple(replace(bullet, goal=chosen.get(id(bullet), "")) for bullet in kept))


def _of_goals(before: Mapping[str, Bullet], found: Sheet) -> Iterator[Bullet]:
    for goal, was in before.items():
        same = [bullet for bullet in found.bullets if bullet.goal == goal]
        yield from ([one for one in same if one.place != was.place] or same)[:1]


# --- what the owner has changed ------------------------------------------------------------------------------


def edits(written: Sheet, found: Sheet) -> tuple[GoalPin, ...]:
    """What we wrote last, and what stands there now -> the owner's words, one per goal.

    None of our goals and none of our headings is there: the file was emptied, which says as little as its deletion.
    """
    before, now = written.goals, recognised(written, found)
    there = {goal: replace(one, place=_place(one.place, found.this_week)) for goal, one in now.goals.items()}
    if not there and not written.headings & found.headings:
        return ()
    gone = (goal for goal, was in before.items() if goal not in there and not was.ticked and was.place != LATER)
    changes = {goal: GoalPin(goal, LATER, len(before)) for goal in gone}
    for goal, one in there.items():
        was = before[goal]
        if one.ticked and not was.ticked:
            changes[goal] = GoalPin(goal, DONE)
        elif (was.ticked and not one.ticked) or (was.yours and not one.yours):
            changes[goal] = GoalPin(goal, FREE)
    for place in dict.fromkeys(one.place for one in there.values()):
        changes |= _ordered(place, before, [one for one in there.values() if one.place == place and not one.ticked])
    return tuple(changes.values())


def likeness(one: str, other: str) -> float:
    """0 to 1: how many of their lines are the same, below the same headings."""
    first, second = Counter(_below_headings(one)), Counter(_below_headings(other))
    return 2 * (first & second).total() / max(1, first.total() + second.total())


def _below_headings(text: str) -> Iterator[tuple[str, str]]:
    heading = ""
    for line in filter(None, map(str.strip, text.splitlines())):
        heading = line if line.startswith("#") else heading
        yield heading, line


def _ordered(place: str, before: Mapping[str, Bullet], here: Sequence[Bullet]) -> dict[str, GoalPin]:
    """What stands in one place now: what came there, what has changed its turn, and what was the owner's there before.

    If nobody moved there, nothing is said about anybody.
    """
    turns = {goal: turn for turn, (goal, was) in enumerate(before.items()) if was.place == place and not was.ticked}
    stayed = [one.goal for one in here if one.goal in turns]
    kept = _longest_rising([turns[goal] for goal in stayed])
    moved = {one.goal for one in here if turns.get(one.goal) not in kept and _is_moved(before[one.goal], place)}
    moved |= {one.goal for one in here if one.yours and not before[one.goal].yours}
    if not moved:
        return {}
    own = moved | {one.goal for one in here if one.yours}
    return {one.goal: GoalPin(one.goal, place, rank) for rank, one in enumerate(here) if one.goal in own}


def _is_moved(was: Bullet, place: str) -> bool:
    """A goal that is only not ticked any more has its place from us."""
    return not was.ticked or was.place != place


def _place(place: str, this_week: str) -> str:
    """A goal above all headings is wanted now; below a heading that is no week it is not."""
    if place == TOP:
        return this_week
    return LATER if place.startswith(OTHER) else place


def _longest_rising(numbers: Sequence[int]) -> set[int]:
    """As many of them as possible that stand in their order: those did not move, the others did."""
    best: list[tuple[int, ...]] = []
    for at, number in enumerate(numbers):
        before = [best[i] for i in range(at) if numbers[i] < number]
        best.append((*_longest(before), number))
    return {*_longest(best)}


def _longest(found: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    return max(found, key=len, default=())
