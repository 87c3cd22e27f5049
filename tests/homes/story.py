"""The two days that every kept home has lived; `make.py` kills the second in its middle, and a test finishes it.

A day in a process of its own: python -m tests.homes.story ROOT MODEL_URL DAYS_SINCE_THE_FIRST.
What the owner and the model say must stay as it is: homes of earlier versions go on with it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sisimpur.agents.coder.engine.engine import EngineJob
from sisimpur.shared.sandbox.linter import Lint
from tests.journey.gated import BAD, GOOD, NEW_TEST, RIGHT, WRONG
from tests.journey.looked_up import QUESTION, answers, looks, with_web
from tests.journey.stage import CODES, Stage, goals_of, plans, reads, task
from tests.mailbox import Mailbox

DAY = 86_400.0  # seconds
GOALS = """\
# Vision

## Priority: CRITICAL
- Fix the sum in app.py

## Priority: HIGH
- Count the visitors of the house
- Make the lamp green
- Hang a sign up
- Number all rooms of the house

## Priority: MEDIUM
- Make the house nicer

## Notes
- Don't touch secrets/
"""
VISION = f"{GOALS}\n## Ideas (Research First)\n- {QUESTION}\n"
SUM, VISITORS, LAMP, SIGN, ROOMS, NICER = goals_of(VISION)
# The ids of the tasks, by what they are about; -l: brings a goal's branch home, -u: proposed by the team itself.
TASKS = {
    "sum": "20261120-01",  # completed, after it was sent back once
    "visitors": "20261120-02",  # waits for the owner: its change touches settings.py
    "lamp": "20261120-03",  # failed
    "room0": "20261120-04",  # completed, on its goal's branch
    "room1": "20261120-05",
    "sign": "20261121-01",  # in progress: the kill hits it while its pull request is being made
    "room2": "20261121-02",  # in the backlog
    "tidy": "20261121-u1",  # in the backlog, proposed by the team
    "greeting": "greeting",  # in the backlog, dropped by the owner; waits for visitors
}
FILES = {
    "app.py": WRONG,
    "settings.py": "X = 1\n",
    "counter.py": "VISITS = 0\n",
    "lamp.py": 'COLOUR = "red"\n',
    "sign.py": 'TEXT = ""\n',
    "house.py": "import os\n\nROOMS = 3\n",
    "secrets/key.txt": "not for the team\n",
    **{f"room{number}.py": "NUMBER = 0\n" for number in range(3)},
    "tests/test_app.py": "from app import total\n\n\ndef test_nothing():\n    assert total(0, 0) == 0\n",
}
DONE = {  # the line that a finished task leaves in its file
    **{f"room{number}": "NUMBER = 1\n" for number in range(3)},
    "counter": "VISITS = 1\n",
    "lamp": 'COLOUR = "green"\n',
    "sign": 'TEXT = "three rooms"\n',
    "house": "ROOMS = 3\n",
}
GREETING = """\
---
title: Greet in the readme
new_files: [README.md]
depends_on: [20261120-02]
---

Say hello in the first line of the readme.

## Acceptance criteria

