"""What the history of a home costs: CPU of one task's day at 2,000 old tasks and at none. `python -m bench.old_tasks`.

The day runs in a process that has worked before, so that loading the program does not count. Its CPU is counted with
that of all it starts; the model is another process.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.old_home import ROOMS, days_of, grow_old, until_today, worked_once
from bench.pipeline import used
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.journey import rooms
from tests.journey.stage import Stage

OLD = 2_000
RUNS = 3


def main() -> int:
    none, many = cpu(0), cpu(OLD)
    print(f"a day with one task: {none:.2f} s CPU without old tasks, {many:.2f} s with {OLD}: {many / none:.1f} times")
    return 0


def cpu(old: int) -> float:
    """Seconds of the day's process and of all that it started, the median of three days."""
    return statistics.median(_cpu(old) for _ in range(RUNS))


def _cpu(old: int) -> float:
    with tempfile.TemporaryDirectory() as folder, ScriptedModel(rooms.script(rooms.tasks(ROOMS)[-1])) as model:
        argv = (sys.executable, "-m", "bench.old_tasks", folder, model.url, str(old))
        done = subprocess.run(argv, check=True, stdout=subprocess.PIPE)
    return float(json.loads(done.stdout.splitlines()[-1]))


def day(folder: str, model_url: str, old: int) -> None:
    """The first day loads the program, so that the one that is measured does not."""
    stage = Stage(Path(folder), "", rooms.sets, rooms.outcomes(frozenset(), []))
    worked_once(stage, days_of(old) + 1)
    grow_old(stage.home, old + 1)
    until_today(stage)
    stage.model_url = model_url
    stage.given_key()
    stage.given_vision(rooms.vision(ROOMS))
    before = used()
    assert stage.run_day() == []
    print(json.dumps(used() - before))
    assert list(stage.states().values()) == ["completed"] * (old + 2)


if __name__ == "__main__":
    if sys.argv[1:]:
        day(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    else:
        raise SystemExit(main())
