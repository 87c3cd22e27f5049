"""Our patterns and our names mean to git what they mean to us: compared with git itself."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sisimpur.shared.model.naming import attempt_ref, branch_name, is_task_id
from sisimpur.shared.model.scope import matches
from sisimpur.shared.repo.committer_harvest import GitIgnore
from tests.repositories import ENVIRONMENT, shell, write

WORD = st.text("abA*?", min_size=1, max_size=4) | st.sampled_from(["**", "[ab]", "[!a]", "[b-a]", "\\*", "\\a"])
PATTERN = st.builds(
    lambda head, words, end: head + "/".join(words) + end,
    st.sampled_from(["", "/"]),
    st.lists(WORD, min_size=1, max_size=3),
    st.sampled_from(["", "/"]),
)
PATH = st.lists(st.text("abA*", min_size=1, max_size=3), min_size=1, max_size=4).map("/".join)
IDS = st.from_regex(r"[a-z0-9][a-z0-9._-]{0,79}", fullmatch=True).filter(is_task_id)


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        shell("git init -q .", Path(name))
        yield Path(name)


def ignored_by_git(folder: Path, files: dict[str, str], paths: list[str], *options: str) -> set[str]:
    """The paths that git would leave out; none of them exists, git takes the last part for a file."""
    for old in folder.rglob(".gitignore"):
        old.unlink()
    write(folder, files)
    argv = ["git", *options, "check-ignore", "--no-index", "--stdin", "-z"]
    data = b"".join(path.encode() + b"\0" for path in paths)
    done = subprocess.run(argv, cwd=folder, env=ENVIRONMENT, input=data, capture_output=True, timeout=20)
    return {path.decode() for path in done.stdout.split(b"\0") if path}


def ignored_by_us(files: dict[str, str], paths: list[str]) -> set[str]:
    """Asked from the top down, as the walk does."""
    asked = GitIgnore({name.rpartition("/")[0]: text.encode() for name, text in files.items()})
    found = set()
    for path in paths:
        parts = path.split("/")
        above = ["/".join(parts[:end]) for end in range(1, len(parts))]
        if any(asked(folder, True) for folder in above) or asked(path, False):
            found.add(path)
    return found


@given(PATTERN, st.lists(PATH, min_size=1, max_size=8))
@example("a/**", ["a", "a/b", "b/a/b"])
@example("**/a", ["a", "b/a", "b/a/b"])
@example("a**b", ["ab", "a/b", "aab"])
@example("/a/", ["a", "a/b"])
def test_a_pattern_covers_what_git_would_ignore(folder: Path, pattern: str, paths: list[str]) -> None:
    covered = {path for path in paths if matches(path, [pattern])}
    assert covered == ignored_by_git(folder, {".gitignore": pattern + "\n"}, paths, "-c", "core.ignoreCase=true")


LINES = st.lists(st.sampled_from(["", "!"]).flatmap(lambda no: PATTERN.map(lambda line: no + line)), max_size=4)


@given(LINES, LINES, st.lists(PATH, min_size=1, max_size=8))
@example(["*", "!a/"], [], ["a/b"])
@example(["a/", "!a/b"], [], ["a/b"])
@example(["a"], ["!a"], ["a/a", "a/b", "b/a"])
def test_gitignore_files_hide_what_git_would_ignore(
    folder: Path, top: list[str], inner: list[str], paths: list[str]
) -> None:
    paths = [path for path in paths if path != "a"]  # that one exists as a folder
    files = {".gitignore": "\n".join(top) + "\n", "a/.gitignore": "\n".join(inner) + "\n"}
    assert ignored_by_us(files, paths) == ignored_by_git(folder, files, paths)


@pytest.mark.parametrize(
    ("line", "path", "hidden"),
    [
        pytest.param("#a", "#a", False, id="a remark"),
        pytest.param("\\#a", "#a", True, id="an escaped remark"),
        pytest.param("\\!a", "!a", True, id="an escaped exception"),
        pytest.param("a   ", "a", True, id="blanks at the end"),
        pytest.param("*.log\r", "x.log", True, id="a file from Windows"),
        pytest.param("a\\ ", "a ", True, id="an escaped blank at the end"),
        pytest.param("A", "a", False, id="another case"),
        pytest.param("nothing", "x/__pycache__/a.pyc", True, id="what programs leave behind"),
        pytest.param("!.aider.chat.history.md", ".aider.chat.history.md", True, id="what our engine leaves behind"),
    ],
)
def test_lines_of_a_gitignore_file(line: str, path: str, hidden: bool) -> None:
    assert ignored_by_us({".gitignore": line + "\n"}, [path]) == ({path} if hidden else set())


def test_a_gitignore_file_that_is_not_text_or_too_long_hides_nothing_by_accident() -> None:
    assert not GitIgnore({"": b"\xff\xfe*\n"})("a", False)
    assert not GitIgnore({"": b"a\n" * 60_000})("a", False)


def git_accepts(*arguments: str) -> bool:
    done = subprocess.run(["git", "check-ref-format", *arguments], env=ENVIRONMENT, capture_output=True, timeout=20)
    return done.returncode == 0


@given(IDS, st.text(max_size=300))
@example("a", ".lock")
@example("a.b", "-f")
@example("a", "@{-1}")
def test_git_accepts_every_branch_that_we_name(task_id: str, title: str) -> None:
    assert git_accepts("--branch", branch_name(task_id, title))


@given(IDS, st.integers(1, 999))
def test_git_accepts_every_reference_of_an_attempt(task_id: str, attempt: int) -> None:
    assert git_accepts(attempt_ref(task_id, attempt))
