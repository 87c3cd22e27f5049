"""Warm box: keeps a server of Aider in a box, and speaks to it.

Nothing in the box leads to the server: it inherits one end of a pair of sockets, and each task gets one end of another.
The box ends when our end is closed, when nobody has used it for a while, and with the process that started it.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import socket
import struct
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from sisimpur.shared.model.errors import Stopping, TeamError, Unavailable
from sisimpur.shared.sandbox.box import Box, Finished, Job
from sisimpur.shared.system.paths import head_and_tail
from sisimpur.shared.system.process import LOOK, End, Watch, is_readable

READY_WITHIN, BEGUN_WITHIN = 30.0, 10.0  # seconds, for the server and for one task
LAST_BREATH = 10.0  # seconds for the box to end a task
IDLE = 300.0  # seconds without a task after which the box ends: it holds a quarter of a gigabyte
FIRST_FREE = 10  # the least descriptor that a box passes on
LONGEST_ANSWER = 4096  # bytes
CREDENTIALS = struct.Struct("iii")  # process, user, group, in our own numbers
KILLED = -9


@dataclass
class _State:
    """State that the box's own thread shares with those who use the box."""

    closing: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)
    problem: TeamError | None = None
    idle: float = IDLE
    active: int = 0
    used: float = field(default_factory=time.monotonic)

    def over(self) -> bool:
        return self.closing.is_set() or (not self.active and time.monotonic() - self.used > self.idle)


class WarmBox:
    """One server in one box. Any number of threads may run tasks in it."""

    def __init__(self, box: Box, job: Callable[[int], Job], idle: float = IDLE) -> None:
        """`job`: from the server's descriptor to what is to be run. `idle`: seconds."""
        self._ours, theirs = _channel()
        self._state, self._lock = _State(idle=idle), threading.Lock()
        self._began, self._hello = time.monotonic(), b""
        self.given = 0
        # A box dies with the thread that started it: so one sits there for good, and holds nothing of us.
        told = (box, job(theirs), theirs, self._state)
        threading.Thread(target=_sit, args=told, name="warm box", daemon=True).start()
        self._close = weakref.finalize(self, _close, self._ours, self._state)

    @property
    def alive(self) -> bool:
        return not (self._state.over() or self._state.ended.is_set())

    @property
    def active(self) -> int:
        return self._state.active

    def ready(self, stop: Callable[[], bool]) -> Mapping[str, Any]:
        """Wait for what the server says when all is loaded; empty: it did not, in time or before `stop`."""
        while not self._hello and self.alive and time.monotonic() - self._began < READY_WITHIN and not stop():
            with self._lock, contextlib.suppress(OSError, ValueError):  # somebody else has given it up, and closed it
                if not self._hello and is_readable(self._ours.fileno(), LOOK):
                    self._hello = self._ours.recv(LONGEST_ANSWER) or b"{}"
        return dict(json.loads(self._hello or b"{}"))

    def close(self) -> None:
        """Unavailable: the box does not end."""
        self._close()
        if not self._state.ended.wait(2 * LAST_BREATH):
            raise Unavailable("the engine's box cannot be ended; look at it with `ps`")

    def problem(self) -> str:
        slow = f"it was not ready within {READY_WITHIN:.0f} s"
        return str(self._state.problem or ("it ended" if self._state.ended.is_set() else slow))

    # --- one task --------------------------------------------------------------------------------------------

    def run(self, order: Mapping[str, object], seconds: float, limit: int, watch: Watch) -> Finished | None:
        """One task to its end; None: it was not even begun. When this returns, nothing of it runs any more.

        `limit`: bytes kept of each channel. Stopping: the box was ended because the program is being stopped.
        """
        began = time.monotonic()
        with self._used(), contextlib.ExitStack() as files:
            output, errors = (files.enter_context(tempfile.TemporaryFile()) for _ in range(2))
            connection = files.enter_context(self._handed_over(output, errors))
            waiter = _begin(connection, order)
            if waiter is None:
                self.raise_if_stopping()
                return None
            code, end = self._attend(connection, began + seconds, lambda: watch(waiter, _sizes(output, errors)))
            (said, cut), (complained, cut_too) = (head_and_tail(file, limit) for file in (output, errors))
        return Finished(code, said, complained, end, time.monotonic() - began, cut or cut_too)

    @contextlib.contextmanager
    def _used(self) -> Iterator[None]:
        with self._lock:
            self._state.active += 1
            self.given += 1
        try:
            yield
        finally:
            with self._lock:
                self._state.active -= 1
                self._state.used = time.monotonic()

    @contextlib.contextmanager
    def _handed_over(self, output: BinaryIO, errors: BinaryIO) -> Iterator[socket.socket]:
        """Our end of a task's connection; the server has got the other one, or it ends at once."""
        ours, theirs = socket.socketpair()
        with ours:
            ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
            with theirs, self._lock, contextlib.suppress(OSError):
                socket.send_fds(self._ours, [b"+"], [file.fileno() for file in (theirs, output, errors)])
            yield ours

    def _attend(self, connection: socket.socket, deadline: float, watch: Callable[[], End | None]) -> tuple[int, End]:
        """Exit code (negative: the signal) and the reason of the end; also when we are interrupted, all of it ends."""
        end: End = "stopped"
        try:
            end = _end_of(connection, deadline, watch)
        finally:
            code = self._answer(connection, end)
        return code, end

    def _answer(self, connection: socket.socket, end: End) -> int:
        """The exit code; without an answer the whole box is ended, as something of the task may still run."""
        connection.settimeout(LAST_BREATH)
        with contextlib.suppress(OSError):
            if end != "exited":
                connection.shutdown(socket.SHUT_WR)  # so the waiter ends all of it
        with contextlib.suppress(OSError, ValueError, LookupError):
            return int(json.loads(connection.recv(LONGEST_ANSWER))["code"])
        self.close()
        self.raise_if_stopping()
        return KILLED

    def raise_if_stopping(self) -> None:
        """Stopping: the box was ended for that."""
        if isinstance(self._state.problem, Stopping):
            raise Stopping(str(self._state.problem))


