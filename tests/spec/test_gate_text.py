"""What is told to the coder and below the pull request: what decides is told whole, in few words."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.agents.orchestrator.publishing import gate_text, owner_text
from sisimpur.agents.qa.analysis.uncovered import in_ranges
from sisimpur.shared.model.evidence import (
    BeforeAndNow,
    ChangesRequested,
    Escalated,
    Evidence,
    Failure,
    FewTests,
    Finding,
    Problem,
    Reviewed,
    Severity,
    ToolRun,
)
from sisimpur.shared.model.text import ranges

NAMES = tuple(f"tests/test_{n % 6}.py::test_{n}_of_it" for n in range(120))
MANY = Problem("a test fails", f"{', '.join(NAMES[:5])} and 115 more fails", "correct", NAMES)


def evidence(*problems: Problem, failures: tuple[Failure, ...] = (), tools: tuple[ToolRun, ...] = ()) -> Evidence:
    return Evidence("c", "t", "b", "pytest", "box", problems=problems, failures=failures, tools=tools)


def asked(*findings: Finding) -> str:
    return gate_text.findings(None, Reviewed("c", ChangesRequested(findings)), [])


def finding(path: str, line: int, text: str = "eval of input", severity: Severity = Severity.HIGH) -> Finding:
    return Finding(path, line, severity, "rule", "eval", text, f"eval({line})")


def test_the_same_finding_is_told_once_with_all_its_places() -> None:
    told = asked(*(finding("app.py", line) for line in (3, 4, 5, 9)), finding("shop.py", 2))
    assert "- high: eval of input (rule: eval), 5 times: app.py:3-5, 9; shop.py:2\n" in told
    assert told.count("eval of input") == 1


def test_every_finding_that_decides_is_told_and_remarks_are_not_all() -> None:
    told = asked(
        *(finding(f"a{n}.py", n + 1, f"no {n}.") for n in range(90)),
        *(finding(f"b{n}.py", 1, f"remark {n}.", Severity.LOW) for n in range(90)),
    )
    assert all(f"a{n}.py:{n + 1} no {n}." in told for n in range(90))
    assert told.count("remark") == 20


def test_what_the_owner_may_rule_over_has_a_number() -> None:
    rows = gate_text.numbered([finding(f"a{n}.py", 1) for n in range(50)])
    assert rows[-1].startswith("50. high: a49.py:1")


def test_every_failing_test_is_named_by_its_file_for_the_coder_and_below_the_pull_request() -> None:
    for told in (gate_text.findings(evidence(MANY), None, []), gate_text.evidence(evidence(MANY))):
        assert "120 in all: tests/test_0.py::test_0_of_it, test_6_of_it" in told
        assert all(name.rpartition("::")[2] in told for name in NAMES)


def test_a_line_that_names_all_its_tests_names_them_once() -> None:
    few = Problem("a test fails", "t.A.test_a, t.A.test_b fails", "correct", ("t.A.test_a", "t.A.test_b"))
    assert "in all" not in gate_text.findings(evidence(few), None, [])


def test_each_cause_is_told_before_its_trace_is_cut() -> None:
    long = "\n".join(f"shop/part.py:{n} in step" for n in range(400))
    failures = tuple(Failure(name, "shop.py:1", f"KeyError: {n}th\n\n{long}") for n, name in enumerate(NAMES[:30]))
    told = gate_text.findings(evidence(MANY, failures=failures), None, [])
    assert all(f"KeyError: {n}th" in told for n in range(30))
    assert len(told) < 25_000


def test_all_that_a_tool_says_anew_is_told_to_the_coder() -> None:
    said = tuple(f"deploy.sh:{n}: quote it" for n in range(12))
    problem = Problem("a tool finds something new", "shellcheck says what it does not say of the base", "correct")
    told = gate_text.findings(evidence(problem, tools=(ToolRun("shellcheck", "ran", said),)), None, [])
    assert all(line in told for line in said)


def test_lines_are_told_in_ranges_and_all_of_them() -> None:
    assert in_ranges(["a.py:3", "a.py:4", "a.py:9", "b.py:1 (before)", "b.py:2 (before)"]) == (
        "a.py:3-4, 9; b.py:1-2 (before)"
    )


@given(st.sets(st.integers(1, 500)))
def test_no_number_is_lost_in_a_range(numbers: set[int]) -> None:
    parts = [part.split("-") for part in ranges(numbers).split(", ") if part]
    assert {n for part in parts for n in range(int(part[0]), int(part[-1]) + 1)} == numbers


# --- what the owner has to know --------------------------------------------------------------------------------


def test_the_owner_hears_which_changed_lines_no_test_runs_and_what_failed_before_and_after() -> None:
    found = replace(
        evidence(failures=(Failure("tests/test_a.py::test_b", "a.py:3", "ImportError: no x\n\nat a.py:3"),)),
        uncovered={"app.py": (40, 41, 42, 52), "shop.py": (3,), "all.py": ()},
        failing_before=2,
        proving=("tests/test_a.py::test_c",),
        tools=(ToolRun("hadolint", "not run: it is not installed"), ToolRun("shellcheck", "ran")),
        uncounted="the tests count",
        independent="disagrees: 1 of its tests fail: t.py::a: AssertionError",
        unheld=("no test notices if line 7 of app.py is another: < became <=",),
        faults="8 of 9 small faults in changed lines are noticed",
    )
    assert owner_text.unseen(found) == [
        "no test runs lines 40-42, 52 of app.py",
        "no test runs line 3 of shop.py",
        "no test notices if line 7 of app.py is another: < became <=",
        "which lines the tests run was not counted: the tests count",
        "hadolint was not run: it is not installed",
    ]
    assert owner_text.before_and_after(found) == [
        "2 failed before the change",
        "fails without the change, passes with it: tests/test_a.py::test_c",
        "a test from the task's words alone disagrees: 1 of its tests fail: t.py::a: AssertionError",
        "8 of 9 small faults in changed lines are noticed",
        "fails with the change: tests/test_a.py::test_b: ImportError: no x",
    ]


def test_the_owner_hears_the_names_of_what_failed_before() -> None:
    named = BeforeAndNow(FewTests(("a::b", "a::c"), 2), FewTests(("a::d",), 1), broken=FewTests(("a::e",), 1))
    assert owner_text.before_and_after(replace(evidence(), failing_before=3, compared=named)) == [
        "failed before the change, passes now: a::b, a::c",
        "failed before the change, fails now: a::d",
    ]


def test_the_coder_hears_why_an_old_failure_stays_and_what_no_test_sees() -> None:
    """Only where something is to be corrected."""
    why = Failure("t.py::test_x", "a.py:3", "AssertionError: 3 != 4\n\nat a.py:3: assert total() == 4")
    found = replace(evidence(), still=(why,), uncovered={"x.py": (*range(40, 53),)}, unheld=("no test notices that",))
    told = gate_text.findings(found, Reviewed("c", ChangesRequested((finding("app.py", 1),))), [])
    assert "Fails as it did before the change:\n\n" in told and "AssertionError: 3 != 4" in told
    assert "- no test runs lines 40-52 of x.py\n- no test notices that\n" in told
    assert gate_text.findings(found, None, []) == ""
    assert "fails still: t.py::test_x: AssertionError: 3 != 4" in owner_text.before_and_after(found)


def test_of_changes_that_wait_the_riskiest_comes_first() -> None:
    """What is untested; what would hurt somebody; what tests left open; lines that no test runs; the rest."""
    plain, unrun = evidence(), replace(evidence(), uncovered={"app.py": (1, 2)})
    hurts = Reviewed("c", ChangesRequested((finding("app.py", 1),)))
    risks = [
        owner_text.risk(None, None),
        owner_text.risk(plain, hurts),
        owner_text.risk(evidence(MANY), None),
        owner_text.risk(plain, Reviewed("c", Escalated("it is a question of taste"))),
        owner_text.risk(replace(plain, independent="disagrees: 1 of its tests fail"), None),
        owner_text.risk(unrun, None),
        owner_text.risk(plain, None),
    ]
    assert risks == sorted(risks, reverse=True)
    assert len({*risks}) == len(risks) - 2


@given(st.permutations(["app.py", "tests/test_app.py", "docs/a b.md", "test_b.py"]))
def test_the_difference_of_tests_is_shown_first_and_nothing_is_lost(paths: list[str]) -> None:
    parts = {path: f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@\n+{path}\n" for path in paths}
    told = owner_text.tests_first("".join(parts.values()))
    tests = [path for path in paths if "test" in path]
    assert told == "".join(parts[path] for path in [*tests, *(path for path in paths if path not in tests)])


@pytest.mark.parametrize(
    ("tries", "told"),
    [
        ([], []),
        (["a"], ["1: a"]),
        (["a", "a", "a"], ["1 to 3: a"]),
        (["a", "b", "b", "a"], ["1: a", "2 to 3: b", "4: a"]),
        (["a", "b", "c", "d"], ["2: b", "3: c", "4: d"]),
    ],
)
def test_what_ended_the_same_time_after_time_is_told_once(tries: list[str], told: list[str]) -> None:
    assert gate_text.in_turn(tries) == told


def test_a_change_that_fits_no_more_is_shown_to_who_begins_afresh() -> None:
    patch = "diff --git a/a.py b/a.py\n+def kept(): ...\n"
    text = gate_text.findings(None, None, (), ["it conflicts"], was=patch + "+x\n" * gate_text.MOST_LOST)
    assert gate_text.LOST in text and "+def kept(): ..." in text and len(text) < gate_text.MOST_LOST + 1_000
    assert gate_text.findings(None, None, ()) == ""
