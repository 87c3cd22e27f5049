"""Measures the house by reading its source: lines, sizes, packages, cycles, names. Pure functions over syntax trees.

The product is main.py, cli, agents, shared and web; `simulators/` is measured apart. A package is a folder that holds
Python files, named with dots. `bench/house.py` prints the table; the architecture test holds its limits.
"""

from __future__ import annotations

import ast
import builtins
import os
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

PRODUCT = ("main.py", "cli", "agents", "shared", "web")
SIMULATORS = ("simulators",)
FOREIGN = {"__pycache__", "node_modules", "dist"}  # folders that hold nobody's source of ours
BELOW = "sisimpur."  # the import root: modules are named by their folders here, without it
FACE = 5  # names that the `__init__` of a package may export

Function = ast.FunctionDef | ast.AsyncFunctionDef
Graph = Mapping[str, Collection[str]]


@dataclass(frozen=True)
class Module:
    """One source file. `path`: below the root, with slashes."""

    path: str
    text: str

    @property
    def is_face(self) -> bool:
        return self.path.endswith("__init__.py")

    @property
    def name(self) -> str:
        """With dots, as it is imported; a package's `__init__` has the package's name."""
        return re.sub(r"/__init__$", "", self.path.removesuffix(".py")).replace("/", ".")

    @property
    def package(self) -> str:
        """The folder with dots; empty: the root."""
        return self.path.rpartition("/")[0].replace("/", ".")

    @cached_property
    def rows(self) -> list[str]:
        return self.text.split("\n")

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, self.path)

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All of the tree, kept: most figures look for something in it."""
        return tuple(ast.walk(self.tree))

    @cached_property
    def imported(self) -> tuple[tuple[str, str], ...]:
        """(dotted name, what it is called here) of every import, in functions and under TYPE_CHECKING too.

        `from a import b` is `a.b`, whether b is a module or a name in one; relative names are made whole.
        """
        return tuple(_imported(self))

    @cached_property
    def classes(self) -> tuple[ast.ClassDef, ...]:
        return tuple(node for node in self.nodes if isinstance(node, ast.ClassDef))


@dataclass(frozen=True)
class Size:
    """Something that was measured, and where it stands."""

    value: int
    where: str  # path:line name


def read_modules(root: Path, tops: Iterable[str] = PRODUCT) -> tuple[Module, ...]:
    """Reads every Python file of these files and folders below the root, in the order of their paths.

    What is not there is left out. SyntaxError comes later, with the first look at the tree.
    """
    paths = sorted(path for top in tops for path in _python_files(root / top))
    return tuple(Module(path.relative_to(root).as_posix(), path.read_text("utf-8")) for path in paths)


def _python_files(top: Path) -> Iterator[Path]:
    if top.is_file():
        yield top
    for folder, below, files in os.walk(top):
        below[:] = [name for name in below if name not in FOREIGN and not name.startswith(".")]
        yield from (Path(folder, name) for name in files if name.endswith(".py"))


# --- lines ---------------------------------------------------------------------------------------------------


def lines(modules: Iterable[Module]) -> int:
    return sum(module.text.count("\n") for module in modules)


def code_lines(modules: Iterable[Module]) -> int:
    """Lines without blanks, comments and docstrings; each line of a longer text counts."""
    return sum(len(_lines_of_code(module) - _lines_of_docstrings(module)) for module in modules)


def _lines_of_code(module: Module) -> set[int]:
    """Without the tokenizer, which takes five times as long: only a text in triple quotes holds other lines."""
    plain = {n for n, line in enumerate(module.rows, 1) if line.strip() and line.lstrip()[0] != "#"}
    texts = (node for node in module.nodes if isinstance(node, ast.Constant | ast.JoinedStr))
    return plain | {n for text in texts if _is_long(module, text) for n in _span(text)}


def _is_long(module: Module, text: ast.Constant | ast.JoinedStr) -> bool:
    return text.lineno != text.end_lineno and any(q in module.rows[text.lineno - 1] for q in ('"""', "'''"))


def _span(node: ast.expr) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _lines_of_docstrings(module: Module) -> set[int]:
    return {n for text in docstrings(module) for n in _span(text)}


def docstrings(module: Module) -> Iterator[ast.Constant]:
    for node in module.nodes:
        if isinstance(node, ast.Module | ast.ClassDef | Function) and node.body:
            match node.body[0]:
                case ast.Expr(ast.Constant(str()) as text):
                    yield text


