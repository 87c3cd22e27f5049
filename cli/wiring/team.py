"""A home -> an Orchestrator with its team, for as long as the block lasts. The one place where doors are wired."""

from __future__ import annotations

import os
import re
import shlex
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from agents.coder.agent import Coder, CoderLimits, CoderTickets
from agents.coder.engine.engine import Engine
from agents.coder.routes import Routes
from agents.orchestrator.day import Orchestrator
from agents.orchestrator.publishing.delivery import Delivery
from agents.orchestrator.publishing.publishing import Publishing
from agents.orchestrator.team import ChecksChange, CodesTask, Desk, Rules, Team
from agents.orchestrator.vision.interpreter import Interpreter
from agents.orchestrator.vision.issue_goals import InboxRules
from agents.planner.agent import Planner
from agents.planner.codebase_analyzer import CodebaseAnalyzer
from agents.planner.source import SourceSnapshot
from agents.qa.agent import Qa, QaPolicy
from agents.qa.runner.suite import Bench
from agents.researcher.agent import ResearchBounds, Researcher
from agents.reviewer.agent import Reviewer
from cli.terminal.arguments import CHECKOUT
from cli.terminal.text import command
from cli.wiring.caching import Caching
from cli.wiring.config_watch import model_key
from cli.wiring.deployment import make_deployment
from cli.wiring.forge import TargetCode, open_code
from cli.wiring.library import make_library
from cli.wiring.meter_log import host_of, telling
from cli.wiring.records import Records
from cli.wiring.services import services
from cli.wiring.shutdown import Quitting
from cli.wiring.upkeep import make_upkeep
from cli.wiring.workshop import BoxWorkshop, Workshop
from shared.config.settings import LiveCaps
from shared.llm.llm_client import PATIENCE, LlmClient
from shared.llm.llm_replies import Replies
from shared.llm.prompts import Prompts
from shared.model.errors import Misconfigured
from shared.money.ledger_course import LedgerCourse
from shared.money.ledger_savings import LedgerSavings
from shared.money.pricing import Pricing, Unpriced
from shared.notify.messenger import Messenger
from shared.notify.notice_book import NoticeRepository
from shared.notify.notifier import Notifier
from shared.repo.committer import Author, Committer
from shared.store.epochs import Epochs
from shared.store.gate_book import BaseRuns
from shared.system import lock, ourselves
from shared.system.keeping import REPLY_AGE
from shared.system.log import Log
from shared.system.outgoing import Outgoing

if TYPE_CHECKING:
    from shared.money.meter import Meter

AUTHOR = Author("sisimpur-agents", "agents@localhost")
TRACE_MOST = 7_000  # characters of a bug's trace: its end tells most
TYPICAL_PROMPT = 20_000  # tokens: the price band that a forecast assumes


BRIEF = 5.0  # seconds that the daemon lets the meter wait for a busy model: it asks again in ten minutes
MODEL_CALLS_END = 3.0  # seconds that calls in flight get when the team is being stopped

MakeWorkshop = Callable[[Records, Callable[[str], None], Callable[[], bool]], Workshop]


@contextmanager
def open_team(
    records: Records,
    tell: Callable[[str], None],
    make_workshop: MakeWorkshop = BoxWorkshop,
    make_services: Callable[[Records], Sequence[Notifier]] = services,
    quit_: Quitting | None = None,
    daemon: bool = False,
    asks_models: bool = True,
) -> Iterator[Orchestrator]:
    """Holds the home's lock; a `daemon` holds it already. Keys stay in this process; what runs elsewhere gets tickets.

    Who `asks_models` needs a key for them.

    What works in a sandbox is made when it is first needed: without one the rest of the day goes on.
    """
    from shared.money.meter import Meter, Upstream

    settings, home, clock, quit_ = records.settings, records.home, records.clock, quit_ or Quitting()
    key = model_key(settings) if asks_models else ""
    _same_target(records)
    ourselves.keep_private()
    outgoing = Outgoing(settings.secrets.to_hide)
    log = Log(home.logs, clock, outgoing.clean)
    pricing = Pricing(settings.agents.prices)
    with nullcontext() if daemon else _alone(records):
        code = open_code(home, settings, clock, lambda text: tell(outgoing.clean(text)))
        with Meter(
            records.ledger,
            pricing,
            LiveCaps(home, settings.policy.caps),
            Upstream(settings.secrets.base_url, key),
            clock,
            home.meter_socket,
            log=telling(log.of("meter"), settings.secrets.base_url, tell),
        ) as meter:
            messages = _messages(records, make_services, lambda text: tell(outgoing.clean(text)))
            desk = _desk(records, log, code, outgoing, pricing, messages, tell, quit_)
            quit_.hush = lambda: _hush(meter, desk, quit_)
            workshop = make_workshop(records, desk.tell, quit_.asked)
            patience = BRIEF if daemon else PATIENCE
            team = _team(records, desk, outgoing, code.sync, workshop, patience, pricing)
            deployment = make_deployment(records, quit_.asked, desk.yields, desk.tell, outgoing.clean)
            team = replace(team, deployment=deployment, upkeep=make_upkeep(records, workshop, pricing))
            orchestrator = Orchestrator(desk, team, lasts=daemon)
            orchestrator.recover()
            try:
                yield orchestrator
            finally:
                orchestrator.crew.end()
                workshop.close()


