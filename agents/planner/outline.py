"""The lines of a Python file -> its classes and functions. Pure."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class _Symbol:
    line: int
    depth: int
    text: str


def outlined(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """(line, `class X` or `def f(a, b)`), also of a file that Python cannot read."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the target's code, not ours
            tree = ast.parse("\n".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        yield from _guessed(lines)
        return
    for symbol in _symbols(tree.body, 0):
        yield symbol.line, "  " * symbol.depth + symbol.text


def _symbols(body: Iterable[ast.stmt], depth: int) -> Iterator[_Symbol]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield _Symbol(node.lineno, depth, f"class {node.name}")
            yield from _symbols(node.body, depth + 1)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names = ", ".join(argument.arg for argument in (*node.args.posonlyargs, *node.args.args))
            yield _Symbol(node.lineno, depth, f"def {node.name}({names})")


def _guessed(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    yield 1, "(Python cannot read this file)"
    for number, line in enumerate(lines, 1):
        if re.match(r"\s*(?:async\s+)?(?:def|class)\s+\w", line):
            yield number, line.split(":")[0].rstrip()
