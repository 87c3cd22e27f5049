"""(A long file, a task's words) -> the parts of it that matter, letter by letter, and where all else stands. Pure."""

from __future__ import annotations

import ast
import re
import warnings
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sisimpur.shared.model.evidence import is_test_file

GUESSED = re.compile(
    r"(\s*)(?:export\s+)?(?:default\s+)?(?:async\s+)?(?:def|class|function|func|fn|interface|struct)\s+(\w+)"
)
Function = ast.FunctionDef | ast.AsyncFunctionDef
Defining = ast.ClassDef | Function


@dataclass(frozen=True)
class Definition:
    """A class or a function. Lines are counted from 1: `line` is that of its name, `first` that of its decorators.

    Lines from `line` up to `body` are its head and docstring; `last` belongs to it.
    """

    name: str  # `Class.method`
    line: int
    first: int
    last: int
    body: int
    signature: str

    @property
    def lines(self) -> range:
        return range(self.first, self.last + 1)

    @property
    def depth(self) -> int:
        return self.name.count(".")


def parse(text: str) -> ast.Module | None:
    """None: Python cannot read it. Its warnings are its own affair."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text.removeprefix("\ufeff"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def definitions(text: str) -> tuple[Definition, ...]:
    """Classes, functions and methods, in their order; of what Python cannot read, what looks like one."""
    tree = parse(text)
    return tuple(defined(tree.body) if tree else _guessed(text.split("\n")))


def defined(body: Iterable[ast.stmt], within: str = "") -> Iterator[Definition]:
    for node in body:
        if not isinstance(node, Defining):
            continue
        told = node.body[0].end_lineno if ast.get_docstring(node, clean=False) is not None else None
        start = (told or node.body[0].lineno - 1) + 1
        first, last = span(node)
        yield Definition(within + node.name, node.lineno, first, last, start, _signature(node))
        if isinstance(node, ast.ClassDef):
            yield from defined(node.body, f"{within}{node.name}.")


def functions(node: ast.AST, within: str = "") -> Iterator[tuple[str, Function]]:
    """Functions by name: those of a module and of its classes, and each in another; none below a statement."""
    for one in ast.iter_child_nodes(node):
        if isinstance(one, Function):
            yield within + one.name, one
        if isinstance(one, Defining):
            yield from functions(one, f"{within}{one.name}.")


def innermost(known: Iterable[Definition]) -> dict[int, Definition]:
    """Line -> the innermost of these definitions that holds it."""
    return {line: one for one in known for line in one.lines}  # outer ones come first


def span(node: ast.AST) -> tuple[int, int]:
    """First and last line, decorators included."""
    first = int(getattr(node, "lineno", 0))
    decorators = getattr(node, "decorator_list", [])
    return min([first, *(one.lineno for one in decorators)]), int(getattr(node, "end_lineno", None) or first)


def dumped(node: ast.AST) -> str:
    """All that it says; empty: it is nested too deeply."""
    try:
        return ast.dump(node)
    except RecursionError:
        return ""


def _signature(node: Defining) -> str:
    if isinstance(node, ast.ClassDef):
        return f"class {node.name}"
    names = ", ".join(argument.arg for argument in (*node.args.posonlyargs, *node.args.args))
    return f"def {node.name}({names})"


def _guessed(lines: Sequence[str]) -> Iterator[Definition]:
    """By indentation: each lasts up to the next that is not inside of it."""
    found = [(number, match) for number, line in enumerate(lines, 1) if (match := GUESSED.match(line))]
    ends: dict[int, int] = {}
    after: list[tuple[int, int]] = []  # (indentation, line) of those below, each deeper than the one before it
    for number, match in reversed(found):
        while after and after[-1][0] > len(match[1]):
            after.pop()
        ends[number] = (after[-1][1] if after else len(lines) + 1) - 1
        after.append((len(match[1]), number))
    for number, match in found:
        signature = " ".join(lines[number - 1].split(":")[0].rstrip(" {").split())
        yield Definition(match[2], number, number, ends[number], number + 1, signature)


LONG = 30_000  # characters; a shorter file is shown whole: another call costs more than what is left out
MOST = 24_000  # characters of a file's parts
WHOLE = 2 * LONG  # up to here a file of which the task names nothing is shown whole
HEAD, AROUND, NEAR = 60, 12, 40  # lines: of the beginning, around a place in no definition, of a neighbour
LONGEST = 5 * NEAR  # lines of a definition that is shown whole for a place in it
LEAST_GAP = 4  # lines; to say that fewer are left out takes as much room
MOST_LISTED = 150  # definitions that are listed with their methods; of more, the outer ones alone
MOST_OUTER = 600  # of these
MOST_BESIDE = 4  # parts of which the neighbours are shown, too
MOST_USES = 8  # lines of a file that hold a name or a quote; of one that more hold, they say little
MOST_QUOTES = 200  # quotes of the task's words that are looked for
LEFT_OUT = "⋮"  # begins a line that is not in the file

QUOTED = re.compile(r"`([^`\n]{4,200})`|\"([^\"\n]{6,200})\"")
LEAST_LINE = 12  # characters of a line that says something by standing in the task's words
WORD = re.compile(r"\w+")
PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")  # of a name
NUMBERS = r"(\d{1,6})(?:\s?[-–]\s?(\d{1,6}))?"
LISTED = re.compile(r"\blines? ((?:\d{1,6}|\s?[-–,]\s?|\s(?:and|to)\s){1,40})")
A_FILE = r"[\w.-]*/[\w./-]*\.\w+"
JUST_NAMED = re.compile(r"(\w+)\W{1,3}$")
HUNK = re.compile(r"^\+\+\+ b/(.+)$|^@@ -\S+ \+(\d+)(?:,(\d+))? @@", re.MULTILINE)
IS_NAME = re.compile(r"_|\.|[a-z][A-Z]|^[A-Z]\w*[a-z]\w*[A-Z]|\d")  # no plain word of English


# --- which parts matter --------------------------------------------------------------------------------------


def lines_of(text: str) -> list[str]:
    """With their ends, as editors and Python count them: only at line feeds."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def view(path: str, text: str, words: str, long: int = LONG, most: int = MOST) -> str:
    """What is shown of the file in place of all of it; empty: all of it is shown. `words`: what the task says.

    `long`, `most`: characters of a file that is shown in parts, and of these.
    """
    if len(text) <= long:
        return ""
    lines, known = lines_of(text), definitions(text)
    wanted = dict.fromkeys(_wanted(path, lines, known, words))
    if not wanted and len(text) <= WHOLE and most == MOST:
        return ""
    head = range(1, min(HEAD, known[0].first - 1 if known else HEAD) + 1)
    shown: set[int] = set()
    room = most
    for part in (*(range(number, number + 1) for number in head), *wanted):
        new = [number for number in part if number not in shown and number <= len(lines)]
        if (size := sum(len(lines[number - 1]) for number in new)) <= room:
            shown.update(new)
            room -= size
    for number, line in enumerate(lines, 1):  # a gap of blanks says nothing
        if number - 1 in shown and not line.strip():
            shown.add(number)
    for one, other in pairwise((0, *sorted(shown), len(lines) + 1)):
        if other - one <= LEAST_GAP:
            shown.update(range(one + 1, other))
    return "".join(_rendered(lines, shown, known)) if len(shown) < len(lines) else ""


