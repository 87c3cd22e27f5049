"""What went wrong on one day is told to who meets it on another; what does not help, or the owner deletes, is gone."""

from __future__ import annotations

import itertools
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from sisimpur.agents.orchestrator.memory.lesson import Lesson
from sisimpur.cli.app import main
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.journey.deployed import sick, site
from tests.journey.gated import BAD, FILES, GOOD, ID, VISION, Coder, fix, suite
from tests.journey.stage import APPROVES, CODES, Stage, goals_of, plans, reads, task
from tests.killing import EVERY_POINT, finishes, killed_at, points


def approves(*keywords: str) -> dict[str, Any]:
    """The reviewer has nothing against it, and says what one would look for."""
    said = {"decision": "approve", "reason": "", "findings": [], "keywords": [*keywords]}
    return {"agent": "reviewer", "times": "any", "json": said}


WORDS = ["lost update", "race condition"]
SCRIPT = [reads(), plans(fix()), CODES, approves(*WORDS)]
RED = "Traceback:\n  File x\nNameError: name 'grand_total' is not defined"
KIND = "NameError: name 'grand_total' is not defined"
HEADING = "Lessons of earlier work"
DAY = 86_400.0  # seconds

OTHER = f"{VISION}- Count the visitors of the shop\n"
COUNT = goals_of(OTHER)[1]
COUNT_ID = "20261121-01"
TEST_COUNT = "def test_count():\n    assert Y == 2\n"
MISCOUNTS = {"other.py": "Y = 1  # tried\n", "tests/test_other.py": TEST_COUNT}
COUNTS = {"other.py": "Y = 2\n", "tests/test_other.py": TEST_COUNT}

BEFORE = (
    Lesson(0, "coder", "Sums are made with sum().", KIND, ("sum",), ("app.py",)),
    Lesson(0, "planner", "Sums need a test.", keywords=("sum",), files=("app.py",)),
)


def both(files: Mapping[str, str]) -> dict[str, str]:
    """What the tests of both goals say."""
    count = "passed" if "Y = 2" in files["other.py"] else "failed"
    return suite(files) | ({"tests/test_other.py::test_count": count} if "tests/test_other.py" in files else {})


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel(SCRIPT) as model:
        yield model


Make = Callable[..., Stage]


@pytest.fixture
def make(tmp_path: Path, model: ScriptedModel) -> Make:
    def stage(*answers: Mapping[str, str], trace: str = RED) -> Stage:
        return Stage(tmp_path, model.url, Coder(*answers), both, trace=trace).set_up(VISION, FILES)

    return stage


def day_two(stage: Stage, model: ScriptedModel, *reviews: dict[str, Any], **more: str) -> None:
    """Another goal, in other files, with words of its own; its first try fails as the one of day one did."""
    counting = task(COUNT, "Count visitors", ("other.py",), new_files=["tests/test_other.py"], **more)
    model.play([reads(), plans(counting), CODES, *reviews, APPROVES])
    stage.clock.sleep(DAY)
    stage.given_vision(OTHER)
    assert stage.run_day() == []


def knows(stage: Stage, *lessons: Lesson) -> None:
    with stage.records() as records:
        for lesson in lessons:
            records.memory.learn(lesson, records.clock.now())


def remembers(stage: Stage) -> tuple[Lesson, ...]:
    with stage.records() as records:
        return records.memory.all()


