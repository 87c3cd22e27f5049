"""What tasks in review cost each other: git processes and CPU of each. `python -m bench.looks [--callers]`.

Two days, each with few tasks and with many, in a process of its own; the model is another process. On the first day
each task is merged before the next one begins. On the second all wait for the owner, who approves them together: each
merge makes all others stale.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from bench.pipeline import used
from bench.trace import ROOT, counting
from sisimpur.cli.commands.owner_commands import approve
from sisimpur.cli.terminal.arguments import Arguments
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.journey import rooms
from tests.journey.stage import Stage

FEW, MANY = 4, 16
MOST_SHOWN = 40  # callers
GOAL = 25  # git processes per task


@dataclass(frozen=True)
class GitCalls:
    """Git processes of a day by git's verb and who asked, and CPU seconds of the day and of all that it started."""

    calls: Mapping[str, int]
    cpu: float

    @property
    def git(self) -> int:
        return sum(self.calls.values())


def day_of(count: int, together: bool) -> GitCalls:
    """A day with so many tasks, each merged in its turn; `together`: when the owner has approved them all."""
    with tempfile.TemporaryDirectory() as folder, ScriptedModel(rooms.script(*rooms.tasks(count))) as model:
        stage = _stage(folder, model.url).set_up(rooms.vision(count), rooms.files(count))
        stage.given_config("policy", capacity=f"{{parallel: 1, tasks_per_day: {count}, open_pulls: {count}}}")
        if together:
            stage.given_config("targets/site", protected="[room*.py]")
        argv = (sys.executable, "-m", "bench.looks", folder, model.url, *(["together"] if together else []))
        done = subprocess.run(argv, check=True, cwd=ROOT, stdout=subprocess.PIPE)
        assert [pull.state for pull in stage.pulls()] == ["merged"] * count
    return GitCalls(**json.loads(done.stdout.splitlines()[-1]))


def _stage(folder: str, url: str) -> Stage:
    return Stage(Path(folder), url, rooms.sets, rooms.outcomes(frozenset(), []))


def _run(folder: str, url: str, *together: str) -> None:
    stage, before = _stage(folder, url), used()
    with counting() as trace:
        assert stage.run_day() == []
        for one in sorted(stage.states()) if together else ():
            with redirect_stdout(StringIO()):
                assert approve(Arguments("approve", stage.home.root, id=one)) == 0
        assert stage.run_day() == []
    calls = {f"{verb:13} {who}": number for (verb, who), number in trace.calls.items()}
    print(json.dumps({"calls": calls, "cpu": used() - before}))


def main() -> int:
    missed = 0
    for together in (False, True):
        print("approved and merged together" if together else "merged one after the other")
        few, many = (day_of(count, together) for count in (FEW, MANY))
        for count, day in ((FEW, few), (MANY, many)):
            print(f"{count:3} tasks: each {day.git / count:.1f} git processes, {day.cpu / count:.2f} s CPU")
        more = (many.git - few.git) / (MANY - FEW)
        print(f"one more task: {more:.1f} git processes   goal {GOAL}: {'met' if more <= GOAL else 'MISSED'}")
        missed |= more > GOAL
        if "--callers" in sys.argv:
            for line, number in Counter(many.calls).most_common(MOST_SHOWN):
                print(f"{number:6} {line}")
    return int(missed)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        _run(*sys.argv[1:])
    else:
        raise SystemExit(main())
