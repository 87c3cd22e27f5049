"""The filter of every box, for both machines, on any machine: each number of a call, run as the kernel runs it."""

from __future__ import annotations

import pytest

from sisimpur.agents.coder.engine import aider_fence
from sisimpur.shared.sandbox.box_calls import (
    AT_MOST,
    CLONE,
    CLONE3,
    EAFNOSUPPORT,
    ENOSYS,
    EPERM,
    MACHINES,
    NAMESPACES,
    ONLY,
    REFUSED,
    box_filter,
    program,
)
from tests.bpf import answer

USED = {  # what every program does: read, write, close, mmap, execve, exit, wait4, futex, openat, newfstatat
    "x86_64": (0, 1, 3, 9, 59, 60, 61, 202, 257, 262),
    "aarch64": (63, 64, 57, 222, 221, 93, 260, 98, 56, 79),
}
LAST, HIGHEST = 466, 1_000  # removexattrat, the last that is let through; how far numbers are tried
GAPS = {"x86_64": {*range(335, 424)}, "aarch64": {*range(244, 260), *range(295, 424)}}
# What Docker's default profile denies a container without capabilities, of the calls up to 471, by its numbers:
# https://github.com/moby/profiles/blob/cd3bed8061c7/seccomp/default.json, June 2026; the kernel's tables.
DOCKER_DENIES = {
    "x86_64": (
        *(
            103,
            134,
            136,
            139,
            153,
            155,
            156,
            161,
            *range(163, 186),
            212,
            227,
            *range(236, 240),
            246,
            248,
            249,
            250,
            256,
        ),
        *(272, 279, 298, 300, 304, 308, 312, 313, 320, 321, 323, 336, *range(425, 434), 435, 438, 440, 442, 443, 450),
        *(*range(459, 462), *range(467, 472)),
    ),
    "aarch64": (
        *(18, *range(39, 43), 51, 58, 60, 89, 97, 104, 105, 106, 112, 116, 142, 161, 162, 170, 217, 218, 219, 224, 225),
        *(
            *range(235, 240),
            241,
            244,
            262,
            265,
            268,
            272,
            273,
            280,
            282,
            294,
            *range(425, 434),
            435,
            438,
            440,
            442,
            443,
        ),
        *(450, *range(459, 462), *range(467, 472)),
    ),
}
FAMILIES = {"unix": 1, "inet": 2, "inet6": 10, "netlink": 16}
THREAD = 0x003D0F00  # how the C library starts one

machines = pytest.mark.parametrize("machine", MACHINES)


def told(machine: str, number: int | None, *arguments: int) -> str:
    given = (*arguments, *(0,) * (6 - len(arguments)))
    return answer(box_filter(machine), MACHINES[machine][0], number or 0, given)


@machines
def test_each_call_of_a_number_is_let_through_or_refused_as_listed(machine: str) -> None:
    column = MACHINES[machine][1]
    refused = {numbers[column] for numbers in REFUSED.values()}
    for number in range(HIGHEST):
        if number in refused:
            expected = str(EPERM)
        elif number in GAPS[machine] or number > LAST or number == CLONE3:
            expected = str(ENOSYS)
        else:
            expected = str(EAFNOSUPPORT) if number == ONLY["socket"][0][column] else "allowed"
        assert told(machine, number) == expected, number


@machines
def test_nothing_is_let_through_that_dockers_default_profile_denies(machine: str) -> None:
    let_through = [number for number in DOCKER_DENIES[machine] if told(machine, number) == "allowed"]
    assert let_through == [] and len(DOCKER_DENIES[machine]) == {"x86_64": 77, "aarch64": 62}[machine]


@machines
def test_what_every_program_does_is_let_through(machine: str) -> None:
    assert {told(machine, number) for number in USED[machine]} == {"allowed"}


@machines
def test_the_names_stand_for_different_numbers(machine: str) -> None:
    column = MACHINES[machine][1]
    numbers = [both[column] for both in (*REFUSED.values(), *aider_fence.DENIED.values()) if both[column] is not None]
    assert len(numbers) == len(set(numbers))


@machines
def test_only_the_machines_own_numbering_is_spoken(machine: str) -> None:
    for other in {architecture for architecture, _ in MACHINES.values()} | {0x40000003}:  # 32 bits on x86
        expected = "allowed" if other == MACHINES[machine][0] else "killed"
        assert answer(box_filter(machine), other, USED[machine][0]) == expected
    assert told("x86_64", 0x40000000) == "killed"


@machines
def test_threads_and_processes_begin_and_namespaces_do_not(machine: str) -> None:
    number = CLONE[MACHINES[machine][1]]
    assert told(machine, number, THREAD) == told(machine, number, 17) == "allowed"
    for bit in range(32):
        expected = str(EPERM) if 1 << bit & NAMESPACES else "allowed"
        assert told(machine, number, 1 << bit) == expected


@machines
def test_sockets_of_few_families_are_made(machine: str) -> None:
    number = ONLY["socket"][0][MACHINES[machine][1]]
    for family in range(64):
        expected = "allowed" if family in FAMILIES.values() else str(EAFNOSUPPORT)
        assert told(machine, number, family) == expected


@machines
@pytest.mark.parametrize("name", AT_MOST)
def test_memory_that_no_process_has_is_given_out_in_small_pieces(machine: str, name: str) -> None:
    numbers, most = AT_MOST[name]
    number = numbers[MACHINES[machine][1]]
    assert {told(machine, number, 0, size) for size in (0, 1, most)} == {"allowed"}
    for size in (most + 1, 1 << 31, (1 << 32) - 1, 1 << 32, (1 << 32) + 1, 1 << 63, (1 << 64) - 1):
        assert told(machine, number, 0, size) == str(EPERM), size


@machines
def test_the_fence_of_a_warm_task_refuses_what_it_lists(machine: str) -> None:
    architecture, column = MACHINES[machine]
    fence = program(machine, aider_fence.DENIED.values(), aider_fence.ONLY)
    for numbers in aider_fence.DENIED.values():
        if (number := numbers[column]) is not None:
            assert answer(fence, architecture, number) == str(EPERM)
    limits = aider_fence.ONLY["prlimit64"][0][column] or 0
    assert answer(fence, architecture, limits, (0,) * 6) == "allowed"
    assert answer(fence, architecture, limits, (4711, 0, 0, 0, 0, 0)) == str(EPERM)
    assert answer(fence, architecture, USED[machine][0]) == "allowed"
