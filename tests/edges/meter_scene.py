"""A small language for the meter's tests: a scripted upstream, a meter before it, a caller on its socket."""

from __future__ import annotations

import json
import re
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
from anthropic.types import MessageParam

from sisimpur.shared.model.work import Run
from sisimpur.shared.money.ledger import Ledger
from sisimpur.shared.money.meter import Meter, MeterSetup, MeterTimeouts, Upstream
from sisimpur.shared.money.meter.upstream import PROOF, Vendor
from sisimpur.shared.money.pricing import Pricing
from sisimpur.shared.money.ticket import CallRecord, TicketOrder
from sisimpur.shared.money.token_budget import Caps, dollars
from sisimpur.shared.system.clock import ManualClock
from tests.books import new_book
from tests.edges.upstream import Script, ScriptedUpstream, Step

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
DAY = "2026-11-20"
KEY = "sk-ant-the-real-key"
SONNET, HAIKU, OPUS = "claude-sonnet-5-5", "claude-haiku-5-5", "claude-opus-5-5"
HASTY = MeterTimeouts(first=0.002, longest=0.004, body=0.2, idle=5, whole=5, streamed=5)
HI: MessageParam = {"role": "user", "content": "hi"}

# What a refusal must not say: callers repeat at these words, or open the address.
FORBIDDEN = re.compile(
    "://|prompt is too long|prompt: length|overloaded|invalid api key|content filtering policy", re.IGNORECASE
)


def body(**fields: Any) -> dict[str, Any]:
    """A plain call; a field that is None is left out."""
    whole = {"model": SONNET, "max_tokens": 100, "messages": [HI], **fields}
    return {name: value for name, value in whole.items() if value is not None}


@dataclass
class Scene:
    upstream: ScriptedUpstream
    ledger: Ledger
    meter: Meter
    caps: list[Caps]
    clock: ManualClock
    log: list[tuple[str, dict[str, Any]]]
    folder: Path
    token: str = ""
    url: str = ""  # of another upstream than the scripted one
    answers: list[bytes] = field(default_factory=list)

    def ticket(self, budget: str = "50", models: tuple[str, ...] = (SONNET, HAIKU, OPUS), **more: Any) -> str:
        run = Run(7, "coder", DAY, str(more.pop("task", "t1")), 1)
        expires = more.pop("expires", NOW + timedelta(days=1))
        order = TicketOrder(run, dollars(budget), models, expires, **{"max_calls": 10_000, "min_out": 10, **more})
        self.token = self.ledger.open_ticket(order, NOW)
        return self.token

    def client(self, **more: Any) -> httpx2.Client:
        return httpx2.Client(
            transport=httpx2.HTTPTransport(uds=str(self.meter.socket), verify=False), timeout=10, **more
        )

    def post(
        self,
        content: Mapping[str, Any] | bytes,
        path: str = "/v1/messages",
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> httpx2.Response:
        """Every refusal is looked at: its form, and that no caller takes it for something to repeat."""
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        sent = {"x-api-key": self.token if token is None else token, "content-type": "application/json"}
        with self.client() as client:
            response = client.post(f"http://meter{path}", content=data, headers={**sent, **(headers or {})})
        self.answers.append(response.content)
        if response.status_code != 200:
            assert_is_a_refusal(response)
        return response

    def calls(self, token: str = "") -> tuple[CallRecord, ...]:
        return self.ledger.calls_of(token or self.token)

    @property
    def reserved(self) -> list[int]:
        """Of every call that was sent, in their order."""
        with closing(sqlite3.connect(self.folder / "agents.db")) as book:
            return [row[0] for row in book.execute("select reserved from calls where state <> 'refused' order by id")]

    @property
    def used(self) -> int:
        return self.ledger.reader.totals("2026", 0).used

    def prove(self, calls: int = PROOF) -> None:
        """Let the upstream answer and count right: it is trusted then, and known as away no more."""
        self.upstream.steps.clear()
        self.upstream.script = lambda request: Step()
        token = self.ticket(task="proof")
        for _ in range(calls):
            assert self.post(body(), token=token).status_code == 200
        self.upstream.requests.clear()
        self.upstream.bill = 0
        self.upstream.arrived = threading.Semaphore(0)
        self.ticket()

    def again(self) -> None:
        """As new, for the next test at the same meter."""
        self.ledger.resume()
        self.caps[:] = [GENEROUS]
        self.clock.set(NOW)
        self.prove(1)
        self.upstream.left.clear()


GENEROUS = Caps(dollars("1000"), dollars("1000"), dollars("1000"))


def code(response: httpx2.Response) -> str:
    return str(response.json()["error"]["details"]["error_code"])


def assert_is_a_refusal(response: httpx2.Response) -> None:
    error = response.json()
    assert response.status_code in (400, 401, 404, 413)
    assert response.headers["x-should-retry"] == "false"
    assert response.headers["request-id"] == error["request_id"]
    assert error["request_id"].startswith("meter_")
    assert error["type"] == "error" and code(response).startswith("meter_")
    assert error["error"]["message"].startswith("meter: ")
    assert not FORBIDDEN.search(response.text)


@contextmanager
def scene(
    folder: Path,
    *steps: Step,
    patience: MeterTimeouts = HASTY,
    key: str = KEY,
    vendor: Vendor | None = None,
    pricing: Pricing | None = None,
    script: Script = lambda request: Step(),
    url: str = "",
    **more: Any,
) -> Iterator[Scene]:
    log: list[tuple[str, dict[str, Any]]] = []
    caps, clock = [GENEROUS], ManualClock(NOW)
    ledger = Ledger(new_book(folder / "agents.db"))
    with ScriptedUpstream(*steps, script=script) as upstream:
        setup = MeterSetup(
            folder / "run" / "meter.sock",
            Upstream(url or upstream.url, key, vendor=vendor),
            lambda event, fields: log.append((event, fields)),
            patience,
            **more,
        )
        meter = Meter(ledger, pricing or Pricing(), lambda: caps[0], clock, setup)
        with meter:
            found = Scene(upstream, ledger, meter, caps, clock, log, folder, url=url)
            found.ticket()
            yield found
    ledger.close()
