"""`kill -9` while a stack of approved changes is tested and merged: each is merged once, and by itself."""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.journey.rooms import FILES, ROOMS, VISION, approved, outcomes, script, sets
from tests.journey.stage import Stage
from tests.killing import EVERY_POINT, at_length, finishes, killed_at, points

NAMED = ("queue.kept#1", "queue.kept#2", "check.booked")  # all alone; their places are known; the first of them


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel(script()) as model:
        yield model


@pytest.fixture
def begun(tmp_path: Path, model: ScriptedModel) -> Path:
    place = tmp_path / "begun"
    place.mkdir()
    approved(Stage(place, model.url, sets, outcomes(frozenset(), [])).set_up(VISION, FILES))
    return place


def stage_in(place: Path, model: ScriptedModel) -> tuple[Stage, list[str]]:
    stage = Stage(place, model.url, sets, outcomes(frozenset(), []))
    return stage, [sys.executable, "-m", "tests.journey.rooms", str(place), model.url]


def survives(point: str | int, begun: Path, model: ScriptedModel) -> None:
    """In the very place where it began: paths stand in its books."""
    kept = begun.with_name("kept")
    shutil.copytree(begun, kept, symlinks=True)
    stage, argv = stage_in(begun, model)
    passed = killed_at(point, argv)
    finishes(argv)
    try:
        check(stage)
    except AssertionError as failure:
        raise AssertionError(f"killed at {passed[-1]} (point {point}): {failure}") from failure
    shutil.rmtree(begun)
    kept.rename(begun)


def check(stage: Stage) -> None:
    titles = stage.forge("log", "--first-parent", "--format=%s", "main").splitlines()
    assert len(titles) == ROOMS + 1 and len(set(titles)) == ROOMS + 1, titles
    assert [stage.forge("show", f"main:room{n}.py") for n in range(ROOMS)] == ["NUMBER = 1"] * ROOMS
    assert Counter(pull.state for pull in stage.pulls()) == {"merged": ROOMS}
    assert set(stage.states().values()) == {"completed"}
    with stage.records() as records:
        assert records.db.rows("select key from intents where state = 'planned'") == []
        assert records.journal.unfinished_moves() == []


@pytest.mark.slow
@pytest.mark.parametrize("point", NAMED if EVERY_POINT else NAMED[:1])
def test_a_kill_around_the_test_of_a_stack_is_made_good(point: str, begun: Path, model: ScriptedModel) -> None:
    survives(point, begun, model)


@at_length
@pytest.mark.slow
def test_a_kill_at_any_point_of_the_merges_loses_and_doubles_nothing(begun: Path, model: ScriptedModel) -> None:
    kept = begun.with_name("counted")
    shutil.copytree(begun, kept, symlinks=True)
    count = len(points(stage_in(begun, model)[1], at_least=60))
    shutil.rmtree(begun)
    kept.rename(begun)
    for number in range(1, count + 1):
        survives(number, begun, model)
