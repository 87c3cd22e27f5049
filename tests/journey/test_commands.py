"""The commands as the owner types them: exit codes, one-line errors, and JSON for scripts."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from datetime import date, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from sisimpur.cli.app import called, main
from sisimpur.cli.commands.day import failed_today
from sisimpur.cli.setup.folders import PACKAGES
from sisimpur.cli.terminal.arguments import CHECKOUT, parse
from sisimpur.cli.terminal.printing import command, pasteable
from sisimpur.cli.wiring.records import open_records
from sisimpur.shared.model.lifecycle import State
from sisimpur.shared.system.process import Finished, run
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.accepted import GOLDEN
from tests.journey.stage import APPROVES, CODES, KEY, VISION, Stage, git, goals_of, plans, reads, repository, task
from tests.repositories import shell

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {"PATH": os.environ["PATH"]}


def typed(*words: str) -> Finished:
    """As `main_py`, in this process: one of our own takes half a second to begin."""
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as errors:
        code = main(words)
    return Finished(code, out.getvalue().encode(), errors.getvalue().encode(), "exited", 0.0)


def main_py(*words: str, cwd: Path = ROOT, env: dict[str, str] = ENVIRONMENT) -> Finished:
    return run((sys.executable, str(ROOT / "main.py"), *words), cwd=cwd, env=env, timeout=60)


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel([reads(), plans(task(goals_of(VISION)[0])), CODES, APPROVES]) as model:
        yield model


@pytest.fixture
def stage(tmp_path: Path, model: ScriptedModel) -> Stage:
    return Stage(tmp_path, model.url).set_up()


@pytest.fixture(scope="module")
def after_a_day(tmp_path_factory: pytest.TempPathFactory, model: ScriptedModel) -> Stage:
    """To look at: whoever changes something takes a stage of his own."""
    stage = Stage(tmp_path_factory.mktemp("day"), model.url).set_up()
    stage.run_day()
    return stage


def at(stage: Stage, *words: str) -> Finished:
    return typed("--home", str(stage.home.root), *words)


def in_one_line(done: Finished) -> str:
    text = done.errors.decode()
    assert text.count("\n") == 1 and "Traceback" not in text
    return text


# --- what is loaded ------------------------------------------------------------------------------------------

TASKS = {f"sisimpur.shared.store.{name}" for name in ("gate_book", "journal", "plan_book", "task_store")}
ANY_WORK = {"hashlib", "pydantic", "sqlite3", "subprocess", "traceback", "yaml", "sisimpur.shared.model.work"}
MORE_THAN_A_LOOK = {
    *("asyncio", "difflib", "genai_prices", "markdown_it", "rich", "ssl", "subprocess", "sisimpur.cli.commands"),
    *(f"sisimpur.shared.{name}" for name in ("forge", "notify", "repo")),
    *(f"sisimpur.shared.model.{name}" for name in ("deployment", "evidence", "gate", "research")),
}


@pytest.mark.parametrize(
    ("words", "not_needed"),
    [
        ("--version", ANY_WORK),
        ("help", ANY_WORK),
        ("status", MORE_THAN_A_LOOK - {"sisimpur.shared.model.evidence"}),  # a change waits: what no gate saw is told
        ("tasks", MORE_THAN_A_LOOK),
        ("budget --json", MORE_THAN_A_LOOK | TASKS),
        # a change waits: why, and what no gate saw, is told
        ("prs", (TASKS | {"sisimpur.shared.money.ledger"}) - {"sisimpur.shared.store.gate_book"}),
    ],
)
def test_a_command_loads_nothing_large_that_it_has_no_use_for(
    words: str, not_needed: set[str], after_a_day: Stage
) -> None:
    """What is loaded is most of what a look costs: a class of values alone takes 0.7 ms to make."""
    argv = (sys.executable, "-X", "importtime", "main.py", "--home", str(after_a_day.home.root), *words.split())
    done = run(argv, cwd=ROOT, env=ENVIRONMENT, timeout=60)
    loaded = {line.rpartition("|")[2].strip() for line in done.errors.decode().splitlines()}
    assert done.ok and "sisimpur.cli.app" in loaded
    assert loaded & not_needed == set()


# --- exit codes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [(), ("no-such-command",), ("run-day", "--until", "noon"), ("show",), ("plan",)])
def test_wrong_usage_is_2_and_shows_how_it_is_used(words: tuple[str, ...]) -> None:
    done = main_py(*words)
    assert done.code == 2
    assert "usage: main.py" in done.errors.decode()


@pytest.mark.parametrize("command", ["status", "run-day", "tasks", "prs", "budget", "plan --dry-run", "show x"])
def test_without_a_home_the_owner_is_told_what_to_type(tmp_path: Path, command: str) -> None:
    done = typed("--home", str(tmp_path / "absent"), *command.split())
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
    done = typed("--home", str(tmp_path / "home"), "init", f"--target={target}")
    assert done.code == 1
    assert said in in_one_line(done)
    assert "secret@" not in done.complaint
    assert not list((tmp_path / "home").rglob("*.yaml")) or not list(
        (tmp_path / "home" / "config" / "targets").iterdir()
    )


def test_init_says_what_doctor_would_find_first(tmp_path: Path) -> None:
    target, home = repository(tmp_path / "site"), tmp_path / "home"
    begun = typed("--home", str(home), "init", f"--target={target}")
    assert "doctor will find first: keys: no ANTHROPIC_API_KEY; write it into" in begun.text
    (home / "config" / ".env").touch(mode=0o600)
    (home / "config" / ".env").write_text("ANTHROPIC_API_KEY=a-key\n")
    assert "doctor will find" not in typed("--home", str(home), "init", f"--target={target}").text
    (home / "config" / "policy.yaml").write_text("budget: none\n")
    assert "doctor will find first: settings: " in typed("--home", str(home), "init", f"--target={target}").text


def test_a_key_is_asked_for_before_anything_is_begun(stage: Stage) -> None:
    (stage.home.config / ".env").unlink()
    done = at(stage, "run-day")
    assert done.code == 1
    assert "write ANTHROPIC_API_KEY=... into config/.env" in in_one_line(done)


def test_a_bug_is_3_and_names_the_file_with_its_trace(stage: Stage) -> None:
    with stage.records() as records, records.db.transaction() as db:
        db.execute("insert into visions (day, digest, vision_json, guards_json) values ('x', 'x', 'garbage', '[]')")
    done = main_py("--home", str(stage.home.root), "status")
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
    assert main_py("--home", str(stage.home.root), "run-day", "--until", "planning").code == 0


def test_what_was_said_long_ago_goes_at_the_end_of_a_day_without_a_daemon(stage: Stage) -> None:
    stage.given_vision("# Vision\n")
    stage.home.talk.mkdir(exist_ok=True)
    old, new = (stage.home.talk / f"{day}.talk" for day in ("2020-02-29", "2999-01-01"))
    for path in (old, new):
        path.write_bytes(b"x")
    done = at(stage, "run-day")
    assert (done.code, old.exists(), new.exists()) == (0, False, True)
    assert ".state/talk: what was said on 1 day thrown away, up to 2020-02-29" in done.text


def test_two_days_at_once_on_one_home_are_refused(stage: Stage) -> None:
    from sisimpur.shared.system.lock import hold

    with hold(stage.home.lock):
        done = main_py("--home", str(stage.home.root), "run-day")
    assert done.code == 1
    told = in_one_line(done)
    assert "already at work on this home (pid " in told
    assert told.count(f"main.py --home {stage.home.root} ") == told.count("main.py") == 2


# --- what is shown -------------------------------------------------------------------------------------------


def test_every_looking_command_has_json_for_scripts(after_a_day: Stage) -> None:
    stage = after_a_day
    (task_,) = json.loads(at(stage, "tasks", "--json").text)
    (pull,) = json.loads(at(stage, "prs", "--json").text)
    days = {row["day"]: row for row in json.loads(at(stage, "budget", "--json").text)}
    status = json.loads(at(stage, "status", "--json").text)
    assert task_["state"] == "in_review"
    assert set(pull) == {"number", "title", "branch", "base", "head", "state", "url", "task"}
    assert (pull["task"], pull["state"]) == (task_["id"], "open")
    assert days["2026-11-20"]["cap"] == "5.000000000" and days["2026-11-20"]["spent"] > "0"
    assert status["tasks"] == {"backlog": 0, "in_progress": 0, "in_review": 1, "completed": 0, "failed": 0}
    assert json.loads(at(stage, "show", task_["id"], "--json").text)["pulls"] == [pull]
    assert {json.loads(line)["agent"] for line in at(stage, "logs", "--json").text.splitlines()} >= {"coder", "planner"}


def test_budget_has_a_day_by_agent_task_and_model_and_a_word_about_the_month(after_a_day: Stage) -> None:
    stage = after_a_day
    (id_,) = stage.states()
    day = next(day for day in json.loads(at(stage, "budget", "--json").text) if day["day"] == "2026-11-20")
    plain = ["day", "cap", "spent", "reserved", "lost", "by_agent", "by_task", "by_model", "lost_calls", "savings"]
    assert list(day) == plain
    assert set(day["by_agent"]) == {"orchestrator", "planner", "coder", "reviewer"}
    assert set(day["by_task"]) == {"", id_}
    for by in ("by_agent", "by_task", "by_model"):
        assert f"{sum(float(share['spent']) for share in day[by].values()):.9f}" == day["spent"]
    text = at(stage, "budget").text
    for said in ("Dollars per month", "2026-11 ", id_, "no single task", "at the pace of the last 1 day with work"):
        assert said in text


def test_the_talk_of_a_task_is_told_call_by_call_and_costs_what_budget_says(after_a_day: Stage) -> None:
    stage = after_a_day
    (id_,) = stage.states()
    (day,) = (one for one in json.loads(at(stage, "budget", "--json").text) if one["day"] == "2026-11-20")
    talk = json.loads(at(stage, "show", id_, "--talk", "--json").text)
    share = day["by_task"][id_]
    assert (len(talk["calls"]), talk["amount"]) == (share["calls"], share["spent"])
    with stage.records() as records:
        (used,) = records.spending.used_by([id_]).values()
    assert talk["tokens_in"] + talk["tokens_out"] == used.tokens > 0
    assert [one["agent"] for one in talk["calls"]] == ["coder", "reviewer"]
    assert all(one["request"]["messages"] and one["answer"] and not one["trouble"] for one in talk["calls"])
    text = at(stage, "show", id_[:4], "--talk").text
    assert f"{id_}: 2 calls, {talk['tokens_in']:,} tokens in" in text
    assert [line.split("  ")[2] for line in text.splitlines() if line.startswith("== call ")] == ["coder", "reviewer"]
    assert "\n[system]\n" in text and "\n[answer]\ndone\n" in text
    assert "there is no task 'nonsense'" in in_one_line(at(stage, "show", "nonsense", "--talk"))


def test_an_attempt_that_did_not_count_has_no_number(stage: Stage) -> None:
    """The owner gives attempts back: a row of our own, which he never saw as an attempt."""
    stage.run_day(until="planning")
    (id_,) = stage.states()
    for word in ("cancel", "retry"):
        assert at(stage, word, id_).ok
        stage.run_day()
    attempts = json.loads(at(stage, "show", id_, "--json").text)["attempts"]
    assert [(attempt["number"], attempt["key"], attempt["outcome"]) for attempt in attempts] == [
        (None, 1, "void"),
        (1, 2, "ok"),
    ]
    assert "  1: ok  pull request #1\n" in at(stage, "show", id_).text


def test_show_takes_the_beginning_of_an_id_and_tells_the_whole_story(after_a_day: Stage) -> None:
    stage = after_a_day
    (id_,) = stage.states()
    text = at(stage, "show", id_[:4]).text
    for said in (id_, "Fix the sum, please.", "submitted", "1: ok", "#1 open", "+# changed"):
        assert said in text
    assert "there is no task 'nonsense'" in in_one_line(at(stage, "show", "nonsense"))


def test_a_text_of_a_stranger_cannot_speak_to_the_terminal(stage: Stage) -> None:
    path = stage.home.tasks(State.BACKLOG) / "t.md"
    path.write_text("---\ntitle: plain\nfiles: [a.py]\n---\n\n\x1b[2J\x1b]0;owned\x07 text\n")
    stage.home.logs.joinpath("coder.jsonl").write_text('{"at": "x", "event": "\\u001b[31mred \x9b31m \u202e"}\n')
    for words in (("show", "t"), ("show", "t", "--json"), ("logs",), ("logs", "--json"), ("tasks",), ("status",)):
        shown = at(stage, *words).text
        assert not [c for c in shown if not c.isprintable() and c != "\n"], words


def test_a_dry_run_asks_nobody_and_changes_nothing(stage: Stage, model: ScriptedModel) -> None:
    assert at(stage, "status").ok  # so that the database is there
    calls, before = len(model.requests), stage.everything_written()
    done = at(stage, "plan", "--dry-run")
    assert "Fix the sum in app.py" in done.text and "1 goal to be planned" in done.text
    assert (len(model.requests), stage.everything_written()) == (calls, before)


# --- what runs -----------------------------------------------------------------------------------------------


@pytest.fixture
def slow(stage: Stage) -> Iterator[Callable[[], subprocess.Popen[bytes]]]:
    """`run-day`, up to where the model is thinking."""
    days: list[subprocess.Popen[bytes]] = []

    def start(**how: Any) -> subprocess.Popen[bytes]:
        argv = [sys.executable, str(ROOT / "main.py"), "--home", str(stage.home.root), "run-day"]
        days.append(subprocess.Popen(argv, **{"stdout": subprocess.PIPE, "env": ENVIRONMENT, **how}))
        return days[0]

    with ScriptedModel([{"agent": "orchestrator", "times": "any", "delay": 30, "text": "late"}]) as model:
        path = stage.home.config / ".env"
        path.write_text(path.read_text().replace(stage.model_url, model.url))
        yield start
        for day in days:
            day.kill()
            day.communicate()


def waits_for(stage: Stage, word: str) -> dict[str, Any]:
    """`status`, as soon as it names a run."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        status: dict[str, Any] = json.loads(at(stage, "status", "--json").text)
        if status["runs"]:
            return status
    raise AssertionError(f"no {word} within 30 s")


