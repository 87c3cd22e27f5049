"""The next day's planning is asked in the evening, at half price; what has changed until the morning is asked anew."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cli.entry import main
from shared.domain.batching import Batch
from shared.domain.token_budget import as_dollars
from shared.edge.money.ledger_savings import LedgerSavings
from shared.edge.money.pricing import Pricing
from shared.edge.scripted.scripted_model import Recorded, ScriptedModel
from tests.journey.stage import APPROVES, CODES, Stage, goals_of, plans, reads, task

VISION = "# Vision\n\n## Priority: HIGH\n- Set the number of room 0\n- Set the number of room 1\n"
FIRST, SECOND = goals_of(VISION)
FILES = {"room0.py": "NUMBER = 0\n", "room1.py": "NUMBER = 0\n", "tests/test_all.py": "def test(): pass\n"}
EVENING, MORNING = "2026-11-20", "2026-11-21"
AHEAD = "{model: claude-sonnet-5-5, fallback: [claude-opus-5-5], effort: medium, max_tokens: 16000, ahead: true}"
Screen = pytest.CaptureFixture[str]


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel([]) as model:
        yield model


def asks(goal: str, number: int, **more: Any) -> dict[str, Any]:
    """The planner's answer about a goal."""
    return plans(task(goal, f"Set room {number}", (f"room{number}.py",)), when={"user": f"{goal} \\("}, **more)


def stage(root: Path, model: ScriptedModel, ahead: str = AHEAD, **second: Any) -> Stage:
    """One task a day: the second goal is left for tomorrow. `second`: how it is answered."""
    model.play([reads(), asks(FIRST, 0), asks(SECOND, 1, **second), CODES, APPROVES])
    made = Stage(root, model.url).set_up(VISION, FILES)
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


def test_what_was_asked_in_the_evening_is_the_mornings_plan_at_half_price(
    tmp_path: Path, model: ScriptedModel, capsys: Screen
) -> None:
    team = stage(tmp_path, model)
    assert team.run_day() == []
    (sent,) = batches(team)
    assert planned(team, EVENING) == [FIRST] and sent.state == "open"
    next_day(team)
    assert team.run_day("planning") == []
    assert planned(team, MORNING) == [SECOND]
    first, ahead = planner_calls(model)
    assert (first.path, ahead.path) == ("/v1/messages", "/v1/messages/batches"), "and nothing was asked in the morning"
    (used,) = batches(team)
    assert used.used and used.state == "settled"
    assert 0 <= saved(team) - ahead.billed <= 1
    the_book_is_the_bill(team, model)
