"""Test files of which the runner collected nothing: why, and the line that mends it. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from sisimpur.agents.qa.analysis.expressions import Function, last_name, module_of
from sisimpur.agents.qa.analysis.touched import SuiteFiles, Touched, is_group
from sisimpur.shared.model.evidence import Problem, SuiteRun, configures_tests, is_test_file

RULE = "a test file is not run"
UNITTEST = re.compile(r"manage\.py test\b|\bunittest\b")
PYTEST_NAME = re.compile(r"test_.*\.py|.*_test\.py")
FOR_OTHERS = re.compile(r"Base|Mixin|Abstract")  # classes whose tests run where others inherit them


@dataclass(frozen=True)
class Suite:
    """What the runner was given, and where it found tests. `paths`: all files of the commit."""

    command: str
    paths: Collection[str]
    run: SuiteRun
    places: SuiteFiles

    @property
    def is_unittest(self) -> bool:
        """The id says it where the command does not: `make test`."""
        if UNITTEST.search(self.command):
            return True
        return "pytest" not in self.command and any("::" not in test for test in self.run.outcomes)

    @property
    def collected(self) -> frozenset[str]:
        return self.places.files(self.run.outcomes)

    @property
    def is_known(self) -> bool:
        """Say whether each test's file is known: of others nobody could say what was not collected."""
        return self.run.is_whole and all(self.places.file(test) for test in self.run.outcomes if not is_group(test))


def uncollected(touched: Touched, suite: Suite, read: Callable[[str], str]) -> Iterator[Problem]:
    """`read`: a path of the commit -> its text. What a folder's move or another name would mend is the owner's."""
    if not suite.is_known and suite.run.end != "no tests":
        return
    for change in touched.tests:
        path = change.path
        if change.mode_new and path.endswith(".py") and is_test_file(path) and not configures_tests(path):
            tests = _tests(read(path))
            if tests and path not in suite.collected:
                in_place, mend = _mend(path, tests, suite)
                text = f"{path} holds tests, and the runner collects none of them: {mend}"
                yield Problem(RULE, text, "correct" if in_place else "ask owner", (f"{path}::",))


def missing_marks(path: str, paths: Collection[str]) -> list[str]:
    """Folders of a test file that are no packages, the outermost first; the folder of manage.py needs to be none."""
    roots = {one.rpartition("/")[0] for one in paths if one.rpartition("/")[2] == "manage.py"}
    parts = path.split("/")[:-1]
    folders = ["/".join(parts[:size]) for size in range(1, len(parts) + 1)]
    start = max((number for number, folder in enumerate(folders, 1) if folder in roots), default=0)
    return [folder for folder in folders[start:] if f"{folder}/__init__.py" not in paths]


@dataclass(frozen=True)
class _TestDefinitions:
    """Tests of one file. `classes`: that hold some; `functions`: beside all classes."""

    classes: tuple[ast.ClassDef, ...]
    functions: bool

    def __bool__(self) -> bool:
        return bool(self.classes) or self.functions


def _tests(text: str) -> _TestDefinitions:
    body = module_of(text).body
    classes = (node for node in body if isinstance(node, ast.ClassDef) and not FOR_OTHERS.search(node.name))
    return _TestDefinitions(tuple(one for one in classes if any(map(_is_test, one.body))), any(map(_is_test, body)))


def _is_test(node: ast.stmt) -> bool:
    return isinstance(node, Function) and node.name.startswith("test")


def _mend(path: str, tests: _TestDefinitions, suite: Suite) -> tuple[bool, str]:
    """Whether it can be mended where it is, and how."""
    name = path.rpartition("/")[2]
    if suite.is_unittest:
        return _for_unittest(path, name, tests, suite)
    if not PYTEST_NAME.fullmatch(name):
        return False, f"call it test_{name.removesuffix('.py').removeprefix('tests_').removeprefix('test')}.py"
    if tests.classes and not tests.functions:
        if odd := [one for one in tests.classes if not one.name.startswith("Test") and not _is_case(one)]:
            return True, f"call the class {odd[0].name} Test{odd[0].name.removesuffix('Tests').removesuffix('Test')}"
        if built := [one for one in tests.classes if any(_is_init(node) for node in one.body)]:
            return True, f"take __init__ out of {built[0].name}: a class with it is not collected"
    return False, _elsewhere(path, suite)


def _for_unittest(path: str, name: str, tests: _TestDefinitions, suite: Suite) -> tuple[bool, str]:
    folders = missing_marks(path, suite.paths)
    if shadowed := [folder for folder in folders if f"{folder}.py" in suite.paths]:
        return False, f"{shadowed[0]}.py has the name of its folder: write the tests beside it, as test_*.py"
    if folders:
        files = ", ".join(f"{folder}/__init__.py" for folder in folders)
        return True, f"add {files}, empty (a line end is enough): the runner looks into packages only"
    if not name.startswith("test"):
        return False, f"call it test_{name}"
    if not any(map(_is_case, tests.classes)):
        return True, "make them methods of a class on TestCase: this runner runs nothing else"
    return False, _elsewhere(path, suite)


def _elsewhere(path: str, suite: Suite) -> str:
    folder = path.rpartition("/")[0]
    near = sorted(suite.collected, key=lambda one: (-_shared(one, folder), one))[:1]
    found = f"; it does collect {near[0]}" if near else ""
    return f"`{suite.command}` leaves it out{found}"


def _shared(path: str, folder: str) -> int:
    pairs = zip(path.split("/")[:-1], folder.split("/"), strict=False)
    return next((number for number, (a, b) in enumerate(pairs) if a != b), path.count("/"))


def _is_case(node: ast.ClassDef) -> bool:
    """A class on something: a TestCase, or a base of the repository that may be one."""
    return any(last_name(base) not in ("object", "") for base in node.bases)


def _is_init(node: ast.stmt) -> bool:
    return isinstance(node, Function) and node.name == "__init__"
