"""What answers look like, for whoever writes a script: the schemas of openapi.json are made of these.

What is a value of the team's own, as the evidence of a change, is described by its own class. A test holds answers of
real days against all this, so that neither a word that is missing here nor one that is too much stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import GenericAlias
from typing import Any, Literal

from sisimpur.cli.views.daemon_state import DaemonState
from sisimpur.cli.views.status import PendingAnswer
from sisimpur.shared.model.evidence import Evidence, Finding
from sisimpur.shared.model.work import ResourceUse
from sisimpur.shared.outlets.outlet import OutletStanding
from sisimpur.web.api.base.sign_in import BoardSession

Dollars = str  # with nine decimals
TaskState = Literal["backlog", "in_progress", "in_review", "completed", "failed"]


@dataclass
class SpentAnswer:
    spent: Dollars
    reserved: Dollars
    lost: Dollars


@dataclass
class CappedAnswer(SpentAnswer):
    cap: Dollars


@dataclass
class WaitAnswer:
    what: str
    since: str
    until: str
    why: str


@dataclass
class DaemonAnswer:
    state: DaemonState
    pid: int | None
    since: str
    ended: str
    how: str
    next: str
    waits_for: list[WaitAnswer]


@dataclass
class MachineAnswer:
    """Shares from 0 to 1. Without all but the last two: nothing of it can be read."""

    queues: dict[str, int]
    boxes_today: ResourceUse
    at: str = ""
    most: float = 0
    memory: float = 0
    disk: float = 0
    inodes: float = 0
    load: float = 0
    processors: int = 0
    cpu: float | None = None
    boxes: int = 0


@dataclass
class RunAnswer:
    agent: str
    task: str
    title: str
    since: str
    seconds: int
    alive: bool
    command: str


@dataclass
class StuckAnswer:
    on: str
    why: str
    since: str
    behind: list[str]
    commands: list[str]


@dataclass
class StuckTaskAnswer(StuckAnswer):
    task: str
    title: str


@dataclass
class AskedAnswer:
    goal: str
    text: str


@dataclass
class WaitingAnswer:
    answers: list[PendingAnswer]
    asked: list[AskedAnswer]
    stuck: list[StuckTaskAnswer]
    unreadable: list[str]


@dataclass
class TeamAnswer:
    home: str
    daemon: DaemonAnswer
    pid: str | None
    since: str
    machine: MachineAnswer
    outlets: list[OutletStanding]
    problems: list[str]


@dataclass
class SystemAnswer(TeamAnswer):
    version: str


@dataclass
class StatusAnswer(TeamAnswer, WaitingAnswer):
    """`more`: of which lists there are how many more lines than these."""

    target: str
    runs: list[RunAnswer]
    deploys: list[str]
    deploys_as: str
    hooks: list[str]
    day: str
    tasks: dict[TaskState, int]
    today: CappedAnswer
    month: CappedAnswer
    stopped: list[str]
    waits_for_you: list[str]
    failed: list[str]
    in_progress: list[str]
    at_the_gates: list[str]
    approved: list[str]
    ready: list[str]
    waiting: list[str]
    set_aside: list[str]
    questions: list[str]
    guards: list[str]
    more: dict[str, int]


@dataclass
class TaskRowAnswer:
    id: str
    state: TaskState
    title: str
    priority: str
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
class TaskEventAnswer:
    at: str
    event: str
    state: str
    note: str


@dataclass
class AttemptAnswer:
    number: int | None
    key: int
    outcome: str
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
class TaskAnswer:
    """`cost`: empty: it has cost nothing."""

    id: str
    state: TaskState
    title: str
    text: str
    history: list[TaskEventAnswer]
    unblocked: list[dict[Literal["at", "from", "why"], str]]
    words: list[str]
    branch: str
    attempts: list[AttemptAnswer]
    asked: str
    cost: dict[Literal["spent", "reserved", "lost"], Dollars]
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
class VerdictAnswer:
    standing: str
    findings: list[Finding]
    kind: str = ""
    commit: str = ""
    summary: str = ""
    word: str = ""


@dataclass
class ReviewAnswer:
    id: str
    state: TaskState
    commit: str
    base: str
    waits: bool
    since: str
    reasons: list[str]
    change: str
    told: list[str]
    evidence: EvidenceAnswer | NoEvidenceAnswer
    verdict: VerdictAnswer


@dataclass
class ShareAnswer(SpentAnswer):
    calls: int


@dataclass
class LostCallAnswer:
    number: int
    at: str
    day: str
    agent: str
    task: str
    model: str
    amount: Dollars
    estimate: Dollars | None
    written_off: str


@dataclass
class MoneyDayAnswer(CappedAnswer):
    day: str
    by_agent: dict[str, ShareAnswer]
    by_task: dict[str, ShareAnswer]
    by_model: dict[str, ShareAnswer]
    lost_calls: list[LostCallAnswer]
    savings: dict[Literal["caching", "routing"], Dollars]


@dataclass
class DeployAnswer:
    number: int
    place: str
    commit: str
    subject: str
    task: str
    stage: str
    why: str
    back_to: str
    asked: bool
    reverted_by: int | None
    begun: str
    started: str
    ended: str
    backup: str


@dataclass
class RunsAnswer:
    """`is_other`: it is not what was deployed there; `command` puts that right."""

    commit: str
    ended: str
    problem: str
    is_other: bool
    command: str


@dataclass
class PlaceAnswer:
    place: str
    commit: str
    subject: str
    task: str
    since: str
    stuck: str
    unwatched: str
    under_way: DeployAnswer | None
    runs: RunsAnswer


@dataclass
class DeploysAnswer:
    driver: str
    places: list[PlaceAnswer]
    paused: dict[Literal["since", "why", "command"], str] | None
    held: list[dict[Literal["text", "command"], str]]
    orders: list[dict[Literal["place", "commit"], str]]
    deploys: list[DeployAnswer]


ANSWERS: Mapping[str, type | GenericAlias] = {
    "status": StatusAnswer,
    "waiting": WaitingAnswer,
    "system": SystemAnswer,
    "tasks": TaskPageAnswer,
    "tasks/{id}": TaskAnswer,
    "tasks/{id}/review": ReviewAnswer,
    "tasks/{id}/attempts": list[AttemptAnswer],
    "money": list[MoneyDayAnswer],
    "deploys": DeploysAnswer,
    "pulls": PullsAnswer,
    "session": BoardSession,
    "sessions": list[BoardSession],
}


def described(name: str) -> dict[int | str, dict[str, Any]]:
    """What a route says of its answer, by its address below the API's."""
    return {200: {"model": ANSWERS[name]}} if name in ANSWERS else {}
