"""Door to what a running box takes. The only module that looks at a box from outside.

The kernel limits one process at a time; what a box takes altogether has to be counted: memory, processes, disk. It
needs no privilege: the whole tree stays below the box's first process, also after a double fork. What cannot be
counted (memory of the kernel's own, files that only a message on its way holds) shows in what is left of the machine.
A box that takes nothing more for a long time, and of which nothing is heard, is stuck.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from sisimpur.shared.model.errors import Refused
from sisimpur.shared.sandbox.box_job import MB, JobLimits
from sisimpur.shared.system.process import End, Watch

DEEPEST = 100  # folders within folders
SPARE = 256 * MB  # memory and disk that the machine keeps for itself
PAUSE = 10  # times as long as counting the files took: it costs a tenth of a core at most
PULSE = 3.0  # seconds between two looks at whether anything happens


@dataclass(frozen=True)
class BoxUsage:
    """Bytes, numbers of processes (with threads) and of files. `spare`: what the machine has left, of the scarcer."""

    memory: int = 0
    tasks: int = 0
    disk: int = 0
    files: int = 0
    spare: int = SPARE


@dataclass(frozen=True)
class Written:
    """Contents of some folders: bytes, number of files, and when the last of them changed, which nobody can forge."""

    size: int
    files: int
    changed: int  # ns


def verdict(usage: BoxUsage, limits: JobLimits, disk_before: int = 0) -> End | None:
    """The reason to end a box, or None."""
    if usage.tasks >= limits.processes:
        return "processes"
    if usage.memory > limits.memory_mb * MB:
        return "memory"
    if usage.disk - disk_before > limits.disk_mb * MB or usage.files > limits.files:
        return "disk"
    return "machine" if usage.spare < SPARE else None


class Stillness:
    """Stillness: whether something has looked the same for that many seconds; 0: as long as it likes.

    Only time in which we looked counts: where we were held up ourselves, nothing could be seen to happen.
    """

    def __init__(self, seconds: float) -> None:
        self._limit, self._pause = seconds, min(PULSE, seconds / 4)
        self._seen: object = None
        self._looked, self._still = 0.0, 0.0

    def lasts(self, look: Callable[[], object], now: float) -> bool:
        """`look` is asked every few seconds, however often this is asked. `now`: of a clock that only goes on."""
        passed = now - self._looked
        if not self._limit or passed < self._pause:
            return False
        seen = look()
        self._still = self._still + min(passed, 2 * self._pause) if seen == self._seen else 0.0
        self._seen, self._looked = seen, now
        return self._still >= self._limit


def watchdog(
    limits: JobLimits, folders: tuple[Path, ...], stop: Callable[[], bool], pulse: Callable[[], object] | None = None
) -> Watch:
    """A watch for `process.run`. `folders` are what the box can write; how full they are now is where counting starts.

    `pulse`: see Job. Refused: one of the folders is nested too deep to be counted.
    """
    before = seen = on_disk(folders, limits.files)
    next_count, still = 0.0, Stillness(limits.stall)

    def watch(pid: int, printed: int) -> End | None:
        nonlocal seen, next_count
        if stop():
            return "stopped"
        if (began := time.monotonic()) >= next_count:
            try:
                seen = on_disk(folders, limits.files)
            except Refused:
                return "disk"  # what cannot be counted is too much
            next_count = time.monotonic() + PAUSE * (time.monotonic() - began)
        reason = verdict(_usage(pid, folders, seen, limits.processes), limits, before.size)
        if reason is None and still.lasts(lambda: (printed, seen, pulse() if pulse else None), began):
            return "stalled"
        return reason

    return watch


def _usage(pid: int, folders: tuple[Path, ...], written: Written, most_tasks: int) -> BoxUsage:
    """Measure what the process and all below it take now, but for what ends while we look. It stops at `most_tasks`."""
    disks = {os.stat(folder).st_dev for folder in folders}
    memory, tasks, disk = 0, 0, written.size
    nameless: dict[tuple[int, int], int] = {}
    for member in _tree(pid):
        with suppress(OSError):
            tasks += len(os.listdir(f"/proc/{member}/task"))
            memory += _number(f"/proc/{member}/smaps_rollup", "Pss:") * 1024
            nameless |= _nameless(member)
        if tasks >= most_tasks:
            break
    for (device, _), size in nameless.items():
        memory, disk = (memory, disk + size) if device in disks else (memory + size, disk)
    spare = min([_number("/proc/meminfo", "MemAvailable:") * 1024, *map(_free, folders)])
    return BoxUsage(memory, tasks, disk, written.files, spare)


def _tree(root: int) -> Iterator[int]:
    todo = [root]
    while todo:
        yield (pid := todo.pop())
        with suppress(OSError):
            for thread in os.listdir(f"/proc/{pid}/task"):
                todo += map(int, Path(f"/proc/{pid}/task/{thread}/children").read_text("ascii").split())


def _number(file: str, key: str) -> int:
    """The number behind a key in one of the kernel's tables; 0 where the kernel does not say."""
    lines = Path(file).read_text("ascii", "replace").splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith(key)), 0)


def _nameless(pid: int) -> dict[tuple[int, int], int]:
    """Bytes in files that have no name (any more) and that a process holds open, by device and number."""
    found = {}
    with os.scandir(f"/proc/{pid}/fd") as entries:
        for entry in entries:
            with suppress(OSError):
                seen = entry.stat()
                if stat.S_ISREG(seen.st_mode) and seen.st_nlink == 0:
                    found[seen.st_dev, seen.st_ino] = seen.st_blocks * 512
    return found


def _free(folder: Path) -> int:
    seen = os.statvfs(folder)
    return seen.f_bavail * seen.f_frsize


def on_disk(folders: tuple[Path, ...], most_files: int) -> Written:
    """Measure them; it stops counting beyond `most_files`. Refused: see walk."""
    size = files = changed = 0
    for folder in folders:
        for parent, name in walk(folder):
            with suppress(FileNotFoundError):
                entry = os.stat(name, dir_fd=parent, follow_symlinks=False)
                size, changed = size + entry.st_blocks * 512, max(changed, entry.st_ctime_ns)
            files += 1
            if files > most_files:
                return Written(size, files, changed)
    return Written(size, files, changed)


def walk(folder: Path) -> Iterator[tuple[int, str]]:
    """Everything in a folder as (descriptor of its parent, name), also while somebody hostile works in it.

    No link is followed and nothing but a folder is opened. Refused: nested too deep, or closed to us: what cannot be
    seen cannot be counted.
    """
    with _opened(folder, None) as descriptor:
        yield from _walk(descriptor, folder, 0)


def _walk(parent: int, top: Path, depth: int) -> Iterator[tuple[int, str]]:
    if depth > DEEPEST:
        raise Refused(f"{top}: folders are nested deeper than {DEEPEST}")
    with os.scandir(parent) as entries:
        for entry in entries:
            yield parent, entry.name
            if entry.is_dir(follow_symlinks=False):
                yield from _into(parent, entry.name, top, depth + 1)


def _into(parent: int, name: str, top: Path, depth: int) -> Iterator[tuple[int, str]]:
    try:
        with _opened(name, parent) as child:
            yield from _walk(child, top, depth)
    except (FileNotFoundError, NotADirectoryError):
        return  # it is gone, or something else by now
    except PermissionError:
        raise Refused(f"{top}: the folder {name!r} in it is closed") from None


@contextmanager
def _opened(folder: Path | str, parent: int | None) -> Iterator[int]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
