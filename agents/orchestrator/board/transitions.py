"""Event -> the next folder. What happened is booked first, the file is moved last; both can be repeated."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from sisimpur.agents.orchestrator.board.events import Events
from sisimpur.agents.orchestrator.board.session import AgentRuns, Session
from sisimpur.shared.model.errors import Unavailable
from sisimpur.shared.model.lifecycle import Event, State
from sisimpur.shared.model.schedule import Backoff, failed_again
from sisimpur.shared.model.work import TaskSpec
from sisimpur.shared.store.journal import Journal, MoveReason
from sisimpur.shared.store.task_records import NO_ATTEMPT, NewAttempt, Outcome
from sisimpur.shared.store.task_store import TaskStore
from sisimpur.shared.system.clock import Clock

FIRST, LONGEST = timedelta(minutes=10), timedelta(hours=6)  # that a task is backed off, twice as long each time


class Transitions:
    """`tell` prints one line of progress."""

    def __init__(self, store: TaskStore, journal: Journal, clock: Clock, tell: Callable[[str], None]) -> None:
        self.store = store
        self.journal = journal
        self._clock = clock
        self._tell = tell
        self._backed_off: dict[str, tuple[str, Backoff]] = {}  # why, and until when

    # -- tasks that nobody touches for a while ----------------------------------------------------------------

    @property
    def backed_off(self) -> Mapping[str, str]:
        """Tasks that nobody touches now, and why. The next start begins with none."""
        now = self._clock.now()
        return {task: why for task, (why, backoff) in self._backed_off.items() if backoff.lasts(now)}

    def back_off(self, task: str, why: str) -> None:
        """Leave a task for a while: something is wrong around it, and it costs no attempt. The others go on.

        The same words again are not told again.
        """
        told, before = self._backed_off.get(task, (None, None))
        if told != why:
            self._tell(f"{task}: {why}")
        self._backed_off[task] = why, failed_again(before, self._clock.now(), FIRST, LONGEST)

    def begins_anew(self, task: str) -> None:
        """Forget what stood in a task's way: it got on, or the owner has moved it."""
        self._backed_off.pop(task, None)

    # -- moves ------------------------------------------------------------------------------------------------

    def move(
        self,
        task: str,
        source: State,
        event: Event,
        note: str,
        outcome: Outcome | None = None,
        new: NewAttempt = NO_ATTEMPT,
    ) -> bool:
        """`outcome`: how the last attempt ended; the rest as in MoveReason.

        False if the owner was faster: then nothing was begun.
        """
        why = MoveReason(event, note, outcome, new)
        planned = self.journal.plan_move(task, source, why, self._clock.now())
        try:
            moved = self.store.move(task, planned.source, planned.target)
        except Unavailable:  # else a file that did not move would be taken for the owner's word
            self.journal.overtaken(planned, self._clock.now())
            raise
        if moved:
            self.journal.moved(planned)
            if event not in (Event.STARTED, Event.STUMBLED):
                self.begins_anew(task)
            return True
        self.journal.overtaken(planned, self._clock.now())
        self.back_off(task, "you have moved its file meanwhile")
        return False

    def says_still(self, task: str, asked: str) -> bool:
        """Whether the file of a task in review says what it said. It is read now: the owner may be writing."""
        spec = self.store.read(State.IN_REVIEW, task).spec
        return isinstance(spec, TaskSpec) and spec.asked == asked

    def recover(self) -> None:
        """Finish the moves that a kill cut off."""
        for planned in self.journal.unfinished_moves():
            found = self.store.find(planned.task)
            if planned.target in found or self.store.move(planned.task, planned.source, planned.target):
                self.journal.moved(planned)
            else:
                self.journal.overtaken(planned, self._clock.now())

    # -- new tasks --------------------------------------------------------------------------------------------

    def file(self, task: TaskSpec, note: str, worded: str, branch: str = "") -> None:
        """Write a task's file, then its first line of history; repeatable. `worded`, `branch`: see TaskRecord."""
        was_filed = self.store.add(task) or any(
            self.store.read(state, task.id).spec == task for state in self.store.find(task.id)
        )  # else by us before a kill, and still the same
        if was_filed:
            self.journal.born(task, State.BACKLOG, note, self._clock.now(), worded, branch)
        else:
            self._tell(f"{task.id}: a file of yours has this name; the planned task ({task.title}) was not written")


@dataclass(frozen=True)
class Bookkeeping:
    """How what is done is booked and told: the roles' runs, the tasks' moves, and what happened."""

    runs: AgentRuns
    transitions: Transitions
    events: Events

    @property
    def journal(self) -> Journal:
        return self.runs.journal

    @property
    def session(self) -> Session:
        return self.runs.session

    def now(self) -> datetime:
        return self.runs.session.now()

    def tell(self, words: str) -> None:
        """Print one line of progress."""
        self.runs.session.tell(words)
