"""A home that has worked for years: one real day, and what it left once more for each old task.

The first day completes a task with the real pipeline, so nothing of an old task is invented: its rows, its file, its
pull request and its commits' references are copied under later days, up to yesterday.
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path

from sisimpur.shared.model.lifecycle import State
from sisimpur.shared.store.chain import seal
from sisimpur.shared.system.paths import Home
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.journey import rooms
from tests.journey.stage import Stage

RECORDED = (  # what each evening keeps, and conversations for as long as they are kept
    "insert or ignore into metric_days select distinct p.day, m.counts_json, m.day_cap, m.month_cap"
    " from phases p, metric_days m",
    "insert or ignore into conversations select id, day, 0, 0 from calls"
    " where day > date((select max(day) from calls), '-30 days')",
)
ROOMS = 2  # one is set on the first day, one is left for a later one
EACH_DAY = 20  # old tasks
LONG_AGO = 1_700_000_000  # a file that nobody is still writing
TASK_ROWS = {  # table -> which rows a task has in it, one parent before its children
    "tasks": "id = :task",
    "task_events": "task = :task",
    "attempts": "task = :task",
    "agent_runs": "task_id = :task",
    "intents": "task = :task",
    "gate_runs": "task = :task",
    "goal_words": "1",
}
DAY_ROWS = {"daily_plans": "1", "phases": "1", "agent_runs": "task_id = ''", "epochs": "1"}
CALL_ROWS = {"tickets": "1", "calls": "1"}
PULL_ROWS = {"item": "1", "label": "1", "comment": "1", "review": "1", "merge_plan": "1"}
KEYS = {("item", "number"), ("tickets", "id")}  # numbers that other rows name
NAMES = {("calls", "ticket"), *((table, "number") for table in PULL_ROWS)}  # where they name them

Names = Sequence[tuple[str, str]]


def worked_once(stage: Stage, days_ago: int, **agents: str) -> Stage:
    """`stage`: not set up yet. Its home gets one completed task, so many days before now. `agents`: lines of theirs."""
    until_today(stage)
    stage.clock.sleep(-days_ago * 86_400)
    with ScriptedModel(rooms.script(*rooms.tasks(1))) as model:
        stage.model_url = model.url
        stage.set_up(rooms.vision(1), rooms.files(ROOMS)).given_config("agents", **agents)
        assert stage.run_day() == []
    return stage


def until_today(stage: Stage) -> None:
    """Sleep: a home that has worked until yesterday is looked at by the real clock."""
    stage.clock.sleep((datetime.now().astimezone() - stage.clock.now()).total_seconds())


def days_of(tasks: int) -> int:
    """Days that so many old tasks take."""
    return -(-tasks // EACH_DAY) + 1


def grow_old(home: Home, tasks: int, calls: int = 0) -> None:
    """Give a home that has worked once so many tasks in all, and so many model calls if that is more."""
    (done,) = home.tasks(State.COMPLETED).glob("*.md")
    with closing(sqlite3.connect(home.database)) as db, db:
        copies = list(_copies(db, done.stem, tasks))
        _copy(db, TASK_ROWS, done.stem, copies)
        _copy(db, DAY_ROWS, done.stem, copies[EACH_DAY - 1 :: EACH_DAY])
        (of_a_task,) = db.execute("select count(*) from calls").fetchone()
        _copy(db, CALL_ROWS, done.stem, copies, -(-calls // (of_a_task * max(len(copies), 1))))
        for sql in RECORDED:
            db.execute(sql)
        seal(db, is_daemon=True)  # else the first command on this home would
    for book in home.forge("x").parent.glob("*/forge.db"):
        with closing(sqlite3.connect(book)) as db, db:
            _copy(db, PULL_ROWS, done.stem, copies)
    text = done.read_text()
    for names in copies:
        path = done.with_name(f"{dict(names)[done.stem]}.md")
        path.write_text(_renamed(text, names))
        os.utime(path, (LONG_AGO, LONG_AGO))
    for mirror in home.mirror("x").parent.glob("*.git/refs"):
        _refs(mirror.parent, [(f"refs/attempts/{done.stem}.a1", dict(names)[done.stem]) for names in copies], done.stem)
    for forge in home.forge("x").parent.glob("*.git/refs"):
        _refs(forge.parent, [("refs/pull/1/head", str(number)) for number in range(2, len(copies) + 2)], "1")


def _copies(db: sqlite3.Connection, task: str, tasks: int) -> Iterator[Names]:
    """What each copy has in place of the first task's id, its goal and its day."""
    goal, at = db.execute("select goal_id, created_at from tasks").fetchone()
    first = datetime.fromisoformat(at).date()
    for number in range(1, tasks):
        day = first + timedelta(days=number // EACH_DAY)
        id_ = f"{day:%Y%m%d}-{number % EACH_DAY + 1:02}"
        yield ((task, id_), (goal, f"g-{number:06x}"), (first.isoformat(), day.isoformat()))


def _copy(db: sqlite3.Connection, tables: dict[str, str], task: str, copies: Sequence[Names], times: int = 1) -> None:
    """Each row of the first task once more for every copy, `times` over."""
    found = {table: _rows(db, table, where, task) for table, where in tables.items()}
    for table, (columns, rows) in found.items():
        (largest,) = db.execute(f"select max(rowid) from {table}").fetchone()
        step = max((largest or 0), 1)
        marks = ", ".join("?" * len(columns))
        sql = f"insert or ignore into {table} ({', '.join(columns)}) values ({marks})"
        made = (
            tuple(_value(table, column, value, step * (number * times + again + 1), names) for column, value in row)
            for number, names in enumerate(copies)
            for again in range(times)
            for row in (tuple(zip(columns, row, strict=True)) for row in rows)
        )
        while batch := list(islice(made, 50_000)):
            db.executemany(sql, batch)


def _rows(db: sqlite3.Connection, table: str, where: str, task: str) -> tuple[list[str], list[tuple[object, ...]]]:
    """Without numbers that the database gives out and nobody names."""
    info = db.execute(f"pragma table_info({table})").fetchall()
    given = {row[1] for row in info if row[5] == 1 and row[2].upper() == "INTEGER" and (table, row[1]) not in KEYS}
    columns = [row[1] for row in info if row[1] not in given]
    return columns, db.execute(f"select {', '.join(columns)} from {table} where {where}", {"task": task}).fetchall()


def _value(table: str, column: str, value: object, shift: int, names: Names) -> object:
    if (table, column) in KEYS | NAMES and isinstance(value, int):
        return value + shift
    if column in ("token_sha256", "merge_sha") and isinstance(value, str):
        return f"{shift:x}".rjust(len(value), value[0])
    return _renamed(value, names) if isinstance(value, str) else value


def _renamed(text: str, names: Names) -> str:
    for old, new in names:
        text = text.replace(old, new)
    return text


def _refs(repository: Path, wanted: Sequence[tuple[str, str]], task: str) -> None:
    """A reference like that of the first task for each copy, packed as git packs them."""
    git = ("git", "-C", str(repository))
    subprocess.run((*git, "pack-refs", "--all"), check=True)
    packed = repository / "packed-refs"
    found = (line.partition(" ") for line in packed.read_text().splitlines() if line[0] not in "#^")
    lines = {ref: commit for commit, _, ref in found}
    lines |= {ref.replace(task, name): lines[ref] for ref, name in wanted}
    text = "".join(f"{commit} {ref}\n" for ref, commit in sorted(lines.items()))
    packed.write_text(f"# pack-refs with: peeled fully-peeled sorted \n{text}")
