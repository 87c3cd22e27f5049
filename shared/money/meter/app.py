"""The meter's ASGI application: one request from its ticket to its answer.

In this order: ticket, size, fields, hygiene, model, price; then the call itself reserves, sends and books. A caller
without a ticket costs us nothing, not even the reading of the body. No refusal here invites a repetition.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from sisimpur.shared.model.errors import Misconfigured, Unavailable
from sisimpur.shared.money.meter.answer import (
    STOPPING,
    HttpReply,
    Rejected,
    Send,
    judge,
    no_answer,
    read_complaint,
    tokens_of,
)
from sisimpur.shared.money.meter.booking import Quote
from sisimpur.shared.money.meter.call import MeteredCall
from sisimpur.shared.money.meter.parts import MeterParts
from sisimpur.shared.money.meter.request import MAX_BODY, read_call, read_headers, read_prompt
from sisimpur.shared.money.meter.upstream import CALL, COUNT
from sisimpur.shared.money.ticket import Ticket
from sisimpur.shared.money.token_budget import Refusal

Scope = Mapping[str, Any]
Receive = Callable[[], Awaitable[Mapping[str, Any]]]
COUNTS = 4  # free, but not without limit: at the same time
AT_ONCE = 64  # requests of one ticket


def _no(code: str, text: str, status: int = 400) -> Rejected:
    return Rejected(Refusal(code, text), status)


class MeterApp:
    """An ASGI application. `close` ends what is still going on; its money is booked."""

    def __init__(self, parts: MeterParts) -> None:
        self._parts = parts
        self._going_on: set[asyncio.Task[None]] = set()
        self._counting = asyncio.Semaphore(COUNTS)
        self._asking: Counter[int] = Counter()  # requests by ticket

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        number = f"meter_{secrets.token_hex(12)}"
        reply = HttpReply(send)
        try:
            await self._serve(scope, receive, reply)
        except ConnectionAbortedError:
            pass
        except Rejected as rejected:
            await reply.reject(rejected, number)
        except asyncio.CancelledError:
            await reply.reject(Rejected(STOPPING), number)
        except Exception as error:  # noqa: BLE001 - a bug of ours must stop a caller, not make it repeat
            self._parts.log("meter.bug", {"error": f"{type(error).__name__}: {error}"[:500], "id": number})
            await reply.reject(_no("meter_bug", f"the meter failed; its log has the reason under {number}"), number)

    async def close(self) -> None:
        for task in self._going_on:
            task.cancel()
        if self._going_on:
            await asyncio.wait(self._going_on)

    async def _serve(self, scope: Scope, receive: Receive, reply: HttpReply) -> None:
        path = scope["path"]
        if scope["method"] != "POST" or not path.endswith((CALL, COUNT)):
            raise _no("meter_not_found", "only POST to v1/messages and v1/messages/count_tokens is served", 404)
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        ticket = await self._ticket(headers)
        with self._counted_in(ticket):
            await self._asked(ticket, path, headers, receive, reply)

    @contextmanager
    def _counted_in(self, ticket: Ticket) -> Iterator[None]:
        """Not in the book: whoever asks too often would fill it."""
        if self._asking[ticket.id] >= AT_ONCE:
            raise _no("meter_too_many", f"this ticket has {AT_ONCE} requests under way; wait for one of them")
        self._asking[ticket.id] += 1
        try:
            yield
        finally:
            self._asking[ticket.id] -= 1
            if not self._asking[ticket.id]:
                del self._asking[ticket.id]

    async def _asked(
        self, ticket: Ticket, path: str, headers: Mapping[str, str], receive: Receive, reply: HttpReply
    ) -> None:
        raw = b""
        try:
            if not ticket.is_open(self._parts.clock.now()):
                raise _no("meter_ticket_closed", "this ticket is closed or has expired")
            raw = await self._body(receive)
            begin = self._count if path.endswith(COUNT) else self._call
            work = begin(ticket, headers, raw, reply)
        except Rejected as rejected:
            noted = await self._parts.book.ask(
                self._parts.ledger.refused, ticket, "", rejected.refusal, self._parts.clock.now(), rejected.status
            )
            self._parts.talk(noted.call, raw, ())
            raise
        await self._unless_gone(work, receive, reply)

    async def _ticket(self, headers: Mapping[str, str]) -> Ticket:
        kind, _, bearer = headers.get("authorization", "").partition(" ")
        token = headers.get("x-api-key") or (bearer.strip() if kind.lower() == "bearer" else "")
        ticket = await self._parts.book.ask(self._parts.ledger.ticket, token)
        if ticket is None:
            raise _no("meter_unknown_ticket", "this ticket is not known", 401)
        return ticket

    async def _body(self, receive: Receive) -> bytes:
        found = bytearray()
        with suppress(TimeoutError):
            async with asyncio.timeout(self._parts.timeouts.body):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise ConnectionAbortedError
                    found += message.get("body", b"")
                    if len(found) > MAX_BODY:
                        raise _no("meter_too_large", f"the body is larger than {MAX_BODY} bytes", 413)
                    if not message.get("more_body"):
                        return bytes(found)
        raise _no("meter_too_slow", f"the request took longer than {self._parts.timeouts.body:g} s")

    # --- a call

    def _call(
        self, ticket: Ticket, headers: Mapping[str, str], raw: bytes, reply: HttpReply
    ) -> Coroutine[Any, Any, None]:
        asked = read_call(headers, raw)
        reply.streams = asked.stream
        _allowed(ticket, asked.model)
        quote = Quote(self._parts.pricing, asked, self._parts.clock.now())
        try:
            _ = quote.strict
        except Misconfigured as error:
            raise _no("meter_unknown_model", str(error)) from None
        return MeteredCall(self._parts, ticket, quote, reply).run()

    # --- counting tokens: free, so without a row

    def _count(
        self, ticket: Ticket, headers: Mapping[str, str], raw: bytes, reply: HttpReply
    ) -> Coroutine[Any, Any, None]:
        passed, (model, body) = read_headers(headers), read_prompt(raw)
        _allowed(ticket, model)
        return self._counted(passed, model, body, reply)

    async def _counted(self, headers: Mapping[str, str], model: str, body: bytes, reply: HttpReply) -> None:
        parts = self._parts
        if reason := await parts.book.ask(parts.ledger.reader.paused, model):
            raise _no("meter_paused", f"no spending now: {reason}")
        try:
            async with self._counting, parts.line.post(COUNT, headers, body) as response:
                found, status = await response.head(), response.status
                complaint = read_complaint(status, response.headers, found, parts.clock.now())
        except Unavailable as error:
            raise no_answer(str(error)) from None
        if status != 200:
            raise judge(complaint).rejected
        tokens = tokens_of(found)
        if tokens is None:
            raise no_answer("the upstream's count is no number")
        await reply.whole({"input_tokens": tokens}, "")

    # --- the caller may leave, and the time may be over

    async def _unless_gone(self, work: Coroutine[Any, Any, None], receive: Receive, reply: HttpReply) -> None:
        timeouts = self._parts.timeouts
        seconds = timeouts.streamed if reply.streams else timeouts.whole
        task, gone = asyncio.create_task(work), asyncio.create_task(_gone(receive))
        self._going_on.add(task)
        try:
            await asyncio.wait({task, gone}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            left = gone.done() and not task.done()
        finally:
            gone.cancel()
            task.cancel()
            await asyncio.wait({task, gone})
            self._going_on.discard(task)
        if task.cancelled():
            raise (
                ConnectionAbortedError
                if left
                else _no("meter_upstream", f"the upstream took longer than {seconds:g} s")
            )
        task.result()


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _allowed(ticket: Ticket, model: str) -> None:
    if model not in ticket.order.models:
        raise _no("meter_model_not_allowed", f"this ticket is for {', '.join(ticket.order.models)}")
