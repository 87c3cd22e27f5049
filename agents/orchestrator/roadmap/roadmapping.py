"""VISION.md, the books, the owner's edits -> the order of goals, and ROADMAP.md. No model is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sisimpur.agents.orchestrator.board.events import DayPlanned, Evening, Morning, TeamEvent
from sisimpur.agents.orchestrator.goals.standing import GoalStanding
from sisimpur.agents.orchestrator.roadmap.roadmap import (
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
from sisimpur.agents.orchestrator.roadmap.roadmap_book import RoadmapRepository, RoadmapText
from sisimpur.agents.orchestrator.roadmap.roadmap_file import NOTHING, Sheet, edits, likeness, read, recognised
from sisimpur.agents.orchestrator.roadmap.roadmap_needs import BooksOfGoals, Sources, laid_out, standings, wanted
from sisimpur.agents.orchestrator.roadmap.roadmap_text import day_words, pace_words, render
from sisimpur.agents.orchestrator.roadmap.weeks import monday_of
from sisimpur.agents.orchestrator.vision.goal_ids import doubles
from sisimpur.shared.model.errors import Refused
from sisimpur.shared.model.text import counted
from sisimpur.shared.model.work import Vision
from sisimpur.shared.system.fault import fault_point
from sisimpur.shared.system.markdown import outline
from sisimpur.shared.system.paths import read_text, write_text

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


def _text(path: Path) -> str | None:
    """None: it is not there, or cannot be read."""
    try:
        return read_text(path)
    except (FileNotFoundError, Refused):
        return None


@dataclass(frozen=True)
class RoadmapLook:
    """What a report tells of one moment. `standings`: of goals that the owner has not ticked, by id."""

    account: RoadmapAccount = field(default_factory=RoadmapAccount)
    standings: Mapping[str, GoalStanding] = field(default_factory=dict)


@dataclass(frozen=True)
class Roadmapping:
    """Hears of each morning, plan and evening. `path`: where ROADMAP.md lies."""

    sources: Sources
    path: Path
    clean: Callable[[str], str]  # the filter for outgoing text
    tell: Callable[[str], None]

    def hear(self, event: TeamEvent) -> str | None:
        """-> why the file cannot be read, if so."""
        return self.write(event.day) if isinstance(event, Morning | DayPlanned | Evening) else None

    def turns(self, day: str) -> tuple[str, ...]:
        """Ids of the goals that may be planned, in the order of their turn."""
        accepted = self.sources.plans.accepted()
        return next_goals(looked_at(self.sources, accepted.vision, day, ()), day) if accepted else ()

    def standings(self, day: str) -> tuple[GoalStanding, ...]:
        """How each goal stands that the owner has not ticked."""
        accepted = self.sources.plans.accepted()
        return tuple(standings(BooksOfGoals(self.sources, accepted.vision, day))) if accepted else ()

    # -- the file ---------------------------------------------------------------------------------------------

    def write(self, day: str) -> str:
        """What the owner has changed counts from now on -> why the file cannot be read; empty: it can, or is missing.

        One that cannot be read is not touched, nor one that is saved meanwhile.
        """
        accepted = self.sources.plans.accepted()
        if accepted is None:
            return ""
        for _ in range(MOST_TRIES):
            found = self._read(accepted.vision, day)
            if found.problem or self._is_written(accepted.vision, day, found):
                return found.problem
        return ""

    def _read(self, vision: Vision, day: str) -> RoadmapOnDisk:
        """The file as it is; the owner's words in it are kept."""
        book = self.sources.book
        found = seen(self.path, book, day)
        if found.base:
            book.stands(found.base)
        for line in told(book.pin(found.changes, wanted(vision))):
            self.tell(line)
        return found

    def _is_written(self, vision: Vision, day: str, found: RoadmapOnDisk) -> bool:
        """False: the owner has saved it since it was read."""
        book, roadmap = self.sources.book, looked_at(self.sources, vision, day, ())
        book.finish([entry.need for entry in roadmap.entries if entry.is_done], wanted(vision), day)
        text = self.clean(render(roadmap, day, found.kept))
        if text == found.text and found.base == text:
            return True
        book.intend(text, found.text or "")
        if _text(self.path) != found.text:
            book.withdraw()
            return False
        write_text(self.path, text)
        fault_point("roadmap.replaced")
        book.written(text)
        return True

    # -- for reports ------------------------------------------------------------------------------------------

    def look(self, day: str) -> RoadmapLook:
        """As it is now, the owner's newest edits counted."""
        accepted = self.sources.plans.accepted()
        if accepted is None:
            return RoadmapLook()
        gather = BooksOfGoals(self.sources, accepted.vision, day)
        return RoadmapLook(self._account(gather, day), {one.goal.id: one for one in standings(gather)})

    def _account(self, gather: BooksOfGoals, day: str) -> RoadmapAccount:
        clean, found = self.clean, seen(self.path, self.sources.book, day)
        roadmap = _laid_out(gather, found.changes)
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

    def placed(self, goal: str, day: str) -> str:
        """Where the owner has put a goal, in words, if that keeps it from being planned."""
        accepted = self.sources.plans.accepted()
        if accepted and (first := doubles(accepted.vision.goals).get(goal)):
            return f"the same as line {first.line} of VISION.md"
        pin = self.sources.book.pins(wanted(accepted.vision)).get(goal) if accepted else None
        if pin is None or pin.place == FREE:
            return ""
        words = {LATER: "put off by you", DONE: "ticked by you"}
        if pin.place in words:
            return words[pin.place]
        monday = monday_of(pin.place)
        return f"not before {day_words(monday, day)}" if monday > monday_of(day) else ""


def told(changes: Sequence[GoalPin]) -> tuple[str, ...]:
    """One line for whoever watches."""
    later, done = (sum(change.place == place for change in changes) for place in (LATER, DONE))
    words = [f"{counted(later, 'goal')} put off"] if later else []
    words += [f"{counted(done, 'goal')} ticked"] if done else []
    rest = len(changes) - later - done
    words += [f"{counted(rest, 'goal')} moved"] if rest else []
    return (f"ROADMAP.md: {', '.join(words)} by you",) if words else ()


def looked_at(sources: Sources, vision: Vision, day: str, changes: Sequence[GoalPin]) -> Roadmap:
    """As it would be laid out if these words of the owner counted."""
    return _laid_out(BooksOfGoals(sources, vision, day), changes)


def _laid_out(gather: BooksOfGoals, changes: Sequence[GoalPin]) -> Roadmap:
    return laid_out(gather, applied(gather.sources.book.pins(wanted(gather.vision)), changes))
