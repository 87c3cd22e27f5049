"""Warm Aider adapter: starts Aider once for many tasks, in the warm box.

A task's folders lie below one folder that the box sees from its start; each run shuts itself in before it reads any of
them (aider_fence.py). Whatever the warm box cannot do, a box of the task's own does: seconds slower, nothing else.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import socket
import struct
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

from agents.coder.engine import aider_command, aider_fence, aider_launcher, aider_server
from agents.coder.engine.aider_runner import (
    ADDRESSES,
    BASE_URL,
    CODE,
    DISK,
    FILE,
    MEMORY,
    OUTPUT,
    PROCESSES,
    TEMPORARY,
    AiderEngine,
    Given,
    answer,
    code_mounts,
    lay_out,
    line_ends,
    moved_away,
)
from agents.coder.engine.engine import EngineJob, EngineRun, never
from shared.model.errors import Stopping, TeamError, Unavailable
from shared.sandbox.box import METER_PORT, Box, Finished, Job, JobLimits, Mount, hand_over, python_mounts
from shared.sandbox.watchdog import watchdog
from shared.system.fault import fault_point
from shared.system.paths import remove_folder
from shared.system.process import LOOK, End, Watch, head_and_tail

WORK = "/run/engine/work"  # as the box sees it
SERVER, MODULES = Path(aider_server.__file__), (Path(aider_fence.__file__), Path(aider_launcher.__file__))
OTHERS = 64  # processes that the other tasks may start meanwhile
WEEK = 7 * 24 * 3600.0  # seconds
WHOLE_MEMORY, WHOLE_PROCESSES = 16 * MEMORY, 4 * PROCESSES  # of the box; few tasks take much
MOST_GIVEN = 200  # tasks; then a new server, as memory that is once touched is never shared again
MOST_FAILURES = 3  # starts that fail, one after the other
MB = 1 << 20


@dataclass(frozen=True)
class Place:
    """Surroundings of the engine: its interpreter, the meter's socket, and the folder with the tasks' folders."""

    python: Path
    meter: Path
    work: Path


class WarmAider:
    name = "aider"

    def __init__(
        self, box: Box, place: Place, cold: AiderEngine, print_progress: Callable[[str], None] = lambda _: None
    ) -> None:
        """`cold` runs what cannot be run warm; `print_progress` hears why the server did not start."""
        self._box, self._place, self._cold, self._print_progress = box, place, cold, print_progress
        self._lock = threading.Lock()
        self._warm: WarmBox | None = None
        self._failures = 0

    def run(self, job: EngineJob, stop: Callable[[], bool] = never) -> EngineRun:
        """One run, to its end; from many threads at once. Refused: see Engine.run. NoSandbox: there is no box."""
        ends = line_ends(job)
        if job.folder.parent == self._place.work and (warm := self._ready(stop)):
            with self._laid_out(job) as given:
                done = warm.run(self._order(job, ends, given), job.seconds, OUTPUT, self._watch(job, given, stop))
                fault_point("engine.ran")
                if done:
                    return answer(_as_a_shell_says(done), given.result, job, "warm")
                remove_folder(job.folder / ".git")  # as it was
        return self._cold.run(job, stop)

    def close(self) -> None:
        """End the server, and all that runs in its box."""
        with self._lock:
            warm, self._warm = self._warm, None
        if warm:
            warm.close()

    # --- the server ------------------------------------------------------------------------------------------

    def _ready(self, stop: Callable[[], bool]) -> WarmBox | None:
        """The box, with Aider loaded; None: the task is run cold."""
        warm = self._current()
        if warm is None:
            return None
        said = warm.ready(stop)
        if said.get("version") == aider_launcher.VERSION and said.get("threads") == 1:
            self._failures = 0
            return warm
        if "version" in said:
            self._failed(warm, f"it is Aider {said['version']} with {said.get('threads')} threads", MOST_FAILURES)
        elif not stop():
            warm.raise_if_stopping()
            self._failed(warm, warm.problem(), 1)
        return None

    def _current(self) -> WarmBox | None:
        with self._lock:
            if self._warm and self._warm.given >= MOST_GIVEN and not self._warm.active:
                self._warm.close()
            if self._warm is None or not self._warm.alive:
                self._warm = self._started() if self._failures < MOST_FAILURES else None
            return self._warm

    def _failed(self, warm: WarmBox, why: str, counts: int) -> None:
        with self._lock:
            if self._warm is not warm:
                return  # somebody else has seen it
            self._warm, self._failures = None, self._failures + counts
        warm.close()
        self._print_progress(f"the engine is started anew for each task: its server did not start ({why})")

    def _started(self) -> WarmBox | None:
        place = self._place
        try:
            if os.geteuid() == 0:
                place.work.chmod(0o711)  # the box's user passes through, and cannot look around
            hand_over(place.meter)
            return WarmBox(self._box, self._boxed)
        except (TeamError, OSError) as problem:
            self._failures += 1
            self._print_progress(f"the engine is started anew for each task: {problem}")
            return None

    def _boxed(self, channel: int) -> Job:
        place, environment = self._place, aider_command.environment("none", BASE_URL)
        whole = JobLimits(WEEK, WHOLE_MEMORY, ADDRESSES, WHOLE_PROCESSES, FILE, TEMPORARY, output=OUTPUT)
        return Job(
            command=(str(place.python), "-s", f"{CODE}/{SERVER.name}", str(channel)),
            mounts=(*self._programs(), Mount(place.work, WORK, writable=True)),
            env=environment,
            limits=whole,
            meter=place.meter,
            channel=channel,
        )

    def _programs(self) -> tuple[Mount, ...]:
        return *python_mounts(self._place.python), *code_mounts(SERVER, *MODULES)

    # --- one task --------------------------------------------------------------------------------------------

    @contextmanager
    def _laid_out(self, job: EngineJob) -> Iterator[Given]:
        work = self._place.work
        with tempfile.TemporaryDirectory(prefix="engine-", dir=work, ignore_cleanup_errors=True) as name:
            place = Path(name)
            with moved_away(job.folder, aider_command.covered(job.folder, job), place / "aside"):
                given = lay_out(place, job)
                place.chmod(0o711)
                fault_point("engine.prepared")
                yield given

    def _order(self, job: EngineJob, ends: str, given: Given) -> dict[str, object]:
        files = self._inside(given.files)
        return {
            "task": self._inside(job.folder),
            "files": files,
            "result": self._inside(given.result),
            "home": self._inside(given.home),
            "see": [mount.target for mount in self._programs()],
            "environment": aider_command.environment(job.ticket, BASE_URL),
            "arguments": aider_command.arguments(job, BASE_URL, ends, files),
            "port": METER_PORT,
            "memory": MEMORY * MB,
            "processes": PROCESSES + OTHERS,
        }

    def _inside(self, path: Path) -> str:
        return f"{WORK}/{path.relative_to(self._place.work)}"

    def _watch(self, job: EngineJob, given: Given, stop: Callable[[], bool]) -> Watch:
        """Watch this task alone: it is ended by itself."""
        limits = JobLimits(job.seconds, MEMORY, processes=PROCESSES, disk_mb=DISK, stall=job.stall)
        return watchdog(limits, (job.folder, given.result, given.home), stop, job.pulse)


def _as_a_shell_says(done: Finished) -> Finished:
    """A signal inside a box ends its command with a code."""
    return replace(done, code=128 - done.code) if done.end == "exited" and done.code < 0 else done


# --- the box ---------------------------------------------------------------------------------------------------------


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
                if not self._hello and _readable(self._ours, LOOK):
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
    while not _readable(connection, LOOK):
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


def _readable(connection: socket.socket, seconds: float) -> bool:
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


def _sizes(*files: BinaryIO) -> int:
    return sum(os.fstat(file.fileno()).st_size for file in files)
