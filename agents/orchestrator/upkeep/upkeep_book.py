"""Door to upkeep. The only module that remembers what the team proposed by itself, and on which days it looked."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from sisimpur.shared.model.work import Goal, TaskSpec
from sisimpur.shared.store.database import Form, OfDatabase
from sisimpur.shared.system.fault import fault_point

if TYPE_CHECKING:  # most homes propose nothing, and load nothing of it
    from sisimpur.agents.orchestrator.upkeep.upkeep import UpkeepLook, UpkeepProposal

GOAL, TASK = Form(Goal), Form(TaskSpec)


class UpkeepRepository(OfDatabase):
    def keep(self, look: UpkeepLook) -> None:
        """A day's look with all that it proposes. The first one of a day counts; another changes nothing."""
        with self._db.transaction() as db:
            notes = "\n".join(" ".join(note.split()) for note in look.notes)
            new = db.execute("insert or ignore into upkeep_looks (day, notes) values (?, ?)", (look.day, notes))
            for one in look.proposals if new.rowcount else ():
                goal, task = GOAL.dump_json(one.goal).decode(), TASK.dump_json(one.task).decode()
                values = (one.task.id, one.day, one.kind, one.subject, one.goal.id, goal, task)
                db.execute("insert into upkeep_proposals values (?, ?, ?, ?, ?, ?, ?)", values)
        fault_point("upkeep.looked")

    def look(self, day: str) -> UpkeepLook | None:
        """None: nobody has looked on that day."""
        row = self._db.row("select * from upkeep_looks where day = ?", (day,))
        if row is None:
            return None
        from sisimpur.agents.orchestrator.upkeep.upkeep import UpkeepLook

        proposed = self._db.rows("select * from upkeep_proposals where day = ? order by rowid", (day,))
        return UpkeepLook(day, tuple(filter(None, row["notes"].split("\n"))), tuple(map(_proposal, proposed)))

    def proposals(self) -> tuple[UpkeepProposal, ...]:
        """The oldest first."""
        return tuple(map(_proposal, self._db.rows("select * from upkeep_proposals order by rowid")))

    def failing_test(self, task: str) -> str:
        """What a task was proposed to mend, by the id of the runner; empty: it is about something else."""
        row = self._db.row("select subject from upkeep_proposals where task = ? and kind = 'failing test'", (task,))
        return row["subject"] if row else ""

    def goals(self) -> tuple[Goal, ...]:
        """Of the proposals, in their order."""
        return tuple(one.goal for one in self.proposals())


def _proposal(row: sqlite3.Row) -> UpkeepProposal:
    from sisimpur.agents.orchestrator.upkeep.upkeep import UpkeepProposal

    goal, task = GOAL.validate_json(row["goal_json"]), TASK.validate_json(row["task_json"])
    return UpkeepProposal(row["day"], row["kind"], row["subject"], goal, task)
