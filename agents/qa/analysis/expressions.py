"""Expressions in a test: what each is worth, read from its source alone. Pure; nothing is evaluated."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator

Function = ast.FunctionDef | ast.AsyncFunctionDef
LONGEST = 400_000  # characters of a file


def module_of(text: str) -> ast.Module:
    """Empty if it cannot be read."""
    return parsed(text) or ast.Module([], [])


def parsed(text: str) -> ast.Module | None:
    """None: it is no Python, or too long to be read. As bytes, like the interpreter: a first line may name a coding."""
    try:
        with warnings.catch_warnings():  # a file's bad escapes are its own affair
            warnings.simplefilter("ignore")
            return ast.parse(text.removeprefix("\ufeff").encode()) if len(text) <= LONGEST else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def last_name(node: ast.expr) -> str:
    """`skip` of `pytest.mark.skip(...)`; empty: no name."""
    if isinstance(node, ast.Call):
        return last_name(node.func)
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def own_nodes(function: Function) -> Iterator[ast.AST]:
    """Nodes that run when the function runs: not the inside of functions that it defines."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, Function | ast.Lambda | ast.ClassDef):
            waiting.extend(ast.iter_child_nodes(node))


def always(node: ast.expr) -> bool | None:
    """Truth of an expression, whatever happens; None: that depends."""
    match node:
        case ast.Constant():
            return bool(node.value)
        case ast.Tuple() | ast.List() | ast.Set():
            return bool(node.elts)
        case ast.Dict():
            return bool(node.keys)
        case ast.Lambda():
            return True
        case ast.JoinedStr():
            return any(isinstance(part, ast.Constant) and part.value for part in node.values) or None
        case ast.NamedExpr():
            return always(node.value)
        case ast.UnaryOp(op=ast.Not()):
            inner = always(node.operand)
            return None if inner is None else not inner
        case ast.BoolOp():
            return _of_many(node)
        case ast.Compare(ops=[op], comparators=[right]):
            return _of_two(node.left, op, right)
        case _:
            return None


def _of_many(node: ast.BoolOp) -> bool | None:
    parts, decides = [always(part) for part in node.values], isinstance(node.op, ast.Or)
    if decides in parts:
        return decides
    return None if None in parts else not decides


def _of_two(left: ast.expr, op: ast.cmpop, right: ast.expr) -> bool | None:
    if isinstance(op, ast.Eq | ast.Is | ast.LtE | ast.GtE) and is_same(left, right):
        return True
    is_length = isinstance(left, ast.Call) and last_name(left) == "len"
    is_zero = isinstance(right, ast.Constant) and right.value == 0
    return True if is_length and is_zero and isinstance(op, ast.GtE) else None


def is_same(left: ast.expr, right: ast.expr) -> bool:
    """Two calls with the same words may differ: that is a test."""
    calls = any(isinstance(node, ast.Call | ast.Await) for node in ast.walk(left))
    return not calls and ast.dump(left) == ast.dump(right)


def pairs(test: ast.expr) -> int:
    """`(a, b) == (1, 2)` asserts two things."""
    match test:
        case ast.Compare(left=ast.Tuple(elts=parts), comparators=[ast.Tuple()]):
            return max(1, len(parts))
        case _:
            return 1


def is_exact(test: ast.expr) -> bool:
    if not isinstance(test, ast.Compare) or not all(isinstance(op, ast.Eq | ast.Is) for op in test.ops):
        return False
    return not any(is_switch(side) for side in (test.left, *test.comparators))


def compared(function: Function) -> set[str]:
    """Expressions that are compared with a value, as text."""
    tests = [node.test for node in ast.walk(function) if isinstance(node, ast.Assert)]
    return {
        ast.dump(side) for test in tests if isinstance(test, ast.Compare) for side in (test.left, *test.comparators)
    }


def only_true(function: Function) -> set[str]:
    """Expressions that have to be true, and no more is asked of them, as text."""
    return {ast.dump(node.test) for node in ast.walk(function) if isinstance(node, ast.Assert)}


def is_switch(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, bool)


def is_vague(test: ast.expr) -> bool:
    """`assert x`, `assert x is not None`, `assert isinstance(x, T)`, `assert len(x) > 0`"""
    if isinstance(test, ast.Name | ast.Attribute | ast.Subscript):
        return True
    if isinstance(test, ast.Call):
        return last_name(test) in ("isinstance", "hasattr", "bool", "len")
    if not isinstance(test, ast.Compare):
        return False
    return isinstance(test.ops[0], ast.IsNot | ast.Gt | ast.GtE | ast.NotEq)
