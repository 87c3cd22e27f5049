"""A Branch -> the Case that its review is about. What is unreadable is None, and nothing is cut."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Protocol

from agents.reviewer.rules.case import Case, ChangedFile
from shared.model.change import LINK, SUBMODULE, Change, HasPath
from shared.model.errors import Refused
from shared.model.work import Branch, TaskSpec


class ReviewSource(Protocol):
    """The target's commits: the mirror."""

    def changed(self, old: str, new: str) -> tuple[Change, ...]: ...
    def diff(self, old: str, new: str) -> bytes: ...
    def read(self, sha: str, path: str) -> bytes | None: ...
    def tree(self, sha: str) -> Sequence[HasPath]: ...


def case_of(source: ReviewSource, branch: Branch, task: TaskSpec) -> Case:
    """Errors are those of the source."""
    changes = source.changed(branch.base, branch.commit)
    files = tuple(
        ChangedFile(
            change,
            _text(source, branch.base, change.path) if change.mode_old not in ("", LINK, SUBMODULE) else None,
            _text(source, branch.commit, change.path) if change.mode_new not in ("", LINK, SUBMODULE) else None,
        )
        for change in changes
    )
    tracked = frozenset(entry.path for entry in source.tree(branch.commit))
    return Case(files, tracked, partial(_text, source, branch.commit), task.guards)


def _text(source: ReviewSource, commit: str, path: str) -> str | None:
    try:
        data = source.read(commit, path)
        return None if data is None or b"\0" in data else data.decode()
    except (Refused, UnicodeDecodeError):
        return None
