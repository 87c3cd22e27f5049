"""Our copy of the target: what is fetched, what is read from commits, and who wins a push."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bench.trace import counting
from sisimpur.shared.model.change import Change, ChangeLimits
from sisimpur.shared.model.errors import CommandFailed, Misconfigured, Refused
from sisimpur.shared.repo.git import Remote
from sisimpur.shared.repo.mirror import Match, Mirror, default_branch
from sisimpur.shared.repo.mirror_commits import AlreadyThere, Conflict, Rebased
from sisimpur.shared.repo.mirror_tree import TreeEntry
from tests.killing import killed_at, points, snippet
from tests.repositories import bare, commit, repository, shell, write

NOW, LATER = (datetime(2026, 11, 20, hour, 30, tzinfo=UTC) for hour in (8, 9))
FILES: dict[str, str | bytes] = {
    "a.py": "x = 1\ny = 2\n",
    "crlf.txt": "one\r\ntwo\r\n",
    "no-newline": "end",
    "empty": "",
    "deep/er/ä b.txt": "ü\n",
    "blob.bin": bytes(range(256)),
    ".gitattributes": "*.txt text eol=crlf\n*.py ident diff=x -diff\n* export-ignore\n",
}


def target(folder: Path) -> Path:
    """A repository, as its owner works on it."""
    repository(folder, {})
    write(folder, FILES)
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o755)
    os.symlink("er/ä b.txt", folder / "deep/link")
    commit(folder, {})
    return folder


def mirror_of(folder: Path, path: Path) -> Mirror:
    mirror = Mirror(path, Remote(str(folder)))
    mirror.create()
    return mirror


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return target(tmp_path / "source")


@pytest.fixture
def mirror(source: Path, tmp_path: Path) -> Mirror:
    return mirror_of(source, tmp_path / "mirrors" / "t.git")


@pytest.fixture(scope="module")
def still(tmp_path_factory: pytest.TempPathFactory) -> Mirror:
    """One for all tests that only read; fetched."""
    folder = tmp_path_factory.mktemp("still")
    mirror = mirror_of(target(folder / "source"), folder / "t.git")
    mirror.fetch("main")
    return mirror


def newest(mirror: Mirror) -> str:
    sha = mirror.head("main")
    assert sha
    return sha


# --- fetching ------------------------------------------------------------------------------------------------


def test_a_fetch_brings_the_branch_and_nothing_else(mirror: Mirror, source: Path) -> None:
    shell("git tag v1 && git branch other", source)
    sha = mirror.fetch("main")
    assert sha == shell("git rev-parse main", source) == mirror.head("main")
    assert shell("git for-each-ref --format='%(refname)'", mirror.path) == "refs/remotes/origin/main"


def test_a_branch_that_was_never_fetched_has_no_head(mirror: Mirror) -> None:
    assert mirror.head("main") is None


def test_history_that_was_rewritten_is_followed(mirror: Mirror, source: Path) -> None:
    before = mirror.fetch("main")
    shell("git commit -q --amend -m other", source)
    assert mirror.fetch("main") == mirror.remote_head("main") != before


def test_an_unknown_branch_says_which_there_are(mirror: Mirror, source: Path) -> None:
    shell("git branch develop", source)
    with pytest.raises(Misconfigured, match=r"has no branch mian; set `branch:` .* to one of: develop, main$"):
        mirror.fetch("mian")


def test_an_empty_repository_says_what_to_do(tmp_path: Path) -> None:
    shell("git init -q --bare empty.git", tmp_path)
    mirror = Mirror(tmp_path / "m.git", Remote(str(tmp_path / "empty.git")))
    mirror.create()
    with pytest.raises(Misconfigured, match="is empty; push a first commit to its branch main"):
        mirror.fetch("main")
    with pytest.raises(Misconfigured, match="is empty"):
        default_branch(tmp_path, mirror.remote)


def test_a_clone_of_the_newest_commits_alone_says_what_to_type(source: Path, tmp_path: Path) -> None:
    shell("echo more > more.txt && git add . && git commit -q -m more", source)
    shell(f"git clone -q --depth 1 file://{source} newest", tmp_path)
    mirror = mirror_of(tmp_path / "newest", tmp_path / "m.git")
    with pytest.raises(Misconfigured, match="holds only the newest commits; type in it: git fetch --unshallow"):
        mirror.fetch("main")
    shell("git fetch -q --unshallow", tmp_path / "newest")
    assert mirror.fetch("main") == shell("git rev-parse main", source)


def test_a_path_without_a_repository_says_what_to_correct(tmp_path: Path) -> None:
    mirror = Mirror(tmp_path / "m.git", Remote(str(tmp_path / "nothing")))
    mirror.create()
    with pytest.raises(Misconfigured, match=r"there is no repository at .*/nothing; correct `repo:`"):
        mirror.fetch("main")


@pytest.mark.parametrize(
    "name",
    [
        "-f",
        "+x",
        "a b",
        "a:b",
        "refs/heads/main",
        "@{-1}",
        "a..b",
        "a.lock",
        "/a",
        "a/",
        "a/.b",
        "a\nb",
        "x" * 300,
        "",
        "a*",
    ],
)
def test_what_cannot_be_a_branch_never_reaches_git(still: Mirror, name: str) -> None:
    for ask in (still.fetch, still.head, still.remote_head):
        with pytest.raises(Misconfigured, match="cannot be a branch"):
            ask(name)


def test_the_main_branch_is_asked_of_the_repository(source: Path, tmp_path: Path) -> None:
    shell("git branch -m trunk", source)
    assert default_branch(tmp_path, Remote(str(source))) == "trunk"


def test_creating_again_keeps_what_is_there_and_clears_what_was_left_half_done(mirror: Mirror) -> None:
    sha = mirror.fetch("main")
    shell(f"git update-ref refs/scratch/x.a1 {sha}; git update-ref refs/attempts/x.a1 {sha}", mirror.path)
    for lock in ("packed-refs.lock", "refs/attempts/x.a1.lock"):
        (mirror.path / lock).touch()
    mirror.create()
    assert mirror.head("main") == mirror.attempt("refs/attempts/x.a1") == sha
    assert "scratch" not in shell("git for-each-ref", mirror.path)
    assert mirror.restore("refs/attempts/x.a1", sha)


# --- what commits hold ---------------------------------------------------------------------------------------


def test_a_tree_lists_every_file_with_mode_and_size(still: Mirror) -> None:
    entries = {entry.path: entry for entry in still.tree(newest(still))}
    assert set(entries) == {*FILES, "run.sh", "deep/link"}
    assert entries["empty"] == TreeEntry("100644", "empty", 0, "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391")
    assert (entries["run.sh"].mode, entries["deep/link"].mode) == ("100755", "120000")


@pytest.mark.parametrize(("path", "content"), FILES.items(), ids=FILES)
def test_a_file_is_read_byte_for_byte(still: Mirror, path: str, content: str | bytes) -> None:
    assert still.read(newest(still), path) == (content.encode() if isinstance(content, str) else content)


@pytest.mark.parametrize(
    "path",
    ["nothing", "deep", "", "../a.py", "./a.py", "/a.py", "deep/../a.py", "a.py\n", "x blob", "-x", "a\0b", ":a.py"],
)
def test_what_is_no_file_reads_as_none(still: Mirror, path: str) -> None:
    assert still.read(newest(still), path) is None


def test_a_file_beyond_the_limit_is_refused_not_cut(still: Mirror) -> None:
    sha = newest(still)
    assert still.read(sha, "blob.bin", limit=256) == bytes(range(256))
    with pytest.raises(Refused, match=r"blob.bin: 256 bytes \(limit 255\)"):
        still.read(sha, "blob.bin", limit=255)


@pytest.mark.parametrize(
    ("needle", "found"),
    [
        pytest.param("x = 1", (Match("a.py", 1, "x = 1"),), id="letter by letter, also where attributes say binary"),
        pytest.param("two", (Match("crlf.txt", 2, "two"),), id="line ends do not matter"),
        pytest.param("ü", (Match("deep/er/ä b.txt", 1, "ü"),), id="not only ASCII"),
        pytest.param("x . 1", (), id="no expression"),
        pytest.param("-e", (), id="no option"),
        pytest.param("X = 1", (), id="case matters"),
        pytest.param("x\ny", (), id="no two lines"),
        pytest.param("", (), id="nothing"),
        pytest.param("\0", (), id="NUL"),
    ],
)
def test_searching(still: Mirror, needle: str, found: tuple[Match, ...]) -> None:
    assert still.grep(newest(still), needle) == found


def test_a_search_is_bounded(mirror: Mirror, source: Path) -> None:
    commit(source, {"many": "x\n" * 1_000, "long": "needle" + "y" * 10_000})
    sha = mirror.fetch("main")
    assert len(mirror.grep(sha, "x", limit=7)) == 7
    assert [len(match.text) for match in mirror.grep(sha, "needle")] == [300]


@pytest.mark.parametrize("sha", ["main", "HEAD", "--all", "0" * 39, "g" * 40, "", "0" * 40 + "\n"])
def test_only_full_shas_reach_git(still: Mirror, sha: str, tmp_path: Path) -> None:
    there, ref = newest(still), "refs/attempts/x.a1"
    for ask in (
        *(still.tree, still.tree_id, still.parent, lambda sha: still.read(sha, "a"), lambda sha: still.grep(sha, "a")),
        *(lambda sha: still.is_ancestor(sha, there), lambda sha: still.is_ancestor(there, sha)),
        *(lambda sha: still.start_for(sha, there), lambda sha: still.rebased(there, sha, ref, NOW)),
    ):
        with pytest.raises(Refused, match="not a commit id"):
            ask(sha)
    with pytest.raises(Refused, match="not a commit id"):
        still.check_out(sha, tmp_path / "out")


# --- checking out --------------------------------------------------------------------------------------------


def test_a_check_out_has_the_exact_bytes_whatever_attributes_say(still: Mirror, tmp_path: Path) -> None:
    still.check_out(newest(still), tmp_path / "out")
    for path, content in FILES.items():
        assert (tmp_path / "out" / path).read_bytes() == (content.encode() if isinstance(content, str) else content)
    assert os.access(tmp_path / "out/run.sh", os.X_OK) and not os.access(tmp_path / "out/a.py", os.X_OK)
    assert os.readlink(tmp_path / "out/deep/link") == "er/ä b.txt"
    assert not (tmp_path / "out/.git").exists()


RULES = ("text eol=crlf", "ident", "working-tree-encoding=UTF-16LE-BOM", "filter=x", "export-subst", "crlf", "mine")


@pytest.mark.parametrize("rule", RULES)
def test_no_rule_of_the_repository_changes_a_byte(mirror: Mirror, source: Path, tmp_path: Path, rule: str) -> None:
    rules = f"[attr]mine ident eol=crlf\n* {rule}\n"
    held = {"a": b"$Id$ $Format:%H$\n", "b/c": "ü\r\n\n".encode(), ".gitattributes": rules.encode()}
    commit(source, held)
    mirror.check_out(mirror.fetch("main"), tmp_path / "out")
    assert {path: (tmp_path / "out" / path).read_bytes() for path in held} == held


def made_by_hand(mirror: Mirror, *rows: str) -> str:
    """A commit that no git command would make: `MODE NAME CONTENT`, the name may hold anything."""
    lines = []
    for row in rows:
        mode, name, content = row.split(" ", 2)
        kind = "commit" if mode == "160000" else "tree" if mode == "040000" else "blob"
        blob = (
            content if kind != "blob" else shell(f"printf '%s' '{content}' | git hash-object -w --stdin", mirror.path)
        )
        lines.append(f"{mode} {kind} {blob}\t{name}\\000")
    listing = "".join(lines)
    tree = shell(f"printf '{listing}' | git mktree -z --missing", mirror.path)
    return shell(f"git commit-tree {tree} -m x", mirror.path)


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        pytest.param(["100644 .GIT x"], "'.GIT': a name that reads as a git folder", id=".git in capitals"),
        pytest.param(["100644 git~1 x"], "'git~1': a name that reads as a git folder", id=".git on old Windows"),
        pytest.param(["100644 a\\001b x"], r"'a\\x01b': a control character", id="control character"),
        pytest.param(["100644 \\377 x"], r"not UTF-8, .*xff.*: not supported", id="not UTF-8"),
    ],
)
def test_trees_that_no_box_and_no_committer_could_take_are_refused(
    still: Mirror, tmp_path: Path, rows: list[str], says: str
) -> None:
    with pytest.raises(Refused, match=says):
        still.check_out(made_by_hand(still, *rows), tmp_path / "out")


@pytest.mark.parametrize(
    ("row", "says"),
    [
        pytest.param("160000 sub " + "1" * 40, "sub: a submodule", id="submodule"),
        pytest.param("120000 l /etc/passwd", r"l: a symbolic link that leads out .*'/etc/passwd'", id="absolute link"),
        pytest.param("120000 l ../x", r"l: a symbolic link that leads out of the tree", id="link upwards"),
        pytest.param(f"100644 blob.bin {'x' * 300}", r"blob.bin: 300 bytes \(limit 200\)", id="large file"),
    ],
)
def test_what_no_box_can_take_is_left_alone_and_the_rest_is_laid_out(
    still: Mirror, tmp_path: Path, row: str, says: str
) -> None:
    sha, limits = made_by_hand(still, "100644 a x", row), ChangeLimits(file_bytes=200)
    still.check_out(sha, tmp_path / "out", limits)
    assert os.listdir(tmp_path / "out") == ["a"]
    laid, left = still.laid_out(sha, limits)
    assert [entry.path for entry in laid] == ["a"]
    assert re.fullmatch(says + ".*", next(f"{path}: {why}" for path, why in left.items()))
    with pytest.raises(Refused, match=f"{says}.*: not supported"):  # who needs all of it
        still.check_out(sha, tmp_path / "whole", limits, whole=True)


def test_files_of_git_lfs_are_laid_out_as_what_points_to_them_but_not_for_who_needs_all(
    still: Mirror, tmp_path: Path
) -> None:
    sha = made_by_hand(still, "100644 .gitattributes *.psd filter=lfs", "100644 a.psd points")
    still.check_out(sha, tmp_path / "out")
    assert (tmp_path / "out/a.psd").read_text() == "points"
    with pytest.raises(Refused, match=r"\.gitattributes: files kept by Git LFS \(filter=lfs\): not supported"):
        still.check_out(sha, tmp_path / "whole", whole=True)


def test_nothing_is_written_through_a_link(still: Mirror, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    inner = shell("printf x | git hash-object -w --stdin | xargs -I{} printf '100644 blob {}\\tf\\000' | git mktree -z",
                  still.path)  # fmt: skip
    sha = made_by_hand(still, "120000 d .", f"040000 d {inner}")  # one name twice: a link and a folder
    with pytest.raises(Refused, match="two names of the repository are one here"):
        still.check_out(sha, tmp_path / "out")
    assert not (tmp_path / "out/f").exists()


@pytest.mark.parametrize(
    ("limits", "says"),
    [
        pytest.param(ChangeLimits(entries=8), r"holds 9 files \(limit 8\)", id="files"),
        pytest.param(ChangeLimits(tree_bytes=300), r"take \d+ bytes \(limit 300\)", id="all files"),
    ],
)
def test_a_check_out_keeps_its_limits(still: Mirror, tmp_path: Path, limits: ChangeLimits, says: str) -> None:
    with pytest.raises(Refused, match=says):
        still.check_out(newest(still), tmp_path / "out", limits)
    assert not (tmp_path / "out").exists()


def test_a_check_out_goes_into_an_empty_folder_only(still: Mirror, tmp_path: Path) -> None:
    sha = newest(still)
    (tmp_path / "out").mkdir()
    still.check_out(sha, tmp_path / "out")
    with pytest.raises(Refused, match="out: the folder for the check-out is not empty"):
        still.check_out(sha, tmp_path / "out")


# --- differences ---------------------------------------------------------------------------------------------


def test_the_difference_shows_what_attributes_would_hide(mirror: Mirror, source: Path, tmp_path: Path) -> None:
    old = mirror.fetch("main")
    commit(source, {"a.py": "x = 1\nevil = 1\n", ".gitattributes": "*.py -diff\n"})
    new = mirror.fetch("main")
    for attribute in ("-diff", "diff=x"):  # as a git would obey them that reads attributes of commits
        write(mirror.path, {"info/attributes": f"*.py {attribute}\n"})
        shell(f"git config diff.x.command 'touch {tmp_path}/OWNED'; git config diff.x.textconv true", mirror.path)
        assert "+evil" not in shell(f"git diff {old} {new} -- a.py", mirror.path)  # plain git is fooled
        (tmp_path / "OWNED").unlink(missing_ok=True)
        assert b"+evil = 1" in mirror.diff(old, new)
        assert [change.added_lines for change in mirror.changed(old, new)][1] == ((2, "evil = 1"),)
        assert not (tmp_path / "OWNED").exists()


def test_replaced_objects_do_not_hide_a_change(mirror: Mirror, source: Path) -> None:
    old = mirror.fetch("main")
    commit(source, {"a.py": "evil = 1\n"})
    new = mirror.fetch("main")
    shell(f"git replace {new} $(git commit-tree {old}^{{tree}} -p {old} -m x)", mirror.path)
    assert shell(f"git diff {old} {new}", mirror.path) == ""  # plain git is fooled
    assert b"+evil = 1" in mirror.diff(old, new)


def test_changes_are_told_file_by_file(mirror: Mirror, source: Path) -> None:
    old = mirror.fetch("main")
    (source / "no-newline").unlink()
    (source / "crlf.txt").chmod(0o755)
    (source / "run.sh").unlink()
    os.symlink("a.py", source / "run.sh")
    changed: dict[str, str | bytes] = {
        "a.py": "x = 1\n--- b/x\n+++ b/y\n@@ -1 +1 @@\ny = 2\nz",
        "new": "n\n",
        "blob.bin": b"\0\n",
        "empty2": "",
    }
    new = commit(source, {**changed, "deep/er/ä b.txt": "", "latin": b"\xe4\n"})
    mirror.fetch("main")
    assert mirror.changed(old, new) == (
        Change("a.py", "modified", "100644", "100644",
               added_lines=((2, "--- b/x"), (3, "+++ b/y"), (4, "@@ -1 +1 @@"), (6, "z"))),
        Change("blob.bin", "modified", "100644", "100644", binary=True, added_lines=((1, "\0"),)),
        Change("crlf.txt", "modified", "100644", "100755"),
        Change("deep/er/ä b.txt", "modified", "100644", "100644", emptied=True, also=("deep/link",)),
        Change("empty2", "added", "", "100644"),
        Change("latin", "added", "", "100644", binary=True, added_lines=((1, "\ufffd"),)),
        Change("new", "added", "", "100644", added_lines=((1, "n"),)),
        Change("no-newline", "deleted", "100644", ""),
        Change("run.sh", "modified", "100755", "120000", added_lines=((1, "a.py"),)),
    )  # fmt: skip
    assert mirror.parent(new) == old


def test_one_git_answers_what_changed_and_shows_the_patch(mirror: Mirror, source: Path) -> None:
    old = mirror.fetch("main")
    new = commit(source, {"a.py": "x = 2\n"})
    mirror.fetch("main")
    mirror.tree(old)  # whose links are other names of what changed; whoever laid it out has asked for it
    with counting() as trace:
        assert [change.path for change in mirror.changed(old, new)] == ["a.py"]
        assert b"+x = 2" in mirror.diff(old, new)
    assert [verb for verb, _ in trace.calls.elements()] == ["diff-tree"]


def test_a_fetch_starts_one_git_where_there_are_no_submodules(mirror: Mirror, source: Path) -> None:
    mirror.fetch("main")
    commit(source, {"a.py": "x = 2\n"})
    with counting() as trace:
        mirror.fetch("main")
    assert [verb for verb, _ in trace.calls.elements()] == ["fetch"]


@pytest.mark.parametrize(
    "name", ['a "b"', "a\\t", "a\tb", "a\nb", "\x7f", "ä b", "\u2028", '"', "\\", "new\rline", "diff --git a"]
)
def test_a_name_is_read_as_it_is(mirror: Mirror, source: Path, name: str) -> None:
    old = mirror.fetch("main")
    new = commit(source, {name: "x\n", "z": "y\n"})
    mirror.fetch("main")
    added = {change.path: change.added_lines for change in mirror.changed(old, new)}
    assert added == {name: ((1, "x"),), "z": ((1, "y"),)}


def test_nothing_changed_is_nothing(still: Mirror) -> None:
    sha = newest(still)
    assert still.changed(sha, sha) == () and still.diff(sha, sha) == b""


# --- pushing -------------------------------------------------------------------------------------------------


def test_what_a_folder_holds_otherwise_is_told_and_nothing_there_is_started(tmp_path: Path) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 3\n"
    files = {"a.py": "A = 1\n", "b.py": "", "gone.py": "", "big.bin": pointer, ".gitignore": "*.log\n"}
    files[".gitattributes"] = "*.bin filter=lfs diff=lfs merge=lfs -text\n"
    folder = tmp_path / "clone"
    repository(folder, files)
    mirror = mirror_of(folder, tmp_path / "copy" / "clone.git")
    sha = mirror.fetch("main")
    assert mirror.differing(sha, folder) == []
    owned = tmp_path / "OWNED"
    (folder / ".git/config").write_text(
        f'[core]\n\tfsmonitor = "touch {owned}"\n[filter "x"]\n\tclean = touch {owned}\n\tprocess = touch {owned}\n'
    )
    write(folder, {".gitattributes": "* filter=x\n", "a.py": "A = 2\n", "big.bin": "big", "new.py": "", "x.log": ""})
    (folder / "gone.py").unlink()
    assert mirror.differing(sha, folder) == [".gitattributes", "a.py", "gone.py", "new.py"]
    assert not owned.exists()


@pytest.fixture
def forge(tmp_path: Path) -> Path:
    bare(tmp_path / "forge.git", {"a": "1"})
    return tmp_path / "forge.git"


def worker(tmp_path: Path, forge: Path, name: str) -> tuple[Mirror, str]:
    """A mirror of its own with a commit of its own."""
    mirror = Mirror(tmp_path / f"{name}.git", Remote(str(forge)))
    mirror.create()
    base = mirror.fetch("main")
    return mirror, shell(f"git commit-tree {base}^{{tree}} -p {base} -m {name}", mirror.path)


def test_the_first_of_two_wins_and_the_other_learns_the_winner(tmp_path: Path, forge: Path) -> None:
    (one, first), (other, second) = worker(tmp_path, forge, "one"), worker(tmp_path, forge, "other")
    one.push(first, "agent/x")
    with pytest.raises(Refused, match=f"agent/x is at {first}: somebody else moved it"):
        other.push(second, "agent/x")
    assert other.remote_head("agent/x") == first


def test_the_same_commit_again_is_done(tmp_path: Path, forge: Path) -> None:
    one, sha = worker(tmp_path, forge, "one")
    for _ in range(2):
        one.push(sha, "agent/x")
    one.push(sha, "agent/x", expected="1" * 40)  # it is where it should be, however it came there
    assert one.remote_head("agent/x") == sha


def test_a_branch_moves_only_from_where_it_is_expected(tmp_path: Path, forge: Path) -> None:
    (one, first), (other, second) = worker(tmp_path, forge, "one"), worker(tmp_path, forge, "other")
    one.push(first, "agent/x")
    with pytest.raises(Refused, match=f"agent/x is at {first}: somebody else moved it"):
        other.push(second, "agent/x", expected="1" * 40)
    other.push(second, "agent/x", expected=first)
    assert one.remote_head("agent/x") == second


def test_a_branch_that_was_deleted_meanwhile_is_not_brought_back(tmp_path: Path, forge: Path) -> None:
    one, sha = worker(tmp_path, forge, "one")
    with pytest.raises(Refused, match="is at no commit"):
        one.push(sha, "agent/x", expected=one.fetch("main"))


@pytest.mark.parametrize("branch", ["main", "feature/x", "refs/heads/agent/x", "agent/../main", "-f", "agent/a.lock"])
def test_only_our_own_branches_are_pushed_to(tmp_path: Path, forge: Path, branch: str) -> None:
    one, sha = worker(tmp_path, forge, "one")
    with pytest.raises(Refused, match="not a branch of ours; nothing was pushed"):
        one.push(sha, branch, expected=one.fetch("main"))


def test_a_forge_that_says_no_is_quoted(tmp_path: Path, forge: Path) -> None:
    hook = forge / "hooks/pre-receive"
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    one, sha = worker(tmp_path, forge, "one")
    with pytest.raises(Refused, match="the forge does not take agent/x: pre-receive hook declined"):
        one.push(sha, "agent/x")


def test_a_tag_of_the_same_name_does_not_stand_in_the_way(tmp_path: Path, forge: Path) -> None:
    shell("git tag agent/x main", forge)
    one, sha = worker(tmp_path, forge, "one")
    one.push(sha, "agent/x")
    assert shell("git rev-parse refs/heads/agent/x", forge) == sha == one.remote_head("agent/x")


PUSH = """
    import sys
    from pathlib import Path
    from sisimpur.shared.repo.mirror import Mirror
    from sisimpur.shared.repo.git import Remote

    Mirror(Path(sys.argv[1]), Remote(sys.argv[2])).push(sys.argv[3], "agent/x")
