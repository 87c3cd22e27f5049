"""Runs inside a box and attacks it; prints {check: [open, detail]} as JSON.

A check that returns a text got through: the box is OPEN there. One that returns None or raises was stopped. Nothing is
filled and nothing is changed, so the probe is harmless on a machine without any box.
usage: box_probe.py SCENE        SCENE: JSON with canary, home, state, covered, port, abstract, victim, beat
"""

import ctypes
import errno
import fcntl
import glob
import json
import os
import platform
import signal
import socket
import stat
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

Scene = dict[str, Any]
Check = Callable[[Scene], str | None]
CHECKS: dict[str, Check] = {}
NEW_USER_NAMESPACE = 0x10000000
SESSION_KEYRING, TRACE_ME, AF_VSOCK = -3, 0, 40
DOORS = ("io_uring_setup", "userfaultfd", "perf_event_open", "bpf")
CALLS = {  # their numbers
    "x86_64": dict(zip(("keyctl", "ptrace", *DOORS), (250, 101, 425, 323, 298, 321), strict=True)),
    "aarch64": dict(zip(("keyctl", "ptrace", *DOORS), (219, 117, 425, 282, 241, 280), strict=True)),
}
SURVIVES = 5  # seconds: long enough to be seen, short enough to be harmless


def check(name: str) -> Callable[[Check], Check]:
    def register(function: Check) -> Check:
        CHECKS[name] = function
        return function

    return register


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _connected(family: int, address: str | tuple[str, int]) -> str:
    with socket.socket(family) as client:
        client.settimeout(2)
        client.connect(address)
        return "connected"


# --- secrets -------------------------------------------------------------------------------------------------


@check("a secret in its own environment")
def own_environment(scene: Scene) -> str | None:
    return ", ".join(name for name, value in os.environ.items() if scene["canary"] in value) or None


@check("a secret in the environment of another process")
def other_environments(scene: Scene) -> str | None:
    hits = 0
    for path in glob.glob("/proc/[0-9]*/environ"):
        with suppress(OSError):
            hits += path != f"/proc/{os.getpid()}/environ" and scene["canary"].encode() in _read(path)
    return f"in {hits} processes" if hits else None


@check("the owner's private key")
def private_key(scene: Scene) -> str | None:
    return _read(f"{scene['home']}/.ssh/id_ed25519").decode().strip()


@check("a covered file of the repository")
def covered_file(scene: Scene) -> str | None:
    return _read(scene["covered"]).decode().strip() or None


@check("an inherited descriptor")
def inherited(_: Scene) -> str | None:
    found = []
    for number in os.listdir("/proc/self/fd"):
        with suppress(OSError):  # the descriptor of the listing itself is closed by now
            if int(number) > 2:
                found.append(os.readlink(f"/proc/self/fd/{number}"))
    return ", ".join(found) or None


@check("writing into the daemon's state")
def state_folder(scene: Scene) -> str | None:
    with open(f"{scene['state']}/canary", "w", encoding="ascii") as file:
        file.write("x")
    return "wrote"


@check("writing into a folder of the system")
def system_folders(_: Scene) -> str | None:
    return ", ".join(path for path in ("/", "/dev", "/etc", "/run", "/usr", "/var") if os.access(path, os.W_OK)) or None


@check("writing a setting of the kernel")
def kernel_settings(_: Scene) -> str | None:
    path = "/proc/sys/kernel/hostname"
    same = _read(path)
    with open(path, "wb") as file:
        file.write(same)
    return "wrote"


# --- reaching out --------------------------------------------------------------------------------------------


@check("a service on the machine's loopback")
def loopback(scene: Scene) -> str | None:
    return _connected(socket.AF_INET, ("127.0.0.1", scene["port"]))


@check("a unix socket in a folder")
def socket_in_folder(scene: Scene) -> str | None:
    folder = os.open(scene["state"], os.O_PATH)  # the address of a socket has room for 107 letters only
    try:
        return _connected(socket.AF_UNIX, f"/proc/self/fd/{folder}/service.sock")
    finally:
        os.close(folder)


