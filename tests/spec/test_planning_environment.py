"""What the planner is told of how a target is set up and tested."""

from __future__ import annotations

from dataclasses import replace

from sisimpur.agents.orchestrator.planning.daily_planner import environment_lines
from sisimpur.shared.model.evidence import Evidence, SuiteRun

BASE = SuiteRun(
    "finished",
    1,
    {"tests/test_a.py::test_one": "passed", "tests/test_a.py::test_two": "failed", "shop/tests.py::test_b": "passed"},
    seconds=4.2,
    covered=61.4,
)


def test_the_owners_commands_are_told_and_no_key_in_them() -> None:
    lines = environment_lines("pip install --index https://me:k3y@index.example -r r.txt", "make check", None, None)
    assert lines == (
        "set-up: pip install --index https://index.example -r r.txt",
        "tests run with: make check; from the repository's root, in a box without network",
    )


def test_without_a_command_the_one_that_was_run_last_is_told() -> None:
    check = Evidence("c", "t", "b", "python -m pytest -q", "box")
    assert environment_lines("", "", check, None)[1].startswith("tests run with: python -m pytest -q;")
    assert environment_lines("", "", None, None)[1].startswith("tests run with: pytest, or manage.py test;")


def test_the_last_run_of_the_base_says_what_passes_what_fails_and_where_tests_are_collected() -> None:
    assert environment_lines("", "", None, BASE)[2:] == (
        "their last run before any change: 1 failed, 2 passed, in 4 s; they run 61 % of all code",
        "failing before any change: tests/test_a.py::test_two",
        "collected from: shop (1), tests (2)",
    )


def test_what_tests_run_of_each_folder_is_told_where_most_lacks_first() -> None:
    base = replace(BASE, folders={"shop": (90, 100), "api": (61, 320), ".": (7, 7)})
    assert (
        "code that tests run, by folder, what lacks most first: api 19 % of 320 lines, shop 90 % of 100 lines"
        in (environment_lines("", "", None, base)[3])
    )


def test_a_run_that_did_not_finish_counts_nothing() -> None:
    lines = environment_lines("", "", None, SuiteRun("timed out", 1))
    assert lines[2:] == ("their last run before any change did not finish: timed out",)
