"""Door to history. The only module that remembers what happened to tasks: events, attempts, runs, intents.

Order rule: what is going to happen is written here first (durably), the file is renamed last; both can be repeated.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from shared.model.lifecycle import Event, State, Tried, after
from shared.model.naming import attempt_ref
from shared.model.work import Run, TaskSpec
from shared.store.database import Database
from shared.system.clock import Clock
from shared.system.fault import fault_point

Outcome = Literal["ok", "failed", "lost", "void", "sent back", "stale"]


@dataclass(frozen=True)
class Planned:
    """A move of a task's file that was decided but is not known to be done."""

    id: int
    task: str
    event: Event
    source: State
    target: State


@dataclass(frozen=True)
class PastEvent:
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


@dataclass(frozen=True)
class TaskRecord:
    """What history says of a task: where its file should lie, and how often it was tried."""

    id: str
    title: str  # when it was first seen
    goal_id: str
    wording: str
    seen_in: State
    tried: Tried
    last: Attempt | None
    branch: str = ""  # of its goal, that it was planned for; empty: the target's


class Journal:
    def __init__(self, db: Database) -> None:
        self._db = db

    # -- tasks: events and moves ------------------------------------------------------------------------------

    def born(self, spec: TaskSpec, state: State, note: str, now: datetime, wording: str = "", branch: str = "") -> None:
        """A task is seen for the first time; repeated calls change nothing."""
        self.all_born([(spec, state)], note, now, wording, branch)

    def all_born(
        self,
        tasks: Iterable[tuple[TaskSpec, State]],
        note: str,
        now: datetime,
        wording: str = "",
        branch: str = "",
    ) -> None:
        """As `born`, of many that came at once: the disk is waited for once."""
        with self._db.transaction() as db:
            for spec, state in tasks:
                self._born(db, spec, state, note, now, wording, branch)
        fault_point("task.born")

    def _born(
        self, db: sqlite3.Connection, spec: TaskSpec, state: State, note: str, now: datetime, wording: str, branch: str
    ) -> None:
        found = db.execute(
            "insert or ignore into tasks values (?, ?, ?, ?, ?, ?, ?)",
            (spec.id, spec.title, spec.goal_id, wording, spec.priority.value, now.isoformat(), branch),
        )
        if found.rowcount:
            db.execute(
                "insert into task_events (task, at, event, from_state, to_state, note, done)"
                " values (?, ?, 'created', '', ?, ?, 1)",
                (spec.id, now.isoformat(), state.value, note),
            )

    def plan_move(
        self,
        task: str,
        source: State,
        event: Event,
        note: str,
        now: datetime,
        outcome: Outcome | None = None,
        refreshes: str = "",
    ) -> Planned:
        """Books the event, how the last attempt ended, and the attempt that it costs or gives back.

        `refreshes`: the commit that the new attempt brings up to date. The file is moved after this.
        """
        row = after(source, event)
        with self._db.transaction() as db:
            # a move that was done but could not be booked: the file lies at `source` now
            db.execute("update task_events set done = 1 where task = ? and done = 0", (task,))
            cursor = db.execute(
                "insert into task_events (task, at, event, from_state, to_state, note) values (?, ?, ?, ?, ?, ?)",
                (task, now.isoformat(), event.value, source.value, row.to.value, note),
            )
            if outcome:
                self._close(db, task, outcome, note, now)
            if row.attempts == "plus one":
                db.execute(
                    "insert into attempts (task, number, round, started_at, refreshes)"
                    " select ?, coalesce(max(number), 0) + 1, coalesce(max(round), 0), ?, ?"
                    " from attempts where task = ?",
                    (task, now.isoformat(), refreshes, task),
                )
            if row.attempts == "zero":
                self._new_round(db, task, now)
        fault_point("claim.booked" if event is Event.STARTED else "move.booked")
        return Planned(cursor.lastrowid or 0, task, event, source, row.to)

    def moved(self, planned: Planned) -> None:
        with self._db.transaction() as db:
            db.execute("update task_events set done = 1 where id = ?", (planned.id,))
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

    def known(self) -> dict[str, TaskRecord]:
        """Every task that was ever seen, by id."""
        rows = self._db.rows(
            "select t.*, e.to_state from tasks t join task_events e on e.id ="
            " (select max(id) from task_events where task = t.id)"
        )
        tried, last = self._tried(), self._last_attempts()
        return {
            r["id"]: TaskRecord(
                r["id"],
                r["title"],
                r["goal_id"],
                r["wording"],
                State(r["to_state"]),
                tried.get(r["id"], Tried()),
                last.get(r["id"]),
                r["branch"],
            )
            for r in rows
        }

    def dropped(self) -> set[str]:
        """Tasks whose goal was taken away, and nothing since: the same goal again is new."""
        rows = self._db.rows(
            "select task from task_events where event = ? and id in (select max(id) from task_events group by task)",
            (Event.GOAL_REMOVED.value,),
        )
        return {row["task"] for row in rows}

    def lost(self) -> dict[str, str]:
        """The dropped ones for whose goal, as it was worded, no task was made since -> the day of it, YYYY-MM-DD."""
        rows = self._db.rows(
            "select t.id, e.at from tasks t join task_events e on e.task = t.id and e.event = ?"
            " and e.id = (select max(id) from task_events where task = t.id) where not exists"
            " (select 1 from tasks o join task_events c on c.task = o.id and c.event = 'created'"
            " where o.goal_id = t.goal_id and o.wording = t.wording and c.id > e.id)",
            (Event.GOAL_REMOVED.value,),
        )
        return {row["id"]: row["at"][:10] for row in rows}

    def history(self, task: str) -> list[PastEvent]:
        rows = self._db.rows("select * from task_events where task = ? and event <> 'created' order by id", (task,))
        return [PastEvent(r["at"], Event(r["event"]), State(r["to_state"]), r["note"]) for r in rows]

    # -- attempts ---------------------------------------------------------------------------------------------

    def attempts(self, task: str) -> list[Attempt]:
        rows = self._db.rows("select * from attempts where task = ? order by number", (task,))
        return [_attempt(row) for row in rows]

    def attempt_refs(self, task: str) -> list[str]:
        """Where the commits of its attempts would stand in our mirror."""
        return [attempt_ref(task, attempt.number) for attempt in self.attempts(task)]

    def _last_attempts(self) -> dict[str, Attempt]:
        rows = self._db.rows("select *, max(number) from attempts group by task")
        return {row["task"]: _attempt(row) for row in rows}

    def _tried(self) -> dict[str, Tried]:
        """Of the newest round; an open attempt counts as lost until it ends."""
        rows = self._db.rows(
            "select task, sum(outcome is 'failed') failed, sum(coalesce(outcome, 'lost') = 'lost') lost,"
            " sum(outcome is 'sent back') sent_back, sum(outcome is 'stale') stale from attempts a"
            " where round = (select max(round) from attempts b where b.task = a.task) group by task"
        )
        minutes = self._minutes()
        return {
            r["task"]: Tried(r["failed"], r["lost"], r["sent_back"], r["stale"], minutes.get(r["task"], 0.0))
            for r in rows
        }

    def _minutes(self) -> dict[str, float]:
        """That agents worked on a task in its newest round. A run that was cut off ended when nobody knows."""
        rows = self._db.rows(
            "select task_id, sum(julianday(ended_at) - julianday(started_at)) * 1440 minutes from agent_runs"
            " where task_id <> '' and ended_at is not null and result not like 'cut off%' and started_at >="
            " (select min(started_at) from attempts a where a.task = task_id"
            " and round = (select max(round) from attempts b where b.task = a.task)) group by task_id"
        )
        return {row["task_id"]: row["minutes"] for row in rows}

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

    # -- runs -------------------------------------------------------------------------------------------------

    @contextmanager
    def running(self, agent: str, day: str, clock: Clock, task: str = "", attempt: int = 0) -> Iterator[Run]:
        """One agent at work: its run has an end, however it ends."""
        run = self._begin_run(agent, day, clock.now(), task, attempt)
        try:
            yield run
        except BaseException as error:
            self._end_run(run, f"{type(error).__name__}: {error}", clock.now())
            raise
        self._end_run(run, "done", clock.now())

    def _begin_run(self, agent: str, day: str, now: datetime, task: str = "", attempt: int = 0) -> Run:
        with self._db.transaction() as db:
            cursor = db.execute(
                "insert into agent_runs (agent_name, day, task_id, attempt, started_at) values (?, ?, ?, ?, ?)",
                (agent, day, task, attempt, now.isoformat()),
            )
        fault_point("run.begun")
        return Run(cursor.lastrowid or 0, agent, day, task, attempt)

    def _end_run(self, run: Run, result: str, now: datetime) -> None:
        with self._db.transaction() as db:
            db.execute(
                "update agent_runs set ended_at = ?, result = ? where id = ?", (now.isoformat(), result[:500], run.id)
            )
        fault_point("run.ended")

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
        """What came of an intent; empty: it is not done yet, or was never planned."""
        row = self._db.row("select external_id from intents where key = ? and state = 'done'", (key,))
        return row["external_id"] if row else ""

    def intended(self, key: str) -> bool:
        return self._db.row("select 1 from intents where key = ?", (key,)) is not None

    def has_closed(self, task: str, number: int) -> bool:
        """Whether we know of the closing of a task's pull request: it was ours, or was heeded."""
        sql = "select 1 from intents where kind = 'close' and task = ? and payload = ?"
        return self._db.row(sql, (task, str(number))) is not None

    def has_merged(self, task: str, commit: str) -> bool:
        """Whether we merged it, or were about to."""
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

    def merges(self) -> dict[str, str]:
        """The commits on the target's branch that we merged -> the tasks whose changes they are."""
        rows = self._db.rows("select external_id, task from intents where kind = 'merge' and state = 'done'")
        return {row["external_id"]: row["task"] for row in rows}

    def reverts(self) -> frozenset[str]:
        """The commits on the target's branch by which we took others back."""
        rows = self._db.rows("select external_id from intents where kind = 'merge of a revert' and state = 'done'")
        return frozenset(row["external_id"] for row in rows)

    def achieved(self, key: str, external_id: str) -> None:
        with self._db.transaction() as db:
            db.execute("update intents set state = 'done', external_id = ? where key = ?", (external_id, key))
        fault_point("intent.done")


def _attempt(row: sqlite3.Row) -> Attempt:
    ended = _when(row["ended_at"])
    return Attempt(row["number"], row["outcome"], row["note"], ended, row["round"], row["refreshes"])


def _when(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
