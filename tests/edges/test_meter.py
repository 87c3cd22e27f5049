"""The meter's promise to its callers: the Messages API as they know it, and the truth in the book."""

from __future__ import annotations

import json
import os
import socket
import stat
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import pytest
from anthropic.types import Message

from sisimpur.shared.model.errors import Misconfigured, Unavailable
from sisimpur.shared.model.work import Run
from sisimpur.shared.money.ledger import Ledger
from sisimpur.shared.money.meter import Meter, MeterSetup, MeterTimeouts, Upstream
from sisimpur.shared.money.meter.upstream import MAX_EVENT, PROOF, ArrivingMessage, Splitter
from sisimpur.shared.money.pricing import Pricing
from sisimpur.shared.money.ticket import Reservation, TicketOrder
from sisimpur.shared.money.token_budget import Ask, Caps, dollars
from sisimpur.shared.system.clock import ManualClock
from tests.books import new_book
from tests.edges.meter_scene import DAY, GENEROUS, HAIKU, HI, KEY, NOW, OPUS, SONNET, Scene, body, code, scene
from tests.edges.upstream import Request, Step, events

LATER = NOW + timedelta(days=1)
BLOCKS: tuple[Mapping[str, Any], ...] = (
    {"type": "thinking", "thinking": "Let me see. Ünïcode \u4e2d.", "signature": "c2lnbmVk"},
    {"type": "text", "text": 'Line one\nline two: "quoted" \U0001f642'},
    {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"path": "a/b.py", "lines": [1, 2]}},
    {"type": "tool_use", "id": "toolu_2", "name": "stop", "input": {}},
)
CACHED = {
    "cache_creation_input_tokens": 30,
    "cache_creation": {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 20},
    "cache_read_input_tokens": 700,
}
START = events(Step(), SONNET)[0]
BLOCK = b'data: {"type": "content_block_start", "index": %d, "content_block": {"type": "text", "text": ""}}\n\n'
DELTA = b'data: {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "x"}}\n\n'


@pytest.fixture(scope="module")
def one_meter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with scene(tmp_path_factory.mktemp("m")) as found:
        yield found


@pytest.fixture
def meter(one_meter: Scene) -> Iterator[Scene]:
    one_meter.ticket()
    yield one_meter
    one_meter.again()


def sdk(meter: Scene, token: str = "") -> anthropic.Anthropic:
    return anthropic.Anthropic(api_key=token or meter.token, base_url="http://meter", http_client=meter.client())


# --- what callers get


@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streamed"])
def test_the_sdk_gets_its_message_over_the_socket_and_the_book_its_true_cost(meter: Scene, streaming: bool) -> None:
    meter.upstream.steps = [Step(blocks=BLOCKS, usage=CACHED, input=100, output=55, stop_reason="tool_use")]
    asked: Any = {"model": SONNET, "max_tokens": 100, "messages": [HI], "cache_control": {"type": "ephemeral"}}
    with sdk(meter) as client:
        message: Message
        if streaming:
            with client.messages.stream(**asked) as stream:
                message = stream.get_final_message()
        else:
            message = client.messages.create(**asked)
    assert [block.to_dict() for block in message.content] == list(BLOCKS)
    assert (message.stop_reason, message.usage.output_tokens) == ("tool_use", 55)
    assert message.usage.cache_read_input_tokens == 700
    assert [request.body["stream"] for request in meter.upstream.requests] == [True]
    (call,) = meter.calls()
    assert (call.state, call.cost, call.answered) == ("settled", meter.upstream.bill, 200)
    assert (call.usage.write_5m, call.usage.write_1h, call.usage.read, call.usage.output) == (10, 20, 700, 55)


def test_a_refusal_costs_the_sdk_one_request_and_the_upstream_none(meter: Scene) -> None:
    meter.ticket(budget="0")
    with sdk(meter) as client, pytest.raises(anthropic.BadRequestError) as refused:
        client.messages.create(model=SONNET, max_tokens=100, messages=[HI])
    assert refused.value.error_code == "meter_ticket_cap"
    assert [call.state for call in meter.calls()] == ["refused"]
    assert meter.upstream.requests == []


