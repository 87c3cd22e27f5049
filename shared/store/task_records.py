"""Door to task records. The only module that sums up what history says of tasks: of those that are asked for alone."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from threading import Lock
from typing import Literal

from sisimpur.shared.model.lifecycle import Event, State, Tried
from sisimpur.shared.model.naming import branch_name, latin
from sisimpur.shared.store.database import Database, OfDatabase, when
from sisimpur.shared.system.fault import fault_point

Outcome = Literal["ok", "failed", "lost", "void", "sent back", "stale"]

EVENTS = {event.value: event for event in Event}  # quicker than to call the class
STATES = {state.value: state for state in State}
NEWS = "select * from task_events where id > ? order by id"
# A task's minutes are those of its newest round. A run that was cut off ended when nobody knows.
RECORDS = """
    select t.*, e.at, e.event, e.to_state, e.note,
        (select json_group_array(json_array(number, outcome, note, ended_at, round, refreshes, asked, refused))
            from attempts where task = t.id) as attempts,
        (select json_group_array(without) from waivers where task = t.id) as waived,
        (select sum(julianday(ended_at) - julianday(started_at)) * 1440 from agent_runs
            where task_id = t.id and task_id <> '' and ended_at is not null and result not like 'cut off%'
            and started_at >= (select min(started_at) from attempts where task = t.id
                and round = (select max(round) from attempts where task = t.id))) as minutes
    from tasks t join task_events e on e.id = (select max(id) from task_events where task = t.id)"""


@dataclass(frozen=True)
class Happened:
    at: str
    event: Event
    target: State
    note: str


@dataclass(frozen=True)
class Attempt:
    number: int
    outcome: Outcome | None  # None: open
    note: str
    ended_at: datetime | None
    round: int = 0  # +1 whenever the owner gives the attempts back
    refreshes: str = ""  # the commit that it brings up to date; empty: the coder works anew
    asked: str = ""  # digest of the task's words that it is for; empty: an earlier version began it
    refused: tuple[str, ...] = ()  # paths that its engine wanted to write and may not, as the model spelled them


@dataclass(frozen=True)
class NewAttempt:
    """What an attempt is begun for. `refreshes`: the commit that it updates; `asked`: digest of the task's words."""

    refreshes: str = ""
    asked: str = ""


NO_ATTEMPT = NewAttempt()


@dataclass(frozen=True)
class TaskRecord:
    """Record of a task in history: where its file should lie, and how often it was tried."""

    id: str
    title: str  # when it was first seen
    goal_id: str
    wording: str
    seen_in: State
    tried: Tried
    attempts: tuple[Attempt, ...] = ()
    branch: str = ""  # of its goal, that it was planned for; empty: the target's
    newest: Happened | None = None  # what happened to it last; None: nothing yet
    since: str = ""  # when that was; if nothing did, when it was first seen
    waived: frozenset[str] = frozenset()  # tasks that it begins without: the owner's word
    head: str = ""  # its own branch, which it keeps when the owner rewords it

    @property
    def last(self) -> Attempt | None:
        return self.attempts[-1] if self.attempts else None

    @property
    def asked(self) -> str:
        """Digest of the words that were coded last; empty: nothing was, or nobody kept it."""
        return next((one.asked for one in reversed(self.attempts) if one.outcome != "void"), "")

    @property
    def refused(self) -> tuple[str, ...]:
        """Paths that an engine wanted to write and may not, in any attempt."""
        return tuple(dict.fromkeys(path for one in self.attempts for path in one.refused))

    def is_for(self, asked: str) -> bool:
        """Tell whether what was coded last is for these words, as far as anybody knows."""
        return self.asked in ("", asked)

    @property
    def is_dropped(self) -> bool:
        """Tell whether its goal was taken away, and nothing has happened since: the same goal again is new."""
        return self.newest is not None and self.newest.event is Event.GOAL_REMOVED


def find_records(db: Database, where: str = "", values: Sequence[object] = ()) -> dict[str, TaskRecord]:
    """Records by id, as they were first seen. `where`: SQL on `t`, a row of `tasks`; empty: all of them."""
    return dict(db.made(_records, f"{RECORDS} {f'where {where}' if where else ''} order by +t.rowid", values))


