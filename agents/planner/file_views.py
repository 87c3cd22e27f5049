"""The files that goals name or speak of -> their lines, or their classes and functions, as a planner sees them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from agents.planner.outline import outlined
from agents.planner.source import SourceTree, lines_of

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
