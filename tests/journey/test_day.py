"""A working day, from VISION.md to pull requests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sisimpur.agents.coder.engine.engine import EngineJob, EngineRun, nothing_happened
from sisimpur.shared.model.errors import Refused
from sisimpur.shared.sandbox.box import find_box
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.journey.stage import APPROVES, CODES, KEY, VISION, Stage, goals_of, mends, plans, reads, task


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel([reads(), CODES, APPROVES]) as model:
        yield model


@pytest.fixture
def stage(tmp_path: Path, model: ScriptedModel) -> Stage:
    return Stage(tmp_path, model.url).set_up()


def plays(model: ScriptedModel, *tasks: dict[str, object], **reading: object) -> None:
    model.play([reads(**reading), plans(*tasks), CODES, APPROVES])  # type: ignore[arg-type]


SUM = goals_of(VISION)[0]


def test_a_goal_becomes_a_pull_request(stage: Stage, model: ScriptedModel) -> None:
    plays(model, task(SUM))
    assert stage.run_day() == []
    (pull,) = stage.pulls()
    assert stage.states() == {"20261120-01": "in_review"}
    assert pull.head == "agent/20261120-01-fix-the-sum"
    assert "fix: fix the sum" in stage.forge("log", "-1", "--format=%s", pull.head_sha)
    assert "+# changed" in stage.forge("show", pull.head_sha)
    assert stage.forge("rev-parse", f"{pull.head_sha}^") == stage.forge("rev-parse", "main")


def test_without_a_sandbox_nothing_is_executed_and_the_refusal_says_what_to_type(
    stage: Stage, model: ScriptedModel, tmp_path: Path
) -> None:
    plays(model, task(SUM))
    (problem,) = stage.run_day(sandbox=lambda: find_box(tmp_path, search=str(tmp_path)))  # a PATH without bwrap
    assert "no working sandbox" in problem and "bubblewrap" in problem
    assert list(stage.states().values()) == ["backlog"]
    assert stage.pulls() == []


def test_the_key_is_nowhere_but_in_its_file(stage: Stage, model: ScriptedModel) -> None:
    plays(model, task(SUM))
    stage.run_day()
    assert KEY.encode() not in stage.everything_written()
    assert {request.headers.get("x-api-key") or request.headers.get("authorization") for request in model.requests} == {
        f"Bearer {KEY}"
    }


def test_an_engine_that_is_stuck_is_told_and_its_task_begun_again_without_a_try_less(
    stage: Stage, model: ScriptedModel
) -> None:
    def stuck_once(folder: Path, job: EngineJob) -> EngineRun | None:
        if len(stage.engines[-1].jobs) == 1:
            return EngineRun("stalled", nothing_happened(job), (), "", job.stall)
        mends(folder, job)
        return None

    plays(model, task(SUM))
    stage.change = stuck_once
    assert stage.run_day() == []
    with stage.records() as records:
        tries = [(row["round"], row["outcome"]) for row in records.db.rows("select * from attempts order by number")]
    assert tries == [(0, "lost"), (0, "ok")]
    assert sum("nothing happened for 60 seconds: no output, no file, no model call" in line for line in stage.said) == 1


def test_a_forge_that_is_away_costs_no_second_run(stage: Stage, model: ScriptedModel) -> None:
    """The commit stands: the next start only delivers it."""
    plays(model, task(SUM))
    stage.run_day(until="planning")
    head = stage.home.forge("site") / "HEAD"

    def mends_while_the_forge_breaks(folder: Path, job: EngineJob) -> None:
        mends(folder, job)
        head.rename(head.with_name("away"))

    stage.change = mends_while_the_forge_breaks
    stage.run_day()
    (id_,) = stage.states()
    assert stage.states() == {id_: "in_progress"}
    assert any("not delivered: " in line for line in stage.said)
    calls = len(model.requests)
    head.with_name("away").rename(head)
    stage.run_day()
    assert stage.states() == {id_: "in_review"}
    assert len(model.requests) == calls + 1  # the review


def test_a_branch_that_somebody_else_moved_fails_this_task_and_no_other(stage: Stage, model: ScriptedModel) -> None:
    plays(model, task(SUM), task(SUM, "Then the readme", ["README.md"]))
    stage.run_day(until="planning")
    first = min(stage.states())
    stage.forge("branch", f"agent/{first}-fix-the-sum", "main")
    stage.forge(
        "update-ref", f"refs/heads/agent/{first}-fix-the-sum", stage.forge("commit-tree", "main^{tree}", "-m", "x")
    )
    stage.run_day()
    assert stage.states() == {first: "failed", first.replace("-01", "-02"): "in_review"}
    assert "somebody else moved it" in stage.note(first)


def test_a_folder_of_ours_that_is_a_link_is_refused_before_anything_is_emptied(stage: Stage, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "keep").write_text("mine")
    stage.home.work.rmdir()
    stage.home.work.symlink_to(victim)
    with pytest.raises(Refused, match=r"work is no folder of ours"):
        stage.run_day()
    assert (victim / "keep").read_text() == "mine"
