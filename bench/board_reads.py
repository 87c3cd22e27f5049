"""How fast the board answers with 10,000 tasks and a million calls in the books. `python -m bench.board_reads`.

Each address is asked over HTTP, as a page asks. On a busy machine look at the board's own processor time
of a reading, which stands beside the wall.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import httpx2

from bench.old_home import days_of, grow_old, until_today, worked_once
from tests.journey import rooms
from tests.journey.board_process import key_of, served
from tests.journey.stage import Stage

TASKS, CALLS = 10_000, 1_000_000
READS = ("tasks", "status", "waiting", "audit", "money", "agents", "plan")
RUNS = 40
GOAL = 0.050  # seconds, of 95 in 100 readings


def main(folder: str) -> int:
    """Prints a table; 1 if a goal is missed. `folder`: of a home that was made before, or of a new one."""
    stage = Stage(Path(folder), "", rooms.sets, rooms.outcomes(frozenset(), []))
    if not stage.home.database.exists():
        stage.root.mkdir(exist_ok=True)
        worked_once(stage, days_of(TASKS) + 1)
        grow_old(stage.home, TASKS + 1, CALLS)
        until_today(stage)
    with served(stage.home.root) as board, httpx2.Client(base_url=board.here, trust_env=False, timeout=60) as http:
        key = key_of(board)
        missed = [name for name in READS if not is_met(name, *times(http, f"/api/v1/{name}", key, board.process.pid))]
    return int(bool(missed))


def times(http: httpx2.Client, path: str, key: dict[str, str], process: int) -> tuple[list[float], float]:
    """Seconds of each reading, the first apart; and of the board's processor, of one of the others."""
    found, spent = [], 0.0
    for _ in range(RUNS + 1):
        began = time.perf_counter()
        http.get(path, headers=key).raise_for_status()
        found.append(time.perf_counter() - began)
        spent = spent or used(process)
    return found, (used(process) - spent) / RUNS


def used(process: int) -> float:
    """Seconds of a processor that a process has taken."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def is_met(name: str, found: list[float], processor: float) -> bool:
    first, *rest = found
    slow, usual = statistics.quantiles(rest, n=20)[-1], statistics.median(rest)
    told = {"first": first, "median": usual, "p95": slow, "processor": processor}
    print(f"{name:<10}" + "   ".join(f"{kind} {1000 * one:>8.1f} ms" for kind, one in told.items()), flush=True)
    return slow <= GOAL


if __name__ == "__main__":
    if len(sys.argv) > 1:
        raise SystemExit(main(sys.argv[1]))
    with tempfile.TemporaryDirectory() as made:
        raise SystemExit(main(f"{made}/home"))
