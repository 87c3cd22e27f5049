"""QA's turns with its own tests: each is told why, none burns the change, and what shows nothing is not merged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from sisimpur.agents.coder.engine.engine import EngineJob, EngineRun
from sisimpur.cli.views.status import status
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.flow.memory_wire import PlayedModel
from tests.flow.stage import FlowStage
from tests.flow.test_declined import Act, one_by_one, says
from tests.flow.test_gates import asks, prompts, typed
from tests.flow.test_memory import remembers
from tests.journey.gated import FILES, ID, RIGHT, SUM, VISION, Coder
from tests.journey.stage import APPROVES, CODES, Stage, plans, reads, task

PATH = "tests/test_app_total.py"
SHOWS = {PATH: "def test_sum():\n    assert total(1, 2) == 3\n"}
MUTE = {PATH: "def test_mute():\n    assert total(0, 0) == 0\n"}
STILL_MUTE = {PATH: "def test_mute():\n    assert total(1, 0) == 1\n"}
WRONG_TEST = {PATH: "def test_wrong():\n    assert total(1, 2) == 4\n"}
CODE_IS_WRONG = "The code is wrong, because it adds no numbers below zero."
TEST_IS_WRONG = "The finding is wrong: nobody asked for numbers below zero."
WRITTEN = RIGHT + "# for numbers below zero, too\n"


def judged(files: Mapping[str, str]) -> dict[str, str]:
    found = {"tests/test_app.py::test_nothing": "passed"}
    is_right, text = "a + b" in files["app.py"], files.get(PATH, "")
    if "test_sum" in text:
        found[f"{PATH}::test_sum"] = "passed" if is_right else "failed"
    if "test_mute" in text:
        found[f"{PATH}::test_mute"] = "passed"
    if "test_wrong" in text:
        found[f"{PATH}::test_wrong"] = "passed" if is_right and "below zero" in files["app.py"] else "failed"
    return found


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with PlayedModel([reads(), plans(task(SUM, files=("app.py",))), CODES, APPROVES]) as model:
        yield model


@pytest.fixture
def stage(tmp_path: Path, model: ScriptedModel) -> Callable[..., Stage]:
    """After the right change, which brings no test, QA and the coder answer so."""
    right = Coder({"app.py": RIGHT})
    return lambda *acts: FlowStage(tmp_path, model.url, one_by_one(right, *acts), judged).set_up(VISION, FILES)


def of_qa(day: Stage) -> list[str]:
    return [text for text in prompts(day) if text.startswith("You are the Qa of")]


def is_merged_without_its_tests(day: Stage) -> bool:
    (pull,) = day.pulls()
    return "a + b" in day.forge("show", f"{pull.head_sha}:app.py") and PATH not in day.forge(
        "ls-tree", "-r", "--name-only", pull.head_sha
    )


def write(files: Mapping[str, str]) -> Act:
    return Coder(files)


def test_a_test_that_shows_nothing_comes_back_once_to_who_wrote_it(stage: Callable[..., Stage]) -> None:
    day = stage(write(MUTE), write(SHOWS))
    assert day.run_day() == []
    assert day.states() == {ID: "completed"}
    first, second = day.jobs[1:]
    assert (first.create, second.create, second.edit) == ((PATH,), (), (PATH,)), "its own file, never a second one"
    assert f"{PATH}::test_mute passes without the change too, so they show nothing" in second.message
    assert "test_sum" in day.forge("show", f"main:{PATH}")


def test_a_test_that_still_shows_nothing_is_taken_out_and_the_change_goes_on(stage: Callable[..., Stage]) -> None:
    day = stage(write(MUTE), write(STILL_MUTE))
    assert day.run_day() == []
    assert day.states() == {ID: "in_review"}
    assert len(of_qa(day)) == 2 and len(day.jobs) == 3
    assert is_merged_without_its_tests(day)
    assert "QA wrote tests twice that showed nothing; they were taken out" in typed(day, status)
    assert any("QA's tests show nothing. They are taken out" in line for line in day.said)


def test_what_the_reviewer_finds_then_is_the_coders_with_all_rounds(
    stage: Callable[..., Stage], model: ScriptedModel
) -> None:
    """A turn of QA is no round of correction, and no result of the coder's."""
    model.play([reads(), plans(task(SUM, files=("app.py",))), CODES, asks("and below zero?"), APPROVES])
    day = stage(write(MUTE), write(STILL_MUTE), write({"app.py": WRITTEN}))
    day.given_config("policy", attempts="{rounds: 1}")
    day.run_day()
    assert day.states() == {ID: "in_review"}
    assert "and below zero?" in prompts(day)[-1]
    assert "below zero" in day.forge("show", f"{day.pulls()[0].head_sha}:app.py")


def test_a_red_test_of_its_own_comes_back_to_qa_with_the_failure(stage: Callable[..., Stage]) -> None:
    day = stage(write(WRONG_TEST), write(SHOWS))
    assert day.run_day() == []
    assert day.states() == {ID: "completed"}
    first, second = of_qa(day)
    assert "test_wrong" not in first and f"a new test fails: {PATH}::test_wrong" in second
    assert "whether the test is wrong or the changed code" in second
    assert len(day.jobs) == 3, "the coder is not asked about a wrong test"


