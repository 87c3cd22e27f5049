"""ROADMAP.md's outline -> Sheet: which bullet stands where; and what the owner says by having changed it. Pure.

The id in backticks says which goal a bullet is; without one its title does, as it stood there when we wrote it last.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from agents.orchestrator.goal_ids import normalised
from shared.domain.roadmap import DONE, FREE, LATER, Pin
from shared.domain.weeks import monday_of
from shared.domain.work import Line

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
OTHER = "# "  # begins the place below a heading that is none of ours

BOX = re.compile(r"\[([ xX])\](?:\s+|$)")
ID = re.compile(r"`([a-z]-[0-9a-z]+)`")
YOURS = re.compile(r"\*yours\*|\byours\W*$", re.IGNORECASE)
PRIORITY = re.compile(r" \((?:critical|high|medium|low)\)(?=:|\s|$)", re.IGNORECASE)
MONTH = re.compile(rf"({'|'.join(MONTHS)}) (\d{{4}})", re.IGNORECASE)
WEEK_OF = re.compile(rf"Week of (\d{{1,2}}) ({'|'.join(MONTHS)})\b", re.IGNORECASE)


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
    bullets: tuple[Bullet, ...] = ()

    @property
    def goals(self) -> dict[str, Bullet]:
        return {bullet.goal: bullet for bullet in self.bullets if bullet.goal}

    @property
    def own(self) -> tuple[Bullet, ...]:
        return tuple(bullet for bullet in self.bullets if not bullet.goal)


NOTHING = Sheet()

# --- reading -------------------------------------------------------------------------------------------------


def read(outline: Sequence[Line], today: str) -> Sheet:
    """`today`: weeks that stand below no month are those nearest to it. Text above the first heading is the head."""
    place, near = TOP, date.fromisoformat(today)
    bullets: list[Bullet] = []
    for line in outline:
        if line.kind == "heading":
            place, near = _entered(line, near)
        elif line.level and bullets and bullets[-1].place == place:
            bullets[-1] = replace(bullets[-1], notes=(*bullets[-1].notes, line.text))
        elif line.kind == "bullet" or place != TOP:
            bullets.append(_bullet(place, line.text))
    return Sheet(tuple(bullets))


def _entered(heading: Line, near: date) -> tuple[str, date]:
    """The place below a heading, and the day near which weeks below it lie."""
    text = heading.text
    if found := MONTH.match(text):
        month = _day(int(found[2]), _number(found[1]), 1)
        return (_first_monday(month), month.replace(day=15)) if month else (f"{OTHER}{text}", near)
    if (found := WEEK_OF.match(text)) and (monday := _nearest(int(found[1]), _number(found[2]), near)):
        return monday, near
    if normalised(text) == (LATER,):
        return LATER, near
    return (TOP if heading.level == 1 else f"{OTHER}{text}"), near


def _bullet(place: str, text: str) -> Bullet:
    box, ids = BOX.match(text), list(ID.finditer(text))
    tail = text[ids[-1].end() :] if ids else text
    ticked = bool(box and box[1] != " ")
    return Bullet(place, text, ids[-1][1] if ids else "", ticked, bool(YOURS.search(tail)))


def _number(month: str) -> int:
    return MONTHS.index(month.capitalize()) + 1


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _first_monday(month: date) -> str:
    return next(month.replace(day=day) for day in range(1, 8) if month.replace(day=day).weekday() == 0).isoformat()


def _nearest(day: int, month: int, near: date) -> str:
    """The Monday of that day's week; empty: there is no such day."""
    days = filter(None, (_day(near.year + years, month, day) for years in (-1, 0, 1)))
    found = min(days, key=lambda one: abs(one - near), default=None)
    return monday_of(found.isoformat()).isoformat() if found else ""


# --- which bullet is which goal ------------------------------------------------------------------------------


def recognised(written: Sheet, found: Sheet) -> Sheet:
    """What was found, each goal that we wrote at most once; all that is no such goal is the owner's own.

    Of a bullet that was copied the copy counts: it is the one that stands elsewhere.
    """
    before = written.goals
    chosen = {id(bullet): bullet.goal for bullet in _of_goals(before, found)}
    titles = {normalised(was.title): goal for goal, was in before.items() if goal not in chosen.values()}
    for bullet in found.bullets:
        if not bullet.goal and (goal := titles.pop(normalised(bullet.title), "")):
            chosen[id(bullet)] = goal
    kept = (bullet for bullet in found.bullets if id(bullet) in chosen or bullet.goal not in before)
    return Sheet(tuple(replace(bullet, goal=chosen.get(id(bullet), "")) for bullet in kept))


def _of_goals(before: Mapping[str, Bullet], found: Sheet) -> Iterator[Bullet]:
    for goal, was in before.items():
        same = [bullet for bullet in found.bullets if bullet.goal == goal]
        yield from ([one for one in same if one.place != was.place] or same)[:1]


# --- what the owner has changed ------------------------------------------------------------------------------


def edits(written: Sheet, found: Sheet) -> tuple[Pin, ...]:
    """What we wrote last, and what stands there now -> the owner's words, one per goal.

    None of our goals is there: the file was emptied, which says as little as its deletion.
    """
    before, now = written.goals, recognised(written, found)
    there = {goal: replace(one, place=_place(one.place, written)) for goal, one in now.goals.items()}
    if not there:
        return ()
    changes = {goal: Pin(goal, LATER, len(before)) for goal, was in before.items() if goal not in there and _open(was)}
    for goal, one in there.items():
        was = before[goal]
        if one.ticked and not was.ticked:
            changes[goal] = Pin(goal, DONE)
        elif (was.ticked and not one.ticked) or (was.yours and not one.yours):
            changes[goal] = Pin(goal, FREE)
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


def _open(was: Bullet) -> bool:
    return not was.ticked and was.place != LATER


def _ordered(place: str, before: Mapping[str, Bullet], here: Sequence[Bullet]) -> dict[str, Pin]:
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
    return {one.goal: Pin(one.goal, place, rank) for rank, one in enumerate(here) if one.goal in own}


def _is_moved(was: Bullet, place: str) -> bool:
    """A goal that is only not ticked any more has its place from us."""
    return not was.ticked or was.place != place


def _place(place: str, written: Sheet) -> str:
    """A goal above all headings is wanted first; below a heading that is no week it is not wanted now."""
    if place == TOP:
        return next((was.place for was in written.bullets if was.goal and _open(was)), LATER)
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
