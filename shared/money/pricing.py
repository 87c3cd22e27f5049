"""Price adapter: what a token costs by genai-prices, and what a vendor counted.

What has no price is refused: an unknown model before it is called, an unknown kind of usage after it.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import ROUND_CEILING, Decimal
from typing import Annotated, Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.model.text import one_line
from sisimpur.shared.money.token_budget import NANO, Rates, TokenUsage

MILLION = 1_000_000
PROVIDER = "anthropic"
MOST = 100_000_000  # tokens of one kind: a hundred times what any model takes; more is no count


class OwnPrice(Protocol):
    """The owner's price for a model, in nano-dollars per million tokens; reading and writing a cache cost as input."""

    @property
    def input(self) -> int: ...

    @property
    def output(self) -> int: ...


class Pricing:
    """`own` are the owner's prices of models, e.g. of local ones at 0; they go before the library's.

    What has no price is Misconfigured: nothing may be spent on it.
    """

    def __init__(self, own: Mapping[str, OwnPrice] | None = None) -> None:
        self._own = dict(own or {})

    def version(self, model: str) -> str:
        """Return where the price comes from, for the row: a price may change, a booked cost never does."""
        if model in self._own:
            return f"owner {self._own[model].input}/{self._own[model].output}"
        return _library()

    def rates(self, model: str, prompt: int, at: datetime) -> Rates:
        """The dearest for prompts of up to `prompt` tokens on that day. Misconfigured if the model is not known."""
        own = self._own.get(model)
        if own is None:
            return _library_rates(model, max(prompt, 1), at.astimezone(UTC).date())
        into = -(-own.input // MILLION)
        return Rates(into, into, into, into, -(-own.output // MILLION))


@functools.cache
def _library() -> str:
    """Name the library that is installed: to find out takes milliseconds, and each call asks."""
    from importlib.metadata import version

    return f"genai-prices {version('genai-prices')}"


@functools.lru_cache(maxsize=4096)
def _library_rates(model: str, prompt: int, day: date) -> Rates:
    """A dearer band starts at some size of the prompt: the smallest and the largest size are both asked."""
    small, large = (_probe(model, size, day) for size in (1, prompt))
    dearest = Rates(*(max(pair) for pair in zip(_values(small), _values(large), strict=True)))
    if not (dearest.input and dearest.output):
        raise Misconfigured(f"the price library has no full price for model {model}")
    return dearest


def _values(rates: Rates) -> tuple[int, int, int, int, int]:
    return rates.input, rates.write_5m, rates.write_1h, rates.read, rates.output


def _probe(model: str, size: int, day: date) -> Rates:
    """Prices of a prompt that is entirely of one kind, per token, rounded up."""
    from genai_prices import Usage as Counted
    from genai_prices import calc_price

    kinds: tuple[dict[str, int], ...] = (
        {},
        {"cache_write_tokens": size},
        {"cache_write_tokens": size, "cache_write_1h_tokens": size},
        {"cache_read_tokens": size},
    )
    noon = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
    found = []
    for kind in kinds:
        counted = Counted(input_tokens=size, output_tokens=size, **kind)
        try:
            found.append(calc_price(counted, model, provider_id=PROVIDER, genai_request_timestamp=noon))
        except LookupError:
            raise Misconfigured(
                f"no price is known for model {model}; write it under `prices` or use another"
            ) from None
    plain, write_5m, write_1h, read = (_per_token(price.input_price, size) for price in found)
    return Rates(plain, write_5m, write_1h, read, _per_token(found[0].output_price, size))


def _per_token(price: Decimal, tokens: int) -> int:
    return int((price * NANO / tokens).to_integral_value(ROUND_CEILING))


# --- what the vendor counted ---------------------------------------------------------------------------------


class _Counted(BaseModel):
    """Fields that we do not know could be billed: they are refused, not ignored."""

    model_config = ConfigDict(extra="forbid", strict=True)


Count = Annotated[int, Field(ge=0, le=MOST)]


class _CacheCreation(_Counted):
    ephemeral_5m_input_tokens: Count = 0
    ephemeral_1h_input_tokens: Count = 0


class _Details(BaseModel):
    thinking_tokens: Count = 0


class _ServerTools(_Counted):
    """Server tools are never let through, so none can be billed."""

    web_search_requests: Literal[0] | None = None
    web_fetch_requests: Literal[0] | None = None


class _VendorUsage(_Counted):
    input_tokens: Count
    output_tokens: Count
    cache_creation_input_tokens: Count = 0
    cache_read_input_tokens: Count = 0
    cache_creation: _CacheCreation = _CacheCreation()
    output_tokens_details: _Details = _Details()
    server_tool_use: _ServerTools | None = None
    service_tier: Literal["standard"] | None = None
    inference_geo: Literal["global", "not_available"] | None = None
    speed: Literal["standard"] | None = None


def usage_of(reported: Mapping[str, Any], hour_cache: bool = False) -> TokenUsage:
    """The vendor's counts in our words. Misconfigured: something was counted that has no price here.

    Cache writes whose age is not told are of the dearest age asked for.
    """
    try:
        seen = _VendorUsage.model_validate({key: value for key, value in reported.items() if value is not None})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = one_line(".".join(str(part) for part in first["loc"]), 60)
        raise Misconfigured(f"the upstream counts something that has no price here: usage.{field}") from None
    short, long = seen.cache_creation.ephemeral_5m_input_tokens, seen.cache_creation.ephemeral_1h_input_tokens
    untold = max(0, seen.cache_creation_input_tokens - short - long)
    return TokenUsage(
        input=seen.input_tokens,
        write_5m=short + (0 if hour_cache else untold),
        write_1h=long + (untold if hour_cache else 0),
        read=seen.cache_read_input_tokens,
        output=seen.output_tokens,
        thinking=seen.output_tokens_details.thinking_tokens,
    )
