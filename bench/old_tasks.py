"""What the history of a home costs: CPU of one task's day at 2,000 old tasks and at none. `python -m bench.old_tasks`.

A first day completes a real task. Its rows in the database and its file are then copied under older names, ten a day.
The next day, again with one task, is what is measured: it runs in the same process, so that loading the program does
not count, and its CPU is counted with that of all it starts. The model is another process.
"""

from __future__ import annotations

import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import closing
from datetime import date, timedelta
from pathlib import Path

from bench.pipeline import used
from sisimpur.agents.coder.engine.engine import EngineJob
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.journey.stage import APPROVES, CODES, Stage, goals_of, plans, reads, task

OLD = 2_000
RUNS = 3
VISION = "# V\n\n## Priority: HIGH\n- Set the number of room 0\n- Set the number of room 1\n"
FILES = {"room0.py": "NUMBER = 0\n", "room1.py": "NUMBER = 0\n", "tests/test_all.py": "def test(): pass\n"}
FIRST_DAY = date(2026, 11, 20)
A_DAY = 24 * 3600 + 900  # seconds; a quarter of an hour later than the day before
EACH_DAY = 10  # old tasks


def main() -> int:
    none, many = cpu(0), cpu(OLD)
    print(f"a day with one task: {none:.2f} s CPU without old tasks, {many:.2f} s with {OLD}: {many / none:.1f} times")
    return 0


def cpu(old: int) -> float:
    """Seconds of the day's process and of all that it started, the median of three days."""
    return statistics.median(_cpu(old) for _ in range(RUNS))


def _cpu(old: int) -> float:
    goals = goals_of(VISION)
    answers = [
        plans(
            task(goal, f"Set room {n}", files=(f"room{n}.py",), new_files=[f"tests/test_room{n}.py"]),
            when={"user": f"{goal} \\("},
        )
        for n, goal in enumerate(goals)
    ]
    with tempfile.TemporaryDirectory() as folder, ScriptedModel([reads(), *answers, CODES, APPROVES]) as model:
        stage = _stage(folder, model.url).set_up(VISION, FILES)
        stage.given_config("policy", capacity="{parallel: 1, tasks_per_day: 1}")
        argv = (sys.executable, "-m", "bench.old_tasks", folder, model.url, str(old))
        done = subprocess.run(argv, check=True, stdout=subprocess.PIPE)
        assert [pull.state for pull in stage.pulls()] == ["merged", "merged"]
        assert list(stage.states().values()).count("completed") == old + 2
    return float(json.loads(done.stdout.splitlines()[-1]))


def _sets(folder: Path, job: EngineJob) -> None:
    """The number of the room, and a test of it."""
    name = next(path for path in job.edit if path.startswith("room"))
    (folder / name).write_text("NUMBER = 1\n")
    (folder / f"tests/test_{name}").write_text(f"def test():\n    assert {name[:-3]}.NUMBER == 1\n")


def _outcomes(found: Mapping[str, str]) -> dict[str, str]:
    """Test id -> how it ends, for the target's files by path."""
    rooms = [path for path in found if path.startswith("tests/test_room")]
    right = {path: "NUMBER = 1\n" in found[path.removeprefix("tests/test_")] for path in rooms}
    every = {f"{path}::test": "passed" if is_right else "failed" for path, is_right in right.items()}
    return {"tests/test_all.py::test": "passed", **every}


def _stage(folder: str, url: str) -> Stage:
    return Stage(Path(folder), url, _sets, _outcomes)


def two_days(folder: str, url: str, old: str) -> None:
    stage = _stage(folder, url)
    assert stage.run_day() == []
    multiply(stage, goals_of(VISION)[0], int(old))
    stage.clock.sleep(A_DAY)
    before = used()
    assert stage.run_day() == []
    print(json.dumps(used() - before))


# --- old tasks -----------------------------------------------------------------------------------------------


# The rows of a task: table -> the column that names it. Tickets have secrets of their own, and plans one row a day.
ROWS = {
    "tasks": "id",
    "task_events": "task",
    "attempts": "task",
    "agent_runs": "task_id",
    "intents": "task",
    "gate_runs": "task",
    "calls": "task",
}
LONG_AGO = 1_700_000_000  # a file that nobody is still writing


def multiply(stage: Stage, goal: str, count: int) -> None:
    """The completed task once more, so many times, each with a goal and an earlier day of its own."""
    folder = stage.home.root / "tasks" / "completed"
    (done,) = folder.glob("*.md")
    text = done.read_text()
    with closing(sqlite3.connect(stage.home.database)) as db, db:
        rows = {table: _rows(db, table, column, done.stem) for table, column in ROWS.items()}
        for number in range(count):
            day = FIRST_DAY - timedelta(days=1 + number // EACH_DAY)
            task_id = f"{day:%Y%m%d}-{number % EACH_DAY + 1:02}"
            names = {done.stem: task_id, goal: f"g-{number:06x}", FIRST_DAY.isoformat(): day.isoformat()}
            for table, found in rows.items():
                _insert(db, table, ({name: _renamed(value, names) for name, value in row.items()} for row in found))
            path = folder / f"{task_id}.md"
            path.write_text(str(_renamed(text, names)))
            os.utime(path, (LONG_AGO, LONG_AGO))


def _rows(db: sqlite3.Connection, table: str, column: str, task_id: str) -> list[dict[str, object]]:
    """Without numbers that the database gives out."""
    numbered = {
        row[1] for row in db.execute(f"pragma table_info({table})") if row[5] == 1 and row[2].upper() == "INTEGER"
    }
    found = db.execute(f"select * from {table} where {column} = ?", (task_id,))
    names = [one[0] for one in found.description]
    return [{name: value for name, value in zip(names, row, strict=True) if name not in numbered} for row in found]


def _insert(db: sqlite3.Connection, table: str, rows: Iterable[Mapping[str, object]]) -> None:
    for row in rows:
        db.execute(f"insert into {table} ({', '.join(row)}) values ({', '.join('?' * len(row))})", tuple(row.values()))


def _renamed(value: object, names: Mapping[str, str]) -> object:
    if isinstance(value, str):
        for old, new in names.items():
            value = value.replace(old, new)
    return value


if __name__ == "__main__":
    if sys.argv[1:]:
        two_days(*sys.argv[1:])
    else:
        raise SystemExit(main())
