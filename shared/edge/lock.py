"""Door to being the only one. The only module that knows whether somebody works on a home.

The kernel keeps the lock and drops it with the process, however that ends; the pid inside is only information.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from shared.domain.errors import Misconfigured


class Taken(Misconfigured):
    """Somebody else works on this home."""


@contextmanager
def hold(path: Path) -> Iterator[None]:
    """Held until the block ends. The file is never deleted: a second file would be a second lock."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Taken(f"the team is already at work on this home (pid {_pid(descriptor)}); wait for it") from None
        if not _is_still(descriptor, path):
            raise Taken(f"{path} was replaced while it was locked; type the command again")
        os.truncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(descriptor)


def holder(path: Path) -> str:
    """The pid of whoever works on the home now; empty if nobody does."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return ""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _pid(descriptor)
    finally:
        os.close(descriptor)
    return ""


def _pid(descriptor: int) -> str:
    return os.pread(descriptor, 20, 0).decode("ascii", "replace").strip() or "unknown"


def _is_still(descriptor: int, path: Path) -> bool:
    held, named = os.fstat(descriptor), os.stat(path)
    return (held.st_dev, held.st_ino) == (named.st_dev, named.st_ino)
