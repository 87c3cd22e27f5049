"""A file's text -> what is shown of it: all of it, the definitions that matter, or their signatures. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from sisimpur.shared.repo.definitions import Definition, innermost
from sisimpur.shared.repo.definitions import definitions as defined_in

LONGEST_LINE = 200
LONG_FILE = 20_000  # characters; a longer one is never shown whole
OTHERS = "\nwhat else it defines:"
LONGEST_DEFINITION = 60  # lines; of a longer one the places that matter
MOST_SIGNATURES = 60
BEFORE, AFTER = 2, 8  # lines around a place that stands in no definition
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
    chosen: set[int] = set(_imports(lines))
    used = sum(len(lines[number - 1]) + 7 for number in chosen)
    for _, numbers in _ranked(lines, known, worth or {1: 1.0}):
        new = numbers - chosen
        cost = sum(min(len(lines[number - 1]), LONGEST_LINE) + 7 for number in new)
        if used + cost <= room:
            chosen |= new
            used += cost
    rest = [f"{each.line}| {'  ' * each.depth}{clean(each.signature)}" for each in known if each.line not in chosen]
    more = [f"… {len(rest) - MOST_SIGNATURES} more"] if rest[MOST_SIGNATURES:] else []
    tail = [OTHERS.strip(), *rest[:MOST_SIGNATURES], *more] if rest else []
    head = f"{path}, {len(lines)} lines, of which these matter most:"
    return "\n".join([head, *numbered(lines, sorted(chosen)), *tail])


def _imports(lines: Lines) -> Iterator[int]:
    """The first lines that say what the file uses."""
    for number, line in enumerate(lines[:60], 1):
        if re.match(r"(?:from|import|const .*require\(|#include|use|package)\b", line):
            yield number


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