def test_status_says_who_is_at_work_and_after_a_kill_that_nobody_is(
    stage: Stage, slow: Callable[[], subprocess.Popen[bytes]]
) -> None:
    with stage.records() as records, records.db.transaction() as db:  # somebody died here earlier
        db.execute(
            "insert into agent_runs (agent_name, day, started_at) values ('qa', 'x', '2026-01-01T00:00:00+00:00')"
        )
    day = slow()
    status = waits_for(stage, "run")
    (run,) = status["runs"]
    assert (status["pid"], run["agent"], run["alive"]) == (str(day.pid), "orchestrator", True)
    assert status["problems"] == []
    assert f"at work (pid {day.pid}) since " in at(stage, "status").text
    assert "  orchestrator since " in at(stage, "status").text
    day.kill()
    day.wait()
    text = at(stage, "status").text
    assert ": not running; target site\n" in text
    assert "  cut off: orchestrator, begun " in text
    assert "morning: was cut off; to go on, type: python" in text


def test_on_a_terminal_a_running_day_has_a_line_that_lives(
    stage: Stage, slow: Callable[..., subprocess.Popen[bytes]]
) -> None:
    ours, its = os.openpty()
    day = slow(stdout=its, stderr=its, env={**ENVIRONMENT, "TERM": "xterm", "COLUMNS": "100"})
    os.close(its)
    seen = b""
    while b"morning: orchestrator, 0:00:01" not in seen:
        seen += os.read(ours, 10_000)
    assert b"VISION.md: 1 new" in seen
    assert b"$0.0000 of $5.00 today" in seen or b" of $5.00 today" in seen
    day.send_signal(signal.SIGINT)
    assert day.wait(30) == 130
    os.close(ours)


