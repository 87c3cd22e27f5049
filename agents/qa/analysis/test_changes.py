"""The old and the new text of a test file -> in which ways its tests became weaker. Pure; nothing in it is executed.

What a run can show (a test is gone, skipped, fails) is shown by runs. Here is what no run shows: a test that still
passes, because it asks less than it did.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from sisimpur.agents.qa.analysis.assertions import SKIPS, AssertionMeter, Strength
from sisimpur.agents.qa.analysis.expressions import Function, compared, last_name, module_of, only_true, own_nodes

LONGEST = 400_000  # characters of a file that is read
Named = tuple[str, str]  # (path of a test file, name of the test's function)
GONE, WEAKER, EMPTY = "a test is gone", "tests are weaker", "a new test asserts nothing"
COLLECTING = ("__test__", "collect_ignore", "collect_ignore_glob", "pytestmark")


@dataclass(frozen=True)
class Weakening:
    """`test`: `Class.test_name`, empty if it concerns the file; `line` in the new file, 0 if it is not there."""

    rule: str
    path: str
    line: int
    test: str
    what: str

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}" if self.line else self.path


@dataclass(frozen=True)
class _Test:
    function: Function
    classes: tuple[ast.ClassDef, ...]

    @property
    def marks(self) -> list[ast.expr]:
        return [*self.function.decorator_list, *(mark for one in self.classes for mark in one.decorator_list)]


class _File:
    """A test file's tests by name, and how strong they are."""

    def __init__(self, module: ast.Module) -> None:
        self.module = module
        self.meter = AssertionMeter(module)
        self.tests = dict(_tests(module.body, ()))
        self._skipping = {  # names of this file that stand for a mark: `slow = pytest.mark.skip`
            target.id
            for node in module.body
            if isinstance(node, ast.Assign) and _names_a_skip(node.value)
            for target in node.targets
            if isinstance(target, ast.Name)
        }

    def strength(self, test: _Test) -> Strength:
        return self.meter.of(test.function)

    def cases(self, test: _Test) -> int | None:
        """Count how often it is run with other values; None: known at run time only."""
        number = 1
        for mark in test.marks:
            if isinstance(mark, ast.Call) and last_name(mark) == "parametrize":
                values = [*mark.args[1:2], *(one.value for one in mark.keywords if one.arg == "argvalues")]
                length = self.meter.length(values[0]) if values else None
                if length is None:
                    return None
                number *= length
        return number

    def skips(self, test: _Test) -> int:
        """Marks that skip it or excuse its failure, and calls that do so while it runs."""
        marks = sum(_names_a_skip(mark) or last_name(mark) in self._skipping for mark in test.marks)
        return marks + sum(map(_skips, own_nodes(test.function)))

    def early(self, test: _Test) -> int:
        """Ways out that lie before an assertion."""
        nodes = list(own_nodes(test.function))
        asserts = [node.lineno for node in nodes if isinstance(node, ast.Assert | ast.Call)]
        return sum(isinstance(node, ast.Return) and node.lineno < max(asserts, default=0) for node in nodes)

    @cached_property
    def switches(self) -> Mapping[str, int]:
        """Switches beside the tests that decide whether they run: name -> line."""
        return dict(_switches(self.module.body, ""))


def weakenings(path: str, old: str | None, new: str | None) -> tuple[Weakening, ...]:
    """None: there is no such file. A file that cannot be read now, or could not be read before, is one weakening."""
    try:
        before, after = _file(old or ""), _file(new or "")
        return tuple(_weakenings(path, before, after))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return (Weakening(WEAKER, path, 0, "", "it cannot be read"),)


def _file(text: str) -> _File:
    if len(text) > LONGEST:
        raise ValueError(text[:80])
    with warnings.catch_warnings():  # the file's bad escapes are its own affair
        warnings.simplefilter("ignore")
        return _File(ast.parse(text.removeprefix("\ufeff")))


def _weakenings(path: str, before: _File, after: _File) -> Iterator[Weakening]:
    for name, test in before.tests.items():
        if name not in after.tests:
            yield Weakening(GONE, path, 0, name, "it is not there any more")
        elif what := _weaker(before, test, after, after.tests[name]):
            yield Weakening(WEAKER, path, after.tests[name].function.lineno, name, what)
    for name, test in after.tests.items():
        if name not in before.tests and not after.strength(test).somewhere:
            yield Weakening(EMPTY, path, test.function.lineno, name, "it has no assertion that could fail")
    known = {name.rpartition(".")[0] for name in before.tests}
    for switch, line in after.switches.items():
        concerned = switch.rpartition(":")[0]
        if switch not in before.switches and before.tests and (not concerned or concerned in known):
            yield Weakening(WEAKER, path, line, "", f"{switch.rpartition(':')[2]} was added")


def _weaker(before: _File, old: _Test, after: _File, new: _Test) -> str:
    """Say what an owner would call cheating; empty: nothing."""
    then, now = before.strength(old), after.strength(new)
    cases_then, cases_now = before.cases(old), after.cases(new)
    if cases_then is None or cases_now is None:  # only a run can tell
        cases_then = cases_now = 1
    all_then, all_now = then.weighted * cases_then, now.weighted * cases_now
    fewer = now.sure < then.sure and all_now < all_then
    asks_less = now.vague > then.vague or bool(only_true(new.function) & compared(old.function))
    excuses = {
        "it is skipped, or may fail": after.skips(new) > before.skips(old),
        "it is empty now": fewer and _is_empty(new.function),
        "an assertion in it is always true now": now.always > then.always,
        "what it asserts is caught before anybody sees it": now.caught > then.caught,
        "it returns before its last assertion": after.early(new) > before.early(old),
        f"{now.sure} assertions are sure to run instead of {then.sure}": fewer,
        f"it has {cases_now} cases instead of {cases_then}": cases_now < cases_then and all_now < all_then,
        "it goes through fewer cases": then.loops == now.loops and now.sure == then.sure and all_now < all_then,
        "it accepts any exception now": now.broad > then.broad,
        "it only asks whether there is a value, where it compared one": now.exact < then.exact and asks_less,
    }
    return next((what for what, holds in excuses.items() if holds), "")


