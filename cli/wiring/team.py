"""A home -> an Orchestrator with its team, for as long as the block lasts."""

from __future__ import annotations

import os
import shlex
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Literal

from sisimpur.agents.orchestrator.board.roles import ChangeRoles, ChecksChange, CodesTask, ReviewsChange
from sisimpur.agents.orchestrator.board.session import Session
from sisimpur.agents.orchestrator.day import Orchestrator
from sisimpur.agents.orchestrator.goals.looking import GoalEvaluator
from sisimpur.agents.orchestrator.planning.morning import CodeFacts
from sisimpur.agents.orchestrator.vision.reading import Interpreter
from sisimpur.agents.planner.facts.codebase_analyzer import CodebaseAnalyzer
from sisimpur.agents.planner.facts.source import SourceSnapshot
from sisimpur.cli.terminal.arguments import CHECKOUT
from sisimpur.cli.terminal.printing import command
from sisimpur.cli.wiring.config_watch import model_key, require_private
from sisimpur.cli.wiring.deployment import make_deployment
from sisimpur.cli.wiring.forge import TargetCode, open_code
from sisimpur.cli.wiring.lifetime import Quitting, nobody_calls
from sisimpur.cli.wiring.model import Caching, make_client, make_meter
from sisimpur.cli.wiring.orchestrator import Assembly
from sisimpur.cli.wiring.parts import Roles, TeamParts, made_once
from sisimpur.cli.wiring.records import Records
from sisimpur.cli.wiring.services import make_library, phones_of, services
from sisimpur.cli.wiring.workshop import BoxWorkshop, Workshop, make_upkeep, roots_of
from sisimpur.shared.llm.llm_client import PATIENCE, LlmClient
from sisimpur.shared.llm.prompts import Prompts
from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.model.work import PlanAnswer, PlanOrder, Run
from sisimpur.shared.money.pricing import Pricing
from sisimpur.shared.notify.messenger import Messenger
from sisimpur.shared.notify.notice import Notifier
from sisimpur.shared.notify.notice_book import NoticeRepository
from sisimpur.shared.repo.committer import Author, Committer
from sisimpur.shared.repo.mirror import Mirror
from sisimpur.shared.store.activity import Epochs
from sisimpur.shared.store.gate_book import BaseRuns
from sisimpur.shared.system import lock
from sisimpur.shared.system.outgoing import Outgoing, keep_private

if TYPE_CHECKING:  # a role is loaded when it is first needed: on many days none is
    from sisimpur.agents.planner.agent import Planner
    from sisimpur.agents.researcher.agent import Researcher
    from sisimpur.shared.money.meter import Meter

AUTHOR = Author("sisimpur-agents", "agents@localhost")
TRACE_MOST = 7_000  # characters of a bug's trace: its end tells most
TYPICAL_PROMPT = 20_000  # tokens: the price band that a forecast assumes
BRIEF = 5.0  # seconds that the daemon lets the meter wait for a busy model: it asks again in ten minutes
MODEL_CALLS_END = 3.0  # seconds that calls in flight get when the team is being stopped

# A "daemon" holds the home's lock already; "deploys" asks no model, so it needs no key for one.
Mode = Literal["day", "daemon", "deploys"]
MakeWorkshop = Callable[[Records, Callable[[str], None], Callable[[], bool]], Workshop]


@contextmanager
def open_team(
    records: Records,
    print_line: Callable[[str], None],
    make_workshop: MakeWorkshop = BoxWorkshop,
    make_services: Callable[[Records], Sequence[Notifier]] = services,
    quit_: Quitting | None = None,
    mode: Mode = "day",
) -> Iterator[Orchestrator]:
    """Hold the home's lock meanwhile. Keys stay in this process; what runs elsewhere gets tickets.

    What works in a sandbox is made when it is first needed: without one the rest of the day goes on.
    """
    is_daemon, quit_ = mode == "daemon", quit_ or Quitting()
    require_private(records.home)
    key = model_key(records.settings) if mode != "deploys" else ""
    same_target(records)
    keep_private()
    parts = TeamParts.of(records, print_line, quit_)
    with (
        nullcontext() if is_daemon else alone(records),
        closing(open_code(records.home, records.settings, records.clock, parts.print_line)) as code,
        make_meter(records, parts.pricing, key, parts.log.of("meter"), parts.print_line) as meter,
    ):
        session = make_session(parts, is_daemon)
        quit_.end_calls = lambda: _end_calls(meter, session, quit_.stop.hurried)
        workshop = make_workshop(records, parts.print_line, quit_.asked)
        roles = make_roles(parts, code, workshop, BRIEF if is_daemon else PATIENCE, session)
        messages = open_messages(records, make_services, parts.print_line)
        assembly = Assembly(parts, code, messages, session, roles, token_price(records, parts.pricing))
        orchestrator = assembly.orchestrator()
        assembly.recover()
        try:
            yield orchestrator
        finally:
            orchestrator.working.pool.end()
            workshop.close()
            quit_.end_calls = nobody_calls  # the meter goes; the next team names its own


