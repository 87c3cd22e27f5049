"""What the record of conversations costs a call: `python -m bench.recording` (three minutes).

Two meters of one process, one with the record and one without, take turns of calls to the same upstream, which is a
process of its own. Calls follow each other at once, or with a pause, as a model's callers leave one.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from multiprocessing import get_context
from pathlib import Path

import httpx2

from bench.meter import MODEL
from sisimpur.shared.model.work import Run
from sisimpur.shared.money.ledger import Ledger
from sisimpur.shared.money.meter import Meter, MeterSetup, Upstream
from sisimpur.shared.money.meter.parts import no_talk
from sisimpur.shared.money.pricing import Pricing
from sisimpur.shared.money.ticket import TicketOrder
from sisimpur.shared.money.token_budget import Caps, dollars
from sisimpur.shared.record.conversations import Conversations, fitted, pack
from sisimpur.shared.store.database import Database
from sisimpur.shared.system.clock import SystemClock
from sisimpur.shared.system.outgoing import Outgoing
from tests.edges.upstream import Request, ScriptedUpstream, Step

SIZE = 90_000  # characters of a request: with its answer and its frames about 100 kB
CALLS, TURNS = 6, 10  # calls of a turn, turns of each meter
SETTLE = 1.5  # seconds between two turns: no record of one falls into the other
CASES = {"at once": (0.0, 0.0), "0.25 s later": (0.25, 0.0), "at once, a model of 0.2 s": (0.0, 0.2)}
SECRETS = {"the model's key": "sk-ant-correct-horse-battery-staple-17", "forge": "ghp_" + "a1B2c3" * 6}


def text_of(size: int) -> str:
    """Real text: sources of this program."""
    found = "\n".join(path.read_text() for path in sorted(Path("shared").rglob("*.py")))
    return found[:size]


def cpu_of_a_record() -> float:
    """Milliseconds of CPU to clean and pack a call of 100 kB, the median of many."""
    text, clean = text_of(100_000), Outgoing(SECRETS).clean
    request = {"model": MODEL, "messages": [{"role": "user", "content": text[:SIZE]}]}
    spent = []
    for _ in range(200):
        began = time.thread_time()
        pack(1, fitted(request, [{"type": "text", "text": text[SIZE:]}], clean))
        spent.append(time.thread_time() - began)
    return statistics.median(spent) * 1000


def _upstream(address: object, patience: float) -> None:
    """Serve in a process of its own until somebody ends it. `address`: a pipe for where."""

    def answer(_: Request) -> Step:
        time.sleep(patience)
        return Step(text="fine " * 100, input=SIZE // 3, output=200)

    with ScriptedUpstream(script=answer) as upstream:
        address.send(upstream.url)  # type: ignore[attr-defined]
        while True:
            time.sleep(60)


@contextmanager
def upstream(patience: float) -> Iterator[str]:
    context = get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_upstream, args=(there, patience), daemon=True)
    process.start()
    try:
        yield here.recv()
    finally:
        process.terminate()
        process.join()


@contextmanager
def meters(folder: Path, url: str) -> Iterator[dict[str, tuple[httpx2.Client, str]]]:
    """A meter with the record and one without; each has a client and its ticket."""
    caps, clock = Caps(*[dollars("1000000")] * 3), SystemClock()
    with ExitStack() as open_:
        found = {}
        for name in ("recorded", "plain"):
            place = folder / name
            place.mkdir()
            db = Database(place / "agents.db")
            ledger = Ledger(db)
            open_.callback(ledger.close)
            talk = Conversations(place / "talk", db, Outgoing(SECRETS).clean).keep if name == "recorded" else no_talk
            setup = MeterSetup(place / "m", Upstream(url, "key"), talk=talk)
            open_.enter_context(Meter(ledger, Pricing(), lambda: caps, clock, setup))
            run, until = Run(1, "bench", "2026-01-01"), clock.now() + timedelta(hours=1)
            token = ledger.open_ticket(TicketOrder(run, 10**15, (MODEL,), until, 10**6, min_out=100), clock.now())
            transport = httpx2.HTTPTransport(uds=str(place / "m"))
            found[name] = (open_.enter_context(httpx2.Client(transport=transport, timeout=60)), token)
        yield found


def turn(client: httpx2.Client, token: str, pause: float) -> list[tuple[float, float]]:
    """Milliseconds of each call on the wall, and of CPU that all threads of this process took meanwhile."""
    body = {"model": MODEL, "max_tokens": 1000, "stream": True}
    body["messages"] = [{"role": "user", "content": text_of(SIZE)}]
    found = []
    for _ in range(CALLS):
        began = time.perf_counter(), time.process_time()
        answer = client.post("http://m/v1/messages", json=body, headers={"x-api-key": token})
        found.append(((time.perf_counter() - began[0]) * 1000, (time.process_time() - began[1]) * 1000))
        assert answer.status_code == 200, answer.text
        time.sleep(pause)
    return found


def compared(pause: float, patience: float) -> list[tuple[float, float]]:
    """Medians of a call in ms, with the record and without: on the wall, and of CPU."""
    found: dict[str, list[tuple[float, float]]] = {"recorded": [], "plain": []}
    with tempfile.TemporaryDirectory() as folder, upstream(patience) as url, meters(Path(folder), url) as both:
        for number in range(TURNS + 1):
            for name in sorted(both, reverse=number % 2 == 0):
                times = turn(*both[name], pause)
                found[name] += times if number else []
                time.sleep(SETTLE)
    return [
        (statistics.median(one[of] for one in found["recorded"]), statistics.median(one[of] for one in found["plain"]))
        for of in (0, 1)
    ]


def main() -> int:
    """Print what a record costs; 1 if a goal is missed: 5 ms of CPU, 1 ms of a call.

    Judged by CPU: on a busy machine the wall tells of others.
    """
    cpu = cpu_of_a_record()
    print(f"cleaning and packing 100 kB: {cpu:.2f} ms CPU (goal: 5)")
    added = []
    for name, (pause, patience) in CASES.items():
        wall, spent = compared(pause, patience)
        added += [] if patience else [spent[0] - spent[1]]  # while a model is waited for, a record delays nobody
        for what, (recorded, plain) in {"on the wall": wall, **({} if patience else {"CPU": spent})}.items():
            print(f"90 kB, {name}, {what}: {recorded:.2f} ms, without the record {plain:.2f}: {recorded - plain:+.2f}")
    return int(cpu > 5 or max(added) > 1)


if __name__ == "__main__":
    sys.exit(main())