def shown(stage: Stage, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    capsys.readouterr()
    assert main(["--home", str(stage.home.root), "memory", *words]) == 0
    return capsys.readouterr().out


def report(stage: Stage, day: str) -> str:
    return (stage.home.reports / f"{day}.md").read_text()


# --- learned and used ----------------------------------------------------------------------------------------


def test_what_mended_a_failure_is_told_to_who_fails_the_same_way_on_another_day(
    make: Make, model: ScriptedModel, capsys: pytest.CaptureFixture[str]
) -> None:
    stage = make(BAD, GOOD, MISCOUNTS, COUNTS)
    assert stage.run_day() == []
    (lesson,) = remembers(stage)
    assert (lesson.agent, lesson.signature, lesson.origin) == ("coder", KIND, f"{ID}.a2")
    assert lesson.text == f"“Fix the sum” first came to: {KIND}. A change of app.py mended it."
    assert f"- coder: “Fix the sum” first came to: {KIND}" in report(stage, "2026-11-20").partition("## Learned")[2]
    assert f"> {lesson.text}" in (stage.home.root / "memory" / "coder.md").read_text()
    day_two(stage, model)
    assert stage.states() == {ID: "completed", COUNT_ID: "completed"}
    first, again = (job.message for job in stage.jobs[2:])
    assert HEADING not in first, "nothing had failed yet, and the goals have nothing in common"
    assert f"```lessons\n{lesson.text} (learned on 2026-11-20 from {ID})\n```" in again
    helped = next(row for row in json.loads(shown(stage, capsys, "--json")) if row["number"] == lesson.number)
    assert (helped["used"], helped["passed"], helped["learned"]) == (1, 1, "2026-11-20")
    assert "lessons helped 1 of 1 time so far" in report(stage, "2026-11-21")
    text = shown(stage, capsys)
    assert "what the coder has learned:" in text and "used 1 -> 1" in text and lesson.text in text


# --- what comes back -----------------------------------------------------------------------------------------


def test_what_was_sick_where_it_was_deployed_is_learned(tmp_path: Path, model: ScriptedModel) -> None:
    with site(tmp_path) as live:
        better = {**GOOD, "app.py": f"{GOOD['app.py']}# and well\n"}
        stage = Stage(tmp_path, model.url, Coder(sick(GOOD), better), suite).set_up(VISION, FILES)
        live.configure(stage, "staging")
        stage.run_day()
    lesson, after = remembers(stage)
    assert "rolled back: staging" in lesson.text and "GET / answered 500" in lesson.text
    assert (lesson.agent, lesson.files) == ("coder", ("app.py", "tests/test_app.py"))
    assert [one.keywords[:2] for one in (lesson, after)] == [tuple(WORDS), tuple(WORDS)]
    assert after.text.endswith("A change of app.py mended it.")
    assert HEADING not in stage.jobs[1].message, "what it has taught itself is told to it as a finding"


# --- kills ---------------------------------------------------------------------------------------------------


OURS = ("lesson.", "memory.")


def place(root: Path, number: int, model: ScriptedModel) -> tuple[Stage, list[str]]:
    folder = root / str(number)
    folder.mkdir()
    stage = Stage(folder, model.url, Coder(GOOD), suite).set_up(VISION, FILES)
    knows(stage, *BEFORE)
    return stage, [sys.executable, "-m", "tests.journey.one_day", str(folder), model.url, "bumpy"]


def books(stage: Stage) -> list[tuple[object, ...]]:
    """All but how often the task was begun."""
    return [(one.number, one.agent, one.signature, one.text, one.used, one.passed) for one in remembers(stage)]


@pytest.mark.slow
def test_a_kill_at_any_point_of_learning_leads_to_the_same_books(tmp_path: Path, model: ScriptedModel) -> None:
    numbers = itertools.count()
    stage, argv = place(tmp_path, next(numbers), model)
    passed = points(argv)
    clean, pages = books(stage), {path.name: path.read_text() for path in (stage.home.root / "memory").iterdir()}
    assert [(one[4], one[5]) for one in clean] == [(2, 1), (0, 0), (0, 0)] and {*pages} == {"coder.md", "planner.md"}
    mine = [number for number, point in enumerate(passed, 1) if point.startswith(OURS)]
    assert len(mine) >= 10
    for number in mine if EVERY_POINT else mine[3::5]:
        stage, argv = place(tmp_path, next(numbers), model)
        died = killed_at(number, argv)[-1]
        finishes(argv)
        assert books(stage) == clean, died
        for name, page in pages.items():
            same = re.sub(r"\.a\d+", "", (stage.home.root / "memory" / name).read_text())
            assert same == re.sub(r"\.a\d+", "", page), died
