"""Promise 2, limits: what a box takes of the machine that no limit of a process sees.

Before files in memory were counted, each ran to its time limit: a million names and more, a kilobyte of the kernel's
memory for each; and a box had the same share of the processors as the daemon. Before the filter saw the sizes of what
System V calls shared (at 1678a4d3), a box with a limit of 300 MB lived on with: 912 MB of detached memory, 850 MB of
450 sets of semaphores, 200 MB in 32,000 queues.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from sisimpur.shared.sandbox.box import Box, Job, JobLimits, Mount, find_box
from sisimpur.shared.sandbox.box_root import private_places
from sisimpur.shared.sandbox.watchdog import MOST_PRIVATE

FILLS = "import os\nfor n in range(10**9):\n    os.close(os.open(f'{0}/{{n}}', os.O_CREAT))\n"
LIMITS = JobLimits(seconds=40, memory_mb=300, processes=20, tmp_mb=16)


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Box:
    return find_box(tmp_path_factory.mktemp("box"))


@pytest.mark.parametrize("place", ["/tmp", pytest.param("/job", marks=pytest.mark.slow)])
def test_a_box_that_makes_files_without_end_in_memory_is_ended(box: Box, place: str) -> None:
    job = Job(("python3", "-c", FILLS.format(place)), limits=LIMITS, private={"/job": 16})
    done = box.run(job)
    assert done.end == "disk"
    assert done.seconds < LIMITS.seconds / 2


def test_one_that_lays_out_an_ordinary_tree_in_memory_is_not(box: Box) -> None:
    some = FILLS.replace("10**9", str(MOST_PRIVATE // 10)).format("/tmp")
    assert box.run(Job(("python3", "-c", some), limits=LIMITS)).ok


# What no process has: made over and over, until it is refused or far more than the limit is taken.
UNSEEN = {
    "memory that nobody has mapped": "id = libc.shmget(0, {0} << 20, 0o1600)\n"
    "    at = ctypes.c_void_p(libc.shmat(id, None, 0)) if id >= 0 else None\n"
    "    at and ctypes.memset(at, 1, {0} << 20) and libc.shmdt(at)",
    "semaphores": "id = libc.semget(0, {0} << 13, 0o1600)",
    "queues of messages": "id = libc.msgget(0, 0o1600)\n"
    "    id >= 0 and [libc.msgsnd(id, ctypes.pointer((ctypes.c_long * 1025)(1)), 8192, 0o4000) for _ in '12']",
}
MAKES = (
    "import ctypes\nlibc = ctypes.CDLL(None)\nlibc.shmat.restype = ctypes.c_void_p\nmade = id = 0\n"
    "while id >= 0 and made < 600:\n    {}\n    made += id >= 0\nprint(made)"
)


@pytest.mark.parametrize("what", UNSEEN.values(), ids=UNSEEN)
def test_a_box_gets_no_memory_that_nobody_sees(box: Box, what: str) -> None:
    done = box.run(Job(("python3", "-c", MAKES.format(what.format(2))), limits=LIMITS))
    assert (done.end, done.text.strip()) == ("exited", "0")


def test_a_database_gets_the_little_of_it_that_it_needs(box: Box) -> None:
    asks = "import ctypes\nc = ctypes.CDLL(None)\nprint(c.shmget(0, 56, 0o1600) >= 0 <= c.semget(0, 17, 0o1600))"
    assert box.run(Job(("python3", "-c", asks), limits=LIMITS)).text.strip() == "True"


@pytest.mark.disk
def test_the_files_of_the_machines_own_disk_are_not_the_boxs(box: Box, tmp_path: Path) -> None:
    """As a set-up has its /tmp: there were more than enough on it before."""
    tmp_path.chmod(0o777)
    job = Job(("sleep", "1.5"), (Mount(tmp_path, "/tmp", writable=True),), limits=LIMITS, private={"/job": 16})
    assert private_places(job) == ("/home/sandbox", "/dev/shm", "/job")
    assert box.run(job).ok


def test_a_box_waits_for_the_rest_of_the_machine(box: Box, tmp_path: Path) -> None:
    done = box.run(Job(("sh", "-c", "nice; ionice"), limits=replace(LIMITS, seconds=10)))
    nice, disk = done.text.splitlines()
    assert int(nice) == min(19, os.nice(0) + 10)
    assert disk == "best-effort: prio 7"
