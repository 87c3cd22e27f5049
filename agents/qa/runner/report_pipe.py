"""Pipe of a report: what a run of tests says leaves its box at once, and nobody inside can take it back.

A box's folder is its user's: whatever lies there, the code that is tested may write anew when the tests are over. What
stood in the pipe is ours as soon as it is read. A line counts only with the word that lies beside the pipe until the
first runner takes it: code that is loaded later does not find it.
"""

from __future__ import annotations

import os
import secrets
import select
import threading
from contextlib import suppress
from pathlib import Path

from sisimpur.agents.qa.runner.suite import MAX_REPORT
from sisimpur.shared.model.errors import Misconfigured

PIPE, WORD = "report.jsonl", "report.word"
CHUNK = 65_536
NOT_OURS = b"without the word: "  # makes a line none of JSON


class ReportPipe:
    """`folder`: the box's, where the pipe is made. It is read until `close`. Misconfigured: its disk knows no pipes."""

    def __init__(self, folder: Path) -> None:
        self._word = secrets.token_hex(16).encode() + b" "
        (folder / WORD).write_bytes(self._word)
        try:
            os.mkfifo(folder / PIPE, 0o600)
        except OSError as error:
            why = f"no pipe can be made in {folder} ({error.strerror})"
            raise Misconfigured(f"{why}: move the home to a file system that has some, such as ext4") from None
        # Open for writing, too: it does not end whenever a runner closes it.
        self._pipe = os.open(folder / PIPE, os.O_RDWR | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        self._wakes, self._woken = os.pipe()
        self._found = bytearray()
        self._thread = threading.Thread(target=self._listen, name="report", daemon=True)
        self._thread.start()

    def close(self) -> None:
        if self._woken < 0:
            return
        os.close(self._woken)
        self._thread.join()
        self._drain()
        for descriptor in (self._wakes, self._pipe):
            os.close(descriptor)
        self._woken = -1

    def report(self) -> bytes | None:
        """All that was said, once nobody speaks any more; None: nothing, or more than anybody says."""
        self.close()
        found = bytes(self._found)
        return b"".join(map(self._own, found.splitlines(keepends=True))) if 0 < len(found) <= MAX_REPORT else None

    def _own(self, line: bytes) -> bytes:
        return line.removeprefix(self._word) if line.startswith(self._word) else NOT_OURS + line

    def _listen(self) -> None:
        poll = select.poll()
        poll.register(self._pipe, select.POLLIN)
        poll.register(self._wakes, select.POLLHUP)
        while self._wakes not in dict(poll.poll()):
            self._drain()

    def _drain(self) -> None:
        """Whoever writes without end is read on and on, and nothing more of it is kept."""
        with suppress(BlockingIOError):
            while data := os.read(self._pipe, CHUNK):
                room = MAX_REPORT + 1 - len(self._found)
                self._found += data[: max(0, room)]
                if room <= 0:
                    return
