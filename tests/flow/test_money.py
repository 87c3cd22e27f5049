"""The owner's word about money: a day that may cost more, a lost call that was not billed, and where both are told."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from sisimpur.cli.app import main
from sisimpur.cli.commands.day import Glance
from sisimpur.cli.wiring.records import Records, open_records
from sisimpur.shared.model.work import Run
from sisimpur.shared.money.ledger import OwnerAdjustments
from sisimpur.shared.money.ticket import CallEnding, Reservation, Ticket, TicketOrder
from sisimpur.shared.money.token_budget import NANO, Ask, Rates, Refusal, as_dollars, dollars
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.flow.memory_wire import PlayedModel
from tests.flow.stage import FlowStage
from tests.journey.gated import FILES, GOOD, ID, VISION, Coder, fix, suite
from tests.journey.stage import APPROVES, CODES, Stage, plans, reads

DAY = "2026-11-20"
Screen = pytest.CaptureFixture[str]


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with PlayedModel([reads(), plans(fix()), CODES, APPROVES]) as model:
        yield model


@pytest.fixture
def stage(tmp_path: Path, model: ScriptedModel) -> Stage:
    """A day that merges one change."""
    return FlowStage(tmp_path, model.url, Coder(GOOD), suite).set_up(VISION, FILES)


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


def spend_all(stage: Stage) -> None:
    """Now, in calls of a dollar, until a cap refuses one."""
    with open_records(stage.home.root, {}) as records:
        while isinstance(reservation := call(records, "1"), Reservation):
            records.ledger.settle(reservation, NANO, CallEnding(), records.clock.now())


def status(stage: Stage, screen: Screen) -> dict[str, Any]:
    screen.readouterr()
    assert typed(stage, "status", "--json") == 0
    found: dict[str, Any] = json.loads(screen.readouterr().out)
    return found


# --- raise-cap -----------------------------------------------------------------------------------------------


def test_a_cap_that_is_reached_is_told_with_the_command_that_helps_and_it_does(stage: Stage, capsys: Screen) -> None:
    stage.given_config("policy", budget="{task: 2, day: 5, month: 12}")
    spend_all(stage)
    for cap, answer in (("5", "10.00"), ("10", "12.00")):
        seen = status(stage, capsys)
        assert seen["today"] == {
            "cap": f"{cap}.000000000",
            "spent": f"{cap}.000000000",
            "reserved": "0.000000000",
            "lost": "0.000000000",
        }
        (asked,) = seen["answers"]
        assert asked["text"] == "today's cap is reached; to go on now, type:"
        assert shlex.split(asked["command"])[-2:] == ["raise-cap", answer]
        assert typed(stage, *shlex.split(asked["command"])[-2:], "--why", "a release\n tonight") == 0
        assert f"may cost up to ${answer} (${cap}.00 used so far)" in capsys.readouterr().out
        assert status(stage, capsys)["answers"] == []
        spend_all(stage)
    (asked,) = status(stage, capsys)["answers"]
    assert "the month's cap has no room for more" in asked["text"]
    assert typed(stage, "budget") == 0
    assert "may cost $12.00 instead of $5.00, by your word: a release tonight" in capsys.readouterr().out
    assert typed(stage, "budget", "--json") == 0
    assert json.loads(capsys.readouterr().out)[-1]["cap"] == "12.000000000"
    with open_records(stage.home.root, {}) as records:
        assert Glance(records).line().endswith("$12.00 of $12.00 today")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(("4.99",), "a day may cost $5.00 anyway", id="below the policy"),
        pytest.param(("12.01",), "a whole month may cost $12.00", id="above the month"),
        pytest.param(("ten",), "'ten' is not an amount of dollars; write one like 5.00", id="no amount"),
        pytest.param(("1e3",), "is not an amount", id="an exponent"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(stage: Stage, capsys: Screen, words: tuple[str, ...], said: str) -> None:
    stage.given_config("policy", budget="{task: 2, day: 5, month: 12}")
    capsys.readouterr()
    assert typed(stage, "raise-cap", *words) == 1
    problem = capsys.readouterr().err
    assert said in problem and problem.count("\n") == 1


def report_of(stage: Stage) -> str:
    return (stage.home.reports / f"{DAY}.md").read_text()


def stopped_by_its_cap(stage: Stage, until: str = "") -> None:
    """A planned day with half a cent left."""
    stage.given_config("policy", budget="{task: 2, day: 2, month: 10}")
    stage.run_day(until="planning")
    with stage.records() as records:
        left = records.spending.totals(DAY, dollars("2"))
        assert isinstance(call(records, as_dollars(left.cap - left.used - dollars("0.005"))), Reservation)
    stage.run_day(until)
    assert stage.states() == {ID: "backlog"}


def test_a_day_that_its_cap_has_stopped_goes_on_when_it_is_raised(stage: Stage) -> None:
    stopped_by_its_cap(stage)
    report = report_of(stage)
    assert "- today's cap is reached; 1 task waits for tomorrow; to go on now, type: `" in report
    assert " raise-cap 4.00`" in report
    with stage.records() as records:
        policy = records.settings.policy.budget.caps
        assert OwnerAdjustments(records.db).raise_cap(dollars("4"), policy, "", stage.clock.now()) == DAY
    stage.run_day()
    assert stage.states() == {ID: "completed"}
    report = report_of(stage)
    assert " of $4.00 spent" in report and "cap is reached" not in report
    assert "today's cap is $4.00" in stage.home.daily_plan.read_text()
    assert "of $4.00." in stage.home.progress.read_text()


def test_of_a_day_that_is_over_no_cap_can_be_raised(stage: Stage) -> None:
    """It was cut off before its evening; its report is written on the next morning."""
    stopped_by_its_cap(stage, until="work")
    stage.clock.sleep(86_400)
    stage.run_day(until="morning")
    assert "- the cap of this day was reached; 1 task waits for the next day\n" in report_of(stage)
    assert "raise-cap" not in report_of(stage)


# --- write-off -----------------------------------------------------------------------------------------------


@pytest.fixture
def lost(stage: Stage) -> int:
    """The number of a call that was cut."""
    with open_records(stage.home.root, {}) as records:
        reservation = call(records, "1", ID)
        assert isinstance(reservation, Reservation)
        records.ledger.lost(reservation, NANO, None, CallEnding(code="meter_cut"), records.clock.now())
    return reservation.id


def test_a_lost_call_is_listed_with_its_number_and_written_off_with_a_reason(
    stage: Stage, lost: int, capsys: Screen
) -> None:
    assert typed(stage, "budget") == 0
    shown = capsys.readouterr().out
    assert "Calls of this month that were lost" in shown and f" {lost} " in shown
    assert " write-off NUMBER --why TEXT" in shown
    assert typed(stage, "write-off", str(lost), "--amount", "0.25", "--why", "the bill says 0.25") == 0
    assert capsys.readouterr().out == f"call {lost}: booked at $0.25 (before: $1.00)\n"
    assert typed(stage, "budget", "--json") == 0
    day = json.loads(capsys.readouterr().out)[-1]
    (one,) = day["lost_calls"]
    assert (day["lost"], one["amount"]) == ("0.250000000", "0.250000000")
    assert (one["number"], one["task"], one["written_off"]) == (lost, ID, "the bill says 0.25")
    assert typed(stage, "write-off", str(lost), "--why", "refunded") == 0
    assert typed(stage, "write-off", str(lost), "--why", "refunded") == 0
    assert capsys.readouterr().out.endswith(f"call {lost}: booked at $0.0000 (as before)\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(("--amount", "1.01", "--why", "dearer"), "is booked at less already", id="more than is booked"),
        pytest.param(("--why", "  "), "--why TEXT", id="without a reason"),
        pytest.param(("--amount", "-1", "--why", "x"), "", id="less than nothing"),
    ],
)
def test_a_write_off_that_cannot_be_changes_nothing(
    stage: Stage, lost: int, capsys: Screen, words: tuple[str, ...], said: str
) -> None:
    try:
        code = typed(stage, "write-off", str(lost), *words)
    except SystemExit as wrong_usage:
        code = int(str(wrong_usage.code))
    assert code in (1, 2)
    assert said in capsys.readouterr().err
    with open_records(stage.home.root, {}) as records:
        assert [one.amount for one in records.spending.lost_calls()] == [NANO]


def test_an_unknown_call_is_not_written_off(stage: Stage, capsys: Screen) -> None:
    assert typed(stage, "write-off", "77", "--why", "x") == 1
    assert "there is no call 77; the lost ones stand with their numbers in: " in capsys.readouterr().err
