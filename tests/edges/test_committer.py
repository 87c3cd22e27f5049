"""From a folder that a box could write to a commit: nothing of it runs, nothing is hidden, much is refused."""

from __future__ import annotations

import itertools
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sisimpur.shared.model.change import ChangeLimits
from sisimpur.shared.model.errors import Misconfigured, Refused
from sisimpur.shared.model.scope import Scope
from sisimpur.shared.repo.commit_text import CommitText
from sisimpur.shared.repo.committer import Author, Committed, Committer, NothingChanged
from sisimpur.shared.repo.committer_harvest import walk
from sisimpur.shared.repo.git import Remote
from sisimpur.shared.repo.mirror import Mirror
from sisimpur.shared.system.outgoing import Outgoing
from tests.killing import killed_at, points, snippet
from tests.repositories import repository, shell, write

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
NUMBERS = itertools.count(1)
KEY = "tvly-0123456789abcdefghijABCDEFGHIJ"
FILES: dict[str, str | bytes] = {
    "src/a.py": "x = 1\n",
    "src/b.py": "y = 1\n",
    "docs/guide.md": "# Guide\n",
    ".gitignore": "*.log\nbuild/\n!keep.log\n",
    "build/tracked.txt": "tracked all the same\n",
    "README.md": "hello\n",
}


@dataclass
class Scene:
    """A target, our mirror of it, and a check-out that a box has had."""

    mirror: Mirror
    folder: Path
    base: str
    root: Path
    ref: str

    def commit(
        self,
        scope: Scope = Scope(),  # noqa: B008  (frozen)
        ref: str = "",
        message: str = "Work",
        limits: ChangeLimits | None = None,
        protected: tuple[str, ...] = (),
        now: datetime = NOW,
    ) -> Committed | NothingChanged:
        committer = Committer(
            self.mirror, Outgoing({"TAVILY_API_KEY": KEY}), Author("Team", "team@localhost"), protected, limits
        )
        return committer.commit(
            self.folder, base=self.base, ref=ref or self.ref, text=CommitText(message), scope=scope, now=now
        )

    def committed(self, scope: Scope = Scope(), **more: object) -> Committed:  # noqa: B008  (frozen)
        made = self.commit(scope, **more)  # type: ignore[arg-type]
        assert isinstance(made, Committed)
        return made

    def refuses(self, says: str, scope: Scope = Scope(), limits: ChangeLimits | None = None) -> None:  # noqa: B008  (frozen)
        with pytest.raises(Refused, match=says) as refused:
            self.commit(scope, limits=limits)
        assert "\n" not in str(refused.value)
        assert self.mirror.attempt(self.ref) is None
        assert "scratch" not in shell("git for-each-ref", self.mirror.path)


@pytest.fixture(scope="module")
def mirror(tmp_path_factory: pytest.TempPathFactory) -> Mirror:
    """One for all tests: each has a folder and an attempt of its own."""
    root = tmp_path_factory.mktemp("target")
    repository(root / "source", FILES)
    mirror = Mirror(root / "t.git", Remote(str(root / "source")))
    mirror.create()
    mirror.fetch("main")
    return mirror


@pytest.fixture
def scene(mirror: Mirror, tmp_path: Path) -> Scene:
    base = mirror.head("main")
    assert base
    mirror.check_out(base, tmp_path / "box")
    return Scene(mirror, tmp_path / "box", base, tmp_path, f"refs/attempts/t.a{next(NUMBERS)}")


def content(scene: Scene, sha: str) -> dict[str, str]:
    return {entry.path: (scene.mirror.read(sha, entry.path) or b"").decode() for entry in scene.mirror.tree(sha)}


# --- what becomes a commit -----------------------------------------------------------------------------------


def test_the_folder_becomes_a_commit_on_top_of_its_base(scene: Scene) -> None:
    write(scene.folder, {"src/a.py": "x = 2\n", "src/new.py": "z = 1\n"})
    (scene.folder / "src/b.py").unlink()
    made = scene.committed(Scope(files=("src/a.py", "src/b.py"), new_files=("src/new.py",)))
    assert made.changed == ("src/a.py", "src/b.py", "src/new.py") and made.protected == ()
    assert content(scene, made.sha) == {
        **{path: text for path, text in FILES.items() if path != "src/b.py"},
        "src/a.py": "x = 2\n",
        "src/new.py": "z = 1\n",
    }
    assert scene.mirror.attempt(scene.ref) == made.sha
    assert scene.mirror.parent(made.sha) == scene.base
    assert made.tree == shell(f"git rev-parse {made.sha}^{{tree}}", scene.mirror.path)


