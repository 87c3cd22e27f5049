"""Door to programs. The only module that starts one.

A program gets an argument vector (never a shell's line), exactly the environment it is given, a folder and a time
limit. It leads a process group of its own and ends as a group. It prints into files, unless it is kept to answer.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import tempfile
import time
import weakref
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal

from sisimpur.shared.model.errors import CommandFailed, Misconfigured, Refused, Unavailable
from sisimpur.shared.model.text import signal_of
from sisimpur.shared.system.paths import head_and_tail

End = Literal[
    "exited", "timed out", "not found", "stopped", "stalled", "memory", "processes", "disk", "output", "machine"
]
Watch = Callable[[int, int], End | None]  # its process id, the bytes that it has printed

GRACE = 2.0  # seconds between the polite signal and the other one
LOOK = 0.1  # seconds between two looks at a running program
AT_ONCE = 1 << 16  # bytes that are read or written in one go
MOST_PRINTED = 1 << 30  # bytes; a program that prints more is ended, the disk is not its own


@dataclass(frozen=True)
class Finished:
    """End of a program. `output` and `errors` are head and tail within the limit; `cut` says that some is missing.

    `code`: the exit code; negative: ended by that signal; 127: there is no such program (`end` is "not found").
    """

    code: int
    output: bytes
    errors: bytes
    end: End
    seconds: float
    cut: bool = False

    @property
    def ok(self) -> bool:
        return self.end == "exited" and self.code == 0

    @property
    def text(self) -> str:
        return self.output.decode("utf-8", "replace")

    @property
    def complaint(self) -> str:
        """Return what it said on its error channel (or else at all), or which signal ended it, for people."""
        said = (self.errors or self.output).decode("utf-8", "replace").strip()
        return said or (f"ended by {self.signal}" if self.signal else "")

    @property
    def signal(self) -> str:
        """Name the signal that ended it, or its last command, as a shell says that; empty: none did."""
        return signal_of(self.code) if self.end == "exited" else ""

    @property
    def is_killed(self) -> bool:
        """Tell whether somebody ended it, or the kernel for want of memory: nothing in here did."""
        return self.signal in ("SIGKILL", "SIGTERM")


@dataclass(frozen=True)
class RunOptions:
    """Options that few programs need. `watch`: asked ten times a second; a reason ends the group at once."""

    limit: int = 200_000  # bytes kept of each channel
    merge: bool = False  # errors join the output
    pass_fds: Collection[int] = ()  # descriptors that it inherits
    watch: Watch | None = None


USUAL = RunOptions()


def run(
    argv: Sequence[str],
    *,
    cwd: Path = Path("/"),
    env: Mapping[str, str],
    timeout: float,
    data: bytes | int | None = None,
    how: RunOptions = USUAL,
) -> Finished:
    """Start a program and wait for its end.

    timeout in seconds; data: what it reads, or a descriptor to read from (default: nothing). A missing program is an
    ordinary answer. Refused: an argument that no program can be given.
    """
    _refuse_unspeakable(argv, env)
    began = time.monotonic()
    with contextlib.ExitStack() as files:
        source = data if isinstance(data, int) else files.enter_context(_holding(data))
        output = files.enter_context(tempfile.TemporaryFile())
        errors = output if how.merge else files.enter_context(tempfile.TemporaryFile())
        try:
            process = _start(argv, cwd, env, (source, output, errors), how.pass_fds)
        except OSError as error:  # no such program, not executable, no such folder
            return Finished(127, b"", str(error).encode(), "not found", time.monotonic() - began)
        end = _wait(process, began + timeout, how.watch, (output, errors))
        said, cut = head_and_tail(output, how.limit)
        complained, cut_too = (b"", False) if how.merge else head_and_tail(errors, how.limit)
    return Finished(process.returncode, said, complained, end, time.monotonic() - began, cut or cut_too)


def repeated(attempt: Callable[[], Finished]) -> Finished:
    """Run what may be run twice: once more if it was killed."""
    done = attempt()
    return attempt() if done.is_killed else done


@contextlib.contextmanager
def running(
    argv: Sequence[str],
    *,
    cwd: Path = Path("/"),
    env: Mapping[str, str],
    output: int = subprocess.DEVNULL,
    pass_fds: Collection[int] = (),
) -> Iterator[int]:
    """A program that runs while the block does; yields its process id. Its group ends with the block, at once.

    output: a descriptor for all that it prints. Unavailable: it cannot be started.
    """
    _refuse_unspeakable(argv, env)
    try:
        process = _start(argv, cwd, env, (subprocess.DEVNULL, output, output), pass_fds)
    except OSError as error:
        raise Unavailable(f"{argv[0]} cannot be started: {error}") from None
    try:
        yield process.pid
    finally:
        _signal(process, signal.SIGKILL)
        process.wait()


def attached(argv: Sequence[str], *, cwd: Path, env: Mapping[str, str]) -> int:
    """A program that has our own terminal, to its end -> its exit code. For the owner's own tools only."""
    _refuse_unspeakable(argv, env)
    try:
        return subprocess.run(argv, cwd=cwd, env=dict(env), check=False).returncode
    except OSError as error:
        raise Unavailable(f"{argv[0]} cannot be started: {error}") from None


