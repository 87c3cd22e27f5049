"""What runs once more in other surroundings: never beyond its share of time, and nothing that would still fit."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.agents.qa.runner.second_run import (
    BUSY,
    FAULTS_LEAST,
    FAULTS_SHARE,
    FREE,
    MOST_SAID,
    SHARE,
    SHORT,
    asked_of_faults,
    of_one_fault,
    room_for_faults,
    second_run,
    told,
    worked,
)
from sisimpur.agents.qa.runner.suite import is_green
from sisimpur.agents.qa.unheld.mutants import FaultsTried, Mutant
from sisimpur.agents.qa.unheld.trying import AskedTests, faults_tried
from sisimpur.shared.model.evidence import SuiteRun

NAMES = [f"tests/test_{name}.py" for name in "abcdefgh"]
TIMES = st.dictionaries(st.sampled_from(NAMES), st.floats(0, 100))
SOME = st.frozensets(st.sampled_from(NAMES))
LITTLE = 1e-6


def room(took: Mapping[str, float], whole: float, brought: Collection[str]) -> float:
    """Seconds for old tests: a share of the first run, less the start of a runner and the new tests' own time."""
    bodies = sum(took.values())
    spare = SHARE * max(whole, bodies) - max(0.0, whole - bodies) - sum(took.get(one, 0.0) for one in brought)
    return max(spare, FREE) if brought and whole < FREE / SHARE else spare


@given(TIMES, st.floats(0, 1_000), SOME, SOME)
def test_the_second_run_keeps_its_share_and_leaves_out_nothing_that_would_still_fit(
    took: dict[str, float], whole: float, brought: frozenset[str], near: frozenset[str]
) -> None:
    chosen = second_run(took, whole, brought, lambda: near)
    there, spent = room(took, whole, brought), sum(took[one] for one in chosen)
    assert chosen <= took.keys() - brought
    assert not chosen or spent <= there + LITTLE
    left = took.keys() - brought - chosen
    assert all(spent + took[one] > there - LITTLE for one in left)
    nearest = sum(took[one] for one in chosen & near)
    assert all(nearest + took[one] > there - LITTLE for one in left & near), "what knows the change comes first"
    turned = dict(reversed(took.items()))
    assert second_run(turned, whole, brought, lambda: near) == chosen


@given(TIMES, st.floats(0, 1_000))
def test_all_of_a_second_run_without_new_tests_is_within_the_share(took: dict[str, float], whole: float) -> None:
    chosen = second_run(took, whole, (), lambda: ())
    start = max(0.0, whole - sum(took.values()))
    spent = sum(took[one] for one in chosen)
    assert not chosen or start + spent <= SHARE * max(whole, sum(took.values())) + LITTLE


@pytest.mark.parametrize(
    ("took", "whole", "brought", "chosen"),
    [
        pytest.param({"a": 10.0, "b": 10.0, "c": 10.0}, 30.0, (), 0, id="each takes a third of it"),
        pytest.param({"a": 9.0, "b": 10.0, "c": 11.0}, 30.0, (), 1, id="one takes 30 %"),
        pytest.param({"a": 0.2, "b": 0.3}, 2.0, (), 0, id="a runner's start takes longer than the share"),
        pytest.param({"a": 0.2, "b": 0.3}, 2.0, ("new",), 2, id="a second beside new tests is free"),
        pytest.param({"a": 0.5, "b": 0.5}, 4.0, ("new",), 0, id="where the share is more than a second, it holds"),
        pytest.param({"a": 4.0, "new": 5.0}, 9.0, ("new",), 0, id="new tests count, and run in any case"),
        pytest.param({}, 9.0, ("new",), 0, id="nobody knows how long they take"),
    ],
)
def test_how_many_old_files_run_once_more(
    took: dict[str, float], whole: float, brought: tuple[str, ...], chosen: int
) -> None:
    assert len(second_run(took, whole, brought, lambda: ())) == chosen


def test_the_files_that_know_the_change_come_before_shorter_ones() -> None:
    took = {"short": 1.0, "near": 2.5, "far": 6.5}
    assert second_run(took, 10.0, (), lambda: {"near"}) == {"near"}
    assert second_run(took, 10.0, (), lambda: ()) == {"short"}


