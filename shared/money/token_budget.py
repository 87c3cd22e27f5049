"""The arithmetic of money: amounts, the worst case of a call, what the caps still allow, which day it is.

Integers of nano-dollars everywhere; a float never touches an amount. The law of this page: whatever a call turns out
to cost, it was reserved before, and what is reserved fits below every cap.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta

NANO = 1_000_000_000  # nano-dollars in a dollar
HIDDEN_TOKENS = 1_000  # what a vendor adds to a prompt: tool preamble, message frames
JUMP = timedelta(hours=26)  # a day of 25 hours and a little: more than this is no calendar's doing

_AMOUNT = re.compile(r"[0-9]{1,7}(\.[0-9]{1,9})?")


def dollars(text: str) -> int:
    """A plain amount such as `5` or `0.25` in nano-dollars. ValueError for everything else: signs, exponents, words."""
    if not _AMOUNT.fullmatch(text):
        raise ValueError(f"{text[:40]!r} is not an amount of dollars; write one like 5.00")
    whole, _, cents = text.partition(".")
    return int(whole) * NANO + int(cents.ljust(9, "0"))


def as_dollars(nano: int) -> str:
    """Dollars with nine decimals, so that nothing is rounded: 1 -> 0.000000001."""
    whole, rest = divmod(abs(nano), NANO)
    return f"{'-' if nano < 0 else ''}{whole}.{rest:09d}"


def amount(nano: int) -> str:
    """An amount as a person types it: exact, with at least two decimals."""
    whole, _, rest = as_dollars(nano).partition(".")
    return f"{whole}.{rest.rstrip('0').ljust(2, '0')}"


def _plainly(nano: int) -> str:
    """An amount for a sentence: $0.25."""
    return f"${amount(nano)}"


# --- what a call costs ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rates:
    """Nano-dollars per token of one model, for prompts of one size."""

    input: int
    write_5m: int
    write_1h: int
    read: int
    output: int

    def dearest_input(self, hour_cache: bool, marked: bool = True) -> int:
        """The most that one token of the prompt can cost; a cache is written only if it was asked for."""
        return max(self.input, self.read, self.write_5m if marked else 0, self.write_1h if hour_cache else 0)


@dataclass(frozen=True)
class TokenUsage:
    """Tokens of one call as the vendor counts them. The four kinds of input are disjoint; thinking is output too."""

    input: int = 0
    write_5m: int = 0
    write_1h: int = 0
    read: int = 0
    output: int = 0
    thinking: int = 0

    @property
    def prompt(self) -> int:
        """The size of the prompt, cached or not: it decides on the price band."""
        return self.input + self.write_5m + self.write_1h + self.read


def cost(rates: Rates, usage: TokenUsage) -> int:
    """Return what a call cost. `rates` are those for a prompt of `usage.prompt` tokens."""
    return (
        usage.input * rates.input
        + usage.write_5m * rates.write_5m
        + usage.write_1h * rates.write_1h
        + usage.read * rates.read
        + usage.output * rates.output
    )


@dataclass(frozen=True)
class Ask:
    """A call before it is sent. `rates` are the dearest for prompts of up to `tokens_in` tokens.

    `marked`: a part of its prompt may be kept by the vendor, which costs more than plain input.
    """

    model: str
    rates: Rates
    price_version: str
    tokens_in: int
    max_tokens: int
    hour_cache: bool = False
    may_clamp: bool = True  # False: half an answer is worthless (a schema)
    marked: bool = True

    @property
    def worst_input(self) -> int:
        return self.tokens_in * self.rates.dearest_input(self.hour_cache, self.marked)

    @property
    def worst(self) -> int:
        return self.worst_input + self.max_tokens * self.rates.output


LEAST_ROOM, TIMES = 4_000, 3  # tokens, and how much longer than any before an answer may be


def room(longest: int, most: int, least: int = 0) -> int:
    """Choose `max_tokens` of a call: `most` is the owner's; `longest` the longest of such answers so far, 0: unknown.

    `least`: what the question itself asks for, however short the answers to others were. What is reserved for an
    answer is kept from all other calls. One that does not fit is asked for again with `most`.
    """
    return min(most, max(LEAST_ROOM, least, TIMES * longest)) if longest else most


# --- what the caps allow -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Caps:
    """Hard limits in nano-dollars; None: no such limit. `total` is for the whole life of the money book.

    `upkeep`: of a day, for all tasks that nobody asked for. Raising a day does not raise it.
    """

    task: int
    day: int
    month: int
    total: int | None = None
    upkeep: int | None = None


@dataclass(frozen=True)
class Totals:
    """Money of a day or a month, in nano-dollars. `lost` is booked at its worst case for good."""

    cap: int
    spent: int = 0
    reserved: int = 0
    lost: int = 0

    @property
    def used(self) -> int:
        """Amount that no other call can have, in nano-dollars."""
        return self.spent + self.reserved + self.lost


@dataclass(frozen=True)
class CapUsage:
    """One cap and what is already taken from it: settled, reserved and lost."""

    name: str  # upkeep | ticket | task | day | month | total
    cap: int
    used: int

    @property
    def left(self) -> int:
        return self.cap - self.used


@dataclass(frozen=True)
class Grant:
    """The call may be sent with this `max_tokens`."""

    max_tokens: int
    reserved: int
    clamped: bool = False


@dataclass(frozen=True)
class Refusal:
    """Refusal: nothing is sent. `code` is stable (`meter_...`); `text` is one line for a person."""

    code: str
    text: str
    not_before: str = ""  # ISO time: trying again earlier is useless
    call: int = field(default=0, compare=False)  # the row that notes it; 0: there is none


WHOSE = {  # and what the owner does for more
    "ticket": ("budget of this run", "raise budget.task in config/policy.yaml"),
    "task": ("cap of this task", "raise budget.task in config/policy.yaml"),
    "day": ("cap of this day", "type: python main.py raise-cap AMOUNT"),
    "month": ("cap of this month", "raise budget.month in config/policy.yaml"),
    "total": ("cap of all spending", "raise it in config/policy.yaml"),
    "upkeep": ("share of this day for upkeep", "raise upkeep.share in config/policy.yaml"),
}


def decide(ask: Ask, caps: Sequence[CapUsage], min_out: int) -> Grant | Refusal:
    """The whole call, or a shorter answer of at least `min_out` tokens, or nothing: the tightest cap decides.

    What nobody asked for can wait until tomorrow: its share buys no half answers, which would end the task for good.
    """
    tightest = min(caps, key=lambda cap: cap.left)
    if ask.worst <= tightest.left:
        return Grant(ask.max_tokens, ask.worst)
    affordable = (tightest.left - ask.worst_input) // ask.rates.output if ask.rates.output else 0
    if not ask.may_clamp or tightest.name == "upkeep" or affordable < max(min_out, 1):
        return _too_dear(ask, tightest)
    return Grant(affordable, ask.worst_input + affordable * ask.rates.output, clamped=True)


def _too_dear(ask: Ask, at: CapUsage) -> Refusal:
    """The one sentence of a cap: it stands in the task, in `status` and in the report as it is here."""
    whose, more = WHOSE[at.name]
    return Refusal(
        f"meter_{at.name}_cap",
        f"{whose} reached: cap {_plainly(at.cap)}, used {_plainly(at.used)}; "
        f"the next call may cost up to {_plainly(ask.worst)}; {_plainly(max(at.left, 0))} is left; for more, {more}",
    )


def nearly_used(spent: int, cap: int, percent: int) -> bool:
    """Tell whether it is time to warn the owner."""
    return spent * 100 >= cap * percent


# --- one day may cost more -----------------------------------------------------------------------------------


def raised(caps: Caps, to: int) -> Caps:
    """The caps of a day that the owner has raised to `to`; never less than on any other day. 0: not raised."""
    return replace(caps, day=max(caps.day, to))


def raise_forbidden(to: int, caps: Caps) -> str:
    """Reason why the owner's amount for a day is not taken, and what to type; empty: it is. `caps`: the policy's."""
    if caps.day <= to <= caps.month:
        return ""
    policy = "in config/policy.yaml"
    if to < caps.day:
        why = f"a day may cost {_plainly(caps.day)} anyway; to spend less, lower budget.day {policy}"
    else:
        why = f"a whole month may cost {_plainly(caps.month)}; to spend more, raise budget.month {policy}"
    return f"{_plainly(to)} is not possible: {why}, or type an amount from {amount(caps.day)} to {amount(caps.month)}"


def next_cap(cap: int, caps: Caps) -> int:
    """What a day's cap that is reached could be raised to: one more day's worth, within the month; 0: no room."""
    to = min(cap + caps.day, caps.month)
    return to if to > cap else 0


# --- which day it is -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Uptime:
    """Time that the machine has been up, also asleep, in whole seconds; `boot` tells one start from another."""

    boot: str
    seconds: int


@dataclass(frozen=True)
class Moment:
    """The wall clock and the machine's own, at the same instant."""

    at: datetime
    uptime: Uptime


