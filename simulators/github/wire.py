"""The local GitHub's wire: takes requests, and breaks answers as planted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from sisimpur.simulators.github.api import data_of
from sisimpur.simulators.github.call import Answer, Request
from sisimpur.simulators.github.faults import Fault, Faults
from sisimpur.simulators.github.git import is_git

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

MOST_ASKED = 1_000_000  # bytes of a body
MOST_PUSHED = 512_000_000
BODILESS = (204, 304)
Record = Callable[[Request, Answer | None, Fault | None], None]


class Wire:
    """An ASGI application. `serve` does the work of a request and `record` is told of it, both on threads."""

    def __init__(self, serve: Callable[[Request], Answer], record: Record, faults: Faults) -> None:
        self._serve = serve
        self._record = record
        self._faults = faults

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = await _read(scope, receive)
        if request is None:
            await _send(send, Answer(413, {"message": "Payload too large"}))
            return
        work, fault = await asyncio.to_thread(self._worked, request)
        if fault is None and work is not None:
            await _send(send, work)
        elif fault is not None:
            await _spoil(scope, receive, send, fault, work)

    def _worked(self, request: Request) -> tuple[Answer | None, Fault | None]:
        fault = self._faults.take("before", request)
        work = None if fault else self._served(request)
        fault = fault or self._faults.take("after", request)
        self._record(request, work, fault)
        return work, fault

    def _served(self, request: Request) -> Answer:
        try:
            return self._serve(request)
        except Exception as error:  # noqa: BLE001  (a bug of ours must be seen on both sides)
            return Answer(500, {"message": f"a bug of the local GitHub: {type(error).__name__}: {error}"[:500]})


async def _read(scope: Scope, receive: Receive) -> Request | None:
    """None: its body is too large."""
    path = scope["raw_path"].decode("latin-1")
    most, body = MOST_PUSHED if is_git(path) else MOST_ASKED, bytearray()
    while True:
        event = await receive()
        body += event.get("body", b"")
        if len(body) > most:
            return None
        if not event.get("more_body"):
            break
    headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
    return Request(scope["method"], path, scope["query_string"].decode("latin-1"), headers, bytes(body))


async def _spoil(scope: Scope, receive: Receive, send: Send, fault: Fault, work: Answer | None) -> None:
    from sisimpur.simulators.model.wire import gone_within

    gone = await gone_within(receive, fault.delay)
    answer = None if gone else fault.answer(work)
    if answer and not fault.cut:
        await _send(send, answer)
        return
    if answer:
        data = data_of(answer)
        await _begin(send, answer, len(data))
        await send({"type": "http.response.body", "body": data[: len(data) // 2], "more_body": True})
    await _hang_up(scope, receive)


async def _send(send: Send, answer: Answer) -> None:
    data = data_of(answer)
    await _begin(send, answer, len(data))
    await send({"type": "http.response.body", "body": b"" if answer.status in BODILESS else data})


async def _begin(send: Send, answer: Answer, length: int) -> None:
    headers = {"content-type": "application/json; charset=utf-8", **answer.headers}
    if answer.status not in BODILESS:
        headers["content-length"] = str(length)
    raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": answer.status, "headers": raw})


async def _hang_up(scope: Scope, receive: Receive) -> None:
    """What was sent arrives; then the connection ends."""
    scope["state"]["line"].close()
    while (await receive())["type"] != "http.disconnect":
        pass
