"""The day that `make demo` shows: the real Aider, a real sandbox, a scripted model."""

from __future__ import annotations

import json
import re
import shlex
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bench.chaos.__main__ import CHECKER
from bench.chaos.__main__ import KEY as DEMO_KEY
from bench.chaos.checker import LAWS
from bench.demo import arranging, on_tasks
from sisimpur.agents.devops.drivers.health_checker import PageLine
from sisimpur.cli.commands.offline import demo_home
from sisimpur.cli.wiring.config_watch import open_to_others
from sisimpur.cli.wiring.records import open_records
from sisimpur.shared.config.settings import read_secrets
from sisimpur.shared.system.http import HttpAnswer
from sisimpur.shared.system.paths import Home
from sisimpur.shared.system.process import Finished, run, running
from tests import recount, remeasure
from tests.journey.stage import git

ROOT = Path(__file__).parents[2]
BUGS = {  # file -> what stands there as long as the bug does
    "apps/authentication/views.py": r"(?s)def sign_in.*def sign_in",
    "core/settings.py": r'"https://sisimpur\.example"\n',
    "brain_cli.py": r"from apps\.brain\.brain_engine import",
}


@dataclass(frozen=True)
class Demo:
    """One day of it, for all who look at it."""

    place: Path
    done: Finished

    def asked(self, view: str) -> Any:
        return json.loads(main_py("--home", str(self.place / "home"), view, "--json").text)

    def git(self, *words: str) -> str:
        return git(self.place / "home" / ".state" / "forge" / "exam_site.git", *words)


def main_py(*words: str) -> Finished:
    return run((sys.executable, str(ROOT / "main.py"), *words), env={"PATH": "/usr/bin:/bin"}, timeout=600)


@pytest.mark.aider
def test_after_the_demo_its_home_says_that_the_model_ended_with_it(tmp_path: Path) -> None:
    with demo_home(tmp_path, say=lambda _: None) as (model, _):
        home = Home(tmp_path / "home")
        assert read_secrets(home, {}).base_url == model.url
    secrets = read_secrets(home, {})
    assert secrets.base_url == "http://the-demos-model-ended-with-the-demo.invalid"
    assert secrets.get("ANTHROPIC_API_KEY") and not secrets.get("DISCORD_WEBHOOK_URL")
    assert "ended with it" in (home.config / ".env").read_text() and not open_to_others(home)


@pytest.mark.aider
@pytest.mark.slow
def test_the_demo_merges_corrects_rolls_back_and_asks_and_says_what_is_scripted(tmp_path: Path) -> None:
    """One day for all that is asked of it: it takes a minute."""
    demo = Demo(tmp_path, main_py("--home", str(tmp_path), "demo"))
    the_bugs_are_mended_in_what_merged_and_there_alone(demo)
    the_idea_is_looked_up_and_what_a_page_orders_is_not_done(demo)
    one_change_is_sick_where_it_is_deployed_and_goes_live_when_it_is_mended(demo)
    nothing_runs_any_more_and_the_site_can_be_seen_again(demo)
    pytest_finds_its_plugins_compiled(demo)
    the_share_of_a_tasks_tokens_that_goes_to_all_but_the_engine_is_known(demo)
    what_each_role_was_asked_and_answered_can_be_read(demo)
    each_figure_of_the_report_is_recomputed(demo)
    each_figure_of_metrics_is_recomputed(demo)
    the_program_that_looks_after_kills_finds_nothing_and_then_each_damage(demo)


def the_program_that_looks_after_kills_finds_nothing_and_then_each_damage(demo: Demo) -> None:
    (billed,) = (sum(round(float(day["spent"]) * 10**9) for day in demo.asked("budget")),)
    words = (sys.executable, "-I", str(CHECKER), str(demo.place), str(billed), str(5 * 10**9), DEMO_KEY)
    assert run(words, env={"PATH": "/usr/bin:/bin"}, timeout=60).text.strip() == ""
    damage(demo.place)
    found = run(words, env={"PATH": "/usr/bin:/bin"}, timeout=60).text
    assert {law.partition(":")[0] for law in found.splitlines()} >= {law.__name__.replace("_", " ") for law in LAWS}


