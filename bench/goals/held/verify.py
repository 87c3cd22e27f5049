"""The laws of the held goals: run with `python -m bench.goals.held.verify [-v] [REPOSITORIES] [PYTHON] [ID]`.

A check that imports Django needs a PYTHON that has it; the others need the standard library and pytest.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent
KINDS = {
    "false": {"false premise", "question"},
    "half": {"shipped", "question"},
    "measurable": {"measured"},
    "ordinary": {"shipped"},
}
MEASURES = {"coverage", "findings", "test", "property", "timing"}
FIELDS = [
    "id",
    "repository",
    "kind",
    "priority",
    "words",
    "premise",
    "needs",
    "plan",
    "edits",
    "distractor",
    "outcome",
    "measure",
    "check",
]
Goal = dict[str, Any]
Edits = list[dict[str, Any]]


class Broken(Exception):
    """A law that a goal breaks, in one line."""


def applied(tree: Path, edits: Edits) -> None:
    """Change the files of a tree as the edits say, task after task."""
    for task in edits:
        for path, change in task.items():
            target = tree / path
            if isinstance(change, dict):
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(change["whole"])
                continue
            for step in change:
                text = target.read_text()
                if text.count(step["find"]) != 1:
                    raise Broken(f"{path} holds {text.count(step['find'])} times: {step['find'][:60]!r}")
                target.write_text(text.replace(step["find"], step["put"]))


def ran(argv: list[str], tree: Path) -> tuple[int, str]:
    """Run a program in a tree with few variables of its own; give back its code and what it said."""
    keep = {"PATH": os.environ["PATH"], "HOME": str(tree), "TMPDIR": str(tree.parent)}
    done = subprocess.run(
        argv, cwd=tree, env={**keep, "PYTHONDONTWRITEBYTECODE": "1"}, capture_output=True, text=True, timeout=300
    )
    return done.returncode, (done.stdout + done.stderr).strip()


def with_copy(source: Path, edits: Edits, argv: list[str]) -> tuple[int, str]:
    """Run a program in a copy of the repository with these edits; the word TREE stands for its place."""
    with tempfile.TemporaryDirectory() as place:
        tree = Path(place) / source.name
        shutil.copytree(source, tree, ignore=shutil.ignore_patterns("__pycache__", ".pytest_cache"))
        applied(tree, edits)
        return ran([str(tree) if word == "TREE" else word for word in argv], tree)


def fields_hold(goal: Goal) -> None:
    """Check that the fields are there and agree with the kind."""
    missing = [name for name in FIELDS if name not in goal]
    if missing:
        raise Broken(f"no field {', '.join(missing)}")
    kind = goal["kind"]
    if goal["outcome"] not in KINDS[kind]:
        raise Broken(f"{kind} cannot end as {goal['outcome']}")
    if bool(goal["premise"]) != (kind in ("false", "half")):
        raise Broken("a premise belongs to false and half goals, and to no other")
    if (kind == "measurable") != (goal["measure"] is not None):
        raise Broken("a measure belongs to measurable goals, and to no other")
    if goal["measure"] and (goal["measure"]["kind"] not in MEASURES or len(goal["measure"]) != 3):
        raise Broken("a measure has a known kind, what it is of, and one bound")
    if goal["priority"] not in ("critical", "high", "medium", "low") or not goal["words"].strip():
        raise Broken("a priority of VISION.md and words are needed")


def needs_hold(goal: Goal, source: Path) -> None:
    """Check that each needed line stands in the repository, once in its file."""
    for need in goal["needs"]:
        lines = (source / need["path"]).read_text().splitlines()
        found = sum(need["contains"] in line for line in lines)
        if found != 1:
            raise Broken(f"{need['path']} has {found} lines with {need['contains']!r}")
    if not goal["needs"]:
        raise Broken("a goal needs at least one line")


def plan_holds(goal: Goal, source: Path) -> None:
    """Check that the tasks and the edits name the same files, and nothing that is not there yet."""
    plan, edits = goal["plan"], goal["edits"]
    if len(plan) != len(edits) or len(plan) > 3 or (not plan) != (goal["outcome"] in ("false premise", "question")):
        raise Broken("one to three tasks with an edit each, or none where nothing is to be changed")
    made: dict[str, str] = {}
    titles: list[str] = []
    for number, (task, edit) in enumerate(zip(plan, edits, strict=True)):
        if sorted(edit) != sorted([*task["files"], *task["new_files"]]):
            raise Broken(f"task {number + 1} names other files than its edit")
        for path in task["files"]:
            earlier = path in made and made[path] in task["depends_on"]
            if not ((source / path).is_file() or earlier):
                raise Broken(f"{path} is not there, and nothing that task {number + 1} depends on creates it")
        for path in task["new_files"]:
            if (source / path).exists():
                raise Broken(f"{path} is there already")
            made[path] = task["title"]
        if set(task["depends_on"]) - set(titles):
            raise Broken(f"task {number + 1} depends on a task that does not come before it")
        titles.append(task["title"])


def checks_hold(goal: Goal, source: Path, python: str) -> None:
    """Run the check on the untouched tree, on the right change and on the wrong one, and the tests on the right one."""
    argv = [python, str(HERE / goal["check"]), "TREE"]
    untouched = 0 if goal["outcome"] in ("false premise", "question") else 1
    for name, edits, wanted in (
        ("untouched", [], untouched),
        ("right", goal["edits"], 0),
        ("distractor", goal["distractor"]["edits"], 1),
    ):
        code, said = with_copy(source, edits, argv)
        if code != wanted or (wanted == 1 and len(said.splitlines()) != 1):
            raise Broken(f"{name}: {code} and not {wanted} with one line: {said[-300:]}")
        if "-v" in sys.argv:
            print(f"  {name}: {code} {said}")
    for file in [*source.rglob("pytest.ini"), *source.rglob("pyproject.toml")]:
        place = str(file.parent.relative_to(source))
        tests = [
            python,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "--rootdir",
            place,
            "-c",
            f"{place}/{file.name}",
            place,
        ]
        code, said = with_copy(source, goal["edits"], tests)
        if code:
            raise Broken(f"the repository's own tests fail with the right change: {said[-300:]}")


def thirds_hold(goals: list[Goal]) -> None:
    """Check that each third of the kinds is there, and every repository two or three times."""
    kinds = Counter("untrue" if goal["kind"] in ("false", "half") else goal["kind"] for goal in goals)
    if len(set(kinds.values())) != 1 or len(kinds) != 3:
        raise Broken(f"the kinds are no thirds: {dict(kinds)}")
    places = Counter(goal["repository"] for goal in goals)
    if len(places) != 5 or set(places.values()) - {2, 3}:
        raise Broken(f"two or three goals for each of five repositories: {dict(places)}")


def verify(repositories: Path, python: str, only: str) -> int:
    """Print a line per goal and count those that break a law."""
    broken = 0
    goals: list[Goal] = [yaml.safe_load(path.read_text()) for path in sorted((HERE / "goals").glob("*.yaml"))]
    for goal in goals:
        if only and only not in goal["id"]:
            continue
        try:
            fields_hold(goal)
            source = repositories / goal["repository"]
            needs_hold(goal, source)
            plan_holds(goal, source)
            checks_hold(goal, source, python)
            print(f"{goal['id']}: holds")
        except (Broken, KeyError, OSError) as error:
            broken += 1
            print(f"{goal['id']}: {type(error).__name__}: {error}")
    try:
        thirds_hold(goals)
    except Broken as error:
        broken += 1
        print(error)
    return broken


if __name__ == "__main__":
    given = [*[word for word in sys.argv[1:] if word != "-v"], "", "", ""]
    place = Path(given[0]) if given[0] else HERE.parent / "repositories"
    sys.exit(1 if verify(place, given[1] or sys.executable, given[2]) else 0)
