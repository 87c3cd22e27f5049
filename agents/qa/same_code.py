"""Two texts of a Python file -> whether they do the same. Pure: nothing is executed, and in doubt they do not.

Annotations (and what is imported for them), docstrings, comments and layout may differ, and a private function may
have another name throughout.
"""

from __future__ import annotations

import ast
import re
import warnings

from agents.qa.expressions import Function

LONGEST = 400_000  # characters of a file
FOR_ANNOTATIONS = ("typing", "collections.abc", "__future__")
PRIVATE = re.compile(r"_[a-z]\w*")


def is_same_code(old: str, new: str) -> bool:
    if max(len(old), len(new)) > LONGEST:
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            before, after = (ast.parse(text.removeprefix("\ufeff")) for text in (old, new))
        return _told(before, _renamed(before, after)) == _told(after, {})
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def _renamed(before: ast.Module, after: ast.Module) -> dict[str, str]:
    """The one private function that has another name now; neither name stands in the other text in any way."""
    then, now = (
        [node.name for node in ast.walk(tree) if isinstance(node, Function) and PRIVATE.fullmatch(node.name)]
        for tree in (before, after)
    )
    gone, come = sorted(set(then) - set(now)), sorted(set(now) - set(then))
    if len(gone) != 1 or len(come) != 1 or _stands(gone[0], after) or _stands(come[0], before):
        return {}
    return {gone[0]: come[0]}


def _stands(name: str, tree: ast.Module) -> bool:
    return re.search(rf"\b{name}\b", ast.unparse(tree)) is not None


def _told(module: ast.Module, names: dict[str, str]) -> str:
    for node in ast.walk(module):
        if isinstance(node, Function | ast.ClassDef):
            node.name = names.get(node.name, node.name)
        elif isinstance(node, ast.Name):
            node.id = names.get(node.id, node.id)
        elif isinstance(node, ast.Attribute):
            node.attr = names.get(node.attr, node.attr)
        if isinstance(node, Function):
            node.returns = None
        elif isinstance(node, ast.arg):
            node.annotation = None
        if isinstance(node, Function | ast.ClassDef | ast.Module):
            node.body = [statement for statement in node.body if not _is_silent(statement)]
    return ast.dump(module)


def _is_silent(node: ast.stmt) -> bool:
    """A docstring, or an import for annotations."""
    if isinstance(node, ast.ImportFrom):
        return node.module in FOR_ANNOTATIONS
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