@pytest.mark.parametrize("path", ["/v1/messages", "/any/prefix/v1/messages", "/v1/messages?beta=true"])
@pytest.mark.parametrize(
    "header",
    [
        pytest.param(lambda token: {"x-api-key": token}, id="older clients"),
        pytest.param(lambda token: {"authorization": f"Bearer {token}"}, id="newer clients"),
    ],
)
def test_a_ticket_comes_in_either_header_below_any_prefix(meter: Scene, path: str, header: Any) -> None:
    with meter.client() as client:
        assert client.post(f"http://meter{path}", json=body(), headers=header(meter.token)).status_code == 200
    assert [request.path for request in meter.upstream.requests] == ["/v1/messages"]


def test_only_the_real_key_and_the_known_headers_go_upstream(meter: Scene) -> None:
    sent = {"anthropic-version": "2026-10-21", "anthropic-beta": "claude-code-20250219", "x-task": "t1", "cookie": "c"}
    assert meter.post(body(), headers=sent).status_code == 200
    (request,) = meter.upstream.requests
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.headers["anthropic-version"] == "2026-10-21"
    assert request.headers["anthropic-beta"] == "claude-code-20250219"
    assert not {"x-api-key", "x-task", "cookie"} & set(request.headers)
    assert meter.token not in json.dumps([dict(request.headers), request.body])


@pytest.mark.parametrize(
    ("url", "version", "header"),
    [
        ("https://api.anthropic.com", "2023-06-01", "x-api-key"),
        ("https://api.anthropic.com", "2026-10-21", "authorization"),
        ("https://openrouter.ai/api", "2023-06-01", "authorization"),
    ],
)
def test_the_key_goes_where_the_upstream_looks_for_it(url: str, version: str, header: str) -> None:
    assert list(Upstream(url, KEY).credentials(version)) == [header]
    assert Upstream(url, "").credentials(version) == {}


def test_sampling_parameters_are_taken_out_and_everything_else_is_left(meter: Scene) -> None:
    plain = body(system="Be short.", stop_sequences=["END"], output_config={"effort": "low"})
    assert meter.post({**plain, "temperature": 0, "top_p": 0.5, "top_k": 3, "metadata": {"user_id": "u"}}).is_success
    assert meter.upstream.requests[0].body == {**plain, "stream": True}


def test_tokens_are_counted_for_free(meter: Scene) -> None:
    meter.ticket(budget="0")
    meter.upstream.steps = [Step(input=4321)]
    answer = meter.post(body(max_tokens=None), path="/v1/messages/count_tokens")
    assert answer.json() == {"input_tokens": 4321}
    assert meter.calls() == ()


def test_the_last_money_of_a_run_goes_into_a_shorter_answer(meter: Scene) -> None:
    meter.ticket(budget="0.01")
    meter.upstream.steps = [Step(stop_reason="max_tokens", output=500)]
    assert meter.post(body(max_tokens=16_000)).json()["stop_reason"] == "max_tokens"
    sent = meter.upstream.requests[0].body["max_tokens"]
    assert 500 < sent < 1_000
    assert [(call.clamped, call.stop_reason) for call in meter.calls()] == [(True, "max_tokens")]


def test_half_a_structured_answer_is_not_bought(meter: Scene) -> None:
    meter.ticket(budget="0.01")
    shape = {"format": {"type": "json_schema", "schema": {"type": "object", "properties": {}}}}
    assert code(meter.post(body(max_tokens=16_000, output_config=shape))) == "meter_ticket_cap"


def test_a_changed_cap_counts_for_the_next_call(meter: Scene) -> None:
    assert meter.post(body()).status_code == 200
    meter.caps[:] = [Caps(dollars("1000"), 1, dollars("1000"))]
    assert code(meter.post(body())) == "meter_day_cap"


