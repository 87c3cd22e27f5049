"""Connections to the board: whoever connects and asks nothing makes room for whoever comes after him."""

from __future__ import annotations

import asyncio
import itertools

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST = 80  # at once
_number = itertools.count()


class YieldingConnection(H11Protocol):
    """One of many, which ends if there are too many, the oldest first, while its request is not whole."""

    number = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.number = next(_number)
        if len(self.connections) > MOST:
            idle = [one for one in self.connections if isinstance(one, YieldingConnection) and one.may_go]
            min(idle, key=lambda one: one.number).transport.abort()  # one of them is this

    @property
    def may_go(self) -> bool:
        return self.conn.their_state in (h11.IDLE, h11.SEND_BODY) and not self.transport.is_closing()
