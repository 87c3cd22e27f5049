"""Goals of the bench as values: an owner's words, the right change, a wrong one that looks right, and how to tell.

A goal is a YAML file in `goals/`, its repository a folder in `repositories/`, its check a program in `checks/`. The
format is told in README.md beside this file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

import yaml
from pydantic import ConfigDict, TypeAdapter

HERE = Path(__file__).parent
FORBID = ConfigDict(extra="forbid")  # a misspelt field is an error, with its place


class Broken(Exception):
    """A goal does not fit its repository; the text says where."""


@dataclass(frozen=True)
class Need:
    """A line that a capable reader must see before it can answer right. `contains`: a unique part of one line."""

    __pydantic_config__ = FORBID
    path: str
    contains: str


@dataclass(frozen=True)
class Edit:
    """A change of one file: `find`, which stands there once, becomes `put`; or `whole` is all of the file."""

    __pydantic_config__ = FORBID
    find: str | None = None
    put: str | None = None
    whole: str | None = None

    def applied(self, text: str) -> str:
        """Return the file's new text. Raises `Broken`."""
        if self.whole is not None:
            return self.whole
        if self.find is None or self.put is None:
            raise Broken("an edit has `find` and `put`, or `whole`")
        if text.count(self.find) != 1:
            raise Broken(f"stands {text.count(self.find)} times: {self.find!r}")
        return text.replace(self.find, self.put)


Files = Mapping[str, tuple[Edit, ...] | Edit]  # path below the repository -> its edits, in order


@dataclass(frozen=True)
class PlannedTask:
    """One task of the right plan. `depends_on`: titles of tasks before it."""

    __pydantic_config__ = FORBID
    title: str
    files: tuple[str, ...] = ()
    new_files: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()


@dataclass(frozen=True)
class Distractor:
    """A wrong change that looks right to who has not seen the needed lines. `because`: why it is wrong."""

    __pydantic_config__ = FORBID
    because: str
    edits: tuple[Files, ...]


@dataclass(frozen=True)
class Measure:
    """A figure that says whether a goal holds. `of`: a package, a tool with a folder, a test id or a file."""

    __pydantic_config__ = FORBID
    kind: Literal["coverage", "findings", "test", "property", "timing"]
    of: str
    at_least: float | None = None
    at_most: float | None = None


@dataclass(frozen=True)
class Goal:
    """What the owner wants, with all that is needed to judge what comes of it."""

    __pydantic_config__ = FORBID
    id: str
    repository: str
    kind: Literal["false", "half", "measurable", "ordinary"]
    priority: Literal["critical", "high", "medium", "low"]
    words: str  # a title line, then details, as they stand in VISION.md
    premise: str  # what is untrue in the words; empty: nothing
    needs: tuple[Need, ...]
    plan: tuple[PlannedTask, ...]
    edits: tuple[Files, ...]  # one for each task of the plan
    distractor: Distractor
    outcome: Literal["shipped", "false premise", "question", "measured"]
    check: str  # path below the folder of the bench
    measure: Measure | None = None
    home: Path = HERE  # the folder that holds goals/ and checks/

    @property
    def tree(self) -> Path:
        """The repository's folder; goals kept elsewhere share these five."""
        return HERE / "repositories" / self.repository

    @property
    def program(self) -> Path:
        """The check: `python PROGRAM TREE` exits 0 (holds), 1 (does not) or 2 (cannot tell)."""
        return self.home / self.check

    @cached_property
    def lines(self) -> Mapping[Need, str]:
        """Each needed line, whole. Raises `Broken` where there is none, or more than one."""
        return {need: _line(self.tree, need) for need in self.needs}


def read(home: Path = HERE) -> list[Goal]:
    """Read all goals of a folder, by id."""
    return [read_goal(path, home) for path in sorted((home / "goals").glob("*.yaml"))]


def read_goal(path: Path, home: Path = HERE) -> Goal:
    """Read one goal. Raises pydantic's error with the field that is wrong."""
    adapter = TypeAdapter(Goal)
    return adapter.validate_python({**yaml.safe_load(path.read_text("utf-8")), "home": home})


def apply(changes: Sequence[Files], tree: Path) -> None:
    """Write changes into a copy of the repository. Raises `Broken`."""
    for path, edit in each(changes):
        file = tree / path
        try:
            text = edit.applied(file.read_text("utf-8") if file.exists() else "")
        except Broken as error:
            raise Broken(f"{path}: {error}") from None
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")


def each(changes: Sequence[Files]) -> Iterator[tuple[str, Edit]]:
    for files in changes:
        for path, edits in files.items():
            for edit in (edits,) if isinstance(edits, Edit) else edits:
                yield path, edit


def _line(tree: Path, need: Need) -> str:
    found = [line for line in (tree / need.path).read_text("utf-8").splitlines() if need.contains in line]
    if len(found) != 1:
        raise Broken(f"{need.path} has {len(found)} lines with {need.contains!r}")
    return found[0]
