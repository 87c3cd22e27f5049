"""An approval is kept: it is for a change, its goal, its task and the notes as they were worded when it was given."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sisimpur.cli.app import main
from sisimpur.cli.commands import owner_commands
from sisimpur.cli.views.status import status
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.flow.memory_wire import PlayedModel
from tests.flow.stage import FlowStage
from tests.flow.test_gates import typed
from tests.journey.gated import FILES, GOOD, ID, VISION, Coder, fix, suite
from tests.journey.stage import APPROVES, CODES, Stage, plans, reads

TOUCHES = ("app.py", "tests/test_app.py", "settings.py")  # the last is protected: the owner is asked


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with PlayedModel([reads(), plans({**fix(), "files": list(TOUCHES)}), CODES, APPROVES]) as model:
        yield model


@pytest.fixture
def day(tmp_path: Path, model: ScriptedModel) -> Stage:
    """One on which a change was approved after the team had gone home."""
    stage = FlowStage(tmp_path, model.url, Coder({**GOOD, "settings.py": "X = 2\n"}), suite).set_up(VISION, FILES)
    stage.run_day()
    assert stage.states() == {ID: "in_review"}
    typed(stage, owner_commands.approve, id=ID)
    return stage


def test_with_nothing_changed_since_it_is_merged(day: Stage) -> None:
    assert (day.run_day(), day.states()) == ([], {ID: "completed"})


def test_brought_up_to_date_it_is_tested_again_and_merged(day: Stage) -> None:
    day.owner_commits({"other.py": "Y = 2\n"})
    assert (day.run_day(), day.states()) == ([], {ID: "completed"})
    assert any("brought up to date, then tested again" in line for line in day.said)


def words_of(path: str, old: str, new: str) -> Callable[[Stage], None]:
    def change(day: Stage) -> None:
        file = day.home.root / path
        assert old in file.read_text()
        file.write_text(file.read_text().replace(old, new, 1))

    return change


TASK_FILE = f"tasks/in_review/{ID}.md"
CHANGES = [
    pytest.param(
        words_of("VISION.md", "Fix the sum in app.py", "Fix the sum in app.py, also of lists"),
        'its goal said "Fix the sum in app.py"; now "Fix the sum in app.py, also of lists"',
        id="its goal is reworded",
    ),
    pytest.param(
        words_of("VISION.md", "- Fix the sum in app.py\n", ""),
        'its goal said "Fix the sum in app.py"; now nothing',
        id="its goal is gone",
    ),
    pytest.param(
        words_of(TASK_FILE, "Fix the sum, please.", "Fix the difference."),
        'its text said "Fix the sum, please."; now "Fix the difference."',
        id="its task says something else",
    ),
    pytest.param(
        words_of(TASK_FILE, '"settings.py"', '"other.py"'),
        'its files said "app.py, tests/test_app.py, settings.py"; now "app.py, tests/test_app.py, other.py"',
        id="its task names other files",
    ),
]


@pytest.mark.parametrize(("change", "both"), CHANGES)
def test_what_is_worded_otherwise_since_is_asked_again_with_both_wordings_and_then_merged(
    day: Stage, change: Callable[[Stage], None], both: str
) -> None:
    change(day)
    assert (day.run_day(), day.states()) == ([], {ID: "in_review"})
    assert both in typed(day, status)
    assert (day.run_day(), day.states()) == ([], {ID: "in_review"}), "and it stays the owner's"
    typed(day, owner_commands.approve, id=ID)
    assert (day.run_day(), day.states()) == ([], {ID: "completed"})
    assert len(day.jobs) == 1, "nothing was coded once more"


@pytest.mark.parametrize(("change", "both"), CHANGES)
def test_an_approval_that_comes_after_the_change_but_before_the_question_is_not_for_it(
    day: Stage, change: Callable[[Stage], None], both: str
) -> None:
    change(day)
    typed(day, owner_commands.approve, id=ID)
    assert (day.run_day(), day.states()) == ([], {ID: "in_review"})
    assert both in typed(day, status)


def test_a_note_since_holds_it_back_until_the_note_is_changed(day: Stage) -> None:
    before = day.home.vision.read_text()
    day.home.vision.write_text(f"{before}\n## Notes\n- Don't touch settings.py\n")
    assert (day.run_day(), day.states()) == ([], {ID: "in_review"})
    said = typed(day, status)
    assert 'your notes said nothing; now "not to touch settings.py"' in said and "change the note" in said
    typed(day, owner_commands.approve, id=ID)
    assert (day.run_day(), day.states()) == ([], {ID: "in_review"}), "no word is over a note that stands"
    day.home.vision.write_text(before)
    day.run_day()
    typed(day, owner_commands.approve, id=ID)
    assert (day.run_day(), day.states()) == ([], {ID: "completed"})


def test_while_it_is_brought_up_to_date_a_goal_that_goes_away_does_not_throw_it_away(day: Stage) -> None:
    day.owner_commits({"other.py": "Y = 2\n"})
    words_of("VISION.md", "- Fix the sum in app.py\n", "")(day)
    assert (day.run_day(), day.states()) == ([], {ID: "in_review"})
    assert "its goal said" in typed(day, status)


def typed_by_the_owner(day: Stage, *words: str) -> int:
    return main(["--home", str(day.home.root), *words])


def test_what_is_merged_is_done_once_more_only_if_the_owner_says_so_and_a_cancel_takes_that_back(
    day: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    day.run_day()
    assert typed_by_the_owner(day, "retry", ID) == 1
    assert f"{ID} is done; to have it done once more" in capsys.readouterr().err
    assert day.states() == {ID: "completed"}
    for _ in range(2):
        assert typed_by_the_owner(day, "retry", ID, "--again") == 0
        assert day.states() == {ID: "backlog"}
        assert typed_by_the_owner(day, "cancel", ID) == 0
        assert "backlog -> completed, as it was before its retry" in capsys.readouterr().out
    assert (day.run_day(), day.states()) == ([], {ID: "completed"})
    assert typed_by_the_owner(day, "status") == 0
    assert "which means nothing" not in capsys.readouterr().out


def test_what_waits_is_structured_for_scripts(day: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    words_of("VISION.md", "- Fix the sum in app.py\n", "")(day)
    day.run_day()
    assert typed_by_the_owner(day, "status", "--json") == 0
    (waits,) = json.loads(capsys.readouterr().out)["answers"]
    assert (waits["kind"], waits["task"], waits["title"]) == ("change", ID, "Fix the sum")
    assert len(waits["reasons"]) == 1 and "its goal said" in waits["reasons"][0]
    assert waits["command"].endswith(f"approve {ID}")
