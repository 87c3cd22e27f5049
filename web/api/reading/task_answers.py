"""What answers about tasks look like: what each is, what came of it, what it changes, what was said and done for it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from sisimpur.shared.model.evidence import Evidence, Finding
from sisimpur.shared.model.lifecycle import State
from sisimpur.shared.model.work import Priority
from sisimpur.shared.record.conversations import Conversation
from sisimpur.shared.record.trace import Kind
from sisimpur.shared.store.task_records import Outcome

Dollars = str  # with nine decimals
TaskState = Literal["backlog", "in_progress", "in_review", "completed", "failed"]
VerdictKind = Literal["approved", "changes requested", "escalated"]


@dataclass
class NothingAnswer:
    """There is nothing to tell: `{}`."""


@dataclass
class SpentAnswer:
    spent: Dollars
    reserved: Dollars
    lost: Dollars


@dataclass
class StuckAnswer:
    on: str
    why: str
    since: str
    behind: list[str]
    commands: list[str]


@dataclass
class TaskRowAnswer:
    """`priority`: empty: its file cannot be read."""

    id: str
    state: TaskState
    title: str
    priority: Priority | Literal[""]
    goal: str
    branch: str
    attempts: int
    note: str
    stuck: StuckAnswer | None


@dataclass
class TaskPageAnswer:
    """`next`: the cursor of the next page; null: this is the last."""

    tasks: list[TaskRowAnswer]
    next: str | None


@dataclass
class NewTaskAnswer:
    id: str
    state: Literal["backlog"]


@dataclass
class TaskEventAnswer:
    at: str
    event: str
    state: State
    note: str


@dataclass
class AttemptAnswer:
    number: int | None
    key: int
    outcome: Outcome | Literal["open"]
    note: str
    asked: str
    refused: list[str]


@dataclass
class PullAnswer:
    number: int
    title: str
    branch: str
    base: str
    head: str
    state: Literal["open", "merged", "closed"]
    url: str
    task: str


@dataclass
class PullsAnswer:
    pulls: list[PullAnswer]
    problem: str


@dataclass
class UnblockedAnswer:
    at: str
    before: Annotated[str, Field(alias="from")]
    why: str


@dataclass
class TaskAnswer:
    id: str
    state: TaskState
    title: str
    text: str
    history: list[TaskEventAnswer]
    unblocked: list[UnblockedAnswer]
    words: list[str]
    branch: str
    attempts: list[AttemptAnswer]
    asked: str
    cost: SpentAnswer | NothingAnswer
    pulls: list[PullAnswer]
    gates: list[str]


@dataclass
class NoEvidenceAnswer:
    standing: Literal["not run"]


@dataclass(frozen=True, kw_only=True)
class EvidenceAnswer(Evidence):
    standing: Literal["passed", "failed", "not run"]
    summary: str
    shown_by: list[str]
    not_seen: list[str]


@dataclass
class NoVerdictAnswer:
    standing: Literal["none"]
    findings: list[Finding]


@dataclass
class VerdictAnswer:
    standing: VerdictKind | Literal["of another commit"]
    findings: list[Finding]
    kind: VerdictKind
    commit: str
    summary: str
    word: str


@dataclass
class ReviewAnswer:
    """`goal_words`: the owner's own; `said`: what the planner saw beside the task."""

    id: str
    goal_words: str
    said: list[str]
    state: TaskState
    commit: str
    base: str
    waits: bool
    since: str
    reasons: list[str]
    change: str
    told: list[str]
    evidence: EvidenceAnswer | NoEvidenceAnswer
    verdict: VerdictAnswer | NoVerdictAnswer


@dataclass
class DiffAnswer:
    """Lines of the change from `begin` on. `next`: where to read on; null: these are the last."""

    commit: str
    base: str
    begin: int
    lines: list[str]
    next: int | None


@dataclass(frozen=True, kw_only=True)
class CallAnswer(Conversation):
    """A call of a model. `retry`: which repetition of another it is; `trouble`: why nobody knows what was said."""

    number: int
    at: str
    day: str
    agent: str
    attempt: int
    model: str
    retry: int
    state: str
    code: str
    note: str
    stop_reason: str
    tokens_in: int
    tokens_out: int
    amount: Dollars
    ms: int | None
    trouble: str


@dataclass
class TalkAnswer:
    """`next`: the cursor of the next page; null: this is the last."""

    calls: list[CallAnswer]
    next: str | None


@dataclass
class TraceCostAnswer:
    calls: int
    tokens_in: int
    tokens_out: int
    amount: Dollars


@dataclass
class TraceAnswer:
    """Something that happened for a goal, with all that belongs to it. `is_asked`: it is what was asked for."""

    kind: Kind
    name: str
    text: str
    at: str
    outcome: str
    cost: TraceCostAnswer
    parts: list[TraceAnswer]
    is_asked: bool


# --- files of the owner's ------------------------------------------------------------------------------------


@dataclass
class FileAnswer:
    """`is_whole`: no key was taken out of its text, so that it may be written back. `problem`: why nothing is read."""

    digest: str
    is_whole: bool
    problem: str
    text: str


@dataclass
class TaskFileAnswer(FileAnswer):
    id: str
    state: TaskState
