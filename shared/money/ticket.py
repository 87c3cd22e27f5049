"""The words of the money book: a ticket to spend, a reservation, how a call ended, and what is read of it later. Pure.

Amounts are nano-dollars.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from sisimpur.shared.model.work import Run
from sisimpur.shared.money.token_budget import Ask, Grant, TokenUsage, Totals

State = Literal["open", "settled", "void", "lost", "refused"]
UNTRUE = "meter_untrue"  # the code of a call whose count cannot be true
MODEL_PAUSED = "meter_model_paused"  # of one that is refused, as its model had two of these
LIFTED = "compare its bill with budget, then type: python main.py resume"  # what ends that


@dataclass(frozen=True)
class TicketOrder:
    """A ticket that is asked for: who may call the meter, for what, and how much."""

    run: Run
    budget: int
    models: tuple[str, ...]
    expires: datetime
    max_calls: int = 12
    min_out: int = 1024  # a shorter answer is not worth its prompt: refuse instead
    retry_s: float = 120  # the longest wait for a busy upstream
    beside: str = ""  # the model that a first try at an easy task is measured by; empty: any other run


@dataclass(frozen=True)
class Ticket:
    """A ticket as it was found; the token itself is nowhere."""

    id: int
    order: TicketOrder
    closed: bool

    def is_open(self, now: datetime) -> bool:
        return not self.closed and now < self.order.expires


@dataclass(frozen=True)
class Reservation:
    """A call that may be sent: its worst case is durable in the book.

    `limit`: what no tokenizer makes it cost more than, where less is reserved.
    """

    id: int
    day: str
    ask: Ask
    grant: Grant
    limit: int = 0


@dataclass(frozen=True)
class CallEnding:
    """End of a call, beside the money. `answered` is the status that the caller saw; None: repeated or gone."""

    status: int | None = None
    answered: int | None = None
    usage: TokenUsage = field(default_factory=TokenUsage)
    stop_reason: str = ""
    request_id: str = ""
    code: str = ""
    note: str = ""
    ms: int = 0


@dataclass(frozen=True)
class CallRecord:
    """One row of the book, to judge a run by. `cost` is what it takes from the caps now.

    `note`: the words of a refusal, or else of the upstream's complaint.
    """

    model: str
    state: State
    cost: int
    retry: int
    clamped: bool
    status: int | None
    answered: int | None
    stop_reason: str
    code: str
    usage: TokenUsage
    note: str = ""


def is_filtered(words: str) -> bool:
    """A vendor's complaint is about the answer, which it keeps back, and not about the request."""
    return "content filter" in words.lower()


@dataclass(frozen=True)
class LostCall:
    """A call whose outcome nobody knows. `amount` is what it takes from the caps now."""

    number: int
    at: str  # ISO time
    day: str  # that it is booked on
    agent: str
    task: str
    model: str
    amount: int
    estimate: int | None  # what it had cost when it was cut, as far as that is known
    written_off: str = ""  # why the owner has lowered its amount


@dataclass(frozen=True)
class Used:
    """Use of one task. `amount`: nano-dollars taken from every cap now; `tokens`: sent and received."""

    amount: int = 0
    tokens: int = 0


@dataclass(frozen=True)
class Share:
    """Share that one agent took on one day for one task (empty: for none) from one model."""

    day: str
    agent: str
    task: str
    model: str
    calls: int
    spent: int
    reserved: int
    lost: int
    tokens_in: int
    tokens_out: int


def totals(shares: Iterable[Share], period: str, cap: int) -> Totals:
    """Totals of a day (`2026-11-20`) or a month (`2026-11`), against its cap."""
    return added((one for one in shares if one.day.startswith(period)), cap)


def added(shares: Iterable[Share], cap: int) -> Totals:
    of = list(shares)
    return Totals(cap, sum(one.spent for one in of), sum(one.reserved for one in of), sum(one.lost for one in of))


@dataclass(frozen=True)
class BudgetWarning:
    """A cap that is nearly used: told once per day and per month."""

    scope: Literal["day", "month"]
    period: str
    used: int
    cap: int


@dataclass(frozen=True)
class Spending:
    """Money that was taken from the cap at some minute of the day (0-1439)."""

    minute: int
    amount: int
