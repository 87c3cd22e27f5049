"""A goal is done when it holds: measured by us where words allow it, read once at its end where they do not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from sisimpur.agents.coder.engine.engine import EngineJob
from sisimpur.shared.model.lifecycle import wording
from sisimpur.shared.model.work import Goal, GoalWord, Measure, MeasureKind
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.flow.memory_wire import PlayedModel
from tests.flow.stage import FlowStage
from tests.journey.long_goal import next_day, ticked
from tests.journey.stage import APPROVES, CODES, goals_of, reads, task

VISION = "# Vision\n\n## Priority: HIGH\n- 80 % coverage of api/\n"
PLAIN = "# Vision\n\n## Priority: HIGH\n- The list of orders has pages\n"
(COVERED,), (PAGED,) = goals_of(VISION), goals_of(PLAIN)
TEST = "tests/test_views.py"
FILES = {"api/views.py": "x = 1\n" * 10, TEST: "RUNS = 6\n", "orders.py": "PAGES = 0\n"}


def suite(files: Mapping[str, str]) -> dict[str, str]:
    """The test of a page passes when there are so many."""
    tests = [path for path in files if path.startswith("tests/test_")]
    pages = int(files["orders.py"].split()[-1])
    wanted = {path: int(path[-4]) if "page" in path else 0 for path in tests}
    return {f"{path}::test": "passed" if wanted[path] <= pages else "failed" for path in tests}


def unrun(files: Mapping[str, str]) -> dict[str, Sequence[int]]:
    """The tests of the views run as many of their ten lines as their last word says."""
    runs = int(files[TEST].split()[-1])
    return {"api/views.py": range(runs + 1, 11)}


def codes(folder: Path, job: EngineJob) -> None:
    """Each task covers two lines more, or makes one page more."""
    for name in job.edit:
        path = folder / name
        *words, number = path.read_text().split()
        path.write_text(" ".join((*words, str(int(number) + (2 if name == TEST else 1)))) + "\n")
    for name in job.create:
        (folder / name).write_text(f"def test():\n    assert orders.PAGES >= {name[-4]}\n")


def planned(goal: str, page: int = 0) -> dict[str, Any]:
    """The planner's answer, once: a task for one page more, or for two lines more that tests run."""
    files, new_files = (["orders.py"], [f"tests/test_page{page}.py"]) if page else ([TEST], [])
    one = task(goal, "Do more", files, new_files=new_files)
    verdict = {"goal_id": goal, "verdict": "tasks", "text": "not yet", "evidence": []}
    return {"agent": "planner", "json": {"goals": [verdict], "tasks": [one]}}


def says(verdict: str, missing: str = "") -> dict[str, Any]:
    return {"agent": "evaluator", "json": {"verdict": verdict, "missing": missing}}


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with PlayedModel([reads()]) as model:
        yield model


def home(root: Path, model: ScriptedModel, vision: str, *answers: dict[str, Any]) -> FlowStage:
    stage = FlowStage(root, model.url, codes, suite, unrun=unrun).set_up(vision, FILES)
    stage.given_config("policy", goals="{read: true}")
    model.play([reads(), *answers, CODES, APPROVES])
    return stage


def prompts(model: ScriptedModel, role: str) -> list[str]:
    return [str(request.body) for request in model.requests if f"You are the {role}" in str(request.body["system"])]


def bullet(stage: FlowStage) -> str:
    return next(line for line in stage.home.roadmap.read_text().splitlines() if line.startswith("- ["))


def report(stage: FlowStage) -> str:
    return max(stage.home.reports.glob("*.md")).read_text()


# --- goals with a figure -------------------------------------------------------------------------------------


def test_a_figure_is_taken_before_the_first_task_and_when_it_holds_nobody_is_asked(
    tmp_path: Path, model: ScriptedModel
) -> None:
    stage = home(tmp_path, model, VISION, planned(COVERED))
    assert stage.run_day() == []
    held = "held: coverage of api: 60.0 % -> 80.0 %, wanted at least 80 %"
    assert len(ticked(stage)) == 1 and held in bullet(stage) and held in report(stage)
    assert prompts(model, "Evaluator") == []


