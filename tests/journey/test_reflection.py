"""What went wrong stands in the day's report, by cause and with whose turn it is; and how the weeks differ."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.journey.gated import FILES, GOOD, ID, VISION, Coder, fix, suite
from tests.journey.stage import APPROVES, CODES, Stage, plans, reads
from tests.mailbox import Mailbox

DAY, HOURS = "2026-11-20", 3600.0  # a Friday


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel([reads(), plans(fix()), CODES, APPROVES]) as model:
        yield model


@pytest.fixture
def stage(tmp_path: Path, model: ScriptedModel) -> Stage:
    stage = Stage(tmp_path, model.url, Coder(GOOD), suite).set_up(VISION, {**FILES, "slow.py": "Z = 1\n"})
    stage.services.append(Mailbox(tmp_path / "box"))
    return stage


def how_it_goes(stage: Stage, day: str = DAY) -> list[str]:
    """The lines of the section; none: there is no such section."""
    text = (stage.home.reports / f"{day}.md").read_text()
    return text.partition("## How it goes\n\n")[2].partition("\n\n")[0].splitlines()


# --- one day -----------------------------------------------------------------------------------------------------


def test_a_forge_that_takes_no_branch_is_the_owners_to_mend(stage: Stage) -> None:
    stage.run_day(until="planning")
    hook = stage.home.forge("site") / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o700)
    stage.run_day()
    assert stage.note(ID).startswith("the forge does not take ")
    assert how_it_goes(stage)[0] == f"- environment → your turn: `{ID}` (given up)"