"""


def test_a_push_that_was_killed_can_be_asked_about_and_repeated(tmp_path: Path, forge: Path) -> None:
    one, sha = worker(tmp_path, forge, "one")
    program = snippet(PUSH, str(one.path), str(forge), sha)
    assert points(program) == ["push.sent", "push.ack"]
    for number in (1, 2):
        shell("git update-ref -d refs/heads/agent/x", forge)
        killed_at(number, program)
        assert one.remote_head("agent/x") == sha
        one.push(sha, "agent/x")


# --- a new base ----------------------------------------------------------------------------------------------

REF = "refs/attempts/7-x.a2"
LINES = [f"line {number}" for number in range(30)]
BEFORE: dict[str, str | bytes] = {"old.txt": "old\n"}
BASE: dict[str, str | bytes] = {
    "lines": "\n".join(LINES) + "\n",
    "both.py": "x = 1\n",
    "gone.py": "g = 1\n",
    "src/a": "a\n",
}


@pytest.fixture
def based(tmp_path: Path) -> Mirror:
    """The mirror of a target with two commits on main, the newer with BASE."""
    repository(tmp_path / "source", BEFORE)
    commit(tmp_path / "source", BASE)
    return mirror_of(tmp_path / "source", tmp_path / "m.git")


def line(number: int, text: str) -> dict[str, str | bytes]:
    return {"lines": "\n".join([*LINES[:number], text, *LINES[number + 1 :]]) + "\n"}


def our_change(mirror: Mirror, files: dict[str, str | bytes], *commands: str) -> str:
    """A commit on top of main that is in the mirror and not on main."""
    source = Path(mirror.remote.url)
    shell("git checkout -q -b work", source)
    for command in commands:
        shell(command, source)
    sha = commit(source, files)
    shell("git checkout -q main", source)
    mirror.fetch("work")
    return sha


def their_change(mirror: Mirror, files: dict[str, str | bytes], *commands: str) -> str:
    """The owner's main goes on -> its newest commit."""
    source = Path(mirror.remote.url)
    commit(source, files)
    for command in commands:
        shell(command, source)
    return mirror.fetch("main")


