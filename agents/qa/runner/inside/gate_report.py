"""The report, as each runner's reporter writes it: which files were chosen, how a test ended, where it failed.

This folder is mounted into the box of the tests. It runs with the target's Python (3.8 or newer), has only the
standard library, and must never break the target's run: what goes wrong here is a report that is not whole.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from types import TracebackType

JOB = "/job"
MOST_TEXT = 20_000  # characters of a trace that are kept: its head, where a chain begins, and its end
MOST_TRACES = 100  # of more failures only the names are told
IS_ALL_TIMED = os.environ.get("SISIMPUR_TIME") == "all"  # what is done before and after a test, too
PLACE = re.compile(r'File "([^"\n]+)", line (\d+)|^([^\s:"][^:"\n]{0,300}):(\d+): ', re.MULTILINE)


class Report:
    """One runner's lines. `only`: the test files that were chosen, relative to the job; empty: all of them."""

    def __init__(self, path: str, only: Iterable[str]) -> None:
        self.only = frozenset(only)
        self._path, self._pid, self._traces = path, os.getpid(), 0

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
        os.environ["SISIMPUR_REPORT"] = self._path

    def _write(self, line: dict[str, object]) -> None:
        """At once, for what comes next may be a crash. Somebody may have put a pipe there: nothing waits."""
        if os.getpid() != self._pid:
            return  # a fork of the runner, which is not the runner
        try:
            descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK, 0o644)
            try:
                os.write(descriptor, json.dumps(line).encode("ascii") + b"\n")
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
    path = os.environ.pop("SISIMPUR_REPORT", None)
    return Report(path, json.loads(os.environ.get("SISIMPUR_ONLY", "[]"))) if path else None


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
