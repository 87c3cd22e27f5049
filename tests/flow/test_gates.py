"""From a pull request to the branch: tested, read, then merged, sent back, or the owner's turn."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stdout
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from sisimpur.agents.coder.engine.engine import EngineJob
from sisimpur.cli.app import main
from sisimpur.cli.commands import owner_commands
from sisimpur.cli.terminal.arguments import Arguments
from sisimpur.cli.views.show import show
from sisimpur.cli.views.status import status
from sisimpur.cli.views.tasks import tasks
from sisimpur.shared.forge.forge import ForgeRefused
from sisimpur.shared.model.errors import Misconfigured
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.flow.memory_wire import PlayedModel
from tests.flow.stage import FlowStage, MemoryForge, open_core
from tests.journey.gated import (
    BAD,
    FILES,
    GOOD,
    ID,
    LAST,
    NEW_TEST,
    RIGHT,
    SUM,
    VISION,
    WORSE,
    WORST,
    WRONG,
    Coder,
    fix,
    suite,
)
from tests.journey.stage import APPROVES, CODES, Stage, plans, reads, task


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with PlayedModel([reads(), plans(fix()), CODES, APPROVES]) as model:
        yield model


@pytest.fixture
def stage(tmp_path: Path, model: ScriptedModel) -> Callable[..., Stage]:
    def make(*answers: Mapping[str, str]) -> Stage:
        coder = Coder(*(answers or (GOOD,)))
        return FlowStage(tmp_path, model.url, coder, suite).set_up(VISION, FILES)

    return make


class KeepsBranches(MemoryForge):
    """A forge whose branches are protected."""

    def delete_branch(self, name: str) -> None:
        raise ForgeRefused(f"{name} is protected")


def test_what_is_merged_is_done_also_where_the_forge_keeps_its_branch(stage: Callable[..., Stage]) -> None:
    merged = stage()
    merged.open_team = partial(open_core, forge=KeepsBranches)
    assert merged.run_day() == []
    assert merged.states() == {ID: "completed"}
    assert any(f"{ID}: its branch stays" in line and "is protected" in line for line in merged.said)


def typed(stage: Stage, command: Callable[[Arguments], int], **more: Any) -> str:
    with redirect_stdout(StringIO()) as out:
        assert command(Arguments(command.__name__, stage.home.root, **more)) == 0
    return out.getvalue()


def asks(finding: str) -> dict[str, Any]:
    found = {"path": "app.py", "line": 2, "severity": "high", "rule": "correctness", "text": finding}
    return {
        "agent": "reviewer",
        "json": {"decision": "request_changes", "reason": finding, "unresolved": [], "findings": [found]},
    }


def prompts(stage: Stage) -> list[str]:
    return [job.message for job in stage.jobs]


# --- merged --------------------------------------------------------------------------------------------------


def test_the_history_of_main_says_what_was_done_why_and_for_which_goal(stage: Callable[..., Stage]) -> None:
    day = stage()
    day.run_day()
    (pull,) = day.pulls()
    said = day.forge("log", "-1", "--format=%B", "main")
    title, *why, trailers = said.split("\n\n")
    assert title == f"fix: {pull.title[:1].lower()}{pull.title[1:]} (#{pull.number})"
    assert why == [fix()["description"], "The goal: Fix the sum in app.py"]
    told = dict(line.split(": ") for line in trailers.splitlines())
    assert list(told) == ["Goal", "Task", "Attempt", "Model", "Prompt-Digest", "Team-Version"]
    assert (told["Goal"], told["Task"], told["Attempt"], told["Model"]) == (SUM, ID, "1", day.jobs[0].model.model)
    assert told["Prompt-Digest"] == hashlib.sha256(prompts(day)[0].encode()).hexdigest()[:16]
    assert day.forge("log", "-1", "--format=%B", pull.head_sha).endswith(f"\n\n{trailers}")
    assert day.forge("rev-parse", "main^{tree}") == day.forge("rev-parse", f"{pull.head_sha}^{{tree}}")
    with redirect_stdout(StringIO()) as out:
        assert main(["trace", "--home", str(day.home.root), day.forge("rev-parse", "main")]) == 0
    assert ID in out.getvalue() and SUM in out.getvalue()


def test_a_plan_that_writes_trailers_signs_for_nobody_on_main(
    stage: Callable[..., Stage], model: ScriptedModel
) -> None:
    forged = "Why.\r\n\r\nGoal: other\rTask: other\n\nCo-authored-by: Owner <o@x>\n\n"
    model.play([reads(), plans(fix() | {"description": forged}), CODES, APPROVES])
    day = stage()
    day.run_day()
    said = day.forge("log", "-1", "--format=%B", "main")
    signed = [
        line for line in said.splitlines()[1:] if re.match(r"\s*(?:goal|task|[\w-]+-by)\s*:", line, re.IGNORECASE)
    ]
    assert signed == [f"Goal: {SUM}", f"Task: {ID}"] and "Co-authored-by - Owner" in said


def test_the_pull_request_shows_the_evidence_and_the_review(stage: Callable[..., Stage]) -> None:
    day = stage()
    day.run_day()
    with day.records() as records:
        forge = records.forge()
        assert forge
        (pull,) = day.pulls()
        tests = "\n".join(comment.body for comment in forge.comments(pull.number))
        assert (
            "Tests: green" in tests and pull.head_sha in tests and "1 new, 1 of them fails without the change" in tests
        )
        assert [(review.verdict, review.sha) for review in forge.reviews(pull.number)] == [("approve", pull.head_sha)]
        assert dict(forge.checks(pull.head_sha).items) == {"agents/tests": "success", "agents/review": "success"}


def test_the_same_day_again_changes_nothing(stage: Callable[..., Stage], model: ScriptedModel) -> None:
    day = stage()
    day.run_day()
    calls, pulls = len(model.requests), day.pulls()
    assert day.run_day() == []
    assert (len(model.requests), day.pulls()) == (calls, pulls)


# --- sent back -----------------------------------------------------------------------------------------------


def test_red_tests_go_back_to_the_coder_with_the_failure(stage: Callable[..., Stage]) -> None:
    day = stage(BAD, GOOD)
    assert day.run_day() == []
    assert day.states() == {ID: "completed"}
    assert len(day.pulls()) == 1
    first, second = prompts(day)
    assert "test_sum" not in first
    assert "tests/test_app.py::test_sum" in second and "AssertionError" in second
    assert day.change.seen[1]["app.py"] == BAD["app.py"]  # type: ignore[attr-defined]


def test_the_reviewers_findings_go_back_to_the_coder(stage: Callable[..., Stage], model: ScriptedModel) -> None:
    model.play([reads(), plans(fix()), CODES, asks("what about negative numbers?"), APPROVES])
    day = stage(GOOD, {**GOOD, "app.py": RIGHT + "# negative numbers as well\n"})
    assert day.run_day() == []
    assert day.states() == {ID: "completed"}
    assert "what about negative numbers?" in prompts(day)[1]


def test_three_rounds_of_correction_are_the_most(stage: Callable[..., Stage]) -> None:
    day = stage(BAD, WORSE, WORST, LAST)
    day.run_day()
    assert day.states() == {ID: "failed"}
    assert len(day.jobs) == 4
    (pull,) = day.pulls()
    assert pull.state == "closed"
    assert "test_sum" in day.note(ID)
    assert f"{ID}  Fix the sum" in typed(day, status)


def test_the_same_result_twice_is_the_last(stage: Callable[..., Stage]) -> None:
    day = stage(BAD)
    day.run_day()
    assert day.states() == {ID: "failed"}
    assert len(day.jobs) == 2
    assert day.note(ID) == "the correction gave exactly the same result as before"


def test_a_failed_task_gets_fresh_attempts_from_the_owner(stage: Callable[..., Stage]) -> None:
    day = stage(BAD, BAD, GOOD)
    day.run_day()
    typed(day, owner_commands.retry, id=ID, why="add the two numbers")
    assert day.run_day() == []
    assert day.states() == {ID: "completed"}
    assert "add the two numbers" in prompts(day)[-1]
    assert sorted(pull.state for pull in day.pulls()) == ["closed", "merged"]


def test_a_weakened_test_is_no_way_out(stage: Callable[..., Stage]) -> None:
    """The old test is gone: everything that is left is green."""
    day = stage(
        {"app.py": WRONG + "# x\n", "tests/test_app.py": "from app import total\n\n\ndef test_x():\n    pass\n"}
    )
    day.run_day()
    assert day.states() == {ID: "failed"}
    assert day.forge("show", "main:app.py") == WRONG.strip()


def told(files: Mapping[str, str]) -> dict[str, str]:
    """As `suite`, where nothing and nothing may be one."""
    expected = "== 1" if "+ 1" in files["app.py"] else "== 0"
    holds = expected in files.get("tests/test_app.py", "").partition("def test_sum")[0]
    return {**suite(files), "tests/test_app.py::test_nothing": "passed" if holds else "failed"}


def test_a_test_that_is_bent_twice_is_the_owners_question(tmp_path: Path, model: ScriptedModel) -> None:
    model.play([reads(), plans(fix()), CODES, APPROVES])
    bent = {"app.py": RIGHT.replace("a + b", "a + b + 1"), "tests/test_app.py": GOOD["tests/test_app.py"]}
    bent["tests/test_app.py"] = bent["tests/test_app.py"].replace("total(0, 0) == 0", "total(0, 0) == 1")
    again = {**bent, "app.py": bent["app.py"] + "# on purpose\n"}
    day = FlowStage(tmp_path, model.url, Coder(bent, again), told).set_up(VISION, FILES)
    assert day.run_day() == []
    assert (day.states(), len(day.jobs)) == ({ID: "in_review"}, 2)
    (line,) = json.loads(typed(day, status, json=True))["waits_for_you"]
    assert "test_nothing as it was before the change does not pass" in line and "either the code is wrong" in line
    typed(day, owner_commands.approve, id=ID)
    assert day.run_day() == []
    assert day.states() == {ID: "completed"}


# --- the owner's queue ---------------------------------------------------------------------------------------


@pytest.fixture
def parked(stage: Callable[..., Stage], model: ScriptedModel) -> Stage:
    files = ("app.py", "tests/test_app.py", "settings.py")
    model.play([reads(), plans(task(SUM, files=files)), CODES, APPROVES])
    day = stage({**GOOD, "settings.py": "X = 2\n"})
    assert day.run_day() == []
    return day


def test_a_protected_path_waits_for_the_owner(parked: Stage) -> None:
    assert parked.states() == {ID: "in_review"}
    assert parked.forge("show", "main:app.py") == WRONG.strip()
    facts = json.loads(typed(parked, status, json=True))
    (line,) = facts["waits_for_you"]
    assert "settings.py" in line and f"approve, reject or retry {ID}" in line
    (row,) = json.loads(typed(parked, tasks, json=True))
    assert row["note"].startswith("waits for you: ") and "settings.py" in row["note"]
    typed(parked, owner_commands.approve, id=ID)
    assert "waits for you" not in typed(parked, tasks)
    assert "waits for you" in parked.home.progress.read_text()


def test_who_waits_is_told_once_and_costs_nothing(parked: Stage, model: ScriptedModel) -> None:
    calls, said = len(model.requests), sum("waits for you:" in line for line in parked.said)
    parked.run_day()
    assert (len(model.requests), sum("waits for you:" in line for line in parked.said)) == (calls, said) == (calls, 1)


def test_an_approved_change_is_merged(parked: Stage) -> None:
    assert "approved" in typed(parked, owner_commands.approve, id=ID)
    assert parked.run_day() == []
    assert parked.states() == {ID: "completed"}
    assert parked.forge("show", "main:settings.py") == "X = 2"


def test_a_rejected_change_is_closed_and_its_reason_reaches_the_coder(parked: Stage) -> None:
    typed(parked, owner_commands.reject, id=ID, why="leave the settings alone")
    parked.run_day()
    assert parked.states() == {ID: "failed"}
    assert [pull.state for pull in parked.pulls()] == ["closed"]
    typed(parked, owner_commands.retry, id=ID)
    parked.run_day()
    assert "leave the settings alone" in prompts(parked)[-1]


def test_a_change_that_waits_can_be_sent_back(parked: Stage) -> None:
    typed(parked, owner_commands.retry, id=ID, why="X must be 3")
    parked.change.answers = [{**GOOD, "settings.py": "X = 3\n"}]  # type: ignore[attr-defined]
    parked.run_day()
    assert "X must be 3" in prompts(parked)[-1]
    assert parked.change.seen[-1]["settings.py"] == "X = 2\n"  # type: ignore[attr-defined]
    assert parked.states() == {ID: "in_review"}
    assert len(parked.pulls()) == 1


def test_a_change_is_tested_again_without_a_model(parked: Stage, model: ScriptedModel) -> None:
    calls, tested = len(model.requests), sum(": testing " in line for line in parked.said)
    assert "its tests are run again" in typed(parked, owner_commands.retest, id=ID)
    parked.run_day()
    assert sum(": testing " in line for line in parked.said) == tested + 1
    assert len(model.requests) == calls
    assert parked.states() == {ID: "in_review"}


def test_only_what_waits_at_the_gates_is_tested_again(parked: Stage) -> None:
    typed(parked, owner_commands.reject, id=ID, why="no")
    with pytest.raises(Misconfigured, match="lies in failed/ and has no tests to run again"):
        typed(parked, owner_commands.retest, id=ID)


def test_a_removed_goal_closes_what_waits(parked: Stage) -> None:
    parked.given_vision("# Vision\n\n## Priority: HIGH\n")
    parked.run_day()
    assert parked.states() == {ID: "failed"}
    assert [pull.state for pull in parked.pulls()] == ["closed"]


def test_what_the_owner_closed_stays_closed(parked: Stage) -> None:
    with parked.records() as records:
        forge = records.forge()
        assert forge
        forge.close(1)
    parked.run_day()
    assert parked.states() == {ID: "failed"}
    assert parked.note(ID) == "closed by the owner"
    assert len(parked.pulls()) == 1


def test_what_the_owner_merged_is_done(parked: Stage) -> None:
    with parked.records() as records:
        forge = records.forge()
        assert forge
        forge.set_status(parked.pulls()[0].head_sha, "agents/review", "success")
        forge.merge(1, parked.pulls()[0].head_sha)
    parked.run_day()
    assert parked.states() == {ID: "completed"}
    assert parked.note(ID) == "merged by the owner"


# --- a finding is answered -----------------------------------------------------------------------------------

DROPS = {**GOOD, "app.py": RIGHT + "\n\ndef drop(c, t):\n    c.execute(f'drop table {t}')\n"}
SPACED = {**DROPS, "app.py": DROPS["app.py"].replace("def drop", "# one\ndef drop")}


def test_the_owners_word_over_a_finding_settles_it_without_a_coder(stage: Callable[..., Stage]) -> None:
    day = stage(DROPS)
    day.run_day()
    assert day.states() == {ID: "failed"}
    jobs = len(day.jobs)
    assert "finding 1. high: app.py:" in typed(day, show, id=ID)
    assert "over raw SQL at app.py:" in typed(day, owner_commands.approve, id=ID, over="1", why="t is ours")
    assert day.run_day() == []
    assert day.states() == {ID: "completed"}
    assert len(day.jobs) == jobs
    assert "drop table" in day.forge("show", "main:app.py")
    assert "over raw SQL at app.py" in day.note(ID) and "by your word" in day.note(ID)
    assert "by your word" in next(day.home.reports.rglob("*.md")).read_text()


def test_a_finding_is_named_by_its_letters_too_and_settled_in_later_commits(stage: Callable[..., Stage]) -> None:
    day = stage(DROPS)
    day.run_day()
    with day.records() as records:
        found = records.gates.newest(ID)[1]
    assert found
    typed(day, owner_commands.approve, id=ID, over=found.verdict.findings[0].signature[:8])
    typed(day, owner_commands.cancel, id=ID)
    day.run_day()
    day.change.answers = [SPACED]  # type: ignore[attr-defined]
    typed(day, owner_commands.retry, id=ID, why="a remark above it, please")
    assert day.run_day() == []
    assert day.states() == {ID: "completed"}
    assert "# one" in day.forge("show", "main:app.py")


@pytest.mark.parametrize("over", ["2", "0", "", "zzzz", "-1"])
def test_a_finding_that_is_not_there_is_settled_by_nobody(stage: Callable[..., Stage], over: str) -> None:
    day = stage(DROPS)
    day.run_day()
    with pytest.raises(Misconfigured):
        typed(day, owner_commands.approve, id=ID, over=over)
    assert day.states() == {ID: "failed"}


def test_no_word_is_over_a_key(stage: Callable[..., Stage]) -> None:
    day = stage({**GOOD, "app.py": RIGHT + f"TOKEN = {'q7Zp2mX9' + 'vK4tR8wL'!r}\n"})
    day.run_day()
    with pytest.raises(Misconfigured, match="nobody's word is over a secret"):
        typed(day, owner_commands.approve, id=ID, over="1")


def test_the_owners_words_take_the_place_of_the_order_that_they_contradict(stage: Callable[..., Stage]) -> None:
    day = stage(DROPS)
    day.run_day()
    typed(day, owner_commands.retry, id=ID, why="leave that line")
    day.run_day()
    last = prompts(day)[-1]
    assert last.index("leave that line") < last.index("the owner has answered this since")
    assert "put together from strings" not in last
    typed(day, owner_commands.retry, id=ID, why="no raw SQL is left: that one stays")
    day.run_day()
    assert "raw SQL)" not in prompts(day)[-1]


def test_what_only_the_owner_decides_is_no_order_to_the_coder(
    stage: Callable[..., Stage], model: ScriptedModel
) -> None:
    files = ("app.py", "tests/test_app.py")
    model.play([reads(), plans(task(SUM, files=files, new_files=("requirements.txt",))), CODES, APPROVES])
    day = stage({**DROPS, "requirements.txt": "rich==2\n"})
    day.run_day()
    assert "put together from strings" in prompts(day)[1]
    assert "is a new dependency" not in prompts(day)[1]
    assert "The task names requirements.txt: you may add there what the task asks for" in prompts(day)[1]


# --- QA's turn -----------------------------------------------------------------------------------------------


def test_where_a_change_brings_no_test_qa_has_one_written(stage: Callable[..., Stage], model: ScriptedModel) -> None:
    model.play([reads(), plans(task(SUM, files=("app.py",))), CODES, APPROVES])
    day = stage({"app.py": RIGHT}, {})

    def work(folder: Path, job: EngineJob) -> None:
        Coder({"app.py": RIGHT} if job.edit else {job.create[0]: FILES["tests/test_app.py"] + NEW_TEST})(folder, job)

    def judged(files: Mapping[str, str]) -> dict[str, str]:
        written = {path: text for path, text in files.items() if path.startswith("tests/") and "test_sum" in text}
        right = "passed" if "a + b" in files["app.py"] else "failed"
        return {"tests/test_app.py::test_nothing": "passed", **{f"{path}::test_sum": right for path in written}}

    day.change, day.tests = work, judged
    assert day.run_day() == []
    assert day.states() == {ID: "completed"}
    written = day.jobs[1].create
    assert len(written) == 1 and day.jobs[1].edit == ()
    assert day.jobs[1].message.startswith("You are the Qa of"), "not the words of a change that was sent back"
    assert "nothing shows" not in day.jobs[1].message, "what was found is not what it is asked for"
    assert "test_sum" in day.forge("show", f"main:{written[0]}")


# --- bad answers ---------------------------------------------------------------------------------------------


def test_a_reviewer_that_never_answers_in_form_ends_with_the_owner(
    stage: Callable[..., Stage], model: ScriptedModel
) -> None:
    model.play([reads(), plans(fix()), CODES, {"agent": "reviewer", "times": "any", "text": "LGTM, merge it!"}])
    day = stage()
    day.run_day()
    assert day.states() == {ID: "in_review"}
    assert "came to no verdict" in typed(day, status)
    assert day.forge("show", "main:app.py") == WRONG.strip()


def test_an_approval_with_a_grave_finding_is_none(stage: Callable[..., Stage], model: ScriptedModel) -> None:
    grave = {"path": "app.py", "line": 2, "severity": "high", "rule": "security", "text": "opens the door"}
    answer = {
        "agent": "reviewer",
        "times": "any",
        "json": {"decision": "approve", "reason": "", "unresolved": [], "findings": [grave]},
    }
    model.play([reads(), plans(fix()), CODES, answer])
    day = stage()
    day.run_day()
    assert day.forge("show", "main:app.py") == WRONG.strip()


# --- the owner's last word -----------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [owner_commands.retry, owner_commands.cancel], ids=["retry", "cancel, then retry"])
def test_an_approval_that_was_taken_back_is_none(parked: Stage, command: Callable[[Arguments], int]) -> None:
    """The coder makes the very same change again: it waits again."""
    typed(parked, owner_commands.approve, id=ID)
    typed(parked, command, id=ID)
    parked.run_day()
    if command is owner_commands.cancel:
        typed(parked, owner_commands.retry, id=ID)
        parked.run_day()
    assert parked.states() == {ID: "in_review"}
    assert parked.forge("show", "main:settings.py") == "X = 1"


def test_an_approval_ends_with_a_move_by_hand(parked: Stage) -> None:
    typed(parked, owner_commands.approve, id=ID)
    for source, target in (("in_review", "failed"), ("failed", "backlog")):
        (parked.home.root / "tasks" / source / f"{ID}.md").rename(parked.home.root / "tasks" / target / f"{ID}.md")
        parked.run_day()
    assert parked.states() == {ID: "in_review"}
    assert parked.forge("show", "main:settings.py") == "X = 1"


def test_a_dont_touch_that_was_written_after_the_commit_still_counts(parked: Stage, model: ScriptedModel) -> None:
    typed(parked, owner_commands.approve, id=ID)
    guarded = VISION + "\n## Notes\n- Don't touch settings.py\n"
    model.play([reads([{"line": 7, "patterns": ["settings.py"]}]), plans(), CODES, APPROVES])
    parked.given_vision(guarded)
    parked.run_day()
    assert parked.states() == {ID: "in_review"}
    assert "you have said not to touch" in typed(parked, status)


def test_a_task_that_ends_in_the_backlog_takes_its_pull_request_along(parked: Stage) -> None:
    parked.given_config("policy", budget="{task: 0.000001, day: 0.000001, month: 1}")  # nothing can be coded
    typed(parked, owner_commands.retry, id=ID, why="again")
    parked.run_day()
    typed(parked, owner_commands.cancel, id=ID)
    parked.run_day()
    assert [pull.state for pull in parked.pulls()] == ["closed"]


def test_what_the_owner_merges_while_it_is_sent_back_is_done(parked: Stage) -> None:
    typed(parked, owner_commands.retry, id=ID, why="again")
    with parked.records() as records:
        forge = records.forge()
        assert forge
        forge.set_status(parked.pulls()[0].head_sha, "agents/review", "success")
        forge.merge(1, parked.pulls()[0].head_sha)
    jobs = len(parked.jobs)
    parked.run_day()
    assert parked.states() == {ID: "completed"}
    assert len(parked.jobs) == jobs


def test_what_the_owner_closed_may_be_tried_again_by_him(parked: Stage) -> None:
    with parked.records() as records:
        forge = records.forge()
        assert forge
        forge.close(1)
    parked.run_day()
    typed(parked, owner_commands.retry, id=ID)
    parked.run_day()
    assert parked.states() == {ID: "in_review"}
    assert sorted(pull.state for pull in parked.pulls()) == ["closed", "open"]


def test_what_the_owner_ended_he_may_have_done_again(parked: Stage) -> None:
    """Merged by him, then retried: a new attempt and a new pull request, not the old answer once more."""
    with parked.records() as records:
        forge = records.forge()
        assert forge
        forge.set_status(parked.pulls()[0].head_sha, "agents/review", "success")
        forge.merge(1, parked.pulls()[0].head_sha)
    parked.run_day()
    parked.change.answers = [{"settings.py": "X = 4\n"}]  # type: ignore[attr-defined]
    jobs = len(parked.jobs)
    typed(parked, owner_commands.retry, id=ID, again=True)
    parked.run_day()
    assert len(parked.jobs) > jobs


def test_show_has_what_tests_and_review_said_and_what_is_asked(parked: Stage) -> None:
    text = typed(parked, show, id=ID)
    for said in ("tests: 2 passed", "review: approved", "waits for you:\n  it changes settings.py"):
        assert said in text


def test_a_review_that_the_tasks_cap_does_not_allow_is_the_owners(
    stage: Callable[..., Stage], model: ScriptedModel
) -> None:
    day = stage()
    day.given_config("policy", budget="{task: 0.50, day: 5, month: 9}")
    day.given_config("agents", reviewer="{model: claude-sonnet-5-5, max_tokens: 60000}")  # costs more than that
    day.run_day()
    assert day.states() == {ID: "in_review"}
    assert "could not be reviewed" in typed(day, status)
