"""Events -> a file, a line of JSON each. Whoever reads it may move it away: a new one is begun."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path

from sisimpur.shared.model.errors import Misconfigured, Unavailable
from sisimpur.shared.outlets.cloud_event import BEGIN, CloudEvent, Stream

FLAGS = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
LONGEST_LINE = 64 * 1024  # bytes


class EventFile:
    name = "file"
    stream: Stream = "audit"

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def address(self) -> str:
        return str(self._path)

    def take(self, events: Sequence[CloudEvent]) -> None:
        """See Outlet."""
        try:
            descriptor = os.open(self._path, FLAGS, 0o600)
            try:
                _append(descriptor, "".join(f"{event.text}\n" for event in events).encode())
            finally:
                os.close(descriptor)
        except OSError as error:
            raise Unavailable(f"it cannot be written: {error.strerror}") from None


def _append(descriptor: int, data: bytes) -> None:
    """Append whole lines or nothing: a full disk, or a kill in the middle, leaves half of one to nobody."""
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        raise Misconfigured("it is no plain file; correct events.file in config/policy.yaml")
    size = _whole(descriptor)
    try:
        while data:
            data = data[os.write(descriptor, data) :]
        os.fsync(descriptor)
    except OSError:
        os.ftruncate(descriptor, size)
        raise


def _whole(descriptor: int) -> int:
    """Cut off half a line of ours; end one of somebody else's. Return the file's size."""
    size = os.fstat(descriptor).st_size
    last = os.pread(descriptor, LONGEST_LINE, max(0, size - LONGEST_LINE)).rpartition(b"\n")[2]
    begin = BEGIN.encode()
    if last and (last.startswith(begin) or begin.startswith(last)):
        os.ftruncate(descriptor, size - len(last))
        return size - len(last)
    return size + os.write(descriptor, b"\n") if last else size
