"""What the meter refuses, what it makes of an upstream's errors, and that no caller takes either for a reason to go on.

Each row is one rule. That a refusal has the right form and no forbidden word is looked at for every answer in here.
"""

from __future__ import annotations

import json
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from sisimpur.shared.money.meter import MeterTimeouts
from sisimpur.shared.money.meter.app import AT_ONCE
from sisimpur.shared.money.meter.server import CONNECTIONS
from sisimpur.shared.money.meter.upstream import Vendor
from tests.edges.meter_scene import HI, NOW, Scene, body, code, scene
from tests.edges.upstream import Step


@pytest.fixture(scope="module")
def one_meter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with scene(tmp_path_factory.mktemp("m")) as found:
        yield found


@pytest.fixture
def meter(one_meter: Scene) -> Iterator[Scene]:
    one_meter.ticket()
    yield one_meter
    one_meter.again()


# --- who may call


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/messages"),
        ("GET", "/v1/models"),
        ("POST", "/v1/models"),
        ("POST", "/v1/messages/batches"),
        ("POST", "/v1/complete"),
        ("POST", "/"),
        ("DELETE", "/v1/messages"),
    ],
)
def test_nothing_else_is_served(meter: Scene, method: str, path: str) -> None:
    with meter.client() as client:
        response = client.request(method, f"http://meter{path}", headers={"x-api-key": meter.token})
    assert (response.status_code, code(response)) == (404, "meter_not_found")
    assert meter.upstream.requests == []


@pytest.mark.parametrize("token", ["", "mt-guessed", "sk-ant-the-real-key", "x" * 10_000])
@pytest.mark.parametrize("path", ["/v1/messages", "/v1/messages/count_tokens"])
def test_without_a_ticket_nobody_is_served(meter: Scene, token: str, path: str) -> None:
    response = meter.post(body(), path=path, token=token)
    assert (response.status_code, response.json()["error"]["type"]) == (401, "authentication_error")
    assert meter.upstream.requests == []


def test_a_closed_or_expired_ticket_is_a_400(meter: Scene) -> None:
    meter.ledger.close_ticket(meter.token, NOW)
    assert code(meter.post(body())) == "meter_ticket_closed"
    assert code(meter.post(body(max_tokens=None), path="/v1/messages/count_tokens")) == "meter_ticket_closed"
    assert meter.upstream.requests == []
    meter.ticket(expires=NOW + timedelta(seconds=1))
    assert meter.post(body()).status_code == 200
    meter.clock.set(NOW + timedelta(seconds=1))
    assert code(meter.post(body())) == "meter_ticket_closed"


def test_the_number_of_calls_of_a_run_ends_a_caller_who_goes_round_and_round(meter: Scene) -> None:
    meter.ticket(max_calls=2)
    assert [meter.post(body()).status_code for _ in range(4)] == [200, 200, 400, 400]
    assert [call.code for call in meter.calls()] == ["", "", "meter_call_cap", "meter_call_cap"]


# --- what may be asked

