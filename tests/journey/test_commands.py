"""The commands as the owner types them: exit codes, one-line errors, and JSON for scripts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.domain.lifecycle import State
from shared.edge.process import Finished, run
from shared.edge.scripted.scripted_model import ScriptedModel
from tests.journey.stage import APPROVES, CODES, KEY, VISION, Stage, goals_of, plans, reads, repository, task

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {"PATH": os.environ["PATH"]}


def main_py(*words: str, cwd: Path = ROOT, env: dict[str, str] = ENVIRONMENT) -> Finished:
    return run((sys.executable, str(ROOT / "main.py"), *words), cwd=cwd, env=env, timeout=60)


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel([reads(), plans(task(goals_of(VISION)[0])), CODES, APPROVES]) as model:
        yield model


@pytest.fixture
def stage(tmp_path: Path, model: ScriptedModel) -> Stage:
    return Stage(tmp_path, model.url).set_up()


def at(stage: Stage, *words: str) -> Finished:
    return main_py("--home", str(stage.home.root), *words)


def in_one_line(done: Finished) -> str:
    text = done.errors.decode()
    assert text.count("\n") == 1 and "Traceback" not in text
    return text


# --- exit codes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [(), ("no-such-command",), ("run-day", "--until", "noon"), ("show",), ("plan",)])
def test_wrong_usage_is_2_and_shows_how_it_is_used(words: tuple[str, ...]) -> None:
    done = main_py(*words)
    assert done.code == 2
    assert "usage: main.py" in done.errors.decode()


@pytest.mark.parametrize("command", ["status", "run-day", "tasks", "prs", "budget", "plan --dry-run", "show x"])
def test_without_a_home_the_owner_is_told_what_to_type(tmp_path: Path, command: str) -> None:
    done = main_py("--home", str(tmp_path / "absent"), *command.split())
    assert done.code == 1
    assert f"init --target PATH_OR_URL" in in_one_line(done)  # noqa: F541
    assert not (tmp_path / "absent").exists()


@pytest.mark.parametrize(
    ("target", "said"),
    [
        pytest.param("/nowhere/at/all", "there is no repository at /nowhere/at/all", id="no such path"),
        pytest.param("--upload-pack=touch OWNED", "cannot be used", id="35 an option in place of an address"),
        pytest.param("ext::sh -c id", "cannot be used", id="a transport that runs programs"),
        pytest.param("git@github.com:you/it.git", "write https://github.com/you/it.git", id="ssh"),
        pytest.param("https://user:secret@host/x.git", "holds a user or a password", id="a password in the address"),
    ],
)
def test_a_target_that_cannot_be_used_is_refused(tmp_path: Path, target: str, said: str) -> None:
    done = main_py("--home", str(tmp_path / "home"), "init", f"--target={target}")
    assert done.code == 1
    assert said in in_one_line(done)
    assert "secret@" not in done.complaint
    assert not list((tmp_path / "home").rglob("*.yaml")) or not list(
        (tmp_path / "home" / "config" / "targets").iterdir()
    )


def test_a_key_is_asked_for_before_anything_is_begun(stage: Stage) -> None:
    (stage.home.config / ".env").unlink()
    done = at(stage, "run-day")
    assert done.code == 1
    assert "write ANTHROPIC_API_KEY=... into config/.env" in in_one_line(done)


def test_a_bug_is_3_and_names_the_file_with_its_trace(stage: Stage) -> None:
    with stage.records() as records, records.db.transaction() as db:
        db.execute("insert into visions (day, digest, vision_json, guards_json) values ('x', 'x', 'garbage', '[]')")
    done = at(stage, "status")
    assert done.code == 3
    path = Path(in_one_line(done).split()[-1])
    assert "Traceback" in path.read_text() and KEY not in path.read_text()


def test_interrupted_is_130_and_the_next_start_goes_on(stage: Stage) -> None:
    """Ctrl-C while the model is thinking."""
    with ScriptedModel([{"agent": "orchestrator", "times": "any", "delay": 30, "text": "late"}]) as slow:
        text = (stage.home.config / ".env").read_text().replace(stage.model_url, slow.url)
        (stage.home.config / ".env").write_text(text)
        argv = [sys.executable, str(ROOT / "main.py"), "--home", str(stage.home.root), "run-day"]
        with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT) as day:
            assert day.stdout and day.stderr and b"VISION.md" in day.stdout.readline()
            day.send_signal(signal.SIGINT)
            assert day.wait(30) == 130
            assert day.stderr.read().decode().startswith("interrupted; the next start goes on")
    (stage.home.config / ".env").write_text(text.replace(slow.url, stage.model_url))
    assert at(stage, "run-day", "--until", "planning").code == 0


def test_two_days_at_once_on_one_home_are_refused(stage: Stage) -> None:
    from shared.edge.lock import hold

    with hold(stage.home.lock):
        done = at(stage, "run-day")
    assert done.code == 1
    assert "already at work on this home (pid " in in_one_line(done)


# --- what is shown -------------------------------------------------------------------------------------------


def test_every_looking_command_has_json_for_scripts(stage: Stage) -> None:
    stage.run_day()
    (task_,) = json.loads(at(stage, "tasks", "--json").text)
    (pull,) = json.loads(at(stage, "prs", "--json").text)
    days = {row["day"]: row for row in json.loads(at(stage, "budget", "--json").text)}
    status = json.loads(at(stage, "status", "--json").text)
    assert task_["state"] == "in_review"
    assert set(pull) == {"number", "title", "branch", "base", "head", "state", "url", "task"}
    assert (pull["task"], pull["state"]) == (task_["id"], "open")
    assert days["2026-11-20"]["cap"] == "5.000000000" and days["2026-11-20"]["spent"] > "0"
    assert status["tasks"] == {"backlog": 0, "in_progress": 0, "in_review": 1, "completed": 0, "failed": 0}


def test_show_takes_the_beginning_of_an_id_and_tells_the_whole_story(stage: Stage) -> None:
    stage.run_day()
    (id_,) = stage.states()
    text = at(stage, "show", id_[:4]).text
    for said in (id_, "Fix the sum, please.", "submitted", "1: ok", "#1 open", "+# changed"):
        assert said in text
    assert "there is no task 'nonsense'" in in_one_line(at(stage, "show", "nonsense"))


def test_a_text_of_a_stranger_cannot_speak_to_the_terminal(stage: Stage) -> None:
    path = stage.home.tasks(State.BACKLOG) / "t.md"
    path.write_text("---\ntitle: plain\nfiles: [a.py]\n---\n\n\x1b[2J\x1b]0;owned\x07 text\n")
    stage.home.logs.joinpath("coder.jsonl").write_text('{"at": "x", "event": "\\u001b[31mred"}\n')
    for words in (("show", "t"), ("logs",), ("tasks",), ("status",)):
        assert "\x1b" not in at(stage, *words).text


def test_a_dry_run_asks_nobody_and_changes_nothing(stage: Stage, model: ScriptedModel) -> None:
    assert at(stage, "status").ok  # so that the database is there
    calls, before = len(model.requests), stage.everything_written()
    done = at(stage, "plan", "--dry-run")
    assert "Fix the sum in app.py" in done.text and "1 goals would be planned" in done.text
    assert (len(model.requests), stage.everything_written()) == (calls, before)


# --- the owner's hands ---------------------------------------------------------------------------------------


def test_cancel_and_retry_move_the_file(stage: Stage) -> None:
    stage.run_day(until="planning")
    (id_,) = stage.states()
    assert at(stage, "cancel", id_).text == f"{id_}: backlog -> failed\n"
    assert stage.states() == {id_: "failed"}
    assert "does nothing there" in in_one_line(at(stage, "cancel", id_))
    assert at(stage, "retry", id_).code == 0
    assert stage.states() == {id_: "backlog"}


def test_init_twice_keeps_what_the_owner_wrote(stage: Stage) -> None:
    stage.home.vision.write_text("mine")
    (stage.home.config / "policy.yaml").write_text("mine")
    assert at(stage, "init", "--target", str(stage.root / "site")).code == 0
    assert (stage.home.vision.read_text(), (stage.home.config / "policy.yaml").read_text()) == ("mine", "mine")


def test_a_second_target_needs_a_second_home(stage: Stage) -> None:
    other = repository(stage.root / "other")
    assert "use another --home" in in_one_line(at(stage, "init", "--target", str(other)))


def test_resume_ends_a_stop_and_says_what_it_was(stage: Stage) -> None:
    with stage.records() as records:
        records.ledger.halt("a call cost more than was reserved", stage.clock.now())
    assert "a call cost more than was reserved" in at(stage, "status").text
    assert "was stopped: a call cost more" in at(stage, "resume").text
    assert "a call cost more" not in at(stage, "status").text


def test_a_home_inside_the_target_is_refused(tmp_path: Path) -> None:
    """Its keys would sooner or later be committed."""
    target = repository(tmp_path / "site")
    for home in (target, target / "team"):
        done = main_py("--home", str(home), "init", "--target", str(target))
        assert "lies inside the target" in in_one_line(done)
    assert sorted(path.name for path in target.iterdir()) == [".git", "README.md", "app.py", "webhook.py"]


@pytest.mark.parametrize("command", ["status", "logs", "cancel x", "run-day"])
def test_a_home_that_is_a_file_is_said_to_be_one(tmp_path: Path, command: str) -> None:
    (tmp_path / "file").write_text("")
    done = main_py("--home", str(tmp_path / "file"), *command.split())
    assert done.code == 1
    assert "is no folder of ours" in in_one_line(done)


# --- doctor --------------------------------------------------------------------------------------------------


@pytest.mark.aider
def test_the_doctor_finds_a_healthy_machine_healthy(stage: Stage) -> None:
    (stage.home.config / ".env").chmod(0o600)
    found = json.loads(at(stage, "doctor", "--json").text)
    assert {finding["name"]: finding["detail"] for finding in found if not finding["ok"]} == {}
    assert [finding["name"] for finding in found] == [
        "python",
        "git",
        "home",
        "disk",
        "sandbox",
        "settings",
        "engine",
        "keys",
        "endpoint",
        "prices",
        "target",
    ]
    assert "all stopped" in next(finding["detail"] for finding in found if finding["name"] == "sandbox")


@pytest.mark.parametrize(
    ("spoil", "name", "said"),
    [
        pytest.param(lambda s: (s.home.config / ".env").chmod(0o644), "keys", "chmod 600", id="a readable key file"),
        pytest.param(lambda s: s.given_config("policy", budget="{}"), "settings", "policy.yaml:", id="a wrong setting"),
        pytest.param(
            lambda s: s.given_config("agents", coder="{model: gpt-9}"), "prices", "gpt-9", id="a model without a price"
        ),
        pytest.param(
            lambda s: (s.home.config / ".env").write_text("ANTHROPIC_BASE_URL=http://127.0.0.1:9\n"),
            "endpoint",
            "does not answer",
            id="nobody listens",
        ),
    ],
)
def test_the_doctor_says_what_is_wrong(stage: Stage, spoil: object, name: str, said: str) -> None:
    (stage.home.config / ".env").chmod(0o600)
    assert callable(spoil)
    spoil(stage)
    done = at(stage, "doctor", "--json")
    (finding,) = [finding for finding in json.loads(done.text) if finding["name"] == name]
    assert done.code == 1 and not finding["ok"]
    assert said in finding["detail"]
