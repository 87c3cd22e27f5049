"""What is known of an upstream: by a table of vendors, and by what it has shown since the meter started.

Only an upstream that has counted right is asked by many at once, and below bounds that fit.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

PROOF = 2  # calls that were counted within their bounds
UNPROVED = 2  # calls in flight before that
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


def vendor_of(url: str) -> Vendor:
    """Return what is written down of the vendor at an address."""
    return VENDORS.get(urlsplit(url).hostname or "", Vendor())


class Standing:
    """Trust in one upstream, model by model. A start of the meter begins anew."""

    def __init__(self) -> None:
        self._believed = Counter[str]()
        self._finer: set[str] = set()
        self._away: set[str] = set()
        self._in_flight = 0

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait until one more call may be in flight."""
        while self._believed.total() < PROOF and self._in_flight >= UNPROVED:
            await asyncio.sleep(LOOKING)
        self._in_flight += 1
        try:
            yield
        finally:
            self._in_flight -= 1

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

    def doubted(self) -> None:
        """Note a call that cannot be true: no model of this upstream is believed as before."""
        self._believed.clear()

    def given_up(self, model: str) -> None:
        """Note that a model did not answer however often it was asked. It is told as away."""
        self._away.add(model)

    def is_away(self, model: str) -> bool:
        return model in self._away