def is_told_of(text: str, words: str) -> bool:
    """Whether the words name a definition of this text by a name that is no plain word."""
    said = set(WORD.findall(words))
    return any(_last(one) in said and IS_NAME.search(_last(one)) for one in definitions(text))


def changed_lines(patch: str) -> Iterator[str]:
    """`path:10-12` for each place of a patch: words that name what it has touched."""
    path = ""
    for found in HUNK.finditer(patch):
        path = found[1] or path
        if found[2]:
            yield f"{path}:{found[2]}-{int(found[2]) + max(int(found[3] or 1), 1) - 1}"


def _wanted(path: str, lines: Sequence[str], known: Sequence[Definition], words: str) -> Iterator[range]:
    """The parts, what matters most first: lines that are named or quoted, definitions that are named, where these are
    used, and what stands beside all that.
    """
    holders = innermost(known)
    said, plain = set(WORD.findall(words)), " ".join(("", *WORD.findall(words.lower())))
    named = [one for one in known if len(_last(one)) > 2 and (_last(one) in said or _in_words(_last(one)) in plain)]
    places = dict.fromkeys((*_places(path, words, len(lines), known), *_quoted(lines, words)))
    inner = dict.fromkeys(_around(place, holders, len(lines)) for place in places)
    yield from inner
    strong = [one for one in named if IS_NAME.search(_last(one)) or f"`{one.name}" in words]
    whole = [*inner, *(one.lines for one in strong)]
    yield from (_head(one, known) if _says_where(one, whole) else one.lines for one in strong)
    if is_test_file(path):
        yield range(max(1, len(lines) - AROUND), len(lines) + 1)  # where new tests go
    uses = {_last(one) for one in strong} | {word for word in said if len(word) > 3 and "_" in word.strip("_")}
    used = [(number, uses.intersection(WORD.findall(line))) for number, line in enumerate(lines, 1)]
    often = Counter(name for _, names in used for name in names)
    for number, names in used:
        if any(often[name] <= MOST_USES for name in names):
            yield _around(number, holders, len(lines))
    yield from (one.lines for one in named if not _says_where(one, whole))
    firsts, lasts = {one.first: one for one in reversed(known)}, {one.last: one for one in reversed(known)}
    for part in (*inner, *(one.lines for one in named))[:MOST_BESIDE]:
        near = (*(lasts.get(part.start - 4 + n) for n in range(4)), *(firsts.get(part.stop + n) for n in range(4)))
        yield from (one.lines for one in near if one and len(one.lines) <= NEAR)


