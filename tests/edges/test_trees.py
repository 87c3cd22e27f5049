"""Trees that test boxes share: each run sees exactly its commit, and none of them changes what the next one sees."""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import pytest

from sisimpur.agents.qa.runner.bench import BoxBench
from sisimpur.agents.qa.runner.suite import Environment, RawTestRun, SuiteOrder
from sisimpur.agents.qa.runner.trees import KEPT, MOST_DIFFERENT, Trees
from sisimpur.shared.model.change import ChangeLimits
from sisimpur.shared.model.errors import Refused
from sisimpur.shared.repo.git import Remote
from sisimpur.shared.repo.mirror import Mirror
from sisimpur.shared.sandbox.box import Bubblewrap, Job, JobLimits, find_box, hand_over
from sisimpur.shared.sandbox.bubblewrap import PROGRAMS
from tests.repositories import commit, repository

Files = Mapping[str, str]


class Copying(Bubblewrap):
    """The box of a machine that cannot share."""

    @cached_property
    def copies(self) -> str:
        return "this test wants it so"


class Nothing:
    """An environment without anything."""

    def ready(self, commit: str) -> Environment:
        return Environment("none", (), {})


only_root = pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user's boxes copy")


@pytest.fixture(params=[pytest.param(Bubblewrap, marks=only_root), Copying], ids=["sharing", "copying"])
def box(request: pytest.FixtureRequest, tmp_path: Path) -> Bubblewrap:
    made: Bubblewrap = request.param(tmp_path / "box")
    return made


class Target:
    """A repository whose commits come one by one."""

    def __init__(self, folder: Path) -> None:
        self.source, self.scratch = folder / "source", folder / "scratch"
        self.source.mkdir()
        repository(self.source, {})
        self.mirror = Mirror(folder / "mirror.git", Remote(str(self.source)))
        self.mirror.create()

    def commit(self, files: Files, links: Files | None = None) -> str:
        """These files and no others."""
        for path in sorted(self.source.rglob("*"), reverse=True):
            if ".git" not in path.relative_to(self.source).parts:
                path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
        for name, leads_to in (links or {}).items():
            os.symlink(leads_to, self.source / name)
        for name, text in files.items():
            place = self.source / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text.removeprefix("#!"))
            place.chmod(0o755 if text.startswith("#!") else 0o644)
        commit(self.source, {})
        return self.mirror.fetch("main")

    def bench(self, box: Bubblewrap) -> BoxBench:
        return BoxBench(box, self.mirror, Nothing(), self.scratch, JobLimits(seconds=60))

    def kept(self) -> list[Path]:
        return sorted(self.scratch.glob("trees-*/*"))


@pytest.fixture
def target(tmp_path: Path) -> Iterator[Target]:
    made = Target(tmp_path)
    yield made
    made.mirror.close()


def run(bench: BoxBench, sha: str, command: str, overlay: Mapping[str, bytes | None] | None = None) -> RawTestRun:
    return bench.run(SuiteOrder(sha, command, overlay or {}, cover=False))


def looks(folder: Path) -> dict[str, tuple[object, ...]]:
    """All that can be told of everything in a folder."""
    found: dict[str, tuple[object, ...]] = {}
    for path in [folder, *folder.rglob("*")]:
        seen = path.lstat()
        held = path.read_bytes() if stat.S_ISREG(seen.st_mode) else os.readlink(path) if path.is_symlink() else b""
        told = (seen.st_mode, seen.st_uid, seen.st_nlink, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns, seen.st_ino)
        found[str(path.relative_to(folder))] = (*told, held)
    return found


SHOW = "find . -mindepth 1 -printf '%y %m %p %l\\n' | sort; find . -type f | sort | xargs -rd '\\n' sha256sum"
FILES: Files = {"a": "1\n", "b/c": "2\n", "b/d/e": "3\n", "run.sh": "#!4\n", "ü x": "5\n"}
LINKS = {"to-file": "a", "to-folder": "b"}

HOSTILE = """
find . -type f -exec sh -c 'echo mine >>"$1"; chmod 777 "$1"; touch -d 2001-01-01 "$1"; truncate -s 9 "$1"' sh {} \\;
find . -type l -exec touch -h -d 2001-01-01 {} \\;
find . -type d -exec chmod 700 {} \\;
mv b other && rm to-file && mkdir to-file && ln other/c second && rm -rf other/d && cp /bin/true a
for path in /run/under0/a /src/a /src/gone; do echo mine >$path; rm -f $path; chmod 777 $path; ln $path /job/hard; done
find . -mindepth 1 -delete
ls -A
"""