def test_author_time_and_message_are_ours(scene: Scene) -> None:
    write(scene.folder, {"src/a.py": "x = 2\n"})
    made = scene.committed(message=f"Add x\n\nfixes #1, thanks @org/team\x1b[31m, key {KEY}\n\n")
    shown = shell(f"git log -1 --format='%an <%ae> %cn <%ce> %cI%n%B' {made.sha}", scene.mirror.path)
    assert shown == (
        "Team <team@localhost> Team <team@localhost> 2026-11-20T12:00:00+00:00\n"
        "Add x\n\nfixes # 1, thanks @ org/team[31m, key [removed: TAVILY_API_KEY]"
    )


@pytest.mark.parametrize("name", ["", "  ", "a <b>", "a\nb"])
def test_an_author_that_git_could_misread_is_refused(name: str) -> None:
    with pytest.raises(Misconfigured, match="not an author"):
        Author(name, "team@localhost")


def test_an_untouched_folder_is_nothing_changed(scene: Scene) -> None:
    assert scene.commit() == NothingChanged()
    assert scene.mirror.attempt(scene.ref) is None


def test_a_new_time_or_a_new_inode_is_no_change(scene: Scene) -> None:
    os.utime(scene.folder / "src/a.py", (0, 0))
    shutil.copy(scene.folder / "src/b.py", scene.root / "copy")
    os.replace(scene.root / "copy", scene.folder / "src/b.py")
    assert scene.commit() == NothingChanged()


def test_protected_paths_do_not_stop_a_commit_but_are_told(scene: Scene) -> None:
    write(scene.folder, {"conftest.py": "x = 1\n", "src/a.py": "x = 2\n", "docs/guide.md": "# New\n"})
    made = scene.committed(protected=("docs/**",))
    assert made.protected == ("conftest.py", "docs/guide.md")


# --- what is left out ----------------------------------------------------------------------------------------


def test_ignored_and_left_over_files_are_left_out(scene: Scene) -> None:
    ignored = ["a.log", "src/b.log", "build/out.bin", "build/deep/x", ".git/config", ".git/hooks/pre-commit"]
    leftovers = ["src/__pycache__/a.pyc", ".pytest_cache/x", ".aider.chat.history.md", ".aider.tags.cache.v4/x"]
    write(scene.folder, dict.fromkeys([*ignored, *leftovers], "x"))
    assert scene.commit() == NothingChanged()


def test_what_the_base_tracks_is_compared_also_where_it_is_ignored(scene: Scene) -> None:
    write(scene.folder, {"build/tracked.txt": "changed\n", "build/new.txt": "left out\n"})
    assert scene.committed().changed == ("build/tracked.txt",)


def test_an_exception_of_gitignore_holds(scene: Scene) -> None:
    write(scene.folder, {"src/keep.log": "x\n"})
    assert scene.committed().changed == ("src/keep.log",)


def test_a_box_cannot_hide_a_file_by_editing_gitignore(scene: Scene) -> None:
    write(scene.folder, {"src/.gitignore": "*\n", "src/hidden.py": "x\n"})
    assert scene.committed().changed == ("src/.gitignore", "src/hidden.py")


def test_a_box_cannot_bring_in_a_file_by_editing_gitignore(scene: Scene) -> None:
    write(scene.folder, {".gitignore": "", "a.log": "x\n"})
    scene.refuses(r".gitignore: it was emptied")
    write(scene.folder, {".gitignore": "!*.log\n", "a.log": "x\n"})
    assert scene.committed().changed == (".gitignore",)


# --- tricks: nothing of a folder runs ------------------------------------------------------------------------

Trick = Callable[[Path, str], None]
TRICKS: dict[str, Trick] = {}


def trick(name: str) -> Callable[[Trick], Trick]:
    def register(function: Trick) -> Trick:
        TRICKS[name] = function
        return function

    return register


def hook(place: str, payload: str) -> str:
    return f"printf '#!/bin/sh\\n{payload}\\n' > {place} && chmod +x {place}"


@trick("a .git file that points to an own git folder with core.fsmonitor")
def _(box: Path, payload: str) -> None:
    shell("mv .git g && echo 'gitdir: ./g' > .git", box)
    shell(f"git --git-dir=g config core.fsmonitor '{payload};false'; git --git-dir=g config core.worktree ..", box)


@trick(".git replaced by a folder with hooks")
def _(box: Path, payload: str) -> None:
    shell(hook(".git/hooks/pre-commit", payload), box)


