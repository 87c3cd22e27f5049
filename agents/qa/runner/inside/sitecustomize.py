"""Runs whenever Python starts in the box of the tests: counts lines if asked, and waits for a runner to be imported.

What is imported here, the target finds loaded already; so it is next to nothing.
"""

import os
import sys


class Doorkeeper:
    """Prepares a module when it is imported. Python asks it before it looks for the module."""

    def __init__(self, prepare):  # type: ignore[no-untyped-def]  # annotations would have to be imported
        self._prepare = prepare

    def find_spec(self, name, path=None, target=None):  # type: ignore[no-untyped-def]
        prepare = self._prepare.pop(name, None)
        if prepare is None:
            return None
        finders = [finder for finder in sys.meta_path if hasattr(finder, "find_spec")]
        spec = next(filter(None, (finder.find_spec(name, path, target) for finder in finders)), None)
        if spec is not None:
            _afterwards(spec.loader, prepare)  # type: ignore[no-untyped-call]
        return spec


def _afterwards(loader, prepare):  # type: ignore[no-untyped-def]
    execute = loader.exec_module

    def execute_and_prepare(module):  # type: ignore[no-untyped-def]
        execute(module)
        try:  # noqa: SIM105  contextlib would have to be imported
            prepare(module)
        except Exception:  # noqa: BLE001,S110  the target's run goes on, without a report
            pass

    loader.exec_module = execute_and_prepare


def _pytest(_module):  # type: ignore[no-untyped-def]
    """The plugin takes this away again: a program with another path could not find the plugin, and would not start."""
    others = [name for name in os.environ.get("PYTEST_PLUGINS", "").split(",") if name]
    os.environ["PYTEST_PLUGINS"] = ",".join([*others, "gate_pytest"])


def _unittest(module):  # type: ignore[no-untyped-def]
    import gate_unittest  # type: ignore[import-not-found]

    gate_unittest.install(module)


def _count_lines():  # type: ignore[no-untyped-def]
    """Give up counting where the target counts by itself: one of the two would see only a part."""
    import multiprocessing.process  # which coverage does too

    import coverage

    coverage.process_startup()
    ours, start = coverage.process_startup.coverage, coverage.Coverage.start
    work = multiprocessing.process.BaseProcess._bootstrap  # type: ignore[attr-defined]

    def start_also(other):  # type: ignore[no-untyped-def]
        if other.config.data_file != ours.config.data_file:
            open(os.environ["SISIMPUR_UNCOUNTED"], "w", encoding="ascii").close()
        return start(other)

    def work_and_save(self, *rest, **more):  # type: ignore[no-untyped-def]  # its farewell skips what saves lines
        try:
            return work(self, *rest, **more)
        finally:
            ours.save()

    coverage.Coverage.start = start_also
    multiprocessing.process.BaseProcess._bootstrap = work_and_save  # type: ignore[attr-defined]


_watched = {}
if os.environ.get("SISIMPUR_REPORT"):
    _watched.update({"_pytest.config": _pytest, "unittest.suite": _unittest})
if os.environ.get("COVERAGE_PROCESS_START"):
    try:  # noqa: SIM105
        _count_lines()  # type: ignore[no-untyped-call]
    except Exception:  # noqa: BLE001,S110  the target's run goes on, uncounted
        pass
if _watched:
    sys.meta_path.insert(0, Doorkeeper(_watched))  # type: ignore[no-untyped-call]