TOOL = {"name": "look", "input_schema": {"type": "object"}}
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": ""}}
REFUSED_BODIES = [
    pytest.param({"max_tokens": None}, "meter_max_tokens", id="no bound for the answer"),
    pytest.param({"max_tokens": 0}, "meter_max_tokens", id="an empty answer"),
    pytest.param({"max_tokens": "100"}, "meter_max_tokens", id="a number as text"),
    pytest.param({"max_tokens": True}, "meter_max_tokens", id="a truth as number"),
    pytest.param({"max_tokens": 10**12}, "meter_max_tokens", id="an absurd bound"),
    pytest.param({"model": None}, "meter_bad_request", id="no model"),
    pytest.param({"model": "claude-opus-4-6"}, "meter_model_not_allowed", id="a model that the ticket is not for"),
    pytest.param({"tool_choice": {"type": "any"}, "tools": [TOOL]}, "meter_forced_tool", id="any tool"),
    pytest.param({"tool_choice": {"type": "tool", "name": "look"}}, "meter_forced_tool", id="this tool"),
    pytest.param({"messages": [HI, {"role": "assistant", "content": "{"}]}, "meter_prefill", id="prefill"),
    pytest.param({"thinking": {"type": "enabled", "budget_tokens": 2000}}, "meter_thinking", id="thinking budget"),
    pytest.param({"thinking": {"type": "disabled"}}, "meter_thinking", id="thinking disabled"),
    pytest.param({"service_tier": "auto"}, "meter_unknown_field", id="another tier"),
    pytest.param({"speed": "fast"}, "meter_unknown_field", id="another speed"),
    pytest.param({"inference_geo": "us"}, "meter_unknown_field", id="another place"),
    pytest.param({"container": "c"}, "meter_unknown_field", id="a container"),
    pytest.param({"mcp_servers": []}, "meter_unknown_field", id="servers of others"),
    pytest.param({"thread": {"id": "t"}}, "meter_unknown_field", id="history kept elsewhere"),
    pytest.param({"fallbacks": ["claude-opus-5-5"]}, "meter_unknown_field", id="another model is billed"),
    pytest.param({"context_management": {}}, "meter_unknown_field", id="context that changes by itself"),
    pytest.param({"n": 5}, "meter_unknown_field", id="several answers"),
    pytest.param({"Overloaded": 1}, "meter_unknown_field", id="a trap as a name"),
    pytest.param({"see://here": 1}, "meter_unknown_field", id="an address as a name"),
    pytest.param({"tools": [{"type": "web_search_20260318", "name": "w"}]}, "meter_unknown_field", id="server tool"),
    pytest.param({"tools": [{"type": "bash_20250124", "name": "b"}]}, "meter_unknown_field", id="a vendor's tool"),
    pytest.param({"tools": [{**TOOL, "defer_loading": True}]}, "meter_unknown_field", id="a tool that comes later"),
    pytest.param({"messages": [{"role": "user", "content": [IMAGE]}]}, "meter_unknown_field", id="an image"),
    pytest.param(
        {"messages": [{"role": "user", "content": [{"type": "document", "source": {"type": "url", "url": "u"}}]}]},
        "meter_unknown_field",
        id="a document that is elsewhere",
    ),
    pytest.param(
        {"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": [IMAGE]}]}]},
        "meter_unknown_field",
        id="an image as a result",
    ),
    pytest.param({"messages": [{"role": "system", "content": "s"}]}, "meter_unknown_field", id="an unknown role"),
    pytest.param({"messages": []}, "meter_bad_request", id="no message"),
    pytest.param({"messages": "hi"}, "meter_bad_request", id="messages as text"),
    pytest.param({"cache_control": {"type": "ephemeral", "ttl": "24h"}}, "meter_unknown_field", id="a long cache"),
    pytest.param({"stream": "yes"}, "meter_bad_request", id="a text as truth"),
    pytest.param({"system": [IMAGE]}, "meter_unknown_field", id="an image as system"),
]


@pytest.mark.parametrize(("change", "expected"), REFUSED_BODIES)
def test_what_has_no_price_or_no_rule_is_refused_before_anything_is_spent(
    meter: Scene, change: Mapping[str, Any], expected: str
) -> None:
    assert code(meter.post(body(**change))) == expected
    assert meter.upstream.requests == []
    assert [(call.state, call.code) for call in meter.calls()] == [("refused", expected)]


@pytest.mark.parametrize("model", ["claude-sonnet-9", "gpt-9", "sonnet", "CLAUDE", "../x"])
def test_an_unknown_model_is_refused_before_anything_is_spent(meter: Scene, model: str) -> None:
    meter.ticket(models=(model,))
    assert code(meter.post(body(model=model))) == "meter_unknown_model"
    assert meter.upstream.requests == []


