"""Reports a run of pytest. With xdist the controller reports, and the workers leave out what was not chosen."""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
from collections.abc import Generator, Mapping, Sequence
from typing import Any

import gate_report  # type: ignore[import-not-found]
import pytest

NAME = "gate_pytest"
PHASES = ("setup", "call", "teardown")

# What of pytest's makes an outcome, besides what gate_report knows of any runner.
TELLING = (
    "_pytest.runner:runtestprotocol,call_and_report,pytest_runtest_makereport,pytest_runtest_call,CallInfo.from_call",
    "_pytest.reports:TestReport.from_item_and_call,BaseReport.passed,BaseReport.failed,BaseReport.skipped",
    "_pytest.python:pytest_pyfunc_call,Function.runtest",
    "_pytest.unittest:TestCaseFunction.runtest,TestCaseFunction.addError,TestCaseFunction.addFailure",
    "pytest:raises,fail",
)
AT_FIRST = dict(gate_report.telling(TELLING))

# Whoever the tests start may have a path on which this module cannot be found.
_others = [name for name in os.environ.pop("PYTEST_PLUGINS", "").split(",") if name not in ("", NAME)]
if _others:
    os.environ["PYTEST_PLUGINS"] = ",".join(_others)


_claimed: list[gate_report.Report] = []


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests() -> None:
    """Before any conftest.py, which may import what is tested: that does not find the report's word any more."""
    report = None if _claimed else gate_report.claim()
    if report is not None:
        atexit.register(report.leave)
        _claimed.append(report)


def pytest_configure(config: Any) -> None:
    worker = getattr(config, "workerinput", None)
    if worker is not None:
        config.pluginmanager.register(ChosenTests(frozenset(worker.get("sisimpur_only", ()))))
        config.pluginmanager.register(Worker())
        return
    report = _claimed.pop() if _claimed else gate_report.claim()
    if report is not None:
        config.pluginmanager.register(ChosenTests(report.only))
        config.pluginmanager.register(Reporter(report, config))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(call: Any) -> Generator[None, Any, None]:
    """Here is the trace itself; the report holds only its text, in the style that the owner asked for."""
    outcome = yield
    with contextlib.suppress(Exception):
        if call.excinfo is not None:
            outcome.get_result().sisimpur_where = gate_report.place(call.excinfo.tb)


class ChosenTests:
    def __init__(self, only: frozenset[str]) -> None:
        self._only = only

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: Any, items: list[Any]) -> None:
        gone = [item for item in items if self._only and _file(item) not in self._only]
        if gone:
            config.hook.pytest_deselected(items=gone)
            items[:] = [item for item in items if _file(item) in self._only]
        if os.environ.get("SISIMPUR_REVERSED"):
            places = gate_report.places_of_files() or {
                file: -place for place, file in enumerate(dict.fromkeys(map(_file, items)))
            }
            items.sort(key=lambda item: places.get(_file(item), 0))  # those of a file stay as they are


class Worker:
    """Looks at the runner where the tests run, and hands what it sees to the controller, which tells it."""

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_sessionfinish(self, session: Any) -> Generator[None, None, None]:
        ends: list[str] = []
        with contextlib.suppress(Exception):
            ends = [_end_of(session, fails) for fails in (False, True)]
        yield
        session.config.workeroutput["sisimpur"] = [ends, gate_report.replaced(AT_FIRST, TELLING)]


