"""What is still to be planned of a goal that grows on a branch of its own, and what the owner reads about it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.flow.memory_wire import PlayedModel
from tests.flow.stage import FlowStage
from tests.journey.long_goal import (
    ALL_OF_IT,
    BRANCH,
    LAMP,
    LANDING,
    ROOMS,
    VISION,
    approved,
    bullet,
    codes,
    house,
    landing_in_review,
    next_day,
    numbered,
    numbers,
    planned,
    script,
    subjects,
    tick,
    ticked,
    typed,
)
from tests.journey.stage import APPROVES, CODES, reads

WITHOUT = VISION.replace(f"- {ALL_OF_IT}\n", "")
REWORDED = "Number all the rooms of the house"


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with PlayedModel(script()) as model:
        yield model


def plays(model: ScriptedModel, *answers: dict[str, Any]) -> None:
    """What the planner answers from now on."""
    model.play([reads(), *answers, CODES, APPROVES])


def plannings(model: ScriptedModel) -> int:
    """How often the planner was asked about the rooms."""
    asked = (str(request.body).partition("Goals to answer")[2] for request in model.requests)
    return sum(f"{ROOMS} (high)" in goals for goals in asked)


# --- removed, and put back -----------------------------------------------------------------------------------


def test_tasks_that_went_with_their_goal_are_planned_again_with_it(tmp_path: Path, model: ScriptedModel) -> None:
    stage = house(tmp_path, model, FlowStage)
    stage.run_day()
    next_day(stage, until="planning")
    stage.given_vision(WITHOUT)
    stage.run_day()
    stage.given_vision(VISION)
    plays(model, planned("room2"))
    assert next_day(stage) == []
    assert stage.states()["20261121-01"] == "failed" and numbers(stage) == "111"


def test_a_goal_that_comes_back_on_the_same_day_is_planned_once_more(tmp_path: Path, model: ScriptedModel) -> None:
    stage = house(tmp_path, model, FlowStage)
    stage.run_day()
    next_day(stage, until="planning")
    stage.given_vision(WITHOUT)
    stage.given_config("policy", capacity="{parallel: 1, tasks_per_day: 4}")
    stage.run_day()
    stage.given_vision(VISION)
    plays(model, planned("room2"))
    before = plannings(model)
    stage.run_day(until="planning")
    stage.run_day()
    assert plannings(model) == before + 1
    assert numbers(stage) == "111"


def test_a_goal_that_is_worded_as_before_again_is_planned_to_its_end(tmp_path: Path, model: ScriptedModel) -> None:
    stage = house(tmp_path, model, FlowStage)
    stage.run_day()
    stage.given_vision(VISION.replace(ALL_OF_IT, REWORDED))
    next_day(stage, until="planning")
    stage.given_vision(VISION)
    stage.run_day()
    plays(model, planned("room2"))
    next_day(stage)
    assert numbers(stage) == "111"


def test_a_landing_that_went_with_its_goal_is_made_again_without_a_question(
    tmp_path: Path, model: ScriptedModel
) -> None:
    stage = landing_in_review(tmp_path, model, FlowStage)
    stage.given_vision(WITHOUT)
    stage.run_day()
    assert stage.states()[LANDING] == "failed"
    stage.given_vision(VISION)
    before = plannings(model)
    next_day(stage)
    assert plannings(model) == before
    approved(stage, "20261122-l1")
    assert numbers(stage) == "111"


# --- nothing is left of it -----------------------------------------------------------------------------------


def done_already(quote: str = "NUMBER = 1") -> dict[str, Any]:
    """The planner's answer about the rest of the rooms."""
    seen = {"kind": "line", "path": "room0.py", "line": 1, "quote": quote}
    verdict = {"goal_id": ROOMS, "verdict": "already_done", "text": "All have numbers.", "evidence": [seen]}
    return {"agent": "planner", "json": {"goals": [verdict], "tasks": []}}


@pytest.mark.parametrize("worded", [ALL_OF_IT, REWORDED])
def test_a_goal_of_which_nothing_is_left_lands(tmp_path: Path, model: ScriptedModel, worded: str) -> None:
    stage = house(tmp_path, model, FlowStage)
    stage.run_day()
    stage.given_vision(VISION.replace(ALL_OF_IT, worded))
    plays(model, done_already(), planned("lamp"))
    assert next_day(stage) == []
    assert subjects(stage, "main")[0] == worded and numbers(stage) == "110"
    plan = stage.home.daily_plan.read_text()
    assert "Questions for you" not in plan
    assert f"- {worded}: nothing is left to plan (room0.py:1: NUMBER = 1)" in plan
    assert len(ticked(stage)) == 2


def test_what_is_there_is_not_asked_about_again_while_the_landing_waits(tmp_path: Path, model: ScriptedModel) -> None:
    """For a task that has failed, of the goal as it was worded before."""
    stage = house(tmp_path, model, FlowStage)
    stage.change = lambda folder, job: codes(folder, job) if "room1.py" not in job.edit else None
    stage.run_day()
    stage.given_vision(VISION.replace(ALL_OF_IT, REWORDED))
    plays(model, done_already(), planned("lamp"))
    next_day(stage)
    assert stage.states()["20261120-02"] == "failed" and LANDING not in stage.states()
    assert f"[ ] {REWORDED} (HIGH): 0 of 1 task merged" in bullet(stage)
    before = plannings(model)
    assert next_day(stage) == []
    assert plannings(model) == before
    typed(stage, "retry", "20261120-02")  # and it is dropped: it was made for what is not wanted any more
    stage.run_day()
    assert subjects(stage, "main")[0] == REWORDED