EMPTY = "git commit -q --allow-empty -m"
HISTORIES = {
    "one commit": (),
    "many commits": tuple(f"{EMPTY} {number}" for number in range(5)),
    "a side branch was merged": (
        f"git checkout -q -b side main~1; {EMPTY} s; git checkout -q main; git merge -q --no-ff side",
    ),
    "a side branch from before the old base": (
        "git checkout -q -b side main~2; echo s > side; git add side; git commit -qm s",
        "git checkout -q main; git merge -q --no-ff side -m m",
    ),
    "the old base came in by the second parent": (
        f"git checkout -q -b trunk main~2; {EMPTY} t; git merge -q --no-ff main -m m; git branch -qM trunk main",
    ),
    "merged back and forth": (
        f"git checkout -q -b side main~1; {EMPTY} s; git checkout -q main; {EMPTY} t; git branch was",
        "git merge -q --no-ff side -m m; git checkout -q side; git merge -q --no-ff was -m n",
        "git checkout -q main; git merge -q --no-ff side -m o",
    ),
    "our own work branch was begun and dropped": ("git merge -q -s ours --no-ff work~1 -m m",),
    "a merge that kept nothing of a side branch": (
        "git checkout -q -b side main~1; echo 9 > lines; git commit -qam s",
        "git checkout -q main; git merge -q -s ours side -m m",
    ),
}


