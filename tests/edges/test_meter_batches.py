"""Batches through the meter: half the worst case is reserved, half the price paid, and nothing hostile is believed."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx2
import pytest

from shared.domain.batching import KEPT, Batch, Stage
from shared.domain.ticket import TicketOrder
from shared.domain.token_budget import Caps, Totals, Uptime, dollars, half, most_tokens
from shared.domain.work import ModelChoice, Run
from shared.edge.clock import ManualClock
from shared.edge.database import Database
from shared.edge.llm.llm_batch import LlmBatch, NotAhead
from shared.edge.llm.llm_client import LlmClient
from shared.edge.llm.llm_replies import Replies
from shared.edge.money.ledger import Ledger
from shared.edge.money.ledger_savings import LedgerSavings
from shared.edge.money.meter import Meter, Upstream
from shared.edge.money.meter_request import MAX_BODY
from shared.edge.money.pricing import Pricing
from tests.edges.meter_scene import GENEROUS, HAIKU, HASTY, HI, KEY, OPUS, SONNET, assert_is_a_refusal, code
from tests.killing import killed_at, snippet

EVENING = datetime(2026, 11, 20, 23, tzinfo=UTC)
TODAY, TOMORROW = "2026-11-20", "2026-11-21"
QUESTION = "a" * 64
BATCHES = "/v1/messages/batches"
USAGE = {"input_tokens": 51, "output_tokens": 20, "service_tier": "batch"}
COST = 151_000  # 51 tokens in at 2,000, 20 out at 10,000: 302,000, and half of that


def lines(*found: Mapping[str, Any]) -> bytes:
    return "".join(f"{json.dumps(one)}\n" for one in found).encode()


def message(**changes: Any) -> dict[str, Any]:
    text = [{"type": "text", "text": "a plan"}]
    return {"type": "message", "model": SONNET, "content": text, "stop_reason": "end_turn", "usage": USAGE, **changes}


def line(custom_id: str = QUESTION, **changes: Any) -> dict[str, Any]:
    return {"custom_id": custom_id, "result": {"type": "succeeded", "message": message(**changes)}}


def batch(status: str = "ended", number: str = "msgbatch_1") -> bytes:
    shown = {"id": number, "type": "message_batch", "processing_status": status}
    return json.dumps({**shown, "results_url": "http://127.0.0.1:1/elsewhere"}).encode()


Answer = tuple[int, bytes]


@dataclass
class Vendor:
    """Answers each path as a story says; a None breaks the connection off."""

    taken: Answer | None = (200, batch("in_progress"))
    looked: Answer | None = (200, batch())
    results: Answer | None = (200, lines(line()))
    canceled: Answer | None = (200, batch("canceling"))
    asked: list[tuple[str, str, Any]] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)

    def answer(self, path: str) -> Answer | None:
        last = path.rpartition("/")[2]
        kinds = {"batches": self.taken, "results": self.results, "cancel": self.canceled}
        return kinds.get(last, self.looked)

    @property
    def sent(self) -> list[Any]:
        return [body for method, path, body in self.asked if path == BATCHES]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        vendor = self.server.vendor
        vendor.asked.append((self.command, self.path, json.loads(raw) if raw else None))
        vendor.headers.append({name.lower(): value for name, value in self.headers.items()})
        answer = vendor.answer(self.path)
        if answer is None:
            self.close_connection = True
            return
        status, body = answer
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST  # noqa: N815

    def log_message(self, *_: Any) -> None:
        """Nobody reads it."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    vendor: Vendor

    def handle_error(self, *_: Any) -> None:
        """Who leaves, leaves."""


@contextmanager
def served(vendor: Vendor) -> Iterator[str]:
    server = _Server(("127.0.0.1", 0), _Handler)
    server.vendor = vendor
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@dataclass
class Scene:
    """A meter before a vendor, and whoever asks."""

    vendor: Vendor
    ledger: Ledger
    meter: Meter
    clock: ManualClock
    caps: list[Caps]
    savings: LedgerSavings
    token: str = ""

    def ticket(self, budget: str = "50", **more: Any) -> str:
        run = Run(7, "planner", TOMORROW)
        order = TicketOrder(run, dollars(budget), (SONNET,), self.clock.now() + timedelta(days=1))
        whole = {**vars(order), "batches": True, **more}
        self.token = self.ledger.open_ticket(TicketOrder(**whole), self.clock.now())
        return self.token

    def ask(self, method: str, path: str, content: bytes = b"") -> httpx2.Response:
        headers = {"authorization": f"Bearer {self.token}", "anthropic-version": "2026-10-21"}
        with httpx2.Client(transport=httpx2.HTTPTransport(uds=str(self.meter.socket)), timeout=10) as client:
            answer = client.request(method, f"http://meter{path}", content=content, headers=headers)
        if answer.status_code != 200:
            assert_is_a_refusal(answer)
        return answer

    def send(self, key: str = QUESTION, **fields: Any) -> httpx2.Response:
        return self.ask("POST", BATCHES, item(key, **fields))

    def fetch(self, number: str = "msgbatch_1") -> httpx2.Response:
        return self.ask("GET", f"{BATCHES}/{number}/results")

    def in_the_morning(self) -> None:
        """Another day, and another ticket that may buy nothing."""
        self.ledger.close_ticket(self.token, self.clock.now())
        self.clock.set(EVENING + timedelta(hours=8))
        self.ticket("0", models=(), max_calls=0)

    @property
    def batch(self) -> Batch:
        (found,) = self.ledger.batches_of(TOMORROW)
        return found

    @property
    def row(self) -> dict[str, Any]:
        (found,) = self.ledger._db.rows("select * from calls where state <> 'refused'")
        return dict(found)

    def totals(self, day: str = TODAY) -> Totals:
        return self.ledger.totals(day, 0)


