"""What is still to be planned of a goal that grows on a branch of its own, and what the owner reads about it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.journey.long_goal import (
    ALL_OF_IT,
    VISION,
    house,
    next_day,
    numbers,
    planned,
    script,
    ticked,
)
from tests.journey.stage import APPROVES, CODES, reads

WITHOUT = VISION.replace(f"- {ALL_OF_IT}\n", "")


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel(script()) as model:
        yield model


def plays(model: ScriptedModel, *answers: dict[str, Any]) -> None:
    """What the planner answers from now on."""
    model.play([reads(), *answers, CODES, APPROVES])


# --- removed, and put back -----------------------------------------------------------------------------------


def test_a_goal_that_comes_back_is_planned_to_its_end(tmp_path: Path, model: ScriptedModel) -> None:
    stage = house(tmp_path, model)
    stage.run_day()
    stage.given_vision(WITHOUT)
    plays(model, planned("lamp"))
    next_day(stage)
    stage.given_vision(VISION)
    plays(model, planned("room2"))
    assert next_day(stage) == []
    assert numbers(stage) == "111" and len(ticked(stage)) == 2
