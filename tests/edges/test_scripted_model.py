"""The scripted model: the live API's wire format, refusals, counts and bill, with answers from a script."""

from __future__ import annotations

import itertools
import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.shared.model.errors import Misconfigured, TeamError
from sisimpur.shared.system.clock import ManualClock
from sisimpur.simulators.model.request import Request
from sisimpur.simulators.model.script import Asked, Script, read_script, script_of
from sisimpur.simulators.model.scripted_model import ScriptedModel

ROOT = Path(__file__).parents[2]
MORNING = datetime(2026, 11, 20, 7, tzinfo=UTC)
NEW, OLD = "2026-10-21", "2023-06-01"
HEADERS = {"x-api-key": "k", "anthropic-version": NEW}
HELLO: Mapping[str, Any] = {"text": "hello", "times": "any"}
LAW = re.compile(r"message_start ping (content_block_start (content_block_delta )*content_block_stop )*"
                 r"message_delta message_stop")  # fmt: skip


@pytest.fixture(scope="module")
def one_server() -> Iterator[ScriptedModel]:
    with ScriptedModel([], clock=ManualClock(MORNING)) as model:
        yield model


@pytest.fixture
def model(one_server: ScriptedModel) -> ScriptedModel:
    one_server.play([HELLO])
    one_server.requests.clear()
    return one_server


def body(user: str = "Say hello.", **fields: Any) -> dict[str, Any]:
    """A request; a field given as None is left out."""
    fields = {"model": "claude-sonnet-5-5", "max_tokens": 1000} | fields
    messages = fields.pop("messages", [{"role": "user", "content": user}])
    return {key: value for key, value in {**fields, "messages": messages}.items() if value is not None}


def post(url: str, request: object, headers: Mapping[str, str], timeout: float = 5) -> httpx2.Response:
    return httpx2.post(
        url, json=request, headers=headers, timeout=timeout, verify=False
    )  # loading certificates is slow


def ask(model: ScriptedModel, request: object = None, path: str = "/v1/messages", **headers: str) -> httpx2.Response:
    sent = HEADERS | {name.replace("_", "-"): value for name, value in headers.items()}
    return post(model.url + path, body() if request is None else request, sent)


def stream(model: ScriptedModel, request: dict[str, Any] | None = None) -> list[tuple[str, dict[str, Any]]]:
    answer = ask(model, {**(request or body()), "stream": True})
    assert answer.headers["content-type"] == "text/event-stream"
    found = re.findall(r"event: (\w+)\ndata: (.*)\n\n", answer.text)
    assert all(name == json.loads(data)["type"] for name, data in found)
    return [(name, json.loads(data)) for name, data in found]


def reassembled(events: list[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    """What a client makes of a stream."""
    whole: dict[str, Any] = {}
    written: dict[int, str] = {}
    for name, event in events:
        if name == "message_start":
            whole = event["message"]
        elif name == "content_block_start":
            whole["content"].append(event["content_block"])
        elif name == "content_block_delta":
            kind, *_, told = event["delta"].values()
            if kind == "input_json_delta":
                written[event["index"]] = written.get(event["index"], "") + told
            else:
                whole["content"][event["index"]][kind.removesuffix("_delta")] += told
        elif name == "message_delta":
            whole |= event["delta"]
            whole["usage"] |= event["usage"]
    for index, text in written.items():
        whole["content"][index]["input"] = json.loads(text)
    return whole


# --- the wire ------------------------------------------------------------------------------------------------

BLOCKS = st.lists(
    st.one_of(
        st.builds(lambda text: {"type": "text", "text": text}, st.text(max_size=200)),
        st.builds(lambda text: {"type": "thinking", "thinking": text}, st.text(max_size=200)),
        st.builds(
            lambda given: {"type": "tool_use", "name": "look", "input": given},
            st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=99), max_size=3),
        ),
    ),
    min_size=1,
    max_size=4,
)


@given(blocks=BLOCKS)
def test_a_stream_keeps_the_order_of_the_live_api_and_tells_the_same_as_one_answer(
    one_server: ScriptedModel, blocks: list[dict[str, Any]]
) -> None:
    one_server.play([{"blocks": blocks, "times": "any"}])
    events = stream(one_server)
    assert LAW.fullmatch(" ".join(name for name, _ in events))
    assert events[0][1]["message"]["usage"]["output_tokens"] == 1  # as the live API begins to count
    told, whole = reassembled(events), ask(one_server).json()
    for answer in (told, whole):
        assert answer.pop("id").startswith("msg_")
        for block in answer["content"]:
            block.pop("id", None)
    assert told == whole