def test_a_day_with_a_problem_is_1_and_names_it_in_its_last_line(stage: Stage) -> None:
    refusal = {"type": "invalid_request_error", "message": "no such effort"}
    with ScriptedModel([{"status": 400, "error": refusal, "times": "any"}]) as model:
        path = stage.home.config / ".env"
        path.write_text(path.read_text().replace(stage.model_url, model.url))
        done = at(stage, "run-day")
        assert len(model.requests) == 1  # a wrong request is not asked again
    assert done.code == 1
    (last,) = done.errors.decode().splitlines()
    assert last.startswith("run-day: morning: ") and "no such effort" in last
    assert last.endswith(f" --home {stage.home.root} status")
    (problem,) = json.loads(at(stage, "status", "--json").text)["problems"]
    assert problem.startswith("morning: ") and "no such effort" in problem


def test_a_task_that_failed_today_is_a_problem_of_the_day_but_not_what_the_owner_cancelled(stage: Stage) -> None:
    stage.run_day(until="planning")
    (id_,) = stage.states()
    assert at(stage, "cancel", id_).ok
    stage.run_day()
    with stage.records() as records:
        assert (stage.states(), failed_today(records)) == ({id_: "failed"}, [])
    assert at(stage, "retry", id_).ok
    stage.change = lambda folder, job: None  # failed, after three attempts
    stage.run_day()
    with stage.records() as records:
        assert stage.states() == {id_: "failed"}
        (problem,) = failed_today(records)
    assert problem.startswith(f"{id_} has failed: ") and "the engine changed nothing" in problem


