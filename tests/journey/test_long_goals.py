"""A goal that one day is too short for grows on a branch of its own, and comes to main whole."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from shared.edge.scripted.scripted_model import ScriptedModel
from tests.journey.long_goal import BRANCH, LAMP, LANDING, ROOMS, house, script
from tests.journey.stage import Stage


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel(script()) as model:
        yield model


def next_day(stage: Stage) -> list[str]:
    stage.clock.sleep(timedelta(days=1).total_seconds())
    return stage.run_day()


def subjects(stage: Stage, branch: str) -> list[str]:
    """Of its commits, the newest first."""
    return stage.forge("log", "--first-parent", "--format=%s", branch).splitlines()


def test_main_gets_the_goal_whole_and_never_the_half_of_it(tmp_path: Path, model: ScriptedModel) -> None:
    stage = house(tmp_path, model)
    assert stage.run_day() == []
    assert subjects(stage, "main") == ["first"]
    assert [subject.partition(" (#")[0] for subject in subjects(stage, BRANCH)] == [
        "Set the number of room1",
        "Set the number of room0",
        "first",
    ]
    assert f"on {BRANCH} until it is whole" in stage.home.roadmap.read_text()
    assert f"on: `{BRANCH}`, until all of its goal is there" in stage.home.daily_plan.read_text()

    assert next_day(stage) == []
    assert set(stage.states().values()) == {"completed"}
    assert LANDING in stage.states()
    newest, *older = (subject.partition(" (#")[0] for subject in subjects(stage, "main"))
    assert newest == "Number all rooms of the house" and older == ["Set the number of lamp", "first"]
    for name in ("room0", "room1", "room2", "lamp"):
        assert stage.forge("show", f"main:{name}.py") == "NUMBER = 1"
    assert stage.forge("branch", "--list", "agent/*") == "", "what has landed needs no branch any more"
    assert stage.home.roadmap.read_text().count("- [x] ") == 2
