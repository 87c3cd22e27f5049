"""Names and places that a change gives to what was there, and the text of an old test as it has to be then. Pure.

Of what the task calls otherwise, or moves, old tests are run under the new names: they still ask what they asked.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from sisimpur.agents.qa.analysis.expressions import Function, last_name, module_of, parsed
from sisimpur.agents.qa.analysis.touched import dotted
from sisimpur.shared.repo.file_parts import dumped

Defining = Function | ast.ClassDef | ast.arg  # what a test calls so is its own
Edit = tuple[int, int, str]  # bytes from and to, and what stands there now
BY_TEXT = ("patch", "object", "setattr", "getattr", "hasattr", "delattr")  # these find a name that a text says
LINE_END = re.compile(rb"\r\n?|\n")


@dataclass(frozen=True)
class Move:
    """A function or class that stands word by word in another module, by their dotted names."""

    name: str
    old: str
    new: str


@dataclass(frozen=True)
class Renames:
    """`names`: functions, classes, methods, constants. `parameters`: what is called -> its old names and new ones."""

    names: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    moves: Collection[Move] = ()

    def applied(self, text: str) -> str:
        """The text of a test with these names; as it was, if it cannot be read or has one of the new names already."""
        module = parsed(text) if self.names or self.parameters or self.moves else None
        taken = {*self.names.values(), *(move.new.rpartition(".")[2] for move in self.moves)}
        if module is None or text.startswith("\ufeff") or any(re.search(rf"\b{new}\b", text) for new in taken):
            return text
        at, found = _Places(text), text.encode()
        edits = sorted({*self._renamed(module, at), *self._moved(module, at)})
        if any(one[1] > other[0] for one, other in pairwise(edits)):
            return text
        for start, end, new in reversed(edits):
            found = found[:start] + new.encode() + found[end:]
        return found.decode()

    def _renamed(self, module: ast.Module, at: _Places) -> Iterator[Edit]:
        """Texts but those that find a name are values: what a test expects stays as it was."""
        own = {
            one.arg if isinstance(one, ast.arg) else one.name for one in ast.walk(module) if isinstance(one, Defining)
        }
        for node in ast.walk(module):
            if isinstance(node, ast.Call):
                called = last_name(node.func)
                of = self.parameters.get(called, {})
                for keyword in node.keywords:
                    if keyword.arg and keyword.arg in of:
                        yield from at.name(keyword, keyword.arg, of[keyword.arg])
                for text in node.args[:2] if called in BY_TEXT else ():
                    if (name := _last_word(text)) in self.names:
                        yield from at.name(text, name, self.names[name])
            elif isinstance(node, ast.expr | ast.alias) and (name := _named(node)) in self.names:
                is_own = isinstance(node, ast.Name) and name in own
                yield from () if is_own else at.name(node, name, self.names[name])

    def _moved(self, module: ast.Module, at: _Places) -> Iterator[Edit]:
        """Imports of what moved, or of the module where it was, and `module.name` where it is used."""
        for node in ast.walk(module):
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                had = [move for move in self.moves if move.old == node.module]
                gone = [(alias, move) for move in had for alias in node.names if alias.name == move.name]
                left = [alias for alias in node.names if alias not in [one for one, _ in gone]]
                come = [ast.ImportFrom(move.new, [alias], 0) for alias, move in gone]
                uses = {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
                used = list(_used(module, uses, self.moves))
                for name, move in used:
                    yield from at.name(name, name.id, move.new.rpartition(".")[2])
                come += [_import(one) for one in sorted({move.new for _, move in used})]
                if come:
                    kept = [ast.ImportFrom(node.module, left, 0)] if left else []
                    yield (*at.whole(node), "; ".join(map(ast.unparse, [*kept, *come])))


def _used(module: ast.Module, uses: Mapping[str, str], moves: Collection[Move]) -> Iterator[tuple[ast.Name, Move]]:
    for node in ast.walk(module):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield from (
                (node.value, one) for one in moves if (uses.get(node.value.id), node.attr) == (one.old, one.name)
            )


def _import(module: str) -> ast.ImportFrom:
    package, _, name = module.rpartition(".")
    return ast.ImportFrom(package, [ast.alias(name)], 0)


class _Places:
    """Where in the bytes of a text its nodes stand."""

    def __init__(self, text: str) -> None:
        self._text = text.encode()
        self._starts = [0, *(found.end() for found in LINE_END.finditer(self._text))]

    def whole(self, node: ast.stmt) -> tuple[int, int]:
        end = (node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)
        return self._starts[node.lineno - 1] + node.col_offset, self._starts[end[0] - 1] + end[1]

    def name(self, node: ast.expr | ast.alias | ast.keyword, old: str, new: str) -> Iterator[Edit]:
        """Of an attribute and of a text the name stands at the end. Nothing where that is told wrongly (f-strings)."""
        behind, size = {ast.Attribute: 0, ast.Constant: 1}.get(type(node)), len(old.encode())
        if behind is None or node.end_lineno is None or node.end_col_offset is None:
            start = self._starts[node.lineno - 1] + node.col_offset
        else:
            start = self._starts[node.end_lineno - 1] + node.end_col_offset - behind - size
        if self._text[start : start + size] == old.encode():
            yield start, start + size, new


def _named(node: ast.AST) -> str:
    """The name that a place of the code uses; empty: none."""
    match node:
        case ast.Name():
            return node.id
        case ast.Attribute():
            return node.attr
        case ast.alias():
            return node.name
    return ""


def _last_word(node: ast.expr) -> str:
    """`is_open` of `"shop.rooms:is_open"`; empty: it is no such text."""
    text = node.value if isinstance(node, ast.Constant) else None
    return re.split(r"[.:]", text)[-1] if isinstance(text, str) else ""


def renames(code: Mapping[str, tuple[str, str]], said: str, is_known: Callable[[str], bool]) -> Renames:
    """Find what has another name or place now: the task says the names, and the product knows no old one any more.

    `code`: each changed file of the product, its texts before and after. `said`: the words of the task.
    """
    words = frozenset(re.findall(r"\w+", said))
    trees = {path: (module_of(before), module_of(after)) for path, (before, after) in code.items()}
    old, new = (dict(one for pair in trees.values() for one in _made(pair[side].body)) for side in (0, 1))
    gone = [name for name in old if name in words - new.keys() and not is_known(name)]
    come = [name for name in new if name in words - old.keys()]
    names = dict(zip(gone, come, strict=True)) if len(gone) == len(come) else {}
    pairs = {name: (old[name], new.get(names.get(name, name), ())) for name in old}
    parameters = {name: _given_names(*pair, words) for name, pair in pairs.items()}
    return Renames(names, {name: found for name, found in parameters.items() if found}, tuple(_moves(trees, words)))


def _moves(trees: Mapping[str, tuple[ast.Module, ast.Module]], words: frozenset[str]) -> Iterator[Move]:
    then, now = ({path: _definitions(pair[side]) for path, pair in trees.items()} for side in (0, 1))
    for path, some in then.items():
        for name in sorted(some.keys() & words - now[path].keys()):
            homes = [one for one, found in now.items() if found.get(name) == some[name] and name not in then[one]]
            yield from (Move(name, dotted(path), dotted(home)) for home in homes if len(homes) == 1)


def _definitions(module: ast.Module) -> Mapping[str, str]:
    named = ((one.name, dumped(one)) for one in module.body if isinstance(one, Function | ast.ClassDef))
    return {name: text for name, text in named if text}


def _given_names(before: Sequence[str], after: Sequence[str], words: frozenset[str]) -> Mapping[str, str]:
    """Parameters that stand in the place of others."""
    both = zip(before, after, strict=False)
    return {old: new for old, new in both if {old, new} <= words and old not in after and new not in before}


def _made(body: Sequence[ast.stmt]) -> Iterator[tuple[str, Sequence[str]]]:
    """What the outermost level and classes define, with its parameters; those of a class are those that make it."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            inner = dict(_made(node.body))
            yield node.name, inner.pop("__init__", ())
            yield from inner.items()
        elif isinstance(node, Function):
            every = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
            yield node.name, [one.arg for one in every]
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from ((one.id, ()) for one in targets if isinstance(one, ast.Name))