# --- the report ----------------------------------------------------------------------------------------------


def test_the_report_of_a_day_is_read_on_the_screen_without_the_marks_of_its_file(after_a_day: Stage) -> None:
    (page,) = after_a_day.home.reports.glob("*.md")
    newest = at(after_a_day, "report")
    assert newest.code == 0 and newest.text.startswith(f"# {page.stem}: 1 thing waits for you, ")
    assert "## Money\n" in newest.text
    assert at(after_a_day, "report", page.stem).text == newest.text
    told = json.loads(at(after_a_day, "report", "--json").text)
    assert told == {"day": page.stem, "file": str(page), "text": page.read_text()}


@pytest.mark.parametrize("day", ["2026-11-01", "tomorrow", "../../../etc/passwd", "\x1b[2J"])
def test_a_day_without_a_report_says_which_there_are(after_a_day: Stage, day: str) -> None:
    (page,) = after_a_day.home.reports.glob("*.md")
    done = at(after_a_day, "report", day)
    assert (done.code, done.text) == (1, "")
    assert (
        in_one_line(done).endswith(f" has no report; the newest are of {page.stem}\n") and "\x1b" not in done.complaint
    )


def test_what_has_no_figure_and_no_report_yet_says_what_comes_when(tmp_path: Path, model: ScriptedModel) -> None:
    new = Stage(tmp_path, model.url).set_up()
    lines = at(new, "metrics").text.splitlines()
    heads = [number for number, line in enumerate(lines) if re.match(r"[a-z_]+, [a-z]+: ", line)]
    assert len(heads) == 11 and all(lines[number + 1].startswith("  comes with the first ") for number in heads)
    assert "the first comes with the morning of a day: " in in_one_line(at(new, "report"))
    with open_records(new.home.root, looking=True) as records:
        day = date.fromisoformat(records.day()) - timedelta(days=1)
    (new.home.reports / f"{day}.md").write_text("# A day\n\n- 2 \\* 3, a\\_b\\\\c \x1b[2J `x\\d`\n")
    assert at(new, "report", "yesterday").text == "# A day\n\n- 2 * 3, a_b\\c  [2J `x\\d`\n"


