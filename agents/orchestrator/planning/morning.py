"""VISION.md -> the accepted vision: read, compared to the last one, and interpreted where the grammar cannot read."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from sisimpur.agents.orchestrator.board.session import AgentRuns
from sisimpur.agents.orchestrator.vision.goal_ids import note_id, wordings
from sisimpur.agents.orchestrator.vision.issue_goals import (
    InboxRules,
    goals_in,
    is_from_issue,
    number_of,
    own_change,
    own_words,
    unseen_in_issues,
    with_issues,
)
from sisimpur.agents.orchestrator.vision.reading import Interpretation, ahead, needs_reading, standing
from sisimpur.agents.orchestrator.vision.vision_parser import difference, parse, unseen_in, with_found, with_unseen
from sisimpur.shared.forge.forge import FORGE_PROBLEMS, Forge
from sisimpur.shared.model.errors import Misconfigured, Stumble
from sisimpur.shared.model.work import Goal, Guard, Run, Vision, VisionChange
from sisimpur.shared.store.plan_book import Accepted, PlanRepository
from sisimpur.shared.system.markdown import outline
from sisimpur.shared.system.paths import read_text

GUARDED_BY = "names, wishes\n"  # how guards are made; another word: each home reads its unchanged VISION.md once more
MOST_READINGS = 12  # by a model, per day: an owner who edits all day, or answers that are never any good


class ReadsVision(Protocol):
    def read(
        self, run: Run, vision: Vision, change: VisionChange, guards: Sequence[Guard], files: Sequence[str], facts: str
    ) -> Interpretation: ...


@dataclass(frozen=True)
class CodeFacts:
    """What there is at the newest commit of the target: all paths, and a text for the prompt."""

    files: Sequence[str]
    text: str


@dataclass(frozen=True)
class RequestedGoals:
    """What issues ask for."""

    forge: Forge
    rules: InboxRules
    tell: Callable[[str], None]

    def goals(self, before: Accepted | None) -> tuple[Goal, ...]:
        """While the forge does not answer, what they asked for last time."""
        rules, goals = self.rules, before.vision.goals if before else ()
        if not (rules.owners or rules.label):
            return ()
        known = tuple(goal for goal in goals if is_from_issue(goal))
        try:
            issues = self.forge.list_issues(rules.label or None)
        except FORGE_PROBLEMS as problem:  # what VISION.md says counts all the same
            self.tell(f"issues were not read: {problem}")
            return known
        found = goals_in(issues, rules, {goal.id for goal in known})
        for line in unseen_in_issues(issues, [goal for goal in found if goal not in known]):
            self.tell(line)
        return found


@dataclass(frozen=True)
class MorningReading:
    """`look` reads the target's code, for these words of the vision; `path`: where VISION.md lies."""

    path: Path
    plans: PlanRepository
    requested: RequestedGoals
    reader: ReadsVision
    look: Callable[[Sequence[str]], CodeFacts]
    runs: AgentRuns

    def read(self, day: str) -> None:
        """The same text as last time costs nothing. Whatever goes wrong, the last accepted vision stays."""
        tell = self.runs.session.tell
        text, before = self._text(), self.plans.accepted()
        asked = self.requested.goals(before)
        digest = hashlib.sha256(f"{GUARDED_BY}{text}{asked or ''}".encode()).hexdigest()
        if before and before.digest == digest:
            tell("VISION.md is unchanged")
            return
        vision = with_issues(with_unseen(parse(outline(text), before.vision if before else None), text), asked)
        for warning in unseen_in(text):
            tell(f"VISION.md, line {warning.line}: {warning.text}")
        change = difference(before.vision if before else None, vision)
        tell(_summary(change) or f"VISION.md has no goal yet; write a bullet below a priority in {self.path}")
        with self.runs.begin("orchestrator", day=day) as run:
            found = self._interpretation(run, own_words(vision), own_change(change), before)
        whole = replace(with_found(vision, found.goals), wishes=found.wishes)
        accepted, notes = Accepted(digest, whole, found.guards), [*map(note_id, whole.notes)]
        self.plans.accept(day, accepted, found.questions, wordings(whole), notes)
        new, changed, removed = len(change.new), len(change.changed), len(change.removed)
        self.runs.log(run, "vision accepted", new=new, changed=changed, removed=removed)

    def _interpretation(
        self, run: Run, vision: Vision, change: VisionChange, before: Accepted | None
    ) -> Interpretation:
        """The repository is only looked at when there is something to read."""
        guards = before.guards if before else ()
        is_new = needs_reading(change, vision, guards)
        if not (is_new or vision.notes):
            return Interpretation(standing(vision, guards))
        code = self.look(
            [remark.text for remark in change.fresh] + [goal.title for goal in change.new + change.changed]
        )
        if before and is_new:
            self._hold(run.day, before, ahead(vision, guards, code.files))
        if is_new and self.plans.book_reading(run.day) > MOST_READINGS:
            raise Stumble(
                f"a model has read VISION.md {MOST_READINGS} times today; what has changed since waits for tomorrow"
            )
        with self.runs.session.lock.released():
            return self.reader.read(run, vision, change, guards, code.files, code.text)

    def _hold(self, day: str, before: Accepted, more: tuple[Guard, ...]) -> None:
        """Guard at once what new notes name, beside the vision of last time: no "don't" waits for a model."""
        if more:
            self.plans.accept(day, Accepted("", before.vision, (*before.guards, *more)), (), wordings(before.vision))

    def _text(self) -> str:
        try:
            return read_text(self.path)
        except FileNotFoundError:
            raise Misconfigured(f"{self.path} is missing; write your goals there") from None


def _summary(change: VisionChange) -> str:
    removed = tuple(goal for goal in change.removed if goal not in change.done)
    counts = {"new": change.new, "changed": change.changed, "done": change.done, "removed": removed}
    counts["unchanged"] = change.unchanged
    said = ", ".join(f"{len(goals)} {name}{_issues_of(goals)}" for name, goals in counts.items() if goals)
    return f"VISION.md: {said}" if said else ""


def _issues_of(goals: Sequence[Goal]) -> str:
    numbers = [f"#{number_of(goal.id)}" for goal in goals if is_from_issue(goal)]
    return f" (issue {', '.join(numbers)})" if numbers else ""
