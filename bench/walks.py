"""Walks three ways through the program for real, and tells which modules are on them. `python -m bench.walks`.

Real: git, SQLite, the meter, the committer, the local forge, processes. Scripted: the model, the engine, the tests of
the target. Each way is walked in a process of its own, `python -m bench.walks NAME`, which prints JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from bench.trace import ROOT, Trace, tracing
from sisimpur.shared.llm.llm_call import Replies
from sisimpur.shared.llm.llm_client import LlmClient, MeterAccess
from sisimpur.shared.model.work import ModelChoice, Run
from sisimpur.shared.money.ledger import Ledger
from sisimpur.shared.money.meter import Meter, MeterSetup, Upstream
from sisimpur.shared.money.pricing import Pricing
from sisimpur.shared.money.token_budget import Caps, dollars
from sisimpur.shared.store.database import Database
from sisimpur.shared.system.clock import SystemClock
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.journey.deployed import ends, sick, site
from tests.journey.gated import FILES, GOOD, RIGHT, VISION, Coder, fix, suite
from tests.journey.stage import APPROVES, CODES, Stage, plans, reads

PAGE = ROOT / "docs" / "walks.md"
NOW = "## Now"  # what follows this line of the page is written here
TITLES = {
    "bullet": "One bullet of VISION.md becomes a merged pull request",
    "dollar": "One question to a model: the meter reserves, sends, and settles in the ledger",
    "deploy": "A change is sick where it is deployed: rolled back, reverted, mended, deployed again",
}
MODEL = "claude-sonnet-5-5"


@dataclass(frozen=True)
class Walk:
    modules: Sequence[str]
    functions: int
    git: int
    reads: int


@dataclass(frozen=True)
class Count:
    """The answer that the dollar is spent on."""

    number: int


def walked(name: str) -> Walk:
    """One of TITLES, in a process of its own. CalledProcessError: it did not come to its end."""
    argv = (sys.executable, "-m", "bench.walks", name)
    done = subprocess.run(argv, cwd=ROOT, check=True, stdout=subprocess.PIPE)
    return Walk(**json.loads(done.stdout.splitlines()[-1]))


def bullet(folder: Path) -> Trace:
    with ScriptedModel([reads(), plans(fix()), CODES, APPROVES]) as model:
        stage = Stage(folder, model.url, Coder(GOOD), suite).set_up(VISION, FILES)
        with tracing() as trace:
            assert stage.run_day() == []
        assert [pull.state for pull in stage.pulls()] == ["merged"]
    return trace


def deploy(folder: Path) -> Trace:
    well = {**GOOD, "app.py": f"{RIGHT}# and well\n"}
    with ScriptedModel([reads(), plans(fix()), CODES, APPROVES]) as model, site(folder) as live:
        stage = Stage(folder, model.url, Coder(sick(GOOD), well), suite).set_up(VISION, FILES)
        live.configure(stage)
        with tracing() as trace:
            assert stage.run_day() == []
        assert "staging rolled back" in ends(stage) and ends(stage)[-1] == "production healthy"
    return trace


def dollar(folder: Path) -> Trace:
    run, caps, clock = Run(1, "planner", f"{datetime.now(UTC):%Y-%m-%d}"), Caps(*[dollars("10")] * 3), SystemClock()
    with ScriptedModel([{"agent": "planner", "json": {"number": 1}}]) as model:
        database = Database(folder / "agents.db")
        ledger, socket, upstream = Ledger(database), folder / "meter.sock", Upstream(model.url, "key")
        models, replies = {"planner": ModelChoice(MODEL)}, Replies(database)
        with tracing() as trace, Meter(ledger, Pricing(), lambda: caps, clock, MeterSetup(socket, upstream)):
            client = LlmClient(ledger, replies, MeterAccess(socket, dollars("1")), models, clock)
            assert client.ask(run, "You are the Planner.", "How many are one?", Count) == Count(1)
        assert ledger.reader.totals(run.day, 0).used == model.billed > 0
        ledger.close()
    return trace


def page(walks: Mapping[str, Walk]) -> str:
    """Markdown: a section per walk, a line per folder, its modules in the order in which they come in."""
    parts = []
    for name, walk in walks.items():
        rows = "\n".join(
            f"| `{folder}` | {len(names)} | {' '.join(names)} |" for folder, names in _folders(walk.modules)
        )
        parts.append(
            f"\n### {TITLES[name]}\n\n{len(walk.modules)} modules, {walk.functions} functions; "
            f"{walk.git} git processes, {walk.reads} SQL reads.\n\n| folder | | modules |\n|---|---|---|\n{rows}\n"
        )
    if {"bullet", "deploy"} <= set(walks):
        more = [module for module in walks["deploy"].modules if module not in walks["bullet"].modules]
        told = ", ".join(f"`{module}`" for module in more)
        parts.append(f"\n{len(more)} of these are not on the first way: {told}.\n")
    return "".join(parts)


def _folders(modules: Iterable[str]) -> Iterable[tuple[str, list[str]]]:
    found: dict[str, list[str]] = defaultdict(list)
    for module in modules:
        folder, _, file = module.rpartition("/")
        found[folder].append(file.removesuffix(".py"))
    return found.items()


def write(walks: Mapping[str, Walk]) -> None:
    """The page's last part; what was measured before stays."""
    before = PAGE.read_text("utf-8").partition(f"\n{NOW}\n")[0]
    PAGE.write_text(f"{before}\n{NOW}\n\nMeasured on {datetime.now(UTC):%-d %B %Y}.\n{page(walks)}", "utf-8")


def main(name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        trace = {"bullet": bullet, "dollar": dollar, "deploy": deploy}[name](Path(folder))
    print(json.dumps(asdict(Walk(trace.modules, trace.functions, trace.git, trace.reads))))


if __name__ == "__main__":
    if sys.argv[1:]:
        main(sys.argv[1])
    else:
        print(page({name: walked(name) for name in TITLES}))
