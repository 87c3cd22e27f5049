"""What a report is made from. Looks and changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from sisimpur.agents.orchestrator.board.snapshot import Snapshot
from sisimpur.agents.orchestrator.memory.lesson_book import LessonRepository
from sisimpur.agents.orchestrator.roadmap.roadmapping import Roadmapping
from sisimpur.agents.orchestrator.upkeep.upkeep_book import UpkeepRepository
from sisimpur.shared.forge.forge import Forge, task_of
from sisimpur.shared.model.errors import TeamError
from sisimpur.shared.model.evidence import Evidence
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
        commit = self.mirror.attempt(attempt_ref(task, attempt.number))
        return self.gates.evidence(task, commit) if commit else None

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
    """`clean`: the filter for outgoing text. `board`: the address that links begin with; empty: there are none."""

    tasks: TaskBooks
    plans: PlanRepository
    money: MoneyBooks
    learned: Learned
    roadmap: Roadmapping
    messages: Messenger
    clean: Callable[[str], str]
    audit: AuditBook
    board: str = ""

    def cleaned(self, texts: Iterable[str]) -> tuple[str, ...]:
        return tuple(map(self.clean, texts))
