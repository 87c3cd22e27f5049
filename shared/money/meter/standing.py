"""What is known of an upstream: by a table of vendors, and by what it has shown since the meter started.

Only an upstream that has counted right is asked by many at once, and below bounds that fit. Once it has told what
cannot be true, each of its models has to show for itself that it counts right.
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


def vendor_of(url: str) -> Vendor:
    """Return what is written down of the vendor at an address."""
    return VENDORS.get(urlsplit(url).hostname or "", Vendor())


class Standing:
    """Trust in one upstream, model by model. A start of the meter begins anew."""

    def __init__(self) -> None:
        self._believed = Counter[str]()
        self._finer: set[str] = set()
        self._away: set[str] = set()
        self._in_flight = Counter[str]()
        self._has_lied = False

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
        return self._is_proved(model) or unproved < (SUSPECTED if self._has_lied else UNPROVED)

    def _is_proved(self, model: str) -> bool:
        """Before a lie, one model speaks for all of them."""
        return (self._believed[model] if self._has_lied else self._believed.total()) >= PROOF

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
        self._has_lied = True
        self._believed.clear()

    def given_up(self, model: str) -> None:
        """Note that a model did not answer however often it was asked. It is told as away."""
        self._away.add(model)

    def is_away(self, model: str) -> bool:
        return model in self._away
