"""The money of one call: what its tries cost at most, each reserved before it is sent, and booked once it has ended."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Set
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, assert_never

from sisimpur.shared.model.errors import Misconfigured, Unavailable
from sisimpur.shared.model.schedule import back_off
from sisimpur.shared.money.meter.answer import STOPPING, Billed, Rejected, Then, tokens_of
from sisimpur.shared.money.meter.parts import MeterParts, MeterTimeouts
from sisimpur.shared.money.meter.request import Asked
from sisimpur.shared.money.meter.upstream import COUNT, ArrivingMessage
from sisimpur.shared.money.pricing import Pricing, usage_of
from sisimpur.shared.money.ticket import UNTRUE, CallEnding, Reservation, Ticket
from sisimpur.shared.money.token_bounds import CallSize, doubt, estimate, overlong
from sisimpur.shared.money.token_budget import Ask, Grant, Refusal, TokenUsage, cost
from sisimpur.shared.system.fault import fault_point

COUNT_MARGIN = 20  # a vendor's own count is an estimate: a twentieth more, and some frames
COUNT_FRAMES = 100


@dataclass(frozen=True)
class Quote:
    """Prices of a checked call on the day of `at`. Misconfigured if its model has none."""

    pricing: Pricing
    asked: Asked
    at: datetime

    @property
    def is_free(self) -> bool:
        """Nothing is to be won by a wrong count of it."""
        return not self.strict.worst

    @property
    def strict(self) -> Ask:
        """Reserve what no tokenizer exceeds."""
        return self._ask(self.asked.prompt.strict, marked=True)

    @property
    def fitting(self) -> Ask:
        """Reserve what known tokenizers do not exceed."""
        return self._ask(self.asked.prompt.most, self.asked.marked)

    def counted(self, tokens: int) -> Ask:
        """Reserve by the vendor's own count before the call, if that can be true."""
        if tokens < self.asked.prompt.least:
            return self.strict
        most = tokens + tokens // COUNT_MARGIN + COUNT_FRAMES
        return self._ask(min(most, self.asked.prompt.strict), marked=True)

    def _ask(self, tokens: int, marked: bool) -> Ask:
        asked = self.asked
        return Ask(
            model=asked.model,
            rates=self.pricing.rates(asked.model, tokens, self.at),
            price_version=self.pricing.version(asked.model),
            tokens_in=tokens,
            max_tokens=asked.max_tokens,
            hour_cache=asked.hour_cache,
            may_clamp=not asked.has_schema,
            marked=marked,
        )

    def dearest(self, ask: Ask, models: Set[str]) -> Ask:
        """Reserve at the dearest prices of these models and its own."""
        priced = (replace(ask, rates=self.pricing.rates(model, ask.tokens_in, self.at)) for model in models)
        return max([ask, *priced], key=lambda one: one.worst)

    # --- afterwards

    def limit(self, grant: Grant) -> int:
        """Nano-dollars that no tokenizer makes the call cost more than: beyond that, our prices are wrong."""
        return replace(self.strict, max_tokens=grant.max_tokens).worst

    def cost(self, usage: TokenUsage, answered_by: str) -> int:
        """Nano-dollars of a call. If another model than the asked one answered and is dearer, its price counts."""
        amount = self._at_prices_of(self.asked.model, usage)
        try:
            return max(amount, self._at_prices_of(answered_by, usage))
        except Misconfigured:
            return amount

    def has_price(self, model: str) -> bool:
        """Tell whether it is known what a model costs."""
        try:
            self.pricing.rates(model, 1, self.at)
        except Misconfigured:
            return False
        return True

    def bounds(self, reservation: Reservation, usage: TokenUsage, answered_by: str) -> tuple[int, int | None]:
        """(at most, estimate) of a call that was cut: what is left open once its prompt is counted is the answer."""
        if usage.prompt < max(self.asked.prompt.least, 1):
            return reservation.grant.reserved, None
        most = reservation.grant.max_tokens
        at_most, told = (replace(usage, output=tokens) for tokens in (most, min(usage.output, most)))
        return self.cost(at_most, answered_by), self.cost(told, answered_by)

    def overlong(self, grant: Grant, text: str) -> bool:
        """Tell whether more came of the answer than was reserved; what costs nothing may be as long as it likes."""
        return not self.is_free and overlong(CallSize(self.asked.prompt, grant.max_tokens, estimate(text)))

    def doubt(self, usage: TokenUsage, grant: Grant, text: str, complete: bool) -> str:
        """Say why the count of a call cannot be true, in one line; empty: it can. `text`: what came of the answer."""
        if self.is_free:
            return ""
        size = CallSize(self.asked.prompt, grant.max_tokens, estimate(text))
        if overlong(size):
            return f"an answer of at most {grant.max_tokens} tokens goes on after {len(text)} characters"
        return doubt(usage, size if complete else replace(size, received=0, max_tokens=usage.output))

    def _at_prices_of(self, model: str, usage: TokenUsage) -> int:
        """What was not to be kept costs as plain input: a discount that nobody asked for is not believed."""
        if not self.asked.marked:
            usage = replace(usage, input=usage.input + usage.read, read=0)
        return cost(self.pricing.rates(model, usage.prompt, self.at), usage)


