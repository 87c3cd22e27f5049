"""Which goals are planned, what they will cost, and what the owner reads about it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sisimpur.agents.orchestrator.board.stuck import StuckTask
from sisimpur.agents.orchestrator.planning import daily_planner
from sisimpur.agents.orchestrator.planning.daily_planner import Beside, goals_to_plan, merged
from sisimpur.agents.orchestrator.publishing.delivery import after_merge, pull_body
from sisimpur.agents.orchestrator.reports import progress_tracker
from sisimpur.agents.orchestrator.roadmap.roadmap import PROFILE, forecast
from sisimpur.agents.orchestrator.vision.goal_ids import note_id, unwanted, wordings
from sisimpur.shared.model.lifecycle import Board, Card, State, wording
from sisimpur.shared.model.work import (
    Branch,
    DailyPlan,
    Difficulty,
    Goal,
    Guard,
    Priority,
    Question,
    Remark,
    TaskSpec,
    Vision,
)
from sisimpur.shared.money.token_budget import Totals, cents, dollars

LOW = Goal("g-1", "Tidy up", priority=Priority.LOW, line=9)
HIGH = Goal("g-2", "Fix it", priority=Priority.HIGH, line=5)
VISION = Vision(goals=(LOW, HIGH), notes=(Remark("Don't touch x", 12),))
TASK = TaskSpec("20261120-01", "Fix it", "It is wrong.", Priority.HIGH, "g-2", ("a.py",), acceptance=("it is right",))
PLAN = DailyPlan("2026-11-20", (TASK,), ("it hurts",), guards=(Guard("Don't touch x", ("x/**",)),), forecast=5 * 10**7)


@pytest.mark.parametrize(
    ("planned", "questions", "deferred", "expected"),
    [
        pytest.param(set(), [], [], (HIGH, LOW), id="all, the most urgent first"),
        pytest.param({("g-2", wording(HIGH))}, [], [], (LOW,), id="what has a task is planned"),
        pytest.param({("g-2", "another wording")}, [], [], (HIGH, LOW), id="a reworded goal is planned anew"),
        pytest.param(set(), [Question("g-2", "which?")], [], (LOW,), id="what has a question waits"),
        pytest.param(set(), [], [LOW], (HIGH,), id="what was left for another day waits today"),
    ],
)
def test_which_goals_are_planned(
    planned: set[tuple[str, str]], questions: list[Question], deferred: list[Goal], expected: tuple[Goal, ...]
) -> None:
    assert goals_to_plan(VISION, planned, questions, deferred) == expected


@pytest.mark.parametrize(
    ("goal", "words", "reason"),
    [
        pytest.param("g-2", wording(HIGH), "", id="still wanted"),
        pytest.param("g-9", "x", "its goal was removed from VISION.md", id="removed"),
        pytest.param("g-2", "x", "its goal was reworded in VISION.md", id="reworded"),
        pytest.param("i-9", "x", "its issue was closed, or does not count any more", id="an issue that is gone"),
        pytest.param("i-3", "x", "its issue was reworded", id="an issue that was reworded"),
        pytest.param("", "", "", id="the owner's own task belongs to no goal"),
    ],
)
def test_why_a_task_is_not_wanted_any_more(goal: str, words: str, reason: str) -> None:
    vision = replace(VISION, goals=(*VISION.goals, replace(HIGH, id="i-3")))
    assert unwanted(goal, words, vision) == reason


def test_a_question_can_be_about_a_goal_or_a_note() -> None:
    assert set(wordings(VISION)) == {"g-1", "g-2", note_id(VISION.notes[0])}


def test_a_forecast_rests_on_the_profile_until_there_is_experience() -> None:
    sent, received = PROFILE[Difficulty.MEDIUM]
    assert forecast([TASK], (2_000, 10_000), (2, 200)) == sent * 2_000 + received * 10_000
    assert forecast([TASK, TASK], (2_000, 10_000), (3, 600)) == 400


def test_a_second_plan_on_a_day_adds_to_the_first() -> None:
    both = merged(PLAN, DailyPlan("2026-11-20", (TASK,), ("again",), forecast=1))
    assert (len(both.tasks), both.reasons, both.forecast) == (2, ("it hurts", "again"), PLAN.forecast + 1)
    assert merged(None, PLAN) is PLAN


def test_the_plan_says_what_why_and_what_it_will_cost() -> None:
    board = Board((Card(TASK.id, State.BACKLOG, TASK, State.BACKLOG),))
    text = daily_planner.render(PLAN, VISION, board, Beside([Question("g-1", "Which part?")], dollars("5")))
    for said in (
        "1 task, probably about $0.0500; today's cap is $5.00.",
        "1. **Fix it** (`20261120-01`, high, medium; backlog)",
        "   - why: it hurts",
        "- Don't touch x → `x/**`",
        "- Tidy up: Which part?",
    ):
        assert said in text


def test_the_plan_says_what_a_task_needs_what_only_has_its_turn_before_it_and_what_is_stuck() -> None:
    task = replace(TASK, depends_on=("20261119-01",), after=("20261119-02",))
    stuck = StuckTask(
        "t-3", "Tidy", "needs the change of t-2", "2026-11-19 08:12", "t-2", ("unblock t-3", "cancel t-3")
    )
    beside = Beside((), dollars("5"), stuck=(stuck,))
    text = daily_planner.render(replace(PLAN, tasks=(task,)), VISION, Board(()), beside)
    assert "   - needs: `20261119-01`\n   - after: `20261119-02`" in text
    assert (
        "## Stuck until you say how it goes on\n\n- **Tidy** (`t-3`) needs the change of t-2, since 2026-11-19 08:12;"
        " to go on, type one of: `python main.py unblock t-3`, `python main.py cancel t-3`\n"
    ) in text


def test_progress_counts_and_names_what_needs_the_owner() -> None:
    board = Board((Card(TASK.id, State.FAILED, TASK, State.FAILED),))
    spent = Totals(dollars("5"), spent=dollars("1"))
    facts = progress_tracker.Facts({TASK.id: ("Fix", "no edits"), "t-2": ("Mend it", "merged")}, {}, {})
    board = replace(board, closed={State.COMPLETED: {"t-2"}})
    text = progress_tracker.render("2026-11-20", board, facts, spent, ["x.md: is empty"])
    assert "1 completed, 1 failed. Spent today: $1.00 of $5.00." in text
    assert "## Done\n\n- **Mend it** (`t-2`) — merged" in text
    assert "## Failed: these need you\n\n- **Fix it** (`20261120-01`) — no edits" in text
    assert "- x.md: is empty" in text


def test_a_pull_request_says_where_it_comes_from() -> None:
    branch = Branch("agent/t", "base", "c0ffee", ("a.py", "setup.py"), protected=("setup.py",))
    text = pull_body(TASK, branch, "Fix it", dollars("0.25"))
    cost = "cost until this pull request: $0.25;"
    for said in ("- it is right", "- `setup.py` is a protected path", "show 20261120-01", cost):
        assert said in text


def test_a_pull_request_that_is_merged_asks_for_nothing_any_more() -> None:
    text = pull_body(TASK, Branch("agent/t", "base", "c0ffee", ("a.py",)), "Fix it", 0, ["the url moves"])
    assert "### Before you approve\n\n- the url moves" in text and "\n- it is right" in text
    told = after_merge(text)
    assert "### Said before it was merged\n\n- the url moves" in told and "\n- it is right" in told
    assert "Before you approve" not in told
    assert (
        after_merge("### Acceptance criteria\n\n- [ ] it is right") == "### Acceptance criteria\n\n- it is right"
    )  # older


@pytest.mark.parametrize(
    ("nano", "text"),
    [(0, "0.0000"), (dollars("0.05"), "0.0500"), (dollars("0.1"), "0.10"), (dollars("12.345"), "12.35")],
)
def test_small_amounts_keep_four_decimals(nano: int, text: str) -> None:
    assert cents(nano) == text