# --- logs ----------------------------------------------------------------------------------------------------


def test_logs_are_lines_in_words_by_agent_and_task(after_a_day: Stage) -> None:
    stage = after_a_day
    (id_,) = stage.states()
    text = at(stage, "logs").text
    assert "VISION.md: 1 new, 0 changed, 0 removed" in text
    assert f"planner                     planned {id_}\n" in text
    assert "answered: $0." in text and "amount" not in text
    assert {line.split()[2] for line in at(stage, "logs", "--agent", "planner").text.splitlines()} == {"planner"}
    assert {line.split()[3] for line in at(stage, "logs", "--task", id_).text.splitlines()} == {id_}
    assert at(stage, "logs", "--agent", "meter", "--lines", "2").text.count("\n") == 2
    for absent in ("../../etc/passwd", "/etc/passwd", "*", "**"):
        done = at(stage, "logs", "--agent", absent)
        assert (done.code, done.text) == (1, "")
        assert (
            f"there is no agent {absent!r}; there are: coder, devops, meter, orchestrator, planner, " in done.complaint
        )
    assert at(stage, "logs", "--agent", "devops").code == 0  # nothing is deployed here
    assert re.search(r"reviewer +\S+ +[0-9a-f]{8} approved", text)


def test_logs_are_followed_until_ctrl_c(stage: Stage) -> None:
    path = stage.home.logs / "coder.jsonl"
    path.parent.mkdir(exist_ok=True)
    path.write_text('{"at": "2026-11-20T08:00:00+00:00", "event": "old"}\n')
    argv = [sys.executable, str(ROOT / "main.py"), "--home", str(stage.home.root), "logs", "--follow"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT) as tail:
        assert tail.stdout and tail.stderr
        assert tail.stdout.readline() == b"11-20 08:00:00  coder                       old\n"
        path.rename(path.with_suffix(".1"))
        path.write_text('{"at": "2026-11-20T08:00:01+00:00", "event": "new", "task": "t"}\n')
        assert tail.stdout.readline() == b"11-20 08:00:01  coder         t             new\n"
        tail.send_signal(signal.SIGINT)
        assert tail.wait(10) == 130
        assert tail.stderr.read() == b""


def test_the_audit_is_followed_until_ctrl_c(stage: Stage) -> None:
    argv = [sys.executable, str(ROOT / "main.py"), "--home", str(stage.home.root), "audit", "--json"]
    at(stage, "raise-cap", "6.00")
    with subprocess.Popen([*argv, "--follow", "--kind", "cap"], stdout=subprocess.PIPE, env=ENVIRONMENT) as tail:
        assert tail.stdout
        first = json.loads(tail.stdout.readline())
        at(stage, "raise-cap", "7.00")
        second = json.loads(tail.stdout.readline())
        tail.send_signal(signal.SIGINT)
        assert (tail.wait(10), tail.stdout.read()) == (130, b"")
    assert [first["kind"], second["kind"]] == ["cap", "cap"] and first["seq"] < second["seq"]
    assert first["hash"] and second["hash"]


# --- the owner's hands ---------------------------------------------------------------------------------------


