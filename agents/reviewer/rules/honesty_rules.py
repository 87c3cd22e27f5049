"""Code that knows that it is tested, and tests that need not pass: green for the wrong reason.

What could forge a report or its way out is looked for in tests too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from agents.reviewer.rules.case import Case, ChangedFile
from agents.reviewer.rules.python_tree import Function, PythonTree, span, text_of
from shared.model.review import Finding, Severity

HIGH, MEDIUM = Severity.HIGH, Severity.MEDIUM
RULE = "knows it is tested"

RUNNERS = {"pytest", "_pytest", "unittest", "nose", "test", "tests", "py.test", "xdist", "coverage"}
TEST_IMPORTS = ("pytest", "_pytest", "unittest", "nose", "mock", "doctest", "django.test", "xdist", "coverage")
PATCHED = ("unittest", "pytest", "_pytest", "builtins", "__builtins__", "sys.modules", "django.test", "coverage")
FORGING = {
    "os._exit": "ends the process before anybody can report",
    "os.abort": "ends the process before anybody can report",
    "atexit.register": "runs when the tests are over",
    "sys.settrace": "watches or changes what runs",
    "sys.setprofile": "watches or changes what runs",
    "threading.settrace": "watches or changes what runs",
    "gc.get_objects": "looks for objects that nobody gave it",
    "gc.get_referrers": "looks for objects that nobody gave it",
}
LOOKS_AROUND = {
    "sys._getframe": "looks at who calls it",
    "inspect.stack": "looks at who calls it",
    "inspect.currentframe": "looks at who calls it",
}
SWITCHES = {
    **dict.fromkeys(("pytest.mark.xfail", "pytest.mark.skip", "pytest.skip", "pytest.xfail"), MEDIUM),
    **dict.fromkeys(("unittest.skip", "unittest.expectedFailure", "skipTest"), MEDIUM),
    **dict.fromkeys(("pytest.mark.skipif", "unittest.skipIf", "unittest.skipUnless"), Severity.LOW),
}
REPORTS = re.compile(r"(?:^|/)(?:junit[\w.-]*\.xml|\.coverage|coverage\.(?:json|xml))$|^/out/")
MARKS = re.compile(r"PYTEST_|\bPYTEST_CURRENT_TEST\b|\bDJANGO_TEST")


def findings(case: Case) -> Iterator[Finding]:
    for file in case.files:
        if file.tree:
            yield from _forging(file, file.tree)
            yield from _switched_off(file, file.tree)
    for file in case.code:
        assert file.tree
        yield from _hooks(file, file.tree.module)
        yield from _asking(file, file.tree)
        yield from _patching(file, file.tree)


def _hooks(file: ChangedFile, module: ast.Module) -> Iterator[Finding]:
    """pytest calls functions by their names, wherever a plugin lies."""
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("pytest_"):
            yield from _is(file, node, f"{node.name} is called by pytest")


def _is(file: ChangedFile, node: ast.AST, what: str, rank: Severity = HIGH) -> Iterator[Finding]:
    if line := file.first_added(*span(node)):
        yield file.finding(line, rank, RULE, f"{what}; product and tests must run the same way, so take it out")


# --- in tests and in the product -----------------------------------------------------------------------------


def _forging(file: ChangedFile, tree: PythonTree) -> Iterator[Finding]:
    for call in tree.calls:
        if what := FORGING.get(name := tree.dotted(call.func)):
            yield from _is(file, call, f"{name} {what}")
    for node in tree.nodes:
        if (text := text_of(node)) and REPORTS.search(text):
            yield from _is(file, node, "it names a file in which tests are reported")
        for target in _targets(node):
            if tree.dotted(target).startswith(("unittest.", "pytest.", "_pytest.")):
                yield from _is(file, node, f"it changes {tree.dotted(target)}")


def _switched_off(file: ChangedFile, tree: PythonTree) -> Iterator[Finding]:
    """A test that need not pass any more. With a condition it may be honest: a comment."""
    for node in tree.nodes:
        name = tree.dotted(node) if isinstance(node, ast.Attribute | ast.Name) else ""
        rank = SWITCHES.get(name.removeprefix("self."))
        if rank and (line := file.first_added(*span(node))):
            text = f"{name} switches a test off; mend the code, or change what the test expects if the task says so"
            yield file.finding(line, rank, "test switched off", text)


def _targets(node: ast.AST) -> list[ast.expr]:
    """What is assigned to or deleted, if it is a part of something."""
    if isinstance(node, ast.Assign | ast.Delete):
        found = node.targets
    elif isinstance(node, ast.AugAssign | ast.AnnAssign):
        found = [node.target]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "setattr":
        thing, name = (*node.args, node, node)[:2]
        return [ast.Attribute(thing, text_of(name) or "?")]
    else:
        return []
    parts = [target.value if isinstance(target, ast.Subscript) else target for target in found]
    return [part for part in parts if isinstance(part, ast.Attribute)]


# --- in the product ------------------------------------------------------------------------------------------


def _asking(file: ChangedFile, tree: PythonTree) -> Iterator[Finding]:
    for statement, name in tree.imports():
        if f"{name}.".startswith(tuple(f"{one}." for one in TEST_IMPORTS)):
            yield from _is(file, statement, f"{name} is for tests")
    for node in tree.nodes:
        if isinstance(node, ast.Compare) and _asks_for_a_runner(node, tree):
            yield from _is(file, node, "it asks whether a test runs")
        elif (text := text_of(node)) and MARKS.search(text) and not _is_docstring(node, tree):
            yield from _is(file, node, "it looks at what only tests have")
    for call in tree.calls:
        if what := LOOKS_AROUND.get(name := tree.dotted(call.func)):
            yield from _is(file, call, f"{name} {what}", MEDIUM)
        if name in ("sys.exit", "exit", "quit") and _runs_at_import(call, tree):
            yield from _is(file, call, f"{name} ends whoever imports this file")


def _asks_for_a_runner(node: ast.Compare, tree: PythonTree) -> bool:
    """`"pytest" in sys.modules`, `sys.argv[1] == "test"`."""
    parts = [node.left, *node.comparators]
    texts = {text for part in parts for one in ast.walk(part) if (text := text_of(one))}
    names = {tree.dotted(one) for part in parts for one in ast.walk(part)}
    return bool(texts & RUNNERS) and bool(names & {"sys.modules", "sys.argv", "sys.orig_argv"})


def _is_docstring(node: ast.AST, tree: PythonTree) -> bool:
    return isinstance(next(tree.above(node), None), ast.Expr)


def _runs_at_import(call: ast.Call, tree: PythonTree) -> bool:
    above = tuple(tree.above(call))
    inside = any(isinstance(one, Function | ast.Lambda) for one in above)
    return not inside and not any(isinstance(one, ast.If) and "__main__" in ast.dump(one.test) for one in above)


def _patching(file: ChangedFile, tree: PythonTree) -> Iterator[Finding]:
    for node in tree.nodes:
        for target in _targets(node):
            name = tree.dotted(target)
            if f"{name}.".startswith(tuple(f"{one}." for one in PATCHED)):
                yield from _is(file, node, f"it changes {name}")
