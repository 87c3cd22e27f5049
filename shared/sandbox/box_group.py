"""Control groups of boxes (cgroup v2): the kernel's own limits of a whole box, where a part of the tree is ours.

It is ours when the group that we are in may be written, and holds nobody but us: a service with `Delegate=yes`. We move
into a group below it, since a group that limits others may hold no process. Elsewhere rlimits and the watchdog limit.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from sisimpur.shared.sandbox.box_job import MB, Job

TREE = Path("/sys/fs/cgroup")
CONTROLLERS = ("cpu", "memory", "pids")
WEIGHT = "20"  # of a box for the processors; everybody else has 100
TEAM, BOX = "team", "box"  # what groups of ours are called
WRAPPING = 16  # processes that lead to the command
OVERHEAD = 64 * MB  # the kernel's own memory of a box
LAST_BREATH, BEAT = 5.0, 0.01  # seconds
COUNT = itertools.count()


@dataclass(frozen=True)
class BoxGroups:
    """`parent`: the group in which those of boxes are made, None: there is none, and `why`. `limited`: controllers."""

    parent: Path | None = None
    limited: tuple[str, ...] = ()
    why: str = ""

    @property
    def level(self) -> str:
        """For `doctor`: which limits hold."""
        return f"cgroup v2 ({', '.join(self.limited)})" if self.limited else f"rlimits and counting ({self.why})"

    @contextmanager
    def group(self, job: Job) -> Iterator[Path | None]:
        """A group for one box; what is left in it afterwards is ended by the kernel. None: there are none here."""
        if self.parent is None:
            yield None
            return
        made = self.parent / f"{BOX}-{os.getpid()}-{next(COUNT)}"
        made.mkdir()
        try:
            for name, value in self._limits(job).items():
                (made / name).write_text(value, "ascii")
            yield made
        finally:
            _remove(made)

    def _limits(self, job: Job) -> dict[str, str]:
        """Memory holds the files that a box has in memory, too."""
        limits = job.limits
        memory = (limits.memory_mb + 3 * limits.tmp_mb + sum(job.private.values())) * MB + OVERHEAD
        every = {
            "cpu": {"cpu.weight": WEIGHT},
            "memory": {"memory.max": str(memory), "memory.oom.group": "1"},
            "pids": {"pids.max": str(limits.processes + WRAPPING)},
        }
        return {name: value for one in self.limited for name, value in every[one].items()}


def took_too_much(group: Path | None) -> bool:
    """Tell whether the kernel has ended a box for its memory."""
    with suppress(OSError):
        events = (group / "memory.events").read_text("ascii").split() if group else []
        return "oom_kill" in events and events[events.index("oom_kill") + 1] != "0"
    return False


def find_groups(tree: Path = TREE, status: Path = Path("/proc/self/cgroup")) -> BoxGroups:
    """Look for a group that is ours, and end what a process that is gone has left there."""
    if not (tree / "cgroup.controllers").is_file():
        return BoxGroups(why="no cgroup v2 at /sys/fs/cgroup")
    lines = status.read_text("utf-8").splitlines()
    own = next((line.removeprefix("0::/") for line in lines if line.startswith("0::/")), "")
    here = tree / own
    here = here.parent if here.name == TEAM else here
    there = (here / "cgroup.controllers").read_text("ascii").split()
    usable = tuple(name for name in CONTROLLERS if name in there)
    if not usable:
        return BoxGroups(why="no controller of cgroup v2 is handed on to us")
    if not os.access(here / "cgroup.procs", os.W_OK):
        return BoxGroups(why="no group is ours; a service has one with `Delegate=yes`")
    if strangers := [pid for pid in _members(here) if not _is_ours(pid)]:
        return BoxGroups(why=f"our group holds processes of others ({len(strangers)}); a service has one of its own")
    try:
        _set_up(here, usable)
    except OSError as error:
        return BoxGroups(why=f"our group cannot be divided: {error.strerror}")
    for left in here.glob(f"{BOX}-*"):
        if not Path(f"/proc/{left.name.split('-')[1]}").exists():
            _remove(left)
    return BoxGroups(here, usable)


def _set_up(here: Path, usable: tuple[str, ...]) -> None:
    """Move us one group down, and hand the controllers on."""
    (here / TEAM).mkdir(exist_ok=True)
    for pid in _members(here):
        with suppress(ProcessLookupError):
            (here / TEAM / "cgroup.procs").write_text(str(pid), "ascii")
    (here / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in usable), "ascii")


def _members(group: Path) -> list[int]:
    return [int(pid) for pid in (group / "cgroup.procs").read_text("ascii").split()]


def _is_ours(pid: int) -> bool:
    """This process, or below it."""
    while pid > 1:
        if pid == os.getpid():
            return True
        try:
            status = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
        except OSError:
            return True  # it is gone
        pid = int(status.rpartition(")")[2].split()[1])
    return False


def _remove(group: Path) -> None:
    """End all that is in there. A group goes when the last of it has."""
    with suppress(OSError):
        (group / "cgroup.kill").write_text("1", "ascii")
    until = time.monotonic() + LAST_BREATH
    while time.monotonic() < until:
        try:
            group.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            time.sleep(BEAT)
        else:
            return
