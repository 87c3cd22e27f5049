"""Board -> Move. The one decision of the work phase: what is to be done next. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from sisimpur.agents.orchestrator.board import merge_queue
from sisimpur.agents.orchestrator.board.snapshot import urgency
from sisimpur.shared.model.gate import AskOwner, Judge, Merge, Refresh, RunTests, Step, next_step
from sisimpur.shared.model.lifecycle import Board, Card, Event, State, is_lost_for_us, owner_moved, waits_for
from sisimpur.shared.model.naming import is_upkeep
from sisimpur.shared.model.text import shortened

LONGEST_WHY = 80  # characters of why one task waits; `status` and what was told when it happened say all of it


@dataclass(frozen=True)
class AdoptTask:
    """A file that history does not know: the owner dropped a task."""

    task: str


@dataclass(frozen=True)
class ApplyOwnerMove:
    """The owner moved or deleted a file; `event` is what he says by it."""

    task: str
    event: Event


@dataclass(frozen=True)
class Deliver:
    """The commit stands: push it and open the pull request."""

    task: str


@dataclass(frozen=True)
class Rebase:
    """The same change on top of the new base. No model is asked."""

    task: str


@dataclass(frozen=True)
class AbandonAttempt:
    """An attempt was cut off before it led to a commit."""

    task: str


@dataclass(frozen=True)
class Gate:
    """A task in review: the next step at the gates."""

    task: str
    step: Step


@dataclass(frozen=True)
class StackRun:
    """Approved changes, on top of each other in this order: tested once for all of them."""

    tasks: tuple[str, ...]

    @property
    def task(self) -> str:
        return self.tasks[0]


@dataclass(frozen=True)
class CancelTask:
    """The vision does not want the task any more."""

    task: str
    why: str


@dataclass(frozen=True)
class GiveUp:
    """The attempts are used up."""

    task: str


@dataclass(frozen=True)
class CodeTask:
    task: str


@dataclass(frozen=True)
class Rest:
    """Nothing to do; `until` is set if something may be done then."""

    why: str
    until: datetime | None = None


Move = (
    AdoptTask
    | ApplyOwnerMove
    | Deliver
    | Rebase
    | AbandonAttempt
    | Gate
    | StackRun
    | CancelTask
    | GiveUp
    | CodeTask
    | Rest
)


def next_move(board: Board, now: datetime) -> Move:
    """What was begun is finished before anything new; the most urgent and oldest task comes first.

    A task whose file cannot be read stays where it is, whatever else is true of it; so does one that somebody
    works on.
    """
    cards = [card for card in board.cards if card.id not in board.busy]
    within_reach = [card for card in cards if not card.backed_off and not is_lost_for_us(card)]
    at_the_gates = partial(_at_the_gates, now=now, keeps_away=_owner_works(within_reach, board, now))
    for moves in (_owners, _unwanted, _begun, at_the_gates, _exhausted):
        for move in moves(within_reach, board):
            return move
    return _until_checked(_work(within_reach, board, now), within_reach, now)


def takes_long(move: Move) -> bool:
    """Somebody waits for an engine, tests or a model: it needs a free hand."""
    return isinstance(move, CodeTask | StackRun) or (isinstance(move, Gate) and isinstance(move.step, RunTests | Judge))


def _owners(cards: Sequence[Card], _: Board) -> Iterator[Move]:
    for card in cards:
        if card.seen_in is None:
            if card.spec is not None:
                yield AdoptTask(card.id)
        elif card.seen_in is not card.state and (event := owner_moved(card.seen_in, card.state)):
            yield ApplyOwnerMove(card.id, event)


def _begun(cards: Sequence[Card], _: Board) -> Iterator[Move]:
    for card in cards:
        if card.is_at_work and card.spec:
            if card.commit:
                yield Deliver(card.id)
            else:
                yield Rebase(card.id) if card.refreshes else AbandonAttempt(card.id)


def _at_the_gates(cards: Sequence[Card], board: Board, now: datetime, keeps_away: bool) -> Iterator[Move]:
    """The most urgent first. Who waits for the owner and was told so waits; a review waits for money.

    `keeps_away`: the long runs that show whether a proposal of ours is good wait for what the owner wants.
    """
    waiting = sorted((card for card in cards if card.submission and card.spec), key=urgency)
    stack = merge_queue.stack(waiting, board)
    if stack and board.free_workers and not board.held:
        yield StackRun(stack)
    for card in waiting:
        if card.submission is None or card.id in stack or merge_queue.has_to_wait(card, board):
            continue
        step = next_step(card.submission, board.policy)
        if keeps_away and is_upkeep(card.id) and isinstance(step, RunTests):
            continue
        if not _must_wait(step, card, board, now) and not asks_owner(card, board):
            yield Gate(card.id, step)


def _must_wait(step: Step, card: Card, board: Board, now: datetime) -> bool:
    match step:
        case Judge():
            return bool(board.no_model or card.no_model) or not board.free_workers
        case RunTests() | Refresh():  # what is brought up to date is tested next: before, another merge makes it stale
            return not board.free_workers
        case Merge():
            return bool(board.held) or bool(_checked_at(card, now))
        case _:
            return False


def _checked_at(card: Card, now: datetime) -> datetime | None:
    """When the checks of others are asked about again; None: that has come, or nobody waits for them."""
    others = card.submission.others if card.submission else None
    return others.read_again if others and others.read_again and others.read_again > now else None


def _until_checked(move: Move, cards: Sequence[Card], now: datetime) -> Move:
    """Nobody rests for longer than until then."""
    awaited = {card.id: at for card in cards if (at := _checked_at(card, now))}
    if not isinstance(move, Rest) or not awaited:
        return move
    words = f"{', '.join(awaited)}: others check it at the forge"
    return Rest(f"{words}; {move.why}", min(filter(None, (*awaited.values(), move.until))))


def asks_owner(card: Card, board: Board) -> bool:
    """It waits for his word, and he was told so."""
    if card.submission is None or not card.is_asked:
        return False
    step = next_step(card.submission, board.policy)
    return isinstance(step, AskOwner) and "\n".join(step.reasons) == card.submission.told


def _unwanted(cards: Sequence[Card], _: Board) -> Iterator[Move]:
    for card in cards:
        if card.refreshes:  # the gates decide about it: it may have been approved
            continue
        if card.unwanted and card.spec and card.state in (State.BACKLOG, State.IN_PROGRESS):
            yield CancelTask(card.id, card.unwanted)


def _exhausted(cards: Sequence[Card], board: Board) -> Iterator[Move]:
    for card in cards:
        if card.spec and card.state is State.BACKLOG and card.tried.exhausted(board.limits):
            yield GiveUp(card.id)


def _may_begin(card: Card, waiting: Sequence[Card], board: Board) -> bool:
    """A correction is nothing new to read. What strangers asked for never holds up the owner's own tasks."""
    counted = waiting if card.proposed else [one for one in waiting if not one.proposed]
    return bool(card.tried.sent_back) or len(counted) < board.open_pulls