def item(key: str = QUESTION, **fields: Any) -> bytes:
    params = {"model": SONNET, "max_tokens": 100, "messages": [HI], **fields}
    return json.dumps({"requests": [{"custom_id": key, "params": params}]}).encode()


@contextmanager
def scene(
    folder: Path,
    vendor: Vendor,
    pricing: Pricing | None = None,
    key: str = KEY,
    uptime: Callable[[], Uptime] | None = None,
    ledger: type[Ledger] = Ledger,
) -> Iterator[Scene]:
    db, prices = Database(folder / "agents.db"), pricing or Pricing()
    book, clock, caps = ledger(db, uptime), ManualClock(EVENING), [GENEROUS]
    with served(vendor) as url:
        upstream, socket = Upstream(url, key), folder / "meter.sock"
        with Meter(book, prices, lambda: caps[0], upstream, clock, socket, patience=HASTY) as meter:
            found = Scene(vendor, book, meter, clock, caps, LedgerSavings(db, prices))
            found.ticket()
            yield found
    book.close()


@pytest.fixture
def meter(tmp_path: Path) -> Iterator[Scene]:
    with scene(tmp_path, Vendor()) as found:
        yield found


# --- sending


def test_half_of_the_worst_case_is_reserved_on_the_day_it_is_sent_and_half_the_price_is_paid(meter: Scene) -> None:
    assert meter.send().json()["id"] == "msgbatch_1"
    body = json.dumps({"model": SONNET, "max_tokens": 100, "messages": [HI]}, separators=(",", ":")).encode()
    worst = half(most_tokens(body) * 2_500 + 100 * 10_000)
    assert meter.totals() == Totals(0, reserved=worst) and meter.batch.stage is Stage.SENT
    meter.in_the_morning()
    found = meter.fetch().json()
    assert found["custom_id"] == QUESTION and found["result"]["message"]["content"][0]["text"] == "a plan"
    assert (meter.totals(), meter.totals(TOMORROW)) == (Totals(0, spent=COST), Totals(0))
    assert meter.row["price_version"].endswith(", half") and (meter.row["input"], meter.row["output"]) == (51, 20)
    assert (meter.row["model"], meter.row["stop_reason"], meter.row["request_id"]) == (SONNET, "end_turn", "msgbatch_1")


def test_a_price_that_is_odd_is_rounded_up(meter: Scene) -> None:
    usage = {"input_tokens": 0, "output_tokens": 1, "cache_creation_input_tokens": 1}
    meter.vendor.results = (200, lines(line(model=HAIKU, usage=usage)))
    meter.ticket(models=(HAIKU,))
    meter.send(model=HAIKU)
    meter.fetch()
    assert meter.row["amount"] == 313, "125 for the token that was written, 500 for the answer"


def test_only_the_question_goes_upstream_with_the_real_key(meter: Scene) -> None:
    meter.send(temperature=0.5, stream=True)
    params = {"model": SONNET, "max_tokens": 100, "messages": [HI]}
    assert meter.vendor.sent == [{"requests": [{"custom_id": QUESTION, "params": params}]}]
    assert meter.vendor.headers[0]["authorization"] == f"Bearer {KEY}"
    assert meter.token not in str(meter.vendor.headers)


@pytest.mark.parametrize("name", ["day", "month", "task", "ticket"])
def test_every_cap_holds(meter: Scene, name: str) -> None:
    meter.send("b" * 64)
    left = meter.totals().reserved
    generous = {"task": dollars("9"), "day": dollars("9"), "month": dollars("9")}
    meter.vendor.asked.clear()
    if name == "ticket":
        meter.ticket(budget="0.0000001")
    elif name == "task":
        meter.ticket(run=Run(7, "planner", TOMORROW, "t1"))
        meter.caps[:] = [Caps(**{**generous, "task": left - 1})]
    else:
        meter.caps[:] = [Caps(**{**generous, name: 2 * left - 1})]
    assert code(meter.send()) == f"meter_{name}_cap"
    assert meter.vendor.asked == [] and meter.totals().reserved == left
    if name in ("day", "month"):
        meter.caps[:] = [Caps(**{**generous, name: 2 * left})]
        meter.vendor.taken = (200, batch("in_progress", "msgbatch_2"))
        assert meter.send().status_code == 200, "to the last nano-dollar"


@pytest.mark.parametrize(
    ("body", "says"),
    [
        pytest.param({"requests": []}, "meter_bad_request", id="none"),
        pytest.param({"requests": json.loads(item())["requests"] * 2}, "meter_bad_request", id="two"),
        pytest.param({**json.loads(item()), "priority": "high"}, "meter_unknown_field", id="another field"),
        pytest.param(json.loads(item("a b")), "meter_bad_request", id="an id that the vendor does not take"),
        pytest.param(json.loads(item("a" * 65)), "meter_bad_request", id="an id that is too long"),
        pytest.param(json.loads(item('"x"')), "meter_bad_request", id="an id that ends a text"),
        pytest.param(json.loads(item(model="nobody-1")), "meter_model_not_allowed", id="another model"),
        pytest.param(json.loads(item(service_tier="auto")), "meter_unknown_field", id="what has no price"),
        pytest.param(json.loads(item(max_tokens=0)), "meter_max_tokens", id="no limit"),
        pytest.param({"requests": [{"params": {}}]}, "meter_bad_request", id="no id"),
    ],
)
def test_a_batch_is_one_question_that_has_a_price(meter: Scene, body: Mapping[str, Any], says: str) -> None:
    answer = meter.ask("POST", BATCHES, json.dumps(body).encode())
    assert (code(answer), meter.vendor.asked, meter.totals().used) == (says, [], 0)


