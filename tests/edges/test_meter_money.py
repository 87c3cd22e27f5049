"""The promise: the vendor's bill stays below the cap, and the book is never below the bill. In parallel, and killed."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest

from sisimpur.shared.model.work import Run
from sisimpur.shared.money.ledger import Ledger
from sisimpur.shared.money.ticket import TicketOrder
from sisimpur.shared.money.token_budget import Caps, Totals, dollars
from sisimpur.shared.system.clock import SystemClock
from tests.books import new_book
from tests.edges.meter_scene import DAY, HAIKU, SONNET, body, code, scene
from tests.edges.upstream import Request, ScriptedUpstream, Step
from tests.killing import killed_at, snippet

CAP = dollars("1")


def some_step(request: Request) -> Step:
    """An answer of any allowed length, to a prompt of as many tokens as its text may have."""
    size = len(json.dumps(request.body["messages"]))
    return Step(input=random.randrange(size // 4, size), output=random.randint(1, request.body["max_tokens"]))


def some_body() -> dict[str, Any]:
    text = "x" * random.randrange(100, 20_000)
    return body(
        model=random.choice([SONNET, HAIKU]),
        max_tokens=random.randrange(100, 4_000),
        messages=[{"role": "user", "content": text}],
        stream=random.random() < 0.5,
    )


# --- many at once


def test_fifty_callers_use_the_cap_and_never_more(tmp_path: Path) -> None:
    with scene(tmp_path) as meter:
        meter.upstream.script = some_step
        meter.caps[:] = [Caps(CAP, CAP, CAP)]
        meter.ticket(budget="1000", min_out=100)

        def caller(_: int) -> int:
            with meter.client() as client:
                url, headers = "http://meter/v1/messages", {"x-api-key": meter.token}
                served = 0
                while (answer := client.post(url, json=some_body(), headers=headers)).status_code == 200:
                    served += 1
                assert code(answer) in ("meter_task_cap", "meter_day_cap", "meter_month_cap")
                return served

        with ThreadPoolExecutor(50) as threads:
            served = sum(threads.map(caller, range(50)))
        totals = meter.ledger.reader.totals(DAY, CAP)
        assert served > 20
        assert totals == Totals(CAP, spent=meter.upstream.bill)
        assert 0.8 * CAP < meter.upstream.bill <= CAP


def test_twenty_calls_at_once_reserve_before_they_are_sent(tmp_path: Path) -> None:
    """True cost $0.25, worst case about $0.30, cap $1: three are served, whatever the order."""
    hold = threading.Event()
    with scene(tmp_path) as meter:
        meter.prove()
        proof = meter.used
        meter.upstream.script = lambda request: Step(input=1_000, output=24_800, hold=hold)
        meter.caps[:] = [Caps(CAP + proof, CAP + proof, CAP + proof)]
        meter.ticket(min_out=10**6)
        with ThreadPoolExecutor(20) as threads:
            answers = [threads.submit(meter.post, body(max_tokens=29_000)) for _ in range(20)]
            for _ in range(3):
                assert meter.upstream.arrived.acquire(timeout=10)
            while len(meter.calls()) < 20:
                time.sleep(0.005)
            hold.set()
        assert sorted(answer.result().status_code for answer in answers) == [200] * 3 + [400] * 17
        assert meter.upstream.bill == 750_000_000 == meter.used - proof


def test_parallel_tasks_of_upkeep_use_their_share_and_never_more_and_others_have_all_the_rest(tmp_path: Path) -> None:
    share = dollars("0.4")
    with scene(tmp_path) as meter:
        meter.upstream.script = some_step
        meter.caps[:] = [Caps(10 * CAP, 10 * CAP, 10 * CAP, upkeep=share)]
        tokens = [meter.ticket(budget="1000", min_out=100, task=f"20261120-u{number}") for number in (1, 2, 3)]

        def caller(number: int) -> str:
            with meter.client() as client:
                url, headers = "http://meter/v1/messages", {"x-api-key": tokens[number % 3]}
                while (answer := client.post(url, json=some_body(), headers=headers)).status_code == 200:
                    pass
                return code(answer)

        with ThreadPoolExecutor(20) as threads:
            assert set(threads.map(caller, range(20))) == {"meter_upkeep_cap"}
        assert 0.5 * share < meter.upstream.bill <= share
        meter.ticket(task="t1")
        assert meter.post(body()).status_code == 200


# --- killed

METER = """
    import json, sys
    from pathlib import Path
    from sisimpur.shared.money.token_budget import Caps
    from sisimpur.shared.system.clock import SystemClock
    from sisimpur.shared.store.database import Database
    from sisimpur.shared.money.ledger import Ledger
    from sisimpur.shared.money.meter import Meter, MeterSetup, Upstream
    from sisimpur.shared.money.pricing import Pricing
    folder, url, cap, token, asked = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4], sys.argv[5]
    book, caps = Ledger(Database(folder / "agents.db")), Caps(cap, cap, cap)
    setup = MeterSetup(folder / "meter.sock", Upstream(url, "key"))
    with Meter(book, Pricing(), lambda: caps, SystemClock(), setup) as meter:
        if asked:
            import httpx2
            client = httpx2.Client(transport=httpx2.HTTPTransport(uds=str(meter.socket), verify=False), timeout=20)
            with client:
                answer = client.post("http://m/v1/messages", content=asked, headers={"x-api-key": token})
                assert answer.status_code == 200
        else:
            print("ready", flush=True)
            sys.stdin.read()
