"""Who the orchestrator works with: the roles by their verbs, the doors, and the owner's rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Protocol

from agents.orchestrator.deploys.deploy_book import DeployRepository
from agents.orchestrator.memory.lesson_book import LessonRepository
from agents.orchestrator.orchestrator_lock import OrchestratorLock
from agents.orchestrator.publishing.delivery import Delivery
from agents.orchestrator.publishing.publishing import Publishing
from agents.orchestrator.roadmap.roadmap_book import RoadmapRepository
from agents.orchestrator.upkeep.upkeep import wanted
from agents.orchestrator.upkeep.upkeep_book import UpkeepRepository
from agents.orchestrator.upkeep.upkeep_pins import Releases
from agents.orchestrator.vision.issue_goals import InboxRules
from agents.orchestrator.vision.reading import Interpretation
from shared.config.settings_policy import UpkeepRules
from shared.model.deployment import ByHand, Deploy, Place, Running, StepOutcome
from shared.model.evidence import Evidence, Reviewed, SuiteRun
from shared.model.gate import Policy
from shared.model.lifecycle import TaskLimits
from shared.model.research import Findings, Inquiry
from shared.model.work import (
    Branch,
    CodeAnswer,
    Correction,
    Guard,
    PlanAnswer,
    PlanOrder,
    Run,
    TaskSpec,
    Vision,
    VisionChange,
)
from shared.money.ledger_reader import LedgerReader
from shared.money.savings import LedgerSavings
from shared.notify.messenger import Messenger
from shared.repo.mirror import Mirror
from shared.sandbox.linter import Lint
from shared.store.gate_book import GateRepository
from shared.store.journal import Journal
from shared.store.plan_book import PlanRepository
from shared.store.research_book import ResearchRepository
from shared.store.task_store import TaskStore
from shared.system.clock import Clock
from shared.system.log import Log
from shared.system.paths import Home


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
    def check(self, run: Run, task: TaskSpec, branch: Branch, written: Sequence[str] = ()) -> Evidence: ...

    def tests_for(self, task: TaskSpec, branch: Branch, evidence: Evidence) -> TaskSpec: ...

    def base(self, run: Run, commit: str) -> SuiteRun:
        """What the tests say of a commit of the branch: each is run once."""
        ...


class ReviewsChange(Protocol):
    def review(
        self, run: Run, task: TaskSpec, branch: Branch, evidence: Evidence, before: Sequence[Reviewed] = ()
    ) -> Reviewed: ...


WHO = "sisimpur-agents <agents@localhost>"  # of the commits that no coder made


@dataclass(frozen=True)
class Rules:
    """Of the owner's configuration, what the orchestrator itself keeps."""

    branch: str
    capacity: int  # tasks per day
    depth: int  # of dependencies
    allow: tuple[str, ...]
    limits: TaskLimits
    day_cap: int
    task_cap: int
    per_token: tuple[int, int]  # the coder's price, sent and received, in nano-dollars: for forecasts
    protected: Sequence[str] = ()
    policy: Policy = field(default_factory=Policy)
    open_pulls: int = 5
    month_cap: int = 0
    inbox: InboxRules = field(default_factory=InboxRules)
    hands: int = 1  # tasks that are worked on at once
    questions: int = 3  # looked up per day
    work_minutes: int = 900  # of a day in which tasks are worked on
    long_goals: bool = True  # what one day is too short for has a branch of its own until it is whole


class Deploys(Protocol):
    """The DevOps agent."""

    def carry_out(self, step: ByHand) -> StepOutcome: ...

    def running(self, place: Place) -> Running | None: ...

    def tidy(self, deploys: tuple[Deploy, ...]) -> None:
        """Throws away what nobody goes back to any more."""
        ...


@dataclass(frozen=True)
class DeployRules:
    """Of the owner's configuration."""

    places: tuple[Place, ...]
    pause_after: int = 3


@dataclass(frozen=True)
class Deployment:
    """All that deploying needs: who does it, and the owner's rules."""

    devops: Deploys
    rules: DeployRules


@dataclass(frozen=True)
class UpkeepTools:
    """What finds work that nobody asked for, and the owner's rules. What needs a sandbox is made when it is needed.

    `least`: nano-dollars that the dearest single call of a task may cost.
    """

    rules: UpkeepRules
    lint: Callable[[Mapping[str, str]], Sequence[Lint]]
    releases: Callable[[], Releases]
    protected: Sequence[str] = ()  # paths of the owner's own list
    least: int = 0


@dataclass(frozen=True)
class Team:
    """`coder`, `qa` and `reviewer` are made when first needed: without a sandbox the rest of the day goes on."""

    reader: ReadsVision
    plan: Callable[[Run, PlanOrder, str], PlanAnswer]  # of what is at this commit
    coder: Callable[[], CodesTask]
    qa: Callable[[], ChecksChange]
    reviewer: Callable[[], ReviewsChange]
    overview: Callable[[str, Sequence[str]], str]  # (commit, texts) -> what there is, and where the texts' words stand
    sync: Callable[[], str]  # brings our mirror up to date -> the newest commit of the target's branch
    deployment: Deployment | None = None  # none: nothing is deployed
    research: Callable[[Run, Inquiry], Findings] | None = None  # none: nothing is looked up
    upkeep: UpkeepTools | None = None  # none: nothing is proposed


@dataclass(frozen=True)
class Desk:
    """All that the orchestrator reads and writes, in one place."""

    home: Home
    clock: Clock
    store: TaskStore
    journal: Journal
    gates: GateRepository
    plans: PlanRepository
    ledger: LedgerReader
    log: Log
    mirror: Mirror
    delivery: Delivery
    publishing: Publishing
    messages: Messenger
    savings: LedgerSavings
    deploys: DeployRepository
    research: ResearchRepository
    memory: LessonRepository
    upkeep: UpkeepRepository
    roadmap: RoadmapRepository
    rules: Rules
    command: str = "python main.py"  # what the owner types before a command's name
    tell: Callable[[str], None] = field(default=lambda _: None)  # one line of progress for whoever watches
    chair: OrchestratorLock = field(default_factory=OrchestratorLock)
    stopping: Callable[[], bool] = field(default=lambda: False)  # nothing new is begun any more
    leaving: Event = field(default_factory=Event)  # set: a new team takes over soon, with a new configuration
    keep_bug: Callable[[Exception], None] = field(default=lambda _: None)  # its trace, for whoever mends it

    def yields(self) -> bool:
        """Whether what only waits and looks has to make room: it goes on with the next team."""
        return self.stopping() or self.leaving.is_set()

    def day(self) -> str:
        """Today, in the owner's time zone."""
        return self.clock.now().date().isoformat()

    def wanted(self) -> Vision | None:
        """The accepted vision, and what we proposed besides; None: none was accepted yet."""
        accepted = self.plans.accepted()
        return wanted(accepted.vision, self.upkeep.goals()) if accepted else None

    def day_cap(self) -> int:
        """Today's, in nano-dollars; the owner may have raised it."""
        return self.ledger.day_cap(self.clock.now(), self.rules.day_cap)
