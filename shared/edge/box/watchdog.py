"""Door to what a running box takes. The only module that looks at a box from outside.

The kernel limits one process at a time; what a box takes altogether has to be counted: memory, processes, disk. It
needs no privilege: the whole tree stays below the box's first process, also after a double fork. What cannot be
counted (memory of the kernel's own, files that only a message on its way holds) shows in what is left of the machine.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from shared.domain.errors import Refused
from shared.edge.box.box_job import MB, Limits
from shared.edge.process import End, Watch

DEEPEST = 100  # folders within folders
SPARE = 256 * MB  # memory and disk that the machine keeps for itself
PAUSE = 10  # times as long as counting the files took: it costs a tenth of a core at most


@dataclass(frozen=True)
class Usage:
    """Bytes, numbers of processes (with threads) and of files. `spare`: what the machine has left, of the scarcer."""

    memory: int = 0
    tasks: int = 0
    disk: int = 0
    files: int = 0
    spare: int = SPARE


def verdict(usage: Usage, limits: Limits, disk_before: int = 0) -> End | None:
    """The reason to end a box, or None."""
    if usage.tasks >= limits.processes:
        return "processes"
    if usage.memory > limits.memory_mb * MB:
        return "memory"
    if usage.disk - disk_before > limits.disk_mb * MB or usage.files > limits.files:
        return "disk"
    return "machine" if usage.spare < SPARE else None


def watchdog(limits: Limits, folders: tuple[Path, ...], stop: Callable[[], bool]) -> Watch:
    """A watch for `process.run`. `folders` are what the box can write; how full they are now is where counting starts.

    Refused: one of them is nested too deep to be counted.
    """
    before, files = _on_disk(folders, limits.files)
    disk, next_count = before, 0.0

    def watch(pid: int) -> End | None:
        nonlocal disk, files, next_count
        if stop():
            return "stopped"
        if (began := time.monotonic()) >= next_count:
            try:
                disk, files = _on_disk(folders, limits.files)
            except Refused:
                return "disk"  # what cannot be counted is too much
            next_count = time.monotonic() + PAUSE * (time.monotonic() - began)
        return verdict(_usage(pid, folders, disk, files, limits.processes), limits, before)

    return watch


def _usage(pid: int, folders: tuple[Path, ...], disk: int, files: int, most_tasks: int) -> Usage:
    """What the process and all below it take now, but for what ends while we look. It stops at `most_tasks`."""
    disks = {os.stat(folder).st_dev for folder in folders}
    memory = tasks = 0
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
    return Usage(memory, tasks, disk, files, spare)


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


def _on_disk(folders: tuple[Path, ...], most_files: int) -> tuple[int, int]:
    """Bytes and number of files; it stops counting beyond `most_files`."""
    size = files = 0
    for folder in folders:
        for parent, name in walk(folder):
            with suppress(FileNotFoundError):
                size += os.stat(name, dir_fd=parent, follow_symlinks=False).st_blocks * 512
            files += 1
            if files > most_files:
                return size, files
    return size, files


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
