"""YAML adapter. Reads what configuration needs and nothing else: mappings, lists and plain values, one document.

Anchors, aliases and tags are refused (a few hundred bytes can become megabytes, or code), and so are duplicate keys,
more than 20 levels and more than 20,000 values. A value is null, true, false, a number or a text; `07:00` and dates
stay texts. Why a value cannot be used is said in our words, not in pydantic's: what is wanted is read from the type
itself, so it is never said twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from typing import Any, TypeVar

import pydantic
import yaml

from sisimpur.shared.model.errors import Misconfigured, Refused
from sisimpur.shared.model.text import around_unseen

MAX_BYTES = 256 * 1024
MAX_DEPTH = 20
MAX_VALUES = 20_000
MOST_TOLD = 3  # problems of one text

T = TypeVar("T")
Path = tuple[str | int, ...]
WORDS: Mapping[str, object] = {"": None, "~": None, "null": None, "true": True, "false": False}
INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]{0,17})")
DECIMAL = re.compile(r"[-+]?[0-9]{1,17}\.[0-9]{1,17}")
Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@cache
def _form(wanted: Any) -> Any:
    """One for each type: the configuration is read again and again, and to build it takes as long as to read it."""
    return pydantic.TypeAdapter(wanted)


@dataclass(frozen=True)
class Document:
    """A parsed text, and the line (from 1) at which each value begins."""

    name: str
    value: Any
    lines: Mapping[Path, int] = field(default_factory=dict)

    def as_type(self, wanted: type[T]) -> T:
        """The value as `wanted`, or Misconfigured naming file, line and key."""
        kind: Any = wanted
        try:
            value: T = _form(kind).validate_python(self.value)
        except pydantic.ValidationError as error:
            found = list(islice(explained(wanted, error.errors(include_url=False)), MOST_TOLD))
            told = "; ".join(self._named(*one) for one in found)
            raise Misconfigured(told, wrong=[(_dotted(place), reason) for place, reason in found]) from None
        return value

    def _named(self, place: Path, reason: str) -> str:
        known = next(place[:n] for n in range(len(place), -1, -1) if place[:n] in self.lines or n == 0)
        return f"{self.name}:{self.lines.get(known, 1)}: {_dotted(place) or '(the whole file)'}: {reason}"


def _dotted(place: Path) -> str:
    return ".".join(map(str, place))


def parse(text: str, name: str, first_line: int = 1) -> Document:
    """`name` stands in messages; `first_line` is where `text` begins in its file."""
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise Refused(f"{name}: more than {MAX_BYTES} bytes")
    if "\0" in text:
        raise Refused(f"{name}: holds a NUL byte")
    for at, row in enumerate([] if text.isascii() else text.split("\n"), first_line):
        if around := around_unseen(row):
            raise Refused(f"{name}:{at}: holds what nobody sees; take it out: {around}")
    try:
        return _Builder(name, first_line).build(yaml.parse(text, Loader=Loader))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = first_line + (mark.line if mark else 0)
        reason = getattr(error, "problem", None) or "cannot be read"
        raise Refused(f"{name}:{line}: not valid YAML ({reason})") from None


class _Builder:
    """One pass over the events; nothing is built that was not checked."""

    def __init__(self, name: str, first_line: int) -> None:
        self._name = name
        self._first = first_line
        self._lines: dict[Path, int] = {}

    def build(self, events: Iterator[Any]) -> Document:
        value: Any = None
        documents = 0
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    self._refuse(event, "a second document begins here; one is read")
            elif isinstance(event, yaml.NodeEvent):
                value = self._value(event, events, ())
        return Document(self._name, value, self._lines)

    def _value(self, event: Any, events: Iterator[Any], path: Path) -> Any:
        if isinstance(event, yaml.AliasEvent) or event.anchor:
            self._refuse(event, "anchors and aliases are not read; write the value out")
        if event.tag and not (event.tag == "!" and isinstance(event, yaml.ScalarEvent)):
            self._refuse(event, f"the tag {event.tag[:60]} is not read")
        self._lines[path] = self._first + event.start_mark.line
        if len(self._lines) > MAX_VALUES:
            self._refuse(event, f"more than {MAX_VALUES} values")
        if len(path) >= MAX_DEPTH:
            self._refuse(event, f"more than {MAX_DEPTH} levels")
        if isinstance(event, yaml.ScalarEvent):
            return scalar(event.value) if event.implicit[0] else event.value
        if isinstance(event, yaml.SequenceStartEvent):
            return list(self._items(events, path))
        return self._mapping(events, path)

    def _items(self, events: Iterator[Any], path: Path) -> Iterator[Any]:
        number = 0
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            yield self._value(event, events, (*path, number))
            number += 1

    def _mapping(self, events: Iterator[Any], path: Path) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while not isinstance(event := next(events), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent) or event.anchor or event.tag:
                self._refuse(event, "a key must be a plain text")
            if event.value in found:
                first = self._lines[(*path, event.value)]
                self._refuse(event, f"the key {event.value[:60]!r} stands twice, first in line {first}; keep one")
            found[event.value] = self._value(next(events), events, (*path, event.value))
            self._lines[(*path, event.value)] = self._first + event.start_mark.line
        return found

    def _refuse(self, event: Any, reason: str) -> None:
        raise Refused(f"{self._name}:{self._first + event.start_mark.line}: {reason}")


def scalar(text: str) -> object:
    """Return what an unquoted word means."""
    if text in WORDS:
        return WORDS[text]
    if INTEGER.fullmatch(text):
        return int(text)
    return float(text) if DECIMAL.fullmatch(text) else text


# --- why a value cannot be used -------------------------------------------------------------------------------

Place = tuple[str | int, ...]
Schema = Mapping[str, Any]  # a JSON schema, or a part of one

UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument")
MISSING = ("missing", "missing_argument")
OURS = ("value_error", "assertion_error")  # raised by a rule of ours, which has words
OF_A_KEY = "[key]"  # how pydantic ends the place of a key that is wrong itself
MOST_NAMED = 8  # keys


def explained(wanted: Any, problems: Sequence[Any]) -> Iterator[tuple[Place, str]]:
    """Explain where it is, and what to write there; each once. `problems`: what pydantic found instead of `wanted`."""
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
    import difflib  # only for who has mistyped

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
        """Walk as far down as the type has a word for it: pydantic also names the members of a union."""
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
        """Resolve a value that may also be absent: what it is if it is there."""
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
