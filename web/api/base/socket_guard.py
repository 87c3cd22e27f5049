"""Before each socket: the same questions as before an order, and who it is.

A browser sends no header of ours with a handshake, and on this machine there is no cookie. So the key comes in the
first message, by the line that each request's header takes, too: a ticket would be got by that very key. Nothing secret
stands in an address. Until then a socket is a stranger's, and the oldest make room. Over TLS the cookie says who it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sisimpur.web.api.base.guard import Admission, Receive, Scope, Send, headers_of, refusal_of, refuse, signed_in
from sisimpur.web.api.base.place import BoardPlace, Way

FIRST_WITHIN = 5.0  # seconds
# How a socket ends, for its page to know whether to come again.
GONE, NO_SENSE, LATER, SIGN_IN_AGAIN, NOT_ALLOWED = 0, 1008, 1013, 4401, 4403
ENDS = {401: SIGN_IN_AGAIN, 403: NOT_ALLOWED}  # of a status of HTTP; any other: later
Hears = Callable[[str, int | None, Receive, Send], Awaitable[int]]


class FirstMessage(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    key: str = Field("", max_length=200)
    last: int | None = Field(None, ge=0, lt=10**18)  # number of the last news that was heard


@dataclass(frozen=True)
class SocketGuard:
    """`sockets`: address -> who serves it, and returns with which code it ends (0: it is gone). `patience`: seconds."""

    admits: Admission
    place: BoardPlace
    sockets: Mapping[str, Hears]
    patience: float = FIRST_WITHIN

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = headers_of(scope)
        way = self.place.way(scope, headers)
        refusal = refusal_of("POST", headers, way) if way else (421, self.place.why_not(scope, headers))
        if refusal is None and scope["path"] not in self.sockets:
            refusal = 404, "there is no socket"
        await receive()  # that it wants to connect
        if refusal:
            await refuse(send, refusal, kind="websocket.http")
        elif way:
            await send({"type": "websocket.accept"})
            if code := await self._served(scope, way, receive, send):
                await send({"type": "websocket.close", "code": code})

    async def _served(self, scope: Scope, way: Way, receive: Receive, send: Send) -> int:
        """Return with which code it ends."""
        try:
            async with asyncio.timeout(self.patience):
                said = await receive()
        except TimeoutError:
            return LATER
        if said["type"] == "websocket.disconnect":
            return GONE
        try:
            first = FirstMessage.model_validate_json(said.get("text") or "")
        except ValidationError:
            return NO_SENSE
        headers = headers_of(scope)
        if first.key and (way.is_private or "authorization" in headers):
            return NO_SENSE  # one or the other: nobody falls back on it
        if first.key:
            headers["authorization"] = f"Bearer {first.key}"
        if why_not := await self.admits(scope, headers, way):
            return ENDS.get(why_not[0], LATER)
        return await self.sockets[scope["path"]](signed_in(scope).key, first.last, receive, send)
