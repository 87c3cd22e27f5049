"""A home -> everything that is remembered about it: what the views need, and nothing that can act."""

from __future__ import annotations

import errno
import os
import shlex
import shutil
import sys
import tempfile
import threading
from collections.abc import Collection, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sisimpur.cli.terminal.arguments import AIDER
from sisimpur.shared.config.settings import Settings, load
from sisimpur.shared.model.errors import Misconfigured, Unavailable
from sisimpur.shared.model.naming import fits
from sisimpur.shared.store.database import Database
from sisimpur.shared.system import lock
from sisimpur.shared.system.clock import Clock, SystemClock
from sisimpur.shared.system.paths import Home

if TYPE_CHECKING:  # what not every command looks at is loaded when it is
    from sisimpur.agents.orchestrator.board.plan_approval import PlanApprovals
    from sisimpur.agents.orchestrator.board.snapshot import Snapshot, SnapshotMemory
    from sisimpur.agents.orchestrator.deploys.deploy_book import DeployRepository
    from sisimpur.agents.orchestrator.goals.standing import GoalBooks
    from sisimpur.agents.orchestrator.inbox.answers import GoalAnswers, PlanAnswers
    from sisimpur.agents.orchestrator.memory.lesson_book import LessonRepository
    from sisimpur.agents.orchestrator.roadmap.roadmap_book import RoadmapRepository
    from sisimpur.agents.orchestrator.upkeep.upkeep_book import UpkeepRepository
    from sisimpur.shared.forge.forge import Forge
    from sisimpur.shared.model.lifecycle import State
    from sisimpur.shared.model.work import Question, Vision
    from sisimpur.shared.money.ledger import Ledger
    from sisimpur.shared.money.ledger_reader import LedgerReader
    from sisimpur.shared.outlets.outlet import Outlet, OutletStanding
    from sisimpur.shared.record.audit import AuditBook
    from sisimpur.shared.store.activity import Activity
    from sisimpur.shared.store.gate_book import GateRepository
    from sisimpur.shared.store.goal_book import GoalRepository, GoalWords
    from sisimpur.shared.store.journal import Journal
    from sisimpur.shared.store.plan_book import PlanRepository
    from sisimpur.shared.store.research_book import ResearchRepository
    from sisimpur.shared.store.task_store import TaskStore


@dataclass
class PullsSeen:
    """The pull requests as GitHub showed them last, and when. `problem`: why it was not asked. `turn`: one looks."""

    turn: threading.Lock = field(default_factory=threading.Lock)
    at: datetime | None = None
    rows: list[dict[str, Any]] = field(default_factory=list)
    problem: str = ""
    forge: Forge | None = None


@dataclass(frozen=True)
class HomeMemory:
    """What several records of one home know together: the task files that were read, and what GitHub showed."""

    store: TaskStore
    pulls: PullsSeen


