"""What is merged is what was asked: a task that the owner rewrites is coded anew."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest

from sisimpur.agents.coder.engine.engine import EngineJob
from sisimpur.cli.terminal.arguments import Arguments
from sisimpur.cli.views.show import show
from sisimpur.shared.model.lifecycle import State
from sisimpur.shared.model.work import Difficulty, Priority, TaskKind, TaskSpec
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.flow.memory_wire import PlayedModel
from tests.flow.stage import FlowStage
from tests.journey.gated import FILES, GOOD, ID, VISION, Coder, fix, suite
from tests.journey.stage import APPROVES, CODES, plans, reads

OTHER = "It must be done without a loop."


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with PlayedModel([reads(), plans(fix()), CODES, APPROVES]) as model:
        yield model


class Rewrites(Coder):
    """While it codes for the first time, the owner writes into the task's file."""

    stage: FlowStage

    def __init__(self, old: str, new: str) -> None:
        super().__init__(GOOD)
        self.old, self.new = old, new
        self.messages: list[str] = []

    def __call__(self, folder: Path, job: EngineJob) -> None:
        super().__call__(folder, job)
        self.messages.append(job.message)
        file = self.stage.home.root / "tasks" / "in_progress" / f"{ID}.md"
        if len(self.messages) == 1:
            assert self.old in file.read_text()
            file.write_text(file.read_text().replace(self.old, self.new, 1))


def rewritten(tmp_path: Path, model: ScriptedModel, old: str, new: str) -> Rewrites:
    coder = Rewrites(old, new)
    coder.stage = FlowStage(tmp_path, model.url, coder, suite).set_up(VISION, FILES)
    assert coder.stage.run_day() == []
    return coder


def test_other_words_are_another_attempt(tmp_path: Path, model: ScriptedModel) -> None:
    coder = rewritten(tmp_path, model, "Fix the sum, please.", OTHER)
    assert coder.stage.states() == {ID: "completed"}
    assert [OTHER in message for message in coder.messages] == [False, True]
    assert any("begun anew" in line for line in coder.stage.said)
    with redirect_stdout(StringIO()) as out:
        assert show(Arguments("show", coder.stage.home.root, id=ID)) == 0
    assert "you have changed its words since it was coded" in out.getvalue()
    assert out.getvalue().count("for other words than the file's") == 1


def test_its_place_in_the_order_is_none_of_its_words(tmp_path: Path, model: ScriptedModel) -> None:
    coder = rewritten(tmp_path, model, 'priority: "high"', 'priority: "low"')
    assert (coder.stage.states(), len(coder.messages)) == ({ID: "completed"}, 1)
    with coder.stage.records() as records:
        spec, known = records.store.read(State.COMPLETED, ID).spec, records.journal.task(ID)
        evidence, reviewed = records.gates.newest(ID)
    assert isinstance(spec, TaskSpec) and known and evidence and reviewed
    assert known.asked == evidence.asked == reviewed.asked == spec.asked
    assert known.is_for(spec.asked) and not known.is_for("other")
    assert replace(known, attempts=(replace(known.attempts[-1], asked=""),)).is_for("other"), "of an earlier version"


CHANGES = {
    "title": "T",
    "description": "D",
    "files": ("b.py",),
    "new_files": ("b.py",),
    "acceptance": ("it works",),
    "guards": ("x/",),
    "changes_tests": ("t.py",),
    "kind": TaskKind.FIX,
    "goal_id": "g2",
}
NO_CHANGES = {"priority": Priority.LOW, "difficulty": Difficulty.HARD, "depends_on": ("a",), "after": ("a",)}


def test_a_change_of_what_is_wanted_or_may_be_touched_is_another_digest() -> None:
    spec = TaskSpec("t", "title", "do it", goal_id="g1", files=("a.py",))
    digests = {replace(spec, **{name: value}).asked for name, value in CHANGES.items()}  # type: ignore[arg-type]
    assert len(digests | {spec.asked}) == len(CHANGES) + 1
    same = [replace(spec, **{name: value}) for name, value in NO_CHANGES.items()]  # type: ignore[arg-type]
    assert {one.asked for one in (*same, replace(spec, description="do\n  it"))} == {spec.asked}
