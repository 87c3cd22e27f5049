"""A vision that nobody touches is worked through in its order, day after day; and what the owner writes counts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from sisimpur.agents.coder.engine.engine import EngineJob
from sisimpur.agents.orchestrator.roadmap.roadmap import MOST, Room
from sisimpur.agents.orchestrator.roadmap.roadmap_needs import BooksOfGoals, Sources, laid_out
from sisimpur.cli.app import main
from sisimpur.cli.wiring.records import Records
from sisimpur.shared.model.lifecycle import Event, State
from sisimpur.shared.model.work import TaskSpec, Vision
from sisimpur.shared.store.journal import MoveReason
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.flow.memory_wire import PlayedModel
from tests.flow.stage import FlowStage
from tests.journey.stage import APPROVES, CODES, KEY, ScriptedWorkshop, Stage, goals_of, plans, reads, task

NAMES = "abcdefg"
VISION = """\
# Vision

## Priority: LOW
- Raise a in a.py
- Raise b in b.py

## Priority: HIGH
- Raise c in c.py
- Raise d in d.py

## Priority: MEDIUM
- Raise e in e.py
- Raise f in f.py

## Priority: CRITICAL
- Raise g in g.py
"""
IDS = dict(zip(NAMES, goals_of(VISION), strict=True))
FILES = {f"{name}.py": f"{name.upper()} = 1\n" for name in NAMES}
DAY = 86_400.0  # seconds


def suite(files: Mapping[str, str]) -> dict[str, str]:
    """Each test says whether its number was raised."""
    tests = {name: f"tests/test_{name}.py" for name in NAMES}
    raised = {name: "= 2" in files[f"{name}.py"] for name in NAMES}
    return {f"{path}::test": "passed" if raised[n] else "failed" for n, path in tests.items() if path in files}


def raises(folder: Path, job: EngineJob) -> None:
    name = Path(job.edit[0]).stem
    (folder / "tests").mkdir(exist_ok=True)
    (folder / f"{name}.py").write_text(f"{name.upper()} = 2\n")
    (folder / f"tests/test_{name}.py").write_text(f"def test():\n    assert {name.upper()} == 2\n")


def order(name: str, **more: Any) -> dict[str, Any]:
    return task(IDS[name], f"Raise {name}", [f"{name}.py"], new_files=[f"tests/test_{name}.py"], **more)


def plays(model: ScriptedModel, names: str, *more: Mapping[str, Any]) -> None:
    model.play([reads(), plans(*map(order, names), *more), CODES, APPROVES])


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with PlayedModel([reads()]) as model:
        plays(model, "gcd")
        yield model


@pytest.fixture
def stage(tmp_path: Path, model: ScriptedModel) -> Stage:
    return staged(tmp_path, model)


def staged(folder: Path, model: ScriptedModel, vision: str = VISION) -> Stage:
    stage = FlowStage(folder, model.url, raises, suite).set_up(vision, FILES)
    stage.given_config("policy", capacity="{parallel: 1, tasks_per_day: 3, open_pulls: 9}")
    return stage


# --- looking -------------------------------------------------------------------------------------------------


def asked(model: ScriptedModel) -> list[str]:
    """What the planner was asked, in order: the names of the goals of each call."""
    calls = [json.dumps(request.body["messages"]) for request in model.requests if is_planning(request.body)]
    found = [re.findall(r"Raise ([a-g]) in", call.partition("# Goals to answer")[2]) for call in calls]
    return ["".join(dict.fromkeys(names)) for names in found]


def is_planning(body: Mapping[str, Any]) -> bool:
    return "You are the Planner" in json.dumps(body.get("system"))


def text(stage: Stage) -> str:
    return stage.home.roadmap.read_text()


def line_of(stage: Stage, name: str) -> str:
    return next(line for line in text(stage).splitlines() if f"`{IDS[name]}`" in line)


def stands(stage: Stage) -> dict[str, str]:
    """Heading -> names of its goals, in capitals what is ticked."""
    found: dict[str, str] = {}
    heading = ""
    for line in text(stage).splitlines():
        heading = line.lstrip("# ").partition(":")[0] if line.startswith("#") else heading
        for name, id_ in IDS.items():
            if f"`{id_}`" in line:
                found[heading] = found.get(heading, "") + (name.upper() if line.startswith("- [x]") else name)
    return found


def edited(stage: Stage, change: Callable[[str], str]) -> None:
    stage.home.roadmap.write_text(change(text(stage)))


def put(stage: Stage, name: str, heading: str) -> None:
    """The owner moves a bullet below a heading of his own, at the end of the file."""
    line = line_of(stage, name)
    edited(stage, lambda old: old.replace(f"{line}\n", "") + f"\n{heading}\n\n{line}\n")


def tomorrow(stage: Stage, model: ScriptedModel, names: str = "", until: str = "planning", days: int = 1) -> list[str]:
    plays(model, names)
    stage.clock.sleep(days * DAY)
    return stage.run_day(until)


def morning_page(stage: Stage, day: str) -> str:
    return (stage.home.reports / f"{day}.md").read_text().partition("## Roadmap\n\n")[2].partition("\n\n")[0]


THIS, NEXT = "Week of 16 November", "Week of 23 November"


# --- nobody touches it ---------------------------------------------------------------------------------------


def test_the_pace_is_a_guess_first_and_then_what_tasks_really_take(stage: Stage) -> None:
    stage.run_day("planning")
    assert "at most 3 tasks a day; a task takes about 10 minutes and $" in text(stage)
    assert "by a guess until three are merged; all of VISION.md probably by 22 November." in text(stage)
    stage.run_day()
    assert "by the last 3 merged; all of VISION.md probably by 22 November." in text(stage)


@pytest.mark.parametrize("old", ["zz-old", "00-old"])
def test_the_pace_is_of_what_was_merged_last_whatever_its_name_is(stage: Stage, old: str) -> None:
    """Fourteen of ten minutes, after one of the owner's own that took a day."""
    with stage.records() as records:
        for id_ in (old, *(f"20261120-{number:02}" for number in range(MOST))):
            records.journal.born(TaskSpec(id_, id_, ""), State.BACKLOG, "", stage.clock.now())
            move(records, id_, State.BACKLOG, Event.STARTED)
            with records.activity.running("coder", "2026-11-20", stage.clock, id_, 1):
                stage.clock.sleep(DAY if id_ == old else 600)
            move(records, id_, State.IN_PROGRESS, Event.SUBMITTED)
            move(records, id_, State.IN_REVIEW, Event.MERGED)
        room = Room(tasks=5, cap=100, minutes=600, guess=10)
        books = Sources(records.plans, records.journal, records.spending, records.roadmap, room, records.goal_books)
        found = laid_out(BooksOfGoals(books, Vision(), "2026-11-21"), {}).pace
    assert (found.minutes, found.merged) == (10, MOST)