def detached(argv: Sequence[str], *, env: Mapping[str, str], output: Path) -> int:
    """Start a program that outlives us -> its process id.

    It reads nothing, and appends all that it prints to `output`, a plain file that is made for our eyes only.
    Unavailable: it cannot be started.
    """
    _refuse_unspeakable(argv, env)
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(output, flags, 0o600)
        try:
            process = _start(argv, Path("/"), env, (subprocess.DEVNULL, descriptor, descriptor), ())
        finally:
            os.close(descriptor)
    except OSError as error:
        raise Unavailable(f"{argv[0]} cannot be started: {error}") from None
    process.returncode = 0  # Popen would warn that nobody waits for it: nobody is meant to
    return process.pid


class KeptProgram:
    """A program that is kept, and answers what it is told. For one thread at a time.

    Its group ends with `close`, with this object or with us, at once. When it has ended, or does not answer in time,
    every further question is CommandFailed. Unavailable: it cannot be started.
    """

    def __init__(self, argv: Sequence[str], *, env: Mapping[str, str]) -> None:
        _refuse_unspeakable(argv, env)
        self._name = argv[0]
        self._told = b""  # what it has still to be told
        self._said = bytearray()  # what it has said, and nobody has taken yet
        self._errors = os.memfd_create("errors")
        try:
            self._process = _start(argv, Path("/"), env, (subprocess.PIPE, subprocess.PIPE, self._errors), ())
        except OSError as error:
            os.close(self._errors)
            raise Unavailable(f"{argv[0]} cannot be started: {error}") from None
        assert self._process.stdin and self._process.stdout
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._in, False)
        os.set_blocking(self._out, False)
        self._end = weakref.finalize(self, _end_kept, self._process, self._errors)

    def tell(self, data: bytes) -> None:
        """Tell it what it takes at once, and queue the rest: who only talks would wait for one that only talks back."""
        self._told += data
        if self._end.alive:
            self._listens()

    def line(self, seconds: float) -> bytes:
        """The next line of what it says, without its end."""
        deadline = time.monotonic() + seconds
        while (end := self._said.find(b"\n")) < 0:
            self._go_on(deadline)
        found = bytes(self._said[:end])
        del self._said[: end + 1]
        return found

    def take(self, size: int, seconds: float) -> bytes:
        """The next bytes of what it says."""
        deadline = time.monotonic() + seconds
        while len(self._said) < size:
            self._go_on(deadline)
        found = bytes(self._said[:size])
        del self._said[:size]
        return found

    def close(self) -> None:
        self._end()

    def _go_on(self, deadline: float) -> None:
        """Wait until it listens or says something; both happen here."""
        if not self._end.alive:
            raise CommandFailed(f"{self._name} is not running any more")
        poll = select.poll()
        poll.register(self._out, select.POLLIN)
        if self._told:
            poll.register(self._in, select.POLLOUT)
        ready = [number for number, _ in poll.poll(max(0.0, deadline - time.monotonic()) * 1000)]
        if not ready:
            self.close()
            raise CommandFailed(f"{self._name} did not answer in time")
        if self._in in ready:
            self._listens()
        if self._out in ready:
            self._says()

    def _listens(self) -> None:
        try:
            self._told = self._told[os.write(self._in, self._told[:AT_ONCE]) :]
        except BlockingIOError:
            pass  # later
        except BrokenPipeError:
            self._told = b""  # it has ended: what it has said before is read to its end

    def _says(self) -> None:
        if not (data := os.read(self._out, AT_ONCE)):
            complaint = os.pread(self._errors, 1_000, 0).decode("utf-8", "replace").strip()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(GRACE)  # else our own signal would be told for its end
            self.close()
            ended = signal_of(self._process.returncode)
            raise CommandFailed(complaint or f"{self._name} has ended{f' by {ended}' if ended else ''}")
        self._said += data