# Words that begin a fragment: a docstring begins with a verb or a noun.
_OBLIQUE = re.compile(
    r"\s*(about|after|also|as|at|because|before|below|beside|but|by|either|else|even|for|from|how|if|in|into|its?|less"
    r"|more|never|no|nobody|not|nothing|of|on|once|only|or|so|than|that|these|they|this|those|to|until|what|whatever"
    r"|when|where|whether|which|while|who|whoever|whom|whose|why|with|without)\b",
    re.IGNORECASE,
)


def fragments(modules: Iterable[Module]) -> list[Size]:
    """Docstrings that begin with a preposition, a conjunction or a pronoun: the place and the first line of each."""
    return [
        Size(1, f"{module.path}:{text.lineno} {str(text.value).strip().partition(chr(10))[0]}")
        for module in modules
        for text in docstrings(module)
        if _OBLIQUE.match(str(text.value))
    ]


# --- sizes ---------------------------------------------------------------------------------------------------


def files_by_length(modules: Iterable[Module]) -> list[Size]:
    """The longest first."""
    return _biggest_first(Size(lines([module]), module.path) for module in modules)


def functions_by_length(modules: Iterable[Module]) -> list[Size]:
    """Lines from `def` to the end, nested functions too; the longest first."""
    return _biggest_first(
        Size((node.end_lineno or node.lineno) - node.lineno + 1, _place(module, node))
        for module in modules
        for node in _functions(module)
    )


def functions_by_parameters(modules: Iterable[Module]) -> list[Size]:
    """Parameters without `self` and `cls`; `*args` and `**kwargs` are one each; the most first."""
    return _biggest_first(
        Size(_parameters(node), _place(module, node)) for module in modules for node in _functions(module)
    )


def _functions(module: Module) -> Iterator[Function]:
    return (node for node in module.nodes if isinstance(node, Function))


def _parameters(function: Function) -> int:
    told = function.args
    plain = [arg.arg for arg in (*told.posonlyargs, *told.args)]
    own = plain[:1] in (["self"], ["cls"])
    return len(plain) - own + len(told.kwonlyargs) + bool(told.vararg) + bool(told.kwarg)


def _place(module: Module, node: Function | ast.ClassDef) -> str:
    return f"{module.path}:{node.lineno} {node.name}"


def _biggest_first(sizes: Iterable[Size]) -> list[Size]:
    return sorted(sizes, key=lambda size: (-size.value, size.where))


# --- packages ------------------------------------------------------------------------------------------------


def packages_by_modules(modules: Iterable[Module]) -> list[Size]:
    """Modules per package, without `__init__` and without what lies in packages below it; the biggest first."""
    counts = Counter(module.package for module in modules if not module.is_face)
    return _biggest_first(Size(count, package or "(root)") for package, count in counts.items())


def faces_by_exports(modules: Iterable[Module]) -> list[Size]:
    """Names that the `__init__` of each package exports; the most first."""
    return _biggest_first(Size(len(exports(module)), module.name) for module in modules if module.is_face)


def wide_faces(modules: Iterable[Module], most: int = FACE) -> list[Size]:
    """The packages whose `__init__` exports more names than that; the widest first."""
    return [face for face in faces_by_exports(modules) if face.value > most]


def exports(face: Module) -> set[str]:
    """The names in `__all__`; without one, all that the module binds at its top and that begin with no underscore."""
    bound: set[str] = set()
    for node in face.tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
            bound |= {(alias.asname or alias.name).split(".")[0] for alias in node.names if not future}
        elif isinstance(node, ast.ClassDef | Function):
            bound.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = {target.id for target in targets if isinstance(target, ast.Name)}
            if "__all__" in names and isinstance(node.value, ast.List | ast.Tuple):
                return {str(one.value) for one in node.value.elts if isinstance(one, ast.Constant)}
            bound |= names
    return {name for name in bound if not name.startswith("_")}


# --- imports -------------------------------------------------------------------------------------------------


def _imported(module: Module) -> Iterator[tuple[str, str]]:
    for node in module.nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name.removeprefix(BELOW), alias.asname or alias.name
        elif isinstance(node, ast.ImportFrom):
            above = module.package.split(".")[: len(module.package.split(".")) + 1 - node.level] if node.level else []
            source = ".".join([*filter(None, above), *([node.module] if node.module else [])]).removeprefix(BELOW)
            for alias in node.names:
                yield f"{source}.{alias.name}" if alias.name != "*" else source, alias.asname or alias.name