def test_a_job_that_changes_all_it_can_changes_nothing_that_is_kept(box: Bubblewrap, target: Target) -> None:
    sha = target.commit(FILES, LINKS)
    with closing(target.bench(box)) as bench:
        fresh = run(bench, sha, SHOW)
        (tree,) = target.kept()
        before = looks(tree)
        attacked = run(bench, sha, HOSTILE)
        assert attacked.code == 0 and attacked.output.splitlines()[-1:] != ["a"]
        assert "Read-only file system" in attacked.output
        assert looks(tree) == before
        assert run(bench, sha, SHOW).output == fresh.output
    assert list(target.scratch.iterdir()) == []


@only_root
def test_where_root_works_the_tree_is_shared(tmp_path: Path, target: Target) -> None:
    sha = target.commit(FILES, LINKS)
    box = find_box(tmp_path / "box")
    assert box.copies == ""
    with closing(target.bench(box)) as bench:
        assert "overlay" in run(bench, sha, "grep ' /job ' /proc/self/mountinfo").output


AFTERWARDS = {
    "the same": (FILES, LINKS),
    "a file more, in new folders": ({**FILES, "n/e/w": "6\n"}, LINKS),
    "a file less, and its folders with it": ({"a": "1\n", "b/c": "2\n"}, LINKS),
    "another content": ({**FILES, "b/c": "7\n"}, LINKS),
    "executable now, and another no more": ({**FILES, "a": "#!1\n", "run.sh": "4\n"}, LINKS),
    "a folder becomes a file": ({"a": "1\n", "b": "2\n"}, {"to-file": "a"}),
    "a file becomes a folder": ({**FILES, "a/inner": "1\n"} | {"a/inner": "1\n"}, {"to-folder": "b"}),
    "a link becomes a folder": ({**FILES, "to-folder/c": "8\n"}, {"to-file": "a"}),
    "a folder becomes a link": ({"a": "1\n", "z/c": "2\n"}, {"b": "z"}),
    "a link leads elsewhere": (FILES, {"to-file": "b/c", "to-folder": "b/d"}),
    "names that look like options": ({**FILES, "-rf": "x", "--/-p": "y", "b/ -": "z", "'\"$(echo)": "q"}, LINKS),
    "nothing that was there": ({"only": "9\n"}, {}),
}


@pytest.mark.parametrize("case", AFTERWARDS)
def test_a_run_sees_exactly_its_commit_whichever_came_before(box: Bubblewrap, target: Target, case: str) -> None:
    files, links = AFTERWARDS[case]
    files = {path: text for path, text in files.items() if not any(other.startswith(f"{path}/") for other in files)}
    first, second = target.commit(FILES, LINKS), target.commit(files, links)
    with closing(target.bench(box)) as alone:
        wanted = run(alone, second, SHOW)
    with closing(target.bench(box)) as bench:
        before = run(bench, first, SHOW)
        assert run(bench, second, SHOW).output == wanted.output
        assert run(bench, first, SHOW).output == before.output
        assert len(target.kept()) == 1


def test_files_of_an_order_lie_over_those_of_its_commit_not_of_the_one_before(box: Bubblewrap, target: Target) -> None:
    first = target.commit(FILES, LINKS)
    second = target.commit({**FILES, "to-folder/c": "8\n", "run.sh": "4\n"}, {"to-file": "a"})
    over = {"to-folder/c": b"mine", "run.sh": b"mine", "b/d/e": None, "a": None}
    with closing(target.bench(box)) as bench:
        seen = [run(bench, sha, SHOW, over if sha == second else {"run.sh": b"x"}).output for sha in (first, second)]
        with pytest.raises(Refused, match="'to-folder/c' cannot be laid over the commit: Not a directory"):
            run(bench, first, SHOW, over)
    assert "f 755 ./run.sh" in seen[0] and "f 644 ./run.sh" in seen[1]
    assert not any(f" ./{path} " in seen[1] for path in ("a", "b/d", "b/d/e"))
    assert hashlib.sha256(b"mine").hexdigest() + "  ./to-folder/c" in seen[1]


def test_a_box_sees_no_tree_but_its_own(box: Bubblewrap, target: Target) -> None:
    first = target.commit({f"theirs/{number}": "" for number in range(MOST_DIFFERENT + 1)})
    second = target.commit({"a": ""})
    with closing(target.bench(box)) as bench:
        run(bench, first, "true")
        looked = run(bench, second, "find / -name theirs -o -name '[0-9]*' -path '*trees-*' 2>/dev/null; ls /tmp")
        assert len(target.kept()) == 2
    assert looked.output == ""


# --- which are kept ------------------------------------------------------------------------------------------


def test_the_same_commit_is_written_once_and_a_near_one_not_at_all(target: Target, tmp_path: Path) -> None:
    first, near = target.commit(FILES, LINKS), target.commit({**FILES, "a": "other\n"}, LINKS)
    trees = Trees(target.mirror, target.scratch, ChangeLimits())
    with trees.near(first):
        before = looks(*target.kept())
    for sha in (near, first):
        with trees.near(sha) as found:
            assert [entry.path for entry in found.written] == (["a"] if sha == near else [])
            assert looks(found.folder) == before
    trees.close()
    assert list(target.scratch.iterdir()) == []


