"""The next day's planning is asked in the evening, at half price; what has changed until the morning is asked anew."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cli.entry import main
from shared.domain.batching import ENOUGH, ONE_IN, Batch
from shared.domain.batching import Stage as Life
from shared.domain.lesson import Lesson
from shared.domain.routing import number_of
from shared.domain.ticket import Ending, Reservation, TicketOrder
from shared.domain.token_budget import Ask, Rates, amount, as_dollars
from shared.domain.work import Run
from shared.edge.clock import ManualClock
from shared.edge.engine.engine import EngineJob
from shared.edge.money.ledger_savings import LedgerSavings
from shared.edge.money.pricing import Pricing
from shared.edge.scripted.scripted_model import Recorded, ScriptedModel
from tests.journey.days import MIDNIGHT, days
from tests.journey.planned_ahead import outcomes, sets
from tests.journey.stage import APPROVES, CODES, Stage, goals_of, plans, reads, task
from tests.killing import EVERY_POINT, finishes, killed_at, points

VISION = "# Vision\n\n## Priority: HIGH\n- Set the number of room 0\n- Set the number of room 1\n"
FIRST, SECOND = goals_of(VISION)
FILES = {"room0.py": "NUMBER = 0\n", "room1.py": "NUMBER = 0\n", "tests/test_all.py": "def test(): pass\n"}
PLAIN, BATCHES = "/v1/messages", "/v1/messages/batches"
EVENING, MORNING = "2026-11-20", "2026-11-21"
NIGHT = datetime(2026, 11, 19, 23, tzinfo=UTC)
AHEAD = "{model: claude-sonnet-5-5, fallback: [claude-opus-5-5], effort: medium, max_tokens: 16000, ahead: true}"
Screen = pytest.CaptureFixture[str]


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel([]) as model:
        yield model


def asks(goal: str, number: int, **more: Any) -> dict[str, Any]:
    """The planner's answer about a goal."""
    files = {"files": (f"room{number}.py",), "new_files": [f"tests/test_room{number}.py"]}
    return plans(task(goal, f"Set room {number}", **files), when={"user": f"{goal} \\("}, **more)


def stage(root: Path, model: ScriptedModel, ahead: str = AHEAD, **second: Any) -> Stage:
    """One task a day: the second goal is left for tomorrow. `second`: how it is answered."""
    model.play([reads(), asks(FIRST, 0), asks(SECOND, 1, **second), CODES, APPROVES])
    made = Stage(root, model.url, sets, outcomes).set_up(VISION, FILES)
    made.given_config("agents", planner=ahead)
    made.given_config("policy", capacity="{parallel: 1, tasks_per_day: 1}")
    return made


def next_day(stage: Stage) -> None:
    """A quarter of an hour later than today."""
    stage.clock.sleep(24 * 3600 + 900)


def planner_calls(model: ScriptedModel) -> list[Recorded]:
    return [one for one in model.requests if "You are the Planner" in str(one.body["system"])]


def batches(stage: Stage, day: str = MORNING) -> tuple[Batch, ...]:
    with stage.records() as records:
        return records.ledger.batches_of(day)


def planned(stage: Stage, day: str) -> list[str]:
    with stage.records() as records:
        plan = records.plans.plan(day)
        return [one.goal_id for one in plan.tasks] if plan else []


def saved(stage: Stage) -> int:
    with stage.records() as records:
        return LedgerSavings(records.db, Pricing()).total("2026-11").batches


def the_book_is_the_bill(stage: Stage, model: ScriptedModel) -> None:
    with stage.records() as records:
        totals = records.ledger.totals("2026", 0)
    assert (totals.spent, totals.reserved, totals.lost) == (model.billed, 0, 0)


def typed(stage: Stage, screen: Screen, *words: str) -> str:
    screen.readouterr()
    assert main(["--home", str(stage.home.root), *words]) == 0
    return screen.readouterr().out


# --- an evening and a morning --------------------------------------------------------------------------------


