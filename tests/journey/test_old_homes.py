"""Homes of earlier versions live on: they open, answer as they did, finish their tasks and keep their sums.

Each lies in tests/homes/<version>, made by that version (tests/homes/make.py). What is compared as a whole stands in
tests/golden/<version>.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from sisimpur.cli.app import main
from sisimpur.cli.terminal.arguments import CHECKOUT
from sisimpur.shared.sandbox.linter import Lint
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.accepted import is_accepted
from tests.homes.frozen import thaw
from tests.homes.story import GREETING, TASKS, VISION, script, staged
from tests.journey.looked_up import ADDRESS, PAGE, answers, looks
from tests.journey.stage import APPROVES, HOLDS, KEY, Stage, goals_of, plans, reads, task
from tests.mailbox import Mailbox

HOMES = Path(__file__).parents[1] / "homes"
VERSIONS = sorted(path.parent.name for path in HOMES.glob("*/home"))
FOLDERS = ("backlog", "in_progress", "in_review", "completed", "failed")
LIVED = ("2026-11-20", "2026-11-21")
NOWHERE = "http://127.0.0.1:9"


@dataclass(frozen=True)
class OldHome:
    version: str
    root: Path
    model_url: str

    @classmethod
    def opened(cls, version: str, root: Path, model_url: str = NOWHERE) -> OldHome:
        home = thaw(HOMES / version, root)
        keys = home / "config" / ".env"
        keys.write_text(f"ANTHROPIC_API_KEY={KEY}\nANTHROPIC_BASE_URL={model_url}\n")
        keys.chmod(0o600)
        return cls(version, root, model_url)

    @property
    def home(self) -> Path:
        return self.root / "home"

    def stage(self, days: float) -> Stage:
        return staged(self.root, self.model_url, days)

    def type(self, *words: str) -> str:
        with redirect_stdout(StringIO()) as out:
            code = main(["--home", str(self.home), *words])
        assert code == 0 or words[0] == "doctor", out.getvalue()
        return out.getvalue()

    def asked(self, *words: str) -> Any:
        return json.loads(self.type(*words, "--json"))

    def may_run_commands(self) -> None:
        """As the report and `doctor` tell the owner to write."""
        target = self.home / "config" / "targets" / "site.yaml"
        target.write_text(target.read_text().replace("driver: command\n", "driver: command\n  unsandboxed: yes\n"))

    def accepts(self, name: str, text: str) -> None:
        text = text.replace(f"{CHECKOUT}/main.py", "main.py")  # messages name it whole, wherever that is
        is_accepted(f"{self.version}/{name}", text.replace(str(self.root), "{{ROOT}}"))


# --- answers for scripts -------------------------------------------------------------------------------------

# What of an answer depends on the day it is asked, or on the machine: of that, the form alone is compared.
MOVES: Mapping[str, tuple[str, ...]] = {
    "status": ("day", "today", "month", "machine"),
    "roadmap": ("pace", "ends", "weeks"),
    "doctor": ("*.ok", "*.detail"),
}
VIEWS = (
    *("status", "tasks", "prs", "budget", "roadmap", "deploys", "memory", "research", "doctor"),
    *(f"show {TASKS[name]}" for name in ("sum", "visitors", "lamp", "sign", "greeting")),
    *(f"trace {TASKS[name]}" for name in ("sum", "room0", "greeting")),
)


@pytest.fixture(scope="module", params=VERSIONS)
def old(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> OldHome:
    """A home to look at: no test changes it. `doctor` would install what tests need, and nobody leaves the machine."""
    home = OldHome.opened(request.param, tmp_path_factory.mktemp("old") / "owner")
    with (home.home / "config" / "targets" / "site.yaml").open("a") as file:
        file.write("test: none\n")
    return home


@pytest.mark.parametrize("view", VIEWS)
def test_it_answers_as_it_did(old: OldHome, view: str) -> None:
    found = old.asked(*view.split())
    if view == "budget":
        found = [day for day in found if day["day"] in LIVED]  # today is always there, too
    if view == "roadmap":
        for goal in (goal for week in found["weeks"] for goal in week["goals"]):
            assert goal["done"] is None or goal["done"] in LIVED
            goal["done"] = "a day, or null"  # what was done long ago is not shown any more
    old.accepts(f"answers/{view.replace(' ', '-')}.json", in_lines(steady(found, MOVES.get(view, ()))))


def test_what_ran_in_no_box_without_a_word_of_the_owners_is_told_with_what_to_write(old: OldHome) -> None:
    for view in ("status", "doctor"):
        assert "write `run_as: USER` below `deploy:`" in old.type(view)


def test_what_stands_in_an_answer_only_now_and_then_has_its_form_too(tmp_path: Path) -> None:
    """A run, a pause, an order, a deploy under way, a stop, a file that is none: each at work on the same home."""
    home = OldHome.opened(VERSIONS[-1], tmp_path / "owner")
    home.asked("status")  # brings the database up to date
    busy(home.home)
    home.accepts("answers/status-busy.json", in_lines(steady(home.asked("status"), (*MOVES["status"], "runs"))))
    home.accepts("answers/deploys-busy.json", in_lines(home.asked("deploys")))


def busy(home: Path) -> None:
    at = "2026-11-21T09:00:00+00:00"
    rows = {
        "agent_runs (agent_name, day, task_id, attempt, started_at)": ("coder", "2026-11-21", TASKS["sign"], 1, at),
        "halts (kind, at, reason)": ("halt", at, "a call cost more than was reserved"),
        "deploy_pauses (at, why)": (at, "a rollback"),
        "deploy_orders (place, commit_id, at)": ("production", "0" * 40, at),
        "deploys (place, commit_id, back_to, asked, stage, begun_at)": ("production", "1" * 40, "", 1, "built", at),
    }
    db = sqlite3.connect(home / ".state" / "agents.db")
    with db:
        for table, values in rows.items():
            db.execute(f"insert into {table} values ({', '.join('?' * len(values))})", values)
    db.close()
    (home / "tasks" / "backlog" / "garbage.md").write_text("no task\n")


def steady(answer: Any, moves: tuple[str, ...]) -> Any:
    """The answer, with the form in place of all that these paths lead to; a program is named as at the checkout."""
    for path in moves:
        answer = _formed(answer, path.split("."))
    return json.loads(re.sub(r"\bpython3? \S*main\.py", "python main.py", json.dumps(answer)))


def _formed(value: Any, path: list[str]) -> Any:
    if not path:
        return form(value)
    if path[0] == "*":
        return [_formed(one, path[1:]) for one in value]
    return {**value, path[0]: _formed(value[path[0]], path[1:])}


def form(value: Any) -> Any:
    """Keys and types: of a list the one form that fits all of it."""
    if isinstance(value, dict):
        return {key: form(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [merged([form(one) for one in value])] if value else []
    return f"<{type(value).__name__}>"


def merged(forms: list[Any]) -> Any:
    if all(isinstance(one, dict) for one in forms):
        keys = list(dict.fromkeys(key for one in forms for key in one))
        return {key: merged([one[key] for one in forms if key in one]) for key in keys}
    if all(isinstance(one, list) for one in forms):
        inner = [form for one in forms for form in one]
        return [merged(inner)] if inner else []
    return " or ".join(sorted({json.dumps(one).strip('"') for one in forms}))


def in_lines(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


# --- it goes on ----------------------------------------------------------------------------------------------


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel([*script(), HOLDS]) as model:
        yield model


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
def test_it_finishes_its_tasks_and_keeps_its_sums(version: str, tmp_path: Path, model: ScriptedModel) -> None:
    """One life for all that is asked of it: a day that was cut off, and the next morning."""
    old = OldHome.opened(version, tmp_path / "owner", model.url)
    old.may_run_commands()
    before = {view: old.asked(view) for view in ("budget", "prs", "tasks")}
    told = Mailbox(old.root / "box").told()
    starts = (old.root / "starts").read_text()

    old.type("approve", TASKS["visitors"])
    stage = old.stage(1.1)
    with fault_points(tmp_path / "points") as passed:
        assert stage.run_day() == []
    old.type("approve", TASKS["tidy"])
    assert stage.run_day() == []

    old.accepts("fault-points.txt", "".join(f"{name}\n" for name in sorted(passed)))
    all_tasks_have_ended(old)
    nothing_outward_has_happened_twice(old, stage, before["prs"], told, starts)
    what_was_spent_is_spent(old, before["budget"])
    what_is_paid_for_is_not_paid_again(model)
    files_are_written_as_ever(old, stage, model)


@contextmanager
def fault_points(log: Path) -> Iterator[set[str]]:
    """The names that were passed inside, known at its end: also those that the source puts together."""
    passed: set[str] = set()
    os.environ["SISIMPUR_CRASH_LOG"] = str(log)
    try:
        yield passed
    finally:
        del os.environ["SISIMPUR_CRASH_LOG"]
    passed.update(log.read_text().split())


def all_tasks_have_ended(old: OldHome) -> None:
    states = {row["id"]: row["state"] for row in old.asked("tasks")}
    assert states.pop(TASKS["lamp"]) == "failed"
    assert set(states) > set(TASKS.values()) - {TASKS["lamp"]}
    assert set(states.values()) == {"completed"}
    status = old.asked("status")
    assert status["problems"] == status["unreadable"] == status["in_progress"] == status["ready"] == []


def nothing_outward_has_happened_twice(
    old: OldHome, stage: Stage, pulls: list[dict[str, Any]], told: list[str], starts: str
) -> None:
    now = old.asked("prs")
    numbers = {row["task"]: row["number"] for row in pulls}
    assert {row["task"]: row["number"] for row in now if row["task"] in numbers} == numbers
    assert [task for task, count in Counter(row["task"] for row in now).items() if count > 1] == []
    landed = [f"(#{row['number']})" for row in now if row["base"] == "main" and row["state"] == "merged"]
    history = stage.forge("log", "--first-parent", "--format=%s", "main").splitlines()
    assert sorted(subject.rpartition(" ")[2] for subject in history) == sorted([*landed, "first"])
    keys = Mailbox(old.root / "box").told()
    assert keys[: len(told)] == told and len(set(keys)) == len(keys)
    deployed = (old.root / "starts").read_text()
    assert deployed.startswith(starts) and len(set(deployed.split())) == len(deployed.split())
    with stage.records() as records:
        forge = records.forge()
        assert forge
        for row in now:
            ours = Counter(one.body for one in forge.comments(row["number"]) if one.ours and not one.verdict)
            assert set(ours.values()) <= {1}
        assert records.db.rows("select key from intents where state = 'planned'") == []


def what_was_spent_is_spent(old: OldHome, before: list[dict[str, Any]]) -> None:
    """Sums stay to the nano-dollar; a reserve is freed or lost."""
    now = {day["day"]: day for day in old.asked("budget")}
    first, second = (now[day] for day in LIVED)
    was_first, was_second = (next(day for day in before if day["day"] == name["day"]) for name in (first, second))
    assert first["spent"] == was_first["spent"] and first["lost_calls"][-1] in was_first["lost_calls"]
    for group in ("by_agent", "by_task", "by_model"):
        assert {name: one["spent"] for name, one in first[group].items()} == {
            name: one["spent"] for name, one in was_first[group].items()
        }
    assert first["reserved"] == second["reserved"] == "0.000000000"
    lost, most = nano(was_first["lost"]), nano(was_first["lost"]) + nano(was_first["reserved"])
    assert lost <= nano(first["lost"]) <= most
    assert nano(second["spent"]) > nano(was_second["spent"])


def nano(dollars: str) -> int:
    return int(dollars.replace(".", ""))


def what_is_paid_for_is_not_paid_again(model: ScriptedModel) -> None:
    """The sign was coded before the kill, the visitors are coded and reviewed."""
    asked = "\n".join(request.summary for request in model.requests)
    assert TASKS["room2"] in asked
    assert not any(f"Task {TASKS[name]}" in asked for name in ("sum", "visitors", "lamp", "room0", "room1", "sign"))


# --- files that people read ----------------------------------------------------------------------------------

DOOR, DIGITS = "Paint the door", "Should rooms have two digits?"
WRITTEN = (
    *("DAILY_PLAN.md", "PROGRESS.md", "ROADMAP.md", "memory/coder.md", "memory/planner.md"),
    *("reports/daily/2026-11-21.md", "reports/daily/2026-11-22.md"),
    *("tasks/backlog/20261122-01.md", "tasks/completed/20261121-u1.md", "tasks/completed/20261121-l1.md"),
)


def files_are_written_as_ever(old: OldHome, stage: Stage, model: ScriptedModel) -> None:
    """Task files keep their form (planned, proposed, a goal's landing, the owner's), and so do the owner's pages."""
    another_morning(old, stage, model)
    assert (old.home / "tasks" / "completed" / "greeting.md").read_text() == GREETING
    (note,) = (old.home / "reports" / "research").glob("should-rooms*.md")
    for path in (*WRITTEN, f"reports/research/{note.name}"):
        old.accepts(f"files/{path}", without_figures((old.home / path).read_text()))