@pytest.mark.parametrize(
    "headers",
    [
        {"anthropic-beta": "context-1m-2025-08-07"},
        {"anthropic-beta": "claude-code-20250219,fast-mode-2026-02-01"},
        {"anthropic-version": "2030-01-01"},
        {"anthropic-version": ""},
    ],
)
def test_an_unknown_beta_or_version_is_refused(meter: Scene, headers: dict[str, str]) -> None:
    assert code(meter.post(body(), headers=headers)) == "meter_unknown_field"
    assert meter.upstream.requests == []


def _with_schema(schema: bytes) -> bytes:
    return json.dumps(body(tools=[{**TOOL, "input_schema": "SCHEMA"}])).encode().replace(b'"SCHEMA"', schema)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"{", id="half"),
        pytest.param(b"\xff\xfe{}", id="no UTF-8"),
        pytest.param(b"[1, 2]", id="no object"),
        pytest.param(b"null", id="null"),
        pytest.param(_with_schema(b'{"minimum": NaN}'), id="not a number"),
        pytest.param(_with_schema(b'{"maximum": 1e999}'), id="an infinite number"),
        pytest.param(json.dumps(body()).replace('"hi"', '"\\ud800"').encode(), id="half a character"),
        pytest.param(_with_schema(b'{"type": "object", "type": "string"}'), id="a name twice"),
        pytest.param(b"[" * 200_000, id="deep lists"),
        pytest.param(b'{"a":' * 100_000 + b"1" + b"}" * 100_000, id="deep objects"),
        pytest.param(b'{"max_tokens": ' + b"9" * 10_000 + b"}", id="a number without end"),
        pytest.param(b"{" + b",".join(b'"%d":0' % n for n in range(300_000)) + b"}", id="a million names"),
    ],
)
def test_garbage_is_refused(meter: Scene, data: bytes) -> None:
    assert code(meter.post(data)) == "meter_bad_request"
    assert meter.upstream.requests == []


def test_a_million_wrong_messages_make_one_complaint(meter: Scene) -> None:
    assert code(meter.post(body(messages=[1] * 1_000_000))) == "meter_bad_request"


def test_a_body_that_is_too_large_is_a_413(meter: Scene) -> None:
    response = meter.post(body(system="x" * (8 * 1024 * 1024)))
    assert (response.status_code, code(response)) == (413, "meter_too_large")
    assert [call.answered for call in meter.calls()] == [413]


def test_a_body_that_does_not_come_is_not_waited_for(meter: Scene) -> None:
    with socket.socket(socket.AF_UNIX) as caller:
        caller.settimeout(5)
        caller.connect(str(meter.meter.socket))
        head = f"POST /v1/messages HTTP/1.1\r\nhost: m\r\nx-api-key: {meter.token}\r\ncontent-length: 900\r\n\r\n"
        caller.sendall(head.encode() + b'{"model"')
        with caller.makefile("rb") as answer:
            assert b"meter_too_slow" in answer.read()  # to its end: the line is cut


