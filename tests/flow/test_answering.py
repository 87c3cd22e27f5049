"""`answer ID TEXT`: a question of a goal is answered without rewording it, and the words stand with the goal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sisimpur.agents.orchestrator.reports.account import QuestionAccount
from sisimpur.agents.orchestrator.reports.report_notice import questions
from sisimpur.cli.app import main
from sisimpur.shared.notify.discord_text import new_message
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.flow.memory_wire import PlayedModel
from tests.flow.stage import FlowStage
from tests.flow.test_staying import stays, types
from tests.journey.stage import APPROVES, CODES, VISION, Stage, goals_of, plans, reads, task
from tests.mailbox import Mailbox

SUM = goals_of(VISION)[0]
ASKS = {
    "agent": "planner",
    "times": "any",
    "json": {
        "goals": [{"goal_id": SUM, "verdict": "question", "text": "Which sum?", "evidence": []}],
        "tasks": [],
    },
}
PLANS = [reads(), plans(task(SUM)), CODES, APPROVES]


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with PlayedModel([reads(), ASKS, CODES, APPROVES]) as model:
        yield model


@pytest.fixture
def stage(tmp_path: Path, model: ScriptedModel) -> Stage:
    return FlowStage(tmp_path, model.url).set_up()


def typed(stage: Stage, *words: str) -> int:
    return main(["--home", str(stage.home.root), *words])


def planned_with(model: ScriptedModel) -> list[str]:
    """What the planner was asked."""
    return [str(one.body["messages"]) for one in model.requests if "You are the Planner" in str(one.body["system"])]


def test_the_answer_stands_with_the_goal_when_it_is_planned_and_nobody_asks_again(
    stage: Stage, model: ScriptedModel, capsys: pytest.CaptureFixture[str]
) -> None:
    stage.run_day()
    assert typed(stage, "status") == 0
    assert f"{SUM}  Fix the sum in app.py: Which sum?" in capsys.readouterr().out
    assert typed(stage, "answer", SUM[:4], "the one of negative numbers") == 0
    assert f"{SUM}: answered; it is planned with the next planning" in capsys.readouterr().out
    assert typed(stage, "status", "--json") == 0
    assert json.loads(capsys.readouterr().out)["asked"] == []
    model.play(PLANS)
    before = len(planned_with(model))
    stage.run_day()
    assert list(stage.states().values()) == ["in_review"]
    (asked,) = planned_with(model)[before:]
    assert 'To "Which sum?" I answer: the one of negative numbers' in asked.replace('\\"', '"')


def test_what_an_answer_says_not_to_touch_is_guarded_in_the_goals_tasks(stage: Stage, model: ScriptedModel) -> None:
    stage.run_day()
    assert typed(stage, "answer", SUM, "The first. Leave webhook.py alone for it") == 0
    model.play(PLANS)
    stage.run_day()
    assert f"webhook.py (tasks of {SUM} only): Leave webhook.py alone" in planned_with(model)[-1]


def test_a_note_that_guards_no_file_is_answered_in_the_vision_and_no_command_is_offered(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    stage.home.vision.write_text(f"{VISION}\n## Notes\n- Don't touch the sums\n")
    stage.run_day()
    assert typed(stage, "status") == 0
    said = capsys.readouterr().out
    notes, questions = said.split("notes to reword in ")[1].split("questions (change the goal")
    assert "Don't touch the sums" in notes
    assert "answer ID TEXT" in questions and "Which sum?" in questions and "the sums" not in questions


def test_the_same_question_again_is_asked_in_words_that_say_so(stage: Stage, model: ScriptedModel) -> None:
    stage.run_day()
    assert typed(stage, "answer", SUM, "guess") == 0
    stage.run_day()
    assert "Which sum? (Your answer of 2" in stage.home.daily_plan.read_text()
    calls = len(planned_with(model))
    stage.run_day()
    assert len(planned_with(model)) == calls, "it waits for the owner, and is not asked for at each planning"


def test_a_reworded_goal_leaves_the_answer_behind(stage: Stage, model: ScriptedModel) -> None:
    stage.run_day()
    assert typed(stage, "answer", SUM, "the first one") == 0
    stage.given_vision(VISION.replace("in app.py", "in app.py, both of them"))
    model.play(PLANS)
    stage.run_day()
    assert "the first one" not in planned_with(model)[-1]


def test_an_answer_that_is_given_while_it_stays_is_planned_and_worked_on_at_once(
    stage: Stage, model: ScriptedModel
) -> None:
    stays(stage, types(stage, "answer", SUM, "the first one"), lambda: None)
    assert len(planned_with(model)) == 2


def test_a_task_is_tried_again_with_these_words(stage: Stage, model: ScriptedModel) -> None:
    model.play(PLANS)
    stage.run_day()
    (id_,) = stage.states()
    assert typed(stage, "answer", id_, "keep the name") == 0
    stage.run_day()
    assert "keep the name" in stage.jobs[-1].message


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        pytest.param(("no-such", "x"), "there is no task 'no-such'", id="neither a goal with a question nor a task"),
        pytest.param((SUM, " \n"), "say what you answer", id="nothing said"),
    ],
)
def test_what_answers_nothing_is_a_named_problem(
    stage: Stage, words: tuple[str, ...], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    stage.run_day()
    assert typed(stage, "answer", *words) == 1
    assert reason in capsys.readouterr().err


# --- it is told at once ----------------------------------------------------------------------------------------

TWO = f"{VISION}- Make it fast\n"
FIRST, SECOND = goals_of(TWO)


def asking(*goals: str) -> list[dict[str, Any]]:
    asked = [{"goal_id": one, "verdict": "question", "text": f"Which of {one}?", "evidence": []} for one in goals]
    return [reads(), {**ASKS, "json": {"goals": asked, "tasks": []}}, CODES, APPROVES]


def told(stage: Stage) -> list[str]:
    (box,) = stage.services
    assert isinstance(box, Mailbox)
    return [f"{one['title']}: {one['text']}" for one in box.messages() if ":questions:" in one["key"]]


def test_a_question_comes_as_a_message_of_its_own_once(stage: Stage, model: ScriptedModel) -> None:
    stage.services.append(Mailbox(stage.root / "box"))
    stage.given_vision(TWO)
    model.play(asking(FIRST, SECOND))
    stage.run_day()
    (first,) = told(stage)
    assert first.startswith("2 questions wait for you: ") and f"Which of {FIRST}?" in first
    assert f"answer {FIRST} '...'" in first and f"answer {SECOND} '...'" in first
    stage.run_day()
    assert typed(stage, "answer", FIRST, "the first one") == 0
    model.play(asking(SECOND))
    stage.run_day()
    assert told(stage) == [first], "what is left of it was said"
    stage.given_vision(f"{TWO}- Make it small\n")
    third = goals_of(stage.home.vision.read_text())[2]
    model.play(asking(SECOND, third))
    stage.run_day()
    (_, later) = told(stage)
    assert later.startswith("1 question waits for you: ") and f"Which of {third}?" in later and SECOND not in later


def test_a_kill_before_it_was_told_keeps_no_question_back(stage: Stage, model: ScriptedModel) -> None:
    stage.given_vision(TWO)
    model.play(asking(FIRST, SECOND))
    stage.run_day(until="planning")  # nobody was there to take it
    stage.services.append(Mailbox(stage.root / "box"))
    stage.run_day()
    assert len(told(stage)) == 1


def test_of_many_questions_the_first_are_told_how_many_more_there_are_and_how_each_is_answered() -> None:
    many = {f"{number:012}": QuestionAccount("Which? " * 60, f"g-{number}") for number in range(60)}
    notice = questions("2026-11-20", many, "sisimpur", "https://board.example", heard=True)
    (embed,) = new_message(notice, ("board.example",))["embeds"]
    assert embed["description"] == notice.text, "nothing of it is cut"
    assert "answer g-0 '...'" in notice.text and "/answer GOAL your words" in notice.text
    shown = notice.text.count("reword or remove it")
    assert 0 < shown < 60 and f"{60 - shown} more" in notice.text
