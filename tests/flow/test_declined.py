"""What the coder answers in words instead of a change is an answer: it is kept, passed on, and not asked for again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from sisimpur.agents.coder.engine.engine import EngineJob, EngineRun
from sisimpur.cli.commands import owner_commands
from sisimpur.cli.views.status import status
from sisimpur.shared.model.errors import ForgeUnavailable
from sisimpur.shared.model.lifecycle import State
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.flow.memory_wire import PlayedModel
from tests.flow.stage import FlowStage, MemoryForge, open_core
from tests.flow.test_gates import asks, prompts, told, typed
from tests.journey.gated import FILES, GOOD, ID, RIGHT, SUM, VISION, Coder, fix, suite
from tests.journey.stage import APPROVES, CODES, Stage, plans, reads

CANNOT = "It cannot be done: app.py has no function `total` any more."
WRONG_FINDING = "The finding is wrong: `a` is never negative here."
SECOND = "20261120-02"
Act = Callable[[Path, EngineJob], EngineRun | None]


def says(words: str) -> Act:
    return lambda *_: EngineRun("no edits", f"the model answered without an edit: {words}", (), "", 0.0, words)


def fails(*_: object) -> EngineRun:
    return EngineRun("edits failed", "its edits do not fit the files", (), "", 0.0)


def one_by_one(*acts: Act) -> Act:
    """The last one stays."""
    left = list(acts)
    return lambda folder, job: (left.pop(0) if len(left) > 1 else left[0])(folder, job)


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with PlayedModel([reads(), plans(fix()), CODES, APPROVES]) as model:
        yield model


@pytest.fixture
def stage(tmp_path: Path, model: ScriptedModel) -> Callable[..., Stage]:
    return lambda *acts: FlowStage(tmp_path, model.url, one_by_one(*acts), suite).set_up(VISION, FILES)


def told_to(model: ScriptedModel, agent: str) -> list[str]:
    """What this agent was asked, one text for each call."""
    return [str(one.body) for one in model.requests if f"You are the {agent}" in str(one.body)]


def answers(verdict: str, text: str) -> dict[str, Any]:
    goal = {"goal_id": SUM, "verdict": verdict, "text": text, "evidence": []}
    return {"agent": "planner", "times": "any", "json": {"goals": [goal], "tasks": []}}


# --- it cannot be done ---------------------------------------------------------------------------------------


def test_that_it_cannot_be_done_is_asked_once_and_goes_to_the_planner(
    stage: Callable[..., Stage], model: ScriptedModel
) -> None:
    model.play([reads(), {**plans(fix()), "times": 1}, answers("question", "Which function is meant?"), CODES])
    day = stage(says(CANNOT))
    assert day.run_day() == []
    assert (day.states(), len(day.jobs)) == ({ID: "failed"}, 1)
    assert CANNOT in day.note(ID)
    assert f"{ID}: given back to the planner" in "\n".join(day.said)
    day.run_day()
    assert len(day.jobs) == 1
    first, second = told_to(model, "Planner")
    assert "no function `total`" not in first and "no function `total`" in second
    assert "It was told:" in second and str(fix()["title"]) in second
    assert "Which function is meant?" in typed(day, status)


def test_what_the_planner_makes_of_it_is_coded(stage: Callable[..., Stage], model: ScriptedModel) -> None:
    """It is planned anew once, and the goal is done when that is merged."""
    other = fix(title="Add instead of subtracting")
    model.play([reads(), {**plans(fix()), "times": 1}, plans(other), CODES, APPROVES])
    day = stage(says(CANNOT), Coder(GOOD))
    day.run_day()
    day.run_day()
    assert day.states() == {ID: "failed", SECOND: "completed"}
    calls = len(model.requests)
    assert day.run_day() == []
    assert len(model.requests) == calls
    assert SUM not in typed(day, status)


def test_the_second_time_the_owner_is_asked(stage: Callable[..., Stage], model: ScriptedModel) -> None:
    day = stage(says(CANNOT))
    for _ in range(3):
        day.run_day()
    assert (day.states(), len(day.jobs)) == ({ID: "failed", SECOND: "failed"}, 2)
    assert len(told_to(model, "Planner")) == 2
    shown = typed(day, status)
    assert CANNOT in shown and f"retry {SECOND}" in shown
    assert f"retry {ID}" not in shown


def test_the_owners_own_task_comes_back_to_the_owner(stage: Callable[..., Stage], model: ScriptedModel) -> None:
    day = stage(says(CANNOT), Coder(GOOD))
    day.given_vision("# Vision\n")
    text = "---\ntitle: Fix the sum\nfiles: [app.py, tests/test_app.py]\n---\n\nIt subtracts.\n"
    (day.home.tasks(State.BACKLOG) / "mine.md").write_text(text)
    day.run_day()
    assert (day.states(), len(day.jobs)) == ({"mine": "failed"}, 1)
    assert "retry mine" in typed(day, status) and told_to(model, "Planner") == []
    typed(day, owner_commands.retry, id="mine", why="it is `total` in app.py")
    day.run_day()
    assert day.states() == {"mine": "completed"}
    second = prompts(day)[1]
    assert "it is `total` in app.py" in second and CANNOT in second


# --- no prompt twice -----------------------------------------------------------------------------------------


def test_no_prompt_is_sent_twice_once_its_answer_was_understood(stage: Callable[..., Stage]) -> None:
    day = stage(fails)
    day.run_day()
    typed(day, owner_commands.retry, id=ID)
    day.run_day()
    sent = prompts(day)
    assert len(sent) == len(set(sent)) == 6
    assert "its edits do not fit the files" not in sent[0] and "its edits do not fit the files" in sent[1]


# --- a finding is wrong --------------------------------------------------------------------------------------


def test_that_a_finding_is_wrong_goes_on_with_the_change_as_it_was(
    stage: Callable[..., Stage], model: ScriptedModel
) -> None:
    model.play([reads(), plans(fix()), CODES, asks("what about negative numbers?"), APPROVES])
    day = stage(Coder(GOOD), says(WRONG_FINDING))
    day.run_day()
    assert len(day.jobs) == 2
    (pull,) = day.pulls()
    with day.records() as records:
        assert records.gates.coder_said(ID, pull.head_sha) == WRONG_FINDING
        assert records.gates.coder_said(ID) == ""
        first, second = (attempt for attempt in records.journal.attempts(ID))
    assert (first.outcome, second.number) == ("sent back", 2)
    assert f"{ID}: the coder contradicts what was found: {WRONG_FINDING}" in day.said


def test_words_against_red_tests_are_not_for_the_reviewer(stage: Callable[..., Stage], model: ScriptedModel) -> None:
    day = stage(Coder({**GOOD, "app.py": FILES["app.py"] + "# tried\n"}), says(WRONG_FINDING))
    day.run_day()
    assert (day.states(), len(day.jobs)) == ({ID: "failed"}, 2)
    assert WRONG_FINDING in day.note(ID)
    assert [pull.state for pull in day.pulls()] == ["closed"]


NOT_MINE = "tests/test_noon.py fails for another reason, that is none of my doing."


def at_noon(found: Mapping[str, str], is_noon: Callable[[str], bool]) -> dict[str, str]:
    """With an old test that fails where it is noon."""
    return {**suite(found), "tests/test_noon.py::test_noon": "failed" if is_noon(found["app.py"]) else "passed"}


@pytest.mark.parametrize("is_over", [True, False])
def test_whose_doing_a_red_old_test_is_the_base_decides_and_not_the_coders_word(
    tmp_path: Path, model: ScriptedModel, is_over: bool
) -> None:
    """The change stays, and is tested once more: no model codes it again for what was the machine's doing."""
    noon = {"is on": True}

    def goes_by(folder: Path, job: EngineJob) -> EngineRun | None:
        noon["is on"] = not is_over
        return says(NOT_MINE)(folder, job)

    outcomes = partial(at_noon, is_noon=lambda app: noon["is on"] and app == RIGHT)
    files = {**FILES, "tests/test_noon.py": "def test_noon():\n    pass\n"}
    day = FlowStage(tmp_path, model.url, one_by_one(Coder(GOOD), goes_by), outcomes).set_up(VISION, files)
    day.run_day()
    assert (day.states(), len(day.jobs)) == ({ID: "completed" if is_over else "failed"}, 2)
    assert [pull.state for pull in day.pulls()] == ["merged" if is_over else "closed"]
    with day.records() as records:
        assert records.memory.all() == (), "what passed as it was teaches nothing"
    if not is_over:
        assert NOT_MINE in day.note(ID), "the planner, and then the owner, read what it says"
        assert any("given back to the planner" in line for line in day.said)


