"""What went wrong stands in the day's report, by cause and with whose turn it is; and how the weeks differ."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from sisimpur.agents.coder.engine.engine import EngineJob, EngineRun, never
from sisimpur.cli.commands import owner_commands
from sisimpur.cli.terminal.arguments import Arguments
from sisimpur.cli.wiring.records import Records
from sisimpur.shared.model.errors import BrokenSetup, Misconfigured, Refused
from sisimpur.shared.sandbox.box import refusal
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.flow.memory_wire import PlayedModel
from tests.flow.stage import FlowStage
from tests.journey.gated import BAD, FILES, GOOD, ID, VISION, Coder, fix, suite
from tests.journey.stage import APPROVES, CODES, Engine, ScriptedWorkshop, Stage, goals_of, plans, reads, task
from tests.mailbox import Mailbox

DAY, HOURS = "2026-11-20", 3600.0  # a Friday
SECOND, THIRD = "20261120-02", "20261120-03"
NO_ENVIRONMENT = "the tests of site have no environment: `pip install` ended with exit code 1\nmend `setup:`"


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with PlayedModel([reads(), plans(fix()), CODES, APPROVES]) as model:
        yield model


@pytest.fixture
def stage(tmp_path: Path, model: ScriptedModel) -> Stage:
    stage = FlowStage(tmp_path, model.url, Coder(GOOD), suite).set_up(VISION, {**FILES, "slow.py": "Z = 1\n"})
    stage.services.append(Mailbox(tmp_path / "box"))
    return stage


def how_it_goes(stage: Stage, day: str = DAY) -> list[str]:
    """The lines of the section; none: there is no such section."""
    text = (stage.home.reports / f"{day}.md").read_text()
    return text.partition("## How it goes\n\n")[2].partition("\n\n")[0].splitlines()


def message(stage: Stage, day: str = DAY) -> str:
    found = next(one for one in Mailbox(stage.root / "box").messages() if one["key"] == f"{day}:day")
    return str(found["sections"].get("How it goes", ""))


class Slow(Engine):
    """An engine whose time is up whenever the task is about slow.py."""

    def run(self, job: EngineJob, stop: Callable[[], bool] = never) -> EngineRun:
        done = super().run(job, stop)
        is_slow = "slow.py" in job.edit
        return replace(done, end="timed out", detail="ended after 600 seconds, the limit of a run") if is_slow else done


class SlowWorkshop(ScriptedWorkshop):
    def engine(self) -> Engine:
        self.stage.engines.append(Slow(self.socket, self.stage.change, self.stage.way))
        return self.stage.engines[-1]


def run_slowly(stage: Stage) -> list[str]:
    def make(records: Records, *_: object) -> SlowWorkshop:
        return SlowWorkshop(stage, records.home.meter_socket, lambda: None)

    with (
        stage.records() as records,
        stage.open_team(records, stage.said.append, make, lambda _: stage.services) as team,
    ):
        team.run_day()
        return team.problems


def each(**coders: Coder) -> Callable[[Path, EngineJob], None]:
    """Another coder for each task, by the first file that it is about."""
    return lambda folder, job: coders[job.edit[0].partition(".")[0]](folder, job)


# --- one day -----------------------------------------------------------------------------------------------------


def test_a_day_names_what_was_mended_what_is_not_clear_and_what_is_too_large(
    stage: Stage, model: ScriptedModel
) -> None:
    """Red tests that were corrected, a change beyond the task twice, an engine whose time is up."""
    stage.given_config("policy", attempts="{failed: 2}")
    vision = f"{VISION}- Set Y in other.py\n- Be faster in slow.py\n"
    _, second, third = goals_of(vision)
    stage.given_vision(vision)
    tasks = fix(), task(second, "Set Y", ["other.py"]), task(third, "Be faster", ["slow.py"])
    model.play([reads(), plans(*tasks), CODES, APPROVES])
    stage.change = each(
        app=Coder(BAD, GOOD), other=Coder({"other.py": "Y = 2\n", "settings.py": "X = 2\n"}), slow=Coder({})
    )
    assert run_slowly(stage) == []
    assert stage.states() == {ID: "completed", SECOND: "failed", THIRD: "failed"}
    lines = how_it_goes(stage)
    assert lines[:3] == [
        f"- implementation: `{ID}` (mended)",
        f"- specification → the planner's turn, or yours: `{SECOND}` (given up)",
        f"- time limit → the planner's turn: smaller tasks: `{THIRD}` (given up)",
    ]
    assert lines[3] == "- merged 1 of 3 tasks this week, 1 of 3 this month"
    assert lines[4].startswith("- per merged task (of 1) sent back 1.0 times, $0.0")
    assert message(stage) == lines[3]


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        pytest.param(BrokenSetup(NO_ENVIRONMENT), "have no environment", id="not installed"),
        pytest.param(
            Refused("'lib': a submodule: not supported"), "cannot be laid out: 'lib': a sub", id="a submodule"
        ),
    ],
)
def test_tests_that_cannot_be_installed_are_the_owners_to_mend(stage: Stage, problem: Exception, said: str) -> None:
    def tests(_: Mapping[str, str]) -> Mapping[str, str]:
        raise problem

    stage.tests = tests
    assert said in stage.run_day()[0]
    assert stage.states() == {ID: "backlog"}
    assert stage.jobs == [], "nobody is paid for what nobody can test"
    assert how_it_goes(stage) == [f"- environment → your turn: `{ID}`"]
    assert message(stage) == ""


def test_what_the_base_cannot_show_is_coded_as_soon_as_it_can(stage: Stage) -> None:
    """A runner that crashes on the base is as good as none; `setup:` mended, the next look begins by itself."""
    stage.crashes = True
    (problem,) = stage.run_day()
    assert "the tests do not run on the base: " in problem and "in config/targets, or write `test: none`" in problem
    assert stage.jobs == [] and stage.states() == {ID: "backlog"}
    stage.crashes = False
    assert stage.run_day() == [] and stage.states() == {ID: "completed"}


def test_no_sandbox_is_named_once_for_all_tasks(stage: Stage) -> None:
    def sandbox() -> None:
        raise Misconfigured(refusal("bubblewrap", "not here"))

    assert "no working sandbox" in stage.run_day(sandbox=sandbox)[0]
    assert how_it_goes(stage) == ["- environment → your turn: all tasks"]


def test_a_full_disk_is_no_fault_of_the_task(stage: Stage) -> None:
    def full(_folder: Path, _job: EngineJob) -> None:
        raise OSError(28, "No space left on device")

    stage.change = full
    stage.run_day()
    assert stage.states() == {ID: "backlog"}
    assert how_it_goes(stage) == ["- environment → your turn: all tasks"]


def test_a_task_that_has_used_its_minutes_is_too_large(stage: Stage) -> None:
    coder = Coder(BAD)

    def slowly(folder: Path, job: EngineJob) -> None:
        stage.clock.sleep(120)
        coder(folder, job)

    stage.change = slowly
    stage.given_config("policy", attempts="{minutes: 1}")
    stage.run_day()
    assert "attempts.minutes" in stage.note(ID)
    assert how_it_goes(stage)[0] == f"- time limit → the planner's turn: smaller tasks: `{ID}` (given up)"


def test_the_same_test_red_once_more_is_the_coders(stage: Stage) -> None:
    stage.change = Coder(BAD)
    stage.run_day()
    assert how_it_goes(stage) == [
        f"- implementation → the coder's turn: `{ID}` (given up)",
        "- merged 0 of 1 tasks this week, 0 of 1 this month",
    ]


def test_a_test_that_fails_now_and_then_is_qas(stage: Stage) -> None:
    """The new test fails, and passes when everything is run again; then it is written better."""
    runs: list[str] = []

    def tests(files: Mapping[str, str]) -> Mapping[str, str]:
        found = suite(files)
        if "# shaky" in files["app.py"] and "test_sum" in files["tests/test_app.py"]:
            runs.append("")
            found["tests/test_app.py::test_sum"] = "failed" if len(runs) == 1 else "passed"
        return found

    stage.tests = tests
    stage.change = Coder({**GOOD, "app.py": f"{GOOD['app.py']}# shaky\n"}, GOOD)
    assert stage.run_day() == []
    assert stage.states() == {ID: "completed"}
    assert how_it_goes(stage)[0] == f"- flaky test: `{ID}` (mended)"


def test_what_the_owner_rejects_was_not_what_he_wanted(stage: Stage, model: ScriptedModel) -> None:
    files = ("app.py", "tests/test_app.py", "settings.py")
    model.play([reads(), plans(task(fix()["goal_id"], "Set it", files)), CODES, APPROVES])
    stage.change = Coder({**GOOD, "settings.py": "X = 2\n"})
    stage.run_day()
    assert how_it_goes(stage) == [], "what waits for the owner has not failed"
    assert owner_commands.reject(Arguments("reject", stage.home.root, id=ID, why="not so")) == 0
    stage.run_day()
    assert how_it_goes(stage) == [
        f"- specification: `{ID}` (rejected)",
        "- merged 0 of 1 tasks this week, 0 of 1 this month",
    ]


def test_a_good_day_has_no_failure_and_its_figures_are_those_of_the_books(stage: Stage) -> None:
    assert stage.run_day() == []
    merged, figures = how_it_goes(stage)
    assert merged == "- merged 1 of 1 tasks this week, 1 of 1 this month"
    with stage.records() as records:
        used, cost = records.spending.used_by([ID])[ID].tokens, records.spending.spent_by(ID).used
        shares = records.spending.breakdown(DAY)
    everything = sum(one.tokens_in + one.tokens_out for one in shares)
    engines = sum(one.tokens_in + one.tokens_out for one in shares if one.agent == "coder")
    assert 0 < engines < everything
    assert f"{used:,} tokens; {100 * (everything - engines) / everything:.0f} % of the week's tokens" in figures
    assert (told := re.search(r"\$(\d+\.\d{4})", figures)) and float(told[1]) == pytest.approx(cost / 1e9, abs=1e-4)


def test_an_idle_day_before_anything_was_done_has_no_such_section(stage: Stage) -> None:
    stage.given_vision("# Vision\n")
    stage.run_day()
    assert how_it_goes(stage) == [] and message(stage) == ""


# --- weeks -------------------------------------------------------------------------------------------------------


def test_the_second_week_is_compared_with_the_first_which_stays_as_it_was(stage: Stage) -> None:
    stage.change = Coder(BAD, BAD, GOOD)
    stage.run_day()
    assert how_it_goes(stage)[-1] == "- merged 0 of 1 tasks this week, 0 of 1 this month"
    stage.clock.sleep(3 * 24 * HOURS)
    assert owner_commands.retry(Arguments("retry", stage.home.root, id=ID, why="add the two")) == 0
    assert stage.run_day() == []
    monday = how_it_goes(stage, "2026-11-23")
    assert monday[0] == "- merged 1 of 1 tasks this week (↑ from 0 of 1), 1 of 1 this month"
    assert "sent back 2.0 times" in monday[1]
    assert message(stage, "2026-11-23") == monday[0]
    stage.clock.sleep(24 * HOURS)
    stage.given_vision("# Vision\n")
    stage.run_day()
    assert how_it_goes(stage, "2026-11-24")[0] == monday[0], "an idle day of that week says the same"
    stage.clock.sleep(7 * 24 * HOURS)
    stage.run_day()
    assert how_it_goes(stage, "2026-12-01") == [], "a week without work has no figures"


def test_a_report_that_is_written_the_next_morning_tells_of_its_own_day(stage: Stage) -> None:
    """It was cut off before its evening: what failed later is not in it."""
    stage.change = Coder(BAD, GOOD)
    stage.run_day(until="work")
    stage.clock.sleep(24 * HOURS)
    stage.run_day(until="morning")
    assert how_it_goes(stage)[:2] == [
        f"- implementation: `{ID}` (mended)",
        "- merged 1 of 1 tasks this week, 1 of 1 this month",
    ]
    stage.run_day()
    assert [line for line in how_it_goes(stage, "2026-11-21") if "implementation" in line] == []
