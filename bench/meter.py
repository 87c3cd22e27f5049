"""What the meter costs: time per call, and how much of a cap fifty callers can use. `python -m bench.meter`."""

from __future__ import annotations

import json
import random
import statistics
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2

from sisimpur.shared.model.work import Run
from sisimpur.shared.money.ledger import Ledger
from sisimpur.shared.money.meter import Meter, MeterSetup, Upstream
from sisimpur.shared.money.pricing import Pricing
from sisimpur.shared.money.ticket import TicketOrder
from sisimpur.shared.money.token_budget import Caps, as_dollars, dollars
from sisimpur.shared.store.database import Database
from sisimpur.shared.system.clock import SystemClock
from tests.edges.upstream import Request, ScriptedUpstream, Step

MODEL = "claude-sonnet-5-5"
GOAL_MS = 5.0
CALLS = 200


@dataclass(frozen=True)
class Bench:
    upstream: ScriptedUpstream
    ledger: Ledger
    meter: Meter
    token: str

    def through(self) -> httpx2.Client:
        return httpx2.Client(transport=httpx2.HTTPTransport(uds=str(self.meter.socket)), timeout=60)


@contextmanager
def bench(cap: int) -> Iterator[Bench]:
    clock = SystemClock()
    caps = Caps(cap, cap, cap)
    order = TicketOrder(
        Run(1, "bench", "2026-01-01"), 10**15, (MODEL,), clock.now() + timedelta(hours=1), 10**6, min_out=100
    )
    with tempfile.TemporaryDirectory() as folder, ScriptedUpstream() as upstream:
        ledger = Ledger(Database(Path(folder) / "agents.db"))
        path = Path(folder) / "meter.sock"
        with Meter(ledger, Pricing(), lambda: caps, clock, MeterSetup(path, Upstream(upstream.url, "key"))) as meter:
            yield Bench(upstream, ledger, meter, ledger.open_ticket(order, clock.now()))
        ledger.close()


def a_call(characters: int, max_tokens: int, stream: bool) -> dict[str, Any]:
    messages = [{"role": "user", "content": "x" * characters}]
    return {"model": MODEL, "max_tokens": max_tokens, "messages": messages, "stream": stream}


def median_ms(client: httpx2.Client, url: str, token: str, body: dict[str, Any]) -> float:
    times = []
    for _ in range(CALLS):
        began = time.perf_counter()
        answer = client.post(f"{url}/v1/messages", json=body, headers={"x-api-key": token})
        times.append(time.perf_counter() - began)
        assert answer.status_code == 200
    return statistics.median(times) * 1000


def time_per_call() -> Iterator[tuple[str, float, float]]:
    """(what, ms direct, ms through the meter)."""
    with bench(dollars("1000000")) as scene, httpx2.Client() as direct, scene.through() as through:
        for name, body in (
            ("4 KB, streamed", a_call(4_000, 1_000, stream=True)),
            ("4 KB, whole", a_call(4_000, 1_000, stream=False)),
            ("100 KB, whole", a_call(100_000, 1_000, stream=False)),
        ):
            streamed = {**body, "stream": True}  # the scripted upstream knows nothing else
            yield (
                name,
                median_ms(direct, scene.upstream.url, "", streamed),
                median_ms(through, "http://m", scene.token, body),
            )


def fifty_callers(cap: int) -> tuple[int, int, int, float]:
    """(calls served, the vendor's bill, the book, seconds) when fifty callers go on until they are refused."""

    def some_answer(request: Request) -> Step:
        size = len(json.dumps(request.body["messages"]))
        return Step(input=random.randrange(size // 4, size // 3), output=random.randint(1, request.body["max_tokens"]))

    with bench(cap) as scene:
        scene.upstream.script = some_answer

        def caller(_: int) -> int:
            served = 0
            with scene.through() as client:
                while True:
                    body = a_call(random.randrange(1_000, 60_000), random.randrange(500, 4_000), stream=True)
                    answer = client.post("http://m/v1/messages", json=body, headers={"x-api-key": scene.token})
                    if answer.status_code != 200:
                        return served
                    served += 1

        began = time.perf_counter()
        with ThreadPoolExecutor(50) as threads:
            served = sum(threads.map(caller, range(50)))
        return served, scene.upstream.bill, scene.ledger.reader.totals("2", cap).used, time.perf_counter() - began


def main() -> int:
    """Prints two tables; 1 if a goal is missed."""
    print(f"{'time per call':<20}{'direct':>10}{'meter':>10}{'added':>10}   goal: at most {GOAL_MS:g} ms")
    slow = False
    for name, direct, through in time_per_call():
        slow |= through - direct > GOAL_MS
        print(f"{name:<20}{direct:>7.2f} ms{through:>7.2f} ms{through - direct:>7.2f} ms")
    cap = dollars("5")
    served, bill, book, seconds = fifty_callers(cap)
    print(f"\n50 callers, cap ${as_dollars(cap)}: {served} calls in {seconds:.1f} s ({served / seconds:.0f} a second)")
    print(f"vendor's bill ${as_dollars(bill)} ({100 * bill / cap:.1f} % of the cap), book ${as_dollars(book)}")
    return int(slow or not bill <= book <= cap)


if __name__ == "__main__":
    raise SystemExit(main())