def move(records: Records, id_: str, source: State, event: Event) -> None:
    records.journal.moved(records.journal.plan_move(id_, source, MoveReason(event), records.clock.now()))


def test_what_there_is_no_room_for_stands_in_the_next_week(stage: Stage, model: ScriptedModel) -> None:
    stage.given_config("policy", capacity="{parallel: 1, tasks_per_day: 1}")
    plays(model, "g")
    stage.run_day("planning")
    assert stands(stage) == {THIS: "gcd", NEXT: "efab"}
    stage.given_config("policy", budget="{task: 0.1, day: 0.1, month: 100}")
    stage.run_day("planning")
    assert text(stage).splitlines()[7].startswith("a task in 2 days; ")
    assert stands(stage) == {THIS: "g", NEXT: "cdefa", "Week of 30 November": "b"}


def test_a_goal_that_left_the_vision_when_it_was_done_stays_ticked(stage: Stage, model: ScriptedModel) -> None:
    stage.run_day()
    stage.given_vision(VISION.replace("- Raise c", "- [x] Raise c").replace("- Raise e in e.py\n", ""))
    tomorrow(stage, model, "fab")
    assert stands(stage) == {THIS: "GDCfab"} and asked(model)[-1] == "fab"
    tomorrow(stage, model, days=56)
    assert "`" + IDS["c"] not in text(stage)


