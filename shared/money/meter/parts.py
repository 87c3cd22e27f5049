"""The parts of a running meter that every call uses, and the times that it waits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

from sisimpur.shared.money.ledger import Ledger
from sisimpur.shared.money.meter.upstream import UpstreamClient
from sisimpur.shared.money.pricing import Pricing
from sisimpur.shared.money.token_budget import Caps
from sisimpur.shared.system.clock import Clock

P = ParamSpec("P")
T = TypeVar("T")


# What was said in a call: its number, the request (bytes: one that was not understood), the blocks of the answer.
Talk = Callable[[int, Any, Any], object]


def no_talk(call: int, request: Any, answer: Any) -> None:
    """What is said is kept nowhere."""


@dataclass(frozen=True)
class MeterTimeouts:
    """Times that the meter waits, in seconds. `whole` stays below the caller's own time-out, usually 600."""

    first: float = 2.0  # the longest first wait between two tries; doubled each time
    longest: float = 60.0
    tries: int = 6
    told: float = 120.0  # the longest `retry-after` that is waited for
    body: float = 30.0  # for the caller to send the request
    idle: float = 300.0  # the upstream's longest silence
    whole: float = 590.0
    streamed: float = 3600.0


class LedgerThread:
    """The ledger's own thread: all entries in one order, away from the event loop. What was said has another."""

    def __init__(self, name: str = "meter-book") -> None:
        self._thread = ThreadPoolExecutor(1, name)

    async def ask(self, entry: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await asyncio.shield(asyncio.wrap_future(self.later(entry, *args, **kwargs)))

    def later(self, entry: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Make the entry also when nobody waits for it any more."""
        return self._thread.submit(entry, *args, **kwargs)

    def close(self) -> None:
        self._thread.shutdown(wait=True)


@dataclass(frozen=True)
class MeterParts:
    """The parts of a running meter that every call uses."""

    ledger: Ledger
    book: LedgerThread
    pricing: Pricing
    caps: Callable[[], Caps]
    line: UpstreamClient
    clock: Clock
    timeouts: MeterTimeouts
    log: Callable[[str, dict[str, Any]], None]
    stopping: Callable[[], bool]  # nothing new is reserved any more
    talk: Talk = no_talk  # takes no time of whoever calls it
    clean: Callable[[str], str] = str  # for what an upstream says of its errors
