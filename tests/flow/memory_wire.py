"""The way from a client through the meter to the scripted model, in one process and without a socket.

Real: the client's library, the meter's application and its money book, the scripted model's answers. Left out: servers,
connections, and who hangs up in between; those have the suites of the meter.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anthropic
import httpx2

from sisimpur.cli.wiring.model import reporting_outages
from sisimpur.cli.wiring.records import Records
from sisimpur.shared.config.settings import LiveCaps
from sisimpur.shared.llm.llm_call import ModelQuestion, Outcome, send
from sisimpur.shared.llm.llm_client import TICKET_LIFE, LlmClient
from sisimpur.shared.model.errors import Unavailable
from sisimpur.shared.model.work import ModelChoice, Run
from sisimpur.shared.money.meter.app import MeterApp
from sisimpur.shared.money.meter.parts import LedgerThread, MeterParts, MeterTimeouts
from sisimpur.shared.money.meter.upstream import Response, Standing, Upstream, UpstreamClient, Vendor
from sisimpur.shared.money.pricing import Pricing
from sisimpur.shared.money.ticket import TicketOrder
from sisimpur.simulators.model.scripted_model import ScriptedModel

Note = Callable[[str, dict[str, Any]], None]
App = Callable[[Any, Any, Any], Awaitable[None]]

METERS: dict[Path, MemoryMeter] = {}  # by the socket at which a real one would listen
MODELS: dict[str, ScriptedModel] = {}  # by address


class PlayedModel(ScriptedModel):
    """A scripted model that the meters of this process reach, and nobody else: it serves no connection."""

    def __enter__(self) -> PlayedModel:
        MODELS[self.url] = self
        return self

    def __exit__(self, *_: object) -> None:
        MODELS.pop(self.url, None)
        self._socket.close()  # it has kept the address for us


@dataclass
class Exchange:
    """One request to an application, and what it says."""

    body: bytes
    status: int = 0
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    said: list[bytes] = field(default_factory=list)
    is_cut: bool = False  # the application has hung up
    is_whole: bool = False
    _asked: int = 0

    async def receive(self) -> dict[str, Any]:
        self._asked += 1
        if self._asked == 1:
            return {"type": "http.request", "body": self.body, "more_body": False}
        while not self.is_cut:  # nobody on our side hangs up
            await asyncio.sleep(3600)
        return {"type": "http.disconnect"}

    async def send(self, message: Mapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.status, self.headers = message["status"], list(message["headers"])
        else:
            self.said.append(message.get("body", b""))
            self.is_whole = not message.get("more_body")

    def close(self) -> None:
        self.is_cut = True

    async def of(self, app: App, path: str, headers: Mapping[str, str]) -> Exchange:
        pairs = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        scope = {"type": "http", "method": "POST", "path": path, "headers": pairs, "state": {"line": self}}
        await app(scope, self.receive, self.send)
        return self

    def answer(self) -> httpx2.Response:
        return httpx2.Response(self.status, headers=self.headers, stream=httpx2.ByteStream(b"".join(self.said)))


class MemoryUpstream(UpstreamClient):
    """The scripted models of this process are reached at once; nobody else is."""

    def __init__(self, upstream: Upstream) -> None:
        self._at = upstream
        self.vendor, self.standing = Vendor(), Standing()

    async def close(self) -> None:
        """Nothing is open."""

    @asynccontextmanager
    async def post(self, path: str, headers: Mapping[str, str], body: bytes) -> AsyncIterator[Response]:
        model = MODELS.get(self._at.base_url)
        if model is None:
            raise Unavailable("the upstream cannot be reached (ConnectError)")
        keyed = {**headers, **self._at.credentials(headers["anthropic-version"])}
        exchange = await Exchange(body).of(model.answer, path, keyed)
        if exchange.is_cut and not exchange.status:
            raise Unavailable("the upstream did not answer (RemoteProtocolError)")
        yield Response(exchange.answer(), self._at.key)


class MemoryMeter:
    """A meter that is asked in the thread of whoever asks."""

    def __init__(self, records: Records, pricing: Pricing, key: str, log: Note, print_line: Callable[[str], None]):
        self.socket = records.home.meter_socket
        self._records = records
        url = records.settings.secrets.base_url
        self._log = reporting_outages(log, url, print_line)
        self._book, self._stopping = LedgerThread(), threading.Event()
        self._parts = MeterParts(
            records.ledger,
            self._book,
            pricing,
            LiveCaps(records.home, records.settings.policy.caps),
            MemoryUpstream(Upstream(url, key)),
            records.clock,
            MeterTimeouts(),
            self._log,
            self._stopping.is_set,
        )
        self._calls: dict[asyncio.Task[Any], asyncio.AbstractEventLoop] = {}

    def __enter__(self) -> MemoryMeter:
        lost = self._records.ledger.reconcile(self._records.clock.now())
        if lost:
            self._log("meter.reconciled", {"lost": lost})
        METERS[self.socket] = self
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._book.close()
        METERS.pop(self.socket, None)

    def refuse_new(self) -> None:
        self._stopping.set()

    def stop(self, grace: float = 0.0) -> None:
        self.refuse_new()
        for task, loop in list(self._calls.items()):
            loop.call_soon_threadsafe(task.cancel)

    def ask(self, path: str, headers: Mapping[str, str], body: bytes) -> httpx2.Response:
        return asyncio.run(self._asked(path, headers, body))

    async def _asked(self, path: str, headers: Mapping[str, str], body: bytes) -> httpx2.Response:
        exchange = Exchange(body)
        task = asyncio.ensure_future(exchange.of(MeterApp(self._parts), path, headers))
        self._calls[task] = asyncio.get_running_loop()
        try:
            await task
        finally:
            del self._calls[task]
        return exchange.answer() if exchange.is_whole else _cut(exchange)


def _cut(exchange: Exchange) -> httpx2.Response:
    """A server ends the connection where an application has not finished."""
    return httpx2.Response(exchange.status, headers=exchange.headers, stream=CutStream(exchange.said))


class CutStream(httpx2.SyncByteStream):
    def __init__(self, said: Sequence[bytes]) -> None:
        self._said = said

    def __iter__(self) -> Iterator[bytes]:
        yield from self._said
        raise httpx2.RemoteProtocolError("the other side hung up")


class MemoryTransport(httpx2.BaseTransport):
    """Leads to the meter that would listen at this socket."""

    def __init__(self, socket: Path) -> None:
        self._socket = socket

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        meter = METERS.get(self._socket)
        if meter is None:
            raise httpx2.ConnectError("no meter is there")
        return meter.ask(request.url.path, dict(request.headers), request.read())


class MemoryClient(LlmClient):
    """Asks through the meter of this process."""

    @contextmanager
    def _line(self, run: Run, choice: ModelChoice) -> Iterator[Callable[[ModelQuestion], Outcome]]:
        now, socket = self.clock.now(), self.meter.socket
        assert isinstance(socket, Path)
        models = (choice.model, *choice.fallback)
        order = TicketOrder(run, self.meter.budget, models, now + TICKET_LIFE, retry_s=self.meter.patience)
        ticket = self.ledger.open_ticket(order, now)
        try:
            with (
                httpx2.Client(transport=MemoryTransport(socket), trust_env=False) as http,
                anthropic.Anthropic(api_key=ticket, base_url="http://meter", max_retries=0, http_client=http) as client,
            ):
                yield lambda question: self._looked_up(send(client, self._marked(question)), ticket)
        finally:
            self.ledger.close_ticket(ticket, self.clock.now())
