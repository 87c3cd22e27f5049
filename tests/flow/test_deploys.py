"""What merged goes live, and comes back if it is sick: stories with real git, processes, pages; no container."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from threading import Event

import pytest

from sisimpur.cli.commands import owner_commands
from sisimpur.cli.terminal.arguments import Arguments
from sisimpur.shared.forge.forge import REVIEW_CONTEXT
from sisimpur.shared.system.clock import ManualClock
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.flow.memory_wire import PlayedModel
from tests.flow.stage import FlowStage
from tests.journey.days import MIDNIGHT, days
from tests.journey.deployed import Site, book, ends, sick, site
from tests.journey.gated import FILES, GOOD, ID, RIGHT, VISION, Coder, fix, suite
from tests.journey.stage import APPROVES, CODES, Stage, plans, reads

Make = Callable[..., Stage]
BETTER = {**GOOD, "app.py": RIGHT + "# and well\n"}


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with PlayedModel([reads(), plans(fix()), CODES, APPROVES]) as model:
        yield model


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Site]:
    with site(tmp_path) as live:
        yield live


@pytest.fixture
def stage(tmp_path: Path, model: ScriptedModel, live: Site) -> Make:
    def make(*answers: Mapping[str, str], files: Mapping[str, str] = FILES, **more: str) -> Stage:
        day = FlowStage(tmp_path, model.url, Coder(*(answers or (GOOD,))), suite).set_up(VISION, files)
        live.configure(day, **more)
        return day

    return make


def head(day: Stage) -> str:
    return day.forge("rev-parse", "main")


# --- healthy -------------------------------------------------------------------------------------------------


def test_the_same_day_again_deploys_nothing(stage: Make, live: Site) -> None:
    day = stage()
    day.run_day()
    before = live.starts
    assert day.run_day() == [] and live.starts == before


# --- sick ----------------------------------------------------------------------------------------------------


def test_the_coder_is_told_what_was_seen_and_goes_on_from_his_change(stage: Make) -> None:
    day = stage(sick(GOOD), BETTER)
    day.run_day()
    assert "GET / answered 500" in day.jobs[1].message and "rolled back" in day.jobs[1].message
    assert "# sick" in day.change.seen[1]["app.py"]  # type: ignore[attr-defined]


# --- the owner's turn ----------------------------------------------------------------------------------------


def test_a_revert_that_may_not_be_merged_waits_for_the_owner_and_so_does_everything_else(
    stage: Make, live: Site
) -> None:
    """He has said that nothing is merged without him."""
    day = stage(sick(GOOD), BETTER)
    day.given_config("policy", merge="{auto: false}")
    day.run_day()
    approve(day)
    assert day.run_day() == []
    bad = next(deploy for deploy in book(day) if deploy.broke)
    assert [pull.state for pull in day.pulls() if pull.number == bad.reverts] == ["open"]
    assert day.states() == {ID: "backlog"} and len(day.jobs) == 1
    before = live.starts
    assert day.run_day() == [] and live.starts == before, "nothing new is deployed, and the task waits"
    merge(day, bad.reverts)
    assert day.run_day() == []
    assert len(day.jobs) == 2 and day.states() == {ID: "in_review"}
    assert live.runs("staging") == head(day) != bad.commit


def test_the_owner_may_close_the_revert_and_the_task_goes_on_from_there(stage: Make, live: Site) -> None:
    day = stage(sick(GOOD), BETTER)
    day.given_config("policy", merge="{auto: false}")
    day.run_day()
    approve(day)
    day.run_day()
    bad = next(deploy for deploy in book(day) if deploy.broke)
    with day.records() as records:
        forge = records.forge()
        assert forge
        forge.close(bad.reverts)
    day.run_day()
    approve(day)
    assert day.run_day() == []
    assert live.runs("production") == head(day) and day.forge("show", "main:app.py") == BETTER["app.py"].strip()


def test_without_a_version_that_was_healthy_nobody_guesses(stage: Make, live: Site) -> None:
    day = stage(files={**FILES, "app.py": sick(FILES)["app.py"]})
    day.run_day(until="planning")
    day.run_day()
    assert ends(day)[0] == "staging stuck"
    assert paused(day).startswith("staging is not healthy: ")
    assert len(live.starts) == 1, "nothing else is begun before the owner has looked"


def test_what_the_owner_has_forgiven_is_not_held_against_it_again(stage: Make, live: Site) -> None:
    """A kill came between the pause and the end of what leads to one; the owner was faster than the next start."""
    day = stage(places="production")
    (live.live / "broken").touch()
    day.run_day()
    with day.records() as records:
        records.deploys.resume(records.clock.now())
        with records.db.transaction() as db:
            db.execute("update deploys set settled = 0")
    (live.live / "broken").unlink()
    assert day.run_day() == []
    assert live.runs("production") == head(day) and not paused(day)


# --- orders --------------------------------------------------------------------------------------------------


def test_an_order_is_carried_out_once_and_may_name_an_older_commit(stage: Make, live: Site) -> None:
    day = stage(places="production")
    day.run_day()
    first = book(day)[0].commit
    with day.records() as records:
        records.deploys.pause("to look at it", records.clock.now())
        for _ in range(2):
            records.deploys.order("production", first, records.clock.now())
    assert day.run_day() == []
    assert live.runs("production") == first
    assert [deploy.commit for deploy in book(day) if deploy.asked] == [first]


# --- what is away --------------------------------------------------------------------------------------------


def test_what_runs_deployments_being_away_is_told_and_is_no_commits_fault(stage: Make, live: Site) -> None:
    day = stage(places="production")
    (live.live / "away").touch()
    (problem,) = day.run_day()
    assert "production.running" in problem and "nobody knows" in problem
    assert day.states() == {ID: "completed"} and ends(day) == ["production saved"]
    (live.live / "away").unlink()
    assert day.run_day() == []
    assert live.runs("production") == head(day)


# --- by the daemon -------------------------------------------------------------------------------------------


def test_a_changed_configuration_does_not_wait_for_what_is_watched(stage: Make, live: Site) -> None:
    day, changed = stage(places="production"), Event()

    class Watched(ManualClock):
        """Whoever waits for the next look finds that the configuration was changed meanwhile."""

        def sleep(self, seconds: float) -> None:
            if seconds == 1 and not changed.is_set():
                changed.set()
                with daemon.daemon.session.lock as lock:
                    lock.wake()
                assert daemon.daemon.session.leaving.wait(60)
            super().sleep(seconds)

    clock = Watched(MIDNIGHT)
    with days(day, clock, lambda: "reload" if changed.is_set() else None) as daemon:
        daemon.until(at(1))
        assert daemon.end == "reload"
    assert ends(day) == ["production started"]
    with days(day, clock) as daemon:
        daemon.until(at(2))
    assert ends(day) == ["production healthy"] and len(live.starts) == 1


def test_status_says_what_deploys_wait_for(stage: Make, live: Site) -> None:
    day, clock = stage(places="production"), ManualClock(MIDNIGHT)
    (live.live / "away").touch()
    with days(day, clock) as daemon:
        daemon.until(at(6.9))
        assert [wait.what for wait in daemon.waits[-1]] == ["deploys"]
        (live.live / "away").unlink()
        daemon.until(at(7.5))
        assert "deploys" not in [wait.what for wait in daemon.waits[-1]]
    assert live.runs("production")


# --- helpers -------------------------------------------------------------------------------------------------


def at(hour: float) -> datetime:
    return MIDNIGHT + timedelta(hours=hour)


def paused(day: Stage) -> str:
    with day.records() as records:
        found = records.deploys.paused()
        return found.why if found else ""


def approve(day: Stage) -> None:
    assert owner_commands.approve(Arguments("approve", day.home.root, id=ID)) == 0


def merge(day: Stage, number: int) -> None:
    """The owner does it at the forge."""
    with day.records() as records:
        forge = records.forge()
        assert forge
        pull = forge.get_pull(number)
        forge.set_status(pull.head_sha, REVIEW_CONTEXT, "success", "mine")
        forge.merge(number, pull.head_sha)