def test_what_has_failed_or_has_a_question_is_not_done(stage: Stage, model: ScriptedModel) -> None:
    model.play([reads(questions=[{"goal_id": IDS["g"], "text": "How far?"}]), plans(order("c")), CODES, APPROVES])
    stage.given_config("policy", capacity="{parallel: 1, tasks_per_day: 1}")
    stage.change = lambda folder, job: None
    stage.run_day()
    assert asked(model) == ["c"] and stage.states() == {"20261120-01": "failed"}
    assert "a question waits for you" in line_of(stage, "g")
    assert "0 of 1 task merged, about $" in line_of(stage, "c")
    assert f"1 failed task waits for you `{IDS['c']}`" in line_of(stage, "c")
    (stage.home.root / "tasks" / "failed" / "20261120-01.md").unlink()
    tomorrow(stage, model, "d", until="work")
    assert stage.run_day() == []
    assert "its tasks were cancelled" in line_of(stage, "c")
    assert stands(stage)["Later"] == "c"


def test_a_goal_of_which_the_day_held_a_part_is_not_done_with_that(stage: Stage, model: ScriptedModel) -> None:
    stage.given_config("policy", capacity="{parallel: 1, tasks_per_day: 1, open_pulls: 9}")
    more = order("g", key="more") | {"title": "Raise g more", "files": ["a.py"], "new_files": []}
    model.play([reads(), plans(order("g"), more), CODES, APPROVES])
    assert stage.run_day() == []
    assert list(stage.states().values()) == ["completed"]
    assert line_of(stage, "g").startswith("- [ ]") and "1 of 2 tasks merged" in line_of(stage, "g")


def test_what_waits_for_the_owner_to_merge_it_is_not_done(stage: Stage) -> None:
    stage.given_config("policy", merge="{auto: false}")
    stage.run_day()
    assert set(stage.states().values()) == {"in_review"} and stands(stage) == {THIS: "gcdefa", NEXT: "b"}
    assert "0 of 1 task merged" in line_of(stage, "g")


def test_the_mornings_page_tells_the_milestone_what_is_next_and_the_end(stage: Stage) -> None:
    stage.run_day("planning")
    assert morning_page(stage, "2026-11-20").splitlines() == [
        "- week of 16 November: 0 of 7 goals done",
        "- next: Raise g in g.py, Raise c in c.py, Raise d in d.py",
        f"- all of it probably by 22 November; {text(stage).splitlines()[7].partition('; all of')[0]}",
    ]


# --- the owner's edits ---------------------------------------------------------------------------------------


def test_a_goal_that_was_moved_is_not_planned_before_its_week_and_then_first(
    stage: Stage, model: ScriptedModel
) -> None:
    stage.run_day("planning")
    put(stage, "e", "### Week of 23 November")
    tomorrow(stage, model, "fab")
    assert asked(model) == ["gcd", "fab"] and stands(stage)[NEXT] == "e"
    assert line_of(stage, "e").endswith(f"`{IDS['e']}` *yours*") and "*yours*" not in line_of(stage, "f")
    assert [line for line in stage.said if "ROADMAP.md" in line] == ["ROADMAP.md: 1 goal moved by you"]
    tomorrow(stage, model, "e", days=2)
    assert asked(model) == ["gcd", "fab", "e"]


def test_the_order_that_the_owner_writes_is_the_order_of_planning(stage: Stage, model: ScriptedModel) -> None:
    stage.run_day("morning")
    last, first = line_of(stage, "b"), line_of(stage, "g")
    edited(stage, lambda old: old.replace(f"{last}\n", "").replace(first, f"{last}\n{first}"))
    plays(model, "bgc")
    stage.run_day("planning")
    assert asked(model) == ["bgc"] and stands(stage) == {THIS: "bgcdefa"}
    assert "*yours*" in line_of(stage, "b") and "*yours*" not in line_of(stage, "g")


def test_what_is_below_later_or_deleted_is_not_planned_until_it_stands_in_a_week(
    stage: Stage, model: ScriptedModel
) -> None:
    stage.run_day("morning")
    put(stage, "g", "## Later")
    line = line_of(stage, "c")
    edited(stage, lambda old: old.replace(f"{line}\n", ""))
    plays(model, "def")
    stage.run_day("planning")
    assert asked(model) == ["def"] and stands(stage) == {THIS: "defab", "Later": "gc"}
    tomorrow(stage, model, "ab")
    assert asked(model)[1:] == ["ab"] and stands(stage)["Later"] == "gc"
    put(stage, "g", "### Week of 16 November")
    tomorrow(stage, model, "g")
    assert asked(model)[2:] == ["g"] and stands(stage)["Later"] == "c"


