"""Rules of the API: which requests the live Messages API refuses, and how."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from pydantic import ValidationError

from sisimpur.simulators.model.models import MODELS, Model
from sisimpur.simulators.model.request import Block, Request

MAX_BODY = 32 * 1024 * 1024
VERSIONS = ("2023-06-01", "2026-10-21")
MAX_OPTIONAL, MAX_UNIONS, MAX_MARKS = 24, 16, 4
ERROR_TYPES: Mapping[int, str] = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}
BETA_FIELDS: Mapping[str, str] = {"output_format": "structured-outputs", "context_management": "context-management"}
NOT_IN_FORMS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "default"})
NOT_IN_FORMS |= {"minLength", "maxLength", "pattern", "maxItems"}


class ApiError(Exception):
    """An answer that is not 200."""

    def __init__(
        self,
        status: int,
        message: str,
        kind: str = "",
        details: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.headers = headers or {}
        kind = kind or ERROR_TYPES.get(status) or ("api_error" if status >= 500 else "invalid_request_error")
        self.error: dict[str, Any] = {"type": kind, "message": message} | ({"details": details} if details else {})


@dataclass(frozen=True)
class Call:
    """A request whose shape is right, the model it names, and its headers (names in lower case)."""

    request: Request
    model: Model
    headers: Mapping[str, str]

    @property
    def is_new(self) -> bool:
        return self.headers["anthropic-version"] == VERSIONS[-1]


def check_headers(headers: Mapping[str, str]) -> None:
    """`headers` with names in lower case."""
    if not (headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ")):
        raise ApiError(401, "x-api-key: header is required")
    if headers.get("anthropic-version") not in VERSIONS:
        raise ApiError(400, f"anthropic-version: the header must be one of {', '.join(VERSIONS)}")


def check(body: bytes, headers: Mapping[str, str], today: date, counting: bool = False) -> Call:
    """A request that the live API would serve, or ApiError. `counting`: only its tokens are asked for."""
    if len(body) > MAX_BODY:
        raise ApiError(413, f"Request exceeds the maximum allowed number of bytes ({MAX_BODY})")
    try:
        request = Request.model_validate_json(body)
    except ValidationError as error:
        raise ApiError(400, _explained(error)) from None
    model = MODELS.get(request.model)
    if model is None or not model.is_served(today):
        raise ApiError(404, f"model: {request.model[:100]}")
    call = Call(request, model, headers)
    for rule in RULES if counting else (*RULES, _max_tokens):
        for problem in rule(call):
            raise ApiError(400, problem)
    return call


def _explained(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    if first["type"] == "extra_forbidden":
        return f"{first['loc'][-1]}: Extra inputs are not permitted"
    return f"{'.'.join(str(part) for part in first['loc']) or 'The request body'}: {first['msg']}"


def _betas(call: Call) -> Iterator[str]:
    for name, beta in BETA_FIELDS.items():
        if name in call.request.model_fields_set and beta not in call.headers.get("anthropic-beta", ""):
            yield f"{name}: Extra inputs are not permitted"


def _messages(call: Call) -> Iterator[str]:
    messages = call.request.messages
    if messages[0].role != "user":
        yield "messages: first message must use the user role"
    if messages[-1].role == "assistant" and call.model.generation >= (4, 6):
        yield "This model does not support assistant message prefill. The conversation must end with a user message."
    if any(message.role == "user" and not message.content for message in messages):
        yield "messages: user messages must have non-empty content"


def _content(call: Call) -> Iterator[str]:
    for role, part in call.request.parts():
        if isinstance(part, Block) and part.type == "text" and not part.text:
            yield f"{role}: text content blocks must be non-empty"
        if isinstance(part, Block) and call.is_new and (part.type, role) == ("document", "assistant"):
            yield "document blocks are not permitted in assistant turns"
        if isinstance(part, Block) and call.is_new and role == "user" and (part.model_extra or {}).get("citations"):
            yield "citations are not permitted in user text"


def _sampling(call: Call) -> Iterator[str]:
    for name in ("temperature", "top_p", "top_k"):
        if name in call.request.model_fields_set and (call.is_new or call.model.generation >= (4, 7)):
            yield f"`{name}` is deprecated for this model."


def _thinking(call: Call) -> Iterator[str]:
    thinking = call.request.thinking
    if thinking is None or thinking.type == "adaptive":
        return
    if call.model.generation >= (5, 1):
        yield f'"thinking.type.{thinking.type}" is not supported for this model. Use "thinking.type.adaptive".'
    if thinking.type == "enabled" and not 1_024 <= thinking.budget_tokens < call.request.max_tokens:
        yield "thinking.budget_tokens: must be at least 1024 and less than max_tokens"


def _tools(call: Call) -> Iterator[str]:
    choice = call.request.tool_choice
    if choice and not call.request.tools:
        yield "tool_choice: may only be specified while providing tools"
    if choice and choice.type in ("any", "tool") and call.model.generation >= (5, 1):
        yield f'tool_choice: type "{choice.type}" is not supported for this model. Use "auto".'


def _marks(call: Call) -> Iterator[str]:
    found = [part.cache_control for _, part in call.request.parts() if not isinstance(part, str)]
    lives = [mark.ttl for mark in (*found, call.request.cache_control) if mark]
    if len(lives) > MAX_MARKS:
        yield f"A maximum of {MAX_MARKS} blocks with cache_control may be provided. Found {len(lives)}."
    if lives != sorted(lives):  # "1h" < "5m"
        yield "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block"


def _form(call: Call) -> Iterator[str]:
    parts = list(_schemas(call.request.form)) if call.request.form else []
    objects = [part for part in parts if part.get("type") == "object"]
    optional = sum(len(set(part.get("properties", {})) - set(part.get("required", ()))) for part in objects)
    unions = sum("anyOf" in part for part in parts)
    for name in sorted(NOT_IN_FORMS & {key for part in parts for key in part}):
        yield f"output_config.format.schema: property '{name}' is not supported"
    if any(part.get("additionalProperties") is not False for part in objects):
        yield "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false"
    if optional > MAX_OPTIONAL:
        yield f"output_config.format.schema: {optional} optional parameters, the limit is {MAX_OPTIONAL}"
    if unions > MAX_UNIONS:
        yield f"output_config.format.schema: {unions} parameters with union types, the limit is {MAX_UNIONS}"


def _schemas(schema: Any) -> Iterator[Mapping[str, Any]]:
    """Each schema inside `schema`. The names of properties and definitions are not keywords."""
    if not isinstance(schema, dict):
        return
    yield schema
    named = [*(schema.get("properties") or {}).values(), *(schema.get("$defs") or {}).values()]
    for inner in (*named, schema.get("items"), *(schema.get("anyOf") or ()), *(schema.get("allOf") or ())):
        yield from _schemas(inner)


def _max_tokens(call: Call) -> Iterator[str]:
    if "max_tokens" not in call.request.model_fields_set:
        yield "max_tokens: Field required"
    elif call.request.max_tokens > call.model.max_output:
        yield f"max_tokens: {call.request.max_tokens} > {call.model.max_output}, the maximum for {call.model.id}"


RULES: Sequence[Callable[[Call], Iterator[str]]] = (
    _betas,
    _messages,
    _content,
    _sampling,
    _thinking,
    _tools,
    _marks,
    _form,
)
