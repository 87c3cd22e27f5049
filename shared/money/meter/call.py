"""One call through the meter: reserve, send, repeat while that helps, book. Each try is a row of its own.

A try ends in exactly one state. If its outcome is unknown, it is lost: booked at the most that it can have cost.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, ParamSpec, TypeVar

from sisimpur.shared.model.errors import Unavailable
from sisimpur.shared.model.schedule import back_off
from sisimpur.shared.money.ledger import Ledger
from sisimpur.shared.money.meter.answer import STOPPING, HttpReply, Rejected, Then, judge, no_answer, read_complaint
from sisimpur.shared.money.meter.request import Asked
from sisimpur.shared.money.meter.upstream import ArrivingMessage, Response, Splitter, UpstreamClient
from sisimpur.shared.money.pricing import Pricing, Unpriced, usage_of
from sisimpur.shared.money.ticket import CallEnding, Reservation, Ticket
from sisimpur.shared.money.token_budget import Ask, Caps, Refusal, TokenUsage, cost
from sisimpur.shared.system.clock import Clock
from sisimpur.shared.system.fault import fault_point

BUSY = ("overloaded_error", "api_error")  # error events in a stream after which a new try makes sense

_chance = random.SystemRandom()

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class MeterTimeouts:
    """Times that the meter waits, in seconds. `whole` stays below the caller's own time-out, usually 600."""

    first: float = 2.0  # the longest first wait between two tries; doubled each time
    longest: float = 60.0
    tries: int = 6
    told: float = 120.0  # the longest `retry-after` that is waited for
    body: float = 30.0  # for the caller to send the request
    idle: float = 300.0  # the upstream's longest silence
    whole: float = 590.0
    streamed: float = 3600.0


class LedgerThread:
    """The ledger's own thread: all entries in one order, over one connection, away from the event loop."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "meter-book")

    async def ask(self, entry: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await asyncio.shield(asyncio.wrap_future(self.later(entry, *args, **kwargs)))

    def later(self, entry: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Make the entry also when nobody waits for it any more."""
        return self._thread.submit(entry, *args, **kwargs)

    def close(self, last: Callable[[], None]) -> None:
        self.later(last)
        self._thread.shutdown(wait=True)


@dataclass(frozen=True)
class MeterParts:
    """The parts of a running meter that every call uses."""

    ledger: Ledger
    book: LedgerThread
    pricing: Pricing
    caps: Callable[[], Caps]
    line: UpstreamClient
    clock: Clock
    timeouts: MeterTimeouts
    log: Callable[[str, dict[str, Any]], None]
    stopping: Callable[[], bool]  # nothing new is reserved any more


@dataclass(frozen=True)
class FailedTry:
    """A try that brought no message."""

    rejected: Rejected
    billed: bool = True
    then: Then = "answer"
    retry_after: float | None = None
    ending: CallEnding = field(default_factory=CallEnding)


