"""A task's life as one table: (state, event) -> (state, what it costs). Folder, worker and legality are derived.

The laws that make it safe are proved by enumeration in tests/spec/test_lifecycle.py. The most important: without
the rows that cost an attempt the table has no circle, so no task can spend for ever. Below: the board, which is the
tasks as they lie in the folders, beside what history says of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from sisimpur.shared.model.naming import is_upkeep
from sisimpur.shared.model.schedule import back_off
from sisimpur.shared.model.text import sha256_of
from sisimpur.shared.model.work import Goal, Policy, TaskSpec

if TYPE_CHECKING:  # who looks at the board loads no evidence
    from sisimpur.shared.model.gate import ReviewState

FIRST_REST, LONGEST_REST = timedelta(seconds=30), timedelta(minutes=10)  # of a task whose attempts were lost


class State(StrEnum):
    """State of a task; the value is the folder below tasks/. A GONE task has no file any more."""

    BACKLOG = "backlog"
    IN_PROGRESS = "in_progress"
    IN_REVIEW = "in_review"
    COMPLETED = "completed"
    FAILED = "failed"
    GONE = "gone"


FOLDERS = tuple(state for state in State if state is not State.GONE)


class Event(StrEnum):
    """Event in a task's life. The second half is the owner's, who speaks by commands or by moving files."""

    STARTED = "started"  # the coder takes it
    SUBMITTED = "submitted"  # a pull request is open at a commit
    STUMBLED = "stumbled"  # this attempt led to nothing
    FUTILE = "no further attempt can help"  # nor did this one lead to anything
    GIVEN_BACK = "given back to the planner"  # it cannot be done as described: its goal is planned once more
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

OPEN = (S.BACKLOG, S.IN_PROGRESS, S.IN_REVIEW)  # somebody works on it
TRANSITIONS: dict[tuple[State, Event], Transition] = {
    (S.BACKLOG, E.STARTED): Transition(S.IN_PROGRESS, "plus one"),
    (S.BACKLOG, E.EXHAUSTED): Transition(S.FAILED),
    (S.BACKLOG, E.GIVEN_BACK): Transition(S.FAILED),
    (S.BACKLOG, E.GOAL_REMOVED): Transition(S.FAILED),
    (S.IN_PROGRESS, E.SUBMITTED): Transition(S.IN_REVIEW),
    (S.IN_PROGRESS, E.STUMBLED): Transition(S.BACKLOG),
    (S.IN_PROGRESS, E.FUTILE): Transition(S.BACKLOG),
    (S.IN_PROGRESS, E.EXHAUSTED): Transition(S.FAILED),
    (S.IN_PROGRESS, E.GOAL_REMOVED): Transition(S.FAILED),
    (S.IN_PROGRESS, E.WITHDRAWN): Transition(S.BACKLOG, "zero"),
    (S.IN_REVIEW, E.RED): Transition(S.BACKLOG),
    (S.IN_REVIEW, E.CHANGES): Transition(S.BACKLOG),
    (S.IN_REVIEW, E.FUTILE): Transition(S.BACKLOG),
    (S.IN_REVIEW, E.REFRESHED): Transition(S.IN_PROGRESS, "plus one"),
    (S.IN_REVIEW, E.GOAL_REMOVED): Transition(S.FAILED),
    (S.IN_REVIEW, E.EXHAUSTED): Transition(S.FAILED),
    (S.IN_REVIEW, E.MERGED): Transition(S.COMPLETED),
    (S.COMPLETED, E.SICK): Transition(S.BACKLOG),
    (S.IN_REVIEW, E.WITHDRAWN): Transition(S.BACKLOG, "zero"),
    (S.FAILED, E.RETRIED): Transition(S.BACKLOG, "zero"),
    (S.COMPLETED, E.RETRIED): Transition(S.BACKLOG, "zero"),
    (S.GONE, E.RETRIED): Transition(S.BACKLOG, "zero"),
    **{(s, E.CANCELLED): Transition(S.FAILED) for s in OPEN},
    **{(s, E.DONE_BY_OWNER): Transition(S.COMPLETED) for s in (*OPEN, S.FAILED)},
    **{(s, E.DELETED): Transition(S.GONE) for s in FOLDERS},
}


def after(state: State, event: Event) -> Transition:
    """The row for what happened, or ValueError."""
    try:
        return TRANSITIONS[state, event]
    except KeyError:
        raise ValueError(f"a task in {state} cannot be {event}") from None


def is_over(state: State) -> bool:
    """Tell whether only the owner can move it from here, or what becomes of it where it is deployed."""
    return all(event in OWNERS or event is Event.SICK for (at, event) in TRANSITIONS if at is state)


def owner_moved(seen_in: State, found_in: State) -> Event | None:
    """Return what the owner says by moving a task's file between folders; None: a move that means nothing to us."""
    moves = (E.RETRIED, E.WITHDRAWN, E.CANCELLED, E.DONE_BY_OWNER, E.DELETED)
    return next((one for one in moves if (row := TRANSITIONS.get((seen_in, one))) and row.to is found_in), None)


