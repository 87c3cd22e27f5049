"""Reports a run of unittest, also Django's: the first suite that is called in a process, with whatever result."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import gate_report  # type: ignore[import-not-found]

AT_FIRST = dict(gate_report.telling())
HOLDER = re.compile(r"(\w+) \((.+)\)$")  # setUpClass (package.module.Class)


def install(suites: Any) -> None:
    """`suites`: the module unittest.suite."""
    call = suites.BaseTestSuite.__call__

    @functools.wraps(call)
    def reported(suite: Any, result: Any, *rest: Any, **more: Any) -> Any:
        report = gate_report.claim()
        if report is None:
            return call(suite, result, *rest, **more)
        listener = None
        with contextlib.suppress(Exception):
            _choose(suite, report.only)
            if os.environ.get("SISIMPUR_REVERSED"):
                _put_in_order(suite, gate_report.places_of_files())
            listener = Listener(report, result, suite)
        answer = call(suite, result, *rest, **more)
        if listener is not None:
            with contextlib.suppress(Exception):
                listener.end()
        return answer

    suites.BaseTestSuite.__call__ = reported


def _end_of(name: str) -> str:
    """How a test of ours ends that must pass, or fail, wherever this process runs tests."""
    import unittest

    class CanaryCase(unittest.TestCase):
        def test_pass(self) -> None:
            self.assertEqual(1, 1)

        def test_fail(self) -> None:
            self.assertEqual(1, 2)

    result = unittest.TestResult()
    CanaryCase(name).run(result)
    return "passed" if result.testsRun == 1 and result.wasSuccessful() else "failed"


def _runner_case() -> Any:
    """Stands for the runner among the tests that fail."""
    import unittest

    class RunnerCase(unittest.TestCase):
        def runTest(self) -> None:  # noqa: N802
            pass

    return RunnerCase()


class Listener:
    """Hears what the runner tells its result."""

    def __init__(self, report: gate_report.Report, result: Any, suite: Any) -> None:
        self._report, self._result = report, result
        self._waiting: dict[str, int] = {}  # collected and not ended: id -> how many tests have it
        self._running: dict[str, tuple[str, str, str]] = {}  # id -> outcome so far, where, text
        self._groups: dict[str, tuple[str, str, str]] = {}  # class or module that could not be set up -> the same
        self._ran = 0
        self._began: dict[str, float] = {}
        for test in _tests(suite):
            self._waiting[_id(test)] = self._waiting.get(_id(test), 0) + 1
        report.collected(sum(self._waiting.values()))
        for name in ("addSuccess", "addSkip", "addExpectedFailure", "addUnexpectedSuccess", "addError", "addFailure"):
            self._hear(name, getattr(self, "_" + name))
        self._hear("addSubTest", self._add_subtest)
        self._hear("startTest", self._start)
        self._hear("stopTest", self._stop)

    def end(self) -> None:
        """Tests of a class or module that could not be set up were never started: they share its outcome."""
        if not self._result.shouldStop:
            for test in sorted(self._waiting):
                for group in (test.rpartition(".")[0], test.rpartition(".")[0].rpartition(".")[0]):
                    if group in self._groups and self._waiting[test]:
                        self._emit(test, self._groups[group])
                        break
        with contextlib.suppress(Exception):
            self._report.canary(*map(_end_of, ("test_pass", "test_fail")))
        for name in gate_report.replaced(AT_FIRST):
            gate_report.not_believed(self._report, name)
            self._result.failures.append((_runner_case(), f"{name} is not what it was"))
        self._report.end(0 if self._result.wasSuccessful() else 1, self._ran)

    def _hear(self, name: str, hear: Callable[..., None]) -> None:
        tell = getattr(self._result, name)

        @functools.wraps(tell)
        def both(test: Any, *rest: Any, **more: Any) -> Any:
            with contextlib.suppress(Exception):
                hear(test, *rest, **more)
            return tell(test, *rest, **more)

        setattr(self._result, name, both)

    def _addSuccess(self, test: Any) -> None:  # noqa: N802
        self._running.setdefault(_id(test), ("passed", "", ""))

    def _addSkip(self, test: Any, *_: Any) -> None:  # noqa: N802
        if not hasattr(test, "test_case"):  # one subtest of several
            self._note(test, ("skipped", "", ""))

    def _addExpectedFailure(self, test: Any, *_: Any) -> None:  # noqa: N802
        self._note(test, ("skipped", "", ""))

    def _addUnexpectedSuccess(self, test: Any) -> None:  # noqa: N802
        self._note(test, ("failed", "", "unexpected success"))

    def _addError(self, test: Any, error: Any) -> None:  # noqa: N802
        text = self._text(test, error)
        self._note(test, ("failed", gate_report.place(error[2], text), text))

    _addFailure = _addError  # noqa: N815

    def _add_subtest(self, test: Any, _subtest: Any, error: Any) -> None:
        if error is not None:
            self._addError(test, error)

    def _note(self, test: Any, found: tuple[str, str, str]) -> None:
        """The first failure of a test stays. What is no test (the set-up of a class) is told at once."""
        holder = HOLDER.match(test.id())
        if holder is not None and not hasattr(test, "_testMethodName"):
            self._groups.setdefault(holder[2], found)
            if found[0] == "failed":
                self._report.test(_id(test), *found)
        elif self._running.get(_id(test), ("",))[0] != "failed":
            self._running[_id(test)] = found

    def _start(self, test: Any) -> None:
        self._began[_id(test)] = time.perf_counter()

    def _stop(self, test: Any) -> None:
        name, ended = _id(test), time.perf_counter()
        found = self._running.pop(name, ("failed", "", "the runner did not say how it ended"))
        self._emit(name, found, ended - self._began.pop(name, ended))

    def _emit(self, test: str, found: tuple[str, str, str], seconds: float | None = None) -> None:
        self._waiting[test] = self._waiting.get(test, 0) - 1
        self._ran += 1
        self._report.test(test, *found, seconds if gate_report.IS_ALL_TIMED else None)

    def _text(self, test: Any, error: Any) -> str:
        with contextlib.suppress(Exception):
            return str(self._result._exc_info_to_string(error, test))
        return "".join(traceback.format_exception(*error))


def _tests(suite: Any) -> Iterator[Any]:
    """All tests in suites within suites."""
    for test in suite:
        if hasattr(test, "__iter__"):
            yield from _tests(test)
        elif test is not None:
            yield test


def _choose(suite: Any, only: frozenset[str]) -> None:
    """Take out the tests whose class stands in another file."""
    if not only:
        return
    tests = getattr(suite, "_tests", None)
    if tests:
        tests[:] = [test for test in tests if hasattr(test, "__iter__") or _file(test) in only]
    for inner in suite:
        if hasattr(inner, "__iter__"):
            _choose(inner, only)


def _put_in_order(suite: Any, places: dict[str, int]) -> None:
    """Suites within it by their files. Django's is a list of tests, and has an order of its own."""
    tests = getattr(suite, "_tests", None)
    if tests and all(hasattr(test, "__iter__") for test in tests):
        tests.sort(key=lambda inner: min((places.get(_file(test), 0) for test in _tests(inner)), default=0))
        for inner in tests:
            _put_in_order(inner, places)


def _file(test: Any) -> str:
    """Return where its class stands; of a module that cannot be imported only the name is known."""
    if _is_import_error(test):
        return f"{test._testMethodName}".replace(".", "/") + ".py"
    module = sys.modules.get(type(test).__module__)
    return str(gate_report.below_job(getattr(module, "__file__", None) or ""))


def _id(test: Any) -> str:
    """`module.Class.method`, `module.Class (setUpClass)`, `module (import)`."""
    if _is_import_error(test):
        return f"{test._testMethodName} (import)"
    name = str(test.id())
    holder = HOLDER.match(name)
    return f"{holder[2]} ({holder[1]})" if holder and not hasattr(test, "_testMethodName") else name


def _is_import_error(test: Any) -> bool:
    return type(test).__name__ == "_FailedTest" and type(test).__module__ == "unittest.loader"