# --- tests with another name or in another file ---------------------------------------------------------------


def renamed(texts: Mapping[str, tuple[str, str]]) -> dict[Named, Named]:
    """Old tests that stand elsewhere or are called otherwise now, word by word; each one once. `Class.test` is a name.

    `texts`: path -> text before and after, empty: not there. What a test uses of its file and class is the same, too.
    """
    before = {one: key for path, (then, _) in texts.items() for one, key in _bodies(path, then)}
    after = {one: key for path, (_, now) in texts.items() for one, key in _bodies(path, now)}
    come: dict[str, list[Named]] = {}
    for one in sorted(after.keys() - before.keys()):
        come.setdefault(after[one], []).append(one)
    gone = (one for one in sorted(before.keys() - after.keys()) if come.get(before[one]))
    return {one: come[before[one]].pop(0) for one in gone}


def _bodies(path: str, text: str) -> Iterator[tuple[Named, str]]:
    """Tests whose name stands in their file once, with all that they say and use there."""
    module = module_of(text)
    tests = list(_tests(module.body, ()))
    names = [name for name, _ in tests]
    known = {name: ast.dump(node) for node in module.body for name in _defined(node)}
    for name, test in tests:
        if names.count(name) == 1:
            parts = [_without_name(test.function), *map(_around, test.classes)]
            words = {word for part in parts for word in _words(part)}
            said = [*map(ast.dump, parts), *(known[word] for word in sorted(words & known.keys()))]
            yield (path, name), "\n".join(said)


def _without_name(function: Function) -> ast.AST:
    kind = type(function)
    body = [one for one in function.body if not _is_text(one)] or function.body
    return kind("test", function.args, body, function.decorator_list, function.returns)


def _around(owner: ast.ClassDef) -> ast.AST:
    """A class without its tests: what is set up for them."""
    rest = [one for one in owner.body if not (isinstance(one, Function) and one.name.startswith("test"))]
    return ast.ClassDef("Tests", owner.bases, owner.keywords, rest, owner.decorator_list)


def _defined(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, Function | ast.ClassDef):
        yield from () if node.name.startswith("test") else (node.name,)
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        yield from (one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store))


def _words(part: ast.AST) -> Iterator[str]:
    """Names, and parameters: fixtures."""
    for node in ast.walk(part):
        if isinstance(node, ast.Name | ast.arg):
            yield node.id if isinstance(node, ast.Name) else node.arg


# --- reading -------------------------------------------------------------------------------------------------


def _tests(body: list[ast.stmt], classes: tuple[ast.ClassDef, ...]) -> Iterator[tuple[str, _Test]]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _tests(node.body, (*classes, node))
        elif isinstance(node, Function) and node.name.startswith("test"):
            yield ".".join([*(one.name for one in classes), node.name]), _Test(node, classes)
        elif isinstance(node, ast.If | ast.Try | ast.With):
            inner = [one for one in ast.iter_child_nodes(node) if isinstance(one, ast.stmt)]
            yield from _tests(inner, classes)


def _switches(body: list[ast.stmt], owner: str) -> Iterator[tuple[str, int]]:
    """`Class:what` of a class, `:what` of the module: what keeps tests from being collected, or skips many."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _switches(node.body, f"{owner}.{node.name}".strip("."))
        elif isinstance(node, Function):
            if node.name in ("load_tests", "pytest_generate_tests") or node.name.startswith("pytest_"):
                yield f"{owner}:{node.name}", node.lineno
            elif not node.name.startswith("test"):
                yield from ((f"{owner}:a skip in {node.name}", line) for line in _skip_lines(node))
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = {last_name(target) for target in targets} & set(COLLECTING)
            if names and (names != {"pytestmark"} or any(map(_names_a_skip, ast.walk(node)))):
                yield f"{owner}:{names.pop()}", node.lineno
        else:
            yield from ((f"{owner}:a skip of all tests", line) for line in _skip_lines(node))


def _skip_lines(node: ast.stmt) -> Iterator[int]:
    return (getattr(one, "lineno", node.lineno) for one in ast.walk(node) if _skips(one))


def _names_a_skip(node: ast.AST) -> bool:
    """`pytest.mark.skip`, `unittest.skipIf(...)`, `expectedFailure`"""
    return isinstance(node, ast.expr) and SKIPS.match(last_name(node)) is not None


def _skips(node: ast.AST) -> bool:
    """`pytest.skip()`, `self.skipTest()`, `raise SkipTest`"""
    if isinstance(node, ast.Call):
        return SKIPS.match(last_name(node.func)) is not None
    return isinstance(node, ast.Raise) and node.exc is not None and "skip" in last_name(node.exc).lower()


def _is_empty(function: Function) -> bool:
    return all(isinstance(node, ast.Pass | ast.Return) or _is_text(node) for node in function.body)


def _is_text(node: ast.stmt) -> bool:
    """A docstring, or `...`"""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
