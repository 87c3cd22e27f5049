"""How a run's report and coverage are read: nothing in them raises, and only a whole report is believed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sisimpur.agents.qa.coverage_checker import drop, read_coverage, uncovered_changes
from sisimpur.agents.qa.runner.suite import RawTestRun
from sisimpur.agents.qa.test_runner import passing, read_run
from sisimpur.shared.model.change import Change
from sisimpur.shared.model.evidence import Outcome, SuiteRun

TIMED = {"test": "tests/test_a.py::test_b", "outcome": "passed", "seconds": 0.25}
PASSED = {"test": "tests/test_a.py::test_b", "outcome": "passed"}
FAILED = {"test": "tests/test_a.py::test_c", "outcome": "failed", "where": "tests/test_a.py:7", "text": "boom"}
SKIPPED = {"test": "tests/test_a.py::test_d", "outcome": "skipped"}
NOT_COLLECTED = {"test": "tests/test_z.py", "outcome": "failed", "where": "tests/test_z.py:1", "text": "ImportError"}


def written(*lines: object) -> bytes:
    return b"".join(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n" for line in lines)


def run(*lines: object, code: int = 0, end: str = "exited") -> SuiteRun:
    return read_run(RawTestRun(end, code, 1.0, "printed", written(*lines)))


def report(*tests: dict[str, Any], end: int = 0) -> list[object]:
    return [{"collected": len(tests)}, *tests, {"end": end, "ran": len(tests)}]


GREEN = report(PASSED, SKIPPED)


def test_a_test_may_say_how_long_it_took() -> None:
    assert run(*report(TIMED, SKIPPED)).times == {"tests/test_a.py::test_b": 0.25}
    for wrong in ("0.25", -1, True, None):
        assert run(*report({**TIMED, "seconds": wrong})).end == "damaged report"


NOON, LATER = "test_a.py::test_b[12:00:00 2026-11-28]", "test_a.py::test_b[12:00:09 2026-11-28]"
ELSE = "test_a.py::test_c[12:00:09]"


@pytest.mark.parametrize(
    ("there", "passes"),
    [
        pytest.param({LATER: "passed"}, True, id="its value is another one there"),
        pytest.param({LATER: "failed"}, False, id="it fails with that"),
        pytest.param({LATER: "passed", NOON: "failed"}, False, id="it fails there"),
        pytest.param({ELSE: "passed"}, False, id="it is not there"),
        pytest.param({}, False, id="nothing is"),
    ],
)
def test_a_test_named_by_the_moment_of_its_run_passes_where_as_many_of_it_do(
    there: Mapping[str, Outcome], passes: bool
) -> None:
    assert passing(SuiteRun("finished", 0, there), {NOON}) == ({NOON} if passes else set())


def test_where_fewer_of_it_run_none_of_them_passes_for_another() -> None:
    one, two = "test_a.py::test_b[1]", "test_a.py::test_b[2]"
    assert passing(SuiteRun("finished", 0, {"test_a.py::test_b[3]": "passed"}), {one, two}) == set()
    assert passing(SuiteRun("finished", 0, {two: "passed", LATER: "passed"}), {one, two}) == {one, two}
    assert passing(SuiteRun("finished", 0, {"test_a.py::test_b": "passed"}), {"test_a.py::test_d"}) == set()


# --- which reports are whole ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        pytest.param(GREEN, 0, id="all passed"),
        pytest.param(report(PASSED, FAILED, end=1), 1, id="one failed"),
        pytest.param(report(PASSED, FAILED, end=1), 2, id="one failed, and make says so"),
        pytest.param([*report(PASSED), *report(SKIPPED)], 0, id="one runner after the other"),
        pytest.param([*report(PASSED, FAILED, end=1), *report(SKIPPED)], 1, id="the first of two failed"),
        pytest.param([*report(end=5), *report(PASSED)], 0, id="the first of two had no tests"),
        pytest.param(
            [{"collected": 1}, {"test": "a.tests (import)", "outcome": "failed"}, PASSED, {"end": 1, "ran": 1}],
            1,
            id="unittest goes on without a file that it cannot import",
        ),
        pytest.param([{"collected": 2}, PASSED, PASSED, {"end": 0, "ran": 2}], 0, id="the same test twice"),
    ],
)
def test_a_report_is_whole_if_its_last_line_its_numbers_and_the_exit_code_agree(lines: list[object], code: int) -> None:
    assert run(*lines, code=code).end == "finished"


@pytest.mark.parametrize(
    ("lines", "code", "end"),
    [
        pytest.param([{"collected": 2}, PASSED], 0, "crashed", id="os._exit(0) in a test"),
        pytest.param([], 0, "no report", id="os._exit(0) in conftest.py"),
        pytest.param(report(PASSED, FAILED, end=0), 0, "crashed", id="a hook that sets the exit status"),
        pytest.param(report(PASSED, FAILED, end=1), 0, "crashed", id="the process says 0, the runner 1"),
        pytest.param(report(PASSED), 1, "crashed", id="the process says 1, the runner 0"),
        pytest.param(report(PASSED, end=1), 1, "crashed", id="exit code 1 without a failed test"),
        pytest.param(report(PASSED, FAILED, end=1), 137, "crashed", id="killed"),
        pytest.param(report(PASSED, FAILED, end=1), -9, "crashed", id="ended by a signal"),
        pytest.param(report(PASSED, end=3), 3, "crashed", id="pytest's internal error"),
        pytest.param(report(end=5), 5, "no tests", id="pytest found no tests"),
        pytest.param(report(), 0, "no tests", id="Django found no tests, or only collected"),
        pytest.param([{"collected": 3}, PASSED, {"end": 0, "ran": 1}], 0, "interrupted", id="two were not run"),
        pytest.param([{"collected": 1}, PASSED, {"end": 0, "ran": 2}], 0, "interrupted", id="more than collected"),
        pytest.param([{"collected": 2}, PASSED, {"end": 0, "ran": 2}], 0, "interrupted", id="ran, but not reported"),
        pytest.param([{"collected": 1}, PASSED, SKIPPED, {"end": 0, "ran": 1}], 0, "interrupted", id="one too many"),
        pytest.param([NOT_COLLECTED, {"collected": 2}, {"end": 2, "ran": 0}], 2, "interrupted", id="not collected"),
        pytest.param([PASSED, {"end": 0, "ran": 1}], 0, "interrupted", id="never counted"),
        pytest.param([*GREEN, PASSED], 0, "crashed", id="a test after the end"),
        pytest.param([*GREEN, {"end": 0, "ran": 2}], 0, "damaged report", id="ended twice"),
        pytest.param([{"collected": 1}, {"collected": 1}], 0, "damaged report", id="collected twice"),
    ],
)
def test_a_report_that_does_not_agree_with_itself_is_not_whole(lines: list[object], code: int, end: str) -> None:
    assert run(*lines, code=code).end == end


@pytest.mark.parametrize("end", ["timed out", "memory", "processes", "disk", "output"])
def test_the_limit_that_ended_a_run_is_its_end_whatever_the_report_says(end: str) -> None:
    found = run(*GREEN, end=end)
    assert (found.end, found.is_whole, len(found.outcomes)) == (end, False, 2)


HUGE = b"1" * 5000
BAD_LINES: dict[str, bytes] = {
    "no JSON": b"{\n",
    "empty": b"\n",
    "a list": b"[]\n",
    "a number": b"12\n",
    "no such key": b'{"hello": 1}\n',
    "a key too many": b'{"collected": 1, "more": 2}\n',
    "a key twice": b'{"test": "a", "outcome": "failed", "outcome": "passed"}\n',
    "NaN": b'{"collected": NaN}\n',
    "infinite": b'{"end": Infinity, "ran": 2}\n',
    "a huge number": b'{"collected": ' + HUGE + b"}\n",
    "a number beyond all tests": b'{"collected": 99999999999}\n',
    "a broken number": b'{"collected": 1.0}\n',
    "a yes": b'{"collected": true}\n',
    "below zero": b'{"collected": -1}\n',
    "depth": b'{"collected": ' + b"[" * 100_000 + b"}\n",
    "an id that is a number": b'{"test": 1, "outcome": "passed"}\n',
    "no id": b'{"test": "", "outcome": "passed"}\n',
    "an unknown outcome": b'{"test": "a", "outcome": "fine"}\n',
    "an outcome that is a list": b'{"test": "a", "outcome": []}\n',
    "a trace that is a list": b'{"test": "a", "outcome": "failed", "where": "", "text": []}\n',
    "not UTF-8": b'{"test": "\xff", "outcome": "passed"}\n',
    "UTF-16": '{"collected": 1}\n'.encode("utf-16"),
}


@pytest.mark.parametrize("line", BAD_LINES.values(), ids=BAD_LINES.keys())
def test_one_line_that_is_not_as_agreed_makes_the_report_worthless(line: bytes) -> None:
    for lines in ([line], [line, *GREEN], [*GREEN[:2], line, *GREEN[2:]], [*GREEN, line]):
        assert run(*lines).end == "damaged report"


def test_of_a_test_that_is_reported_twice_the_worse_outcome_counts() -> None:
    twice = [PASSED, {**PASSED, "outcome": "failed"}, PASSED]
    assert run(*report(*twice, end=1), code=1).outcomes == {PASSED["test"]: "failed"}
    assert run(*report(PASSED, {**PASSED, "outcome": "skipped"})).outcomes == {PASSED["test"]: "skipped"}


def test_two_hundred_thousand_tests_are_read() -> None:
    tests = [{"test": f"t.py::t{number}", "outcome": "passed"} for number in range(200_000)]
    found = run(*report(*tests))
    assert (found.end, len(found.outcomes)) == ("finished", 200_000)


def test_what_a_test_printed_cannot_leave_its_line_or_break_the_database() -> None:
    name = "tests/test_a.py::test_x[\ud800\0\n" + "y" * 1000 + "]"
    bad = {"test": name, "outcome": "failed", "where": "a\nb:1", "text": "\ud800\0" + "x" * 100_000}
    found = run(*report(bad, end=1), code=1)
    (test,), (failure,) = found.outcomes, found.failures
    assert test.isprintable() and len(test) < 400 and failure.test == test
    assert failure.where == "" and len(failure.text) <= 1500
    assert "\0" not in read_run(RawTestRun("exited", 0, 1.0, "\0\ud800")).output.encode().decode()


def test_two_long_ids_that_differ_at_their_end_stay_two_tests() -> None:
    tests = [{"test": "t.py::t[" + "x" * 400 + end, "outcome": "passed"} for end in ("a]", "b]")]
    assert len(run(*report(*tests)).outcomes) == 2


def test_a_failure_shows_where_it_is() -> None:
    (failure,) = run(*report(PASSED, FAILED, end=1), code=1).failures
    assert (failure.test, failure.where, failure.text) == (FAILED["test"], "tests/test_a.py:7", "boom")


IDS = st.sampled_from(["a.py::a", "a.py::b", "b.py::c", "s.tests.T.test_d"])
TESTS = st.lists(
    st.fixed_dictionaries({"test": IDS, "outcome": st.sampled_from(["passed", "failed", "skipped"])}), max_size=6
)


def honest(tests: Sequence[dict[str, Any]]) -> tuple[bytes, int]:
    code = int(any(test["outcome"] == "failed" for test in tests))
    return written(*report(*tests, end=code)), code


@settings(deadline=None)
@given(TESTS.filter(len), st.data())
def test_a_truncated_report_is_never_whole(tests: list[dict[str, Any]], data: st.DataObject) -> None:
    whole, code = honest(tests)
    assert read_run(RawTestRun("exited", code, 1.0, "", whole)).is_whole
    cut = whole[: data.draw(st.integers(0, len(whole) - 1))]
    assert not read_run(RawTestRun("exited", code, 1.0, "", cut)).is_whole


@settings(deadline=None)
@given(TESTS.filter(len), st.integers(-20, 300))
def test_an_exit_code_that_does_not_fit_the_outcomes_is_never_whole(tests: list[dict[str, Any]], code: int) -> None:
    data, right = honest(tests)
    if bool(code) != bool(right) or not 0 <= code < 128:
        assert not read_run(RawTestRun("exited", code, 1.0, "", data)).is_whole


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@settings(deadline=None)
@given(st.binary() | st.lists(JSON).map(lambda lines: written(*lines)), st.integers(-300, 300), st.binary())
def test_no_report_and_no_coverage_make_it_raise(data: bytes, code: int, coverage: bytes) -> None:
    read_run(RawTestRun("exited", code, 1.0, "", data, coverage), ["a.py"])


@settings(deadline=None)
@given(TESTS, st.data())
def test_no_flipped_byte_makes_it_raise(tests: list[dict[str, Any]], data: st.DataObject) -> None:
    whole = bytearray(honest(tests)[0])
    whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    read_run(RawTestRun("exited", 0, 1.0, "", bytes(whole)))


# --- coverage ------------------------------------------------------------------------------------------------


def counted(total: object, **files: object) -> bytes:
    entries = {name.replace("_", "."): {"missing_lines": lines} for name, lines in files.items()}
    return json.dumps({"totals": {"percent_covered": total}, "files": entries}).encode()


def test_coverage_is_a_total_and_the_missing_lines_of_the_files_that_were_asked_about() -> None:
    data = counted(81.5, app_py=[3, 4], other_py=[1])
    assert read_coverage(data, ["app.py", "new.py"]) == (81.5, {"app.py": (3, 4)})


def test_paths_of_the_box_are_paths_of_the_repository() -> None:
    data = b'{"totals": {"percent_covered": 1}, "files": {"/job/app.py": {"missing_lines": [2]}}}'
    assert read_coverage(data, ["app.py"]) == (1.0, {"app.py": (2,)})


@pytest.mark.parametrize(
    "data",
    [
        None,
        b"",
        b"{",
        b"[]",
        b"[" * 100_000,
        b'{"totals": [], "files": []}',
        b'{"totals": {"percent_covered": NaN}, "files": {"app.py": []}}',
        b'{"totals": {"percent_covered": 1e999}, "files": {"app.py": {"missing_lines": {}}}}',
        b'{"totals": {"percent_covered": -1}, "files": {"app.py": {"missing_lines": [-1, 1.5, "x", true, 1e999]}}}',
        b'{"totals": {"percent_covered": ' + b"9" * 400 + b"}}",
        b'{"totals": {"percent_covered": ' + HUGE + b"}}",
        b'{"totals": {"percent_covered": true}, "files": {"app.py": null}}',
    ],
)
def test_coverage_that_cannot_be_read_says_nothing(data: bytes | None) -> None:
    assert read_coverage(data, ["app.py"]) == (None, {})


CHANGED = [Change("app.py", "modified", "100644", "100644", added_lines=((3, "a"), (5, "b")))]


def test_only_changed_lines_count_as_uncovered_by_the_change() -> None:
    assert uncovered_changes(CHANGED, {"app.py": (1, 3, 4), "other.py": (1,)}) == {"app.py": (3,)}


@pytest.mark.parametrize(
    ("before", "after", "uncovered", "is_problem"),
    [
        pytest.param(80.0, 70.0, {"app.py": (3,)}, True, id="less, and the change has a part in it"),
        pytest.param(80.0, 70.0, {}, False, id="less, but every changed line is run"),
        pytest.param(80.0, 79.5, {"app.py": (3,)}, False, id="within the tolerance"),
        pytest.param(80.0, 79.0, {"app.py": (3,)}, False, id="exactly the tolerance"),
        pytest.param(80.0, 90.0, {"app.py": (3,)}, False, id="more"),
        pytest.param(None, 70.0, {"app.py": (3,)}, False, id="nobody counted before"),
        pytest.param(80.0, None, {"app.py": (3,)}, False, id="nobody counts now"),
    ],
)
def test_coverage_may_not_fall_by_the_changes_own_lines(
    before: float | None, after: float | None, uncovered: dict[str, tuple[int, ...]], is_problem: bool
) -> None:
    found = drop(before, after, uncovered, tolerance=1.0)
    assert (found is not None) == is_problem
    if found:
        assert (found.rule, found.remedy) == ("coverage drops", "write tests")
        assert "app.py:3" in found.text
