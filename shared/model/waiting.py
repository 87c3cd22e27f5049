"""Waiting: what keeps the daemon from going on, for whoever asks from outside; and how long until another try. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, TypeVar

Obstacle = Literal["start", "trouble", "halt", "cap", "model", "forge", "deploys", "vision", "attempt", "time"]
Time = TypeVar("Time", float, timedelta)


@dataclass(frozen=True)
class Wait:
    """`until`: nothing is tried before; None: as soon as it is needed, or as the owner does something about it.

    `why`: in words; may be empty.
    """

    what: Obstacle
    since: datetime | None = None
    until: datetime | None = None
    why: str = ""


def back_off(failed: int, first: Time, longest: Time) -> Time:
    """How long to wait before another try: twice as long each time. `failed`: tries that failed before the last one."""
    return min(first * 2.0 ** min(failed, 10), longest)