def _end_of(connection: socket.socket, deadline: float, watch: Callable[[], End | None]) -> End:
    while not is_readable(connection.fileno(), LOOK):
        if reason := "timed out" if time.monotonic() >= deadline else watch():
            return reason
    return "exited"


def _sit(box: Box, job: Job, theirs: int, state: _State) -> None:
    try:
        done = box.run(job, state.over)
        if done.end != "stopped":
            state.problem = Unavailable(f"{done.end}, code {done.code}: {done.complaint[-300:]}")
    except TeamError as problem:
        state.problem = problem
    finally:
        os.close(theirs)
        state.ended.set()


def _close(ours: socket.socket, state: _State) -> None:
    state.closing.set()
    ours.close()


def _begin(connection: socket.socket, order: Mapping[str, object]) -> int | None:
    """The process, in our numbers, under which all of the task runs. The kernel tells it, not the sender."""
    try:
        connection.settimeout(BEGUN_WITHIN)
        _, ancillary, _, _ = connection.recvmsg(1, socket.CMSG_SPACE(CREDENTIALS.size))
        waiter = next(CREDENTIALS.unpack(data)[0] for _, kind, data in ancillary if kind == socket.SCM_CREDENTIALS)
        connection.sendall(json.dumps(order).encode() + b"\n")
    except (OSError, StopIteration):
        return None
    return int(waiter) or None


def _channel() -> tuple[socket.socket, int]:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        return ours, fcntl.fcntl(theirs, fcntl.F_DUPFD_CLOEXEC, FIRST_FREE)


def _sizes(*files: BinaryIO) -> int:
    return sum(os.fstat(file.fileno()).st_size for file in files)
