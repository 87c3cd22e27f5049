"""Door to the proof. The only module that attacks our own sandbox, with canaries instead of secrets.

What is promised is what was measured on this machine, not what was configured.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.sandbox import box_probe
from sisimpur.shared.sandbox.box import Box, Finished, Job, JobLimits, Mount, box_uid, hand_over, python_mounts
from sisimpur.shared.sandbox.box_usage import NEEDED, Left, left_on, too_little
from sisimpur.shared.system import process

REPORT = TypeAdapter(dict[str, tuple[bool, str]])
Scene = dict[str, str | int]

STARTS = "the probe reports"
WORK = "/work"
PATH = {"PATH": "/usr/bin:/bin"}


@dataclass(frozen=True)
class SandboxCheck:
    """One attack on the sandbox."""

    name: str
    stopped: bool
    detail: str = ""


def attack(box: Box, scratch: Path) -> tuple[SandboxCheck, ...]:
    """Attack the box in the shape in which the coding engine uses it. Takes about half a second.

    Everything that it needs lies in a new folder below `scratch`, which is gone afterwards. One check fails when the
    probe itself did not run.
    """
    canary = f"CANARY-{secrets.token_hex(8)}"
    with _area(scratch, canary) as area, ExitStack() as services:
        port = services.enter_context(_listening(socket.AF_INET, ("127.0.0.1", 0)))[1]
        services.enter_context(_listening_in(area / "state", "service.sock"))
        services.enter_context(_listening(socket.AF_UNIX, f"\0{canary}"))
        meter = services.enter_context(_listening_in(area, "meter.sock"))
        victim = services.enter_context(_victim(canary))
        scene: Scene = {
            "canary": canary,
            "home": str(area / "home"),
            "state": str(area / "state"),
            "covered": f"{WORK}/.env",
            "port": port,
            "abstract": canary,
            "victim": victim,
            "beat": f"{WORK}/beat",
        }
        done = process.repeated(lambda: box.run(_job(area, meter, scene)))
        seen = {
            "a signal to a process outside": _was_woken(victim),
            "a child that outlives the run": _is_held(area / "work" / "beat"),
        }
        left = left_on((scratch,))
    return _checks(done, seen, left)


def require(checks: tuple[SandboxCheck, ...]) -> None:
    """Misconfigured, naming each attack that got through."""
    through = "; ".join(f"{check.name} ({check.detail})" for check in checks if not check.stopped)
    if through:
        raise Misconfigured(
            f"the sandbox does not hold: {through}. Nothing is executed; this check is repeated by: "
            "python main.py doctor"
        )


def _checks(done: Finished, seen: dict[str, bool], left: Left) -> tuple[SandboxCheck, ...]:
    """`left`: what the machine had left then."""
    try:
        report = REPORT.validate_json(done.output)
    except ValidationError:
        said = f"{done.end}, exit code {done.code}: {done.complaint[-200:]}"
        scarce = f"the machine has {too_little(left) or 'too little memory or disk'} left: {NEEDED}"
        return (SandboxCheck(STARTS, False, scarce if done.end == "machine" else said),)
    if report.keys() != box_probe.CHECKS.keys():
        return (SandboxCheck(STARTS, False, "with other checks than ours"),)
    found = (SandboxCheck(name, not (is_open or seen.get(name)), detail) for name, (is_open, detail) in report.items())
    return (SandboxCheck(STARTS, True), *found)


def _job(area: Path, meter: Path, scene: Scene) -> Job:
    python = Path(sys.base_prefix, "bin", f"python{sys.version_info.major}.{sys.version_info.minor}")
    mounts = (Mount(area / "work", WORK, writable=True), Mount(area / "probe.py", "/run/probe.py"))
    return Job(
        (str(python), "-I", "/run/probe.py", json.dumps(scene)),
        (*python_mounts(python), *mounts),
        cwd=WORK,
        limits=JobLimits(seconds=30),
        mask=(".env*",),
        meter=meter,
    )


# --- the stage -----------------------------------------------------------------------------------------------


@contextmanager
def _area(scratch: Path, canary: str) -> Iterator[Path]:
    scratch.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="selftest-", dir=scratch) as name:
        area = Path(name)
        for folder in ("home/.ssh", "state", "work"):
            (area / folder).mkdir(parents=True)
        (area / "home/.ssh/id_ed25519").write_text(f"{canary}\n", "ascii")
        (area / "work/.env").write_text(f"KEY={canary}\n", "ascii")
        (area / "work/beat").touch()
        shutil.copyfile(box_probe.__file__, area / "probe.py")
        hand_over(area)  # so that only the box stands between the probe and the canaries
        yield area


@contextmanager
def _listening(family: int, address: str | tuple[str, int]) -> Iterator[tuple[str, int]]:
    with socket.socket(family) as listener:
        listener.bind(address)
        listener.listen(8)
        yield listener.getsockname()


@contextmanager
def _listening_in(folder: Path, name: str) -> Iterator[Path]:
    """By the folder's descriptor: the address of a socket has room for 107 letters only."""
    descriptor = os.open(folder, os.O_PATH)
    try:
        with _listening(socket.AF_UNIX, f"/proc/self/fd/{descriptor}/{name}"):
            hand_over(folder / name)
            yield folder / name
    finally:
        os.close(descriptor)


@contextmanager
def _victim(canary: str) -> Iterator[int]:
    """A process of the box's user with a secret in its environment, which has stopped itself.

    It cannot end itself any more: the kernel ends it with us. Were we gone before it said so, it does not stop.
    """
    user = ("--reuid", str(box_uid()), "--regid", str(box_uid()), "--clear-groups") if os.geteuid() == 0 else ()
    stop = ("sh", "-c", '[ "$PPID" != "$0" ] || kill -STOP $$', str(os.getpid()))
    argv = ("setpriv", *user, "--pdeathsig", "KILL", "--", *stop)
    with process.running(argv, env={**PATH, "SECRET": canary}) as pid:
        os.waitid(os.P_PID, pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        yield pid


def _was_woken(victim: int) -> bool:
    return os.waitid(os.P_PID, victim, os.WCONTINUED | os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _is_held(beat: Path) -> bool:
    with beat.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
