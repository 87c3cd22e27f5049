"""What the pipeline adds to a task besides engine, model and tests: CPU seconds. `python -m bench.pipeline`.

A day with one task and a day with sixteen, in a process of its own each, with an engine that does nothing but ask and
write; the model is another process. The difference, by fifteen, is what one more task costs: claim, check-out, ticket,
meter, commit, push, pull request, with all git and SQLite that belongs to it.
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.journey.stage import APPROVES, CODES, Stage, goals_of, plans, reads, task

RUNS = 3
FEW, MANY = 1, 16  # the difference of fewer is lost in what else goes on
GOAL = 1.0  # CPU seconds per task


def main() -> int:
    few, many = (statistics.median(cpu_of_a_day(count) for _ in range(RUNS)) for count in (FEW, MANY))
    each = (many - few) / (MANY - FEW)
    print(f"a day with {FEW} task: {few:.2f} s CPU; with {MANY}: {many:.2f} s")
    print(f"one more task: {each:.2f} s CPU   goal {GOAL} s: {'met' if each <= GOAL else 'MISSED'}")
    return int(each > GOAL)


def cpu_of_a_day(count: int) -> float:
    """User and system seconds of the day's process and of all that it started."""
    vision = "# V\n\n## Priority: HIGH\n" + "".join(f"- Fix part {n} of app{n}.py\n" for n in range(count))
    tasks = [task(goal, f"Fix part {n}", [f"app{n}.py"]) for n, goal in enumerate(goals_of(vision))]
    files = {f"app{n}.py": "x = 1\n" for n in range(count)}
    with tempfile.TemporaryDirectory() as folder, ScriptedModel([reads(), plans(*tasks), CODES, APPROVES]) as model:
        stage = Stage(Path(folder), model.url).set_up(vision, files)
        stage.given_config("policy", capacity=f"{{parallel: 1, tasks_per_day: {count}, open_pulls: {count}}}")
        argv = [sys.executable, "-m", "bench.pipeline", "day", folder, model.url]
        done = subprocess.run(argv, check=True, capture_output=True, text=True)
        assert len(stage.pulls()) == count
    return float(json.loads(done.stdout.splitlines()[-1]))


def day(folder: str, model_url: str) -> None:
    stage = Stage(Path(folder), model_url)
    before = used()
    assert stage.run_day() == []
    print(json.dumps(used() - before))


def used() -> float:
    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(usage.ru_utime + usage.ru_stime for usage in map(resource.getrusage, who))


if __name__ == "__main__":
    if sys.argv[1:2] == ["day"]:
        day(*sys.argv[2:])
    else:
        raise SystemExit(main())
