"""One call through the meter: reserve, send, repeat while that helps, book. Each try is a row of its own.

A try ends in exactly one state. If its outcome is unknown, it is lost: booked at the most that it can have cost.
"""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace

from sisimpur.shared.model.errors import Misconfigured, Unavailable
from sisimpur.shared.money.meter.answer import Billed, HttpReply, Rejected, Then, judge, no_answer, read_complaint
from sisimpur.shared.money.meter.booking import (
    CallBooking,
    FailedTry,
    Patience,
    Quote,
    next_wait,
    told_when,
    unrepeated,
)
from sisimpur.shared.money.meter.parts import MeterParts
from sisimpur.shared.money.meter.upstream import CALL, FRAMES, MAX_MESSAGE, WIDEST, ArrivingMessage, Response, Splitter
from sisimpur.shared.money.ticket import Reservation, Ticket
from sisimpur.shared.money.token_budget import Refusal
from sisimpur.shared.system.fault import fault_point

BUSY = ("overloaded_error", "api_error")  # error events in a stream after which a new try makes sense

_chance = random.SystemRandom()


class MeteredCall:
    """A call that is checked and priced already. `run` raises Rejected if there is no answer."""

    def __init__(self, parts: MeterParts, ticket: Ticket, quote: Quote, reply: HttpReply) -> None:
        self._parts = parts
        self._quote = quote
        self._asked = quote.asked
        self._most = ticket.order.retry_s
        self._reply = reply
        self._standing = parts.line.standing
        self._booking = CallBooking(parts, ticket, quote)

    async def run(self) -> None:
        waited, failure = 0.0, None
        if self._asked.unseen:
            self._booking.log("meter.unseen", shown=self._asked.unseen)
        for retry in range(self._parts.timeouts.tries):
            async with self._standing.turn(self._asked.model):
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
            reservation = await self._booking.reserve(retry)
        except Rejected as refused:
            self._parts.talk(refused.refusal.call, self._asked.body, ())
            if before and refused.refusal.code.endswith("_cap"):  # the caller has to know why the last try failed
                raise unrepeated(before, refused) from None
            raise
        reading = ArrivingMessage()
        try:
            failure = await self._try(reservation, reading)
            if failure is None:
                return None, None
            failure, wait = self._what_next(failure, retry, waited)
            await self._booking.fail(reservation, reading, failure, None if wait is not None else self._seen(failure))
            return failure, wait
        finally:
            sent = {**self._asked.body, "max_tokens": reservation.grant.max_tokens}
            self._parts.talk(reservation.id, sent, reading.said)

    def _what_next(self, failure: FailedTry, retry: int, waited: float) -> tuple[FailedTry, float | None]:
        if failure.then != "retry" or self._reply.started:
            return failure, None
        patience = Patience(self._parts.timeouts, self._most, once=self._standing.is_away(self._asked.model))
        wait = next_wait(failure, retry, waited, patience, _chance.random())
        if wait is None:
            self._standing.given_up(self._asked.model)
            failure = told_when(failure, self._parts.clock.now(), waited, patience)
        return failure, wait

    # --- the try

    async def _try(self, reservation: Reservation, reading: ArrivingMessage) -> FailedTry | None:
        try:
            return await self._exchange(reservation, reading)
        except Unavailable as error:
            if error.unbilled:  # nothing was sent
                return FailedTry(no_answer(str(error)), billed="nothing", then="retry")
            then: Then = "answer" if reading.message else "retry"
            failure = FailedTry(no_answer(str(error)), then=then, ending=self._booking.ending(reading))
            return self._booking.judged(reservation, reading, failure)
        except Misconfigured as error:  # it was counted what has no price: the meter halts on this, and on nothing else
            refusal = Refusal("meter_paused", f"no spending now: {error}")
            return FailedTry(Rejected(refusal), then="pause", ending=self._booking.ending(reading))
        except BaseException:  # the caller left, the time is over, the meter stops, or a bug
            self._booking.cut(reservation, reading, self._seen(None))
            raise

    async def _exchange(self, reservation: Reservation, reading: ArrivingMessage) -> FailedTry | None:
        body = self._asked.encoded(reservation.grant.max_tokens)
        async with self._parts.line.post(CALL, self._asked.headers, body) as response:
            fault_point("llm.sent")
            request_id = _plain(self._parts.clean(response.headers.get("request-id", "")))
            if response.status != 200:
                return await self._complaint(response, request_id)
            last = await self._relay(response, reservation, reading, request_id)
            if reading.error:
                return self._booking.judged(reservation, reading, self._broken_off(reading, request_id))
            fault_point("llm.last-byte")
            await self._booking.settle(reservation, reading, request_id)
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
                if begins := not reading.message:
                    fault_point("llm.first-byte")
                reading.take(event)
                if begins:
                    self._booking.heard(reading.model)
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
        ending = self._booking.ending(ArrivingMessage(), request_id, complaint.status)
        note = self._parts.clean(f"{complaint.type} {complaint.code} {complaint.message}".strip())
        return FailedTry(
            verdict.rejected, verdict.billed, verdict.then, complaint.retry_after, replace(ending, note=note)
        )

    def _broken_off(self, reading: ArrivingMessage, request_id: str) -> FailedTry:
        """Before the message has begun it is an error like any other."""
        billed: Billed = "all" if reading.message else "nothing" if self._parts.line.vendor.errors_free else "prompt"
        then: Then = "retry" if reading.error in BUSY else "answer"
        ending = self._booking.ending(reading, request_id)
        return FailedTry(no_answer("the upstream broke off"), billed, then, ending=ending)

    def _seen(self, failure: FailedTry | None) -> int | None:
        """The status that the caller sees."""
        if self._reply.started:
            return 200
        return failure.rejected.status if failure else None


def _plain(text: str) -> str:
    """An id of the upstream, fit for a header and a row."""
    return "".join(c for c in text[:80] if c.isascii() and (c.isalnum() or c in "_-"))
