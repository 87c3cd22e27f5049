"""System calls of a box: which ones the kernel refuses there, as the program of its filter. It starts nothing.

Refused is what Docker's default profile (moby/profiles, 2026) refuses a container without capabilities, and besides:
looking into another process, and any other numbering of the same calls. What is newer than our list does not exist.
It needs the standard library only: the warm engine's box runs it, too.
"""

import re
import struct
from collections.abc import Collection, Iterator, Mapping

MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}  # the kernel's name for it, the column of numbers
UNKNOWN = {  # numbers that no call has that we let through: they answer as calls that do not exist
    "x86_64": ((335, 423), (467, 0x3FFFFFFF)),
    "aarch64": ((244, 259), (295, 423), (467, 0xFFFFFFFF)),
}

Numbers = tuple[int | None, int | None]  # x86_64, aarch64; None: that machine has no such call
Only = Mapping[str, tuple[Numbers, tuple[int, ...], int]]  # call -> numbers, what its first argument may be, else error

EPERM, ENOSYS, EAFNOSUPPORT = 1, 38, 97


def numbered(text: str) -> dict[str, Numbers]:
    """Read `name x86_64 aarch64, name ...`; `-` where a machine has no such call."""
    found = re.findall(r"(\w+) (\d+|-) (\d+|-)", text)
    return {name: (_number(first), _number(second)) for name, first, second in found}


def _number(text: str) -> int | None:
    return None if text == "-" else int(text)


REFUSED = numbered(
    # looking into another process
    "ptrace 101 117, process_vm_readv 310 270, process_vm_writev 311 271, process_madvise 440 440, kcmp 312 272, "
    "pidfd_getfd 438 438, "
    # keys, which know no namespaces, and large doors into the kernel
    "add_key 248 217, request_key 249 218, keyctl 250 219, bpf 321 280, perf_event_open 298 241, userfaultfd 323 282, "
    "io_uring_setup 425 425, io_uring_enter 426 426, io_uring_register 427 427, fanotify_init 300 262, "
    "lookup_dcookie 212 18, lsm_get_self_attr 459 459, lsm_set_self_attr 460 460, lsm_list_modules 461 461, "
    # roots, mounts, namespaces
    "mount 165 40, umount2 166 39, pivot_root 155 41, chroot 161 51, unshare 272 97, setns 308 268, "
    "open_tree 428 428, move_mount 429 429, fsopen 430 430, fsconfig 431 431, fsmount 432 432, fspick 433 433, "
    "mount_setattr 442 442, open_by_handle_at 304 265, quotactl 179 60, quotactl_fd 443 443, "
    # the machine
    "init_module 175 105, finit_module 313 273, delete_module 176 106, kexec_load 246 104, kexec_file_load 320 294, "
    "reboot 169 142, swapon 167 224, swapoff 168 225, acct 163 89, syslog 103 116, vhangup 153 58, "
    "sethostname 170 161, setdomainname 171 162, settimeofday 164 170, clock_settime 227 112, "
    "ioperm 173 -, iopl 172 -, nfsservctl 180 42, "
    # where memory lies
    "get_mempolicy 239 236, set_mempolicy 238 237, set_mempolicy_home_node 450 450, mbind 237 235, "
    "migrate_pages 256 238, move_pages 279 239, "
    # memory that no process has and nobody counts: 32,000 queues
    "msgget 68 186, "
    # what nobody uses any more
    "uselib 134 -, ustat 136 -, sysfs 139 -, _sysctl 156 -, create_module 174 -, get_kernel_syms 177 -, "
    "query_module 178 -, getpmsg 181 -, putpmsg 182 -, afs_syscall 183 -, tuxcall 184 -, security 185 -, vserver 236 -"
)
ONLY: Only = {
    "socket": ((41, 198), (1, 2, 10, 16), EAFNOSUPPORT),  # unix, IPv4, IPv6, netlink: which addresses have I?
    "personality": ((135, 92), (0, 8, 0x20000, 0x20008, 0xFFFFFFFF), EPERM),
}
# As msgget, but databases need a little of it: the most that the second argument may be. A box has 4,096 pieces of
# shared memory and 32,000 sets of semaphores at most, so some 70 MB of each are left.
AT_MOST: Mapping[str, tuple[Numbers, int]] = {"shmget": ((29, 194), 16_384), "semget": ((64, 190), 32)}
CLONE: Numbers = (56, 220)
NAMESPACES = 0x7E020000  # the flags of clone that ask for one
CLONE3 = 435  # hides its flags: told as a call that does not exist, so the C library takes clone