def test_a_figure_that_is_not_met_is_planned_for_again_until_it_holds(tmp_path: Path, model: ScriptedModel) -> None:
    vision = VISION.replace("80 %", "95 %")
    stage = home(tmp_path, model, vision, *[planned(goals_of(vision)[0])] * 2)
    assert stage.run_day() == []
    first = "coverage of api: 60.0 % -> 80.0 %, wanted at least 95 %"
    assert ticked(stage) == []
    assert f"does not hold yet: {first}" in bullet(stage) and first in report(stage)
    assert "to be planned again: 95 % coverage of api/" in report(stage)
    assert next_day(stage) == []
    held = "coverage of api: 60.0 % -> 100.0 %, wanted at least 95 %"
    assert len(ticked(stage)) == 1 and f"held: {held}" in bullet(stage) and held in report(stage)
    assert f"   - {held}" in stage.home.daily_plan.read_text()
    assert len(prompts(model, "Planner")) == 2 and prompts(model, "Evaluator") == []


def test_a_figure_that_stays_below_is_a_question_after_two_more_plannings(tmp_path: Path, model: ScriptedModel) -> None:
    stage = home(tmp_path, model, VISION, *(planned(COVERED, page) for page in (1, 2, 3)))
    stage.run_day()
    for _ in range(3):
        next_day(stage)
    assert len(prompts(model, "Planner")) == 3 and ticked(stage) == []
    asked = "3 tasks merged for it, and it does not hold yet: coverage of api: 60.0 %, wanted at least 80 %"
    assert asked in report(stage) and "a question waits for you" in bullet(stage)
    with stage.records() as records:
        (question,) = records.questions()
        records.plans.answer(question, wording(Goal(COVERED, "80 % coverage of api/")), "go on", stage.clock.now())
    model.play([reads(), planned(COVERED, 4), CODES, APPROVES])
    next_day(stage)
    assert len(prompts(model, "Planner")) == 4 and asked not in report(stage)
    stage.home.roadmap.write_text(stage.home.roadmap.read_text().replace("- [ ]", "- [x]"))
    next_day(stage)
    assert asked not in report(stage) and asked not in stage.home.daily_plan.read_text()


def test_a_measure_that_the_planner_names_is_kept_and_one_that_cannot_be_taken_is_read(
    tmp_path: Path, model: ScriptedModel
) -> None:
    stage = home(tmp_path, model, PLAIN, planned(PAGED, 1), says("holds"))
    stage.run_day(until="planning")
    with stage.records() as records:
        accepted = records.plans.accepted()
        assert accepted
        (goal,) = accepted.vision.goals
        records.goals.keep_measures((goal.id, wording(goal)), [Measure(MeasureKind.COVERAGE, "web", at_least=80)])
    assert stage.run_day() == []
    (prompt,) = prompts(model, "Evaluator")
    assert "could not be measured: there is no code of 'web'" in prompt
    assert "read against your goal: it holds" in bullet(stage)


def test_of_several_measures_all_have_to_hold(tmp_path: Path, model: ScriptedModel) -> None:
    stage = home(tmp_path, model, PLAIN, planned(PAGED, 1), planned(PAGED, 2))
    pages = {"kind": "property", "of": "matches orders.py 2", "bound": "at_least", "figure": 1}
    lines = {"kind": "property", "of": "lines orders.py", "bound": "at_most", "figure": 9}
    answers = planned(PAGED, 1), planned(PAGED, 2)
    for answer in answers:
        answer["json"]["goals"][0]["measures"] = [lines, pages]
    model.play([reads(), *answers, CODES, APPROVES])
    assert stage.run_day() == []
    assert ticked(stage) == [] and "matches orders.py 2: 0, wanted at least 1" in bullet(stage)
    assert next_day(stage) == []
    assert len(ticked(stage)) == 1 and "held: lines orders.py: 1, wanted at most 9; matches" in bullet(stage)


# --- goals that are read -------------------------------------------------------------------------------------


