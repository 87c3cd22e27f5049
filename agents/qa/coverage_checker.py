"""Counts of coverage.py -> the share of lines that tests run, and the changed lines that none runs. Pure.

Below: what a change that upkeep began was begun for, and does not show.
"""

from __future__ import annotations

import json
import math
import posixpath
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sisimpur.agents.qa.evidence_rule import Runs, is_usable
from sisimpur.agents.qa.runner.suite import JOB, MAX_REPORT
from sisimpur.agents.qa.traces import cause
from sisimpur.shared.model.change import Change
from sisimpur.shared.model.evidence import Problem, SuiteRun, is_test_file
from sisimpur.shared.model.naming import is_upkeep
from sisimpur.shared.model.text import ranges
from sisimpur.shared.model.work import TaskSpec


def read_coverage(data: bytes | None, asked: Collection[str]) -> tuple[float | None, dict[str, tuple[int, ...]]]:
    """(per cent of all executable lines, the uncovered ones of the files that are asked about).

    `data` is as `coverage json` writes it, and may be anything: what cannot be read says nothing.
    """
    found = _loaded(data)
    return _total(found.get("totals")), _missing(found.get("files"), asked)


COUNTS_ITSELF = "the tests' own options count lines (like --cov of pytest), and two counters disturb each other"


def why_uncounted(data: bytes | None) -> str:
    """Why lines were not counted; empty: they were, or nobody knows. `data`: as above."""
    return COUNTS_ITSELF if _loaded(data).get("counted_by") == "the target" else ""


def executable(data: bytes | None, asked: Collection[str]) -> dict[str, int]:
    """How many lines of each file that is asked about can be run at all. `data`: as above."""
    known = _by_path(_loaded(data).get("files"))
    return {
        path: len({*_lines(known[path]), *_lines(known[path], "executed_lines")}) for path in asked if path in known
    }


def by_folder(data: bytes | None) -> dict[str, tuple[int, int]]:
    """Folder -> how many lines of its code tests run, and how many there are. `data`: as above."""
    found: Counter[str] = Counter()
    every: Counter[str] = Counter()
    for path, entry in _by_path(_loaded(data).get("files")).items():
        if not is_test_file(path):
            folder, run = posixpath.dirname(path) or ".", len(_lines(entry, "executed_lines"))
            found[folder] += run
            every[folder] += run + len(_lines(entry))
    return {folder: (found[folder], lines) for folder, lines in every.items() if lines}


def _loaded(data: bytes | None) -> dict[str, Any]:
    try:
        found = json.loads(data.decode()) if data and len(data) <= MAX_REPORT else None
    except (ValueError, RecursionError, MemoryError):
        found = None
    return found if isinstance(found, dict) else {}


def _total(totals: Any) -> float | None:
    percent = totals.get("percent_covered") if isinstance(totals, dict) else None
    if isinstance(percent, bool) or not isinstance(percent, int | float):
        return None
    try:
        value = float(percent)
    except OverflowError:
        return None
    return value if math.isfinite(value) and 0 <= value <= 100 else None


def _missing(files: Any, asked: Collection[str]) -> dict[str, tuple[int, ...]]:
    known = _by_path(files)
    found = {path: _lines(known.get(path)) for path in sorted(asked)}
    return {path: lines for path, lines in found.items() if lines}


def _by_path(files: Any) -> dict[str, Any]:
    if not isinstance(files, dict):
        return {}
    return {name.removeprefix(f"{JOB}/").removeprefix("./"): entry for name, entry in files.items()}


def _lines(entry: Any, which: str = "missing_lines") -> tuple[int, ...]:
    lines = entry.get(which) if isinstance(entry, dict) else None
    if not isinstance(lines, list):
        return ()
    return tuple(sorted({line for line in lines if type(line) is int and 0 < line < 10_000_000}))


def uncovered_changes(changes: Iterable[Change], uncovered: Mapping[str, Sequence[int]]) -> dict[str, tuple[int, ...]]:
    """The changed executable lines that no test runs, by file."""
    found = {
        change.path: tuple(number for number, _ in change.added_lines if number in set(uncovered[change.path]))
        for change in changes
        if change.path in uncovered
    }
    return {path: lines for path, lines in found.items() if lines}


def newly_run(before: SuiteRun, after: SuiteRun, paths: Iterable[str]) -> dict[str, tuple[int, ...]] | None:
    """The lines of these files that tests run now and did not before. None: on one side nobody counted."""
    if before.covered is None or after.covered is None:
        return None
    return {
        path: tuple(line for line in before.uncovered.get(path, ()) if line not in after.uncovered.get(path, ()))
        for path in paths
    }


