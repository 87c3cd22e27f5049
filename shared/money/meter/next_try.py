"""What follows a try that brought no message: wait and try again, or give up. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from sisimpur.shared.model.schedule import back_off
from sisimpur.shared.money.meter.answer import Billed, Rejected, Then
from sisimpur.shared.money.meter.parts import MeterTimeouts
from sisimpur.shared.money.ticket import CallEnding
from sisimpur.shared.money.token_budget import Refusal

LATEST = 30 * 86400  # seconds


@dataclass(frozen=True)
class FailedTry:
    """A try that brought no message."""

    rejected: Rejected
    billed: Billed = "all"
    then: Then = "answer"
    retry_after: float | None = None
    ending: CallEnding = field(default_factory=CallEnding)


@dataclass(frozen=True)
class Patience:
    """How long one call is tried. `most`: seconds between its tries together. `once`: one try tells all of it."""

    timeouts: MeterTimeouts
    most: float
    once: bool = False


def next_wait(failure: FailedTry, retry: int, waited: float, patience: Patience, chance: float) -> float | None:
    """Seconds until the next try: those that the upstream named, or half of ours by `chance` (0 to 1); None: give up.

    `retry`: the number of the failed try, from 0. `waited`: seconds between all before it.
    """
    times, wait = patience.timeouts, failure.retry_after
    if wait is None:
        wait = back_off(retry, times.first, times.longest) * (1 + chance) / 2
    too_long = wait > times.told or waited + wait > patience.most
    return None if too_long or patience.once or retry + 1 >= times.tries else wait


def told_when(failure: FailedTry, now: datetime, waited: float, patience: Patience) -> FailedTry:
    """A try that is given up, as its caller hears of it: with the time before which the upstream wants no other."""
    wait = failure.retry_after
    if wait is None or (wait <= patience.timeouts.told and waited + wait <= patience.most):
        return failure
    then = (now + timedelta(seconds=min(wait, LATEST))).isoformat(timespec="seconds")
    refusal = Refusal("meter_retry_later", f"the upstream asks to wait until {then}", not_before=then)
    return replace(failure, rejected=Rejected(refusal))


def unrepeated(failure: FailedTry, refused: Rejected) -> Rejected:
    """Nobody knows whether the model is away: a dearer one is not asked for that."""
    told = f"{failure.rejected.refusal.text}, and it is not asked again: {refused.refusal.text}"
    return Rejected(Refusal("meter_unrepeated", told))
