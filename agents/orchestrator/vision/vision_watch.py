"""VISION.md while the daemon runs: whether it has changed since it was read, and has rested since."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

from sisimpur.shared.system.clock import Clock
from sisimpur.shared.system.paths import Stamp, stamp

REST = timedelta(seconds=30)  # editors write a file in several steps, and people save before they have finished


class VisionWatch:
    def __init__(self, vision: Path, clock: Clock) -> None:
        self._path = vision
        self._clock = clock
        self._read: Stamp | None = None
        self._seen: Stamp | None = None
        self._since: datetime | None = None

    def looks_new(self) -> bool:
        """Whether it has changed since we looked last."""
        now, before = self.stamp(), self._seen
        if now != before:
            self._seen, self._since = now, self._clock.now()
        return now != before

    def stamp(self) -> Stamp:
        return stamp(self._path)

    def was_read(self, stamp: Stamp) -> None:
        """As it was at that moment."""
        self._read = stamp

    @property
    def was_ever_read(self) -> bool:
        """By us, since we began."""
        return self._read is not None

    @property
    def is_unread(self) -> bool:
        return self.stamp() != self._read

    @property
    def has_rested(self) -> bool:
        return self._since is not None and abs(self._clock.now() - self._since) >= REST

    @property
    def since(self) -> datetime | None:
        """When we saw it change last."""
        return self._since
