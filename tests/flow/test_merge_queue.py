"""Approved changes that wait for their merge are tested once, together; each is its own pull request and commit."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from sisimpur.cli.terminal.arguments import Arguments
from sisimpur.cli.views.status import status
from sisimpur.shared.store.queue_book import QueuePlace
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.flow.memory_wire import PlayedModel
from tests.flow.stage import FlowStage
from tests.journey.rooms import FILES, ROOMS, VISION, approved, outcomes, script, sets

Day = Callable[[frozenset[str]], tuple[FlowStage, list[str]]]


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with PlayedModel(script()) as model:
        yield model


@pytest.fixture
def day(tmp_path: Path, model: ScriptedModel) -> Day:
    """The owner approves all changes at once, tested and read. `quarrel`: rooms that do not agree."""

    def make(quarrel: frozenset[str]) -> tuple[FlowStage, list[str]]:
        runs: list[str] = []
        stage = FlowStage(tmp_path, model.url, sets, outcomes(quarrel, runs)).set_up(VISION, FILES)
        approved(stage)
        runs.clear()
        return stage, runs

    return make


def on_main(stage: FlowStage) -> list[str]:
    return stage.forge("log", "--format=%s", "main").splitlines()


def test_four_approved_changes_are_merged_with_one_run_of_the_tests(day: Day) -> None:
    stage, runs = day(frozenset())
    assert stage.run_day() == []
    assert set(stage.states().values()) == {"completed"}
    assert [pull.state for pull in stage.pulls()] == ["merged"] * ROOMS
    assert runs == ["room0.py room1.py room2.py room3.py"], "the first stands on main; the others are one stack"
    assert any("green together" in line for line in stage.said)


def test_each_is_a_pull_request_and_a_commit_of_its_own(day: Day) -> None:
    stage, _ = day(frozenset())
    stage.run_day()
    titles = on_main(stage)
    assert [sum(f"room {n}" in title for title in titles) for n in range(ROOMS)] == [1] * ROOMS, titles


def test_the_first_that_makes_it_red_goes_back_alone_and_the_others_are_merged(day: Day) -> None:
    stage, _ = day(frozenset({"room1.py", "room2.py"}))
    stage.run_day()
    ids = sorted(stage.states())
    assert [stage.states()[id_] for id_ in ids].count("completed") >= ROOMS - 1
    assert "NUMBER = 1" not in stage.forge("show", "main:room1.py") or "NUMBER = 1" not in stage.forge(
        "show", "main:room2.py"
    )
    assert any("red together" in line and "tested alone" in line for line in stage.said), stage.said


def test_what_the_owner_pushes_in_between_makes_the_places_void(day: Day) -> None:
    stage, runs = day(frozenset())
    stage.owner_commits({"notes.md": "mine\n"})
    assert stage.run_day() == []
    assert set(stage.states().values()) == {"completed"}
    assert runs == ["", "room0.py room1.py room2.py room3.py"], "main as it is now, and all four on top of it"


def test_the_owner_sees_the_queue(day: Day) -> None:
    stage, _ = day(frozenset())
    first, second, *_others = stage.states()
    with stage.records() as records:
        records.gates.places.keep([QueuePlace(id_, "c", ("t0", "t1"), (second, first)) for id_ in (first, second)])
    with redirect_stdout(StringIO()) as out:
        assert status(Arguments("status", stage.home.root, json=True)) == 0
    waiting = json.loads(out.getvalue())["approved"]
    assert [line.partition("(")[2] for line in waiting[:2]] == ["merge queue: 2 of 2)", "merge queue: 1 of 2)"]
