"""Batches through the meter: a question that is asked ahead, at half price, and its answer fetched later.

Reserve half of the worst case, send, remember the vendor's id: in this order, each durable before the next. Sent once
and never repeated: what is not answered ahead is asked in the morning. Only batches in our book are asked about, below
paths that we write ourselves, and what is heard of them is booked before the caller hears it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from shared.domain.batching import Batch, Stage, Word, after
from shared.domain.ticket import Booked, Ending, Ticket
from shared.domain.token_budget import Ask, Rates, Refusal, Usage, cost, half
from shared.edge.fault import fault_point
from shared.edge.money import meter_results as results
from shared.edge.money.meter_answer import Complaint, NotReached, Rejected, judge, no_answer, read_complaint
from shared.edge.money.meter_parts import Parts, about
from shared.edge.money.meter_request import MAX_BODY, Asked
from shared.edge.money.meter_reserve import reserve
from shared.edge.money.meter_results import VENDORS_ID, Answered, Nonsense, Unanswered
from shared.edge.money.pricing import Unpriced, is_half, usage_of
from shared.edge.money.sse import StreamBroken

BATCHES = "/v1/messages/batches"
PATH = re.compile(rf".*{BATCHES}(?:/(?P<vendor>{VENDORS_ID.pattern})(?P<what>/results|/cancel)?)?")


@dataclass(frozen=True)
class Route:
    """What is asked for. `vendor` empty: a new batch; `what`: /results, /cancel, or how it stands."""

    vendor: str = ""
    what: str = ""


def route_of(method: str, path: str) -> Route | None:
    """None: it is nothing of a batch's."""
    found = PATH.fullmatch(path)
    if not found:
        return None
    route = Route(found["vendor"] or "", found["what"] or "")
    is_asking = route.vendor and route.what != "/cancel"
    return route if method == ("GET" if is_asking else "POST") else None


def as_batch(ask: Ask) -> Ask:
    """At half price, and whole: nobody is there to make do with a shorter answer."""
    return replace(ask, batched=True, may_clamp=False, price_version=_half(ask.price_version))


def _half(version: str) -> str:
    return f"{version}, half"


def took_nothing(status: int) -> bool:
    """Whether who answers so has made no batch. A service that fails, or is late, may have made one."""
    return status == 501 or (300 <= status < 500 and status not in (408, 409))


class NotTaken(Rejected):
    """A complete answer that says no; `word`: what it means for the money."""

    def __init__(self, complaint: Complaint) -> None:
        super().__init__(_said_no(judge(complaint).rejected, complaint.status).refusal)
        note = f"{complaint.type} {complaint.code} {complaint.message}".strip()
        self.word = Word.REFUSED if took_nothing(complaint.status) else Word.SILENT
        self.ending = Ending(complaint.status, 400, code=self.refusal.code, note=note)


