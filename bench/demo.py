"""How long a newcomer waits: the demo in a fresh clone with all of its set-up, and again. `python -m bench.demo`."""

from __future__ import annotations

import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
GOAL_FIRST, GOAL_AGAIN = 240.0, 60.0  # seconds


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "sisimpur-agents"
        subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
        first, again = took(clone), took(clone)
    print(f"make demo, first, with set-up: {first:6.1f} s   goal {GOAL_FIRST:.0f} s: {_met(first, GOAL_FIRST)}")
    print(f"make demo, again:              {again:6.1f} s   goal {GOAL_AGAIN:.0f} s: {_met(again, GOAL_AGAIN)}")
    return int(first > GOAL_FIRST or again > GOAL_AGAIN)


def took(clone: Path) -> float:
    began = time.perf_counter()
    subprocess.run(["make", "demo"], cwd=clone, check=True, capture_output=True)
    return time.perf_counter() - began


def _met(seconds: float, goal: float) -> str:
    return "met" if seconds <= goal else "MISSED"


if __name__ == "__main__":
    raise SystemExit(main())