def test_a_tick_says_that_nothing_more_is_made_of_it_until_the_goal_is_worded_anew(
    stage: Stage, model: ScriptedModel
) -> None:
    stage.run_day("morning")
    edited(stage, lambda old: old.replace("- [ ] Raise g", "- [x] Raise g"))
    plays(model, "cde")
    stage.run_day("planning")
    assert asked(model) == ["cde"] and stands(stage) == {THIS: "Gcdefab"} and "ticked by you" in line_of(stage, "g")
    edited(stage, lambda old: old.replace("- [x] Raise g", "- [ ] Raise g"))
    tomorrow(stage, model, "gfa")
    assert asked(model)[1:] == ["gfa"] and stands(stage) == {THIS: "gcdefa", NEXT: "b"}
    edited(stage, lambda old: old.replace("- [ ] Raise b", "- [x] Raise b"))
    tomorrow(stage, model)
    assert stands(stage)[THIS].startswith("B") and asked(model)[2:] == []
    stage.given_vision(VISION.replace("Raise b in b.py", "Raise b in b.py by two"))
    tomorrow(stage, model, "b")
    assert asked(model)[2:] == ["b"] and stands(stage)[NEXT].endswith("b")


def test_a_tick_of_the_owner_stays_in_the_week_in_which_he_set_it(stage: Stage, model: ScriptedModel) -> None:
    stage.run_day("morning")
    edited(stage, lambda old: old.replace("- [ ] Raise g", "- [x] Raise g"))
    stage.run_day("morning")
    tomorrow(stage, model, days=7, until="morning")
    assert stands(stage) == {THIS: "G", NEXT: "cdefab"}


def test_without_the_mark_we_choose_again(stage: Stage, model: ScriptedModel) -> None:
    stage.run_day("morning")
    put(stage, "g", "### Week of 30 November")
    plays(model, "cde")
    stage.run_day("planning")
    assert stands(stage)["Week of 30 November"] == "g"
    edited(stage, lambda old: old.replace(" *yours*", ""))
    tomorrow(stage, model, "gfa")
    assert asked(model) == ["cde", "gfa"] and "*yours*" not in line_of(stage, "g")


def test_a_bullet_of_the_owners_own_stays_and_the_report_reminds_him(stage: Stage, model: ScriptedModel) -> None:
    stage.run_day("planning")
    line = line_of(stage, "c")
    edited(stage, lambda old: old.replace(line, f"{line}\n  - ask Bob first\n- Buy *milk* for @everyone"))
    tomorrow(stage, model, "efa")
    tomorrow(stage, model, "b")
    assert f"`{IDS['c']}`\n  - ask Bob first\n- Buy *milk* for @everyone\n- [ ] Raise d" in text(stage)
    page = morning_page(stage, "2026-11-22")
    assert "“Buy \\*milk\\* for @\u200beveryone” in ROADMAP.md is no goal: only VISION.md says what is wanted" in page
    assert asked(model) == ["gcd", "efa", "b"] and "milk" not in stage.home.daily_plan.read_text()


def test_a_goal_that_is_removed_loses_its_pin(stage: Stage, model: ScriptedModel) -> None:
    stage.run_day("morning")
    put(stage, "g", "## Later")
    stage.given_vision(VISION.replace("- Raise g in g.py\n", ""))
    plays(model, "cde")
    stage.run_day("planning")
    assert IDS["g"] not in text(stage)
    stage.given_vision(VISION)
    tomorrow(stage, model, "gfa")
    assert asked(model) == ["cde", "gfa"]


def test_the_rest_of_a_goal_that_was_put_off_is_not_forgotten(stage: Stage, model: ScriptedModel) -> None:
    """Two tasks for one goal, but the day held one; then the owner wants something else first."""
    stage.given_config("policy", capacity="{parallel: 1, tasks_per_day: 1}")
    more = order("g", key="more") | {"title": "Raise g more", "files": ["a.py"], "new_files": []}
    model.play([reads(), plans(order("g"), more)])
    stage.run_day("planning")
    put(stage, "g", "## Later")
    tomorrow(stage, model, "c")
    assert asked(model) == ["g", "c"] and "Raise g" not in stage.home.daily_plan.read_text().partition("## Left")[2]
    tomorrow(stage, model, "d")
    put(stage, "g", "### Week of 16 November")
    stage.clock.sleep(DAY)
    model.play([reads(), plans(more)])
    assert stage.run_day("planning") == []
    assert asked(model) == ["g", "c", "d", "g"]
    assert "0 of 2 tasks merged" in line_of(stage, "g")


