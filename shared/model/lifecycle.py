"""A task's life as one table: (state, event) -> (state, what it costs). Folder, worker and legality are derived.

The laws that make it safe are proved by enumeration in tests/spec/test_lifecycle.py. The most important: without
the rows that cost an attempt the table has no circle, so no task can spend for ever.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Literal

from shared.model.errors import ImpossibleTransition
from shared.model.waiting import back_off

FIRST_REST, LONGEST_REST = timedelta(seconds=30), timedelta(minutes=10)  # of a task whose attempts were lost


class State(StrEnum):
    """Where a task is; the value is the folder below tasks/. A GONE task has no file any more."""

    BACKLOG = "backlog"
    IN_PROGRESS = "in_progress"
    IN_REVIEW = "in_review"
    COMPLETED = "completed"
    FAILED = "failed"
    GONE = "gone"


FOLDERS = tuple(state for state in State if state is not State.GONE)


class Event(StrEnum):
    """What happens to a task. The second half is the owner's: he speaks by commands or by moving files."""

    STARTED = "started"  # the coder takes it
    SUBMITTED = "submitted"  # a pull request is open at a commit
    STUMBLED = "stumbled"  # this attempt led to nothing
    RED = "red"  # its tests failed
    CHANGES = "changes requested"
    REFRESHED = "brought up to date"  # its base has moved: the same change, on top of the new one
    MERGED = "merged"
    SICK = "rolled back after its deployment"
    EXHAUSTED = "attempts used up"
    GOAL_REMOVED = "goal removed from VISION.md"
    RETRIED = "retried by the owner"
    WITHDRAWN = "taken back by the owner"
    CANCELLED = "cancelled by the owner"
    DONE_BY_OWNER = "done by the owner"
    DELETED = "file deleted by the owner"


OWNERS = frozenset(
    {Event.RETRIED, Event.WITHDRAWN, Event.CANCELLED, Event.DONE_BY_OWNER, Event.DELETED, Event.GOAL_REMOVED}
)

Attempts = Literal["kept", "plus one", "zero"]


@dataclass(frozen=True)
class Transition:
    to: State
    attempts: Attempts = "kept"


S, E = State, Event

TRANSITIONS: dict[tuple[State, Event], Transition] = {
    (S.BACKLOG, E.STARTED): Transition(S.IN_PROGRESS, "plus one"),
    (S.BACKLOG, E.EXHAUSTED): Transition(S.FAILED),
    (S.BACKLOG, E.GOAL_REMOVED): Transition(S.FAILED),
    (S.IN_PROGRESS, E.SUBMITTED): Transition(S.IN_REVIEW),
    (S.IN_PROGRESS, E.STUMBLED): Transition(S.BACKLOG),
    (S.IN_PROGRESS, E.EXHAUSTED): Transition(S.FAILED),
    (S.IN_PROGRESS, E.GOAL_REMOVED): Transition(S.FAILED),
    (S.IN_PROGRESS, E.WITHDRAWN): Transition(S.BACKLOG, "zero"),
    (S.IN_REVIEW, E.RED): Transition(S.BACKLOG),
    (S.IN_REVIEW, E.CHANGES): Transition(S.BACKLOG),
    (S.IN_REVIEW, E.REFRESHED): Transition(S.IN_PROGRESS, "plus one"),
    (S.IN_REVIEW, E.GOAL_REMOVED): Transition(S.FAILED),
    (S.IN_REVIEW, E.EXHAUSTED): Transition(S.FAILED),
    (S.IN_REVIEW, E.MERGED): Transition(S.COMPLETED),
    (S.COMPLETED, E.SICK): Transition(S.BACKLOG),
    (S.IN_REVIEW, E.WITHDRAWN): Transition(S.BACKLOG, "zero"),
    (S.FAILED, E.RETRIED): Transition(S.BACKLOG, "zero"),
    (S.COMPLETED, E.RETRIED): Transition(S.BACKLOG, "zero"),
    (S.GONE, E.RETRIED): Transition(S.BACKLOG, "zero"),
    **{(s, E.CANCELLED): Transition(S.FAILED) for s in (S.BACKLOG, S.IN_PROGRESS, S.IN_REVIEW)},
    **{(s, E.DONE_BY_OWNER): Transition(S.COMPLETED) for s in (S.BACKLOG, S.IN_PROGRESS, S.IN_REVIEW, S.FAILED)},
    **{(s, E.DELETED): Transition(S.GONE) for s in FOLDERS},
}

WORKERS: dict[State, str] = {S.BACKLOG: "coder", S.IN_PROGRESS: "coder", S.IN_REVIEW: "qa, then reviewer"}


def after(state: State, event: Event) -> Transition:
    """The row for what happened, or ImpossibleTransition."""
    try:
        return TRANSITIONS[state, event]
    except KeyError:
        raise ImpossibleTransition(f"a task in {state} cannot be {event}") from None


def is_over(state: State) -> bool:
    """Nobody but the owner can move it from here, or what becomes of it where it is deployed."""
    return all(event in OWNERS or event is Event.SICK for (at, event) in TRANSITIONS if at is state)


def owner_moved(seen_in: State, found_in: State) -> Event | None:
    """What the owner says by moving a task's file between folders; None: a move that means nothing to us."""
    for event in (E.RETRIED, E.WITHDRAWN, E.CANCELLED, E.DONE_BY_OWNER, E.DELETED):
        row = TRANSITIONS.get((seen_in, event))
        if row and row.to is found_in:
            return event
    return None


@dataclass(frozen=True)
class TaskLimits:
    """How much a task may take before the owner is asked."""

    failed: int = 3  # the engine came to no commit
    lost: int = 5  # the machine died under it: not the task's fault, but no crash loop either
    rounds: int = 3  # of correction: sent back by the tests, the review or a conflict
    refreshed: int = 20  # its base has moved under it
    minutes: float = 240  # that agents worked on it
    tokens: int = 3_000_000  # in its whole life, as its money


@dataclass(frozen=True)
class Tried:
    """Attempts since the owner last gave them back, by how they ended. An open one counts as lost until it ends."""

    failed: int = 0
    lost: int = 0
    sent_back: int = 0
    stale: int = 0
    minutes: float = 0
    tokens: int = 0

    def exhausted(self, limits: TaskLimits) -> str:
        """What is used up, in words; empty: it may be tried again.

        The first try is no round of correction: the fourth time that it is sent back is the end of three rounds.
        """
        if self.tokens >= limits.tokens:
            return f"it has used {self.tokens:,} tokens (config/policy.yaml, attempts.tokens)"
        if self.minutes >= limits.minutes:
            return f"it has been worked on for {self.minutes:.0f} minutes (config/policy.yaml, attempts.minutes)"
        tried = self.failed >= limits.failed or self.lost >= limits.lost or self.sent_back > limits.rounds
        return "its attempts are used up" if tried or self.stale > limits.refreshed else ""


def pause_after(tried: Tried) -> timedelta:
    """How long a task rests after an attempt: what was lost waits longer each time, what failed may go on at once."""
    return back_off(tried.lost - 2, FIRST_REST, LONGEST_REST) if tried.lost >= 2 else timedelta()