- the first line says hello
"""
POLICY = {
    "capacity": "{tasks_per_day: 5, depth: 3, parallel: 1, open_pulls: 5}",
    "upkeep": "{tasks: 1, share: 0.9, open: 2}",
}
AHEAD = "{model: claude-sonnet-5-5, fallback: [claude-opus-5-5], effort: medium, max_tokens: 16000, ahead: true}"


# --- what the model says -------------------------------------------------------------------------------------


def _made(goal: str, name: str, title: str, **more: Any) -> dict[str, Any]:
    return task(goal, title, (f"{name}.py",), new_files=[f"tests/test_{name}.py"], **more)


def _numbered(number: int) -> dict[str, Any]:
    return _made(ROOMS, f"room{number}", f"Set the number of room {number}", difficulty="medium")


def first_plan() -> dict[str, Any]:
    """Plan more than the day has room for: room2 stays for the next one. The sign is left out, even if asked again."""
    visitors = _made(VISITORS, "counter", "Count the visitors")
    visitors["files"].append("settings.py")
    own = (
        task(SUM, files=("app.py", "tests/test_app.py"), reason="It subtracts.", context=["settings.py"]),
        visitors,
        _made(LAMP, "lamp", "Make the lamp green"),
    )
    return {**_answer(*own, *map(_numbered, range(3))), "times": 2}


def _answer(*tasks: Mapping[str, Any]) -> dict[str, Any]:
    """One verdict per goal."""
    answer = plans(*tasks, times=1)
    goals = {goal["goal_id"]: goal for goal in answer["json"]["goals"]}
    return {**answer, "json": {**answer["json"], "goals": list(goals.values())}}


APPROVES = {
    "agent": "reviewer",
    "times": "any",
    "json": {
        "decision": "approve",
        "reason": "It does what was asked.",
        "unresolved": [],
        "findings": [
            {"path": "app.py", "line": 2, "severity": "low", "rule": "naming", "text": "a and b say little"},
        ],
        "keywords": ["sum", "subtraction"],
    },
}
NICER_THAN_WHAT = {"goal_id": NICER, "text": "Nicer for whom?"}


def script() -> list[dict[str, Any]]:
    """Answer both days and the rest of them."""
    guard = {"line": VISION.splitlines().index("- Don't touch secrets/") + 1, "patterns": ["secrets/**"]}
    sign = _answer(_made(SIGN, "sign", "Hang a sign up"))
    planner = first_plan(), sign, _answer(_numbered(2))
    return [reads([guard], [NICER_THAN_WHAT]), *planner, looks(1), answers(), CODES, APPROVES]


# --- what the engine does, and what the tests say ------------------------------------------------------------


def codes(folder: Path, job: EngineJob) -> None:
    """Write the right change; the sum only at the second try, the lamp never."""
    name = next((Path(path).stem for path in job.edit if not path.startswith("tests/")), "")
    if name == "app":
        good = "# tried" in (folder / "app.py").read_text()
        _write(folder, GOOD if good else BAD)
    elif name == "lamp":
        _write(folder, {"lamp.py": 'COLOUR = "red"  # tried\n', "tests/test_lamp.py": _test("lamp")})
    elif name == "house":
        _write(folder, {"house.py": DONE["house"]})
    elif name:
        _write(folder, {f"{name}.py": DONE[name], f"tests/test_{name}.py": _test(name)})
        if "settings.py" in job.edit:
            _write(folder, {"settings.py": "X = 2\n"})
    else:
        _write(folder, dict.fromkeys(job.create, "# Hello\n"))


def _test(name: str) -> str:
    left, right = DONE[name].strip().split(" = ")
    return f"import {name}\n\n\ndef test_it():\n    assert {name}.{left} == {right}\n"


def _write(folder: Path, files: Mapping[str, str]) -> None:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


def suite(files: Mapping[str, str]) -> dict[str, str]:
    found = {"tests/test_app.py::test_nothing": True}
    if NEW_TEST in files["tests/test_app.py"]:
        found["tests/test_app.py::test_sum"] = files["app.py"].startswith(RIGHT)
    for path in files:
        if made := re.fullmatch(r"tests/test_(\w+)\.py", path):
            name = made[1]
            if name in DONE:
                found[f"{path}::test_it"] = files[f"{name}.py"] == DONE[name]
    return {test: "passed" if ok else "failed" for test, ok in found.items()}


def lints(files: Mapping[str, str]) -> list[Lint]:
    return [Lint("house.py", 1, "F401", "`os` imported but unused")] if "import os" in files.get("house.py", "") else []


# --- the stage -----------------------------------------------------------------------------------------------


def staged(root: Path, model_url: str, days: float = 0) -> Stage:
    """Open the stage so many days after the first; the home and the owner's repository exist, or `begun` makes them."""
    stage = Stage(root, model_url, codes, suite, lints=lints)
    stage.services.append(Mailbox(root / "box"))
    stage.clock.sleep(days * DAY)
    return stage


def begun(root: Path, model_url: str) -> Stage:
    """A home before its first day."""
    stage = staged(root, model_url)
    stage.set_up(VISION, FILES)
    stage.given_config("policy", **POLICY)
    stage.given_config("agents", planner=AHEAD)
    with_web(stage)
    target = stage.home.targets / "site.yaml"
    target.write_text(f"{target.read_text().partition('deploy:')[0]}{deploys(root)}")
    return stage


def deploys(root: Path) -> str:
    """Configure deploys: production is a file that holds the commit, `starts` lists each start."""
    live, starts = root / "production", root / "starts"
    start = f'[sh, -c, "echo {{commit}} > {live}; echo {{commit}} >> {starts}"]'
    place = f"  production:\n    start: {start}\n    running: [cat, {live}]\n"
    health = "health: {pages: [], watch_minutes: 0, grace: 0, every: 0.1}\n"
    return f"deploy:\n  driver: command\n  unsandboxed: yes\n{place}{health}"


def main(root: str, model_url: str, days: str) -> int:
    """1 if a phase had a problem."""
    problems = staged(Path(root), model_url, float(days)).run_day()
    sys.stderr.write("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
