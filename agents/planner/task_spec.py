"""The planner's words: what it is asked for, what the model answers, what it answers itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shared.domain.work import Choice, Difficulty, Goal, Guard, Question, Remark, TaskSpec

# --- the order -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Order:
    """What is to be planned, and within which limits. The day comes with the run."""

    goals: tuple[Goal, ...]
    capacity: int  # the most tasks
    first_number: int = 1  # of the first task's id
    open_tasks: tuple[TaskSpec, ...] = ()  # not over yet: not to be planned twice
    guards: tuple[Guard, ...] = ()
    notes: tuple[Remark, ...] = ()
    allow: tuple[str, ...] = ("**",)  # patterns: what tasks may touch
    depth: int = 3  # the longest chain of tasks that depend on each other

    @property
    def patterns(self) -> tuple[str, ...]:
        """All guarded patterns."""
        return tuple(dict.fromkeys(pattern for guard in self.guards for pattern in guard.patterns))


# --- the model's answer --------------------------------------------------------------------------------------


class Verdict(Choice):
    TASKS = "tasks"
    PREMISE_FALSE = "premise_false"
    ALREADY_DONE = "already_done"
    QUESTION = "question"


class Proof(Choice):
    LINE = "line"  # this line stands in this file
    NO_FILE = "no_file"  # there is no such file
    NO_TEXT = "no_text"  # no file holds this text


@dataclass(frozen=True)
class Evidence:
    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}
    kind: Proof
    path: str
    line: int
    quote: str


@dataclass(frozen=True)
class GoalAnswer:
    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}
    goal_id: str
    verdict: Verdict
    text: str
    evidence: list[Evidence]


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
class Reply:
    """The whole answer."""

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}
    goals: list[GoalAnswer]
    tasks: list[Draft]


# --- the planner's answer ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PlanAnswer:
    tasks: tuple[TaskSpec, ...] = ()  # in the order of work
    reasons: tuple[str, ...] = ()  # one per task: why it is in the plan
    deferred: tuple[str, ...] = ()  # ids of goals of which something is left for another day
    questions: tuple[Question, ...] = ()
    notes: tuple[str, ...] = ()  # what was cut, and why
