"""Runs inside the warm engine's box: a process shuts itself in before it reads anything of its task. No way back.

Several tasks share that box and its user. Landlock: a process sees what it is told and writes its own folders, connects
to one port, signals and examines only what it started. Seccomp: what neither Landlock nor the box (box_calls.py)
covers, among it the modes and times of a neighbour's files, its limits and priority, and what processes share besides
files. Limits: memory, descriptors, processes. What stays open: whether a path exists, and how large a file is, for
whoever guesses its name.
It needs the standard library only.
"""

import ctypes
import os
import platform
import resource
import struct
from collections.abc import Iterator, Sequence

from sisimpur.shared.sandbox.box_calls import EAFNOSUPPORT, EPERM, MACHINES, Only, numbered, program

ABI = 6  # of Landlock: files, TCP, signals and abstract sockets (Linux 6.12)
DESCRIPTORS, BEHIND = 512, 5

# --- Landlock: the same numbers on every machine -------------------------------------------------------------

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
ASK_VERSION, PATH_BENEATH, NET_PORT = 1, 1, 2
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
REMOVE_DIR, REMOVE_FILE, MAKE_DIR, MAKE_REG, MAKE_SYM = 1 << 4, 1 << 5, 1 << 7, 1 << 8, 1 << 12
REFER, TRUNCATE = 1 << 13, 1 << 14
EVERY_FILE_RIGHT = (1 << 16) - 1  # of ABI 5 and 6
BIND_AND_CONNECT, CONNECT = 0b11, 0b10
ABSTRACT_SOCKETS, SIGNALS = 0b01, 0b10

SEE = EXECUTE | READ_FILE | READ_DIR
OWN = READ_FILE | READ_DIR | WRITE_FILE | TRUNCATE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | MAKE_SYM | REFER
ON_FILES = EXECUTE | READ_FILE | WRITE_FILE | TRUNCATE
SYSTEM = ("/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/etc")
DEVICES = {"/dev/null": READ_FILE | WRITE_FILE, "/dev/zero": READ_FILE, "/dev/urandom": READ_FILE}

# --- seccomp -------------------------------------------------------------------------------------------------

NO_NEW_PRIVILEGES, SET_SECCOMP, FILTER_MODE, SET_DEATH_SIGNAL = 38, 22, 2, 1

DENIED = numbered(  # besides what no box may
    "chmod 90 -, fchmodat 268 53, fchmodat2 452 452, chown 92 -, lchown 94 -, fchownat 260 54, "
    "setxattr 188 5, lsetxattr 189 6, removexattr 197 14, lremovexattr 198 15, setxattrat 463 463, "
    "removexattrat 466 466, utime 132 -, utimes 235 -, futimesat 261 -, utimensat 280 88, "
    "inotify_add_watch 254 27, setpriority 141 140, ioprio_set 251 30, sched_setparam 142 118, "
    "sched_setscheduler 144 119, sched_setattr 314 274, sched_setaffinity 203 122, "
    "shmget 29 194, semget 64 190, mq_open 240 180, memfd_secret 447 447"
)
ONLY: Only = {
    "prlimit64": ((302, 261), (0,), EPERM),  # the limits of oneself
    "socket": ((41, 198), (1, 2, 10), EAFNOSUPPORT),  # unix, IPv4, IPv6
    "socketpair": ((53, 199), (1,), EAFNOSUPPORT),
}


def why_not() -> str:
    """Name what this machine lacks; empty if a process can shut itself in here."""
    if platform.machine() not in MACHINES:
        return f"not known for {platform.machine()} machines"
    try:
        found = _call(CREATE_RULESET, None, 0, ASK_VERSION)
    except OSError:
        return "this kernel has no Landlock; Linux 6.12 or newer has what is needed"
    return "" if found >= ABI else f"this kernel has Landlock {found}, {ABI} is needed (Linux 6.12 or newer)"


def part() -> None:
    """Let this process signal only what it starts. What that starts may part again: it cannot signal back."""
    set_option(NO_NEW_PRIVILEGES, 1)
    ruleset = _ruleset(REFER, 0, SIGNALS)  # files moved from folder to folder are forbidden where they are not allowed
    _allow(ruleset, "/", REFER)
    _close(ruleset)


def shut_in(see: Sequence[str], read: Sequence[str], own: Sequence[str], port: int, data: int, processes: int) -> None:
    """Shut in this process and all that it starts. OSError: the kernel does not do it; then go no further.

    `see`: what it may read and execute besides the system's own; `read`: only read; `own`: its folders; `port`: where
    it may connect to; `data`: bytes of memory of its own; `processes`: of the whole box, where it can start no more.
    No thread may have been started yet.
    """
    _limit(data, processes)
    set_option(NO_NEW_PRIVILEGES, 1)
    _restrict([*_system(see), *((path, READ_FILE | READ_DIR) for path in read), *((path, OWN) for path in own)], port)
    _filter()


def _limit(data: int, processes: int) -> None:
    """And last in turn: who ends it comes first, also while it takes all that it can."""
    os.nice(BEHIND)
    most = min(processes, resource.getrlimit(resource.RLIMIT_NPROC)[1])
    resource.setrlimit(resource.RLIMIT_NPROC, (most, most))
    resource.setrlimit(resource.RLIMIT_DATA, (data, data))
    resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))


def _system(see: Sequence[str]) -> Iterator[tuple[str, int]]:
    yield from ((path, SEE) for path in (*SYSTEM, *see) if os.path.exists(path))
    yield from DEVICES.items()


def _restrict(rules: Sequence[tuple[str, int]], port: int) -> None:
    ruleset = _ruleset(EVERY_FILE_RIGHT, BIND_AND_CONNECT, ABSTRACT_SOCKETS | SIGNALS)
    for path, rights in rules:
        _allow(ruleset, path, rights if os.path.isdir(path) else rights & ON_FILES)
    _call(ADD_RULE, ruleset, NET_PORT, struct.pack("=QQ", CONNECT, port), 0)
    _close(ruleset)


def _ruleset(files: int, ports: int, scopes: int) -> int:
    told = struct.pack("=QQQ", files, ports, scopes)
    return _call(CREATE_RULESET, told, len(told), 0)


def _allow(ruleset: int, path: str, rights: int) -> None:
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    _call(ADD_RULE, ruleset, PATH_BENEATH, struct.pack("=Qi", rights, descriptor), 0)
    os.close(descriptor)


def _close(ruleset: int) -> None:
    """Behind this process, for good."""
    _call(RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def _filter() -> None:
    code = ctypes.create_string_buffer(program(platform.machine(), DENIED.values(), ONLY))
    header = struct.pack("@HP", (len(code) - 1) // 8, ctypes.addressof(code))
    set_option(SET_SECCOMP, FILTER_MODE, ctypes.create_string_buffer(header, len(header)))


def _call(number: int, *arguments: object) -> int:
    """A system call that the C library has no name for."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    given = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    answer = int(libc.syscall(ctypes.c_long(number), *given))
    if answer < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), f"system call {number}")
    return answer


def set_option(option: int, *arguments: object) -> None:
    """Set an option of this process: prctl(2)."""
    libc = ctypes.CDLL(None, use_errno=True)
    given = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    if libc.prctl(option, *given, *[ctypes.c_long(0)] * (4 - len(given))):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), f"prctl {option}")
