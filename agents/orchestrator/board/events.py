"""What happened, told by the core to whoever wants to hear of it: memory, the roadmap, the plan, the reports."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sisimpur.shared.model.work import TaskSpec
from sisimpur.shared.store.task_records import TaskRecord


@dataclass(frozen=True)
class AttemptEnded:
    """A task's last attempt did not pass: its engine, its tests or its review."""

    task: str


@dataclass(frozen=True)
class GivenUp:
    """The attempts at a task are over, and nothing of it is merged."""

    known: TaskRecord
    spec: TaskSpec
    why: str


@dataclass(frozen=True)
class Merged:
    """A task's commit is on the branch that it was made for."""

    known: TaskRecord
    commit: str


@dataclass(frozen=True)
class TaskRejected:
    """The owner does not want a task's change."""

    known: TaskRecord


@dataclass(frozen=True)
class RolledBack:
    """A merged commit was sick where it was deployed. `note`: what was seen, as it is booked."""

    known: TaskRecord
    commit: str
    note: str


@dataclass(frozen=True)
class Morning:
    """VISION.md was read, or is about to be planned: what the owner has edited since counts."""

    day: str


@dataclass(frozen=True)
class DayPlanned:
    """The day's plan has changed, or may have."""

    day: str


@dataclass(frozen=True)
class Evening:
    """The day's work is over."""

    day: str


TeamEvent = AttemptEnded | GivenUp | Merged | TaskRejected | RolledBack | Morning | DayPlanned | Evening
Listener = Callable[[TeamEvent], str | None]  # -> what the owner has to mend, if anything


class Events:
    """The listeners, in the order in which they hear. An event is told before it is booked: it may be told twice."""

    def __init__(self, listeners: Sequence[Listener] = ()) -> None:
        self._listeners = tuple(listeners)

    def happened(self, event: TeamEvent) -> list[str]:
        """Tell every listener -> what the owner has to mend. What a listener raises is the caller's."""
        return [*self._problems(event)]

    def _problems(self, event: TeamEvent) -> Iterator[str]:
        for hear in self._listeners:
            if problem := hear(event):
                yield problem