@pytest.mark.parametrize(
    ("headers", "path"),
    [
        pytest.param({"x-api-key": "k", "anthropic-version": OLD}, "/v1/messages", id="as litellm asks"),
        pytest.param({"authorization": "Bearer k", "anthropic-version": NEW}, "/v1/messages", id="as SDK 2.x asks"),
        pytest.param({"x-api-key": "k", "anthropic-version": NEW}, "/r/42/v1/messages", id="below a path prefix"),
    ],
)
def test_every_client_is_answered(model: ScriptedModel, headers: dict[str, str], path: str) -> None:
    answer = post(model.url + path, body(), headers)
    assert answer.json()["content"][0]["text"] == "hello"
    assert answer.headers["request-id"].startswith("req_")
    assert "anthropic-ratelimit-requests-limit" in answer.headers


def test_the_official_client_reads_a_streamed_answer(model: ScriptedModel) -> None:
    import anthropic

    with (
        anthropic.Anthropic(api_key="k", base_url=model.url, max_retries=0) as client,
        client.messages.stream(**body()) as told,
    ):
        message = told.get_final_message()
    assert [block.text for block in message.content if block.type == "text"] == ["hello"]
    assert (message.stop_reason, message.usage.output_tokens) == ("end_turn", 2)


def test_every_request_is_recorded(model: ScriptedModel) -> None:
    ask(model, path="/r/7/v1/messages")
    (seen,) = model.requests
    assert (seen.path, seen.headers["x-api-key"], seen.body) == ("/r/7/v1/messages", "k", body())
    assert (seen.step, seen.status, seen.usage["input_tokens"]) == ("script, step 1", 200, 4)


def test_a_call_takes_no_noticeable_time(model: ScriptedModel) -> None:
    times = []
    with httpx2.Client(verify=False) as client:
        for _ in range(50):
            began = time.monotonic()
            client.post(f"{model.url}/v1/messages", json=body(), headers=HEADERS)
            times.append(time.monotonic() - began)
    assert sorted(times)[25] < 0.035  # each takes 40 ms if small packets wait for each other


def test_only_this_machine_can_ask(model: ScriptedModel) -> None:
    assert model.url.startswith("http://127.0.0.1:")


def test_models_are_listed_with_the_end_of_their_lives(model: ScriptedModel) -> None:
    listed = {entry["id"]: entry for entry in httpx2.get(f"{model.url}/v1/models", verify=False).json()["data"]}
    assert listed["claude-sonnet-5-5"]["lifecycle"] == "active"
    assert listed["claude-sonnet-4-5"]["retires_at"] == "2026-11-30T00:00:00Z"
    assert httpx2.get(f"{model.url}/v1/models/claude-haiku-5-5", verify=False).json() == listed["claude-haiku-5-5"]
    assert httpx2.get(f"{model.url}/v1/models/claude-1", verify=False).status_code == 404


def test_counting_tokens_is_free_and_agrees_with_the_bill(model: ScriptedModel) -> None:
    counted = ask(model, body(max_tokens=None), "/v1/messages/count_tokens").json()
    assert model.requests == []
    assert counted == {"input_tokens": ask(model).json()["usage"]["input_tokens"]}


# --- what is refused -----------------------------------------------------------------------------------------

FORM = {"type": "json_schema", "schema": {"type": "object", "properties": {}, "additionalProperties": False}}
USER = {"role": "user", "content": "Say hello."}


def form(**schema: Any) -> dict[str, Any]:
    return {"format": FORM | {"schema": {**FORM["schema"], **schema}}}  # type: ignore[dict-item]


