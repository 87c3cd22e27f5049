"""Definitions that changed code calls and the change does not show: what a reader would look up. Pure, and bounded.

Names are followed through imports to the repository's own files; what a class inherits is not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice

from sisimpur.agents.reviewer.diff_analyzer import Chunk
from sisimpur.agents.reviewer.rules.case import Case, ChangedFile, PythonTree
from sisimpur.shared.model.change import usually_holds_keys
from sisimpur.shared.repo.definitions import Defining, Definition, defined

MOST, MOST_CHARS, MOST_LINES = 6, 8_000, 60  # definitions, characters of all, lines of one
MOST_CALLS = 200  # that are followed
MOST_READ = 1_000_000  # characters of the files that these lead to
MOSTLY = 2 / 3  # of its lines, from which on a definition is shown by the change itself


@dataclass(frozen=True)
class _Place:
    """A definition, by its file and its name with dots: `Shop.tax`."""

    path: str
    name: str


def called(case: Case, chunk: Chunk) -> str:
    """The product's files first; empty: everything called is shown, or somebody else's."""
    texts: list[str] = []
    known: dict[str, Sequence[Definition]] = {}
    room, left = MOST_CHARS, MOST_READ
    for place in dict.fromkeys(_places(case, chunk)):
        if place.path not in known:
            left -= len(case.read(place.path) or "")
            known[place.path] = _defined(case, place.path) if left >= 0 else ()
        text = _text(case, chunk, place, known[place.path])
        if text and len(text) <= room:
            texts.append(text)
            room -= len(text)
        if len(texts) == MOST:
            break
    return "\n\n".join(texts)


def _places(case: Case, chunk: Chunk) -> Iterator[_Place]:
    files = [file for file in case.files if file.path in chunk.paths and file.tree]
    for file in sorted(files, key=lambda file: file.is_test):
        assert file.tree
        names = _Names(case, file, file.tree)
        new = (call.func for call in names.tree.calls if _is_new(file, call))
        for function in islice(chain(_decorators(file, names.tree), new), MOST_CALLS):
            yield from names.of(function)


def _decorators(file: ChangedFile, tree: PythonTree) -> Iterator[ast.expr]:
    """Of the functions and classes that the change touches, the innermost last: they decide whether these are run."""
    for node in tree.nodes:
        if isinstance(node, Defining) and _is_new(file, node):
            yield from (one.func if isinstance(one, ast.Call) else one for one in node.decorator_list)


def _is_new(file: ChangedFile, node: ast.stmt | ast.expr) -> bool:
    return bool(file.first_added(node.lineno, node.end_lineno or node.lineno))


def _text(case: Case, chunk: Chunk, place: _Place, known: Sequence[Definition]) -> str:
    found = [one for one in known if one.name == place.name]
    if not found:
        return ""
    first, last = found[-1].first, found[-1].last  # the last one of a name counts, as for Python
    seen = sum((place.path, False, number) in chunk.shown for number in range(first, last + 1))
    if seen > MOSTLY * (last - first + 1):
        return ""
    lines = (case.read(place.path) or "").split("\n")[first - 1 : min(last, first + MOST_LINES - 1)]
    cut = ["[cut]"] if last - first >= MOST_LINES else []
    return "\n".join((f"=== {place.path}, from line {first}", *lines, *cut))


def _defined(case: Case, path: str) -> Sequence[Definition]:
    """Nothing of a file that usually holds keys."""
    changed = next((file for file in case.files if file.path == path), None)
    text = None if changed or usually_holds_keys(path) else case.read(path)
    tree = changed.tree if changed else PythonTree.of(text) if text is not None else None
    return tuple(defined(tree.module.body)) if tree and not usually_holds_keys(path) else ()


@dataclass(frozen=True)
class _Names:
    """Names of one file -> places of the repository."""

    case: Case
    file: ChangedFile
    tree: PythonTree

    def of(self, function: ast.expr) -> Iterator[_Place]:
        parts = _parts(function)
        if not parts:
            return
        head, *rest = parts
        if head in ("self", "cls") and rest:
            around = (one.name for one in self.tree.above(function) if isinstance(one, ast.ClassDef))
            yield from (_Place(self.file.path, f"{name}.{rest[0]}") for name in around)
        elif head in self._imported:
            yield from self._module(self._imported[head], rest)
        else:
            yield _Place(self.file.path, ".".join(parts))

    def _module(self, names: list[str], rest: list[str]) -> Iterator[_Place]:
        """The longest part of the name that is a file is the module; what follows is defined in it."""
        whole = [*names, *rest]
        for size in range(len(whole) - 1, 0, -1):
            if path := self._path("/".join(whole[:size])):
                yield _Place(path, ".".join(whole[size:]))
                return

    def _path(self, module: str) -> str:
        """Its file, from the root, or from a folder that the importing file lies in (`src`)."""
        folder, ends = self.file.path, (f"{module}.py", f"{module}/__init__.py")
        while True:
            folder = folder.rpartition("/")[0]
            for end in ends:
                if (path := f"{folder}/{end}".lstrip("/")) in self.case.tracked:
                    return path
            if not folder:
                return ""

    @cached_property
    def _imported(self) -> dict[str, list[str]]:
        """Local name -> what it stands for, relative imports made whole."""
        found: dict[str, list[str]] = {}
        for node in self.tree.nodes:
            if isinstance(node, ast.Import):
                for one in node.names:
                    names = one.name.split(".")
                    found[one.asname or names[0]] = names if one.asname else names[:1]
            elif isinstance(node, ast.ImportFrom):
                here = self.file.path.split("/")[: -node.level] if node.level else []
                for one in node.names:
                    found[one.asname or one.name] = [*here, *(node.module or "").split("."), one.name]
        return {name: [part for part in parts if part] for name, parts in found.items()}


def _parts(function: ast.expr) -> list[str]:
    """`shop.prices.tax` in parts; empty: it is called on no plain name."""
    parts: list[str] = []
    while isinstance(function, ast.Attribute):
        parts.append(function.attr)
        function = function.value
    return [function.id, *reversed(parts)] if isinstance(function, ast.Name) else []