def wait_until(holds: Callable[[], bool], seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


HOLDER = """
import socket, sys
lines = []
for _ in range(int(sys.argv[2])):
    lines.append(socket.socket(socket.AF_UNIX))
    lines[-1].connect(sys.argv[1])
    lines[-1].send(b"POST /v1/messages HTTP/1.1\\r\\n")
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def held_open(path: Path, count: int) -> Iterator[None]:
    """Another process holds so many lines open, with half a request on each."""
    argv = [sys.executable, "-c", HOLDER, str(path), str(count)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout and holder.stdout.readline() == b"held\n"
        yield
        holder.communicate()


def test_who_holds_too_many_lines_open_loses_his_own_and_locks_nobody_out(tmp_path: Path) -> None:
    with scene(tmp_path) as meter, socket.socket(socket.AF_UNIX) as patient:
        patient.connect(str(meter.meter.socket))
        with held_open(meter.meter.socket, CONNECTIONS + 40):
            for _ in range(3):
                assert meter.post(body()).status_code == 200
            patient.settimeout(5)
            patient.sendall(b"GET / HTTP/1.1\r\nhost: m\r\n\r\n")  # older than all of them, and still there
            assert patient.recv(12) == b"HTTP/1.1 404"


def test_one_ticket_has_so_many_requests_under_way_and_others_go_on(tmp_path: Path) -> None:
    with scene(tmp_path) as meter, ExitStack() as lines:
        head = f"POST /v1/messages HTTP/1.1\r\nhost: m\r\nx-api-key: {meter.token}\r\ncontent-length: 900\r\n\r\n"
        for _ in range(AT_ONCE):
            line = lines.enter_context(socket.socket(socket.AF_UNIX))
            line.connect(str(meter.meter.socket))
            line.sendall(head.encode())
        wait_until(lambda: code(meter.post(body())) == "meter_too_many")
        token = meter.token
        assert meter.post(body(), token=meter.ticket()).status_code == 200
        lines.close()
        wait_until(lambda: meter.post(body(), token=token).status_code == 200)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"tools": [TOOL], "tool_choice": {"type": "auto"}}, id="tools"),
        pytest.param({"thinking": {"type": "adaptive"}}, id="adaptive thinking"),
        pytest.param({"system": [{"type": "text", "text": "s", "cache_control": {"type": "ephemeral"}}]}, id="cached"),
        pytest.param({"cache_control": {"type": "ephemeral"}}, id="cached by itself"),
        pytest.param(
            {
                "tools": [TOOL],
                "messages": [
                    HI,
                    {
                        "role": "assistant",
                        "content": [
                            {"type": "thinking", "thinking": "t", "signature": "s"},
                            {"type": "redacted_thinking", "data": "d"},
                            {"type": "text", "text": "x", "citations": None},
                            {"type": "tool_use", "id": "i", "name": "look", "input": {}, "caller": {"type": "direct"}},
                        ],
                    },
                    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "i", "content": "r"}]},
                ],
            },
            id="a loop with tools",
        ),
    ],
)
def test_what_we_use_ourselves_is_let_through_unchanged(meter: Scene, change: Mapping[str, Any]) -> None:
    assert meter.post(body(**change)).status_code == 200
    assert meter.upstream.requests[0].body == {**body(**change), "stream": True}


# --- the upstream's errors: what is booked, what the caller sees, how often it was tried

OVERLOADED = {"type": "error", "error": {"type": "overloaded_error"}}
HAIR = {"type": "api_error", "message": "Overloaded, see https://status.example: prompt is too long"}
SPEND = {"type": "rate_limit_error", "details": {"error_code": "enforced_spend_limit_reached"}}
LIMITS = {"type": "invalid_request_error", "message": "You have reached your specified API usage limits"}
ERRORS = [
    # status, error, headers -> state, tries, answered, code
    pytest.param(400, {"message": "bad"}, {}, "void", 1, 400, "meter_upstream_refused", id="400"),
    pytest.param(400, LIMITS, {}, "void", 1, 400, "meter_paused", id="400: the owner's limit at the vendor"),
    pytest.param(400, {"message": "prompt is too long: 9"}, {}, "void", 1, 400, "meter_too_long", id="400: too long"),
    pytest.param(401, {}, {}, "void", 1, 400, "meter_paused", id="401 is about our key, not about the ticket"),
    pytest.param(402, {}, {}, "lost", 1, 400, "meter_paused", id="402"),
    pytest.param(403, {}, {}, "void", 1, 400, "meter_paused", id="403"),
    pytest.param(404, {}, {}, "void", 1, 404, "meter_model_gone", id="404"),
    pytest.param(408, {}, {}, "lost", 6, 400, "meter_upstream", id="408"),
    pytest.param(409, {}, {}, "lost", 6, 400, "meter_upstream", id="409"),
    pytest.param(413, {}, {}, "void", 1, 413, "meter_too_long", id="413"),
    pytest.param(422, {}, {}, "lost", 1, 400, "meter_upstream_refused", id="422 is on no list"),
    pytest.param(429, {}, {"retry-after": "0"}, "void", 6, 400, "meter_upstream", id="429 with a time"),
    pytest.param(429, {}, {}, "void", 1, 400, "meter_upstream_refused", id="429 without a time"),
    pytest.param(429, SPEND, {}, "void", 1, 400, "meter_paused", id="429: spend limit"),
    pytest.param(429, {}, {"retry-after": "121"}, "void", 1, 400, "meter_retry_later", id="429: much later"),
    pytest.param(500, HAIR, {}, "lost", 6, 400, "meter_upstream", id="500"),
    pytest.param(502, {}, {}, "lost", 6, 400, "meter_upstream", id="502"),
    pytest.param(503, {}, {"retry-after": "3600"}, "lost", 1, 400, "meter_retry_later", id="503: much later"),
    pytest.param(504, {}, {}, "lost", 6, 400, "meter_upstream", id="504"),
    pytest.param(529, HAIR, {}, "lost", 6, 400, "meter_upstream", id="529"),
    pytest.param(
        302, {}, {"location": "http://127.0.0.1:1/"}, "lost", 1, 400, "meter_upstream_refused", id="no redirect"
    ),
]


@pytest.mark.parametrize(("status", "error", "headers", "state", "tries", "answered", "expected"), ERRORS)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_the_upstreams_errors_have_their_row(
    meter: Scene,
    status: int,
    error: Mapping[str, Any],
    headers: Mapping[str, str],
    state: str,
    tries: int,
    answered: int,
    expected: str,
    stream: bool,
) -> None:
    meter.upstream.script = lambda request: Step(status=status, error=error, headers=headers)
    response = meter.post(body(stream=stream))
    calls = meter.calls()
    assert (response.status_code, code(response)) == (answered, expected)
    assert [call.state for call in calls] == [state] * tries
    assert [call.answered for call in calls] == [None] * (tries - 1) + [answered]
    assert [call.retry for call in calls] == list(range(tries))
    assert all(call.status == status and (call.cost > 0) == (state == "lost") for call in calls)
    assert bool(meter.ledger.reader.paused()) == (expected == "meter_paused")


def test_a_later_time_is_told(meter: Scene) -> None:
    """Also to a run that would have the patience: its task can wait better than its box."""
    meter.ticket(retry_s=10_000)
    for text in ("600", "Fri, 20 Nov 2026 12:10:00 GMT"):
        meter.upstream.steps = [Step(status=529, headers={"retry-after": text})]
        assert meter.post(body()).json()["error"]["details"]["not_before"] == "2026-11-20T12:10:00+00:00"


def test_a_short_storm_is_waited_out_and_the_caller_sees_nothing_of_it(meter: Scene) -> None:
    meter.upstream.steps = [
        Step(status=529),
        Step(status=429, headers={"retry-after": "0.01"}),
        Step(no_answer=True),
        Step(broken_event={"type": "error", "error": {"type": "overloaded_error"}}, hold_after=3),
    ]
    assert meter.post(body()).json()["content"][0]["text"] == "fine"
    assert [call.state for call in meter.calls()] == ["lost", "void", "lost", "lost", "settled"]


def test_a_storm_that_outlasts_the_runs_patience_ends_it(meter: Scene) -> None:
    meter.ticket(retry_s=0)
    meter.upstream.script = lambda request: Step(status=529)
    assert code(meter.post(body())) == "meter_upstream"
    assert len(meter.calls()) <= 2  # the first wait may be drawn as nothing


def test_each_repetition_needs_its_own_money(meter: Scene) -> None:
    """A failed try stays booked at its prompt, $0.003 at most: a run of $0.006 pays two of them and no third."""
    meter.ticket(budget="0.006")
    meter.upstream.script = lambda request: Step(status=500)
    answer = meter.post(body())
    assert code(answer) == "meter_unrepeated"
    assert "failing (500), and it is not asked again: budget of this run reached" in answer.text
    assert meter.calls()[-1].code == "meter_ticket_cap"
    assert [call.state for call in meter.calls()] == ["lost", "lost", "refused"]


def test_an_error_before_the_first_event_is_booked_at_its_prompt_and_nothing_where_the_vendor_says_so(
    tmp_path: Path,
) -> None:
    errors = [Step(status=529), Step(status=503), Step(broken_event=OVERLOADED, hold_after=0)]
    for vendor, states in ((Vendor(), ["lost"] * 3), (Vendor(errors_free=True), ["void"] * 3)):
        folder = tmp_path / str(vendor.errors_free)
        folder.mkdir()
        with scene(folder, *errors, vendor=vendor) as meter:
            assert meter.post(body(max_tokens=16_000)).status_code == 200
            calls = meter.calls()
            assert [call.state for call in calls] == [*states, "settled"]
            assert all(call.cost <= 1_300 * 2_500 for call in calls[:3])


def test_before_the_second_try_there_is_a_pause(tmp_path: Path) -> None:
    patience = MeterTimeouts(first=0.4, longest=0.4)
    with scene(tmp_path, Step(status=529), patience=patience) as meter:
        began = time.monotonic()
        assert meter.post(body()).status_code == 200
        assert time.monotonic() - began >= 0.2


def test_a_model_that_is_known_as_away_is_asked_once_until_it_answers(meter: Scene) -> None:
    meter.upstream.script = lambda request: Step(status=529)
    for tries in (6, 1, 1):
        meter.ticket()
        assert code(meter.post(body())) == "meter_upstream"
        assert len(meter.calls()) == tries
    meter.upstream.steps = [Step()]
    assert meter.post(body()).status_code == 200
    meter.ticket()
    meter.post(body())
    assert len(meter.calls()) == 6


def test_an_upstream_that_is_not_there_costs_nothing(tmp_path: Path) -> None:
    with scene(tmp_path) as meter:
        meter.upstream.__exit__()
        assert code(meter.post(body())) == "meter_upstream"
        assert [call.state for call in meter.calls()] == ["void"] * 6


def test_a_pause_stops_everybody_until_it_is_over(meter: Scene) -> None:
    meter.upstream.steps = [Step(status=401)]
    meter.post(body())
    assert "ANTHROPIC_API_KEY" in meter.ledger.reader.paused()
    other = meter.ticket()
    assert code(meter.post(body(), token=other)) == "meter_paused"
    assert code(meter.post(body(max_tokens=None), path="/v1/messages/count_tokens")) == "meter_paused"
    assert len(meter.upstream.requests) == 1
    meter.ledger.resume()
    assert meter.post(body(), token=other).status_code == 200


def test_an_error_while_counting_is_a_refusal_too(meter: Scene) -> None:
    meter.upstream.steps = [Step(status=529, error=HAIR), Step(status=404)]
    counting = [meter.post(body(max_tokens=None), path="/v1/messages/count_tokens") for _ in range(2)]
    assert [answer.status_code for answer in counting] == [400, 404]


def test_a_book_that_cannot_be_written_lets_nothing_through(tmp_path: Path) -> None:
    with scene(tmp_path) as meter:
        with sqlite3.connect(tmp_path / "agents.db") as other:
            other.execute("drop table budget_warnings")
            other.execute("alter table calls rename to gone")
        other.close()
        assert code(meter.post(body())) == "meter_bug"
        assert meter.upstream.requests == []
        assert [event for event, _ in meter.log] == ["meter.bug"]
