"""Signals, and what most parts of a team are made of: a home's records, filters, logs and prices, and its roles."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from agents.orchestrator.board.roles import ChangeRoles
from agents.orchestrator.deploys.deploying import Deployment
from agents.orchestrator.planning.morning import CodeFacts, ReadsVision
from agents.orchestrator.upkeep.upkeeping import UpkeepTools
from cli.wiring.records import Records
from shared.model.research import Findings, Inquiry
from shared.model.work import PlanAnswer, PlanOrder, Run
from shared.money.ledger_savings import LedgerSavings
from shared.money.pricing import Pricing
from shared.system.log import Log
from shared.system.outgoing import Outgoing
from shared.system.signals import Stop, stopping


@dataclass
class Quitting:
    """Whether we were asked to end. `end_calls`: called after each signal, in a thread of its own."""

    stop: Stop = field(default_factory=Stop)
    end_calls: Callable[[], None] = field(default=lambda: None)

    def asked(self) -> bool:
        return self.stop.asked

    def is_hurried(self) -> bool:
        """Tell whether we were asked a second time."""
        return self.stop.hurried


@contextmanager
def quitting() -> Iterator[Quitting]:
    """Let SIGTERM and Ctrl-C end the team instead of this process, as long as the block lasts."""
    quit_ = Quitting()
    with stopping(lambda: quit_.end_calls()) as stop:
        quit_.stop = stop
        yield quit_


@dataclass(frozen=True)
class TeamParts:
    """What most of the others are made of. `print_line` prints a line of progress, without secrets."""

    records: Records
    quit_: Quitting
    print_line: Callable[[str], None]
    outgoing: Outgoing
    log: Log
    pricing: Pricing
    savings: LedgerSavings

    @classmethod
    def of(cls, records: Records, print_line: Callable[[str], None], quit_: Quitting) -> TeamParts:
        outgoing, pricing = Outgoing(records.settings.secrets.to_hide), Pricing(records.settings.agents.prices)
        log, savings = Log(records.home.logs, records.clock, outgoing.clean), LedgerSavings(records.db, pricing)
        return cls(records, quit_, lambda text: print_line(outgoing.clean(text)), outgoing, log, pricing, savings)


@dataclass(frozen=True)
class Roles:
    """Who the orchestrator works with. What works in a sandbox is made when it is first needed."""

    reader: ReadsVision
    look: Callable[[Sequence[str]], CodeFacts]
    planner: Callable[[Run, PlanOrder, str], PlanAnswer]  # of what is at this commit
    change: ChangeRoles
    deployment: Deployment | None  # None: nothing is deployed
    research: Callable[[Run, Inquiry], Findings]
    upkeep: UpkeepTools


def named_files(commands: str) -> tuple[str, ...]:
    """Return the files that the owner's commands name: who changes one changes what is run."""
    return tuple(re.findall(r"[\w./-]+\.(?:py|sh|cfg|ini|toml|txt|mk|ya?ml)\b", commands))
