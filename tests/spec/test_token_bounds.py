"""What a text can have of tokens, and which counts of a vendor can be true.

`tokenized.json` holds parts of prompts that we sent and of answers, and other kinds of text, each with the fewest and
the most tokens that three tokenizers with a public vocabulary make of it (cl100k, o200k, Claude 2).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.shared.money.token_bounds import (
    FACTOR,
    LEAST,
    MOST,
    TOO_LONG,
    CallSize,
    PromptBounds,
    doubt,
    estimate,
    overlong,
    prompt_bounds,
)
from sisimpur.shared.money.token_budget import HIDDEN_TOKENS, TokenUsage

TOKENIZED: list[dict[str, Any]] = json.loads(Path(__file__).with_name("tokenized.json").read_text("utf-8"))
NEWEST = 1.2  # a tokenizer that makes a fifth more of the same text


def _body(text: str, **more: Any) -> tuple[dict[str, Any], bytes]:
    body = {"model": "m", "max_tokens": 100, "messages": [{"role": "user", "content": text}], **more}
    return body, json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")


@pytest.mark.parametrize("one", TOKENIZED, ids=[f"{n}: {one['kind']}" for n, one in enumerate(TOKENIZED)])
def test_what_known_tokenizers_count_is_within_the_bounds(one: dict[str, Any]) -> None:
    size = estimate(one["text"])
    assert LEAST * size <= one["least"]
    assert TOO_LONG * size <= one["least"] or one["kind"] == "Russian"
    assert one["most"] * NEWEST <= MOST * size + 2 * NEWEST
    bounds = prompt_bounds(*_body(one["text"]))
    assert bounds.least <= one["least"] <= one["most"] * NEWEST <= bounds.most - HIDDEN_TOKENS


@given(st.lists(st.sampled_from([one["text"] for one in TOKENIZED]), max_size=20))
def test_a_prompt_of_several_kinds_is_bounded_as_its_parts_are(texts: list[str]) -> None:
    found = [one for text in texts for one in TOKENIZED if one["text"] == text][: len(texts)]
    bounds = prompt_bounds(*_body("\n".join(texts)))
    assert bounds.least <= sum(one["least"] for one in found) + len(texts)
    assert sum(one["most"] for one in found) * NEWEST <= bounds.most


@given(st.text(max_size=300), st.text(max_size=300))
def test_bounds_are_in_order_and_grow_with_the_text(text: str, more: str) -> None:
    bounds, longer = prompt_bounds(*_body(text)), prompt_bounds(*_body(f"{text}\n{more}"))
    assert 0 <= bounds.least <= bounds.most <= bounds.strict
    assert longer.least >= bounds.least - 1
    assert bounds.strict == len(_body(text)[1]) + HIDDEN_TOKENS


@given(st.text(max_size=500))
def test_what_is_believed_is_never_less_than_a_known_part_of_what_it_can_have_been(text: str) -> None:
    size = estimate(text)
    assert MOST * size <= FACTOR * (int(LEAST * size) + 1)


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({"system": "Be short. " * 50}, id="a system prompt"),
        pytest.param({"system": [{"type": "text", "text": "Be short. " * 50}]}, id="in blocks"),
        pytest.param({"tools": [{"name": "look", "description": "Look at a file. " * 50}]}, id="a tool"),
    ],
)
def test_every_vendor_counts_what_is_said(more: dict[str, Any]) -> None:
    assert prompt_bounds(*_body("hi", **more)).least > 40


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({"output_config": {"format": {"schema": {"a_name": "x " * 200}}}}, id="the form of an answer"),
        pytest.param(
            {"messages": [{"role": "assistant", "content": [{"type": "thinking", "thinking": "hm " * 200}]}]},
            id="thoughts of an earlier turn",
        ),
    ],
)
def test_what_a_vendor_may_leave_out_is_reserved_but_not_asked_for(more: dict[str, Any]) -> None:
    bounds = prompt_bounds(*_body("hi", **more))
    assert bounds.least <= 1
    assert bounds.most > HIDDEN_TOKENS + 100


# --- which counts can be true

SIZE = CallSize(PromptBounds(least=100, most=500, strict=2_000), max_tokens=50, received=60)


@pytest.mark.parametrize(
    ("prompt", "output", "says"),
    [
        (100, 20, ""),
        (2_000, 50, ""),
        (99, 20, "a prompt of at least 100 tokens is counted as 99"),
        (2_001, 20, "a prompt of at most 2000 tokens is counted as 2001"),
        (100, 19, "an answer of at least 20 tokens is counted as 19"),
        (100, 51, "an answer of at most 50 tokens is counted as 51"),
    ],
)
def test_a_count_outside_of_what_was_sent_and_received_cannot_be_true(prompt: int, output: int, says: str) -> None:
    """However the prompt is split into fresh, kept and written."""
    for usage in (TokenUsage(prompt, output=output), TokenUsage(1, 1, 1, prompt - 3, output)):
        assert doubt(usage, SIZE) == says


@pytest.mark.parametrize(("received", "is_overlong"), [(84, False), (85, True)])
def test_more_than_was_allowed_is_known_by_its_length(received: int, is_overlong: bool) -> None:
    assert overlong(CallSize(SIZE.prompt, 50, received)) == is_overlong