def test_a_question_is_sent_once_whatever_came_of_it(meter: Scene) -> None:
    meter.vendor.taken = (429, b"{}")
    meter.send()
    assert code(meter.send()) == "meter_sent_before" and len(meter.vendor.sent) == 1


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        pytest.param((400, b"{}"), "void", id="refused"),
        pytest.param((404, b"{}"), "void", id="no batches there"),
        pytest.param((429, b"{}"), "void", id="too many"),
        pytest.param((403, b"{}"), "void", id="forbidden"),
        pytest.param((302, b""), "void", id="elsewhere"),
        pytest.param((402, b"{}"), "void", id="to be paid"),
        pytest.param((405, b"{}"), "void", id="not done here"),
        pytest.param((422, b"{}"), "void", id="not understood"),
        pytest.param((501, b"{}"), "void", id="never made"),
        pytest.param((202, b"{}"), "lost", id="perhaps later"),
        pytest.param((408, b"{}"), "lost", id="late"),
        pytest.param((409, b"{}"), "lost", id="in conflict"),
        pytest.param((502, b"{}"), "lost", id="nobody behind it"),
        pytest.param((503, b"{}"), "lost", id="away"),
        pytest.param((504, b"{}"), "lost", id="silent behind it"),
        pytest.param((500, b"{}"), "lost", id="failing"),
        pytest.param((529, b"{}"), "lost", id="overloaded"),
        pytest.param(None, "lost", id="broken off"),
        pytest.param((200, b"fine"), "lost", id="no JSON"),
        pytest.param((200, b'{"id":"msgbatch_1"}'), "lost", id="no batch"),
        pytest.param((200, batch(number="../../v1/files")), "lost", id="an id that is a path"),
        pytest.param((200, batch(number="a" * 81)), "lost", id="an id that is too long"),
    ],
)
def test_what_was_not_taken_costs_nothing_and_what_nobody_knows_its_worst_case(
    meter: Scene, answer: Answer | None, state: str
) -> None:
    meter.vendor.taken = answer
    assert code(meter.send()) in ("meter_upstream", "meter_upstream_refused")
    assert (meter.row["state"], meter.batch.vendor) == (state, "")
    assert meter.row["amount"] == (meter.batch.reserved if state == "lost" else 0)
    assert meter.ledger.paused() == "", "the next plain call meets it, too"
    assert len(meter.vendor.sent) == 1, "and it is not repeated"


def test_two_batches_of_one_name_are_not_believed(meter: Scene) -> None:
    meter.send("b" * 64)
    meter.send()
    stages = [one.stage for one in meter.ledger.batches_of(TOMORROW)]
    assert stages == [Stage.SENT, Stage.LOST]


def test_nobody_there_costs_nothing(tmp_path: Path) -> None:
    with scene(tmp_path, Vendor()) as meter:
        meter.vendor.asked.clear()
    db = Database(tmp_path / "agents.db")
    ledger, clock = Ledger(db), ManualClock(EVENING)
    upstream, socket = Upstream("http://127.0.0.1:9", KEY), tmp_path / "meter.sock"
    with Meter(ledger, Pricing(), lambda: GENEROUS, upstream, clock, socket, patience=HASTY) as alone:
        found = Scene(Vendor(), ledger, alone, clock, [GENEROUS], LedgerSavings(db, Pricing()))
        found.ticket()
        assert code(found.send()) == "meter_upstream" and found.row["state"] == "void"
    ledger.close()


# --- who may


@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", BATCHES), ("GET", f"{BATCHES}/msgbatch_1"), ("GET", f"{BATCHES}/msgbatch_1/results")],
)
def test_a_ticket_that_is_not_for_batches_finds_no_such_path(meter: Scene, method: str, path: str) -> None:
    meter.send()
    meter.vendor.asked.clear()
    meter.ticket(batches=False)
    answer = meter.ask(method, path, item("b" * 64))
    assert (answer.status_code, code(answer), meter.vendor.asked) == (404, "meter_not_found", [])


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", BATCHES),
        ("DELETE", f"{BATCHES}/msgbatch_1"),
        ("POST", f"{BATCHES}/msgbatch_1/results"),
        ("GET", f"{BATCHES}/msgbatch_1/cancel"),
        ("GET", f"{BATCHES}/msgbatch_1/else"),
        ("GET", f"{BATCHES}/../files/1"),
    ],
)
def test_nothing_else_is_served(meter: Scene, method: str, path: str) -> None:
    meter.send()
    meter.vendor.asked.clear()
    assert code(meter.ask(method, path)) == "meter_not_found" and meter.vendor.asked == []


def test_a_batch_that_is_not_ours_is_not_asked_about(meter: Scene) -> None:
    meter.send()
    meter.vendor.asked.clear()
    answers = [meter.ask("GET", f"{BATCHES}/msgbatch_2"), meter.fetch("msgbatch_2")]
    assert [code(answer) for answer in answers] == ["meter_unknown_batch"] * 2 and meter.vendor.asked == []


def test_a_ticket_that_only_looks_buys_nothing(meter: Scene) -> None:
    meter.send()
    meter.in_the_morning()
    assert code(meter.send("b" * 64)) == "meter_model_not_allowed"
    plain = json.dumps({"model": SONNET, "max_tokens": 10, "messages": [HI]}).encode()
    assert code(meter.ask("POST", "/v1/messages", plain)) == "meter_model_not_allowed"
    assert meter.fetch().status_code == 200


# --- fetching