def same_target(records: Records) -> None:
    """Name the home's target. Misconfigured if the home has planned for another repository."""
    before, now = records.plans.target(), records.settings.target.file.repo
    if before and before != now:
        again = command(records.home.root, "init", "--target", shlex.quote(now))
        raise Misconfigured(
            f"this home has worked on {before}; use another --home for {now}, "
            f"or if it is the same repository at a new address, type: {again}"
        )
    if not before:
        records.plans.name_target(now, records.clock.now())


@contextmanager
def alone(records: Records) -> Iterator[None]:
    """Hold the home's lock. If another process gets hold of it and begins, we end with Replaced."""
    epochs, now = Epochs(records.db), records.clock.now
    with lock.hold(records.home.lock):
        number = epochs.begin(os.getpid(), now(), "run-day")
        records.db.guard(number)
        yield
        epochs.end(number, now(), "done")


def _end_calls(meter: Meter, session: Session, is_hurried: bool) -> None:
    """Refuse new model calls and end those in flight; wake whoever waits for something to do."""
    meter.refuse_new()
    meter.stop(0 if is_hurried else MODEL_CALLS_END)
    with session.lock as lock:
        lock.wake()


def open_messages(
    records: Records, make_services: Callable[[Records], Sequence[Notifier]], print_line: Callable[[str], None]
) -> Messenger:
    """Open the messages. A wrong address costs them, not the day: the reports are files."""
    book, phones = NoticeRepository(records.db), partial(phones_of, records)
    try:
        return Messenger(book, make_services(records), print_line, phones)
    except Misconfigured as problem:
        return Messenger(book, (), print_line, phones, [str(problem)])


# --- the session and the roles -------------------------------------------------------------------------------


def make_session(parts: TeamParts, is_daemon: bool) -> Session:
    return Session(
        clock=parts.records.clock,
        tell=parts.print_line,
        stopping=parts.quit_.asked,
        keep_bug=partial(_keep_bug, parts),
        is_daemon=is_daemon,
    )


def _keep_bug(parts: TeamParts, bug: Exception) -> str:
    parts.log.of("bugs")("bug", {"trace": "".join(traceback.format_exception(bug))[-TRACE_MOST:]})
    return str(parts.records.home.logs)


def token_price(records: Records, pricing: Pricing) -> tuple[int, int]:
    """Return the coder's price, sent and received, in nano-dollars per token."""
    coder = records.settings.agents.coder
    rates = pricing.rates(coder.model, TYPICAL_PROMPT, records.clock.now())
    _check_price(coder.easy, pricing, records)
    return rates.input, rates.output


def _check_price(easy: str | None, pricing: Pricing, records: Records) -> None:
    """Check that the easy model has a price: Misconfigured now, and not in the middle of a task."""
    try:
        if easy:
            pricing.rates(easy, TYPICAL_PROMPT, records.clock.now())
    except Misconfigured as problem:
        raise Misconfigured(f"config/agents.yaml, coder.easy: {problem}") from None