def _end_kept(process: subprocess.Popen[bytes], errors: int) -> None:
    _signal(process, signal.SIGKILL)
    process.wait()
    for channel in (process.stdin, process.stdout):
        assert channel
        channel.close()
    os.close(errors)


@dataclass(frozen=True)
class Other:
    """A process that is not ours to wait for, held by a descriptor: its number cannot come to mean somebody else."""

    descriptor: int

    def has_ended(self, seconds: float = 0) -> bool:
        """Tell whether it has, or does within the time."""
        return is_readable(self.descriptor, seconds)

    def ask_to_end(self) -> None:
        self._send(signal.SIGTERM)

    def kill(self) -> None:
        self._send(signal.SIGKILL)

    def _send(self, number: signal.Signals) -> None:
        try:
            signal.pidfd_send_signal(self.descriptor, number)
        except ProcessLookupError:
            pass  # it has ended
        except PermissionError:
            raise Misconfigured("it belongs to another user; type the command as the one who started it") from None


@contextlib.contextmanager
def other(pid: int) -> Iterator[Other | None]:
    """A process of any parent, as long as the block lasts; None: there is none of that number."""
    with contextlib.ExitStack() as held:
        found: Other | None = None
        with contextlib.suppress(OSError, OverflowError):
            found = Other(held.enter_context(_tells_of_the_end(pid)))
        yield found


def _start(
    argv: Sequence[str],
    cwd: Path,
    env: Mapping[str, str],
    channels: tuple[int | BinaryIO, int | BinaryIO, int | BinaryIO],
    pass_fds: Collection[int],
) -> subprocess.Popen[bytes]:
    source, output, errors = channels
    return subprocess.Popen(
        argv,
        cwd=cwd,
        env=dict(env),
        stdin=source,
        stdout=output,
        stderr=errors,
        start_new_session=True,
        pass_fds=pass_fds,
    )


@contextlib.contextmanager
def _holding(data: bytes | None) -> Iterator[BinaryIO]:
    with open(os.devnull, "rb") if data is None else tempfile.TemporaryFile() as file:
        if data is not None:
            file.write(data)
            file.seek(0)
        yield file


def _refuse_unspeakable(argv: Sequence[str], env: Mapping[str, str]) -> None:
    for word in (*argv, *env, *env.values()):
        try:
            speakable = b"\0" not in os.fsencode(word)
        except UnicodeEncodeError:  # half of a surrogate pair: a model can write that
            speakable = False
        if not speakable:
            raise Refused(f"{argv[0]} was not started: no program can be given {word[:60]!r} as an argument")


def _wait(
    process: subprocess.Popen[bytes], deadline: float, watch: Watch | None, printed: tuple[BinaryIO, BinaryIO]
) -> End:
    """Wait until the leader ends or must end; in any case, also when we are interrupted, the whole group ends."""
    try:
        with _tells_of_the_end(process.pid) as leader:
            while not is_readable(leader, min(LOOK, max(0.0, deadline - time.monotonic()))):
                if time.monotonic() >= deadline:
                    _signal(process, signal.SIGTERM)
                    is_readable(leader, GRACE)
                    return "timed out"
                sizes = [os.fstat(file.fileno()).st_size for file in dict.fromkeys(printed)]
                if max(sizes) > MOST_PRINTED:
                    return "output"
                if watch and (reason := watch(process.pid, sum(sizes))):
                    return reason
        return "exited"
    finally:
        _signal(process, signal.SIGKILL)
        process.wait()


def end(pid: int, seconds: float) -> bool:
    """End a process that another one started; whether it is gone within the time."""
    try:
        with _tells_of_the_end(pid) as descriptor:
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)
            return is_readable(descriptor, seconds)
    except ProcessLookupError:
        return True


@contextlib.contextmanager
def _tells_of_the_end(pid: int) -> Iterator[int]:
    """A descriptor that tells of the process's end without collecting it: its number stays ours to signal."""
    descriptor = os.pidfd_open(pid)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def is_readable(descriptor: int, seconds: float) -> bool:
    """Wait until it can be read from: a process's end is told so too."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)
