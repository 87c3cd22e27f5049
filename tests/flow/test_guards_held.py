"""A note's guard holds although no model answers; what a model alone made of one merges nothing that day.

On 2cd3bc6, the commit before: `assert 'app.py' in set()` (no guard while no model answered), and no reason among those
that a change was parked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from sisimpur.cli.commands import owner_commands
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.flow.memory_wire import PlayedModel
from tests.flow.stage import FlowStage
from tests.flow.test_gates import typed
from tests.journey.stage import APPROVES, CODES, HOLDS, VISION, Stage, goals_of, plans, reads, task

SUM = goals_of(VISION)[0]


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with PlayedModel([reads(), plans(task(SUM)), CODES, APPROVES]) as model:
        yield model


@pytest.fixture
def stage(tmp_path: Path, model: ScriptedModel) -> Stage:
    stage = FlowStage(tmp_path, model.url).set_up()
    stage.tests = lambda files: {"tests/test_app.py::test_sum": "passed" if "changed" in files["app.py"] else "failed"}
    return stage


def guards(stage: Stage) -> set[str]:
    with stage.records() as records:
        accepted = records.plans.accepted()
        return {pattern for guard in (accepted.guards if accepted else ()) for pattern in guard.patterns}


def newest_report(stage: Stage) -> str:
    return max((stage.home.root / "reports" / "daily").glob("*.md")).read_text()


def test_a_note_guards_what_it_names_although_no_model_answers(stage: Stage, model: ScriptedModel) -> None:
    stage.run_day(until="planning")
    stage.given_vision(f"{VISION}\n## Notes\n- app.py-তে হাত দেবেন না\n")
    model.play([{"agent": "orchestrator", "times": "any", "text": "no JSON"}, plans(task(SUM)), CODES, APPROVES])
    assert stage.run_day()
    assert "app.py" in guards(stage)
    assert [pull for pull in stage.pulls() if pull.state == "merged"] == []
    assert "app.py" in stage.note(*stage.states())


def test_what_a_model_alone_made_of_a_note_merges_nothing_by_itself_that_day(
    stage: Stage, model: ScriptedModel
) -> None:
    stage.given_vision(f"{VISION}\n## Notes\n- Don't touch the cellar\n")
    model.play([reads([{"line": 7, "patterns": ["README.md"]}]), plans(task(SUM)), CODES, APPROVES])
    stage.run_day()
    (id_,) = stage.states()
    assert stage.states() == {id_: "in_review"}
    with stage.records() as records:
        parked = records.gates.parked(id_)
    assert parked and any('a model alone read your note "Don\'t touch the cellar"' in why for why in parked.reasons)
    assert "`README.md` (new guard, only a model found it)" in stage.home.daily_plan.read_text()
    model.play([reads(), CODES, APPROVES])
    stage.given_vision(f"{VISION}\n## Notes\n- The site is fast\n")
    stage.clock.sleep(timedelta(days=1).total_seconds())
    stage.run_day()
    with stage.records() as records:
        parked = records.gates.parked(id_)
    assert "Don't touch the cellar → `README.md` (no longer guarded" in stage.home.daily_plan.read_text()
    assert "The site is fast (VISION.md, line 7: a wish, protects nothing)" in newest_report(stage)
    assert not parked or not any("a model alone" in why for why in parked.reasons)


def test_what_a_model_alone_made_of_a_note_is_asked_once(stage: Stage, model: ScriptedModel) -> None:
    """The owner approves the first change beside it; the second one of that day is not held for it, too."""
    stage.given_vision(f"{VISION}\n## Notes\n- Don't touch the cellar\n")
    second = task(SUM, "Then the readme", ["README.md"], depends_on=["Fix the sum"])
    read = reads([{"line": 7, "patterns": ["webhook.py"]}])
    model.play([read, plans(task(SUM), second), CODES, APPROVES, HOLDS])
    stage.run_day()
    first, last = sorted(stage.states())
    typed(stage, owner_commands.approve, id=first)
    stage.run_day()
    assert stage.states() == {first: "completed", last: "in_review"}, "this stage's repository has no tests"
    with stage.records() as records:
        asked = {id_: "a model alone" in str(one.reasons) for id_, one in records.gates.parked_since("").items()}
        assert asked == {first: True, last: False}
        assert [guard.patterns for guard in records.plans.guards()] == [("webhook.py",)], "it holds all the same"
