"""Which paths a task may touch."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.shared.model.change import usually_holds_keys
from sisimpur.shared.model.scope import Scope, is_plain_path, judge, matches, permits, reads_as_dot_git

NAMES = st.text("abAB.-_ é*?[]!", min_size=1, max_size=6)
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)


@pytest.mark.parametrize(
    ("pattern", "path", "covered"),
    [
        pytest.param("src/a.py", "src/a.py", True, id="the path itself"),
        pytest.param("src", "src/deep/a.py", True, id="a folder covers what is in it"),
        pytest.param("a.py", "src/deep/a.py", True, id="without a slash: at any depth"),
        pytest.param("/a.py", "src/a.py", False, id="with a slash: from the top"),
        pytest.param("src/*.py", "src/a.py", True, id="a star"),
        pytest.param("src/*.py", "src/deep/a.py", False, id="a star stays in its folder"),
        pytest.param("src/**/a.py", "src/a.py", True, id="two stars: no folder"),
        pytest.param("src/**/a.py", "src/x/y/a.py", True, id="two stars: some folders"),
        pytest.param("src/**", "src/x/y", True, id="two stars at the end: all that is inside"),
        pytest.param("src/**", "src", False, id="two stars at the end: not the folder's own name"),
        pytest.param("**", "a", True, id="everything"),
        pytest.param("a**b", "a/b", False, id="two stars within a name are one star"),
        pytest.param("docs/", "docs/a.md", True, id="a slash at the end: what is in the folder"),
        pytest.param("docs/", "docs", False, id="a slash at the end: not a file of that name"),
        pytest.param("[a-c].py", "b.py", True, id="a range"),
        pytest.param("[!a-c].py", "b.py", False, id="not in the range"),
        pytest.param("[z-a].py", "b.py", False, id="a range from high to low"),
        pytest.param("[z-a].py", "z.py", True, id="of which git takes the first letter"),
        pytest.param("[ab", "[ab", True, id="a bracket that is not closed is itself"),
        pytest.param("a[!]", "a[!]", True, id="one that excludes nothing is itself"),
        pytest.param("a[]", "a[]", True, id="one that holds nothing is itself"),
        pytest.param("a[!]", "ab", False, id="one that excludes nothing covers nothing else"),
        pytest.param(r"\*.py", "*.py", True, id="an escaped star is a star"),
        pytest.param(r"\*.py", "a.py", False, id="an escaped star is only a star"),
        pytest.param(".github", "src/.GitHub/x.yml", True, id="case does not matter"),
        pytest.param("café", "cafe\u0301/x", True, id="nor how an accent is composed"),
        pytest.param("a", "ab", False, id="a name is compared whole"),
        pytest.param("", "a", False, id="nothing covers nothing"),
        pytest.param("/", "a", False, id="a slash alone covers nothing"),
    ],
)
def test_patterns_are_gits(pattern: str, path: str, covered: bool) -> None:
    assert matches(path, [pattern]) == (pattern if covered else None)


def test_the_first_pattern_that_covers_is_named() -> None:
    assert matches("src/a.py", ["docs", "src/**", "*.py"]) == "src/**"


LOOK_ALIKES = [
    pytest.param("docs/", "d\u043ecs/a.md", id="a letter of another script"),
    pytest.param("docs/", "docs\u2215a.md", id="a sign that looks like a slash"),
    pytest.param("strasse/", "stra\u00dfe/a.md", id="one letter as two"),
    pytest.param("*.py", "a.\uff50y", id="a wide letter"),
]


@pytest.mark.parametrize(("pattern", "path"), LOOK_ALIKES)
def test_a_look_alike_is_forbidden_with_what_it_looks_like_and_not_allowed_with_it(pattern: str, path: str) -> None:
    assert matches(path, [pattern]) == pattern
    assert judge(path, True, Scope(guards=(pattern,))) == f"the owner guards {pattern}"
    assert judge(path, True, Scope(allow=(pattern,)))


@pytest.mark.parametrize(("pattern", "path"), [("docs/*.md", "docs/\u00bd.md"), ("?.md", "\u00df.md")])
def test_what_is_covered_as_it_is_written_is_forbidden_however_it_folds(pattern: str, path: str) -> None:
    assert permits(path, [pattern])
    assert matches(path, [pattern]) == pattern


@given(PATHS, st.lists(PATHS, max_size=3))
def test_what_is_allowed_is_never_more_than_what_would_be_forbidden(path: str, patterns: list[str]) -> None:
    assert not permits(path, patterns) or matches(path, patterns)


def test_no_look_alike_of_a_template_shows_its_keys() -> None:
    assert usually_holds_keys(".env.ex\u0430mple")
    assert not usually_holds_keys(".env.example")


@pytest.mark.parametrize("pattern", ["*a" * 100 + "b", "**/a*/" * 40 + "b", "[a-z]*" * 60 + "0", "?*" * 100 + "b"])
def test_no_pattern_of_a_stranger_takes_long(pattern: str) -> None:
    began = time.process_time()
    matches("/".join(["a" * 250] * 40), [pattern])
    assert time.process_time() - began < 0.5


@given(PATHS)
def test_a_plain_path_is_covered_by_its_folders_and_by_everything(path: str) -> None:
    escaped = "".join(f"\\{c}" if c in "*?[]!" else c for c in path)
    folders = escaped.split("/")
    for end in range(1, len(folders) + 1):
        assert matches(path, ["/" + "/".join(folders[:end])])
    assert matches(path, ["**"])


@given(st.text(max_size=20), PATHS)
def test_no_pattern_is_an_error(pattern: str, path: str) -> None:
    assert matches(path, [pattern]) in (pattern, None)


@pytest.mark.parametrize(
    "path",
    [
        pytest.param("", id="empty"),
        pytest.param("/etc/passwd", id="from the root"),
        pytest.param("../x", id="out of the tree"),
        pytest.param("a/../../x", id="out of the tree in the middle"),
        pytest.param("./a", id="another spelling"),
        pytest.param("a//b", id="another spelling: two slashes"),
        pytest.param("a/", id="a folder"),
        pytest.param("~/.bashrc", id="a shell's home"),
        pytest.param("-rf", id="an option"),
        pytest.param("src/--exec=x", id="an option in a folder"),
        pytest.param("a\\b", id="a folder on Windows"),
        pytest.param("a\nb", id="two lines"),
        pytest.param("a\0b", id="NUL"),
        pytest.param("a\u202eb", id="written from right to left"),
        pytest.param("a\ud800", id="half a character"),
        pytest.param(" a", id="begins with a blank"),
        pytest.param("a ", id="ends with a blank"),
        pytest.param("a.", id="ends with a dot"),
        pytest.param(".git/config", id="git's own folder"),
        pytest.param("x/.GIT/config", id="git's own folder in capitals"),
        pytest.param("x/git~1", id="git's own folder on old Windows"),
        pytest.param("x/.git::$INDEX_ALLOCATION", id="git's own folder as a stream"),
        pytest.param("a" * 401, id="401 bytes"),
    ],
)
def test_what_no_path_of_a_task_may_be(path: str) -> None:
    assert not is_plain_path(path)


@pytest.mark.parametrize("path", ["a", "src/a b.py", ".gitignore", ".github/x", "docs/näme.md", "a" * 400, "x.git/a"])
def test_ordinary_paths_are_plain(path: str) -> None:
    assert is_plain_path(path)


@pytest.mark.parametrize("name", [".git", ".GIT", ".git.", ".git ", ". git".replace(" ", "\u200c"), "GIT~1", ".git:x"])
def test_every_spelling_that_some_system_reads_as_git_is_known(name: str) -> None:
    assert reads_as_dot_git(name)


@pytest.mark.parametrize("name", ["git", ".gitignore", ".github", "git~10", "x.git"])
def test_other_names_are_not_git(name: str) -> None:
    assert not reads_as_dot_git(name)


NAMED = Scope(files=("src/a.py", "web/x.html"), new_files=("src/new.py",), allow=("src", "web"), guards=("web/**",))


@pytest.mark.parametrize(
    ("path", "is_new", "reason"),
    [
        pytest.param("src/a.py", False, None, id="a file that it edits"),
        pytest.param("src/new.py", True, None, id="a file that it creates"),
        pytest.param("web/x.html", False, "the owner guards web/**", id="no means no, also for a named file"),
        pytest.param("WEB/y.html", True, "the owner guards web/**", id="no means no, also in capitals"),
        pytest.param("src/b.py", False, "the task does not name it", id="another file"),
        pytest.param("src/a.py", True, "the task edits it, but it does not exist yet", id="an edit that creates"),
        pytest.param("src/new.py", False, None, id="a file that it creates, and that came with another merge"),
        pytest.param("docs/a.md", True, "it lies outside of what tasks may touch (src, web)", id="out of bounds"),
        pytest.param("src/a\nb", True, "its name is not plain text", id="a name that is two lines"),
    ],
)
def test_judgement(path: str, is_new: bool, reason: str | None) -> None:
    assert judge(path, is_new, NAMED) == reason


@given(PATHS, st.booleans())
def test_a_guard_beats_everything(path: str, is_new: bool) -> None:
    wide = Scope(files=(path,), new_files=(path,), allow=("**",), guards=("**",))
    assert judge(path, is_new, wide) is not None


def test_a_task_that_names_no_files_may_touch_what_the_target_allows() -> None:
    assert judge("src/any.py", True, Scope(allow=("src",))) is None
    assert judge("docs/any.md", True, Scope(allow=("src",))) is not None
