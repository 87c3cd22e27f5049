"""Server-sent events of the Messages API: from bytes to events, and from events to one message.

What comes from the upstream is data: bounded, and broken wherever it does not fit. A stream is complete only with
`message_stop`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sisimpur.shared.model.errors import Unavailable
from sisimpur.shared.model.text import one_line

MAX_EVENT = 4 * 1024 * 1024  # bytes
MAX_MESSAGE = 64 * 1024 * 1024  # bytes of a whole stream

_BLANK = re.compile(rb"\r?\n\r?\n")

Event = dict[str, Any]


class Splitter:
    """Cuts a stream at its blank lines; each piece keeps its own bytes, to be passed on unchanged."""

    def __init__(self) -> None:
        self._rest = b""
        self._total = 0

    def feed(self, data: bytes) -> Iterator[tuple[bytes, Event]]:
        """The events that `data` completes, as they came and as they read."""
        self._rest += data
        self._total += len(data)
        while end := _BLANK.search(self._rest):
            piece, self._rest = self._rest[: end.end()], self._rest[end.end() :]
            event = _read(piece)
            if event is not None:
                yield piece, event
        if len(self._rest) > MAX_EVENT or self._total > MAX_MESSAGE:
            raise Unavailable("the upstream's stream is too long")


def _read(piece: bytes) -> Event | None:
    """None: a comment. The event's name is repeated in its data, so only the data counts."""
    lines = [line[5:].lstrip() for line in piece.splitlines() if line.startswith(b"data:")]
    if not lines:
        return None
    try:
        event = json.loads(b"\n".join(lines))
    except (ValueError, RecursionError):
        raise Unavailable("the upstream's stream holds no JSON") from None
    if not isinstance(event, dict) or not isinstance(event.get("type"), str):
        raise Unavailable("the upstream's stream holds no event")
    return event


@dataclass
class ArrivingMessage:
    """A message while it arrives."""

    message: dict[str, Any] = field(default_factory=dict)
    usage: dict[str, Any] = field(default_factory=dict)
    complete: bool = False
    error: str = ""  # the type of an `error` event
    characters: int = 0  # of the answer so far
    _parts: dict[int, list[str]] = field(default_factory=dict)  # of the blocks that are still growing

    @property
    def started(self) -> bool:
        """The upstream has counted the prompt."""
        return "input_tokens" in self.usage

    @property
    def stop_reason(self) -> str:
        return one_line(str(self.message.get("stop_reason") or ""), 40)

    def take(self, event: Event) -> None:
        """Unavailable if the event does not fit what came before. Unknown kinds change nothing."""
        try:
            _TAKE.get(event["type"], _ignore)(self, event)
        except (KeyError, IndexError, TypeError, AttributeError, ValueError, RecursionError):
            raise Unavailable("the upstream's events do not fit together") from None

    def _count(self, usage: dict[str, Any]) -> None:
        """The counts are cumulative; a null says nothing."""
        self.usage.update({key: value for key, value in usage.items() if value is not None})


def _ignore(reading: ArrivingMessage, event: Event) -> None:
    pass


def _message_start(reading: ArrivingMessage, event: Event) -> None:
    reading.message = dict(event["message"], content=[])
    reading._count(reading.message["usage"])


def _block_start(reading: ArrivingMessage, event: Event) -> None:
    content = reading.message["content"]
    if event["index"] != len(content):
        raise IndexError
    content.append(dict(event["content_block"]))


def _block_delta(reading: ArrivingMessage, event: Event) -> None:
    index, delta = event["index"], event["delta"]
    block = reading.message["content"][index]
    if delta["type"] == "signature_delta":
        block["signature"] = delta["signature"]
    elif delta["type"] in _PART:
        part = delta[_PART[delta["type"]]]
        reading.characters += len(part)
        reading._parts.setdefault(index, []).append(part)


def _block_stop(reading: ArrivingMessage, event: Event) -> None:
    block = reading.message["content"][event["index"]]
    text = "".join(reading._parts.pop(event["index"], ()))
    if block["type"] == "tool_use":
        block["input"] = json.loads(text) if text else block.get("input") or {}
    elif block["type"] in ("text", "thinking"):
        block[block["type"]] = block.get(block["type"], "") + text


def _message_delta(reading: ArrivingMessage, event: Event) -> None:
    reading.message.update(event["delta"])
    reading._count(event.get("usage") or {})


def _message_stop(reading: ArrivingMessage, _event: Event) -> None:
    reading.message["usage"] = reading.usage
    reading.complete = reading.started and not reading.error and not reading._parts


def _error(reading: ArrivingMessage, event: Event) -> None:
    reading.error = str(event["error"]["type"])[:40]


_PART = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}

_TAKE = {
    "message_start": _message_start,
    "content_block_start": _block_start,
    "content_block_delta": _block_delta,
    "content_block_stop": _block_stop,
    "message_delta": _message_delta,
    "message_stop": _message_stop,
    "error": _error,
}
