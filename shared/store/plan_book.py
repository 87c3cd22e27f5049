"""Door to plans. The only module that remembers what was wanted and planned: visions, questions, plans, phases."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sisimpur.shared.model.lifecycle import wording
from sisimpur.shared.model.schedule import Ran
from sisimpur.shared.model.work import DailyPlan, Goal, Guard, Question, Vision
from sisimpur.shared.store.database import Form, OfDatabase, row_to
from sisimpur.shared.system.fault import fault_point

MOST_TOLD = 5_000  # characters of a phase's problems
MOST_PLANS = 50  # that are looked through for a goal

VISION, GUARDS, PLAN = Form(Vision), Form(tuple[Guard, ...]), Form(DailyPlan)


@dataclass(frozen=True)
class Accepted:
    """The vision that was accepted last, and the guards that were found in it."""

    digest: str
    vision: Vision
    guards: tuple[Guard, ...]


@dataclass(frozen=True)
class Answer:
    """What the owner answered to a question."""

    question: str
    text: str
    at: str


class PlanRepository(OfDatabase):
    # -- visions and questions -----------------------------------------------------------------------------

    def accepted(self) -> Accepted | None:
        return self._db.made(_accepted, "select * from visions order by id desc limit 1")

    def guards(self) -> tuple[Guard, ...]:
        """List the guards that hold now."""
        found = self.accepted()
        return found.guards if found else ()

    def guarded(self) -> tuple[str, ...]:
        """Patterns of what the owner says now not to touch."""
        return tuple(pattern for guard in self.guards() for pattern in guard.patterns)

    def guards_before(self, day: str) -> tuple[Guard, ...]:
        """List the guards that held when that day began."""
        row = self._db.row("select guards_json from visions where day < ? order by id desc limit 1", (day,))
        return GUARDS.validate_json(row["guards_json"]) if row else ()

    def accept(
        self,
        day: str,
        accepted: Accepted,
        questions: Sequence[Question],
        wording: Mapping[str, str],
        read: Sequence[str] = (),
    ) -> None:
        """The vision of today, with the questions about it; `wording` by goal id (sisimpur.shared.model.lifecycle).

        `read`: notes of which all questions are among these: others are settled.
        """
        with self._db.transaction() as db:
            db.execute(
                "insert into visions (day, digest, vision_json, guards_json) values (?, ?, ?, ?)",
                (day, accepted.digest, _json(VISION, accepted.vision), _json(GUARDS, accepted.guards)),
            )
            _ask(db, day, questions, wording)
            left = sorted({*read} - {one.goal_id for one in questions})
            settled = "delete from questions where wording = '' and goal_id in (select value from json_each(?))"
            db.execute(settled, (json.dumps(left),))
        fault_point("vision.accepted")

    def ask(self, day: str, questions: Sequence[Question], wording: Mapping[str, str]) -> None:
        """Ask beside any vision or plan; `wording` by goal id."""
        with self._db.transaction() as db:
            _ask(db, day, questions, wording)
        fault_point("questions.asked")

    def asked(self, wording: Mapping[str, str]) -> tuple[Question, ...]:
        """Questions about goals and notes as they are worded now: to reword or remove one is an answer, too."""
        rows = self._db.rows(
            "select * from questions q where not exists (select 1 from answers a where a.goal_id = q.goal_id"
            " and a.wording = q.wording and a.question = q.text) order by rowid"
        )
        return tuple(row_to(Question, row) for row in rows if row["wording"] == wording.get(row["goal_id"]))

    def answer(self, question: Question, wording: str, text: str, now: datetime) -> None:
        """The owner's word: it is not asked any more, and the words stay with the goal as it is worded now."""
        values = (question.goal_id, wording, question.text, text, now.isoformat())
        self._db.write("insert or replace into answers values (?, ?, ?, ?, ?)", values)
        fault_point("answer.kept")

    def answers(self, goal: str, wording: str) -> tuple[Answer, ...]:
        """What the owner said of a goal as it is worded now, the oldest first."""
        rows = self._db.rows("select * from answers where goal_id = ? and wording = ? order by at", (goal, wording))
        return tuple(Answer(row["question"], row["text"], row["at"]) for row in rows)

    def answered(self, goal: Goal) -> Goal:
        """With what the owner answered about it: these are his words, as the goal is."""
        said = self.answers(goal.id, wording(goal))
        return replace(goal, details=(*goal.details, *(f'To "{one.question}" I answer: {one.text}' for one in said)))

    # -- plans ------------------------------------------------------------------------------------------------

    def book_planning(self, day: str) -> int:
        """Counts an attempt at the day's plan before the planner is asked -> how many there were."""
        with self._db.transaction() as db:
            db.execute(
                "insert into daily_plans (day, attempts) values (?, 1)"
                " on conflict (day) do update set attempts = attempts + 1",
                (day,),
            )
            attempts: int = db.execute("select attempts from daily_plans where day = ?", (day,)).fetchone()[0]
        fault_point("plan.booked")
        return attempts

    def book_reading(self, day: str) -> int:
        """Counts that a model is asked to read the vision, before it is -> how often it was on that day."""
        with self._db.transaction() as db:
            db.execute(
                "insert into daily_plans (day, readings) values (?, 1)"
                " on conflict (day) do update set readings = readings + 1",
                (day,),
            )
            readings: int = db.execute("select readings from daily_plans where day = ?", (day,)).fetchone()[0]
        fault_point("reading.booked")
        return readings

    def planning_attempts(self, day: str) -> int:
        row = self._db.row("select attempts from daily_plans where day = ?", (day,))
        return row["attempts"] if row else 0

    def keep_plan(self, plan: DailyPlan, wording: Mapping[str, str]) -> None:
        """The plan as decided; its task files are written from this, so a repetition writes the same ones."""
        with self._db.transaction() as db:
            db.execute(
                "insert into daily_plans (day, plan_json) values (?, ?)"
                " on conflict (day) do update set plan_json = excluded.plan_json",
                (plan.day, _json(PLAN, plan)),
            )
            _ask(db, plan.day, plan.questions, wording)
        fault_point("plan.kept")

    def left_over(self, day: str) -> tuple[Goal, ...]:
        """List what the last plan before that day left for another, or the owner put off; also the rest of a goal."""
        sql = "select plan_json from daily_plans where day < ? and plan_json is not null order by day desc limit 1"
        plan = self._db.made(_plan, sql, (day,)) or DailyPlan(day)
        return (*plan.deferred, *plan.held)

    def naming(self, goal: str, before: str) -> Iterator[DailyPlan]:
        """The plans before that day that hold a goal's id, the newest first; no more than MOST_PLANS."""
        sql = "select plan_json from daily_plans where day < ? and instr(plan_json, ?) > 0 order by day desc limit ?"
        rows = self._db.rows(sql, (before, f'"{goal}"', MOST_PLANS))
        return (PLAN.validate_json(row["plan_json"]) for row in rows)

    def plan(self, day: str) -> DailyPlan | None:
        return self._db.made(_plan, "select plan_json from daily_plans where day = ?", (day,))

    # -- the target -------------------------------------------------------------------------------------------

    def target(self) -> str:
        """The address of the repository that was planned for; empty: none yet."""
        row = self._db.row("select repo from target")
        return row["repo"] if row else ""

    def name_target(self, repo: str, now: datetime) -> None:
        self._db.write("insert or replace into target values (1, ?, ?)", (repo, now.isoformat()))
        fault_point("target.named")

    # -- phases -----------------------------------------------------------------------------------------------

    def phase_begins(self, day: str, name: str, now: datetime) -> None:
        self._db.write(
            "insert or ignore into phases (day, name, started_at) values (?, ?, ?)", (day, name, now.isoformat())
        )
        fault_point("phase.begun")

    def phase_ended(self, day: str, name: str, now: datetime, problem: str | None = "") -> None:
        """`problem`: what the owner has to mend, although it came to its end; None: what is known of it already."""
        self._db.write(
            "update phases set ended_at = ?, problem = coalesce(?, problem) where day = ? and name = ?",
            (now.isoformat(), problem, day, name),
        )
        fault_point("phase.ended")

    def phase_failed(self, day: str, name: str, problem: str) -> None:
        """Note that it did not come to its end."""
        self._db.write("update phases set problem = ? where day = ? and name = ?", (problem, day, name))
        fault_point("phase.failed")

    def phase_troubled(self, day: str, name: str, problem: str) -> None:
        """One more that the owner has to mend; the phase goes on, if it was begun at all."""
        with self._db.transaction() as db:
            row = db.execute("select problem from phases where day = ? and name = ?", (day, name)).fetchone()
            if row and problem not in row["problem"]:
                both = "; ".join(filter(None, (row["problem"], problem)))
                db.execute("update phases set problem = ? where day = ? and name = ?", (both[:MOST_TOLD], day, name))
        fault_point("phase.troubled")

    def phase_missed(self, day: str, name: str, now: datetime, why: str) -> None:
        """Note that it was not begun, and will not be. Nothing changes if it was."""
        self._db.write(
            "insert or ignore into phases (day, name, started_at, ended_at, problem, missed) values (?, ?, ?, ?, ?, 1)",
            (day, name, now.isoformat(), now.isoformat(), why),
        )
        fault_point("phase.missed")

    def phases_of(self, day: str) -> Mapping[str, Ran]:
        """Phases by name, in the order in which they were begun."""
        return {row["name"]: _ran(row) for row in self._phases(day)}

    def has_ended(self, day: str, name: str) -> bool:
        sql = "select 1 from phases where day = ? and name = ? and ended_at is not null"
        return self._db.row(sql, (day, name)) is not None

    def troubles(self, day: str) -> tuple[Trouble, ...]:
        return tuple(Trouble(row["name"], row["problem"]) for row in self._phases(day) if row["problem"])

    def _phases(self, day: str) -> list[sqlite3.Row]:
        return self._db.rows("select * from phases where day = ? order by rowid", (day,))

    def last_day(self, before: str) -> str:
        """The newest day before that one on which any phase was begun; empty: there was none."""
        row = self._db.row("select max(day) as day from phases where day < ?", (before,))
        return (row["day"] if row else "") or ""

    def forget_days_after(self, day: str) -> None:
        """A clock that was wrong has made them: they are still to come."""
        self._db.write("delete from phases where day > ?", (day,))
        fault_point("phases.forgotten")

    def newest_day(self) -> str:
        """Newest day on which any phase was begun or missed, also if it lies ahead; empty: there was none."""
        row = self._db.row("select max(day) as day from phases")
        return (row["day"] if row else "") or ""


