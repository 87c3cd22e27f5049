"""A goal is done when it holds: what is next for one whose tasks are over is decided by what was seen of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sisimpur.agents.orchestrator.goals.standing import (
    all_of,
    figures,
    is_measured,
    measures_of,
    next_for,
    question,
    said,
    told,
    wish,
)
from sisimpur.shared.model.lifecycle import wording
from sisimpur.shared.model.work import Goal, GoalWord, Measure, MeasureKind
from sisimpur.shared.store.goal_book import GoalLook, Seen

COVERED = Measure(MeasureKind.COVERAGE, "api", at_least=80)
LEFT = GoalWord("g-1", "left", "the second page")


def look(merged: int, verdict: Seen, figure: float | None = None, text: str = "", *, at_end: bool = True) -> GoalLook:
    return GoalLook(f"c{merged}", merged, at_end, figure=figure, verdict=verdict, text=text)


# --- what is next --------------------------------------------------------------------------------------------


def test_nothing_is_done_before_it_was_looked_at() -> None:
    assert next_for((), merged=1) == "look"


def test_what_holds_is_done() -> None:
    assert next_for((look(1, "holds", 81.0),), merged=1) == "done"


def test_what_was_seen_counts_until_another_task_is_merged_or_taken_back() -> None:
    assert next_for((look(1, "holds"),), merged=2) == "look"
    assert next_for((look(1, "not yet"), look(2, "holds")), merged=1) == "plan again"


def test_what_was_measured_between_two_tasks_is_no_end() -> None:
    assert next_for((look(1, "holds", 81.0, at_end=False),), merged=1) == "look"


@pytest.mark.parametrize(("plannings", "next_"), [(1, "plan again"), (2, "plan again"), (3, "ask")])
def test_a_figure_that_is_not_met_is_planned_for_twice_more_then_the_owner_is_asked(plannings: int, next_: str) -> None:
    looks = tuple(look(number, "not yet", 60.0 + number) for number in range(1, plannings + 1))
    assert next_for(looks, merged=plannings) == next_


@pytest.mark.parametrize(("plannings", "next_"), [(1, "plan again"), (2, "ask")])
def test_what_a_reader_misses_is_planned_for_once_more(plannings: int, next_: str) -> None:
    looks = tuple(look(number, "not yet", text="no page two") for number in range(1, plannings + 1))
    assert next_for(looks, merged=plannings) == next_


def test_what_was_left_for_later_is_planned_for_like_a_figure() -> None:
    looks = (look(1, "not yet", text="left for later: the second page"), look(2, "not yet"))
    assert next_for(looks, merged=2, words=(LEFT,)) == "plan again"
    assert next_for(looks, merged=2, words=(replace(LEFT, kind="remark"),)) == "ask"


def test_what_nobody_can_tell_is_asked() -> None:
    assert next_for((look(1, "cannot tell", text="nothing shows it"),), merged=1) == "ask"


def test_a_look_that_ended_us_three_times_is_not_begun_again() -> None:
    cut = look(1, "")
    assert next_for((replace(cut, begun=2),), merged=1) == "look"
    assert next_for((replace(cut, begun=3),), merged=1) == "ask"
    assert is_measured((replace(cut, begun=3),), merged=1) and not is_measured((cut,), merged=1)


# --- words ---------------------------------------------------------------------------------------------------


def test_a_figure_is_told_with_where_it_came_from_and_what_is_wanted() -> None:
    looks = (look(0, "not yet", 61.2, at_end=False), look(1, "not yet", 70.0), look(2, "not yet", 74.0))
    assert figures(COVERED, looks) == "coverage of api: 61.2 % -> 74.0 %, wanted at least 80 %"
    assert told("plan again", looks, COVERED) == (
        "does not hold yet: coverage of api: 61.2 % -> 74.0 %, wanted at least 80 %"
    )
    assert question(looks, COVERED, 2).startswith("2 tasks merged for it, and it does not hold yet: coverage of api")


def test_a_wish_stays_the_same_while_its_figure_moves() -> None:
    looks = (look(0, "not yet", 61.2, at_end=False), look(1, "not yet", 70.0))
    words = wish(Goal("g-1", "Test the API", ("at least 80 %",)), [COVERED], looks)
    assert words == "Test the API\n- at least 80 %\nMeasured: coverage of api: 61.2 %, wanted at least 80 %"
    assert words == wish(Goal("g-1", "Test the API", ("at least 80 %",)), [COVERED], looks[:1])


def test_what_cannot_be_measured_says_why() -> None:
    looks = (look(0, "cannot tell", text="there is no api in the code"),)
    assert figures(COVERED, looks) == "coverage of api: there is no api in the code, wanted at least 80 %"


@pytest.mark.parametrize(
    ("measure", "figure", "words"),
    [
        (Measure(MeasureKind.FINDINGS, "ruff app", at_most=0), 3, "findings of ruff in app: 3, wanted at most 0"),
        (Measure(MeasureKind.TEST, "t.py::b", at_least=1), 0, "t.py::b: does not pass, wanted that it passes"),
        (Measure(MeasureKind.PROPERTY, "lines a.py", at_most=300), 412, "lines a.py: 412, wanted at most 300"),
        (Measure(MeasureKind.TIMING, "t.py::x", at_most=300), 12.4, "time of t.py::x: 12.4 ms, wanted at most 300 ms"),
    ],
)  # fmt: skip
def test_each_kind_of_figure_has_its_words(measure: Measure, figure: float, words: str) -> None:
    assert figures(measure, (look(1, "not yet", figure),)) == words


def test_of_several_figures_each_look_tells_all() -> None:
    clean = Measure(MeasureKind.FINDINGS, "ruff app", at_most=0)
    both = all_of([(COVERED, 81.0), (clean, 2)])
    assert both == "coverage of api: 81.0 %, wanted at least 80 %; findings of ruff in app: 2, wanted at most 0"
    assert told("plan again", (look(1, "not yet", 2, both),), None) == f"does not hold yet: {both}"
    assert told("done", (look(1, "holds", 81.0, both),), None) == f"held: {both}"
    assert all_of([(COVERED, 81.0)]) == ""


def test_a_done_goal_says_how_that_is_known() -> None:
    assert told("done", (look(1, "holds"),), None) == "read against your goal: it holds"
    assert told("done", (look(1, "holds", 81.0),), COVERED) == "held: coverage of api: 81.0 %, wanted at least 80 %"
    assert told("look", (), None) == "not yet looked at"


# --- measures that goals say themselves ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "measure"),
    [
        ("80 % coverage of api/", Measure(MeasureKind.COVERAGE, "api", at_least=80)),
        ("80% test coverage of the API package", Measure(MeasureKind.COVERAGE, "API", at_least=80)),
        ("Bring the coverage of `app/api` from 60 % to 80 %", Measure(MeasureKind.COVERAGE, "app/api", at_least=80)),
        ("app/views.py er test coverage 90% koro", Measure(MeasureKind.COVERAGE, "app/views.py", at_least=90)),
        ("Line coverage of at least 75.5 percent", Measure(MeasureKind.COVERAGE, ".", at_least=75.5)),
        ("No ruff findings in app/", Measure(MeasureKind.FINDINGS, "ruff app", at_most=0)),
        ("Ruff finds nothing any more", Measure(MeasureKind.FINDINGS, "ruff .", at_most=0)),
        ("tests/test_a.py::test_b passes", Measure(MeasureKind.TEST, "tests/test_a.py::test_b", at_least=1)),
        ("app/views.py has at most 300 lines", Measure(MeasureKind.PROPERTY, "lines app/views.py", at_most=300)),
        ("texts.py is long. At most 1,200 lines", Measure(MeasureKind.PROPERTY, "lines texts.py", at_most=1200)),
        ("Split app/views.py: under 300 lines", Measure(MeasureKind.PROPERTY, "lines app/views.py", at_most=299)),
    ],
)  # fmt: skip
def test_a_goal_says_its_measure_itself(text: str, measure: Measure) -> None:
    assert said(Goal("g-1", text)) == measure
    assert said(Goal("g-1", "Better tests", details=(text,))) == measure


@pytest.mark.parametrize(
    "text",
    [
        "Fix the sum in app.py",
        "Show 80 % of the page",
        "Coverage must not drop below 80 % in api/",
        "80 % coverage of api/ and 60 % coverage of web/",
        "80 % coverage of api/ and web/",
        "Raise the coverage of api/",
        "Run ruff in CI",
        "tests/test_a.py::test_b does not pass on Windows",
        "Log the first 300 lines of app/views.py",
        "120 % coverage of api/",
        "app/views.py: at most 1.200 lines",
    ],
)
def test_what_is_not_beyond_doubt_is_no_measure(text: str) -> None:
    assert said(Goal("g-1", text)) is None


def test_what_a_goal_says_itself_comes_before_what_the_planner_named_for_this_wording() -> None:
    plain, own = Goal("g-1", "Faster list"), Goal("g-1", "80 % coverage of api/")
    timed = Measure(MeasureKind.TIMING, "tests/t.py::test_list", at_most=300)
    named = {("g-1", wording(plain)): (timed, COVERED), ("g-1", wording(own)): (timed,)}
    assert measures_of(plain, named) == (timed, COVERED)
    assert measures_of(own, named) == (COVERED,)
    assert measures_of(replace(plain, details=("for all users",)), named) == ()
