"""Questions asked ahead, at half price: a batch's life as one table, and whether it pays. Pure; amounts: nano-dollars.

A batch of ours has one item. Its money is reserved while nobody knows what it costs; what nobody will ever know stays
booked at its worst case.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from shared.domain.ticket import State
from shared.domain.token_budget import Rates

KEPT = timedelta(days=29)  # for so long the vendor keeps what came of a batch
ENOUGH = 8  # nights that say something
NEWEST = 50  # that count
ONE_IN = 10  # nights, while asking ahead rests


class Stage(StrEnum):
    PLANNED = "planned"  # booked; whether it was sent is not known
    SENT = "sent"
    COLLECTED = "collected"
    VOID = "void"  # nothing was billed
    LOST = "lost"  # nobody will know


class Word(StrEnum):
    """What is heard of a batch."""

    TAKEN = "taken"  # the vendor has told its id
    REFUSED = "refused"  # before anything was generated, or nobody was there
    ANSWERED = "answered"
    UNANSWERED = "unanswered"  # the item errored, was canceled, or expired: the vendor bills none of them
    SILENT = "silent"  # it broke off, makes no sense, or is not there any more


# Read by the meter. Where nobody is left to read it, the book does the same: its id makes a batch sent, and a restart,
# or a caller who leaves, is silence.
TABLE: Mapping[tuple[Stage, Word], Stage] = {
    (Stage.PLANNED, Word.TAKEN): Stage.SENT,
    (Stage.PLANNED, Word.REFUSED): Stage.VOID,
    (Stage.PLANNED, Word.SILENT): Stage.LOST,
    (Stage.SENT, Word.ANSWERED): Stage.COLLECTED,
    (Stage.SENT, Word.UNANSWERED): Stage.VOID,
    (Stage.SENT, Word.SILENT): Stage.LOST,
}

MONEY: Mapping[Stage, State] = {  # the state of its call in the money book
    Stage.PLANNED: "open",
    Stage.SENT: "open",
    Stage.COLLECTED: "settled",
    Stage.VOID: "void",
    Stage.LOST: "lost",
}


@dataclass(frozen=True)
class Batch:
    """One that is in the book. `id`: of its call; `vendor`: the vendor's id, empty: none is known."""

    id: int
    key: str
    day: str  # that it is asked for
    model: str
    at: datetime  # when it was booked
    rates: Rates  # of then, for a prompt of any size that it can have
    price_version: str  # of then
    reserved: int
    hour_cache: bool
    state: State
    vendor: str = ""
    used: bool | None = None  # None: not known yet

    @property
    def stage(self) -> Stage:
        if self.state == "open":
            return Stage.SENT if self.vendor else Stage.PLANNED
        return next(stage for stage, state in MONEY.items() if state == self.state)

    def is_gone(self, now: datetime) -> bool:
        """The vendor keeps nothing of it any more."""
        return now - self.at >= KEPT


def after(stage: Stage, word: Word) -> Stage:
    """What has ended stays as it is, whatever is heard of it then."""
    return TABLE.get((stage, word), stage)


# --- whether it pays -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Night:
    """A question that was asked ahead, once it is known what came of it. `full`: its tokens at full price."""

    used: bool
    cost: int
    full: int


def saved(night: Night) -> int:
    """Negative: lost. An answer that nobody used has been paid for nothing."""
    return night.full - night.cost if night.used else -night.cost


def balance(record: Sequence[Night]) -> int:
    return sum(map(saved, record[:NEWEST]))


def asks_ahead(record: Sequence[Night], number: int) -> bool:
    """`record`: the newest first; `number`: of the day that it is asked for, always the same."""
    return len(record[:NEWEST]) < ENOUGH or balance(record) > 0 or number % ONE_IN == 0
