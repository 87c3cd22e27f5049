"""Prices are the library's to the nano-dollar, and what it does not know has none."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from genai_prices import extract_usage

from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.money.pricing import MOST, Pricing, usage_of
from sisimpur.shared.money.token_budget import NANO, Rates, TokenUsage, cost

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
MODELS = ["claude-haiku-5-5", "claude-sonnet-5-5", "claude-opus-5-5", "claude-sonnet-4-6", "claude-haiku-4-5-20251001"]
COUNTS: list[dict[str, Any]] = [
    {"input_tokens": 1, "output_tokens": 1},
    {"input_tokens": 99_000, "output_tokens": 77, "cache_read_input_tokens": 1_000},
    {"input_tokens": 99_000, "output_tokens": 77, "cache_read_input_tokens": 1_001},
    {
        "input_tokens": 5,
        "output_tokens": 0,
        "cache_creation_input_tokens": 300_000,
        "cache_creation": {"ephemeral_5m_input_tokens": 100_000, "ephemeral_1h_input_tokens": 200_000},
        "cache_read_input_tokens": 12_345,
        "output_tokens_details": {"thinking_tokens": 0},
        "service_tier": "standard",
    },
]


@dataclass(frozen=True)
class Price:
    input: int
    output: int


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("counts", COUNTS, ids=["one token", "end of the band", "next band", "caches"])
def test_a_call_costs_what_the_price_library_says(model: str, counts: dict[str, Any]) -> None:
    usage = usage_of(counts)
    theirs = extract_usage({"model": model, "usage": counts}, provider_id="anthropic").calc_price().total_price
    ours = cost(Pricing().rates(model, usage.prompt, NOW), usage)
    assert Decimal(ours) / NANO == theirs


def test_the_dearest_band_in_reach_is_reserved() -> None:
    small, large = (Pricing().rates("claude-haiku-5-5", size, NOW) for size in (100_000, 100_001))
    assert small == Rates(input=100, write_5m=125, write_1h=200, read=10, output=500)
    assert large == Rates(input=500, write_5m=625, write_1h=1_000, read=50, output=2_500)


@pytest.mark.parametrize("model", ["claude-sonnet-9", "gpt-5", "sonnet", "", "claude-sonnet-5-5-preview", "llama3"])
def test_an_unknown_model_has_no_price(model: str) -> None:
    with pytest.raises(Misconfigured, match="no price is known"):
        Pricing().rates(model, 1_000, NOW)


def test_the_owners_price_goes_first_and_may_be_nothing() -> None:
    own = Pricing({"llama3": Price(0, 0), "claude-sonnet-5-5": Price(1_500_000, 3_000_000_001)})
    assert own.rates("llama3", 10**6, NOW) == Rates(0, 0, 0, 0, 0)
    assert own.rates("claude-sonnet-5-5", 10**6, NOW) == Rates(2, 2, 2, 2, 3_001)  # a part of a nano-dollar is one
    assert own.rates("claude-opus-5-5", 1, NOW).output == 20_000


def test_a_row_remembers_whose_price_it_was() -> None:
    own = Pricing({"llama3": Price(0, 5)})
    assert own.version("llama3") == "owner 0/5"
    assert own.version("claude-sonnet-5-5").startswith("genai-prices 0.")


def test_cache_writes_of_an_untold_age_are_of_the_age_that_was_asked_for() -> None:
    counts = {"input_tokens": 1, "output_tokens": 1, "cache_creation_input_tokens": 30}
    assert usage_of(counts) == TokenUsage(input=1, write_5m=30, output=1)
    assert usage_of(counts, hour_cache=True) == TokenUsage(input=1, write_1h=30, output=1)


@pytest.mark.parametrize(
    "counts",
    [
        {},
        {"input_tokens": 1},
        {"input_tokens": "1", "output_tokens": 1},
        {"input_tokens": 1.5, "output_tokens": 1},
        {"input_tokens": True, "output_tokens": 1},
        {"input_tokens": -1, "output_tokens": 1},
        {"input_tokens": MOST + 1, "output_tokens": 1},
        {"input_tokens": 1, "output_tokens": 10**30},
        {"input_tokens": 1, "output_tokens": 1, "output_tokens_details": {"thinking_tokens": 10**19}},
        {"input_tokens": 1, "output_tokens": 1, "\ud800": 1},
        {"input_tokens": 1, "output_tokens": 1, "new_tokens": 0},
        {"input_tokens": 1, "output_tokens": 1, "cache_creation": {"ephemeral_24h_input_tokens": 1}},
        {"input_tokens": 1, "output_tokens": 1, "service_tier": "batch"},
        {"input_tokens": 1, "output_tokens": 1, "server_tool_use": {"web_search_requests": 1}},
    ],
)
def test_a_count_that_we_do_not_know_has_no_price(counts: dict[str, Any]) -> None:
    with pytest.raises(Misconfigured, match="usage"):
        usage_of(counts)