@trick("core.hooksPath")
def _(box: Path, payload: str) -> None:
    shell(f"mkdir h && {hook('h/pre-commit', payload)} && git config core.hooksPath h", box)


@trick("core.fsmonitor")
def _(box: Path, payload: str) -> None:
    shell(f"git config core.fsmonitor '{payload};false'", box)


@trick("a filter driver")
def _(box: Path, payload: str) -> None:
    shell(f"git config filter.x.clean '{payload};cat'", box)
    write(box, {".gitattributes": "*.py filter=x\n"})


@trick("a diff driver's command")
def _(box: Path, payload: str) -> None:
    shell(f"git config diff.x.command '{payload}'", box)
    write(box, {".gitattributes": "*.py diff=x\n"})


@trick("textconv")
def _(box: Path, payload: str) -> None:
    shell(f"git config diff.x.textconv '{payload};cat'", box)
    write(box, {".gitattributes": "*.py diff=x\n"})


@trick("a hook after the commit")
def _(box: Path, payload: str) -> None:
    shell(hook(".git/hooks/post-commit", payload), box)


@trick("core.fsmonitor in config.worktree")
def _(box: Path, payload: str) -> None:
    shell("git config extensions.worktreeConfig true", box)
    write(box, {".git/config.worktree": f'[core]\nfsmonitor = "{payload};false"\n'})


@trick("a signing program")
def _(box: Path, payload: str) -> None:
    shell(f"{hook('sign.sh', payload)} && git config commit.gpgSign true && git config gpg.program ./sign.sh", box)


def nested(box: Path) -> Path:
    inner = box / "vendor/x"
    repository(inner, {"f.txt": "a\n"})
    (inner / ".git/info/attributes").unlink()
    return inner


@trick("a nested repository with core.fsmonitor")
def _(box: Path, payload: str) -> None:
    shell(f"git config core.fsmonitor '{payload};false'", nested(box))


@trick("a nested repository with a filter driver")
def _(box: Path, payload: str) -> None:
    inner = nested(box)
    shell(f"git config filter.x.clean '{payload};cat'", inner)
    write(inner, {".gitattributes": "* filter=x\n", "f.txt": "b\n"})
    os.utime(inner / "f.txt", (1, 1))  # git has to read it again, through the filter


@trick("a nested repository with hooks")
def _(box: Path, payload: str) -> None:
    inner = nested(box)
    shell(hook(".git/hooks/post-index-change", payload), inner)
    os.utime(inner / "f.txt", (1, 1))  # git refreshes its index


def is_a_real_one(folder: Path, canary: Path) -> bool:
    """Whether plain git in the folder sets it off."""
    for command in ("status", "diff HEAD", "add -A", "status", "commit -qm work"):
        shell(f"git {command} || true", folder)
        if canary.exists():
            return True
    return False


@pytest.mark.parametrize("name", TRICKS)
def test_nothing_that_a_box_planted_runs(scene: Scene, name: str) -> None:
    canary = scene.root / "OWNED"
    shell("git init -q . && git add -A && git commit -qm base", scene.folder)
    TRICKS[name](scene.folder, f"touch {canary}")
    write(scene.folder, {"src/a.py": "x = 22\n"})
    canary.unlink(missing_ok=True)  # preparing may have set it off
    shutil.copytree(scene.folder, scene.root / "copy", symlinks=True)
    try:
        made = scene.committed()
        scene.mirror.check_out(made.sha, scene.root / "tests-box")
        assert b"+x = 22" in scene.mirror.diff(scene.base, made.sha)
        assert "nested" not in name
    except Refused as refused:
        assert re.search("repository inside the repository|executable|binary", str(refused))
    assert not canary.exists()
    assert is_a_real_one(scene.root / "copy", canary)


def test_a_bare_repository_as_a_plain_folder_is_plain_files(scene: Scene) -> None:
    shell("git init -q --bare emb && rm -rf emb/hooks emb/description", scene.folder)
    shell(f"git config core.fsmonitor 'touch {scene.root}/OWNED'", scene.folder / "emb")
    made = scene.committed()
    assert "emb/config" in made.changed
    assert not (scene.root / "OWNED").exists()


