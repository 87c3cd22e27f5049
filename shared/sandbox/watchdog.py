"""Watchdog of a box: when it has taken too much, and when it is stuck.

The kernel limits one process at a time; what a box takes altogether has to be counted: memory, processes, disk. That
is done once a second, more often while it is young. Ten times a second the machine is asked what it has left: when it
has lost as much as the box may still take, the box is counted at once. (Where control groups are ours, the kernel
limits a box as well: box_group.py.)
A box that shows no sign of life for a while is stuck: no output, no file, no work of its processors, no pulse.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from sisimpur.shared.machine.charging import Charge
from sisimpur.shared.model.errors import Refused
from sisimpur.shared.model.work import ResourceUse
from sisimpur.shared.sandbox.box_job import MB, JobLimits
from sisimpur.shared.sandbox.box_usage import SPARE, BoxUsage, Left, PrivateFiles, Written, left_on, on_disk, usage_of
from sisimpur.shared.system.process import End, Watch

EVERY = 1.0  # seconds between two counts
OF_ITS_AGE = 0.1  # or this share of how old the box is, if that is less: most boxes are short
PAUSE = 30  # times as long as counting the files took: it costs a thirtieth of a core at most
MOST_PRIVATE = 200_000  # files in a folder in memory: of the kernel's own each takes about 1 KB
LEAST_LOSS = 16 * MB  # that the machine must lose before something is counted out of turn: others take from it, too
PULSE = 3.0  # seconds between two looks at whether anything happens
LEAST_WORK = 0.005  # share of a processor's time that is a sign of life: of a minute, 0.3 s
Pulse = Callable[[], object]


def verdict(usage: BoxUsage, limits: JobLimits, disk_before: int = 0) -> End | None:
    """The reason to end a box, or None."""
    if usage.tasks >= limits.processes:
        return "processes"
    if usage.memory > limits.memory_mb * MB:
        return "memory"
    if usage.disk - disk_before > limits.disk_mb * MB or usage.files > limits.files:
        return "disk"
    return "machine" if usage.spare < SPARE else None


class NextCount:
    """When something is to be counted again: after some seconds, or once the machine has lost what may be taken."""

    def __init__(self) -> None:
        self._next, self._least = 0.0, 0

    def is_due(self, now: float, left: int) -> bool:
        return now >= self._next or left < self._least

    def counted(self, now: float, pause: float, left: int, may_take: int) -> None:
        """`may_take`: bytes that a box could still take within its limit; `left`: what the machine had then."""
        self._next, self._least = now + pause, left - max(may_take, LEAST_LOSS)


@dataclass(frozen=True)
class Signs:
    """Signs of life: bytes printed, files written, the pulse (see Job), seconds that processors have worked for it.

    `runs`: one of its processes works at this moment, or waits for its turn: on a busy machine that may take long.
    """

    printed: int = 0
    files: Written | None = None
    pulse: object = None
    cpu: float = 0.0
    runs: bool = False


def lives(before: Signs | None, now: Signs, least_cpu: float) -> bool:
    """Tell whether something has happened since. Who only looks at a clock now and then does not live by that."""
    if before is None or now.runs or abs(now.cpu - before.cpu) >= least_cpu:
        return True
    return (now.printed, now.files, now.pulse) != (before.printed, before.files, before.pulse)


class Stillness:
    """Stillness: whether there was no sign of life for that many seconds; 0: as long as it likes.

    Only time in which we looked counts: where we were held up ourselves, nothing could be seen to happen.
    """

    def __init__(self, seconds: float) -> None:
        self._limit, self._pause = seconds, min(PULSE, seconds / 4)
        self._last: Signs | None = None  # as they were when it lived
        self._looked, self._still = 0.0, 0.0

    def lasts(self, look: Callable[[], Signs], now: float) -> bool:
        """`look` is asked every few seconds, however often this is asked. `now`: of a clock that only goes on."""
        passed = now - self._looked
        if not self._limit or passed < self._pause:
            return False
        seen, self._looked = look(), now
        if lives(self._last, seen, self._limit * LEAST_WORK):
            self._last, self._still = seen, 0.0
        else:
            self._still += min(passed, 2 * self._pause)
        return self._still >= self._limit


def watchdog(
    limits: JobLimits, folders: tuple[Path, ...], stop: Callable[[], bool], taken: Charge, pulse: Pulse | None = None
) -> Watch:
    """A watch for `process.run`. `folders` are what the box can write; how full they are now is where counting starts.

    `pulse`: see Job. `taken` learns what is counted. Refused: one of the folders is nested too deep to be counted.
    """
    before = seen = on_disk(folders, limits.files)
    began, born = left_on(folders), time.monotonic()
    files, members, still = NextCount(), NextCount(), Stillness(limits.stall)
    usage = BoxUsage()

    def count(pid: int, now: float, left: Left) -> None:
        nonlocal seen, usage
        is_scarce, pause = left.scarcest < SPARE, min(EVERY, OF_ITS_AGE * (now - born))
        if is_for_files := is_scarce or files.is_due(now, sum(left.disks)):
            seen = on_disk(folders, limits.files)
            took = time.monotonic() - now
            may_take = limits.disk_mb * MB + before.size - seen.size
            files.counted(now + took, max(pause, PAUSE * took), sum(left.disks), may_take)
        if is_for_files or members.is_due(now, left.memory):
            sure, lost = limits.memory_mb * MB // 2, began.memory - left.memory
            usage = usage_of(pid, folders, seen, limits.processes, sure, lost)
            members.counted(now, pause, left.memory, limits.memory_mb * MB - usage.memory)
            taken.use = taken.use.or_more(ResourceUse(usage.cpu, usage.memory, max(0, seen.size - before.size)))

    def watch(pid: int, printed: int) -> End | None:
        if stop():
            return "stopped"
        now, left = time.monotonic(), left_on(folders)
        try:
            count(pid, now, left)
        except Refused:
            return "disk"  # what cannot be counted is too much
        reason = verdict(replace(usage, spare=left.scarcest), limits, before.size)
        if reason is None and still.lasts(lambda: Signs(printed, seen, pulse and pulse(), usage.cpu, usage.runs), now):
            return "stalled"
        return reason

    return watch


def with_private(watch: Watch, limits: JobLimits, places: tuple[str, ...]) -> Watch:
    """The same watch, which looks also at folders that the box alone has, in memory; `places`: as it sees them."""
    alone = PrivateFiles(places)

    def both(pid: int, printed: int) -> End | None:
        if reason := watch(pid, printed):
            return reason
        return "disk" if alone.count(pid) > max(limits.files, MOST_PRIVATE) else None

    return both
