"""What is said before the first call that costs anything: by the doctor, and by a dry run. No model is asked."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest

from sisimpur.agents.orchestrator.vision.vision_parser import parse
from sisimpur.cli.app import main
from sisimpur.cli.terminal.arguments import CHECKOUT
from sisimpur.cli.views.status import _amounts
from sisimpur.cli.views.vision import vision_findings
from sisimpur.shared.model.lifecycle import State
from sisimpur.shared.system.markdown import outline
from tests.flow.memory_wire import PlayedModel
from tests.flow.stage import FlowStage
from tests.journey.stage import APPROVES, CODES, VISION, goals_of, plans, reads, task

TODAY = """# Vision

## Prioriy: HIGH
- Fix the sum in app.py
- Fix the sum in app.py
- যোগফল ঠিক করো

Perhaps a logo, too.

## Notes
- Don't touch app.py
- Be polite
"""
FIRST = parse(outline(VISION)).goals[0].title
FILES = ("app.py", "tests/test_app.py")


@pytest.fixture
def stage(tmp_path: Path) -> FlowStage:
    return FlowStage(tmp_path, "http://127.0.0.1:1").set_up()  # nobody listens there


@pytest.mark.parametrize(
    ("text", "ok", "said"),
    [
        pytest.param(None, False, [("vision", "is missing; write your goals there")], id="missing"),
        pytest.param(b"# Vision\n\n## Notes\n", False, [("vision", "holds no goal yet; write one below")], id="empty"),
        pytest.param(b"- \xff\xfe", False, [("vision", "not UTF-8 text")], id="unreadable"),
        pytest.param(
            (CHECKOUT / "examples/first_run/VISION.md").read_bytes(),
            True,
            [
                ("vision", "7 goals (1 CRITICAL, 2 HIGH, 2 MEDIUM, 2 LOW), 1 idea, 2 notes read, without a model"),
                ("vision", "word for word the example's, examples/first_run/VISION.md: its goals are not yours"),
            ],
            id="the example's",
        ),
        pytest.param(
            TODAY.encode(),
            True,
            [
                ("vision", "3 goals (3 HIGH), 2 notes read, without a model"),
                ("guard", "Don't touch app.py → `app.py`"),
                ("no guard", "Be polite (VISION.md, line 12: a wish, protects nothing)"),
                ("VISION.md", 'line 3: "Prioriy: HIGH" is read as'),
                ("VISION.md", 'line 5: "Fix the sum in app.py" is the same as line 4'),
                ("VISION.md", "no goal, no note: line 8 (Perhaps a logo, too.)"),
            ],
            id="all that can be said",
        ),
    ],
)
def test_the_doctor_says_for_nothing_what_it_reads(
    stage: FlowStage, text: bytes | None, ok: bool, said: list[tuple[str, str]]
) -> None:
    stage.home.vision.unlink()
    if text is not None:
        stage.home.vision.write_bytes(text)
    found = list(vision_findings(stage.home, FILES))
    for name, words in said:
        assert [one for one in found if one.name == name and words in one.detail and one.ok is ok], words
    assert ok or len(found) == 1


def test_what_notes_protect_is_not_guessed_without_the_files(stage: FlowStage) -> None:
    stage.home.vision.write_text(TODAY)
    told = [one.detail for one in vision_findings(stage.home, ())]
    assert "2 notes; what they protect is told by: python main.py doctor" in told
    assert not any("app.py →" in line or "I found no file" in line for line in told)


def test_the_doctor_names_a_circle_of_tasks_and_a_key_that_stands_twice(stage: FlowStage) -> None:
    for name, more in (("a", "depends_on: [b]"), ("b", "depends_on: [a]"), ("c", "difficulty: easy\ndifficulty: hard")):
        page = f"---\ntitle: T\nfiles: [{name}.py]\n{more}\n---\n\nDo it.\n"
        (stage.home.tasks(State.BACKLOG) / f"{name}.md").write_text(page)
    found = {one.name: one for one in vision_findings(stage.home, FILES)}
    assert "(a, b)" in found["stuck"].detail and found["stuck"].detail.endswith("type: python main.py unblock a")
    assert "'difficulty' stands twice, first in line" in found["tasks"].detail and not found["tasks"].ok


# --- plan --dry-run --------------------------------------------------------------------------------------------


def dry_run(stage: FlowStage, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert main(["--home", str(stage.home.root), "plan", "--dry-run"]) == 0
    return capsys.readouterr().out


def test_a_dry_run_tells_each_goal_once_and_what_the_notes_do(
    stage: FlowStage, capsys: pytest.CaptureFixture[str]
) -> None:
    stage.home.vision.write_text(TODAY)
    told = dry_run(stage, capsys)
    assert "2 goals to be planned (at most 5 tasks a day):" in told
    ids = re.findall(r"^  (g-\w+)", told, re.M)
    assert len(ids) == len({*ids}) == 3, "two that are planned, one that is not"
    assert re.search(r"not planned now:\n  g-\w+  Fix the sum in app.py \(high, new\): the same as line 4", told)
    assert re.search(r"notes: 2 notes; what they protect is told by: \S+ \S+ --home \S+ doctor", told)


def test_a_dry_run_of_an_empty_vision_says_where_to_write(stage: FlowStage, capsys: pytest.CaptureFixture[str]) -> None:
    stage.home.vision.write_text("")
    told = dry_run(stage, capsys)
    assert "0 goals to be planned" in told and f"write a bullet below a priority in {stage.home.vision}" in told
    stage.home.vision.write_text(TODAY)
    assert "write a bullet" not in dry_run(stage, capsys)


def test_goals_beyond_the_days_room_are_told_so(stage: FlowStage, capsys: pytest.CaptureFixture[str]) -> None:
    stage.home.vision.write_text("## Priority: LOW\n" + "".join(f"- Write page {word}\n" for word in "abcdef"))
    lines = dry_run(stage, capsys).splitlines()
    assert [line for line in lines if "only if those above leave room" in line] == [lines[6]]
    assert "Write page f" in lines[6]


def test_what_was_planned_is_told_with_how_far_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with PlayedModel([reads(), plans(task(goals_of(VISION)[0])), CODES, APPROVES]) as model:
        stage = FlowStage(tmp_path, model.url).set_up()
        stage.run_day()
    told = dry_run(stage, capsys)
    assert "0 goals to be planned" in told
    assert re.search(r"not planned now:\n  g-\w+  .*: 0 of 1 task merged", told), told


def test_a_goal_that_is_ticked_off_is_told_as_done(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with PlayedModel([reads(), plans(task(goals_of(VISION)[0])), CODES, APPROVES]) as model:
        stage = FlowStage(tmp_path, model.url).set_up()
        stage.run_day()
    stage.clock.sleep(timedelta(days=1).total_seconds())
    stage.home.vision.write_text(VISION.replace("- ", "- [x] ", 1))
    told = dry_run(stage, capsys)
    assert "done: ticked off:\n  g-" in told and "removed" not in told


# --- why it waits, before all the rest ---------------------------------------------------------------------------


def test_a_task_shows_why_it_waits_and_what_to_type_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (id_,) = ("20261120-01",)
    with PlayedModel([reads(), plans(task(goals_of(VISION)[0])), CODES, APPROVES]) as model:
        stage = FlowStage(tmp_path, model.url).set_up()
        stage.run_day()
    capsys.readouterr()
    assert main(["--home", str(stage.home.root), "show", id_]) == 0
    told = capsys.readouterr().out
    assert re.match(rf"{id_} \(in_review\)  .+\n\nwaits for you:\n  .+\n", told)
    assert re.search(rf"^ +python\S* \S+ --home \S+ approve {id_}$", told[: told.index("its file:")], re.M)
    assert told.count("waits for you") == 1


def test_until_three_are_merged_a_task_is_guessed_at_a_price(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with PlayedModel([reads(), plans(task(goals_of(VISION)[0])), CODES, APPROVES]) as model:
        stage = FlowStage(tmp_path, model.url).set_up()
        stage.run_day()
        assert main(["--home", str(stage.home.root), "approve", "01"]) == 0
        stage.run_day()
    assert stage.states() == {"20261120-01": "completed"}
    capsys.readouterr()
    assert main(["--home", str(stage.home.root), "roadmap"]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert "by a guess until three are merged" in first and "$0.00" not in first
    assert main(["--home", str(stage.home.root), "show", "01"]) == 0
    told = capsys.readouterr().out
    assert re.search(r"^cost of all that it took, reviews too:\n  \$", told, re.M)


def test_a_look_tells_whole_cents_and_what_is_held_or_lost_only_if_there_is_any() -> None:
    usual = {"spent": "0.135000000", "cap": "5.000000000", "reserved": "0.000000000", "lost": "0.000000000"}
    assert _amounts(usual) == "$0.14 of $5.00 spent"
    told = _amounts(usual | {"reserved": "0.500000000", "lost": "0.001000000"})
    assert told.endswith(
        "spent, $0.50 held for calls under way, under $0.01 for calls without an answer, at their worst case"
    )


def test_a_goal_that_stands_there_twice_is_not_counted_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    twice = VISION + f"\n## Priority: LOW\n- {FIRST}\n"
    with PlayedModel([reads(), plans(task(goals_of(VISION)[0])), CODES, APPROVES]) as model:
        stage = FlowStage(tmp_path, model.url).set_up()
        stage.home.vision.write_text(twice)
        stage.run_day()
    capsys.readouterr()
    assert main(["--home", str(stage.home.root), "roadmap"]) == 0
    told = capsys.readouterr().out
    assert "of 1 goal done" in told and re.search(r"Later:\n  \[ \] g-\w+  .*: the same as line \d+ of VISION.md", told)
    report = (stage.home.reports / "2026-11-20.md").read_text()
    assert "(low): the same as line" in report and "not planned yet" not in report