def test_that_the_code_is_wrong_goes_to_the_coder_in_qas_words(stage: Callable[..., Stage]) -> None:
    day = stage(write(WRONG_TEST), says(CODE_IS_WRONG), write({"app.py": WRITTEN}))
    assert day.run_day() == []
    assert day.states() == {ID: "completed"}
    assert CODE_IS_WRONG in prompts(day)[-1] and prompts(day)[-1].startswith("You are the Coder of")
    assert f"{ID}: QA about its red test: {CODE_IS_WRONG}" in day.said
    assert "below zero" in day.forge("show", "main:app.py")


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(says(TEST_IS_WRONG), id="says so"),
        pytest.param(write({"app.py": RIGHT + "# tried\n"}), id="tries in vain"),
    ],
)
def test_what_the_coder_then_cannot_make_green_is_taken_out(stage: Callable[..., Stage], answer: Act) -> None:
    day = stage(write(WRONG_TEST), says(CODE_IS_WRONG), answer)
    assert day.run_day() == []
    assert day.states() == {ID: "in_review"}
    assert len(day.jobs) == 4
    assert is_merged_without_its_tests(day)
    assert any("QA's tests stay red" in line for line in day.said)


@pytest.mark.parametrize(
    "answer", [pytest.param(says("I cannot."), id="in other words"), pytest.param(write(WRONG_TEST), id="the same")]
)
def test_a_red_test_that_qa_does_not_mend_is_taken_out(stage: Callable[..., Stage], answer: Act) -> None:
    day = stage(write(WRONG_TEST), answer)
    assert day.run_day() == []
    assert (day.states(), len(day.jobs)) == ({ID: "in_review"}, 3)
    assert is_merged_without_its_tests(day)


def test_nobody_learns_from_a_wrong_test_of_qas(stage: Callable[..., Stage]) -> None:
    day = stage(write(WRONG_TEST), write(SHOWS))
    day.run_day()
    assert day.states() == {ID: "completed"}
    assert remembers(day) == (), "the coder had no part in it"


# --- a test from the task's words alone ----------------------------------------------------------------------

BLIND = "tests/test_app_as_asked.py"
OWN = {"app.py": RIGHT, PATH: SHOWS[PATH]}


@pytest.fixture
def fixing(tmp_path: Path, model: ScriptedModel) -> Callable[..., Stage]:
    """A fix, whose coder brings its own test; then QA answers so."""
    named = task(SUM, files=("app.py",), new_files=[PATH], kind="fix")
    model.play([reads(), plans(named), CODES, APPROVES])
    own = Coder(OWN)
    return lambda *acts: FlowStage(tmp_path, model.url, one_by_one(own, *acts), asked).set_up(VISION, FILES)


def asked(files: Mapping[str, str]) -> dict[str, str]:
    if BLIND not in files:
        return judged(files)
    holds = "== 3" in files[BLIND] and "a + b" in files["app.py"]
    return {**judged(files), f"{BLIND}::test_by_words": "passed" if holds else "failed"}


def writes_blind(expected: int) -> Act:
    def act(folder: Path, job: EngineJob) -> None:
        assert "a - b" in (folder / "app.py").read_text() and not (folder / PATH).exists(), "it sees what was"
        Coder({job.create[0]: f"def test_by_words():\n    assert total(1, 2) == {expected}\n"})(folder, job)

    return act


def test_a_fix_is_tested_from_its_words_too_by_who_has_not_seen_it(fixing: Callable[..., Stage]) -> None:
    day = fixing(writes_blind(3))
    assert day.run_day() == [] and day.states() == {ID: "completed"}
    assert len(day.jobs) == 2 and "you do not see it" in of_qa(day)[0] and "a + b" not in of_qa(day)[0]
    assert any("a test from its words alone agrees: 1 of its tests pass" in line for line in day.said)
    assert BLIND not in day.forge("ls-tree", "-r", "--name-only", "main"), "it is no part of the change"


@pytest.mark.parametrize("is_answered", [True, False])
def test_where_it_disagrees_the_reviewer_reads_that(
    fixing: Callable[..., Stage], model: ScriptedModel, is_answered: bool
) -> None:
    day = fixing(writes_blind(4))
    why = {"path": "app.py", "line": 2, "severity": "low", "rule": "disagreeing test", "text": "1 and 2 are 3."}
    said = {"decision": "approve", "reason": "", "unresolved": [], "findings": [why] if is_answered else []}
    named = task(SUM, files=("app.py",), new_files=[PATH], kind="fix")
    model.play([reads(), plans(named), CODES, {**APPROVES, "json": said}])
    assert day.run_day() == [] and day.states() == {ID: "completed" if is_answered else "in_review"}
    assert any("disagrees: 1 of its tests fail" in line for line in day.said)
    assert any("the reviewer says nothing to it" in line for line in day.said) is not is_answered
    (read,) = [str(one) for one in model.requests if "You are the Reviewer of" in str(one)]
    assert "by somebody who has not seen the change, disagrees" in read and "test_by_words" in read


@pytest.mark.parametrize("off", [True, False])
def test_none_is_written_where_the_owner_wants_none_or_it_says_nothing(fixing: Callable[..., Stage], off: bool) -> None:
    day = fixing(says("Nothing here can be tested."))
    if off:
        day.given_config("policy", qa="{independent: off}")
    assert day.run_day() == [] and day.states() == {ID: "completed"}
    assert len(day.jobs) == (1 if off else 2)
    told = [line for line in day.said if "no test from its words alone" in line]
    assert len(told) == (not off) and all("Nothing here can be tested." in line for line in told)


def test_what_its_writer_may_not_write_is_not_told_of_the_coder(
    fixing: Callable[..., Stage], model: ScriptedModel
) -> None:
    day = fixing(lambda *_: EngineRun("no edits", "refused", (), "", 1.0, refused=("tests/test_mine.py",)))
    assert day.run_day() == [] and day.states() == {ID: "completed"}
    (read,) = [str(one) for one in model.requests if "You are the Reviewer of" in str(one)]
    assert "tests/test_mine.py" not in read and "engine was refused" not in read
    assert sum("no test from its words alone" in line for line in day.said) == 1
