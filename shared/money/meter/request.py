"""What a caller of the meter asks, from bytes to a checked call. What we cannot price or do not know is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from shared.money.meter import shapes
from shared.money.meter.answer import Rejected
from shared.money.meter.shapes import LONGEST_ANSWER
from shared.money.token_budget import Refusal, most_tokens

MAX_BODY = 8 * 1024 * 1024  # bytes
MAX_PAIRS = 200_000  # names in one body

STRIPPED = ("temperature", "top_p", "top_k", "metadata")  # models refuse the first three even at their default
VERSIONS = ("2023-06-01", "2026-10-21")
BETAS = frozenset(  # they change neither the price nor who answers
    {
        "claude-code-20250219",
        "effort-2025-11-24",  # litellm sends it with output_config.effort
        "extended-cache-ttl-2025-04-11",
        "fine-grained-tool-streaming-2025-05-14",
        "interleaved-thinking-2025-05-14",
        "output-128k-2025-02-19",
        "prompt-caching-2024-07-31",
    }
)


_PLAIN = re.compile(r"[A-Za-z0-9_-]{1,40}")

Shape = TypeVar("Shape", bound=BaseModel)

# Why a field is refused, where its shape alone does not say it.
REASONS = {
    "max_tokens": ("meter_max_tokens", f"max_tokens is needed: a number from 1 to {LONGEST_ANSWER}"),
    "tool_choice": ("meter_forced_tool", "a forced tool_choice is not supported by current models: use auto or none"),
    "thinking": ("meter_thinking", "only adaptive thinking is supported: no budget, not disabled"),
}


@dataclass(frozen=True)
class Asked:
    """A checked call. `body` is what goes upstream, but for `max_tokens`."""

    body: Mapping[str, Any]
    model: str
    max_tokens: int
    stream: bool
    has_schema: bool
    hour_cache: bool
    tokens_in: int

    def encoded(self, max_tokens: int) -> bytes:
        """Never longer than what was bounded: `max_tokens` only shrinks."""
        return _encoded({**self.body, "max_tokens": max_tokens})


def read_call(raw: bytes) -> Asked:
    """POST /v1/messages. Rejected if anything in it is unknown to us."""
    body = _without(_parsed(raw), STRIPPED)
    call = _checked(shapes.MessagesCall, body)
    if call.messages[-1].role == "assistant":
        raise Rejected(Refusal("meter_prefill", "the last message is the assistant's: prefill is not supported"))
    body["stream"] = True
    data = _encoded(body)
    return Asked(
        body=body,
        model=call.model,
        max_tokens=call.max_tokens,
        stream=call.stream,
        has_schema=bool(call.output_config and call.output_config.format),
        hour_cache=b'"1h"' in data,  # anywhere: asking too much here only reserves more
        tokens_in=most_tokens(data),
    )


def read_prompt(raw: bytes) -> tuple[str, bytes]:
    """POST /v1/messages/count_tokens: the model and the body that goes upstream."""
    body = _without(_parsed(raw), STRIPPED)
    return _checked(shapes.PromptShape, body).model, _encoded(body)


def read_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The few that go upstream."""
    version = headers.get("anthropic-version", VERSIONS[0])
    betas = [name.strip() for name in headers.get("anthropic-beta", "").split(",") if name.strip()]
    if version not in VERSIONS:
        raise Rejected(Refusal("meter_unknown_field", f"anthropic-version must be one of {', '.join(VERSIONS)}"))
    if not BETAS.issuperset(betas):
        raise Rejected(Refusal("meter_unknown_field", "an anthropic-beta is asked for that has no rule here"))
    passed = {"content-type": "application/json", "anthropic-version": version}
    if betas:
        passed["anthropic-beta"] = ",".join(betas)
    return passed


def _parsed(raw: bytes) -> dict[str, Any]:
    left = MAX_PAIRS

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal left
        found = dict(pairs)
        left -= len(pairs)
        if len(found) != len(pairs) or left < 0:
            raise ValueError("a name comes twice, or there are too many")
        return found

    try:
        body = json.loads(raw.decode("utf-8"), object_pairs_hook=once, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise Rejected(Refusal("meter_bad_request", "the body is not plain JSON in UTF-8")) from None
    if not isinstance(body, dict):
        raise Rejected(Refusal("meter_bad_request", "the body is not a JSON object"))
    return body


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _encoded(body: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8")
    except (ValueError, RecursionError):  # half a surrogate pair, a number out of range
        raise Rejected(Refusal("meter_bad_request", "the body holds text or numbers that JSON cannot carry")) from None


def _without(body: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name not in names}


def _checked(shape: type[Shape], body: dict[str, Any]) -> Shape:
    unknown = sorted(set(body) - set(shape.model_fields))
    if unknown:  # before the shapes, for the same reason
        raise Rejected(Refusal("meter_unknown_field", f"the field {_name(unknown[0])} has no rule here"))
    try:
        return shape.model_validate(body)
    except ValidationError as error:
        raise Rejected(_reason(error)) from None


def _reason(error: ValidationError) -> Refusal:
    errors = error.errors(include_url=False, include_input=False, include_context=False)
    deepest = max(errors, key=lambda found: len(found["loc"]))  # of the shapes that a value may have, the nearest
    path = [str(part) for part in deepest["loc"] if isinstance(part, int) or _PLAIN.fullmatch(part)]
    if path and path[0] in REASONS:
        return Refusal(*REASONS[path[0]])
    unknown = deepest["type"] in ("extra_forbidden", "union_tag_invalid", "literal_error")
    code = "meter_unknown_field" if unknown else "meter_bad_request"
    return Refusal(code, f"{'.'.join(path)[:100]} is not supported as sent")


def _name(text: str) -> str:
    """What a caller wrote, fit for a sentence."""
    return text if _PLAIN.fullmatch(text) else "with that name"
