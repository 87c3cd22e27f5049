"""With `approve: {plan: always}` nothing is coded before the owner has said yes; what is planned later asks anew."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from sisimpur.cli.app import main
from sisimpur.web.api.base.rights import Role
from tests.attacks.test_board import in_role
from tests.flow.memory_wire import PlayedModel
from tests.flow.stage import FlowStage
from tests.journey.stage import APPROVES, CODES, VISION, Stage, goals_of, plans, reads, task
from tests.journey.test_board import signed_in
from tests.mailbox import Mailbox

SUM = goals_of(VISION)[0]
FIRST, SECOND = "20261120-01", "20261120-02"


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    tasks = (task(SUM), task(SUM, "Say it in the readme", ["README.md"]))
    planned = plans(*tasks)
    planned["json"]["goals"][0]["remarks"] = ["The readme of docs/ stays as it is"]
    with PlayedModel([reads(), planned, CODES, APPROVES]) as model:
        stage = FlowStage(tmp_path, model.url).set_up()
        stage.services.append(Mailbox(stage.root / "box"))
        stage.given_config("policy", approve="{plan: always, days: 3}")
        stage.run_day()
        yield stage


def told(stage: Stage) -> list[str]:
    (box,) = stage.services
    assert isinstance(box, Mailbox)
    return [f"{one['title']}: {one['text']}" for one in box.messages() if ":plan:" in one["key"]]


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
    assert typed(stage, "show", FIRST) == 0
    assert "begins without:\n  a further word on its plan: you said so" in capsys.readouterr().out
    assert typed(stage, "approve", "plan") == 1
    assert "no plan waits for you" in capsys.readouterr().err
    assert typed(stage, "audit") == 0
    assert capsys.readouterr().out.count("good") >= 1


def test_one_of_its_tasks_may_begin_alone_and_another_be_dropped(stage: Stage) -> None:
    assert typed(stage, "unblock", FIRST) == 0 and typed(stage, "cancel", SECOND) == 0
    stage.run_day()
    assert stage.states() == {FIRST: "in_review", SECOND: "failed"}


def test_it_is_dropped_as_a_whole(stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    assert typed(stage, "cancel", "plan", "--why", "not now") == 0
    assert f"2 tasks of the plan dropped ({FIRST} Fix the sum; " in capsys.readouterr().out
    assert stage.states() == {FIRST: "failed", SECOND: "failed"}
    assert typed(stage, "cancel", "plan") == 1 and "no plan waits for you" in capsys.readouterr().err


# --- it is told at once ---------------------------------------------------------------------------------------


def test_the_plan_that_waits_comes_as_a_message_of_its_own_once(stage: Stage) -> None:
    (first,) = told(stage)
    title, _, text = first.partition(": ")
    assert title == "A plan waits for you" and "2 tasks" in text and "- Fix the sum" in text
    assert "$" in text and "approve plan" in text
    assert typed(stage, "cancel", SECOND) == 0
    stage.run_day()
    assert told(stage) == [first], "what is left of it was said"


# --- at the board --------------------------------------------------------------------------------------------


def test_the_board_shows_what_waits_with_its_cost_and_a_yes_there_is_the_terminals(stage: Stage) -> None:
    page = signed_in(stage)
    plan = page.read("plan/review")
    (day,) = plan["days"]
    assert [(one["id"], one["title"]) for one in day["tasks"]] == [
        (FIRST, "Fix the sum"),
        (SECOND, "Say it in the readme"),
    ]
    assert day["planned"] == 2 and float(day["forecast"]) > 0 and day["tasks"][1]["files"] == ["README.md"]
    assert {one["goal_words"] for one in day["tasks"]} == {"Fix the sum in app.py"}
    assert all("remark: The readme of docs/ stays as it is" in one["said"] for one in day["tasks"])
    assert plan["until"].startswith("2026-11-23")
    body = {"ruling": "approve", "mark": plan["mark"], "why": "good"}
    said = page.post("plan/rulings", body, **{"idempotency-key": "one-press"})
    assert said.status_code == 201 and "2 tasks of the plan approved" in said.json()["told"]
    assert page.post("plan/rulings", body, **{"idempotency-key": "one-press"}).text == said.text
    assert page.post("plan/rulings", body).status_code == 409, "replayed under another key it means nothing"
    assert page.read("plan/review") == {"mark": "", "days": [], "until": ""}
    stage.run_day()
    assert stage.states() == {FIRST: "in_review", SECOND: "in_review"}


@pytest.mark.parametrize("ruling", ["approve", "drop"])
@pytest.mark.parametrize("change", ["edited", "begun alone", "gone"])
def test_a_plan_that_changed_since_it_was_shown_is_neither_approved_nor_dropped(
    stage: Stage, ruling: str, change: str
) -> None:
    page = signed_in(stage)
    seen = page.read("plan/review")["mark"]
    file = stage.home.root / "tasks" / "backlog" / f"{SECOND}.md"
    if change == "edited":
        file.write_text(file.read_text().replace("Say it in the readme", "Delete all there is"))
    elif change == "begun alone":
        typed(stage, "unblock", FIRST)
    else:
        typed(stage, "cancel", SECOND)
    before = stage.states()
    said = page.post("plan/rulings", {"ruling": ruling, "mark": seen})
    assert said.status_code == 409 and said.json()["now"] == page.read("plan/review")
    assert said.json()["now"]["mark"] not in ("", seen) and stage.states() == before
    again = page.post("plan/rulings", {"ruling": ruling, "mark": said.json()["now"]["mark"]})
    assert again.status_code == 201 and page.read("plan/review")["mark"] == ""


def test_a_script_s_key_lets_no_task_of_a_plan_begin_by_rejecting_and_retrying_it(stage: Stage) -> None:
    script, owner = in_role(stage, Role.ANSWER), signed_in(stage)
    assert script.post("plan/rulings", {"ruling": "approve", "mark": "0" * 16}).status_code == 403
    for ruling in ("reject", "retry"):
        assert script.rule(ruling, "not so", FIRST).status_code == 403
    assert owner.rule("reject", "not so", FIRST).status_code == 201
    stage.run_day()
    assert stage.states()[FIRST] == "failed" and script.rule("retry", "", FIRST).status_code == 403
    assert owner.rule("retry", "", FIRST).status_code == 201, "who may approve a plan says yes so, too"
    stage.run_day()
    assert stage.states() == {FIRST: "in_review", SECOND: "backlog"}
    assert script.rule("reject", "not so", FIRST).status_code == 201


def test_two_owners_who_answer_a_plan_at_once_answer_it_once(stage: Stage) -> None:
    page = signed_in(stage)
    mark = page.read("plan/review")["mark"]
    said: dict[str, int] = {}

    def press(ruling: str) -> None:
        answer = page.post("plan/rulings", {"ruling": ruling, "mark": mark}, **{"idempotency-key": f"{ruling}-once"})
        said[ruling] = answer.status_code

    presses = [threading.Thread(target=press, args=(ruling,)) for ruling in ("approve", "drop")]
    for one in presses:
        one.start()
    for one in presses:
        one.join()
    assert sorted(said.values()) == [201, 409]
    assert set(stage.states().values()) == {"failed" if said["drop"] == 201 else "backlog"}


# --- nobody answers ------------------------------------------------------------------------------------------


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
