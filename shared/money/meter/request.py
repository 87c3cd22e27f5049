"""Requests to the meter: from bytes to a checked call. What we cannot price or do not know is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, FailFast, Field, ValidationError

from sisimpur.shared.model.text import OUR_BREAK, around_unseen, visible
from sisimpur.shared.money.meter.answer import Rejected
from sisimpur.shared.money.token_bounds import PromptBounds, prompt_bounds
from sisimpur.shared.money.token_budget import Refusal

MAX_BODY = 8 * 1024 * 1024  # bytes
MAX_PAIRS = 200_000  # names in one body
MOST_UNSEEN = 5  # places of one body that are told

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
    """A checked call. `headers` and `body` are what goes upstream, but for `max_tokens`."""

    headers: Mapping[str, str]
    body: Mapping[str, Any]
    model: str
    max_tokens: int
    stream: bool
    has_schema: bool
    hour_cache: bool
    marked: bool  # a part of its prompt is to be kept
    prompt: PromptBounds
    unseen: tuple[str, ...] = ()  # where it held text that nobody sees, which was taken out

    @property
    def counted(self) -> bytes:
        """The body whose tokens are counted for nothing."""
        return _encoded({name: value for name, value in self.body.items() if name in PromptShape.model_fields})

    def encoded(self, max_tokens: int) -> bytes:
        """Encode the body, never longer than what was bounded: `max_tokens` only shrinks."""
        return _encoded({**self.body, "max_tokens": max_tokens})


def read_call(headers: Mapping[str, str], raw: bytes) -> Asked:
    """Check a POST to /v1/messages. Rejected if anything in it is unknown to us."""
    passed, (body, unseen) = read_headers(headers), _stripped(raw)
    call = _checked(MessagesCall, body)
    if call.messages[-1].role == "assistant":
        raise Rejected(Refusal("meter_prefill", "the last message is the assistant's: prefill is not supported"))
    body["stream"] = True
    data = _encoded(body)
    return Asked(
        headers=passed,
        body=body,
        model=call.model,
        max_tokens=call.max_tokens,
        stream=call.stream,
        has_schema=bool(call.output_config and call.output_config.format),
        hour_cache=b'"1h"' in data,  # anywhere: asking too much here only reserves more
        marked=b'"cache_control"' in data,
        prompt=prompt_bounds(body, data),
        unseen=unseen,
    )


def read_prompt(raw: bytes) -> tuple[str, bytes]:
    """Check a POST to /v1/messages/count_tokens -> the model, and the body that goes upstream."""
    body, _ = _stripped(raw)
    return _checked(PromptShape, body).model, _encoded(body)


def read_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Pick the few that go upstream. Rejected if a version or a beta has no rule here."""
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


def _stripped(raw: bytes) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Parse a body, without the fields that models refuse and without text that nobody sees: its places, shown."""
    left, unseen = MAX_PAIRS, dict[str, None]()

    def seen(text: str) -> str:
        if around := around_unseen(OUR_BREAK.sub("", text)):
            unseen[around] = None
        return visible(text)

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal left
        found = {name: seen(value) if isinstance(value, str) else value for name, value in pairs}
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
    return {name: value for name, value in body.items() if name not in STRIPPED}, tuple(unseen)[:MOST_UNSEEN]


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _encoded(body: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8")
    except (ValueError, RecursionError):  # half a surrogate pair, a number out of range
        raise Rejected(Refusal("meter_bad_request", "the body holds text or numbers that JSON cannot carry")) from None


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
    """A field's name as a caller wrote it, if it fits into a sentence."""
    return text if _PLAIN.fullmatch(text) else "with that name"


# --- the shapes: the whole of what is let through ------------------------------------------------------------
# All that is billed lies in the body, so that its bytes bound its tokens: no files, no addresses, no tools or models
# that the vendor adds by itself.


class FirstError(FailFast):
    """A list stops at its first error: a body of a million wrong items shall not make a million complaints."""

    __hash__ = object.__hash__  # to stand in a union


FIRST = FirstError()


class StrictShape(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class CacheMark(StrictShape):
    type: Literal["ephemeral"]
    ttl: Literal["5m", "1h"] | None = None


class ContentPart(StrictShape):
    cache_control: CacheMark | None = None


class TextShape(ContentPart):
    type: Literal["text"]
    text: str
    citations: None = None


class DirectCaller(StrictShape):
    type: Literal["direct"]


class ToolUse(ContentPart):
    type: Literal["tool_use"]
    id: str
    name: str
    input: dict[str, Any]
    caller: DirectCaller | None = None
    toolset_name: None = None


class ToolResult(ContentPart):
    type: Literal["tool_result"]
    tool_use_id: str
    content: str | Annotated[list[TextShape], FIRST] | None = None
    is_error: bool | None = None


class Thinking(StrictShape):
    type: Literal["thinking"]
    thinking: str
    signature: str


class RedactedThinking(StrictShape):
    type: Literal["redacted_thinking"]
    data: str


Block = Annotated[TextShape | ToolUse | ToolResult | Thinking | RedactedThinking, Field(discriminator="type")]


class Message(StrictShape):
    role: Literal["user", "assistant"]
    content: str | Annotated[list[Block], FIRST]


class Tool(ContentPart):
    type: Literal["custom"] | None = None
    name: str
    description: str | None = None
    input_schema: dict[str, Any]
    strict: bool | None = None
    eager_input_streaming: bool | None = None


class ToolChoice(StrictShape):
    type: Literal["auto", "none"]
    disable_parallel_tool_use: bool | None = None


class AdaptiveThinking(StrictShape):
    type: Literal["adaptive"]
    display: Literal["summarized", "omitted"] | None = None


class Format(StrictShape):
    type: Literal["json_schema"]
    schema_: dict[str, Any] = Field(alias="schema")


class OutputConfig(StrictShape):
    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = None
    format: Format | None = None


class PromptShape(StrictShape):
    """The body of `count_tokens`."""

    model: str = Field(min_length=1, max_length=100)
    messages: Annotated[list[Message], FIRST, Field(min_length=1)]
    system: str | Annotated[list[TextShape], FIRST] | None = None
    tools: Annotated[list[Tool], FIRST] | None = None
    tool_choice: ToolChoice | None = None
    thinking: AdaptiveThinking | None = None
    output_config: OutputConfig | None = None
    cache_control: CacheMark | None = None


class MessagesCall(PromptShape):
    max_tokens: int = Field(ge=1, le=LONGEST_ANSWER)
    stream: bool = False
    stop_sequences: Annotated[list[str], FIRST] | None = None