def _accepted(rows: Sequence[sqlite3.Row]) -> Accepted | None:
    """The newest vision."""
    for row in rows:
        guards = GUARDS.validate_json(row["guards_json"])
        return Accepted(row["digest"], VISION.validate_json(row["vision_json"]), guards)
    return None


def _plan(rows: Sequence[sqlite3.Row]) -> DailyPlan | None:
    return next((PLAN.validate_json(row["plan_json"]) for row in rows if row["plan_json"]), None)


def _ran(row: sqlite3.Row) -> Ran:
    return row_to(Ran, row, begun=row["started_at"], ended=row["ended_at"])


def _ask(db: sqlite3.Connection, day: str, questions: Sequence[Question], wording: Mapping[str, str]) -> None:
    """A question belongs to the goal as it is worded now; asked again, it stays one. A note's newest words count."""
    for q in questions:
        if wording.get(q.goal_id) == "":
            now = [one.text for one in questions if one.goal_id == q.goal_id]
            sql = "delete from questions where goal_id = ? and wording = '' and text not in"
            sql += " (select value from json_each(?))"
            db.execute(sql, (q.goal_id, json.dumps(now)))
        values = (q.goal_id, wording.get(q.goal_id, ""), day, q.text, q.evidence)
        db.execute("insert or ignore into questions values (?, ?, ?, ?, ?)", values)


def _json(kind: Form[Any], value: object) -> str:
    return kind.dump_json(value).decode()


@dataclass(frozen=True)
class Trouble:
    """A phase of the day that had a problem."""

    phase: str
    text: str