def module_graph(modules: Sequence[Module]) -> dict[str, set[str]]:
    """Module -> the modules that it imports. A name from a package's face counts as the package itself."""
    known = {module.name for module in modules}
    graph: dict[str, set[str]] = {name: set() for name in known}
    for module in modules:
        found = {_owner(name, known) for name, _ in module.imported}
        graph[module.name] |= found - {module.name, ""}
    return graph


def package_graph(modules: Sequence[Module]) -> dict[str, set[str]]:
    """Package -> the packages that it imports, itself left out. A package below it is another package."""
    package = {module.name: module.package or "(root)" for module in modules}
    graph: dict[str, set[str]] = defaultdict(set)
    for name, imported in module_graph(modules).items():
        graph[package[name]] |= {package[other] for other in imported} - {package[name]}
    return dict(graph)


def import_lines(modules: Sequence[Module], importer: str, imported: str) -> list[str]:
    """The arrows between two packages, each as `module -> module`: what to cut."""
    package = {module.name: module.package or "(root)" for module in modules}
    arrows = ((name, other) for name, others in module_graph(modules).items() for other in others)
    return sorted(f"{a} -> {b}" for a, b in arrows if (package[a], package[b]) == (importer, imported))


def _owner(name: str, known: Collection[str]) -> str:
    """The longest beginning of the name that is a module; empty: none of ours."""
    while name and name not in known:
        name = name.rpartition(".")[0]
    return name


def cycles(graph: Graph) -> list[tuple[str, ...]]:
    """The knots of the graph: its strongly connected components of two or more, the biggest first (Tarjan)."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_: list[str] = []
    found: list[tuple[str, ...]] = []

    def visit(node: str) -> None:
        number[node] = lowest[node] = len(number)
        open_.append(node)
        for other in sorted(graph.get(node, ())):
            if other not in number:
                visit(other)
                lowest[node] = min(lowest[node], lowest[other])
            elif other in open_:
                lowest[node] = min(lowest[node], number[other])
        if lowest[node] == number[node]:
            at = open_.index(node)
            found.append(tuple(sorted(open_[at:])))
            del open_[at:]

    for node in sorted(graph):
        if node not in number:
            visit(node)
    return sorted((knot for knot in found if len(knot) > 1), key=lambda knot: (-len(knot), knot))


# --- classes -------------------------------------------------------------------------------------------------


def shared_class_names(modules: Iterable[Module]) -> dict[str, list[str]]:
    """Class name -> its places, for each name that two or more classes have; nested and private ones count."""
    places: dict[str, list[str]] = defaultdict(list)
    for module, node in _classes(modules):
        places[node.name].append(_place(module, node))
    return {name: where for name, where in sorted(places.items()) if len(where) > 1}


def exceptions(modules: Sequence[Module]) -> list[str]:
    """The places of the classes that come from a built-in exception, over our own classes too.

    Of a foreign base only the name is known: it is one if it ends with Error, Exception or Warning.
    """
    bases = {f"{module.name}.{node.name}": _bases(module, node) for module, node in _classes(modules)}
    exported = {f"{m.name}.{here}": name for m in modules if m.is_face for name, here in m.imported}
    known: set[str] = set()

    def is_one(name: str) -> bool:
        name = exported.get(name, name)
        built_in = getattr(builtins, name, None)
        if isinstance(built_in, type):
            return issubclass(built_in, BaseException)
        return name in known if name in bases else name.endswith(("Error", "Exception", "Warning"))

    while more := {name for name, above in bases.items() if name not in known and any(map(is_one, above))}:
        known |= more
    return sorted(_place(m, node) for m, node in _classes(modules) if f"{m.name}.{node.name}" in known)


def _classes(modules: Iterable[Module]) -> Iterator[tuple[Module, ast.ClassDef]]:
    for module in modules:
        yield from ((module, node) for node in module.classes)


def _bases(module: Module, node: ast.ClassDef) -> list[str]:
    """Their whole dotted names, as far as this module's imports and classes tell."""
    imported = {here: name for name, here in module.imported}
    own = {one.name for one in module.classes}
    found = []
    for base in node.bases:
        first, dot, rest = ast.unparse(base).partition("[")[0].partition(".")
        whole = f"{module.name}.{first}" if first in own else imported.get(first, first)
        found.append(f"{whole}{dot}{rest}")
    return found


# --- dependencies --------------------------------------------------------------------------------------------


def dependencies(requirements: str) -> list[str]:
    """The distributions that a requirements.in names itself, in lower case; `-r other.in` is not followed."""
    plain = (line.partition("#")[0].strip() for line in requirements.splitlines())
    return [re.split(r"[\s\[<>=!~;@]", line, maxsplit=1)[0].lower() for line in plain if line and line[0] != "-"]
