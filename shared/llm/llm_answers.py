"""Answers of a model: from its text to a checked value."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

T = TypeVar("T")

LONGEST = 200_000  # characters of an answer
LONGEST_TEXT = 20_000  # characters of one text in it
LARGEST = 2**63 - 1  # what our database holds
CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")  # all but tab and line ends


class NotAnAnswer(ValueError):
    """The text does not fit the form. One line that tells the model what to change."""

    def __init__(self, reason: str) -> None:
        super().__init__(" ".join(CONTROLS.sub("?", reason).split()))  # it may quote a field's name


def adapter(answer: type[T]) -> TypeAdapter[T]:
    """The form of an answer: a plain dataclass, or any type that pydantic knows."""
    wanted: Any = answer
    form: TypeAdapter[T] = _adapter(wanted)
    return form


@cache
def _adapter(answer: Any) -> Any:
    """One for each form: to build it takes 10 ms."""
    return TypeAdapter(answer)


class _Bare(GenerateJsonSchema):
    """Titles say names again, our docstrings are for us, and a default is ours to fill in: each call would pay them."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002  theirs has it
        return False

    def default_schema(self, schema: Any) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])


@cache
def schema(form: TypeAdapter[Any]) -> Mapping[str, Any]:
    """The form as the API wants it. Its own title stays: it tells which form was asked for."""
    import anthropic

    bare = form.json_schema(schema_generator=_Bare)
    bare.pop("description", None)
    for part in bare.get("$defs", {}).values():
        part.pop("description", None)
        part.pop("title", None)
    wanted: Mapping[str, Any] = anthropic.transform_schema(bare)
    return wanted


def read(form: TypeAdapter[T], text: str) -> T:
    """The value, or NotAnAnswer: exactly one JSON document, no unknown field, nothing converted, all within limits."""
    if len(text) > LONGEST:
        raise NotAnAnswer(f"the answer has {len(text)} characters, the limit is {LONGEST}")
    try:
        value = form.validate_json(text, strict=True, extra="forbid")
    except ValidationError as error:
        raise NotAnAnswer(_explained(error)) from None
    for problem in _problems(json.loads(text, object_pairs_hook=_without_twins), "the answer"):
        raise NotAnAnswer(problem)
    return value


def _explained(error: ValidationError) -> str:
    """Places and reasons without the values, which are not ours to repeat."""
    found = error.errors(include_url=False, include_input=False, include_context=False)[:3]
    return "; ".join(
        f"{'.'.join(str(part)[:60] for part in e['loc']) or 'the answer'}: {e['msg']}"[:300] for e in found
    )


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise NotAnAnswer("a field stands twice in one object")
    return found


def _problems(value: Any, place: str) -> Iterator[str]:
    """What the form cannot say: texts, numbers and names that we could not store, show or pass on."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _problems(name, "a field's name")
            yield from _problems(inner, name[:60])
    elif isinstance(value, list):
        for inner in value:
            yield from _problems(inner, place)
    elif isinstance(value, str):
        if len(value) > LONGEST_TEXT:
            yield f"{place}: {len(value)} characters, the limit is {LONGEST_TEXT}"
        if bad := CONTROLS.search(value):
            yield f"{place}: holds the character U+{ord(bad.group()):04X}, which no text here may hold"
    elif isinstance(value, float) and not math.isfinite(value):
        yield f"{place}: not a finite number"
    elif isinstance(value, int) and abs(value) > LARGEST:
        yield f"{place}: the number is larger than {LARGEST}"