def test_a_goal_without_a_figure_is_read_once_at_its_end(tmp_path: Path, model: ScriptedModel) -> None:
    stage = home(tmp_path, model, PLAIN, planned(PAGED, 1), says("holds"))
    assert stage.run_day() == []
    assert next_day(stage) == []
    (prompt,) = prompts(model, "Evaluator")
    assert "The list of orders has pages" in prompt and "it adds" in prompt and "+PAGES = 1" in prompt
    assert "orders.py (1 lines):\\n```file\\n" in prompt
    assert len(ticked(stage)) == 1 and "read against your goal: it holds" in bullet(stage)


def test_what_a_reader_misses_makes_a_second_task_then_the_owner_is_asked(tmp_path: Path, model: ScriptedModel) -> None:
    missing = "orders.py has one page; the second is missing"
    answers = says("not yet", missing), says("not yet", "still one page")
    stage = home(tmp_path, model, PLAIN, planned(PAGED, 1), planned(PAGED, 2), *answers)
    assert stage.run_day() == []
    assert ticked(stage) == [] and missing in bullet(stage) and missing in report(stage)
    assert next_day(stage) == []
    assert list(stage.states().values()) == ["completed"] * 2
    next_day(stage)
    assert len(prompts(model, "Planner")) == len(prompts(model, "Evaluator")) == 2
    assert "it does not hold yet: still one page" in report(stage) and ticked(stage) == []


def test_what_the_planner_left_keeps_its_goal_open_until_it_is_planned(tmp_path: Path, model: ScriptedModel) -> None:
    stage = home(tmp_path, model, PLAIN, planned(PAGED, 1), planned(PAGED, 2), says("holds"))
    stage.run_day(until="planning")
    with stage.records() as records:
        records.words.keep(GoalWord(PAGED, "left", "the second page"), stage.clock.now())
        records.words.keep(GoalWord(PAGED, "remark", "the old list stays"), stage.clock.now())
    assert stage.run_day() == []
    assert ticked(stage) == [] and "left for later: the second page" in bullet(stage)
    assert prompts(model, "Evaluator") == []
    assert "   - remark: the old list stays" in stage.home.daily_plan.read_text()
    assert "- remark: the old list stays" in stage.pulls()[0].body
    assert next_day(stage) == []
    assert len(ticked(stage)) == 1
    assert "remark: the old list stays" in prompts(model, "Evaluator")[0]


def test_what_the_reviewer_would_have_the_owner_know_is_kept_and_read_at_the_end(
    tmp_path: Path, model: ScriptedModel
) -> None:
    stage = home(tmp_path, model, PLAIN)
    told = {
        "decision": "approve",
        "reason": "",
        "unresolved": [],
        "findings": [],
        "for_owner": "page two is empty for now",
    }
    model.play([reads(), planned(PAGED, 1), CODES, {**APPROVES, "json": told}, says("holds")])
    assert stage.run_day() == []
    with stage.records() as records:
        assert [word.kind for word in records.words.of([PAGED])] == ["remark", "review"]
    assert "review (20261120-01): page two is empty for now" in prompts(model, "Evaluator")[0]


def test_without_money_a_goal_stays_merged_and_not_yet_looked_at(tmp_path: Path, model: ScriptedModel) -> None:
    stage = home(tmp_path, model, PLAIN, planned(PAGED, 1), {**says("holds"), "status": 529})
    stage.run_day()
    assert ticked(stage) == [] and "not yet looked at" in bullet(stage) and "merged, not yet looked at" in report(stage)
    model.play([reads(), says("holds")])
    next_day(stage)
    assert len(ticked(stage)) == 1


def test_who_wants_no_reader_has_goals_that_are_done_when_they_are_merged(tmp_path: Path, model: ScriptedModel) -> None:
    stage = home(tmp_path, model, PLAIN, planned(PAGED, 1))
    stage.given_config("policy", goals="{read: false}")
    assert stage.run_day() == []
    assert len(ticked(stage)) == 1 and "read" not in bullet(stage)
