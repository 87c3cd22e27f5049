"""What `make test` leaves out: left_out.toml, but for what a change touches."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase, translate
from functools import cache
from pathlib import Path

from sisimpur.shared.system.process import run

ROOT = Path(__file__).parent.parent
FILE = Path(__file__).with_suffix(".toml")
BASES = ("origin/main", "main", "HEAD")  # the first that is known here
PATH = {"PATH": "/usr/local/bin:/usr/bin:/bin"}


@dataclass(frozen=True)
class LeftOut:
    """`tests` and `unless_changed`: how they begin, see left_out.toml."""

    why: str
    tests: tuple[str, ...]
    unless_changed: tuple[str, ...]

    def names(self, test: str) -> bool:
        return _any_of(self.tests).match(test) is not None

    def is_touched_by(self, path: str) -> bool:
        return path.startswith(self.unless_changed) or self.is_of(path)

    def is_of(self, file: str) -> bool:
        """Whether any of its tests may stand there."""
        return any(fnmatchcase(file, f"{pattern.partition('::')[0]}*") for pattern in self.tests)


@cache
def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """One expression for all: each of them is asked about each test."""
    return re.compile("|".join(translate(f"{pattern}*") for pattern in patterns))


def listed(file: Path = FILE) -> list[LeftOut]:
    rows = tomllib.loads(file.read_text("utf-8"))["left_out"]
    return [LeftOut(row["why"], tuple(row["tests"]), tuple(row["unless_changed"])) for row in rows]


def by_file(rows: Sequence[LeftOut], files: Iterable[str]) -> dict[str, list[LeftOut]]:
    """Those that leave out something of each file: few of the files, and of them few rows."""
    return {file: [row for row in rows if row.is_of(file)] for file in files}


def left_out(repository: Path = ROOT) -> list[LeftOut]:
    """Those of which nothing has changed; none where git cannot say."""
    changed = _changed(repository)
    if changed is None:
        return []
    return [one for one in listed() if not any(map(one.is_touched_by, changed))]


def _changed(repository: Path) -> list[str] | None:
    """Paths: since this branch left main, what is not committed, and what git does not know yet."""
    known = [found for base in BASES if (found := _git(repository, "merge-base", base, "HEAD"))]
    if not known:
        return None
    changed = _git(repository, "diff", "--name-only", *known[0])
    new = _git(repository, "ls-files", "--others", "--exclude-standard")
    return None if changed is None or new is None else [*changed, *new]


def _git(repository: Path, *words: str) -> Sequence[str] | None:
    """Its lines; None: it failed."""
    ours = f"safe.directory={repository}"  # also where somebody else made the checkout, as at some CI services
    done = run(("git", "-c", ours, *words), cwd=repository, env=PATH, timeout=60)
    return done.text.splitlines() if done.ok else None
