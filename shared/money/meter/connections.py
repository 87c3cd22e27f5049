"""Connections to the meter: who holds too many open loses one that asks nothing, and locks nobody out."""

from __future__ import annotations

import asyncio
import socket as sockets
import struct
from collections import Counter

from uvicorn.protocols.http.h11_impl import H11Protocol

CONNECTIONS = 256  # at the same time; who holds more open takes the files that we need ourselves
CREDENTIALS = struct.Struct("3i")  # of a unix socket's peer: its process, user and group


class MeterConnection(H11Protocol):
    """A connection. One too many costs whoever holds most of them his oldest one that waits for no answer."""

    opened, caller = 0.0, 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # theirs says so too
        super().connection_made(transport)
        self.opened, self.caller = self.loop.time(), _process(transport)
        here = [one for one in self._all() if not one.transport.is_closing()]
        if len(here) > CONNECTIONS:
            held = Counter(one.caller for one in here)
            idle = (one for one in here if not one.is_asking)
            min(idle, key=lambda one: (-held[one.caller], one.opened)).transport.abort()

    @property
    def is_asking(self) -> bool:
        return bool(self.cycle) and not self.cycle.response_complete

    def _all(self) -> list[MeterConnection]:
        return [one for one in self.connections if isinstance(one, MeterConnection)]


def _process(transport: asyncio.Transport) -> int:
    """The number of the caller's process: of a box, the one that forwards for all that runs in it. 0: by TCP."""
    line = transport.get_extra_info("socket")
    if line is None or line.family != sockets.AF_UNIX:
        return 0
    process: int = CREDENTIALS.unpack(line.getsockopt(sockets.SOL_SOCKET, sockets.SO_PEERCRED, CREDENTIALS.size))[0]
    return process
