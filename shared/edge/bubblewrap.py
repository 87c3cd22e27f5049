"""Door to bubblewrap. The only module that knows its arguments.

    process -> [as root: unshare, mount] -> setpriv -> sh -> bwrap -> prlimit -> [forward] -> the command

As root the box's user is nobody, who may not pass through the folders that lead to a source (a home is often 0700).
So each source is first bound to a short name below /tmp, in a mount namespace that only this run has.
"""

from __future__ import annotations

import fnmatch
import os
import re
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from shared.domain.errors import Misconfigured, Refused, Unavailable
from shared.edge import process
from shared.edge.box_job import MB, Job, Limits, Mount, python_mounts
from shared.edge.process import Finished
from shared.edge.watchdog import walk, watchdog

METER_PORT = 9911  # where a command finds the meter inside its box
NOBODY = 65534
PROGRAMS = "/usr/local/bin:/usr/bin:/bin"
MOST_COVERED = 100  # files of one folder
LAST_BREATH = 10.0  # seconds for the kernel to end what is left of a box
OURS = "/run/box"  # our own files inside
STAGE = "/tmp"  # noqa: S108  only in the mount namespace of one run

NAMESPACES = (
    *("--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-net", "--unshare-cgroup-try"),
    *("--disable-userns", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "box"),
)
HOST_FILES = ("/etc/ld.so.cache", "/etc/ssl/certs", "/etc/localtime", "/etc/alternatives")
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "HOME": "/home/sandbox", "LANG": "C.UTF-8"}

# $0 is who started us. If he is dead by now, nobody would end the box: the kernel's signal was asked for too late.
IF_STARTER_LIVES = '[ "$PPID" = "$0" ] && exec "$@"'
STAGED = '"$0" -a -T /dev/stdin && exec "$@" </dev/null'


class NoSandbox(Misconfigured):
    """Nothing that a model wrote or a repository brought can be run here; the text says what to type."""


def box_uid() -> int:
    """Who works in a box: we ourselves, and nobody when we are root, whom limits do not bind."""
    return NOBODY if os.geteuid() == 0 else os.geteuid()


def hand_over(path: Path) -> None:
    """Give a folder with all that is in it (or a file, or a socket) to the box's user. No box may run in it."""
    if os.geteuid() != 0:
        return
    if path.is_dir():
        for parent, name in walk(path):
            os.chown(name, NOBODY, NOBODY, dir_fd=parent, follow_symlinks=False)
    os.chown(path, NOBODY, NOBODY, follow_symlinks=False)


def never() -> bool:
    return False