@pytest.mark.parametrize(("ttl", "answer"), [("5m", 200), ("1h", 400)])
def test_an_hours_cache_is_reserved_at_its_own_price(meter: Scene, ttl: str, answer: int) -> None:
    """20,000 bytes are $0.054 to write for five minutes, $0.086 for an hour."""
    meter.ticket(budget="0.06")
    text = {"type": "text", "text": "x" * 20_000, "cache_control": {"type": "ephemeral", "ttl": ttl}}
    assert meter.post(body(system=[text])).status_code == answer


# --- when it does not go well


@pytest.mark.parametrize(
    ("step", "at_most"),
    [
        pytest.param(
            Step(cut_after=4, input=1_000), 1_000 * 2_000 + 100 * 10_000, id="cut after the prompt was counted"
        ),
        pytest.param(
            Step(broken_event={"type": "error", "error": {"type": "overloaded_error"}}, hold_after=3, input=1_000),
            1_000 * 2_000 + 100 * 10_000,
            id="an error event in the middle",
        ),
        pytest.param(
            Step(broken_event={"type": "content_block_delta", "index": 9, "delta": {}}, hold_after=3, input=1_000),
            1_000 * 2_000 + 100 * 10_000,
            id="events that do not fit together",
        ),
    ],
)
def test_a_stream_that_breaks_ends_for_its_reader_and_is_lost_at_the_most_it_can_cost(
    meter: Scene, step: Step, at_most: int
) -> None:
    meter.upstream.steps = [step]
    with sdk(meter) as client, pytest.raises(httpx2.TransportError):
        list(client.messages.create(model=SONNET, max_tokens=100, messages=[HI], stream=True))
    (call,) = meter.calls()
    assert (call.state, call.cost, call.answered) == ("lost", at_most, 200)
    assert call.cost >= meter.upstream.bill


def test_a_cut_stream_is_one_refusal_for_who_waits_for_the_whole(meter: Scene) -> None:
    meter.upstream.steps = [Step(cut_after=4)]
    assert code(meter.post(body())) == "meter_upstream"
    assert [(call.state, call.answered) for call in meter.calls()] == [("lost", 400)]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_a_caller_who_leaves_is_left_and_his_call_is_lost(meter: Scene, stream: bool) -> None:
    hold = threading.Event()
    meter.upstream.steps = [Step(hold=hold, hold_after=3, text="x" * 60_000)]
    with socket.socket(socket.AF_UNIX) as caller:
        caller.connect(str(meter.meter.socket))
        caller.sendall(raw_request(meter, body(stream=stream)))
        assert meter.upstream.arrived.acquire(timeout=5)
        if stream:
            assert caller.recv(10_000).startswith(b"HTTP/1.1 200")
    eventually(lambda: meter.calls()[0].state == "lost")
    hold.set()
    assert meter.upstream.left.wait(5)
    assert meter.calls()[0].cost >= meter.upstream.bill


def test_a_caller_who_leaves_before_his_call_is_sent_pays_nothing(tmp_path: Path) -> None:
    """The book is locked by somebody else meanwhile, so that the reservation has to wait."""
    with scene(tmp_path) as meter, socket.socket(socket.AF_UNIX) as caller:
        with new_book(tmp_path / "agents.db").transaction():
            caller.connect(str(meter.meter.socket))
            caller.sendall(raw_request(meter, body()))
            time.sleep(0.2)  # until the reservation waits; nothing tells us
            caller.close()
            time.sleep(0.1)
        eventually(lambda: [call.state for call in meter.calls()] == ["void"])
        assert meter.upstream.requests == []


