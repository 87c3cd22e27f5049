"""Connections to the board: whoever connects and asks nothing makes room for whoever comes after him."""

from __future__ import annotations

import asyncio
import itertools

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode, Frame

from sisimpur.web.api.base.guard import SIGNED

MOST = 80  # at once
SLOWEST = 10.0  # seconds in which a socket takes what it was sent
_number = itertools.count()


class YieldingConnection(H11Protocol):
    """One of many, which ends if there are too many, the oldest first, while its request is not whole."""

    number = 0
    most = MOST

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.number = next(_number)
        if len(self.connections) > self.most:
            idle = [one for one in self.connections if isinstance(one, _YIELDING) and one.may_go]
            min(idle, key=lambda one: one.number).transport.abort()  # one of them is this

    @property
    def may_go(self) -> bool:
        return self.conn.their_state in (h11.IDLE, h11.SEND_BODY) and not self.transport.is_closing()


class YieldingSocket(WebSocketsSansIOProtocol):
    """What a connection becomes that asked for a socket: it may go until it is signed in, and when it is to end."""

    number = 0
    _cut: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.number = next(_number)

    @property
    def may_go(self) -> bool:
        is_let_in = SIGNED in getattr(self, "scope", ()) and not self.close_sent
        return not is_let_in and not self.transport.is_closing()

    def handle_cont(self, event: Frame) -> None:  # noqa: ARG002 (uvicorn's own)
        """Refuse it: what has to be said is short, and pieces without a letter would be kept without an end."""
        self.conn.fail(CloseCode.MESSAGE_TOO_BIG, "say it in one frame")
        self.handle_parser_exception()

    def pause_writing(self) -> None:
        """Hear nothing from whoever does not read: each ping of his would be answered into our memory."""
        super().pause_writing()
        self.transport.pause_reading()
        self._cut = self.loop.call_later(SLOWEST, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._cut:
            self._cut.cancel()
        if not self.read_paused:
            self.transport.resume_reading()


_YIELDING = (YieldingConnection, YieldingSocket)