@pytest.mark.parametrize("history", HISTORIES.values(), ids=HISTORIES)
def test_a_change_is_made_again_on_top_of_whatever_history(
    based: Mirror, tmp_path: Path, history: tuple[str, ...]
) -> None:
    ours = our_change(based, {**line(2, "ours"), "new/file": "n\n"}, "git rm -q gone.py; chmod +x both.py")
    base = based.parent(ours)
    onto = their_change(based, line(25, "theirs"), *history)
    made = based.rebased(ours, onto, REF, NOW)
    assert isinstance(made, Rebased)
    assert (based.parent(made.sha), based.attempt(REF)) == (onto, made.sha)
    assert [c.path for c in based.changed(onto, made.sha)] == [c.path for c in based.changed(base, ours)]
    picked = tmp_path / "source"  # as git itself does it, in a work tree
    shell(f"git checkout -q {onto}; git cherry-pick {ours}", picked)
    assert based.tree_id(made.sha) == shell("git rev-parse HEAD^{tree}", picked)
    assert shell(f"git merge-base --all {ours} {onto}", based.path) == base


def test_it_keeps_its_people_and_its_words_and_gets_a_new_date(based: Mirror) -> None:
    first = our_change(based, line(2, "ours"))
    head = shell(f"git cat-file commit {first}", based.path).partition("author")[0]
    words = (
        "author Ä <a@x> 1700000000 +0530\ncommitter C > <c@x> 1700000001 -0800\nencoding ISO-8859-1\n"
        "gpgsig -----BEGIN\n author not this <x@x> 1 +0000\n -----END\n\nsubject\n\nauthor in the text\n\n \n"
    )
    (based.path / "words").write_bytes(f"{head}{words}".encode() + b"\xe4\n")
    ours = shell("git hash-object -t commit -w --literally words", based.path)
    made = based.rebased(ours, their_change(based, line(25, "theirs")), REF, NOW)
    assert isinstance(made, Rebased)
    assert based_text(based, made.sha) == (
        "author Ä <a@x> 1795163400 +0000\ncommitter C > <c@x> 1795163400 +0000\nencoding ISO-8859-1\n"
        "\nsubject\n\nauthor in the text\n\n \n".encode()
        + b"\xe4\n"
    )


