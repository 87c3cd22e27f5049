"""How long the record takes to look at in a home of years: `python -m bench.record` (twenty minutes, 2 GB of TMPDIR).

CPU is that of the whole command, the least of three; the time on the wall says how busy the machine was.
"""

from __future__ import annotations

import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from bench.old_home import days_of, grow_old, worked_once
from bench.rows import TIMES, typed
from tests.journey import rooms
from tests.journey.stage import Stage

TASKS, CALLS = 50_000, 1_000_000


def measured(home: Path) -> Iterator[str]:
    with closing(sqlite3.connect(home / ".state" / "agents.db")) as db:
        counts = [f"{db.execute(f'select count(*) from {name}').fetchone()[0]:,} {name}" for name in ("calls", "audit")]
        goal, last = db.execute("select goal_id, substr(created_at, 1, 10) from tasks order by rowid desc").fetchone()
    yield ", ".join(counts)
    for words in (["trace", goal], ["audit", "--since", last], ["metrics"], ["audit", "verify"], ["status"]):
        begun = time.monotonic()
        spent = min(typed("--home", str(home), *words) for _ in range(TIMES))
        yield f"{' '.join(words)}: {spent:.2f} s CPU, {(time.monotonic() - begun) / TIMES:.2f} s on the wall"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        stage = worked_once(Stage(Path(folder), "", rooms.sets, rooms.outcomes(frozenset(), [])), days_of(TASKS))
        grow_old(stage.home, TASKS, CALLS)
        print(*measured(stage.home.root), sep="\n")


if __name__ == "__main__":
    main()
