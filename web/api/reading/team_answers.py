"""What answers about the team look like: how it is and what waits, its agents, its settings, its money, its deploys."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Any, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from sisimpur.cli.views.daemon_state import DaemonState
from sisimpur.cli.views.status import PendingAnswer
from sisimpur.shared.model.deployment import DeployStage
from sisimpur.shared.model.naming import Place
from sisimpur.shared.model.work import ResourceUse
from sisimpur.shared.outlets.outlet import OutletStanding
from sisimpur.web.api.reading.task_answers import Dollars, FileAnswer, SpentAnswer, StuckAnswer, TaskState


@dataclass
class CappedAnswer(SpentAnswer):
    """What was spent, and what may be."""

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
class NoMachineAnswer:
    """Nothing of it can be read."""

    queues: dict[str, int]
    boxes_today: ResourceUse


@dataclass
class MachineAnswer(NoMachineAnswer):
    """Shares from 0 to 1."""

    at: str
    most: float
    memory: float
    disk: float
    inodes: float
    load: float
    processors: int
    cpu: float | None
    boxes: int


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
class StuckTaskAnswer(StuckAnswer):
    """A task that waits for something that does not come by itself."""

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
    machine: MachineAnswer | NoMachineAnswer
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
class ShareAnswer(SpentAnswer):
    """What one of them spent."""

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
    """A day's money, and whose it was."""

    day: str
    by_agent: dict[str, ShareAnswer]
    by_task: dict[str, ShareAnswer]
    by_model: dict[str, ShareAnswer]
    lost_calls: list[LostCallAnswer]
    savings: dict[Literal["caching", "routing"], Dollars]


@dataclass
class DeployAnswer:
    number: int
    place: Place
    commit: str
    subject: str
    task: str
    stage: DeployStage
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
    place: Place
    commit: str
    subject: str
    task: str
    since: str
    stuck: str
    unwatched: str
    under_way: DeployAnswer | None
    runs: RunsAnswer


@dataclass
class PausedAnswer:
    since: str
    why: str
    command: str


@dataclass
class HeldAnswer:
    text: str
    command: str


@dataclass
class DeployOrderAnswer:
    place: Place
    commit: str


@dataclass
class DeploysAnswer:
    driver: str
    places: list[PlaceAnswer]
    paused: PausedAnswer | None
    held: list[HeldAnswer]
    orders: list[DeployOrderAnswer]
    deploys: list[DeployAnswer]


@dataclass
class DoneAnswer:
    """What came of an order; `next`: how it goes on."""

    told: str
    next: str


@dataclass
class ReadyAnswer:
    ready: bool
    daemon: DaemonState


@dataclass
class EndedRunAnswer:
    """Empty: none has ended yet."""

    task: str
    ended: str
    result: str


@dataclass
class AgentAnswer:
    role: str
    model: str
    runs: list[RunAnswer]
    last: EndedRunAnswer


@dataclass
class AuditRowAnswer:
    """`hash`: empty: not sealed yet."""

    seq: int
    at: str
    kind: str
    actor: str
    via: str
    subject: str
    commit_id: str
    detail: dict[str, Any]
    hash: str


@dataclass
class AuditAnswer:
    """`next`: the cursor of the next page; null: this is the last."""

    rows: list[AuditRowAnswer]
    next: str | None


@dataclass
class MetricAnswer:
    """`days`: the figure of so many last days; null: there was nothing to divide by."""

    name: str
    unit: str
    labels: dict[str, str]
    days: dict[Literal["7", "30", "all"], float | None]
    says: str


# --- settings ------------------------------------------------------------------------------------------------


@dataclass
class SettingForm:
    """A JSON schema. `optional`: null, too."""

    type: Literal["boolean", "integer", "number", "string"]
    enum: list[str] = field(default_factory=list)
    examples: list[str] = field(default_factory=list)
    format: Literal["dollars"] = "dollars"
    pattern: str = ""
    minimum: int = 0
    above: Annotated[int, Field(alias="exclusiveMinimum")] = 0
    maximum: int = 0
    optional: bool = False


@dataclass
class SettingAnswer:
    """`form`: null: it is not changed from here; `grave`: it has to be said twice."""

    key: str
    meaning: str
    default: str
    form: SettingForm | None
    grave: bool


@dataclass
class SettingsFileAnswer:
    """`digest`: empty: nothing of it is changed from here. `values`: null: it is wrong."""

    file: str
    digest: str
    fields: list[SettingAnswer]
    values: dict[str, Any] | None


@dataclass
class SecretAnswer:
    name: str
    is_set: bool


@dataclass
class SettingsAnswer:
    target: str
    files: list[SettingsFileAnswer]
    secrets: list[SecretAnswer]
    errors: list[str]


@dataclass
class ChangedSettingsAnswer(FileAnswer):
    """A file of settings as it is now, and what its change means."""

    file: str
    values: dict[str, Any]
