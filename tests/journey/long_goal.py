"""A goal that one day is too short for, and a small one beside it: rooms whose numbers are to be set."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import redirect_stdout
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

from sisimpur.agents.coder.engine.engine import EngineJob
from sisimpur.cli.app import main
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.journey.stage import APPROVES, CODES, Stage, goals_of, reads, task

VISION = "# Vision\n\n## Priority: HIGH\n- Number all rooms of the house\n- Light the lamp\n"
ROOMS, LAMP = goals_of(VISION)
BRANCH = f"agent/goal-{ROOMS}"
LANDING = "20261121-l1"
ALL_OF_IT = "Number all rooms of the house"
FILES = {f"room{n}.py": "NUMBER = 0\n" for n in range(3)} | {
    "lamp.py": "NUMBER = 0\n",
    "tests/test_all.py": "def test():\n    pass\n",
}


def suite(files: Mapping[str, str]) -> dict[str, str]:
    """Each file has a test of its own: its number is set, or it is not."""
    found = (path for path in files if path.startswith("tests/test_") and path != "tests/test_all.py")
    right = {path: "NUMBER = 1\n" in files[path.removeprefix("tests/test_")] for path in found}
    return {"tests/test_all.py::test": "passed"} | {
        f"{p}::test": "passed" if ok else "failed" for p, ok in right.items()
    }


def codes(folder: Path, job: EngineJob) -> None:
    path = next(path for path in job.edit if not path.startswith("tests/"))
    text = (folder / path).read_text()
    (folder / path).write_text(text.replace("NUMBER = 0\n", "NUMBER = 1\n"))
    (folder / f"tests/test_{path}").write_text(f"def test():\n    assert {path[:-3]}.NUMBER == 1\n")


def numbered(goal: str, name: str, **more: Any) -> dict[str, Any]:
    title, test = f"Set the number of {name}", f"tests/test_{name}.py"
    return task(goal, title, (f"{name}.py",), new_files=[test], acceptance=[f"{name} has its number"], **more)


def planned(*names: str) -> dict[str, Any]:
    """The planner's answer, once: a task for each."""
    tasks = [numbered(LAMP if name == "lamp" else ROOMS, name) for name in names]
    goals = dict.fromkeys(task["goal_id"] for task in tasks)
    verdicts = [{"goal_id": goal, "verdict": "tasks", "text": "it is 0", "evidence": []} for goal in goals]
    return {"agent": "planner", "json": {"goals": verdicts, "tasks": tasks}}


def script(*more: dict[str, Any]) -> list[dict[str, Any]]:
    """Day one: four tasks for a day of two. Day two: the last room, by a call of its own, and the lamp."""
    days = planned("room0", "room1", "room2", "lamp"), planned("room2"), planned("lamp")
    return [reads(), *more, *days, CODES, APPROVES]


def house(root: Path, model: ScriptedModel, kind: type[Stage] = Stage, **merge: str) -> Stage:
    made = kind(root, model.url, codes, suite).set_up(VISION, FILES)
    made.given_config("policy", capacity="{parallel: 1, tasks_per_day: 2}", **merge)
    return made


# --- days, and what there is to see --------------------------------------------------------------------------


def next_day(stage: Stage, until: str = "") -> list[str]:
    stage.clock.sleep(timedelta(days=1).total_seconds())
    return stage.run_day(until)


def subjects(stage: Stage, branch: str) -> list[str]:
    """Of its commits, the newest first, as their tasks were called."""
    lines = stage.forge("log", "--first-parent", "--format=%s", branch).splitlines()
    named = (re.fullmatch(r"[a-z]+: (.)(.*) \(#\d+\)", line) for line in lines)
    return [found[1].upper() + found[2] if found else line for found, line in zip(named, lines, strict=True)]


def numbers(stage: Stage, branch: str = "main") -> str:
    """Of the rooms."""
    return "".join(stage.forge("show", f"{branch}:room{n}.py").splitlines()[0][-1] for n in range(3))


def typed(stage: Stage, *words: str) -> str:
    with redirect_stdout(StringIO()) as out:
        assert main([words[0], "--home", str(stage.home.root), *words[1:]]) == 0
    return out.getvalue()


def ticked(stage: Stage) -> list[str]:
    return [line for line in stage.home.roadmap.read_text().splitlines() if line.startswith("- [x] ")]


# --- what the owner does -------------------------------------------------------------------------------------


def bullet(stage: Stage) -> str:
    """Of the rooms, in ROADMAP.md."""
    return next(line for line in stage.home.roadmap.read_text().splitlines() if f"`{ROOMS}`" in line)


def tick(stage: Stage) -> None:
    """He says that it is done."""
    line, text = bullet(stage), stage.home.roadmap.read_text()
    stage.home.roadmap.write_text(text.replace(line, line.replace("[ ]", "[x]")))


def approved(stage: Stage, *tasks: str) -> Stage:
    for one in tasks:
        typed(stage, "approve", one)
        stage.run_day()
    return stage


def landing_in_review(root: Path, model: ScriptedModel, kind: type[Stage] = Stage) -> Stage:
    """All rooms are on the branch, and he has not approved the landing yet."""
    stage = house(root, model, kind)
    stage.run_day()
    stage.given_config("policy", merge="{auto: false}")
    next_day(stage)
    approved(stage, "20261121-01")
    assert stage.states()[LANDING] == "in_review"
    return stage
