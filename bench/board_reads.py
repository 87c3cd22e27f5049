"""How fast the board answers with 10,000 tasks and a million calls in the books. `python -m bench.board_reads`.

Each address is asked over HTTP, as a page asks.
"""

from __future__ import annotations

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
        worked_once(stage, days_of(TASKS) + 1)
        grow_old(stage.home, TASKS + 1, CALLS)
        until_today(stage)
    with served(stage.home.root) as board, httpx2.Client(base_url=board.here, trust_env=False, timeout=60) as http:
        key = key_of(board)
        missed = [name for name in READS if not is_met(name, times(http, f"/api/v1/{name}", key))]
    return int(bool(missed))


def times(http: httpx2.Client, path: str, key: dict[str, str]) -> list[float]:
    """Seconds of each reading, the first apart."""
    found = []
    for _ in range(RUNS + 1):
        began = time.perf_counter()
        http.get(path, headers=key).raise_for_status()
        found.append(time.perf_counter() - began)
    return found


def is_met(name: str, found: list[float]) -> bool:
    first, *rest = found
    slow, usual = statistics.quantiles(rest, n=20)[-1], statistics.median(rest)
    print(
        f"{name:<10}first {1000 * first:>8.1f} ms   median {1000 * usual:>8.1f}   p95 {1000 * slow:>8.1f}", flush=True
    )
    return slow <= GOAL


if __name__ == "__main__":
    if len(sys.argv) > 1:
        raise SystemExit(main(sys.argv[1]))
    with tempfile.TemporaryDirectory() as made:
        raise SystemExit(main(f"{made}/home"))
