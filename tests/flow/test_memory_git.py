"""The git in memory answers as git does: the same questions to both, the same answers, to the last byte."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sisimpur.shared.model.change import Change
from sisimpur.shared.model.errors import CommandFailed, Refused
from sisimpur.shared.model.scope import Scope
from sisimpur.shared.repo.commit_text import CommitText
from sisimpur.shared.repo.committer import Author, Committed, Committer
from sisimpur.shared.repo.differences import CLOSE, SWITCHES
from sisimpur.shared.repo.git import Remote
from sisimpur.shared.repo.mirror import Mirror
from sisimpur.shared.repo.mirror_commits import AlreadyThere, Conflict, Rebased
from sisimpur.shared.repo.objects import Repository
from sisimpur.shared.system.outgoing import Outgoing
from sisimpur.shared.system.process import Finished
from tests.flow.memory_git import MemoryRepository

KINDS = (Repository, MemoryRepository)
NOW = datetime(2026, 11, 20, 8, tzinfo=UTC)
WHO = "owner <owner@localhost>"
FILES = {"app.py": "def total(a, b):\n    return a - b\n", "deep/er/a.txt": "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "empty": ""}


class Git:
    """A repository on a disk or in memory, and commits made by their plain objects."""

    def __init__(self, kind: type[Repository], path: Path) -> None:
        self.repository = kind(path)
        self.repository.git("init", "--quiet", "--bare", "--template=", "--initial-branch=main")

    def blob(self, text: str) -> str:
        return self("hash-object", "-t", "blob", "-w", "--stdin", data=text.encode()).text.strip()

    def commit(self, files: Mapping[str, str], *parents: str, ref: str = "refs/heads/main", at: int = 1) -> str:
        stream = [f"commit {ref}\ncommitter {WHO} {at} +0000\ndata 4\nwork\nfrom {parents[0] if parents else ''}\n"]
        if not parents:
            root = (
                f"tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nauthor {WHO} 0 +0000\ncommitter {WHO} 0 +0000\n\nr\n"
            )
            self("hash-object", "-t", "tree", "-w", "--stdin", data=b"")
            first = self("hash-object", "-t", "commit", "-w", "--stdin", data=root.encode()).text.strip()
            return self.commit(files, first, ref=ref, at=at)
        gone = [path for path in self.paths(parents[0]) if path not in files]
        stream += [f'D "{path}"\n' for path in gone]
        stream += [f'M 100644 inline "{p}"\ndata {len(text.encode())}\n{text}\n' for p, text in files.items()]
        self("fast-import", "--quiet", "--force", "--done", data="".join([*stream, "done\n"]).encode())
        return self("rev-parse", ref).text.strip()

    def paths(self, sha: str) -> list[str]:
        return self("ls-tree", "-r", "-z", "--name-only", sha).text.split("\0")[:-1]

    def __call__(self, *words: str, data: bytes | None = None) -> Finished:
        return self.repository.try_git(*words, data=data)


def both(tmp_path: Path, told: Callable[[Git], object]) -> None:
    """The same is told by both."""
    real, memory = (told(Git(kind, tmp_path / f"{kind.__name__}.git")) for kind in KINDS)
    assert memory == real


def answer(done: Finished) -> tuple[int, str]:
    return done.code, done.text


CHANGED = {
    "app.py": "def total(a, b):\n    # both\n    return a + b",
    "deep/er/a.txt": "0\n1\n2\n4\n5\n6\n7\n8\nnine\n",
    "new/one.txt": "x\n",
    "ünïcode.txt": "ü\n",
}


@pytest.mark.parametrize(
    "words",
    [
        ("ls-tree", "-r", "-z", "--long", "--full-tree", "NEW"),
        ("diff-tree", "--raw", *SWITCHES, "OLD", "NEW"),
        ("diff-tree", "-p", *SWITCHES, "--full-index", "OLD", "NEW"),
        ("diff-tree", "--raw", "-p", *SWITCHES, "OLD", "NEW"),
        ("diff-tree", "--raw", "-p", *CLOSE, *SWITCHES, "OLD", "NEW"),
        ("diff-tree", "--raw", "-p", *CLOSE, *SWITCHES, "NEW", "OLD"),
        ("diff-tree", "--raw", "-p", *CLOSE, *SWITCHES, "NEW", "NEW"),
        ("rev-list", "--first-parent", "--max-count=1000", "OLD..NEW"),
        ("log", "--max-count=1000", "--format=%s", "-z", "NEW"),
        ("log", "-1", "--format=%s", "NEW"),
        ("merge-base", "--is-ancestor", "OLD", "NEW"),
        ("merge-base", "--is-ancestor", "NEW", "OLD"),
        ("merge-base", "OLD", "NEW"),
        ("show", "--no-patch", "--format=%ct", "OLD", "NEW"),
        ("show", "NEW:app.py"),
        ("rev-parse", "NEW^{tree}", "NEW^", "NEW~1"),
        ("symbolic-ref", "HEAD"),
        ("for-each-ref", "--format=%(objectname) %(refname)", "refs/heads/"),
        ("for-each-ref", "--format=%(objectname) %(refname)", "refs/heads/main", "refs/none"),
        ("update-ref", "refs/heads/main", "NEW", "OLD"),
        ("grep", "--fixed-strings", "-I", "--line-number", "--null", "--full-name", "--max-count=50", "-e", "a", "NEW"),
        ("grep", "--fixed-strings", "-I", "--line-number", "--null", "--full-name", "--max-count=50", "-e", "!", "NEW"),
    ],
    ids=lambda words: " ".join(words)[:60],
)
def test_a_question_about_two_commits(tmp_path: Path, words: tuple[str, ...]) -> None:
    def told(git: Git) -> object:
        old = git.commit(FILES)
        names = {"OLD": old, "NEW": git.commit(CHANGED, old, at=2)}
        spoken = [word.replace("OLD", names["OLD"]).replace("NEW", names["NEW"]) for word in words]
        done = git(*spoken)
        return names, answer(done) if done.code < 2 else done.code, git("rev-parse", "refs/heads/main").text

    both(tmp_path, told)


LINES = st.lists(st.sampled_from("abcdef"), max_size=6).map(lambda found: "".join(f"{line}\n" for line in found))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.tuples(LINES, LINES, LINES))
def test_a_merge_without_conflict_is_the_same(tmp_path: Path, texts: tuple[str, str, str]) -> None:
    """Where lines repeat, either may see a conflict that the other does not; both never make different files."""
    found = []
    for kind in KINDS:
        git = Git(kind, tmp_path / f"{kind.__name__}.git")
        base, ours, theirs = texts
        old = git.commit({"a.txt": base})
        left, right = git.commit({"a.txt": ours}, old, at=2), git.commit({"a.txt": theirs}, old, at=3)
        found.append(git("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", left, right))
    real, memory = found
    if real.code == memory.code == 0:
        assert memory.text == real.text


MERGES = {
    "other files": ({"a": "1\n", "b": "1\n"}, {"a": "2\n", "b": "1\n"}, {"a": "1\n", "b": "2\n"}),
    "other places": ({"a": "1\n2\n3\n4\n5\n"}, {"a": "one\n2\n3\n4\n5\n"}, {"a": "1\n2\n3\n4\nfive\n"}),
    "the same": ({"a": "1\n"}, {"a": "2\n"}, {"a": "2\n"}),
    "the same place": ({"a": "1\n2\n"}, {"a": "x\n2\n"}, {"a": "y\n2\n"}),
    "neighbours": ({"a": "1\n2\n"}, {"a": "x\n2\n"}, {"a": "1\ny\n"}),
    "one is gone": ({"a": "1\n", "b": "1\n"}, {"b": "1\n"}, {"a": "1\n", "b": "2\n"}),
    "gone and changed": ({"a": "1\n2\n3\n", "b": "1\n"}, {"b": "1\n"}, {"a": "1\n2\n4\n", "b": "1\n"}),
    "both new, the same": ({"b": "1\n"}, {"a": "1\n", "b": "1\n"}, {"a": "1\n", "b": "1\n"}),
    "both new, not the same": ({"b": "1\n"}, {"a": "1\n", "b": "1\n"}, {"a": "2\n", "b": "1\n"}),
    "both gone": ({"a": "1\n", "b": "1\n"}, {"b": "1\n"}, {"b": "1\n"}),
    "added at the end by both": ({"a": "1\n"}, {"a": "1\nx\n"}, {"a": "1\ny\n"}),
}


@pytest.mark.parametrize("name", MERGES)
def test_a_merge(tmp_path: Path, name: str) -> None:
    base, ours, theirs = MERGES[name]

    def told(git: Git) -> object:
        old = git.commit(base)
        left, right = git.commit(ours, old, at=2), git.commit(theirs, old, ref="refs/heads/other", at=3)
        done = git("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", left, right)
        return done.code, done.text.split("\0")[1:] if done.code else done.text

    both(tmp_path, told)


# --- what the mirror and the committer do with it ------------------------------------------------------------


class World:
    """A forge, and our mirror of it, both of one kind."""

    def __init__(self, kind: type[Repository], root: Path) -> None:
        self.forge = Git(kind, root / f"{kind.__name__}-forge.git")
        self.first = self.forge.commit(FILES)
        self.mirror = Mirror(root / f"{kind.__name__}-t.git", Remote(str(self.forge.repository.path)), kind)
        self.mirror.create()
        self.root = root
        self.seen: list[object] = []

    def sees(self, *found: object) -> None:
        self.seen += found

    def committed(self, ref: str, files: Mapping[str, str], base: str) -> str:
        folder = self.root / f"{type(self.mirror.repository).__name__}-{ref.rpartition('/')[2]}"
        self.mirror.check_out(base, folder)
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        committer = Committer(self.mirror, Outgoing({}), Author("agent", "agent@localhost"))
        done = committer.commit(
            folder, base=base, ref=ref, text=CommitText("change"), scope=Scope(allow=("**",)), now=NOW
        )
        assert isinstance(done, Committed)
        return done.sha


def tried(act: Callable[[], object]) -> object:
    """What comes of it, also if it is an error of ours."""
    try:
        return act()
    except (Refused, CommandFailed) as error:
        return type(error).__name__


def in_both(tmp_path: Path, story: Callable[[World], object]) -> None:
    seen = []
    for kind in KINDS:
        world = World(kind, tmp_path)
        story(world)
        world.mirror.close()
        seen.append(world.seen)
    assert seen[1] == seen[0] and seen[0]


def test_what_is_fetched_pushed_and_moved_by_others(tmp_path: Path) -> None:
    def story(world: World) -> None:
        mirror = world.mirror
        world.sees(mirror.head("main"), mirror.fetch("main"), mirror.head("main"), mirror.remote_head("agent/x"))
        sha = world.committed("refs/attempts/t.a1", {"app.py": "x = 1\n"}, world.first)
        world.sees(sha, mirror.attempt("refs/attempts/t.a1"), mirror.attempt("refs/attempts/t.a2"))
        mirror.push(sha, "agent/x")
        mirror.push(sha, "agent/x")
        world.sees(mirror.remote_head("agent/x"), tried(lambda: mirror.push(world.first, "agent/x")))
        world.sees(tried(lambda: mirror.push(world.first, "main")), mirror.parent(sha), mirror.is_ancestor(sha, sha))
        second = world.committed("refs/attempts/t.a2", {"app.py": "x = 2\n"}, sha)
        mirror.push(second, "agent/x", expected=sha)
        world.sees(mirror.remote_head("agent/x"), mirror.line(world.first, second), mirror.titles(second))

    in_both(tmp_path, story)


def test_what_commits_hold(tmp_path: Path) -> None:
    def story(world: World) -> None:
        mirror = world.mirror
        mirror.fetch("main")
        sha = world.committed("refs/attempts/t.a1", CHANGED, world.first)
        world.sees(mirror.tree(sha), mirror.tree_id(sha), mirror.read(sha, "app.py"), mirror.read(sha, "none"))
        world.sees(mirror.grep(sha, "total"), mirror.grep(sha, "nobody says this"), mirror.read(sha, "deep"))
        found: tuple[Change, ...] = mirror.changed(world.first, sha)
        world.sees(found, mirror.changed(sha, world.first))
        world.sees([mirror.changed_last(sha, path) for path in ("app.py", "empty", "none")])
        world.sees(tried(lambda: mirror.read("0" * 40, "app.py")), tried(lambda: mirror.tree("0" * 40)))

    in_both(tmp_path, story)


def test_what_is_brought_up_to_date_joined_gathered_and_taken_back(tmp_path: Path) -> None:
    def story(world: World) -> None:
        mirror, forge = world.mirror, world.forge
        mirror.fetch("main")
        ours = world.committed("refs/attempts/t.a1", {"app.py": "x = 1\n"}, world.first)
        other = forge.commit({**FILES, "empty": "no more\n"}, world.first, at=5)
        rival = forge.commit({**FILES, "app.py": "y = 1\n"}, world.first, ref="refs/heads/rival", at=5)
        for branch in ("main", "rival"):
            mirror.fetch(branch)
        made = mirror.rebased(ours, other, "refs/attempts/t.a2", NOW)
        assert isinstance(made, Rebased)
        world.sees(made, mirror.rebased(ours, other, "refs/attempts/t.a2", NOW), mirror.start_for(ours, rival))
        conflict = mirror.rebased(ours, rival, "refs/attempts/t.a3", NOW)
        assert isinstance(conflict, Conflict)
        joined = mirror.joined(ours, other, WHO, "both", NOW)
        assert isinstance(joined, str)
        world.sees(conflict, joined, mirror.joined(ours, rival, WHO, "both", NOW), mirror.line(world.first, joined))
        gathered = mirror.gathered(joined, other, "refs/attempts/t.a4", WHO, "all", NOW)
        world.sees(gathered, tried(lambda: mirror.gathered(ours, other, "refs/attempts/t.a5", WHO, "all", NOW)))
        back = mirror.taken_back(made.sha, made.sha, "refs/attempts/t.a6", WHO, NOW)
        world.sees(back, mirror.taken_back(made.sha, other, "refs/attempts/t.a7", WHO, NOW) == AlreadyThere())
        world.sees(list(mirror.tidy(lambda task: task == "t", NOW)), mirror.attempt("refs/attempts/t.a1"))

    in_both(tmp_path, story)


def test_a_reference_that_is_taken_stays(tmp_path: Path) -> None:
    def told(git: Git) -> object:
        old = git.commit(FILES)
        new = git.commit(CHANGED, old, at=2)
        two = f"create refs/attempts/free {new}\ncreate refs/heads/main {old}\n".encode()
        codes = [
            git("update-ref", "--stdin", data=two).code,
            git("update-ref", "refs/heads/main", old, old).code,
            git("update-ref", "-d", "refs/heads/none").code,
            git("update-ref", "--stdin", data=f"delete refs/heads/main {old}\n".encode()).code,
        ]
        return codes, git("for-each-ref", "--format=%(refname)").text

    both(tmp_path, told)