def test_no_run_is_told_of_more_files_than_it_can_be_told() -> None:
    took = {f"tests/{'x' * 90}_{number}.py": 0.001 for number in range(10_000)}
    chosen = second_run(took, 10.0, ("new",), lambda: ())
    assert 0 < sum(map(len, chosen)) <= MOST_SAID
    assert second_run(took, 10.0, (), lambda: ()) == second_run(took, 10.0, (), lambda: took)


def test_how_much_ran_is_told() -> None:
    took = {"a": 1.0, "b": 2.0, "c": 1.0}
    assert told({"a", "new"}, took) == "1 of 3 files of tests, 25% of the time that tests take"
    assert told(took.keys(), took) == "all 3 files of tests"
    assert told(["a"], {"a": 1.0}) == "the only file of tests"
    assert told({"new"}, {}) == ""


# --- faults in the changed lines -----------------------------------------------------------------------------


@given(st.floats(0, 10_000))
def test_all_faults_together_take_a_share_of_the_first_run_or_a_few_seconds(whole: float) -> None:
    assert room_for_faults(whole) == (FAULTS_SHARE * whole if FAULTS_SHARE * whole > FAULTS_LEAST else FAULTS_LEAST)
    assert FAULTS_SHARE <= 0.5


@given(st.floats(0.1, 1_000), st.floats(0, 2_000), st.floats(1, 20))
def test_what_a_run_works_does_not_grow_with_the_load_of_the_machine(wall: float, cpu: float, load: float) -> None:
    part = worked(cpu, wall)
    assert 0 < part <= 1 and (cpu or part == 1)
    if 1 / BUSY <= cpu / (wall * load) <= cpu / wall <= 1:
        assert worked(cpu, wall * load) * wall * load == pytest.approx(part * wall)


def first_run(seconds: float, cpu: float) -> SuiteRun:
    return SuiteRun("finished", 0, {"t": "passed"}, seconds=seconds, cpu=cpu)


@given(st.floats(0.1, 100), st.floats(0.1, 3), st.floats(1, BUSY / 2))
def test_as_many_faults_are_tried_on_a_busy_machine_as_on_a_quiet_one(first: float, each: float, load: float) -> None:
    planted = [Mutant("a.py", line, "another", b"") for line in range(12)]

    def tried(load: float, known: bool = True) -> FaultsTried:
        def shown(_: Mutant) -> SuiteRun:
            return first_run(each * load, each if known else 0.0)

        asked = AskedTests(
            first_run(first * load, first if known else 0.0), (), each * load, each if known else each * load
        )
        return faults_tried(planted, asked, shown, is_green)

    assert tried(load).count == tried(1.0).count == tried(1.0, known=False).count
    assert len(tried(load).survivors) == tried(load).count
    assert tried(load, known=False).count <= tried(load).count


def test_faults_that_hang_cost_what_a_run_costs_until_the_wall_has_had_enough() -> None:
    planted = [Mutant("a.py", line, "another", b"") for line in range(12)]
    asked = AskedTests(first_run(1.0, 1.0), (), 0.1, 0.1)
    hangs = replace(first_run(asked.limit, asked.limit), end="timed out")
    tried = faults_tried(planted, asked, lambda _: hangs, is_green)
    assert (tried.count, tried.survivors) == (math.floor(BUSY * FAULTS_LEAST / asked.limit) + 1, ())


@given(TIMES, SOME, SOME)
def test_a_fault_is_shown_to_new_tests_and_to_those_that_know_the_change_else_to_all(
    took: dict[str, float], brought: frozenset[str], near: frozenset[str]
) -> None:
    asked = asked_of_faults(took, brought, lambda: near)
    if sum(took.values()) > SHORT and near and took.keys() - near - brought:
        assert {*asked} == near | brought
    else:
        assert asked == (), "all"


@pytest.mark.parametrize(("files", "seconds"), [(("a",), 2.0 + 3.0), ((), 2.0 + 10.0), (("new",), 2.0)])
def test_a_fault_costs_the_start_of_a_runner_and_the_tests_that_are_asked(
    files: tuple[str, ...], seconds: float
) -> None:
    assert of_one_fault({"a": 3.0, "b": 7.0}, 12.0, files) == seconds
