"""The meter's server: every call of a model has a ticket, is reserved before and booked after.

It speaks the Messages API on a unix socket, to our own client and to the engine in its box. Both know a ticket; the
real key stays here. What becomes of a request stands in app and call.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket as sockets
import struct
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.routing import Mount
from uvicorn.protocols.http.h11_impl import H11Protocol

from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.money.ledger import Ledger
from sisimpur.shared.money.meter.app import MeterApp
from sisimpur.shared.money.meter.parts import LedgerThread, MeterParts, MeterTimeouts, Talk, no_talk
from sisimpur.shared.money.meter.upstream import Upstream, UpstreamClient
from sisimpur.shared.money.pricing import Pricing
from sisimpur.shared.money.token_budget import Caps
from sisimpur.shared.system.clock import Clock

CONNECTIONS = 256  # at the same time; who holds more open takes the files that we need ourselves
CREDENTIALS = struct.Struct("3i")  # of a unix socket's peer: its process, user and group
LONGEST_PATH = 107  # bytes of a unix socket's path
WAITING = 256  # connections that may wait to be accepted
STARTING = 30.0  # seconds
DRAINING = 5.0  # seconds for calls in flight when the meter stops; then they are lost

REST = 0.1  # seconds in which no call began or ended, until what was said is recorded
LONGEST_REST = 2.0  # seconds that it waits for them


@dataclass(frozen=True)
class MeterSetup:
    """Places where a meter listens and sends, how long it waits, and who hears of it.

    `log` gets an event's name and its fields, `talk` what was said, from the meter's own threads. `tcp` listens on a
    free port of 127.0.0.1 as well (`Meter.port`). `clean` removes secrets from what is booked of an answer.
    """

    socket: Path
    upstream: Upstream
    log: Callable[[str, dict[str, Any]], None] = lambda _event, _fields: None
    timeouts: MeterTimeouts = field(default_factory=MeterTimeouts)
    tcp: bool = False
    talk: Talk = no_talk
    clean: Callable[[str], str] = str


class Meter:
    """`start` before the first call, `stop` after the last; or as a context manager.

    `caps` is asked before each call, so that a changed configuration counts at once.
    """

    def __init__(
        self, ledger: Ledger, pricing: Pricing, caps: Callable[[], Caps], clock: Clock, setup: MeterSetup
    ) -> None:
        self.socket = setup.socket
        self.port = 0
        self._ledger = ledger
        self._pricing = pricing
        self._caps = caps
        self._clock = clock
        self._setup = setup
        self._stopping = threading.Event()
        self._ready = threading.Event()
        self._thread: threading.Thread | None = None
        self._busy = 0.0  # when a call began or ended last

    def __enter__(self) -> Meter:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Book what a dead meter left open as lost, then serve. Misconfigured if it does not start in 30 s."""
        self._stopping.clear()
        lost = self._ledger.reconcile(self._clock.now())
        self._has_lied = bool(self._ledger.reader.paused_models())
        if lost:
            self._setup.log("meter.reconciled", {"lost": lost})
        listening = [_unix_socket(self.socket), *([_loopback()] if self._setup.tcp else [])]
        self.port = listening[1].getsockname()[1] if self._setup.tcp else 0
        self._server = uvicorn.Server(_settings(Starlette(routes=[Mount("/", app=self._serve)], lifespan=self._life)))
        self._thread = threading.Thread(target=self._server.run, args=(listening,), name="meter", daemon=True)
        self._thread.start()
        if not self._ready.wait(STARTING):
            raise Misconfigured(f"the meter did not start within {STARTING:.0f} s; look at the logs")

    def refuse_new(self) -> None:
        """Reserve nothing from now on, be it a call or its repetition; those in flight go on."""
        self._stopping.set()

    def stop(self, grace: float = DRAINING) -> None:
        """Take no new call; those in flight get `grace` seconds, then they are lost. Again: wait for the same end."""
        thread = self._thread
        if thread is None:
            return
        self.refuse_new()
        self._server.config.timeout_graceful_shutdown = grace  # type: ignore[assignment]  # for asyncio
        self._server.should_exit = True
        thread.join()
        self._thread = None
        self._ready.clear()
        self.socket.unlink(missing_ok=True)

    async def _serve(self, scope: Any, receive: Any, send: Any) -> None:
        self._busy = time.monotonic()
        try:
            await self._app(scope, receive, send)
        finally:
            self._busy = time.monotonic()

    @contextlib.asynccontextmanager
    async def _life(self, _: Starlette) -> AsyncIterator[None]:
        """Run in the server's thread: the line to the upstream belongs to its event loop."""
        setup, book = self._setup, LedgerThread()
        talk, over = LedgerThread("meter-talk"), threading.Event()
        line = UpstreamClient(setup.upstream, setup.timeouts.idle)
        if self._has_lied:
            line.standing.doubted()
        self._app = MeterApp(
            MeterParts(
                self._ledger,
                book,
                self._pricing,
                self._caps,
                line,
                self._clock,
                setup.timeouts,
                setup.log,
                self._stopping.is_set,
                lambda *said: talk.later(self._in_peace, over, time.monotonic(), partial(setup.talk, *said)),
                setup.clean,
            )
        )
        self._ready.set()
        try:
            yield
        finally:
            await self._app.close()
            await line.close()
            over.set()
            talk.close()
            book.close()

    def _in_peace(self, over: threading.Event, said: float, record: Callable[[], object]) -> None:
        """Record what was said when no call begins or ends: two threads at work are slower than one.

        While a call waits for its model, there is peace.
        """
        while (rest := min(self._busy + REST, said + LONGEST_REST) - time.monotonic()) > 0 and not over.wait(rest):
            pass
        record()


def _settings(app: Starlette) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=MeterConnection,
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_config=None,
        log_level="critical",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        timeout_keep_alive=30,
        backlog=WAITING,
    )


def _unix_socket(path: Path) -> sockets.socket:
    """Listen for our own user only, from the first moment: nobody can connect before `listen`."""
    if len(os.fsencode(path)) > LONGEST_PATH:
        raise Misconfigured(f"{path} is longer than {LONGEST_PATH} bytes, too long for a socket; use a shorter home")
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    listener = sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM)
    listener.bind(os.fspath(path))
    os.chmod(path, 0o600)
    listener.listen(WAITING)
    return listener


def _loopback() -> sockets.socket:
    listener = sockets.socket(sockets.AF_INET, sockets.SOCK_STREAM)
    listener.bind(("127.0.0.1", 0))
    listener.listen(WAITING)
    return listener


# --- who holds too many open loses one that asks nothing, and locks nobody out ---------------------------------


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