def test_no_address_of_the_vendors_is_followed_or_passed_on(meter: Scene) -> None:
    meter.send()
    looked = meter.ask("GET", f"{BATCHES}/msgbatch_1")
    assert looked.json() == {"id": "msgbatch_1", "type": "message_batch", "processing_status": "ended"}
    meter.fetch()
    assert [path for _, path, _ in meter.vendor.asked[2:]] == [f"{BATCHES}/msgbatch_1", f"{BATCHES}/msgbatch_1/results"]


def test_an_answer_is_paid_for_once_however_often_it_is_fetched(meter: Scene) -> None:
    meter.send()
    answers = [meter.fetch() for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200] * 3 and meter.totals() == Totals(0, spent=COST)


@pytest.mark.parametrize("status", ["in_progress", "canceling"])
def test_what_has_not_ended_is_not_fetched_and_stays_reserved(meter: Scene, status: str) -> None:
    meter.send()
    meter.vendor.looked = (200, batch(status))
    assert meter.ask("GET", f"{BATCHES}/msgbatch_1").json()["processing_status"] == status
    assert code(meter.fetch()) == "meter_batch_waits" and meter.batch.stage is Stage.SENT
    assert not any(path.endswith("results") for _, path, _ in meter.vendor.asked)


def test_what_is_cancelled_is_booked_when_it_has_ended(meter: Scene) -> None:
    meter.send()
    assert meter.ask("POST", f"{BATCHES}/msgbatch_1/cancel").json()["processing_status"] == "canceling"
    assert meter.batch.stage is Stage.SENT
    meter.vendor.results = (200, lines({"custom_id": QUESTION, "result": {"type": "canceled"}}))
    assert code(meter.fetch()) == "meter_batch_canceled"
    assert meter.row["state"] == "void" and meter.totals().used == 0


@pytest.mark.parametrize("how", ["errored", "canceled", "expired"])
def test_what_was_not_answered_is_not_billed(meter: Scene, how: str) -> None:
    meter.send()
    error = {"type": "error", "error": {"type": "api_error", "message": "see http://elsewhere"}}
    meter.vendor.results = (200, lines({"custom_id": QUESTION, "result": {"type": how, "error": error}}))
    assert code(meter.fetch()) == f"meter_batch_{how}"
    assert (meter.row["state"], meter.row["amount"]) == ("void", 0) and "api_error" in meter.row["note"]
    assert code(meter.fetch()) == "meter_unknown_batch", "it is over"