# --- the forge is away ---------------------------------------------------------------------------------------


class CannotClose(MemoryForge):
    """A forge that is away whenever a pull request is to be closed."""

    def close(self, number: int) -> None:
        raise ForgeUnavailable("the forge does not answer")


def test_an_outage_of_the_forge_costs_no_second_attempt(stage: Callable[..., Stage], model: ScriptedModel) -> None:
    """The end of the attempt is booked first; the pull request is closed when the forge is there again."""
    day = stage(Coder({**GOOD, "app.py": FILES["app.py"] + "# tried\n"}), says(CANNOT))
    day.open_team = partial(open_core, forge=CannotClose)
    day.run_day()
    assert (len(day.jobs), [pull.state for pull in day.pulls()]) == (2, ["open"])
    day.open_team = open_core
    day.run_day()
    assert (len(day.jobs), [pull.state for pull in day.pulls()]) == (2, ["closed"])
    assert day.states() == {ID: "failed"}
    assert CANNOT in day.note(ID)


def test_who_says_that_an_old_test_is_wrong_asks_the_owner_and_has_not_failed(
    tmp_path: Path, model: ScriptedModel
) -> None:
    test = GOOD["tests/test_app.py"].replace("total(0, 0) == 0", "total(0, 0) == 1")
    bent = Coder({"app.py": RIGHT.replace("a + b", "a + b + 1"), "tests/test_app.py": test})
    answers = one_by_one(bent, says("The finding is wrong, because the task wants one more."))
    day = FlowStage(tmp_path, model.url, answers, told).set_up(VISION, FILES)
    assert day.run_day() == []
    assert (day.states(), len(day.jobs)) == ({ID: "in_review"}, 2)
    (line,) = json.loads(typed(day, status, json=True))["waits_for_you"]
    assert "the task wants one more" in line and "either the code is wrong, or the test said what was" in line
    typed(day, owner_commands.approve, id=ID)
    assert day.run_day() == [] and day.states() == {ID: "completed"}
