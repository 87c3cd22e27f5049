"""What a caller of the meter asks, from bytes to a checked call. What we cannot price or do not know is refused.

The shapes below are the whole of what is let through. Everything that is billed lies in the body, so that its bytes
bound its tokens: no files, no addresses, no tools or models that the vendor adds by itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, FailFast, Field, ValidationError

from shared.domain.token_budget import Refusal, most_tokens
from shared.edge.money.meter_answer import Rejected

MAX_BODY = 8 * 1024 * 1024  # bytes
MAX_PAIRS = 200_000  # names in one body
LONGEST_ANSWER = 1_000_000  # tokens

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


class _FirstError(FailFast):
    """A list stops at its first error: a body of a million wrong items shall not make a million complaints."""

    __hash__ = object.__hash__  # to stand in a union


_FIRST = _FirstError()


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _CacheMark(_Shape):
    type: Literal["ephemeral"]
    ttl: Literal["5m", "1h"] | None = None


class _Part(_Shape):
    cache_control: _CacheMark | None = None


class _Text(_Part):
    type: Literal["text"]
    text: str
    citations: None = None


class _DirectCaller(_Shape):
    type: Literal["direct"]


class _ToolUse(_Part):
    type: Literal["tool_use"]
    id: str
    name: str
    input: dict[str, Any]
    caller: _DirectCaller | None = None
    toolset_name: None = None


class _ToolResult(_Part):
    type: Literal["tool_result"]
    tool_use_id: str
    content: str | Annotated[list[_Text], _FIRST] | None = None
    is_error: bool | None = None


class _Thinking(_Shape):
    type: Literal["thinking"]
    thinking: str
    signature: str


class _RedactedThinking(_Shape):
    type: Literal["redacted_thinking"]
    data: str


_Block = Annotated[_Text | _ToolUse | _ToolResult | _Thinking | _RedactedThinking, Field(discriminator="type")]


class _Message(_Shape):
    role: Literal["user", "assistant"]
    content: str | Annotated[list[_Block], _FIRST]


class _Tool(_Part):
    type: Literal["custom"] | None = None
    name: str
    description: str | None = None
    input_schema: dict[str, Any]
    strict: bool | None = None
    eager_input_streaming: bool | None = None


class _ToolChoice(_Shape):
    type: Literal["auto", "none"]
    disable_parallel_tool_use: bool | None = None


class _AdaptiveThinking(_Shape):
    type: Literal["adaptive"]
    display: Literal["summarized", "omitted"] | None = None


class _Format(_Shape):
    type: Literal["json_schema"]
    schema_: dict[str, Any] = Field(alias="schema")


class _OutputConfig(_Shape):
    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = None
    format: _Format | None = None


class _Prompt(_Shape):
    """What `count_tokens` takes."""

    model: str = Field(min_length=1, max_length=100)
    messages: Annotated[list[_Message], _FIRST, Field(min_length=1)]
    system: str | Annotated[list[_Text], _FIRST] | None = None
    tools: Annotated[list[_Tool], _FIRST] | None = None
    tool_choice: _ToolChoice | None = None
    thinking: _AdaptiveThinking | None = None
    output_config: _OutputConfig | None = None
    cache_control: _CacheMark | None = None


class _Call(_Prompt):
    max_tokens: int = Field(ge=1, le=LONGEST_ANSWER)
    stream: bool = False
    stop_sequences: Annotated[list[str], _FIRST] | None = None


_PLAIN = re.compile(r"[A-Za-z0-9_-]{1,40}")

Shape = TypeVar("Shape", bound=_Prompt)

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
    call = _checked(_Call, body)
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
    return _checked(_Prompt, body).model, _encoded(body)


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