def no_gain(newly: Mapping[str, Sequence[int]]) -> Problem | None:
    """Tests that were asked for because of lines that none ran, and that run none of them either."""
    if not newly or any(newly.values()):
        return None
    text = f"the new tests run no line of {', '.join(newly)} that was not run before"
    return Problem("the new tests run nothing new", text, "correct")


MOST_REACHED = 5  # files, beside what no test runs


def reach(before: SuiteRun, after: SuiteRun) -> Iterator[str]:
    """`shop.py: tests run 12 of 14 lines, 9 of 14 before`, where that has changed; most of all first."""

    def counted(run: SuiteRun, path: str) -> tuple[int, int]:
        every = run.executable.get(path, 0)
        return every - len(run.uncovered.get(path, ())), every

    if before.covered is None or after.covered is None:
        return
    both = {path: (counted(before, path), counted(after, path)) for path in after.executable}
    moved = sorted(path for path, (was, now) in both.items() if was != now and now[1])
    for path in sorted(moved, key=lambda path: -abs(both[path][1][0] - both[path][0][0]))[:MOST_REACHED]:
        was, now = both[path]
        yield f"{path}: tests run {now[0]} of {now[1]} lines" + (f", {was[0]} of {was[1]} before" if was[1] else "")


def drop(
    before: float | None, after: float | None, uncovered: Mapping[str, Sequence[int]], tolerance: float
) -> Problem | None:
    """Less is covered, by more than `tolerance` points, and the change has a part in it: QA writes what is missing."""
    if before is None or after is None or before - after <= tolerance or not uncovered:
        return None
    text = f"coverage falls from {before:.1f} % to {after:.1f} %: no test runs {places(uncovered)}"
    return Problem("coverage drops", text, "write tests")


def places(lines: Mapping[str, Sequence[int]]) -> str:
    """All of them: `app.py:3-9, 12; b.py:4`."""
    return "; ".join(f"{path}:{ranges(numbers)}" for path, numbers in lines.items() if numbers)


# --- proof of upkeep ------------------------------------------------------------------------------------------

PINS = re.compile(r"(?P<path>[\w./-]+) pins (?P<name>[\w.-]+)==(?P<version>[\w.!-]+)", re.ASCII)  # a line of its proof


@dataclass(frozen=True)
class Sought:
    """Subject of a task of upkeep. `mends`: the id of a test; `covers`: modules that it wants tests for."""

    task: TaskSpec
    mends: str = ""
    covers: Collection[str] = ()


def unproven(sought: Sought, runs: Runs, read: Callable[[str], str]) -> Iterator[Problem]:
    """`read`: a path of the change -> its text. Runs without an end show nothing, and that is said elsewhere."""
    if not runs.change.is_whole or not is_usable(runs.base):
        return
    if sought.mends and sought.mends not in runs.change.of("passed"):
        yield _still_failing(sought.mends, runs)
    yield from _unpinned(sought.task, read)
    newly = newly_run(runs.base, runs.change, sought.covers)
    if newly is None and sought.covers:
        text = f"the lines that tests run were not counted: nobody knows which of {', '.join(sought.covers)} they run"
        yield Problem("nothing shows that the new tests run anything", text, "ask owner")
    elif less := no_gain(newly or {}):
        yield less


def _still_failing(test: str, runs: Runs) -> Problem:
    """Report a test that still fails; no coder brings back what is not on the base any more."""
    if test not in runs.base.outcomes:
        text = f"{test} is what this is about, and it is not on the base any more"
        return Problem("the test still fails", text, "ask owner", (test,))
    why = next((cause(one.text) or one.text.partition("\n")[0] for one in runs.change.failures if one.test == test), "")
    text = f"{test} is what this is about, and it does not pass{f': {why}' if why else ''}"
    return Problem("the test still fails", text, "correct", (test,))


def _unpinned(task: TaskSpec, read: Callable[[str], str]) -> Iterator[Problem]:
    promised = map(PINS.fullmatch, task.acceptance if is_upkeep(task.id) else ())
    for found in filter(None, promised):
        name, version = re.escape(found["name"]), re.escape(found["version"])
        line = re.compile(rf"\s*{name}\s*(?:\[[^\]]*\])?\s*==\s*{version}\s*(?:[;#].*)?")
        if not any(map(line.fullmatch, read(found["path"]).splitlines())):
            text = f"{found['path']} does not pin {found['name']}=={found['version']}"
            yield Problem("the pin is still the old one", text, "correct")