# --- what is refused -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prepare", "says"),
    [
        pytest.param("ln -s /etc/passwd src/l", r"src/l: a symbolic link that leads out", id="link to the machine"),
        pytest.param("ln -s ../../x src/l", r"src/l: a symbolic link that leads out", id="link upwards"),
        pytest.param(
            "rm src/a.py; ln -s /etc/passwd src/a.py", r"src/a.py: a symbolic link that leads", id="file -> link"
        ),
        pytest.param("ln -s a.py src/l", r"src/l: it is a symbolic link", id="link inside the tree"),
        pytest.param("mv src s; ln -s s src", r"src(/a.py)?: ", id="a folder becomes a link"),
        pytest.param("ln src/a.py src/h", r"src/a.py: a hard link", id="hard link"),
        pytest.param("mkfifo src/p", r"src/p: neither a file nor a folder nor a link", id="fifo"),
        pytest.param(
            "python3 -c \"import socket; socket.socket(1).bind('src/s')\"", r"src/s: neither a file", id="socket"
        ),
        pytest.param("mkdir -p x/.git", r"x/.git: a repository inside the repository", id="nested repository"),
        pytest.param("mkdir x; touch x/.GIT", r"x/.GIT: a repository inside", id="nested, in capitals"),
        pytest.param("mkdir -p x/git~1", r"x/git~1: a repository inside", id="nested, on old Windows"),
        pytest.param("mkdir .GIT", r".GIT: a repository inside", id=".git in capitals, also at the top"),
        pytest.param("printf x > $(printf 'a\\001b')", r"control character in a file name", id="control character"),
        pytest.param("printf x > $(printf '\\377')", r"a file name that is not UTF-8", id="not UTF-8"),
        pytest.param("printf x > ' a'", r" a: its name is not plain text", id="begins with a blank"),
        pytest.param("printf x > -rf", r"-rf: its name is not plain text", id="an option"),
        pytest.param("printf x > 'a\u202eb'", r"its name is not plain text", id="from right to left"),
        pytest.param("echo '#!/bin/sh' > run; chmod +x run", r"run: it became executable", id="new program"),
        pytest.param("chmod +x src/a.py", r"src/a.py: it became executable", id="becomes a program"),
        pytest.param("printf 'a\\000b' > src/n", r"src/n: it is binary", id="binary"),
        pytest.param("printf '\\344' > src/n", r"src/n: it is binary or not UTF-8", id="Latin 1"),
        pytest.param(": > src/a.py", r"src/a.py: it was emptied", id="emptied"),
        pytest.param("rm src/b.py", r"src/b.py: it is deleted, but the task does not name it", id="deleted"),
        pytest.param("echo '<<<<<<< SEARCH' >> src/a.py", r"src/a.py: line 2 is a conflict marker", id="marker"),
        pytest.param("mkdir SRC; echo x > SRC/c.py", r"SRC/c.py: differs from src only in case", id="two spellings"),
        pytest.param("seq 4001 > src/n", r"4001 lines added \(limit 4000\), most of them in src/n", id="too long"),
        pytest.param("head -c 1000001 /dev/zero | tr '\\0' x > n", r"added \(limit 1000000\), .* in n", id="too big"),
        pytest.param("head -c 20000001 /dev/zero > n", r"n: .* more than 20000000 bytes \(limit\)", id="far too big"),
        pytest.param("for i in $(seq 101); do echo $i > $i; done", r"more than 100 files changed \(limit\)", id="many"),
        pytest.param(
            f"echo 'k = \"{KEY}\"' >> src/a.py", r"src/a.py: line 2 holds a secret \(TAVILY_API_KEY\)", id="key"
        ),
        pytest.param(f"echo x > {KEY}", r"a file's name holds a secret \(TAVILY_API_KEY\)", id="key as a name"),
        pytest.param("chmod 0 src; id -u | grep -q 0 && rm -r src && ln -s / src", "src", id="cannot be read"),
    ],
)
def test_each_refusal_names_the_file_and_sets_no_reference(scene: Scene, prepare: str, says: str) -> None:
    shell(prepare, scene.folder)
    scene.refuses(says)
    shell("chmod 755 src || true", scene.folder)


def test_a_secret_is_never_quoted(scene: Scene) -> None:
    write(scene.folder, {"src/a.py": f"x = '{KEY[:20]}' + '{KEY[20:]}'\n"})
    with pytest.raises(Refused) as refused:
        scene.commit()
    assert KEY[:12] not in str(refused.value) and "src/a.py: line 1 holds a secret" in str(refused.value)