class Waivers(OfDatabase):
    """What tasks begin without, although their files name it."""

    def keep(self, task: str, without: Iterable[str], why: str, now: datetime) -> None:
        """The owner's word; said again, the newer reason counts."""
        with self._db.transaction() as db:
            db.executemany(
                "insert or replace into waivers values (?, ?, ?, ?)",
                [(task, one, why, now.isoformat()) for one in without],
            )
        fault_point("waiver.kept")

    def of(self, task: str) -> list[tuple[str, str, str]]:
        """(the task that is not waited for, why, when), the oldest first."""
        rows = self._db.rows("select without, why, at from waivers where task = ? order by rowid", (task,))
        return [(row["without"], row["why"], row["at"]) for row in rows]


def attempt_of(row: Sequence[object] | sqlite3.Row) -> Attempt:
    """`row`: number, outcome, note, ended_at, round, refreshes, asked, refused."""
    number, outcome, note, ended, round_, refreshes, asked, refused = row
    paths = tuple(json.loads(str(refused)))
    return Attempt(number, outcome, note, when(ended), round_, refreshes, asked, paths)  # type: ignore[arg-type]


def happened(row: sqlite3.Row) -> Happened:
    return Happened(row["at"], EVENTS[row["event"]], STATES[row["to_state"]], row["note"])


def happened_by_task(rows: Iterable[sqlite3.Row]) -> dict[str, tuple[Happened, ...]]:
    """`rows`: of `task_events`, the oldest first."""
    found: dict[str, list[Happened]] = {}
    for row in rows:
        found.setdefault(row["task"], []).append(happened(row))
    return {task: tuple(all_) for task, all_ in found.items()}


class TaskPlaces:
    """Places where history puts each task: read once, then only what was booked since."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._lock = Lock()
        self._place: dict[str, State] = {}
        self._tasks: dict[State, set[str]] = {state: set() for state in State}
        self._settled = -1  # events up to this number are read, and change no more; -1: none is read yet

    def now(self) -> Mapping[State, AbstractSet[str]]:
        """The tasks that history puts into each folder, by id, and those that have no file any more."""
        with self._lock:
            if self._settled < 0:
                self._begin()
            self._go_on()
            return {state: frozenset(tasks) for state, tasks in self._tasks.items()}

    def _begin(self) -> None:
        row = self._db.row(
            "select coalesce((select min(id) - 1 from task_events where done = 0), max(id), 0) from task_events"
        )
        self._settled = row[0] if row else 0
        sql = (
            "select id, (select to_state from task_events where task = tasks.id and id <= ? order by id desc limit 1)"
            " from tasks"
        )
        self._place = {task: STATES[state] for task, state in self._db.rows(sql, (self._settled,)) if state}
        for task, state in self._place.items():
            self._tasks[state].add(task)

    def _go_on(self) -> None:
        """A move that is not known to be done may still be overtaken: it is read again the next time."""
        settled = True
        for row in self._db.rows(NEWS, (self._settled,)):
            self._put(row["task"], STATES[row["to_state"]])
            settled = settled and bool(row["done"])
            if settled:
                self._settled = row["id"]

    def _put(self, task: str, state: State) -> None:
        if (before := self._place.get(task)) is not None:
            self._tasks[before].discard(task)
        self._tasks[state].add(task)
        self._place[task] = state


def _records(rows: Iterable[sqlite3.Row]) -> dict[str, TaskRecord]:
    return {row["id"]: _record(row) for row in rows}


def _record(row: sqlite3.Row) -> TaskRecord:
    attempts = tuple(attempt_of(one) for one in sorted(json.loads(row["attempts"])))
    return TaskRecord(
        row["id"],
        row["title"],
        row["goal_id"],
        row["wording"],
        State(row["to_state"]),
        _tried(attempts, row["minutes"] or 0.0, row["note"] if row["event"] == Event.FUTILE else ""),
        attempts,
        row["branch"],
        None if row["event"] == "created" else happened(row),
        row["at"],
        frozenset(json.loads(row["waived"])),
        row["head"] or branch_name(row["id"], latin(row["title"])),
    )


def _tried(attempts: Iterable[Attempt], minutes: float, futile: str) -> Tried:
    """Attempts of the newest round; an open one counts as lost until it ends."""
    newest = max((one.round for one in attempts), default=0)
    ends = [one.outcome or "lost" for one in attempts if one.round == newest]
    failed, lost, sent_back, stale = (ends.count(end) for end in ("failed", "lost", "sent back", "stale"))
    return Tried(failed, lost, sent_back, stale, minutes, futile=futile)