def based_text(mirror: Mirror, sha: str) -> bytes:
    """The commit object without its tree and its parent."""
    shell(f"git cat-file commit {sha} > words", mirror.path)
    return (mirror.path / "words").read_bytes().split(b"\n", 2)[2]


def test_what_is_on_top_already_is_the_same_commit(based: Mirror) -> None:
    ours, onto = our_change(based, line(2, "ours")), based.fetch("main")
    assert based.rebased(ours, onto, REF, NOW) == Rebased(ours) == based.rebased(ours, onto, REF, NOW)
    assert based.attempt(REF) == ours == based.start_for(ours, onto)


@pytest.mark.parametrize(
    ("files", "ours", "theirs", "paths"),
    [
        pytest.param({"both.py": "x = 2\n"}, "", "echo 3 > both.py", ("both.py",), id="the same line"),
        pytest.param({"ä b": "1"}, "", "echo 2 > 'ä b'", ("ä b",), id="both created it"),
        pytest.param({"both.py": "x = 2\n"}, "", "git rm -q both.py", ("both.py",), id="changed here, deleted there"),
        pytest.param({}, "git rm -q both.py", "echo 3 > both.py", ("both.py",), id="deleted here, changed there"),
        pytest.param(line(2, "ours"), "", "git mv lines .env", (".env",), id="renamed there"),
        pytest.param({"src/new": "n\n"}, "", "git mv src lib", ("lib/new",), id="its folder renamed there"),
        pytest.param(
            {".gitattributes": "* merge=union\n", "lines": "ours\n"},
            "",
            "echo '* merge=union' > .gitattributes; echo theirs > lines",
            ("lines",),
            id="attributes that ask for both",
        ),
        pytest.param({"both.py": b"\0\1"}, "", "printf '\\0\\2' > both.py", ("both.py",), id="binary"),
    ],
)
def test_a_conflict_names_the_files_and_leaves_no_reference(
    based: Mirror, files: dict[str, str | bytes], ours: str, theirs: str, paths: tuple[str, ...]
) -> None:
    sha = our_change(based, files, *([ours] if ours else []))
    onto = their_change(based, {}, f"{theirs}; git add -A; git commit -qm t")
    assert based.rebased(sha, onto, REF, NOW) == Conflict(paths)
    assert based.attempt(REF) is None is based.start_for(sha, onto)


