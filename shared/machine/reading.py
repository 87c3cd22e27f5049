"""Door to the machine's own figures. The only module that asks for all of them; a box is measured by the sandbox."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from sisimpur.shared.machine.charging import open_boxes
from sisimpur.shared.machine.pressure import MachineReading, Over, Tight, over, tight

PROC, GROUP = Path("/proc"), Path("/sys/fs/cgroup")
GIVEN_BACK = ("inactive_file", "active_file", "slab_reclaimable")  # by the kernel, when somebody wants it
AT_LEAST = 100  # ticks of all processors together between two readings of how busy they are


class Machine:
    """`place`: on the disk that counts. `group`: where a container finds its own limit; elsewhere there is none."""

    def __init__(self, place: Path, proc: Path = PROC, group: Path = GROUP) -> None:
        self._place, self._proc, self._group = place, proc, group
        self._ticks: tuple[int, int] | None = None  # busy, all
        self._cpu: float | None = None

    def __call__(self, now: datetime) -> MachineReading:
        """Take a reading; it costs a fraction of a millisecond. OSError: something of it cannot be read."""
        disk = os.statvfs(self._place)
        held, most = disk.f_blocks - disk.f_bfree, disk.f_blocks - disk.f_bfree + disk.f_bavail
        return MachineReading(
            now,
            memory=max(self._memory(), self._own_memory()),
            disk=_share(held, most),
            inodes=_share(disk.f_files - disk.f_favail, disk.f_files),
            load=float(self._text("loadavg").split()[0]),
            processors=os.cpu_count() or 1,
            cpu=self._busy(),
            boxes=open_boxes(),
        )

    def _memory(self) -> float:
        known = {line.split(":")[0]: int(line.split()[1]) for line in self._text("meminfo").splitlines()[:5]}
        return 1 - _share(known["MemAvailable"], known["MemTotal"])

    def _own_memory(self) -> float:
        """Share of a container's limit; what the kernel gives back does not count: who only waits takes nothing."""
        with suppress(OSError, ValueError):
            most, held = (int((self._group / f"memory.{name}").read_text("ascii")) for name in ("max", "current"))
            given = dict(map(str.split, (self._group / "memory.stat").read_text("ascii").splitlines()))
            return _share(held - sum(int(given.get(name, 0)) for name in GIVEN_BACK), most)
        return 0.0

    def _busy(self) -> float | None:
        spent = list(map(int, self._text("stat").split("\n", 1)[0].split()[1:9]))
        busy, all_ = sum(spent) - spent[3] - spent[4], sum(spent)  # without: idle, and idle while a disk is waited for
        if self._ticks is None:
            self._ticks = busy, all_
        elif all_ - self._ticks[1] >= AT_LEAST:
            self._cpu = _share(busy - self._ticks[0], all_ - self._ticks[1])
            self._ticks = busy, all_
        return self._cpu

    def _text(self, name: str) -> str:
        return (self._proc / name).read_text("ascii", "replace")


def _share(part: int, whole: int) -> float:
    return min(1.0, max(0.0, part / whole)) if whole > 0 else 0.0


class MachineWatch:
    """What was read last, and what has been tight since when. What cannot be read stays as it was."""

    def __init__(self, measure: Callable[[datetime], MachineReading]) -> None:
        self._measure = measure
        self._over: Over = {}
        self.last: MachineReading | None = None
        self.tight: tuple[Tight, ...] = ()

    def look(self, now: datetime, most: float) -> None:
        """`most`: the share of each part that may be taken."""
        with suppress(OSError, LookupError, ValueError):
            self.last = self._measure(now)
            self._over = over(self._over, self.last, most)
            self.tight = tuple(tight(self._over, self.last))
