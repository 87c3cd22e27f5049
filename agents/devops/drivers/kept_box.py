"""Boxes that outlive us, each with one port of this machine let through to it.

We -> its keeper, a program of its own -> the box. The keeper holds a lock while it lives: so the kernel says who it is,
and a number that came to mean another process is never signalled. Its box ends with it, however it ends. What connects
to 127.0.0.1:PORT is passed on through a channel to the same port of the box; nothing in there reaches anything outside.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from sisimpur.shared.model.errors import Misconfigured, Refused, Unavailable
from sisimpur.shared.sandbox.box_forward import CONNECTED, END, pump
from sisimpur.shared.sandbox.box_job import MB, Job, JobLimits, Mount
from sisimpur.shared.sandbox.box_root import hand_over
from sisimpur.shared.sandbox.bubblewrap import Bubblewrap
from sisimpur.shared.system import lock, process
from sisimpur.shared.system.paths import read_text, write_text

FOLDER, DATA, LOG = "/site", "/data", "/run/log"  # as the box sees them
LOGGED = f'exec >>{LOG} 2>&1 && exec "$@"'
PROGRAM = "import sys; sys.path.insert(0, sys.argv.pop(1)); from {} import main; sys.exit(main(*sys.argv[1:]))"
ROOT = Path(__file__).absolute().parents[4]  # where our packages are imported from
BEGINS_WITHIN, POLITE, LAST_BREATH, BEAT = 20.0, 5.0, 10.0, 0.05  # seconds
YEARS = 1e9  # seconds
MOST_CONNECTIONS = 256
MOST_LOG = 8 * MB


@dataclass(frozen=True)
class BoxOrder:
    """What is to be kept. `name`: whose it is, in its owner's words. `folder` is shown, `data` may be written."""

    name: str
    command: tuple[str, ...]
    folder: str
    data: str
    port: int
    memory_mb: int


@dataclass(frozen=True)
class Kept:
    pid: int
    name: str  # empty: it begins just now


class KeptBox:
    """`folder`: ours, of this box alone: its lock, its log, its keeper's words."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._begun: set[int] = set()

    def found(self) -> Kept | None:
        """Whose box is kept now, whoever began it; None: none is."""
        self._begun = {pid for pid in self._begun if not _has_ended(pid)}
        held = lock.holder(self._folder / "lock")
        if not held:
            return None
        with suppress(FileNotFoundError, Refused, ValueError, KeyError):
            note = json.loads(read_text(self._folder / "note"))
            if str(note["pid"]) == held:
                return Kept(int(held), str(note["name"]))
        return Kept(int(held) if held.isdecimal() else 0, "")

    def start(self, order: BoxOrder, env: Mapping[str, str]) -> None:
        """Return when it has the port. Unavailable: it does not come to that, and why."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        said = self._folder / "keeper.out"
        said.unlink(missing_ok=True)
        words = (PROGRAM.format(__name__), str(ROOT), str(self._folder), json.dumps(asdict(order)))
        pid = process.detached((sys.executable, "-I", "-c", *words), env=env, output=said)
        self._begun.add(pid)
        until = time.monotonic() + BEGINS_WITHIN
        with process.other(pid) as keeper:
            while time.monotonic() < until:
                kept = self.found()
                if kept and kept.pid == pid and kept.name:
                    return
                if keeper is None or keeper.has_ended(BEAT):
                    break
        raise Unavailable(_last_line(said) or "its keeper has ended without a word")

    def end(self, hurry: bool = False) -> None:
        """Ask it to end, or in a hurry end it at once. Unavailable: it does not."""
        until = time.monotonic() + POLITE + 2 * LAST_BREATH
        while kept := self.found():
            if time.monotonic() > until:
                raise Unavailable(f"process {kept.pid}, which keeps a box, cannot be ended; look at it with `ps`")
            with process.other(kept.pid) as keeper:
                if keeper is None or not lock.is_held_by(self._folder / "lock", kept.pid):
                    time.sleep(BEAT)
                    continue
                if not hurry:
                    keeper.ask_to_end()
                if hurry or not keeper.has_ended(POLITE + LAST_BREATH):
                    keeper.kill()
                    keeper.has_ended(LAST_BREATH)

    def log(self, lines: int) -> tuple[str, ...]:
        """The newest lines that it printed since its start, and what its keeper says of its end; text from outside."""
        found: list[str] = []
        for name in ("log", "keeper.out"):
            with suppress(FileNotFoundError), open(self._folder / name, "rb", opener=_no_link) as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - MB))
                found += file.read().decode("utf-8", "replace").splitlines()
        return tuple(found[-lines:])


