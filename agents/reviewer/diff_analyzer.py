"""A patch -> chunks that a model can read: whole hunks in their surroundings, each line of the new file numbered.

Pure. A chunk holds every added line of its hunks in full. What the patch says must be what the changes say: if the two
readings differ, there is no reading.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sisimpur.agents.reviewer.rules.case import ChangedFile
from sisimpur.shared.model.errors import Refused

HEAD = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)")
WHOLE_FILE = 80  # lines: a file up to this length is shown whole
MARGIN = 15  # lines of the new file around a hunk
MOST_REMOVED = 300  # lines of a deleted file
LONGEST_LINE = 500  # characters of a line that is not added


@dataclass(frozen=True)
class PatchRow:
    """A line of a patch. `sign`: " ", "+" or "-"; `number`: in the new file (of a removed line: where it stood)."""

    sign: str
    number: int
    text: str


@dataclass(frozen=True)
class Chunk:
    """Part of a change that is asked about at once. `lines`: (path, text) of its added lines."""

    text: str
    paths: frozenset[str]
    lines: frozenset[tuple[str, str]]


@dataclass(frozen=True)
class _Piece:
    path: str
    text: str
    lines: frozenset[tuple[str, str]]


def chunks(diff: bytes, files: Sequence[ChangedFile], most_chars: int) -> tuple[Chunk, ...]:
    """Split a patch into chunks, in the order of the files. Refused: it cannot be read as what the changes say."""
    patch = read_patch(diff)
    pieces = [piece for file in files for piece in _pieces(file, _checked(file, patch), most_chars)]
    return tuple(map(_chunk, _packed(pieces, most_chars)))


def added(files: Iterable[ChangedFile]) -> frozenset[tuple[str, str]]:
    return frozenset((file.path, text) for file in files for text in file.added.values())


def repeated(files: Iterable[ChangedFile]) -> frozenset[tuple[str, str, int]]:
    """(path, text, how often) of the added lines that stand more than once in their file."""
    counts = Counter((file.path, text) for file in files for text in file.added.values())
    return frozenset((path, text, count) for (path, text), count in counts.items() if count > 1)


# --- reading a patch -----------------------------------------------------------------------------------------


def read_patch(diff: bytes) -> Mapping[str, tuple[PatchRow, ...]]:
    """Path -> its rows. Lines are counted: what a line says cannot be mistaken for a head."""
    found: dict[str, list[PatchRow]] = {}
    old, path = "", ""
    lines = iter(diff.split(b"\n"))
    for line in lines:
        if line.startswith(b"--- "):
            old = _path(line[4:], b"a/")
        elif line.startswith(b"+++ "):
            path = _path(line[4:], b"b/") or old
        elif head := HEAD.match(line):
            rows = _hunk(lines, int(head[2] or 1), int(head[3]), int(head[4] or 1))
            found.setdefault(path, []).extend(rows)
    return {name: tuple(rows) for name, rows in found.items()}


def _path(word: bytes, prefix: bytes) -> str:
    """git quotes a name that is not plain ASCII as C does, and ends one that holds a blank with a tab."""
    word = word.removesuffix(b"\t")
    if word.startswith(b'"'):
        try:
            word = ast.literal_eval("b" + word.decode("ascii"))
        except (ValueError, SyntaxError):
            return ""
    return word.removeprefix(prefix).decode("utf-8", "replace") if word.startswith(prefix) else ""


def _hunk(lines: Iterator[bytes], old: int, number: int, new: int) -> Iterator[PatchRow]:
    while old > 0 or new > 0:
        line = next(lines, None)
        if line is None:
            return
        sign, text = line[:1].decode("latin-1"), line[1:].decode("utf-8", "replace").removesuffix("\r")
        if sign in ("+", " "):
            yield PatchRow(sign, number, text)
            number, new = number + 1, new - 1
        if sign == "-":
            yield PatchRow(sign, number, text)
        old -= sign in ("-", " ")


def _checked(file: ChangedFile, patch: Mapping[str, tuple[PatchRow, ...]]) -> tuple[PatchRow, ...]:
    rows = patch.get(file.path, ())
    if {row.number: row.text.rstrip("\r") for row in rows if row.sign == "+"} != dict(file.added):
        raise Refused(f"the difference of {file.path} cannot be read")
    return rows


# --- one file ------------------------------------------------------------------------------------------------


def _pieces(file: ChangedFile, rows: Sequence[PatchRow], most_chars: int) -> Iterator[_Piece]:
    if file.change.kind == "deleted":
        rows = rows[:MOST_REMOVED]
    for run in _runs(_in_its_surroundings(file, rows)) or [[]]:
        for part in _split(run, most_chars):
            title = f"=== {file.path} ({file.change.kind}){_begins_in(file, part)}"
            lines = frozenset((file.path, row.text) for row in part if row.sign == "+")
            yield _Piece(file.path, "\n".join([title, *map(_shown, part)]), lines)


def _begins_in(file: ChangedFile, part: Sequence[PatchRow]) -> str:
    """The class and function of Python that a part begins in the middle of: their heads are above what is shown."""
    first = part[0].number if part else 0
    names = file.tree.names_above(first) if file.tree else ()
    return f", from inside {'.'.join(names)}" if names else ""


def _in_its_surroundings(file: ChangedFile, rows: Sequence[PatchRow]) -> list[PatchRow]:
    """The patch's rows, and the lines of the new file around them."""
    shown = {row.number for row in rows if row.sign != "-"}
    margin = len(file.lines) if len(file.lines) <= WHOLE_FILE else MARGIN
    changed = [row.number for row in rows if row.sign != " "]
    missing = {near for number in changed for near in range(number - margin, number + margin + 1)} - shown
    more = (PatchRow(" ", number, text) for number, text in enumerate(file.lines, 1) if number in missing)
    # a removed line stood before the line that has its number now
    return sorted([*rows, *more], key=lambda row: (row.number, row.sign != "-"))


def _runs(rows: Iterable[PatchRow]) -> list[list[PatchRow]]:
    """Cut where lines are left out."""
    runs: list[list[PatchRow]] = []
    for row in rows:
        if not runs or row.number > runs[-1][-1].number + 1:
            runs.append([])
        runs[-1].append(row)
    return runs


def _split(run: Sequence[PatchRow], most_chars: int) -> Iterator[Sequence[PatchRow]]:
    """A run that is longer than a chunk, in parts; no line is cut."""
    part: list[PatchRow] = []
    size = 0
    for row in run:
        length = len(_shown(row)) + 1
        if part and size + length > most_chars:
            yield part
            part, size = [], 0
        part.append(row)
        size += length
    yield part


def _shown(row: PatchRow) -> str:
    text = row.text if row.sign == "+" or len(row.text) <= LONGEST_LINE else row.text[:LONGEST_LINE] + " [cut]"
    mark = f"{row.number}+" if row.sign == "+" else row.sign  # only an added line is ever named
    return mark + text


# --- chunks --------------------------------------------------------------------------------------------------


def _packed(pieces: Iterable[_Piece], most_chars: int) -> Iterator[list[_Piece]]:
    group: list[_Piece] = []
    size = 0
    for piece in pieces:
        if group and size + len(piece.text) > most_chars:
            yield group
            group, size = [], 0
        group.append(piece)
        size += len(piece.text) + 2
    if group:
        yield group


def _chunk(group: Sequence[_Piece]) -> Chunk:
    lines = frozenset[tuple[str, str]]().union(*(piece.lines for piece in group))
    return Chunk("\n\n".join(piece.text for piece in group), frozenset(piece.path for piece in group), lines)
