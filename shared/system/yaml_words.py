"""Why a value in one of the owner's files cannot be used: what to write there, in our words and not in pydantic's.

What is wanted is read from the type itself: it is never said twice.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pydantic

Place = tuple[str | int, ...]
Schema = Mapping[str, Any]  # a JSON schema, or a part of one

UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument")
MISSING = ("missing", "missing_argument")
OURS = ("value_error", "assertion_error")  # raised by a rule of ours, which has words
OF_A_KEY = "[key]"  # how pydantic ends the place of a key that is wrong itself
MOST_NAMED = 8  # keys


def explained(wanted: Any, problems: Sequence[Any]) -> Iterator[tuple[Place, str]]:
    """Where it is, and what to write there; each once. `problems`: what pydantic found where `wanted` should be."""
    type_ = _Type(pydantic.TypeAdapter(wanted).json_schema())
    yield from dict.fromkeys(_explained(type_, problem) for problem in problems)


def _explained(type_: _Type, problem: Any) -> tuple[Place, str]:
    kind, place = problem["type"], tuple(problem["loc"])
    known, schema = type_.at(place)
    if kind in UNKNOWN:
        return place, _unknown(str(place[-1]), schema)
    if kind in MISSING:
        return place, "is missing; add it"
    if place[-1:] == (OF_A_KEY,):
        return known, "a name that cannot stand here; write letters and digits"
    if kind in OURS:
        return known, problem["msg"].partition(", ")[2]
    in_quotes = "; put it in quotes" if kind == "string_type" and isinstance(problem["input"], int | float) else ""
    return known, f"{type_.wanted(schema)}{in_quotes}"


def _unknown(name: str, schema: Schema) -> str:
    keys = list(schema.get("properties", ()))
    if near := difflib.get_close_matches(name, keys, 1):
        return f"unknown key: this version does not know it; did you mean {near[0]}?"
    return f"unknown key: this version does not know it; it knows {_named(keys)}"


def _named(keys: Sequence[str]) -> str:
    return ", ".join((*keys[:MOST_NAMED], *(["..."] if keys[MOST_NAMED:] else [])))


class _Type:
    def __init__(self, schema: Schema) -> None:
        self._whole = schema

    def at(self, place: Place) -> tuple[Place, Schema]:
        """As far down as the type has a word for it: pydantic also names the members of a union."""
        schema = self._resolved(self._whole)
        for depth, part in enumerate(place):
            below = self._below(schema, part)
            if below is None:
                return place[:depth], schema
            schema = self._resolved(below)
        return place, schema

    def _below(self, schema: Schema, part: str | int) -> Schema | None:
        if isinstance(part, int):
            return schema.get("items")
        named: Schema | None = schema.get("properties", {}).get(part)
        patterned = next(iter(schema.get("patternProperties", {}).values()), None)
        others = schema.get("additionalProperties")
        return named or patterned or (others if isinstance(others, Mapping) else None)

    def _resolved(self, schema: Schema) -> Schema:
        """Where a value may also be absent: what it is if it is there."""
        members = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
        if len(members) == 1:
            return self._resolved(members[0])
        name = schema.get("$ref", "").rpartition("/")[2]
        return {**self._whole["$defs"][name], **schema} if name else schema

    # -- what to write ----------------------------------------------------------------------------------------

    def wanted(self, schema: Schema) -> str:
        """`write a whole number from 1 to 16`."""
        return f"write {self._wanted(self._resolved(schema))}"

    def _wanted(self, schema: Schema) -> str:
        if "anyOf" in schema:
            members = [one for one in schema["anyOf"] if one.get("type") != "null"]
            return " or ".join(dict.fromkeys(self._wanted(self._resolved(one)) for one in members))
        if choices := schema.get("enum") or [schema[name] for name in ("const",) if name in schema]:
            return f"one of: {', '.join(str(choice) or repr('') for choice in choices)}"
        match schema.get("type"):
            case "boolean":
                return "true or false"
            case "integer":
                return f"a whole number{_range(schema)}"
            case "number":
                return f"a number{_range(schema)}"
            case "string":
                return _text(schema)
            case "array":
                return f"a list in [ ]{_long(schema, 'Items', 'values')}, each {self._item(schema)}"
            case "object" if keys := schema.get("required") or list(schema.get("properties", ())):
                return f"keys with their values below it: {_named(keys)}"
            case "object":
                return "names with their values below it"
        return "something else here"

    def _item(self, schema: Schema) -> str:
        return self._wanted(self._resolved(schema.get("items", {})))


def _range(schema: Schema) -> str:
    least, most, above = (schema.get(name) for name in ("minimum", "maximum", "exclusiveMinimum"))
    if least is not None and most is not None:
        return f" from {_number(least)} to {_number(most)}"
    low = (
        f" of at least {_number(least)}"
        if least is not None
        else f" above {_number(above)}"
        if above is not None
        else ""
    )
    high = f"at most {_number(most)}" if most is not None else ""
    return f"{low}{f', {high}' if low else f' of {high}'}" if high else low


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else str(value)


def _text(schema: Schema) -> str:
    if schema.get("format") == "regex":
        return "a regular expression"
    length = _long(schema, "Length", "characters")
    if examples := schema.get("examples"):
        return f"a text like {examples[0]}{length}"
    return f"a text{length}{' and no character that cannot stand here' if 'pattern' in schema else ''}"


def _long(schema: Schema, of: str, what: str) -> str:
    least, most = schema.get(f"min{of}"), schema.get(f"max{of}")
    if least is not None and most is not None:
        return f" of {least} to {most} {what}"
    return f" of at most {most} {what}" if most is not None else f" of at least {least} {what}" if least else ""
