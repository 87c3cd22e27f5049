"""Upstream adapter: the meter's line to the vendor. The real key is held here, in memory alone.

No redirects, no proxies from the environment, certificates checked; what comes back is bounded and read as it comes.

Only an upstream that has counted right is asked by many at once, and below bounds that fit. Once it has told what
cannot be true, each of its models has to show for itself that it counts right.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Set
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import httpx2

from sisimpur.shared.model.errors import Unavailable
from sisimpur.shared.model.text import one_line

PROOF = 2  # calls that were counted within their bounds
UNPROVED = 2  # calls in flight before that
SUSPECTED = 1  # of all models together that have not counted right since a lie
LOOKING = 0.02  # seconds between two looks whether there is room for one more


@dataclass(frozen=True)
class Vendor:
    """`errors_free`: its errors are not billed, by its own word. `counts`: it counts tokens for nothing."""

    errors_free: bool = False
    counts: bool = False


# What is written down by the vendor itself, as seen on 2026-11-23. Of all others nothing is taken for granted.
VENDORS = {
    "api.anthropic.com": Vendor(counts=True),  # of errors 500 and 529 its pages do not say that they are free
    "openrouter.ai": Vendor(errors_free=True),  # "zero completion insurance"
}


class Standing:
    """Trust in one upstream, model by model. A start of the meter begins anew."""

    def __init__(self) -> None:
        self._believed = Counter[str]()
        self._finer: set[str] = set()
        self._away: set[str] = set()
        self._substitutes: dict[str, set[str]] = {}
        self._in_flight = Counter[str]()
        self.has_lied = False

    @asynccontextmanager
    async def turn(self, model: str) -> AsyncIterator[None]:
        """Wait until one more call of a model may be in flight."""
        while not self._has_room(model):
            await asyncio.sleep(LOOKING)
        self._in_flight[model] += 1
        try:
            yield
        finally:
            self._in_flight[model] -= 1

    def _has_room(self, model: str) -> bool:
        unproved = sum(calls for one, calls in self._in_flight.items() if not self._is_proved(one))
        return self._is_proved(model) or unproved < (SUSPECTED if self.has_lied else UNPROVED)

    def _is_proved(self, model: str) -> bool:
        """Before a lie, one model speaks for all of them."""
        return (self._believed[model] if self.has_lied else self._believed.total()) >= PROOF

    def fits(self, model: str) -> bool:
        """Tell whether the bounds of what its prompts are made of hold for a model, as far as it is known."""
        return self._believed[model] >= PROOF and model not in self._finer

    def believed(self, model: str, within: bool) -> None:
        """Note a count that can be true. `within`: it is no larger than known tokenizers would make it."""
        self._away.discard(model)
        if within:
            self._believed[model] += 1
        else:
            self._finer.add(model)

    def substituted(self, model: str, by: str) -> None:
        """Note that another model than the one asked for answers, one whose price is known."""
        self._substitutes.setdefault(model, set()).add(by)

    def substitutes(self, model: str) -> Set[str]:
        """Name all that have answered in the place of a model: the next answer may be one of theirs."""
        return self._substitutes.get(model, set())

    def doubted(self) -> None:
        """Note a call that cannot be true: no model of this upstream is believed as before."""
        self.has_lied = True
        self._believed.clear()

    def given_up(self, model: str) -> None:
        """Note that a model did not answer however often it was asked. It is told as away."""
        self._away.add(model)

    def is_away(self, model: str) -> bool:
        return model in self._away


CALL, COUNT = "/v1/messages", "/v1/messages/count_tokens"
MAX_ERROR = 64 * 1024  # bytes of an error answer
BEARER_SINCE = "2026-10-21"  # the API version that takes the key as a bearer
LINGER = 0.2  # seconds for the end of a stream that said it is over, so that the connection can be used again

_NOT_REACHED = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.UnsupportedProtocol)


@dataclass(frozen=True)
class Upstream:
    """Upstream of the calls. `key` may be empty for a local model.

    `vendor`: what is written down of it; None: look its address up.
    """

    base_url: str
    key: str = field(repr=False)
    vendor: Vendor | None = None

    def credentials(self, version: str) -> dict[str, str]:
        """Anthropic took `x-api-key` first and takes a bearer now; all others take a bearer."""
        if not self.key:
            return {}
        if urlsplit(self.base_url).hostname == "api.anthropic.com" and version < BEARER_SINCE:
            return {"x-api-key": self.key}
        return {"authorization": f"Bearer {self.key}"}


class Response:
    """An answer while it is read. `read` answers None at the end; Unavailable if it is cut."""

    def __init__(self, response: httpx2.Response, key: str) -> None:
        self._key = key.encode()
        self.status = response.status_code
        self.headers = response.headers
        self._chunks = response.aiter_raw()

    async def read(self) -> bytes | None:
        try:
            return await anext(self._chunks, None)
        except httpx2.TransportError as error:
            raise Unavailable(f"the upstream's answer broke ({type(error).__name__})") from None

    async def head(self) -> bytes:
        """Read as much of an answer as is worth it. Some errors tell us the key that they do not like: it is masked.

        In what is no error it would be a word like any other, if the key is a short one.
        """
        found = bytearray()
        while len(found) < MAX_ERROR and (data := await self.read()) is not None:
            found += data
        tells_key = self._key and self.status != 200
        return bytes(found.replace(self._key, b"***") if tells_key else found)[:MAX_ERROR]

    async def finish(self) -> None:
        with suppress(TimeoutError, Unavailable):
            async with asyncio.timeout(LINGER):
                while await self.read() is not None:
                    pass


class UpstreamClient:
    """Open while the meter runs. `idle` is the longest silence of the upstream, in seconds."""

    def __init__(self, upstream: Upstream, idle: float) -> None:
        self._upstream = upstream
        self.vendor = upstream.vendor or VENDORS.get(urlsplit(upstream.base_url).hostname or "", Vendor())
        self.standing = Standing()
        self._client = httpx2.AsyncClient(
            timeout=httpx2.Timeout(idle, connect=10, pool=10),
            limits=httpx2.Limits(max_connections=200, max_keepalive_connections=50),
            follow_redirects=False,
            trust_env=False,
            verify=urlsplit(upstream.base_url).scheme == "https",  # to load certificates takes 25 ms
        )

    async def close(self) -> None:
        """Close. What was cut off closes in the next round of the event loop, and there may be none after this."""
        await self._client.aclose()
        await asyncio.sleep(0)

    @asynccontextmanager
    async def post(self, path: str, headers: Mapping[str, str], body: bytes) -> AsyncIterator[Response]:
        """Unavailable: it says whether anything may have been sent."""
        url = self._upstream.base_url.rstrip("/") + path
        keyed = {**headers, "accept-encoding": "identity", "user-agent": "sisimpur-agents"}
        keyed |= self._upstream.credentials(headers["anthropic-version"])
        request = self._client.build_request("POST", url, headers=keyed, content=body)
        try:
            response = await self._client.send(request, stream=True)
        except _NOT_REACHED as error:
            raise Unavailable(f"the upstream cannot be reached ({type(error).__name__})", unbilled=True) from None
        except httpx2.TransportError as error:
            raise Unavailable(f"the upstream did not answer ({type(error).__name__})") from None
        try:
            yield Response(response, self._upstream.key)
        finally:
            await response.aclose()


# --- server-sent events of the Messages API -> one message ---------------------------------------------------


MAX_EVENT = 4 * 1024 * 1024  # bytes
MAX_MESSAGE = 64 * 1024 * 1024  # bytes of a whole stream
FRAMES, WIDEST = 64 * 1024, 1024  # bytes of a stream besides its answer, and for one token of that

_BLANK, LONGEST_BLANK = re.compile(rb"\r?\n\r?\n"), 4

Event = dict[str, Any]


class Splitter:
    """Cuts a stream at its blank lines; each piece keeps its own bytes, to be passed on unchanged.

    `most`: bytes of all of it; Unavailable beyond that.
    """

    def __init__(self, most: int = MAX_MESSAGE) -> None:
        self._rest = bytearray()
        self._left = most

    def feed(self, data: bytes) -> Iterator[tuple[bytes, Event]]:
        """The events that `data` completes, as they came and as they read."""
        seen = max(0, len(self._rest) - LONGEST_BLANK + 1)  # in what is before that there is no blank line
        self._rest += data
        self._left -= len(data)
        while end := _BLANK.search(self._rest, seen):
            piece, self._rest, seen = bytes(self._rest[: end.end()]), self._rest[end.end() :], 0
            event = _read(piece)
            if event is not None:
                yield piece, event
        if len(self._rest) > MAX_EVENT or self._left < 0:
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
    _texts: list[str] = field(default_factory=list)  # the answer so far
    _parts: dict[int, list[str]] = field(default_factory=dict)  # of the blocks that are still growing

    @property
    def started(self) -> bool:
        """The upstream has counted the prompt."""
        return "input_tokens" in self.usage

    @property
    def model(self) -> str:
        """Who answers, by its own word."""
        return str(self.message.get("model") or "")

    @property
    def stop_reason(self) -> str:
        return one_line(str(self.message.get("stop_reason") or ""), 40)

    @property
    def text(self) -> str:
        """All that came so far of the answer: words, thoughts, what tools are called with."""
        return "".join(self._texts)

    @property
    def said(self) -> list[Any]:
        """The blocks of the answer; of one that came to no end, its text so far."""
        if self.complete:
            return list(self.message["content"])
        return [{"type": "text", "text": self.text}] if self.text else []

    def take(self, event: Event) -> None:
        """Unavailable if the event does not fit what came before. Unknown kinds change nothing."""
        try:
            _TAKE.get(event["type"], _ignore)(self, event)
        except (KeyError, IndexError, TypeError, AttributeError, ValueError, RecursionError):
            raise Unavailable("the upstream's events do not fit together") from None

    def _take(self, part: str) -> None:
        self.characters += len(part)
        self._texts.append(part)

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
    for name in ("text", "thinking", "input"):  # a block may begin with a part of itself
        part = content[-1].get(name) or ""
        reading._take(part if isinstance(part, str) else json.dumps(part))


def _block_delta(reading: ArrivingMessage, event: Event) -> None:
    index, delta = event["index"], event["delta"]
    block = reading.message["content"][index]
    if delta["type"] == "signature_delta":
        block["signature"] = delta["signature"]
    elif delta["type"] in _PART:
        part = delta[_PART[delta["type"]]]
        reading._take(part)
        reading._parts.setdefault(index, []).append(part)


def _block_stop(reading: ArrivingMessage, event: Event) -> None:
    block = reading.message["content"][event["index"]]
    text = "".join(reading._parts.pop(event["index"], ()))
    if block["type"] == "tool_use":
        block["input"] = json.loads(text) if text else block.get("input") or {}
    elif block["type"] in ("text", "thinking"):
        block[block["type"]] = block.get(block["type"], "") + text


def _message_delta(reading: ArrivingMessage, event: Event) -> None:
    reading.message.update({**event["delta"], "content": reading.message["content"]})
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
