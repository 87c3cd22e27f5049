"""Nobody asks for anything: the team looks at the code, proposes one thing, and leaves it to the owner."""

from __future__ import annotations

import shutil
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from sisimpur.cli.commands import owner_commands
from sisimpur.cli.terminal.arguments import Arguments
from sisimpur.shared.model.naming import is_upkeep
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.journey.gated import Coder
from tests.journey.stage import APPROVES, CODES, Stage, reads
from tests.killing import at_length, finishes, killed_at, points

DAY = 86_400.0  # seconds
EMPTY = "# Vision\n\n## Priority: HIGH\n"
ID, OWN, OWN_2 = "20261120-u1", "20261120-01", "20261121-01"
WRONG, RIGHT = "def total(a, b):\n    return a - b\n", "def total(a, b):\n    return a + b\n"
FILES = {
    "app.py": WRONG,
    "other.py": "Y = 1\n",
    "long.py": "".join(f"def f{number}():\n    return {number}\n" for number in range(9)),
    "settings.py": "X = 1\n",
    "tests/test_app.py": "from app import total\n\n\ndef test_sum():\n    assert total(1, 2) == 3\n",
}
UNASKED = "the team's own proposal, not from VISION.md"


def suite(files: Mapping[str, str]) -> dict[str, str]:
    """The sum is right, or it is not."""
    found = {"tests/test_app.py::test_sum": "passed" if "a + b" in files.get("app.py", "") else "failed"}
    noticed = "passed" if files.get("long.py") == FILES["long.py"] else "failed"
    return found | {f"{path}::test_it": noticed for path in files if path.startswith("tests/test_long")}


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel([reads(), CODES, APPROVES]) as model:
        yield model


Make = Callable[..., Stage]


@pytest.fixture
def make(tmp_path: Path, model: ScriptedModel) -> Make:
    def stage(
        *answers: Mapping[str, str],
        vision: str = EMPTY,
        upkeep: str = "{}",
        files: Mapping[str, str] = FILES,
        **more: Any,
    ) -> Stage:
        made = Stage(tmp_path, model.url, Coder(*(answers or ({"app.py": RIGHT},))), **({"tests": suite} | more))
        made.set_up(vision, files).given_config("policy", upkeep=upkeep)
        return made

    return stage


def next_day(stage: Stage, days: int = 1) -> None:
    stage.clock.sleep(days * DAY)


def typed(stage: Stage, command: Callable[[Arguments], int], **more: Any) -> str:
    with redirect_stdout(StringIO()) as out:
        assert command(Arguments(command.__name__, stage.home.root, **more)) == 0
    return out.getvalue()


def asks(stage: Stage, id_: str = ID) -> tuple[str, ...]:
    """Why it waits for the owner."""
    with stage.records() as records:
        parked = records.gates.parked(id_)
        return parked.reasons if parked else ()


def proposed(stage: Stage) -> list[str]:
    """The subjects, in order."""
    with stage.records() as records:
        return [one.subject for one in records.upkeep.proposals()]


def wheel(folder: Path, name: str, version: str, python: str = ">=3.8") -> None:
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as file:
        text = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nRequires-Python: {python}\n"
        file.writestr(f"{name}-{version}.dist-info/METADATA", text)


def given_packages(stage: Stage) -> None:
    target = stage.home.targets / "site.yaml"
    target.write_text(f"{target.read_text()}\npackages: {stage.root / 'wheels'}\n")


# --- each kind, from what is found to the pull request that waits --------------------------------------------


def test_a_test_that_fails_is_mended_and_waits_for_the_owner(make: Make) -> None:
    stage = make()
    assert stage.run_day() == []
    assert stage.states() == {ID: "in_review"}
    assert asks(stage) == (UNASKED,)
    (job,) = stage.jobs
    assert job.edit == ("app.py",) and job.read == ("tests/test_app.py",)
    (pull,) = stage.pulls()
    assert pull.title == "Fix the failing test test_sum in tests/test_app.py" and pull.state == "open"
    typed(stage, owner_commands.approve, id=ID)
    next_day(stage)
    stage.run_day()
    assert stage.states() == {ID: "completed"}


# --- killed --------------------------------------------------------------------------------------------------


@pytest.fixture
def pinned(make: Make) -> Stage:
    """What is found needs no sandbox: the repository has no tests, and an old pin."""
    stage = make(files={"app.py": WRONG, "requirements.txt": "toml==0.9\n"})
    given_packages(stage)
    wheel(stage.root / "wheels", "toml", "0.11")
    return stage


def planning(stage: Stage) -> list[str]:
    return [sys.executable, "main.py", "--home", str(stage.home.root), "run-day", "--until", "planning"]


OURS = ("upkeep.looked", "plan.write", "plan.written", "task.born")


@pytest.mark.parametrize("point", OURS)
def test_a_kill_leaves_one_proposal(pinned: Stage, point: str) -> None:
    killed_at(point, planning(pinned))
    finishes(planning(pinned))
    finishes(planning(pinned))
    assert proposed(pinned) == ["toml in requirements.txt"]
    assert [(is_upkeep(id_), state) for id_, state in pinned.states().items()] == [(True, "backlog")]
    with pinned.records() as records:
        (known,) = records.journal.every_task().values()
        assert known.goal_id == records.upkeep.goals()[0].id and known.wording


@at_length
def test_a_kill_anywhere_leaves_one_proposal(pinned: Stage, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(pinned.home.root, copy)
    for number in range(1, len(points(planning(pinned))) + 1):
        shutil.rmtree(pinned.home.root)
        shutil.copytree(copy, pinned.home.root)
        killed_at(number, planning(pinned))
        finishes(planning(pinned))
        assert len(proposed(pinned)) == len(pinned.states()) == 1, number
