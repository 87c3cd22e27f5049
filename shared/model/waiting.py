"""What keeps the daemon from going on: a word for whoever asks from outside."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Obstacle = Literal["start", "trouble", "halt", "cap", "model", "forge", "deploys", "vision", "attempt", "time"]


@dataclass(frozen=True)
class Wait:
    """`until`: nothing is tried before; None: as soon as it is needed, or as the owner does something about it.

    `why`: in words; may be empty.
    """

    what: Obstacle
    since: datetime | None = None
    until: datetime | None = None
    why: str = ""