@check("a unix socket in /run")
def socket_in_run(_: Scene) -> str | None:
    for folder, _folders, files in os.walk("/run"):
        for name in files:
            path = os.path.join(folder, name)
            if stat.S_ISSOCK(os.lstat(path).st_mode) and path != "/run/meter.sock":
                return path
    return None


@check("an abstract unix socket")
def abstract_socket(scene: Scene) -> str | None:
    return _connected(socket.AF_UNIX, "\0" + scene["abstract"])


@check("a packet off the machine")
def packet(_: Scene) -> str | None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.connect(("10.255.255.1", 9))
        client.send(b"x")
        return "sent"


# --- power over the machine ----------------------------------------------------------------------------------


@check("a signal to a process outside")
def signal_outside(scene: Scene) -> str | None:
    """Tell whether it arrived is seen outside: the same number may be a process of the box, which it does not hurt."""
    os.kill(scene["victim"], signal.SIGCONT)
    return None


@check("a new user namespace")
def user_namespace(_: Scene) -> str | None:
    if (child := os.fork()) == 0:
        os._exit(ctypes.CDLL(None).unshare(NEW_USER_NAMESPACE) != 0)
    return "made" if os.waitpid(child, 0)[1] == 0 else None


@check("the kernel's keys")
def keys(_: Scene) -> str | None:
    return "a keyring" if _kernel("keyctl", 0, SESSION_KEYRING, 1) is None else None


@check("a large door into the kernel")
def kernel_doors(_: Scene) -> str | None:
    """Any other complaint comes from behind the door."""
    refused = (errno.EPERM, errno.EACCES, errno.ENOSYS)
    return ", ".join(name for name in DOORS if _kernel(name, 0, None, 0, -1, 0) not in refused) or None


@check("the memory of the first process")
def first_memory(_: Scene) -> str | None:
    with open("/proc/1/mem", "r+b", 0):
        return "opened"


@check("a process under its eyes")
def traced(_: Scene) -> str | None:
    if (child := os.fork()) == 0:
        os._exit(_kernel("ptrace", TRACE_ME, 0, 0, 0) is not None)
    return "traced" if os.waitpid(child, 0)[1] == 0 else None


@check("a socket to the machine below")
def machine_below(_: Scene) -> str | None:
    with socket.socket(AF_VSOCK, socket.SOCK_STREAM):
        return "made"


def _kernel(name: str, *arguments: int | None) -> int | None:
    """Its error; None: it was done."""
    libc = ctypes.CDLL(None, use_errno=True)
    given = [None if one is None else ctypes.c_long(one) for one in arguments]
    done = libc.syscall(ctypes.c_long(CALLS[platform.machine()][name]), *given)
    return ctypes.get_errno() if done < 0 else None


@check("a device of the machine")
def devices(_: Scene) -> str | None:
    harmless = {"null", "zero", "full", "random", "urandom", "tty", "ptmx", "console"}
    found = [entry.name for entry in os.scandir("/dev") if not entry.is_dir() and not entry.is_symlink()]
    return ", ".join(sorted(set(found) - harmless))[:100] or None


@check("a child that outlives the run")
def survivor(scene: Scene) -> str | None:
    """Tell whether it lives is seen outside: it holds a lock on the file `beat`, which also gets its number."""
    ready, told = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                signal.signal(number, signal.SIG_IGN)
            with open(scene["beat"], "w", encoding="ascii") as beat:
                fcntl.flock(beat, fcntl.LOCK_EX)
                beat.write(str(os.getpid()))
                beat.flush()
                os.write(told, b".")
                time.sleep(SURVIVES)
        os._exit(0)
    os.close(told)
    os.read(ready, 1)
    return None


def main() -> int:
    scene = json.loads(sys.argv[1])
    report = {}
    for name, function in CHECKS.items():
        try:
            detail = function(scene)
            report[name] = [detail is not None, detail or ""]
        except Exception as error:  # noqa: BLE001  a probe goes on whatever happens
            report[name] = [False, f"{type(error).__name__}: {error}"[:100]]
    print(json.dumps(report), flush=True)  # noqa: T201  this is a program of its own
    return 0


if __name__ == "__main__":
    sys.exit(main())
