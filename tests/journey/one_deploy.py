"""A day with a sick deploy in a process of its own, to be killed: python -m tests.journey.one_deploy ROOT URL."""

from __future__ import annotations

import sys
from pathlib import Path

from sisimpur.agents.coder.engine.engine import EngineJob
from tests.journey.deployed import sick
from tests.journey.gated import GOOD, RIGHT, Coder, suite
from tests.journey.stage import Stage
from tests.mailbox import Mailbox

WELL = {**GOOD, "app.py": f"{RIGHT}# and well\n"}


def sick_first(folder: Path, job: EngineJob) -> None:
    """Its change is sick where it is deployed; it is well when it goes on from that."""
    Coder(WELL if "# sick" in (folder / "app.py").read_text() else sick(GOOD))(folder, job)


def main(root: str, model_url: str) -> int:
    """1 if a phase had a problem."""
    stage = Stage(Path(root), model_url, sick_first, suite)
    stage.services.append(Mailbox(Path(root) / "box"))
    problems = stage.run_day()
    sys.stderr.write("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