def test_few_are_kept_and_never_is_one_removed_that_is_in_use(target: Target) -> None:
    far = [
        target.commit({f"{letter}/{number}": "" for number in range(MOST_DIFFERENT + 1)})
        for letter in "abcdef"[: KEPT + 2]
    ]
    trees = Trees(target.mirror, target.scratch, ChangeLimits())
    with trees.near(far[0]) as used:
        for sha in far[1:]:
            with trees.near(sha):
                pass
        assert len(list(used.folder.rglob("*"))) == MOST_DIFFERENT + 2
        assert len(target.kept()) == KEPT + 1
    with trees.near(far[-1]):
        assert len(target.kept()) == KEPT
    trees.close()


def test_a_tree_that_somebody_removed_is_written_anew(target: Target) -> None:
    sha = target.commit(FILES)
    trees = Trees(target.mirror, target.scratch, ChangeLimits())
    for _ in range(2):
        with trees.near(sha) as near:
            assert (near.folder / "a").read_text() == "1\n"
            os.rename(near.folder, near.folder.with_name("elsewhere"))
        os.rename(near.folder.with_name("elsewhere"), target.scratch / f"gone-{near.folder.name}")
    trees.close()


# --- the box -------------------------------------------------------------------------------------------------


@pytest.fixture
def below(tmp_path: Path) -> Path:
    (tmp_path / "below/folder").mkdir(parents=True)
    (tmp_path / "below/folder/file").write_text("ours\n")
    hand_over(tmp_path / "below")
    return tmp_path / "below"


def test_what_lies_under_a_private_folder_is_written_over_not_on(box: Bubblewrap, below: Path) -> None:
    before, words = looks(below), "mv folder f && echo mine >>f/file && cat f/file; df -m --output=size . | tail -1"
    job = Job(("sh", "-c", words), cwd="/job", private={"/job": 5}, under={"/job": below})
    assert box.run(job).text.split() == ["ours", "mine", "5"]
    full = replace(job, command=("sh", "-c", "head -c 9000000 /dev/zero >f; stat -c %s f"))
    done = box.run(full)
    assert "No space left" in done.complaint and int(done.text) <= 5 << 20
    assert looks(below) == before


def test_only_a_private_folder_has_something_under_it(box: Bubblewrap, below: Path) -> None:
    with pytest.raises(Refused, match="/other: files lie under a private folder only"):
        Bubblewrap._run(box, Job(("true",), private={"/job": 1}, under={"/other": below}))
    with pytest.raises(Refused, match="does not exist"):
        box.run(Job(("true",), private={"/job": 1}, under={"/job": below / "none"}))


@only_root
@pytest.mark.parametrize(
    ("refuses", "reason"),
    [
        pytest.param("*overlay*) echo 'mount: unknown filesystem type' >&2; exit 32", "unknown filesystem", id="none"),
        pytest.param("*redirect_dir*) echo 'mount: bad option' >&2; exit 32", "bad option", id="moves no folder"),
        pytest.param('*overlay*) low="${4##*lowerdir=}"; exec /usr/bin/mount --bind "${low%%,*}" "$6"',
                     "does not do here what it should", id="no overlay at all: what is written lands below"),
    ],
)  # fmt: skip
def test_a_machine_without_such_an_overlay_copies_and_says_why(
    tmp_path: Path, below: Path, refuses: str, reason: str
) -> None:
    job = Job(("sh", "-c", "mv folder f && cat f/file"), cwd="/job", private={"/job": 5}, under={"/job": below})
    with tempfile.TemporaryDirectory(dir="/var/tmp") as programs:  # the box has a /tmp of its own before it mounts
        mount = Path(programs) / "mount"
        mount.write_text(f'#!/bin/sh\ncase "$*" in {refuses};; esac\nexec /usr/bin/mount "$@"\n')
        mount.chmod(0o755)
        box = Bubblewrap(tmp_path / "box", f"{programs}:{PROGRAMS}")
        assert reason in box.copies
        assert box.run(job).text == "ours\n"


def test_runs_at_the_same_time_share_a_tree_and_do_not_see_each_other(box: Bubblewrap, target: Target) -> None:
    sha = target.commit(FILES, LINKS)
    meets = "echo $0 >>a; rm b/c; for _ in 1 2 3 4 5; do sleep 0.1; cat a; ls b; done | sort | uniq -c"
    with closing(target.bench(box)) as bench, ThreadPoolExecutor(3) as pool:
        said = [made.output.split() for made in pool.map(lambda _: run(bench, sha, meets), range(3))]
        assert len(target.kept()) == 1
    assert said == [["5", "1", "5", "d", "5", "sh"]] * 3
