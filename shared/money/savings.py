"""The arithmetic of prompt caching: what it saves, and whether it pays. Pure; amounts are nano-dollars."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from shared.money.token_budget import Rates, TokenUsage

KEPT = timedelta(minutes=5)  # since its last use
ENOUGH = 8  # calls that say something
BYTES_PER_TOKEN = 4  # of plain text: a guess, on the side of fewer tokens
LEAST, LEAST_OF_SMALL = 1_024, 4_096  # tokens: a shorter beginning is not kept, and no error says so


@dataclass(frozen=True)
class Saved:
    """Savings in nano-dollars; a loss is negative."""

    caching: int = 0
    routing: int = 0

    def __add__(self, other: Saved) -> Saved:
        return Saved(self.caching + other.caching, self.routing + other.routing)


def pays(rates: Rates, calls: int, again: int) -> bool:
    """Whether marks pay where, of so many calls, so many begin as one did within five minutes before.

    These read what the others have written. A model whose price for reading is not lower never pays.
    """
    return again * (rates.input - rates.read) > (calls - again) * (rates.write_5m - rates.input)


def cached(rates: Rates, usage: TokenUsage) -> int:
    """What a call has cost less than without marks; negative: more. `rates` are those for a prompt of this size."""
    surcharge = usage.write_5m * (rates.write_5m - rates.input) + usage.write_1h * (rates.write_1h - rates.input)
    return usage.read * (rates.input - rates.read) - surcharge


def is_long_enough(model: str, size: int) -> bool:
    """Whether a beginning of so many bytes is kept by this model: it is about so many tokens as it needs."""
    return size // BYTES_PER_TOKEN >= (LEAST_OF_SMALL if "haiku" in model else LEAST)
