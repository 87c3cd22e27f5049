"""With `approve: {plan: always}` nothing is coded before the owner has said yes; what is planned later asks anew."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from sisimpur.cli.app import main
from tests.flow.memory_wire import PlayedModel
from tests.flow.stage import FlowStage
from tests.journey.stage import APPROVES, CODES, VISION, Stage, goals_of, plans, reads, task

SUM = goals_of(VISION)[0]
FIRST, SECOND = "20261120-01", "20261120-02"


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    tasks = (task(SUM), task(SUM, "Say it in the readme", ["README.md"]))
    with PlayedModel([reads(), plans(*tasks), CODES, APPROVES]) as model:
        stage = FlowStage(tmp_path, model.url).set_up()
        stage.given_config("policy", approve="{plan: always, days: 3}")
        stage.run_day()
        yield stage


def typed(stage: Stage, *words: str) -> int:
    return main(["--home", str(stage.home.root), *words])


def test_the_plan_waits_and_every_page_says_what_to_type(stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    assert stage.states() == {FIRST: "backlog", SECOND: "backlog"} and not stage.jobs
    capsys.readouterr()
    assert typed(stage, "status") == 0
    shown = capsys.readouterr().out
    assert shown.count("its plan waits for your yes") == 1 and "approve plan" in shown
    for page in (stage.home.daily_plan, stage.home.reports / "2026-11-20.md"):
        assert (
            f"its plan waits for your yes ({FIRST}, {SECOND})" in page.read_text()
            and "approve plan" in page.read_text()
        )


def test_a_yes_lets_all_of_it_begin_and_is_shown_with_its_reason(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    assert typed(stage, "approve", "plan", "--why", "good") == 0
    told = capsys.readouterr().out
    assert f"2 tasks of the plan approved ({FIRST} Fix the sum; {SECOND} Say it in the readme)" in told
    stage.run_day()
    assert stage.states() == {FIRST: "in_review", SECOND: "in_review"}
    capsys.readouterr()
    assert typed(stage, "approve", "plan") == 1
    assert "no plan waits for you" in capsys.readouterr().err
    assert typed(stage, "audit") == 0
    assert capsys.readouterr().out.count("good") >= 1


def test_one_of_its_tasks_may_begin_alone_and_another_be_dropped(stage: Stage) -> None:
    assert typed(stage, "unblock", FIRST) == 0 and typed(stage, "cancel", SECOND) == 0
    stage.run_day()
    assert stage.states() == {FIRST: "in_review", SECOND: "failed"}


def test_nobody_says_yes_and_after_three_days_it_is_planned_anew(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    with PlayedModel([reads(), plans(task(SUM)), CODES, APPROVES]) as model:
        stage.model_url = model.url
        stage.given_key()
        stage.clock.sleep(timedelta(days=4).total_seconds())
        stage.run_day()
        assert stage.states() == {FIRST: "failed", SECOND: "failed"} and not model.requests
        stage.clock.sleep(timedelta(days=1).total_seconds())
        stage.run_day()
    assert stage.states() == {FIRST: "failed", SECOND: "failed", "20261125-01": "backlog"}
    capsys.readouterr()
    assert typed(stage, "show", FIRST) == 0
    assert "nobody approved its plan within 3 days" in capsys.readouterr().out


@pytest.mark.parametrize("days", [0, 4])
def test_what_is_retried_begins_without_another_yes(stage: Stage, days: int) -> None:
    """After it has expired, or was cancelled, and however old its plan is."""
    if days:
        stage.clock.sleep(timedelta(days).total_seconds())
        stage.run_day()
    else:
        assert typed(stage, "cancel", FIRST) == 0
        stage.run_day()
    assert stage.states()[FIRST] == "failed"
    assert typed(stage, "retry", FIRST) == 0
    stage.run_day()
    assert stage.states()[FIRST] == "in_review"
