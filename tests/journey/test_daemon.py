"""The daemon's days: each phase at its time, tasks side by side, and all that may go wrong between two mornings."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from types import MappingProxyType

import pytest

from sisimpur.agents.coder.engine.engine import EngineJob
from sisimpur.agents.orchestrator.board.breaker import Service
from sisimpur.agents.orchestrator.day import Orchestrator
from sisimpur.cli.commands.serving import Life
from sisimpur.cli.terminal.arguments import Arguments
from sisimpur.cli.views.status import status
from sisimpur.cli.wiring.config_watch import ConfigWatch
from sisimpur.cli.wiring.lifetime import Quitting, Stop
from sisimpur.cli.wiring.records import Records, open_records
from sisimpur.cli.wiring.team import open_team
from sisimpur.shared.machine.pressure import Tight
from sisimpur.shared.model.errors import ForgeUnavailable, Replaced
from sisimpur.shared.model.schedule import Wait
from sisimpur.shared.system import lock
from sisimpur.shared.system.clock import ManualClock
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.journey.days import MIDNIGHT, Days, days
from tests.journey.gated import FILES, GOOD, ID, VISION, Coder, fix, suite
from tests.journey.stage import (
    APPROVES,
    CODES,
    ScriptedWorkshop,
    Stage,
    plans,
    reads,
)
from tests.mailbox import Mailbox

TODAY = "2026-11-20"


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel([reads(), plans(fix()), CODES, APPROVES]) as model:
        yield model


@pytest.fixture
def stage(tmp_path: Path, model: ScriptedModel) -> Stage:
    return Stage(tmp_path, model.url, Coder(GOOD), suite).set_up(VISION, FILES)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(at(6))


def at(hour: float, day: int = 0) -> datetime:
    return MIDNIGHT + timedelta(days=day, hours=hour)


# --- the day -------------------------------------------------------------------------------------------------


def test_each_phase_has_its_time(stage: Stage, clock: ManualClock) -> None:
    with days(stage, clock) as day:
        day.until(at(6.9))
        assert day.phases() == {}
        day.until(at(7.7))
        assert day.phases() == {"morning report": "ended", "morning": "ended", "research": "ended"}
        day.until(at(7.9))
        assert day.phases()["planning"] == "ended"
        assert list(stage.states().values()) == ["backlog"]
        day.until(at(8.1))
        assert list(stage.states().values()) == ["completed"]
        assert "wrap_up" not in day.phases()
        day.until(at(23.5))
        assert day.phases()["wrap_up"] == day.phases()["work"] == day.phases()["evening report"] == "ended"
        assert day.after == [(name, True) for name in ("morning", "research", "planning", "wrap_up")]
    assert "1 merged" in (stage.home.reports / f"{TODAY}.md").read_text()


# --- what is away --------------------------------------------------------------------------------------------


def test_a_forge_that_is_away_is_waited_for_and_nothing_is_paid_twice(
    stage: Stage, clock: ManualClock, model: ScriptedModel
) -> None:
    head = stage.home.forge("site") / "HEAD"

    def breaks(folder: Path, job: EngineJob) -> None:
        Coder(GOOD)(folder, job)
        head.rename(head.with_name("away"))

    stage.change = breaks
    with days(stage, clock) as day:
        day.until(at(10))
        assert stage.states() == {ID: "in_progress"}
        head.with_name("away").rename(head)
        day.until(at(20))
    assert stage.states() == {ID: "completed"}
    assert len(stage.jobs) == 1


# --- what it waits for, for whoever asks from outside ----------------------------------------------------------


def waits(day: Days) -> list[tuple[str, datetime | None]]:
    return [(wait.what, wait.until) for wait in day.waits[-1]]


def test_what_is_wrong_is_waited_for_until_it_is_mended(stage: Stage, clock: ManualClock) -> None:
    head = stage.home.forge("site") / "HEAD"

    def breaks(folder: Path, job: EngineJob) -> None:
        Coder(GOOD)(folder, job)
        head.rename(head.with_name("away"))

    stage.change = breaks
    with days(stage, clock) as day:
        day.until(at(8.4))
        (wait,) = day.waits[-1]
        assert (wait.what, bool(wait.why)) == ("trouble", True)
        head.with_name("away").rename(head)
        day.until(at(9))
        assert waits(day) == [("time", at(23))]


def test_while_the_disk_is_full_nothing_new_is_begun_and_the_owner_is_told_once(
    stage: Stage, clock: ManualClock, tmp_path: Path
) -> None:
    stage.services = [mailbox := Mailbox(tmp_path / "mailbox")]
    full = [Tight("disk", 0.93, at(6))]
    with days(stage, clock, tight=lambda: full) as day:
        day.until(at(8.4))
        assert stage.states() == {} and day.phases() == {}
        assert [(wait.what, wait.why) for wait in day.waits[-1]] == [("machine", "the disk is 93% full")]
        full.clear()
        day.until(at(9))
        assert stage.states() == {ID: "completed"}
    told = [message["title"] for message in mailbox.messages() if "machine" in message["title"]]
    assert told == [f"{TODAY}: the machine is nearly full"]


def test_the_evening_comes_on_a_full_disk_too(stage: Stage, clock: ManualClock) -> None:
    full: list[Tight] = []
    with days(stage, clock, tight=lambda: full) as day:
        day.until(at(8.4))
        full.append(Tight("memory", 0.99, at(8)))
        day.until(at(23.5))
        assert day.phases()["wrap_up"] == "ended"


def test_an_outage_is_told_from_its_first_moment_to_its_end(stage: Stage, clock: ManualClock) -> None:
    with (
        stage.records() as records,
        open_team(replace(records, clock=clock), print, make_services=lambda _: []) as team,
    ):
        for minutes in (0, 5):
            clock.set(at(6) + timedelta(minutes=minutes))
            team.working.breaker.away(Service.FORGE, ForgeUnavailable("no answer"))
        until = at(6) + timedelta(minutes=5 + 2)
        assert list(team.working.breaker.waits()) == [Wait("forge", at(6), until, "no answer")]
        team.working.breaker.answers(Service.FORGE)
        assert list(team.working.breaker.waits()) == []


def test_status_says_what_the_daemon_of_another_process_waits_for(
    stage: Stage, model: ScriptedModel, capsys: pytest.CaptureFixture[str]
) -> None:
    model.play([reads(), {"agent": "planner", "times": "any", "status": 529}])
    stop = Stop()
    with a_life(stage, ManualClock(at(9)), stop):
        wait = waited_for(stage, capsys)
        status(Arguments("status", stage.home.root))
        lines = capsys.readouterr().out.splitlines()
        stop.asked = True
    assert (wait["what"], wait["since"][:14], wait["until"][:14]) == ("model", f"{TODAY}T09:", f"{TODAY}T09:")
    assert lines[1].startswith(f"  waits: the model is away since {TODAY} 09:")
    status(Arguments("status", stage.home.root))
    assert "waits: " not in capsys.readouterr().out


def test_a_webhook_that_never_answers_keeps_neither_the_day_nor_the_file_waiting(
    stage: Stage, model: ScriptedModel
) -> None:
    """The whole daemon, with two outlets: what it does is in the file while the other one still hangs."""
    with (stage.home.config / "policy.yaml").open("a") as policy:
        policy.write("events: {file: events.jsonl}\n")
    stop, file = Stop(), stage.home.root / "events.jsonl"
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        secrets = {"EVENTS_WEBHOOK_URL": url, "EVENTS_WEBHOOK_SECRET": "a secret of the owner"}
        with a_life(stage, ManualClock(at(9)), stop, secrets):
            for _ in range(600):
                if '"sisimpur.epoch"' in (file.read_text() if file.exists() else "") and stage.states() == {
                    ID: "completed"
                }:
                    break
                time.sleep(0.05)
            stop.asked = True
    assert stage.states() == {ID: "completed"}
    ids = [json.loads(line)["id"] for line in file.read_text().splitlines()]
    assert ids == [str(number) for number in range(1, len(ids) + 1)]


@contextmanager
def a_life(
    stage: Stage, clock: ManualClock, stop: Stop, environment: Mapping[str, str] = MappingProxyType({})
) -> Iterator[None]:
    """A whole daemon, in a thread of its own, until `stop` is asked."""
    say = stage.said.append

    def team(records: Records, tell: Callable[[str], None], quit_: Quitting) -> AbstractContextManager[Orchestrator]:
        def make(records: Records, *_: object) -> ScriptedWorkshop:
            return ScriptedWorkshop(stage, records.home.meter_socket, lambda: None)

        return open_team(records, tell, make, lambda _: stage.services, quit_, mode="daemon")

    with lock.hold(stage.home.lock) as held, open_records(stage.home.root, environment, clock) as records:
        life = Life(records, held, ConfigWatch(stage.home, environment, say), Quitting(stop), say, 0.02, team)

        def live() -> None:
            with life.lived():
                life.serve()
            records.db.close()

        thread = threading.Thread(target=live)
        thread.start()
        try:
            yield
        finally:
            stop.asked = True
            thread.join()


def waited_for(stage: Stage, capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    """The first outage that `status --json` tells of."""
    for _ in range(600):
        status(Arguments("status", stage.home.root, json=True))
        daemon = json.loads(capsys.readouterr().out)["daemon"]
        if found := [wait for wait in daemon["waits_for"] if wait["what"] != "time"]:
            wait: dict[str, str] = found[0]
            return wait
        time.sleep(0.05)
    raise AssertionError(f"it waits for nothing; it has said: {stage.said}")


# --- what goes wrong -----------------------------------------------------------------------------------------


def test_who_was_replaced_writes_nothing(stage: Stage) -> None:
    """Also without a daemon: somebody has removed the lock's file, and begun a second day."""
    with (
        pytest.raises(Replaced),
        stage.records() as ours,
        open_team(ours, print, make_services=lambda _: []),
    ):
        stage.home.lock.unlink()
        with stage.records() as theirs, open_team(theirs, print, make_services=lambda _: []):
            ours.plans.phase_begins(TODAY, "work", at(9))
    with stage.records() as records:
        assert records.plans.phases_of(TODAY) == {}