def test_what_the_code_does_not_bear_out_is_a_question(tmp_path: Path, model: ScriptedModel) -> None:
    stage = house(tmp_path, model, FlowStage)
    stage.run_day()
    plays(model, done_already("NUMBER = 100"), planned("lamp"))
    next_day(stage)
    assert "This seems to be done already" in stage.home.daily_plan.read_text()
    assert numbers(stage) == "000" and numbers(stage, BRANCH) == "110"


def test_a_goal_that_comes_back_after_nothing_was_left_of_it_lands(tmp_path: Path, model: ScriptedModel) -> None:
    stage = house(tmp_path, model, FlowStage)
    stage.run_day()
    next_day(stage, until="planning")
    stage.given_vision(WITHOUT)
    stage.run_day()
    stage.given_vision(VISION)
    plays(model, done_already())
    assert next_day(stage) == []
    assert numbers(stage) == "110" and len(ticked(stage)) == 2


# --- which goals have a branch -------------------------------------------------------------------------------


def test_a_goal_that_another_one_needs_has_no_branch_of_its_own(tmp_path: Path, model: ScriptedModel) -> None:
    """Its branch would wait for main, and main for its branch."""
    stage = house(tmp_path, model, FlowStage)
    stage.given_config("policy", capacity="{parallel: 1, tasks_per_day: 3}")
    tasks = [
        numbered(ROOMS, "room0"),
        numbered(LAMP, "lamp", depends_on=["Set the number of room0"]),
        numbered(ROOMS, "room1", depends_on=["Set the number of lamp"]),
        numbered(ROOMS, "room2"),
    ]
    verdicts = [{"goal_id": goal, "verdict": "tasks", "text": "it is 0", "evidence": []} for goal in (ROOMS, LAMP)]
    plays(model, {"agent": "planner", "json": {"goals": verdicts, "tasks": tasks}}, planned("room2"))
    assert stage.run_day() == []
    assert (numbers(stage), stage.forge("show", "main:lamp.py")) == ("110", "NUMBER = 1")
    next_day(stage)
    assert numbers(stage) == "111"
    assert set(stage.states().values()) == {"completed"} and LANDING not in stage.states()


# --- what the owner reads ------------------------------------------------------------------------------------


def test_what_has_not_landed_is_not_done_before_the_day(tmp_path: Path, model: ScriptedModel) -> None:
    stage = landing_in_review(tmp_path, model, FlowStage)
    typed(stage, "reject", LANDING, "--why", "not now")
    stage.run_day()
    next_day(stage)
    report = (stage.home.reports / "2026-11-22.md").read_text()
    asked = report.partition("## Asked\n")[2].partition("\n## ")[0]
    (line,) = [line for line in asked.splitlines() if ALL_OF_IT in line]
    assert f", on {BRANCH};" in line and "3 merged" not in asked.replace(line, "")
    typed(stage, "retry", LANDING)
    stage.run_day()
    approved(stage, LANDING)
    next_day(stage)
    assert BRANCH not in (stage.home.reports / "2026-11-23.md").read_text()


def test_a_goal_that_is_ticked_says_where_it_is_until_it_has_landed(tmp_path: Path, model: ScriptedModel) -> None:
    stage = house(tmp_path, model, FlowStage, merge="{auto: false}")
    stage.run_day()
    approved(stage, "20261120-01", "20261120-02")
    tick(stage)
    stage.run_day()
    landing = "20261120-l1"
    assert stage.states()[landing] == "in_review"
    assert bullet(stage).startswith("- [x]") and f"on {BRANCH} until it is whole" in bullet(stage)
    approved(stage, landing)
    assert numbers(stage) == "110"
    assert bullet(stage).startswith("- [x]") and BRANCH not in bullet(stage)


# --- a branch that nobody can plan on ------------------------------------------------------------------------


def test_a_branch_that_cannot_be_read_keeps_no_other_goal_from_being_planned(
    tmp_path: Path, model: ScriptedModel
) -> None:
    stage = house(tmp_path, model, FlowStage)
    stage.run_day()
    whole = stage.forge("rev-parse", BRANCH)
    stage.forge("update-ref", f"refs/heads/{BRANCH}", f"{whole}~1")
    plays(model, planned("lamp"))
    assert next_day(stage) == []
    plan = stage.home.daily_plan.read_text()
    assert f"## Left for another day\n\n- {ALL_OF_IT} (high)" in plan
    assert f"- {ALL_OF_IT}: {BRANCH} does not hold what was merged for 20261120-02 any more" in plan
    assert stage.forge("show", "main:lamp.py") == "NUMBER = 1"
    with stage.records() as records:
        assert records.plans.planning_attempts("2026-11-21") == 1, "the planner was asked once"

    stage.forge("update-ref", f"refs/heads/{BRANCH}", whole)
    plays(model, planned("room2"))
    assert next_day(stage) == []
    assert numbers(stage) == "111"