def test_cancel_and_retry_move_the_file(stage: Stage) -> None:
    stage.run_day(until="planning")
    (id_,) = stage.states()
    assert at(stage, "cancel", id_).text.startswith(f"{id_}: backlog -> failed; to go on, type: ")
    assert stage.states() == {id_: "failed"}
    assert "does nothing there" in in_one_line(at(stage, "cancel", id_))
    assert at(stage, "retry", id_).code == 0
    assert stage.states() == {id_: "backlog"}


def test_init_twice_keeps_what_the_owner_wrote(stage: Stage) -> None:
    stage.home.vision.write_text("mine")
    (stage.home.config / "policy.yaml").write_text("mine")
    assert at(stage, "init", "--target", str(stage.root / "site")).code == 0
    assert (stage.home.vision.read_text(), (stage.home.config / "policy.yaml").read_text()) == ("mine", "mine")


def test_init_writes_down_what_it_found_and_what_is_not_run(stage: Stage) -> None:
    repository(
        stage.root / "shop", {"pyproject.toml": '[project]\nname="a"', "test_a.py": "", "web/package.json": "{}"}
    )
    assert typed("--home", str(stage.root / "h"), "init", "--target", str(stage.root / "shop")).code == 0
    written = (stage.root / "h/config/targets/shop.yaml").read_text()
    assert "#   languages: Python, JavaScript\n" in written and "#   not run: JavaScript (web/package.json)" in written
    assert '# setup: "pip install --use-pep517 -e ."\n# test: "python -m pytest"\n' in written


def test_init_says_at_once_what_the_team_will_not_see_and_that_nothing_tests_it(stage: Stage) -> None:
    shop = repository(stage.root / "shop", {"a.py": "A = 1\n", "b.py": "", ".gitignore": "*.log\n"})
    (shop / "a.py").write_text("A = 2\n")
    for name in ("new.py", "run.log"):
        (shop / name).touch()
    told = typed("--home", str(stage.root / "h"), "init", "--target", str(shop)).text.splitlines()
    without = "the team begins with the newest commit of main, without them; commit what it needs"
    assert told[1] == f"  not committed: a.py, new.py of {shop}: {without}"
    assert told[2].startswith("  not tested: none were found; name their command as `test:`")
    git(shop, "add", ".")
    git(shop, "commit", "-q", "-m", "all")
    told = typed("--home", str(stage.root / "h2"), "init", "--target", str(shop)).text.splitlines()
    assert told[1].startswith("  not tested: ")
    assert "#   size: 0.0 MB\n" in (stage.root / "h2/config/targets/shop.yaml").read_text()


@pytest.mark.parametrize(
    ("begin", "said"),
    [
        pytest.param("mkdir site", "is a folder without git; make it a repository", id="no git"),
        pytest.param("git init -q -b main site", "is empty or names no main branch; push a first commit", id="empty"),
    ],
)
def test_init_leaves_nothing_behind_where_there_is_nothing_to_work_on(tmp_path: Path, begin: str, said: str) -> None:
    shell(begin, tmp_path)
    done = typed("--home", str(tmp_path / "home"), "init", "--target", str(tmp_path / "site"))
    assert done.code == 1 and said in in_one_line(done)
    assert not (tmp_path / "home").exists()


def test_a_python_that_is_too_old_says_so_before_it_reads_anything_of_ours(tmp_path: Path) -> None:
    """A copy without an environment beside it, under an interpreter that says it is old."""
    text = (ROOT / "main.py").read_text().replace("sys.version_info <", "(3, 10, 4) <")
    (tmp_path / "main.py").write_text(text)
    done = run((sys.executable, str(tmp_path / "main.py"), "status"), env=ENVIRONMENT, timeout=60)
    assert done.code == 1 and in_one_line(done).startswith("needs Python 3.11 or later, this is ")


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
        done = typed("--home", str(home), "init", "--target", str(target))
        assert "lies inside the target" in in_one_line(done)
    assert sorted(path.name for path in target.iterdir()) == [".git", "README.md", "app.py", "webhook.py"]


@pytest.mark.parametrize("command", ["status", "logs", "cancel x", "run-day"])
def test_a_home_that_is_a_file_is_said_to_be_one(tmp_path: Path, command: str) -> None:
    (tmp_path / "file").write_text("")
    done = typed("--home", str(tmp_path / "file"), *command.split())
    assert done.code == 1
    assert "is no folder of ours" in in_one_line(done)


# --- what is printed can be pasted ---------------------------------------------------------------------------


def pasted(text: str, cwd: Path) -> Finished:
    return run(("bash", "-c", text), cwd=cwd, env=ENVIRONMENT, timeout=60)


