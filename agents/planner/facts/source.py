"""The target's files at one commit, as the planner may see them: no keys, nothing binary, nothing huge."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from sisimpur.shared.model.change import usually_holds_keys
from sisimpur.shared.model.errors import Refused
from sisimpur.shared.repo.file_parts import Definition, innermost
from sisimpur.shared.repo.file_parts import definitions as defined_in
from sisimpur.shared.repo.mirror import Mirror

MAX_FILE = 1_000_000  # bytes; the one module of a library may have 230,000


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


# --- what is shown of a file ---------------------------------------------------------------------------------

LONGEST_LINE = 200
LONG_FILE = 20_000  # characters; a longer one is never shown whole
OTHERS = "\nwhat else it defines:"
LONGEST_DEFINITION = 60  # lines; of a longer one the places that matter
MOST_SIGNATURES = 60
BEFORE, AFTER = 2, 8  # lines around a place that stands in no definition
LONGEST_SAYING = 80  # characters of a docstring's first line
SAYING = re.compile(r'\s*[rR]?(?:"""|\'\'\')([^"\'\n]*)')
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

Lines = Sequence[str]


def clean(line: str, longest: int = LONGEST_LINE) -> str:
    return CONTROL.sub("\ufffd", line[:longest])


def definitions(lines: Lines) -> tuple[Definition, ...]:
    """Classes, functions and methods, in their order."""
    return defined_in("\n".join(lines))


def numbered(lines: Lines, numbers: Iterable[int], longest: int = LONGEST_LINE) -> Iterator[str]:
    """Lines with their numbers; what is left out between them is a line of its own."""
    previous = 0
    for number in numbers:
        if number != previous + 1:
            yield "…"
        yield f"{number}| {clean(lines[number - 1], longest)}"
        previous = number
    if previous < len(lines):
        yield "…"


def whole(path: str, lines: Lines) -> str:
    return "\n".join([f"{path}, {len(lines)} lines:", *numbered(lines, range(1, len(lines) + 1), LONG_FILE)])


def parts(path: str, lines: Lines, worth: Mapping[int, float], room: int) -> str:
    """The definitions and places that matter, as many as there is room for, and the signatures of all others.

    `worth`: of lines, how much they tell; none: the file's beginning does. A docstring tells less than what is done.
    """
    known = definitions(lines)
    chosen, used = set[int](), 0
    prose = frozenset(number for each in known for number in _prose(lines, each))
    for _, numbers in _ranked(lines, known, worth or {1: 1.0}):
        for new in (numbers - chosen, numbers - chosen - prose):  # what is done tells more than what is said of it
            cost = sum(min(len(lines[number - 1]), LONGEST_LINE) + 7 for number in new)
            if used + cost <= room:
                chosen |= new
                used += cost
                break
    rest = [f"{each.line}| {'  ' * each.depth}{clean(each.signature)}" for each in known if each.line not in chosen]
    more = [f"… {len(rest) - MOST_SIGNATURES} more"] if rest[MOST_SIGNATURES:] else []
    tail = [OTHERS.strip(), *rest[:MOST_SIGNATURES], *more] if rest else []
    head = f"{path}, {len(lines)} lines, of which these matter most:"
    return "\n".join([head, *numbered(lines, sorted(chosen)), *tail])


def outline(path: str, lines: Lines, chosen: Collection[Definition]) -> str:
    """Signatures with the first line of what is said of each: much of a file in few words."""
    told = [f"{each.line}| {'  ' * each.depth}{clean(each.signature)}{_said(lines, each)}" for each in chosen]
    return "\n".join([f"{path}, {len(lines)} lines, in outline:", *told])


def _prose(lines: Lines, each: Definition) -> range:
    """Lines of a function's docstring, but for the first."""
    head = range(each.line + 1, each.body) if each.signature.startswith("def ") else range(0)
    first = next((number for number in head if SAYING.match(lines[number - 1])), each.body)
    return range(first + 1, each.body)


def _said(lines: Lines, each: Definition) -> str:
    """The first line of its docstring, shortened."""
    first = next((found for line in lines[each.line : each.body - 1] if (found := SAYING.match(line))), None)
    return f"  # {clean(first[1].strip(), LONGEST_SAYING)}" if first and first[1].strip() else ""


def _ranked(
    lines: Lines, known: Sequence[Definition], worth: Mapping[int, float]
) -> list[tuple[float, frozenset[int]]]:
    """(how much it tells, its lines), the most telling first. A line counts for the innermost definition."""
    inner = innermost(known)
    told: dict[Definition, dict[int, float]] = {}
    places: list[tuple[float, frozenset[int]]] = []
    for number, value in worth.items():
        if (each := inner.get(number)) is None:
            around = range(max(1, number - BEFORE), min(len(lines), number + AFTER) + 1)
            places.append((value, frozenset(other for other in around if other == number or other not in inner)))
        else:
            is_prose = each.line < number < each.body
            told.setdefault(each, {})[number] = value * (0.3 if is_prose else 2 if number == each.line else 1)
    places += [(sum(sorted(of.values())[-6:]), _text(one, of)) for one, of in told.items()]
    return sorted(places, key=lambda place: (-place[0], min(place[1])))


def _text(each: Definition, places: Collection[int]) -> frozenset[int]:
    """All lines of a definition, or of a long one its head and what stands around the places."""
    if each.last - each.first < LONGEST_DEFINITION:
        return frozenset(range(each.first, each.last + 1))
    near = {number for place in places for number in range(place - BEFORE, place + AFTER + 1)}
    near |= set(range(each.first, min(each.body, each.line + AFTER) + 1))
    return frozenset(number for number in near if each.first <= number <= each.last)