def _owner_works(cards: Sequence[Card], board: Board, now: datetime) -> bool:
    """Something that the owner wants is worked on, or would be begun next."""
    move = _work([card for card in cards if not is_upkeep(card.id)], board, now)
    return isinstance(move, CodeTask) or any(not is_upkeep(id_) for id_ in board.busy)


def _work(cards: Sequence[Card], board: Board, now: datetime) -> Move:
    if board.held:
        return Rest(board.held)
    if not board.free_workers:
        return Rest(f"at work on {', '.join(sorted(board.busy))}")
    ready = [c for c in cards if c.state is State.BACKLOG and c.seen_in and not waits_for(c, board)]
    if not ready or board.no_model:
        return Rest(board.no_model or _why_none(board))
    waiting = [card for card in board.cards if card.is_asked]
    ready = [card for card in ready if _may_begin(card, waiting, board)]
    if not ready:
        return Rest(f"{len(waiting)} pull requests wait for you (limit {board.open_pulls}); see: python main.py status")
    awake = [c for c in ready if c.rests_until is None or c.rests_until <= now]
    if not awake:
        return Rest("waiting before the next attempt", min(c.rests_until for c in ready if c.rests_until))
    return CodeTask(min(awake, key=urgency).id)


def _why_none(board: Board) -> str:
    """What the waiting tasks wait for, in words; and what waits for the owner."""
    waiting = [card for card in board.cards if card.state is State.BACKLOG and card.spec and card.seen_in]
    why = [f"{card.id} {shortened(waits_for(card, board), LONGEST_WHY)}" for card in waiting[:5]]
    asking = [card.id for card in board.cards if asks_owner(card, board) or card.id in board.stuck]
    if asking:
        who = ", ".join((*asking[:5], *(["..."] if asking[5:] else [])))
        why.append(f"{who} {'wait' if asking[1:] else 'waits'} for you; see: python main.py status")
    return "no task is ready" + (f": {'; '.join(why)}" if why else "")