def _places(path: str, words: str, end: int, known: Sequence[Definition]) -> Iterator[int]:
    """Lines that the words name: `path:10`, `path:10-12`, `line 10`, `lines 10, 12 and 20-25`."""
    name = re.escape(path.rpartition("/")[2])
    listed = " ".join(_listed(path, words, known))
    for found in (*re.finditer(rf"{name}:{NUMBERS}", words), *re.finditer(NUMBERS, listed)):
        first, last = int(found[1]), int(found[2] or found[1])
        yield from range(first, min(last, first + 400, end) + 1)


def _listed(path: str, words: str, known: Sequence[Definition]) -> Iterator[str]:
    """The lists of lines, but those of another file: the one that is named last before them in their paragraph.

    Beside the name of a definition that lies elsewhere by now they are out of date: its name says where it is.
    """
    own = re.escape(path.rpartition("/")[2])
    said = re.compile(rf"{LISTED.pattern}|(?<![\w./-])({A_FILE}|{own}\b)")
    for paragraph in words.splitlines():
        file = ""
        for found in said.finditer(paragraph):
            file = found[2] or file
            beside = JUST_NAMED.search(paragraph, max(0, found.start() - 80), found.start())
            if found[1] and path.endswith(file) and not _has_moved(beside[1] if beside else "", found[1], known):
                yield found[1]


def _has_moved(name: str, listed: str, known: Sequence[Definition]) -> bool:
    """Tell whether what is called so holds none of these lines."""
    places = [one.lines for one in known if _last(one) == name]
    numbers = [int(found) for found in re.findall(r"\d+", listed)]
    return bool(places) and not any(number in place for place in places for number in numbers)


def _quoted(lines: Sequence[str], words: str) -> Iterator[int]:
    """Lines that stand in the words, or hold what is quoted there."""
    quotes = dict.fromkeys(piece.strip() for found in QUOTED.findall(words) for piece in found if piece.strip())
    pieces = [piece for piece in list(quotes)[:MOST_QUOTES] if sum(piece in line for line in lines) <= MOST_USES]
    told = {line for each in words.splitlines() if len(line := each.strip()) >= LEAST_LINE}
    for number, line in enumerate(lines, 1):
        if line.strip() in told or any(piece in line for piece in pieces):
            yield number


def _in_words(name: str) -> str:
    """`QualityQuestion` and `quality_question` as somebody says it; of one word alone: nothing that is said."""
    parts = PART.findall(name)
    return " ".join(("", *parts)).lower() if len(parts) > 1 else "\n"


def _last(one: Definition) -> str:
    return one.name.rpartition(".")[2]


def _says_where(one: Definition, parts: Iterable[range]) -> bool:
    """A long one of which a part is meant, too: it is named to say where that stands."""
    inside = (part for part in parts if part != one.lines and part.start in one.lines)
    return len(one.lines) > LONGEST and any(inside)


def _head(one: Definition, known: Sequence[Definition]) -> range:
    """Down to the first that it holds."""
    inside = (other.first for other in known if other.name.startswith(f"{one.name}."))
    return range(one.first, min(inside, default=one.body))


def _around(number: int, holders: Mapping[int, Definition], end: int) -> range:
    """The innermost definition that holds the line; a few lines where none does, or it is too long."""
    inner = holders[number].lines if number in holders else range(0)
    near = range(max(1, number - AROUND), min(end, number + AROUND) + 1)
    return inner if 0 < len(inner) <= LONGEST else near


def _rendered(lines: Sequence[str], shown: Collection[int], known: Sequence[Definition]) -> Iterator[str]:
    listed = [one for one in known if len(known) <= MOST_LISTED or "." not in one.name]
    more, listed = len(listed) - MOST_OUTER, listed[:MOST_OUTER]
    number = 1
    while number <= len(lines):
        if number in shown:
            line = lines[number - 1]
            yield line if line.endswith("\n") else f"{line}\n"
            number += 1
            continue
        last = next((other for other in range(number, len(lines) + 1) if other in shown), len(lines) + 1) - 1
        yield f"{LEFT_OUT} lines {number}-{last} are not shown here\n"
        ends = (bisect_left(listed, one, key=lambda each: each.first) for one in (number, last + 1))
        inside = ((one, lines[one.line - 1].strip()[:160]) for one in listed[slice(*ends)])
        yield from (f"{LEFT_OUT}   {one.first}-{one.last}: {one.name}: {head}\n" for one, head in inside)
        number = last + 1
    if more > 0:
        yield f"{LEFT_OUT} {more} more definitions are not listed\n"


# --- one place -----------------------------------------------------------------------------------------------


def place_of(text: str, name: str) -> range | None:
    """The lines of a definition by its whole name, or by its last part if only one has it."""
    known = definitions(text)
    found = [one for one in known if one.name == name] or [one for one in known if one.name.split(".")[-1] == name]
    return found[0].lines if len(found) == 1 else None