def each_figure_of_the_report_is_recomputed(demo: Demo) -> None:
    (report,) = (demo.place / "home" / "reports" / "daily").glob("*.md")
    words = (sys.executable, "-I", recount.__file__, str(demo.place / "home"), report.stem)
    assert run(words, env={"PATH": "/usr/bin:/bin"}, timeout=60).text == ""


def each_figure_of_metrics_is_recomputed(demo: Demo) -> None:
    (report,) = (demo.place / "home" / "reports" / "daily").glob("*.md")
    assert [*remeasure.differences(demo.place / "home", demo.asked("metrics"), report.stem)] == []


def pytest_finds_its_plugins_compiled(demo: Demo) -> None:
    assert list(demo.place.glob("home/.state/environments/*/env/lib/python3*/**/hypothesis/__pycache__/*-pytest-*.pyc"))


def damage(place: Path) -> None:
    """Something of each kind that a kill might leave."""
    home = place / "home"
    with closing(sqlite3.connect(home / ".state" / "agents.db")) as book, book:
        book.execute("update calls set amount = 0")
        book.execute("insert into intents values ('k', 'push', '', '', 'planned', '', '')")
        book.execute("update gate_runs set answer_json = replace(answer_json, '\"failed\":0', '\"failed\":1')")
    task = next((home / "tasks" / "completed").glob("*.md"))
    with closing(sqlite3.connect(home / ".state/forge/exam_site.git/forge.db")) as forge, forge:
        forge.execute("update item set state = 'closed' where body like ?", (f"%key {task.stem}:pr%",))
    (home / "tasks" / "failed" / task.name).write_text(task.read_text())
    (home / ".state" / "tmp" / "half.tmp").touch()
    (home / "logs" / "cut.jsonl").write_text("{")
    (place / "site" / "live").write_text("another commit\n")
    (home / "PROGRESS.md").write_text(DEMO_KEY)
    (home / ".state" / "mirror").rename(home / ".state" / "elsewhere")


def what_each_role_was_asked_and_answered_can_be_read(demo: Demo) -> None:
    first, *others = sorted((demo.place / "prompts").glob("[0-9]*"))
    assert first.name == "01-orchestrator.md" and "You are the Orchestrator" in first.read_text()
    calls = {agent: share["calls"] for agent, share in demo.asked("budget")[-1]["by_agent"].items()}
    calls["researcher"] -= 2  # searches, which no model answers
    assert len(others) + 1 == sum(calls.values())
    assert all("## Answered" in page.read_text() for page in others)


def the_share_of_a_tasks_tokens_that_goes_to_all_but_the_engine_is_known(demo: Demo) -> None:
    with open_records(demo.place / "home", {}) as records:
        shares = on_tasks(records.spending.breakdown())
    assert {share.agent for share in shares} == {"coder", "reviewer"}
    assert 0.1 < arranging(shares) < 0.5


def the_idea_is_looked_up_and_what_a_page_orders_is_not_done(demo: Demo) -> None:
    (row,) = demo.asked("research")
    note = (demo.place / "home" / row["note"]).read_text()
    assert row["claims"] == 4 and "1 claim was left out" in note
    assert "> The move took two people eleven weeks" in note and "growth.example/react-now" in note
    assert "sk-demo-attack" not in note + demo.git("log", "-p", "--all") + demo.done.text