def test_a_second_planning_of_a_day_goes_on_with_whose_turn_it_is(stage: Stage, model: ScriptedModel) -> None:
    stage.given_vision(VISION.partition("## Priority: HIGH")[0])
    plays(model, "ab")
    stage.run_day("planning")
    stage.given_vision(VISION)
    plays(model, "g")
    stage.run_day("planning")
    assert asked(model) == ["ab", "g"] and len(stage.states()) == 3
    tomorrow(stage, model, "cde")
    assert asked(model)[2:] == ["cde"]


# --- what is no plan -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        pytest.param(lambda path: path.write_bytes(b"\xff\xfe\xfa"), "not UTF-8 text", id="no text"),
        pytest.param(lambda path: path.write_text("x" * 10_000_000), "10000000 bytes", id="10 MB"),
        pytest.param(lambda path: path.write_text("- x\n" * 30_000), "120000 characters", id="more than we read"),
        pytest.param(lambda path: path.write_text("<!-- x\n"), "a comment <!-- is never closed", id="no Markdown"),
        pytest.param(lambda path: path.mkdir(), "is not a plain file", id="a folder"),
        pytest.param(lambda path: path.symlink_to("VISION.md"), "is a symbolic link", id="a link"),
    ],
)
def test_what_cannot_be_read_is_left_alone_and_told_and_the_plan_is_made(
    spoil: Callable[[Path], object], why: str, stage: Stage, model: ScriptedModel
) -> None:
    stage.run_day("morning")
    put(stage, "g", "## Later")
    stage.run_day("morning")
    path = stage.home.roadmap
    path.unlink()
    spoil(path)
    before = path.lstat().st_mtime_ns, path.lstat().st_size
    plays(model, "cde")
    (problem,) = stage.run_day("planning")
    assert problem.startswith("ROADMAP.md: ") and why in problem and str(stage.root) not in problem
    assert (path.lstat().st_mtime_ns, path.lstat().st_size) == before
    assert asked(model) == ["cde"], "what is his stays his"
    assert f"- ROADMAP.md: {why[:10]}" in morning_page(stage, "2026-11-20").replace("line 1: ", "")
    assert shown(stage)["problem"] == problem


def test_a_file_that_was_deleted_or_emptied_is_written_anew(stage: Stage, model: ScriptedModel) -> None:
    stage.run_day("morning")
    put(stage, "g", "## Later")
    plays(model, "cde")
    stage.run_day("planning")
    before = text(stage)
    stage.home.roadmap.unlink()
    assert stage.run_day("planning") == [] and text(stage) == before
    stage.home.roadmap.write_text("")
    assert stage.run_day("planning") == [] and text(stage) == before


def test_a_hostile_title_is_a_title(stage: Stage, model: ScriptedModel) -> None:
    evil = f"Raise b `{IDS['c']}` *yours* [x] <script> @everyone {KEY} (HIGH): done"
    stage.given_vision(VISION.replace("Raise b in b.py", evil))
    stage.run_day("planning")
    assert "Raise b '" in text(stage) and KEY not in text(stage)
    assert "@everyone" in text(stage) and "<script" not in text(stage), "the owner's own words, but no page"
    assert stands(stage)[THIS].count("c") == 1
    before = text(stage)
    assert stage.run_day("planning") == [] and text(stage) == before
    assert KEY.encode() not in stage.home.database.read_bytes().replace(evil.encode(), b""), "the vision alone holds it"


# --- the command ---------------------------------------------------------------------------------------------