@pytest.mark.parametrize(
    ("scope", "says"),
    [
        pytest.param(Scope(files=("src/b.py",)), "src/a.py: the task does not name it", id="another file"),
        pytest.param(Scope(allow=("docs",)), r"src/a.py: it lies outside .*\(docs\)", id="out of bounds"),
        pytest.param(Scope(guards=("src/**",)), r"src/a.py: the owner guards src/\*\*", id="guarded"),
        pytest.param(
            Scope(files=("src/a.py",), guards=("*.py",)), r"the owner guards \*.py", id="guarded, though named"
        ),
    ],
)
def test_a_path_beyond_the_tasks_scope_is_refused(scene: Scene, scope: Scope, says: str) -> None:
    write(scene.folder, {"src/a.py": "x = 2\n"})
    scene.refuses(says, scope)


@pytest.mark.parametrize(
    ("limits", "says"),
    [
        pytest.param(ChangeLimits(entries=5), r"more than 5 files and folders \(limit\)", id="entries"),
        pytest.param(ChangeLimits(file_bytes=10), r".gitignore: 23 bytes \(limit 10\)", id="one file"),
        pytest.param(
            ChangeLimits(tree_bytes=30), r"all files together take more than 30 bytes \(limit\)", id="all files"
        ),
        pytest.param(ChangeLimits(depth=0), r"build: folders deeper than 0 \(limit\)", id="depth"),
        pytest.param(ChangeLimits(seconds=-1), r"took longer than -1 s \(limit\)", id="time"),
    ],
)
def test_the_walk_keeps_its_limits(scene: Scene, limits: ChangeLimits, says: str) -> None:
    scene.refuses(says, limits=limits)


def test_folders_in_folders_in_folders_are_refused(scene: Scene) -> None:
    inner = os.open(scene.folder, os.O_RDONLY)
    for _ in range(200):
        os.mkdir("d", dir_fd=inner)
        inner, outer = os.open("d", os.O_RDONLY, dir_fd=inner), inner
        os.close(outer)
    os.close(inner)
    scene.refuses(r"folders deeper than 60 \(limit\)")


def test_a_folder_that_is_a_link_or_missing_is_refused(scene: Scene) -> None:
    shutil.move(scene.folder, scene.root / "real")
    os.symlink(scene.root / "real", scene.folder)
    scene.refuses(r"box: cannot be read")
    scene.folder.unlink()
    scene.refuses(r"box: cannot be read \(No such file or directory\)")


def with_entry(scene: Scene, row: str) -> None:
    """One more entry in the base, that no box got."""
    tree = shell(f"{{ git ls-tree {scene.base}; printf '{row}\\n'; }} | git mktree --missing", scene.mirror.path)
    scene.base = shell(f"git commit-tree {tree} -m odd", scene.mirror.path)


def test_a_submodule_and_a_link_that_leads_out_stay_as_they_are_and_no_box_writes_in_their_place(scene: Scene) -> None:
    link = shell("printf /etc/passwd | git hash-object -w --stdin", scene.mirror.path)
    with_entry(scene, f"160000 commit {scene.base}\\tsub")
    with_entry(scene, f"120000 blob {link}\\tout")
    shell("echo 'x = 2' >> src/a.py", scene.folder)
    made = scene.committed(ref=f"{scene.ref}-first")
    assert made.changed == ("src/a.py",)
    assert {"sub", "out"} <= {entry.path for entry in scene.mirror.tree(made.sha)}
    for name, reason in (("out", "a symbolic link"), ("sub/inner", "a submodule")):
        shell(f"mkdir -p $(dirname {name}); echo x > {name}", scene.folder)
        scene.refuses(f"{name}: {reason}.*: it was left alone, and stays as it is")
        shell(f"rm -rf {name.partition('/')[0]}", scene.folder)


def test_a_file_that_git_lfs_keeps_stays_as_it_is(scene: Scene) -> None:
    rules = shell("printf '*.psd filter=lfs diff=lfs -text' | git hash-object -w --stdin", scene.mirror.path)
    with_entry(scene, f"100644 blob {rules}\\t.gitattributes")
    shell("printf '*.psd filter=lfs diff=lfs -text' > .gitattributes; echo x > src/new.psd", scene.folder)
    scene.refuses(r"src/new.psd: Git LFS keeps such files \(filter=lfs\): it stays as it is")


@pytest.mark.parametrize("ref", ["refs/heads/main", "refs/remotes/origin/main", "HEAD", "refs/attempts/x y"])
def test_a_commit_stands_only_where_attempts_stand(scene: Scene, ref: str) -> None:
    write(scene.folder, {"src/a.py": "x = 2\n"})
    with pytest.raises(Refused, match="not the reference of an attempt"):
        scene.commit(ref=ref)


