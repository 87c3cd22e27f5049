"""Findings about honesty: code that knows that it is tested, tests that need not pass, answers written down for a test.

Files of tests are searched, too, for what could forge a report or its way out.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from sisimpur.agents.reviewer.rules.case import Case, ChangedFile, PythonTree, text_of
from sisimpur.shared.model.evidence import Finding, Severity, is_test_file
from sisimpur.shared.repo.file_parts import Function, dumped, span

HIGH, MEDIUM = Severity.HIGH, Severity.MEDIUM
UNCHECKED = re.compile(  # for all of a file
    r"#\s*(?:(?:ruff|flake8)\s*:\s*noqa\b|mypy\s*:\s*ignore-errors|pylint\s*:\s*(?:skip-file|disable=all))",
    re.IGNORECASE,
)
UNREAD = re.compile(r"#\s*shellcheck\s+.*\bdisable=", re.IGNORECASE)
RULE = "knows it is tested"

RUNNERS = {"pytest", "_pytest", "unittest", "nose", "test", "tests", "py.test", "xdist", "coverage"}
OURS = ("gate_report", "gate_pytest", "gate_unittest")  # what reports, in the box of the tests
TEST_IMPORTS = ("pytest", "_pytest", "unittest", "nose", "mock", "doctest", "django.test", "xdist", "coverage", *OURS)
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
MARKS = re.compile(r"PYTEST_|\bPYTEST_CURRENT_TEST\b|\bDJANGO_TEST|\bSISIMPUR_REPORT\b")


def findings(case: Case) -> Iterator[Finding]:
    for file in case.files:
        yield from _unchecked(file)
        if file.tree:
            yield from _forging(file, file.tree)
            yield from _switched_off(file, file.tree)
            yield from _replaced(file, file.tree)
    for file in case.code:
        assert file.tree
        yield from _hooks(file, file.tree.module)
        yield from _asking(file, file.tree)
        yield from _patching(file, file.tree)
    yield from _special_cases(case)


def _unchecked(file: ChangedFile) -> Iterator[Finding]:
    """A goal may be measured by what a linter finds, and a script is merged by it."""
    for number, text in file.added.items():
        if file.is_python and UNCHECKED.search(text):
            what = "no linter looks at this file any more; mend what it finds, or say at one line why it is right"
            yield file.finding(number, MEDIUM, "check switched off", what)
        if file.path.endswith((".sh", ".bash")) and UNREAD.search(text):
            what = "the tool that stands in for tests of this script is told to look away; mend what it finds"
            yield file.finding(number, MEDIUM, "check switched off", what)


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


def _replaced(file: ChangedFile, tree: PythonTree) -> Iterator[Finding]:
    """A test that puts something else in the place of what it then asks."""
    for function in tree.functions if file.is_test else ():
        nodes = list(ast.walk(function))
        instead = {ast.unparse(one) for node in nodes for one in _targets(node)}
        instead |= {f"{ast.unparse(thing)}.{name}" for node in nodes for thing, name in _patched(node)}
        asked = (node for node in nodes if isinstance(node, ast.Assert) or _asserts(node))
        calls = (one for node in asked for one in ast.walk(node) if isinstance(one, ast.Call))
        for call in calls:
            line = file.first_added(*span(function))
            if line and ast.unparse(call.func) in instead:
                text = f"{function.name} replaces {ast.unparse(call.func)} and then asks the replacement; ask the code"
                yield file.finding(line, MEDIUM, "replaces what it tests", text)


def _patched(node: ast.AST) -> Iterator[tuple[ast.expr, str]]:
    """`monkeypatch.setattr(thing, "name", …)`, `patch.object(thing, "name", …)`."""
    match node:
        case ast.Call(func=ast.Attribute(attr="setattr" | "object"), args=[thing, ast.Constant(value=str(name)), *_]):
            yield thing, name


def _asserts(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr.startswith("assert")


def _targets(node: ast.AST) -> list[ast.expr]:
    """Parts of something that are assigned to or deleted."""
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
    return not inside and not any(isinstance(one, ast.If) and "__main__" in dumped(one.test) for one in above)


def _patching(file: ChangedFile, tree: PythonTree) -> Iterator[Finding]:
    for node in tree.nodes:
        for target in _targets(node):
            name = tree.dotted(target)
            if f"{name}.".startswith(tuple(f"{one}." for one in PATCHED)):
                yield from _is(file, node, f"it changes {name}")


# --- answers written down for a test's question --------------------------------------------------------------

MOST_TESTS = 300  # files that are read
MOST_ENTRIES = 3  # of a table; a longer one is how honest code looks


def _special_cases(case: Case) -> Iterator[Finding]:
    """`if x == <what a test asks>: return <what it expects>`, beside a way that computes the answer.

    The same as a case of `match`, as one condition of several, and as a table that is asked first.
    """
    tests = _Tests(case)
    for file in case.code:
        assert file.tree
        for question, answer in (*_fixed_answers(file.tree), *_tabled(file.tree)):
            line = file.first_added(question.lineno, answer[-1].lineno)
            asked = {_key(one) for one in (question, *answer)}
            if line and _telling(question, answer) and tests.hold(asked):
                text = "special-cases a test's input: the answer is written down instead of worked out"
                yield file.finding(line, Severity.MEDIUM, "special case", text)


@dataclass(frozen=True)
class _Tests:
    """The constants of the tests, statement by statement; read only if somebody asks."""

    case: Case

    @cached_property
    def _statements(self) -> tuple[frozenset[str], ...]:
        paths = sorted(path for path in self.case.tracked if path.endswith(".py") and is_test_file(path))
        trees = (PythonTree.of(text) for path in paths[:MOST_TESTS] if (text := self.case.read(path)))
        return tuple(
            frozenset(_key(one) for one in ast.walk(node) if isinstance(one, ast.Constant))
            for tree in trees
            if tree
            for node in tree.nodes
            if isinstance(node, ast.Expr | ast.Assert | ast.Assign | ast.List | ast.Tuple | ast.With)
        )

    def hold(self, wanted: set[str]) -> bool:
        """Say whether one statement holds them all."""
        return any(wanted <= constants for constants in self._statements)


Fixed = tuple[ast.Constant, list[ast.Constant]]  # a constant that is compared with, and those of the answer


def _fixed_answers(tree: PythonTree) -> Iterator[Fixed]:
    for node in tree.nodes:
        test: ast.AST | None = None
        if isinstance(node, ast.If) and len(node.body) == 1 and isinstance(node.body[0], ast.Return):
            test, answer = node.test, node.body[0].value
        elif isinstance(node, ast.match_case) and len(node.body) == 1 and isinstance(node.body[0], ast.Return):
            test, answer = node.pattern, node.body[0].value
        elif isinstance(node, ast.IfExp):
            test, answer = node.test, node.body
        if test and (constants := _written_down(answer)) and _computes(tree, node):
            yield from ((question, constants) for question in _questions(test))


def _questions(test: ast.AST) -> Iterator[ast.Constant]:
    for node in ast.walk(test):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq | ast.In):
            yield from (one for side in (node.left, *node.comparators) for one in _written_down(side))
        elif isinstance(node, ast.MatchValue):
            yield from _written_down(node.value)


def _tabled(tree: PythonTree) -> Iterator[Fixed]:
    """Entries of a table that a function asks, which has another way to its answer."""
    tables = {
        target.id: node.value
        for node in tree.nodes
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict) and len(node.value.keys) <= MOST_ENTRIES
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for function in (node for node in tree.nodes if isinstance(node, Function)):
        names = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)} & tables.keys()
        returned = [one.value for one in ast.walk(function) if isinstance(one, ast.Return) and one.value]
        for name in names:
            others = [one for one in returned if not _names(one, name) and not _written_down(one)]
            if len(others) < len(returned) and others:
                pairs = zip(tables[name].keys, tables[name].values, strict=True)
                known = ((_written_down(key), _written_down(value)) for key, value in pairs)
                yield from ((question[0], answer) for question, answer in known if question and answer)


def _names(node: ast.AST, name: str) -> bool:
    return any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(node))


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
