"""The daemon's days: each phase at its time, tasks side by side, and all that may go wrong between two mornings."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from sisimpur.agents.coder.engine.engine import EngineJob
from sisimpur.agents.orchestrator.daemon import End
from sisimpur.cli.commands.owner_commands import answer, cancel, raise_cap, resume
from sisimpur.cli.terminal.arguments import Arguments
from sisimpur.shared.model.errors import Misconfigured, Stopping
from sisimpur.shared.model.lifecycle import State
from sisimpur.shared.model.work import TaskSpec
from sisimpur.shared.store.task_store import render
from sisimpur.shared.system.clock import ManualClock
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.flow.memory_wire import PlayedModel
from tests.flow.stage import FlowStage
from tests.flow.test_declined import CANNOT, one_by_one, says
from tests.journey.days import MIDNIGHT, Days, days
from tests.journey.gated import FILES, GOOD, ID, VISION, Coder, fix, suite
from tests.journey.stage import (
    APPROVES,
    CODES,
    HOLDS,
    Stage,
    goals_of,
    mends,
    plans,
    reads,
    repository,
    task,
)
from tests.mailbox import Mailbox

TODAY = "2026-11-20"
GOAL = goals_of(VISION)[0]
TWO = "# Vision\n\n## Priority: HIGH\n- Fix the sum in app.py\n- Tell more in the readme\n"


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with PlayedModel([reads(), plans(fix()), CODES, APPROVES]) as model:
        yield model


@pytest.fixture
def stage(tmp_path: Path, model: ScriptedModel) -> Stage:
    return FlowStage(tmp_path, model.url, Coder(GOOD), suite).set_up(VISION, FILES)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(at(6))


def at(hour: float, day: int = 0) -> datetime:
    return MIDNIGHT + timedelta(days=day, hours=hour)


# --- the day -------------------------------------------------------------------------------------------------


def test_who_begins_in_the_afternoon_catches_up(stage: Stage, clock: ManualClock) -> None:
    clock.set(at(15))
    with days(stage, clock) as day:
        day.tick()
        day.until(at(15.2))
    assert list(stage.states().values()) == ["completed"]
    assert any("morning is begun 8 h 00 min late" in line for line in stage.said)


def test_who_begins_at_night_reports_what_was_missed_and_asks_no_model(
    stage: Stage, clock: ManualClock, model: ScriptedModel
) -> None:
    clock.set(at(23.5))
    with days(stage, clock) as day:
        day.until(at(23.9))
    assert model.requests == []
    assert "nobody was there at its time" in (stage.home.reports / f"{TODAY}.md").read_text()


def test_a_second_daemon_of_the_day_repeats_nothing(stage: Stage, clock: ManualClock, model: ScriptedModel) -> None:
    with days(stage, clock) as day:
        day.until(at(9))
    asked = len(model.requests)
    with days(stage, clock) as day:
        day.until(at(22))
        # The vision is looked at once more: unchanged.
        assert day.after == [(name, True) for name in ("morning", "research", "planning")]
    assert len(model.requests) == asked


def test_an_idle_day_costs_nothing_and_is_reported(stage: Stage, clock: ManualClock, model: ScriptedModel) -> None:
    with days(stage, clock) as day:
        day.until(at(7, 1))
        asked = len(model.requests)
        day.until(at(7, 2))
    assert len(model.requests) == asked
    assert (stage.home.reports / "2026-11-21.md").exists()


def test_a_clock_that_is_set_back_begins_nothing(stage: Stage, clock: ManualClock, model: ScriptedModel) -> None:
    with days(stage, clock) as day:
        day.until(at(9))
        clock.set(at(8, -300))
        day.until(at(20, -300))
        assert day.phases("2026-01-24") == {}
    assert sum("correct the clock" in line for line in stage.said) == 1


# --- side by side --------------------------------------------------------------------------------------------


def two(stage: Stage, model: ScriptedModel, files: tuple[str, str]) -> list[Any]:
    """A day with two tasks and two hands."""
    stage.given_config("policy", capacity="{parallel: 2}")
    stage.given_vision(TWO)
    first, second = goals_of(TWO)
    model.play(
        [
            reads(),
            plans(task(first, "First", files=[files[0]]), task(second, "Second", files=[files[1]])),
            CODES,
            APPROVES,
        ]
    )
    return [first, second]


def test_two_tasks_are_coded_at_once(stage: Stage, clock: ManualClock, model: ScriptedModel) -> None:
    two(stage, model, ("app.py", "other.py"))
    both = threading.Barrier(2, timeout=30)

    def together(folder: Path, job: EngineJob) -> None:
        both.wait()
        mends(folder, job)

    stage.change = together
    with days(stage, clock) as day:
        day.until(at(8.2))
    assert set(stage.states().values()) == {"completed"}
    assert len(stage.pulls()) == 2


def test_tasks_that_share_a_file_are_never_coded_at_once(
    stage: Stage, clock: ManualClock, model: ScriptedModel
) -> None:
    two(stage, model, ("app.py", "app.py"))
    at_work: list[str] = []
    together: list[bool] = []

    def slow(folder: Path, job: EngineJob) -> None:
        at_work.append(job.message)
        time.sleep(0.5)  # the other one would begin
        together.append(len(at_work) > 1)
        at_work.pop()
        mends(folder, job)

    stage.change = slow
    with days(stage, clock) as day:
        day.until(at(9))
    assert together == [False, False]


def test_a_slow_task_keeps_nobody_from_merging(stage: Stage, clock: ManualClock, model: ScriptedModel) -> None:
    """While one is coded the other goes from the coder's hands to its merge."""
    stage.given_config("policy", capacity="{parallel: 2}")
    stage.given_vision(TWO)
    first, second = goals_of(TWO)
    right = task(first, "First", files=["app.py", "tests/test_app.py"])
    model.play([reads(), plans(right, task(second, "Second", files=["other.py"])), CODES, APPROVES])
    merged = threading.Event()
    seen: list[bool] = []

    def slow(folder: Path, job: EngineJob) -> None:
        if "other.py" in job.edit:
            seen.append(merged.wait(30))
            mends(folder, job)
        else:
            Coder(GOOD)(folder, job)

    stage.change = slow
    tell = stage.said.append

    class Said(list[str]):
        def append(self, line: str) -> None:
            tell(line)
            if "merged #" in line:
                merged.set()

    stage.said = Said()
    with days(stage, clock) as day:
        day.until(at(8.2))
    assert seen == [True]


