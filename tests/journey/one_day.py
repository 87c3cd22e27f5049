"""A day in a process of its own, so that it can be killed: python -m tests.journey.one_day ROOT MODEL_URL [bumpy]."""

from __future__ import annotations

import sys
from pathlib import Path

from sisimpur.agents.coder.engine.engine import EngineJob
from sisimpur.cli.wiring.services import relay_of, services
from tests.journey.gated import BAD, GOOD, Coder, suite
from tests.journey.stage import Stage
from tests.mailbox import Mailbox

TRACE = "NameError: name 'grand_total' is not defined"  # of a test that fails


def bumpy(folder: Path, job: EngineJob) -> None:
    """Wrong at first, right when it goes on from that."""
    Coder(GOOD if "# tried" in (folder / "app.py").read_text() else BAD)(folder, job)


def main(root: str, model_url: str, way: str = "") -> int:
    """1 if a phase had a problem."""
    stage = Stage(Path(root), model_url, bumpy if way == "bumpy" else Coder(GOOD), suite, trace=TRACE)
    with stage.records() as records:  # and what the home names itself
        stage.services += [Mailbox(Path(root) / "box"), *services(records)]
    problems = stage.run_day()
    with stage.records() as records:  # as `run-day` does at its end
        problems += relay_of(records).step()
    sys.stderr.write("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
