"""Event -> the next folder. What happened is booked first, the file is moved last; both can be repeated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from agents.orchestrator.team import Desk
from shared.model.errors import Unavailable
from shared.model.lifecycle import Event, State
from shared.model.schedule import back_off
from shared.model.work import TaskSpec
from shared.store.task_records import Outcome

FIRST, LONGEST = timedelta(minutes=10), timedelta(hours=6)  # that a task lies aside, twice as long each time


@dataclass(frozen=True)
class BackedOff:
    """A task that nobody touches for a while: something is wrong around it, and it costs no attempt."""

    why: str
    times: int
    since: datetime
    until: datetime


class Transitions:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._aside: dict[str, BackedOff] = {}

    @property
    def aside(self) -> Mapping[str, str]:
        """Tasks that nobody touches now, and why. The next start begins with none."""
        now = self._desk.clock.now()
        return {task: one.why for task, one in self._aside.items() if one.since <= now < one.until}

    def set_aside(self, task: str, why: str) -> None:
        """The other tasks go on. The same words again are not told again."""
        before = self._aside.get(task)
        times = before.times + 1 if before else 0
        if before is None or before.why != why:
            self._desk.tell(f"{task}: {why}")
        now = self._desk.clock.now()
        self._aside[task] = BackedOff(why, times, now, now + back_off(times, FIRST, LONGEST))

    def begins_anew(self, task: str) -> None:
        """It got on, or the owner has moved it: what stood in its way is over."""
        self._aside.pop(task, None)

    def move(
        self, task: str, source: State, event: Event, note: str, outcome: Outcome | None = None, refreshes: str = ""
    ) -> bool:
        """`outcome`: how the last attempt ended. False if the owner was faster: then nothing was begun."""
        desk = self._desk
        planned = desk.journal.plan_move(task, source, event, note, desk.clock.now(), outcome, refreshes)
        try:
            moved = desk.store.move(task, planned.source, planned.target)
        except Unavailable:  # else a file that did not move would be taken for the owner's word
            desk.journal.overtaken(planned, desk.clock.now())
            raise
        if moved:
            desk.journal.moved(planned)
            if event not in (Event.STARTED, Event.STUMBLED):
                self.begins_anew(task)
            return True
        desk.journal.overtaken(planned, desk.clock.now())
        self.set_aside(task, "you have moved its file meanwhile")
        return False

    def recover(self) -> None:
        """Moves that a kill cut off are finished."""
        desk = self._desk
        for planned in desk.journal.unfinished_moves():
            found = desk.store.find(planned.task)
            if planned.target in found or desk.store.move(planned.task, planned.source, planned.target):
                desk.journal.moved(planned)
            else:
                desk.journal.overtaken(planned, desk.clock.now())


def file_task(desk: Desk, task: TaskSpec, note: str, worded: str, branch: str = "") -> None:
    """The task's file, then its first line of history; repeatable after a kill. `worded`, `branch`: see TaskRecord."""
    if desk.store.add(task) or _is_ours(desk, task):
        desk.journal.born(task, State.BACKLOG, note, desk.clock.now(), worded, branch)
    else:
        desk.tell(f"{task.id}: a file of yours has this name; the planned task ({task.title}) was not written")


def _is_ours(desk: Desk, task: TaskSpec) -> bool:
    """Written by us before a kill, and still the same."""
    return any(desk.store.read(state, task.id).spec == task for state in desk.store.find(task.id))
