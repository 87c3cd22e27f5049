"""A working day, from VISION.md to pull requests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from sisimpur.agents.coder.engine.engine import EngineJob
from sisimpur.cli.terminal.printing import command
from sisimpur.cli.views.target import look
from sisimpur.shared.model.lifecycle import State
from sisimpur.shared.repo.git import Remote
from sisimpur.shared.system.paths import IN_USE
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.flow.memory_wire import PlayedModel
from tests.flow.stage import FlowStage
from tests.journey.stage import APPROVES, CODES, VISION, Stage, goals_of, mends, plans, reads, repository, task


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with PlayedModel([reads(), CODES, APPROVES]) as model:
        yield model


@pytest.fixture
def stage(tmp_path: Path, model: ScriptedModel) -> Stage:
    return FlowStage(tmp_path, model.url).set_up()


def plays(model: ScriptedModel, *tasks: dict[str, object], **reading: object) -> None:
    model.play([reads(**reading), plans(*tasks), CODES, APPROVES])  # type: ignore[arg-type]


SUM = goals_of(VISION)[0]
TWO = f"{VISION}- Tell more in the readme\n"


def test_the_same_day_again_asks_nobody_and_changes_nothing(stage: Stage, model: ScriptedModel) -> None:
    plays(model, task(SUM))
    stage.run_day()
    calls, pulls = len(model.requests), stage.pulls()
    assert stage.run_day() == []
    assert len(model.requests) == calls
    assert stage.pulls() == pulls


def test_an_idle_day_costs_nothing(stage: Stage, model: ScriptedModel) -> None:
    """Unchanged vision and nothing open: no model call at all."""
    stage.given_vision("# Vision\n")
    assert stage.run_day() == []
    assert model.requests == []
    assert "Nothing new to plan" in stage.home.daily_plan.read_text()


def test_until_planning_nothing_is_coded(stage: Stage, model: ScriptedModel) -> None:
    plays(model, task(SUM))
    stage.run_day(until="planning")
    assert list(stage.states().values()) == ["backlog"]
    assert stage.jobs == []


def test_a_removed_goal_takes_its_task_out_of_the_queue(stage: Stage, model: ScriptedModel) -> None:
    plays(model, task(SUM))
    stage.run_day(until="planning")
    stage.given_vision("# Vision\n\n## Priority: HIGH\n")
    stage.run_day()
    (id_,) = stage.states()
    assert stage.states() == {id_: "failed"}
    assert stage.note(id_) == "its goal was removed from VISION.md"
    assert stage.jobs == []


def test_a_goal_with_a_question_waits_until_it_is_reworded(stage: Stage, model: ScriptedModel) -> None:
    plays(model, task(SUM), questions=[{"goal_id": SUM, "text": "Which sum?"}])
    stage.run_day()
    assert stage.states() == {}
    assert "Which sum?" in stage.home.daily_plan.read_text()
    plays(model, task(SUM))
    stage.given_vision(VISION.replace("the sum in app.py", "the sum in app.py for negative numbers"))
    stage.run_day()
    assert list(stage.states().values()) == ["in_review"]


def test_what_the_owner_guards_is_not_committed(stage: Stage, model: ScriptedModel) -> None:
    """The plan knows the guard; an engine that does it all the same is stopped at the commit."""

    def meddles(folder: Path, job: EngineJob) -> None:
        (folder / "app.py").write_text("right\n")
        (folder / "webhook.py").write_text("wrong\n")

    stage.change = meddles
    stage.given_vision(VISION + "\n## Notes\n- Don't touch the webhook\n")
    plays(model, task(SUM), guards=[{"line": 7, "patterns": ["webhook.py"]}])
    stage.run_day()
    (id_,) = stage.states()
    assert stage.states() == {id_: "failed"}
    assert "webhook.py: the owner guards webhook.py" in stage.note(id_)
    assert stage.pulls() == []
    assert len(stage.jobs) == 3  # tried three times, then the owner is asked


def test_a_task_in_the_guarded_file_is_not_even_planned(stage: Stage, model: ScriptedModel) -> None:
    stage.given_vision(VISION + "\n## Notes\n- Don't touch the webhook\n")
    plays(model, task(SUM, files=["webhook.py"]), guards=[{"line": 7, "patterns": ["webhook.py"]}])
    stage.run_day()
    assert stage.states() == {}
    assert "webhook" in stage.home.daily_plan.read_text()


def test_the_most_urgent_comes_first_and_what_is_needed_before_it(stage: Stage, model: ScriptedModel) -> None:
    vision = "# V\n\n## Priority: LOW\n- Tidy the readme\n\n## Priority: CRITICAL\n- Fix the sum in app.py\n"
    tidy, fix = goals_of(vision)
    stage.given_vision(vision)
    plays(model, task(tidy, "Tidy the readme", ["README.md"]), task(fix))
    stage.run_day()
    assert [job.edit for job in stage.jobs] == [("app.py",), ("README.md",)]


def test_a_task_waits_for_the_one_it_depends_on(stage: Stage, model: ScriptedModel) -> None:
    second = task(SUM, "Then the readme", ["README.md"], depends_on=["Fix the sum"])
    plays(model, task(SUM), second)
    stage.run_day()
    assert sorted(stage.states().values()) == ["backlog", "in_review"]


def test_a_task_that_the_owner_drops_is_worked_on(stage: Stage) -> None:
    stage.given_vision("# Vision\n")
    path = stage.home.root / "tasks" / "backlog" / "my-own.md"
    path.write_text("---\ntitle: Greet\nfiles: [README.md]\n---\n\nSay hello in the readme.\n")
    stage.run_day()
    assert stage.states() == {"my-own": "in_review"}
    assert stage.pulls()[0].head == "agent/my-own-greet"


def test_retry_gives_fresh_attempts(stage: Stage, model: ScriptedModel) -> None:
    stage.change = lambda folder, job: None
    plays(model, task(SUM))
    stage.run_day()
    (id_,) = stage.states()
    assert stage.states() == {id_: "failed"}
    assert "the engine changed nothing" in stage.note(id_)
    stage.change = Stage.change
    (stage.home.root / "tasks" / "failed" / f"{id_}.md").rename(stage.home.root / "tasks" / "backlog" / f"{id_}.md")
    stage.run_day()
    assert stage.states() == {id_: "in_review"}


def test_an_unreadable_file_is_named_kept_and_stops_nobody(stage: Stage, model: ScriptedModel) -> None:
    path = stage.home.root / "tasks" / "backlog" / "broken.md"
    path.write_text("---\ntitle: x\n")
    plays(model, task(SUM))
    stage.run_day()
    assert path.read_text() == "---\ntitle: x\n"
    assert "in_review" in stage.states().values()
    assert "broken.md: the front matter is not closed" in stage.home.progress.read_text()


def test_the_caps_hold_and_the_rest_waits(stage: Stage, model: ScriptedModel) -> None:
    """Enough for reading and planning, not for coding."""
    stage.given_config("policy", budget='{task: "0.30", day: "0.30", month: "0.30", warn_at: 0.8}')
    plays(model, task(SUM))
    stage.run_day(until="planning")
    spent = model.billed
    stage.given_config(
        "policy", budget=f'{{task: "{spent / 1e9:.9f}", day: "{spent / 1e9:.9f}", month: "0.30", warn_at: 0.8}}'
    )
    problems = stage.run_day()
    assert model.billed == spent
    assert list(stage.states().values()) == ["backlog"]
    assert problems == []
    with stage.records() as records:
        (id_,) = stage.states()
        note = records.journal.attempts(id_)[-1].note
    for told in (note, "".join(stage.said), stage.home.progress.read_text()):
        assert "the next call may cost up to $" in told and "; $0.00 is left; for more, " in told


REFUSAL = {"status": 400, "error": {"type": "invalid_request_error", "message": "messages.0 is not fit"}}


@pytest.mark.parametrize("role", ["Coder", "Reviewer"])
def test_a_refused_request_is_the_trouble_of_its_task_and_the_others_go_on(
    stage: Stage, model: ScriptedModel, role: str
) -> None:
    """The vendor is there, and takes what others ask: nobody rests."""
    stage.given_vision(TWO)
    first, second = goals_of(TWO)
    tasks = plans(task(first, "Adders"), task(second, "Readers", files=["README.md"]))
    refusal = {"when": {"system": f"^You are the {role}", "user": "Adders"}, "times": "any", **REFUSAL}
    model.play([reads(), tasks, refusal, CODES, APPROVES])
    began = stage.clock.now()
    (problem,) = stage.run_day()
    assert stage.clock.now() - began < timedelta(minutes=5)
    assert "messages.0 is not fit" in problem
    one, other = stage.states()
    assert (stage.states()[one], stage.states()[other]) == ("backlog" if role == "Coder" else "in_review", "in_review")
    assert any(line.startswith(f"{other}: review:") for line in stage.said)
    assert not any(line.startswith(f"{one}: review:") for line in stage.said)


def test_a_morning_that_the_vendor_refused_is_mended_first(stage: Stage, model: ScriptedModel) -> None:
    stage.given_vision(f"{TWO}\n## Notes\n- Don't touch the cellar\n")
    model.play([{"times": "any", **REFUSAL}])
    (problem,) = stage.run_day()
    assert "messages.0 is not fit" in problem
    mend = "mend what went wrong in morning"
    assert any(line.endswith(f"resting: no task is ready; first {mend}") for line in stage.said)
    (report,) = stage.home.reports.glob("*.md")
    told = report.read_text().split("## Tomorrow")[1]
    assert f"{mend}, then type `{command(stage.home.root, 'run-day', anywhere=True)}`" in told
    assert "write new goals" not in told
    logged = (stage.home.logs / "orchestrator.jsonl").read_text()
    assert '"broke off"' in logged and "Misconfigured" not in logged


def test_a_branch_that_is_none_is_told_on_a_day_with_nothing_new(stage: Stage, model: ScriptedModel) -> None:
    plays(model, task(SUM))
    assert stage.run_day() == []
    (target,) = (stage.home.config / "targets").glob("*.yaml")
    target.write_text(re.sub("^branch: .*$", "branch: nope", target.read_text(), flags=re.M))
    stage.clock.sleep(86_400)
    problem, *_ = stage.run_day()
    assert problem.startswith("morning: ") and "nope" in problem and "`branch:`" in problem


def test_a_model_that_is_away_costs_no_attempt_and_is_asked_again_later(stage: Stage, model: ScriptedModel) -> None:
    model.play([reads(), plans(task(SUM)), {**CODES, "status": 500, "error": {"message": "down"}}])
    stage.given_config("agents", engine="{patience: 0}")
    (problem,) = stage.run_day()
    assert "the model" in problem
    with stage.records() as records:
        (attempts,) = [records.journal.attempts(id_) for id_ in stage.states()]
    assert {attempt.outcome for attempt in attempts} == {"void"}
    assert 1 < len(attempts) < 10  # again every ten minutes, for an hour
    plays(model, task(SUM))
    assert stage.run_day() == []
    assert list(stage.states().values()) == ["in_review"]


def test_a_model_that_comes_back_within_the_hour_costs_nothing_but_time(stage: Stage, model: ScriptedModel) -> None:
    away = {"when": {"system": "^You are the Coder"}, "times": 2, "status": 500, "error": {"message": "down"}}
    model.play([reads(), plans(task(SUM)), away, CODES])
    stage.given_config("agents", engine="{patience: 0}")
    stage.run_day()
    assert list(stage.states().values()) == ["in_review"]
    assert any("resting until 08:1" in line for line in stage.said)


def test_a_model_that_was_never_there_is_not_waited_for_and_what_is_left_is_said(
    stage: Stage, model: ScriptedModel
) -> None:
    plays(model, task(SUM))
    stage.run_day(until="planning")
    (id_,) = stage.states()
    model.play([{**CODES, "status": 500, "error": {"message": "down"}}])
    stage.given_config("agents", engine="{patience: 0}")
    before = stage.clock.now()
    (problem,) = stage.run_day()
    assert "the model did not answer" in problem and stage.clock.now() - before < timedelta(minutes=1)
    (line,) = [line for line in stage.said if line.startswith("resting: the model did not answer")]
    assert line.endswith(f"; {id_} comes next; when it answers, type: python main.py run-day")
    plays(model, task(SUM))
    assert stage.run_day() == [] and list(stage.states().values()) == ["in_review"]


def test_the_owners_new_commits_are_what_tomorrow_builds_on(stage: Stage, model: ScriptedModel) -> None:
    plays(model, task(SUM))
    stage.run_day(until="planning")
    stage.owner_commits({"app.py": "def total(a, b):\n    return a - b  # still wrong\n"})
    stage.run_day()
    (pull,) = stage.pulls()
    assert "still wrong" in stage.forge("show", f"{pull.head_sha}:app.py")


def test_the_owner_is_warned_once_when_most_of_a_cap_is_used(stage: Stage, model: ScriptedModel) -> None:
    stage.given_config("policy", budget='{task: "0.40", day: "0.40", month: "0.40", warn_at: 0.01}')
    plays(model, task(SUM))
    stage.run_day()
    stage.run_day()
    assert len([line for line in stage.said if line.startswith("the cap of this day is nearly used")]) == 1


def test_the_rest_of_a_goal_that_was_cut_in_half_is_planned_tomorrow(stage: Stage, model: ScriptedModel) -> None:
    """Two tasks for one goal, but today holds one."""
    stage.given_config("policy", capacity="{tasks_per_day: 1}")
    plays(model, task(SUM), task(SUM, "Then the readme", ["README.md"]))
    stage.run_day()
    assert len(stage.states()) == 1
    plays(model, task(SUM, "Then the readme", ["README.md"]))
    stage.clock.sleep(24 * 3600)
    stage.run_day()
    assert len(stage.states()) == 2
    stage.clock.sleep(24 * 3600)
    calls = len(model.requests)
    stage.run_day()
    assert (len(stage.states()), len(model.requests)) == (2, calls)


def test_texts_of_a_pull_request_call_nobody_and_close_nothing(stage: Stage, model: ScriptedModel) -> None:
    plays(model, task(SUM, description="Thanks @bob, fixes #1"))
    stage.run_day()
    body = stage.pulls()[0].body
    assert "@bob" not in body and "fixes #1" not in body


def test_a_move_that_means_nothing_is_named_and_left_alone(stage: Stage, model: ScriptedModel) -> None:
    plays(model, task(SUM))
    stage.run_day(until="planning")
    (id_,) = stage.states()
    stage.home.tasks(State.BACKLOG).joinpath(f"{id_}.md").rename(stage.home.tasks(State.IN_PROGRESS) / f"{id_}.md")
    stage.run_day()
    assert (stage.states(), stage.jobs) == ({id_: "in_progress"}, [])
    assert f"in_progress/{id_}.md: was moved from backlog/ to in_progress/" in stage.home.progress.read_text()


def test_a_file_that_usually_holds_keys_reaches_no_model(stage: Stage) -> None:
    stage.given_vision("# V\n")
    stage.owner_commits({"app.py": "x = 1\n"})
    path = stage.home.tasks(State.BACKLOG) / "t.md"
    path.write_text("---\ntitle: T\nfiles: [app.py]\ncontext: [deploy.pem]\n---\n\nDo.\n")
    stage.run_day()
    assert stage.states() == {"t": "failed"}
    assert "deploy.pem: is never given to a model" in stage.note("t")


def test_a_day_that_ends_after_midnight_belongs_to_the_day_on_which_it_began(
    stage: Stage, model: ScriptedModel
) -> None:
    stage.given_vision("# V\n")
    stage.clock.sleep(16 * 3600 - 30)  # half a minute before midnight

    stage.run_day()
    with stage.records() as records:
        open_phases = records.db.rows("select * from phases where ended_at is null")
        assert [tuple(row) for row in open_phases] == []


def test_a_dont_binds_the_owners_own_tasks_too(stage: Stage, model: ScriptedModel) -> None:
    vision = "# V\n\n## Notes\n- Don't touch the webhook\n"
    stage.given_vision(vision)
    model.play([reads(guards=[{"line": 4, "patterns": ["webhook.py"]}]), CODES, APPROVES])
    path = stage.home.tasks(State.BACKLOG) / "t.md"
    path.write_text("---\ntitle: T\nfiles: [webhook.py]\n---\n\nDo.\n")
    stage.run_day()
    assert stage.states() == {"t": "failed"}
    assert "the owner guards webhook.py" in stage.note("t")


@pytest.mark.parametrize("other", ["backlog", "in_review", "failed"])
def test_a_copy_of_a_task_at_work_is_named_and_ends_nothing(stage: Stage, model: ScriptedModel, other: str) -> None:
    """The owner copies the file while the engine works: no turn without end, and the other task goes on."""

    def copies(folder: Path, job: EngineJob) -> None:
        mends(folder, job)
        for path in stage.home.tasks(State.IN_PROGRESS).glob("*-01.md"):
            (stage.home.root / "tasks" / other / path.name).write_bytes(path.read_bytes())

    stage.change = copies
    plays(model, task(SUM), task(SUM, "Then the readme", ["README.md"]))
    stage.run_day()
    assert stage.states()["20261120-02"] == "in_review"
    assert "a task of this name lies in" in stage.home.progress.read_text()


def test_a_missing_folder_is_made_again(stage: Stage, model: ScriptedModel) -> None:
    plays(model, task(SUM))
    stage.home.tasks(State.IN_PROGRESS).rmdir()
    stage.home.tasks(State.IN_REVIEW).rmdir()
    stage.run_day()
    assert list(stage.states().values()) == ["in_review"]


def test_a_cap_that_is_lowered_while_running_counts_at_once(stage: Stage, model: ScriptedModel) -> None:
    def lowers(folder: Path, job: EngineJob) -> None:
        mends(folder, job)
        stage.given_config("policy", budget='{task: "0.001", day: "0.001", month: "0.001", warn_at: 0.8}')

    stage.change = lowers
    plays(model, task(SUM), task(SUM, "Then the readme", ["README.md"]))
    stage.run_day()
    assert stage.states() == {"20261120-01": "in_review", "20261120-02": "backlog"}


def test_a_name_that_the_owner_has_taken_is_not_used(stage: Stage, model: ScriptedModel) -> None:
    path = stage.home.tasks(State.BACKLOG) / "20261120-01.md"
    path.write_text("---\ntitle: Mine\nfiles: [README.md]\n---\n\nDo mine.\n")
    plays(model, task(SUM))
    stage.run_day()
    assert stage.states() == {"20261120-01": "in_review", "20261120-02": "in_review"}
    assert {pull.title for pull in stage.pulls()} == {"Mine", "Fix the sum"}


def test_a_task_keeps_its_branch_when_the_owner_rewords_it(stage: Stage, model: ScriptedModel) -> None:
    plays(model, task(SUM))
    stage.run_day()
    (id_,) = stage.states()
    path = stage.home.tasks(State.IN_REVIEW) / f"{id_}.md"
    text = path.read_text().replace("Fix the sum", "Mend the total")
    path.unlink()
    (stage.home.tasks(State.BACKLOG) / f"{id_}.md").write_text(text)
    stage.run_day()
    (pull,) = stage.pulls()
    assert (pull.head, pull.title) == (f"agent/{id_}-fix-the-sum", "Mend the total")


def test_who_looks_at_the_target_keeps_his_folder_when_a_day_begins_and_what_a_kill_left_goes(stage: Stage) -> None:
    """`doctor` beside `run-day` ended with "not a git repository"."""
    folder = stage.home.temporary
    locks = [folder / name / IN_USE for name in ("look-killed", "look-odd", "look-link")]
    for lock in locks:
        lock.parent.mkdir(parents=True)
    locks[0].touch()
    locks[1].mkdir()
    locks[2].symlink_to("/dev/zero")
    stage.run_day(until="planning")
    with look(stage.home, Remote(str(repository(stage.root / "owner"))), "main") as (mirror, commit):
        stage.run_day()
        assert mirror.read(commit, "app.py", 1_000)
        assert [one.name.partition("-")[0] for one in folder.iterdir()] == ["look"]
    assert not list(folder.iterdir())
