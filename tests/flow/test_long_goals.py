"""A goal that one day is too short for grows on a branch of its own, and comes to main whole."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from sisimpur.agents.coder.engine.engine import EngineJob
from sisimpur.shared.forge.forge import REVIEW_CONTEXT
from sisimpur.shared.model.lifecycle import State
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.flow.memory_wire import PlayedModel
from tests.flow.stage import FlowStage
from tests.journey.long_goal import (
    ALL_OF_IT,
    BRANCH,
    LANDING,
    ROOMS,
    VISION,
    codes,
    house,
    landing_in_review,
    next_day,
    numbers,
    planned,
    script,
    subjects,
    tick,
    typed,
)
from tests.journey.stage import APPROVES, CODES, reads


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with PlayedModel(script()) as model:
        yield model


def explains(folder: Path, job: EngineJob) -> None:
    path = next(path for path in job.edit if not path.startswith("tests/"))
    (folder / path).write_text("NUMBER = 1\n# of the room\n")


# --- grows, then lands ---------------------------------------------------------------------------------------


def test_the_rest_of_it_is_planned_with_what_is_on_its_branch_before_the_eyes(
    tmp_path: Path, model: ScriptedModel
) -> None:
    stage = house(tmp_path, model, FlowStage)
    stage.run_day()
    before = len(model.requests)
    next_day(stage, until="planning")
    asked = [json.dumps(request.body) for request in model.requests[before:]]
    rooms, lamp = (body for body in asked if "You are the Planner" in body)
    assert "test_room1.py" in rooms and "test_room1.py" not in lamp
    assert ALL_OF_IT in rooms and ALL_OF_IT not in lamp.partition("Goals to answer")[2]


def test_its_landing_is_tested_and_reviewed_as_one_change(tmp_path: Path, model: ScriptedModel) -> None:
    stage = house(tmp_path, model, FlowStage)
    stage.run_day()
    next_day(stage)
    (pull,) = [pull for pull in stage.pulls() if LANDING in pull.head]
    assert (pull.state, pull.base) == ("merged", "main")
    with stage.records() as records:
        evidence = records.gates.evidence(LANDING, pull.head_sha)
        reviewed = records.gates.reviewed(LANDING, pull.head_sha)
        spent = records.spending.spent_by(LANDING)
    assert evidence and len(evidence.new_tests) == 3 and not evidence.is_red
    assert reviewed and reviewed.commit == pull.head_sha
    assert spent.used > 0, "the reviewer read it"
    assert not any(LANDING in job.message for job in stage.jobs), "and nobody had to code it"
    assert all(title in pull.body for title in ("Set the number of room0", "Set the number of room2"))


def test_whoever_wants_it_has_each_day_on_main(tmp_path: Path, model: ScriptedModel) -> None:
    model.play([reads(), planned("room0", "room1", "room2", "lamp"), planned("room2", "lamp"), CODES, APPROVES])
    stage = house(tmp_path, model, FlowStage, merge="{long_goals: main}")
    stage.run_day()
    assert numbers(stage) == "110"
    next_day(stage)
    assert (numbers(stage), LANDING in stage.states()) == ("111", False)


# --- kept fresh ----------------------------------------------------------------------------------------------


def test_what_is_new_on_main_is_brought_in_before_the_next_task(tmp_path: Path, model: ScriptedModel) -> None:
    stage = house(tmp_path, model, FlowStage)
    stage.run_day()
    stage.owner_commits({"lamp.py": "NUMBER = 0\nWATTS = 5\n"})
    assert next_day(stage) == []
    assert f"{BRANCH}: brought up to date with main" in "\n".join(stage.said)
    assert (numbers(stage), stage.forge("show", "main:lamp.py")) == ("111", "NUMBER = 1\nWATTS = 5")
    assert subjects(stage, "main") == [ALL_OF_IT, "Set the number of lamp", "the owner's own", "first"]


def test_a_branch_that_somebody_deleted_is_pushed_again(tmp_path: Path, model: ScriptedModel) -> None:
    stage = house(tmp_path, model, FlowStage)
    stage.run_day()
    stage.forge("branch", "-D", BRANCH)
    assert next_day(stage) == []
    assert numbers(stage) == "111"


def test_a_branch_of_its_name_that_is_not_ours_is_never_written_to(tmp_path: Path, model: ScriptedModel) -> None:
    """Its tasks wait, and the owner is told; the others go on."""
    stage = house(tmp_path, model, FlowStage)
    stage.run_day(until="planning")
    theirs = stage.forge("commit-tree", stage.forge("rev-parse", "main^{tree}"), "-m", "theirs")
    stage.forge("branch", BRANCH, theirs)
    stage.run_day()
    next_day(stage)
    assert f"{BRANCH} is there already, and not ours: remove that branch" in "\n".join(stage.said)
    assert BRANCH in (stage.home.reports / "2026-11-21.md").read_text()
    assert stage.forge("rev-parse", BRANCH) == theirs
    assert stage.states()["20261120-01"] == "backlog" and subjects(stage, "main")[-1] == "first"

    stage.forge("branch", "-D", BRANCH)
    next_day(stage)
    assert (numbers(stage, BRANCH)[:2], subjects(stage, BRANCH)[-1]) == ("11", "first")


def test_what_was_merged_there_and_is_gone_is_missed(tmp_path: Path, model: ScriptedModel) -> None:
    stage = house(tmp_path, model, FlowStage)
    stage.run_day()
    whole = stage.forge("rev-parse", BRANCH)
    stage.forge("update-ref", f"refs/heads/{BRANCH}", stage.forge("rev-parse", f"{BRANCH}~1"))
    model.play([reads(), planned("lamp"), planned("room2"), CODES, APPROVES])
    next_day(stage)
    missing = f"{BRANCH} does not hold what was merged for 20261120-02 any more: push it there again"
    assert missing in "\n".join(stage.said)
    assert numbers(stage) == "000" and LANDING not in stage.states()
    stage.forge("update-ref", f"refs/heads/{BRANCH}", whole)
    next_day(stage)
    assert numbers(stage) == "111"


def test_what_needs_a_task_of_the_goal_waits_until_that_is_on_main(tmp_path: Path, model: ScriptedModel) -> None:
    stage = house(tmp_path, model, FlowStage)
    stage.run_day()
    next_day(stage, until="planning")
    task = stage.home.tasks(State.BACKLOG) / "20261121-02.md"
    task.write_text(task.read_text().replace("\nfiles:", '\ndepends_on: ["20261120-01"]\nfiles:'))
    stage.run_day()
    assert subjects(stage, "main") == ["Set the number of lamp", ALL_OF_IT, "first"]


# --- when it lands -------------------------------------------------------------------------------------------


def test_it_lands_with_what_is_there_if_the_owner_ticks_it(tmp_path: Path, model: ScriptedModel) -> None:
    stage = house(tmp_path, model, FlowStage)
    stage.run_day()
    tick(stage)
    assert next_day(stage) == []
    assert numbers(stage) == "110"


def test_it_lands_without_a_task_that_has_failed_if_the_owner_ticks_it(tmp_path: Path, model: ScriptedModel) -> None:
    stage = house(tmp_path, model, FlowStage)
    stage.change = lambda folder, job: codes(folder, job) if "room1.py" not in job.edit else None
    stage.run_day()
    next_day(stage)
    assert stage.states()["20261120-02"] == "failed" and LANDING not in stage.states()
    tick(stage)
    assert next_day(stage) == []
    assert numbers(stage) == "101"


def test_it_waits_as_long_as_a_question_is_open(tmp_path: Path, model: ScriptedModel) -> None:
    ask = {"goal_id": ROOMS, "verdict": "question", "text": "Which number has room2?", "evidence": []}
    first = planned("room0", "room1", "room2", "lamp")
    question = {"agent": "planner", "json": {"goals": [ask], "tasks": []}}
    model.play([reads(), first, question, planned("lamp"), CODES, APPROVES])
    stage = house(tmp_path, model, FlowStage)
    stage.run_day()
    next_day(stage)
    assert numbers(stage) == "000" and numbers(stage, BRANCH) == "110"
    assert LANDING not in stage.states()


def test_a_goal_that_is_reworded_keeps_its_branch(tmp_path: Path, model: ScriptedModel) -> None:
    stage = house(tmp_path, model, FlowStage)
    stage.run_day()
    stage.given_vision(VISION.replace(ALL_OF_IT, "Number all rooms of the old house"))
    assert next_day(stage) == []
    assert numbers(stage) == "111"
    assert subjects(stage, "main")[0] == "Number all rooms of the old house"


def test_the_branch_of_a_goal_that_is_removed_stays_where_it_is(tmp_path: Path, model: ScriptedModel) -> None:
    stage = house(tmp_path, model, FlowStage)
    stage.run_day()
    stage.given_vision(VISION.replace(f"- {ALL_OF_IT}\n", ""))
    model.play([reads(), planned("lamp"), CODES, APPROVES])
    assert next_day(stage) == []
    assert numbers(stage) == "000" and numbers(stage, BRANCH) == "110"
    assert LANDING not in stage.states()


def test_work_that_is_taken_up_again_drops_the_landing_and_makes_it_anew(tmp_path: Path, model: ScriptedModel) -> None:
    stage = landing_in_review(tmp_path, model, FlowStage)
    typed(stage, "retry", "20261120-02", "--again", "--why", "say what the number is")
    stage.change = explains
    stage.run_day()
    assert stage.states()[LANDING] == "failed"
    assert "there is more to do for its goal" in stage.note(LANDING)
    (pull,) = [pull for pull in stage.pulls() if LANDING in pull.head]
    assert pull.state == "closed"

    typed(stage, "approve", "20261120-02")
    stage.run_day()
    again = LANDING.replace("l1", "l2")
    assert stage.states()[again] == "in_review"
    typed(stage, "approve", again)
    stage.run_day()
    assert subjects(stage, "main")[0] == ALL_OF_IT
    assert stage.states()["20261120-02"] == stage.states()[again] == "completed"


@pytest.mark.parametrize("is_sent_back", [False, True], ids=["waiting", "sent back by him before"])
def test_it_may_be_merged_by_the_owner(tmp_path: Path, model: ScriptedModel, is_sent_back: bool) -> None:
    stage = landing_in_review(tmp_path, model, FlowStage)
    if is_sent_back:
        typed(stage, "retry", LANDING, "--why", "again")
    with stage.records() as records:
        forge = records.forge()
        assert forge
        (pull,) = [pull for pull in forge.list_pulls() if LANDING in pull.head]
        forge.ready(pull.number)
        forge.set_status(pull.head_sha, REVIEW_CONTEXT, "success", "his own eyes")
        forge.merge(pull.number, pull.head_sha)
    stage.run_day()
    assert stage.states()[LANDING] == "completed" and numbers(stage) == "111"
    assert BRANCH not in stage.forge("branch", "--list")


def test_a_goal_of_many_files_lands(tmp_path: Path, model: ScriptedModel) -> None:
    """Its task's file names as many as such a file may."""
    stage = landing_in_review(tmp_path, model, FlowStage)
    typed(stage, "reject", LANDING, "--why", "later")
    stage.run_day()
    for task in ("20261120-01", "20261120-02", "20261121-01"):
        path = stage.home.tasks(State.COMPLETED) / f"{task}.md"
        more = json.dumps([f"tests/test_{task}_{n}.py" for n in range(40)])
        path.write_text(re.sub(r"^new_files:.*$", f"new_files: {more}", path.read_text(), flags=re.MULTILINE))
    typed(stage, "retry", "20261120-02", "--again", "--why", "say what the number is")
    stage.change = explains
    stage.run_day()
    typed(stage, "approve", "20261120-02")
    stage.run_day()
    assert stage.states()[LANDING.replace("l1", "l2")] == "in_review", "rejected, but there is more on the branch now"


