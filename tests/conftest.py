"""Guards of the whole suite: nobody leaves this machine, and nobody finds the developer's own files or keys."""

from __future__ import annotations

import gc
import importlib
import ipaddress
import os
import re
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import hypothesis
import pytest

from tests.left_out import by_file, left_out

OWNERS = ("ANTHROPIC", "GITHUB", "DISCORD", "APPRISE", "MAIL_", "TAVILY", "PING", "PACKAGE_INDEX", "SISIMPUR")
OURS = ("SISIMPUR_EVERY_POINT", "SISIMPUR_ACCEPT")  # `make crash`; what is accepted is written (accepted.py)

os.environ["HOME"] = "/nonexistent/home-of-a-test"
os.environ["TZ"] = "UTC"
for _name in [name for name in os.environ if name.startswith(OWNERS) and name not in OURS]:
    del os.environ[_name]


# What a worker has compiled is there for the others, and for the programs that tests start.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

gc.disable()  # until all is loaded: hardly any of it is garbage

pytest.register_assert_rewrite("tests.edges.forge_contract", "tests.journey.invariants")

# Whoever was started in the background ignores Ctrl-C, and so would everything that a test starts and interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)


# How long one example takes says more about the others on this machine than about the code.
hypothesis.settings.register_profile("few", deadline=None, max_examples=20)
hypothesis.settings.register_profile("many", deadline=None, max_examples=100)  # --hypothesis-profile=many
hypothesis.settings.load_profile("few")


class LeftTheMachine(Exception):
    """A test tried to reach another machine. Script that service instead."""


def _stay_here(event: str, arguments: tuple[Any, ...]) -> None:
    if event not in ("socket.connect", "socket.sendto") or not isinstance(arguments[1], tuple):
        return
    host = str(arguments[1][0])
    if host != "localhost" and not (_is_address(host) and ipaddress.ip_address(host).is_loopback):
        raise LeftTheMachine(f"{event} to {host}")


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


sys.addaudithook(_stay_here)


# --- which tests are run, and where they have their folder ---------------------------------------------------

DIES = re.compile("kill|crash")  # in the name of a test or of its file; `make crash` finds them so, too
LONGEST = "test_demo.py::test_the_demo_merges"
ROOT = Path(__file__).parent.parent
MEMORY, DISK = Path("/dev/shm"), Path("/var/tmp")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--leave-out", action="store_true", help="skip what tests/left_out.toml names")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: LONGEST not in item.nodeid)  # else the others may be done before it has begun
    for item in items:
        if DIES.search(item.nodeid):
            item.add_marker("disk")
    if config.getoption("leave_out"):
        _leave_out(config, items)


def _leave_out(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Not skipped: nobody tells the controller of each of these thousands twice."""
    rows = by_file(left_out(), {_file(item) for item in items})
    why = {item: next((row.why for row in rows[_file(item)] if row.names(item.nodeid)), "") for item in items}
    config.stash[LEFT_OUT] = Counter(f"left out: {reason}" for reason in why.values() if reason)
    items[:] = [item for item in items if not why[item]]


def _file(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Each worker begins to load the tests somewhere else: so each file is compiled once, not once by every worker."""
    given: dict[str, Any] = getattr(session.config, "workerinput", {})
    if not given:
        return
    files = [path.relative_to(ROOT) for path in sorted((ROOT / "tests").rglob("test_*.py"))]
    begin = len(files) * int(given["workerid"].removeprefix("gw")) // given["workercount"]
    asked = [ROOT / word.partition("::")[0] for word in session.config.args]
    for path in files[begin:] + files[:begin]:
        if any((ROOT / path).is_relative_to(one) for one in asked):
            with suppress(Exception, pytest.skip.Exception):  # the collection tells
                importlib.import_module(".".join(path.with_suffix("").parts))


def pytest_collection_finish(session: pytest.Session) -> None:
    """What was loaded stays to the end: nobody looks through it for garbage again and again."""
    gc.freeze()
    gc.enable()


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """`make test` has its folders in memory. What survives a kill is proved on a disk."""
    if request.node.get_closest_marker("disk") is None or not _is_in_memory(tmp_path):
        yield tmp_path
        return
    with TemporaryDirectory(prefix="test-", dir=DISK, ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _is_in_memory(path: Path) -> bool:
    return MEMORY.exists() and path.stat().st_dev == MEMORY.stat().st_dev


# --- the end -------------------------------------------------------------------------------------------------

LEFT_OUT = pytest.StashKey[Counter[str]]()  # reason -> tests
NOTHING = Counter[str]()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker tells the controller; each has left out the same."""
    if (told := getattr(session.config, "workeroutput", None)) is not None:
        found: Counter[str] = session.config.stash.get(LEFT_OUT, NOTHING)
        told["left_out"] = dict(found)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    if found := getattr(node, "workeroutput", {}).get("left_out"):
        node.config.stash[LEFT_OUT] = Counter(found)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What was skipped and why, also when nobody asks (-rs)."""
    skipped = Counter(_reason(report.longrepr) for report in terminalreporter.stats.get("skipped", ()))
    left_out: Counter[str] = terminalreporter.config.stash.get(LEFT_OUT, NOTHING)
    skipped += left_out
    for reason, count in skipped.most_common():
        terminalreporter.line(f"skipped: {count} x {reason}")


def _reason(why: Any) -> str:
    """Of a report: (file, line, reason)."""
    return str(why[2] if isinstance(why, tuple) else why).removeprefix("Skipped: ")