def test_every_answer_in_status_works_when_it_is_pasted_wherever_the_owner_is(stage: Stage, tmp_path: Path) -> None:
    stage.run_day(until="planning")
    (id_,) = stage.states()
    at(stage, "cancel", id_)
    with stage.records() as records:
        records.ledger.halt("somebody has to look", stage.clock.now())
    status = json.loads(main_py("--home", "home/../home", "status", "--json", cwd=tmp_path).text)
    assert status["home"] == str(stage.home.root)
    assert [answer["task"] for answer in status["answers"]] == ["", id_]
    for answer in status["answers"]:
        assert answer["command"] in at_folder(stage, tmp_path, "status").text
        assert pasted(answer["command"], tmp_path).ok
    assert stage.states() == {id_: "backlog"}
    assert json.loads(at(stage, "status", "--json").text)["answers"] == []


def at_folder(stage: Stage, cwd: Path, *words: str) -> Finished:
    return main_py("--home", str(stage.home.root), *words, cwd=cwd)


def test_a_hint_in_an_error_names_the_home_too(stage: Stage, tmp_path: Path) -> None:
    error = in_one_line(at_folder(stage, tmp_path, "show", "nonsense"))
    assert pasted(error.partition("see: ")[2], tmp_path).text == "no tasks yet\n"


def test_a_command_in_a_report_or_a_message_names_program_and_home_wherever_it_was_written() -> None:
    with chdir(CHECKOUT):
        here, anywhere = command(CHECKOUT, "status"), command(CHECKOUT, "status", anywhere=True)
    assert here.endswith(" main.py status")
    assert anywhere == here.replace("main.py", f"{CHECKOUT}/main.py --home {CHECKOUT}")


def test_no_text_of_the_program_sends_the_owner_to_a_target_of_make() -> None:
    """`make` knows no --home, and is not there where it was installed; of its targets `pasteable` knows `setup`."""
    spoken = [path for part in ("agents", "cli", "shared", "web") for path in (ROOT / part).rglob("*.py")]
    assert len(spoken) > 300
    found = {
        f"{path.name}: {word}"
        for path in spoken
        for word in re.findall(r"make (doctor|status|start|stop|board)\b", path.read_text())
    }
    assert not found


@pytest.mark.parametrize("usage", (GOLDEN / "commands.txt").read_text().splitlines())
def test_each_command_names_a_function_that_is_there(usage: str) -> None:
    required = re.sub(r"\{(\w+).*?\}", r"\1", re.sub(r"\[([^][]|\[[^][]*\])*\]", "", usage)).split()
    arguments = parse(["1" if word.isupper() else word for word in required])
    assert callable(called(arguments.run))


@pytest.mark.parametrize(
    ("words", "environment", "home"),
    [
        pytest.param(["status"], {}, CHECKOUT, id="the default"),
        pytest.param(["status"], {"SISIMPUR_HOME": "/team"}, Path("/team"), id="the environment's"),
        pytest.param(["--home", "/a/../team/", "status"], {"SISIMPUR_HOME": "/b"}, Path("/team"), id="not normal"),
        pytest.param(["status", "--home=/team"], {}, Path("/team"), id="behind the command"),
        pytest.param(["--home", "team", "status"], {}, Path.cwd() / "team", id="relative"),
    ],
)
def test_a_home_is_absolute_and_normal(words: list[str], environment: dict[str, str], home: Path) -> None:
    assert parse(words, environment).home == home


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("see: python main.py status", "see: {} --home '/a b' status"),
        ("type: python main.py retry ID --why X; or python main.py show ID",
         "type: {} --home '/a b' retry ID --why X; or {} --home '/a b' show ID"),
        ("type: python main.py --home /c init", "type: {} --home /c init"),
        ("type: make setup", "type: make setup"),
    ],
)  # fmt: skip
def test_a_command_in_a_text_gets_the_home_unless_it_names_one(text: str, meant: str) -> None:
    program = command(Path("/x")).partition(" --home")[0]
    assert pasteable(text, Path("/a b")) == meant.format(*[program] * 2)


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
        "vision",
        "tests",
        "messages",
        "sign-in",
        "step-up",
        "research",
    ]
    assert "all stopped" in next(finding["detail"] for finding in found if finding["name"] == "sandbox")


@pytest.mark.slow
def test_the_doctor_runs_the_tests_once_and_says_what_to_write(stage: Stage) -> None:
    """One home for all three: what the tests need is installed once."""
    (stage.root / "site/tests").mkdir()
    settings = stage.home.targets / "site.yaml"
    settings.write_text(f"{settings.read_text()}packages: {PACKAGES}\n")
    assert looked_at_tests(stage, "os", "2 ran in") == (
        True,
        ["site: installing what the tests need ", "running them once "],
    ), "what takes minutes is told before it begins, beside the findings"
    said = "ModuleNotFoundError: freezegun (tests/test_app.py:1): add freezegun to `setup:` in"
    assert looked_at_tests(stage, "freezegun", said)[0] is False
    settings.write_text(f"{settings.read_text()}test: none\n")
    assert looked_at_tests(stage, "freezegun", "`test: none`: nothing can be shown") == (True, [])


