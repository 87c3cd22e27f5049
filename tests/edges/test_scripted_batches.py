"""The scripted model's batches, as the official client sees them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import anthropic
import httpx2
import pytest

from shared.edge.scripted.scripted_model import ScriptedModel

SONNET = "claude-sonnet-5-5"


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel([{"text": "fine", "times": "any"}]) as model:
        yield model


@pytest.fixture
def client(model: ScriptedModel) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(api_key="any", base_url=model.url, max_retries=0) as client:
        yield client


def call(name: str, text: str = "hi") -> Any:
    params = {"model": SONNET, "max_tokens": 10, "messages": [{"role": "user", "content": text}]}
    return {"custom_id": name, "params": params}


def results(model: ScriptedModel, batch: str) -> list[Any]:
    """By our own path: the address that is told lies at the vendor."""
    with httpx2.Client(headers={"x-api-key": "any", "anthropic-version": "2026-10-21"}) as http:
        answer = http.get(f"{model.url}/v1/messages/batches/{batch}/results")
    form = anthropic.types.messages.MessageBatchIndividualResponse
    return [form.model_validate_json(line) for line in answer.text.splitlines()]


def test_calls_are_answered_in_another_order_at_half_price(model: ScriptedModel, client: anthropic.Anthropic) -> None:
    made = client.messages.batches.create(requests=[call("a"), call("b")])
    assert (made.processing_status, made.request_counts.processing) == ("in_progress", 2)
    found = client.messages.batches.retrieve(made.id)
    assert (found.processing_status, found.request_counts.succeeded) == ("ended", 2)
    one, other = results(model, made.id)
    assert (one.custom_id, other.custom_id) == ("b", "a")
    assert one.result.message.content[0].text == "fine" and one.result.message.usage.service_tier == "batch"
    plain = client.messages.create(**call("a")["params"])
    assert plain.usage.service_tier == "standard"
    ahead, _, asked = model.requests
    assert 2 * ahead.billed == asked.billed == model.billed // 2


def test_a_batch_ends_after_as_many_looks_as_the_script_says(model: ScriptedModel, client: anthropic.Anthropic) -> None:
    model.play([{"text": "fine", "batch": {"looks": 2}}])
    batch = client.messages.batches.create(requests=[call("a")]).id
    assert [client.messages.batches.retrieve(batch).processing_status for _ in range(3)] == [
        "in_progress",
        "in_progress",
        "ended",
    ]


def test_what_is_cancelled_before_its_end_is_not_billed(model: ScriptedModel, client: anthropic.Anthropic) -> None:
    model.play([{"text": "fine", "times": "any", "batch": {"looks": 2}}])
    batch = client.messages.batches.create(requests=[call("a")]).id
    assert model.billed > 0, "the worst for us"
    assert client.messages.batches.cancel(batch).processing_status == "canceling"
    assert client.messages.batches.retrieve(batch).request_counts.canceled == 1
    assert [line.result.type for line in results(model, batch)] == ["canceled"] and model.billed == 0
    model.play([{"text": "fine"}])
    ended = client.messages.batches.create(requests=[call("b")]).id
    assert client.messages.batches.cancel(ended).processing_status == "ended" and model.billed > 0


@pytest.mark.parametrize("ends", ["errored", "canceled", "expired"])
def test_another_outcome_can_be_scripted_and_costs_nothing(
    model: ScriptedModel, client: anthropic.Anthropic, ends: str
) -> None:
    model.play([{"text": "fine", "batch": {"ends": ends}}])
    batch = client.messages.batches.create(requests=[call("a")]).id
    assert [line.result.type for line in results(model, batch)] == [ends] and model.billed == 0


@pytest.mark.parametrize(
    ("calls", "says"),
    [
        pytest.param([], "requests", id="none"),
        pytest.param([call("a"), call("a")], "each custom_id once", id="one name twice"),
        pytest.param([call("a b")], "64 letters", id="a name with a space"),
        pytest.param([call("a" * 65)], "64 letters", id="a long name"),
        pytest.param([{**call("a"), "params": {"model": SONNET}}], "messages", id="no call"),
    ],
)
def test_what_is_no_batch_is_refused(client: anthropic.Anthropic, calls: list[Any], says: str) -> None:
    with pytest.raises(anthropic.BadRequestError, match=says):
        client.messages.batches.create(requests=calls)


def test_a_batch_that_nobody_sent_is_not_there_and_one_that_goes_on_has_no_results(
    model: ScriptedModel, client: anthropic.Anthropic
) -> None:
    with pytest.raises(anthropic.NotFoundError):
        client.messages.batches.retrieve("msgbatch_1")
    model.play([{"text": "fine", "batch": {"looks": 1}}])
    batch = client.messages.batches.create(requests=[call("a")]).id
    answer = httpx2.get(f"{model.url}/v1/messages/batches/{batch}/results")
    assert (answer.status_code, "has not ended" in answer.text) == (400, True)


def test_a_connection_that_breaks_leaves_a_batch_that_is_billed(
    model: ScriptedModel, client: anthropic.Anthropic
) -> None:
    model.play([{"text": "fine", "drop": "before"}])
    with pytest.raises(anthropic.APIConnectionError):
        client.messages.batches.create(requests=[call("a")])
    assert model.billed > 0