@dataclass(frozen=True)
class Records:
    """`is_clock_checked`: against the machine's own; a clock that is given is believed. `known`: see open_records."""

    home: Home
    settings: Settings
    clock: Clock
    db: Database
    is_clock_checked: bool
    known: HomeMemory | None = None

    @cached_property
    def store(self) -> TaskStore:
        from sisimpur.shared.store.task_store import TaskStore

        return self.known.store if self.known else TaskStore(self.home)

    @cached_property
    def journal(self) -> Journal:
        from sisimpur.shared.store.journal import Journal

        return Journal(self.db)

    @cached_property
    def activity(self) -> Activity:
        from sisimpur.shared.store.activity import Activity

        return Activity(self.db)

    @cached_property
    def gates(self) -> GateRepository:
        from sisimpur.shared.store.gate_book import GateRepository

        return GateRepository(self.db)

    @cached_property
    def plans(self) -> PlanRepository:
        from sisimpur.shared.store.plan_book import PlanRepository

        return PlanRepository(self.db)

    @cached_property
    def approvals(self) -> PlanApprovals:
        """Tell which plans wait for the owner's yes."""
        from sisimpur.agents.orchestrator.board.plan_approval import PlanApprovals

        return PlanApprovals(self.settings.policy.approve.rule, self.plans.plan, self.clock.now)

    def snapshot(self, shown: AbstractSet[str] | None = frozenset()) -> Snapshot:
        """Read the tasks as they lie in their folders, and what the database says of them.

        `shown`: those that are over and read nevertheless; None: all, which takes longer with each year.
        """
        from sisimpur.agents.orchestrator.board.snapshot import BoardFacts

        mark = self.db.version(), f"{self.clock.now():%Y-%m-%d %H:%M}"  # a plan that nobody approves ends at a time
        limits = self.settings.policy.attempts.limits
        facts = BoardFacts(self.wanted(), limits, unapproved=self.approvals.waiting, shown=shown)
        return self._snapshots.load(facts, mark)

    @cached_property
    def _snapshots(self) -> SnapshotMemory:
        from sisimpur.agents.orchestrator.board.snapshot import SnapshotMemory

        return SnapshotMemory(self.store, self.journal)

    @cached_property
    def plan_answers(self) -> PlanAnswers:
        from sisimpur.agents.orchestrator.inbox.answers import OwnerAnswers, PlanAnswers
        from sisimpur.shared.store.task_records import Waivers

        answers = OwnerAnswers(self.store, self.gates, self.clock, self.journal)
        return PlanAnswers(lambda: self.snapshot().board, Waivers(self.db), answers)

    @cached_property
    def ledger(self) -> Ledger:
        from sisimpur.shared.money.ledger import Ledger, uptime

        return Ledger(self.db, uptime if self.is_clock_checked else None, self.settings.policy.budget.warn_at)

    @cached_property
    def spending(self) -> LedgerReader:
        """The money book, for reading."""
        from sisimpur.shared.money.ledger_reader import LedgerReader

        return LedgerReader(self.db)

    @cached_property
    def audit(self) -> AuditBook:
        from sisimpur.shared.record.audit import AuditBook

        return AuditBook(self.db)

    @cached_property
    def outlets(self) -> tuple[Outlet, ...]:
        from sisimpur.shared.outlets.outlet import outlets_of

        return tuple(outlets_of(self.home, self.settings, self.clock))

    def outlet_standings(self) -> Iterator[OutletStanding]:
        """Yield how far each has come."""
        from sisimpur.shared.outlets.outlet import OutletBook

        return map(OutletBook(self.db).standing, self.outlets)

    @cached_property
    def deploys(self) -> DeployRepository:
        from sisimpur.agents.orchestrator.deploys.deploy_book import DeployRepository

        return DeployRepository(self.db)

    @cached_property
    def research(self) -> ResearchRepository:
        from sisimpur.shared.store.research_book import ResearchRepository

        return ResearchRepository(self.db)

    @cached_property
    def memory(self) -> LessonRepository:
        from sisimpur.agents.orchestrator.memory.lesson_book import LessonRepository

        return LessonRepository(self.db)

    @cached_property
    def upkeep(self) -> UpkeepRepository:
        from sisimpur.agents.orchestrator.upkeep.upkeep_book import UpkeepRepository

        return UpkeepRepository(self.db)

    @cached_property
    def roadmap(self) -> RoadmapRepository:
        from sisimpur.agents.orchestrator.roadmap.roadmap_book import RoadmapRepository

        return RoadmapRepository(self.db)

    @cached_property
    def words(self) -> GoalWords:
        from sisimpur.shared.store.goal_book import GoalWords

        return GoalWords(self.db)

    @cached_property
    def goals(self) -> GoalRepository:
        from sisimpur.shared.store.goal_book import GoalRepository

        return GoalRepository(self.db)

    @property
    def goal_books(self) -> GoalBooks:
        """What is known of goals, and whether a model reads their ends."""
        from sisimpur.agents.orchestrator.goals.standing import GoalBooks

        return GoalBooks(self.goals, self.words, self.settings.policy.goals.read)

    def day(self) -> str:
        return self.clock.now().date().isoformat()

    def questions(self) -> tuple[Question, ...]:
        accepted = self.plans.accepted()
        if not accepted or not self.plans.asked(self.wordings()):
            return ()
        from sisimpur.agents.orchestrator.roadmap.roadmap_needs import open_questions

        return open_questions(self.plans, self.roadmap, accepted.vision)

    @property
    def goal_answers(self) -> GoalAnswers:
        from sisimpur.agents.orchestrator.inbox.answers import GoalAnswers

        return GoalAnswers(self.plans, self.questions, self.wordings, self.clock.now)

    def wordings(self) -> Mapping[str, str]:
        """How goals and notes are worded now, by id."""
        from sisimpur.agents.orchestrator.vision.goal_ids import wordings

        accepted = self.plans.accepted()
        return wordings(accepted.vision) if accepted else {}

    def wanted(self) -> Vision | None:
        """Return the accepted vision, and what the team proposed besides."""
        accepted = self.plans.accepted()
        if accepted is None:
            return None
        if not (proposed := self.upkeep.goals()):
            return accepted.vision
        from sisimpur.agents.orchestrator.upkeep.upkeep import wanted

        return wanted(accepted.vision, proposed)

    @cached_property
    def pulls_seen(self) -> PullsSeen:
        return self.known.pulls if self.known else PullsSeen()

    def forge(self) -> Forge | None:
        """Open the forge to read it. None: no day was run yet, so there is none."""
        from sisimpur.cli.wiring.forge import open_forge

        return open_forge(self.home, self.settings, self.clock)


