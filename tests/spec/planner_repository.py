"""A dictionary as a repository, for the planner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sisimpur.agents.planner.facts.source import SourceHit


@dataclass(frozen=True)
class Found:
    path: str
    line: int
    text: str


@dataclass(frozen=True)
class Repository:
    texts: Mapping[str, str]

    def files(self) -> tuple[str, ...]:
        return tuple(sorted(self.texts))

    def read(self, path: str, limit: int) -> str | None:
        text = self.texts.get(path)
        return text if text is not None and len(text) <= limit else None

    def grep(self, needle: str, limit: int) -> tuple[SourceHit, ...]:
        lines = ((path, n, line) for path in self.files() for n, line in enumerate(self.texts[path].split("\n"), 1))
        return tuple(Found(*found) for found in lines if needle in found[2])[:limit]
