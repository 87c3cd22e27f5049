"""Door to history. The only module that remembers what happened to tasks: events, attempts, intents.

Order rule: what is going to happen is written here first (durably), the file is renamed last; both can be repeated.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime

from sisimpur.shared.model.lifecycle import OPEN, Event, State, after
from sisimpur.shared.model.naming import branch_name, is_landing
from sisimpur.shared.model.work import Run, TaskSpec
from sisimpur.shared.store.database import Database
from sisimpur.shared.store.task_records import (
    NEWS,
    NO_ATTEMPT,
    Attempt,
    Happened,
    NewAttempt,
    Outcome,
    TaskPlaces,
    TaskRecord,
    attempt_of,
    find_records,
    happened,
    happened_by_task,
)
from sisimpur.shared.system.fault import fault_point

LAST = "not exists (select 1 from task_events l where l.task = e.task and l.id > e.id)"  # of an event `e`
ATTEMPT = "number, outcome, note, ended_at, round, refreshes, asked, refused"


@dataclass(frozen=True)
class MoveReason:
    """What happened. `outcome`: how the last attempt ended; `new`: what another one is for, if it begins one."""

    event: Event
    note: str = ""
    outcome: Outcome | None = None
    new: NewAttempt = NO_ATTEMPT


@dataclass(frozen=True)
class Planned:
    """A move of a task's file that was decided but is not known to be done."""

    id: int
    task: str
    event: Event
    source: State
    target: State


