"""What a Python file does as it is loaded, and what it leaves behind: nothing, as far as its text shows. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from sisimpur.agents.qa.analysis.expressions import Function

REACHES = re.compile(  # what changes something for others, also from within a test
    r"\b(environ|putenv|setattr|delattr|__dict__|__import__|importlib|modules|globals|exec|eval|autouse|pytest_plugins)\b"
    r"|\b(setUpModule|setup_module|load_tests|pytest_\w+|atexit|reload|setdefault|chdir)\b"
)
QUIET = (ast.Import, ast.ImportFrom, ast.Pass, ast.AnnAssign, ast.Assign, ast.Expr, Function, ast.ClassDef)
MARKS = ("pytest.mark.", "pytest.fixture", "pytest.param", "unittest.skip", "staticmethod", "classmethod", "property")


def loads_quietly(text: str) -> bool:
    """Whether it only defines: then loading it hides nothing. In doubt it does not."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return False
    if REACHES.search(text):
        return False
    imported = {
        (name.asname or name.name).split(".")[0]
        for one in ast.walk(tree)
        for name in getattr(one, "names", ())
        if isinstance(name, ast.alias)
    }
    return _only_defines(tree.body) and not any(_reaches_into(node, imported) for node in ast.walk(tree))


def _only_defines(body: Iterable[ast.stmt]) -> bool:
    return all(isinstance(one, QUIET) and _defines(one) for one in body)


def _defines(one: ast.stmt) -> bool:
    if isinstance(one, ast.ClassDef | Function) and not all(map(_marks, one.decorator_list)):
        return False
    if isinstance(one, ast.ClassDef):
        return not any(_calls(keyword.value) for keyword in one.keywords) and _only_defines(one.body)
    if isinstance(one, Function):
        return not any(map(_calls, [*one.args.defaults, *filter(None, one.args.kw_defaults)]))
    return not _calls(one)


def _marks(decorator: ast.expr) -> bool:
    return ast.unparse(decorator).startswith(MARKS) and not _calls(decorator)


def _calls(node: ast.AST) -> bool:
    """Anything but a mark of pytest's is called."""
    calls = (one for one in ast.walk(node) if isinstance(one, ast.Call))
    return any(not ast.unparse(call.func).startswith(MARKS) for call in calls)


def _reaches_into(node: ast.AST, imported: set[str]) -> bool:
    """An attribute or item of what is imported is set."""
    if not isinstance(node, ast.Attribute | ast.Subscript) or isinstance(node.ctx, ast.Load):
        return False
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return isinstance(node, ast.Name) and node.id in imported