def test_what_was_asked_in_the_evening_is_the_mornings_plan_at_half_price(
    tmp_path: Path, model: ScriptedModel, capsys: Screen
) -> None:
    team = stage(tmp_path, model)
    assert team.run_day() == []
    (sent,) = batches(team)
    assert planned(team, EVENING) == [FIRST] and sent.stage is Life.SENT
    next_day(team)
    assert team.run_day("planning") == []
    assert planned(team, MORNING) == [SECOND]
    first, ahead = planner_calls(model)
    assert (first.path, ahead.path) == (PLAIN, BATCHES), "and nothing was asked in the morning"
    assert batches(team)[0].used and batches(team)[0].state == "settled"
    assert 0 <= ahead.billed - saved(team) <= 1, "exactly half"
    the_book_is_the_bill(team, model)
    days = {one["day"]: one for one in json.loads(typed(team, capsys, "budget", "--json"))}
    assert days[EVENING]["savings"]["batches"] == as_dollars(saved(team))
    assert MORNING not in days or days[MORNING]["by_agent"] == {}, "the morning has cost nothing"
    assert "2026-11: planning ahead saved $0.0" in typed(team, capsys, "budget")
    team.run_day()
    assert set(team.states().values()) == {"completed"}
    assert "planning ahead saved $0.0" in (team.home.reports / f"{MORNING}.md").read_text()


def test_what_the_planner_has_learned_is_asked_with_it_and_used_once(tmp_path: Path, model: ScriptedModel) -> None:
    team = stage(tmp_path, model)
    lesson = Lesson(0, "planner", "Rooms have two digits.", keywords=("number", "room"), files=("room1.py",))
    with team.records() as records:
        records.memory.learn(lesson, NIGHT)
    team.run_day()
    assert uses(team) == [f"plan-{EVENING}"]
    next_day(team)
    assert team.run_day("planning") == []
    assert [one.path for one in planner_calls(model)] == [PLAIN, BATCHES] and uses(team)[1:] == [f"plan-{MORNING}"]
    assert "two digits" in str(planner_calls(model)[1].body["messages"])


def uses(stage: Stage) -> list[str]:
    with stage.records() as records:
        return [row["task"] for row in records.db.rows("select task from lesson_uses order by task")]


def test_whoever_edits_his_vision_in_the_morning_is_asked_about_anew_and_hears_what_it_cost(
    tmp_path: Path, model: ScriptedModel, capsys: Screen
) -> None:
    team = stage(tmp_path, model)
    team.run_day()
    team.given_vision(VISION.replace("room 1", "room 1, soon"))
    next_day(team)
    assert team.run_day("planning") == []
    assert [one.path for one in planner_calls(model)] == [PLAIN, BATCHES, PLAIN]
    assert planned(team, MORNING) == [SECOND] and batches(team)[0].used is False
    assert saved(team) == -planner_calls(model)[1].billed < 0
    the_book_is_the_bill(team, model)
    assert "2026-11: planning ahead cost $0.0" in typed(team, capsys, "budget")


def test_a_commit_of_the_owner_makes_another_question(tmp_path: Path, model: ScriptedModel) -> None:
    team = stage(tmp_path, model)
    team.run_day()
    team.owner_commits({"room1.py": "NUMBER = 0  # of the room\n\n\ndef number():\n    return NUMBER\n"})
    next_day(team)
    assert team.run_day("planning") == []
    assert [one.path for one in planner_calls(model)] == [PLAIN, BATCHES, PLAIN]
    assert batches(team)[0].used is False and planned(team, MORNING) == [SECOND]


def test_what_is_not_answered_in_the_morning_is_cancelled_and_asked_directly(
    tmp_path: Path, model: ScriptedModel
) -> None:
    team = stage(tmp_path, model, batch={"looks": 5})
    team.run_day()
    next_day(team)
    assert team.run_day("planning") == []
    assert [one.path for one in planner_calls(model)] == [PLAIN, BATCHES, PLAIN]
    assert planned(team, MORNING) == [SECOND] and batches(team)[0].stage is Life.SENT, "reserved until it has ended"
    team.run_day()
    assert batches(team)[0].stage is Life.VOID and saved(team) == 0
    the_book_is_the_bill(team, model)


