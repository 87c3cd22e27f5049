"""Door to the roadmap's books. The only module that remembers where the owner wants goals, and what ROADMAP.md said."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import date

from sisimpur.agents.orchestrator.roadmap.roadmap import DONE, FREE, SHOWN, GoalPin, Need
from sisimpur.agents.orchestrator.roadmap.weeks import monday_of
from sisimpur.shared.model.work import Priority
from sisimpur.shared.store.database import OfDatabase
from sisimpur.shared.system.fault import fault_point

FINISHED = "select * from roadmap_finished order by day, goal"
PINS = "select * from roadmap_pins order by rowid"
TEXTS = "select * from roadmap_texts order by number desc limit 2"  # of more than these all stand


@dataclass(frozen=True)
class RoadmapText:
    """What the file may hold, and what we had written when the owner began to edit it; empty: nothing."""

    holds: str
    base: str


class RoadmapRepository(OfDatabase):
    # -- the owner's words ------------------------------------------------------------------------------------

    def pins(self, wording: Mapping[str, str]) -> dict[str, GoalPin]:
        """By goal; `wording`: of the goals as they are now (shared.model.lifecycle). A goal that is gone has no pin.

        What was ticked and is worded anew is not done.
        """
        rows = self._db.rows(PINS)
        return {row["goal"]: GoalPin(row["goal"], row["place"], row["rank"]) for row in rows if _counts(row, wording)}

    def pin(self, changes: Iterable[GoalPin], wording: Mapping[str, str]) -> tuple[GoalPin, ...]:
        """The newest word about each goal counts -> those that say something new. Pins of goals that are gone go."""
        pins = self.pins(wording)
        new = tuple(change for change in changes if change.goal in wording and _is_new(change, pins.get(change.goal)))
        if not new and {row["goal"] for row in self._db.rows(PINS)} <= {*pins}:
            return ()
        with self._db.transaction() as db:
            for change in new:
                db.execute("delete from roadmap_pins where goal = ?", (change.goal,))
                if change.place != FREE:
                    values = (change.goal, change.place, change.rank, wording[change.goal])
                    db.execute("insert into roadmap_pins values (?, ?, ?, ?)", values)
            for row in db.execute("select * from roadmap_pins").fetchall():
                if not _counts(row, wording):
                    db.execute("delete from roadmap_pins where goal = ?", (row["goal"],))
        fault_point("roadmap.pinned")
        return new

    # -- what we wrote ----------------------------------------------------------------------------------------

    def texts(self) -> tuple[RoadmapText, ...]:
        """What the file may hold, or did before the owner's edit: one, or after a kill one of two, the newest first."""
        rows = self._db.rows(TEXTS)
        found = [RoadmapText(row["text"], row["text"]) for row in rows[:1]]
        if rows and not rows[0]["stands"]:
            found.append(RoadmapText(rows[0]["replaces"], rows[1]["text"] if rows[1:] else ""))
        return tuple(found)

    def intend(self, text: str, replaces: str = "") -> None:
        """Before it is written. `replaces`: what stands there now, the owner's edits with it."""
        with self._db.transaction() as db:
            db.execute("delete from roadmap_texts where stands = 0")
            db.execute("insert into roadmap_texts (text, replaces) values (?, ?)", (text, replaces))
        fault_point("roadmap.intended")

    def stands(self, text: str) -> None:
        """As written(), of one that may be known."""
        if any(row["text"] == text and not row["stands"] for row in self._db.rows(TEXTS)):
            self.written(text)

    def written(self, text: str) -> None:
        """It is what the file holds, or did before the owner's edit. Older ones are not asked about any more."""
        with self._db.transaction() as db:
            db.execute("update roadmap_texts set stands = 1 where text = ? and stands = 0", (text,))
            db.execute("delete from roadmap_texts where number < (select max(number) from roadmap_texts where stands)")
        fault_point("roadmap.written")

    def withdraw(self) -> None:
        """What was intended is not written."""
        self._db.write("delete from roadmap_texts where stands = 0")
        fault_point("roadmap.withdrawn")

    # -- what is done -----------------------------------------------------------------------------------------

    def finished(self) -> dict[str, Need]:
        """Goals that are done, by id; also such as are not in the vision any more."""
        return {row["goal"]: _need(row) for row in self._db.rows(FINISHED)}

    def finish(self, done: Iterable[Need], wanted: Collection[str], today: str) -> None:
        """`done`: goals with the day on which they were; `wanted`: all that are in the vision, so those are open again.

        What is not in the vision is forgotten when it is not shown any more.
        """
        rows = self._db.rows(FINISHED)
        new = {(need.id, need.title, need.priority.value, need.done_on, need.merged, need.cost) for need in done}
        goals, oldest = {values[0] for values in new}, monday_of(today) - SHOWN
        gone = [
            (row["goal"],)
            for row in rows
            if row["goal"] not in goals and (row["goal"] in wanted or date.fromisoformat(row["day"]) < oldest)
        ]
        new -= set(map(tuple, rows))
        if not gone and not new:
            return
        with self._db.transaction() as db:
            db.executemany("delete from roadmap_finished where goal = ?", gone)
            db.executemany("insert or replace into roadmap_finished values (?, ?, ?, ?, ?, ?)", sorted(new))
        fault_point("roadmap.finished")


def _is_new(change: GoalPin, before: GoalPin | None) -> bool:
    """What has no pin is free."""
    return change != before if change.place != FREE else before is not None


def _counts(row: sqlite3.Row, wording: Mapping[str, str]) -> bool:
    now = wording.get(row["goal"])
    return now is not None and (row["place"] != DONE or row["wording"] == now)


def _need(row: sqlite3.Row) -> Need:
    priority = Priority(row["priority"])
    return Need(row["goal"], row["title"], priority, row["tasks"], cost=row["cost"], done_on=row["day"])