@pytest.mark.parametrize(
    "pieces",
    [
        pytest.param([b""], id="nothing"),
        pytest.param([b'data: {"type": "message_stop"}\n\n'], id="an end without a beginning"),
        pytest.param([START, BLOCK % 0, DELTA, b'data: {"type": "message_stop"}\n\n'], id="an open block"),
        pytest.param([START, BLOCK % 7, b'data: {"type": "message_stop"}\n\n'], id="a block out of order"),
        pytest.param([b"data: no json\n\n"], id="no JSON"),
        pytest.param([b"data: [1]\n\n"], id="no event"),
        pytest.param([b"data: " + b"[" * 100_000 + b"\n\n"], id="a deep one"),
    ],
)
def test_a_stream_is_complete_only_if_all_of_it_fits_together(pieces: list[bytes]) -> None:
    reading, splitter = ArrivingMessage(), Splitter()
    with suppress(Unavailable):
        for piece in pieces:
            for _, event in splitter.feed(piece):
                reading.take(event)
    assert not reading.complete


@pytest.mark.parametrize("blank", [b"\n\n", b"\r\n\r\n", b"\n\r\n", b"\r\n\n"])
def test_a_stream_reads_the_same_wherever_it_is_cut(blank: bytes) -> None:
    stream = (b'data: {"type": "a"}' + blank) * 2
    whole = list(Splitter().feed(stream))
    assert len(whole) == 2
    for size in range(1, len(stream)):
        splitter = Splitter()
        cut = [stream[begin : begin + size] for begin in range(0, len(stream), size)]
        assert [found for piece in cut for found in splitter.feed(piece)] == whole


def test_what_a_message_is_told_at_its_end_replaces_nothing_of_its_answer() -> None:
    reading = ArrivingMessage()
    usage = {"input_tokens": 1, "output_tokens": 1}
    reading.take({"type": "message_start", "message": {"usage": usage}})
    reading.take({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "fine"}})
    reading.take({"type": "content_block_stop", "index": 0})
    reading.take({"type": "message_delta", "delta": {"content": None}, "usage": usage})
    reading.take({"type": "message_stop"})
    assert reading.said == [{"type": "text", "text": "fine"}]


def test_an_event_without_end_is_not_waited_for() -> None:
    with pytest.raises(Unavailable, match="too long"):
        list(Splitter().feed(b"x" * (MAX_EVENT + 1)))


def test_an_upstream_that_takes_too_long_is_given_up(tmp_path: Path) -> None:
    hold = threading.Event()
    with scene(tmp_path, Step(hold=hold), patience=MeterTimeouts(whole=1.0)) as meter:
        assert code(meter.post(body())) == "meter_upstream"
        eventually(lambda: [call.state for call in meter.calls()] == ["lost"])
        hold.set()


def test_a_meter_that_is_stopped_loses_what_is_in_flight_and_asks_nobody_to_repeat(tmp_path: Path) -> None:
    hold, answers = threading.Event(), []
    with scene(tmp_path, Step(hold=hold)) as meter:
        caller = threading.Thread(target=lambda: answers.append(meter.post(body())))
        caller.start()
        assert meter.upstream.arrived.acquire(timeout=5)
        meter.meter.stop(grace=0.1)
        caller.join()
        hold.set()
        assert [code(answer) for answer in answers] == ["meter_stopping"]
        assert [call.state for call in meter.calls()] == ["lost"]
        assert not meter.meter.socket.exists()


