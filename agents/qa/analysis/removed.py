"""Tests of what the task has taken away: their subject is gone, so they may go. The owner sees it. Pure."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping

from agents.qa.analysis.expressions import Function, module_of
from agents.qa.analysis.task_words import names_to_remove
from shared.model.work import TaskSpec

Named = tuple[str, str]  # (path of a test file, name of the test's function)


def obsolete(
    task: TaskSpec,
    tests: Mapping[str, str],
    code: Iterable[tuple[str, str]],
    is_missed: Callable[[str], bool],
) -> frozenset[Named]:
    """Of `tests` (path -> text before) those that use a name which the task removes, and which really is gone.

    `code`: texts of each changed file of the product, before and after. `is_missed`: whether the product still knows
    a name.
    """
    asked = names_to_remove(task)
    gone = {name for before, after in code for name in _made(before) - _made(after) if name in asked}
    gone = {name for name in gone if not is_missed(name)}
    return (
        frozenset((path, name) for path, text in tests.items() for name in _testing(text, gone))
        if gone
        else frozenset()
    )


def _made(text: str) -> set[str]:
    """Functions, classes, and what stands on the left of an assignment."""
    found: set[str] = set()
    for node in ast.walk(module_of(text)):
        if isinstance(node, Function | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return found


def _testing(text: str, names: set[str]) -> Iterator[str]:
    for node in ast.walk(module_of(text)):
        if isinstance(node, Function) and node.name.startswith("test") and names.intersection(_used(node)):
            yield node.name


def _used(function: ast.AST) -> Iterator[str]:
    for node in ast.walk(function):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
