"""A repository with tests, a coder that answers as a story wants, and tests that say what is true of the files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sisimpur.agents.coder.engine.engine import EngineJob
from tests.journey.stage import goals_of, task

VISION = "# Vision\n\n## Priority: HIGH\n- Fix the sum in app.py\n"
SUM = goals_of(VISION)[0]
WRONG, RIGHT = "def total(a, b):\n    return a - b\n", "def total(a, b):\n    return a + b\n"
FILES = {
    "app.py": WRONG,
    "settings.py": "X = 1\n",
    "other.py": "Y = 1\n",
    "tests/test_app.py": "from app import total\n\n\ndef test_nothing():\n    assert total(0, 0) == 0\n",
}
NEW_TEST = "\n\ndef test_sum():\n    assert total(1, 2) == 3\n"
ID = "20261120-01"


def suite(files: Mapping[str, str]) -> dict[str, str]:
    """What these tests would say: the sum is right, or it is not."""
    tests = files.get("tests/test_app.py", "")
    found = {"tests/test_app.py::test_nothing": "passed"} if "test_nothing" in tests else {}
    if "test_sum" in tests:
        found["tests/test_app.py::test_sum"] = "passed" if "a + b" in files["app.py"] else "failed"
    return found


class Coder:
    """Writes what a story wants, one answer after the other; the last one stays."""

    def __init__(self, *answers: Mapping[str, str]) -> None:
        self.answers = list(answers)
        self.seen: list[dict[str, str]] = []

    def __call__(self, folder: Path, job: EngineJob) -> None:
        self.seen.append({path: (folder / path).read_text() for path in job.edit})
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        for path, text in answer.items():
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_text(text)


GOOD = {"app.py": RIGHT, "tests/test_app.py": FILES["tests/test_app.py"] + NEW_TEST}
BAD = {"app.py": WRONG + "# tried\n", "tests/test_app.py": GOOD["tests/test_app.py"]}
WORSE = {**BAD, "app.py": WRONG + "# tried again\n"}
WORST = {**BAD, "app.py": WRONG + "# tried a third time\n"}
LAST = {**BAD, "app.py": WRONG + "# tried a fourth time\n"}


def fix(**more: Any) -> dict[str, Any]:
    return task(SUM, files=("app.py", "tests/test_app.py"), **more)