class MeteredCall:
    """A call that is checked already; `ask` has the prices of `at`. `run` raises Rejected if there is no answer."""

    def __init__(
        self,
        parts: MeterParts,
        ticket: Ticket,
        ask: Ask,
        at: datetime,
        asked: Asked,
        reply: HttpReply,
    ) -> None:
        self._parts = parts
        self._ticket = ticket
        self._ask = ask
        self._asked = asked
        self._reply = reply
        self._at = at
        self._began = time.monotonic()

    async def run(self) -> None:
        waited, failure = 0.0, None
        for retry in range(self._parts.timeouts.tries):
            try:
                reservation = await self._reserve(retry)
            except Rejected as refused:
                if failure and refused.refusal.code.endswith("_cap"):  # the caller has to know why the last try failed
                    raise failure.rejected from None
                raise
            failure = await self._try(reservation)
            if failure is None:
                return
            failure, wait = self._what_next(failure, retry, waited)
            await self._book(reservation, failure, None if wait is not None else self._seen(failure))
            if wait is None:
                raise failure.rejected
            waited += wait
            await asyncio.sleep(wait)

    # --- before

    async def _reserve(self, retry: int) -> Reservation:
        """Rejected, with a row that says so, if the book refuses or the meter is being stopped."""
        answer = await self._booked(retry)
        if isinstance(answer, Refusal):
            self._log("meter.refused", code=answer.code)
            raise Rejected(answer)
        fault_point("llm.reserve")
        return answer

    async def _booked(self, retry: int) -> Reservation | Refusal:
        parts, ledger, now = self._parts, self._parts.ledger, self._parts.clock.now()
        if parts.stopping():
            await parts.book.ask(ledger.refused, self._ticket, self._ask.model, STOPPING, now)
            return STOPPING
        entry = parts.book.later(
            ledger.reserve, self._ticket, self._ask, parts.caps(), now, retry=retry, stream=self._asked.stream
        )
        try:
            return await asyncio.shield(asyncio.wrap_future(entry))
        except asyncio.CancelledError:
            entry.add_done_callback(self._free)
            raise

    def _free(self, entry: Future[Reservation | Refusal]) -> None:
        """The caller left before the reservation was made: nothing was sent. Runs in the ledger's thread."""
        answer = None if entry.cancelled() or entry.exception() else entry.result()
        if isinstance(answer, Reservation):
            self._parts.ledger.void(answer, CallEnding(code="meter_cut"), self._parts.clock.now())

    # --- the try

    async def _try(self, reservation: Reservation) -> FailedTry | None:
        reading = ArrivingMessage()
        try:
            return await self._exchange(reservation, reading)
        except Unavailable as error:
            if error.unbilled:  # nothing was sent
                return FailedTry(no_answer(str(error)), billed=False, then="retry")
            then: Then = "answer" if reading.message else "retry"
            return FailedTry(no_answer(str(error)), then=then, ending=self._ending(reading))
        except Unpriced as error:
            refusal = Refusal("meter_paused", f"no spending now: {error}")
            return FailedTry(Rejected(refusal), then="pause", ending=self._ending(reading))
        except BaseException:  # the caller left, the time is over, the meter stops, or a bug: nobody waits for an entry
            code = STOPPING.code if self._parts.stopping() else "meter_cut"
            ending = replace(self._ending(reading), code=code, answered=self._seen(None))
            at_most, estimate = self._bounds(reservation, ending.usage)
            now = self._parts.clock.now()
            self._parts.book.later(self._parts.ledger.lost, reservation, at_most, estimate, ending, now)
            self._log("meter.cut", amount=at_most)
            raise

    async def _exchange(self, reservation: Reservation, reading: ArrivingMessage) -> FailedTry | None:
        body = self._asked.encoded(reservation.grant.max_tokens)
        async with self._parts.line.post("/v1/messages", self._asked.headers, body) as response:
            fault_point("llm.sent")
            request_id = _plain(response.headers.get("request-id", ""))
            if response.status != 200:
                return await self._complaint(response, request_id)
            last = await self._relay(response, reading, request_id)
            if reading.error:
                then: Then = "retry" if reading.error in BUSY else "answer"
                return FailedTry(
                    no_answer("the upstream broke off"), then=then, ending=self._ending(reading, request_id)
                )
            fault_point("llm.last-byte")
            await self._settle(reservation, reading, request_id)
            fault_point("llm.settle")
            await response.finish()
            await self._reply.end(last, reading.message, request_id)
        return None

    async def _relay(self, response: Response, reading: ArrivingMessage, request_id: str) -> bytes:
        """Pass on what comes, but for the last piece: before the caller has that, the call is settled."""
        splitter = Splitter()
        while (data := await response.read()) is not None:
            for piece, event in splitter.feed(data):
                if not reading.message:
                    fault_point("llm.first-byte")
                reading.take(event)
                if reading.complete or reading.error:
                    return piece
                await self._reply.piece(piece, request_id)
        raise Unavailable("the upstream's stream ended early")

    async def _complaint(self, response: Response, request_id: str) -> FailedTry:
        complaint = read_complaint(response.status, response.headers, await response.head(), self._parts.clock.now())
        verdict = judge(complaint)
        ending = self._ending(ArrivingMessage(), request_id, complaint.status)
        note = f"{complaint.type} {complaint.code} {complaint.message}".strip()
        return FailedTry(
            verdict.rejected, verdict.billed, verdict.then, complaint.retry_after, replace(ending, note=note)
        )

    # --- after

    async def _settle(self, reservation: Reservation, reading: ArrivingMessage, request_id: str) -> None:
        ledger, now = self._parts.ledger, self._parts.clock.now()
        usage = usage_of(reading.usage, reservation.ask.hour_cache)
        amount = self._cost(usage, str(reading.message.get("model")))
        ending = replace(self._ending(reading, request_id), answered=200)
        await self._parts.book.ask(ledger.settle, reservation, amount, ending, now)
        self._log("meter.settled", amount=amount, stop=ending.stop_reason, ms=ending.ms)
        if amount > reservation.grant.reserved:
            self._log("meter.halted", amount=amount, reserved=reservation.grant.reserved)

    def _cost(self, usage: TokenUsage, answered_by: str) -> int:
        """Nano-dollars of a call. If another model than the asked one answered and is dearer, its price counts."""
        rates = self._parts.pricing.rates
        amount = cost(rates(self._asked.model, usage.prompt, self._at), usage)
        try:
            return max(amount, cost(rates(answered_by, usage.prompt, self._at), usage))
        except Unpriced:
            return amount

    def _bounds(self, reservation: Reservation, usage: TokenUsage) -> tuple[int, int | None]:
        """(at most, estimate): once the upstream has counted the prompt, only the answer's length is unknown."""
        if not usage.prompt:
            return reservation.grant.reserved, None
        rates = self._parts.pricing.rates(self._asked.model, usage.prompt, self._at)
        most = reservation.grant.max_tokens
        return cost(rates, replace(usage, output=most)), cost(rates, replace(usage, output=min(usage.output, most)))

    async def _book(self, reservation: Reservation, failure: FailedTry, answered: int | None) -> None:
        parts, now, refusal = self._parts, self._parts.clock.now(), failure.rejected.refusal
        ending = replace(failure.ending, answered=answered, code=refusal.code)
        if failure.billed:
            at_most, estimate = self._bounds(reservation, ending.usage)
            await parts.book.ask(parts.ledger.lost, reservation, at_most, estimate, ending, now)
        else:
            await parts.book.ask(parts.ledger.void, reservation, ending, now)
        if failure.then == "pause":
            await parts.book.ask(parts.ledger.pause, refusal.text.removeprefix("no spending now: "), now)
        self._log("meter.failed", code=refusal.code, status=ending.status, note=ending.note, again=answered is None)

    def _what_next(self, failure: FailedTry, retry: int, waited: float) -> tuple[FailedTry, float | None]:
        """Full jitter, or the time that the upstream named; None: give up."""
        timeouts = self._parts.timeouts
        if failure.then != "retry" or self._reply.started or retry + 1 >= timeouts.tries:
            return failure, None
        told = failure.retry_after
        wait = told if told is not None else _chance.uniform(0, back_off(retry, timeouts.first, timeouts.longest))
        if wait <= timeouts.told and waited + wait <= self._ticket.order.retry_s:
            return failure, wait
        return (failure if told is None else replace(failure, rejected=self._not_before(wait))), None

    def _not_before(self, wait: float) -> Rejected:
        then = (self._parts.clock.now() + timedelta(seconds=min(wait, 30 * 86400))).isoformat(timespec="seconds")
        return Rejected(Refusal("meter_retry_later", f"the upstream asks to wait until {then}", not_before=then))

    def _ending(self, reading: ArrivingMessage, request_id: str = "", status: int | None = None) -> CallEnding:
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
        except Unpriced:
            return TokenUsage()
        return usage if reading.complete else replace(usage, output=max(usage.output, -(-reading.characters // 3)))

    def _seen(self, failure: FailedTry | None) -> int | None:
        """The status that the caller sees."""
        if self._reply.started:
            return 200
        return failure.rejected.status if failure else None

    def _log(self, event: str, **fields: Any) -> None:
        run = self._ticket.order.run
        about = {"run": run.id, "agent": run.agent, "model": self._asked.model}
        about |= {"task": run.task, "attempt": run.attempt} if run.task else {}
        self._parts.log(event, about | fields)


def _plain(text: str) -> str:
    """An id of the upstream, fit for a header and a row."""
    return "".join(c for c in text[:80] if c.isascii() and (c.isalnum() or c in "_-"))