@dataclass(frozen=True)
class TaskLimits:
    """Limits of what a task may take before the owner is asked."""

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
    futile: str = ""  # why a further one cannot help

    def exhausted(self, limits: TaskLimits) -> str:
        """Return what is used up, in words; empty: it may be tried again.

        The first try is no round of correction: the fourth time that it is sent back is the end of three rounds.
        """
        if self.futile:
            return self.futile
        if self.tokens >= limits.tokens:
            return f"it has used {self.tokens:,} tokens (config/policy.yaml, attempts.tokens)"
        if self.minutes >= limits.minutes:
            return f"it has been worked on for {self.minutes:.0f} minutes (config/policy.yaml, attempts.minutes)"
        tried = self.failed >= limits.failed or self.lost >= limits.lost or self.sent_back > limits.rounds
        return "its attempts are used up" if tried or self.stale > limits.refreshed else ""


def pause_after(tried: Tried) -> timedelta:
    """Rest of a task after an attempt: what was lost waits longer each time, what failed may go on at once."""
    return back_off(tried.lost - 2, FIRST_REST, LONGEST_REST) if tried.lost >= 2 else timedelta()


# --- the board ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Card:
    """One task. `spec` is None while its file cannot be read; `seen_in` is None if history does not know it."""

    id: str
    state: State
    spec: TaskSpec | None
    seen_in: State | None
    tried: Tried = field(default_factory=Tried)
    open_attempt: int | None = None
    commit: str = ""  # of the open attempt, if it got that far
    refreshes: str = ""  # the commit that the open attempt brings up to date
    submission: ReviewState | None = None  # what waits at the gates, of a task in review
    rests_until: datetime | None = None
    unwanted: str = ""  # why the vision does not want it any more
    proposed: bool = False  # the owner has not asked for it: somebody else, in an issue, or nobody
    backed_off: str = ""  # why nobody touches it for a while
    waits: str = ""  # what has to happen elsewhere before it is begun
    no_model: str = ""  # why none is asked for it now, although one is for others
    waived: frozenset[str] = frozenset()  # tasks that it names and begins without: the owner's word
    unapproved: bool = False  # its plan waits for the owner's yes

    @property
    def is_at_work(self) -> bool:
        return self.state is State.IN_PROGRESS

    @property
    def is_asked(self) -> bool:
        return self.submission is not None and bool(self.submission.told)


@dataclass(frozen=True)
class Board:
    cards: tuple[Card, ...]
    limits: TaskLimits = field(default_factory=TaskLimits)
    no_model: str = ""  # why none is asked now: no money, or it is away
    policy: Policy = field(default_factory=Policy)
    open_pulls: int = 5  # the most that may wait for the owner
    busy: frozenset[str] = frozenset()  # tasks that somebody is working on
    free_workers: int = 1  # how many more may be worked on
    held: str = ""  # why nothing may be begun or merged now
    closed: Mapping[State, AbstractSet[str]] = field(default_factory=dict)  # tasks that are over, and have no card

    @cached_property
    def by_id(self) -> Mapping[str, Card]:
        return {card.id: card for card in self.cards}

    @cached_property
    def counts(self) -> Mapping[State, int]:
        """Number of tasks in each state, those without a card among them."""
        found = Counter(card.state for card in self.cards)
        found.update({state: len(ids) for state, ids in self.closed.items()})
        return found

    def card(self, id_: str) -> Card | None:
        """Find a card; of a task that is over, what its place says: its file is not read."""
        closed = next((state for state, ids in self.closed.items() if id_ in ids), None)
        return Card(id_, closed, None, closed) if closed else self.by_id.get(id_)

    @cached_property
    def under_way(self) -> tuple[Card, ...]:
        """Cards of what was begun, is not set aside and does not wait for the owner."""
        return tuple(card for card in self.cards if card.id in self.busy or _goes_on(card))

    @cached_property
    def _waits(self) -> Mapping[str, Sequence[str]]:
        """Each task that waits for others -> these; of both kinds."""
        found = {card.id: awaited(card, self) for card in self.cards if card.state is State.BACKLOG}
        return {id_: others for id_, others in found.items() if others}

    @cached_property
    def circle_of(self) -> Mapping[str, tuple[str, ...]]:
        """Each task of a circle -> all that wait for each other in it, by id."""
        return {id_: circle for circle in circles(self._waits) for id_ in circle}

    @cached_property
    def _followers(self) -> Mapping[str, Sequence[str]]:
        return _against(self._waits)

    @cached_property
    def stuck(self) -> Mapping[str, Obstacle]:
        """The tasks that only the owner can free, by id, each with what it is stuck on."""
        queue = (card for card in self.cards if card.state is State.BACKLOG)
        return {card.id: found for card in queue if (found := _stuck_on(card, self))}

    def behind(self, task: str) -> tuple[str, ...]:
        """The tasks that wait for this one, over however many steps."""
        found = _reachable(task, self._followers)
        return tuple(id_ for id_ in self._waits if id_ != task and id_ in found)


def _goes_on(card: Card) -> bool:
    return not card.backed_off and (card.is_at_work or (card.submission is not None and not card.is_asked))


