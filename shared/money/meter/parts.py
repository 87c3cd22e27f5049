"""What every room of the meter works with: its patience, its way to the book, the two sides of a call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar

from shared.money.ledger import Ledger
from shared.money.pricing import Pricing
from shared.money.token_budget import Caps
from shared.system.clock import Clock

if TYPE_CHECKING:
    from shared.money.meter.upstream import UpstreamClient

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class MeterTimeouts:
    """Times in seconds. A whole answer must be there before the caller's own time-out, usually 600."""

    first: float = 2.0  # the longest first wait between two tries; doubled each time
    longest: float = 60.0
    tries: int = 6
    told: float = 120.0  # the longest `retry-after` that is waited for
    body: float = 30.0  # for the caller to send his request
    idle: float = 300.0  # the upstream's longest silence
    whole: float = 590.0
    streamed: float = 3600.0


class LedgerThread:
    """The ledger's own thread: all entries in one order, over one connection, away from the event loop."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "meter-book")

    async def ask(self, entry: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await asyncio.shield(asyncio.wrap_future(self.later(entry, *args, **kwargs)))

    def later(self, entry: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Also when nobody waits for it any more."""
        return self._thread.submit(entry, *args, **kwargs)

    def close(self, last: Callable[[], None]) -> None:
        self.later(last)
        self._thread.shutdown(wait=True)


class CallerSide(Protocol):
    """The caller's side. `started`: he has seen a status, so nothing can be repeated."""

    @property
    def started(self) -> bool: ...

    async def piece(self, piece: bytes, request_id: str) -> None: ...

    async def end(self, last: bytes, message: Mapping[str, Any], request_id: str) -> None: ...


@dataclass(frozen=True)
class MeterParts:
    """What a call needs; the same for all calls."""

    ledger: Ledger
    book: LedgerThread
    pricing: Pricing
    caps: Callable[[], Caps]
    line: UpstreamClient
    clock: Clock
    patience: MeterTimeouts
    log: Callable[[str, dict[str, Any]], None]
    stopping: Callable[[], bool]  # nothing new is reserved any more
