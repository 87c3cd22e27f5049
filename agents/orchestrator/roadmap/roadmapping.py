"""VISION.md, the books, the owner's edits -> the order of goals, and ROADMAP.md. No model is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agents.orchestrator.roadmap.roadmap import (
    DONE,
    FREE,
    LATER,
    GoalPin,
    Milestone,
    Roadmap,
    RoadmapAccount,
    applied,
    next_goals,
)
from agents.orchestrator.roadmap.roadmap_book import RoadmapRepository, RoadmapText
from agents.orchestrator.roadmap.roadmap_file import NOTHING, Sheet, edits, likeness, read, recognised
from agents.orchestrator.roadmap.roadmap_needs import Sources, laid_out, sources, wanted
from agents.orchestrator.roadmap.roadmap_text import day_words, pace_words, render
from agents.orchestrator.roadmap.weeks import monday_of
from agents.orchestrator.team import Desk
from shared.model.errors import Refused
from shared.model.text import counted
from shared.model.work import Vision
from shared.system.fault import fault_point
from shared.system.markdown import outline
from shared.system.paths import read_text, write_text

MOST_TRIES = 3  # to write while the owner saves again and again
MOST_NEXT, MOST_OWN = 3, 5  # that a report names


@dataclass(frozen=True)
class RoadmapOnDisk:
    """ROADMAP.md as it is. `text` None: there is none; `problem`: why it cannot be read.

    `base`: what we wrote, that the owner has edited; `changes`: his words. `kept`: the file, goals recognised.
    """

    text: str | None = None
    base: str = ""
    kept: Sheet = NOTHING
    changes: tuple[GoalPin, ...] = ()
    problem: str = ""


def seen(path: Path, book: RoadmapRepository, today: str) -> RoadmapOnDisk:
    """Looks and changes nothing. After a kill, of the two that it may have been it was the one that it is more like."""
    try:
        text = read_text(path)
        found = read(outline(text), today)
    except FileNotFoundError:
        return RoadmapOnDisk()
    except Refused as problem:
        words = str(problem).removeprefix(f"{path.name}: ")
        return RoadmapOnDisk(
            problem=f"{path.name}: {words}; it stays as it is, and what you have changed there since does not count"
        )
    was = max(book.texts(), key=lambda one: likeness(one.holds, text), default=RoadmapText("", ""))
    written = read(outline(was.base), today)
    return RoadmapOnDisk(text, was.base, recognised(written, found), edits(written, found))


def turns(desk: Desk, day: str) -> tuple[str, ...]:
    """Ids of the goals that may be planned, in the order of their turn."""
    accepted = desk.plans.accepted()
    return next_goals(_laid_out(desk, accepted.vision, day), day) if accepted else ()


def write(desk: Desk, day: str) -> str:
    """What the owner has changed counts from now on -> why the file cannot be read; empty: it can, or there is none.

    One that cannot be read is not touched, nor one that is saved meanwhile.
    """
    accepted = desk.plans.accepted()
    if accepted is None:
        return ""
    for _ in range(MOST_TRIES):
        found = _heeded(desk, accepted.vision, day)
        if found.problem or _is_written(desk, accepted.vision, day, found):
            return found.problem
    return ""


def _heeded(desk: Desk, vision: Vision, day: str) -> RoadmapOnDisk:
    found, book = seen(desk.home.roadmap, desk.roadmap, day), desk.roadmap
    if found.base:
        book.stands(found.base)
    for line in told(book.pin(found.changes, wanted(vision))):
        desk.tell(line)
    return found


def told(changes: Sequence[GoalPin]) -> tuple[str, ...]:
    """One line for whoever watches."""
    later, done = (sum(change.place == place for change in changes) for place in (LATER, DONE))
    words = [f"{counted(later, 'goal')} put off"] if later else []
    words += [f"{counted(done, 'goal')} ticked"] if done else []
    rest = len(changes) - later - done
    words += [f"{counted(rest, 'goal')} moved"] if rest else []
    return (f"ROADMAP.md: {', '.join(words)} by you",) if words else ()


def account(desk: Desk, day: str) -> RoadmapAccount:
    """For reports: as it is now, the owner's newest edits counted."""
    accepted = desk.plans.accepted()
    if accepted is None:
        return RoadmapAccount()
    clean, found = desk.delivery.clean, seen(desk.home.roadmap, desk.roadmap, day)
    roadmap = looked_at(sources(desk), accepted.vision, day, found.changes)
    present = next((week for week in roadmap.weeks if week.monday == monday_of(day)), Milestone(monday_of(day)))
    titles = {entry.need.id: clean(entry.need.title) for entry in roadmap.entries}
    return RoadmapAccount(
        week=day_words(present.monday, day),
        done=present.done,
        goals=len(present.entries),
        next=tuple(titles[id_] for id_ in next_goals(roadmap, day)[:MOST_NEXT]),
        ends=day_words(roadmap.ends, day) if roadmap.ends else "",
        pace=pace_words(roadmap.pace),
        later=len(roadmap.later),
        own=tuple(clean(bullet.text) for bullet in found.kept.own[:MOST_OWN]),
        problem=clean(found.problem),
    )


def placed(desk: Desk, goal: str, day: str) -> str:
    """Where the owner has put a goal, in words, if that keeps it from being planned."""
    accepted = desk.plans.accepted()
    pin = desk.roadmap.pins(wanted(accepted.vision)).get(goal) if accepted else None
    if pin is None or pin.place == FREE:
        return ""
    words = {LATER: "put off by you", DONE: "ticked by you"}
    if pin.place in words:
        return words[pin.place]
    monday = monday_of(pin.place)
    return f"not before {day_words(monday, day)}" if monday > monday_of(day) else ""


def looked_at(sources: Sources, vision: Vision, day: str, changes: Sequence[GoalPin]) -> Roadmap:
    """As it would be laid out if these words of the owner had been heeded."""
    return laid_out(sources, vision, day, applied(sources.book.pins(wanted(vision)), changes))


def _laid_out(desk: Desk, vision: Vision, day: str) -> Roadmap:
    return looked_at(sources(desk), vision, day, ())


def _is_written(desk: Desk, vision: Vision, day: str, found: RoadmapOnDisk) -> bool:
    """False: the owner has saved it since it was read."""
    roadmap = _laid_out(desk, vision, day)
    desk.roadmap.finish([entry.need for entry in roadmap.entries if entry.is_done], wanted(vision), day)
    text = desk.delivery.clean(render(roadmap, day, found.kept))
    if text == found.text and found.base == text:
        return True
    desk.roadmap.intend(text, found.text or "")
    if seen(desk.home.roadmap, desk.roadmap, day).text != found.text:
        desk.roadmap.withdraw()
        return False
    write_text(desk.home.roadmap, text)
    fault_point("roadmap.replaced")
    desk.roadmap.stands(text)
    return True
