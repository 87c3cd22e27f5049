"""What the upstream says of a batch of ours: data, bounded, and believed only where all of it fits to what we sent.

Addresses in it are not looked at: where a batch and its results lie is known to us.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from shared.domain.errors import Refused
from shared.edge.money.meter_answer import words

VENDORS_ID = re.compile(r"[A-Za-z0-9_-]{1,80}")
LONGEST_NOTE = 400
LONGEST_REASON = 40

Status = Literal["in_progress", "canceling", "ended"]
Ending = Literal["errored", "canceled", "expired"]


class Nonsense(Refused):
    """It is no answer to what we sent."""


@dataclass(frozen=True)
class Answered:
    """`usage` is as it came. `told`: what the caller reads, and nothing else of it: texts, none of them deep."""

    model: str
    usage: Mapping[str, Any]
    stop_reason: str
    texts: Sequence[str]

    @property
    def told(self) -> Mapping[str, Any]:
        usage = {name: count for name, count in self.usage.items() if isinstance(count, int | str)}
        content = [{"type": "text", "text": text} for text in self.texts]
        shown = {"type": "message", "model": self.model, "content": content, "usage": usage}
        return shown | {"stop_reason": self.stop_reason or None}


@dataclass(frozen=True)
class Unanswered:
    """The vendor bills nothing. `note`: why, in its words."""

    how: Ending
    note: str = ""


def taken(body: bytes) -> str:
    """The vendor's id of a new batch. Nonsense if there is none that we could ask for."""
    found = _object(body)
    number = found.get("id")
    if found.get("type") != "message_batch" or not isinstance(number, str) or not VENDORS_ID.fullmatch(number):
        raise Nonsense("the upstream took a batch and told no id of it")
    return number


def status(body: bytes, vendor: str) -> Status:
    """Of the batch with this id. Nonsense if it is another one's."""
    found = _object(body)
    said: Any = found.get("processing_status")
    if found.get("id") != vendor or said not in get_args(Status):
        raise Nonsense("the upstream says nothing of this batch that we know")
    return said  # type: ignore[no-any-return]


def result(body: bytes, key: str) -> Answered | Unanswered:
    """Of the one question of a batch. Nonsense if there is not exactly one line, and that one ours."""
    lines = [line for line in body.split(b"\n") if line.strip()]
    if len(lines) != 1:
        raise Nonsense(f"one question was asked, and {len(lines)} lines were answered")
    line = _object(lines[0])
    if line.get("custom_id") != key:
        raise Nonsense("the upstream answers a question that was not asked")
    found = _mapping(line.get("result"))
    how: Any = found.get("type")
    if how in get_args(Ending):
        return Unanswered(how, _note(found))
    message = _mapping(found.get("message"))
    if how != "succeeded" or not _is_message(message):
        raise Nonsense("the upstream's answer is no message")
    stopped = words(message.get("stop_reason") or "", LONGEST_REASON)
    return Answered(message["model"], message["usage"], stopped, tuple(_texts(message["content"])))


def _texts(content: Sequence[Any]) -> Iterator[str]:
    for block in map(_mapping, content):
        if block.get("type") == "text" and isinstance(text := block.get("text"), str):
            yield text


def _is_message(found: Mapping[str, Any]) -> bool:
    shapes = {"model": str, "usage": dict, "content": list}
    stopped = found.get("stop_reason")
    return all(isinstance(found.get(name), kind) for name, kind in shapes.items()) and isinstance(stopped, str | None)


def _note(found: Mapping[str, Any]) -> str:
    """An error stands in an error answer."""
    error = _mapping(found.get("error"))
    inner = _mapping(error.get("error")) or error
    said = (inner.get("type"), inner.get("message"))
    return words(" ".join(part for part in said if isinstance(part, str)), LONGEST_NOTE)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _object(data: bytes) -> Mapping[str, Any]:
    try:
        found = json.loads(data.decode("utf-8"), object_pairs_hook=_once)
    except (ValueError, RecursionError):
        raise Nonsense("the upstream's words are no plain JSON") from None
    if not isinstance(found, dict):
        raise Nonsense("the upstream's words are no JSON object")
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name comes twice")
    return found
