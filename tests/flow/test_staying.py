"""`run-day --wait`: it stays while the owner is awaited, and uses what he answers meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from sisimpur.agents.coder.engine.engine import EngineJob
from sisimpur.cli.app import main
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.flow.memory_wire import PlayedModel
from tests.flow.stage import FlowStage
from tests.journey.stage import APPROVES, CODES, VISION, HurriedClock, Stage, goals_of, mends, plans, reads, task

SUM = goals_of(VISION)[0]
FIRST, SECOND = "20261120-01", "20261120-02"
HALF_AN_HOUR = timedelta(minutes=30)


class OwnersClock(HurriedClock):
    """Each time the team has looked around for ten seconds, the owner does the next thing."""

    def __init__(self, *deeds: Callable[[], object]) -> None:
        super().__init__()
        self.deeds = list(deeds)
        self.slept = 0.0

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        self.slept += seconds
        if self.slept >= 10 and self.deeds:
            self.slept = 0.0
            self.deeds.pop(0)()


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with PlayedModel([reads(), plans(task(SUM)), CODES, APPROVES]) as model:
        yield model


@pytest.fixture
def stage(tmp_path: Path, model: ScriptedModel) -> Stage:
    return FlowStage(tmp_path, model.url).set_up()


def types(stage: Stage, *words: str) -> Callable[[], object]:
    return lambda: main(["--home", str(stage.home.root), *words])


def stays(stage: Stage, *deeds: Callable[[], object]) -> list[str]:
    stage.clock = OwnersClock(*deeds)
    return stage.run_day(wait=HALF_AN_HOUR)


def left(stage: Stage) -> bool:
    """Whether the time to wait was used up."""
    return stage.clock.now().hour * 60 + stage.clock.now().minute >= 8 * 60 + 30


def test_a_change_that_is_approved_meanwhile_is_merged_and_the_day_ends_when_nothing_waits(stage: Stage) -> None:
    assert stays(stage, types(stage, "approve", FIRST)) == []
    assert stage.states() == {FIRST: "completed"} and not left(stage)
    assert [line for line in stage.said if "staying" in line] == [
        f"waits for you: {FIRST}; staying until 08:30, or Ctrl-C"
    ]
    assert "merged" in (stage.home.reports / "2026-11-20.md").read_text(), "the evening comes after that"


def test_a_change_that_is_rejected_meanwhile_waits_no_longer(stage: Stage) -> None:
    stays(stage, types(stage, "reject", FIRST, "--why", "no"))
    assert stage.states() == {FIRST: "failed"} and not left(stage)


def test_it_stays_no_longer_than_it_was_told_to_and_says_once_why(stage: Stage) -> None:
    assert stays(stage) == []
    assert stage.states() == {FIRST: "in_review"} and left(stage)
    assert len([line for line in stage.said if line.startswith(("resting", "waits for you"))]) == 2


def test_without_being_told_to_it_does_not_stay(stage: Stage) -> None:
    stage.clock = OwnersClock(types(stage, "approve", FIRST))
    stage.run_day()
    assert stage.states() == {FIRST: "in_review"}


def test_where_nothing_waits_it_ends_at_once(stage: Stage) -> None:
    stage.given_vision("# Vision\n")
    stays(stage)
    assert not left(stage) and not any("staying" in line for line in stage.said)


def test_what_is_unblocked_or_moved_meanwhile_is_worked_on(stage: Stage, model: ScriptedModel) -> None:
    """The first task fails; the second one needs it. The owner frees it, then puts the first one back himself."""

    def not_yet(folder: Path, job: EngineJob) -> None:
        if "app.py" not in job.edit or len(stage.jobs) > 4:
            mends(folder, job)

    second = task(SUM, "Then the readme", ["README.md"], depends_on=["Fix the sum"])
    model.play([reads(), plans(task(SUM), second), CODES, APPROVES])
    stage.change = not_yet
    tasks = stage.home.root / "tasks"
    stays(
        stage,
        types(stage, "unblock", SECOND),
        lambda: (tasks / "failed" / f"{FIRST}.md").rename(tasks / "backlog" / f"{FIRST}.md"),
    )
    assert stage.states() == {FIRST: "in_review", SECOND: "in_review"}
    told = [line for line in stage.said if "staying" in line]
    assert told[0].startswith(f"waits for you: {FIRST}, {SECOND};")


@pytest.mark.parametrize(("typed", "code"), [("0", 2), ("-5", 2), ("soon", 2)])
def test_the_minutes_are_a_number_above_zero(typed: str, code: int) -> None:
    with pytest.raises(SystemExit) as end:
        main(["run-day", "--wait", typed])
    assert end.value.code == code
