"""A day in a process of its own, so that it can be killed: python -m tests.journey.one_day ROOT MODEL_URL."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.journey.stage import Stage


def main(root: str, model_url: str) -> int:
    """1 if a phase had a problem."""
    problems = Stage(Path(root), model_url).run_day()
    sys.stderr.write("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
