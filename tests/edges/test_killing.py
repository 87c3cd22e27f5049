"""Fault points, and the helper with which all kill tests die."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.killing import finishes, killed_at, points, snippet

PROGRAM = """
    import sys
    from shared.edge.fault import fault_point

    for name in ("push.planned", "push.sent", "push.sent", "push.done"):
        fault_point(name)
        open(sys.argv[1], "a").write("x")
"""


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return tmp_path / "trace"


def test_without_the_variables_a_fault_point_does_nothing(trace: Path) -> None:
    finishes(snippet(PROGRAM, str(trace)))
    assert trace.read_text() == "xxxx"


def test_the_points_are_listed_in_order_each_time_they_are_passed(trace: Path) -> None:
    assert points(snippet(PROGRAM, str(trace))) == ["push.planned", "push.sent", "push.sent", "push.done"]
    assert trace.read_text() == "xxxx"


@pytest.mark.parametrize(
    ("point", "done_before"),
    [
        pytest.param("push.planned", 0, id="the first point"),
        pytest.param("push.sent", 1, id="a name means its first passing"),
        pytest.param(3, 2, id="a number tells two passings apart"),
        pytest.param("push.sent#2", 2, id="and so does a name with its count"),
        pytest.param("push.done", 3, id="the last point"),
    ],
)
def test_it_dies_at_the_point_and_nothing_after_it_happens(trace: Path, point: str | int, done_before: int) -> None:
    passed = killed_at(point, snippet(PROGRAM, str(trace)))
    assert len(passed) == done_before + 1
    assert (trace.read_text() if trace.exists() else "") == "x" * done_before


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        pytest.param("pass", "ended with 0", id="never comes there"),
        pytest.param("raise SystemExit('no')", "ended with 1", id="fails before"),
        pytest.param("import os; os.kill(os.getpid(), 15)", "ended with -15", id="ends by another signal"),
        pytest.param(
            "import os; from shared.edge.fault import fault_point; fault_point('a.b'); os.kill(os.getpid(), 9)",
            "died after",
            id="is killed elsewhere",
        ),
    ],
)
def test_a_program_that_does_not_die_there_fails_the_test(code: str, reason: str) -> None:
    with pytest.raises(AssertionError, match=reason):
        killed_at("push.sent", snippet(code))


def test_a_program_without_fault_points_cannot_pass_a_kill_test() -> None:
    with pytest.raises(AssertionError, match="passes 0 fault points"):
        points(snippet("pass"))
