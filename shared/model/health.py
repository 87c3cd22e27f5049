"""Is what was started healthy? (looks, rule) -> Healthy, Sick or Unsure. Pure: who looks, and how often, is elsewhere.

A page that answers is not enough: what exits, begins again and again, or complains in its log is sick too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """Of the owner's configuration. Seconds count from the start."""

    grace: float = 30.0  # while it comes up, pages need not answer
    watch: float = 900.0  # healthy for so long, and it is left alone
    flaps: int = 5  # looks that needed a second try: so many, and it is sick
    restarts: int = 0  # that are forgiven


@dataclass(frozen=True)
class HealthLook:
    """One look at a place. `wrong`: the first page that did not answer as it should, after all its retries."""

    at: float  # seconds since the start
    wrong: str = ""
    tries: int = 1  # the most that a page needed
    dead: str = ""  # how it ended, if it does not run any more
    restarts: int = 0  # since the start
    logged: str = ""  # a line of its log that says that it is sick

    @property
    def is_well(self) -> bool:
        return not (self.wrong or self.dead or self.logged)


@dataclass(frozen=True)
class Healthy:
    """It has been well for its whole time of watching."""


@dataclass(frozen=True)
class Sick:
    why: str


@dataclass(frozen=True)
class Unsure:
    """It is too early to say. `is_up`: it was well at the last look."""

    is_up: bool


Vitals = Healthy | Sick | Unsure


def judge(looks: Sequence[HealthLook], rule: Rule) -> Vitals:
    """`looks`: all since the start that we know of, the newest last."""
    if not looks:
        return Unsure(is_up=False)
    last = looks[-1]
    if why := _sickness(looks, rule):
        return Sick(why)
    return Healthy() if last.is_well and last.at >= rule.watch else Unsure(last.is_well)


def _sickness(looks: Sequence[HealthLook], rule: Rule) -> str:
    last = looks[-1]
    if last.dead:
        return last.dead
    if last.restarts > rule.restarts:
        return f"it was started again {last.restarts} times by itself"
    if last.logged:
        return f"its log says: {last.logged}"
    came_up = [look for look in looks if look.is_well]
    if last.wrong and (came_up or last.at >= rule.grace):
        return last.wrong if came_up else f"not up after {rule.grace:g} s: {last.wrong}"
    flapped = [look for look in came_up[1:] if look.tries > 1]  # while it comes up, another try is no wonder
    if rule.flaps and len(flapped) >= rule.flaps:
        return f"it answers only now and then: {len(flapped)} of {len(looks)} looks needed another try"
    return ""