HOSTILE: Mapping[str, bytes] = {
    "another question": lines(line("b" * 64)),
    "two lines for one question": lines(line(), line()),
    "one line too many": lines(line(), line("b" * 64)),
    "nothing": b"",
    "no JSON": b"<html>",
    "half a line": lines(line())[:-20],
    "no UTF-8": b"\xff\xfe",
    "a list": b"[]\n",
    "deep": b"[" * 200_000,
    "a name twice": lines(line()).replace(b'{"custom_id"', b'{"custom_id": "x", "custom_id"'),
    "no result": lines({"custom_id": QUESTION}),
    "another kind": lines({"custom_id": QUESTION, "result": {"type": "paid"}}),
    "no message": lines({"custom_id": QUESTION, "result": {"type": "succeeded", "message": []}}),
    "no counts": lines(line(usage=None)),
    "no content": lines(line(content="free text")),
    "no model": lines(line(model=3)),
    "a reason that is no text": lines(line(stop_reason=[])),
    "no end of nothing": lines(line()) + b"\n" * MAX_BODY,
    "huge": lines(line(content=[{"type": "text", "text": "x" * MAX_BODY}])),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_an_answer_that_does_not_fit_is_believed_in_nothing_and_stays_at_its_worst_case(
    meter: Scene, name: str
) -> None:
    meter.send()
    meter.vendor.results = (200, HOSTILE[name])
    answer = meter.fetch()
    assert code(answer) == "meter_batch_lost" and "a plan" not in answer.text
    assert (meter.row["state"], meter.row["amount"]) == ("lost", meter.batch.reserved)


@pytest.mark.parametrize(
    "usage",
    [
        pytest.param({"input_tokens": 1, "output_tokens": 1, "moon_tokens": 1}, id="a kind that we do not know"),
        pytest.param({"input_tokens": -1, "output_tokens": 1}, id="less than nothing"),
        pytest.param({"output_tokens": 1}, id="no input"),
        pytest.param({**USAGE, "service_tier": "priority"}, id="another price"),
    ],
)
def test_a_count_without_a_price_pauses_spending_at_the_worst_case(meter: Scene, usage: Mapping[str, Any]) -> None:
    meter.send()
    meter.vendor.results = (200, lines(line(usage=usage)))
    assert code(meter.fetch()) == "meter_paused"
    assert (meter.row["state"], meter.row["amount"]) == ("lost", meter.batch.reserved)
    assert "usage." in meter.ledger.paused()


@pytest.mark.parametrize(
    ("changes", "amount"),
    [
        pytest.param({}, COST, id="half"),
        pytest.param({"usage": {"input_tokens": 51, "output_tokens": 20}}, COST, id="half, not told"),
        pytest.param({"usage": {**USAGE, "service_tier": "standard"}}, 2 * COST, id="billed as a plain call"),
        pytest.param({"model": OPUS}, 2 * COST, id="half of a dearer model's"),
        pytest.param({"model": "nobody-1"}, COST, id="a model that nobody knows"),
        pytest.param({"usage": {"input_tokens": 3, "output_tokens": 1}}, 8_000, id="a few tokens"),
    ],
)
def test_what_the_vendor_says_that_it_bills_is_booked(meter: Scene, changes: Mapping[str, Any], amount: int) -> None:
    meter.send()
    meter.vendor.results = (200, lines(line(**changes)))
    assert meter.fetch().status_code == 200
    assert meter.totals() == Totals(0, spent=amount)


def test_an_answer_dearer_than_its_reservation_stops_all_spending(meter: Scene) -> None:
    meter.send()
    meter.vendor.results = (200, lines(line(usage={"input_tokens": 51, "output_tokens": 1_000})))
    meter.fetch()
    assert meter.row["amount"] > meter.row["reserved"] and "the prices of" in meter.ledger.paused()


@pytest.mark.parametrize(
    ("looked", "stage"),
    [
        pytest.param((404, b"{}"), Stage.LOST, id="not known any more"),
        pytest.param((200, batch(number="msgbatch_2")), Stage.LOST, id="another one"),
        pytest.param((200, batch("done")), Stage.LOST, id="a state that we do not know"),
        pytest.param((200, b"{}"), Stage.LOST, id="nothing told"),
        pytest.param((500, b"{}"), Stage.SENT, id="failing"),
        pytest.param((401, b"{}"), Stage.SENT, id="another key"),
        pytest.param(None, Stage.SENT, id="broken off"),
    ],
)
def test_who_fails_is_asked_again_and_who_knows_nothing_is_not(
    meter: Scene, looked: Answer | None, stage: Stage
) -> None:
    meter.send()
    meter.vendor.looked = looked
    assert meter.fetch().status_code == 400 and meter.batch.stage is stage
    meter.vendor.looked = (200, batch())
    assert (meter.fetch().status_code == 200) == (stage is Stage.SENT)


def test_after_twenty_nine_days_nobody_is_asked_any_more(meter: Scene) -> None:
    meter.send()
    meter.vendor.asked.clear()
    meter.in_the_morning()
    meter.clock.set(EVENING + KEPT)
    meter.ticket("0", models=())
    assert code(meter.fetch()) == "meter_batch_lost" and meter.vendor.asked == []
    assert (meter.row["state"], meter.row["amount"]) == ("lost", meter.batch.reserved)


def test_while_spending_is_stopped_nothing_is_sent_and_answers_are_fetched(meter: Scene) -> None:
    meter.send()
    meter.ledger.halt("look at it", meter.clock.now())
    assert code(meter.send("b" * 64)) == "meter_halted"
    assert meter.fetch().status_code == 200


@pytest.mark.parametrize("depth", [300, 950, 965, 980, 20_000])
def test_what_an_answer_holds_besides_its_text_is_not_passed_on_however_deep_it_is(meter: Scene, depth: int) -> None:
    deep = b'{"a":' * depth + b"1" + b"}" * depth
    blocks = [{"type": "text", "text": "a plan", "more": "DEEP"}, {"type": "thinking", "thinking": "DEEP"}]
    usage = {**USAGE, "output_tokens_details": {"thinking_tokens": 1, "more": "DEEP"}}
    meter.send()
    meter.vendor.results = (200, lines(line(content=blocks, usage=usage, more="DEEP")).replace(b'"DEEP"', deep))
    answer = meter.fetch()
    if depth < 900:
        usage.pop("output_tokens_details")
        shown = {"type": "message", "model": SONNET, "content": [{"type": "text", "text": "a plan"}], "usage": usage}
        assert answer.json()["result"]["message"] == {**shown, "stop_reason": "end_turn"}
    assert len(answer.content) < 1_000 and meter.row["state"] in ("settled", "lost")


UNFIT: Mapping[str, bytes] = {
    "half a character in the reason": lines(line(stop_reason="\ud800")),
    "half a character in an error": lines(
        {"custom_id": QUESTION, "result": {"type": "errored", "error": {"type": "e", "message": "\ud800"}}}
    ),
    "half a character in a count's name": lines(line(usage={**USAGE, "\ud800": 1})),
    "half a character in the model's name": lines(line(model="\ud800")),
    "more than a book can hold": lines(line(usage={**USAGE, "input_tokens": 10**19})),
    "more than a sum can hold": lines(line(usage={**USAGE, "input_tokens": 9_223_372_036_854_600})),
    "more than anybody asks": lines(line(usage={**USAGE, "output_tokens": 10**8 + 1})),
    "thoughts without end": lines(line(usage={**USAGE, "output_tokens_details": {"thinking_tokens": 10**30}})),
}


@pytest.mark.parametrize("name", UNFIT)
def test_what_a_book_cannot_hold_ends_the_reservation_and_never_costs_more(meter: Scene, name: str) -> None:
    meter.send()
    meter.vendor.results = (200, UNFIT[name])
    meter.fetch()
    assert meter.row["state"] in ("settled", "void", "lost") and meter.row["amount"] <= meter.row["reserved"]
    assert meter.totals().used == meter.row["amount"] and meter.ledger.paused() is not None


@dataclass(frozen=True)
class Price:
    input: int
    output: int


OWN = "my-own"
BEFORE = {OWN: Price(2_000_000_000, 10_000_000_000)}


def test_an_answer_that_cannot_be_booked_is_lost(tmp_path: Path) -> None:
    """A thousand dollars a token, of which the vendor counts as many as it may."""
    counts = {"input_tokens": 10**8, "output_tokens": 1}
    vendor, dear = Vendor(results=(200, lines(line(model=OWN, usage=counts)))), Price(10**18, 10**18)
    with scene(tmp_path, vendor, Pricing({OWN: dear})) as found:
        found.caps[:] = [Caps(10**18, 10**18, 10**18)]
        found.ticket("9999999", models=(OWN,))
        assert found.send(model=OWN).status_code == 200
        assert code(found.fetch()) == "meter_bug" and found.totals() == Totals(0, lost=found.batch.reserved)
        assert code(found.fetch()) == "meter_unknown_batch", "it is over"


def test_words_of_the_vendor_steer_no_terminal(meter: Scene) -> None:
    meter.send()
    meter.vendor.results = (200, lines(line(stop_reason="\x1b[2J\x9b31m\n\u202eowned")))
    told = meter.fetch().json()["result"]["message"]["stop_reason"]
    assert (told, meter.row["stop_reason"]) == ("[2J 31m owned",) * 2
    meter.vendor.taken = (400, b'{"type":"error","error":{"type":"x","message":"\\u001b[2Jno\\ud800 batch"}}')
    assert code(meter.send("b" * 64)) == "meter_upstream_refused"
    assert meter.ledger.last_words(meter.token) == "x  [2Jno batch"


@pytest.mark.parametrize(
    "then",
    [
        pytest.param(BEFORE, id="as it was"),
        pytest.param({}, id="gone"),
        pytest.param({OWN: Price(60_000_000_000, 900_000_000_000)}, id="dearer"),
        pytest.param({OWN: Price(0, 0)}, id="for nothing"),
    ],
)
def test_a_price_that_has_changed_overnight_changes_no_bill_and_stops_nobody(
    tmp_path: Path, then: Mapping[str, Price]
) -> None:
    vendor = Vendor(results=(200, lines(line(model=OWN))))
    with scene(tmp_path, vendor, Pricing(BEFORE)) as evening:
        evening.ticket(models=(OWN,))
        assert evening.send(model=OWN).status_code == 200
    with scene(tmp_path, vendor, Pricing(then)) as morning:
        morning.in_the_morning()
        assert morning.fetch().status_code == 200
        assert (morning.totals(), morning.ledger.paused()) == (Totals(0, spent=COST), "")


def test_a_prompt_of_few_tokens_has_their_price_however_many_its_bytes_may_be(meter: Scene) -> None:
    """Haiku has a dearer band from 100,000 tokens on."""
    meter.ticket(models=(HAIKU,))
    meter.send(model=HAIKU, messages=[{**HI, "content": "a" * 200_000}])
    meter.vendor.results = (200, lines(line(model=HAIKU)))
    meter.fetch()
    assert meter.row["amount"] == half(51 * 100 + 20 * 500)


@pytest.mark.parametrize("key", ["test", "a", "1"])
def test_a_short_key_masks_nothing_of_an_answer(tmp_path: Path, key: str) -> None:
    said = '{"files": ["tests/test_a.py"]}'
    vendor = Vendor(results=(200, lines(line(content=[{"type": "text", "text": said}]))))
    with scene(tmp_path, vendor, key=key) as found:
        found.send()
        assert found.fetch().json()["result"]["message"]["content"][0]["text"] == said
        assert found.totals() == Totals(0, spent=COST)


@pytest.mark.parametrize("ends", ["refused", "errored"])
def test_an_error_that_tells_our_key_does_not_bring_it_into_the_book(meter: Scene, ends: str) -> None:
    error = {"type": "error", "error": {"type": "x", "message": f"bad key {KEY}"}}
    meter.vendor.results = (200, lines({"custom_id": QUESTION, "result": {"type": "errored", "error": error}}))
    if ends == "refused":
        meter.vendor.taken = (401, json.dumps(error).encode())
    meter.send()
    meter.fetch()
    assert meter.row["note"].split() == ["x", "bad", "key", "***"]


def test_a_clock_that_has_jumped_throws_no_answer_away(tmp_path: Path) -> None:
    up = [1_000]
    with scene(tmp_path, Vendor(), uptime=lambda: Uptime("boot", up[0])) as found:
        found.send()
        found.clock.set(EVENING + KEPT)
        up[0] += 3_600
        found.ticket("0", models=(), max_calls=0)
        assert found.fetch().status_code == 200 and found.totals() == Totals(0, spent=COST)


def test_what_is_not_asked_ahead_for_want_of_money_keeps_nobody_from_work(meter: Scene) -> None:
    meter.caps[:] = [Caps(task=10**12, day=100, month=10**12)]
    assert code(meter.send()) == "meter_day_cap" and not meter.ledger.is_reached(TODAY, 100)
    meter.ticket(batches=False)
    plain = json.dumps({"model": SONNET, "max_tokens": 10, "messages": [HI]}).encode()
    assert code(meter.ask("POST", "/v1/messages", plain)) == "meter_day_cap"
    assert meter.ledger.is_reached(TODAY, 100)


def test_who_takes_no_batch_may_take_a_question(meter: Scene) -> None:
    meter.vendor.taken = (400, b"{}")
    meter.send()
    assert meter.row["code"] == "meter_upstream_refused" and not meter.savings.refused(SONNET, TODAY)


class Slow(Ledger):
    """Its entry of the vendor's id is acknowledged late."""

    def batch_taken(self, call: int, vendor: str) -> bool:
        done = super().batch_taken(call, vendor)
        ENTERED.set()
        GO_ON.wait(5)
        return done


ENTERED, GO_ON = threading.Event(), threading.Event()


def test_a_meter_that_is_stopped_when_the_vendor_has_told_its_id_loses_nothing(tmp_path: Path) -> None:
    with scene(tmp_path, Vendor(), ledger=Slow) as found:
        caller = threading.Thread(target=found.send)
        caller.start()
        assert ENTERED.wait(5)
        stopper = threading.Thread(target=found.meter.stop, args=(0,))
        stopper.start()
        caller.join(5)
        GO_ON.set()
        stopper.join(5)
        assert (found.batch.stage, found.batch.vendor) == (Stage.SENT, "msgbatch_1")


# --- whoever asks


@dataclass(frozen=True)
class Form:
    plan: str


RUN = Run(7, "planner", TOMORROW)


@dataclass
class Asker:
    """Asks ahead and fetches, and the client that asks what was not answered."""

    scene: Scene
    meter: Path | str = ""
    fetching: float = 5.0

    def __post_init__(self) -> None:
        scene, where = self.scene, self.meter or self.scene.meter.socket
        self.replies = Replies(scene.ledger._db)
        models = {"planner": ModelChoice(SONNET, (), "", 300)}
        budget = dollars("5")
        self.client = LlmClient(scene.ledger, self.replies, where, models, scene.clock, lambda _: budget)
        self.ahead = LlmBatch(scene.ledger, self.replies, where, scene.clock, budget, self.fetching)
        self.key, self.question = self.client.first(RUN, "system", "user", Form)

    def sends(self) -> None:
        self.ahead.send(RUN, self.key, self.question)

    def answered(self, **changes: Any) -> None:
        self.scene.vendor.looked = (200, batch())
        content = [{"type": "text", "text": '{"plan": "ahead"}'}]
        self.scene.vendor.results = (200, lines(line(self.key, **{"content": content, **changes})))

    def fetches(self, give_up: bool = True) -> list[str]:
        return list(self.ahead.fetch(RUN, Form, give_up))

    def asks(self) -> str:
        return self.client.ask(RUN, "system", "user", Form).plan


def test_an_answer_that_is_remembered_from_a_batch_was_of_use(meter: Scene) -> None:
    asker = Asker(meter)
    asker.sends()
    asker.answered()
    assert asker.fetches() == ["it is answered, at half price"] and asker.asks() == "ahead"
    assert meter.batch.used and meter.savings.total("2026-11").batches == COST


def test_what_was_asked_directly_stays_so_and_the_batchs_answer_was_paid_for_in_vain(meter: Scene) -> None:
    """The direct answer is kept, and the process dies before the plan: the batch has been answered meanwhile."""
    asker = Asker(meter)
    meter.vendor.looked = (200, batch("in_progress"))
    asker.sends()
    assert asker.fetches() == ["it is not answered yet; it is asked directly"]
    asker.replies.keep(asker.key, '{"plan": "direct"}', meter.clock.now())
    asker.answered()
    assert asker.fetches() == ["it is answered too late: it was asked directly"]
    assert asker.asks() == "direct" and meter.row["state"] == "settled"
    meter.ledger.batches_unused(TOMORROW)
    assert meter.batch.used is False and meter.savings.total("2026-11").batches == -COST


def test_a_batch_of_which_nobody_knows_has_answered_nothing(meter: Scene) -> None:
    asker = Asker(meter)
    meter.vendor.taken = None
    with pytest.raises(NotAhead):
        asker.sends()
    asker.replies.keep(asker.key, '{"plan": "direct"}', meter.clock.now())
    assert asker.asks() == "direct"
    meter.ledger.batches_unused(TOMORROW)
    assert meter.batch.used is False and meter.savings.total("2026-11").batches == -meter.batch.reserved


def test_what_is_asked_directly_after_all_has_not_used_what_was_asked_ahead(meter: Scene) -> None:
    meter.send()
    meter.fetch()
    meter.ledger.batch_unused("b" * 64)
    assert meter.batch.used is None
    meter.ledger.batch_unused(QUESTION)
    assert meter.batch.used is False and meter.savings.total("2026-11").batches == -COST


@pytest.mark.parametrize("depth", [950, 960, 970, 980])
def test_a_deep_answer_is_an_answer_like_any_other(meter: Scene, depth: int) -> None:
    asker = Asker(meter)
    asker.sends()
    asker.answered(content=[{"type": "text", "text": '{"plan": "ahead"}', "more": "DEEP"}])
    assert meter.vendor.results
    deep = b'{"a":' * depth + b"1" + b"}" * depth
    meter.vendor.results = (200, meter.vendor.results[1].replace(b'"DEEP"', deep))
    (said,) = asker.fetches()
    assert "at half price" in said or "no plain JSON" in said


@pytest.mark.parametrize("body", [b"[" * 100_000, b"<html>", b"[]", b"\xff", b'{"processing_status": "ended"}'])
@pytest.mark.parametrize("status", [200, 400])
def test_whatever_answers_in_the_meters_place_is_told_and_nothing_else(meter: Scene, body: bytes, status: int) -> None:
    asker = Asker(meter)
    asker.sends()
    with served(Vendor(looked=(status, body), results=(status, body), canceled=(status, body))) as url:
        (said,) = Asker(meter, url).fetches()
    assert said.startswith("the meter's answer") and meter.batch.stage is Stage.SENT


class SlowVendor(Vendor):
    def answer(self, path: str) -> Answer | None:
        if path != BATCHES:
            threading.Event().wait(0.4)
        return super().answer(path)


def test_nobody_waits_long_for_an_answer(tmp_path: Path) -> None:
    with scene(tmp_path, SlowVendor()) as found:
        Asker(found).sends()
        assert Asker(found, fetching=0).fetches() == ["the upstream is slow to tell: nobody waits for it"]
        with pytest.raises(NotAhead, match="ReadTimeout"):
            Asker(found, fetching=0.1).fetches()
        with pytest.raises(NotAhead, match="ReadTimeout"):
            Asker(found, fetching=0.6).fetches()
        assert found.batch.stage is Stage.SENT


# --- restarts


def test_a_restart_keeps_what_the_vendor_may_still_answer_and_the_caps_know_it(tmp_path: Path) -> None:
    with scene(tmp_path, Vendor()) as before:
        before.send()
        reserved = before.totals().reserved
    with scene(tmp_path, Vendor()) as after:
        assert after.totals() == Totals(0, reserved=reserved)
        after.caps[:] = [Caps(10**12, 2 * reserved - 1, 10**12)]
        assert code(after.send("b" * 64)) == "meter_day_cap"
        after.in_the_morning()
        assert after.fetch().status_code == 200 and after.totals() == Totals(0, spent=COST)


PROGRAM = """
    import sys
    from datetime import UTC, datetime
    from pathlib import Path
    import httpx2
    from shared.domain.token_budget import Caps
    from shared.edge.clock import ManualClock
    from shared.edge.database import Database
    from shared.edge.money.ledger import Ledger
    from shared.edge.money.meter import Meter, Upstream
    from shared.edge.money.pricing import Pricing
    folder, url, token, method, path, content = Path(sys.argv[1]), *sys.argv[2:]
    book, caps, clock = Ledger(Database(folder / "agents.db")), Caps(*[10**12] * 3), ManualClock(
        datetime(2026, 11, 20, 23, tzinfo=UTC))
    with Meter(book, Pricing(), lambda: caps, Upstream(url, "key"), clock, folder / "meter.sock") as meter:
        client = httpx2.Client(transport=httpx2.HTTPTransport(uds=str(meter.socket)), timeout=20)
        with client:
            headers = {"x-api-key": token, "anthropic-version": "2026-10-21"}
            answer = client.request(method, "http://m" + path, content=content, headers=headers)
            assert answer.status_code == 200, answer.text
"""


def dies(folder: Path, vendor: Vendor, point: str, method: str, path: str, content: bytes = b"") -> None:
    """A process of its own that is killed at a point of this request."""
    book = Ledger(Database(folder / "agents.db"))
    run, expires = Run(1, "planner", TOMORROW), EVENING + timedelta(hours=1)
    token = book.open_ticket(TicketOrder(run, 10**12, (SONNET,), expires, batches=True), EVENING)
    book.close()
    with served(vendor) as url:
        killed_at(point, snippet(PROGRAM, str(folder), url, token, method, path, content.decode()))


@pytest.mark.parametrize(
    ("point", "sent", "stage"),
    [
        pytest.param("llm.reserve", 0, Stage.LOST, id="reserved, not sent"),
        pytest.param("batch.sent", 1, Stage.LOST, id="sent, its name unread"),
        pytest.param("batch.taken", 1, Stage.SENT, id="its name is in the book"),
    ],
)
def test_wherever_it_dies_while_it_sends_it_is_sent_once_and_the_money_is_there(
    tmp_path: Path, point: str, sent: int, stage: Stage
) -> None:
    vendor = Vendor()
    dies(tmp_path, vendor, point, "POST", BATCHES, item())
    assert len(vendor.sent) == sent
    with scene(tmp_path, vendor) as found:
        assert found.batch.stage is stage and found.totals().used == found.batch.reserved
        assert code(found.send()) == "meter_sent_before" and len(vendor.sent) == sent
        if stage is Stage.SENT:
            assert found.fetch().status_code == 200 and found.totals() == Totals(0, spent=COST)


@pytest.mark.parametrize("point", ["batch.told", "batch.told#2", "batch.settled"])
def test_wherever_it_dies_while_it_fetches_it_is_paid_for_once(tmp_path: Path, point: str) -> None:
    vendor = Vendor()
    with scene(tmp_path, vendor) as found:
        found.send()
    dies(tmp_path, vendor, point, "GET", f"{BATCHES}/msgbatch_1/results")
    with scene(tmp_path, vendor) as found:
        assert found.totals() in (Totals(0, spent=COST), Totals(0, reserved=found.batch.reserved))
        assert found.fetch().status_code == 200 and found.totals() == Totals(0, spent=COST)


# --- what it saved


@pytest.mark.parametrize(
    ("then", "saved"),
    [
        pytest.param(lambda book: book.batch_used(QUESTION), COST, id="used"),
        pytest.param(lambda book: book.batches_unused(TOMORROW), -COST, id="not used"),
        pytest.param(lambda book: book.batches_unused(TODAY), 0, id="its day is still to come"),
        pytest.param(lambda book: book.batch_used("b" * 64), 0, id="another question"),
        pytest.param(
            lambda book: (book.batches_unused(TOMORROW), book.batch_used(QUESTION)), COST, id="used later on its day"
        ),
        pytest.param(
            lambda book: (book.batch_used(QUESTION), book.batches_unused(TOMORROW)),
            COST,
            id="used, and the day is over",
        ),
    ],
)
def test_an_answer_that_was_used_has_saved_half_and_one_that_was_not_is_a_loss(
    meter: Scene, then: Callable[[Ledger], object], saved: int
) -> None:
    meter.send()
    meter.fetch()
    then(meter.ledger)
    assert meter.savings.total("2026-11").batches == saved
    assert {day: one.batches for day, one in meter.savings.by_day().items()} == ({TODAY: saved} if saved else {})


def test_what_nobody_knows_is_a_loss_at_its_worst_case_and_what_was_not_billed_none(meter: Scene) -> None:
    meter.vendor.taken = (500, b"{}")
    meter.send()
    meter.vendor.taken = (429, b"{}")
    meter.send("b" * 64)
    meter.ledger.batches_unused(TOMORROW)
    assert meter.savings.total("2026-11").batches == -meter.ledger.batches_of(TOMORROW)[0].reserved
    assert len(meter.savings.nights()) == 1


def test_what_waits_is_fetched_until_its_use_is_known(meter: Scene) -> None:
    meter.send()
    for day in (TODAY, TOMORROW, "2026-11-22"):
        assert len(meter.ledger.batches_to_fetch(day)) == 1, "nobody knows its price"
    meter.fetch()
    assert len(meter.ledger.batches_to_fetch(TOMORROW)) == 1 and meter.ledger.batches_to_fetch("2026-11-22") == ()
    meter.ledger.batch_used(QUESTION)
    assert meter.ledger.batches_to_fetch(TOMORROW) == ()