# --- what changes while it runs ------------------------------------------------------------------------------


def test_a_vision_that_changes_at_noon_is_planned_at_once(
    stage: Stage, clock: ManualClock, model: ScriptedModel
) -> None:
    stage.given_vision("# Vision\n\n## Priority: HIGH\n")
    with days(stage, clock) as day:
        day.until(at(12))
        assert stage.states() == {}
        stage.given_vision(VISION)
        day.until(at(12.5))
    assert stage.states() == {ID: "completed"}


def test_an_answer_at_noon_is_planned_at_once(stage: Stage, clock: ManualClock, model: ScriptedModel) -> None:
    question = {"goal_id": GOAL, "verdict": "question", "text": "Which sum?", "evidence": []}
    stage.given_config("policy", goals="{read: true}")
    model.play([reads(), {"agent": "planner", "json": {"goals": [question], "tasks": []}}])
    with days(stage, clock) as day:
        day.until(at(12))
        assert stage.states() == {}
        answer(Arguments("answer", stage.home.root, id=GOAL, text="The one in app.py"))
        model.play([plans(fix()), CODES, APPROVES, HOLDS])
        day.until(at(12.5))
    assert stage.states() == {ID: "completed"}
    (read,) = [one for one in model.requests if "You are the Evaluator" in str(one.body["system"])]
    assert "I answer: The one in app.py" in str(read.body["messages"]), "what the owner said belongs to his wish"


def test_what_the_coder_gives_back_is_planned_anew_on_the_same_day(
    tmp_path: Path, clock: ManualClock, model: ScriptedModel
) -> None:
    stage = FlowStage(tmp_path, model.url, one_by_one(says(CANNOT), Coder(GOOD)), suite).set_up(VISION, FILES)
    model.play([reads(), {**plans(fix()), "times": 1}, plans(fix(title="Add instead")), CODES, APPROVES])
    with days(stage, clock) as day:
        day.until(at(12))
    assert stage.states() == {ID: "failed", "20261120-02": "completed"}


def test_a_goal_removed_at_noon_takes_its_waiting_task_along(
    stage: Stage, clock: ManualClock, model: ScriptedModel
) -> None:
    with days(stage, clock) as day:
        day.until(at(7.9))
        stage.given_vision("# Vision\n\n## Priority: HIGH\n")
        day.until(at(9))
    assert stage.states() == {ID: "failed"}
    assert stage.jobs == []