def wording(goal: Goal) -> str:
    """A goal's text as a short digest: a task and a question belong to one wording."""
    text = "\0".join((goal.title, *goal.details))
    return sha256_of(text)[:16]


Worded = tuple[str, str]  # a goal's id and its wording


def worded(goal: Goal) -> Worded:
    return goal.id, wording(goal)


def is_lost_for_us(card: Card) -> bool:
    """The owner moved its file in a way that means nothing: nobody touches it until he moves it on."""
    return card.seen_in is not None and card.seen_in is not card.state and owner_moved(card.seen_in, card.state) is None


@dataclass(frozen=True)
class Obstacle:
    """What keeps a task from being begun, in words. `on`: the task that it is, if it is one."""

    why: str
    on: str = ""


def waits_for(card: Card, board: Board) -> str:
    """Say why the task cannot begin yet, in words; empty: it can."""
    if card.spec is None:
        return "its file cannot be read"
    if card.id in board.stuck:
        return board.stuck[card.id].why
    if elsewhere := card.backed_off or card.waits or card.no_model:
        return elsewhere
    for other in awaited(card, board):
        kind = "waits for" if other in card.spec.depends_on else "has its turn after"
        return f"{kind} {other} ({_state(other, board)}){', which is stuck' * (other in board.stuck)}"
    return _in_the_way(card.spec, board)


def awaited(card: Card, board: Board) -> tuple[str, ...]:
    """The tasks that it waits for now: those whose change it needs first, then those that have their turn before it.

    A turn is over when its task is, or waits for the owner; a change is there when it is completed. Waived: not waited.
    """
    if card.spec is None:
        return ()
    needed = (id_ for id_ in card.spec.depends_on if _state(id_, board) is not State.COMPLETED)
    turns = (id_ for id_ in card.spec.after if (one := board.card(id_)) and not (one.is_asked or is_over(one.state)))
    return tuple(id_ for id_ in dict.fromkeys((*needed, *turns)) if id_ not in card.waived)


def _state(task: str, board: Board) -> State:
    return found.state if (found := board.card(task)) else State.GONE


def _stuck_on(card: Card, board: Board) -> Obstacle | None:
    """Why nothing that the team does will let it begin; None: it will begin, sooner or later."""
    if card.id in board.circle_of:
        return Obstacle("its dependencies form a circle")
    for needed in awaited(card, board):
        state = _state(needed, board)
        if state is State.GONE:
            return Obstacle(f"depends on {needed}, which does not exist", needed)
        if state is State.FAILED:
            return Obstacle(f"needs the change of {needed}, which lies in failed/", needed)
    return Obstacle("its plan waits for your yes") if card.unapproved else None


def _in_the_way(spec: TaskSpec, board: Board) -> str:
    """Name the task that changes the same files and has its turn first, from the coder's hands to its merge.

    What nobody asked for is in nobody's way: should both change the same lines, it is brought up to date.
    """
    for other in board.under_way:
        if is_upkeep(other.id) and not is_upkeep(spec.id):
            continue
        if other.id != spec.id and other.spec and share_files(spec, other.spec):
            return f"waits for {other.id}, which changes the same files"
    return ""


def share_files(one: TaskSpec, other: TaskSpec) -> bool:
    """Tell whether both may touch the same file; a task that names none may touch them all."""
    touched = [{path.casefold() for path in (*spec.files, *spec.new_files)} for spec in (one, other)]
    return not all(touched) or bool(touched[0] & touched[1])


def circles(waits: Mapping[str, Iterable[str]]) -> list[tuple[str, ...]]:
    """Groups of those that wait for each other, or for themselves; each task and each arrow is passed twice."""
    against, found, taken = _against(waits), [], set[str]()
    for start in reversed(_as_left(waits)):
        if start not in taken:
            group = _reachable(start, against, taken) | {start}
            taken |= group
            found += [tuple(sorted(group))] if len(group) > 1 or start in waits[start] else []
    return found


def _against(waits: Mapping[str, Iterable[str]]) -> Mapping[str, Sequence[str]]:
    found: dict[str, list[str]] = {}
    for id_, others in waits.items():
        for other in others:
            found.setdefault(other, []).append(id_)
    return found


def _as_left(waits: Mapping[str, Iterable[str]]) -> list[str]:
    """In the order in which a walk along the arrows leaves them: what is waited for first, but in a circle."""
    left, seen = [], set[str]()
    for start in waits:
        path = [] if start in seen else [(start, iter(waits[start]))]
        seen.add(start)
        while path:
            if (other := next((one for one in path[-1][1] if one in waits and one not in seen), "")) == "":
                left.append(path.pop()[0])
            else:
                seen.add(other)
                path.append((other, iter(waits[other])))
    return left


def _reachable(start: str, needs: Mapping[str, Iterable[str]], but: AbstractSet[str] = frozenset()) -> set[str]:
    found, todo = set[str](), list(needs.get(start, ()))
    while todo:
        if (id_ := todo.pop()) not in found and id_ not in but:
            found.add(id_)
            todo += needs.get(id_, ())
    return found