def test_the_named_files_of_a_conflict_are_bounded(based: Mirror) -> None:
    many: dict[str, str | bytes] = {f"f{number:03}": "ours\n" for number in range(70)}
    ours = our_change(based, many)
    made = based.rebased(ours, their_change(based, dict.fromkeys(many, "theirs\n")), REF, NOW)
    assert made == Conflict(tuple(sorted(many)[:50]))


def test_our_rename_takes_their_lines_along(based: Mirror) -> None:
    ours = our_change(based, {}, "git mv lines moved")
    onto = their_change(based, line(25, "theirs"))
    made = based.rebased(ours, onto, REF, NOW)
    assert isinstance(made, Rebased)
    assert [change.path for change in based.changed(onto, made.sha)] == ["lines", "moved"]
    assert based.read(made.sha, "moved") == str(line(25, "theirs")["lines"]).encode()


def test_a_branch_that_was_rewritten_is_a_conflict_without_files(based: Mirror) -> None:
    ours = our_change(based, line(2, "ours"))
    onto = their_change(based, {}, "git reset -q --hard main~2; git commit -q --allow-empty -m other")
    assert based.rebased(ours, onto, REF, NOW) == Conflict()
    assert based.start_for(ours, onto) is None


@pytest.mark.parametrize(
    "how", ["git cherry-pick work", "git merge -q --squash work; git commit -qm s", "git merge -q work"]
)
def test_a_change_that_is_there_already_is_told(based: Mirror, how: str) -> None:
    ours = our_change(based, line(2, "ours"))
    onto = their_change(based, line(25, "theirs"), how)
    assert based.rebased(ours, onto, REF, NOW) == AlreadyThere()
    assert (based.attempt(REF), based.start_for(ours, onto)) == (None, onto)