def test_a_changed_configuration_waits_for_what_runs(stage: Stage, clock: ManualClock) -> None:
    changed = threading.Event()
    ends: list[End | None] = []

    def works(folder: Path, job: EngineJob) -> None:
        changed.set()
        with day.daemon.session.lock:
            ends.append(day.daemon.tick())
        Coder(GOOD)(folder, job)

    stage.change = works
    with days(stage, clock, lambda: "reload" if changed.is_set() else None) as day:
        day.until(at(9))
        assert ends == [None]
        assert day.end == "reload"
    assert stage.states() == {ID: "in_progress"}  # its commit stands; nothing new was begun


def test_who_is_not_the_one_any_more_ends(stage: Stage, clock: ManualClock) -> None:
    ends: list[End | None] = [None]
    with days(stage, clock, lambda: ends[0]) as day:
        day.until(at(6.5))
        ends[0] = "ended"
        day.until(at(23))
        assert day.end == "ended"
        assert day.phases() == {}


def test_whoever_asks_it_to_end_is_heard_before_anything_new(
    stage: Stage, clock: ManualClock, model: ScriptedModel
) -> None:
    with days(stage, clock) as day:
        day.until(at(7.9))
        day.stop.asked = True
        day.until(at(23))
        assert day.end == "ended"
    assert stage.jobs == []
    assert stage.states() == {ID: "backlog"}


# --- what is away --------------------------------------------------------------------------------------------


def test_a_model_that_is_away_is_told_once_and_waited_for(
    stage: Stage, clock: ManualClock, model: ScriptedModel, tmp_path: Path
) -> None:
    stage.services.append(Mailbox(tmp_path / "box"))
    away = {"when": {"system": "^You are the Coder"}, "times": "any", "status": 529}
    model.play([reads(), plans(fix()), away, APPROVES])
    stage.given_config("agents", engine="{launcher: shim, patience: 0}")
    with days(stage, clock) as day:
        day.until(at(10))
        model.play([reads(), plans(fix()), CODES, APPROVES])
        day.until(at(11))
    assert stage.states() == {ID: "completed"}
    outages = [message for message in Mailbox(tmp_path / "box").messages() if "the model" in message["title"]]
    assert [message["title"] for message in outages][-1] == f"{TODAY}: the model answers again"
    assert len({message["key"] for message in outages}) == 1


def test_many_files_that_are_dropped_at_once_keep_nobody_from_the_chair(stage: Stage, clock: ManualClock) -> None:
    """They may be half written: that is waited for once, and standing up."""
    clock.set(at(23.5))
    with days(stage, clock) as day:
        day.tick()
        for number in range(100):
            spec = TaskSpec(f"d{number:03}", "Tell more", "Tell more in the readme.", files=("README.md",))
            (stage.home.tasks(State.BACKLOG) / f"{spec.id}.md").write_text(render(spec))
        sits, ended, sat = threading.Event(), threading.Event(), list[bool]()

        def sit() -> None:
            sits.wait()
            with day.daemon.session.lock:
                sat.append(not ended.is_set())

        other = threading.Thread(target=sit)
        other.start()
        with day.daemon.session.lock:
            sits.set()
            day.daemon.tick()
            ended.set()
        other.join()
        assert sat == [True]
        assert len(day.records.journal.every_task()) == 100


# --- what it waits for, for whoever asks from outside ----------------------------------------------------------


def waits(day: Days) -> list[tuple[str, datetime | None]]:
    return [(wait.what, wait.until) for wait in day.waits[-1]]


def test_with_nothing_to_do_it_waits_for_the_next_time_of_the_day(stage: Stage, clock: ManualClock) -> None:
    with days(stage, clock) as day:
        day.tick()
        assert waits(day) == [("time", at(7))]
        day.until(at(7.9))
        assert waits(day) == [("time", at(8))]
        day.until(at(8.2))
        assert waits(day) == [("time", at(23))]
        assert [wait.why for wait in day.waits[-1]] == ["no task is ready"]


def test_a_changed_vision_that_rests_is_waited_for(stage: Stage, clock: ManualClock) -> None:
    with days(stage, clock) as day:
        day.until(at(8.5))
        stage.given_vision(TWO)
        day.tick()
        assert waits(day) == [("vision", at(8.5) + timedelta(seconds=30))]


