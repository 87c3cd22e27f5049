"""The target's files at one commit, as the planner may see them: no keys, nothing binary, nothing huge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from sisimpur.shared.model.change import usually_holds_keys
from sisimpur.shared.model.errors import Refused
from sisimpur.shared.repo.mirror import Mirror

MAX_FILE = 200_000  # bytes


class SourceHit(Protocol):
    """A line that holds what was searched for."""

    @property
    def path(self) -> str: ...
    @property
    def line(self) -> int: ...
    @property
    def text(self) -> str: ...


class SourceTree(Protocol):
    """A repository at one commit."""

    def files(self) -> tuple[str, ...]:
        """All paths."""

    def read(self, path: str, limit: int) -> str | None:
        """A file's text; None: no such file, not UTF-8 text, or more than `limit` bytes."""

    def grep(self, needle: str, limit: int) -> tuple[SourceHit, ...]:
        """The first `limit` lines of text files that hold `needle`, letter by letter."""


@dataclass(frozen=True)
class SourceSnapshot:
    """A commit of the mirror as a Source."""

    mirror: Mirror
    commit: str

    def files(self) -> tuple[str, ...]:
        return tuple(entry.path for entry in self.mirror.tree(self.commit))

    def read(self, path: str, limit: int) -> str | None:
        try:
            data = self.mirror.read(self.commit, path, limit)
            return None if data is None else data.decode()
        except (Refused, UnicodeDecodeError):
            return None

    def grep(self, needle: str, limit: int) -> tuple[SourceHit, ...]:
        return self.mirror.grep(self.commit, needle, limit)


def may_be_read(path: str) -> bool:
    """Files that usually hold keys are not read, whoever asks."""
    return not usually_holds_keys(path)


def lines_of(source: SourceTree, path: str) -> tuple[str, ...] | None:
    """A file's lines, or None if it may not or cannot be read."""
    text = source.read(path, MAX_FILE) if may_be_read(path) else None
    if text is None or "\0" in text:
        return None
    return tuple(text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n"))


def hits(source: SourceTree, needle: str, limit: int) -> tuple[SourceHit, ...]:
    """Lines that hold `needle`, of files that may be read."""
    return tuple(hit for hit in source.grep(needle, limit) if may_be_read(hit.path))