def test_only_a_commit_with_one_parent_is_brought_up_to_date(based: Mirror) -> None:
    onto = their_change(based, line(25, "theirs"))
    root = shell(f"git rev-list --max-parents=0 {onto}", based.path)
    merge = shell(f"git commit-tree {onto}^{{tree}} -p {onto} -p {root} -m m", based.path)
    for sha, parents in ((root, 0), (merge, 2)):
        with pytest.raises(Refused, match=f"{sha} has {parents} parents"):
            based.rebased(sha, onto, REF, NOW)


def test_a_reference_that_is_taken_is_never_moved(based: Mirror) -> None:
    ours, base = our_change(based, line(2, "ours")), based.fetch("main")
    assert based.rebased(ours, base, REF, NOW) == Rebased(ours)
    with pytest.raises(Refused, match=f"{REF} is at {ours} already"):
        based.rebased(ours, their_change(based, line(25, "theirs")), REF, NOW)
    assert based.attempt(REF) == ours


def test_the_same_files_on_another_parent_are_another_commit(based: Mirror) -> None:
    ours = our_change(based, line(2, "ours"))
    made = based.rebased(ours, their_change(based, line(25, "theirs")), REF, NOW)
    assert isinstance(made, Rebased)
    with pytest.raises(Refused, match=f"{REF} is at {made.sha} already"):
        based.rebased(ours, their_change(based, {}), REF, NOW)


REBASE = """
    import sys
    from datetime import UTC, datetime
    from pathlib import Path
    from sisimpur.shared.repo.mirror import Mirror
    from sisimpur.shared.repo.git import Remote

    path, ours, onto, ref, hour = sys.argv[1:]
    now = datetime(2026, 11, 20, int(hour), tzinfo=UTC)
    print(Mirror(Path(path), Remote("/nowhere")).rebased(ours, onto, ref, now))
"""


def test_killed_anywhere_and_repeated_later_is_one_commit(based: Mirror) -> None:
    ours = our_change(based, line(2, "ours"))
    onto = their_change(based, line(25, "theirs"))
    passed = points(snippet(REBASE, str(based.path), ours, onto, REF, "8"))
    assert passed == ["rebase.written", "ref.update"]
    for number, _ in enumerate(passed, 1):
        ref = f"refs/attempts/7-x.killed{number}"
        killed_at(number, snippet(REBASE, str(based.path), ours, onto, ref, "8"))
        stands = based.attempt(ref)
        assert bool(stands) is (number == 2)
        based.create()
        made = based.rebased(ours, onto, ref, NOW)
        assert isinstance(made, Rebased)
        assert stands in (None, made.sha) and based.attempt(ref) == made.sha