def test_a_meter_that_takes_nothing_new_ends_what_it_has_and_stops_in_time(tmp_path: Path) -> None:
    """Three calls are in flight: one ends within the grace, one does not, one would have to be repeated."""
    short, long, busy = threading.Event(), threading.Event(), threading.Event()

    def overloaded(_: Request) -> Step:
        busy.wait(10)
        return Step(status=529, error={"type": "overloaded_error"})

    with (
        scene(tmp_path, Step(hold=short), Step(hold=long), patience=MeterTimeouts(first=0.001)) as meter,
        ThreadPoolExecutor(3) as callers,
    ):
        answers: list[Future[httpx2.Response]] = []
        waiting, meter.upstream.steps = meter.upstream.steps, []
        meter.prove()
        meter.upstream.steps, meter.upstream.script = waiting, overloaded
        for _ in range(3):
            answers.append(callers.submit(meter.post, body()))
            eventually(lambda: len(meter.upstream.requests) == len(answers))
        meter.meter.refuse_new()
        assert code(meter.post(body())) == "meter_stopping"
        busy.set()
        short.set()
        assert answers[0].result().status_code == 200
        assert code(answers[2].result()) == "meter_stopping"
        began = time.monotonic()
        other = threading.Thread(target=meter.meter.stop, args=(0.5,))
        other.start()
        meter.meter.stop(grace=0.5)
        other.join()
        meter.meter.stop(grace=0.5)
        assert 0.3 < time.monotonic() - began < 1.5
        long.set()
        assert code(answers[1].result()) == "meter_stopping"
        assert sorted((call.state, call.code) for call in meter.calls()) == [
            ("lost", "meter_stopping"),
            ("lost", "meter_upstream"),
            ("refused", "meter_stopping"),
            ("refused", "meter_stopping"),
            ("settled", ""),
        ]
        totals = meter.ledger.reader.totals(DAY, 0)
        assert totals.reserved == 0
        assert totals.spent == (1 + PROOF) * Step().cost(SONNET)
        assert totals.used >= meter.upstream.bill


def test_a_meter_that_was_stopped_can_be_started_again(tmp_path: Path) -> None:
    with scene(tmp_path) as meter:
        meter.meter.stop()
        meter.meter.start()
        assert meter.post(body()).status_code == 200


def test_an_answer_dearer_than_its_reservation_stops_all_spending(meter: Scene) -> None:
    meter.upstream.steps = [Step(input=10_000_000)]
    assert meter.post(body()).status_code == 200
    assert code(meter.post(body())) == "meter_halted"
    assert "cannot be true" in meter.ledger.reader.paused()
    assert ("meter.halted", meter.upstream.bill) in [(event, fields.get("amount")) for event, fields in meter.log]


def test_the_model_that_answered_is_paid_if_it_is_the_dearer_one_and_reserved_from_then_on(tmp_path: Path) -> None:
    with scene(tmp_path) as meter:
        meter.prove()
        answers = ("", OPUS, HAIKU)
        meter.upstream.steps = [Step(model=model) if model else Step() for model in answers]
        for _ in answers:
            assert meter.post(body()).status_code == 200
        plain, dear = (50 * by + 20 * out for by, out in ((2_000, 10_000), (4_000, 20_000)))
        assert [call.cost for call in meter.calls()] == [plain, dear, plain]
        first, second, third = meter.reserved[-3:]
        assert 2 * first == 2 * second == third


@pytest.mark.parametrize(
    "usage",
    [
        pytest.param({"server_tool_use": {"web_search_requests": 1}}, id="a search that nobody asked for"),
        pytest.param({"service_tier": "priority"}, id="another tier"),
        pytest.param({"speed": "fast"}, id="a dearer speed"),
        pytest.param({"some_new_tokens": 5}, id="a count that we do not know"),
        pytest.param({"input_tokens": -5}, id="nonsense"),
    ],
)
def test_a_count_without_a_price_pauses_spending_at_the_worst_case(meter: Scene, usage: Mapping[str, Any]) -> None:
    meter.upstream.steps = [Step(usage=usage)]
    assert code(meter.post(body())) == "meter_paused"
    assert meter.calls()[0].state == "lost"
    assert meter.calls()[0].cost > 100 * 10_000
    assert code(meter.post(body())) == "meter_paused"


def test_pings_and_events_of_the_future_change_nothing() -> None:
    pieces = [*events(Step(text="abc"), SONNET), b": a comment\n\n"]
    pieces.insert(3, b'event: new\ndata: {"type": "something_new"}\n\n')
    stream = b"".join(pieces).replace(b"\n", b"\r\n")
    reading, splitter = ArrivingMessage(), Splitter()
    for byte in range(len(stream)):
        for _, event in splitter.feed(stream[byte : byte + 1]):
            reading.take(event)
    assert reading.complete
    assert reading.message["content"] == [{"type": "text", "text": "abc"}]