"""


def a_ticket(book: Ledger) -> str:
    now = SystemClock().now()
    order = TicketOrder(
        Run(1, "coder", "2026-11-20", "t1", 1), 10**12, (SONNET, HAIKU), now + timedelta(hours=1), 10**6, 100
    )
    return book.open_ticket(order, now)


@contextmanager
def meter_process(folder: Path, url: str) -> Iterator[subprocess.Popen[str]]:
    program = subprocess.Popen(
        snippet(METER, str(folder), url, str(CAP), "", ""), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert program.stdin and program.stdout
    with program:
        assert program.stdout.readline() == "ready\n"
        yield program


def call_until_refused(socket: Path, token: str, over: threading.Event) -> None:
    """Goes on through the meter's deaths, as long as there is money."""
    while not over.is_set():
        transport = httpx2.HTTPTransport(uds=str(socket), verify=False)
        with suppress(httpx2.TransportError), httpx2.Client(transport=transport, timeout=10) as client:
            while not over.is_set():
                answer = client.post("http://m/v1/messages", json=some_body(), headers={"x-api-key": token})
                if answer.status_code != 200 and code(answer).endswith("_cap"):
                    return
        time.sleep(0.02)


# The callers' HTTP client forgets to close a socket on which nobody listens.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_meter_that_is_killed_again_and_again_never_overspends_and_never_forgets(tmp_path: Path) -> None:
    book, over = Ledger(new_book(tmp_path / "agents.db")), threading.Event()
    token = a_ticket(book)
    with ScriptedUpstream(script=some_step) as upstream:
        callers = [
            threading.Thread(target=call_until_refused, args=(tmp_path / "meter.sock", token, over)) for _ in range(8)
        ]
        for caller in callers:
            caller.start()
        try:
            for calls in (3, 9, 5):
                with meter_process(tmp_path, upstream.url) as program:
                    for _ in range(calls):
                        assert upstream.arrived.acquire(timeout=10)
                    program.send_signal(signal.SIGKILL)
            with meter_process(tmp_path, upstream.url) as program:
                for caller in callers:
                    caller.join(20)
                program.communicate("")
        finally:
            over.set()
        totals = book.reader.totals("2", CAP)
        states = {call.state for call in book.calls_of(token)}
    book.close()
    assert {"settled", "lost"} <= states
    assert totals.reserved == 0
    assert upstream.bill <= totals.used <= CAP
    assert upstream.bill > CAP // 4


ASKED = json.dumps(body(max_tokens=100))
TRUE = Step().cost(SONNET)


@pytest.mark.parametrize(
    ("point", "bill", "settled"),
    [
        pytest.param("llm.reserve", 0, False, id="reserved, not sent"),
        pytest.param("llm.sent", TRUE, False, id="sent, the answer unread"),
        pytest.param("llm.first-byte", TRUE, False, id="the answer has begun"),
        pytest.param("llm.last-byte", TRUE, False, id="the answer is there, not booked"),
        pytest.param("llm.settle", TRUE, True, id="booked, the caller knows nothing"),
    ],
)
def test_wherever_it_dies_the_book_is_not_below_the_bill(tmp_path: Path, point: str, bill: int, settled: bool) -> None:
    book = Ledger(new_book(tmp_path / "agents.db"))
    token = a_ticket(book)
    with ScriptedUpstream() as upstream:
        killed_at(point, snippet(METER, str(tmp_path), upstream.url, str(CAP), token, ASKED))
        assert upstream.bill == bill
    book.reconcile(SystemClock().now())
    (call,) = book.calls_of(token)
    book.close()
    assert (call.state, call.cost == bill) == (("settled", True) if settled else ("lost", False))
    assert bill <= call.cost <= CAP
