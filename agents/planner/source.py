"""The target's files at one commit, as the planner may see them: no keys, nothing binary, nothing huge.

A view shows the lines of a file, an outline its classes and functions.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
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


# --- views of files ------------------------------------------------------------------------------------------

WHOLE_FILE = 12_000  # characters of a file that is shown whole
OUTLINE_LINES = 60
LONGEST_LINE = 200
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@dataclass(frozen=True)
class View:
    """A file as it is shown."""

    path: str
    text: str
    is_whole: bool


def views(source: SourceTree, places: Iterable[tuple[str, Collection[int]]]) -> Iterator[View]:
    """`places`: a path, and the lines that matter in it: whole if it is small, else around these, with line numbers."""
    for path, found in places:
        lines = lines_of(source, path)
        if lines is None:
            yield View(path, f"{path}: not shown (a key, not text, or too large)", is_whole=False)
            continue
        is_whole = sum(len(line) + 7 for line in lines) <= WHOLE_FILE
        numbers = range(1, len(lines) + 1) if is_whole else _around(found, len(lines))
        yield View(path, "\n".join([f"{path}, {len(lines)} lines:", *_numbered(lines, numbers)]), is_whole)


def seen_whole(shown: Iterable[View], room: int) -> Iterator[str]:
    """The files of which every line is told where `room` characters are left: nothing need say it again."""
    for view in shown:
        room -= len(view.text) + 2
        if room < 0:
            return
        if view.is_whole:
            yield view.path


def outlines(source: SourceTree, paths: Iterable[str]) -> Iterator[str]:
    """Classes and functions of Python files."""
    for path in paths:
        symbols = list(outlined(lines_of(source, path) or ()))
        if symbols:
            lines = [f"{number}| {clean(text)}" for number, text in symbols[:OUTLINE_LINES]]
            yield "\n".join([f"{path}, classes and functions:", *lines])


def clean(line: str) -> str:
    return CONTROL.sub("\ufffd", line[:LONGEST_LINE])


def _around(found: Collection[int], last: int) -> list[int]:
    """The first lines of the file, and some around each hit."""
    near = {number for line in found for number in range(line - 6, line + 13)} | set(range(1, 31))
    return sorted(number for number in near if 1 <= number <= last)


def _numbered(lines: Sequence[str], numbers: Iterable[int]) -> Iterator[str]:
    previous = 0
    for number in numbers:
        if number != previous + 1:
            yield "…"
        yield f"{number}| {clean(lines[number - 1])}"
        previous = number


# --- classes and functions -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Symbol:
    line: int
    depth: int
    text: str


def outlined(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """(line, `class X` or `def f(a, b)`), also of a file that Python cannot read."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the target's code, not ours
            tree = ast.parse("\n".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        yield from _guessed(lines)
        return
    for symbol in _symbols(tree.body, 0):
        yield symbol.line, "  " * symbol.depth + symbol.text


def _symbols(body: Iterable[ast.stmt], depth: int) -> Iterator[_Symbol]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield _Symbol(node.lineno, depth, f"class {node.name}")
            yield from _symbols(node.body, depth + 1)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names = ", ".join(argument.arg for argument in (*node.args.posonlyargs, *node.args.args))
            yield _Symbol(node.lineno, depth, f"def {node.name}({names})")


def _guessed(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    yield 1, "(Python cannot read this file)"
    for number, line in enumerate(lines, 1):
        if re.match(r"\s*(?:async\s+)?(?:def|class)\s+\w", line):
            yield number, line.split(":")[0].rstrip()
