"""The meter's answer to one request, on the wire."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from shared.money.meter.answer import Rejected, answer

Send = Callable[[Mapping[str, Any]], Awaitable[None]]


class HttpReply:
    """The caller's side of one request. What began as a stream can only end or break, not be refused."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.started = False
        self.streams = False

    async def piece(self, piece: bytes, request_id: str) -> None:
        if self.streams:
            await self._begin(200, {"content-type": "text/event-stream", "cache-control": "no-cache"}, request_id)
            await self._send({"type": "http.response.body", "body": piece, "more_body": True})

    async def end(self, last: bytes, message: Mapping[str, Any], request_id: str) -> None:
        if not self.streams:
            await self.whole(message, request_id)
        else:
            await self.piece(last, request_id)
            await self._send({"type": "http.response.body", "body": b""})

    async def whole(self, body: Mapping[str, Any], request_id: str) -> None:
        await self._begin(200, {"content-type": "application/json"}, request_id)
        data = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        await self._send({"type": "http.response.body", "body": data})

    async def reject(self, rejected: Rejected, number: str) -> None:
        if self.started:
            return  # the server cuts an answer that is not complete
        status, headers, body = answer(rejected, number)
        await self._begin(status, headers, "")
        await self._send({"type": "http.response.body", "body": body})

    async def _begin(self, status: int, headers: Mapping[str, str], request_id: str) -> None:
        if self.started:
            return
        self.started = True
        named = {**headers, "request-id": request_id} if request_id else headers
        pairs = [(name.encode(), value.encode()) for name, value in named.items()]
        await self._send({"type": "http.response.start", "status": status, "headers": pairs})
