"""What most parts of a team are made of: a home's records, filters, logs and prices, and its roles."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import TypeVar

from sisimpur.agents.orchestrator.board.roles import ChangeRoles
from sisimpur.agents.orchestrator.deploys.deploying import Deployment
from sisimpur.agents.orchestrator.goals.looking import ReadsEnds
from sisimpur.agents.orchestrator.planning.morning import CodeFacts, ReadsVision
from sisimpur.agents.orchestrator.upkeep.upkeeping import UpkeepTools
from sisimpur.cli.wiring.lifetime import Quitting
from sisimpur.cli.wiring.records import Records
from sisimpur.shared.config.settings import TargetFile
from sisimpur.shared.model.research import Findings, Inquiry
from sisimpur.shared.model.work import PlanAnswer, PlanOrder, Run
from sisimpur.shared.money.pricing import Pricing
from sisimpur.shared.money.savings import LedgerSavings
from sisimpur.shared.system.log import Log
from sisimpur.shared.system.outgoing import Outgoing

T = TypeVar("T")
PYTEST = ("pytest", "py.test")
WITHIN = re.compile(r"[`(]([^`()]*)[`)]")  # a command within another one
COLLECTED = re.compile(r"(?:[\w.-]+/)*(?:test_[\w-]*|[\w-]*_test)\.py(?:::\S+)?")


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
        settings = records.settings
        outgoing = Outgoing(settings.secrets.to_hide, settings.target.file.allow_secrets)
        pricing = Pricing(settings.agents.prices)
        log = Log(records.home.logs, records.clock, outgoing.clean, settings.policy.log.level)
        savings = LedgerSavings(records.db, pricing)
        return cls(records, quit_, lambda text: print_line(outgoing.clean(text)), outgoing, log, pricing, savings)


@dataclass(frozen=True)
class Roles:
    """Who the orchestrator works with. What works in a sandbox is made when it is first needed."""

    reader: ReadsVision
    look: Callable[[Sequence[str]], CodeFacts]
    evaluator: ReadsEnds
    planner: Callable[[Run, PlanOrder, str], PlanAnswer]  # of what is at this commit
    change: ChangeRoles
    deployment: Deployment | None  # None: nothing is deployed
    research: Callable[[Run, Inquiry], Findings]
    upkeep: UpkeepTools


def made_once(make: Callable[[], T]) -> Callable[[], T]:
    """`functools.cache` makes two where two threads ask at the same time; here the second waits for the first's."""
    lock, known = Lock(), cache(make)

    def asked() -> T:
        with lock:
            return known()

    return asked


def listed_paths(target: TargetFile) -> tuple[str, ...]:
    """Return the patterns of this target that wait for the owner: its own list, and what its commands name."""
    lines = (target.setup, target.test, *(line for one in target.roots for line in (one.setup, one.test)))
    return (*target.protected, *named_files(*lines))


def named_files(*commands: str) -> tuple[str, ...]:
    """Return the files that the owner's commands name: who changes one changes what is run.

    Tests that pytest is told to collect are judged as all others are: nothing runs them by itself.
    """
    text = "\n".join(commands)
    while within := WITHIN.search(text):
        text = f"{text[: within.start()]} {text[within.end() :]}\n{within[1]}"
    named = (word for command in re.split(r"[;|&\n]+", text) for word in _not_collected(command.split()))
    return tuple(re.findall(r"[\w./-]+\.(?:py|sh|cfg|ini|toml|txt|mk|ya?ml)\b", " ".join(named)))


def _is_value(command: list[str], place: int) -> bool:
    """`uv run --with pytest python test_all.py` does not run it."""
    before = command[place - 1] if place else ""
    return before.startswith("-") and before != "-m"


def _not_collected(command: list[str]) -> list[str]:
    runs = (place for place, word in enumerate(command) if word in PYTEST and not _is_value(command, place))
    begins = next(runs, len(command))
    return command[:begins] + [one for one in command[begins:] if not COLLECTED.fullmatch(one)]
