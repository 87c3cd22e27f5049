"""The kernel's own limits of a whole box: written where a part of the tree of groups is ours, and named where not.

The tree is a folder here: no machine of ours hands on its controllers. Where there is a cgroup v2 at all, a real group
shows that what is left in it ends.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sisimpur.shared.sandbox.box import Job, JobLimits
from sisimpur.shared.sandbox.box_group import BoxGroups, find_groups, took_too_much

JOB = Job(("true",), limits=JobLimits(memory_mb=512, tmp_mb=16, processes=20), private={"/job": 100})
REAL = next(
    (tree for tree in map(Path, ("/sys/fs/cgroup", "/sys/fs/cgroup/unified")) if (tree / "cgroup.procs").exists()), None
)


class Tree:
    """A folder that looks like the part of a tree that a service is in."""

    def __init__(
        self, root: Path, own: str = "system.slice/team.service", controllers: str = "cpu io memory pids"
    ) -> None:
        self.root, self.own = root / "tree", root / "tree" / own
        self.own.mkdir(parents=True)
        (self.root / "cgroup.controllers").write_text(controllers)
        (self.own / "cgroup.controllers").write_text(controllers)
        (self.own / "cgroup.procs").write_text(f"{os.getpid()}\n")
        self.status = root / "cgroup"
        self.status.write_text(f"0::/{own}\n")

    def find(self) -> BoxGroups:
        return find_groups(self.root, self.status)


def test_a_box_gets_a_group_with_its_limits(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    groups = tree.find()
    assert groups.level == "cgroup v2 (cpu, memory, pids)"
    assert (tree.own / "team/cgroup.procs").read_text() == str(os.getpid()), "a group that limits holds no process"
    assert (tree.own / "cgroup.subtree_control").read_text() == "+cpu +memory +pids"
    with groups.group(JOB) as group, groups.group(JOB) as other:
        assert group and group.parent == tree.own and group != other
        written = {path.name: path.read_text() for path in group.iterdir()}
        for path in group.iterdir():
            path.unlink()  # the kernel's own go with their group
        for path in other.iterdir() if other else ():
            path.unlink()
    assert written == {
        "cpu.weight": "20",
        "memory.max": str((512 + 3 * 16 + 100 + 64) << 20),
        "memory.oom.group": "1",
        "pids.max": "36",
    }


def test_what_is_handed_on_in_part_limits_in_part(tmp_path: Path) -> None:
    assert Tree(tmp_path, controllers="pids").find().level == "cgroup v2 (pids)"


def test_the_group_that_it_has_moved_into_is_known_again(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    assert tree.find().parent == tree.own
    (tree.own / "cgroup.procs").write_text("")
    tree.status.write_text("0::/system.slice/team.service/team\n")
    assert tree.find().parent == tree.own


@pytest.mark.parametrize(
    ("what", "why"),
    [
        ("no tree", "no cgroup v2"),
        ("no controller", "no controller of cgroup v2"),
        ("others", "processes of others (1)"),
    ],
)
def test_where_no_group_is_ours_the_reduced_level_is_named(tmp_path: Path, what: str, why: str) -> None:
    tree = Tree(tmp_path, controllers="io" if what == "no controller" else "cpu memory pids")
    if what == "no tree":
        (tree.root / "cgroup.controllers").unlink()
    if what == "others":
        (tree.own / "cgroup.procs").write_text(f"{os.getpid()}\n{os.getppid()}\n")
    groups = tree.find()
    assert groups.level.startswith("rlimits and counting (") and why in groups.level
    assert not (tree.own / "team").exists(), "nothing of others is moved"
    with groups.group(JOB) as group:
        assert group is None


def test_that_the_kernel_ended_a_box_for_its_memory_is_seen(tmp_path: Path) -> None:
    (tmp_path / "memory.events").write_text("low 0\nhigh 0\nmax 7\noom 1\noom_kill 2\n")
    assert took_too_much(tmp_path)
    (tmp_path / "memory.events").write_text("low 0\nmax 7\noom 1\noom_kill 0\n")
    assert not took_too_much(tmp_path) and not took_too_much(None)


@pytest.mark.skipif(REAL is None or not os.access(REAL / "cgroup.procs", os.W_OK), reason="no cgroup v2 to write to")
def test_what_is_left_in_a_real_group_ends_with_it() -> None:
    """Also what has left its session, and would not be found by its parent."""
    assert REAL
    groups = BoxGroups(REAL)
    hides = (
        "import os, time\nif os.fork() == 0:\n    os.setsid()\n    print(os.getpid(), flush=True)\n    time.sleep(600)"
    )
    with groups.group(JOB) as group:
        assert group
        joined = ("sh", "-c", 'echo $$ >"$0/cgroup.procs" && exec "$@"', str(group), sys.executable, "-c", hides)
        with subprocess.Popen(joined, stdout=subprocess.PIPE, text=True) as started:
            assert started.stdout
            hidden = int(started.stdout.readline())
            assert hidden in map(int, (group / "cgroup.procs").read_text().split())
    assert not group.exists() and not Path(f"/proc/{hidden}/exe").exists()
