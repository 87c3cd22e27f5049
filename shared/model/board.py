"""What the orchestrator sees when it looks: the tasks as they lie in the folders, beside what history says of them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

from shared.model.gate import Policy, ReviewState
from shared.model.lifecycle import State, TaskLimits, Tried, owner_moved
from shared.model.naming import is_upkeep
from shared.model.work import Goal, TaskSpec


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

    @property
    def is_at_work(self) -> bool:
        return self.state is State.IN_PROGRESS


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

    def card(self, id_: str) -> Card | None:
        """Of one that is over, what its place says: its file is not read."""
        closed = next((state for state, ids in self.closed.items() if id_ in ids), None)
        return Card(id_, closed, None, closed) if closed else self.by_id.get(id_)

    @cached_property
    def under_way(self) -> tuple[Card, ...]:
        """What was begun, is not set aside and does not wait for the owner."""
        return tuple(card for card in self.cards if card.id in self.busy or _goes_on(card))

    @cached_property
    def in_a_circle(self) -> frozenset[str]:
        """The tasks that depend on themselves, over however many steps."""
        needs = {card.id: card.spec.depends_on for card in self.cards if card.spec and card.spec.depends_on}
        return frozenset(id_ for id_ in needs if id_ in _reachable(id_, needs))


def _goes_on(card: Card) -> bool:
    at_the_gates = card.submission is not None and not card.submission.told
    return not card.backed_off and (card.is_at_work or at_the_gates)


def wording(goal: Goal) -> str:
    """A goal's text as a short digest: a task and a question belong to one wording."""
    text = "\0".join((goal.title, *goal.details))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def is_lost_for_us(card: Card) -> bool:
    """The owner moved its file in a way that means nothing: nobody touches it until he moves it on."""
    return card.seen_in is not None and card.seen_in is not card.state and owner_moved(card.seen_in, card.state) is None


def waits_for(card: Card, board: Board) -> str:
    """Why the task cannot begin yet, in words; empty: it can."""
    if card.spec is None:
        return "its file cannot be read"
    if card.backed_off:
        return card.backed_off
    if card.waits or card.no_model:
        return card.waits or card.no_model
    if card.id in board.in_a_circle:
        return "its dependencies form a circle"
    for needed in card.spec.depends_on:
        other = board.card(needed)
        if other is None:
            return f"depends on {needed}, which does not exist"
        if other.state is not State.COMPLETED:
            return f"waits for {needed} ({other.state})"
    return _in_the_way(card.spec, board)


def _in_the_way(spec: TaskSpec, board: Board) -> str:
    """What changes the same files has its turn first, from the coder's hands to its merge or the owner's.

    What nobody asked for is in nobody's way: should both change the same lines, it is brought up to date.
    """
    for other in board.under_way:
        if is_upkeep(other.id) and not is_upkeep(spec.id):
            continue
        if other.id != spec.id and other.spec and share_files(spec, other.spec):
            return f"waits for {other.id}, which changes the same files"
    return ""


def share_files(one: TaskSpec, other: TaskSpec) -> bool:
    """Whether both may touch the same file; a task that names none may touch them all."""
    touched = [{path.casefold() for path in (*spec.files, *spec.new_files)} for spec in (one, other)]
    return not all(touched) or bool(touched[0] & touched[1])


def _reachable(start: str, needs: Mapping[str, Iterable[str]]) -> set[str]:
    found: set[str] = set()
    todo = list(needs[start])
    while todo:
        if (id_ := todo.pop()) not in found:
            found.add(id_)
            todo += needs.get(id_, ())
    return found
