"""Names that a module imports -> those that other files may have from it. Pure: in doubt they have them."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator

from agents.qa.analysis.expressions import parsed


def handed_on(names: Collection[str], others: Iterable[str], homes: Collection[str]) -> frozenset[str]:
    """`others`: texts of the other files. `homes`: the modules that the names are from; there anybody may get them."""
    found: set[str] = set()
    for text in others:
        words = {name for name in names if name in text}
        if words:
            module = parsed(text)
            found |= words if module is None else words.intersection(_had(module, words, homes))
    return frozenset(found)


def _had(module: ast.Module, words: Collection[str], homes: Collection[str]) -> Iterator[str]:
    """What is imported or asked for by its name; by a star comes whatever is used."""
    known = {*homes, *_homes_by_name(module, homes)}
    for node in ast.walk(module):
        match node:
            case ast.ImportFrom() if node.level or node.module not in homes:
                yield from words if node.names[0].name == "*" else (alias.name for alias in node.names)
            case ast.Attribute() if ast.unparse(node.value) not in known:
                yield node.attr
            case ast.Constant(value=str(text)) if re.fullmatch(r"[\w.:]+", text):  # getattr, a patched name
                yield re.split(r"[.:]", text)[-1]


def _homes_by_name(module: ast.Module, homes: Collection[str]) -> Iterator[str]:
    """`t` of `import typing as t`, `abc` of `from collections import abc`"""
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            yield from (alias.asname for alias in node.names if alias.asname and alias.name in homes)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from (alias.asname or alias.name for alias in node.names if f"{node.module}.{alias.name}" in homes)
