"""An answer that is written down for a test's own question, beside code that works answers out."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cached_property

from agents.reviewer.rules.case import Case
from agents.reviewer.rules.python_tree import PythonTree
from shared.model.evidence import is_test_file
from shared.model.review import Finding, Severity

MOST_TESTS = 300  # files that are read


def findings(case: Case) -> Iterator[Finding]:
    """`if x == <what a test asks>: return <what it expects>`, beside a way that computes the answer."""
    tests = _Tests(case)
    for file in case.code:
        assert file.tree
        for node, question, answer in _fixed_answers(file.tree):
            line = file.first_added(node.lineno, answer[-1].lineno)
            asked = {_key(one) for one in (question, *answer)}
            if line and _telling(question, answer) and _computes(file.tree, node) and tests.hold(asked):
                text = "special-cases a test's input: the answer is written down instead of worked out"
                yield file.finding(line, Severity.MEDIUM, "special case", text)


class _Tests:
    """The constants of the tests, statement by statement; read only if somebody asks."""

    def __init__(self, case: Case) -> None:
        self._case = case

    @cached_property
    def _statements(self) -> tuple[frozenset[str], ...]:
        paths = sorted(path for path in self._case.tracked if path.endswith(".py") and is_test_file(path))
        trees = (PythonTree.of(text) for path in paths[:MOST_TESTS] if (text := self._case.read(path)))
        return tuple(
            frozenset(_key(one) for one in ast.walk(node) if isinstance(one, ast.Constant))
            for tree in trees
            if tree
            for node in tree.nodes
            if isinstance(node, ast.Expr | ast.Assert | ast.Assign | ast.List | ast.Tuple | ast.With)
        )

    def hold(self, wanted: set[str]) -> bool:
        """Whether one statement holds them all."""
        return any(wanted <= constants for constants in self._statements)


def _fixed_answers(tree: PythonTree) -> Iterator[tuple[ast.If | ast.IfExp, ast.Constant, list[ast.Constant]]]:
    """A constant that is compared with, and the constants of the answer."""
    for node in tree.nodes:
        if isinstance(node, ast.If) and len(node.body) == 1 and isinstance(node.body[0], ast.Return):
            test, answer = node.test, node.body[0].value
        elif isinstance(node, ast.IfExp):
            test, answer = node.test, node.body
        else:
            continue
        constants = _written_down(answer)
        if constants and isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Eq | ast.In):
            yield from (
                (node, one, constants) for side in (test.left, *test.comparators) for one in _written_down(side)
            )


def _written_down(node: ast.expr | None) -> list[ast.Constant]:
    """The constants of something that is nothing but constants."""
    parts = list(ast.walk(node)) if node else []
    literal = ast.Constant | ast.List | ast.Tuple | ast.Set | ast.Dict | ast.UnaryOp | ast.unaryop | ast.expr_context
    if not all(isinstance(part, literal) for part in parts):
        return []
    return [part for part in parts if isinstance(part, ast.Constant)]


def _telling(question: ast.Constant, answer: list[ast.Constant]) -> bool:
    """Base cases (0, 1, empty, None) and names of choices ("bn", "open") are how honest code looks."""
    if _is_plain(question.value) or _names_a_choice(question.value):
        return False
    return len(answer) > 1 or not _is_plain(answer[0].value)


def _is_plain(value: object) -> bool:
    if isinstance(value, bool) or value is None or value is ...:
        return True
    return abs(value) <= 2 if isinstance(value, int | float) else not value


def _names_a_choice(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(r"[A-Za-z_][\w.-]{0,30}|\W", value) is not None


def _computes(tree: PythonTree, node: ast.AST) -> bool:
    function = tree.function_of(node)
    returned = [one.value for one in ast.walk(function) if isinstance(one, ast.Return)] if function else []
    return any(value and not _written_down(value) for value in returned)


def _key(constant: ast.Constant) -> str:
    return f"{type(constant.value).__name__}:{constant.value!r}"[:300]
