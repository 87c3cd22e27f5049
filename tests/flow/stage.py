"""The stage of the journeys with its outside in memory: the same words at a part of the cost.

Real: the core, the roles, the money book and the meter's rules, the local forge's rules, the files of the home.
In memory: git (memory_git.py), and with it the owner's repository, our mirror and the forge's branches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, replace

from sisimpur.agents.orchestrator.board.session import OrchestratorLock, Session
from sisimpur.agents.orchestrator.day import Orchestrator
from sisimpur.agents.orchestrator.goals.looking import GoalEvaluator
from sisimpur.agents.orchestrator.vision.reading import Interpreter
from sisimpur.agents.planner.agent import Planner
from sisimpur.agents.planner.facts.codebase_analyzer import CodebaseAnalyzer
from sisimpur.agents.planner.facts.source import SourceSnapshot
from sisimpur.agents.reviewer.agent import Reviewer
from sisimpur.cli.terminal.arguments import CHECKOUT
from sisimpur.cli.wiring import team as wiring
from sisimpur.cli.wiring.config_watch import model_key
from sisimpur.cli.wiring.forge import TargetCode, at_home, local_forge
from sisimpur.cli.wiring.lifetime import Quitting
from sisimpur.cli.wiring.model import Caching, make_client
from sisimpur.cli.wiring.orchestrator import Assembly
from sisimpur.cli.wiring.parts import Roles, TeamParts
from sisimpur.cli.wiring.records import Records, open_records
from sisimpur.cli.wiring.services import make_library, services
from sisimpur.cli.wiring.workshop import BoxWorkshop, Workshop
from sisimpur.shared.forge.forge import Forge
from sisimpur.shared.forge.local_forge import LocalForge
from sisimpur.shared.llm.llm_client import PATIENCE
from sisimpur.shared.llm.prompts import Prompts
from sisimpur.shared.notify.notice import Notifier
from sisimpur.shared.system.clock import Clock
from tests.flow.memory_git import DISK, MemoryRepository, Store
from tests.flow.memory_wire import MemoryClient, MemoryMeter, MemoryTransport
from tests.journey.stage import FILES, VISION, Stage

HASTY = 1.0  # seconds that the meter waits for a busy model: as in a daemon it asks again, but these are real seconds
OWNER = "owner <owner@localhost> 1795161600 +0000"


class MemoryForge(LocalForge):
    opens = MemoryRepository


@dataclass(frozen=True)
class FlowRecords(Records):
    def forge(self) -> Forge | None:
        place = self.home.forge(self.settings.target.name)
        return local_forge(self.home, self.settings, self.clock, MemoryForge) if place in DISK else None


@contextmanager
def open_core(
    records: Records,
    print_line: Callable[[str], None],
    make_workshop: wiring.MakeWorkshop = BoxWorkshop,
    make_services: Callable[[Records], Sequence[Notifier]] = services,
    quit_: Quitting | None = None,
    mode: wiring.Mode = "day",
    forge: type[LocalForge] = MemoryForge,
) -> Iterator[Orchestrator]:
    """As `open_team`, but for where git keeps things. The one place of this shelf that puts the core together."""
    is_daemon, quit_ = mode == "daemon", quit_ or Quitting()
    key = model_key(records.settings)
    wiring.same_target(records)
    parts = TeamParts.of(records, print_line, quit_)
    with (
        nullcontext() if is_daemon else wiring.alone(records),
        closing(at_home(records.home, records.settings, records.clock, parts.print_line, forge)) as code,
        MemoryMeter(records, parts.pricing, key, parts.log.of("meter"), parts.print_line) as meter,
    ):
        session = wiring.make_session(parts, is_daemon)
        quit_.end_calls = lambda: _end_calls(meter, session.lock)
        workshop = make_workshop(records, parts.print_line, quit_.asked)
        roles = _roles(parts, code, workshop, HASTY if is_daemon else PATIENCE, session)
        messages = wiring.open_messages(records, make_services, parts.print_line)
        assembly = Assembly(parts, code, messages, session, roles, wiring.token_price(records, parts.pricing))
        orchestrator = assembly.orchestrator()
        assembly.recover()
        try:
            yield orchestrator
        finally:
            orchestrator.working.pool.end()
            workshop.close()


def _roles(parts: TeamParts, code: TargetCode, workshop: Workshop, patience: float, session: Session) -> Roles:
    """As the real one, but whoever asks a model asks it in this process."""
    records, outgoing, mirror = parts.records, parts.outgoing, code.mirror
    caching = Caching(parts.savings, parts.pricing, records.clock)
    real, prompts = make_client(records, caching, patience), Prompts(CHECKOUT / "agents")
    asker = MemoryClient(real.ledger, real.replies, real.meter, real.models, real.clock)
    planner = Planner(asker, prompts, CodebaseAnalyzer())
    researcher = wiring.make_researcher(records, asker, prompts, caching)
    library = make_library(records, outgoing, parts.quit_.asked)
    real_roles = wiring.make_roles(parts, code, workshop, patience, session)
    reviewer = lambda: Reviewer(asker, prompts, mirror, workshop.linter(), outgoing)  # noqa: E731
    return replace(
        real_roles,
        reader=Interpreter(asker, prompts),
        evaluator=GoalEvaluator(asker, prompts),
        change=replace(real_roles.change, reviewer=reviewer),
        planner=lambda run, order, commit: planner.plan(run, order, SourceSnapshot(mirror, commit)),
        research=lambda run, asked: researcher.research(run, asked, records.settings.target.name, library(run, asked)),
    )


def _end_calls(meter: MemoryMeter, lock: OrchestratorLock) -> None:
    meter.stop()
    with lock as held:
        held.wake()


class FlowStage(Stage):
    """A stage whose repositories are in memory."""

    def set_up(self, vision: str = VISION, files: Mapping[str, str] = FILES) -> FlowStage:
        DISK[self.root / "site"] = Store()
        self._commit(files, "first")
        self._make_home(vision)
        return self

    def owner_commits(self, files: Mapping[str, str]) -> None:
        self._commit(files, "the owner's own")

    def owner_links(self, links: Mapping[str, str]) -> None:
        """Commit symbolic links: where each lies, and its text."""
        self._commit(links, "links", "120000")

    @contextmanager
    def records(self, clock: Clock | None = None) -> Iterator[Records]:
        with open_records(self.home.root, {}, clock or self.clock) as records:
            yield FlowRecords(**vars(records))

    def forge(self, *words: str) -> str:
        return MemoryRepository(self.home.forge("site")).git(*words).decode().strip()

    open_team = staticmethod(open_core)
    way = staticmethod(MemoryTransport)

    def _commit(self, files: Mapping[str, str], title: str, mode: str = "100644") -> None:
        """On the owner's main branch."""
        site = DISK[self.root / "site"]
        before = site.refs.get(site.head)
        there = dict(site.objects.files(before)) if before else {}
        there |= {path: (mode, site.objects.keep("blob", text.encode())) for path, text in files.items()}
        head = [f"tree {site.objects.keep_tree(there)}", *([f"parent {before}"] if before else [])]
        text = "\n".join([*head, f"author {OWNER}", f"committer {OWNER}", "", title, ""])
        site.refs[site.head] = site.objects.keep("commit", text.encode())
