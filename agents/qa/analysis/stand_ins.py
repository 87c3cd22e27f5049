"""A changed file -> its names and parameters without the new behaviour; what a test asserts of new names. Pure.

A test of a new name cannot even be imported without the change, whatever it asks. What it asks is seen where the name
is there and does nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from sisimpur.agents.qa.analysis.assertions import is_check
from sisimpur.agents.qa.analysis.expressions import Function, last_name, own_nodes, parsed

STOPS = {"__next__": "StopIteration", "__anext__": "StopAsyncIteration"}  # a loop over it must end


@dataclass(frozen=True)
class StandIns:
    """`texts`: changed files of the product, by path, with a stand-in for each function that is new or has changed.

    `added`: names that the change brings: functions, classes, values, attributes, parameters, and functions that take
    others now. `replaced`: those of them that have a stand-in.
    """

    texts: Mapping[str, bytes]
    added: frozenset[str] = frozenset()
    replaced: frozenset[str] = frozenset()

    @classmethod
    def of(cls, files: Mapping[str, tuple[str, str]]) -> StandIns:
        """`files`: path -> text before (empty: there was none) and after. What cannot be read has no stand-in."""
        texts: dict[str, bytes] = {}
        added: set[str] = set()
        replaced: set[str] = set()
        for path, (before, after) in files.items():
            old, new = parsed(before), parsed(after)
            if old is not None and new is not None:
                brought = set(_bound(new)) - set(_bound(old))
                file = _OldFile(old)
                file.empty(new.body, "")
                added |= brought | file.widened
                replaced |= file.replaced
                if file.replaced:
                    texts[path] = ast.unparse(new).encode("utf-8", "replace")
        return cls(texts, frozenset(added), frozenset(replaced & added))


class _OldFile:
    """The functions of a file as it was. `replaced`: names that stand for nothing new; `widened`: take others now."""

    def __init__(self, old: ast.Module) -> None:
        self._old = dict(_functions(old.body, ""))
        self.replaced: set[str] = set()
        self.widened: set[str] = set()

    def empty(self, body: Collection[ast.stmt], owner: str) -> None:
        """Take the new behaviour out of what stands here, in place."""
        for node in body:
            if isinstance(node, ast.ClassDef):
                if all(isinstance(one, Function | ast.Expr | ast.Pass) for one in node.body) and not node.bases:
                    self.replaced.add(node.name)
                self.empty(node.body, f"{owner}{node.name}.")
            elif isinstance(node, Function):
                self._replace(node, self._old.get(owner + node.name))
            else:
                self.empty([one for one in ast.iter_child_nodes(node) if isinstance(one, ast.stmt)], owner)

    def _replace(self, node: Function, old: Function | None) -> None:
        if old is None or type(old) is not type(node):
            node.body = _nothing(node)
            self.replaced.add(node.name)
        elif ast.dump(old) != ast.dump(node):
            more = {one.arg for one in _parameters(node)} - {one.arg for one in _parameters(old)}
            node.body = old.body
            self.replaced |= {*more, node.name}
            self.widened |= {node.name} if more else set()


def _functions(body: Collection[ast.stmt], owner: str) -> Iterator[tuple[str, Function]]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _functions(node.body, f"{owner}{node.name}.")
        elif isinstance(node, Function):
            yield owner + node.name, node
        else:
            yield from _functions([one for one in ast.iter_child_nodes(node) if isinstance(one, ast.stmt)], owner)


def _nothing(node: Function) -> list[ast.stmt]:
    """The body of a function that does nothing: a generator stays one."""
    if node.name in STOPS:
        return [ast.Raise(exc=ast.Name(STOPS[node.name], ast.Load()), cause=None)]
    makes = any(isinstance(one, ast.Yield | ast.YieldFrom) for one in own_nodes(node))
    rest: list[ast.stmt] = [ast.Expr(ast.Yield(None))] if makes else []
    return [ast.Return(None), *rest]


def _parameters(node: Function) -> Iterator[ast.arg]:
    every = node.args
    yield from (*every.posonlyargs, *every.args, *every.kwonlyargs)
    yield from filter(None, (every.vararg, every.kwarg))


def _bound(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name
            case ast.Name(ctx=ast.Store()):
                yield node.id
            case ast.Attribute(ctx=ast.Store()):
                yield node.attr
            case ast.arg():
                yield node.arg
            case ast.alias():
                yield (node.asname or node.name).rpartition(".")[2]


# --- what a test asserts -------------------------------------------------------------------------------------


def asks_about(text: str, test: str, names: Collection[str]) -> bool:
    """Say whether an assertion of this test speaks of one of the names, itself or by a value that was made of it."""
    module = parsed(text)
    if module is None:
        return False
    tests = [node for node in ast.walk(module) if isinstance(node, Function) and node.name == test]
    others = [node for node in _around(module.body) if not isinstance(node, Function) or node not in tests]
    return any(_asks(node, others, set(names)) for node in tests)


def _around(body: Collection[ast.stmt]) -> Iterator[ast.stmt]:
    """What stands beside the tests: fixtures, helpers, values."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _around(node.body)
        elif not (isinstance(node, Function) and node.name.startswith("test")):
            yield node


def _asks(test: Function, others: Collection[ast.stmt], names: set[str]) -> bool:
    for _ in range(3):  # a value of a value of a name
        names |= {one.name for one in others if isinstance(one, Function) and _speaks(one, names)}
        names |= {name for one in (*others, test) for node in ast.walk(one) for name in _made_of(node, names)}
    return any(_speaks(one, names) for node in ast.walk(test) for one in _asserted(node))


def _made_of(node: ast.AST, names: Collection[str]) -> Iterator[str]:
    """Names that get a value which was made of these."""
    match node:
        case ast.alias() if node.name.rpartition(".")[2] in names:
            yield node.asname or node.name
        case ast.Assign() | ast.AnnAssign() | ast.AugAssign() | ast.NamedExpr() if node.value:
            if _speaks(node.value, names):
                yield from _bound(node)
        case ast.For() | ast.AsyncFor() if _speaks(node.iter, names):
            yield from _bound(node.target)
        case ast.withitem() if node.optional_vars and _speaks(node.context_expr, names):
            yield from _bound(node.optional_vars)


def _asserted(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Assert():
            yield node.test
        case ast.With() | ast.AsyncWith() if any(is_check(last_name(one.context_expr)) for one in node.items):
            yield node
        case ast.Call() if is_check(last_name(node.func)):
            yield node


def _speaks(node: ast.AST, names: Collection[str]) -> bool:
    return any(
        (isinstance(one, ast.Name) and one.id in names)
        or (isinstance(one, ast.Attribute) and one.attr in names)
        or (isinstance(one, ast.keyword | ast.arg) and one.arg in names)
        for one in ast.walk(node)
    )
