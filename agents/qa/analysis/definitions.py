"""The definitions of a file by the classes that they stand in, and the lines that are a definition's own. Pure."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class Definitions:
    """Each definition that a module or class body has under this name, if whatever has the name is the same there."""

    def __init__(self, module: ast.Module) -> None:
        self.by_place: dict[str, list[Definition]] = {}
        self._texts: dict[str, str] = {}
        self._read(module.body, "")

    def text(self, place: str) -> str:
        """`Shop.check` -> its definition; empty: there is none, or not only one."""
        return self._texts.get(place, "")

    def _read(self, body: Sequence[ast.stmt], owner: str) -> None:
        made = [node for node in body if isinstance(node, Definition)]
        otherwise = {name for node in body if not isinstance(node, Definition) for name in _bound(node)}
        often = Counter(node.name for node in made)
        for name in often.keys() - otherwise:
            mine = [node for node in made if node.name == name]
            texts = set(map(ast.dump, mine))
            if len(texts) == 1:
                self.by_place[owner + name] = mine
                self._texts[owner + name] = texts.pop()
        for node in made:
            if isinstance(node, ast.ClassDef) and often[node.name] == 1 and node.name not in otherwise:
                self._read(node.body, f"{owner}{node.name}.")


def _bound(statement: ast.stmt) -> Iterator[str]:
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, Definition):
            yield node.name
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]


def first_line(node: ast.stmt | ast.ExceptHandler) -> int:
    """Decorators included."""
    marks = node.decorator_list if isinstance(node, Definition) else []
    return min([node.lineno, *(mark.lineno for mark in marks)])


def all_lines(node: ast.stmt | ast.ExceptHandler) -> range:
    return range(first_line(node), (node.end_lineno or node.lineno) + 1)


def headline(node: Definition, lines: Sequence[str]) -> Sequence[int]:
    """The lines that are run where it is defined, not where it is used; with its body if that begins on one of them."""
    if _is_on_one_line(node, lines):
        return all_lines(node)
    parts = [part for one in ast.iter_child_nodes(node) if one not in node.body for part in ast.walk(one)]
    last = max([node.lineno, *(getattr(part, "end_lineno", None) or 0 for part in parts)])
    between = range(last + 1, first_line(node.body[0]))
    return [*range(first_line(node), last + 1), *(line for line in between if is_code(lines[line - 1]))]


def real_body(node: Definition, lines: Sequence[str]) -> Iterator[int]:
    """The lines whose run shows that it was used: of a class, those of its methods."""
    if _is_on_one_line(node, lines):
        return
    for one in node.body:
        if not isinstance(node, ast.ClassDef):
            yield from () if _is_silent(one) else (one.lineno,)
        elif isinstance(one, Definition):
            yield from real_body(one, lines)


def is_code(line: str) -> bool:
    text = line.strip()
    return bool(text) and not text.startswith("#")


def _is_on_one_line(node: Definition, lines: Sequence[str]) -> bool:
    first = node.body[0]
    if isinstance(first, Definition):
        return False
    return bool(lines[first.lineno - 1].encode()[: first.col_offset].strip())


def _is_silent(node: ast.stmt) -> bool:
    """What is never counted as run: a docstring, `...`, a declaration."""
    is_constant = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_constant or isinstance(node, ast.Global | ast.Nonlocal)
