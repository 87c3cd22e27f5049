"""Runs -> the tests that show what a change does: they pass with it and, for a reason that counts, not without. Pure.

A test's own assertion counts, and what code of the base raised. That a name is missing which the change adds shows
nothing: any test that names it fails so. Such a test is run once more where the name is there and does nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from sisimpur.agents.qa.analysis.task_words import bare_name, is_declared, mends
from sisimpur.agents.qa.analysis.test_changes import Named
from sisimpur.agents.qa.analysis.touched import SuiteFiles, is_group
from sisimpur.shared.model.evidence import Failure, SuiteRun
from sisimpur.shared.model.work import TaskSpec

MOST_TOLD = 5  # failures of an independent test
LIMITS = ("timed out", "memory", "processes", "disk", "output", "crashed")  # how tests end that cannot bear the code
MISSING = re.compile(r"(?:ImportError|ModuleNotFoundError|NameError|UnboundLocalError)\b")
OF_A_NAME = re.compile(r"(?:AttributeError|TypeError)\b")
NAMES = re.compile(r"['.](\w+)'|(?:\b|\.)(\w+)\(\)")  # `'helper'`, `'shop.helper'`, `Cart.total()`
OWN = re.compile(r"AssertionError\b|assert\b|Failed: |\w*\.?failureException\b")


@dataclass(frozen=True)
class NewNames:
    """What is known of tests that lack a name which the change adds.

    `lacking`: such tests, by id. `stood_in`: their run where new names do nothing; None: not made. `asking`: of them,
    those with an assertion about a name that had no stand-in. `idle`: tests that read as if they asserted nothing.
    """

    lacking: frozenset[str] = frozenset()
    stood_in: SuiteRun | None = None
    asking: frozenset[str] = frozenset()
    idle: frozenset[Named] = frozenset()


@dataclass(frozen=True)
class Without:
    """The tests without the change: the base with the commit's tests, in the files that were run (empty: all)."""

    run: SuiteRun
    on: Collection[str]
    places: SuiteFiles

    def fails(self, test: str) -> bool:
        if test in self.run.outcomes:
            return self.run.outcomes[test] == "failed"
        return self._is_broken(test) or self.run.end in LIMITS

    def lacks(self, test: str, added: Collection[str], is_for_tests: Callable[[str], bool]) -> bool:
        """Whether it fails for want of a name that the change adds, and nobody knows of a better reason.

        One file that cannot be imported keeps tests of others from being run: nobody knows of these.
        """
        if test not in self.run.outcomes and not self._is_broken(test):
            return not self.run.is_whole and self.run.end not in LIMITS
        if not self.fails(test):
            return False
        said = self._said(test)
        return said is None or _is_for_want(said, added, is_for_tests)

    def _is_broken(self, test: str) -> bool:
        return self.places.file(test) in self.places.broken_files(self.run)

    def _said(self, test: str) -> Failure | None:
        """Its failure, or its file's; None: only so many are told."""
        if test in self.run.outcomes:
            return next((one for one in self.run.failures if one.test == test and one.text), None)
        file = self.places.file(test)
        near = (one for one in self.run.failures if is_group(one.test) and self.places.file(one.test) == file)
        return next((one for one in near if one.text), None)


def _is_for_want(failure: Failure, added: Collection[str], is_for_tests: Callable[[str], bool]) -> bool:
    """What the base's own code raises is the base's behaviour, a missing name included."""
    path = failure.where.rpartition(":")[0]
    if path and not is_for_tests(path):
        return False
    first = failure.text.lstrip().partition("\n")[0]
    if MISSING.match(first):
        return True
    named = (name for found in NAMES.findall(first) for name in found)
    return OF_A_NAME.match(first) is not None and not set(added).isdisjoint(named)


def proven(tests: Iterable[str], new: NewNames, places: SuiteFiles) -> frozenset[str]:
    """Of tests that fail without the change, or may, those whose failure counts."""
    return frozenset(test for test in tests if test not in new.lacking or _asks(test, new, places))


def _asks(test: str, new: NewNames, places: SuiteFiles) -> bool:
    run = new.stood_in
    if run is None or run.outcomes.get(test) != "failed":
        return test in new.asking
    if (places.file(test), bare_name(test)) not in new.idle:
        return True
    return any(one.test == test and OWN.match(one.text) for one in run.failures)


def without_change(test: str, task: TaskSpec, base: SuiteRun, without: Without | None) -> bool:
    """An untouched test that was red on the base shows something only if the task is about that."""
    if without is None or (without.on and without.places.file(test) not in without.on):
        return test in base.of("failed") and (mends(task) or is_declared(test, task))
    return without.fails(test)


def said_by(run: SuiteRun) -> str:
    """What tests say of a change that their writer has not seen. One that guessed a name says nothing."""
    guessed = {one.test for one in run.failures if MISSING.match(one.text.lstrip())}
    against = [one for one in run.failures if one.test not in guessed and not is_group(one.test)]
    if against and run.is_whole:
        told = (f"{one.test}: {one.text.partition(chr(10))[0]}" for one in against[:MOST_TOLD])
        return f"disagrees: {len(against)} of its tests fail: {'; '.join(told)}"
    passed = len(run.of("passed"))
    return f"agrees: {passed} of its tests pass" if passed and run.is_whole else "says nothing: it could not be run"
