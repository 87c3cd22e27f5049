"""The roles that work on a change, by their verbs: what the orchestrator asks of the Coder, QA and the Reviewer."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from sisimpur.shared.model.evidence import NO_CONTEXT, NO_LINES, Evidence, Figure, ReviewContext, Reviewed, SuiteRun
from sisimpur.shared.model.work import Branch, CodeAnswer, Correction, Measure, Run, TaskSpec


class CodesTask(Protocol):
    def code(
        self,
        run: Run,
        task: TaskSpec,
        base: str,
        folder: Path,
        correction: Correction | None = None,
        lessons: Sequence[str] = (),
    ) -> CodeAnswer: ...


class ChecksChange(Protocol):
    def check(
        self,
        run: Run,
        task: TaskSpec,
        branch: Branch,
        written: Sequence[str] = (),
        unrun: Mapping[str, Collection[int]] = NO_LINES,
    ) -> Evidence: ...

    def tests_for(
        self,
        task: TaskSpec,
        branch: Branch,
        evidence: Evidence,
        planned: Collection[str] = (),
        own: Collection[str] = (),
    ) -> TaskSpec: ...

    def blind_order(self, task: TaskSpec, branch: Branch, command: str) -> TaskSpec | None: ...

    def heard(self, run: Run, branch: Branch, command: str, files: Mapping[str, bytes | None]) -> str: ...

    def measure(self, run: Run, measure: Measure, commit: str) -> Figure: ...

    def base(self, run: Run, commit: str) -> SuiteRun:
        """What the tests say of a commit of the branch: each is run once."""

    def require_base(self, run: Run, commit: str) -> None:
        """BrokenSetup if no change to this commit can be measured."""

    def together(self, run: Run, commit: str) -> SuiteRun:
        """The same of one that stands on no branch: changes on top of each other."""


class ReviewsChange(Protocol):
    def review(
        self, run: Run, task: TaskSpec, branch: Branch, evidence: Evidence, context: ReviewContext = NO_CONTEXT
    ) -> Reviewed: ...


@dataclass(frozen=True)
class ChangeRoles:
    """Who works on a change. Each is made when it is first needed: without a sandbox the rest of the day goes on.

    `work`: where attempts have folders of their own. `independent`: for which tasks a test is written from words alone.
    """

    coder: Callable[[], CodesTask]
    qa: Callable[[], ChecksChange]
    reviewer: Callable[[], ReviewsChange]
    work: Path
    independent: Literal["fixes", "all", "off"] = "off"
