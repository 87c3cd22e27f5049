"""Door to YAML. The only module that knows a YAML library.

Reads what configuration needs and nothing else: mappings, lists and plain values, one document. Anchors, aliases and
tags are refused (a few hundred bytes can become megabytes, or code), and so are duplicate keys, more than 20 levels
and more than 20,000 values. A value is null, true, false, a number or a text; `07:00` and dates stay texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from typing import Any, TypeVar

import pydantic
import yaml

from shared.model.errors import Misconfigured, Refused
from shared.system.yaml_words import explained

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


class BadYaml(Refused):
    """The text is not the YAML that we read. Its text names file, line and reason."""


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
            found = explained(wanted, error.errors(include_url=False))
            raise Misconfigured("; ".join(self._named(*one) for one in islice(found, MOST_TOLD))) from None
        return value

    def _named(self, place: Path, reason: str) -> str:
        known = next(place[:n] for n in range(len(place), -1, -1) if place[:n] in self.lines or n == 0)
        key = ".".join(str(part) for part in place) or "(the whole file)"
        return f"{self.name}:{self.lines.get(known, 1)}: {key}: {reason}"


def parse(text: str, name: str, first_line: int = 1) -> Document:
    """`name` stands in messages; `first_line` is where `text` begins in its file."""
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise BadYaml(f"{name}: more than {MAX_BYTES} bytes")
    if "\0" in text:
        raise BadYaml(f"{name}: holds a NUL byte")
    try:
        return _Builder(name, first_line).build(yaml.parse(text, Loader=Loader))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = first_line + (mark.line if mark else 0)
        reason = getattr(error, "problem", None) or "cannot be read"
        raise BadYaml(f"{name}:{line}: not valid YAML ({reason})") from None


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
                self._refuse(event, f"the key {event.value[:60]!r} stands twice")
            found[event.value] = self._value(next(events), events, (*path, event.value))
            self._lines[(*path, event.value)] = self._first + event.start_mark.line
        return found

    def _refuse(self, event: Any, reason: str) -> None:
        raise BadYaml(f"{self._name}:{self._first + event.start_mark.line}: {reason}")


def scalar(text: str) -> object:
    """What an unquoted word means."""
    if text in WORDS:
        return WORDS[text]
    if INTEGER.fullmatch(text):
        return int(text)
    return float(text) if DECIMAL.fullmatch(text) else text