def budget_day(now: datetime, last_day: str) -> str:
    """The day that a call is booked on. It never runs backwards: a clock set back opens no old day again."""
    return max(now.date().isoformat(), last_day)


def month_of(day: str) -> str:
    return date.fromisoformat(day).strftime("%Y-%m")


def clock_jumped(anchor: Moment, now: Moment) -> bool:
    """The wall clock ran ahead of the machine by more than a day. After a reboot nothing can tell."""
    if anchor.uptime.boot != now.uptime.boot:
        return False
    return (now.at - anchor.at) - timedelta(seconds=now.uptime.seconds - anchor.uptime.seconds) > JUMP


def cents(nano: int) -> str:
    """Dollars, rounded to two decimals, or to four below ten cents: no sum is told as two on two pages."""
    places = 4 if abs(nano) < NANO // 10 else 2
    step = NANO // 10**places
    whole, decimals = divmod((abs(nano) + step // 2) // step, 10**places)
    told = f"{whole}.{decimals:0{places}d}"
    return f"-{told}" if nano < 0 else told


def in_dollars(nano: int) -> str:
    return f"${cents(nano)}" if nano else "$0.00"


def in_cents(nano: int) -> str:
    """Dollars as a message says them: rounded to whole cents. What is less than one is not told as nothing."""
    rounded = (abs(nano) + NANO // 200) // (NANO // 100)
    if nano and not rounded:
        return "under $0.01"
    return f"{'-' if nano < 0 else ''}${rounded // 100}.{rounded % 100:02d}"