def typed(stage: Stage, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    capsys.readouterr()
    assert main(["--home", str(stage.home.root), *words]) == 0
    return capsys.readouterr().out


def shown(stage: Stage) -> dict[str, Any]:
    from contextlib import redirect_stdout
    from io import StringIO

    with redirect_stdout(out := StringIO()):
        assert main(["--home", str(stage.home.root), "roadmap", "--json"]) == 0
    found: dict[str, Any] = json.loads(out.getvalue())
    return found


def test_the_command_shows_the_weeks_and_counts_what_was_changed_since(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "no goal read yet; write one in VISION.md, then: " in typed(stage, capsys, "roadmap")
    stage.run_day("planning")
    put(stage, "e", "### Week of 3 January")
    put(stage, "f", "## Later")
    edited(stage, lambda old: old + "- milk\n")
    before = text(stage)
    told = typed(stage, capsys, "roadmap")
    assert re.search(r"^Week of \d+ \w+: 0 of \d goals done  \[#*\.*\] room taken: \d+ of \d+ tasks$", told, re.M)
    assert f"[ ] {IDS['e']}  Raise e in e.py (medium): about 1 task" in told and told.count("; yours") == 2
    assert "\nLater:\n" in told and "\n\nyour own line in ROADMAP.md, of which nothing is made: milk" in told
    found = shown(stage)
    assert [goal["id"] for goal in found["later"]] == [IDS["f"]] and found["own"] == ["milk"]
    (goal,) = [goal for week in found["weeks"] for goal in week["goals"] if goal["yours"]]
    assert (goal["id"], goal["priority"], goal["done"], goal["to_come"]) == (IDS["e"], "medium", None, 1)
    assert found["pace"]["tasks_per_day"] == 3 and text(stage) == before


def test_the_evenings_report_says_what_the_owner_has_put_off(stage: Stage, model: ScriptedModel) -> None:
    stage.run_day("morning")
    put(stage, "g", "## Later")
    put(stage, "c", "### Week of 7 December")
    line = line_of(stage, "d")
    edited(stage, lambda old: old.replace(line, line.replace("[ ]", "[x]")))
    plays(model, "efa")
    stage.run_day()
    asked_for = (stage.home.reports / "2026-11-20.md").read_text().partition("## Asked")[2].partition("\n## ")[0]
    said = {name: words for name in "gcd" for words in re.findall(rf"Raise {name} in .*?\): (.*)", asked_for)}
    assert said == {"g": "put off by you", "c": "not before 7 December", "d": "ticked by you"}


def test_a_dry_run_tells_whose_turn_it_is(stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    stage.run_day("morning")
    put(stage, "g", "## Later")
    told = typed(stage, capsys, "plan", "--dry-run")
    assert "6 goals to be planned (at most 3 tasks a day):" in told
    assert re.findall(r"^  (g-\w+)", told, re.M) == [IDS[name] for name in "cdefabg"]
    assert re.search(rf"not planned now:\n  {IDS['g']}  .*: put off by you in ROADMAP.md", told)


# --- at the same time ----------------------------------------------------------------------------------------


def test_what_is_written_twice_is_told_once(stage: Stage) -> None:
    """He saves after the morning: the planning begins with it, and writes again at its end."""
    stage.run_day("morning")
    put(stage, "g", "## Later")
    told = list[str]()

    def make(records: Records, *_: object) -> ScriptedWorkshop:
        return ScriptedWorkshop(stage, records.home.meter_socket, lambda: None)

    with stage.records() as records, stage.open_team(records, told.append, make, lambda _: []) as team:
        day, roadmap = records.day(), team.phases.planning.goals.roadmap
        assert roadmap.write(day) == roadmap.write(day) == ""
    assert [line for line in told if "ROADMAP.md" in line] == ["ROADMAP.md: 1 goal put off by you"]


def test_an_edit_that_is_taken_back_while_the_planner_is_asked_is_taken_back(
    stage: Stage, model: ScriptedModel
) -> None:
    stage.run_day("morning")
    before = text(stage)
    put(stage, "g", "## Later")
    plays(model, "cde")

    def tell(line: str) -> None:
        if line.startswith("planning"):
            stage.home.roadmap.write_text(before)

    def make(records: Records, *_: object) -> ScriptedWorkshop:
        return ScriptedWorkshop(stage, records.home.meter_socket, lambda: None)

    with stage.records() as records, stage.open_team(records, tell, make, lambda _: []) as team:
        team.run_day("planning")
    assert asked(model) == ["cde"]
    assert "g" in stands(stage)[THIS] and "Later" not in stands(stage)
