"""A cheaper model tries easy tasks first while that pays, and the owner is told what it saved."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from sisimpur.agents.coder.engine.engine import EngineJob
from sisimpur.cli.app import main
from sisimpur.shared.money.pricing import Pricing
from sisimpur.shared.money.savings import LedgerSavings
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.journey.gated import FILES as SUM_FILES
from tests.journey.gated import GOOD, ID, Coder, fix, suite
from tests.journey.gated import VISION as SUM
from tests.journey.stage import APPROVES, CODES, Stage, goals_of, plans, reads, task
from tests.killing import EVERY_POINT, finishes, killed_at, points

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
    with ScriptedModel([]) as model:
        yield model


def stage(root: Path, model: ScriptedModel, count: int, *wrong: int, coder: str = BOTH, **more: Any) -> Stage:
    """A day with so many rooms."""
    goals = goals_of(vision(count))
    model.play([reads(), plans(*(room(n, goal, **more) for n, goal in enumerate(goals))), CODES, APPROVES])
    made = Stage(root, model.url, Rooms(*wrong), outcomes).set_up(vision(count), files(count))
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


def test_easy_tasks_are_tried_cheaply_and_what_is_sent_back_goes_to_the_dear_model(
    tmp_path: Path, model: ScriptedModel, capsys: Screen
) -> None:
    day = stage(tmp_path, model, 3, 1)
    assert day.run_day() == []
    assert models(day) == [CHEAP, CHEAP, DEAR, CHEAP]
    assert set(day.states().values()) == {"completed"}
    assert [tickets(day, id_) for id_ in ids(3)] == [[(CHEAP,)], [(CHEAP,), (DEAR,)], [(CHEAP,)]]
    asked = [request.body["model"] for request in model.requests if "Coder" in str(request.body["system"])]
    assert asked == models(day), "and no ticket was good for another one"

    with day.records() as records:
        savings = LedgerSavings(records.db, Pricing())
        saved, record = savings.total("2026-11"), savings.record(CHEAP, DEAR)
    good = [one for one in record if one.good]
    (bad,) = [one for one in record if not one.good]
    assert len(good) == 2 and all(one.worth == 20 * one.cost for one in good), "Sonnet is 20 times as dear"
    assert saved.caching == 0 and saved.routing == sum(19 * one.cost for one in good) - bad.cost - bad.checks > 0
    assert savings_of_day(day, capsys) == {**NONE, "routing": f"0.{saved.routing:09d}"}
    words = f"the cheaper model on easy tasks saved $0.{saved.routing // 100_000:04d}"
    assert f"2026-11: {words}\n" in typed(day, capsys, "budget")
    assert f"- in this month, {words}\n" in (day.home.reports / f"{DAY}.md").read_text()


# --- kills ---------------------------------------------------------------------------------------------------


def what_is_known(stage: Stage) -> object:
    """Of the one task: who has tried it, and what was made of that."""
    with stage.records() as records:
        savings = LedgerSavings(records.db, Pricing())
        return tickets(stage, ID), [(one.lane, one.good, one.cost) for one in savings.record(CHEAP, DEAR)]


@pytest.mark.slow
def test_a_kill_in_between_changes_nothing(tmp_path: Path, model: ScriptedModel) -> None:
    model.play([reads(), plans(fix()), CODES, APPROVES])
    numbers = itertools.count()

    def scene() -> tuple[Stage, list[str]]:
        place = tmp_path / str(next(numbers))
        place.mkdir()
        made = Stage(place, model.url, Coder(GOOD), suite).set_up(SUM, SUM_FILES)
        made.given_config("agents", coder=BOTH)
        return made, [sys.executable, "-m", "tests.journey.one_day", str(place), model.url, "bumpy"]

    made, argv = scene()
    passed, clean = points(argv), what_is_known(made)
    assert clean[0] == [(CHEAP,), (DEAR,)] and [one[:2] for one in clean[1]] == [("cheap", False)]  # type: ignore[index]
    first, last = passed.index("claim.booked"), len(passed) - passed[::-1].index("claim.booked")
    between = range(first + 1, last + 12)
    for number in between if EVERY_POINT else between[4::17]:
        made, argv = scene()
        died = killed_at(number, argv)[-1]
        finishes(argv)
        assert what_is_known(made) == clean, died
