"""Activity on a home: its daemons, one after the other, which agents are at work, how runs and phases ended.

Each daemon has a number, its epoch. A database that is guarded by it (shared.store.database) writes nothing once there
is a higher one: a daemon that was suspended and replaced can do no harm when it wakes up.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import ValidationError

from sisimpur.shared.machine.charging import charged
from sisimpur.shared.machine.pressure import MachineReading
from sisimpur.shared.model.schedule import Wait
from sisimpur.shared.model.work import ResourceUse, Run
from sisimpur.shared.store.database import Form, OfDatabase, when
from sisimpur.shared.system.clock import Clock
from sisimpur.shared.system.fault import fault_point

# --- runs and phases ------------------------------------------------------------------------------------------

CUT_OFF = "cut off: the program ended"
NO_PROBLEM = ("KeyboardInterrupt", "Stopping", CUT_OFF)  # the owner's own doing, and what the next start takes up
SIDE_BY_SIDE = 20  # runs; of more at once one that ends is not seen
END_OF_RUN = "update agent_runs set ended_at = ?, result = ?, cpu_s = ?, memory = ?, written = ? where id = ?"


@dataclass(frozen=True)
class OpenRun:
    """A run without an end: somebody is at work, or was when the machine died."""

    id: int
    agent: str
    task: str  # empty: of none
    since: datetime


@dataclass(frozen=True)
class BadEnd:
    """The last run of an agent on a task (empty: on none) in a day, if it broke off."""

    agent: str
    task: str
    reason: str


@dataclass(frozen=True)
class Phase:
    """A phase of a day that has begun. One with a problem has no end."""

    name: str
    ended: bool


class Activity(OfDatabase):
    @contextmanager
    def running(self, agent: str, day: str, clock: Clock, task: str = "", attempt: int = 0) -> Iterator[Run]:
        """One agent at work: its run has an end, however it ends."""
        run = self._begin_run(agent, day, clock.now(), task, attempt)
        with charged() as charge:
            try:
                yield run
            except BaseException as error:
                self._end_run(run, f"{type(error).__name__}: {error}", clock.now(), charge.use)
                raise
        self._end_run(run, "done", clock.now(), charge.use)

    def _begin_run(self, agent: str, day: str, now: datetime, task: str = "", attempt: int = 0) -> Run:
        with self._db.transaction() as db:
            cursor = db.execute(
                "insert into agent_runs (agent_name, day, task_id, attempt, started_at) values (?, ?, ?, ?, ?)",
                (agent, day, task, attempt, now.isoformat()),
            )
        fault_point("run.begun")
        return Run(cursor.lastrowid or 0, agent, day, task, attempt)

    def _end_run(self, run: Run, result: str, now: datetime, use: ResourceUse) -> None:
        self._db.write(END_OF_RUN, (now.isoformat(), result[:500], use.cpu, use.memory, use.written, run.id))
        fault_point("run.ended")

    def newest_run(self) -> int:
        """Number of the newest run; 0: there was none yet."""
        row = self._db.row("select coalesce(max(id), 0) as newest from agent_runs")
        return int(row["newest"]) if row else 0

    def newest_runs(self) -> tuple[tuple[int, bool], ...]:
        """The numbers of some, and whether each has ended. Another answer than before: somebody came or went."""
        rows = self._db.rows("select id, ended_at from agent_runs order by id desc limit ?", (SIDE_BY_SIDE,))
        return tuple((row["id"], row["ended_at"] is not None) for row in rows)

    def open_runs(self, after: int = 0) -> tuple[OpenRun, ...]:
        """The oldest first; none that the same agent took up again since. `after`: only those with a higher number."""
        rows = self._db.rows(
            "select * from agent_runs r where ended_at is null and id > ? and not exists (select 1 from agent_runs"
            " where agent_name = r.agent_name and task_id = r.task_id and id > r.id) order by id",
            (after,),
        )
        return tuple(
            OpenRun(r["id"], r["agent_name"], r["task_id"], datetime.fromisoformat(r["started_at"])) for r in rows
        )

    def last_end(self, agent: str) -> tuple[str, str, str]:
        """Of its newest run that has ended: the task, when, and how; empty: none has."""
        sql = (
            "select task_id, ended_at, result from agent_runs where agent_name = ? and ended_at is not null"
            " order by id desc limit 1"
        )
        row = self._db.row(sql, (agent,))
        return (row["task_id"], row["ended_at"], row["result"]) if row else ("", "", "")

    def bad_ends(self, day: str) -> tuple[BadEnd, ...]:
        """List what broke off on that day and was not done again since."""
        rows = self._db.rows(
            "select agent_name, task_id, result from agent_runs where id in"
            " (select max(id) from agent_runs where day = ? group by agent_name, task_id)"
            " and result is not null and result <> 'done' order by id",
            (day,),
        )
        ends = (BadEnd(row["agent_name"], row["task_id"], row["result"]) for row in rows)
        return tuple(end for end in ends if not end.reason.startswith(NO_PROBLEM))

    def taken(self, day: str) -> ResourceUse:
        """Sum up what the boxes of a day took, as far as their runs have ended."""
        row = self._db.row(
            "select coalesce(sum(cpu_s), 0.0) as cpu, coalesce(max(memory), 0) as memory,"
            " coalesce(sum(written), 0) as written from agent_runs where day = ?",
            (day,),
        )
        return ResourceUse(row["cpu"], row["memory"], row["written"]) if row else ResourceUse()

    def phases(self, day: str) -> tuple[Phase, ...]:
        """List them in the order in which they began."""
        rows = self._db.rows("select name, ended_at from phases where day = ? order by rowid", (day,))
        return tuple(Phase(row["name"], row["ended_at"] is not None) for row in rows)


def locked_since(lock: Path) -> datetime:
    """Return when the one who works on a home now began: he wrote his number into the lock."""
    return datetime.fromtimestamp(lock.stat().st_mtime, UTC)


# --- epochs ---------------------------------------------------------------------------------------------------

Told = TypeVar("Told")
Else = TypeVar("Else")
STOPPED = "stopped"  # as it was asked to
WAITS, MACHINE = Form(tuple[Wait, ...]), Form(MachineReading)


@dataclass(frozen=True)
class Epoch:
    """`seen`: its last sign of life. `ended` None: it is alive, or ended without a word. `how`: in words.

    `waits`: for what, at that sign of life; `machine`: what it had left; None: nobody has looked.
    """

    number: int
    pid: int
    began: datetime
    ready: datetime | None
    seen: datetime
    ended: datetime | None
    how: str
    waits: tuple[Wait, ...] = ()
    machine: MachineReading | None = None


class Epochs(OfDatabase):
    def begin(self, pid: int, now: datetime, kind: Literal["daemon", "run-day"] = "daemon") -> int:
        """By who holds the home's lock. What is still open belongs to the dead: it ends here -> our number."""
        with self._db.transaction() as db:
            db.execute(
                "update epochs set ended_at = coalesce(seen_at, ready_at, began_at), how = 'cut off'"
                " where ended_at is null"
            )
            db.execute(
                "update agent_runs set ended_at = ?, result = ? where ended_at is null", (now.isoformat(), CUT_OFF)
            )
            cursor = db.execute(
                "insert into epochs (kind, pid, began_at) values (?, ?, ?)", (kind, pid, now.isoformat())
            )
        fault_point("epoch.begun")
        return cursor.lastrowid or 0

    def ready(self, number: int, now: datetime) -> None:
        self._note(number, ready_at=now.isoformat())

    def seen(self, number: int, now: datetime, machine: MachineReading | None = None) -> None:
        """A sign of life. Replaced, if the database is guarded and another one has begun."""
        read = MACHINE.dump_json(machine).decode() if machine else ""
        self._note(number, seen_at=now.isoformat(), machine_json=read)

    def waits_for(self, number: int, waits: Sequence[Wait]) -> None:
        """Just now: nothing of it is true any more once it has ended."""
        self._note(number, waits_json=WAITS.dump_json(tuple(waits)).decode())

    def end(self, number: int, now: datetime, how: str) -> None:
        """The first end counts."""
        self._db.write(
            "update epochs set ended_at = ?, how = ? where number = ? and ended_at is null",
            (now.isoformat(), how, number),
        )
        fault_point("epoch.ended")

    def last(self) -> Epoch | None:
        """The newest daemon's."""
        row = self._db.row("select * from epochs where kind = 'daemon' order by number desc limit 1")
        return _epoch(row) if row else None

    def _note(self, number: int, **columns: str) -> None:
        named = ", ".join(f"{column} = ?" for column in columns)
        self._db.write(f"update epochs set {named} where number = ?", (*columns.values(), number))  # noqa: S608


def _epoch(row: sqlite3.Row) -> Epoch:
    began, ready = datetime.fromisoformat(row["began_at"]), when(row["ready_at"])
    seen = when(row["seen_at"]) or ready or began
    ended, waits = when(row["ended_at"]), _read(WAITS, row["waits_json"], ())
    machine = _read(MACHINE, row["machine_json"], None)
    return Epoch(row["number"], row["pid"], began, ready, seen, ended, row["how"], waits, machine)


def _read(form: Form[Told], text: str, otherwise: Else) -> Told | Else:
    """`otherwise`: nothing is written there, or another version of this program has written it."""
    try:
        return form.validate_json(text) if text else otherwise
    except ValidationError:
        return otherwise
