"""The owner's word about money: a day that may cost more, a lost call that was not billed, and where both are told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from sisimpur.cli.app import main
from sisimpur.cli.wiring.records import Records, open_records
from sisimpur.shared.model.work import Run
from sisimpur.shared.money.ticket import CallEnding, Reservation, Ticket, TicketOrder
from sisimpur.shared.money.token_budget import NANO, Ask, Rates, Refusal, dollars
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.journey.gated import FILES, GOOD, ID, VISION, Coder, fix, suite
from tests.journey.stage import APPROVES, CODES, Stage, plans, reads

DAY = "2026-11-20"
Screen = pytest.CaptureFixture[str]


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel([reads(), plans(fix()), CODES, APPROVES]) as model:
        yield model


@pytest.fixture
def stage(tmp_path: Path, model: ScriptedModel) -> Stage:
    """A day that merges one change."""
    return Stage(tmp_path, model.url, Coder(GOOD), suite).set_up(VISION, FILES)


def typed(stage: Stage, *words: str) -> int:
    return main(["--home", str(stage.home.root), *words])


def ticket_of(records: Records, task: str) -> Ticket:
    now = records.clock.now()
    order = TicketOrder(Run(1, "coder", "", task, 1), 10**12, ("m",), now + timedelta(days=1), 10**6, 1)
    found = records.ledger.ticket(records.ledger.open_ticket(order, now))
    assert found
    return found


def call(records: Records, amount: str, task: str = "") -> Reservation | Refusal:
    """One that may cost so much, and is still open."""
    worst = Ask("m", Rates(1, 1, 1, 1, 1), "v", dollars(amount), 0, may_clamp=False)
    return records.ledger.reserve(
        ticket_of(records, task), worst, records.settings.policy.budget.caps, records.clock.now()
    )


# --- a home of an earlier version ----------------------------------------------------------------------------


def test_a_home_that_asked_ahead_goes_on_without(stage: Stage, capsys: Screen) -> None:
    """What it has reserved for an answer that nobody fetches any more is lost at its worst case."""
    stage.given_config("agents", planner="{model: claude-sonnet-5-5, ahead: true}")
    with stage.records() as records:
        reservation = call(records, "0.25")
        assert isinstance(reservation, Reservation)
        with records.db.transaction() as db:
            db.execute("update tickets set batches = 1")
            sent = (reservation.id, "key", DAY, 0, "[2000, 2500, 4000, 100, 10000]", "msgbatch_1")
            db.execute(
                "insert into batches (call, key, day, hour_cache, rates, vendor) values (?, ?, ?, ?, ?, ?)", sent
            )
    assert stage.run_day() == [] and stage.states() == {ID: "completed"}
    capsys.readouterr()
    assert typed(stage, "budget", "--json") == 0
    (day,) = (day for day in json.loads(capsys.readouterr().out) if day["day"] == DAY)
    assert (day["reserved"], day["lost"]) == ("0.000000000", "0.250000000")
    assert [lost["number"] for lost in day["lost_calls"]] == [reservation.id]
    assert day["savings"].keys() == {"caching", "routing"}


# --- write-off -----------------------------------------------------------------------------------------------


@pytest.fixture
def lost(stage: Stage) -> int:
    """The number of a call that was cut."""
    with open_records(stage.home.root, {}) as records:
        reservation = call(records, "1", ID)
        assert isinstance(reservation, Reservation)
        records.ledger.lost(reservation, NANO, None, CallEnding(code="meter_cut"), records.clock.now())
    return reservation.id
