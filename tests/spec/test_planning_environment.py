"""What the planner is told of how a target is set up and tested."""

from __future__ import annotations

from dataclasses import replace

from sisimpur.agents.orchestrator.planning.daily_planner import environment_lines
from sisimpur.shared.model.evidence import SuiteRun

BASE = SuiteRun(
    "finished",
    1,
    {"tests/test_a.py::test_one": "passed", "tests/test_a.py::test_two": "failed", "shop/tests.py::test_b": "passed"},
    seconds=4.2,
    covered=61.4,
)


def test_the_owners_commands_are_told_and_no_key_in_them() -> None:
    lines = environment_lines("pip install --index https://me:k3y@index.example -r r.txt", "make check", None)
    assert lines == (
        "set-up: pip install --index https://index.example -r r.txt",
        "tests run with: make check; from the repository's root, in a box without network",
    )


def test_what_has_no_set_up_or_no_tests_says_so() -> None:
    assert environment_lines("", "", None) == ("set-up: nothing is installed", "tests: none that can be run")


def test_the_last_run_of_the_base_says_what_passes_what_fails_and_where_tests_are_collected() -> None:
    assert environment_lines("", "", BASE)[2:] == (
        "their last run before any change: 1 failed, 2 passed, in 4 s; they run 61 % of all code",
        "failing before any change: tests/test_a.py::test_two",
        "collected from: shop (1), tests (2)",
    )


def test_what_tests_run_of_each_folder_is_told_where_most_lacks_first() -> None:
    base = replace(BASE, folders={"shop": (90, 100), "api": (61, 320), ".": (7, 7)})
    assert (
        "code that tests run, by folder, what lacks most first: api 19 % of 320 lines, shop 90 % of 100 lines"
        in (environment_lines("", "", base)[3])
    )


def test_a_run_that_did_not_finish_counts_nothing() -> None:
    lines = environment_lines("", "", SuiteRun("timed out", 1))
    assert lines[2:] == ("their last run before any change did not finish: timed out",)
