"""The repository's own mypy, asked as its configuration says: what is checked, and what is told of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from sisimpur.agents.qa.tools import readings
from sisimpur.shared.system import process

GATE = Path(readings.__file__).parents[1] / "runner/inside/gate_types.py"
WRONG = "def name(one: int) -> str:\n    return one\n"
PACKAGE = {"app/__init__.py": "", "app/names.py": WRONG, "tool.py": WRONG}
SAID = 'app/names.py:2: error: Incompatible return value type (got "int", expected "str") [return-value]'


def told(folder: Path, files: Mapping[str, str], changed: Sequence[str]) -> tuple[int, list[str]]:
    """(exit code, what our reader makes of it)."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    env = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    done = process.run((sys.executable, str(GATE), *changed), cwd=folder, env=env, timeout=120)
    found = readings.read(readings.mypy, done.output.decode(), "exited", done.code)
    return done.code, [remark.text for remark in found.remarks]


@pytest.mark.parametrize(
    ("configuration", "changed", "said"),
    [
        pytest.param({"mypy.ini": "[mypy]\nfiles = app\n"}, ["tool.py"], [SAID], id="what the configuration names"),
        pytest.param(
            {"pyproject.toml": "[tool.mypy]\nfiles = ['app']\npretty = true\nshow_column_numbers = true\n"},
            ["tool.py"],
            [SAID.replace(":2:", ":2:12:")],
            id="however it is to be printed",
        ),
        pytest.param({"setup.cfg": "[mypy]\nstrict = true\n"}, ["app/names.py", "tool.py"], [SAID], id="of a package"),
        pytest.param({"mypy.ini": "[mypy]\n"}, ["tool.py"], [], id="no script beside it"),
        pytest.param(
            {"mypy.ini": "[mypy]\n", "setup.cfg": "[mypy]\nfiles = app\n"}, ["tool.py"], [], id="the first one counts"
        ),
    ],
)
def test_what_is_asked_for_is_checked(
    tmp_path: Path, configuration: dict[str, str], changed: list[str], said: list[str]
) -> None:
    assert told(tmp_path, {**PACKAGE, **configuration}, changed) == (0, said)


def test_what_is_not_installed_here_is_no_fault(tmp_path: Path) -> None:
    files = {"mypy.ini": "[mypy]\nfiles = app\n", "app/__init__.py": "import nowhere\n"}
    assert told(tmp_path, files, []) == (0, [])


def test_a_mypy_that_does_not_start_says_so(tmp_path: Path) -> None:
    code, said = told(tmp_path, {"mypy.ini": "[mypy]\nfiles = nowhere\n"}, [])
    assert code == 2 and len(said) == 1 and "nowhere" in said[0]


def test_no_folder_of_the_repository_takes_its_place(tmp_path: Path) -> None:
    files = {"mypy/__init__.py": "", "mypy/api.py": "raise SystemExit(0)", "mypy.ini": "[mypy]\nfiles = app\n"}
    assert told(tmp_path, {**PACKAGE, **files}, []) == (0, [SAID])
