"""Door to what goes on. The only module that tells which agents are at work, and how a day's runs and phases ended."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from shared.store.database import Database

CUT_OFF = "cut off: the program ended"
NO_PROBLEM = ("KeyboardInterrupt", "Stopping", CUT_OFF)  # the owner's own doing, and what the next start takes up


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


class Activity:
    def __init__(self, db: Database) -> None:
        self._db = db

    def newest_run(self) -> int:
        """Its number; 0: there was none yet."""
        row = self._db.row("select coalesce(max(id), 0) as newest from agent_runs")
        return int(row["newest"]) if row else 0

    def open_runs(self, after: int = 0) -> tuple[OpenRun, ...]:
        """The oldest first; none that the same agent took up again since. `after`: only those with a higher number."""
        rows = self._db.rows(
            "select * from agent_runs where ended_at is null and id > ? and id in"
            " (select max(id) from agent_runs group by agent_name, task_id) order by id",
            (after,),
        )
        return tuple(
            OpenRun(r["id"], r["agent_name"], r["task_id"], datetime.fromisoformat(r["started_at"])) for r in rows
        )

    def bad_ends(self, day: str) -> tuple[BadEnd, ...]:
        """What broke off on that day and was not done again since."""
        rows = self._db.rows(
            "select agent_name, task_id, result from agent_runs where id in"
            " (select max(id) from agent_runs where day = ? group by agent_name, task_id)"
            " and result is not null and result <> 'done' order by id",
            (day,),
        )
        ends = (BadEnd(row["agent_name"], row["task_id"], row["result"]) for row in rows)
        return tuple(end for end in ends if not end.reason.startswith(NO_PROBLEM))

    def phases(self, day: str) -> tuple[Phase, ...]:
        """In the order in which they began."""
        rows = self._db.rows("select name, ended_at from phases where day = ? order by rowid", (day,))
        return tuple(Phase(row["name"], row["ended_at"] is not None) for row in rows)


def locked_since(lock: Path) -> datetime:
    """When the one who works on a home now began: he wrote his number into the lock."""
    return datetime.fromtimestamp(lock.stat().st_mtime, UTC)
