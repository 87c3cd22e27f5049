"""Door to the merge queue: the only module that remembers which changes were tested on top of each other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sisimpur.shared.store.database import OfDatabase
from sisimpur.shared.system.fault import fault_point


@dataclass(frozen=True)
class QueuePlace:
    """A task's place in a stack. `commit`: as it was approved. `trees`: see the schema; empty: it is tested alone."""

    task: str
    commit: str
    trees: tuple[str, ...] = ()
    together: tuple[str, ...] = ()


class QueueRepository(OfDatabase):
    def keep(self, places: Iterable[QueuePlace]) -> None:
        """All at once; each task has one place, the last."""
        with self._db.transaction() as db:
            db.executemany(
                "insert or replace into queue_places values (?, ?, ?, ?)",
                [(one.task, one.commit, " ".join(one.trees), " ".join(one.together)) for one in places],
            )
        fault_point("queue.kept")

    def forget(self, tasks: Iterable[str]) -> None:
        with self._db.transaction() as db:
            db.executemany("delete from queue_places where task = ?", [(task,) for task in tasks])
        fault_point("queue.forgotten")

    def place(self, task: str) -> QueuePlace | None:
        row = self._db.row("select * from queue_places where task = ?", (task,))
        if row is None:
            return None
        return QueuePlace(task, row["commit_id"], tuple(row["trees"].split()), tuple(row["together"].split()))