def _same_target(records: Records) -> None:
    """Misconfigured if what was planned here was planned for another repository."""
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
def _alone(records: Records) -> Iterator[None]:
    """Holds the home's lock; and should somebody take that away, what he begins is the end of us."""
    epochs, now = Epochs(records.db), records.clock.now
    with lock.hold(records.home.lock):
        number = epochs.begin(os.getpid(), now(), "run-day")
        records.db.guard(number)
        yield
        epochs.end(number, now(), "done")


def _hush(meter: Meter, desk: Desk, quit_: Quitting) -> None:
    """Whoever waits for a model is told that none answers any more; whoever sits and waits looks up."""
    meter.refuse_new()
    meter.stop(0 if quit_.is_hurried() else MODEL_CALLS_END)
    with desk.chair as chair:
        chair.wake()


def _messages(
    records: Records, make_services: Callable[[Records], Sequence[Notifier]], tell: Callable[[str], None]
) -> Messenger:
    """A wrong address costs the messages, not the day: the reports are files."""
    book = NoticeRepository(records.db)
    try:
        return Messenger(book, make_services(records), tell)
    except Misconfigured as problem:
        return Messenger(book, (), tell, [str(problem)])


# --- the desk and the team -----------------------------------------------------------------------------------


def _desk(
    records: Records,
    log: Log,
    code: TargetCode,
    outgoing: Outgoing,
    pricing: Pricing,
    messages: Messenger,
    tell: Callable[[str], None],
    quit_: Quitting,
) -> Desk:
    return Desk(
        home=records.home,
        clock=records.clock,
        store=records.store,
        journal=records.journal,
        gates=records.gates,
        plans=records.plans,
        ledger=records.ledger,
        log=log,
        mirror=code.mirror,
        delivery=Delivery(records.journal, code.mirror, code.forge, outgoing.clean),
        publishing=Publishing(records.journal, code.forge, outgoing.clean),
        messages=messages,
        course=LedgerCourse(records.db),
        savings=LedgerSavings(records.db, pricing),
        deploys=records.deploys,
        research=records.research,
        memory=records.memory,
        upkeep=records.upkeep,
        roadmap=records.roadmap,
        rules=_rules(records, pricing),
        command=command(records.home.root),
        tell=lambda text: tell(outgoing.clean(text)),
        stopping=quit_.asked,
        keep_bug=lambda bug: log.of("bugs")("bug", {"trace": "".join(traceback.format_exception(bug))[-TRACE_MOST:]}),
    )


def _rules(records: Records, pricing: Pricing) -> Rules:
    settings = records.settings
    policy, target = settings.policy, settings.target.file
    rates = pricing.rates(settings.agents.coder.model, TYPICAL_PROMPT, records.clock.now())
    _check_price(settings.agents.coder.easy, pricing, records)
    return Rules(
        branch=target.branch,
        capacity=policy.capacity.tasks_per_day,
        depth=policy.capacity.depth,
        allow=target.allow,
        limits=policy.attempts.limits,
        day_cap=policy.budget.day,
        task_cap=policy.budget.task,
        month_cap=policy.budget.month,
        per_token=(rates.input, rates.output),
        protected=(*target.protected, *named_files(f"{target.setup} {target.test}")),
        policy=policy.merge.policy,
        open_pulls=policy.capacity.open_pulls,
        inbox=InboxRules(target.inbox.owners, target.inbox.label),
        hands=policy.capacity.parallel,
        questions=policy.research.questions,
        work_minutes=settings.schedules.phases.work_minutes,
        long_goals=policy.merge.long_goals == "branch",
    )


