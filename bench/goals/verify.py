"""Shows that the bench itself is right: `python -m bench.goals.verify [--only ID] [FOLDER]`. Exit 1 if a law fails.

The laws of a goal: its needed lines stand in the repository once; its check fails on the untouched repository, holds
with the right edits, and fails with the distractor. For a false premise the untouched repository is the right one.
The repository's own tests pass before and after the right edits. Django, pytest and coverage come from the packages
of the demo, into an environment that is thrown away.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.goals import goals
from bench.goals.goals import Broken, Files, Goal

PACKAGES = Path(__file__).parents[2] / ".demo" / "packages"
NEEDED = ("Django", "pytest", "coverage")
SECONDS = 120  # for one program
RUBBISH = shutil.ignore_patterns("__pycache__", "*.pyc", ".pytest_cache", "*.sqlite3")


def main(argv: Sequence[str] | None = None) -> int:
    """Print a row for each goal, and what is wrong with it."""
    parser = argparse.ArgumentParser(prog="python -m bench.goals.verify")
    parser.add_argument("folder", nargs="?", type=Path, default=goals.HERE)
    parser.add_argument("--only", metavar="ID")
    args = parser.parse_args(argv)
    found = [goal for goal in goals.read(args.folder.absolute()) if args.only in (None, goal.id)]
    if not found:
        print("no such goal")
        return 1
    with tempfile.TemporaryDirectory(prefix="goals-") as folder:
        python = environment(Path(folder))
        broken = [wrong for goal in found for wrong in judged(goal, python, Path(folder))]
        broken += [wrong for name in sorted({g.tree for g in found}) for wrong in untested(name, python, Path(folder))]
    print(f"{len(found)} goals, {len(broken)} laws broken")
    return 1 if broken else 0


def environment(folder: Path) -> str:
    """Make a Python that has what the repositories import, without a network; its path."""
    made = folder / "environment"
    subprocess.run([sys.executable, "-m", "venv", made], check=True)
    pip = [str(made / "bin" / "pip"), "install", "--quiet", "--no-index", "--find-links", str(PACKAGES), *NEEDED]
    subprocess.run(pip, check=True, env={**os.environ, "PIP_CONFIG_FILE": os.devnull})
    return str(made / "bin" / "python")


def judged(goal: Goal, python: str, folder: Path) -> list[str]:
    """The laws that a goal breaks; prints its row, which ends with why its distractor is wrong."""
    begun, said = time.monotonic(), ""
    try:
        broken = list(_misfits(goal))
        for name, changes, wanted in _trials(goal):
            tree = _copy(goal.tree, folder, changes)
            code, said = run([python, str(goal.program), str(tree)], folder)
            if code != wanted:
                broken.append(f"{name}: exit {code}, not {wanted} ({said})")
            if name == "right" and changes:
                broken += tests(tree, python)
            shutil.rmtree(tree)
    except Broken as error:
        broken = [str(error)]
    seconds = time.monotonic() - begun
    print(f"{goal.id:<18}{goal.kind:<12}{goal.outcome:<15}{seconds:5.1f} s  {'; '.join(broken) or 'ok'}  | {said}")
    return broken


def _trials(goal: Goal) -> Iterator[tuple[str, Sequence[Files], int]]:
    """(name, changes of the repository, how the check has to exit); the distractor is the last."""
    yield "untouched", (), 0 if goal.kind == "false" else 1
    yield "right", goal.edits, 0
    yield "distractor", goal.distractor.edits, 1


def _misfits(goal: Goal) -> Iterator[str]:
    """What is wrong with a goal as it stands. Raises `Broken` if a need is not one line."""
    if len(goal.lines) != len(goal.needs):
        yield "a need stands twice"
    if len(goal.plan) != len(goal.edits):
        yield f"{len(goal.plan)} tasks and {len(goal.edits)} edits"
    for task, files in zip(goal.plan, goal.edits, strict=False):
        if not set(files) <= {*task.files, *task.new_files}:
            yield f"'{task.title}' edits more than its files: {sorted(set(files) - {*task.files, *task.new_files})}"
    if bool(goal.premise) != (goal.kind in ("false", "half")) or bool(goal.measure) != (goal.kind == "measurable"):
        yield "premise or measure does not fit the kind"


def untested(repository: Path, python: str, folder: Path) -> list[str]:
    """Whether a repository's own tests fail; prints them."""
    tree = _copy(repository, folder, ())
    found = list(tests(tree, python))
    shutil.rmtree(tree)
    print(f"{repository.name:<45}{'; '.join(found) or 'its tests pass'}")
    return found


def tests(tree: Path, python: str) -> Iterator[str]:
    """The own tests of a tree, wherever pytest is set up in it, that fail."""
    for folder in sorted({path.parent for name in ("pytest.ini", "pyproject.toml") for path in tree.rglob(name)}):
        code, said = run([python, "-m", "pytest", "-q", "-p", "no:cacheprovider"], folder)
        if code:
            yield f"own tests: {said}"


def run(argv: Sequence[str], folder: Path) -> tuple[int, str]:
    """Exit code and last line of a program."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(argv, cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return 2, f"took more than {SECONDS} s"
    return done.returncode, ((done.stdout + done.stderr).strip().splitlines() or [""])[-1][:200]


def _copy(tree: Path, folder: Path, changes: Sequence[Files]) -> Path:
    to = folder / "tree"
    shutil.copytree(tree, to, ignore=RUBBISH)
    goals.apply(changes, to)
    return to


if __name__ == "__main__":
    sys.exit(main())
