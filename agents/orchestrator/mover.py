"""Event -> the next folder. What happened is booked first, the file is moved last; both can be repeated."""

from __future__ import annotations

from agents.orchestrator.team import Desk
from shared.domain.lifecycle import Event, State
from shared.edge.journal import Outcome


class Mover:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self.aside: dict[str, str] = {}  # tasks that nobody touches until the next start, and why

    def set_aside(self, task: str, why: str) -> None:
        """Told once; the other tasks go on."""
        self._desk.tell(f"{task}: {why}")
        self.aside[task] = why

    def move(
        self, task: str, source: State, event: Event, note: str, outcome: Outcome | None = None, refreshes: str = ""
    ) -> bool:
        """`outcome`: how the last attempt ended. False if the owner was faster: then nothing was begun."""
        desk = self._desk
        planned = desk.journal.plan_move(task, source, event, note, desk.clock.now(), outcome, refreshes)
        if desk.store.move(task, planned.source, planned.target):
            desk.journal.moved(planned)
            return True
        desk.journal.overtaken(planned, desk.clock.now())
        self.set_aside(task, "its file was moved by somebody else meanwhile; the next start looks again")
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
