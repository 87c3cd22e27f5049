"""Words of a task about tests: whether it asks for new behaviour, which tests it names, and what it removes. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from sisimpur.agents.qa.analysis.expressions import Function, module_of
from sisimpur.agents.qa.analysis.test_changes import Named, Weakening
from sisimpur.agents.qa.analysis.touched import SuiteFiles, Touched, dotted
from sisimpur.shared.model.work import TaskKind, TaskSpec

MENDS = re.compile(r"\b(fix(es)?|bugs?|crash(es)?|broken|wrong|repair|error)\b")
QUIET = (  # kinds of work after which the target does what it did before; a word alone may be a thing of the product
    r"^(refactor|docs?|tests?|perf|style|chore|ci)(\([^)]*\))?:",
    r"^(refactor|clean up|simplify|rename|dedup\w*|tidy|reformat|annotate)\b",
    r"^(document|test|cover) (the|all|how|that)\b",
    r"^remove (the )?(unused|dead|duplicated?|obsolete)\b",
    r"\b(refactor|readme|documentation|docstrings?|unit tests?|regression tests?|test coverage)\b",
    r"^(add|write|improve|extend)( more| missing)? tests?\b",
    r"\b(faster|speed up|optimi[sz]e)\b|\bimprove .*performance\b",
    r"^make\b.* (linear|quicker|leaner|simpler|clearer|easier to read|more (readable|efficient))$",
    r"\b(better|clearer|shorter) names?\b",
)
ANEW = (TaskKind.FIX, TaskKind.FEATURE, TaskKind.BEHAVIOUR)
SAME = (TaskKind.REFACTORING, TaskKind.TESTS, TaskKind.DOCS, TaskKind.UPKEEP)
UNCHANGED = re.compile(
    r"\bno change (of|in|to) behaviou?r\b|\b(behaviou?r|output) (stays|is|remains) (the same|unchanged|as it is)\b"
)
REMOVES = re.compile(r"\b(remov\w+|delet\w+|drop(s|ped)?|get rid of)\b", re.IGNORECASE)
KEEPS = re.compile(r"\b(not|never|keep\w*|stays?)\b|n't\b", re.IGNORECASE)
ADAPTS = re.compile(r"\b(up to date|updat\w+|adapt\w*|adjust\w*|chang\w+|rewrit\w+|correct\w*)\b", re.IGNORECASE)


def asks_for_behaviour(task: TaskSpec, touched: Touched) -> bool:
    """Say whether something must work afterwards that did not before. In doubt it must: a test has to show it.

    The kind decides, and no word of the title: that nothing shows is proven then, not believed.
    """
    if not touched.product or task.kind in SAME:
        return False
    return task.kind in ANEW or mends(task) or (touched.adds and not _is_quiet(task))


def _is_quiet(task: TaskSpec) -> bool:
    """A guess from words: of tasks that say no kind, and of removals that add something, too."""
    title, text = task.title.strip().lower(), "\n".join((task.description, *task.acceptance)).lower()
    return any(re.search(quiet, title) for quiet in QUIET) or UNCHANGED.search(text) is not None


def mends(task: TaskSpec) -> bool:
    return task.kind is TaskKind.FIX or MENDS.search(task.title.lower()) is not None


def is_declared(test: str, task: TaskSpec) -> bool:
    """The task names this test: whoever wrote the task knew that it would change."""
    if bare_name(test) in {bare_name(one) for one in task.changes_tests if not one.endswith(".py")}:
        return True
    return re.search(rf"(?<!\w){re.escape(bare_name(test))}(?!\w)", task.words) is not None


def changes_tests_of(path: str, task: TaskSpec) -> bool:
    """The task says that the tests of this file are to be changed, without naming them."""
    said = path in task.changes_tests
    return said or (
        bool(path) and any(path in sentence and ADAPTS.search(sentence) is not None for sentence in _sentences(task))
    )


def names_to_remove(task: TaskSpec) -> frozenset[str]:
    """The words of the sentences that ask to remove something."""
    asking = (one for one in _sentences(task) if REMOVES.search(one) and not KEEPS.search(one))
    return frozenset(word for sentence in asking for word in re.findall(r"[^\W\d]\w*", sentence))


def modules_to_remove(task: TaskSpec, deleted: Iterable[str]) -> list[str]:
    """Those of the deleted modules that a sentence asks to remove, by path or by dotted name."""
    asking = [one for one in _sentences(task) if REMOVES.search(one) and not KEEPS.search(one)]
    return [path for path in deleted if any(path in one or re.search(rf"\b{dotted(path)}\b", one) for one in asking)]


def _sentences(task: TaskSpec) -> list[str]:
    return re.split(r"[.;!?]\s|\n", task.words)


def without_values(test: str) -> str:
    """`tests/test_a.py::test_b` of `tests/test_a.py::test_b[1]`."""
    return test.partition("[")[0]


def bare_name(test: str) -> str:
    """`test_b` of `tests/test_a.py::TestA::test_b[1]` and of `tests.test_a.TestA.test_b`."""
    last = test.partition("[")[0].rpartition("::")[2]
    return last if last.endswith(".py") else last.rpartition(".")[2]


def with_class(test: str) -> str:
    """`TestA.test_b` of `tests/test_a.py::TestA::test_b[1]` and of `tests.test_a.TestA.test_b`."""
    path, sign, rest = test.partition("[")[0].partition("::")
    return rest.replace("::", ".") if sign else ".".join(path.split(".")[-2:])


# --- tests of what the task removes --------------------------------------------------------------------------


def obsolete(
    task: TaskSpec,
    tests: Mapping[str, str],
    code: Iterable[tuple[str, str]],
    is_missed: Callable[[str], bool],
) -> frozenset[Named]:
    """Choose of `tests` (path -> text before) those that use a name which the task removes, and which really is gone.

    `code`: texts of each changed file of the product, before and after. `is_missed`: whether the product still knows
    a name.
    """
    asked = names_to_remove(task)
    gone = {name for before, after in code for name in names_made(before) - names_made(after) if name in asked}
    gone = {name for name in gone if not is_missed(name)}
    return (
        frozenset((path, name) for path, text in tests.items() for name in testing(text, gone)) if gone else frozenset()
    )


def names_made(text: str) -> set[str]:
    """Functions, classes, and what stands on the left of an assignment."""
    found: set[str] = set()
    for node in ast.walk(module_of(text)):
        if isinstance(node, Function | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return found


def testing(text: str, names: Collection[str]) -> Iterator[str]:
    """The tests of a file that use one of these names."""
    for node in ast.walk(module_of(text)):
        if isinstance(node, Function) and node.name.startswith("test") and not {*names}.isdisjoint(_used(node)):
            yield node.name


def _used(function: ast.AST) -> Iterator[str]:
    for node in ast.walk(function):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr


# --- tests that the task announces ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Announced:
    """`relied`: changed files beside the product that tests depend on; `obsolete`: tests of what the task removes.

    `expected`: changed golden files and the like. A task that asks for something names them where they change with it.
    """

    task: TaskSpec
    places: SuiteFiles
    relied: frozenset[str] = frozenset()
    obsolete: frozenset[Named] = frozenset()
    expected: frozenset[str] = frozenset()

    def of(self, tests: Iterable[str]) -> frozenset[str]:
        """Tests that the task names, or whose subject it removes."""
        return frozenset(test for test in tests if is_declared(test, self.task) or self._is_obsolete(test))

    def adapted(self, tests: Iterable[str]) -> frozenset[str]:
        """Tests whose file, or whose expected values, the task says to change."""
        asked = self.expected.intersection((*self.task.files, *self.task.new_files)) if self.task.kind in ANEW else ()
        if asked or any(changes_tests_of(path, self.task) for path in self.relied | self.expected):
            return frozenset(tests)
        return frozenset(test for test in tests if changes_tests_of(self.places.file(test), self.task))

    def names(self, one: Weakening) -> bool:
        return is_declared(one.test, self.task) or (one.path, bare_name(one.test)) in self.obsolete

    def _is_obsolete(self, test: str) -> bool:
        return (self.places.file(test), bare_name(test)) in self.obsolete
