"""Connections to the board: a stranger's makes room for whoever comes after him, and first whoever asks nothing."""

from __future__ import annotations

import asyncio
import itertools
from enum import IntEnum

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode, Frame

from sisimpur.web.api.base.guard import SIGNED

MOST = 80  # at once
SLOWEST = 10.0  # seconds in which a socket takes what it was sent
_number = itertools.count()


class Stays(IntEnum):
    """Whose connection stays the longest if there are too many: the last of them."""

    ASKS_NOTHING = 0  # its request is not whole, or it is to end
    IS_A_STRANGERS = 1  # he asks, and perhaps reads no answer
    IS_NEW = 2
    IS_LET_IN = 3


class YieldingConnection(H11Protocol):
    """One of many, which ends if there are too many."""

    number = 0
    most = MOST

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.number = next(_number)
        if len(self.connections) > self.most:
            ranks = {one: one.stays for one in self.connections if isinstance(one, _YIELDING)}
            ranks[self] = Stays.IS_NEW
            open_ones = [one for one in ranks if not one.transport.is_closing()]
            min(open_ones, key=lambda one: (ranks[one], one.number)).transport.abort()

    @property
    def stays(self) -> Stays:
        if self.conn.their_state in (h11.IDLE, h11.SEND_BODY):
            return Stays.ASKS_NOTHING
        return Stays.IS_LET_IN if SIGNED in (self.scope or ()) else Stays.IS_A_STRANGERS


class YieldingSocket(WebSocketsSansIOProtocol):
    """What a connection becomes that asked for a socket: it may go until it is signed in, and when it is to end."""

    number = 0
    _cut: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.number = next(_number)

    @property
    def stays(self) -> Stays:
        is_let_in = SIGNED in getattr(self, "scope", ()) and not self.close_sent
        return Stays.IS_LET_IN if is_let_in else Stays.ASKS_NOTHING

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