def another_morning(old: OldHome, stage: Stage, model: ScriptedModel) -> None:
    """A new goal, a new question, and something to tidy that waits for a day without goals; nothing is begun."""
    vision = VISION.replace("- Make the house nicer", f"- {DOOR}\n  - in green\n- Make the house nicer")
    stage.given_vision(f"{vision}- {DIGITS}\n")
    hit = {"title": PAGE["title"], "url": ADDRESS, "excerpt": PAGE["text"]}
    (old.home / "web" / "searches.yaml").write_text(json.dumps([{"query": DIGITS, "hits": [hit]}]))
    door = task(
        next(goal for goal in goals_of(vision) if goal not in goals_of(VISION)),
        DOOR,
        ("house.py",),
        new_files=["tests/test_door.py"],
        context=["lamp.py"],
        difficulty="hard",
        acceptance=["it is green", "it opens"],
    )
    model.play([reads(), plans(door), looks(1), answers(), APPROVES, HOLDS])
    stage.lints = lambda _: [Lint("app.py", 1, "F401", "`os` imported but unused")]
    stage.clock.sleep(0.9 * 86_400)
    assert stage.run_day("planning") == []


FIGURES = (  # what depends on prompts, on the clock or on the machine
    (r"(?<= as )[0-9a-f]{12}\b|(?<=production )[0-9a-f]{8}\b", "<commit>"),
    (r"\$0\.\d\d(\d\d)?\b", "$N"),
    (r"\b[\d,]+ tokens\b", "N tokens"),
    (r"\b\d+ %(?= of the week's tokens)", "N %"),
    (r"\b\d+(\.\d)? minutes?\b", "N minutes"),
    (r"\b\d+ deploys?\b", "N deploys"),  # two merges may go live as one
    (r"(- production <commit> .*\n)+", "- production ...\n"),
    (r"\b\d\d:\d\d\b", "hh:mm"),
    (r"(?<=head )(`?)[0-9a-f]{12,64}", r"\1<head>"),
    (r"\b\d+ rows\b", "N rows"),
    (r"\$4\.9\d #+\.*", "$N ###"),
)


