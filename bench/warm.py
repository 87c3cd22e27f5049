"""How long many tasks wait for the engine: loaded once, and loaded by each of them. `python -m bench.warm`.

Each task is one small edit; the model is a script that takes three seconds for each answer. What is measured is the
engine's part of the coding step, from the first task's start to the last one's end. It needs the real Aider.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.daemon import load
from sisimpur.agents.coder.engine.aider_runner import AiderEngine
from sisimpur.agents.coder.engine.engine import Engine, EngineJob
from sisimpur.shared.sandbox.box import find_box
from tests.edges.engine_bench import FIX
from tests.edges.warm_scene import warm

AIDER = Path(__file__).parents[1] / ".venv-aider" / "bin" / "python"
LATENCY = 3  # seconds of one answer
MANY, FEW = 16, 4  # tasks at once: warm, cold
GOAL = 8.0  # seconds


def main() -> int:
    print(f"load before: {load()}")
    with tempfile.TemporaryDirectory() as scratch:
        box = find_box(Path(scratch))
        with warm(box, AIDER) as line, line.bench(box, [{"text": FIX, "delay": LATENCY, "times": "any"}]) as desk:
            loading = took(line.engine, [desk.job()]) - LATENCY
            many = took(line.engine, [desk.job() for _ in range(MANY)])
            one = took(line.engine, [desk.job()]) - LATENCY
            cold = took(AiderEngine(box, AIDER, line.meter, line.home), [desk.job() for _ in range(FEW)])
    print(f"load after:  {load()}")
    print(f"the first task: {loading:.2f} s besides the model; each later one alone: {one:.2f} s")
    print(f"{FEW} tasks at once, cold: {cold:.2f} s")
    print(f"{MANY} tasks at once, warm: {many:.2f} s   goal {GOAL:.0f} s: {'met' if many <= GOAL else 'MISSED'}")
    return int(many > GOAL)


def took(engine: Engine, jobs: Sequence[EngineJob]) -> float:
    began = time.perf_counter()
    with ThreadPoolExecutor(len(jobs)) as hands:
        ends = [run.end for run in hands.map(engine.run, jobs)]
    assert ends == ["edited"] * len(jobs), ends
    return time.perf_counter() - began


if __name__ == "__main__":
    raise SystemExit(main())
