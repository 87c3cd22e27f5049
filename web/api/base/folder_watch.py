"""Whether anything in some folders may have changed, without a look at each of ten thousand files.

The kernel tells it (inotify) before whoever changed a file goes on, so what was read before is exactly as good as read
anew. It hears of no change that another machine makes, nor of one through a mapping of memory, nor by another
name that a file was given since it was read: where others may write nothing is taken for unchanged, and each few
seconds all is looked at again.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from struct import Struct
from time import monotonic

# written, attributes, moved out, moved in, made, deleted, the folder itself deleted or moved; a folder alone
CHANGES = 0x2 | 0x4 | 0x40 | 0x80 | 0x100 | 0x200 | 0x400 | 0x800 | 0x0100_0000
OVER = 0x400 | 0x800 | 0x2000 | 0x8000  # deleted, moved, its disk taken out, not listened to any more
HEAD = Struct("iIII")
AT_LEAST_EACH = 10.0  # seconds
OURS = frozenset({"bcachefs", "btrfs", "ext2", "ext3", "ext4", "f2fs", "overlay", "tmpfs", "xfs", "zfs"})
MOUNTS = Path("/proc/self/mountinfo")
NOTHING = -1
MANY = 1 << 16  # bytes of what is told at once
Place = tuple[int, int]


class FolderWatch:
    """Folders of one home. Not for several threads at once."""

    def __init__(self, folders: Sequence[Path], longest: float = AT_LEAST_EACH) -> None:
        self._folders = folders
        self._longest = longest  # seconds for which what was told is believed
        self._told = NOTHING  # the descriptor where it is told
        self._places: list[Place] = []  # which folders these were, whatever their names mean now
        self._believed_until = 0.0

    def is_unchanged(self) -> bool:
        """Tell whether nothing has changed since this was asked last; False if nobody can know."""
        places = list(map(_place, self._folders))
        if places != self._places:
            self.close()
            self._places, self._told, self._believed_until = places, _listening(self._folders, places), 0.0
        has_heard, now = self._has_heard(), monotonic()
        if has_heard or now > self._believed_until:
            self._believed_until = now + self._longest
            return False
        return True

    def close(self) -> None:
        if self._told != NOTHING:
            os.close(self._told)
        self._told, self._places = NOTHING, []

    def __del__(self) -> None:
        self.close()

    def _has_heard(self) -> bool:
        """Take all that was told."""
        if self._told == NOTHING:
            return True
        has_heard, is_over = False, False
        with suppress(BlockingIOError):
            while told := os.read(self._told, MANY):
                has_heard, is_over = True, is_over or any(one & OVER for one in _kinds(told))
        if is_over:  # the folder that comes in its place may have its number: begin anew
            self.close()
        return has_heard


def _listening(folders: Sequence[Path], places: Sequence[Place]) -> int:
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "inotify_init1") or not all(_is_ours(device) for device, _ in places):
        return NOTHING
    told: int = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    if told == NOTHING or all(libc.inotify_add_watch(told, os.fsencode(one), CHANGES) >= 0 for one in folders):
        return told
    os.close(told)
    return NOTHING


def _kinds(told: bytes) -> Iterator[int]:
    """Return what each event was: before its name stand four numbers, the last of them the name's length."""
    at = 0
    while at < len(told):
        _, kind, _, length = HEAD.unpack_from(told, at)
        yield kind
        at += HEAD.size + length


def _place(folder: Path) -> Place:
    try:
        found = os.stat(folder)
    except OSError:
        return 0, 0
    return found.st_dev, found.st_ino


def _is_ours(device: int) -> bool:
    """Tell whether only this machine writes there."""
    name = f"{os.major(device)}:{os.minor(device)}"
    with suppress(OSError):
        for line in MOUNTS.read_text("utf-8", "replace").splitlines():
            mount, _, kind = line.partition(" - ")
            if mount.split()[2] == name:
                return kind.split()[0] in OURS
    return False
