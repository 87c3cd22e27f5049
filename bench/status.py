"""How fast the owner is answered: --help, status, and status with 10,000 task files. `python -m bench.status`."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from sisimpur.shared.model.lifecycle import FOLDERS
from tests.journey.stage import Stage

ROOT = Path(__file__).parents[1]
RUNS = 7
FILES = 10_000
GOAL_SMALL, GOAL_LARGE = 0.3, 1.0  # seconds
TASK = "---\ntitle: Task {0}\nfiles: [a.py]\npriority: low\n---\n\nDo number {0}.\n"


def main() -> int:
    """Prints a table; 1 if a goal is missed."""
    with tempfile.TemporaryDirectory() as folder:
        stage = Stage(Path(folder), "http://127.0.0.1:1").set_up()
        rows = [
            ("--help", took("--help"), GOAL_SMALL),
            ("status, an empty home", took("--home", str(stage.home.root), "status"), GOAL_SMALL),
        ]
        for number in range(FILES):
            state = FOLDERS[number % len(FOLDERS)]
            (stage.home.tasks(state) / f"t{number}.md").write_text(TASK.format(number))
        rows.append((f"status, {FILES} files", took("--home", str(stage.home.root), "status"), GOAL_LARGE))
    for name, seconds, goal in rows:
        print(f"{name:<26}{seconds:>8.3f} s   goal {goal} s: {'met' if seconds <= goal else 'MISSED'}")
    return int(any(seconds > goal for _, seconds, goal in rows))


def took(*words: str) -> float:
    """Median of the seconds of the whole process."""
    times = []
    for _ in range(RUNS):
        began = time.perf_counter()
        subprocess.run([sys.executable, str(ROOT / "main.py"), *words], check=True, capture_output=True)
        times.append(time.perf_counter() - began)
    return statistics.median(times)


if __name__ == "__main__":
    raise SystemExit(main())