def _check_price(easy: str | None, pricing: Pricing, records: Records) -> None:
    """Misconfigured now, and not in the middle of a task."""
    try:
        if easy:
            pricing.rates(easy, TYPICAL_PROMPT, records.clock.now())
    except Unpriced as problem:
        raise Misconfigured(f"config/agents.yaml, coder.easy: {problem}") from None


def named_files(commands: str) -> tuple[str, ...]:
    """Files that the owner's commands name: who changes one changes what is run."""
    return tuple(re.findall(r"[\w./-]+\.(?:py|sh|cfg|ini|toml|txt|mk|ya?ml)\b", commands))


def _team(
    records: Records,
    desk: Desk,
    outgoing: Outgoing,
    sync: Callable[[], str],
    workshop: Workshop,
    patience: float,
    pricing: Pricing,
) -> Team:
    settings, mirror = records.settings, desk.mirror
    prompts, analyzer = Prompts(CHECKOUT / "agents"), CodebaseAnalyzer()
    replies = Replies(records.db)
    replies.prune(desk.clock.now() - REPLY_AGE)
    caching, asking = Caching(desk.savings, pricing, desk.clock), settings.agents.asking
    asker = LlmClient(
        records.ledger,
        replies,
        desk.home.meter_socket,
        asking,
        desk.clock,
        lambda _: settings.policy.budget.task,
        host_of(settings.secrets.base_url),
        patience,
        caching.keeps,
    )
    planner = Planner(asker, prompts, analyzer)
    bounds = ResearchBounds(settings.policy.research.turns, settings.policy.research.tokens)
    researcher = Researcher(
        asker,
        prompts,
        lambda task: records.ledger.tokens_by_task().get(task, 0),
        bounds,
        lambda turn: caching.goes_on("researcher", asking["researcher"].model, turn),
    )
    library = make_library(records, outgoing, desk.stopping)
    return Team(
        reader=Interpreter(asker, prompts),
        plan=lambda run, order, commit: planner.plan(run, order, SourceSnapshot(mirror, commit)),
        coder=lambda: _coder(records, desk, outgoing, prompts, workshop.engine(), pricing),
        qa=cache(lambda: _qa(records, desk, workshop.bench(mirror))),
        reviewer=lambda: Reviewer(asker, prompts, mirror, workshop.linter(), outgoing),
        overview=lambda commit, texts: analyzer.overview(SourceSnapshot(mirror, commit), texts),
        sync=sync,
        research=lambda run, asked: researcher.research(run, asked, settings.target.name, library(run, asked)),
    )


def _qa(records: Records, desk: Desk, bench: Bench) -> ChecksChange:
    target, rules = records.settings.target.file, records.settings.policy.merge
    runs = BaseRuns(records.gates, desk.clock)
    policy = QaPolicy(target.test, rules.coverage_drop)
    return Qa(bench, desk.mirror, runs, policy, desk.log, desk.upkeep.failing_test)


def _coder(
    records: Records, desk: Desk, outgoing: Outgoing, prompts: Prompts, engine: Engine, pricing: Pricing
) -> CodesTask:
    settings = records.settings
    model = settings.agents.coder
    limits = settings.agents.engine
    routes = Routes(desk.savings, pricing, desk.clock, model.choice, model.easy or "")
    coder_limits = CoderLimits(
        budget=settings.policy.budget.task,
        seconds=round(limits.minutes * 60),
        calls=limits.calls,
        retry_s=limits.patience,
        allow=settings.target.file.allow,
        stall=limits.stall_minutes * 60,
    )
    committer = Committer(desk.mirror, outgoing, AUTHOR, settings.target.file.protected)
    tickets = CoderTickets(records.ledger, routes, coder_limits, desk.clock)
    return Coder(engine, desk.mirror, committer, tickets, prompts, desk.log)
