"""Approved changes -> the merge queue: which are tested together, and which have to wait. Pure.

A change that was approved, and whose branch has moved since, has to be tested on top of what is there now. Several of
them are tested once, on top of each other; what comes out green is merged one by one, without another run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sisimpur.shared.model.evidence import Evidence
from sisimpur.shared.model.gate import Judge, Merge, Refresh, ReviewState, RunTests, next_step
from sisimpur.shared.model.lifecycle import Board, Card
from sisimpur.shared.model.naming import is_upkeep
from sisimpur.shared.model.work import Branch, Policy
from sisimpur.shared.store.queue_book import QueuePlace

MOST = 8  # changes of one stack: a red one costs three runs more


def stack(cards: Sequence[Card], board: Board) -> tuple[str, ...]:
    """The tasks to test together, in this order; empty: there are no two. `cards`: the most urgent first."""
    ready = [card for card in cards if is_ready(card, board.policy)]
    if _is_current(ready) or _is_taken(board):
        return ()
    apart: list[Card] = []
    for card in ready:
        if _found(card).turn != "alone" and _goes_with(card, apart):
            apart.append(card)
    return tuple(card.id for card in apart[:MOST]) if len(apart) > 1 else ()


def has_to_wait(card: Card, board: Board) -> bool:
    """A merge now would make the run of another one void, that is to be merged next."""
    if not is_ready(card, board.policy) or _has_turn(card, board):
        return False
    ready = [other for other in board.cards if is_ready(other, board.policy)]
    return _is_taken(board) or (_is_current(ready) and not _found(card).is_current)


def is_ready(card: Card, policy: Policy) -> bool:
    """It would be merged, if only it stood on top of what is there now."""
    found = card.submission
    if found is None or found.evidence is None or not found.into or is_upkeep(card.id):
        return False
    found = found if found.is_current else replace(found, is_current=True)
    return isinstance(next_step(found, policy), Merge)


def _is_current(ready: Iterable[Card]) -> bool:
    """One of them is merged at once: what is tested before that is tested for nothing."""
    return any(_found(card).is_current for card in ready)


def _goes_with(card: Card, others: Iterable[Card]) -> bool:
    """Into the same branch, and in no file that another one changes."""
    mine = _found(card)
    theirs = [_found(other) for other in others]
    return all(mine.into == one.into and not {*mine.paths} & {*one.paths} for one in theirs)


def _is_taken(board: Board) -> bool:
    return any(_has_turn(card, board) or _is_tested(card, board) for card in board.cards)


def _has_turn(card: Card, board: Board) -> bool:
    """It is the next of a stack that came out green."""
    return card.submission is not None and card.submission.turn == "now" and _goes_on(card, board)


def _is_tested(card: Card, board: Board) -> bool:
    """Somebody tests it to be merged next, alone or in a stack."""
    if card.submission is None or is_upkeep(card.id):
        return False
    if card.id in board.busy and is_ready(card, board.policy):
        return True
    return card.submission.is_again and not is_ready(card, board.policy) and _goes_on(card, board)


def _goes_on(card: Card, board: Board) -> bool:
    """Nobody has to be waited for before it is merged."""
    step = next_step(_found(card), board.policy)
    may_be_read = isinstance(step, Judge) and not (board.no_model or card.no_model)
    return may_be_read or isinstance(step, RunTests | Refresh | Merge)


def _found(card: Card) -> ReviewState:
    assert card.submission
    return card.submission


def proven(before: Evidence, branch: Branch, tree: str, place: QueuePlace) -> Evidence | None:
    """What a stack that came out green says of a change on the base where its turn has come; None: nothing.

    `before`: of its own test, as it was approved. `tree`: of the commit that is to be merged.
    """
    if not place.trees or tree != place.trees[-1]:
        return None
    return replace(before, commit=branch.commit, tree=tree, base=branch.base, together=place.together)
