"""The scripted model's wire: sends its answers, and breaks them as scripted."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from types import FrameType
from typing import Any

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from sisimpur.shared.model.errors import Misconfigured
from sisimpur.simulators.model.answer import encoded, events
from sisimpur.simulators.model.steps import Step

LIMITS = {
    f"anthropic-ratelimit-{kind}-{what}": value
    for kind, most in (("requests", "1000"), ("input-tokens", "2000000"), ("output-tokens", "400000"))
    for what, value in (("limit", most), ("remaining", most), ("reset", "2030-01-01T00:00:00Z"))
}


LEAVING = 0.1  # seconds that an answer may still take when the server ends


def listener(port: int) -> socket.socket:
    """On this machine only. Without TCP_NODELAY, which connections inherit, two small writes cost 40 ms."""
    try:
        listening = socket.create_server(("127.0.0.1", port))
    except OSError as error:
        raise Misconfigured(f"port {port} cannot be used ({error.strerror}); choose another with --port") from None
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


class Server(uvicorn.Server):
    """Ends as soon as it is told to: uvicorn's own looks ten times a second, and waits a tenth of one besides."""

    _loop: asyncio.AbstractEventLoop | None = None

    def leave(self) -> None:
        """From any thread, also before it has begun."""
        self.should_exit = True
        if self._loop:
            with suppress(RuntimeError):  # it has ended already
                self._loop.call_soon_threadsafe(self._told.set)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        self.leave()

    async def main_loop(self) -> None:
        self._told, self._loop = asyncio.Event(), asyncio.get_running_loop()
        while not await self.on_tick(0):  # 0: the date in its answers is now
            with suppress(TimeoutError):
                await asyncio.wait_for(self._told.wait(), 1.0)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for door in (*self.servers, *(sockets or ())):
            door.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        end = time.monotonic() + LEAVING
        while (self.server_state.connections or self.server_state.tasks) and time.monotonic() < end:
            await asyncio.sleep(LEAVING / 20)
        for task in self.server_state.tasks:
            task.cancel()


def http_server(app: ASGIApp) -> Server:
    config = uvicorn.Config(
        app,
        http=_Line,
        ws="none",
        loop="asyncio",
        lifespan="off",
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=0,
    )
    return Server(config)


class _Line(H11Protocol):
    """A connection that shows itself to the application."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self.app_state = {**self.app_state, "line": transport}
        super().connection_made(transport)


@dataclass(frozen=True)
class Playing:
    """Sends an answer, with what goes wrong on the way."""

    step: Step
    request_id: str
    scope: Scope
    receive: Receive
    send: Send

    async def play(self, whole: Mapping[str, Any], stream: bool, gone: bool) -> bool:
        """True if the caller hung up before the end, or already had (`gone`)."""
        if gone or self.step.drop == "before":
            await self._hang_up()
        elif stream:
            return await self._stream(whole)
        else:
            await self._at_once(json.dumps(whole).encode())
        return gone

    async def _stream(self, whole: Mapping[str, Any]) -> bool:
        await self._start("text/event-stream")
        error = self.step.error_event
        for sent, event in enumerate(events(whole)):
            if sent == self.step.cut_after:
                await self._hang_up()
                return False
            if error and sent == error.after:
                await self._chunk(encoded(("error", {"error": {"type": error.type, "message": error.message}})))
                break
            await self._chunk(encoded(event))
            if await gone_within(self.receive, self.step.gap):
                return True
        await self._chunk(b"", more=False)
        return False

    async def _at_once(self, body: bytes) -> None:
        await self._start("application/json", len(body))
        if self.step.cut_after is None:
            await self._chunk(body, more=False)
        else:
            await self._chunk(body[: len(body) // 2])
            await self._hang_up()

    async def _start(self, kind: str, length: int | None = None) -> None:
        headers = {"content-type": kind, "request-id": self.request_id, **LIMITS, **self.step.headers}
        if length is not None:
            headers["content-length"] = str(length)
        raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        await self.send({"type": "http.response.start", "status": 200, "headers": raw})

    async def _chunk(self, data: bytes, more: bool = True) -> None:
        await self.send({"type": "http.response.body", "body": data, "more_body": more})

    async def _hang_up(self) -> None:
        """What was sent arrives; then the connection ends."""
        self.scope["state"]["line"].close()
        while (await self.receive())["type"] != "http.disconnect":
            pass


async def gone_within(receive: Receive, seconds: float) -> bool:
    """Waits; True as soon as the caller hangs up."""
    if not seconds:
        return False
    try:
        async with asyncio.timeout(seconds):
            while (await receive())["type"] != "http.disconnect":
                pass
    except TimeoutError:
        return False
    return True
