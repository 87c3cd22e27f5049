"""Readings of the machine, one after the other -> what of it is nearly used up, and since when. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

Part = Literal["cpu", "memory", "disk", "inodes"]

FOR = timedelta(minutes=5)  # what is over the limit for a shorter time is nobody's business
NEEDED: tuple[Part, ...] = ("memory", "disk", "inodes")  # by whatever is begun; processors are only shared by more
NAMES: Mapping[Part, str] = {
    "cpu": "processors are {} busy",
    "memory": "memory is {} full",
    "disk": "the disk is {} full",
    "inodes": "the disk holds {} of the files that it can hold",
}


@dataclass(frozen=True)
class MachineReading:
    """Shares from 0 to 1. `cpu`: since the reading before; None: there was none. `load`: processes that run or wait."""

    at: datetime
    memory: float
    disk: float
    inodes: float
    load: float
    processors: int
    cpu: float | None = None
    boxes: int = 0

    def shares(self) -> dict[Part, float]:
        known: dict[Part, float] = {"memory": self.memory, "disk": self.disk, "inodes": self.inodes}
        return known if self.cpu is None else {"cpu": self.cpu, **known}


@dataclass(frozen=True)
class Tight:
    """A part of the machine that has been over the limit for long enough to be told."""

    part: Part
    share: float
    since: datetime

    @property
    def words(self) -> str:
        return NAMES[self.part].format(f"{self.share:.0%}")


Over = Mapping[Part, datetime]  # since when it is over the limit


def over(before: Over, reading: MachineReading, most: float) -> dict[Part, datetime]:
    """What is over `most` now, since when without a break. A clock that was set back begins anew."""
    now = reading.at
    return {part: min(before.get(part, now), now) for part, share in reading.shares().items() if share > most}


def tight(since: Over, reading: MachineReading) -> Iterator[Tight]:
    shares = reading.shares()
    return (Tight(part, shares[part], at) for part, at in since.items() if reading.at - at >= FOR)


def forbids(found: Iterable[Tight]) -> tuple[Tight, ...]:
    """What keeps anything new from being begun: it would break off half done."""
    return tuple(one for one in found if one.part in NEEDED)