def test_a_cap_is_waited_for_until_it_is_raised(stage: Stage, clock: ManualClock, model: ScriptedModel) -> None:
    with days(stage, clock) as day:
        day.until(at(7.9))
    with stage.records() as records:
        spent = records.spending.totals(TODAY, 0).used / 1e9
    stage.given_config("policy", budget=f'{{task: "{spent:.6f}", day: "{spent:.6f}", month: 100}}')
    with days(stage, clock) as day:
        day.until(at(9))
        assert waits(day) == [("cap", None)]
        raise_cap(Arguments("raise-cap", stage.home.root, amount="5"), clock)
        day.tick()
        assert ("cap", None) not in waits(day)


# --- what goes wrong -----------------------------------------------------------------------------------------


def test_a_phase_that_failed_is_tried_again(stage: Stage, clock: ManualClock, model: ScriptedModel) -> None:
    model.play([reads(), {"agent": "planner", "times": "any", "text": "I would rather not."}])
    with days(stage, clock) as day:
        day.until(at(8.1))
        assert day.phases()["planning"] == "failed"
        model.play([reads(), plans(fix()), CODES, APPROVES])
        day.until(at(9.5))
        assert day.phases()["planning"] == "ended"
    assert stage.states() == {ID: "completed"}


def test_a_bug_in_one_task_is_kept_and_stops_no_other(stage: Stage, clock: ManualClock, model: ScriptedModel) -> None:
    two(stage, model, ("app.py", "other.py"))

    bugs = ["app.py"]

    def broken(folder: Path, job: EngineJob) -> None:
        if bugs and bugs[0] in job.edit:
            raise ZeroDivisionError("of a story")
        mends(folder, job)

    stage.change = broken
    with days(stage, clock) as day:
        day.until(at(8.2))
        assert sorted(stage.states().values()) == ["completed", "in_progress"]
        assert "ZeroDivisionError: of a story" in stage.log()
        bugs.clear()
        day.until(at(9))
    assert set(stage.states().values()) == {"completed"}


def test_a_clock_that_was_ahead_for_a_while_is_forgotten_by_the_owners_word(
    stage: Stage, clock: ManualClock, model: ScriptedModel
) -> None:
    clock.set(at(12, 40))
    with days(stage, clock) as day:
        day.until(at(12.5, 40))
    clock.set(at(7.5))
    with days(stage, clock) as day:
        day.until(at(9))
        assert day.phases() == {}
        resume(Arguments("resume", stage.home.root), clock)
        day.until(at(12))
        assert day.phases()["planning"] == "ended"


def test_a_raised_cap_lets_the_day_go_on(stage: Stage, clock: ManualClock, model: ScriptedModel) -> None:
    with days(stage, clock) as day:
        day.until(at(7.9))
    spent = 0.0
    with stage.records() as records:
        spent = records.spending.totals(TODAY, 0).used / 1e9
    stage.given_config("policy", budget=f'{{task: "{spent:.6f}", day: "{spent:.6f}", month: 100}}')
    with days(stage, clock) as day:
        day.until(at(10))
        assert stage.states() == {ID: "backlog"}
        raise_cap(Arguments("raise-cap", stage.home.root, amount="5"), clock)
        day.until(at(11))
    assert stage.states() == {ID: "failed"}  # its own cap is still as small


@pytest.mark.parametrize("at_work", ["coder", "qa"])
def test_what_is_stopped_costs_no_try_and_goes_on(
    stage: Stage, clock: ManualClock, model: ScriptedModel, at_work: str
) -> None:
    """As if a box was ended for it: five stops are more than a task has tries."""
    stops = [5]

    def stopped(who: str) -> None:
        if who == at_work and stops[0]:
            stops[0] -= 1
            raise Stopping("of a story")

    def code(folder: Path, job: EngineJob) -> None:
        stopped("coder")
        Coder(GOOD)(folder, job)

    def test(files: Mapping[str, str]) -> dict[str, str]:
        stopped("qa")
        return suite(files)

    stage.change, stage.tests = code, test
    for _ in range(6):
        with days(stage, clock) as day:
            day.until(clock.now() + timedelta(hours=1) if clock.now() > at(8) else at(8.1))
    assert stage.states() == {ID: "completed"}


def test_after_the_evening_what_is_ready_is_brought_to_its_end(
    stage: Stage, clock: ManualClock, model: ScriptedModel
) -> None:
    """A change that waits for the owner is put before him, and his word is heeded; nothing new is begun."""
    stage.given_vision("# Vision\n\n## Priority: HIGH\n- Fix the sum in app.py\n- Tidy the settings\n")
    first, second = goals_of(stage.home.vision.read_text())
    right = task(first, "First", files=["app.py", "tests/test_app.py"])
    model.play([reads(), plans(right, task(second, "Second", files=["other.py"])), CODES, APPROVES])

    def codes(folder: Path, job: EngineJob) -> None:
        clock.set(at(23.01))  # the evening comes while it is at work
        Coder(GOOD)(folder, job)

    stage.change = codes
    with days(stage, clock) as day:
        day.until(at(8.1))
        day.until(at(23.5))
        states = sorted(stage.states().values())
    assert states == ["backlog", "in_review"]  # coded and delivered; tested tomorrow
    assert len(stage.pulls()) == 1


