"""(A long file, a task's words) -> the parts of it that matter, letter by letter, and where all else stands. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from sisimpur.shared.repo.definitions import CodeDefinition, definitions

LONG = 30_000  # characters; a shorter file is shown whole: another call costs more than what is left out
MOST = 24_000  # characters of a file's parts
WHOLE = 2 * LONG  # up to here a file of which the task names nothing is shown whole
HEAD, AROUND, NEAR = 60, 12, 40  # lines: of the beginning, around a place in no definition, of a neighbour
MOST_LISTED = 150  # definitions that are listed with their methods; of more, the outer ones alone
LEFT_OUT = "⋮"  # begins a line that is not in the file

QUOTED = re.compile(r"`([^`\n]{4,200})`|\"([^\"\n]{6,200})\"")
LEAST_LINE = 12  # characters of a line that says something by standing in the task's words
IS_NAME = re.compile(r"_|\.|[a-z][A-Z]|^[A-Z]\w*[a-z]\w*[A-Z]|\d")  # no plain word of English


# --- which parts matter --------------------------------------------------------------------------------------


def view(path: str, text: str, words: str) -> str:
    """What is shown of the file in place of all of it; empty: all of it is shown. `words`: what the task says."""
    if len(text) <= LONG:
        return ""
    lines, known = text.splitlines(keepends=True), definitions(text)
    wanted = [*_wanted(path, lines, known, words)]
    if not wanted and len(text) <= WHOLE:
        return ""
    shown: set[int] = set(range(1, min(HEAD, known[0].first - 1 if known else HEAD) + 1))
    room = MOST - sum(len(lines[number - 1]) for number in shown)
    for part in wanted:
        new = [number for number in part if number not in shown and number <= len(lines)]
        if (size := sum(len(lines[number - 1]) for number in new)) <= room:
            shown.update(new)
            room -= size
    for number, line in enumerate(lines, 1):  # a gap of blanks says nothing
        if number - 1 in shown and not line.strip():
            shown.add(number)
    return "".join(_rendered(lines, shown, known)) if len(shown) < len(lines) else ""


def _wanted(path: str, lines: Sequence[str], known: Sequence[CodeDefinition], words: str) -> Iterator[range]:
    """The parts, what matters most first: lines that are named or quoted, definitions that are named, where these are
    used, and what stands beside all that.
    """
    places = [*_places(path, words), *_quoted(lines, words)]
    named = [one for one in known if _is_named(one, words)]
    inner = [_around(place, known, len(lines)) for place in places]
    yield from inner
    strong = [one for one in named if IS_NAME.search(one.name.split(".")[-1]) or f"`{one.name}" in words]
    yield from (one.lines for one in strong)
    uses = re.compile("|".join(rf"\b{re.escape(one.name.split('.')[-1])}\b" for one in strong) or r"(?!)")
    for number, line in enumerate(lines, 1):
        if uses.search(line):
            yield _around(number, known, len(lines))
    yield from (one.lines for one in named)
    for part in (*inner, *(one.lines for one in named)):
        yield from (one.lines for one in known if _touches(one, part) and len(one.lines) <= NEAR)


def _places(path: str, words: str) -> Iterator[int]:
    """Lines that the words name: `path:10`, `path:10-12`, `path, line 10`."""
    name = re.escape(path.rpartition("/")[2])
    for found in re.finditer(rf"{name}(?::|`?,? \(?lines? )(\d{{1,6}})(?:\s?[-–]\s?(\d{{1,6}}))?", words):
        first, last = int(found[1]), int(found[2] or found[1])
        yield from range(first, min(last, first + 400) + 1)


def _quoted(lines: Sequence[str], words: str) -> Iterator[int]:
    """Lines that stand in the words, or hold what is quoted there."""
    pieces = {piece.strip() for found in QUOTED.findall(words) for piece in found if piece.strip()}
    told = {line for each in words.splitlines() if len(line := each.strip()) >= LEAST_LINE}
    for number, line in enumerate(lines, 1):
        if line.strip() in told or any(piece in line for piece in pieces):
            yield number


def _is_named(one: CodeDefinition, words: str) -> bool:
    last = one.name.split(".")[-1]
    return len(last) > 2 and re.search(rf"(?<!\w){re.escape(last)}(?!\w)", words) is not None


def _around(number: int, known: Sequence[CodeDefinition], end: int) -> range:
    """The innermost definition that holds the line; a few lines where none does, or it is too long."""
    holders = [one.lines for one in known if number in one.lines]
    inner = min(holders, key=len, default=range(0))
    near = range(max(1, number - AROUND), min(end, number + AROUND) + 1)
    return inner if 0 < len(inner) <= 5 * NEAR else near


def _touches(one: CodeDefinition, part: range) -> bool:
    return bool(part) and (0 < part.start - one.last <= 4 or 0 < one.first - part.stop + 1 <= 4)


def _rendered(lines: Sequence[str], shown: Collection[int], known: Sequence[CodeDefinition]) -> Iterator[str]:
    listed = known if len(known) <= MOST_LISTED else [one for one in known if "." not in one.name]
    number = 1
    while number <= len(lines):
        if number in shown:
            line = lines[number - 1]
            yield line if line.endswith("\n") else f"{line}\n"
            number += 1
            continue
        last = next((other for other in range(number, len(lines) + 1) if other in shown), len(lines) + 1) - 1
        yield f"{LEFT_OUT} lines {number}-{last} are not shown here\n"
        inside = ((one, lines[one.line - 1].strip()[:160]) for one in listed if number <= one.first <= last)
        yield from (f"{LEFT_OUT}   {one.first}-{one.last}: {one.name}: {head}\n" for one, head in inside)
        number = last + 1


# --- one place -----------------------------------------------------------------------------------------------


def place_of(text: str, name: str) -> range | None:
    """The lines of a definition by its whole name, or by its last part if only one has it."""
    known = definitions(text)
    found = [one for one in known if one.name == name] or [one for one in known if one.name.split(".")[-1] == name]
    return found[0].lines if len(found) == 1 else None