# --- the key, the socket, the start


def test_the_key_is_nowhere_but_in_the_request_to_the_upstream(tmp_path: Path) -> None:
    echo = {"type": "authentication_error", "message": f"the key {KEY} is not valid"}
    with scene(tmp_path, Step(), Step(status=400, error=echo), Step(status=401, error=echo)) as meter:
        for _ in range(4):
            meter.post(body())
        stored = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
        told = repr(meter.log) + repr(meter.meter.__dict__) + repr(dict(os.environ)) + repr(meter.answers)
    assert b"claude-sonnet" in stored
    assert b"is not valid" in stored  # the upstream's words are kept for the owner
    assert KEY.encode() not in stored
    assert KEY not in told


def test_a_short_key_masks_nothing_of_what_is_no_error(tmp_path: Path) -> None:
    with scene(tmp_path, Step(input=151), key="1") as meter:
        answer = meter.post(body(max_tokens=None), path="/v1/messages/count_tokens")
        assert answer.json() == {"input_tokens": 151}


def test_words_of_the_upstream_steer_no_terminal(meter: Scene) -> None:
    steered = {"type": "x", "message": "\x1b[2Jno\n\u202eanswer"}
    meter.upstream.steps = [Step(stop_reason="\x1b[2J\x9b31m\u202eowned"), Step(status=400, error=steered)]
    assert [meter.post(body()).status_code for _ in range(2)] == [200, 400]
    assert meter.calls()[0].stop_reason == "[2J 31m owned"
    assert meter.ledger.last_words(meter.token) == "x  [2Jno answer"


def test_only_our_own_user_can_reach_the_socket(meter: Scene) -> None:
    path = meter.meter.socket
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_path_that_is_too_long_for_a_socket_is_named(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 120) / "meter.sock"
    book = Ledger(new_book(tmp_path / "agents.db"))
    meter = Meter(
        book, Pricing(), lambda: GENEROUS, ManualClock(NOW), MeterSetup(path, Upstream("http://127.0.0.1:9", ""))
    )
    with pytest.raises(Misconfigured, match="107 bytes"):
        meter.start()
    book.close()


def test_what_a_dead_meter_left_open_is_lost_before_the_first_call(tmp_path: Path) -> None:
    book = Ledger(new_book(tmp_path / "agents.db"))
    ticket = book.ticket(book.open_ticket(TicketOrder(Run(1, "coder", DAY), 10**12, (SONNET,), LATER), NOW))
    assert ticket
    rates = Pricing().rates(SONNET, 1_000, NOW)
    assert isinstance(book.reserve(ticket, Ask(SONNET, rates, "v", 1_000, 10), GENEROUS, NOW), Reservation)
    with scene(tmp_path) as meter:
        assert meter.ledger.reader.totals(DAY, 0).reserved == 0
        assert meter.ledger.reader.totals(DAY, 0).lost == 1_000 * 2_500 + 10 * 10_000
    book.close()


def test_tests_may_reach_it_on_the_own_machine_too(tmp_path: Path) -> None:
    with scene(tmp_path, tcp=True) as meter:
        url = f"http://127.0.0.1:{meter.meter.port}/v1/messages"
        assert httpx2.post(url, json=body(), headers={"x-api-key": meter.token}).status_code == 200


def raw_request(meter: Scene, content: Mapping[str, Any]) -> bytes:
    data = json.dumps(content).encode()
    head = f"POST /v1/messages HTTP/1.1\r\nhost: m\r\nx-api-key: {meter.token}\r\ncontent-length: {len(data)}\r\n\r\n"
    return head.encode() + data


def eventually(true: Callable[[], bool]) -> None:
    """What happens after the caller has gone cannot be waited for otherwise."""
    deadline = time.monotonic() + 5
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.005)
