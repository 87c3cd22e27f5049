"""Events -> Redis Streams: each on its own channel, and all of them on `audit.logs`.

Not installed with the daemon. An entry has two fields: `id`, and `event`, the CloudEvent as JSON.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Timer
from types import ModuleType
from typing import Any

from sisimpur.shared.model.errors import Misconfigured, Unavailable
from sisimpur.shared.outlets.cloud_event import AUDIT, CloudEvent, Stream

PATIENCE = 5.0  # seconds for a connection, and for each piece of an answer
PIECES = 2  # as long for a portion: an answer may come letter by letter
LONGEST = 100_000  # entries of a channel that are kept, about
INSTALL = "type: .venv/bin/pip install 'redis>=5,<8'"


class RedisStreams:
    name = "redis"
    stream: Stream = "audit"

    def __init__(self, url: str, patience: float = PATIENCE) -> None:
        self._url, self._patience = url, patience
        self._client: Any = None

    @property
    def address(self) -> str:
        return self._url

    def take(self, events: Sequence[CloudEvent]) -> None:
        """See Outlet. All of a portion comes there at once, or nothing of it."""
        library = _library()
        try:
            self._client = self._client or _connected(library, self._url, self._patience)
        except ValueError:
            raise Misconfigured("EVENTS_REDIS_URL is no address of a Redis; write redis://HOST:PORT/0") from None
        try:
            with self._hung_up(), self._client.pipeline(transaction=True) as portion:
                for event in events:
                    entry = {"id": str(event.id), "event": event.text}
                    for channel in (event.channel, AUDIT):
                        portion.xadd(channel, entry, maxlen=LONGEST, approximate=True)
                portion.execute()
        except (library.RedisError, OSError, ValueError) as error:  # its words may hold the address
            raise Unavailable(f"it takes nothing: {type(error).__name__}") from None

    @contextmanager
    def _hung_up(self) -> Iterator[None]:
        """Hang up on one that comes to no end, whoever waits for it."""
        timer = Timer(PIECES * self._patience, self._client.connection_pool.disconnect)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()


def _connected(library: ModuleType, url: str, patience: float) -> Any:
    """It tries no call a second time by itself: the next tick does."""
    from_ = importlib.import_module
    once = from_("redis.retry").Retry(from_("redis.backoff").NoBackoff(), 0)
    seconds = {"socket_timeout": patience, "socket_connect_timeout": patience}
    return library.Redis.from_url(url, retry=once, **seconds)


def _library() -> ModuleType:
    try:
        return importlib.import_module("redis")
    except ImportError:
        raise Misconfigured(f"there is no redis package here; {INSTALL}") from None
