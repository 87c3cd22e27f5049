"""The model that tries an easy task first: the cheap one while it pays, by what earlier tries cost. Pure.

Amounts are nano-dollars.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sisimpur.shared.model.work import Difficulty, ModelChoice

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
    """Savings of the cheap model, less what its failures cost on top of the dear tries that followed them."""
    most = usual(record)
    return sum(saved(one, most) for one in _newest(record, "cheap"))


def saved(one: FirstTry, most: int | None) -> int:
    """Saving of a try with the cheap model; negative: lost. `most`: what a try with the dear one is known to cost.

    A model that needs more words for the same work has not saved what those words would have cost elsewhere.
    """
    if not one.good:
        return -(one.cost + one.checks)
    return (one.worth if most is None else min(one.worth, most)) - one.cost


def number_of(task: str) -> int:
    """A number of the task that stays the same, also after a crash."""
    return int.from_bytes(hashlib.sha256(task.encode()).digest()[:8], "big")


def usual(record: Sequence[FirstTry]) -> int | None:
    """Return what a first try with the dear model costs on average; None: too few are known."""
    dear = _newest(record, "dear")
    return sum(one.cost for one in dear) // len(dear) if len(dear) >= ENOUGH else None


def _newest(record: Sequence[FirstTry], lane: Lane) -> Sequence[FirstTry]:
    return [one for one in record if one.lane == lane][:NEWEST]
