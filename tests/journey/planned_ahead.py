"""A day that asks ahead, in a process of its own: python -m tests.journey.planned_ahead ROOT MODEL_URL DAYS [UNTIL].

DAYS: how many have passed since the first. It can be killed.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from shared.edge.engine.engine import EngineJob
from tests.journey.stage import Stage


def sets(folder: Path, job: EngineJob) -> None:
    """The number of the room, and a test of it."""
    name = next(path for path in job.edit if path.startswith("room"))
    (folder / name).write_text("NUMBER = 1\n")
    (folder / f"tests/test_{name}").write_text(f"def test():\n    assert {name[:-3]}.NUMBER == 1\n")


def outcomes(found: Mapping[str, str]) -> dict[str, str]:
    rooms = [path for path in found if path.startswith("tests/test_room")]
    right = {path: "NUMBER = 1\n" in found[path.removeprefix("tests/test_")] for path in rooms}
    every = {f"{path}::test": "passed" if is_right else "failed" for path, is_right in right.items()}
    return {"tests/test_all.py::test": "passed", **every}


def main(root: str, model_url: str, days: str, until: str = "") -> int:
    """1 if a phase had a problem."""
    stage = Stage(Path(root), model_url, sets, outcomes)
    stage.clock.sleep(int(days) * (24 * 3600 + 900))
    problems = stage.run_day(until)
    sys.stderr.write("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
