"""Rooms, each with a task, a file and a test of its own: four are approved by the owner before any is merged."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

from sisimpur.agents.coder.engine.engine import EngineJob
from sisimpur.cli.commands import owner_commands
from sisimpur.cli.terminal.arguments import Arguments
from tests.journey.stage import APPROVES, CODES, Stage, goals_of, plans, reads, task
from tests.mailbox import Mailbox

ROOMS = 4


def vision(rooms: int) -> str:
    return "# V\n\n## Priority: HIGH\n" + "".join(f"- Set the number of room {n}\n" for n in range(rooms))


def files(rooms: int) -> dict[str, str]:
    return {f"room{n}.py": "NUMBER = 0\n" for n in range(rooms)} | {"tests/test_all.py": "def test(): pass\n"}


def tasks(rooms: int) -> list[dict[str, Any]]:
    """The planner's, one for each goal."""
    return [
        task(goal, f"Set room {n}", files=(f"room{n}.py",), new_files=[f"tests/test_room{n}.py"])
        for n, goal in enumerate(goals_of(vision(rooms)))
    ]


VISION, FILES = vision(ROOMS), files(ROOMS)


def script(*planned: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What the model says. `planned`: all rooms, unless told otherwise."""
    return [reads(), plans(*(planned or tasks(ROOMS))), CODES, APPROVES]


def sets(folder: Path, job: EngineJob) -> None:
    name = next(path for path in job.edit if path.startswith("room"))
    (folder / name).write_text("NUMBER = 1\n")
    (folder / f"tests/test_{name}").write_text(f"def test():\n    assert {name[:-3]}.NUMBER == 1\n")


def outcomes(quarrel: frozenset[str], runs: list[str]) -> Callable[[Mapping[str, str]], dict[str, str]]:
    """What tests say of the files; `runs`: the rooms that are set, for each run. `quarrel`: those that do not agree."""

    def of(found: Mapping[str, str]) -> dict[str, str]:
        done = {path for path in found if path.startswith("room") and "1" in found[path]}
        runs.append(" ".join(sorted(done)))
        tests = [path for path in found if path.startswith("tests/test_room")]
        shown = {f"{path}::test": path.removeprefix("tests/test_") in done for path in tests}
        every = "failed" if quarrel and quarrel <= done else "passed"
        return {"tests/test_all.py::test": every, **{id_: "passed" if ok else "failed" for id_, ok in shown.items()}}

    return of


def approved(stage: Stage) -> None:
    """After a day in which all were tested and read."""
    stage.given_config("policy", capacity="{parallel: 1, tasks_per_day: 9}", merge="{auto: false}")
    assert stage.run_day() == []
    for id_ in stage.states():
        with redirect_stdout(StringIO()):
            assert owner_commands.approve(Arguments("approve", stage.home.root, id=id_)) == 0


def main(root: str, model_url: str) -> int:
    """The day of the merges, in a process of its own: python -m tests.journey.rooms ROOT MODEL_URL."""
    stage = Stage(Path(root), model_url, sets, outcomes(frozenset(), []))
    stage.services.append(Mailbox(Path(root) / "box"))
    problems = stage.run_day()
    sys.stderr.write("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