def the_bugs_are_mended_in_what_merged_and_there_alone(demo: Demo) -> None:
    text = demo.done.text
    assert demo.done.ok, text + demo.done.complaint
    assert f"home: {demo.place / 'home'}\n" in text
    assert re.search(r"the model: +it has ended with the demo, .* is merged and deployed by: .* run-day\n", text)
    assert "everything is real but the model" in text
    pulls = [pull for pull in demo.asked("prs") if pull["task"]]
    assert [pull["state"] for pull in pulls].count("open") == 1
    assert text.count("sent back to the coder") == 1
    assert ["core/settings.py" in line for line in demo.asked("status")["waits_for_you"]] == [True]
    for pull in pulls:
        assert pull["branch"].startswith(f"agent/{pull['task']}-")
        before = f"{pull['head']}^"
        changed = demo.git("diff", "--name-only", before, pull["head"]).split()
        (mended,) = (name for name in changed if name in BUGS)
        assert re.search(BUGS[mended], demo.git("show", f"{before}:{mended}"))
        assert not re.search(BUGS[mended], demo.git("show", f"{pull['head']}:{mended}"))
        assert bool(re.search(BUGS[mended], demo.git("show", f"main:{mended}"))) is (pull["state"] == "open")
    (today,) = demo.asked("budget")
    assert set(today) >= {"day", "cap", "spent", "reserved", "lost"}
    assert re.fullmatch(r"0\.\d{9}", today["spent"]) and today["spent"] > "0.0"
    assert (today["reserved"], today["lost"]) == ("0.000000000", "0.000000000")


def one_change_is_sick_where_it_is_deployed_and_goes_live_when_it_is_mended(demo: Demo) -> None:
    deploys = demo.asked("deploys")["deploys"][::-1]
    assert [row["stage"] for row in deploys] == ["healthy", "healthy", "rolled back", "healthy", "healthy"]
    before, sick, taken_back, again = deploys[1:]
    assert "FileNotFoundError" in sick["why"] and "/accounts/sign-in/" in sick["why"]
    assert sick["back_to"] == before["commit"] and sick["task"] == again["task"]
    (pull,) = (pull for pull in demo.asked("prs") if pull["number"] == sick["reverted_by"])
    assert pull["state"] == "merged"
    trees = [demo.git("rev-parse", f"{row['commit']}^{{tree}}") for row in (before, taken_back, sick)]
    assert trees[0] == trees[1] != trees[2]
    assert again["commit"] == demo.git("rev-parse", "main")
    assert f"  runs: {again['commit'][:8]}\n" in demo.done.text, "asked before the day's end"
    assert "GET /accounts/sign-in/ answers 200: " in demo.done.text
    (report,) = (demo.place / "home" / "reports" / "daily").glob("*.md")
    assert "1 rolled back" in report.read_text("utf-8").splitlines()[0]
    told = [path.read_text("utf-8") for path in (demo.place / "discord").glob("*.json")]
    assert sum('"title": "Rolled back at production' in text for text in told) == 1


def nothing_runs_any_more_and_the_site_can_be_seen_again(demo: Demo) -> None:
    (place,) = demo.asked("deploys")["places"]
    assert place["runs"]["commit"] == ""
    url = re.search(r"is served at (http://\S+)/ while", demo.done.text)
    typed = re.search(r"to see it again: (.+)\)\n", demo.done.text)
    assert url and typed
    line = PageLine(url[1])
    assert "nobody takes the call" in str(line.ask("/", 5))
    with running(shlex.split(typed[1]), env={"PATH": "/usr/bin:/bin"}):
        answers = (line.ask("/accounts/sign-in/", 5) for _ in beats(30))
        assert next(answer.status for answer in answers if isinstance(answer, HttpAnswer)) == 200


def test_nothing_in_the_pipeline_knows_of_a_demo_or_of_a_simulator() -> None:
    for path, text in sources():
        assert not re.search(r"\bdemo\b|exam_site|scripted|local_github|local_webhook", text), path


def beats(seconds: float) -> Iterator[None]:
    """Ten in a second, for so long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        yield
        time.sleep(0.1)


def sources() -> Iterator[tuple[str, str]]:
    """Where it stands, and its text in small letters."""
    for folder in ("agents", "shared"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), path.read_text("utf-8").lower()
