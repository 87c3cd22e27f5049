"""What a report is made from. Looks and changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sisimpur.agents.orchestrator.board.snapshot import Snapshot
from sisimpur.agents.orchestrator.deploys.deploy_book import DeployRepository
from sisimpur.agents.orchestrator.deploys.deploying import DeployRules
from sisimpur.agents.orchestrator.memory.lesson_book import LessonRepository
from sisimpur.agents.orchestrator.reports.account import DeployAccount, Live
from sisimpur.agents.orchestrator.roadmap.roadmapping import Roadmapping
from sisimpur.agents.orchestrator.upkeep.upkeep_book import UpkeepRepository
from sisimpur.shared.forge.forge import Forge, task_of
from sisimpur.shared.model.deployment import PLACES, Deploy, DeployStage, Place, healthy_at, unwatched
from sisimpur.shared.model.errors import TeamError
from sisimpur.shared.model.evidence import Evidence, Reviewed
from sisimpur.shared.model.lifecycle import Event
from sisimpur.shared.model.naming import attempt_ref
from sisimpur.shared.money.ledger_reader import LedgerReader
from sisimpur.shared.money.savings import LedgerSavings
from sisimpur.shared.money.token_budget import Caps
from sisimpur.shared.notify.messenger import Messenger
from sisimpur.shared.record.audit import AuditBook
from sisimpur.shared.record.metrics_reader import MetricDays
from sisimpur.shared.repo.mirror import Mirror
from sisimpur.shared.store.ended_tasks import EndedTasks
from sisimpur.shared.store.gate_book import AwaitingOwner, GateRepository
from sisimpur.shared.store.journal import Journal
from sisimpur.shared.store.plan_book import PlanRepository
from sisimpur.shared.store.research_book import ResearchRepository
from sisimpur.shared.store.task_records import Attempt, TaskRecord
from sisimpur.shared.store.task_store import TaskStore


@dataclass(frozen=True)
class TaskBooks:
    """Tasks, their history, and what the gates and the forge say of them."""

    store: TaskStore
    journal: Journal
    ended: EndedTasks
    gates: GateRepository
    mirror: Mirror
    forge: Forge
    snapshot: Callable[[], Snapshot]

    def waiting(self, known: TaskRecord) -> AwaitingOwner | None:
        """What the owner was asked about its last attempt; what was asked of an earlier one does not wait any more."""
        parked, last = self.gates.parked(known.id), known.last
        is_older = parked and parked.at and last and last.ended_at and parked.at < last.ended_at
        return None if is_older else parked

    def evidence(self, task: str, attempt: Attempt) -> Evidence | None:
        """What the tests said of an attempt's commit; None: nothing, or it led to none."""
        return self.said_of(task, attempt)[0]

    def said_of(self, task: str, attempt: Attempt) -> tuple[Evidence | None, Reviewed | None]:
        """What tests and review said of an attempt's commit."""
        commit = self.mirror.attempt(attempt_ref(task, attempt.number))
        return self.gates.said_of(task, commit) if commit else (None, None)

    def pull_addresses(self) -> dict[str, str]:
        """Addresses of open pull requests, by task. A forge that is away costs these, nothing else."""
        try:
            return {task_of(pull, self.forge.whoami()): pull.url for pull in self.forge.list_pulls()}
        except TeamError:
            return {}


@dataclass(frozen=True)
class MoneyBooks:
    ledger: LedgerReader
    savings: LedgerSavings
    caps: Caps
    days: MetricDays

    def cap_of(self, day: str) -> int:
        """What that day may cost, in nano-dollars."""
        return self.ledger.cap_of(day, self.caps.day)


@dataclass(frozen=True)
class Learned:
    """What was found out, and what was proposed."""

    research: ResearchRepository
    lessons: LessonRepository
    upkeep: UpkeepRepository


@dataclass(frozen=True)
class ReportBooks:
    """`clean`: the filter for outgoing text. `board`: the address that links begin with; empty: there are none.

    `heard`: what the owner writes in his channel is read.
    """

    tasks: TaskBooks
    plans: PlanRepository
    money: MoneyBooks
    learned: Learned
    roadmap: Roadmapping
    messages: Messenger
    clean: Callable[[str], str]
    audit: AuditBook
    board: str = ""
    heard: bool = False

    def cleaned(self, texts: Iterable[str]) -> tuple[str, ...]:
        return tuple(map(self.clean, texts))


@dataclass(frozen=True)
class DeployDays:
    """`rules`: where is deployed now, the last one last; none: the driver was taken away. `clean`: takes out keys.

    `subjects`: commits -> the first line of the message of each, where it is known.
    """

    book: DeployRepository
    journal: Journal
    rules: DeployRules
    clean: Callable[[str], str]
    subjects: Callable[[Iterable[str]], Mapping[str, str]]

    @property
    def last(self) -> str:
        return self.rules.places[-1] if self.rules.places else ""

    def of(self, day: str) -> tuple[DeployAccount, ...]:
        """Begun or ended on that day; what is under way belongs to each day until its end."""
        found = [deploy for deploy in self.book.deploys() if _is_of(deploy, day)]
        merges = self.journal.merged_as(deploy.commit for deploy in found)
        return tuple(self.account(deploy, merges.get(deploy.commit, "")) for deploy in found)

    def account(self, deploy: Deploy, task: str) -> DeployAccount:
        """`task`: whose change it is; empty: nobody's of ours."""
        known = self.journal.task(task) if task else None
        deploys, at = self.book.deploys(), PLACES.index(deploy.place)
        return DeployAccount(
            replace(deploy, why=self.clean(deploy.why)),
            task,
            self.clean(known.title) if known else self._subject(deploy.commit),
            self._is_again(deploy, task),
            any(_is_of_before(one, deploy) for one in deploys),
            unwatched(deploy, deploys),
            tuple(self._live(place, deploys) for place in self.rules.places if PLACES.index(place) > at),
        )

    def _live(self, place: Place, deploys: Sequence[Deploy]) -> Live:
        commit = healthy_at(place, deploys)
        return Live(place, commit, self._subject(commit))

    def _subject(self, commit: str) -> str:
        return self.clean(self.subjects([commit]).get(commit, "")) if commit else ""

    def paused(self) -> str:
        """Why nothing is begun unasked; empty: it is, or nothing is to be deployed at all."""
        pause = self.book.paused() if self.rules.places else None
        return self.clean(pause.why) if pause else ""

    def _is_again(self, deploy: Deploy, task: str) -> bool:
        """The owner may have done something else with it meanwhile."""
        if not (deploy.broke and task and deploy.ended_at):
            return False
        back = [event for event in self.journal.history(task) if event.event is Event.SICK]
        return any(datetime.fromisoformat(event.at) >= deploy.ended_at for event in back)


def _is_of_before(one: Deploy, deploy: Deploy) -> bool:
    """The same commit, healthy there."""
    is_same = (one.place, one.commit) == (deploy.place, deploy.commit)
    return is_same and one.number < deploy.number and one.stage is DeployStage.HEALTHY


def _is_of(deploy: Deploy, day: str) -> bool:
    first = deploy.begun_at.date().isoformat() if deploy.begun_at else day
    last = deploy.ended_at.date().isoformat() if deploy.ended_at else ""
    return first == day or last == day or (not last and first <= day)