LATEST = 30 * 86400  # seconds


@dataclass(frozen=True)
class FailedTry:
    """A try that brought no message."""

    rejected: Rejected
    billed: Billed = "all"
    then: Then = "answer"
    retry_after: float | None = None
    ending: CallEnding = field(default_factory=CallEnding)


@dataclass(frozen=True)
class Patience:
    """How long one call is tried. `most`: seconds between its tries together. `once`: one try tells all of it."""

    timeouts: MeterTimeouts
    most: float
    once: bool = False


def next_wait(failure: FailedTry, retry: int, waited: float, patience: Patience, chance: float) -> float | None:
    """Seconds until the next try: those that the upstream named, or half of ours by `chance` (0 to 1); None: give up.

    `retry`: the number of the failed try, from 0. `waited`: seconds between all before it.
    """
    times, wait = patience.timeouts, failure.retry_after
    if wait is None:
        wait = back_off(retry, times.first, times.longest) * (1 + chance) / 2
    too_long = wait > times.told or waited + wait > patience.most
    return None if too_long or patience.once or retry + 1 >= times.tries else wait


def told_when(failure: FailedTry, now: datetime, waited: float, patience: Patience) -> FailedTry:
    """A try that is given up, as its caller hears of it: with the time before which the upstream wants no other."""
    wait = failure.retry_after
    if wait is None or (wait <= patience.timeouts.told and waited + wait <= patience.most):
        return failure
    then = (now + timedelta(seconds=min(wait, LATEST))).isoformat(timespec="seconds")
    refusal = Refusal("meter_retry_later", f"the upstream asks to wait until {then}", not_before=then)
    return replace(failure, rejected=Rejected(refusal))


def unrepeated(failure: FailedTry, refused: Rejected) -> Rejected:
    """Nobody knows whether the model is away: a dearer one is not asked for that."""
    told = f"{failure.rejected.refusal.text}, and it is not asked again: {refused.refusal.text}"
    return Rejected(Refusal("meter_unrepeated", told))


COUNTING = 5.0  # seconds that a call waits for its tokens to be counted


