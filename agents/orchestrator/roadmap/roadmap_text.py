"""Roadmap -> ROADMAP.md, with what the owner has written there himself. Pure; titles are data."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date

from sisimpur.agents.orchestrator.roadmap.roadmap import LATER, Milestone, Need, Pace, Roadmap, RoadmapEntry
from sisimpur.agents.orchestrator.roadmap.roadmap_file import ID, MONTHS, NOTHING, OTHER, TOP, Bullet, Sheet
from sisimpur.agents.orchestrator.vision.goal_ids import BULLET
from sisimpur.shared.model.text import TITLE, as_written, counted, harmless, one_line
from sisimpur.shared.money.token_budget import in_dollars

HEAD = """\
VISION.md says what is wanted, this file when; a goal that you do not want any more ends there: remove it in VISION.md.
Move a bullet to another week (heading `### Week of 7 December`), change the order in a week, or tick it: it is done.
Below Later, or deleted, it means "not for now". What you chose is marked *yours*; take that word away, and we choose
again. Bullets of your own stay where they are, but nothing is made of them."""
STRUCTURE = re.compile(  # would begin something else than a line of text
    r"^(?=[-+*](?:\s|$)|#{1,6}(?:\s|$)|>|<|`{3}|~{3}|(?:[-*_]\s*){3,}$)"
)
NUMBER = re.compile(r"^(\d+)(?=[.)])")


def render(roadmap: Roadmap, today: str, kept: Sheet = NOTHING) -> str:
    """`kept`: the file as it is, recognised: the owner's own stays in its place, and notes stay below their goals."""
    notes = {goal: bullet.notes for goal, bullet in kept.goals.items()}
    weeks = {week.monday.isoformat(): week for week in roadmap.weeks if week.entries}
    own = tuple(dict.fromkeys(one.place for one in kept.own))
    mondays = sorted({*weeks, *(place for place in own if place[:1].isdecimal())})

    def section(place: str, entries: Iterable[RoadmapEntry] = ()) -> str:
        lines = [_with_notes(bullet_line(one, roadmap.pace), notes.get(one.need.id, ())) for one in entries]
        return _with_own(lines, [one for one in kept.bullets if one.place == place])

    parts = ["# Roadmap", HEAD, pace_line(roadmap, today), section(TOP)]
    month = ""
    for monday in mondays:
        at = date.fromisoformat(monday)
        before, month = month, f"## {MONTHS[at.month - 1]} {at.year}"
        parts += [month] if month != before else []
        week = weeks.get(monday, Milestone(at))
        parts += [f"### {week_line(week)}", section(monday, week.entries)]
    parts += ["## Later", section(LATER, roadmap.later)]
    for place in own:
        if place.startswith(OTHER):
            parts += [f"## {place.removeprefix(OTHER)}", section(place)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _with_own(lines: list[str], found: Sequence[Bullet]) -> str:
    """The owner's own among the goals of a place, each as far down as it was `found`."""
    for at, bullet in enumerate(found):
        if not bullet.goal:
            lines.insert(at, _with_notes(_as_text(bullet.text), bullet.notes))
    return "\n".join(lines)


def _with_notes(line: str, notes: Iterable[str]) -> str:
    return "\n".join((f"- {line}", *(f"  - {_as_text(note)}" for note in notes)))


# --- lines ---------------------------------------------------------------------------------------------------


def pace_line(roadmap: Roadmap, today: str) -> str:
    words = pace_words(roadmap.pace)
    if roadmap.ends is None:
        return f"{words}."
    what = "all that does not stand below Later" if roadmap.later else "all of VISION.md"
    asked = sum(entry.need.asked and not entry.is_done for entry in roadmap.entries)
    but = f", once you have answered {counted(asked, 'question')}" if asked else ""
    return f"{words}; {what} probably by {day_words(roadmap.ends, today)}{but}."


def pace_words(pace: Pace) -> str:
    if pace.tasks >= 1:
        often = f"at most {counted(int(pace.tasks), 'task')} a day"
    else:
        often = f"a task in {math.ceil(1 / pace.tasks)} days"
    rests = f"by the last {pace.merged} merged" if pace.merged else "by a guess until three are merged"
    return f"{often}; a task takes about {counted(max(1, pace.minutes), 'minute')} and {in_dollars(pace.cost)}, {rests}"


def day_words(day: date, today: str) -> str:
    year = "" if day.isoformat()[:4] == today[:4] else f" {day.year}"
    return f"{day.day} {MONTHS[day.month - 1]}{year}"


def week_line(week: Milestone) -> str:
    done = f"{week.done} of {counted(len(week.entries), 'goal')} done" if week.entries else "no goal"
    return f"Week of {week.monday.day} {MONTHS[week.monday.month - 1]}: {done}"


def bullet_line(entry: RoadmapEntry, pace: Pace) -> str:
    need, box = entry.need, "x" if entry.is_done else " "
    mark = " *yours*" if entry.yours else ""
    title = _title(need)
    return f"[{box}] {title} ({need.priority.value.upper()}): {', '.join(state_words(need, pace))} `{need.id}`{mark}"


def _title(need: Need) -> str:
    """A bullet of VISION.md stands here as it stands there; it is no id of ours, and no page."""
    if not need.id.startswith(BULLET):
        return harmless(need.title, TITLE)
    return ID.sub(r"'\1'", as_written(one_line(need.title, TITLE)))


def state_words(need: Need, pace: Pace) -> Iterator[str]:
    """How far it is; what it cost, or will probably cost more."""
    known = need.merged + need.open
    if need.done_on:
        yield f"{counted(need.merged, 'task')} merged, {in_dollars(need.cost)}" if need.merged else "ticked by you"
    elif known:
        yield f"{need.merged} of {counted(known + need.to_come, 'task')} merged"
    elif need.to_come:
        yield f"about {counted(need.to_come, 'task')}"
    if not need.done_on and need.size:
        yield f"about {in_dollars(need.size * pace.cost)}{' more' if known else ''}"
    if need.note:
        yield need.note


def _as_text(text: str) -> str:
    """The owner's words; what would look like one of our goals, or like another part of the file, does not any more."""
    text = NUMBER.sub(r"\1" + "\\\\", STRUCTURE.sub("\\\\", text))
    return ID.sub(r"'\1'", text)
