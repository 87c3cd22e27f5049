"""A cheaper model tries easy tasks first while that pays, and the owner is told what it saved."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from sisimpur.agents.coder.engine.engine import EngineJob
from sisimpur.cli.app import main
from sisimpur.shared.model.lifecycle import State
from sisimpur.shared.money.pricing import Pricing
from sisimpur.shared.money.savings import ENOUGH, ONE_IN, cached, number_of
from sisimpur.shared.money.token_budget import TokenUsage
from sisimpur.shared.system.clock import ManualClock
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.flow.memory_wire import PlayedModel
from tests.flow.stage import FlowStage
from tests.journey.days import MIDNIGHT, days
from tests.journey.gated import FILES as SUM_FILES
from tests.journey.gated import GOOD, Coder, fix, suite
from tests.journey.looked_up import PAGE, QUOTE, answers, looks, with_web
from tests.journey.looked_up import VISION as ASKED
from tests.journey.stage import APPROVES, CODES, MORNING, Stage, goals_of, plans, reads, task

DEAR, CHEAP = "claude-sonnet-5-5", "claude-haiku-5-5"
BOTH = f"{{model: {DEAR}, easy: {CHEAP}, effort: medium, max_tokens: 16000}}"
DAY = "2026-11-20"
NONE = dict.fromkeys(("caching", "routing"), "0.000000000")
Screen = pytest.CaptureFixture[str]


def vision(count: int) -> str:
    goals = "".join(f"- Set the number of room {n}\n" for n in range(count))
    return f"# Vision\n\n## Priority: HIGH\n{goals}"


def files(count: int) -> dict[str, str]:
    return {f"room{n}.py": "NUMBER = 0\n" for n in range(count)} | {"tests/test_all.py": "def test(): pass\n"}


def outcomes(found: Mapping[str, str]) -> dict[str, str]:
    """Each room has a test of its own: its number is set, or it is not."""
    rooms = (path for path in found if path.startswith("tests/test_room"))
    right = {path: "NUMBER = 1\n" in found[path.removeprefix("tests/test_")] for path in rooms}
    every = {f"{path}::test": "passed" if is_right else "failed" for path, is_right in right.items()}
    return {"tests/test_all.py::test": "passed", **every}


def room(number: int, goal: str, **more: Any) -> dict[str, Any]:
    return task(goal, f"Set room {number}", (f"room{number}.py",), new_files=[f"tests/test_room{number}.py"], **more)


class Rooms:
    """Sets numbers; wrong at the first try in the rooms that a story names."""

    def __init__(self, *wrong: int) -> None:
        self.wrong = {f"room{number}.py" for number in wrong}

    def __call__(self, folder: Path, job: EngineJob) -> None:
        path = next(path for path in job.edit if path.startswith("room"))
        (folder / path).write_text("NUMBER = 2\n" if path in self.wrong else "NUMBER = 1\n")
        self.wrong.discard(path)
        test = folder / f"tests/test_{path}"
        test.write_text(f"def test():\n    assert {path[:-3]}.NUMBER == 1\n")


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with PlayedModel([]) as model:
        yield model


def stage(root: Path, model: ScriptedModel, count: int, *wrong: int, coder: str = BOTH, **more: Any) -> Stage:
    """A day with so many rooms."""
    goals = goals_of(vision(count))
    model.play([reads(), plans(*(room(n, goal, **more) for n, goal in enumerate(goals))), CODES, APPROVES])
    made = FlowStage(root, model.url, Rooms(*wrong), outcomes).set_up(vision(count), files(count))
    made.given_config("agents", coder=coder)
    made.given_config("policy", capacity="{parallel: 1, tasks_per_day: 20, open_pulls: 20}")
    return made


def models(stage: Stage) -> list[str]:
    """That engines were given, in order."""
    return [job.model.model for job in stage.jobs]


def ids(count: int) -> list[str]:
    return [f"20261120-{number:02d}" for number in range(1, count + 1)]


def typed(stage: Stage, screen: Screen, *words: str) -> str:
    screen.readouterr()
    assert main(["--home", str(stage.home.root), *words]) == 0
    return screen.readouterr().out


def savings_of_day(stage: Stage, screen: Screen) -> dict[str, str]:
    days = json.loads(typed(stage, screen, "budget", "--json"))
    found: dict[str, str] = next(one["savings"] for one in days if one["day"] == DAY)
    return found


def tickets(stage: Stage, task: str) -> list[tuple[str, ...]]:
    """The models that each run of the coder could ask, of those that came to something."""
    with stage.records() as records:
        rows = records.db.rows(
            "select t.models from tickets t join attempts a on a.task = t.task and a.number = t.attempt"
            " where t.agent = 'coder' and t.task = ? and a.outcome not in ('lost', 'void') order by t.id",
            (task,),
        )
    return [tuple(json.loads(row["models"])) for row in rows]


# --- a day ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("coder", "difficulty"),
    [
        pytest.param(f"{{model: {DEAR}, effort: medium, max_tokens: 16000}}", "easy", id="no cheap model is named"),
        pytest.param(BOTH, "medium", id="no easy task"),
        pytest.param(BOTH, "hard", id="a hard task"),
    ],
)
def test_everything_else_is_the_dear_models(
    tmp_path: Path, model: ScriptedModel, capsys: Screen, coder: str, difficulty: str
) -> None:
    day = stage(tmp_path, model, 2, coder=coder, difficulty=difficulty)
    assert day.run_day() == []
    assert models(day) == [DEAR, DEAR]
    assert "saved" not in typed(day, capsys, "budget")
    assert "the cheaper model" not in (day.home.reports / f"{DAY}.md").read_text()


def test_after_eight_failures_the_cheap_model_rests_but_for_one_task_in_ten(
    tmp_path: Path, model: ScriptedModel, capsys: Screen
) -> None:
    count = 11
    day = stage(tmp_path, model, count, *range(count))
    assert day.run_day() == []
    assert set(day.states().values()) == {"completed"}
    first = [tickets(day, id_)[0] for id_ in ids(count)]
    rest = [(CHEAP,) if number_of(id_) % ONE_IN == 0 else (DEAR,) for id_ in ids(count)[ENOUGH:]]
    assert first == [(CHEAP,)] * ENOUGH + rest and {*rest} == {(CHEAP,), (DEAR,)}
    assert all(tickets(day, id_)[1] == (DEAR,) for id_ in ids(count))
    assert "the cheaper model on easy tasks cost $0.00" in typed(day, capsys, "budget")
    assert savings_of_day(day, capsys)["routing"].startswith("-0.00")


def test_a_task_that_the_owner_wants_again_is_no_first_try(tmp_path: Path, model: ScriptedModel) -> None:
    day = stage(tmp_path, model, 1)
    day.run_day()
    with day.records() as records:
        records.store.move(ids(1)[0], State.COMPLETED, State.BACKLOG)
    day.change = Rooms(0)
    day.run_day()
    assert models(day)[:2] == [CHEAP, DEAR]


# --- prompt caching ------------------------------------------------------------------------------------------


def test_the_turns_of_a_question_read_what_the_ones_before_have_written(
    tmp_path: Path, model: ScriptedModel, capsys: Screen
) -> None:
    text = f"{QUOTE}. " + "A session store in memory is fast and small, and it forgets what it holds. " * 90
    pages = [{**PAGE, "url": f"{PAGE['url']}/{n}", "text": text} for n in range(8)]
    model.play([reads(), plans(fix()), looks(1, 2), looks(3), answers(), CODES, APPROVES])
    day = with_web(FlowStage(tmp_path, model.url, Coder(GOOD), suite).set_up(ASKED, SUM_FILES), *pages)
    assert day.run_day() == []
    asked = [one for one in model.requests if "You are the Researcher" in str(one.body["system"])]
    counts = [(one.usage["cache_creation_input_tokens"], one.usage["cache_read_input_tokens"]) for one in asked]
    assert len(counts) == 3
    for (written, read), (_, next_read) in itertools.pairwise(counts):
        assert next_read == written + read > 0
    others = [one for one in model.requests if one not in asked]
    assert not any("cache_control" in json.dumps(one.body) for one in others), "what is asked once carries no mark"

    rates = Pricing().rates(DEAR, 1, MORNING)
    saved = sum(cached(rates, TokenUsage(write_5m=written, read=read)) for written, read in counts)
    assert saved > 0 and savings_of_day(day, capsys) == {**NONE, "caching": f"0.{saved:09d}"}
    words = f"prompt caching saved $0.{saved // 100_000:04d}"
    assert f"2026-11: {words}\n" in typed(day, capsys, "budget")
    assert f"- in this month, {words}\n" in (day.home.reports / f"{DAY}.md").read_text()
    with day.records() as records:
        assert records.spending.totals(DAY, 0).spent == model.billed, "the book is the vendor's bill"


# --- settings ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("coder", "said"),
    [
        pytest.param(
            f"{{model: {DEAR}, easy: {DEAR}}}", "easy names the same model; name a cheaper one", id="the same model"
        ),
        pytest.param(f"{{model: {DEAR}, easy: nobody-1}}", "no price is known for model nobody-1", id="no price"),
    ],
)
def test_a_cheap_model_that_cannot_be_is_told_before_anything_is_done(
    tmp_path: Path, model: ScriptedModel, capsys: Screen, coder: str, said: str
) -> None:
    day = stage(tmp_path, model, 1)
    day.given_config("agents", coder=coder)
    assert main(["--home", str(day.home.root), "run-day"]) == 1
    problem = capsys.readouterr().err
    assert "config/agents.yaml" in problem and said in problem and problem.count("\n") == 1
    assert model.requests == []


# --- kills ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "error"), [(400, "invalid_request_error"), (404, "not_found_error")], ids=["refused", "unknown"]
)
def test_a_cheap_model_that_the_vendor_does_not_take_keeps_nobody_from_working(
    tmp_path: Path, model: ScriptedModel, status: int, error: str
) -> None:
    goals = goals_of(vision(2))
    answer = {"status": status, "error": {"type": error, "message": "not for you"}}
    refusal = {"agent": "coder", "when": {"model": "haiku"}, "times": "any", **answer}
    day = stage(tmp_path, model, 2)
    model.play([reads(), plans(*(room(n, goal) for n, goal in enumerate(goals))), refusal, CODES, APPROVES])
    with days(day, ManualClock(MIDNIGHT)) as life:
        life.until(MIDNIGHT.replace(day=21))
    assert set(day.states().values()) == {"completed"}
    assert models(day).count(CHEAP) <= 2, "not again on that day"