def test_a_goal_that_comes_back_is_done(stage: Stage, clock: ManualClock, model: ScriptedModel) -> None:
    with days(stage, clock) as day:
        day.until(at(7.9))
        stage.given_vision("# Vision\n\n## Priority: HIGH\n")
        day.until(at(9))
        assert list(stage.states().values()) == ["failed"]
        stage.given_vision(VISION)
        day.until(at(10))
    assert sorted(stage.states().values()) == ["completed", "failed"]


def test_a_vision_that_was_mended_is_read(stage: Stage, clock: ManualClock, model: ScriptedModel) -> None:
    with days(stage, clock) as day:
        day.until(at(7.9))
        stage.home.vision.write_bytes(b"\xff\xfe")
        day.until(at(12))
        assert list(stage.states().values()) == ["backlog"]  # what he may not want any more is not begun
        stage.given_vision(VISION)
        day.until(at(13))
    assert list(stage.states().values()) == ["completed"]


def test_a_model_that_is_away_in_the_morning_does_not_cost_the_day(
    stage: Stage, clock: ManualClock, model: ScriptedModel
) -> None:
    """Each try may have to be booked at its worst case: there are few, and far between."""
    model.play([{"agent": "orchestrator", "times": "any", "status": 529}])
    stage.given_vision(VISION + "\n## Notes\n- Don't touch the webhook\n")
    with days(stage, clock) as day:
        day.until(at(8.2))
        assert day.records.spending.totals(TODAY, 0).used < 2_500_000_000
        model.play([reads(), plans(fix()), CODES, APPROVES])
        day.until(at(12))
    assert list(stage.states().values()) == ["completed"]
    assert any("the model is away" in line for line in stage.said)


def test_a_home_works_on_one_repository(stage: Stage, clock: ManualClock) -> None:
    with days(stage, clock) as day:
        day.until(at(7.5))
    repository(stage.root / "another", FILES)
    target = stage.home.targets / "site.yaml"
    target.write_text(target.read_text().replace(str(stage.root / "site"), str(stage.root / "another")))
    with pytest.raises(Misconfigured, match="this home has worked on"), days(stage, clock):
        pass


def test_what_the_owner_has_to_mend_is_told_and_tried_ever_more_rarely(
    stage: Stage, clock: ManualClock, model: ScriptedModel
) -> None:
    def unfit(folder: Path, job: EngineJob) -> None:
        raise Misconfigured("there is no engine of a story; type: make setup")

    stage.change = unfit
    with days(stage, clock) as day:
        day.until(at(9.5))
        assert len(stage.jobs) <= 4  # after 10, 20, 40 minutes
        day.until(at(23.2))
    assert "there is no engine of a story" in (stage.home.reports / f"{TODAY}.md").read_text()


def test_a_word_of_the_owner_ends_a_tasks_rest(stage: Stage, clock: ManualClock, model: ScriptedModel) -> None:
    def unfit(folder: Path, job: EngineJob) -> None:
        raise Misconfigured("there is no engine of a story; type: make setup")

    stage.change = unfit
    with days(stage, clock) as day:
        day.until(at(8.1))
        cancel(Arguments("cancel", stage.home.root, id=ID))
        day.tick()
        assert day.records.journal.every_task()[ID].seen_in is State.FAILED


def test_a_phase_that_is_cut_by_a_stop_alarms_nobody(stage: Stage, clock: ManualClock, model: ScriptedModel) -> None:
    """What its model call ends with is our own doing; the next start resumes it."""
    model.play([reads(), {"agent": "planner", "times": "any", "text": "I would rather not."}])

    class Said(list[str]):
        def append(self, line: str) -> None:
            super().append(line)
            day.stop.asked = day.stop.asked or line.startswith("planning ")

    stage.said = Said()
    with days(stage, clock) as day:
        day.until(at(8))
        assert day.after == [("morning", True), ("research", True)]
        assert day.phases()["planning"] == "begun"
    assert not any(line.startswith("planning:") for line in stage.said)
