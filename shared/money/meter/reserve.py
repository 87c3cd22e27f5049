"""Reserving at the meter: nothing is sent before the worst case of it is durable in the book."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future

from shared.money.meter.answer import STOPPING, Rejected
from shared.money.meter.parts import MeterParts
from shared.money.ticket import CallEnding, Reservation, Ticket
from shared.money.token_budget import Ask, Refusal
from shared.system.fault import fault_point


async def reserve(parts: MeterParts, ticket: Ticket, ask: Ask, retry: int, stream: bool) -> Reservation:
    """Rejected, with a row that says so, if the book refuses or the meter is being stopped."""
    now = parts.clock.now()
    if parts.stopping():
        await parts.book.ask(parts.ledger.refused, ticket, ask.model, STOPPING, now)
        raise Rejected(STOPPING)
    entry = parts.book.later(parts.ledger.reserve, ticket, ask, parts.caps(), now, retry=retry, stream=stream)
    try:
        answer = await asyncio.shield(asyncio.wrap_future(entry))
    except asyncio.CancelledError:
        entry.add_done_callback(lambda entry: _nobody_there(parts, entry))
        raise
    if isinstance(answer, Refusal):
        raise Rejected(answer)
    fault_point("llm.reserve")
    return answer


def _nobody_there(parts: MeterParts, entry: Future[Reservation | Refusal]) -> None:
    """The caller left while his reservation was made: nothing was sent. Runs in the book's thread."""
    answer = None if entry.cancelled() or entry.exception() else entry.result()
    if isinstance(answer, Reservation):
        parts.ledger.void(answer, CallEnding(code="meter_cut"), parts.clock.now())
