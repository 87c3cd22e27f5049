"""A large goal's days in a process of its own, to be killed: python -m tests.journey.three_days ROOT MODEL_URL."""

from __future__ import annotations

import sys
from datetime import timedelta
from pathlib import Path

from tests.journey.long_goal import codes, suite
from tests.journey.stage import Stage
from tests.mailbox import Mailbox

DAYS = 3  # the last one for what a kill has put off


def main(root: str, model_url: str) -> int:
    """Goes on with the day that was begun last; 1 if a phase had a problem."""
    stage = Stage(Path(root), model_url, codes, suite)
    stage.services.append(Mailbox(Path(root) / "box"))
    begun = Path(root) / "day"
    first = int(begun.read_text()) if begun.exists() else 0
    stage.clock.sleep(first * timedelta(days=1).total_seconds())
    problems: list[str] = []
    for day in range(first, DAYS):
        begun.write_text(str(day))
        problems += stage.run_day()
        if day == 0:
            _owner_commits(stage)
        stage.clock.sleep(timedelta(days=1).total_seconds())
    sys.stderr.write("\n".join(problems))
    return 1 if problems else 0


def _owner_commits(stage: Stage) -> None:
    """Once: what has to be brought into the goal's branch."""
    lamp = stage.root / "site" / "lamp.py"
    if "WATTS" not in lamp.read_text():
        stage.owner_commits({"lamp.py": f"{lamp.read_text()}WATTS = 5\n"})


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