def test_a_landing_that_the_owner_rejects_is_not_made_again(tmp_path: Path, model: ScriptedModel) -> None:
    stage = landing_in_review(tmp_path, model, FlowStage)
    typed(stage, "reject", LANDING, "--why", "not now")
    next_day(stage)
    assert [task for task in stage.states() if "-l" in task] == [LANDING]
    assert f"its landing was cancelled, it stays on {BRANCH}" in stage.home.roadmap.read_text()
    assert numbers(stage) == "000"
    typed(stage, "retry", LANDING)
    stage.run_day()
    typed(stage, "approve", LANDING)
    stage.run_day()
    assert numbers(stage) == "111"


def reviews(landing: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The three rooms and the lamp are approved; then the landing is read."""
    return [{**APPROVES, "times": 4}, {"agent": "reviewer", "json": landing}, APPROVES]


def test_what_is_found_in_the_whole_is_corrected_by_the_coder(tmp_path: Path, model: ScriptedModel) -> None:
    found = {"path": "room0.py", "line": 1, "severity": "high", "rule": "correctness", "text": "Say what it counts."}
    asks = {"decision": "request_changes", "reason": "it is unclear", "unresolved": [], "findings": [found]}
    plain = [one for one in script() if one is not APPROVES]
    model.play([*plain, *reviews(asks)])
    stage = house(tmp_path, model, FlowStage)
    stage.run_day()
    assert next_day(stage) == []
    (correction,) = [job for job in stage.jobs if LANDING in job.message]
    assert "Say what it counts." in correction.message and "room2.py" in correction.edit
    assert set(stage.states().values()) == {"completed"}
    assert numbers(stage) == "111"
