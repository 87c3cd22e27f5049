"""Dying on purpose: run a program until a fault point ends it as `kill -9` would, and list the points it passes.

A kill test enumerates: `points` of a clean run, then for each number from 1 a fresh scene, `killed_at` that number,
and the same call again. Numbers, not names: a point that is passed twice is two places to die. Where threads work side
by side the order varies: there each `occurrence` is asked for by name (`push.sent#2`), and may not come.

The program's whole process group dies with it.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import tempfile
import textwrap
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from sisimpur.shared.system.process import Finished, run
from tests.warm_start import WarmStart

EVERY_POINT = bool(os.environ.get("SISIMPUR_EVERY_POINT"))  # `make crash`; else a sample
at_length = pytest.mark.skipif(not EVERY_POINT, reason="it takes minutes: `make crash`")
REPOSITORY = Path(__file__).parents[1]
TIMEOUT = 60.0  # seconds; a program that needs more hangs
WARM = WarmStart(REPOSITORY)  # one for each process that runs tests
atexit.register(WARM.close)


def snippet(code: str, *arguments: str) -> list[str]:
    """The argument vector of a few lines of Python; `arguments` are its sys.argv[1:]."""
    return [sys.executable, "-c", textwrap.dedent(code), *arguments]


def finishes(argv: Sequence[str], env: Mapping[str, str] | None = None) -> Finished:
    """The program, started in the repository's folder with our environment and `env`. It must end with 0."""
    done = forked(argv, env or {})
    assert done.ok, f"ended with {done.code} ({done.end}): {done.complaint}"
    return done


def points(argv: Sequence[str], env: Mapping[str, str] | None = None, at_least: int = 1) -> list[str]:
    """The fault points that the program passes on its way to a good end, in order."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "points"
        finishes(argv, {**(env or {}), "SISIMPUR_CRASH_LOG": str(log)})
        passed = _lines(log)
    assert len(passed) >= at_least, f"passes {len(passed)} fault points: {' '.join(argv)[:200]}"
    return passed


def occurrences(passed: Sequence[str]) -> list[str]:
    """`push.sent#1`, `push.sent#2`, ...: every passing by name and how often that name had come, in order."""
    seen = Counter[str]()
    found = []
    for name in passed:
        seen[name] += 1
        found.append(f"{name}#{seen[name]}")
    return found


def killed_at(point: str | int, argv: Sequence[str], env: Mapping[str, str] | None = None) -> list[str]:
    """Let it die at a point (a name: its first passing; name#k: its k-th; or a number from 1) -> the points it passed.

    An AssertionError if it did anything else: ended by itself, or was killed by somebody else, elsewhere.
    """
    passed = killed_if_reached(point, argv, env)
    assert passed, f"should die at {point}, ended with 0 (exited)"
    return passed


def killed_if_reached(point: str | int, argv: Sequence[str], env: Mapping[str, str] | None = None) -> list[str]:
    """As `killed_at`, but empty if it came to its good end without passing there."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "points"
        done = forked(argv, {**(env or {}), "SISIMPUR_CRASH_AT": str(point), "SISIMPUR_CRASH_LOG": str(log)})
        passed = _lines(log)
    if done.ok:
        return []
    died = done.end == "exited" and done.code == -signal.SIGKILL
    assert died, f"should die at {point}, ended with {done.code} ({done.end}): {done.complaint}"
    named = (passed[-1], occurrences(passed)[-1], str(len(passed))) if passed else ()
    assert str(point) in named, f"should die at {point}, died after {passed}"
    return passed


def killer_of_boxes(times: int) -> Callable[[], bool]:
    """Asked by a box of ours whether it shall stop, it kills that box, so many times; it never says yes."""
    killed: list[int] = []

    def look() -> bool:
        for task in Path("/proc/self/task").iterdir():
            for pid in map(int, (task / "children").read_text().split()):
                is_box = b"bwrap" in Path(f"/proc/{pid}/cmdline").read_bytes()
                if is_box and pid not in killed and len(killed) < times:
                    killed.append(pid)
                    os.kill(pid, signal.SIGKILL)
        return False

    return look


def plainly(argv: Sequence[str], env: Mapping[str, str], timeout: float = TIMEOUT) -> Finished:
    """In an interpreter of its own, as whatever is not Python."""
    return run(argv, cwd=REPOSITORY, env={**os.environ, **env}, timeout=timeout)


def forked(argv: Sequence[str], env: Mapping[str, str], timeout: float = TIMEOUT) -> Finished:
    """From an interpreter that has imported everything already, if it can be."""
    everything = {**os.environ, **env}
    return WARM.run(argv, everything, timeout) if WARM.can_run(argv, everything) else plainly(argv, env, timeout)


def _lines(log: Path) -> list[str]:
    return log.read_text("utf-8").splitlines() if log.exists() else []
