"""Commits of the local GitHub: what a repository holds, and merges in it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from sisimpur.shared.forge.forge import PullNotReady
from sisimpur.shared.forge.local_forge_git import Commits
from sisimpur.shared.model.errors import ForgeUnavailable
from sisimpur.shared.repo.git import git

Kept = TypeVar("Kept")
MOST_KEPT = 2_000


@dataclass(frozen=True)
class CommitFacts:
    message: str
    author: str
    email: str
    date: str  # ISO 8601
    parents: tuple[str, ...]
    tree: str


@dataclass(frozen=True)
class ChangedFile:
    """`blob`: None if the file was removed; `patch`: from the first @@ on, empty for a binary file."""

    path: str
    status: str
    blob: str | None
    added: int
    deleted: int
    patch: str


@dataclass(frozen=True)
class HubCommits(Commits):
    """What follows from names of commits never changes, so it is asked once."""

    _kept: dict[tuple[str, ...], object] = field(default_factory=dict, repr=False, compare=False)

    def facts(self, sha: str) -> CommitFacts:
        return self._once(("facts", sha), lambda: self._facts(sha))

    def between(self, base: str, head: str) -> tuple[str, ...]:
        """The commits of `head` that `base` lacks, the oldest first."""
        return self._once(("between", base, head), lambda: self._between(base, head))

    def changed(self, base: str, head: str) -> tuple[ChangedFile, ...]:
        """What `head` changes since it left `base`."""
        return self._once(("changed", base, head), lambda: self._changed(base, head))

    def holds(self, later: str, earlier: str) -> bool:
        return self._once(("holds", later, earlier), lambda: self.contains(later, earlier))

    def merge_of(self, base: str, head: str) -> str | None:
        """The tree of both together; None if they conflict."""
        return self._once(("merge", base, head), lambda: self._merge_of(base, head))

    def blob(self, sha: str, path: str) -> bytes | None:
        """A file's bytes at a commit; None if there is no such file."""
        done = self._try("cat-file", "blob", f"{sha}:{path}")
        return done.output if done.ok else None

    def blob_name(self, sha: str, path: str) -> str:
        return self._text("rev-parse", "--verify", "--quiet", f"{sha}:{path}").strip()

    def is_reference(self, name: str) -> bool:
        """Whether git would take this full name."""
        return (
            bool(re.match(r"refs/heads/[^-]", name)) and name.isprintable() and self._try("check-ref-format", name).ok
        )

    def create(self, reference: str, sha: str) -> None:
        """CommandFailed if it is there already, or stands in the way of another."""
        git(self.repository, "update-ref", reference, sha, "0" * 40)

    def advance(self, branch: str, target: str, expected: str) -> bool:
        """Compare and swap; whether it was still at `expected`."""
        try:
            self.move(branch, target, expected)
        except ForgeUnavailable:
            return False
        return True

    # --- parts

    def _once(self, key: tuple[str, ...], ask: Callable[[], Kept]) -> Kept:
        if key not in self._kept:
            if len(self._kept) >= MOST_KEPT:
                self._kept.clear()
            self._kept[key] = ask()
        return self._kept[key]  # type: ignore[return-value]  # what `ask` gave for this key

    def _facts(self, sha: str) -> CommitFacts:
        shown = self._text("show", "--no-patch", "--format=%B%x00%an%x00%ae%x00%aI%x00%P%x00%T", sha)
        message, author, email, date, parents, tree = (part.strip() for part in shown.split("\0"))
        return CommitFacts(message, author, email, date, tuple(parents.split()), tree)

    def _between(self, base: str, head: str) -> tuple[str, ...]:
        return tuple(self._text("rev-list", "--reverse", f"{base}..{head}").split())

    def _merge_of(self, base: str, head: str) -> str | None:
        try:
            return self.merged_tree(base, head)
        except PullNotReady:
            return None

    def _changed(self, base: str, head: str) -> tuple[ChangedFile, ...]:
        how, span = ("-z", "--no-renames", "--no-ext-diff", "--no-textconv"), f"{base}...{head}"
        counts = self._text("diff", *how, "--numstat", span).split("\0")
        names = self._text("diff", *how, "--name-status", span).split("\0")
        numbers = {path: (added, deleted) for added, deleted, path in (line.split("\t", 2) for line in counts if line)}
        letters = zip(names[::2], names[1::2], strict=False)
        return tuple(self._file(span, head, path, letter, numbers[path]) for letter, path in letters)

    def _file(self, span: str, head: str, path: str, letter: str, numbers: tuple[str, str]) -> ChangedFile:
        status = {"A": "added", "D": "removed"}.get(letter[:1], "modified")
        added, deleted = (int(number) if number.isdigit() else 0 for number in numbers)  # "-": a binary file
        text = self._text("diff", "--no-color", "--no-renames", "--no-ext-diff", "--no-textconv", span, "--", path)
        _, hunk, rest = text.removesuffix("\n").partition("\n@@")
        blob = None if status == "removed" else self.blob_name(head, path)
        return ChangedFile(path, status, blob, added, deleted, "@@" + rest if hunk else "")


__all__ = ["ChangedFile", "CommitFacts", "HubCommits"]
