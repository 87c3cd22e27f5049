"""Tasks that name one that fails: what only has its turn after it begins, what needs its change asks the owner."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from sisimpur.agents.coder.engine.engine import EngineJob
from sisimpur.cli.app import main
from tests.flow.memory_wire import PlayedModel
from tests.flow.stage import FlowStage
from tests.journey.stage import APPROVES, CODES, VISION, Stage, goals_of, mends, plans, reads, task

SUM = goals_of(VISION)[0]
FIRST, NEEDS, TURN, BEHIND = (f"20261120-0{number}" for number in (1, 2, 3, 4))


def never_the_sum(folder: Path, job: EngineJob) -> None:
    if "app.py" not in job.edit:
        mends(folder, job)


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """The first task fails; one needs it, one only has its turn after it, and one waits behind who needs it."""
    tasks = (
        task(SUM),
        task(SUM, "Then the readme", ["README.md"], depends_on=["Fix the sum"]),
        task(SUM, "Then the hook", ["webhook.py"], after=["Fix the sum"]),
        task(SUM, "Then the readme again", ["README.md"], after=["Then the readme"]),
    )
    with PlayedModel([reads(), plans(*tasks), CODES, APPROVES]) as model:
        stage = FlowStage(tmp_path, model.url).set_up()
        stage.change = never_the_sum
        stage.run_day()
        yield stage


def typed(stage: Stage, *words: str) -> int:
    return main(["--home", str(stage.home.root), *words])


def asked(stage: Stage, command: str, capsys: pytest.CaptureFixture[str]) -> object:
    capsys.readouterr()
    assert typed(stage, command, "--json") == 0
    return json.loads(capsys.readouterr().out)


def test_a_task_that_only_has_its_turn_begins_when_the_other_fails_and_one_that_needs_it_does_not(stage: Stage) -> None:
    assert stage.states() == {FIRST: "failed", NEEDS: "backlog", TURN: "in_review", BEHIND: "backlog"}


def test_status_tasks_plan_and_report_say_on_what_it_is_stuck_since_when_and_what_to_type(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    status, tasks = asked(stage, "status", capsys), asked(stage, "tasks", capsys)
    assert isinstance(status, dict) and isinstance(tasks, list)
    (stuck,) = status["stuck"]
    assert (stuck["task"], stuck["on"], stuck["behind"]) == (NEEDS, FIRST, [BEHIND])
    assert stuck["why"] == f"needs the change of {FIRST}, which lies in failed/"
    assert stuck["since"].startswith("2026-11-20 08:0")
    ends = [command.partition(" ")[2].split(" ", 3)[-1] for command in stuck["commands"]]
    assert [end.removesuffix(one) for end, one in zip(ends, (NEEDS, NEEDS, FIRST), strict=True)] == [
        "unblock ",
        "cancel ",
        "retry ",
    ]
    assert [row["stuck"] is not None for row in tasks] == [False, True, False, False]
    (answer,) = [one for one in status["answers"] if one["task"] == NEEDS]
    assert answer["command"].endswith(f"unblock {NEEDS}") and answer["others"] == [f"cancel {NEEDS}", f"retry {FIRST}"]
    told = f"needs the change of {FIRST}, which lies in failed/, since 2026-11-20 08:0"
    report = (stage.home.reports / "2026-11-20.md").read_text()
    for page in (stage.home.daily_plan.read_text(), report):
        assert told in page and f"unblock {NEEDS}`" in page and f"retry {FIRST}`" in page
    tomorrow = report.split("## Tomorrow")[1]
    assert f"goes on: **Then the readme** (`{NEEDS}`)" not in tomorrow
    assert f"does not go on: **Then the readme again** (`{BEHIND}`)" in tomorrow


def test_the_planner_is_told_which_tasks_are_stuck(stage: Stage) -> None:
    """With the next planning."""
    with PlayedModel([reads(), plans(), CODES, APPROVES]) as model:
        stage.model_url = model.url
        stage.given_key()
        stage.given_vision(f"{VISION}- Greet in the readme\n")
        stage.run_day(until="planning")
        asked = [str(one.body) for one in model.requests if "You are the Planner" in str(one.body["system"])]
    assert asked and f"{NEEDS} (Then the readme): needs the change of {FIRST}" in asked[0]


def test_unblock_lets_it_begin_and_is_remembered_and_shown(stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    assert typed(stage, "unblock", NEEDS, "--why", "the readme stands alone") == 0
    assert f"{NEEDS}: begins without {FIRST}; " in capsys.readouterr().out
    stage.run_day()
    assert stage.states()[NEEDS] == "in_review"
    assert typed(stage, "show", NEEDS) == 0
    assert "the readme stands alone" in capsys.readouterr().out.partition("begins without")[2]


def test_what_the_other_one_would_have_created_is_created_by_who_begins_without_it(tmp_path: Path) -> None:
    tasks = (
        task(SUM, files=["app.py"], new_files=["new.py"]),
        task(SUM, "Use it", ["new.py", "README.md"], depends_on=["Fix the sum"]),
    )
    with PlayedModel([reads(), plans(*tasks), CODES, APPROVES]) as model:
        stage = FlowStage(tmp_path, model.url).set_up()
        stage.change = never_the_sum
        stage.run_day()
        assert typed(stage, "unblock", NEEDS) == 0
        stage.run_day()
        assert stage.states() == {FIRST: "failed", NEEDS: "in_review"}
        assert (stage.jobs[-1].edit, stage.jobs[-1].create) == (("README.md",), ("new.py",))


def test_cancelling_it_frees_who_waits_behind_it(stage: Stage) -> None:
    assert typed(stage, "cancel", NEEDS) == 0
    stage.run_day()
    assert stage.states() == {FIRST: "failed", NEEDS: "failed", TURN: "in_review", BEHIND: "in_review"}


def test_retrying_the_other_one_ends_the_question(stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    assert typed(stage, "retry", FIRST) == 0
    status = asked(stage, "status", capsys)
    assert isinstance(status, dict) and status["stuck"] == []


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        pytest.param(("unblock", TURN), "lies in in_review/ and waits for no other task", id="nothing to unblock"),
        pytest.param(("unblock", BEHIND), "begins without", id="what waits for a stuck one can be freed, too"),
        pytest.param(("cancel", FIRST), "does nothing there: nobody works on it any more", id="it is cancelled"),
        pytest.param(("retry", NEEDS), "does nothing there: it is to be done already", id="it is to be done"),
    ],
)
def test_every_word_is_answered_in_a_sentence(
    stage: Stage, words: tuple[str, ...], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    typed(stage, *words)
    said = capsys.readouterr()
    assert reason in said.out + said.err


def test_status_names_what_is_next_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stage = FlowStage(tmp_path, "").set_up()
    for name, priority in (("a", "LOW"), ("b", "CRITICAL"), ("c", "HIGH")):
        file = stage.home.root / "tasks" / "backlog" / f"{name}.md"
        file.write_text(f"---\ntitle: Do {name}\npriority: {priority.lower()}\nfiles: [app.py]\n---\n\nDo it.\n")
    status = asked(stage, "status", capsys)
    assert isinstance(status, dict)
    lines = status["ready"] + status["waiting"]
    assert [line[0] for line in lines] == ["b", "c", "a"], lines
