"""What tests need is installed beside planning and coding, not after them."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

from sisimpur.cli.wiring.forge import open_code
from sisimpur.cli.wiring.workshop import BoxWorkshop
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.journey.stage import APPROVES, CODES, VISION, Stage, git, goals_of, plans, reads, task

SOON = 20.0  # seconds


def test_it_begins_when_the_planner_is_asked_and_not_on_a_day_without_a_goal(tmp_path: Path) -> None:
    with ScriptedModel([reads(), plans(task(goals_of(VISION)[0])), CODES, APPROVES]) as model:
        stage = Stage(tmp_path, model.url).set_up("# Vision\n")
        first = git(tmp_path / "site", "rev-parse", "main")
        assert stage.run_day() == [] and stage.prepared == []
        stage.given_vision(VISION)
        assert stage.run_day() == [] and stage.prepared == [first]


def test_it_ends_with_the_workshop_and_leaves_nothing(tmp_path: Path) -> None:
    said: list[str] = []
    stage = Stage(tmp_path, "http://127.0.0.1:1").set_up()
    with (stage.home.config / "targets" / "site.yaml").open("a") as file:
        file.write("setup: sleep 600\n")
    with stage.records() as records, closing(open_code(records.home, records.settings, records.clock, print)) as code:
        workshop = BoxWorkshop(records, said.append)
        workshop.prepare(code.mirror, code.sync())
        latest = time.monotonic() + SOON
        while not any("sleep 600" in line for line in said):
            assert time.monotonic() < latest
            time.sleep(0.01)
        workshop.close()
        assert time.monotonic() < latest
        assert [path.name for path in stage.home.environments.iterdir()] == [".lock"]