@pytest.mark.parametrize(
    ("second", "life", "lost"),
    [
        pytest.param({"batch": {"ends": "errored"}}, Life.VOID, False, id="errored"),
        pytest.param({"batch": {"ends": "expired"}}, Life.VOID, False, id="expired"),
        pytest.param({"call": 1, "times": 1, "status": 429}, Life.VOID, False, id="refused"),
        pytest.param({"call": 1, "times": 1, "status": 529}, Life.LOST, True, id="busy"),
        pytest.param({"call": 1, "times": 1, "drop": "before"}, Life.LOST, True, id="broken off"),
        pytest.param({"call": 1, "times": 1, "stop_reason": "max_tokens"}, Life.COLLECTED, True, id="cut"),
        pytest.param({"call": 1, "times": 1, "text": "no"}, Life.COLLECTED, True, id="not what was asked for"),
    ],
)
def test_whatever_comes_of_it_the_morning_has_its_plan(
    tmp_path: Path, model: ScriptedModel, second: Mapping[str, Any], life: Life, lost: bool
) -> None:
    """The first answer about the second goal is the evening's."""
    team = stage(tmp_path, model)
    good, when = asks(SECOND, 1), {"when": {"user": f"{SECOND} \\("}}
    said = {"json": good["json"]} if "stop_reason" in second else {}
    evening = {"agent": "planner", **when, **said, **second} if "call" in second else {**good, **second}
    model.play([reads(), asks(FIRST, 0), evening, *([good] if "call" in second else []), CODES, APPROVES])
    assert team.run_day() == []
    next_day(team)
    assert team.run_day("planning") == []
    assert planned(team, MORNING) == [SECOND]
    assert batches(team)[0].stage is life and (saved(team) < 0) == lost
    with team.records() as records:
        assert records.ledger.totals("2026", 0).used >= model.billed


def test_a_bug_of_ours_in_it_is_told_and_the_day_is_planned_all_the_same(tmp_path: Path, model: ScriptedModel) -> None:
    team = stage(tmp_path, model)
    team.run_day()
    with team.records() as records, records.db.transaction() as db:
        db.execute("update batches set rates = 'what nobody has written'")
    next_day(team)
    assert team.run_day("planning") == []
    assert planned(team, MORNING) == [SECOND] and [one.path for one in planner_calls(model)] == [PLAIN, BATCHES, PLAIN]
    assert "planning ahead: a bug of ours (JSONDecodeError)" in " ".join(team.said)


def test_budget_shows_what_waits_and_the_doctor_what_it_needs(
    tmp_path: Path, model: ScriptedModel, capsys: Screen
) -> None:
    team = stage(tmp_path, model)
    team.run_day()
    (sent,) = batches(team)
    assert f"asked ahead for {MORNING}: waits, at most ${amount(sent.reserved)}" in typed(team, capsys, "budget")
    main(["--home", str(team.home.root), "doctor", "--json"])
    found = {one["name"]: one for one in json.loads(capsys.readouterr().out)}
    assert found["planner.ahead"]["ok"] and "the daemon at 23:00" in found["planner.ahead"]["detail"]
    next_day(team)
    team.run_day("planning")
    assert "asked ahead" not in typed(team, capsys, "budget")


def test_a_daemon_asks_in_the_evening_and_plans_from_that_in_the_morning(tmp_path: Path, model: ScriptedModel) -> None:
    team = stage(tmp_path, model)
    with days(team, ManualClock(MIDNIGHT)) as life:
        life.until(MIDNIGHT.replace(hour=22))
        assert [one.path for one in planner_calls(model)] == [PLAIN]
        life.until(MIDNIGHT.replace(hour=23, minute=30))
        assert [one.path for one in planner_calls(model)] == [PLAIN, BATCHES]
        life.until(MIDNIGHT.replace(day=21, hour=12))
    assert planned(team, MORNING) == [SECOND] and len(planner_calls(model)) == 2
    assert set(team.states().values()) == {"completed"} and saved(team) > 0
    said = " ".join(team.said)
    assert "tomorrow's planning is asked ahead" in said and "planning ahead: it is answered, at half price" in said


# --- when nothing is sent ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ahead", "vision", "meanwhile"),
    [
        pytest.param(AHEAD.replace("true", "false"), VISION, lambda _: None, id="it is not wanted"),
        pytest.param(AHEAD, VISION.rpartition("- ")[0], lambda _: None, id="nothing waits"),
        pytest.param(AHEAD, VISION, lambda team: team.given_vision(f"{VISION}- More\n"), id="edited during the day"),
        pytest.param(
            AHEAD,
            VISION,
            lambda team: team.given_config("policy", budget="{task: 0.001, day: 0.001, month: 9}"),
            id="no money is left",
        ),
    ],
)
def test_nothing_is_sent_where_it_would_be_in_vain(
    tmp_path: Path, model: ScriptedModel, ahead: str, vision: str, meanwhile: Callable[[Stage], None]
) -> None:
    team = stage(tmp_path, model, ahead)
    team.given_vision(vision)

    def change(folder: Path, job: EngineJob) -> None:
        sets(folder, job)
        meanwhile(team)

    team.change = change
    team.run_day()
    assert [one.path for one in planner_calls(model)] == [PLAIN] and batches(team) == ()


