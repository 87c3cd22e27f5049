"""What a Python file does as it is loaded, and what it leaves behind: nothing, as far as its text shows. Pure.

The same of what a change adds to a file of tests: then the old tests in it are as they were.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from sisimpur.agents.qa.analysis.expressions import Function, parsed

REACHES = re.compile(  # what changes something for others, also from within a test
    r"\b(environ|putenv|setattr|delattr|__dict__|__import__|importlib|modules|globals|exec|eval|autouse|pytest_plugins)\b"
    r"|\b(setUpModule|setup_module|load_tests|pytest_\w+|atexit|reload|setdefault|chdir)\b"
)
QUIET = (ast.Import, ast.ImportFrom, ast.Pass, ast.AnnAssign, ast.Assign, ast.Expr, Function, ast.ClassDef)
MARKS = ("pytest.mark.", "pytest.fixture", "pytest.param", "unittest.skip", "staticmethod", "classmethod", "property")
AROUND_ALL = re.compile(r"set_?up|tear_?down|load_tests|__", re.IGNORECASE)  # what runners call around tests of others
CHANGING = re.compile(r"(?:append|extend|insert|update|clear|pop|popitem|add|remove|discard|setdefault|start|register)")


def loads_quietly(text: str) -> bool:
    """Whether it only defines: then loading it hides nothing. In doubt it does not."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return False
    if REACHES.search(text):
        return False
    imported = set(_imported(tree))
    return _only_defines(tree.body) and not any(_reaches_into(node, imported) for node in ast.walk(tree))


def adds_quietly(old: str, new: str, known: Collection[str] = ()) -> bool:
    """Whether `new` is `old`, statement by statement, and what stands between hides nothing. In doubt it is not.

    `known`: names of tests that ran before: one may come from a class of another file.
    """
    before, after = parsed(old), parsed(new)
    if before is None or after is None:
        return False
    added = _added(before.body, after.body)
    if not added:
        return added is not None
    words = {*re.findall(r"\w+", old), *dir(builtins), *known}
    outer = {name for one in after.body for name in _bound(one)} | set(_imported(after))
    is_quiet = not any(map(REACHES.search, map(ast.unparse, added))) and _only_defines(added)
    return is_quiet and words.isdisjoint(_names(added)) and not any(_changes(one, outer) for one in added)


def _added(old: Sequence[ast.stmt], new: Sequence[ast.stmt]) -> list[ast.stmt] | None:
    """Statements that `new` has besides those of `old`, which stand in their order; None: they do not."""
    added: list[ast.stmt] = []
    left = list(old)
    for one in new:
        more = _more(left[0], one) if left else None
        if more is None:
            added.append(one)
        else:
            added += more
            left.pop(0)
    return None if left else added


def _more(old: ast.stmt, new: ast.stmt) -> list[ast.stmt] | None:
    """What is added to a statement: names to an import, tests to a class. None: it is another one."""
    if ast.dump(old) == ast.dump(new):
        return []
    if isinstance(old, ast.ImportFrom) and isinstance(new, ast.ImportFrom):
        then, now = ({(one.name, one.asname) for one in node.names} for node in (old, new))
        names = [ast.alias(*one) for one in sorted(now - then, key=str)]
        is_same = (old.module, old.level) == (new.module, new.level) and then < now
        return [ast.ImportFrom(new.module, names, new.level)] if is_same else None
    if isinstance(old, ast.ClassDef) and isinstance(new, ast.ClassDef) and _head(old) == _head(new):
        added = _added(old.body, new.body)
        is_tests = added is not None and all(isinstance(one, Function) and one.name.startswith("test") for one in added)
        return added if is_tests else None
    return None


def _head(node: ast.ClassDef) -> str:
    return ast.dump(ast.ClassDef(node.name, node.bases, node.keywords, [], node.decorator_list))


def _names(added: Iterable[ast.stmt]) -> Iterator[str]:
    """Names that others could find instead of what they mean; a fixture may have any: it yields one that is known."""
    for one in added:
        marks = one.decorator_list if isinstance(one, ast.ClassDef | Function) else []
        shadows = any("fixture" in ast.unparse(mark) for mark in marks)
        yield from ("print" if shadows or AROUND_ALL.match(name) else name for name in _bound(one))


def _bound(one: ast.stmt) -> Iterator[str]:
    if isinstance(one, ast.ClassDef | Function):
        yield one.name
    elif isinstance(one, ast.Import | ast.ImportFrom):
        yield from ("print" if name.name == "*" else (name.asname or name.name).split(".")[0] for name in one.names)
    elif isinstance(one, ast.Assign | ast.AnnAssign):
        yield from (node.id for node in ast.walk(one) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))


def _changes(added: ast.stmt, outer: set[str]) -> bool:
    """It sets or changes something that is not its own, as far as is to be seen."""
    for node in ast.walk(added):
        if isinstance(node, ast.Global) or _reaches_into(node, outer):
            return True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and CHANGING.fullmatch(node.func.attr):
            root = _root(node.func)
            if not isinstance(root, ast.Name) or root.id in outer:
                return True
    return False


def _imported(tree: ast.AST) -> Iterator[str]:
    for one in ast.walk(tree):
        if isinstance(one, ast.Import | ast.ImportFrom):
            yield from ((name.asname or name.name).split(".")[0] for name in one.names)


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
    root = _root(node)
    return isinstance(root, ast.Name) and root.id in imported


def _root(node: ast.expr) -> ast.expr:
    """`shop` of `shop.prices[1].total`."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node