class Bubblewrap:
    """A box made of namespaces. `scratch`: a folder of ours for a few small files; `search`: where programs are."""

    name = "bubblewrap"
    quality: Literal["full", "reduced"] = "full"

    def __init__(self, scratch: Path, search: str = PROGRAMS) -> None:
        """NoSandbox: a program is missing."""
        self._search = search
        self._bwrap = self._program("bwrap")
        self._stage = scratch / "stage"
        self._ours = scratch / "ours"
        self.version = self._version()
        self._python = Path(sys.base_prefix, "bin", f"python{sys.version_info.major}.{sys.version_info.minor}")
        _write_ours(self._ours)

    def run(self, job: Job, stop: Callable[[], bool] = never) -> Finished:
        """Run the job to its end, from the thread that waits for it. `stop` is asked ten times a second.

        Refused: the job cannot be boxed safely. NoSandbox: the box did not start.
        """
        mounts = self._mounts(job)
        names = self._staged(tuple(mount.source for mount in mounts))
        options = b"".join(os.fsencode(word) + b"\0" for word in _options(job, mounts, names))
        folders = tuple(mount.source for mount in job.mounts if mount.writable and mount.source.is_dir())
        with _memory(options) as told, _memory(b"") as status:
            try:
                done = process.run(
                    self._argv(job, told, status),
                    env={},  # bwrap is the first process in the box, whose environment can be read there
                    timeout=job.limits.seconds,
                    data=self._mount_table(names),
                    limit=job.limits.output,
                    pass_fds=(told, status),
                    watch=watchdog(job.limits, folders, stop),
                )
            finally:
                said = os.pread(status, 1000, 0)
                _wait_until_empty(said)
        if done.end == "not found" or (done.end == "exited" and done.code >= 0 and b'"exit-code"' not in said):
            raise NoSandbox(f"the sandbox did not start ({_last_line(done)}): type `make doctor`")
        return done

    # --- what leads to the command ---------------------------------------------------------------------------

    def _argv(self, job: Job, told: int, status: int) -> tuple[str, ...]:
        """The options come through a descriptor: arguments are readable for everybody on the machine, tickets not."""
        bwrap = (self._bwrap, "--json-status-fd", str(status), "--args", str(told), "--")
        return (*self._entrance(), *bwrap, *self._limited(job.limits), *self._forwarded(job), *job.command)

    def _entrance(self) -> tuple[str, ...]:
        setpriv, shell = self._program("setpriv"), self._program("sh")
        guard = ("--no-new-privs", "--pdeathsig", "KILL", "--", shell, "-c", IF_STARTER_LIVES, str(os.getpid()))
        if os.geteuid() != 0:
            return (setpriv, *guard)
        own = (self._program("unshare"), "--mount", "--propagation", "private", "--")
        user = ("--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups")
        return (*own, shell, "-c", STAGED, self._program("mount"), setpriv, *user, *guard)

    def _limited(self, limits: Limits) -> tuple[str, ...]:
        """core=1 (byte): with 0 the kernel would still start a crash reporter of the host."""
        sizes = (f"--as={limits.address_mb * MB}", f"--fsize={limits.file_mb * MB}", f"--nproc={limits.processes}")
        return (self._program("prlimit"), "--nofile=1024", "--core=1", *sizes, "--")

    def _forwarded(self, job: Job) -> tuple[str, ...]:
        if job.meter is None:
            return ()
        return (str(self._python), "-I", f"{OURS}/box_forward.py", str(METER_PORT), "/run/meter.sock")

    # --- what the box sees -----------------------------------------------------------------------------------

    def _mounts(self, job: Job) -> tuple[Mount, ...]:
        found = [Mount(self._ours, OURS), *job.mounts]
        if job.meter is not None:
            found += [*python_mounts(self._python), Mount(job.meter, "/run/meter.sock")]
        for mount in found:
            if not mount.source.exists():
                raise Refused(f"{mount.source} does not exist; the box cannot show it as {mount.target}")
        return tuple(found)

    def _staged(self, sources: tuple[Path, ...]) -> dict[Path, str]:
        """Under which name bwrap finds each source."""
        if os.geteuid() != 0:
            return {source: str(source.resolve()) for source in sources}
        kinds = {source: "folder" if source.is_dir() else "file" for source in sources}
        return {source: f"{STAGE}/{kind}{number}" for number, (source, kind) in enumerate(kinds.items())}

    def _mount_table(self, names: dict[Path, str]) -> bytes | None:
        """In the form of fstab(5). The bottom of each mount is an empty file or folder that stays for the next run."""
        if os.geteuid() != 0:
            return None
        _make(self._stage)
        lines = []
        for source, name in names.items():
            bottom = self._stage / Path(name).name
            if source.is_dir():
                _make(bottom)
            else:
                bottom.touch()
            lines.append(f"{_escaped(source.resolve())} {_escaped(bottom)} none rbind 0 0\n")
        return os.fsencode("".join(lines) + f"{_escaped(self._stage)} {STAGE} none rbind 0 0\n")

    # --- programs --------------------------------------------------------------------------------------------

    def _program(self, name: str) -> str:
        if found := shutil.which(name, path=self._search):
            return found
        raise NoSandbox(f"the program {name} is not in {self._search}")

    def _version(self) -> str:
        said = process.run((self._bwrap, "--version"), env={}, timeout=10).text.split()
        return said[-1] if said else "of unknown version"


def _wait_until_empty(said: bytes) -> None:
    """bwrap ends before the last of its box does: wait for the first process in there, which the kernel ends last."""
    first = re.search(rb'"child-pid": *([0-9]+)', said)
    if first and not process.gone(int(first[1]), LAST_BREATH):
        raise Unavailable(f"process {int(first[1])} of the box cannot be ended; look at it with `ps`")


