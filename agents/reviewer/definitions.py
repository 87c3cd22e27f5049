"""Code around a change, as a reader would look it up: what it calls, who calls it, what it took away. Pure, bounded.

Names are followed through imports to the repository's own files; what a class inherits is not.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice, takewhile

from sisimpur.agents.reviewer.diff_analyzer import Chunk
from sisimpur.agents.reviewer.rules.case import Case, ChangedFile, PythonTree, target_names
from sisimpur.shared.model.change import usually_holds_keys
from sisimpur.shared.model.evidence import is_test_file
from sisimpur.shared.model.text import few
from sisimpur.shared.repo.file_parts import Defining, Definition, Function, defined, dumped, span

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
        names = _Names(case, file.path, file.tree)
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
    path: str
    tree: PythonTree

    def of(self, function: ast.expr) -> Iterator[_Place]:
        parts = _parts(function)
        if not parts:
            return
        head, *rest = parts
        if head in ("self", "cls") and rest:
            around = (one.name for one in self.tree.above(function) if isinstance(one, ast.ClassDef))
            yield from (_Place(self.path, f"{name}.{rest[0]}") for name in around)
        elif head in self._imported:
            yield from self._module(self._imported[head], rest)
        else:
            yield _Place(self.path, ".".join(parts))

    def has_another(self, owner: str, place: _Place) -> bool:
        """Whether the class that is called so here is one of another file: each command of Django is a `Command`."""
        if any(isinstance(node, ast.ClassDef) and node.name == owner for node in self.tree.nodes):
            return True
        found = [one.path for one in self._module(self._imported.get(owner, []), [])]
        folders = [path.removesuffix("__init__.py") for path in found if path.endswith("/__init__.py")]
        return bool(found) and place.path not in found and not any(map(place.path.startswith, folders))

    def _module(self, names: list[str], rest: list[str]) -> Iterator[_Place]:
        """The longest part of the name that is a file is the module; what follows is defined in it."""
        whole = [*names, *rest]
        for size in range(len(whole) - 1, 0, -1):
            if path := self._path("/".join(whole[:size])):
                yield _Place(path, ".".join(whole[size:]))
                return

    def _path(self, module: str) -> str:
        """Its file, from the root, or from a folder that the importing file lies in (`src`)."""
        folder, ends = self.path, (f"{module}.py", f"{module}/__init__.py")
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
                here = self.path.split("/")[: -node.level] if node.level else []
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


# --- who calls what a change changed -------------------------------------------------------------------------


MOST_CALLERS, MOST_TESTS, MOST_ASKED = 24, 40, 16  # lines of callers, of these and tests; files that are parsed
MOST_OF_CALL, MOST_OF_TEST, LONGEST_OF_USE = 6, 10, 160  # lines of one, characters of a line
BUILTIN = frozenset(name for kind in (dict, list, set, str, bytes) for name in dir(kind))


@dataclass(frozen=True)
class Use:
    """Lines that use a changed definition. `name`: of the definition; `within`: what they stand in."""

    path: str
    first: int
    lines: tuple[str, ...]
    name: str
    within: str
    is_test: bool

    @property
    def told(self) -> str:
        within = f", in {self.within}" if self.within else ""
        return "\n".join((f"=== {self.path}, from line {self.first}{within}: uses {self.name}", *self.lines))

    def is_shown(self, chunk: Chunk) -> bool:
        """By the change itself, for the most part."""
        seen = sum((self.path, False, self.first + number) in chunk.shown for number in range(len(self.lines)))
        return seen > MOSTLY * len(self.lines)


def told_uses(uses: Sequence[Use], chunk: Chunk) -> str:
    """Those that the chunk does not show: callers, then tests; the first of each file before its second."""
    texts: list[str] = []
    room = MOST_TESTS
    counts = Counter[tuple[str, str]]()
    ranked: list[tuple[bool, int, Use]] = []
    for use in uses:
        if not use.is_shown(chunk):
            ranked.append((use.is_test, counts[use.path, use.name], use))
            counts[use.path, use.name] += 1
    for is_test, _, use in sorted(ranked, key=lambda one: one[:2]):
        size = len(use.lines) + 1
        if size <= room - (0 if is_test else MOST_TESTS - MOST_CALLERS):
            texts.append(use.told)
            room -= size
    return "\n\n".join(texts)


def uses(case: Case) -> tuple[Use, ...]:
    """Of functions and classes of the product that say something else than before; the nearest files first."""
    places = [_Place(file.path, name) for file in case.files if not file.is_test for name in _altered(file)]
    known = _knowing(case, {_last(place) for place in places})
    files = {path for paths in known.values() for path in paths if path.endswith(".py")}
    near = sorted(files, key=lambda path: (-max(_shared(path, place.path) for place in places), path))
    asked = [[path for path in near if is_test_file(path) == tests][:MOST_ASKED] for tests in (False, True)]
    return tuple(use for path in chain(*asked) for use in _uses_in(case, path, places))


def _shared(path: str, other: str) -> int:
    """How many folders two files have in common."""
    pairs = zip(path.split("/")[:-1], other.split("/")[:-1], strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _altered(file: ChangedFile) -> Iterator[str]:
    """Names of definitions that are there before and after; a class stands for what makes it."""
    before, after = (dict(_said(tree.module.body)) if tree else {} for tree in (file.tree_before, file.tree))
    names = (name for name in after if name in before and after[name] != before[name])
    made = (name.removesuffix(".__init__").removesuffix(".__new__") for name in names)
    yield from dict.fromkeys(name for name in made if not name.endswith("__"))


def _said(body: Sequence[ast.stmt], within: str = "") -> Iterator[tuple[str, str]]:
    """(name, all that it says but its docstring); a class without what it defines."""
    for node in body:
        if not isinstance(node, Defining):
            continue
        inner = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
        if isinstance(node, ast.ClassDef):
            inner = [one for one in inner if not isinstance(one, Defining)]
            yield from _said(node.body, f"{within}{node.name}.")
        head: list[ast.AST] = [*node.bases, *node.keywords] if isinstance(node, ast.ClassDef) else [node.args]
        yield within + node.name, " ".join(map(dumped, (*node.decorator_list, *head, *inner)))


def _last(place: _Place) -> str:
    return place.name.rpartition(".")[2]


def _uses_in(case: Case, path: str, places: Sequence[_Place]) -> Iterator[Use]:
    """One for each definition and function that uses it: its call, before what only names it."""
    text = case.read(path) or ""
    tree = PythonTree.of(text)
    if tree is None:
        return
    lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
    names, seen = _Names(case, path, tree), set[tuple[str, object]]()
    calls = {id(node.func) for node in tree.nodes if isinstance(node, ast.Call)}
    for node in sorted(tree.nodes, key=lambda node: id(node) not in calls):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            place = next((one for one in places if _is_meant(node, one, names, text)), None)
            function = tree.function_of(node)
            inside = place and place.path == path and function and function.name == _last(place)  # it calls itself
            if place and not inside and (place.name, function) not in seen:
                seen.add((place.name, function))
                yield _use(tree, path, lines, node, place)


def _is_meant(node: ast.Name | ast.Attribute, place: _Place, names: _Names, text: str) -> bool:
    """By its imports, also where the package passes it on; a method by its name, where its class is named."""
    last = _last(place)
    if (node.id if isinstance(node, ast.Name) else node.attr) != last and not isinstance(node, ast.Name):
        return False
    for found in names.of(node):
        folder, _, file = found.path.rpartition("/")
        passes_on = file == "__init__.py" and place.path.startswith(f"{folder}/") and found.name == place.name
        if found == place or passes_on:
            return True
    owner = place.name.rpartition(".")[0].rpartition(".")[2]
    is_method = bool(owner) and isinstance(node, ast.Attribute) and last not in BUILTIN
    if not is_method or names.path == place.path:
        return is_method
    return bool(re.search(rf"\b{re.escape(owner)}\b", text)) and not names.has_another(owner, place)


def _use(tree: PythonTree, path: str, lines: Sequence[str], node: ast.expr, place: _Place) -> Use:
    """A short test whole; else the call and the lines around it, in the function that it stands in."""
    function, is_test = tree.function_of(node), is_test_file(path)
    call = next((one for one in islice(tree.above(node), 1) if isinstance(one, ast.Call) and one.func is node), node)
    low, high = span(function) if function else (1, len(lines))
    first, most = max(low, call.lineno - 1), MOST_OF_CALL
    last = min(high, (call.end_lineno or call.lineno) + 1, first + most - 1)
    if is_test and function:
        most = MOST_OF_TEST
        first = low if high - low < most else max(low, call.lineno - 3)
        last = min(high, first + most - 1)
    within = ".".join(tree.names_above(call.lineno))
    told = tuple(line[:LONGEST_OF_USE] for line in lines[first - 1 : last])
    return Use(path, first, told, place.name, within, is_test)


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