def looked_at_tests(stage: Stage, imported: str, said: str) -> tuple[bool, list[str]]:
    """Whether the doctor finds nothing wrong with tests that import this, and what it was at meanwhile."""
    (stage.root / "site/tests/test_app.py").write_text(f"import {imported}\ndef test_a(): ...\ndef test_b(): ...\n")
    git(stage.root / "site", "add", ".")
    git(stage.root / "site", "commit", "-q", "--allow-empty", "-m", "tests")
    done = at(stage, "doctor", "--json")
    (found,) = (finding for finding in json.loads(done.text) if finding["name"] == "tests")
    assert said in found["detail"]
    at_it = [line.split(maxsplit=2)[2] for line in done.errors.decode().splitlines()]
    return found["ok"], [re.sub(r"\(.*", "", line) for line in at_it]


@pytest.mark.parametrize(
    ("spoil", "name", "said"),
    [
        pytest.param(lambda s: (s.home.config / ".env").chmod(0o644), "keys", "chmod 600", id="a readable key file"),
        pytest.param(lambda s: s.given_config("policy", budget="{}"), "settings", "policy.yaml:", id="a wrong setting"),
        pytest.param(
            lambda s: s.given_config("agents", coder="{model: gpt-9}"), "prices", "gpt-9", id="a model without a price"
        ),
        pytest.param(
            lambda s: s.given_config("agents", reviewer="{model: gpt-8}"), "prices", "gpt-8", id="nor for the reviewer"
        ),
        pytest.param(
            lambda s: s.given_config("agents", engine="{}\nresearcher: {model: gpt-7}"),
            "prices",
            "gpt-7",
            id="nor for the researcher",
        ),
        pytest.param(
            lambda s: s.given_config("policy", merge="{}\nresearch: {recorded: nowhere}"),
            "research",
            "searches.yaml cannot be read",
            id="a web that is not there",
        ),
        pytest.param(
            lambda s: (s.home.config / ".env").write_text("ANTHROPIC_BASE_URL=http://127.0.0.1:9\n"),
            "endpoint",
            "; check ANTHROPIC_BASE_URL in ",
            id="nobody listens",
        ),
        pytest.param(
            lambda s: s.given_config("policy", merge="{}\nmail: {server: 'smtp://127.0.0.1:9', to: [you@example.com]}"),
            "mail",
            "127.0.0.1:9 cannot be reached (Connection refused); see mail.server in config/policy.yaml",
            id="no mail server",
        ),
        pytest.param(
            lambda s: s.given_config("board", sign_in="{github: Ov23}"),
            "sign-in",
            "an account signs in over TLS alone",
            id="accounts without TLS",
        ),
        pytest.param(
            lambda s: s.given_config("board", step_up="guarded"),
            "step-up",
            "no owner has a passkey; add one under Settings, at http://localhost:8765",
            id="nobody signs",
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


@pytest.mark.parametrize("ahead", ["true", "false"])
def test_a_setting_of_an_earlier_version_stops_nobody_and_the_doctor_names_it(stage: Stage, ahead: str) -> None:
    stage.given_config("agents", planner=f"{{model: claude-sonnet-5-5, ahead: {ahead}}}")
    found = {finding["name"]: finding for finding in json.loads(at(stage, "doctor", "--json").text)}
    said = "has no effect any more; take it out of config/agents.yaml"
    assert found["settings"]["ok"] and found["planner.ahead"] == {"name": "planner.ahead", "ok": True, "detail": said}


@pytest.mark.parametrize("left", [(), (".state",), (".state", "logs")])
def test_the_doctor_sends_who_has_no_home_to_init(tmp_path: Path, left: tuple[str, ...]) -> None:
    for name in left:
        (tmp_path / name).mkdir()
    found = {
        finding["name"]: finding for finding in json.loads(typed("--home", str(tmp_path), "doctor", "--json").text)
    }
    assert found["home"]["detail"].startswith(f"{tmp_path} is no home yet; type: python")
    assert f"--home {tmp_path} init --target PATH_OR_URL" in found["home"]["detail"]


def test_a_folder_that_git_did_not_keep_is_no_fault(stage: Stage) -> None:
    stage.home.logs.rmdir()
    found = {finding["name"]: finding for finding in json.loads(at(stage, "doctor", "--json").text)}
    assert found["home"]["ok"]