def _options(job: Job, mounts: tuple[Mount, ...], names: dict[Path, str]) -> Iterator[str]:
    yield from NAMESPACES
    yield from _root()
    yield from _private(job.limits)
    ours = names[mounts[0].source]
    for name in ("passwd", "group", "hosts"):
        yield from ("--ro-bind", f"{ours}/{name}", f"/etc/{name}")
    for mount in mounts:
        yield from ("--bind" if mount.writable else "--ro-bind", names[mount.source], mount.target)
    for cover, target in _covers(job):
        yield from ("--ro-bind", f"{ours}/{cover}", target)
    yield from ("--chdir", job.cwd, "--clearenv")
    for name, value in {**ENVIRONMENT, **job.env}.items():
        if "\0" in name + value:
            raise Refused(f"the value of {name!r} holds a NUL byte; nothing was started")
        yield from ("--setenv", name, value)
    yield from ("--remount-ro", "/dev", "--remount-ro", "/")  # both would hold half of the machine's memory


def _root() -> Iterator[str]:
    """Only what is named: with all of the host's root, each socket in /run could be connected."""
    yield from ("--ro-bind", "/usr", "/usr")
    for path in ("/bin", "/sbin", "/lib", "/lib32", "/lib64"):
        if os.path.islink(path):
            yield from ("--symlink", os.readlink(path), path)
        elif os.path.isdir(path):
            yield from ("--ro-bind", path, path)
    for path in HOST_FILES:
        if os.path.exists(path):
            yield from ("--ro-bind", path, path)


def _private(limits: Limits) -> Iterator[str]:
    yield from ("--dev", "/dev", "--proc", "/proc")
    for path in ("/tmp", "/home/sandbox", "/dev/shm"):  # noqa: S108  the box's own
        yield from ("--size", str(limits.tmp_mb * MB), "--tmpfs", path)  # the size belongs to what follows it


def _covers(job: Job) -> Iterator[tuple[str, str]]:
    """(cover, target) for each file that the mask names. bwrap can cover plain files only."""
    for mount in job.mounts:
        if not (mount.writable and mount.source.is_dir()):
            continue
        hit = [name for name in sorted(os.listdir(mount.source)) if any(fnmatch.fnmatchcase(name, p) for p in job.mask)]
        if len(hit) > MOST_COVERED:
            raise Refused(f"more than {MOST_COVERED} files like {', '.join(job.mask)} in {mount.target}")
        for name in hit:
            if not stat.S_ISREG((mount.source / name).lstat().st_mode):
                raise Refused(f"{name!r} in {mount.target} is not a plain file; it cannot be covered")
            structured = name.endswith((".yml", ".yaml", ".json"))
            yield ("empty.yml" if structured else "empty", f"{mount.target}/{name}")


def _write_ours(folder: Path) -> None:
    uid = box_uid()
    files = {
        "passwd": f"sandbox:x:{uid}:{uid}::/home/sandbox:/bin/sh\n",
        "group": f"sandbox:x:{uid}:\n",
        "hosts": "127.0.0.1 localhost\n",
        "empty": "",
        "empty.yml": "{}\n",
        "box_forward.py": Path(__file__).with_name("box_forward.py").read_text("utf-8"),
    }
    _make(folder)
    for name, text in files.items():
        path = folder / name
        if not path.exists() or path.read_text("utf-8") != text:  # another box may be reading it now
            path.write_text(text, "utf-8")
        path.chmod(0o644)


def _make(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)  # whatever our umask is: the box's user passes through


@contextmanager
def _memory(content: bytes) -> Iterator[int]:
    """A file without a name, to hand something over by its descriptor."""
    descriptor = os.memfd_create("box")
    try:
        os.write(descriptor, content)
        os.lseek(descriptor, 0, os.SEEK_SET)
        yield descriptor
    finally:
        os.close(descriptor)


def _escaped(path: Path) -> str:
    """As fstab(5) wants it."""
    return "".join(f"\\{ord(sign):03o}" if sign in " \t\n\\" else sign for sign in str(path))


def _last_line(done: Finished) -> str:
    return (done.complaint.splitlines() or [f"exit code {done.code}"])[-1][:200]
