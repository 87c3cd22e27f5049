"""Door to tasks that are over. Finds the newest, and those that the owner is asked about."""

from __future__ import annotations

import json
from collections.abc import Iterable

from sisimpur.shared.model.lifecycle import Event, State
from sisimpur.shared.store.database import Database
from sisimpur.shared.store.journal import LAST

MOST = 20  # that are shown of each kind, unless all are asked for


class EndedTasks:
    def __init__(self, db: Database) -> None:
        self._db = db

    def of_late(self) -> frozenset[str]:
        """The newest of each kind, and those that the owner is asked about."""
        return self.given_up().union(*(self._newest(state) for state in (State.COMPLETED, State.FAILED)))

    def given_up(self) -> frozenset[str]:
        """Tasks in `failed` that the owner is asked about: not those that were cancelled, or went with their goal."""
        rows = self._db.rows(
            f"select task from task_events e where to_state = ? and event in (?, 'created') and {LAST}",  # noqa: S608
            (State.FAILED.value, Event.EXHAUSTED.value),
        )
        return frozenset(row["task"] for row in rows)

    def told(self, ids: Iterable[str]) -> dict[str, tuple[str, str]]:
        """Each of these that was ever seen: its title then, and the note of what happened last; empty: nothing did."""
        rows = self._db.rows(
            "select t.id, t.title, case event when 'created' then '' else e.note end from tasks t"
            " join task_events e on e.id = (select max(id) from task_events where task = t.id)"
            " where t.id in (select value from json_each(?))",
            (json.dumps(sorted(ids)),),
        )
        return {id_: (title, note) for id_, title, note in map(tuple, rows)}

    def _newest(self, state: State) -> list[str]:
        sql = f"select task from task_events e where to_state = ? and {LAST} order by id desc limit ?"  # noqa: S608
        return [row["task"] for row in self._db.rows(sql, (state.value, MOST))]
