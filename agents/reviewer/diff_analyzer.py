"""A patch -> chunks that a model can read: whole hunks in their surroundings, each line of the new file numbered.

Pure. A chunk holds every added line of its hunks in full. What the patch says must be what the changes say: if the two
readings differ, there is no reading.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from textwrap import dedent

from sisimpur.agents.reviewer.rules.case import ChangedFile
from sisimpur.shared.model.errors import Refused
from sisimpur.shared.model.evidence import LONGEST_NAME, SURROUNDINGS, Evidence, Failure, Finding, is_test_file
from sisimpur.shared.model.text import one_line
from sisimpur.shared.model.work import TaskSpec

HEAD = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)")
WHOLE_FILE = 80  # lines: a file up to this length is shown whole
MARGIN = 15  # lines of the new file around a hunk
MOST_REMOVED = 300  # lines of a deleted file
MOVED_AT_ONCE = 3  # lines: fewer stand in two places by chance
MOVED = {"+": ">", "-": "<"}  # signs of what was added or removed by moving
LONGEST_LINE = 500  # characters of a line that is not added


@dataclass(frozen=True)
class PatchRow:
    """A line of a patch. `sign`: " ", "+" or "-"; `number`: in the new file (of a removed line: where it stood).

    `old`: of a removed line, its number in the old file.
    """

    sign: str
    number: int
    text: str
    old: int = 0
    moved: bool = False  # word for word, from or to another place of the change

    @property
    def name(self) -> tuple[bool, int]:
        """The number that is shown, and whether it is one of the old file."""
        return (self.sign == "-", self.old if self.sign == "-" else self.number)


@dataclass(frozen=True)
class Chunk:
    """Part of a change that is asked about at once. `lines`: (path, text) of its added lines.

    `shown`: every line of it, by path, by whether it was removed, and by number.
    """

    text: str
    paths: frozenset[str]
    lines: frozenset[tuple[str, str]]
    shown: Mapping[tuple[str, bool, int], PatchRow]


@dataclass(frozen=True)
class _Piece:
    path: str
    text: str
    rows: Sequence[PatchRow]


def chunks(diff: bytes, files: Sequence[ChangedFile], most_chars: int) -> tuple[Chunk, ...]:
    """Split a patch into chunks, in the order of the files. Refused: it cannot be read as what the changes say."""
    patch = marked(read_patch(diff))
    pieces = [piece for file in files for piece in _pieces(file, _checked(file, patch), most_chars)]
    return tuple(map(_chunk, _packed(pieces, most_chars)))


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
            rows = _hunk(lines, (int(head[1]), int(head[2] or 1)), (int(head[3]), int(head[4] or 1)))
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


def _hunk(lines: Iterator[bytes], before: tuple[int, int], after: tuple[int, int]) -> Iterator[PatchRow]:
    """`before`, `after`: the first number, and how many lines."""
    (number_old, old), (number, new) = before, after
    while old > 0 or new > 0:
        line = next(lines, None)
        if line is None:
            return
        sign, text = line[:1].decode("latin-1"), line[1:].decode("utf-8", "replace").removesuffix("\r")
        if sign in ("+", " ", "-"):
            yield PatchRow(sign, number, text, number_old if sign == "-" else 0)
        number, new = number + (sign in ("+", " ")), new - (sign in ("+", " "))
        number_old, old = number_old + (sign in ("-", " ")), old - (sign in ("-", " "))


def marked(patch: Mapping[str, tuple[PatchRow, ...]]) -> Mapping[str, tuple[PatchRow, ...]]:
    """Mark what only moved: the same lines, one after the other, removed in one place and added in another.

    What is added more often than it was removed is a copy; what was a text, or a test, is new as code.
    """
    places = {sign: _blocks(patch, sign) for sign in "+-"}
    both = [block for block, here in places["+"].items() if len(here) <= len(places["-"].get(block, ()))]
    moved = {place for sign in "+-" for block in both for place in places[sign][block]}
    return {
        path: tuple(replace(row, moved=(path, *row.name) in moved) if row.sign != " " else row for row in rows)
        for path, rows in patch.items()
    }


def _blocks(patch: Mapping[str, Sequence[PatchRow]], sign: str) -> dict[tuple[str, ...], list[tuple[str, bool, int]]]:
    """Each few lines of one sign that follow each other, by the kind of their file -> where these lines stand."""
    found: dict[tuple[str, ...], list[tuple[str, bool, int]]] = {}
    for path, rows in patch.items():
        for first in range(len(rows) - MOVED_AT_ONCE + 1):
            block = rows[first : first + MOVED_AT_ONCE]
            words = dedent("\n".join(row.text for row in block))
            if all(row.sign == sign for row in block) and sum(len(row.text.strip()) > 3 for row in block) > 1:
                kind = (path.rpartition(".")[2], str(is_test_file(path)))
                found.setdefault((*kind, words), []).extend((path, *row.name) for row in block)
    return found


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
            yield _Piece(file.path, "\n".join([title, *map(_shown, part)]), part)


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
    return f"{row.name[1]}{MOVED[row.sign] if row.moved else row.sign}{text}"


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
    rows = {(piece.path, *row.name): row for piece in group for row in piece.rows}
    lines = frozenset((path, row.text) for (path, _, _), row in rows.items() if row.sign == "+")
    return Chunk("\n\n".join(piece.text for piece in group), frozenset(piece.path for piece in group), lines, rows)


# --- texts for the model besides the change ------------------------------------------------------------------


LONGEST = 6_000  # characters of a block
MOST_NAMED = 20
MOST_WHY, LONGEST_WHY = 3, 600  # failures that are explained; characters of one


def task_text(task: TaskSpec, changed: Collection[str]) -> str:
    """Text of the task without its id, which holds a date.

    `changed`: paths; that no other path was touched, code has checked.
    """
    criteria = [f"{number}. {line}" for number, line in enumerate(task.acceptance, 1)] or ["- the description is met"]
    words = [task.title, "", task.description, "", "Acceptance:", *criteria]
    allowed = {"May change": task.files, "may create": task.new_files, "must not touch": task.guards}
    if named := [f"{word}: {', '.join(paths)}" for word, paths in allowed.items() if paths]:
        words += ["", "; ".join(named)]
    if left := [path for path in (*task.files, *task.new_files) if path not in changed]:
        words += ["", f"Named by the task, and not changed: {', '.join(left)}"]
    if beside := sorted(path for path in changed if path not in (*task.files, *task.new_files)):
        words += ["", f"Changed besides, which code allows (tests of our own): {', '.join(beside)}"]
    return "\n".join(words)[:LONGEST]


INDEPENDENT = "a test written from the task's words alone, by somebody who has not seen the change,"


def _proving(evidence: Evidence) -> str:
    """What is red is not compared further."""
    is_unasked = evidence.is_red and not evidence.proving
    return "nobody asked yet, since a test fails" if is_unasked else _named(evidence.proving)


def evidence_text(evidence: Evidence) -> str:
    """Evidence about this change. The suite's whole counts are left out: other tasks change them too."""
    lines = [
        f"failing: {_failing(evidence)}",
        *(f"{words}: {_named(tests.names, tests.count)}" for words, tests in evidence.compared.told()),
        *([f"failed, and passed when run again: {_named(evidence.flaky)}"] if evidence.flaky else []),
        *(
            [f"fails in other surroundings ({SURROUNDINGS}), as before the change: {_named(evidence.astray)}"]
            if evidence.astray
            else []
        ),
        f"new or changed tests that fail without the change: {_proving(evidence)}",
        f"other new tests: {_named(test for test in evidence.new_tests if test not in evidence.proving)}",
        f"coverage: {_coverage(evidence)}",
        *evidence.reach,
        *evidence.unrun,
        *evidence.unheld,
        *evidence.calls,
        *(f"problem: {one_line(problem.text, 600)}" for problem in evidence.problems),
        *(f"why it fails: {_why(one)}" for one in evidence.failures[:MOST_WHY]),
        *(f"why it fails still, as before the change: {_why(one)}" for one in evidence.still),
        *([f"{INDEPENDENT} {one_line(evidence.independent, 1_500)}"] if evidence.independent else []),
    ]
    return "\n".join(lines)[:LONGEST]


