"""RawRun -> SuiteRun: what a run of the target's tests says, and whether it says all of it. Pure.

The report was written by the code that was tested, so it is read as hostile: nothing in it can raise, and one line that
is not as agreed makes the whole of it worthless.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import NoReturn

from sisimpur.agents.qa.analysis.task_words import without_values
from sisimpur.agents.qa.coverage_checker import by_folder, executable, read_coverage, why_uncounted
from sisimpur.agents.qa.runner.suite import MAX_REPORT, RawTestRun
from sisimpur.agents.qa.traces import excerpt
from sisimpur.shared.model.evidence import Failure, Outcome, SuiteRun

LONGEST_ID = 300  # characters
LONGEST_TRACE = 1_500  # as much as is shown of one
MOST_FAILURES = 50  # whose traces are kept
LONGEST_OUTPUT = 20_000
PLACE = re.compile(r"[^:\s][^:\n]{0,400}:\d{1,7}")
RANK: dict[str, int] = {"passed": 0, "skipped": 1, "failed": 2}
NO_TESTS = 5  # how pytest, and unittest since Python 3.12, end when there is nothing to run

# --- the report ----------------------------------------------------------------------------------------------


@dataclass
class _Runner:
    """Report of one runner. A command may start several, one after the other."""

    collected: int | None = None
    lines: int = 0
    failed: int = 0
    end: int | None = None
    ran: int = 0

    @property
    def is_complete(self) -> bool:
        """Say whether all collected tests ended. What cannot be collected is reported as failed, but not counted."""
        extra = self.lines - self.ran
        return self.ran == self.collected and 0 <= extra <= self.failed

    @property
    def is_consistent(self) -> bool:
        return self.end == bool(self.failed) or (self.end == NO_TESTS and not self.lines)


@dataclass
class _Report:
    runners: list[_Runner] = field(default_factory=list)
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    failures: dict[str, Failure] = field(default_factory=dict)
    times: dict[str, float] = field(default_factory=dict)
    is_forged: bool = False

    @property
    def has_ended(self) -> bool:
        return bool(self.runners) and self.runners[-1].end is not None


def read_run(raw: RawTestRun, asked: Collection[str] = ()) -> SuiteRun:
    """Never raises. `asked`: the files whose uncovered lines are wanted. What is not whole shows what there was."""
    report, is_sound = _read(raw.report or b"")
    covered, uncovered = read_coverage(raw.coverage, asked)
    return SuiteRun(
        end=_end(raw, report, is_sound),
        code=raw.code,
        outcomes=report.outcomes,
        failures=tuple(report.failures.values()),
        seconds=raw.seconds,
        cpu=raw.cpu,
        output=_clean(raw.output)[-LONGEST_OUTPUT:],
        digest=hashlib.sha256(raw.report).hexdigest() if raw.report is not None else "",
        covered=covered,
        uncovered=uncovered,
        executable=executable(raw.coverage, asked),
        times=report.times,
        folders=by_folder(raw.coverage),
        uncounted=why_uncounted(raw.coverage),
    )


def _end(raw: RawTestRun, report: _Report, is_sound: bool) -> str:
    if raw.end != "exited":
        return raw.end
    if not raw.report:
        return "no report"
    if not is_sound:
        return "damaged report"
    if not report.has_ended or not 0 <= raw.code < 128:
        return "crashed"
    if report.is_forged:
        return "forged"
    if not all(runner.is_complete for runner in report.runners):
        return "interrupted"
    if not report.outcomes:
        return "no tests" if raw.code in (0, NO_TESTS) else "crashed"
    return "finished" if _code_fits(raw.code, report) else "crashed"


def _code_fits(code: int, report: _Report) -> bool:
    """0 if and only if no test failed; a program around the runner (make) may have its own number for that."""
    if not all(runner.is_consistent for runner in report.runners):
        return False
    ends = [runner.end for runner in report.runners]
    return code != 0 if 1 in ends else code in ends


def _read(data: bytes) -> tuple[_Report, bool]:
    """Read up to the first line that is not as agreed, and say whether there was none."""
    report = _Report()
    if len(data) > MAX_REPORT:
        return report, False
    *lines, rest = data.split(b"\n")
    try:
        for line in lines:
            _take(_object(line), report)
    except (ValueError, RecursionError, MemoryError):
        return report, False
    return report, not rest


def _object(line: bytes) -> dict[str, object]:
    found = json.loads(line.decode(), object_pairs_hook=_once, parse_constant=_refuse)
    if not isinstance(found, dict):
        raise ValueError
    return found


def _once(pairs: Iterable[tuple[str, object]]) -> dict[str, object]:
    """A name that is said twice means two things to two readers."""
    pairs = list(pairs)
    if len(found := dict(pairs)) < len(pairs):
        raise ValueError
    return found


def _refuse(text: str) -> NoReturn:
    raise ValueError(text)


def _take(line: dict[str, object], report: _Report) -> None:
    runner = _runner(report, begins="end" not in line)
    if line.keys() == {"collected"}:
        if runner.collected is not None:
            raise ValueError
        runner.collected = _number(line["collected"])
    elif line.keys() == {"end", "ran"}:
        runner.end, runner.ran = _number(line["end"]), _number(line["ran"])
    elif line.keys() == {"canary"} and line["canary"] in ("held", "forged"):
        report.is_forged |= line["canary"] == "forged"
    elif {"test", "outcome"} <= line.keys() <= {"test", "outcome", "where", "text", "seconds"}:
        _take_test(line, runner, report)
    else:
        raise ValueError


def _runner(report: _Report, begins: bool) -> _Runner:
    """The one that speaks; the next one if the last has ended. What cannot be collected comes before the count."""
    if begins and (not report.runners or report.runners[-1].end is not None):
        report.runners.append(_Runner())
    if not report.runners or report.runners[-1].end is not None:
        raise ValueError
    return report.runners[-1]


def _take_test(line: dict[str, object], runner: _Runner, report: _Report) -> None:
    """Take the outcome of a test; of two reports the worse one counts."""
    test, outcome = _id(line["test"]), line["outcome"]
    if outcome != "passed" and outcome != "failed" and outcome != "skipped":
        raise ValueError
    runner.lines += 1
    runner.failed += outcome == "failed"
    known = report.outcomes.get(test)
    if known is None or RANK[outcome] > RANK[known]:
        report.outcomes[test] = outcome
    if "seconds" in line:
        report.times[test] = _seconds(line["seconds"])
    where, text = _text(line.get("where", "")), _text(line.get("text", ""))
    if outcome == "failed" and len(report.failures) < MOST_FAILURES:
        place = where if PLACE.fullmatch(where) else ""
        report.failures.setdefault(test, Failure(test, _line(place), _clean(excerpt(text, LONGEST_TRACE))))


# --- values --------------------------------------------------------------------------------------------------


def _number(value: object) -> int:
    if type(value) is not int or not 0 <= value < 10_000_000:
        raise ValueError
    return value


def _seconds(value: object) -> float:
    if type(value) not in (int, float) or not 0 <= value < 1_000_000:  # type: ignore[operator]
        raise ValueError
    return float(value)  # type: ignore[arg-type]


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError
    return value


def _id(value: object) -> str:
    """Id on one line, printable; a long one is cut, and still differs from others."""
    text = _line(_text(value))
    if not text:
        raise ValueError
    if len(text) > LONGEST_ID:
        text = f"{text[:LONGEST_ID]}…{hashlib.sha256(text.encode()).hexdigest()[:8]}"
    return text


def _line(text: str) -> str:
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def _clean(text: str) -> str:
    """Remove what no database and no forge takes: NUL and half characters."""
    return text.replace("\0", "�").encode("utf-8", "replace").decode()


# --- what a run says ------------------------------------------------------------------------------------------


def passing(run: SuiteRun | None, tests: Collection[str]) -> frozenset[str]:
    """Those of these tests that pass there. A run without an end says nothing against them.

    Of one whose values are others there (the moment of its run, the order of a set) as many pass, and none fails.
    """
    if not run or not run.is_whole:
        return frozenset(tests)
    asked, there = Counter(map(without_values, tests)), Counter(map(without_values, run.outcomes))
    bad = {without_values(test) for test in run.outcomes.keys() - run.of("passed")}
    alike = {name for name, count in asked.items() if there[name] >= count and name not in bad}
    return frozenset(tests) & run.of("passed") | {
        test for test in tests if test not in run.outcomes and "[" in test and without_values(test) in alike
    }


def taken_as(run: SuiteRun, tests: Iterable[str], outcome: Outcome) -> SuiteRun:
    """The same run, with another outcome of these tests."""
    return replace(run, outcomes={**run.outcomes, **dict.fromkeys(tests, outcome)})


def base_of(base: SuiteRun, change: SuiteRun, is_held: Callable[[str], bool]) -> SuiteRun | None:
    """What of the base is about the packages that alone ran. None: all ran, or the run came to no end."""
    if not (change.is_whole and change.code) or not all(map(is_held, change.outcomes)):
        return None
    return SuiteRun(base.end, base.code, {test: found for test, found in base.outcomes.items() if is_held(test)})
