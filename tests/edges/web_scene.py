"""A little web on this machine: real servers, found by names that only these tests know."""

from __future__ import annotations

import contextlib
import resource
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from sisimpur.agents.researcher.web.web_page import PageBounds, WebReader
from sisimpur.shared.system.clock import ManualClock
from sisimpur.shared.system.http import Http, is_public

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
DAY = "2026-11-20"
HERE = "127.0.0.1"
ENDS = 10.0  # seconds until an answer is not waited for: it ends when the other side goes
SITE, OTHER = "site.example", "other.example"

Reply = Callable[[socket.socket], None]


def says(
    body: str | bytes = "", kind: str = "text/plain", status: int = 200, head: str = "", length: int | None = None
) -> Reply:
    data = body.encode() if isinstance(body, str) else body
    kind = f"Content-Type: {kind}\r\n" if kind else ""
    size = len(data) if length is None else length
    return sends(f"HTTP/1.1 {status} X\r\n{kind}{head}Content-Length: {size}\r\n\r\n".encode() + data)


def leads(location: str, status: int = 302) -> Reply:
    return says(status=status, head=f"Location: {location}\r\n")


def sends(data: bytes) -> Reply:
    return lambda wire: wire.sendall(data)


def endless(data: bytes, more: bytes, pause: float = 0.0) -> Reply:
    def reply(wire: socket.socket) -> None:
        wire.sendall(data)
        while True:
            wire.sendall(more)
            time.sleep(pause)

    return reply


def hangs(wire: socket.socket) -> None:
    wire.recv(1)  # until the other side goes


@dataclass
class Web:
    """`pages`: host and path -> what is answered, each with the next; the last one stays. Others are not there."""

    port: int
    pages: Mapping[str, Reply | Sequence[Reply]]
    context: ssl.SSLContext | None = None
    asked: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    greeted: list[str | None] = field(default_factory=list)

    def url(self, page: str) -> str:
        host, slash, path = page.partition("/")
        return f"{'https' if self.context else 'http'}://{host}:{self.port}{slash}{path}"

    def serve(self, server: socket.socket) -> None:
        """Ends after its last answer, so that what goes wrong with one is told of the test that asked."""
        answering = []
        with contextlib.suppress(OSError):
            while True:
                wire, _ = server.accept()
                answering.append(threading.Thread(target=self._answer, args=(wire,), daemon=True))
                answering[-1].start()
        for one in answering:
            one.join(ENDS)

    def _answer(self, wire: socket.socket) -> None:
        with contextlib.suppress(OSError), wire:
            if self.context is None:
                self._talk(wire)
            else:
                with self.context.wrap_socket(wire, server_side=True) as sealed:
                    self._talk(sealed)

    def _talk(self, wire: socket.socket) -> None:
        request = wire.recv(65536).decode("latin-1")
        if not request:  # the other side has gone already
            return
        path = request.split(" ")[1]
        host = request.partition("host: ")[2].partition("\r\n")[0].rpartition(":")[0]
        self.requests.append(request)
        self.asked.append(host + path)
        self._reply(host + path)(wire)

    def _reply(self, page: str) -> Reply:
        found = self.pages.get(page, says("not here", status=404))
        if callable(found):
            return found
        return found[min(self.asked.count(page), len(found)) - 1]


@contextlib.contextmanager
def web(
    pages: Mapping[str, Reply | Sequence[Reply]], context: ssl.SSLContext | None = None, address: str = HERE
) -> Iterator[Web]:
    with socket.create_server((address, 0)) as server:
        found = Web(server.getsockname()[1], pages, context)
        thread = threading.Thread(target=found.serve, args=(server,))
        thread.start()
        try:
            yield found
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()


@dataclass
class Names:
    """Where names are: each asking gets the next answer, the last one stays."""

    known: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        answers = self.known.get(host, [[HERE]])
        return answers[min(self.asked.count(host), len(answers)) - 1]


def worked() -> float:
    """Processor time of the programs that we started, in seconds: how long it took is for the machine to say."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def may_reach(address: str) -> bool:
    """This machine under its first address is the public web of these tests; everything else is as it is."""
    return address == HERE or is_public(address)


def reader(
    *sites: Web,
    names: Callable[[str, int], Sequence[str]] | None = None,
    clock: ManualClock | None = None,
    context: ssl.SSLContext | None = None,
    seconds: float = 10,
    reachable: Callable[[str], bool] = may_reach,
) -> WebReader:
    ports = frozenset({80, 443} | {site.port for site in sites})
    bounds = PageBounds(seconds=seconds, robots_seconds=seconds, ports=ports)
    return WebReader(clock or ManualClock(NOON), bounds, Http(reachable, names or Names(), context))
