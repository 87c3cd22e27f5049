"""Door to being the only one. The only module that knows whether somebody works on a home, or serves its board.

The kernel keeps the lock and drops it with the process, however that ends; what stands inside is only information.
"""

from __future__ import annotations

import fcntl
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sisimpur.shared.model.errors import Misconfigured

KERNELS_LIST = Path("/proc/locks")
LOOKS, BETWEEN_LOOKS = 5, 0.05  # seconds


@dataclass(frozen=True)
class HomeLock:
    """A lock that is ours."""

    path: Path
    descriptor: int

    def is_ours(self) -> bool:
        """Tell whether the file of that name is still the one that we locked: else somebody may lock the other one."""
        return _is_still(self.descriptor, self.path)


@contextmanager
def hold(path: Path) -> Iterator[HomeLock]:
    """Held until the block ends. The file is never deleted: a second file would be a second lock."""
    descriptor = _opened(path, os.O_RDWR | os.O_CREAT)
    try:
        if not _taken(descriptor):
            pid = _pid(descriptor)
            raise Misconfigured(
                f"the team is already at work on this home (pid {pid}); see: python main.py status, "
                "or: python main.py stop"
            )
        if not _is_still(descriptor, path):
            raise Misconfigured(f"{path} was replaced while it was locked; type the command again")
        _write(descriptor, str(os.getpid()))
        yield HomeLock(path, descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def said(path: Path, word: str) -> Iterator[None]:
    """Let others read `word` there until the block ends, however it ends (`holder`). Who was first is read on."""
    descriptor = _opened(path, os.O_RDWR | os.O_CREAT)
    try:
        if _taken(descriptor):
            _write(descriptor, word)
        yield
    finally:
        os.close(descriptor)


def _write(descriptor: int, word: str) -> None:
    os.truncate(descriptor, 0)
    os.pwrite(descriptor, word.encode("ascii"), 0)


def holder(path: Path) -> str:
    """The pid of whoever works on the home now, or what else who holds it says; empty if nobody does."""
    try:
        descriptor = _opened(path, os.O_RDONLY)
    except FileNotFoundError:
        return ""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _pid(descriptor)
    except OSError:
        return ""  # a file system without locks: nobody can work there
    finally:
        os.close(descriptor)
    return ""


def _opened(path: Path, flags: int) -> int:
    """FileNotFoundError, or Misconfigured: what lies there is no plain file."""
    try:
        descriptor = os.open(path, flags | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise Misconfigured(f"{path} cannot be opened ({error.strerror}); remove it, or become its owner") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise Misconfigured(f"{path} is no plain file; remove it")
    return descriptor


def is_held_by(path: Path, pid: int) -> bool:
    """Tell whether it is, by the kernel's own list, in which only processes of our own container have a number.

    The number in the file may be of another container's, and mean somebody else here.
    """
    try:
        inode, listed = path.stat().st_ino, KERNELS_LIST.read_text("ascii", "replace")
    except OSError:
        return False
    return any(_is_lock(line.split(), pid, inode) for line in listed.splitlines())


def _is_lock(words: list[str], pid: int, inode: int) -> bool:
    """`7: FLOCK ADVISORY WRITE <pid> <major>:<minor>:<inode> 0 EOF`; who waits for one has an arrow in between."""
    wanted = ["FLOCK", "ADVISORY", "WRITE", str(pid)]
    return words[1:5] == wanted and words[5].rpartition(":")[2] == str(inode)


def _taken(descriptor: int) -> bool:
    """Take it, or wait for one who only looks whether it is free (`holder`) and so has it for a moment."""
    for _ in range(LOOKS):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            time.sleep(BETWEEN_LOOKS)
        except OSError as error:
            raise Misconfigured(
                f"the file system of this home knows no locks ({error.strerror}), so two teams could work on it; "
                "put the home on a local disk"
            ) from None
    return False


def _pid(descriptor: int) -> str:
    return os.pread(descriptor, 20, 0).decode("ascii", "replace").strip() or "unknown"


def _is_still(descriptor: int, path: Path) -> bool:
    try:
        held, named = os.fstat(descriptor), os.stat(path)
    except OSError:
        return False
    return (held.st_dev, held.st_ino) == (named.st_dev, named.st_ino)
