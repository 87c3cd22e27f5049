"""One value of a settings file -> the file's text with it: comments, order and all other letters stay as they are."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import yaml

from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.system import strict_yaml

Value = bool | int | float | str | None
PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_/-]*")  # a word that needs no quotes


def changed(text: str, name: str, values: Mapping[str, Value]) -> str:
    """Return the text of the file `name` with these values, by their keys (`budget.day`). No value is judged here.

    Refused: it is no YAML of ours. Misconfigured: it is written in a way that only a person changes well.
    """
    for key, value in values.items():
        path = tuple(key.split("."))
        wanted = _with(strict_yaml.parse(text, name).value, path, value)
        text = _edited(text, name, path, value)
        if strict_yaml.parse(text, name).value != wanted:
            raise Misconfigured(f"{name}: {key} is written in a way that is not changed from here; use an editor")
    return text


def _with(tree: Any, path: tuple[str, ...], value: Value) -> Any:
    """What should be read afterwards."""
    if not path:
        return value
    below = tree if isinstance(tree, dict) else {}
    return {**below, path[0]: _with(below.get(path[0]), path[1:], value)}


def _edited(text: str, name: str, path: tuple[str, ...], value: Value) -> str:
    node = yaml.compose(text, Loader=yaml.SafeLoader)
    for depth, step in enumerate(path):
        if not isinstance(node, yaml.MappingNode):
            break
        found = next((below for key, below in node.value if key.value == step), None)
        if found is None:
            return _added(text, node, step, _nested(path[depth + 1 :], value))
        node = found
    else:
        if isinstance(node, yaml.ScalarNode):
            begin, end = node.start_mark.index, node.end_mark.index
            return f"{text[:begin]}{'' if end > begin else ' '}{_written(value)}{text[end:]}"
    raise Misconfigured(f"{name}: {'.'.join(path)} cannot be put in from here; write it in an editor")


def _added(text: str, into: yaml.MappingNode, key: str, written: str) -> str:
    """Put a key behind the last one: in its line between `{ }`, else in a line of its own."""
    if into.flow_style:
        at = into.value[-1][1].end_mark.index if into.value else into.end_mark.index - 1
        return f"{text[:at]}{', ' if into.value else ''}{key}: {written}{text[at:]}"
    last = into.value[-1][1]
    while isinstance(last, yaml.CollectionNode) and not last.flow_style and last.value:
        last = last.value[-1][1] if isinstance(last, yaml.MappingNode) else last.value[-1]
    rest = text.find("\n", last.end_mark.index)
    at = len(text) if rest < 0 else rest
    return f"{text[:at]}\n{' ' * into.start_mark.column}{key}: {written}{text[at:]}"


def _nested(path: tuple[str, ...], value: Value) -> str:
    return f"{{{path[0]}: {_nested(path[1:], value)}}}" if path else _written(value)


def _written(value: Value) -> str:
    if isinstance(value, str) and PLAIN.fullmatch(value) and value not in strict_yaml.WORDS:
        return value
    return json.dumps(value, ensure_ascii=False)
