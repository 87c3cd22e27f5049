"""How long a newcomer waits for the demo, first and again, and who takes its tokens. `python -m bench.demo`.

Tokens are the scripted model's. "Of tasks": of what is booked on a task, so without reading the vision, looking up and
planning; these are in "of the day".
"""

from __future__ import annotations

import re
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from sisimpur.agents.orchestrator.roadmap.weeks import ENGINE
from sisimpur.cli.wiring.records import open_records
from sisimpur.shared.money.ticket import Share

ROOT = Path(__file__).parents[1]
GOAL_FIRST, GOAL_AGAIN = 240.0, 60.0  # seconds


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "sisimpur-agents"
        subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
        (first, _), (again, home) = took(clone), took(clone)
        with open_records(home, {}) as records:
            shares = records.spending.breakdown("")
    of_tasks = arranging(on_tasks(shares))
    print(f"make demo, first, with set-up: {first:6.1f} s   goal {GOAL_FIRST:.0f} s: {_met(first, GOAL_FIRST)}")
    print(f"make demo, again:              {again:6.1f} s   goal {GOAL_AGAIN:.0f} s: {_met(again, GOAL_AGAIN)}")
    print(f"all but the engine, of tasks:  {of_tasks:6.1%}")
    print(f"all but the engine, of the day:{arranging(shares):6.1%}")
    return int(first > GOAL_FIRST or again > GOAL_AGAIN)


def took(clone: Path) -> tuple[float, Path]:
    """In seconds; the demo's home."""
    began = time.perf_counter()
    said = subprocess.run(["make", "demo"], cwd=clone, check=True, capture_output=True, text=True).stdout
    line = next(line for line in said.splitlines() if line.startswith("home: "))
    return time.perf_counter() - began, Path(line.removeprefix("home: "))


def on_tasks(shares: Sequence[Share]) -> list[Share]:
    return [share for share in shares if re.match(r"\d{8}-", share.task)]


def arranging(shares: Sequence[Share]) -> float:
    """What everything but the coding engine took of these tokens."""
    every = sum(share.tokens_in + share.tokens_out for share in shares)
    engine = sum(share.tokens_in + share.tokens_out for share in shares if share.agent == ENGINE)
    return 1 - engine / every


def _met(found: float, goal: float) -> str:
    return "met" if found <= goal else "MISSED"


if __name__ == "__main__":
    raise SystemExit(main())
