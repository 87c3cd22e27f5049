"""The rows that `make bench-check` compares, and how each is measured: CPU and counts, never the time on the wall.

CPU is that of a process and of all that it starts: the least of some runs, since whatever else is at work only adds.
It is told as on a machine that needs STANDARD for `start`, so that a slower machine finds about the same.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from functools import partial
from io import StringIO
from pathlib import Path

from bench import gate_rows, looks, pipeline, tokens, walks
from bench.old_home import days_of, grow_old, worked_once
from bench.pipeline import used
from bench.trace import ROOT, counting
from sisimpur.cli.app import main as sisimpur
from tests.journey import rooms
from tests.journey.stage import Stage

STANDARD = 0.11  # CPU seconds of `start` on the machine of the first figures, when it had little else to do
KNOWN = ("argparse", "asyncio", "difflib", "email", "http.client", "ipaddress", "json", "logging.handlers", "sqlite3")
TIMES = 3
OLD = 10_000  # tasks
SHOWN = ("status", "roadmap", "budget", "prs", "tasks")
BEFORE_SHOWN = (2.4, 6.5, 6.4, 0.8, 2.6)
SECONDS = "s CPU"

Measured = Mapping[str, float]  # name of a row -> its figure


@dataclass(frozen=True)
class SpeedRow:
    """`before`: what the issue saw; empty: nobody looked. `target`: at most; None: there is none."""

    what: str
    unit: str
    before: str = ""
    target: float | None = None


ROWS = {
    "version": SpeedRow("`--version`", SECONDS),
    "load": SpeedRow("`status` of a new home: loading the program", SECONDS),
    "idle": SpeedRow(f"an idle `run-day`, {OLD:,} old tasks", SECONDS, "> 69", 1.2),
    "idle-statements": SpeedRow("its SQL statements", "statements"),
    "idle-git": SpeedRow("its git processes", "processes"),
    **{
        name: SpeedRow(f"`{name}`, {OLD:,} old tasks", SECONDS, f"{before}", 0.4)
        for name, before in zip(SHOWN, BEFORE_SHOWN, strict=True)
    },
    "git-4": SpeedRow("git processes of a task, 4 approved together", "processes", "113", 25),
    "git-16": SpeedRow("git processes of a task, 16 approved together", "processes", "155", 25),
    "one-more": SpeedRow("one more task beside engine, model and tests", SECONDS, "0.34–0.67", 0.15),
    "demo": SpeedRow("the demo's day, environments made", SECONDS, "20", 10),
    "tokens": SpeedRow("prompt tokens of a small task, of six in a day", "tokens", "4,062–6,178", tokens.GOAL),
    "walk-modules": SpeedRow("modules from a bullet to its merge", "modules", "207", 110),
    "walk-git": SpeedRow("git processes on this way", "processes", "205", 60),
    "walk-reads": SpeedRow("SQL reads on this way", "reads", "1195", 250),
    "gates": SpeedRow("the gates of a fix, beside the target's tests", SECONDS, "", 2),
    "gates-runs": SpeedRow("its runs of tests, the base's known", "runs", "4", 3),
    "gates-second": SpeedRow("a suite of 10 s in other surroundings, too", "of its time", "", 0.3),
}


# --- CPU -----------------------------------------------------------------------------------------------------


def start() -> float:
    """CPU seconds of an interpreter that loads well-known modules: half of what a command of ours does."""
    return spent([sys.executable, "-I", "-c", f"import {', '.join(KNOWN)}"])


def steady(measure: Callable[[], float], times: int = TIMES) -> float:
    """`measure`: CPU seconds of one run. The least of them, as on the machine of the first figures."""
    return together(measure, times=times)[0]


def together(*measures: Callable[[], float], times: int = TIMES) -> list[float]:
    """Each as `steady`, in turn and on one scale: they may be subtracted."""
    starts, found = [], []
    for _ in range(times):
        starts += [start(), start()]
        found.append([measure() for measure in measures])
    return [min(runs) * STANDARD / min(starts) for runs in zip(*found, strict=True)]


def spent(argv: Sequence[str]) -> float:
    """CPU seconds of a process and of all that it started. CalledProcessError: it failed."""
    before = used()
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)
    return used() - before


def typed(*words: str) -> float:
    """CPU seconds of a command of ours."""
    return spent([sys.executable, str(ROOT / "main.py"), *words])


# --- what is measured ----------------------------------------------------------------------------------------


def load() -> Measured:
    with tempfile.TemporaryDirectory() as folder:
        home = Stage(Path(folder), "").set_up().home.root
        shown = steady(partial(typed, "--home", str(home), "status"))
        return {"version": steady(partial(typed, "--version")), "load": shown}


def old(tasks: int = OLD) -> Measured:
    with old_home(tasks) as home:
        shown = {name: steady(partial(typed, "--home", str(home), name)) for name in SHOWN}
        with copied(home) as copy, redirect_stdout(StringIO()), counting() as trace:
            assert sisimpur(["--home", str(copy), "run-day"]) == 0
        idle = {"idle": steady(partial(_idle, home))}
        return {**idle, "idle-statements": trace.statements, "idle-git": trace.git, **shown}


def _idle(home: Path) -> float:
    """The first run of the day."""
    with copied(home) as copy:
        return typed("--home", str(copy), "run-day")


@contextmanager
def old_home(tasks: int) -> Iterator[Path]:
    """One that has worked until yesterday, with so many completed tasks."""
    with tempfile.TemporaryDirectory() as folder:
        stage = Stage(Path(folder), "", rooms.sets, rooms.outcomes(frozenset(), []))
        worked_once(stage, days_of(tasks))
        grow_old(stage.home, tasks)
        yield stage.home.root


@contextmanager
def copied(home: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield shutil.copytree(home, Path(folder) / "home", symlinks=True)


def reviewed() -> Measured:
    return {f"git-{count}": looks.day_of(count, together=True).git / count for count in (looks.FEW, looks.MANY)}


def one_more() -> Measured:
    few, many = together(*(partial(pipeline.cpu_of_a_day, count) for count in (pipeline.FEW, pipeline.MANY)))
    return {"one-more": (many - few) / (pipeline.MANY - pipeline.FEW)}


def demo() -> Measured:
    def day() -> float:
        with tempfile.TemporaryDirectory() as folder:
            return typed("--home", folder, "demo")

    return {"demo": steady(day, times=2)}


def prompts() -> Measured:
    return {"tokens": round(tokens.by_role().total() / tokens.TASKS)}


def walk() -> Measured:
    found = walks.walked("bullet")
    return {"walk-modules": len(found.modules), "walk-git": found.git, "walk-reads": found.reads}


def gates() -> Measured:
    found = gate_rows.costs()
    return {**found, "gates": found["gates"] * STANDARD / min(start() for _ in range(TIMES))}


MEASURES: Sequence[Callable[[], Measured]] = (load, old, reviewed, one_more, demo, prompts, walk, gates)
