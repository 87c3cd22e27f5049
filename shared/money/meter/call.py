"""One call through the meter: reserve, send, repeat while that helps, book. Each try is a row of its own.

A try ends in exactly one state. If its outcome is unknown, it is lost: booked at the most that it can have cost.
"""

from __future__ import annotations

import asyncio
import random
import time
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any, assert_never

from sisimpur.shared.model.errors import Unavailable
from sisimpur.shared.model.schedule import back_off
from sisimpur.shared.money.meter.answer import (
    STOPPING,
    Billed,
    HttpReply,
    Rejected,
    Then,
    judge,
    no_answer,
    read_complaint,
    tokens_of,
)
from sisimpur.shared.money.meter.next_try import FailedTry
from sisimpur.shared.money.meter.parts import MeterParts
from sisimpur.shared.money.meter.quote import Quote
from sisimpur.shared.money.meter.upstream import (
    FRAMES,
    MAX_MESSAGE,
    WIDEST,
    ArrivingMessage,
    Response,
    Splitter,
)
from sisimpur.shared.money.pricing import Unpriced, usage_of
from sisimpur.shared.money.ticket import UNTRUE, CallEnding, Reservation, Ticket
from sisimpur.shared.money.token_budget import Ask, Refusal, TokenUsage
from sisimpur.shared.system.fault import fault_point

CALL, COUNT = "/v1/messages", "/v1/messages/count_tokens"
COUNTING = 5.0  # seconds that a call waits for its tokens to be counted
BUSY = ("overloaded_error", "api_error")  # error events in a stream after which a new try makes sense

_chance = random.SystemRandom()


