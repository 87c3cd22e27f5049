"""How fast the board answers with 10,000 tasks and a million calls in the books. `python -m bench.board_reads`.

Each address is asked over HTTP, as a page asks: of a home whose tasks are done, and of one where all are to be done.
The time on the wall of a busy machine says little, so the board's own processor time of each is judged, too.
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
from tests.web.crowd import crowded

TASKS, CALLS = 10_000, 1_000_000
READS = (
    *("status", "waiting", "session", "tasks", "tasks?state=backlog&limit=25", "tasks?state=completed&limit=5"),
    *("audit", "money", "agents", "plan", "plan/review", "goals", "roadmap", "pulls", "metrics", "memory", "research"),
    *("settings", "system", "vision", "sessions"),
)
RUNS = 40
GOAL, OF_PROCESSOR = 0.050, 0.025  # seconds, of 95 in 100 readings: on the wall if the machine is quiet
QUIET = 1.0  # load


def main(folder: str) -> int:
    """Prints a table; 1 if a goal is missed. `folder`: of a home that was made before, or of a new one."""
    stage = Stage(Path(folder), "", rooms.sets, rooms.outcomes(frozenset(), []))
    if not stage.home.database.exists():
        stage.root.mkdir(exist_ok=True)
        worked_once(stage, days_of(TASKS) + 1)
        grow_old(stage.home, TASKS + 1, CALLS)
        until_today(stage)
    crowd = Path(folder, "crowd")
    if not crowd.exists():
        crowd.mkdir()
        crowded(crowd)
    homes = {"10,000 tasks done": stage.home.root, "10,000 tasks to do": crowd / "home"}
    met = [asked(title, home) for title, home in homes.items()]
    return int(not all(met))


def asked(title: str, home: Path) -> bool:
    """Print a line for each reading; tell whether all of them were soon enough."""
    print(f"{title}, load {os.getloadavg()[0]:.1f}", flush=True)
    with served(home) as board, httpx2.Client(base_url=board.here, trust_env=False, timeout=60) as http:
        key = key_of(board)
        met = [is_met(name, *times(http, f"/api/v1/{name}", key, board.process.pid)) for name in READS]
    return all(met)


def times(http: httpx2.Client, path: str, key: dict[str, str], process: int) -> tuple[list[float], list[float]]:
    """Seconds of each reading on the wall, and of the board's processor; the first is apart."""
    found, spent = [], []
    for _ in range(RUNS + 1):
        began, before = time.perf_counter(), used(process)
        http.get(path, headers=key).raise_for_status()
        found.append(time.perf_counter() - began)
        spent.append(used(process) - before)
    return found, spent


def used(process: int) -> float:
    """Seconds of a processor that a process has taken, to the nanosecond: as clock_getcpuclockid(3) asks the kernel."""
    return time.clock_gettime((~process << 3) | 2)


def is_met(name: str, found: list[float], spent: list[float]) -> bool:
    told = {"first": found[0], "p95": _slow(found), "processor: first": spent[0], "p95 ": _slow(spent)}
    print(f"{name:<30}" + "   ".join(f"{kind} {1000 * one:>7.1f} ms" for kind, one in told.items()), flush=True)
    return _slow(spent) <= OF_PROCESSOR and (_slow(found) <= GOAL or os.getloadavg()[0] > QUIET)


def _slow(found: list[float]) -> float:
    return statistics.quantiles(found[1:], n=20)[-1]


if __name__ == "__main__":
    if len(sys.argv) > 1:
        raise SystemExit(main(sys.argv[1]))
    with tempfile.TemporaryDirectory() as made:
        raise SystemExit(main(f"{made}/home"))