def make_roles(parts: TeamParts, code: TargetCode, workshop: Workshop, patience: float, session: Session) -> Roles:
    records, settings, mirror, outgoing = parts.records, parts.records.settings, code.mirror, parts.outgoing
    stopping, prompts, analyzer = parts.quit_.asked, Prompts(CHECKOUT / "agents"), CodebaseAnalyzer()
    caching = Caching(parts.savings, parts.pricing, records.clock)
    asker = make_client(records, caching, patience)
    asks_again = partial(caching.goes_on, "planner", settings.agents.asking["planner"].model, 1, unknown=False)
    researcher = made_once(lambda: make_researcher(records, asker, prompts, caching))
    library = make_library(records, outgoing, stopping)

    planner = made_once(lambda: _planner(asker, prompts, analyzer, asks_again, workshop))
    change = ChangeRoles(
        coder=lambda: _coder(parts, mirror, prompts, workshop),
        qa=made_once(lambda: _qa(parts, mirror, workshop)),
        reviewer=lambda: _reviewer(asker, prompts, mirror, workshop, outgoing),
        work=records.home.work,
        independent=settings.policy.qa.independent,
    )

    def plan(run: Run, order: PlanOrder, commit: str) -> PlanAnswer:
        workshop.prepare(mirror, commit)  # whatever is planned will be tested
        return planner().plan(run, order, SourceSnapshot(mirror, commit), lambda: change.qa().base(run, commit))

    return Roles(
        reader=Interpreter(asker, prompts),
        evaluator=GoalEvaluator(asker, prompts),
        look=lambda texts: _code_facts(code, analyzer, texts),
        planner=plan,
        change=change,
        deployment=make_deployment(records, mirror, stopping, session.yields, parts.print_line, outgoing.clean),
        research=lambda run, asked: researcher().research(run, asked, settings.target.name, library(run, asked)),
        upkeep=make_upkeep(records, workshop, parts.pricing),
    )


def _planner(
    asker: LlmClient, prompts: Prompts, analyzer: CodebaseAnalyzer, asks_again: Callable[[], bool], workshop: Workshop
) -> Planner:
    from sisimpur.agents.planner.agent import Planner

    return Planner(asker, prompts, analyzer, asks_again, workshop.tools())


def _reviewer(
    asker: LlmClient, prompts: Prompts, mirror: Mirror, workshop: Workshop, outgoing: Outgoing
) -> ReviewsChange:
    from sisimpur.agents.reviewer.agent import Reviewer

    return Reviewer(asker, prompts, mirror, workshop.linter(), outgoing)


def _code_facts(code: TargetCode, analyzer: CodebaseAnalyzer, texts: Sequence[str]) -> CodeFacts:
    commit = code.sync()
    paths = [entry.path for entry in code.mirror.tree(commit)]
    return CodeFacts(paths, analyzer.overview(SourceSnapshot(code.mirror, commit), texts))


def make_researcher(records: Records, asker: LlmClient, prompts: Prompts, caching: Caching) -> Researcher:
    from sisimpur.agents.researcher.agent import ResearchBounds, Researcher

    rules, model = records.settings.policy.research, records.settings.agents.asking["researcher"].model
    return Researcher(
        asker,
        prompts,
        lambda task: records.spending.used_by([task])[task].tokens,
        ResearchBounds(rules.turns, rules.tokens),
        lambda turn: caching.goes_on("researcher", model, turn),
    )


def _qa(parts: TeamParts, mirror: Mirror, workshop: Workshop) -> ChecksChange:
    from sisimpur.agents.qa.agent import Qa, QaPolicy

    records = parts.records
    target, runs = records.settings.target.file, BaseRuns(records.gates, records.clock)
    drop = records.settings.policy.merge.coverage_drop
    policy, mends = QaPolicy(target.test, drop, target.tests, roots_of(target)), records.upkeep.failing_test
    return Qa(workshop.bench(mirror), mirror, runs, policy, parts.log, mends, workshop.tools())


def _coder(parts: TeamParts, mirror: Mirror, prompts: Prompts, workshop: Workshop) -> CodesTask:
    from sisimpur.agents.coder.agent import Coder, CoderLimits, CoderTickets, Routes

    records, settings = parts.records, parts.records.settings
    model, limits = settings.agents.coder, settings.agents.engine
    coder_limits = CoderLimits(
        budget=settings.policy.budget.task,
        seconds=round(limits.minutes * 60),
        calls=limits.calls,
        retry_s=limits.patience,
        allow=settings.target.file.allow,
        stall=limits.stall_minutes * 60,
    )
    routes = Routes(parts.savings, parts.pricing, records.clock, model.choice, model.easy or "")
    tickets = CoderTickets(records.ledger, routes, coder_limits, records.clock, parts.savings.longest)
    committer = Committer(mirror, parts.outgoing, AUTHOR, settings.target.file.protected)
    refused = records.journal.keep_refused
    return Coder(workshop.engine(), mirror, committer, tickets, prompts, parts.log, refused, workshop.formats)
