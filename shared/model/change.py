"""What a commit changes, and the decision whether a task's commit may stand."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from shared.model.scope import Scope, judge

EXECUTABLE, LINK, SUBMODULE = "100755", "120000", "160000"
MARKERS = ("<<<<<<< ", ">>>>>>> ")  # what a failed edit or merge leaves behind


class HasPath(Protocol):
    """One file of a commit."""

    @property
    def path(self) -> str: ...


@dataclass(frozen=True)
class Change:
    """One path of the difference between two commits. Modes are git's, empty where there is no file."""

    path: str
    kind: Literal["added", "modified", "deleted"]
    mode_old: str
    mode_new: str
    binary: bool = False  # holds a NUL byte, or is not UTF-8
    emptied: bool = False  # had content, has none
    added_lines: tuple[tuple[int, str], ...] = ()  # number in the new file, text

    @property
    def becomes_executable(self) -> bool:
        return self.mode_new == EXECUTABLE != self.mode_old

    @property
    def is_link(self) -> bool:
        return self.mode_new == LINK


@dataclass(frozen=True)
class ChangeLimits:
    """How much of a folder is looked at, and how much one commit may change."""

    files: int = 100  # changed by one commit
    added_lines: int = 4_000
    added_bytes: int = 1_000_000
    changed_bytes: int = 20_000_000  # the whole content of the changed files
    entries: int = 100_000  # files and folders of a tree
    file_bytes: int = 50_000_000  # one file
    tree_bytes: int = 2_000_000_000  # all files
    depth: int = 60  # folders in folders
    seconds: float = 60.0  # for one walk


def refusal(changes: Sequence[Change], scope: Scope, limits: ChangeLimits, tracked: Iterable[str]) -> str | None:
    """Why this commit may not stand, naming file and limit; None: it may. `tracked`: the paths of the base."""
    if len(changes) > limits.files:
        return f"{len(changes)} files changed (limit {limits.files})"
    for change in changes:
        if reason := judge(change.path, change.kind == "added", scope) or _of_one(change, scope):
            return f"{change.path}: {reason}"
    return _too_much(changes, limits) or _collision(changes, tracked)


def _of_one(change: Change, scope: Scope) -> str | None:
    """What no task may do to a file that it may otherwise touch."""
    reasons = {
        "it is deleted, but the task does not name it": change.kind == "deleted" and change.path not in scope.files,
        "it is a symbolic link": change.is_link,
        "it became executable": change.becomes_executable,
        "it is binary or not UTF-8 text": change.binary,
        "it was emptied": change.emptied,
    }
    return next((reason for reason, holds in reasons.items() if holds), None) or _marker(change)


def _marker(change: Change) -> str | None:
    number = next((number for number, text in change.added_lines if text.startswith(MARKERS)), None)
    return f"line {number} is a conflict marker" if number else None


def _too_much(changes: Sequence[Change], limits: ChangeLimits) -> str | None:
    lines = sum(len(change.added_lines) for change in changes)
    size = sum(len(text.encode()) + 1 for change in changes for _, text in change.added_lines)
    if lines > limits.added_lines:
        return f"{lines} lines added (limit {limits.added_lines}), most of them in {_largest(changes)}"
    if size > limits.added_bytes:
        return f"{size} bytes added (limit {limits.added_bytes}), many of them in {_largest(changes)}"
    return None


def _largest(changes: Sequence[Change]) -> str:
    return max(changes, key=lambda change: sum(1 + len(text) for _, text in change.added_lines)).path


def _collision(changes: Sequence[Change], tracked: Iterable[str]) -> str | None:
    """Two spellings of one name: on macOS and Windows one file would hide the other."""
    added = [change.path for change in changes if change.kind == "added"]
    if not added:
        return None
    gone = {change.path for change in changes if change.kind == "deleted"}
    known: dict[str, str] = {}
    for path in (*(path for path in tracked if path not in gone), *added):
        for folder in _with_folders(path):
            other = known.setdefault(_folded(folder), folder)
            if other != folder and path in added:
                return f"{path}: differs from {other} only in case or accents"
    return None


def _with_folders(path: str) -> Iterator[str]:
    """a, a/b, a/b/c"""
    end = path.find("/")
    while end > 0:
        yield path[:end]
        end = path.find("/", end + 1)
    yield path


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", path).casefold()
