"""What the daemon costs while nothing is to be done, and how fast it ends. `python -m bench.daemon` (four minutes).

Each row is a real `main.py start --foreground`; the model is a script, the engine that keeps a hand busy is the real
Aider, which waits for an answer.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sisimpur.shared.store.activity import Epochs
from sisimpur.shared.store.database import Database
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.journey.stage import VISION, Stage, goals_of, plans, reads, task

ROOT = Path(__file__).parents[1]
ENVIRONMENT = {"PATH": os.environ["PATH"]}
SETTLED, IDLE = 60.0, 120.0  # seconds before the memory is read, and in which processor time is counted
GOAL_RSS, GOAL_CPU, GOAL_STOP = 150.0, 1.0, 10.0  # MiB, percent of one processor, seconds
LONGEST = 120.0  # seconds that anything here may take
ALL_DAY = '{morning: "00:00", planning: "00:01", work: "00:02", wrap_up: "23:59"}'
AT_WORK = {"agent": "engine", "times": "any", "text": "nothing", "delay": 600}  # a hand that is busy for long


@dataclass(frozen=True)
class Idle:
    """`rss`: MiB; `children`: MiB of what it has started; `cpu`: percent of one processor, with its children."""

    rss: float
    children: float
    cpu: float
    tokens: int


def main() -> int:
    """Prints a table; 1 if a goal is missed."""
    print(f"load before: {load()}")
    idle, stopped = at_rest()
    rows = [
        (f"memory after {SETTLED:.0f} s", idle.rss, "MiB", GOAL_RSS),
        (f"processor, idle for {IDLE:.0f} s", idle.cpu, "%", GOAL_CPU),
        ("tokens meanwhile", idle.tokens, "", 0),
        ("stop, nothing to do", stopped, "s", GOAL_STOP),
        ("stop, a hand at work", while_at_work(), "s", GOAL_STOP),
    ]
    print(f"load after:  {load()}")
    for name, value, unit, goal in rows:
        print(f"{name:<30}{value:>9.2f} {unit:<4} goal {goal:g} {unit}: {'met' if value <= goal else 'MISSED'}")
    print(f"(what it has started besides, all of it at rest: {idle.children:.0f} MiB)")
    return int(any(value > goal for _, value, _, goal in rows))


def at_rest() -> tuple[Idle, float]:
    """A home without goals, and the seconds of its `stop`."""
    with tempfile.TemporaryDirectory() as folder, ScriptedModel([reads()]) as model:
        stage = scene(Path(folder), model, "# Vision\n")
        with daemon(stage) as pid:
            time.sleep(SETTLED)
            rss, children = memory(pid), sum(map(memory, below(pid)))
            before = spent(pid)
            time.sleep(IDLE)
            cpu = 100 * (spent(pid) - before) / IDLE
            tokens = sum(request.billed for request in model.requests)
            return Idle(rss, children, cpu, tokens), stop(stage)


def while_at_work() -> float:
    """The seconds of a `stop` while an engine waits for its model."""
    script = [reads(), plans(task(goals_of(VISION)[0])), AT_WORK]
    with tempfile.TemporaryDirectory() as folder, ScriptedModel(script) as model:
        stage = scene(Path(folder), model, VISION)
        with daemon(stage):
            until(lambda: is_coding(model))
            return stop(stage)


# --- a home, and who works there -----------------------------------------------------------------------------


def scene(folder: Path, model: ScriptedModel, vision: str) -> Stage:
    """Every hour is an hour of work."""
    stage = Stage(folder, model.url).set_up(vision)
    stage.given_config("schedules", phases=ALL_DAY, catch_up_hours="24")
    return stage


@contextmanager
def daemon(stage: Stage) -> Iterator[int]:
    """Its number, as soon as it is ready."""
    words = (*typed(stage, "start"), "--foreground")
    with subprocess.Popen(words, env=ENVIRONMENT, stdout=subprocess.DEVNULL) as process:
        try:
            until(lambda: is_ready(stage, process.pid))
            yield process.pid
        finally:
            process.kill()


def typed(stage: Stage, command: str) -> tuple[str, ...]:
    return sys.executable, str(ROOT / "main.py"), "--home", str(stage.home.root), command


def stop(stage: Stage) -> float:
    began = time.perf_counter()
    subprocess.run(typed(stage, "stop"), env=ENVIRONMENT, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began


def is_ready(stage: Stage, pid: int) -> bool:
    db = Database(stage.home.database)
    try:
        epoch = Epochs(db).last()
    finally:
        db.close()
    return epoch is not None and epoch.pid == pid and epoch.ready is not None


def is_coding(model: ScriptedModel) -> bool:
    return any(request.summary.startswith("engine") for request in model.requests)


def until(is_so: Callable[[], bool]) -> None:
    latest = time.monotonic() + LONGEST
    while not is_so():
        assert time.monotonic() < latest, "it never came to that"
        time.sleep(0.05)


# --- what a process takes ------------------------------------------------------------------------------------


def memory(pid: int) -> float:
    """MiB; 0: it has gone."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


def spent(pid: int) -> float:
    """Seconds of processor time, with that of the children it has waited for."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, words[11:15])) / os.sysconf("SC_CLK_TCK")


def below(pid: int) -> list[int]:
    """Its children, and theirs."""
    found = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, path.read_text().split()):
            found += [child, *below(child)]
    return found


def load() -> str:
    return f"{os.getloadavg()[0]:.1f} in the last minute, on {os.cpu_count()} processors"


if __name__ == "__main__":
    raise SystemExit(main())
