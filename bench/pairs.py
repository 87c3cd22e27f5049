"""A day of twelve tasks beside a bare loop of worktree, Aider and pytest, in pairs. `python -m bench.pairs`.

Both run the same Aider and real tests, four at once; the model takes three seconds for each answer. The bare loop
commits whatever is green, and neither plans nor reviews nor merges. The days alternate. Each is a process of its own;
CPU is of it and of all that it starts, boxes too, whose first process ends before they do: this one adopts them.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Lock

from bench.goals import verify
from bench.pipeline import used
from bench.tokens import codes
from sisimpur.agents.coder.engine.aider_command import FLAGS, environment
from sisimpur.cli.wiring.team import open_team
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.journey import rooms
from tests.journey.stage import KEY, Stage, git, repository

TASKS, WORKERS, LATENCY = 12, 4, 3
PAIRS = 2
GOAL_WALL, GOAL_CPU = 40.0, 18.0  # seconds
AIDER = Path(__file__).parents[1] / ".venv-aider" / "bin" / "python"
MODEL = "anthropic/claude-sonnet-5-5"
SETTINGS = [{"name": MODEL, "edit_format": "diff", "weak_model_name": MODEL, "use_temperature": False}]

ADOPT_ORPHANS = 36  # PR_SET_CHILD_SUBREAPER of prctl(2)

Took = tuple[float, float]  # seconds on the wall, CPU seconds


def main() -> int:
    ctypes.CDLL(None).prctl(ADOPT_ORPHANS, 1, 0, 0, 0)
    with tempfile.TemporaryDirectory() as folder:
        python = verify.environment(Path(folder))
        pairs = [(took("team"), took("bare", python)) for _ in range(PAIRS)]
    for ours, theirs in pairs:
        ratio = f"{ours[0] / theirs[0]:.2f} times the time, {ours[1] / theirs[1]:.2f} times the CPU"
        print(f"the team: {_told(ours)}; a bare loop: {_told(theirs)}: {ratio}")
    wall, cpu = (min(ours[place] for ours, _ in pairs) for place in (0, 1))
    met = wall <= GOAL_WALL and cpu <= GOAL_CPU
    print(f"goal {GOAL_WALL:.0f} s, {GOAL_CPU:.0f} s CPU: {'met' if met else 'MISSED'}")
    return int(not met)


def took(*day: str) -> Took:
    """The model is in this process, so its CPU counts in both."""
    script = [*codes(TASKS, delay=LATENCY), *rooms.script(*rooms.tasks(TASKS))]
    with tempfile.TemporaryDirectory() as folder, ScriptedModel(script) as model:
        began, before = time.perf_counter(), used()
        subprocess.run([sys.executable, "-m", "bench.pairs", folder, model.url, *day], check=True)
        took = time.perf_counter() - began
        with suppress(ChildProcessError):
            while True:  # what outlived its parent: all of it has ended, or ends now
                os.waitpid(-1, 0)
        return took, used() - before


def team(place: Path, url: str) -> None:
    """What is planned and reviewed is answered at once."""
    stage = Stage(place, url).set_up(rooms.vision(TASKS), rooms.files(TASKS))
    capacity = f"{{parallel: {WORKERS}, tasks_per_day: {TASKS}, open_pulls: {TASKS}}}"
    stage.given_config("policy", capacity=capacity)
    with (stage.home.targets / "site.yaml").open("a") as file:
        file.write(f'packages: "{verify.PACKAGES}"\n')
    with stage.records() as records, open_team(records, stage.said.append) as team:
        team.run_day()
        assert team.problems == [], team.problems
    assert [pull.state for pull in stage.pulls()] == ["merged"] * TASKS, stage.said


def bare(place: Path, url: str, python: str) -> None:
    site, settings = repository(place / "site", rooms.files(TASKS)), place / "settings.yml"
    settings.write_text(json.dumps(SETTINGS))

    adding = Lock()

    def one(number: int) -> None:
        tree, home = place / f"task{number}", place / f"home{number}"  # Aiders with one home fail now and then
        home.mkdir()
        with adding:  # two at once fall over each other's half-made folders
            git(site, "worktree", "add", "-q", "-b", tree.name, str(tree))
        words = (f"--model={MODEL}", f"--model-settings-file={settings}", f"--message=Set room {number}")
        argv = [str(AIDER), "-m", "aider", *FLAGS, *words, f"--file=room{number}.py"]
        keys = {**os.environ, **environment(KEY, url), "HOME": str(home)}
        subprocess.run(argv, cwd=tree, env=keys, check=True, capture_output=True)
        subprocess.run([python, "-m", "pytest", "-q"], cwd=tree, check=True, capture_output=True)
        git(tree, "add", f"room{number}.py", f"tests/test_room{number}.py")
        git(tree, "commit", "-q", "-m", f"Set room {number}")

    with ThreadPoolExecutor(WORKERS) as workers:
        list(workers.map(one, range(TASKS)))


def _told(found: Took) -> str:
    return f"{found[0]:.1f} s, {found[1]:.1f} s CPU"


if __name__ == "__main__":
    match sys.argv[1:]:
        case [folder, url, "team"]:
            team(Path(folder), url)
        case [folder, url, "bare", python]:
            bare(Path(folder), url, python)
        case _:
            raise SystemExit(main())