@dataclass(frozen=True)
class Batches:
    """Of one caller. Each verb answers what the caller is told; Rejected: why there is nothing to tell."""

    parts: Parts
    ticket: Ticket
    headers: Mapping[str, str]

    async def send(self, key: str, ask: Ask, asked: Asked) -> Mapping[str, Any]:
        """`ask` has the prices of now."""
        reservation = await reserve(self.parts, self.ticket, ask, key=key)
        try:
            vendor = await self._sent(key, asked, reservation.id)
        except NotReached as error:
            await self._end(reservation, Stage.PLANNED, Word.REFUSED, Ending(code="meter_upstream"))
            raise no_answer(str(error)) from None
        except NotTaken as no:
            await self._end(reservation, Stage.PLANNED, no.word, no.ending)
            raise
        except (StreamBroken, Nonsense) as error:
            ending = Ending(answered=400, code="meter_upstream", note=str(error))
            await self._end(reservation, Stage.PLANNED, Word.SILENT, ending)
            raise no_answer(str(error)) from None
        except BaseException:  # nobody waits for an entry
            ending, now = Ending(code="meter_cut"), self.parts.clock.now()
            self.parts.book.later(self.parts.ledger.cut, reservation, ending, now)
            raise
        self._log("meter.batch-sent", ask.model, reserved=reservation.reserved)
        return _shown(vendor, "in_progress")

    async def ask(self, batch: Batch, what: str) -> Mapping[str, Any]:
        """`what` stands behind the batch in the path: nothing, /results or /cancel."""
        verb = {"": self._look, "/results": self._fetch, "/cancel": self._cancel}[what]
        try:
            return await verb(batch)
        except Nonsense as nonsense:
            ending = Ending(200, 400, code="meter_batch_lost", note=str(nonsense))
            await self._end(batch, batch.stage, Word.SILENT, ending)
            raise Rejected(Refusal("meter_batch_lost", str(nonsense))) from None

    async def _look(self, batch: Batch) -> Mapping[str, Any]:
        return _shown(batch.vendor, await self._status(batch))

    async def _cancel(self, batch: Batch) -> Mapping[str, Any]:
        """What was answered before is billed all the same: it has to be fetched later."""
        data = await self._heard(batch, "/cancel", "POST")
        return _shown(batch.vendor, results.status(data, batch.vendor))

    async def _fetch(self, batch: Batch) -> Mapping[str, Any]:
        """The answer, paid for. It may be asked for again, and is paid for once."""
        if await self._status(batch) != "ended":
            raise Rejected(Refusal("meter_batch_waits", "this batch has not ended yet"))
        found = results.result(await self._heard(batch, "/results"), batch.key)
        if isinstance(found, Unanswered):
            ending = Ending(200, 400, code=f"meter_batch_{found.how}", note=self.parts.line.masked(found.note))
            await self._end(batch, batch.stage, Word.UNANSWERED, ending)
            raise Rejected(Refusal(ending.code, f"the upstream has not answered it: {found.how}"))
        await self._settle(batch, found)
        return {"custom_id": batch.key, "result": {"type": "succeeded", "message": found.told}}

    # --- the upstream

    async def _sent(self, key: str, asked: Asked, call: int) -> str:
        """The vendor's id of it, in the book. `key` is of letters and digits."""
        item = b'{"custom_id":"%b","params":%b}' % (key.encode(), asked.encoded(asked.max_tokens))
        async with self.parts.line.post(BATCHES, self.headers, b'{"requests":[%b]}' % item) as response:
            fault_point("batch.sent")
            data = await response.head()
            if response.status != 200:
                raise NotTaken(read_complaint(response.status, response.headers, data, self.parts.clock.now()))
        vendor = results.taken(data)
        if not await self.parts.book.ask(self.parts.ledger.batch_taken, call, vendor):
            raise Nonsense("the upstream tells the id of another batch")
        return vendor

    async def _status(self, batch: Batch) -> results.Status:
        now = self.parts.clock.now()
        if batch.is_gone(now) and await self.parts.book.ask(self.parts.ledger.believes, now):
            raise Nonsense("it was sent longer ago than the upstream keeps anything of it")
        return results.status(await self._heard(batch), batch.vendor)

    async def _heard(self, batch: Batch, what: str = "", method: str = "GET") -> bytes:
        """A service that fails is asked again another time."""
        try:
            async with self.parts.line.send(method, f"{BATCHES}/{batch.vendor}{what}", self.headers) as response:
                data, status = await response.head(MAX_BODY + 1), response.status
        except (NotReached, StreamBroken) as error:
            raise no_answer(str(error)) from None
        fault_point("batch.told")
        if status == 404:
            raise Nonsense("the upstream does not know it any more")
        if status != 200:
            raise no_answer(f"the upstream did not tell of the batch ({status})")
        if len(data) > MAX_BODY:
            raise Nonsense(f"the upstream's answer is larger than {MAX_BODY} bytes")
        return data

    # --- the book

    async def _end(self, booked: Booked, stage: Stage, word: Word, ending: Ending, amount: int = 0) -> None:
        """By the table. `amount`: what an answer costs. What has its end already keeps it."""
        book, ledger, now = self.parts.book, self.parts.ledger, self.parts.clock.now()
        then, ended = after(stage, word), False
        if then is Stage.COLLECTED:
            ended = await book.ask(ledger.settle, booked, amount, ending, now)
        elif then is Stage.VOID:
            ended = await book.ask(ledger.void, booked, ending, now)
        elif then is Stage.LOST:
            ended = await book.ask(ledger.lost, booked, booked.reserved, None, ending, now)
        if ended:
            told = {"stage": then.value, "amount": amount, "code": ending.code, "note": ending.note}
            self._log("meter.batch-ended", booked.model, **told)

    async def _settle(self, batch: Batch, found: Answered) -> None:
        """At half price, unless the vendor says that it bills the whole. What cannot be booked is lost."""
        try:
            usage = usage_of(found.usage, batch.hour_cache, batched=True)
            whole = self._cost(batch, usage, found.model)
            amount = half(whole) if is_half(found.usage) else whole
            ending = Ending(200, 200, usage, found.stop_reason, batch.vendor)
            await self._end(batch, batch.stage, Word.ANSWERED, ending, amount)
        except Unpriced as error:
            await self._end(batch, batch.stage, Word.SILENT, Ending(200, 400, code="meter_paused", note=str(error)))
            await self.parts.book.ask(self.parts.ledger.pause, str(error), self.parts.clock.now())
            raise Rejected(Refusal("meter_paused", f"no spending now: {error}")) from None
        except Exception as bug:
            ending = Ending(200, 400, code="meter_bug", note=type(bug).__name__)
            await self._end(batch, batch.stage, Word.SILENT, ending)
            raise
        fault_point("batch.settled")

    def _cost(self, batch: Batch, usage: Usage, answered_by: str) -> int:
        """If another model than the asked one answered and is dearer, its price counts."""
        amount = cost(self._rates(batch, usage.prompt), usage)
        if answered_by == batch.model:
            return amount
        try:
            return max(amount, cost(self.parts.pricing.rates(answered_by, usage.prompt, batch.at), usage))
        except Unpriced:
            return amount

    def _rates(self, batch: Batch, prompt: int) -> Rates:
        """Those of the sending, whatever the prices are by now: of a table that has changed since, nothing is asked."""
        pricing = self.parts.pricing
        same = batch.price_version == _half(pricing.version(batch.model))
        return pricing.rates(batch.model, prompt, batch.at) if same else batch.rates

    def _log(self, event: str, model: str, **fields: Any) -> None:
        self.parts.log(event, about(self.ticket, model) | fields)


def _shown(vendor: str, status: str) -> Mapping[str, Any]:
    """No address of the vendor's: nobody shall follow one."""
    return {"id": vendor, "type": "message_batch", "processing_status": status}


def _said_no(rejected: Rejected, status: int) -> Rejected:
    """What pauses all spending elsewhere is here the end of one question: the next plain call meets it, too."""
    if rejected.refusal.code in ("meter_paused", "meter_model_gone"):
        return no_answer(f"the upstream took no batch ({status})")
    return rejected