def _has_ended(pid: int) -> bool:
    """Collect a keeper that we began, if it has ended."""
    try:
        return os.waitpid(pid, os.WNOHANG) != (0, 0)
    except ChildProcessError:
        return True


def _no_link(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW)


def _last_line(said: Path) -> str:
    with suppress(FileNotFoundError, Refused):
        return (read_text(said).strip().splitlines() or [""])[-1][:300]
    return ""


# --- the keeper ----------------------------------------------------------------------------------------------


def main(folder: str, told: str) -> int:
    """Keep a box to its end. Its environment is what we were given."""
    order = BoxOrder(**json.loads(told))
    keeper = Keeper(Path(folder), order)
    signal.signal(signal.SIGTERM, keeper.ask)
    try:
        keeper.keep(dict(os.environ))
    except Misconfigured as problem:
        return _told(str(problem))
    except OSError as problem:
        return _told(f"port {order.port} of 127.0.0.1 cannot be had: {problem.strerror}")
    return 0


def _told(words: str) -> int:
    """Say it where whoever began us looks."""
    sys.stderr.write(f"{words}\n")
    return 1


class Keeper:
    """One box, from the lock to its end. Its thread is the box's parent: it is the first one, and stays."""

    def __init__(self, folder: Path, order: BoxOrder) -> None:
        self._folder, self._order = folder, order
        self._asked, self._until = False, 0.0
        self._ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._theirs = fcntl.fcntl(theirs.fileno(), fcntl.F_DUPFD_CLOEXEC, 10)
        theirs.close()

    def ask(self, *_: object) -> None:
        self._asked = True

    def keep(self, env: Mapping[str, str]) -> None:
        """Misconfigured: somebody keeps one here, or there is no box. OSError: the port is taken."""
        with lock.hold(self._folder / "lock"), socket.create_server(("127.0.0.1", self._order.port)) as door:
            write_text(self._folder / "note", json.dumps({"pid": os.getpid(), "name": self._order.name}))
            log = self._folder / "log"
            log.unlink(missing_ok=True)
            os.close(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            hand_over(log)
            threading.Thread(target=self._pass_on, args=(door,), daemon=True).start()
            done = Bubblewrap(self._folder / "box").run(self._job(env, log), lambda: self._is_over(log))
            if done.end not in ("exited", "stopped"):
                _told(f"the box was ended: {done.end}")

    def _job(self, env: Mapping[str, str], log: Path) -> Job:
        order = self._order
        shown = (Mount(Path(order.folder), FOLDER), Mount(Path(order.data), DATA, True), Mount(log, LOG, True))
        sizes = JobLimits(
            YEARS, order.memory_mb, max(4096, 4 * order.memory_mb), processes=512, file_mb=1 << 20, output=1_000
        )
        command = ("sh", "-c", LOGGED, "sh", *order.command)
        return Job(command, shown, FOLDER, env, sizes, channel=self._theirs, port=order.port)

    def _is_over(self, log: Path) -> bool:
        """Asked ten times a second. Who was asked to end asks the command, and gives it some seconds."""
        if log.stat().st_size > MOST_LOG:
            os.truncate(log, 0)
        if self._asked and not self._until:
            self._until = time.monotonic() + POLITE
            with suppress(OSError):
                self._ours.send(END)
        return self._asked and time.monotonic() > self._until

    def _pass_on(self, door: socket.socket) -> None:
        free = threading.BoundedSemaphore(MOST_CONNECTIONS)
        while True:
            free.acquire()
            client, _ = door.accept()
            threading.Thread(target=self._serve, args=(client, free.release), daemon=True).start()

    def _serve(self, client: socket.socket, done: Callable[[], None]) -> None:
        with client, _pair() as (ours, theirs), suppress(OSError):
            socket.send_fds(self._ours, [CONNECTED], [theirs.fileno()])
            theirs.close()
            back = threading.Thread(target=pump, args=(ours, client), daemon=True)
            back.start()
            pump(client, ours)
            back.join()
        done()


@contextmanager
def _pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs
