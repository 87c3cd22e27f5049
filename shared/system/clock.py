"""Door to time. The only module that asks what time it is; everybody else gets `now` as an argument."""

from __future__ import annotations

import time
import zoneinfo
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Protocol


class Clock(Protocol):
    def now(self) -> datetime:
        """Aware, in the owner's time zone."""

    def sleep(self, seconds: float) -> None: ...


def machine_zone(environment: Mapping[str, str], link: Path = Path("/etc/localtime")) -> str:
    """The time zone of this machine, by its name; UTC: it has none that has a name."""
    here = str(link.resolve()).partition("zoneinfo/")[2] if link.is_symlink() else ""
    for name in (environment.get("TZ", "").removeprefix(":"), here.removeprefix("posix/")):
        with suppress(ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
            if name and zoneinfo.ZoneInfo(name):
                return name
    return "UTC"


class SystemClock:
    def __init__(self, zone: tzinfo = UTC) -> None:
        self._zone = zone

    def now(self) -> datetime:
        return datetime.now(self._zone)

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


class ManualClock:
    """A clock that stands until it is moved: for tests and simulated days."""

    def __init__(self, at: datetime) -> None:
        self._at = at

    def now(self) -> datetime:
        return self._at

    def sleep(self, seconds: float) -> None:
        self.set(datetime.fromtimestamp(self._at.timestamp() + seconds, self._at.tzinfo))

    def set(self, at: datetime) -> None:
        self._at = at
