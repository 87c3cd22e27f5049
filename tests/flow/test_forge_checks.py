"""What others check at the forge counts: red or missing is never merged, and what has not ended is waited for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from functools import partial
from io import StringIO
from pathlib import Path

import pytest

from sisimpur.cli.commands import owner_commands
from sisimpur.cli.terminal.arguments import Arguments
from sisimpur.shared.forge.forge import CheckResult, CommitChecks
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.flow.memory_wire import PlayedModel
from tests.flow.stage import FlowStage, MemoryForge, open_core
from tests.journey.gated import FILES, GOOD, ID, VISION, Coder, fix, suite
from tests.journey.stage import APPROVES, CODES, plans, reads

Told = Sequence[dict[str, CheckResult]]


def forge_saying(told: Told) -> type[MemoryForge]:
    """A forge whose CI says these, one after the other each time that it is asked; the last one stays."""
    left = list(told)

    class Checked(MemoryForge):
        def checks(self, sha: str) -> CommitChecks:
            now = left.pop(0) if len(left) > 1 else left[0]
            with self._book.transaction() as db:
                db.execute("delete from status where sha = ? and context not like 'agents/%'", (sha,))
            for name, result in now.items():
                self.set_status(sha, name, result)
            return super().checks(sha)

    return Checked


@pytest.fixture
def day(tmp_path: Path) -> Iterator[Callable[..., FlowStage]]:
    with PlayedModel([reads(), plans(fix()), CODES, APPROVES]) as model:
        assert isinstance(model, ScriptedModel)

        def make(*told: dict[str, CheckResult], target: str = "") -> FlowStage:
            stage = FlowStage(tmp_path, model.url, Coder(GOOD), suite).set_up(VISION, FILES)
            file = stage.home.targets / "site.yaml"
            file.write_text(f"{file.read_text()}\n{target}\n")
            stage.open_team = partial(open_core, forge=forge_saying(told))
            stage.run_day()
            return stage

        yield make


def merged(stage: FlowStage) -> bool:
    return [pull.state for pull in stage.pulls()] == ["merged"]


def parked(stage: FlowStage) -> tuple[str, ...]:
    with stage.records() as records:
        found = records.gates.parked(ID)
        return found.reasons if found else ()


def test_a_red_check_is_never_merged_not_even_by_approval_and_the_owner_is_told(day: Callable[..., FlowStage]) -> None:
    stage = day({"ci": "failure", "lint": "success"})
    assert (stage.states(), merged(stage)) == ({ID: "in_review"}, False)
    (told,) = parked(stage)
    assert "ci" in told and "lint" not in told and "ignore_checks" in told
    with redirect_stdout(StringIO()):
        assert owner_commands.approve(Arguments("approve", stage.home.root, id=ID)) == 0
    stage.run_day("work")
    assert not merged(stage)


def test_what_is_run_again_and_green_then_is_merged(day: Callable[..., FlowStage]) -> None:
    stage = day({"ci": "failure"}, {"ci": "success"})
    assert not merged(stage)
    stage.run_day()
    assert merged(stage)


def test_what_has_not_ended_is_waited_for(day: Callable[..., FlowStage]) -> None:
    stage = day({"ci": "pending"}, {"ci": "pending"}, {"ci": "success"})
    assert merged(stage)
    assert sum("waits for ci at the forge" in line for line in stage.said) == 1


@pytest.mark.parametrize("last", [{"ci": "pending"}, {}], ids=["never ends", "disappears"])
def test_what_does_not_come_to_an_end_is_the_owners_after_an_hour(
    day: Callable[..., FlowStage], last: dict[str, CheckResult]
) -> None:
    stage = day({"ci": "pending"}, last)
    assert stage.states() == {ID: "in_review"}
    assert "an hour" in parked(stage)[0] and "ci" in parked(stage)[0]


def test_what_counts_for_nothing_is_the_owners_written_word(day: Callable[..., FlowStage]) -> None:
    assert merged(day({"codecov/patch": "failure", "ci": "success"}, target="ignore_checks: [codecov/*]"))