def _failing(evidence: Evidence) -> str:
    """How many tests fail; who reads a number alone takes old failures for the change's."""
    told = (
        f"{evidence.failed} ({evidence.failing_before} on the base; each that the change has broken is a problem below)"
    )
    return told if evidence.failed else "0"


def _why(failure: Failure) -> str:
    """A test, the cause first, then the lines that led there."""
    return f"{one_line(failure.test, LONGEST_NAME)}: {one_line(failure.text, LONGEST_WHY)}"


def findings_text(findings: Sequence[Finding]) -> str:
    """Numbered from 1, as the answer names them. A rule's has its weight: a model's has it by being shown at all."""
    return "\n".join(
        f"{number}. {'' if one.source == 'model' else f'{one.severity}, {one.rule}: '}{_place(one)}: {one.text}"
        for number, one in enumerate(findings, 1)
    )


def _place(finding: Finding) -> str:
    return f"{finding.path}, at `{finding.quote}`" if finding.quote else finding.path


def part_text(number: int, count: int) -> str:
    if count == 1:
        return ""
    return f", part {number + 1} of {count}: the other parts are read too; judge this one"


def _named(tests: Iterable[str], count: int = 0) -> str:
    """`tests/test_a.py::Tests: test_one, test_two; …`: where tests stand is said once for all that follow.

    `count`: how many there are, if these are the first ones.
    """
    names = [one_line(test, LONGEST_NAME) for test in tests]
    left = max(count, len(names)) - len(names[:MOST_NAMED])
    more = f" and {left} more" if left else ""
    places = groupby(map(_parted, names[:MOST_NAMED]), key=itemgetter(0))
    return "; ".join(place + ", ".join(name for _, name in parts) for place, parts in places) + more or "none"


def _parted(name: str) -> tuple[str, str]:
    """The place of a test, ready to be written before it, and its own name; a parameter may hold anything."""
    plain, bracket, parameter = name.partition("[")
    place, colons, own = plain.rpartition("::")
    return f"{place}: " if colons else "", own + bracket + parameter


def _coverage(evidence: Evidence) -> str:
    if evidence.covered is None or evidence.covered_before is None:
        return f"not measured: {evidence.uncounted}" if evidence.uncounted else "not measured"
    return "lower than before" if evidence.covered < evidence.covered_before - 0.05 else "not lower than before"
