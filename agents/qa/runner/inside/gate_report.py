"""The report, as each runner's reporter writes it: which files were chosen, how a test ended, where it failed.

This folder is mounted into the box of the tests. It runs with the target's Python (3.8 or newer), has only the
standard library, and must never break the target's run: what goes wrong here is a report that is not whole.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import re
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Any

JOB = "/job"
MOST_TEXT = 20_000  # characters of a trace that are kept: its head, where a chain begins, and its end
MOST_TRACES = 100  # of more failures only the names are told
IS_ALL_TIMED = os.environ.get("SISIMPUR_TIME") == "all"  # what is done before and after a test, too
PLACE = re.compile(r'File "([^"\n]+)", line (\d+)|^([^\s:"][^:"\n]{0,300}):(\d+): ', re.MULTILINE)


class Report:
    """One runner's lines. `only`: the test files that were chosen, relative to the job; empty: all of them.

    `word`: begins each line. It lay beside the pipe, and lies there again when another runner may report.
    """

    def __init__(self, path: str, only: Iterable[str], word: bytes = b"") -> None:
        self.only = frozenset(only)
        self._path, self._pid, self._traces = path, os.getpid(), 0
        self._word, self._is_silent = word, True

    def collected(self, number: int) -> None:
        self._write({"collected": number})

    def test(self, test: str, outcome: str, where: str = "", text: str = "", seconds: float | None = None) -> None:
        line: dict[str, object] = {"test": test, "outcome": outcome}
        if seconds is not None and os.environ.get("SISIMPUR_TIME"):
            line["seconds"] = round(min(max(seconds, 0.0), 99_999.0), 6)  # a test may have had the clock replaced
        if outcome == "failed":
            self._traces += 1
            line.update(where=where, text=_bounded(text) if self._traces <= MOST_TRACES else "")
        self._write(line)

    def canary(self, passing: str, failing: str) -> None:
        """Say how a test ended that must pass, and one that must fail: whether this runner still tells them apart."""
        if passing == "passed":
            self._write({"canary": "held" if failing == "failed" else "forged"})

    def end(self, code: int, ran: int) -> None:
        """The last line; from now on another runner in this process may report."""
        self._write({"end": code, "ran": ran})
        self._give_back()

    def leave(self) -> None:
        """Whoever asked for it has run no test."""
        if self._is_silent and os.getpid() == self._pid:
            self._give_back()

    def _give_back(self) -> None:
        os.environ["SISIMPUR_REPORT"] = self._path
        with contextlib.suppress(OSError), open(_beside(self._path), "xb") as file:
            file.write(self._word)

    def _write(self, line: dict[str, object]) -> None:
        """At once, for what comes next may be a crash. Where somebody has put another pipe, nothing waits."""
        if os.getpid() != self._pid:
            return  # a fork of the runner, which is not the runner
        data, self._is_silent = self._word + json.dumps(line).encode("ascii") + b"\n", False
        try:
            descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK)
            try:
                os.set_blocking(descriptor, True)
                while data:
                    data = data[os.write(descriptor, data) :]
            finally:
                os.close(descriptor)
        except OSError:
            pass


def _bounded(text: str) -> str:
    if len(text) <= MOST_TEXT:
        return text
    return text[: MOST_TEXT // 2] + "\n" + text[-MOST_TEXT // 2 :]


def claim() -> Report | None:
    """The report, for the first runner that asks; None for those that the target's tests start themselves."""
    path, word = os.environ.pop("SISIMPUR_REPORT", None), b""
    if not path:
        return None
    with contextlib.suppress(OSError), open(_beside(path), "rb") as file:
        word = file.read(100)
        os.unlink(_beside(path))
    return Report(path, json.loads(os.environ.get("SISIMPUR_ONLY", "[]")), word)


def _beside(path: str) -> str:
    """Where the word lies."""
    return os.path.splitext(path)[0] + ".word"


def places_of_files() -> dict[str, int]:
    """Of each chosen file; empty: all of them were."""
    return {path: place for place, path in enumerate(json.loads(os.environ.get("SISIMPUR_ONLY", "[]")))}


def below_job(path: str) -> str:
    """The path relative to the job's folder; empty if it lies elsewhere."""
    full = os.path.normpath(os.path.join(JOB, path))
    return full[len(JOB) + 1 :] if full.startswith(JOB + "/") else ""


def place(trace: TracebackType | None, text: str = "") -> str:
    """`path:line` of the innermost frame that is the target's own, or else of the last such line in the text."""
    found = ""
    while trace is not None:
        path = below_job(trace.tb_frame.f_code.co_filename)
        found = f"{path}:{trace.tb_lineno}" if path else found
        trace = trace.tb_next
    return found or _place_in(text[-100_000:])


def _place_in(text: str) -> str:
    found = ""
    for match in PLACE.finditer(text):
        path = below_job(match[1] or match[3])
        if path and os.path.isfile(os.path.join(JOB, path)):
            found = f"{path}:{match[2] or match[4]}"
    return found


# --- whether a runner is what it was --------------------------------------------------------------------------

# What makes an outcome, and tells it, in any runner. If something else is there in the end, all may be forged.
TELLING = (
    "unittest.case:TestCase.run,TestCase.fail,TestCase.assertEqual,TestCase.assertTrue,TestCase.assertRaises",
    "builtins:AssertionError,len,sum,sorted,isinstance,any,all,abs,min,max",
    "gate_report:Report.test,Report._write",
    "json:dumps",
    "os:open,write",
)


def telling(more: Iterable[str] = ()) -> Iterator[tuple[str, Any]]:
    """Each of them as it is now, with its code."""
    for line in (*TELLING, *more):
        module, _, names = line.partition(":")
        for name in names.split(","):
            with contextlib.suppress(Exception):  # another version of the runner
                found: Any = importlib.import_module(module)
                for part in name.split("."):
                    found = vars(found)[part] if part in vars(found) else getattr(found, part)
                found = getattr(found, "fget", None) or getattr(found, "__func__", found)
                yield f"{module}.{name}", (found, getattr(found, "__code__", None))


def replaced(at_first: dict[str, Any], more: Iterable[str] = ()) -> list[str]:
    """Their names that are not what they were."""
    now = dict(telling(more))
    return sorted(name for name, first in at_first.items() if now.get(name) != first)


def not_believed(report: Report, name: str) -> None:
    told = f"RuntimeError: {name} is not what it was when the tests began: their outcomes cannot be believed"
    report.test(f"(runner)::{name}", "failed", "", told)
