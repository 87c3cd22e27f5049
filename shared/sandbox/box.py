"""Door to the sandbox. The only module that says in what a model's or a repository's code may run here.

A box has an empty environment, a root that holds only what is named, no network, no process but its own, and limits;
nothing in it outlives its run, nor the process that started it. No box, no execution.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal, Protocol

from sisimpur.shared.model.errors import Misconfigured, Stopping
from sisimpur.shared.sandbox.box_calls import MACHINES
from sisimpur.shared.sandbox.box_job import Job, JobLimits, Mount, python_mounts
from sisimpur.shared.sandbox.box_root import box_uid, hand_over
from sisimpur.shared.sandbox.bubblewrap import METER_PORT, PROGRAMS, Bubblewrap, never
from sisimpur.shared.system.process import Finished, repeated

__all__ = [
    "METER_PORT",
    "Box",
    "Bubblewrap",
    "Finished",
    "Job",
    "JobLimits",
    "Misconfigured",
    "Mount",
    "box_uid",
    "find_box",
    "hand_over",
    "python_mounts",
]

APPARMOR = (
    "Fix (Ubuntu 23.10 or later): sudo apt install apparmor-profiles && "
    "sudo cp /usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/ && "
    "sudo apparmor_parser -r /etc/apparmor.d/bwrap-userns-restrict"
)
CONTAINER = (
    "Fix (inside a container): start it with "
    "--security-opt seccomp=unconfined --security-opt systempaths=unconfined; on a machine of your own: "
    "sudo sysctl user.max_user_namespaces=10000"
)
NEWER = "Fix: install bubblewrap 0.8 or newer (Debian 12 and Ubuntu 24.04 have it)"
INSTALL = "Fix: sudo apt install bubblewrap util-linux mount (Fedora: sudo dnf install bubblewrap util-linux)"

FIXES = (  # words of the complaint, what they mean, what to type
    ("system calls of", "no filter can be made", f"Fix: run it on one of: {', '.join(MACHINES)}"),
    ("the program", "it is not installed", INSTALL),
    ("uid map", "user namespaces are blocked by AppArmor", APPARMOR),
    ("RTM_NEWADDR", "user namespaces are blocked by AppArmor", APPARMOR),
    ("--disable-userns", "it is too old", NEWER),
    ("SECCOMP", "this kernel cannot filter system calls", "Fix: take a kernel with CONFIG_SECCOMP_FILTER=y"),
    ("mount proc", "/proc is covered by a container", CONTAINER),
    ("namespace", "namespaces are not allowed here", CONTAINER),
    ("unshare", "root without the right to make namespaces", CONTAINER),
)
OTHERWISE = ("it does not work here", "Fix: look at what `bwrap --unshare-all --ro-bind / / true` says")


class Box(Protocol):
    """`reduced`: good enough to work and test in, not to merge or deploy without a person."""

    @property
    def name(self) -> str: ...
    @property
    def version(self) -> str: ...
    @property
    def quality(self) -> Literal["full", "reduced"]: ...

    def run(self, job: Job, stop: Callable[[], bool] = never) -> Finished:
        """Run the job to its end. `stop` is asked ten times a second. Refused: the job cannot be boxed safely."""


def find_box(scratch: Path, search: str = PROGRAMS) -> Bubblewrap:
    """The best box of this machine, after it has run one command. `scratch`: a folder of ours for its files.

    Misconfigured: there is none; the text names each try and what to type.
    """
    name = "bubblewrap"
    try:
        box = Bubblewrap(scratch, search)
        name = f"bubblewrap {box.version}"
        done = repeated(lambda: box.run(Job(("true",), limits=JobLimits(seconds=20))))
        if done.ok:
            return box
        complaint = done.complaint or f"{done.end}, exit code {done.code}"
    except Misconfigured as error:
        complaint = str(error)
    raise Misconfigured(refusal(name, complaint))


def refusal(tried: str, complaint: str) -> str:
    """Return what the owner reads instead of a run: what was tried, what it said, what to type."""
    meaning, fix = next((rest for words, *rest in FIXES if words in complaint), OTHERWISE)
    return (
        "no working sandbox, so nothing that a model wrote or a repository brought is executed\n"
        f"  tried {tried}: {meaning} ({complaint})\n"
        f"{fix}\n"
        "Nothing was executed; this check is repeated by: python main.py doctor"
    )


# --- a box that ends with the program -------------------------------------------------------------------------


class Stoppable:
    """`stop`: whether the program is being stopped. Asked ten times a second, by every thread that runs a job."""

    def __init__(self, box: Box, stop: Callable[[], bool]) -> None:
        self._box, self._stop = box, stop

    @property
    def name(self) -> str:
        return self._box.name

    @property
    def version(self) -> str:
        return self._box.version

    @property
    def quality(self) -> Literal["full", "reduced"]:
        return self._box.quality

    def run(self, job: Job, stop: Callable[[], bool] = never) -> Finished:
        """Run it as Box.run does. Stopping: it was cut, or not even begun, because the program is being stopped."""
        if self._stop():
            raise Stopping("the program is being stopped: nothing is run any more")
        ours = False

        def either() -> bool:
            nonlocal ours
            ours = self._stop()
            return ours or stop()

        done = self._box.run(job, either)
        if done.end == "stopped" and ours:
            raise Stopping("the program is being stopped: what ran was cut, and is begun anew at the next start")
        return done
