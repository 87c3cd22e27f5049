"""Door to tasks that are over. Finds the newest, and those that the owner is asked about."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from sisimpur.shared.model.lifecycle import Event, State, is_over
from sisimpur.shared.store.database import Database
from sisimpur.shared.store.journal import LAST, Journal
from sisimpur.shared.store.task_records import Happened, TaskRecord

MOST = 20  # that are shown of each kind, unless all are asked for
OF_LATE = """
    select t.id, e.id as newest, e.done and e.at < ? as settled
    from tasks t join task_events e on e.id = (select max(id) from task_events where task = t.id)
    where t.rowid in (select rowid from tasks where goal_id in (select value from json_each(?))
        union select rowid from tasks where id in (select value from json_each(?))
        union select rowid from tasks where id in (select task from task_events where at >= ?))
    order by +t.rowid"""


@dataclass(frozen=True)
class EndedWanted:
    """Which tasks are looked up: those of goals, others by their ids, and all that got on since a day."""

    goals: Iterable[str]
    others: Iterable[str]
    since: str


@dataclass(frozen=True)
class TaskLife:
    """`newest`: the number of what happened last."""

    newest: int
    record: TaskRecord
    history: tuple[Happened, ...]


class EndedTasks:
    def __init__(self, db: Database) -> None:
        self._db = db
        self._kept: dict[str, TaskLife] = {}  # of those that were asked for last

    def lives(self, wanted: EndedWanted, journal: Journal, today: str) -> dict[str, TaskLife]:
        """What the books say of each of these tasks, in the order in which they were first seen.

        One that was over before today changes no more: it is read once, and again if anything happens to it.
        """
        ids = json.dumps(sorted(wanted.goals)), json.dumps(sorted(wanted.others))
        rows = self._db.rows(OF_LATE, (today, *ids, wanted.since))
        kept = {
            one.record.id: one for row in rows if (one := self._kept.get(row["id"])) and one.newest == row["newest"]
        }
        unread = {row["id"]: row["newest"] for row in rows if row["id"] not in kept}
        histories = journal.histories(unread)
        for id_, record in journal.tasks(unread).items():
            kept[id_] = TaskLife(unread[id_], record, histories[id_])
        found = {row["id"]: kept[row["id"]] for row in rows}
        self._kept = {row["id"]: found[row["id"]] for row in rows if row["settled"] and _is_whole(found[row["id"]])}
        return found

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


def _is_whole(life: TaskLife) -> bool:
    return is_over(life.record.seen_in) and all(one.ended_at for one in life.record.attempts)