class Reporter:
    def __init__(self, report: gate_report.Report, config: Any) -> None:
        self._report = report
        self._session: Any = None
        self._root = str(getattr(config, "rootpath", None) or config.rootdir)
        self._counted, self._ran = False, 0
        self._running: dict[str, tuple[str, str, str]] = {}  # id -> outcome so far, where, text
        self._took: dict[str, float] = {}  # id -> seconds
        self._replaced: set[str] = set()  # in workers

    def pytest_sessionstart(self, session: Any) -> None:
        self._session = session

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: Any) -> None:
        self._count(len(session.items))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        self._count(len(ids))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_setupnodes(self) -> None:
        os.environ["PYTEST_PLUGINS"] = ",".join([*_others, NAME])  # for the workers, which start with our arguments

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput["sisimpur_only"] = sorted(self._report.only)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        ends, replaced = (getattr(node, "workeroutput", None) or {}).get("sisimpur", ([], []))
        if ends:
            self._report.canary(*ends)
        self._replaced.update(replaced)

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            text = _text(report)
            self._report.test(self._id(report.nodeid), "failed", gate_report.place(None, text), text)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """A test has failed if any of its parts has. A runner that repeats tests begins again: the last time counts."""
        test, start = report.nodeid, ("passed", "", "")
        found = start if report.when == "setup" else self._running.get(test, start)
        if report.failed and found[0] != "failed":
            text = _text(report)
            found = ("failed", getattr(report, "sisimpur_where", "") or gate_report.place(None, text), text)
        elif report.skipped and not hasattr(report, "context") and found[0] == "passed":  # a subtest has a context
            found = ("skipped", "", "")
        self._running[test] = found
        if report.when == "call" or gate_report.IS_ALL_TIMED:
            self._took[test] = self._took.get(test, 0.0) + float(report.duration)
        if report.when == "teardown" or report.when not in PHASES:  # a worker that died: "???"
            self._ran += 1
            self._report.test(self._id(test), *self._running.pop(test), self._took.pop(test, None))

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: Any) -> Generator[None, None, None]:
        """Runs two tests of ours before, and looks at the runner after whatever else has a hand in the end."""
        if self._ran and not hasattr(session.config, "workerinput"):
            with contextlib.suppress(Exception):
                self._report.canary(*(_end_of(session, fails) for fails in (False, True)))
        yield
        for name in sorted({*gate_report.replaced(AT_FIRST, TELLING), *self._replaced}):
            gate_report.not_believed(self._report, name)
            session.exitstatus = int(session.exitstatus) or 1

    def pytest_unconfigure(self) -> None:
        if self._session is not None:
            with contextlib.suppress(TypeError, ValueError):
                self._report.end(int(self._session.exitstatus), self._ran)

    def _count(self, number: int) -> None:
        if not self._counted:  # each worker of xdist collects everything
            self._counted = True
            self._report.collected(number)

    def _id(self, nodeid: str) -> str:
        """Relative to the job, wherever pytest sees its root."""
        path, sign, rest = nodeid.partition("::")
        return (gate_report.below_job(os.path.join(self._root, path)) or path or "(collection)") + sign + rest


class Canary(pytest.Item):
    """A test of our own, which no test file holds. Hooks of the target's find what they look for in a test."""

    fails, cls, module, instance = False, None, None, None
    fixturenames: Sequence[str] = ()
    funcargs: Mapping[str, Any] = {}

    @property
    def function(self) -> Any:
        return self.runtest

    obj = function

    def runtest(self) -> None:
        if self.fails:
            raise AssertionError("a test that must fail")

    def reportinfo(self) -> Any:
        return self.path if hasattr(self, "path") else self.fspath, 0, self.name


def _end_of(session: Any, fails: bool) -> str:
    """Run it through the same hooks as any test, one after the other, without telling the session of its end."""
    item = Canary.from_parent(session, name="test_canary")
    item.fails = fails
    hooks, ends, steps = item.ihook, [], {"setup": {}, "call": {}, "teardown": {"nextitem": None}}
    for when, more in steps.items():
        run = functools.partial(getattr(hooks, f"pytest_runtest_{when}"), item=item, **more)
        call = pytest.CallInfo.from_call(run, when)  # type: ignore[arg-type]
        ends.append(hooks.pytest_runtest_makereport(item=item, call=call).outcome)
    return "passed" if set(ends) == {"passed"} else "failed" if ends[0] == "passed" else "unknown"


def _file(item: Any) -> str:
    return str(gate_report.below_job(str(getattr(item, "path", None) or item.fspath)))


def _text(report: Any) -> str:
    with contextlib.suppress(Exception):
        return str(report.longreprtext)
    return str(report.longrepr)