# --- byte for byte -------------------------------------------------------------------------------------------


def test_commit_check_out_and_walk_again_give_the_same_bytes(tmp_path: Path) -> None:
    repository(
        tmp_path / "source",
        {
            ".gitattributes": "*.txt text eol=crlf\n*.py ident diff=x -diff merge=y\n*.md ident\n",
            "ident.py": "$Id$\n",
            "blob.bin": bytes(range(256)),
            'a "quoted" \\ näme': "x\n",
        },
    )
    os.symlink("ident.py", tmp_path / "source/link")
    shell("echo '#!/bin/sh' > run.sh; chmod +x run.sh; git add -A; git commit -qm more", tmp_path / "source")
    mirror = Mirror(tmp_path / "t.git", Remote(str(tmp_path / "source")))
    mirror.create()
    base = mirror.fetch("main")
    mirror.check_out(base, tmp_path / "box")
    new: dict[str, str | bytes] = {
        "lf.txt": b"one\ntwo\n",
        "crlf.txt": b"one\r\ntwo\r\n",
        "end.txt": b"no newline",
        "e": "",
    }
    write(tmp_path / "box", {**new, "ident.py": "$Id$ $Id: x $\n", "deep/er/ä b.md": "ü\r\n"})
    scene = Scene(mirror, tmp_path / "box", base, tmp_path, "refs/attempts/t.a1")
    mirror.check_out(scene.committed().sha, tmp_path / "again")
    seen = [list(walk(tmp_path / name, lambda *_: False, ChangeLimits())) for name in ("box", "again")]
    assert seen[0] == seen[1] and len(seen[0]) == 11


def test_a_file_may_become_a_folder_of_the_same_name(scene: Scene) -> None:
    (scene.folder / "README.md").unlink()
    write(scene.folder, {"README.md/part.md": "x\n"})
    made = scene.committed(Scope(files=("README.md",), new_files=("README.md/part.md",)))
    assert content(scene, made.sha)["README.md/part.md"] == "x\n"


# --- again, and after a kill ---------------------------------------------------------------------------------


def test_the_same_attempt_again_finds_its_commit(scene: Scene) -> None:
    write(scene.folder, {"src/a.py": "x = 2\n"})
    first = scene.committed()
    later = scene.committed(now=datetime(2026, 11, 21, tzinfo=UTC))
    assert later == first == scene.committed()


def test_an_attempt_never_takes_a_second_commit(scene: Scene) -> None:
    write(scene.folder, {"src/a.py": "x = 2\n"})
    first = scene.committed()
    write(scene.folder, {"src/a.py": "x = 3\n"})
    with pytest.raises(Refused, match=f"{scene.ref} is at {first.sha} already"):
        scene.commit()
    assert scene.mirror.attempt(scene.ref) == first.sha
    assert scene.committed(ref="refs/attempts/other.a2").sha != first.sha


COMMIT = """
    import sys
    from datetime import UTC, datetime
    from pathlib import Path
    from sisimpur.shared.model.scope import Scope
    from sisimpur.shared.repo.commit_text import CommitText
    from sisimpur.shared.repo.committer import Author, Committer
    from sisimpur.shared.repo.mirror import Mirror
    from sisimpur.shared.system.outgoing import Outgoing
    from sisimpur.shared.repo.git import Remote

    mirror = Mirror(Path(sys.argv[1]), Remote(sys.argv[2]))
    committer = Committer(mirror, Outgoing({}), Author("Team", "t@localhost"))
    committer.commit(Path(sys.argv[3]), base=sys.argv[4], ref=sys.argv[5], text=CommitText("Work"), scope=Scope(),
                     now=datetime(2026, 11, 20, tzinfo=UTC))
"""


def test_a_kill_leaves_the_commit_or_nothing(scene: Scene) -> None:
    write(scene.folder, {"src/a.py": "x = 2\n"})
    program = snippet(COMMIT, str(scene.mirror.path), scene.mirror.remote.url, str(scene.folder), scene.base, scene.ref)
    assert points(program) == ["commit.import", "ref.update"]
    whole = scene.mirror.attempt(scene.ref)
    for number, left in ((1, None), (2, whole)):
        shell(f"git update-ref -d {scene.ref}", scene.mirror.path)
        killed_at(number, program)
        assert scene.mirror.attempt(scene.ref) == left
        scene.mirror.create()
        assert "scratch" not in shell("git for-each-ref", scene.mirror.path)
        assert scene.committed().changed == ("src/a.py",)