def without_figures(text: str) -> str:
    for pattern, instead in FIGURES:
        text = re.sub(pattern, instead, text)
    return text


def test_a_home_from_later_is_refused_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = OldHome.opened(VERSIONS[-1], tmp_path / "owner").home
    db = sqlite3.connect(home / ".state" / "agents.db")
    db.execute("pragma user_version = 9999")
    db.close()
    assert main(["--home", str(home), "status"]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "is from a newer version of this program; update the program" in said


HELD = {  # what a home must hold to be worth keeping -> how one sees it
    "an open attempt": f"select 1 from attempts where task = '{TASKS['sign']}' and outcome is null",
    "a lost attempt": "select 1 from attempts where outcome = 'lost'",
    "an open intent": "select 1 from intents where state = 'planned'",
    "a waiting approval": f"select 1 from parked where task = '{TASKS['visitors']}'",
    "a lesson": "select 1 from lessons",
    "a pin of the roadmap": "select 1 from roadmap_pins",
    "a deploy": "select 1 from deploys where stage = 'healthy'",
    "a settled call": "select 1 from calls where state = 'settled' and amount > 0",
    "a lost call that was written off": "select 1 from calls join write_offs on call = calls.id where state = 'lost'",
    "an open call": "select 1 from calls where state = 'open' and amount > 0",
    "a raised cap": "select 1 from cap_raises",
    "a question": "select 1 from questions",
    "a note of research": "select 1 from inquiries where slug <> ''",
    "a proposal of the team": "select 1 from upkeep_proposals",
    "a goal's own branch": "select 1 from tasks where branch <> ''",
    "a life that was cut off": "select 1 from epochs where ended_at is null and how = ''",
}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_kept_home_holds_a_task_in_each_state_and_all_that_can_be_open(version: str, tmp_path: Path) -> None:
    """Looked at before any program of today has opened it."""
    home = thaw(HOMES / version, tmp_path / "owner")
    assert {path.name for path in (home / "tasks").iterdir() if [*path.glob("*.md")]} == set(FOLDERS)
    db = sqlite3.connect(home / ".state" / "agents.db")
    missing = [what for what, sql in HELD.items() if not db.execute(sql).fetchall()]
    db.close()
    assert missing == []


def test_a_kept_home_names_no_place_of_the_machine_that_made_it_and_is_small() -> None:
    for version in VERSIONS:
        files = [path for path in (HOMES / version).rglob("*") if path.is_file()]
        assert sum(path.stat().st_size for path in files) < 300_000
        assert [
            path for path in files if re.search(r"/tmp/|/home/\w+/|/root\b|/work/|/dev/shm", path.read_text())
        ] == []