# --- the filter's program: classic BPF, see seccomp(2) -------------------------------------------------------

LOAD, IF_EQUAL, IF_ABOVE, IF_AT_LEAST, IF_ANY, RETURN = 0x20, 0x15, 0x25, 0x35, 0x45, 0x06
ALLOW, KILL, ERROR = 0x7FFF0000, 0x80000000, 0x00050000
NUMBER, ARCHITECTURE, FIRST_ARGUMENT, SECOND_ARGUMENT = 0, 4, 16, 24  # offsets in what the filter is shown
X32 = 0x40000000  # another numbering of the same calls


def box_filter(machine: str) -> bytes:
    """The filter of every box; `machine`: as `uname -m` says it. KeyError: its numbers are not known."""
    column = MACHINES[machine][1]
    steps = [*_if_number(CLONE3, ERROR | ENOSYS), *_without(CLONE[column])]
    for first, last in UNKNOWN[machine]:
        steps += _if_between(first, last, ERROR | ENOSYS)
    for numbers, most in AT_MOST.values():
        steps += _at_most(numbers[column], most)
    return program(machine, REFUSED.values(), ONLY, steps)


def program(machine: str, refused: Collection[Numbers], only: Only, more: Collection[bytes] = ()) -> bytes:
    """A filter: what it refuses, what it allows with some arguments only; `more` steps, which see the number."""
    architecture, column = MACHINES[machine]
    steps = [_step(LOAD, ARCHITECTURE), _step(IF_EQUAL, architecture, 1, 0), _step(RETURN, KILL), _step(LOAD, NUMBER)]
    if machine == "x86_64":
        steps += [_step(IF_AT_LEAST, X32, 0, 1), _step(RETURN, KILL)]
    for numbers in refused:
        steps += _if_number(numbers[column], ERROR | EPERM)
    steps += more
    for numbers, allowed, error in only.values():
        steps += _only(numbers[column], allowed, error)
    return b"".join([*steps, _step(RETURN, ALLOW)])


def _if_number(number: int | None, answer: int) -> Iterator[bytes]:
    if number is not None:
        yield from (_step(IF_EQUAL, number, 0, 1), _step(RETURN, answer))


def _if_between(first: int, last: int, answer: int) -> Iterator[bytes]:
    yield from (_step(IF_AT_LEAST, first, 0, 2), _step(IF_ABOVE, last, 1, 0), _step(RETURN, answer))


def _without(clone: int | None) -> Iterator[bytes]:
    """No namespace of its own; then all is said of this call."""
    yield from (_step(IF_EQUAL, clone or 0, 0, 4), _step(LOAD, FIRST_ARGUMENT), _step(IF_ANY, NAMESPACES, 0, 1))
    yield from (_step(RETURN, ERROR | EPERM), _step(RETURN, ALLOW))


def _at_most(number: int | None, most: int) -> Iterator[bytes]:
    """An argument has 64 bits, of which one half is seen at a time."""
    yield from (_step(IF_EQUAL, number or 0, 0, 6), _step(LOAD, SECOND_ARGUMENT + 4), _step(IF_EQUAL, 0, 0, 2))
    yield from (_step(LOAD, SECOND_ARGUMENT), _step(IF_ABOVE, most, 0, 1))
    yield from (_step(RETURN, ERROR | EPERM), _step(RETURN, ALLOW))


def _only(number: int | None, allowed: tuple[int, ...], error: int) -> Iterator[bytes]:
    yield from (_step(IF_EQUAL, number or 0, 0, len(allowed) + 3), _step(LOAD, FIRST_ARGUMENT))
    yield from (_step(IF_EQUAL, value, len(allowed) - place, 0) for place, value in enumerate(allowed))
    yield from (_step(RETURN, ERROR | error), _step(RETURN, ALLOW))


def _step(code: int, value: int, if_so: int = 0, if_not: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_so, if_not, value)