def test_a_correction_starts_from_both_changes_and_leaves_no_trace(based: Mirror, tmp_path: Path) -> None:
    ours = our_change(based, {"both.py": "x = 2\n", "new": "n\n"})
    onto = their_change(based, line(25, "theirs"))
    references = shell("git for-each-ref", based.path)
    start = based.start_for(ours, onto)
    assert start and start == based.start_for(ours, onto)
    based.check_out(start, tmp_path / "out")
    assert (tmp_path / "out/both.py").read_text() == "x = 2\n"
    assert "theirs" in (tmp_path / "out/lines").read_text() and (tmp_path / "out/new").exists()
    assert shell("git for-each-ref", based.path) == references


def test_a_merge_that_was_tidied_away_is_made_again(based: Mirror, tmp_path: Path) -> None:
    ours, onto = our_change(based, line(2, "ours")), their_change(based, line(25, "theirs"))
    start = based.start_for(ours, onto)
    based.close()
    shell("git prune --expire=now", based.path)  # no reference holds it
    assert based.start_for(ours, onto) == start
    based.check_out(str(start), tmp_path / "out")


WHO = "somebody <somebody@localhost>"


def test_two_branches_are_joined_without_a_work_tree(based: Mirror) -> None:
    ours, theirs = our_change(based, line(2, "ours")), their_change(based, line(25, "theirs"))
    made = based.joined(ours, theirs, WHO, "Merge main", NOW)
    assert isinstance(made, str)
    assert shell(f"git log -1 --format='%P|%an|%ce|%s|%ct' {made}", based.path).strip() == (
        f"{ours} {theirs}|somebody|somebody@localhost|Merge main|{int(NOW.timestamp())}"
    )
    text = (based.read(made, "lines") or b"").decode()
    assert "ours" in text and "theirs" in text
    assert based.is_ancestor(ours, made) and based.is_ancestor(theirs, made)
    assert made not in shell("git for-each-ref", based.path)


def test_branches_that_do_not_go_together_name_the_files(based: Mirror) -> None:
    ours, theirs = our_change(based, {"both.py": "x = 2\n"}), their_change(based, {"both.py": "x = 3\n"})
    assert based.joined(ours, theirs, WHO, "Merge main", NOW) == Conflict(("both.py",))


def test_all_that_is_on_a_branch_becomes_one_change(based: Mirror) -> None:
    onto = based.fetch("main")
    our_change(based, line(2, "ours"))
    shell("git checkout -q work", Path(based.remote.url))
    commit(Path(based.remote.url), {"new": "n\n"})
    tip = based.fetch("work")
    made = based.gathered(tip, onto, REF, WHO, "All of it\n\nTask: 7-x\n", NOW)
    assert isinstance(made, Rebased)
    assert (based.attempt(REF), based.parent(made.sha)) == (made.sha, onto)
    assert based.tree_id(made.sha) == based.tree_id(tip)
    assert {change.path for change in based.changed(onto, made.sha)} == {"lines", "new"}
    assert based.gathered(tip, onto, REF, WHO, "All of it, later", LATER) == made, "the one that stands is taken"


def test_what_is_not_up_to_date_would_undo_something_and_is_refused(based: Mirror) -> None:
    tip, onto = our_change(based, line(2, "ours")), their_change(based, line(25, "theirs"))
    with pytest.raises(Refused, match="has to be brought up to date first"):
        based.gathered(tip, onto, REF, WHO, "All of it", NOW)
    assert based.attempt(REF) is None


def test_a_branch_that_has_nothing_of_its_own_is_told(based: Mirror) -> None:
    onto = based.fetch("main")
    tip = our_change(based, {}, f"{EMPTY} nothing")
    assert based.gathered(tip, onto, REF, WHO, "All of it", NOW) == AlreadyThere()


def test_who_is_part_of_whose_history(based: Mirror) -> None:
    ours, base = our_change(based, line(2, "ours")), based.fetch("main")
    assert based.is_ancestor(base, ours) and based.is_ancestor(base, base)
    assert not based.is_ancestor(ours, base)
    with pytest.raises(CommandFailed, match="merge-base"):
        based.is_ancestor("1" * 40, base)


def test_the_same_files_have_the_same_tree_whatever_the_commit(based: Mirror) -> None:
    one, other = based.fetch("main"), their_change(based, {})
    assert one != other and based.tree_id(one) == based.tree_id(other)
    assert based.tree_id(other) != based.tree_id(their_change(based, line(25, "theirs")))


# --- attempts ------------------------------------------------------------------------------------------------


def test_an_attempt_that_left_no_commit_has_none(still: Mirror) -> None:
    assert still.attempt("refs/attempts/x.a1") is None


def test_a_booked_commit_gets_its_reference_back_if_it_is_still_there(mirror: Mirror) -> None:
    sha = mirror.fetch("main")
    assert mirror.restore("refs/attempts/x.a1", sha)
    assert mirror.attempt("refs/attempts/x.a1") == sha
    assert not mirror.restore("refs/attempts/x.a2", "1" * 40)
    assert mirror.attempt("refs/attempts/x.a2") is None


@pytest.mark.parametrize(
    "ref", ["refs/heads/main", "refs/attempts/../x", "refs/attempts/a b", "refs/attempts/x\n", "-x"]
)
def test_only_references_of_attempts_are_asked(still: Mirror, ref: str) -> None:
    with pytest.raises(Refused, match="not the reference of an attempt"):
        still.attempt(ref)
    with pytest.raises(Refused, match="not the reference of an attempt"):
        still.rebased(newest(still), newest(still), ref, NOW)