def test_an_evening_that_is_repeated_sends_nothing_twice(tmp_path: Path, model: ScriptedModel) -> None:
    team = stage(tmp_path, model)
    team.run_day()
    team.owner_commits({"room1.py": "NUMBER = 0\n\n\ndef number():\n    return NUMBER\n"})
    team.run_day()
    assert [one.path for one in planner_calls(model)] == [PLAIN, BATCHES]


def test_after_eight_nights_in_vain_it_rests_but_for_one_night_in_ten(tmp_path: Path, model: ScriptedModel) -> None:
    team = stage(tmp_path, model)
    with team.records() as records:
        run = Run(1, "planner", EVENING)
        order = TicketOrder(run, 10**9, ("claude-sonnet-5-5",), NIGHT + timedelta(hours=1), max_calls=100, batches=True)
        ticket = records.ledger.ticket(records.ledger.open_ticket(order, NIGHT))
        assert ticket
        for night in range(ENOUGH):
            ask = Ask("claude-sonnet-5-5", Rates(1, 1, 1, 1, 1), "v", 1_000, 1_000, batched=True)
            call = records.ledger.reserve(ticket, ask, records.settings.policy.budget.caps, NIGHT, key=f"night{night}")
            assert isinstance(call, Reservation) and records.ledger.settle(call, 1_000, Ending(), NIGHT)
        records.ledger.batches_unused(EVENING)
    team.run_day()
    assert number_of(MORNING) % ONE_IN != 0 and batches(team) == (), "it rests"


# --- kills ---------------------------------------------------------------------------------------------------


def scene(root: Path, model: ScriptedModel) -> tuple[Stage, list[str], list[str]]:
    """The stage, and the programs of its first day and of the next morning."""
    root.mkdir()
    made = stage(root, model)
    argv = [sys.executable, "-m", "tests.journey.planned_ahead", str(root), model.url]
    model.requests.clear()
    return made, [*argv, "0"], [*argv, "1", "planning"]


def check(team: Stage, model: ScriptedModel, died: str) -> None:
    """One batch at most, one plan, and a book that is not below the bill."""
    (ahead,) = [one.path for one in planner_calls(model) if one.path == BATCHES] or [BATCHES]
    with team.records() as records:
        totals = records.ledger.totals("2026", 0)
        states = records.db.rows("select state from calls where state = 'open'")
    assert ahead == BATCHES and planned(team, MORNING) == [SECOND], died
    assert totals.used >= model.billed and states == [], died
    assert totals.lost or totals.spent == model.billed, died
    assert [one.used for one in batches(team)] != [None], died


@pytest.mark.slow
def test_a_kill_in_the_evening_sends_nothing_twice_and_the_morning_has_its_plan(
    tmp_path: Path, model: ScriptedModel
) -> None:
    team, evening, morning = scene(tmp_path / "clean", model)
    passed = points(evening)
    first = passed.index("ahead.ready")
    assert {"llm.reserve", "batch.sent", "batch.taken", "batch.acknowledged", "ahead.sent"} <= {*passed[first:]}
    finishes(morning)
    check(team, model, "a clean run")
    every = range(first, len(passed) + 1)
    for number in every if EVERY_POINT else every[2::8]:
        team, evening, morning = scene(tmp_path / str(number), model)
        died = killed_at(number, evening)[-1]
        finishes(evening)
        finishes(morning)
        check(team, model, died)


@pytest.mark.slow
def test_a_kill_in_the_morning_pays_nothing_twice(tmp_path: Path, model: ScriptedModel) -> None:
    team, evening, morning = scene(tmp_path / "clean", model)
    finishes(evening)
    passed = points(morning)
    first, last = passed.index("batch.told"), passed.index("batch.used") + 3
    assert {"batch.settled", "reply.understood", "reply.kept"} <= {*passed[first:last]}
    every = range(first - 1, last + 1)
    for number in every if EVERY_POINT else every[2::9]:
        team, evening, morning = scene(tmp_path / str(number), model)
        finishes(evening)
        died = killed_at(number, morning)[-1]
        finishes(morning)
        check(team, model, died)
        assert [one.path for one in planner_calls(model)] == [PLAIN, BATCHES], died
        assert batches(team)[0].used and saved(team) > 0, died
