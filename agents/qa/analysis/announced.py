"""What a task says of tests that change with it: its author knew of these, so the owner judges them. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from agents.qa.analysis.removed import Named
from agents.qa.analysis.task_words import bare_name, changes_tests_of, is_declared
from agents.qa.analysis.test_changes import Weakening
from agents.qa.analysis.touched import Places
from shared.model.work import TaskSpec


@dataclass(frozen=True)
class Announced:
    """`relied`: changed files beside the product that tests depend on; `obsolete`: tests of what the task removes."""

    task: TaskSpec
    places: Places
    relied: frozenset[str] = frozenset()
    obsolete: frozenset[Named] = frozenset()

    def of(self, tests: Iterable[str]) -> frozenset[str]:
        """Those that the task names, or whose subject it removes."""
        return frozenset(test for test in tests if is_declared(test, self.task) or self._is_obsolete(test))

    def adapted(self, tests: Iterable[str]) -> frozenset[str]:
        """Those whose file, or whose expected values, it says to change."""
        if any(changes_tests_of(path, self.task) for path in self.relied):
            return frozenset(tests)
        return frozenset(test for test in tests if changes_tests_of(self.places.file(test), self.task))

    def names(self, one: Weakening) -> bool:
        return is_declared(one.test, self.task) or (one.path, bare_name(one.test)) in self.obsolete

    def _is_obsolete(self, test: str) -> bool:
        return (self.places.file(test), bare_name(test)) in self.obsolete