def require_home(home: Home, looking: bool = False) -> None:
    """Check the home. Misconfigured or Refused, in one line, if there is none, or one that was tampered with.

    `looking`: it need not be writable.
    """
    home.check()
    if not home.state.exists():
        where = shlex.quote(str(home.root))
        raise Misconfigured(
            f"{home.root} is no home yet; type: python main.py --home {where} init --target PATH_OR_URL"
        )
    try:
        home.make()  # git, for one, does not keep empty folders
    except OSError as error:
        if looking:
            return
        means = {errno.EROFS: "mount it writable", errno.ENOSPC: "free some space, or some files"}
        todo = means.get(error.errno or 0, "type the command as the user who owns it")
        raise Misconfigured(f"{home.root} cannot be used ({error.strerror}); {todo}") from None


def _settings(home: Home, environment: Mapping[str, str]) -> Settings:
    try:
        return load(home, environment)
    except Misconfigured as problem:
        if lock.holder(home.lock):
            raise Misconfigured(f"{problem} (the team goes on with what it read before)") from None
        raise


def _refuse_emptied(home: Home) -> None:
    """Refuse an empty database in a home that has worked: it would forget what was spent."""
    worked = any((home.state / "mirror").glob("*.git"))
    if worked and home.database.exists() and home.database.stat().st_size == 0:
        raise Misconfigured(
            f"{home.database} is empty; put a copy back, or move it away and lower today's cap by what was spent: a new"
            " one knows of nothing"
        )


@contextmanager
def _copied(home: Home, problem: Unavailable) -> Iterator[Database]:
    """The books as they lie there, in a place that can be written: whoever only looks is answered all the same."""
    print(f"{problem}; what follows is what was known", file=sys.stderr)
    memory = Path("/dev") / "shm"  # a full disk has no room for a copy
    shelf = memory if os.access(memory, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="sisimpur-look-", dir=shelf) as folder:
        for name in (home.database.name, f"{home.database.name}-wal"):
            if (home.state / name).exists():
                shutil.copyfile(home.state / name, Path(folder) / name)
        yield Database(Path(folder) / home.database.name)


@contextmanager
def _books(home: Home, looking: bool) -> Iterator[Database]:
    try:
        db = Database(home.database)
    except Unavailable as problem:
        if not looking:
            raise
        with _copied(home, problem) as copy:
            yield copy
        return
    yield db


@contextmanager
def open_records(
    root: Path,
    environment: Mapping[str, str] = os.environ,
    clock: Clock | None = None,
    looking: bool = False,
    known: HomeMemory | None = None,
) -> Iterator[Records]:
    """Open the home's database and settings. `environment`: where keys may stand besides config/.env.

    `looking`: a home that cannot be written is looked at all the same. `known`: by records opened before.
    """
    home = Home(root)
    require_home(home, looking)
    settings = _settings(home, environment)
    with open_books(home, looking) as db:
        yield Records(home, settings, clock or SystemClock(settings.zone), db, clock is None, known)


@contextmanager
def open_books(home: Home, looking: bool = False) -> Iterator[Database]:
    """Open the home's database alone: no setting is read."""
    require_home(home, looking)
    _refuse_emptied(home)
    with _books(home, looking) as db:
        try:
            yield db
        finally:
            db.close()


def aider_python(configured: str) -> Path:
    """Return the interpreter of the engine's environment; `configured` empty: the one that `make setup` built."""
    python = Path(configured or AIDER)
    if not python.exists():
        raise Misconfigured(f"the coding engine is not installed ({python} is missing); type: make setup")
    return python


def find(store: TaskStore, id_: str, usual: Collection[State] = ()) -> tuple[str, State]:
    """Find the task with this id, or the only one that it fits; of several the only one in a `usual` folder."""
    every = [(name, state) for state, names in store.names().items() for name in names]
    found = [one for one in every if one[0] == id_] or [one for one in every if fits(one[0], id_)]
    if len(found) > 1 and len(here := [one for one in found if one[1] in usual]) == 1:
        found = here
    if not found:
        raise Misconfigured(f"there is no task {id_!r}; see: python main.py tasks")
    if len(found) > 1:
        raise Misconfigured(f"{id_!r} fits {', '.join(sorted(name for name, _ in found)[:5])}; type more of the id")
    return found[0]