class MeteredCall:
    """A call that is checked and priced already. `run` raises Rejected if there is no answer."""

    def __init__(self, parts: MeterParts, ticket: Ticket, quote: Quote, reply: HttpReply) -> None:
        self._parts = parts
        self._ticket = ticket
        self._quote = quote
        self._asked = quote.asked
        self._reply = reply
        self._standing = parts.line.standing
        self._began = time.monotonic()

    async def run(self) -> None:
        waited, failure = 0.0, None
        for retry in range(self._parts.timeouts.tries):
            async with self._standing.turn():
                failure, wait = await self._once(retry, waited, failure)
            if failure is None:
                return
            if wait is None:
                raise failure.rejected
            waited += wait
            await asyncio.sleep(wait)

    async def _once(self, retry: int, waited: float, before: FailedTry | None) -> tuple[FailedTry | None, float | None]:
        """One try, booked -> its failure, and how long to wait before the next one; None: there is none."""
        try:
            reservation = await self._reserve(retry)
        except Rejected as refused:
            if before and refused.refusal.code.endswith("_cap"):  # the caller has to know why the last try failed
                raise _unrepeated(before, refused) from None
            raise
        failure = await self._try(reservation)
        if failure is None:
            return None, None
        failure, wait = self._what_next(failure, retry, waited)
        await self._book(reservation, failure, None if wait is not None else self._seen(failure))
        return failure, wait

    # --- before

    async def _reserve(self, retry: int) -> Reservation:
        """Rejected, with a row that says so, if the book refuses or the meter is being stopped."""
        answer = await self._booked(retry)
        if isinstance(answer, Refusal):
            self._log("meter.refused", code=answer.code)
            raise Rejected(answer)
        fault_point("llm.reserve")
        return replace(answer, limit=self._quote.limit(answer.grant))

    async def _booked(self, retry: int) -> Reservation | Refusal:
        parts, ledger = self._parts, self._parts.ledger
        if parts.stopping():
            await parts.book.ask(ledger.refused, self._ticket, self._asked.model, STOPPING, parts.clock.now())
            return STOPPING
        ask, now = await self._bounded(), parts.clock.now()
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
        stopped = await self._parts.book.ask(self._parts.ledger.reader.paused)
        if stopped or not self._parts.line.vendor.counts:
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

    # --- the try

    async def _try(self, reservation: Reservation) -> FailedTry | None:
        reading = ArrivingMessage()
        try:
            return await self._exchange(reservation, reading)
        except Unavailable as error:
            if error.unbilled:  # nothing was sent
                return FailedTry(no_answer(str(error)), billed="nothing", then="retry")
            then: Then = "answer" if reading.message else "retry"
            return self._cut(reservation, reading, FailedTry(no_answer(str(error)), then=then))
        except Unpriced as error:
            refusal = Refusal("meter_paused", f"no spending now: {error}")
            return FailedTry(Rejected(refusal), then="pause", ending=self._ending(reading))
        except BaseException:  # the caller left, the time is over, the meter stops, or a bug: nobody waits for an entry
            code = STOPPING.code if self._parts.stopping() else "meter_cut"
            ending = replace(self._ending(reading), code=code, answered=self._seen(None))
            at_most, estimate = self._quote.bounds(reservation, ending.usage)
            now = self._parts.clock.now()
            self._parts.book.later(self._parts.ledger.lost, reservation, at_most, estimate, ending, now)
            self._log("meter.cut", amount=at_most)
            raise

    async def _exchange(self, reservation: Reservation, reading: ArrivingMessage) -> FailedTry | None:
        body = self._asked.encoded(reservation.grant.max_tokens)
        async with self._parts.line.post(CALL, self._asked.headers, body) as response:
            fault_point("llm.sent")
            request_id = _plain(response.headers.get("request-id", ""))
            if response.status != 200:
                return await self._complaint(response, request_id)
            last = await self._relay(response, reservation, reading, request_id)
            if reading.error:
                return self._cut(reservation, reading, self._broken_off(reading), request_id)
            fault_point("llm.last-byte")
            await self._settle(reservation, reading, request_id)
            fault_point("llm.settle")
            await response.finish()
            await self._reply.end(last, reading.message, request_id)
        return None

    async def _relay(
        self, response: Response, reservation: Reservation, reading: ArrivingMessage, request_id: str
    ) -> bytes:
        """Pass on what comes, but for the last piece: before the caller has that, the call is settled.

        Unavailable, and cut, once more comes than was reserved.
        """
        most = reservation.grant.max_tokens
        splitter, look_at = Splitter(min(MAX_MESSAGE, FRAMES + WIDEST * most)), most
        while (data := await response.read()) is not None:
            for piece, event in splitter.feed(data):
                if not reading.message:
                    fault_point("llm.first-byte")
                reading.take(event)
                if reading.complete or reading.error:
                    return piece
                if reading.characters > look_at:  # seldom: what a text is made of takes a while to see
                    look_at = reading.characters * 17 // 16
                    if self._quote.overlong(reservation.grant, reading.text):
                        raise Unavailable("the upstream sends more than max_tokens")
                await self._reply.piece(piece, request_id)
        raise Unavailable("the upstream's stream ended early")

    async def _complaint(self, response: Response, request_id: str) -> FailedTry:
        complaint = read_complaint(response.status, response.headers, await response.head(), self._parts.clock.now())
        verdict = judge(complaint, self._parts.line.vendor.errors_free)
        ending = self._ending(ArrivingMessage(), request_id, complaint.status)
        note = f"{complaint.type} {complaint.code} {complaint.message}".strip()
        return FailedTry(
            verdict.rejected, verdict.billed, verdict.then, complaint.retry_after, replace(ending, note=note)
        )

    # --- after

    async def _settle(self, reservation: Reservation, reading: ArrivingMessage, request_id: str) -> None:
        book, ledger, now, quote = self._parts.book, self._parts.ledger, self._parts.clock.now(), self._quote
        usage = usage_of(reading.usage, reservation.ask.hour_cache)
        amount = quote.cost(usage, str(reading.message.get("model")))
        ending = replace(self._ending(reading, request_id), answered=200)
        why = quote.doubt(usage, reservation.grant, reading.text, complete=True)
        if why and amount <= reservation.limit:
            self._doubted(why)
            await book.ask(ledger.disbelieve, reservation, amount, replace(ending, code=UNTRUE, note=why), now)
            return
        if not why:
            self._standing.believed(self._asked.model, within=usage.prompt <= self._asked.prompt.most)
        await book.ask(ledger.settle, reservation, amount, ending, now)
        self._log("meter.settled", amount=amount, stop=ending.stop_reason, ms=ending.ms)
        if amount > reservation.limit:
            self._log("meter.halted", amount=amount, limit=reservation.limit)

    def _cut(
        self, reservation: Reservation, reading: ArrivingMessage, failure: FailedTry, request_id: str = ""
    ) -> FailedTry:
        """End a stream that came to no end: what it has counted so far has to be possible, too."""
        failure = replace(failure, ending=self._ending(reading, request_id))
        if not reading.started:
            return failure
        why = self._quote.doubt(failure.ending.usage, reservation.grant, reading.text, complete=False)
        if not why:
            return failure
        rejected = Rejected(Refusal(UNTRUE, f"the upstream counts what cannot be true: {why}"))
        return FailedTry(rejected, ending=replace(failure.ending, code=UNTRUE, note=why))

    def _broken_off(self, reading: ArrivingMessage) -> FailedTry:
        """Before the message has begun it is an error like any other."""
        billed: Billed = "all" if reading.message else "nothing" if self._parts.line.vendor.errors_free else "prompt"
        then: Then = "retry" if reading.error in BUSY else "answer"
        return FailedTry(no_answer("the upstream broke off"), billed, then)

    def _doubted(self, why: str) -> None:
        self._standing.doubted()
        self._log("meter.untrue", why=why)

    async def _book(self, reservation: Reservation, failure: FailedTry, answered: int | None) -> None:
        parts, now, refusal = self._parts, self._parts.clock.now(), failure.rejected.refusal
        ending = replace(failure.ending, answered=answered, code=refusal.code)
        at_most, estimate = self._quote.bounds(reservation, ending.usage)
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
        self._log("meter.failed", code=refusal.code, status=ending.status, note=ending.note, again=answered is None)

    def _what_next(self, failure: FailedTry, retry: int, waited: float) -> tuple[FailedTry, float | None]:
        """Half of it by chance, or the time that the upstream named; None: give up."""
        timeouts, model = self._parts.timeouts, self._asked.model
        if failure.then != "retry" or self._reply.started:
            return failure, None
        told, longest = failure.retry_after, back_off(retry, timeouts.first, timeouts.longest)
        wait = told if told is not None else _chance.uniform(longest / 2, longest)
        if wait > timeouts.told or waited + wait > self._ticket.order.retry_s:
            self._standing.given_up(model)
            return (failure if told is None else replace(failure, rejected=self._not_before(wait))), None
        if self._standing.is_away(model) or retry + 1 >= timeouts.tries:  # one try tells whether it is back
            self._standing.given_up(model)
            return failure, None
        return failure, wait

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


def _unrepeated(failure: FailedTry, refused: Rejected) -> Rejected:
    """Nobody knows whether the model is away: a dearer one is not asked for that."""
    told = f"{failure.rejected.refusal.text}, and it is not asked again: {refused.refusal.text}"
    return Rejected(Refusal("meter_unrepeated", told))


def _plain(text: str) -> str:
    """An id of the upstream, fit for a header and a row."""
    return "".join(c for c in text[:80] if c.isascii() and (c.isalnum() or c in "_-"))
