"""The git that is kept: it never answers with what was, and answers that cannot change are asked for once."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from sisimpur.shared.repo.objects import Repository, Unchanging
from tests.repositories import shell


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    path = tmp_path / "a.git"
    shell(f"git init -q --bare -b main {path}", tmp_path)
    return Repository(path)


def commit(repository: Repository, text: str) -> str:
    """Made by another git."""
    tree = shell("git mktree </dev/null", repository.path)
    return shell(f"git commit-tree {tree} -m {text}", repository.path)


MOVES: dict[str, Callable[[Repository, str, str], object]] = {
    "moved": lambda at, _, new: shell(f"git update-ref refs/heads/main {new}", at.path),
    "packed, then moved": lambda at, _, new: shell(
        f"git pack-refs --all --prune && git update-ref refs/heads/main {new}", at.path
    ),
    "moved, then packed": lambda at, _, new: shell(
        f"git update-ref refs/heads/main {new} && git pack-refs --all --prune", at.path
    ),
    "removed, and made anew": lambda at, _, new: shell(
        f"git update-ref -d refs/heads/main && git update-ref refs/heads/main {new}", at.path
    ),
    "moved, and all repacked": lambda at, _, new: shell(
        f"git update-ref refs/heads/main {new} && git repack -q -a -d && git prune-packed", at.path
    ),
}


@pytest.mark.parametrize("how", MOVES)
def test_a_branch_that_another_git_has_moved_is_never_seen_where_it_was(repository: Repository, how: str) -> None:
    for number in range(3):
        old, new = (commit(repository, f"{number}-{which}") for which in ("old", "new"))
        shell(f"git update-ref refs/heads/main {old}", repository.path)
        assert repository.commit("refs/heads/main") == old
        MOVES[how](repository, old, new)
        assert repository.commit("refs/heads/main") == new
    shell("git update-ref -d refs/heads/main", repository.path)
    assert repository.commit("refs/heads/main") is None


def test_a_git_that_was_killed_is_followed_by_another(repository: Repository) -> None:
    sha = commit(repository, "one")
    assert repository.commit(sha) == sha
    assert repository._git is not None
    os.kill(repository._git._process.pid, signal.SIGKILL)
    assert repository.commit(sha) == sha


def test_what_a_commit_was_made_on_is_asked_for_once(repository: Repository) -> None:
    sha = commit(repository, "one")
    assert repository.parents([sha]) == {sha: ()}
    assert repository.parents(["1" * 40]) == {}
    repository.close()
    assert repository.parents([sha]) == {sha: ()}
    assert repository._git is None


def test_answers_are_asked_for_once_while_they_fit() -> None:
    asked: list[str] = []

    def told(question: str) -> str:
        return answers.once((question,), lambda: asked.append(question) or question * 4, len)  # type: ignore[func-returns-value]

    answers = Unchanging(most=10)
    assert [told(one) for one in "abab"] == ["aaaa", "bbbb", "aaaa", "bbbb"] and asked == ["a", "b"]
    told("a")
    told("c")  # b was asked for longest ago
    assert [told(one) for one in "ac"] == ["aaaa", "cccc"] and asked == ["a", "b", "c"]
    told("b")
    assert asked == ["a", "b", "c", "b"]
    assert answers.once(("long",), lambda: "x" * 11, len) == "x" * 11
    assert told("b") == "bbbb"
