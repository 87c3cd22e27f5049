"""What the planner's model answers: a verdict for each goal, and drafts of tasks. Nothing in it is believed yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shared.model.work import Choice, Difficulty


class GoalVerdict(Choice):
    TASKS = "tasks"
    PREMISE_FALSE = "premise_false"
    ALREADY_DONE = "already_done"
    QUESTION = "question"


class Proof(Choice):
    LINE = "line"  # this line stands in this file
    NO_FILE = "no_file"  # there is no such file
    NO_TEXT = "no_text"  # no file holds this text


@dataclass(frozen=True)
class ClaimedEvidence:
    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}
    kind: Proof
    path: str
    line: int
    quote: str


@dataclass(frozen=True)
class GoalReply:
    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}
    goal_id: str
    verdict: GoalVerdict
    text: str
    evidence: list[ClaimedEvidence]
    look_up: str = ""  # what public pages may know, of a question


@dataclass(frozen=True)
class Draft:
    """A task as the model proposes it. `key` is its own name for it, only good for `depends_on`."""

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}
    key: str
    goal_id: str
    title: str
    description: str
    files: list[str]
    new_files: list[str]
    context: list[str]
    acceptance: list[str]
    difficulty: Difficulty
    depends_on: list[str]
    reason: str

    @property
    def paths(self) -> list[str]:
        """All that it wants to change."""
        return [*self.files, *self.new_files]


@dataclass(frozen=True)
class PlanReply:
    """The whole answer."""

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}
    goals: list[GoalReply]
    tasks: list[Draft]