def marked(*lives: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral", "ttl": life}} for life in lives]


REFUSED = [
    pytest.param(body(temperature=0.0), {}, "`temperature` is deprecated", id="temperature"),
    pytest.param(body(top_p=1.0), {}, "`top_p` is deprecated", id="top_p"),
    pytest.param(body(top_k=1, model="claude-sonnet-4-6"), {}, "`top_k`", id="sampling: new API, also an old model"),
    pytest.param(body(temperature=0.0), {"anthropic_version": OLD}, "`temperature`", id="sampling: old API, new model"),
    pytest.param(body(tools=[{"name": "t"}], tool_choice={"type": "any"}), {}, "tool_choice", id="forced tool"),
    pytest.param(body(tools=[{"name": "t"}], tool_choice={"type": "tool", "name": "t"}), {}, "tool_choice", id="one"),
    pytest.param(body(messages=[USER, {"role": "assistant", "content": "{"}]), {}, "prefill", id="prefill"),
    pytest.param(body(thinking={"type": "enabled", "budget_tokens": 2000}), {}, "thinking.type.enabled", id="budget"),
    pytest.param(body(thinking={"type": "disabled"}), {}, "thinking.type.disabled", id="thinking disabled"),
    pytest.param(body(max_tokens=None), {}, "max_tokens: Field required", id="no max_tokens"),
    pytest.param(body(max_tokens=128_001), {}, "128000", id="max_tokens beyond the model's"),
    pytest.param(body(messages=[]), {}, "messages", id="no message"),
    pytest.param(body(messages=[{"role": "system", "content": "x"}]), {}, "messages.0.role", id="a system message"),
    pytest.param(body(messages=[{"role": "assistant", "content": "x"}, USER]), {}, "first message", id="answer first"),
    pytest.param(body(""), {}, "non-empty", id="empty message"),
    pytest.param(body(system=[{"type": "text", "text": ""}]), {}, "non-empty", id="empty block"),
    pytest.param(body(surprise=1), {}, "surprise: Extra inputs", id="unknown field"),
    pytest.param(body(thread={"id": "t"}), {}, "thread: Extra inputs", id="server-side thread"),
    pytest.param(body(output_format=FORM), {}, "output_format", id="beta field without its header"),
    pytest.param(body(output_config={"effort": "huge"}), {}, "output_config.effort", id="unknown effort"),
    pytest.param(body(output_config=form(additionalProperties=True)), {}, "additionalProperties", id="open form"),
    pytest.param(body(output_config=form(minLength=1)), {}, "'minLength' is not supported", id="limit in a form"),
    pytest.param(
        body(output_config=form(properties={f"p{n}": {"type": "string"} for n in range(25)})),
        {}, "25 optional parameters, the limit is 24", id="too many optional parameters",
    ),
    pytest.param(
        body(output_config=form(properties={f"p{n}": {"anyOf": []} for n in range(17)})),
        {}, "17 parameters with union types, the limit is 16", id="too many unions",
    ),
    pytest.param(body(system=marked(*["5m"] * 5)), {}, "maximum of 4", id="too many cache marks"),
    pytest.param(body(system=marked("5m", "1h")), {}, "must not come after", id="long cache life after a short one"),
    pytest.param(
        body(messages=[USER, {"role": "assistant", "content": [{"type": "document"}]}, USER]),
        {}, "document blocks", id="document in an assistant turn",
    ),
    pytest.param(
        body(messages=[{"role": "user", "content": [{"type": "text", "text": "x", "citations": [1]}]}]),
        {}, "citations", id="citations in user text",
    ),
    pytest.param("text", {}, "request body", id="not an object"),
    pytest.param(body(), {"anthropic_version": "2020-01-01"}, "anthropic-version", id="unknown version"),
]  # fmt: skip


@pytest.mark.parametrize(("request_body", "headers", "says"), REFUSED)
def test_what_the_live_api_refuses_is_refused(
    model: ScriptedModel, request_body: object, headers: dict[str, str], says: str
) -> None:
    answer = ask(model, request_body, **headers)
    told = answer.json()
    assert (answer.status_code, told["type"], told["error"]["type"]) == (400, "error", "invalid_request_error")
    assert says in told["error"]["message"]
    assert told["request_id"] == answer.headers["request-id"]
    assert model.billed == 0


@pytest.mark.parametrize(
    ("request_body", "headers", "status", "kind"),
    [
        pytest.param(body(model="claude-9"), {}, 404, "not_found_error", id="unknown model"),
        pytest.param(body(), {"x_api_key": ""}, 401, "authentication_error", id="no key"),
        pytest.param(body("x" * (32 << 20)), {}, 413, "request_too_large", id="more than 32 MB"),
    ],
)
def test_other_refusals_have_their_own_status(
    model: ScriptedModel, request_body: object, headers: dict[str, str], status: int, kind: str
) -> None:
    answer = ask(model, request_body, **headers)
    assert (answer.status_code, answer.json()["error"]["type"]) == (status, kind)


def test_a_retired_model_is_gone() -> None:
    with ScriptedModel([HELLO], clock=ManualClock(datetime(2026, 11, 30, tzinfo=UTC))) as model:
        assert ask(model, body(model="claude-sonnet-4-5")).status_code == 404


@pytest.mark.parametrize(
    ("request_body", "headers"),
    [
        pytest.param(body(thinking={"type": "adaptive"}), {}, id="adaptive thinking"),
        pytest.param(body(tools=[{"name": "t"}], tool_choice={"type": "auto"}), {}, id="a free choice of tools"),
        pytest.param(body(output_config={"effort": "low", **form()}), {}, id="form and effort"),
        pytest.param(body(temperature=0.0, model="claude-sonnet-4-6"), {"anthropic_version": OLD}, id="old model, API"),
        pytest.param(
            body(thinking={"type": "enabled", "budget_tokens": 1024}, max_tokens=2000, model="claude-haiku-4-5"),
            {}, id="a thinking budget for an old model",
        ),
        pytest.param(body(output_format=FORM), {"anthropic_beta": "structured-outputs-2025-11-13"}, id="beta field"),
        pytest.param(body(system=marked("1h", "5m", "5m"), cache_control={"type": "ephemeral"}), {}, id="four marks"),
    ],
)  # fmt: skip
def test_what_the_live_api_takes_is_taken(
    model: ScriptedModel, request_body: dict[str, Any], headers: dict[str, str]
) -> None:
    assert ask(model, request_body, **headers).status_code == 200


# --- faults --------------------------------------------------------------------------------------------------


def test_a_scripted_error_has_its_status_headers_and_details(model: ScriptedModel) -> None:
    error = {"message": "busy", "details": {"error_code": "enforced_spend_limit_reached"}}
    model.play([{"status": 429, "error": error, "headers": {"retry-after": "2"}}, {"status": 529}])
    first, second = ask(model), ask(model)
    assert (first.status_code, first.headers["retry-after"]) == (429, "2")
    assert first.json()["error"] == {"type": "rate_limit_error", **error}
    assert (second.status_code, second.json()["error"]["type"]) == (529, "overloaded_error")
    assert model.billed == 0


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("drop", ["before", "after 3"])
def test_a_dropped_connection_is_billed_all_the_same(model: ScriptedModel, drop: str, streamed: bool) -> None:
    model.play([{"text": "x" * 400, "drop": drop}])
    with pytest.raises(httpx2.RemoteProtocolError):
        ask(model, body(stream=streamed))
    assert model.billed == (4 * 2_000 + 100 * 10_000)


def test_a_drop_comes_after_the_events_it_names(model: ScriptedModel) -> None:
    model.play([{"text": "x" * 400, "drop": "after 5"}])
    lines: list[str] = []
    with (
        pytest.raises(httpx2.RemoteProtocolError),
        httpx2.stream(
            "POST", f"{model.url}/v1/messages", json=body(stream=True), headers=HEADERS, verify=False
        ) as answer,
    ):
        lines.extend(answer.iter_lines())
    assert sum(line.startswith("event: ") for line in lines) == 5


def test_an_error_in_mid_stream_ends_it(model: ScriptedModel) -> None:
    model.play([{"text": "x" * 400, "error_event": {"type": "api_error", "message": "oh", "after": 4}}])
    events = stream(model)
    assert [name for name, _ in events][3:] == ["content_block_delta", "error"]
    assert events[-1][1]["error"] == {"type": "api_error", "message": "oh"}


def test_an_error_in_mid_stream_is_a_plain_error_to_who_does_not_stream(model: ScriptedModel) -> None:
    model.play([{"text": "x", "error_event": {}}])
    assert ask(model).status_code == 529


def test_a_caller_that_hangs_up_while_it_waits_is_noticed_and_billed(model: ScriptedModel) -> None:
    model.play([{"text": "x" * 40, "delay": 600}, HELLO])
    with pytest.raises(httpx2.ReadTimeout):
        post(f"{model.url}/v1/messages", body(), HEADERS, timeout=0.2)
    ask(model)  # answered after the server noticed: one loop serves both
    assert (model.requests[0].gone, model.requests[0].billed > 0) == (True, True)


def test_a_gap_between_events_shows_who_hangs_up_in_between(model: ScriptedModel) -> None:
    model.play([{"text": "x", "gap": 60}, HELLO])
    with httpx2.stream(
        "POST", f"{model.url}/v1/messages", json=body(stream=True), headers=HEADERS, verify=False
    ) as answer:
        assert next(answer.iter_lines()) == "event: message_start"
    ask(model)
    assert model.requests[0].gone


def test_a_server_stops_at_once_though_callers_wait() -> None:
    with ScriptedModel([{"text": "x", "delay": 600}]) as model, pytest.raises(httpx2.ReadTimeout):
        post(f"{model.url}/v1/messages", body(), HEADERS, timeout=0.2)


@pytest.mark.parametrize(
    ("step", "max_tokens", "text", "reason"),
    [
        pytest.param({"text": "abcdefgh"}, 2, "abcdefgh", "end_turn", id="just fits"),
        pytest.param({"text": "abcdefghi"}, 2, "abcdefgh", "max_tokens", id="is cut"),
        pytest.param({"text": "€€€€€€"}, 1, "€", "max_tokens", id="never inside a character"),
        pytest.param({"text": "abc", "stop_reason": "max_tokens"}, 9, "abc", "max_tokens", id="as scripted"),
        pytest.param({"json": {"a": "é"}}, 9, '{"a": "é"}', "end_turn", id="json"),
    ],
)
def test_an_answer_is_never_longer_than_was_asked_for(
    model: ScriptedModel, step: dict[str, Any], max_tokens: int, text: str, reason: str
) -> None:
    model.play([step])
    answer = ask(model, body(max_tokens=max_tokens)).json()
    assert (answer["content"][0]["text"], answer["stop_reason"]) == (text, reason)
    assert answer["usage"]["output_tokens"] <= max_tokens


def test_a_refusal_is_a_good_answer_without_content(model: ScriptedModel) -> None:
    model.play([{"stop_reason": "refusal"}])
    answer = ask(model).json()
    assert (answer["content"], answer["stop_details"]["type"]) == ([], "refusal")


# --- counts and bill -----------------------------------------------------------------------------------------

LONG = "x" * 4 * 1_100


def cached(user: str = "Say hello.", life: str = "5m", system: str = LONG, **fields: Any) -> dict[str, Any]:
    marks = [{"type": "text", "text": system, "cache_control": {"type": "ephemeral", "ttl": life}}]
    return body(user, system=marks, **fields)


def counts(answer: httpx2.Response) -> tuple[int, int, int]:
    usage = answer.json()["usage"]
    return usage["input_tokens"], usage["cache_creation_input_tokens"], usage["cache_read_input_tokens"]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(MORNING)


@pytest.fixture
def fresh(clock: ManualClock) -> Iterator[ScriptedModel]:
    with ScriptedModel([HELLO], clock=clock) as model:
        yield model


PREFIX = 1_102  # tokens of "system: " and LONG


@pytest.mark.parametrize(
    ("second", "later", "read"),
    [
        pytest.param(cached("Another question."), 4, PREFIX, id="within five minutes"),
        pytest.param(cached("Another question."), 5, 0, id="after five minutes"),
        pytest.param(cached(effort := "Say hello.", output_config={"effort": "low"}), 0, 0, id="another effort"),
        pytest.param(cached(output_config=form()), 0, 0, id="another form"),
        pytest.param(cached(model="claude-opus-5-5"), 0, 0, id="another model"),
        pytest.param(cached(system="y" + LONG), 0, 0, id="another first letter"),
        pytest.param(cached(tools=[{"name": "t"}]), 0, 0, id="tools stand before the system prompt"),
        pytest.param(body(system=LONG), 0, 0, id="nothing is marked"),
    ],
)
def test_a_marked_prefix_is_read_from_the_cache(
    fresh: ScriptedModel, clock: ManualClock, second: dict[str, Any], later: int, read: int
) -> None:
    assert counts(ask(fresh, cached())) == (4, PREFIX, 0)
    clock.set(MORNING + timedelta(minutes=later))
    assert counts(ask(fresh, second))[2] == read


def test_a_use_renews_the_life_of_a_prefix(fresh: ScriptedModel, clock: ManualClock) -> None:
    for minutes in (0, 4, 8, 12):
        clock.set(MORNING + timedelta(minutes=minutes))
        last = counts(ask(fresh, cached()))
    assert last[2] == PREFIX


def test_a_use_from_further_on_renews_a_prefix_too(fresh: ScriptedModel, clock: ManualClock) -> None:
    for minutes, question in (
        (0, cached()),
        (4, body(system=LONG, cache_control={"type": "ephemeral"})),
        (8, cached()),
    ):
        clock.set(MORNING + timedelta(minutes=minutes))
        last = counts(ask(fresh, question))
    assert last[2] == PREFIX


def test_an_hour_is_counted_apart(fresh: ScriptedModel, clock: ManualClock) -> None:
    usage = ask(fresh, cached(life="1h")).json()["usage"]
    assert usage["cache_creation"] == {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": PREFIX}
    clock.set(MORNING + timedelta(minutes=59))
    assert counts(ask(fresh, cached(life="1h")))[2] == PREFIX


@pytest.mark.parametrize(
    ("name", "least"), [("claude-opus-5", 512), ("claude-sonnet-5-5", 1_024), ("claude-haiku-5-5", 4_096)]
)
def test_a_prefix_shorter_than_the_models_least_is_not_cached(fresh: ScriptedModel, name: str, least: int) -> None:
    long, short = "x" * (4 * least - 8), "x" * (4 * least - 12)
    assert counts(ask(fresh, cached(model=name, system=long)))[1] == least
    assert counts(ask(fresh, cached(model=name, system=short)))[1] == 0


@pytest.mark.parametrize(("more", "read"), [(19, PREFIX), (20, 0)])
def test_a_kept_prefix_is_found_within_twenty_blocks(fresh: ScriptedModel, more: int, read: int) -> None:
    ask(fresh, cached())
    parts = [{"type": "text", "text": str(n)} for n in range(more)]
    parts[-1] |= {"cache_control": {"type": "ephemeral"}}  # type: ignore[dict-item]
    assert counts(ask(fresh, body(system=LONG, messages=[{"role": "user", "content": parts}])))[2] == read


def test_a_mark_on_the_whole_request_caches_the_growing_history(fresh: ScriptedModel) -> None:
    talk: list[dict[str, Any]] = [{"role": "user", "content": LONG}]
    ask(fresh, body(messages=talk, cache_control={"type": "ephemeral"}))
    talk += [{"role": "assistant", "content": "hello"}, {"role": "user", "content": "Go on."}]
    told = counts(ask(fresh, body(messages=talk, cache_control={"type": "ephemeral"})))
    assert told[0] == 0
    assert told[2] > 1_100


def test_the_bill_is_the_vendors(fresh: ScriptedModel) -> None:
    ask(fresh, cached())
    assert fresh.billed == 4 * 2_000 + PREFIX * 2_500 + 2 * 10_000
    ask(fresh, cached())
    assert fresh.requests[1].billed == 4 * 2_000 + PREFIX * 100 + 2 * 10_000


def test_counts_can_be_scripted(model: ScriptedModel) -> None:
    model.play([{"text": "x", "usage": {"input_tokens": 1_000_000}}])
    assert ask(model).json()["usage"]["input_tokens"] == 1_000_000
    assert model.billed == 2_000_000_000 + 10_000


# --- which step answers --------------------------------------------------------------------------------------

AIDER = "Act as an expert software developer.\nDescribe each change with a *SEARCH/REPLACE block*."
AIDERS_TALK = [
    USER | {"content": "Refactor hello() into its own file."},
    {"role": "assistant", "content": "Ok."},
    USER | {"content": "I switched to a new code base. Please don't consider the above files"},
    {"role": "assistant", "content": "Ok."},
    USER | {"content": "I have *added these files to the chat*\nhello.py"},
    {"role": "assistant", "content": "Ok."},
    USER | {"content": "Task: a farewell"},
]
PLANNER = "You are the Planner of a small team.\nYou write SEARCH plans."
TITLED: dict[str, Any] = {"output_config": form(title="Plan", properties={"tasks": {"type": "array", "items": {}}})}


def answered(script: Script, request: dict[str, Any]) -> str:
    """The text of the step that answers, or why there is none."""
    step = script.answer(Asked.by(Request.model_validate(request)))
    return step if isinstance(step, str) else step.text or ""


@pytest.mark.parametrize(
    ("conditions", "request_body", "fits"),
    [
        pytest.param({}, body(), True, id="no condition fits all"),
        pytest.param({"agent": "planner"}, body(system=PLANNER), True, id="agent: its system prompt says so"),
        pytest.param({"agent": "planner"}, body(system="You are the Planners' enemy"), False, id="agent: a whole word"),
        pytest.param({"agent": "planner"}, body(system=f"Hi. {PLANNER}"), False, id="agent: in the first line"),
        pytest.param({"agent": "engine"}, body(system=AIDER), True, id="engine: it speaks of edit blocks"),
        pytest.param({"agent": "engine"}, body(system=PLANNER), False, id="engine: the planner does not"),
        pytest.param({"task": "hel+o"}, body(), True, id="task: a regular expression in the user's text"),
        pytest.param({"task": "farewell"}, body(messages=AIDERS_TALK), True, id="task: behind Aider's examples"),
        pytest.param({"task": "hello"}, body(messages=AIDERS_TALK), False, id="task: not in Aider's examples, files"),
        pytest.param(
            {"task": "farewell"},
            body(messages=[*AIDERS_TALK, {"role": "assistant", "content": "?"}, USER | {"content": "did not match"}]),
            True, id="task: also when Aider asks again",
        ),
        pytest.param(
            {"when": {"user": "farewell"}},
            body(messages=[*AIDERS_TALK, {"role": "assistant", "content": "?"}, USER | {"content": "did not match"}]),
            False, id="user: only the last message",
        ),
        pytest.param({"when": {"system": "small team"}}, body(system=PLANNER), True, id="system"),
        pytest.param({"when": {"model": "haiku"}}, body(), False, id="model"),
        pytest.param({"when": {"schema": "Plan"}}, body(**TITLED), True, id="schema: by its title"),
        pytest.param({"when": {"schema": "tasks"}}, body(**TITLED), True, id="schema: by a property"),
        pytest.param({"when": {"schema": "Verdict"}}, body(**TITLED), False, id="schema: another form"),
        pytest.param({"agent": "planner", "task": "bye"}, body(system=PLANNER), False, id="all conditions must fit"),
    ],
)  # fmt: skip
def test_a_step_fits_by_what_the_request_says(
    conditions: dict[str, Any], request_body: dict[str, Any], fits: bool
) -> None:
    assert (answered(script_of([{**conditions, "text": "mine"}]), request_body) == "mine") is fits


def replies(steps: Sequence[Mapping[str, Any]], *users: str) -> list[str]:
    script = script_of(steps)
    return [answered(script, body(user)) for user in users]


def test_steps_of_one_rule_answer_in_the_order_of_the_file() -> None:
    assert replies([{"text": "1", "times": 2}, {"text": "2"}], "a", "b", "c") == ["1", "1", "2"]


def test_a_step_can_name_its_call() -> None:
    steps: list[dict[str, Any]] = [{"text": "a", "times": 2}, {"text": "b", "call": 2}, {"text": "c", "times": "any"}]
    assert replies(steps, *"12345") == ["a", "b", "a", "c", "c"]


def test_the_rule_with_more_conditions_goes_before_the_general_one() -> None:
    steps = [{"text": "all", "times": "any"}, {"task": "b", "text": "b's"}]
    assert replies(steps, "a", "b") == ["all", "b's"]


def test_a_rule_that_is_used_up_does_not_fall_back_on_another() -> None:
    told = replies([{"text": "all", "times": "any"}, {"task": "b", "text": "b's"}], "b", "b")[1]
    assert (
        told == "the step at script, step 2 has no answer left for this call of unknown agent (claude-sonnet-5-5): 'b'"
    )


@given(order=st.permutations([("alpha", n) for n in range(3)] + [("beta", n) for n in range(3)]))
def test_what_a_task_is_answered_does_not_depend_on_its_neighbours(order: list[tuple[str, int]]) -> None:
    steps = [{"task": task, "text": f"{task} {n}"} for n, task in itertools.product(range(3), ("alpha", "beta"))]
    users = [task for task, _ in order]
    told = replies(steps, *users)
    for task in ("alpha", "beta"):
        mine = [text for user, text in zip(users, told, strict=True) if user == task]
        assert mine == [f"{task} {n}" for n in range(3)]


def test_a_call_without_a_step_is_answered_with_what_the_script_lacks(model: ScriptedModel) -> None:
    model.play([{"agent": "reviewer", "text": "x"}])
    answer = ask(model, body("\n\nPlan this:\nand that", system=PLANNER, **TITLED))
    assert answer.status_code == 400
    says = "script has no step for this call of planner (claude-sonnet-5-5, form Plan): 'Plan this:'"
    assert answer.json()["error"]["message"] == says


# --- the file ------------------------------------------------------------------------------------------------


def write(folder: Path, text: str) -> Path:
    path = folder / "day.yaml"
    path.write_text(text, "utf-8")
    return path


def test_a_file_says_the_same_as_a_list(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text('{"tasks": []}', "utf-8")
    text = (
        "- agent: planner\n  text_file: plan.json\n- when: {user: hello}\n  times: any\n  text: |\n    two\n    lines\n"
    )
    script = read_script(write(tmp_path, text))
    assert answered(script, body(system=PLANNER)) == '{"tasks": []}'
    assert answered(script, body()) == "two\nlines\n"


def test_every_script_in_the_guide_can_be_read(tmp_path: Path) -> None:
    guide = (ROOT / "docs" / "scripting-a-day.md").read_text("utf-8")
    for name in ("wrong-edit.txt", "right-edit.txt", "plan.json"):
        (tmp_path / name).write_text("x", "utf-8")
    scripts = re.findall(r"```yaml\n(- .*?)\n```\n\n", guide, re.DOTALL)
    assert len(scripts) == 2
    for text in scripts:
        read_script(write(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("- text: a\n- txt: b\n", "day.yaml:2: 1.txt: ", id="unknown key"),
        pytest.param("- agent: a\n", "day.yaml:1: 0: give an answer", id="no answer"),
        pytest.param("- text: a\n  json: {}\n", "day.yaml:1: 0: give one of", id="two answers"),
        pytest.param("- text: a\n  task: '('\n", "day.yaml:2: 0.task: write a regular expression", id="bad pattern"),
        pytest.param("- text: a\n  when: {who: b}\n", "day.yaml:2: 0.when.who: ", id="unknown condition"),
        pytest.param("- status: 200.5\n", "day.yaml:1: 0.status", id="not a number"),
        pytest.param("- status: 302\n", "status must lie between 400 and 599", id="a status that is no error"),
        pytest.param("- {text: a, drop: now}\n", "drop must be 'before' or 'after N'", id="bad drop"),
        pytest.param("- {text: a, delay: 4000}\n", "between 0 and 3600 seconds", id="too long"),
        pytest.param("- {text: a, times: 1001}\n", "at most 1000", id="too often"),
        pytest.param(
            "- {text: a, times: any}\n- text: b\n", "day.yaml:2: never reached, day.yaml:1", id="never reached"
        ),
        pytest.param(
            "- {text: a, call: 2}\n- {text: b, call: 2}\n", "day.yaml:2: call 2 is answered", id="one call twice"
        ),
        pytest.param("- {text: a, error: {message: b}}\n", "an error needs a status", id="error without status"),
        pytest.param("- text: a\n  text: b\n", "day.yaml:2: the key 'text' stands twice", id="key twice"),
        pytest.param("- text_file: none.txt\n", "day.yaml:1: text_file none.txt cannot be read", id="absent file"),
        pytest.param("steps:\n- text: a\n", "day.yaml: a script is a list of at most 2000 steps", id="not a list"),
        pytest.param("- text: a\n" * 2001, "at most 2000 steps", id="too many steps"),
        pytest.param("- [\n", "day.yaml:2: not valid YAML", id="not YAML"),
    ],
)
def test_a_mistake_in_a_script_is_named_with_file_and_line(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(TeamError) as caught:
        read_script(write(tmp_path, text))
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_script_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match=r"day\.yaml cannot be read"):
        read_script(tmp_path / "day.yaml")


def test_a_port_that_is_taken_is_named(model: ScriptedModel) -> None:
    port = int(model.url.rpartition(":")[2])
    with pytest.raises(Misconfigured, match=f"port {port} cannot be used .* choose another with --port"):
        ScriptedModel([HELLO], port)


PROGRAM = """
import sys
from pathlib import Path
from sisimpur.simulators.model.scripted_model import serve
say = lambda line: print(line, flush=True)
serve(Path(sys.argv[1]), 0, say, say)
"""


def test_the_command_tells_its_address_and_each_call_and_ends_when_interrupted(tmp_path: Path) -> None:
    script = write(tmp_path, "- text: hello\n")
    command = [sys.executable, "-c", PROGRAM, str(script)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
        assert program.stdout
        url = program.stdout.readline().strip()
        post(f"{url}/v1/messages", body(), HEADERS)
        post(f"{url}/v1/messages", body(), HEADERS)
        lines = [program.stdout.readline().strip() for _ in range(2)]
        program.send_signal(signal.SIGINT)
        program.communicate(timeout=10)
    asked = "unknown agent (claude-sonnet-5-5): 'Say hello.'"
    assert lines[0] == f"call 1: {asked} -> answered from day.yaml:1"
    assert lines[1].startswith(f"call 2: {asked} -> 400 the step at day.yaml:1 has no answer left")
    assert program.returncode != 0
