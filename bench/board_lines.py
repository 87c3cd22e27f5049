"""What pages that only listen cost: the board, and the daemon beside it. `python -m bench.board_lines` (four minutes).

The daemon is a real one at rest, which looks at its home each tick; its processor time is counted with no page and with
a hundred, in turn. The board's limit of lines is raised for that. Nothing happens meanwhile.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC
from pathlib import Path

from bench.daemon import daemon, load, memory, scene, until
from sisimpur.shared.system.clock import SystemClock
from sisimpur.simulators.model.scripted_model import ScriptedModel
from sisimpur.web.api.base.board_home import BoardHome
from sisimpur.web.api.base.place import BoardPlace
from sisimpur.web.api.base.sign_in import BoardKeys
from sisimpur.web.api.board_app import make_app
from sisimpur.web.api.reading.board_news import NewsDesk
from sisimpur.web.api.server import server_of
from sisimpur.web.api.yielding_connection import YieldingConnection
from tests.journey.board_process import free_port, socket_to
from tests.journey.stage import Stage, reads

LINES, COUNTED, TURNS = 100, 25.0, 3  # seconds of each count
GOAL_NONE, GOAL_ONE, GOAL_RSS, GOAL_TICK = 0.3, 1.0, 120.0, 1.1  # percent of a processor, twice; MiB; times


class _ManyConnections(YieldingConnection):
    most = 2 * LINES


def main() -> int:
    """Prints a table; 1 if a goal is missed."""
    print(f"load before: {load()}")
    with tempfile.TemporaryDirectory() as folder, ScriptedModel([reads()]) as model:
        stage = scene(Path(folder), model, "# Vision\n")
        with daemon(stage) as worker, serving(stage) as (here, board):
            time.sleep(10)  # until both are at rest
            alone = [counted(stage, here, 0, (board, worker)) for _ in range(TURNS)]
            one = counted(stage, here, 1, (board, worker))
            many = [counted(stage, here, LINES, (board, worker)) for _ in range(TURNS)]
            rss = memory(board)
    print(f"load after:  {load()}")
    tick = sum(two for _, two in many) / sum(two for _, two in alone)
    rows = [
        ("the board, no page", min(one for one, _ in alone), "%", GOAL_NONE),
        ("the board, one page", one[0], "%", GOAL_ONE),
        (f"the daemon, {LINES} pages : none", tick, "", GOAL_TICK),
        (f"the board's memory, {LINES} pages", rss, "MiB", GOAL_RSS),
    ]
    for name, value, unit, goal in rows:
        print(f"{name:<32}{value:>8.2f} {unit:<4} goal {goal:g} {unit}: {'met' if value <= goal else 'MISSED'}")
    print(f"(the board with {LINES} pages: {min(one for one, _ in many):.1f} %)")
    return int(any(value > goal for _, value, _, goal in rows))


def counted(stage: Stage, here: str, lines: int, processes: tuple[int, int]) -> tuple[float, float]:
    """Percent of a processor that each of both takes while so many pages listen."""
    with stage.records(SystemClock(UTC)) as records:
        keys, now = BoardKeys(records.db), records.clock.now()
        key = keys.sign_in(keys.link(now), now)
    with ExitStack() as open_ones:
        for _ in range(lines):
            line = open_ones.enter_context(socket_to(here))
            line.send(json.dumps({"key": key}))
            line.recv(30)
        time.sleep(2)
        before, began = [used(one) for one in processes], time.perf_counter()
        time.sleep(COUNTED)
        took = time.perf_counter() - began
        first, second = (100 * (used(one) - was) / took for one, was in zip(processes, before, strict=True))
    return first, second


def used(pid: int) -> float:
    """Seconds of processor time, to the nanosecond."""
    return sum(int(one.read_text().split()[0]) for one in Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1e9


@contextmanager
def serving(stage: Stage) -> Iterator[tuple[str, int]]:
    """A board in a process of its own, by this module; its address and its number."""
    port = free_port()
    words = (sys.executable, "-m", "bench.board_lines", str(stage.home.root), str(port))
    with subprocess.Popen(words) as process:
        try:
            until(lambda: _answers(port))
            yield f"http://127.0.0.1:{port}", process.pid
        finally:
            process.kill()


def _answers(port: int) -> bool:
    try:
        with socket_to(f"http://127.0.0.1:{port}"):
            return True
    except OSError:
        return False


def serve(root: str, port: str) -> None:
    """Be that board."""
    home = BoardHome(Path(root))
    desk = NewsDesk(home, most=LINES, most_of_one=LINES)
    server = server_of(make_app(home, BoardPlace(int(port)), desk=desk))
    server.config.port, server.config.http = int(port), _ManyConnections
    server.run()


if __name__ == "__main__":
    if sys.argv[1:]:
        serve(*sys.argv[1:])
    else:
        raise SystemExit(main())
