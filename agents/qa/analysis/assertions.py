"""A test's source -> how much it asserts. Pure; nothing in it is executed.

Only what is sure to run is counted: of two branches the lesser, nothing behind a `try` that swallows it, nothing that
is true whatever the code does. A helper of the same file counts with what it asserts itself.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields

from sisimpur.agents.qa.analysis.expressions import (
    Function,
    always,
    is_exact,
    is_same,
    is_switch,
    is_vague,
    last_name,
    pairs,
)

CHECKS = re.compile(r"_?(assert|check|verify|expect|ensure|should|must)")  # what a helper of another file is called
MORE_CHECKS = ("raises", "warns", "deprecated_call", "fail")
SKIPS = re.compile(r"skip|xfail|expectedFailure|importorskip")
CATCHING = ("", "Exception", "BaseException", "AssertionError")
EQUAL = ("assertEqual", "assertEquals", "assertIs", "assertListEqual", "assertDictEqual", "assertCountEqual")
VAGUE = ("assertTrue", "assertIsNotNone", "assertIsInstance", "assertGreaterEqual")


@dataclass(frozen=True)
class Strength:
    """Strength of a test: how much it asserts.

    `sure`: runs every time; `weighted`: the same, times the length of written-out loops.
    """

    sure: int = 0
    weighted: int = 0
    somewhere: int = 0  # also what may not run
    loops: int = 0  # whose length is written out
    exact: int = 0  # compare with a value
    vague: int = 0  # only ask whether there is something
    always: int = 0  # true whatever the code does
    caught: int = 0  # a failure would be swallowed
    broad: int = 0  # expect any exception

    def __add__(self, other: Strength) -> Strength:
        return Strength(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))

    def either(self, other: Strength) -> Strength:
        """Combine two branches of which one runs."""
        both = self + other
        least = min(self.sure, other.sure), min(self.weighted, other.weighted)
        rest = (getattr(both, one.name) for one in fields(self)[2:])
        return Strength(*least, *rest)

    def times(self, length: int) -> Strength:
        return self + Strength(weighted=self.weighted * (length - 1), loops=1)

    def swallowed(self) -> Strength:
        return Strength(loops=self.loops, always=self.always, caught=self.caught + self.somewhere, broad=self.broad)


class AssertionMeter:
    """Measures the functions of one file. `lengths`: of its written-out lists, by name."""

    def __init__(self, module: ast.Module) -> None:
        self._helpers: dict[str, Function] = {
            node.name: node for node in ast.walk(module) if isinstance(node, Function)
        }
        self._known: dict[str, Strength] = {}
        self._imported = {
            alias.asname or alias.name
            for node in ast.walk(module)
            if isinstance(node, ast.ImportFrom) and (node.level or "test" in (node.module or ""))
            for alias in node.names
        }
        self.lengths: dict[str, int] = {
            target.id: len(node.value.elts)
            for node in module.body
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.List | ast.Tuple)
            for target in node.targets
            if isinstance(target, ast.Name)
        }

    def of(self, function: Function) -> Strength:
        return self._block(function.body)

    def length(self, node: ast.expr | None) -> int | None:
        """Length of a list that is written out; None: only known at run time."""
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            return None if any(isinstance(one, ast.Starred) for one in node.elts) else len(node.elts)
        return self.lengths.get(node.id) if isinstance(node, ast.Name) else None

    def _of_helper(self, helper: Function) -> Strength:
        """One that calls itself counts once."""
        if helper.name not in self._known:
            self._known[helper.name] = Strength()
            self._known[helper.name] = self._block(helper.body)
        return self._known[helper.name]

    # --- statements ------------------------------------------------------------------------------------------

    def _block(self, body: Sequence[ast.stmt]) -> Strength:
        found = Strength()
        for statement in body:
            found += self._statement(statement)
            if isinstance(statement, ast.Return):
                break
        return found

    def _statement(self, node: ast.stmt) -> Strength:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                return Strength()  # counts where it is called
            case ast.Assert():
                return self._assert(node.test)
            case ast.If():
                return self._if(node)
            case ast.For() | ast.AsyncFor() | ast.While():
                return self._loop(node)
            case ast.Try() | ast.TryStar():
                return self._try(node)
            case ast.With() | ast.AsyncWith():
                return self._with(node)
            case ast.Match():
                cases = [self._block(case.body) for case in node.cases]
                found = Strength()
                for case in cases:
                    found = found.either(case)
                return found
            case _:
                return self._calls(node)

    def _if(self, node: ast.If) -> Strength:
        truth = always(node.test)
        body, other = self._block(node.body), self._block(node.orelse)
        if truth is not None:
            return body if truth else other
        return body.either(other)

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While) -> Strength:
        body = self._block(node.body)
        if isinstance(node, ast.While):
            return Strength() if always(node.test) is False else body
        length = self.length(node.iter)
        if length is None:
            return body + self._calls(node.iter)
        return body.times(length) if length else Strength()

    def _try(self, node: ast.Try | ast.TryStar) -> Strength:
        body = self._block(node.body)
        if any(map(self._swallows, node.handlers)):
            body = body.swallowed()
        return body + self._block(node.orelse) + self._block(node.finalbody)

    def _swallows(self, handler: ast.ExceptHandler) -> bool:
        kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        catches = any((last_name(kind) if kind else "") in CATCHING for kind in kinds)
        return catches and not any(
            isinstance(node, ast.Raise | ast.Assert) or (isinstance(node, ast.Call) and is_check(last_name(node.func)))
            for statement in handler.body
            for node in ast.walk(statement)
        )

    def _with(self, node: ast.With | ast.AsyncWith) -> Strength:
        body, found = self._block(node.body), Strength()
        for item in node.items:
            found += self._calls(item.context_expr)
            call = item.context_expr
            if isinstance(call, ast.Call) and last_name(call.func) == "suppress":
                body = body.swallowed() if any(last_name(one) in CATCHING for one in call.args) else body
        return found + body

    # --- expressions -----------------------------------------------------------------------------------------

    def _assert(self, test: ast.expr) -> Strength:
        if always(test):
            return Strength(always=1)
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            found = Strength()
            for part in test.values:
                found += self._assert(part)
            return found
        count = pairs(test)
        exact, vague = count * is_exact(test), int(is_vague(test))
        return Strength(count, count, count, exact=exact, vague=vague)

    def _calls(self, node: ast.AST) -> Strength:
        found = Strength()
        for call in ast.walk(node):
            if isinstance(call, ast.Call):
                found += self._call(call)
        return found

    def _call(self, call: ast.Call) -> Strength:
        name = last_name(call.func)
        helper = self._helpers.get(name) if _is_near(call.func) else None
        if helper:
            return self._of_helper(helper)
        if is_check(name):
            return _checked(call, name)
        may_check = _is_near(call.func) and (isinstance(call.func, ast.Attribute) or name in self._imported)
        return Strength(somewhere=int(may_check and not SKIPS.match(name)))


def _checked(call: ast.Call, name: str) -> Strength:
    """self.assertEqual(a, b), pytest.raises(ValueError), mock.assert_called_once()"""
    args = call.args
    same = name in EQUAL and len(args) > 1 and is_same(args[0], args[1])
    truth = always(args[0]) if args else None
    if same or (name == "assertTrue" and truth) or (name in ("assertFalse", "assertIsNone") and truth is False):
        return Strength(always=1)
    broad = name in ("raises", "assertRaises") and bool(args) and last_name(args[0]) in CATCHING[1:3]
    exact = name in EQUAL and not any(is_switch(one) for one in args[:2])
    return Strength(1, 1, 1, exact=int(exact), vague=int(name in VAGUE), broad=int(broad))


def is_check(name: str) -> bool:
    return CHECKS.match(name) is not None or name in MORE_CHECKS


def _is_near(function: ast.expr) -> bool:
    """`helper(...)`, `self.helper(...)`"""
    if isinstance(function, ast.Attribute):
        return isinstance(function.value, ast.Name) and function.value.id in ("self", "cls")
    return isinstance(function, ast.Name)
