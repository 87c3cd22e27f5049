"""Code around a change, as a reader would look it up: what it calls, and what it took away. Pure, and bounded.

Names are followed through imports to the repository's own files; what a class inherits is not.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice

from sisimpur.agents.reviewer.diff_analyzer import Chunk
from sisimpur.agents.reviewer.rules.case import Case, ChangedFile, Function, PythonTree, target_names
from sisimpur.shared.model.change import usually_holds_keys
from sisimpur.shared.model.text import few
from sisimpur.shared.repo.file_parts import Defining, Definition, defined, dumped

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
            known[place.path] = _of_file(case, place.path) if left >= 0 else ()
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


def _of_file(case: Case, path: str) -> Sequence[Definition]:
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


# --- definitions that a change took away ---------------------------------------------------------------------


LONGEST_IMPORT = 200  # characters
MOST_GONE, MOST_FILES, MOST_NAMED = 12, 2_000, 4  # definitions, files that are searched, files that are named
READ = (".py", ".html", ".htm", ".txt", ".jinja", ".jinja2", ".toml", ".cfg", ".ini", ".yml", ".yaml", ".json", ".sh")


def gone(case: Case) -> str:
    """One line for each; empty: nothing is gone."""
    lost = [(file, name) for file in case.files if not file.is_test for name in _lost(file)][:MOST_GONE]
    knowing = _knowing(case, {name for _, name in lost})
    return "\n".join(f"{file.path}: {name}: {_told(case, file, name, knowing[name])}" for file, name in lost)


def _lost(file: ChangedFile) -> Iterator[str]:
    """Names that are defined less often than before, on the outermost level."""
    before, after = _defined(file.tree_before), _defined(file.tree)
    if file.after is None or file.tree:
        yield from sorted(name for name, count in before.items() if count > after[name])


def _defined(tree: PythonTree | None) -> Counter[str]:
    body = tree.module.body if tree else []
    return Counter(node.name for node in body if isinstance(node, Function | ast.ClassDef))


def _told(case: Case, file: ChangedFile, name: str, known: list[str]) -> str:
    before, after = _bindings(file.tree_before, name), _bindings(file.tree, name)
    if after and len(before) == 1 and isinstance(after[-1], ast.Import | ast.ImportFrom):
        return f"line {after[-1].lineno} imports it now: {ast.unparse(after[-1])[:LONGEST_IMPORT]}"
    if after:
        same = dumped(before[-1]) == dumped(after[-1]) != ""
        told = "which was so before" if same else "which was not so before"
        return f"was bound more than once; line {after[-1].lineno} binds it last now, {told}"
    others = [path for path in known if path != file.path]
    if len(_paths(case)) > MOST_FILES and not known:
        return f"named in none of the {MOST_FILES} files that were searched"
    where = (["this file"] if file.path in known else []) + others
    return f"still named in {few(where, MOST_NAMED)}" if where else "named in no file any more"


def _bindings(tree: PythonTree | None, name: str) -> list[ast.stmt]:
    """Statements of the outermost level that bind a name, in their order: the last one counts."""
    return [node for node in (tree.module.body if tree else []) if name in _bound(node)]


def _bound(node: ast.stmt) -> list[str]:
    if isinstance(node, Function | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [alias.asname or alias.name for alias in node.names]
    return target_names(node)


def _knowing(case: Case, names: set[str]) -> dict[str, list[str]]:
    """Name -> the files that hold it as a word: importers, routes, templates, tests."""
    found: dict[str, list[str]] = {name: [] for name in names}
    if not names:
        return found
    word = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(names)))})\b")
    for path in _paths(case)[:MOST_FILES]:
        for name in set(word.findall(case.read(path) or "")):
            found[name].append(path)
    return found


def _paths(case: Case) -> list[str]:
    """Files that may name it."""
    return [path for path in sorted(case.tracked) if path.endswith(READ) and not usually_holds_keys(path)]
