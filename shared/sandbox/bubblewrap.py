"""Door to bubblewrap. The only module that starts it.

[sh: into its group] -> [as root: unshare -> sh: mount -> setpriv] -> bwrap -> prlimit -> nice -> ionice
-> sh: guard -> [forward] -> the command
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Literal

from sisimpur.shared.machine.charging import Charge, charge_run, opened
from sisimpur.shared.model.errors import Misconfigured, Refused, Unavailable
from sisimpur.shared.sandbox.box_calls import MACHINES, box_filter
from sisimpur.shared.sandbox.box_group import find_groups, took_too_much
from sisimpur.shared.sandbox.box_job import MB, Job, JobLimits, Mount, base_python, python_mounts
from sisimpur.shared.sandbox.box_root import (
    NOBODY,
    hand_over,
    layers,
    mount_table,
    options,
    private_places,
    staged,
    write_ours,
)
from sisimpur.shared.sandbox.box_usage import OURS
from sisimpur.shared.sandbox.watchdog import watchdog, with_private
from sisimpur.shared.system import process
from sisimpur.shared.system.process import Finished

METER_PORT = 9911  # where a command finds the meter inside its box
METER_SOCKET = "/run/meter.sock"
PROGRAMS = "/usr/local/bin:/usr/bin:/bin"
NICE = "10"  # what runs in boxes waits for the rest of the machine
LAST_AT_DISK = ("ionice", "-c", "2", "-n", "7")
LAST_BREATH = 10.0  # seconds for the kernel to end what is left of a box

NAMESPACES = (
    *("--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-net", "--unshare-cgroup-try"),
    *("--disable-userns", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "box"),
)
STAGED = f"""
"$0" -a -T "$1" && shift || exit
while [ "$1" != -- ]; do  # size, lower folder, place
"$0" -t tmpfs -o "nosuid,nodev,mode=755,size=$1" box "$3" && mkdir -m 755 "$3/upper" "$3/work" "$3/seen" &&
chown {NOBODY}:{NOBODY} "$3/upper" &&
"$0" -t overlay -o "nosuid,nodev,redirect_dir=on,lowerdir=$2,upperdir=$3/upper,workdir=$3/work" box "$3/seen" &&
shift 3 || exit
done
shift
exec "$@"
"""
UNDER = "/run/under"  # where the files lie that are copied, on a machine that cannot share them
GROUPED = 'echo $$ >"$0/cgroup.procs" && exec "$@"'
COPIED = 'while [ "$1" != -- ]; do cp -a "$1/." "$2/" && shift 2 || exit; done; shift; exec "$@"'
SHARED = "mv before after && echo mine > after/file && cat after/file"  # a folder of below, elsewhere and changed

# bwrap dies with its parent, but for some milliseconds at its start what it began does not die with it. So a guard in
# the box reads from a pipe that nobody writes to: it ends when we are gone, and the guard ends all that is in there.
# When the machine runs out of memory, the kernel ends what is in boxes before it ends us.
FIRST = "{ echo 900 >/proc/self/oom_score_adj; } 2>/dev/null; "
GUARD = FIRST + 'exec 3<&0 </dev/null; ((read -r _ <&3; kill -s KILL -- -1) &); exec "$@" 3<&-'


def never() -> bool:
    return False


class Bubblewrap:
    """A box made of namespaces. `scratch`: a folder of ours for a few small files; `search`: where programs are."""

    name = "bubblewrap"
    quality: Literal["full", "reduced"] = "full"

    def __init__(self, scratch: Path, search: str = PROGRAMS) -> None:
        """Ends what an earlier process of ours may have left. Misconfigured: a program is missing, or calls unknown."""
        self._search = search
        self._bwrap = self._program("bwrap")
        said = process.run((self._bwrap, "--version"), env={}, timeout=10).text.split()
        self.version = said[-1] if said else "of unknown version"
        self._python = base_python()
        if platform.machine() not in MACHINES:
            raise Misconfigured(f"the system calls of a {platform.machine()} machine are not known")
        self._filter = box_filter(platform.machine())
        self.groups = find_groups()
        self._stage, self._ours = scratch / "stage", scratch / "ours"
        write_ours(self._ours)
        _end_orphans(self._mark)

    def run(self, job: Job, stop: Callable[[], bool] = never) -> Finished:
        """Run the job to its end, from the thread that waits for it. `stop` is asked ten times a second.

        Refused: the job cannot be boxed safely. Misconfigured: the box did not start. Unavailable: it does not end.
        """
        if job.under and self.copies:
            job = _copying(job)
        return self._run(job, stop)

    @cached_property
    def copies(self) -> str:
        """Why each box gets a copy of what it sees as `under`; empty: they share it, by an overlay. It is tried once.

        An ordinary user's overlay cannot move folders: there the tests would not run as elsewhere.
        """
        if os.geteuid() != 0:
            return "only for root an overlay can move folders"
        with tempfile.TemporaryDirectory(prefix="layers-", dir=self._stage.parent) as name:
            (Path(name) / "before").mkdir()
            (Path(name) / "before/file").write_text("ours\n", "ascii")
            hand_over(Path(name))
            job = Job(("sh", "-c", SHARED), cwd="/job", limits=JobLimits(seconds=20), private={"/job": 1})
            job = replace(job, under={"/job": Path(name)})
            try:
                done = process.repeated(lambda: self._run(job))
            except Misconfigured as problem:
                return str(problem).partition(": type ")[0]
            with suppress(OSError):
                if (Path(name) / "before/file").read_text("ascii") == "ours\n" and done.text == "mine\n":
                    return ""
        return "an overlay does not do here what it should"

    def _run(self, job: Job, stop: Callable[[], bool] = never) -> Finished:
        mounts = self._mounts(job)
        names = staged((*(mount.source for mount in mounts), *job.under.values()))
        told = _joined((*NAMESPACES, *options(job, mounts, names)))
        table, over = mount_table(names, self._stage), tuple(layers(job, names, self._stage))
        channel = () if job.channel is None else (job.channel,)
        writable = tuple(m.source for m in job.mounts if m.writable and m.source.is_dir() and not channel)
        taken = Charge()
        watch = with_private(watchdog(job.limits, writable, stop, taken, job.pulse), job.limits, private_places(job))
        with (
            opened(),
            _memory(told) as words,
            _memory(self._filter) as calls,
            _memory(table, len(table)) as mounted,
            _memory(b"") as status,
            _pipe() as alive,
            self.groups.group(job) as group,
        ):
            try:
                done = process.run(
                    (*self._entrance(mounted, over, group), *self._argv(job, words, calls, mounted, status)),
                    env={},  # bwrap is the first process in the box, whose environment can be read there
                    timeout=job.limits.seconds,
                    data=alive,
                    how=process.RunOptions(
                        limit=job.limits.output, pass_fds=(words, calls, mounted, status, *channel), watch=watch
                    ),
                )
            finally:
                said = os.pread(status, 1000, 0)
                charge_run(taken.use)
                _end_the_rest(said)
            done = replace(done, end="memory") if took_too_much(group) else done
        if done.end == "not found" or (done.end == "exited" and done.code >= 0 and b'"exit-code"' not in said):
            last = (done.complaint.splitlines() or [f"exit code {done.code}"])[-1][:200]
            raise Misconfigured(f"the sandbox did not start ({last}); type: python main.py doctor")
        return done

    def _mounts(self, job: Job) -> tuple[Mount, ...]:
        found = [Mount(self._ours, OURS), *job.mounts]
        if job.meter is not None or job.port:
            found += python_mounts(self._python)
        if job.meter is not None:
            found.append(Mount(job.meter, METER_SOCKET))
        for mount in (*found, *(Mount(source, target) for target, source in job.under.items())):
            if not mount.source.exists():
                raise Refused(f"{mount.source} does not exist; the box cannot show it as {mount.target}")
        return tuple(found)

    # --- what leads to the command ---------------------------------------------------------------------------

    @property
    def _mark(self) -> tuple[str, str]:
        """Stands among the arguments of each box, and of no other process on this machine."""
        return (GUARD, str(self._ours))

    def _argv(self, job: Job, words: int, calls: int, mounted: int, status: int) -> tuple[str, ...]:
        """The options come through a descriptor: arguments are readable for everybody on the machine, tickets not.

        The table of mounts is read to its end already; bwrap only closes it, so that the box does not inherit it.
        """
        described = ("--json-status-fd", str(status), "--args", str(words), "--args", str(mounted))
        descriptors = (*described, "--seccomp", str(calls), "--")
        guard = (self._program("sh"), "-c", *self._mark)
        inside = (*self._limited(job.limits), *guard, *self._forwarded(job), *job.command)
        return (self._bwrap, *descriptors, *inside)

    def _entrance(self, mounted: int, over: tuple[str, ...], group: Path | None) -> tuple[str, ...]:
        joined = (self._program("sh"), "-c", GROUPED, str(group)) if group else ()
        if os.geteuid() != 0:
            return joined
        own = (self._program("unshare"), "--mount", "--propagation", "private", "--")
        stage = (self._program("sh"), "-c", STAGED, self._program("mount"), f"/dev/fd/{mounted}", *over, "--")
        user = ("--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups", "--no-new-privs", "--")
        return (*joined, *own, *stage, self._program("setpriv"), *user)

    def _limited(self, limits: JobLimits) -> tuple[str, ...]:
        """core=1 (byte): with 0 the kernel would still start a crash reporter of the host."""
        behind = LAST_AT_DISK if shutil.which("ionice", path=self._search) else ()
        sizes = (f"--as={limits.address_mb * MB}", f"--fsize={limits.file_mb * MB}", f"--nproc={limits.processes}")
        return (self._program("prlimit"), "--nofile=1024", "--core=1", *sizes, "--", "nice", "-n", NICE, *behind)

    def _forwarded(self, job: Job) -> tuple[str, ...]:
        if job.port:
            return (str(self._python), "-I", f"{OURS}/box_forward.py", str(job.port), str(job.channel))
        if job.meter is None:
            return ()
        return (str(self._python), "-I", f"{OURS}/box_forward.py", str(METER_PORT), METER_SOCKET)

    def _program(self, name: str) -> str:
        if found := shutil.which(name, path=self._search):
            return found
        raise Misconfigured(f"the program {name} is not in {self._search}")


def _copying(job: Job) -> Job:
    """The same job, which begins with copying what lies under its folders."""
    below = {target: Mount(source, f"{UNDER}{number}") for number, (target, source) in enumerate(job.under.items())}
    pairs = (word for target, mount in below.items() for word in (mount.target, target))
    command = ("sh", "-c", COPIED, "sh", *pairs, "--", *job.command)
    return replace(job, command=command, mounts=(*job.mounts, *below.values()), under={})


def _joined(words: tuple[str, ...]) -> bytes:
    if any("\0" in word for word in words):
        raise Refused("an option of the box holds a NUL byte; nothing was started")
    return b"".join(os.fsencode(word) + b"\0" for word in words)


def _end_the_rest(said: bytes) -> None:
    """bwrap may end before its box does: end the first process in there, and wait: the kernel ends it after the others.

    Unavailable: it does not end.
    """
    first = re.search(rb'"child-pid": *([0-9]+)', said)
    if first and not process.end(int(first[1]), LAST_BREATH):
        raise Unavailable(f"process {int(first[1])} of the box cannot be ended; look at it with `ps`")


def _end_orphans(mark: tuple[str, ...]) -> None:
    """End each box that has lost its bwrap: one that was killed while it began leaves a process that waits for ever."""
    for pid in (int(name) for name in os.listdir("/proc") if name.isdigit()):
        with suppress(OSError):
            status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text("utf-8").splitlines())
            is_first_inside = status["NSpid"].split()[1:] == ["1"]
            if is_first_inside and _is_marked(pid, mark) and not _is_marked(int(status["PPid"]), mark):
                process.end(pid, LAST_BREATH)


def _is_marked(pid: int, mark: tuple[str, ...]) -> bool:
    return "\0".join(mark).encode() + b"\0" in Path(f"/proc/{pid}/cmdline").read_bytes()


@contextmanager
def _memory(content: bytes, position: int = 0) -> Iterator[int]:
    """A file without a name, to hand something over by its descriptor."""
    descriptor = os.memfd_create("box")
    try:
        os.write(descriptor, content)
        os.lseek(descriptor, position, os.SEEK_SET)
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def _pipe() -> Iterator[int]:
    """The end to read from; it ends when this process does, since nobody inherits the end to write to."""
    theirs, ours = os.pipe()
    try:
        yield theirs
    finally:
        os.close(theirs)
        os.close(ours)