class Journal:
    def __init__(self, db: Database) -> None:
        self._db = db
        self._places = TaskPlaces(self._db)
        self._has_branches: bool | None = None  # whether any task was planned for one; None: nobody has asked

    # -- tasks: events and moves ------------------------------------------------------------------------------

    def born(self, spec: TaskSpec, state: State, note: str, now: datetime, wording: str = "", branch: str = "") -> None:
        """A task is seen for the first time; repeated calls change nothing."""
        self.all_born([(spec, state)], note, now, wording, branch)

    def all_born(
        self, tasks: Iterable[tuple[TaskSpec, State]], note: str, now: datetime, wording: str = "", branch: str = ""
    ) -> None:
        """Book tasks as `born` does, of many that came at once: the disk is waited for once."""
        self._has_branches = True if branch else self._has_branches
        with self._db.transaction() as db:
            for spec, state in tasks:
                head, at = branch_name(spec.id, spec.title), now.isoformat()
                found = db.execute(
                    "insert or ignore into tasks values (?, ?, ?, ?, ?, ?, ?, ?)",
                    (spec.id, spec.title, spec.goal_id, wording, spec.priority.value, at, branch, head),
                )
                if found.rowcount:
                    db.execute(
                        "insert into task_events (task, at, event, from_state, to_state, note, done)"
                        " values (?, ?, 'created', '', ?, ?, 1)",
                        (spec.id, at, state.value, note),
                    )
        fault_point("task.born")

    def plan_move(self, task: str, source: State, why: MoveReason, now: datetime) -> Planned:
        """Book the event, how the last attempt ended, and the attempt that it costs or gives back.

        The file is moved after this.
        """
        event, note, row = why.event, why.note, after(source, why.event)
        with self._db.transaction() as db:
            # a move that was done but could not be booked: the file lies at `source` now
            db.execute("update task_events set done = 1 where task = ? and done = 0", (task,))
            cursor = db.execute(
                "insert into task_events (task, at, event, from_state, to_state, note) values (?, ?, ?, ?, ?, ?)",
                (task, now.isoformat(), event.value, source.value, row.to.value, note),
            )
            if why.outcome:
                self._close(db, task, why.outcome, note, now)
            if row.attempts == "plus one":
                db.execute(
                    "insert into attempts (task, number, round, started_at, refreshes, asked)"
                    " select ?, coalesce(max(number), 0) + 1, coalesce(max(round), 0), ?, ?, ?"
                    " from attempts where task = ?",
                    (task, now.isoformat(), why.new.refreshes, why.new.asked, task),
                )
            if row.attempts == "zero":
                self._new_round(db, task, now)
        fault_point("claim.booked" if event is Event.STARTED else "move.booked")
        return Planned(cursor.lastrowid or 0, task, event, source, row.to)

    def moved(self, planned: Planned) -> None:
        self._db.write("update task_events set done = 1 where id = ?", (planned.id,))
        fault_point("move.known")

    def overtaken(self, planned: Planned, now: datetime) -> None:
        """The owner was faster: the planned move never happened, and what it booked is given back."""
        with self._db.transaction() as db:
            db.execute(
                "update task_events set done = 1, to_state = from_state, note = 'overtaken by the owner' where id = ?",
                (planned.id,),
            )
            if after(planned.source, planned.event).attempts == "plus one":
                self._close(db, planned.task, "void", "overtaken by the owner", now)
        fault_point("move.overtaken")

    def unfinished_moves(self) -> list[Planned]:
        rows = self._db.rows("select * from task_events where done = 0 order by id")
        return [
            Planned(r["id"], r["task"], Event(r["event"]), State(r["from_state"]), State(r["to_state"])) for r in rows
        ]

    # -- tasks: what is known of them -------------------------------------------------------------------------

    def places(self) -> Mapping[State, AbstractSet[str]]:
        """Return where history puts each task that was ever seen, by id. No more is read than what was booked since."""
        return self._places.now()

    def open_tasks(self) -> dict[str, TaskRecord]:
        """Tasks that are to be done, or in work. Here and below: by id, in the order in which they were first seen."""
        places = self.places()
        return self.tasks(id_ for state in OPEN for id_ in places[state])

    def tasks(self, ids: Iterable[str]) -> dict[str, TaskRecord]:
        """Records of those of these tasks that were ever seen."""
        if (wanted := _json(ids)) == "[]":
            return {}
        return find_records(self._db, "t.id in (select value from json_each(?))", (wanted,))

    def task(self, id_: str) -> TaskRecord | None:
        return self.tasks([id_]).get(id_)

    def merged_on(self, day: str) -> bool:
        """Whether anything was merged since that day began. An index on `at` answers it."""
        sql = "select 1 from task_events where at >= ? and event = ? limit 1"
        return self._db.row(sql, (day, Event.MERGED.value)) is not None

    def every_task(self) -> dict[str, TaskRecord]:
        """Records of all tasks ever seen, for whoever shows them all. It takes the longer the older a home is."""
        return find_records(self._db)

    def tasks_of(self, goals: Iterable[str], others: Iterable[str] = ()) -> dict[str, TaskRecord]:
        """Tasks that were made for these goals, however they were worded; and `others`, by their own ids."""
        where = (
            "t.rowid in (select rowid from tasks where goal_id in (select value from json_each(?))"
            " union select rowid from tasks where id in (select value from json_each(?)))"
        )
        return find_records(self._db, where, (_json(goals), _json(others)))

    def tasks_on(self, branch: str) -> dict[str, TaskRecord]:
        """Tasks that were planned for a goal's branch."""
        return find_records(self._db, "t.branch = ? and t.branch <> ''", (branch,))

    def tasks_on_branches(self) -> dict[str, TaskRecord]:
        """Tasks that were planned for the branch of any goal. Most homes have none, and are asked once."""
        if self._has_branches is None:
            self._has_branches = self._db.row("select 1 from tasks where branch <> '' limit 1") is not None
        return find_records(self._db, "t.branch <> ''") if self._has_branches else {}

    def ids_beginning(self, begin: str) -> set[str]:
        """The ids of tasks that begin so."""
        rows = self._db.rows("select id from tasks where id >= ?1 and id < ?1 || '~'", (begin,))
        return {row["id"] for row in rows}

    def sizes(self, goals: tuple[str, ...]) -> tuple[int, int]:
        """(tasks, landings left out; goals) of all that is not dropped, for goals whose ids begin with one of these."""
        where = " or ".join(["goal_id >= ? and goal_id < ? || '~'"] * len(goals))
        row = self._db.row(
            f"select count(*) tasks, count(distinct goal_id || ' ' || wording) goals from tasks where ({where})"  # noqa: S608
            f" and id not in (select task from task_events e where {LAST} and event = ?)",
            (*(begin for goal in goals for begin in (goal, goal)), Event.GOAL_REMOVED.value),
        )
        landings = [one for one in self.tasks_on_branches().values() if is_landing(one.id) and not one.is_dropped]
        return (row["tasks"] - sum(one.goal_id.startswith(goals) for one in landings), row["goals"]) if row else (0, 0)

    def lost(self) -> dict[str, str]:
        """The dropped ones for whose goal, as it was worded, no task was made since -> the day of it, YYYY-MM-DD."""
        rows = self._db.rows(
            f"select t.id, e.at from task_events e join tasks t on t.id = e.task where e.event = ? and {LAST}"  # noqa: S608
            " and not exists (select 1 from tasks o join task_events c on c.task = o.id and c.event = 'created'"
            " where o.goal_id = t.goal_id and o.wording = t.wording and c.id > e.id) order by t.rowid",
            (Event.GOAL_REMOVED.value,),
        )
        return {row["id"]: row["at"][:10] for row in rows}

    # -- tasks: what happened to them -------------------------------------------------------------------------

    def history(self, task: str) -> list[Happened]:
        rows = self._db.rows("select * from task_events where task = ? and event <> 'created' order by id", (task,))
        return [happened(row) for row in rows]

    def born_in(self, task: str) -> State:
        """Where its file lay when it was first seen; of one that nobody has seen yet: the backlog."""
        row = self._db.row("select to_state from task_events where task = ? and event = 'created'", (task,))
        return State(row["to_state"]) if row else State.BACKLOG

    def histories(self, tasks: Iterable[str]) -> dict[str, tuple[Happened, ...]]:
        """Histories of many; a task to which nothing has happened is there too."""
        among = "task in (select value from json_each(?)) and event <> 'created'"
        sql = f"select * from task_events where {among} order by id"  # noqa: S608
        found = self._db.made(happened_by_task, sql, (_json(tasks := [*tasks]),))
        return {task: found.get(task, ()) for task in tasks}

    def newest(self) -> int:
        """The number of what was booked last; 0: nothing was."""
        row = self._db.row("select max(id) from task_events")
        return (row[0] if row else 0) or 0

    def touched_after(self, number: int) -> dict[str, int]:
        """Tasks to which anything happened after what has this number -> the number of what happened last."""
        return {row["task"]: row["id"] for row in self._db.rows(NEWS, (number,))}

    def times_of(self, event: Event, first: str = "") -> dict[str, str]:
        """Return when it last happened to each task to which it did, from that day on. In the order of `tasks`."""
        rows = self._db.rows(
            "select task, max(at) at from task_events where event = ? and at >= ? group by task"
            " order by (select rowid from tasks where id = task)",
            (event.value, first),
        )
        return {row["task"]: row["at"] for row in rows}

    def merged_last(self, most: int) -> dict[str, str]:
        """The tasks that were merged last and are so still, landings left out -> when; at most so many."""
        rows = self._db.rows(
            f"select task, at from task_events e where event = ? and to_state = ? and {LAST}"  # noqa: S608
            " and not exists (select 1 from tasks where id = e.task and branch <> '' and id glob '[0-9]*-l[1-9]*')"
            " order by at desc, id desc limit ?",
            (Event.MERGED.value, State.COMPLETED.value, most),
        )
        return {row["task"]: row["at"] for row in rows}

    # -- attempts ---------------------------------------------------------------------------------------------

    def attempts(self, task: str) -> list[Attempt]:
        rows = self._db.rows(f"select {ATTEMPT} from attempts where task = ? order by number", (task,))  # noqa: S608
        return [attempt_of(row) for row in rows]

    def keep_refused(self, run: Run, paths: Sequence[str]) -> None:
        """Note what the engine of an attempt wanted to write and may not; what is known already is not said twice."""
        before = [path for one in self.attempts(run.task) if one.number == run.attempt for path in one.refused]
        every = json.dumps([*dict.fromkeys((*before, *paths))])
        self._db.write("update attempts set refused = ? where task = ? and number = ?", (every, run.task, run.attempt))
        fault_point("attempt.refused")

    def _close(self, db: sqlite3.Connection, task: str, outcome: Outcome, note: str, now: datetime) -> None:
        """An open attempt ends so; one that had led to a pull request ("ok") is judged anew by the gates."""
        judged_anew = outcome in ("sent back", "stale")
        db.execute(
            "update attempts as a set outcome = ?, note = ?, ended_at = ? where task = ? and (outcome is null"
            " or (? and outcome is 'ok' and number = (select max(number) from attempts b where b.task = a.task)))",
            (outcome, note, now.isoformat(), task, judged_anew),
        )
        if outcome != "ok":  # what a kill kept from being done for that attempt is not done any more
            db.execute(
                "update intents set state = 'void' where task = ? and state = 'planned' and key like task || '.a%'",
                (task,),
            )

    def _new_round(self, db: sqlite3.Connection, task: str, now: datetime) -> None:
        """The owner gives the attempts back: a void row opens the new round."""
        self._close(db, task, "void", "given back by the owner", now)
        db.execute(
            "insert into attempts (task, number, round, started_at, ended_at, outcome, note)"
            " select ?, coalesce(max(number), 0) + 1, coalesce(max(round), 0) + 1, ?, ?, 'void', 'a new round'"
            " from attempts where task = ?",
            (task, now.isoformat(), now.isoformat(), task),
        )

    # -- intents ----------------------------------------------------------------------------------------------

    def intend(self, key: str, kind: str, task: str, payload: str, now: datetime) -> bool:
        """True if the effect was already done. The same key with another payload is a bug of ours."""
        with self._db.transaction() as db:
            row = db.execute("select payload, state from intents where key = ?", (key,)).fetchone()
            if row and row["payload"] != payload:
                raise AssertionError(f"intent {key} was planned with another payload")
            if row is None:
                db.execute(
                    "insert into intents (key, kind, task, payload, state, at) values (?, ?, ?, ?, 'planned', ?)",
                    (key, kind, task, payload, now.isoformat()),
                )
        fault_point("intent.planned")
        return bool(row and row["state"] == "done")

    def outcome_of(self, key: str) -> str:
        """Return what came of an intent; empty: it is not done yet, or was never planned."""
        row = self._db.row("select external_id from intents where key = ? and state = 'done'", (key,))
        return row["external_id"] if row else ""

    def intended(self, key: str) -> bool:
        return self._db.row("select 1 from intents where key = ?", (key,)) is not None

    def has_closed(self, task: str, number: int) -> bool:
        """Tell whether we know of the closing of a task's pull request: it was ours, or was heeded."""
        sql = "select 1 from intents where kind = 'close' and task = ? and payload = ?"
        return self._db.row(sql, (task, str(number))) is not None

    def has_merged(self, task: str, commit: str) -> bool:
        """Tell whether we merged it, or were about to."""
        sql = "select 1 from intents where kind = 'merge' and task = ? and payload = ?"
        return self._db.row(sql, (task, commit)) is not None

    def merged_into(self, branch: str) -> dict[str, str]:
        """The tasks whose changes were merged into a goal's branch -> the newest commit of each there."""
        rows = self._db.rows(
            "select i.task, i.external_id from intents i join tasks t on t.id = i.task where t.branch = ?"
            " and i.kind in ('merge', 'merge by the owner') and i.state = 'done' order by i.rowid",
            (branch,),
        )
        return {row["task"]: row["external_id"] for row in rows}

    def gathered(self, task: str) -> str:
        """The commit of a goal's branch whose files a landing has brought last; empty: none yet."""
        sql = "select payload from intents where kind = 'gather' and task = ? order by rowid desc limit 1"
        row = self._db.row(sql, (task,))
        return row["payload"] if row else ""

    def merged_as(self, commits: Iterable[str]) -> dict[str, str]:
        """Find which of these commits on the target's branch we merged -> the tasks whose changes they are."""
        rows = self._db.rows(
            "select external_id, task from intents where kind = 'merge' and state = 'done'"
            " and external_id in (select value from json_each(?)) order by rowid",
            (_json(commits),),
        )
        return {row["external_id"]: row["task"] for row in rows}

    def reverts(self) -> frozenset[str]:
        """The commits on the target's branch by which we took others back."""
        sql = "select external_id from intents where task = '' and kind = 'merge of a revert' and state = 'done'"
        return frozenset(row["external_id"] for row in self._db.rows(sql))

    def achieved(self, key: str, external_id: str) -> None:
        self._db.write("update intents set state = 'done', external_id = ? where key = ?", (external_id, key))
        fault_point("intent.done")


def _json(names: Iterable[str]) -> str:
    return json.dumps(sorted(set(names)))
