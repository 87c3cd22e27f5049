"""The model that tries an easy task first: the cheap one while it pays, by what earlier tries cost. Pure.

Amounts are nano-dollars. What routing and prompt caching saved is summed up here too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from shared.model.work import Difficulty, ModelChoice
from shared.money.token_budget import Rates, TokenUsage

ENOUGH = 8  # first tries that say something
NEWEST = 50  # that count, of each model
ONE_IN = 10  # easy tasks, while the cheap model rests

Lane = Literal["cheap", "dear"]


@dataclass(frozen=True)
class Route:
    """The way one run of the coder asks its model.

    `beside`: the model that a first try at an easy task is measured by; else empty. `marks`: its prompt is to be kept.
    """

    model: ModelChoice
    beside: str = ""
    marks: bool = False


@dataclass(frozen=True)
class FirstTry:
    """The first try at an easy task, once it is known what came of it.

    `good`: it was merged, and stayed. `cost`: the coder's calls; `checks`: the reviewer's after it. `worth`: what the
    coder's tokens cost at the dear model's prices.
    """

    lane: Lane
    good: bool
    cost: int
    checks: int
    worth: int


def choose(difficulty: Difficulty, tries: int, record: Sequence[FirstTry], number: int) -> Lane:
    """Choose the model. `tries` so far, whatever came of them; `record`: the newest first; `number`: `number_of` it."""
    if difficulty is not Difficulty.EASY or tries:
        return "dear"
    if len(_newest(record, "cheap")) < ENOUGH or balance(record) > 0:
        return "cheap"
    return "dear" if number % ONE_IN else "cheap"


def balance(record: Sequence[FirstTry]) -> int:
    """What the cheap model has saved, less what its failures cost on top of the dear tries that followed them."""
    most = usual(record)
    return sum(saved(one, most) for one in _newest(record, "cheap"))


def saved(one: FirstTry, most: int | None) -> int:
    """What a try with the cheap model saved; negative: lost. `most`: what a try with the dear one is known to cost.

    A model that needs more words for the same work has not saved what those words would have cost elsewhere.
    """
    if not one.good:
        return -(one.cost + one.checks)
    return (one.worth if most is None else min(one.worth, most)) - one.cost


def number_of(task: str) -> int:
    """A number of the task that stays the same, also after a crash."""
    return int.from_bytes(hashlib.sha256(task.encode()).digest()[:8], "big")


def usual(record: Sequence[FirstTry]) -> int | None:
    """What a first try with the dear model costs on average; None: too few are known."""
    dear = _newest(record, "dear")
    return sum(one.cost for one in dear) // len(dear) if len(dear) >= ENOUGH else None


def _newest(record: Sequence[FirstTry], lane: Lane) -> Sequence[FirstTry]:
    return [one for one in record if one.lane == lane][:NEWEST]


KEPT = timedelta(minutes=5)  # since its last use
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
