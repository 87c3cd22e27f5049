"""Door to what a running box takes. The only module that looks at a box from outside.

It needs no privilege: the whole tree stays below the box's first process, also after a double fork. What cannot be
counted (memory of the kernel's own, files that only a message on its way holds) shows in what is left of the machine.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from sisimpur.shared.model.errors import Misconfigured, Refused
from sisimpur.shared.sandbox.box_job import MB

OURS = "/run/box"  # our own files inside
DEEPEST = 100  # folders within folders
SPARE = 256 * MB  # memory and disk that the machine keeps for itself
NEEDED = f"no box runs below {SPARE // MB} MB, and no work without a box; free some space, or take another place"
PAGE = os.sysconf("SC_PAGESIZE")  # bytes
TICK = 1 / os.sysconf("SC_CLK_TCK")  # seconds


@dataclass(frozen=True)
class BoxUsage:
    """Bytes, numbers of processes (with threads) and of files. `spare`: what the machine has left, of the scarcer.

    `cpu`: seconds that all of it has computed; `runs`: one of it computes right now, or waits for its turn or a disk.
    """

    memory: int = 0
    tasks: int = 0
    disk: int = 0
    files: int = 0
    spare: int = SPARE
    cpu: float = 0.0
    runs: bool = False


@dataclass(frozen=True)
class Written:
    """Contents of some folders: bytes, number of files, and when the last of them changed, which nobody can forge."""

    size: int
    files: int
    changed: int  # ns


@dataclass(frozen=True)
class Left:
    """What the machine has left: bytes of memory, and of each disk that a box writes to."""

    memory: int
    disks: tuple[int, ...] = ()

    @property
    def scarcest(self) -> int:
        return min((self.memory, *self.disks))


def left_on(folders: tuple[Path, ...]) -> Left:
    """Ask the machine. It costs two short questions, so it may be asked ten times a second."""
    return Left(_number("/proc/meminfo", "MemAvailable:") * 1024, tuple(map(_free, folders)))


def require_room(place: Path) -> None:
    """Misconfigured: so little is left of the disk there, or of the memory, that each box would be ended at once."""
    if short := too_little(left_on((place,))):
        raise Misconfigured(f"the machine has {short} left (looked at from {place}): {NEEDED}")


def too_little(left: Left) -> str:
    """Name what a box would be ended for; empty: nothing."""
    found = (("of disk", min(left.disks, default=SPARE)), ("of memory", left.memory))
    return " and ".join(f"{size // MB} MB {what}" for what, size in found if size < SPARE)


def usage_of(
    pid: int, folders: tuple[Path, ...], written: Written, most_tasks: int, sure: int = 0, lost: int = 0
) -> BoxUsage:
    """Measure what the process and all below it take now, but for what ends while we look. It stops at `most_tasks`.

    The memory is summed up over the processes, so that what they share counts for each. Where that is more than `sure`
    bytes, or explains `lost`, what the machine has lost since, by so much too little, the kernel is asked to count
    each page once: it reads all their page tables for that, which is dear.
    """
    disks = {os.stat(folder).st_dev for folder in folders}
    resident: dict[int, int] = {}
    nameless: dict[tuple[int, int], int] = {}
    tasks, cpu, runs = 0, 0.0, False
    for member, threads in _tree(pid):
        with suppress(OSError):
            tasks += threads
            seen = _seen(member)
            resident[member] = seen.resident
            cpu, runs = cpu + seen.cpu, runs or seen.runs
            nameless |= _nameless(member)
        if tasks >= most_tasks:
            break
    held = sum(size for (device, _), size in nameless.items() if device in disks)
    apart = sum(nameless.values()) - held
    memory = sum(resident.values())
    if memory + apart > sure or lost > memory + apart + sure:
        memory = sum(_counted_once(member, size) for member, size in resident.items())
    return BoxUsage(memory + apart, tasks, written.size + held, written.files, cpu=cpu, runs=runs)


class PrivateFiles:
    """Counts files in folders that a box alone has, in memory; each takes some of the kernel's own, which no limit of a
    process holds. `places`: as the box sees them.
    """

    def __init__(self, places: tuple[str, ...]) -> None:
        self._places, self._inside = places, 0

    def count(self, pid: int) -> int:
        """As many as there are in the one that has most; 0 while the box has not begun."""
        with suppress(OSError):
            return self._most(self._inside)
        self._inside = next((member for member, _ in _tree(pid) if _is_inside(member)), 0)
        with suppress(OSError):
            return self._most(self._inside)
        return 0

    def _most(self, inside: int) -> int:
        if not inside or not _is_inside(inside):
            raise ProcessLookupError
        seen = [os.statvfs(f"/proc/{inside}/root{place}") for place in self._places]
        return max((one.f_files - one.f_ffree for one in seen), default=0)


def _is_inside(member: int) -> bool:
    root = f"/proc/{member}/root"
    with suppress(OSError):  # it may end between two looks
        return os.path.isdir(root + OURS) and not os.path.samefile(root, "/")
    return False


@dataclass(frozen=True)
class _Member:
    """A process of a box. `cpu`: with that of those below it which have ended."""

    resident: int
    cpu: float
    runs: bool


def _seen(pid: int) -> _Member:
    words = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    return _Member(int(words[21]) * PAGE, sum(map(int, words[11:15])) * TICK, words[0] in (b"R", b"D"))


def _counted_once(pid: int, resident: int) -> int:
    with suppress(OSError):
        return _number(f"/proc/{pid}/smaps_rollup", "Pss:") * 1024
    return resident


def _tree(root: int) -> Iterator[tuple[int, int]]:
    """Each process with the number of its threads."""
    todo = [root]
    while todo:
        pid, threads = todo.pop(), 0
        with suppress(OSError):
            for thread in os.listdir(f"/proc/{pid}/task"):
                threads += 1
                todo += map(int, Path(f"/proc/{pid}/task/{thread}/children").read_bytes().split())
        yield pid, threads


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