class CallBooking:
    """What the book, the upstream's standing and the log hear of one call."""

    def __init__(self, parts: MeterParts, ticket: Ticket, quote: Quote) -> None:
        self._parts = parts
        self._ticket = ticket
        self._quote = quote
        self._asked = quote.asked
        self._standing = parts.line.standing
        self._began = time.monotonic()

    # --- before a try

    async def reserve(self, retry: int) -> Reservation:
        """Rejected, with a row that says so, if the book refuses or the meter is being stopped."""
        answer = await self._reserved(retry)
        if isinstance(answer, Refusal):
            self.log("meter.refused", code=answer.code)
            raise Rejected(answer)
        fault_point("llm.reserve")
        return replace(answer, limit=self._quote.limit(answer.grant))

    async def _reserved(self, retry: int) -> Reservation | Refusal:
        parts, ledger = self._parts, self._parts.ledger
        if parts.stopping():
            return await parts.book.ask(ledger.refused, self._ticket, self._asked.model, STOPPING, parts.clock.now())
        ask = self._quote.dearest(await self._bounded(), self._standing.substitutes(self._asked.model))
        now = parts.clock.now()
        entry = parts.book.later(
            ledger.reserve, self._ticket, ask, parts.caps(), now, retry=retry, stream=self._asked.stream
        )
        try:
            return await asyncio.shield(asyncio.wrap_future(entry))
        except asyncio.CancelledError:
            entry.add_done_callback(self._free)
            raise

    async def _bounded(self) -> Ask:
        """Choose the bound of its prompt: one that fits, if this model has shown that it does; else the safe one."""
        if self._standing.fits(self._asked.model):
            return self._quote.fitting
        stopped = await self._parts.book.ask(self._parts.ledger.reader.paused, self._asked.model)
        if stopped or self._standing.has_lied or not self._parts.line.vendor.counts:
            return self._quote.strict
        with suppress(Unavailable, TimeoutError):
            async with (
                asyncio.timeout(COUNTING),
                self._parts.line.post(COUNT, self._asked.headers, self._asked.counted) as response,
            ):
                found = tokens_of(await response.head()) if response.status == 200 else None
                return self._quote.strict if found is None else self._quote.counted(found)
        return self._quote.strict

    def _free(self, entry: Future[Reservation | Refusal]) -> None:
        """The caller left before the reservation was made: nothing was sent. Runs in the ledger's thread."""
        answer = None if entry.cancelled() or entry.exception() else entry.result()
        if isinstance(answer, Reservation):
            self._parts.ledger.void(answer, CallEnding(code="meter_cut"), self._parts.clock.now())

    # --- after it

    def heard(self, model: str) -> None:
        """Note who answers, by its own word, as it begins and as it ends: the next call may cost as much."""
        if model != self._asked.model and self._quote.has_price(model):
            self._standing.substituted(self._asked.model, model)

    async def settle(self, reservation: Reservation, reading: ArrivingMessage, request_id: str) -> None:
        """Book a whole message: at its count, or at the reservation if that cannot be true."""
        book, ledger, now, quote = self._parts.book, self._parts.ledger, self._parts.clock.now(), self._quote
        usage = usage_of(reading.usage, reservation.ask.hour_cache)
        amount = quote.cost(usage, reading.model)
        self.heard(reading.model)
        ending = replace(self.ending(reading, request_id), answered=200)
        why = quote.doubt(usage, reservation.grant, reading.text, complete=True)
        if why and amount <= reservation.limit:
            self._doubted(why)
            await book.ask(ledger.disbelieve, reservation, amount, replace(ending, code=UNTRUE, note=why), now)
            return
        if not why:
            self._standing.believed(self._asked.model, within=usage.prompt <= self._asked.prompt.most)
        await book.ask(ledger.settle, reservation, amount, replace(ending, note=why), now)
        self.log("meter.settled", amount=amount, stop=ending.stop_reason, ms=ending.ms)
        if amount > reservation.limit:
            self.log("meter.halted", amount=amount, limit=reservation.limit)

    def judged(self, reservation: Reservation, reading: ArrivingMessage, failure: FailedTry) -> FailedTry:
        """Judge a stream that came to no end: what it has counted so far has to be possible, too."""
        if not reading.started:
            return failure
        why = self._quote.doubt(failure.ending.usage, reservation.grant, reading.text, complete=False)
        if not why:
            return failure
        rejected = Rejected(Refusal(UNTRUE, f"the upstream counts what cannot be true: {why}"))
        return FailedTry(rejected, ending=replace(failure.ending, code=UNTRUE, note=why))

    async def fail(
        self, reservation: Reservation, reading: ArrivingMessage, failure: FailedTry, answered: int | None
    ) -> None:
        """Book a failed try at the most that it can have cost. `answered`: the status that the caller sees."""
        parts, now, refusal = self._parts, self._parts.clock.now(), failure.rejected.refusal
        ending = replace(failure.ending, answered=answered, code=refusal.code)
        at_most, estimate = self._quote.bounds(reservation, ending.usage, reading.model)
        self.heard(reading.model)
        match failure.billed:
            case "nothing":
                await parts.book.ask(parts.ledger.void, reservation, ending, now)
            case "prompt":
                most = reservation.ask.worst_input
                await parts.book.ask(parts.ledger.lost, reservation, most, None, ending, now)
            case "all" if ending.code == UNTRUE:
                self._doubted(ending.note)
                await parts.book.ask(parts.ledger.disbelieve, reservation, estimate, ending, now)
            case "all":
                await parts.book.ask(parts.ledger.lost, reservation, at_most, estimate, ending, now)
            case other:
                assert_never(other)
        if failure.then == "pause":
            await parts.book.ask(parts.ledger.pause, refusal.text.removeprefix("no spending now: "), now)
        self.log("meter.failed", code=refusal.code, status=ending.status, note=ending.note, again=answered is None)

    def cut(self, reservation: Reservation, reading: ArrivingMessage, answered: int | None) -> None:
        """Book a try that we end ourselves, later: nobody waits for the entry any more."""
        code = STOPPING.code if self._parts.stopping() else "meter_cut"
        ending = replace(self.ending(reading), code=code, answered=answered)
        at_most, estimate = self._quote.bounds(reservation, ending.usage, reading.model)
        now = self._parts.clock.now()
        self._parts.book.later(self._parts.ledger.lost, reservation, at_most, estimate, ending, now)
        self.log("meter.cut", amount=at_most)

    def ending(self, reading: ArrivingMessage, request_id: str = "", status: int | None = None) -> CallEnding:
        """End of a try as far as it was read."""
        return CallEnding(
            status=status or (200 if reading.message else None),
            usage=self._counted(reading),
            stop_reason=reading.stop_reason,
            request_id=request_id,
            ms=round((time.monotonic() - self._began) * 1000),
        )

    def _counted(self, reading: ArrivingMessage) -> TokenUsage:
        """Tokens as far as they are known: of a cut answer at least what arrived, three characters to a token."""
        if not reading.started:
            return TokenUsage()
        try:
            usage = usage_of(reading.usage, self._asked.hour_cache)
        except Misconfigured:
            return TokenUsage()
        return usage if reading.complete else replace(usage, output=max(usage.output, -(-reading.characters // 3)))

    def _doubted(self, why: str) -> None:
        self._standing.doubted()
        self.log("meter.untrue", why=why)

    def log(self, event: str, **fields: Any) -> None:
        run = self._ticket.order.run
        about = {"run": run.id, "agent": run.agent, "model": self._asked.model}
        about |= {"task": run.task, "attempt": run.attempt} if run.task else {}
        self._parts.log(event, about | fields)
