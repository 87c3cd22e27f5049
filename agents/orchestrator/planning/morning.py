"""VISION.md -> the accepted vision: read, compared to the last one, and interpreted where the grammar cannot read."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from sisimpur.agents.orchestrator.board.session import AgentRuns
from sisimpur.agents.orchestrator.vision.goal_ids import wordings
from sisimpur.agents.orchestrator.vision.interpreter import needs_reading
from sisimpur.agents.orchestrator.vision.issue_goals import (
    InboxRules,
    goals_in,
    is_from_issue,
    number_of,
    own_change,
    own_words,
    with_issues,
)
from sisimpur.agents.orchestrator.vision.reading import Interpretation, standing
from sisimpur.agents.orchestrator.vision.vision_parser import difference, parse, with_found
from sisimpur.shared.forge.forge import Forge
from sisimpur.shared.model.errors import ForgeError, Misconfigured, Stumble
from sisimpur.shared.model.work import Goal, Guard, Run, Vision, VisionChange
from sisimpur.shared.store.plan_book import Accepted, PlanRepository
from sisimpur.shared.system.markdown import outline
from sisimpur.shared.system.paths import read_text

MOST_READINGS = 12  # by a model, per day: an owner who edits all day, or answers that are never any good


class ReadsVision(Protocol):
    def read(
        self,
        run: Run,
        vision: Vision,
        change: VisionChange,
        guards: Sequence[Guard],
        files: Sequence[str],
        facts: str,
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
        if not rules.takes_issues:
            return ()
        known = tuple(goal for goal in goals if is_from_issue(goal))
        try:
            return goals_in(self.forge.list_issues(rules.label or None), rules, {goal.id for goal in known})
        except ForgeError as problem:  # what VISION.md says counts all the same
            self.tell(f"issues were not read: {problem}")
            return known


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
        digest = hashlib.sha256(f"{text}{asked or ''}".encode()).hexdigest()
        if before and before.digest == digest:
            tell("VISION.md is unchanged")
            return
        vision = with_issues(parse(outline(text), before.vision if before else None), asked)
        change = difference(before.vision if before else None, vision)
        tell(_summary(change) or f"VISION.md has no goal yet; write a bullet below a priority in {self.path}")
        guards = before.guards if before else ()
        with self.runs.begin("orchestrator", day=day) as run:
            found = self._interpretation(run, own_words(vision), own_change(change), guards)
        whole = with_found(vision, found.goals)
        self.plans.accept(day, Accepted(digest, whole, found.guards), found.questions, wordings(whole))
        new, changed, removed = len(change.new), len(change.changed), len(change.removed)
        self.runs.log(run, "vision accepted", new=new, changed=changed, removed=removed)

    def _interpretation(
        self, run: Run, vision: Vision, change: VisionChange, guards: tuple[Guard, ...]
    ) -> Interpretation:
        """The repository is only looked at when there is something to read."""
        if not needs_reading(change, vision, guards):
            return Interpretation(standing(vision, guards))
        code = self.look(
            [remark.text for remark in change.fresh] + [goal.title for goal in change.new + change.changed]
        )
        if self.plans.book_reading(run.day) > MOST_READINGS:
            raise Stumble(
                f"a model has read VISION.md {MOST_READINGS} times today; what has changed since waits for tomorrow"
            )
        with self.runs.session.lock.released():
            return self.reader.read(run, vision, change, guards, code.files, code.text)

    def _text(self) -> str:
        try:
            return read_text(self.path)
        except FileNotFoundError:
            raise Misconfigured(f"{self.path} is missing; write your goals there") from None


def _summary(change: VisionChange) -> str:
    counts = {"new": change.new, "changed": change.changed, "removed": change.removed, "unchanged": change.unchanged}
    said = ", ".join(f"{len(goals)} {name}{_issues_of(goals)}" for name, goals in counts.items() if goals)
    return f"VISION.md: {said}" if said else ""


def _issues_of(goals: Sequence[Goal]) -> str:
    numbers = [f"#{number_of(goal.id)}" for goal in goals if is_from_issue(goal)]
    return f" (issue {', '.join(numbers)})" if numbers else ""
