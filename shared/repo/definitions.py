"""(A file's text) -> the classes and functions it defines, and where they stand. Pure; nothing in it is executed."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

GUESSED = re.compile(
    r"(\s*)(?:export\s+)?(?:default\s+)?(?:async\s+)?(?:def|class|function|func|fn|interface|struct)\s+(\w+)"
)
Defining = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Definition:
    """A class or a function. Lines are counted from 1: `line` is that of its name, `first` that of its decorators.

    Lines from `line` up to `body` are its head and docstring; `last` belongs to it.
    """

    name: str  # `Class.method`
    line: int
    first: int
    last: int
    body: int
    signature: str

    @property
    def lines(self) -> range:
        return range(self.first, self.last + 1)

    @property
    def depth(self) -> int:
        return self.name.count(".")


def parse(text: str) -> ast.Module | None:
    """None: Python cannot read it. Its warnings are its own affair."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text.removeprefix("\ufeff"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def definitions(text: str) -> tuple[Definition, ...]:
    """Classes, functions and methods, in their order; of what Python cannot read, what looks like one."""
    tree = parse(text)
    return tuple(defined(tree.body) if tree else _guessed(text.split("\n")))


def defined(body: Iterable[ast.stmt], within: str = "") -> Iterator[Definition]:
    for node in body:
        if not isinstance(node, Defining):
            continue
        told = node.body[0].end_lineno if ast.get_docstring(node, clean=False) is not None else None
        start = (told or node.body[0].lineno - 1) + 1
        first, last = span(node)
        yield Definition(within + node.name, node.lineno, first, last, start, _signature(node))
        if isinstance(node, ast.ClassDef):
            yield from defined(node.body, f"{within}{node.name}.")


def innermost(known: Iterable[Definition]) -> dict[int, Definition]:
    """Line -> the innermost of these definitions that holds it."""
    return {line: one for one in known for line in one.lines}  # outer ones come first


def span(node: ast.AST) -> tuple[int, int]:
    """First and last line, decorators included."""
    first = int(getattr(node, "lineno", 0))
    decorators = getattr(node, "decorator_list", [])
    return min([first, *(one.lineno for one in decorators)]), int(getattr(node, "end_lineno", None) or first)


def dumped(node: ast.AST) -> str:
    """All that it says; empty: it is nested too deeply."""
    try:
        return ast.dump(node)
    except RecursionError:
        return ""


def _signature(node: Defining) -> str:
    if isinstance(node, ast.ClassDef):
        return f"class {node.name}"
    names = ", ".join(argument.arg for argument in (*node.args.posonlyargs, *node.args.args))
    return f"def {node.name}({names})"


def _guessed(lines: Sequence[str]) -> Iterator[Definition]:
    """By indentation: each lasts up to the next that is not inside of it."""
    found = [(number, match) for number, line in enumerate(lines, 1) if (match := GUESSED.match(line))]
    ends: dict[int, int] = {}
    after: list[tuple[int, int]] = []  # (indentation, line) of those below, each deeper than the one before it
    for number, match in reversed(found):
        while after and after[-1][0] > len(match[1]):
            after.pop()
        ends[number] = (after[-1][1] if after else len(lines) + 1) - 1
        after.append((len(match[1]), number))
    for number, match in found:
        signature = " ".join(lines[number - 1].split(":")[0].rstrip(" {").split())
        yield Definition(match[2], number, number, ends[number], number + 1, signature)
