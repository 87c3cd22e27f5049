"""How fast a home of months is at work again after `kill -9`. `python -m bench.recovery` (a minute).

A thousand task files in mixed states, ten thousand calls in the money book; killed while its hands are at work.
"""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import tempfile
import time
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from bench.daemon import AT_WORK, ENVIRONMENT, daemon, is_coding, load, scene, stop, typed, until
from sisimpur.shared.model.lifecycle import State
from sisimpur.shared.model.work import Run, TaskSpec
from sisimpur.shared.money.ticket import TicketOrder
from sisimpur.shared.store.task_store import render
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.journey.stage import Stage, reads

TASKS, CALLS = 1_000, 10_000
STATES = {State.COMPLETED: 0.7, State.FAILED: 0.2, State.BACKLOG: 0.1}
RUNS = 3
GOAL = 3.0  # seconds
LONG_AGO = 1_700_000_000  # a file that nobody is still writing


def main() -> int:
    print(f"load before: {load()}")
    with tempfile.TemporaryDirectory() as folder, ScriptedModel([reads(), AT_WORK]) as model:
        stage = scene(Path(folder), model, "# Vision\n")
        with_tasks(stage)
        with_calls(stage)
        took = statistics.median(killed_and_begun(stage, model) for _ in range(RUNS))
    print(f"load after:  {load()}")
    print(f"{TASKS} tasks, {CALLS} calls, killed at work; from `start` to ready, median of {RUNS}:")
    print(f"{took:.2f} s   goal {GOAL:g} s: {'met' if took <= GOAL else 'MISSED'}")
    return int(took > GOAL)


def killed_and_begun(stage: Stage, model: ScriptedModel) -> float:
    model.requests.clear()
    with daemon(stage) as pid:
        until(lambda: is_coding(model))
        os.kill(pid, signal.SIGKILL)
    began = time.perf_counter()
    subprocess.run(typed(stage, "start"), env=ENVIRONMENT, stdout=subprocess.DEVNULL, check=True)
    took = time.perf_counter() - began
    stop(stage)
    return took


def with_tasks(stage: Stage) -> None:
    """As months leave them: history knows each of them where it lies."""
    now = datetime.now(UTC)
    with stage.records() as records:
        numbers = iter(range(TASKS))
        for state, share in STATES.items():
            for number in islice(numbers, round(share * TASKS)):
                spec = TaskSpec(f"old-{number}", f"Task {number}", f"Do number {number}.", files=("app.py",))
                path = stage.home.tasks(state) / f"{spec.id}.md"
                path.write_text(render(spec))
                os.utime(path, (LONG_AGO, LONG_AGO))
                records.journal.born(spec, state, "planned", now)


def with_calls(stage: Stage) -> None:
    """Of other days, one ticket for all."""
    now = datetime.now(UTC)
    with stage.records() as records:
        order = TicketOrder(Run(1, "coder", "2026-01-01"), 10**9, ("claude-sonnet-5-5",), now, CALLS, min_out=100)
        records.ledger.open_ticket(order, now)
        with records.db.transaction() as db:
            db.executemany(
                "insert into calls (ticket, at, day, agent, task, attempt, model, price_version, state, amount)"
                " values (1, ?, ?, 'coder', ?, 1, 'claude-sonnet-5-5', '', 'settled', 1000)",
                [(now.isoformat(), f"2026-{n % 6 + 1:02}-{n % 28 + 1:02}", f"old-{n % TASKS}") for n in range(CALLS)],
            )


if __name__ == "__main__":
    raise SystemExit(main())
