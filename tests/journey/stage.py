"""The stage of the stories: a home, an owner's repository, a scripted model, and a day that is run for real.

Real: git, SQLite, the meter, the committer, the local forge, processes. Scripted: the model, and an engine that does
what a story tells it to (the real Aider has its own tests, and its own story in test_demo.py).
"""

from __future__ import annotations

import atexit
import json
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, redirect_stdout
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from io import StringIO
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import httpx2

from sisimpur.agents.coder.engine.engine import EngineJob, EngineRun, named_files, never
from sisimpur.agents.coder.showing import unformatted
from sisimpur.agents.orchestrator.vision.vision_parser import parse
from sisimpur.agents.planner.facts.asking import Lints
from sisimpur.agents.qa.runner.suite import Bench, RawTestRun, SuiteOrder
from sisimpur.cli.commands.owner_commands import init
from sisimpur.cli.terminal.arguments import Arguments
from sisimpur.cli.wiring.records import Records, open_records
from sisimpur.cli.wiring.team import open_team
from sisimpur.shared.notify.notice import Notifier
from sisimpur.shared.repo.mirror import Mirror
from sisimpur.shared.sandbox.linter import Lint
from sisimpur.shared.system.clock import Clock
from sisimpur.shared.system.markdown import outline
from sisimpur.shared.system.paths import Home
from tests.books import new_book
from tests.talk import everything_said

GIT = {
    "PATH": "/usr/bin:/bin:/usr/local/bin",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    **{f"GIT_{who}_NAME": "owner" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_EMAIL": "owner@localhost" for who in ("AUTHOR", "COMMITTER")},
}
FILES = {"app.py": "def total(a, b):\n    return a - b\n", "README.md": "# Sums\n", "webhook.py": "URL = 1\n"}
KEY = "sk-the-real-key-of-the-owner"
VISION = "# Vision\n\n## Priority: HIGH\n- Fix the sum in app.py\n"


def goals_of(vision: str) -> list[str]:
    """The ids that the goals get when they are seen for the first time."""
    return [goal.id for goal in parse(outline(vision)).goals]


# --- the owner's repository ----------------------------------------------------------------------------------


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", str(folder), *words], env=GIT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def repository(folder: Path, files: Mapping[str, str] = FILES) -> Path:
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "first")
    return folder


# --- what the model says -------------------------------------------------------------------------------------


def reads(guards: Sequence[Mapping[str, Any]] = (), questions: Sequence[Mapping[str, str]] = ()) -> dict[str, Any]:
    """The orchestrator's answer about the vision."""
    answer = {"guards": list(guards), "questions": list(questions), "goals": []}
    return {"agent": "orchestrator", "times": "any", "json": answer}


def task(goal: str, title: str = "Fix the sum", files: Sequence[str] = ("app.py",), **more: Any) -> dict[str, Any]:
    plain = {
        "key": title,
        "goal_id": goal,
        "title": title,
        "description": f"{title}, please.",
        "reason": "it is wrong",
        "difficulty": "easy",
    }
    lists = {"files": list(files), "new_files": [], "context": [], "acceptance": ["it adds"], "depends_on": []}
    return {**plain, **lists, **more}


def plans(*tasks: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """The planner's answer: these tasks, one goal each."""
    goals = [{"goal_id": t["goal_id"], "verdict": "tasks", "text": "it is wrong", "evidence": []} for t in tasks]
    return {"agent": "planner", "times": "any", "json": {"goals": goals, "tasks": list(tasks)}, **more}


CODES = {"when": {"system": "^You are the Coder"}, "times": "any", "text": "done"}
APPROVES = {
    "agent": "reviewer",
    "times": "any",
    "json": {"decision": "approve", "reason": "", "unresolved": [], "findings": []},
}
HOLDS = {"agent": "evaluator", "times": "any", "json": {"verdict": "holds", "missing": ""}}


# --- an engine that does as it is told -----------------------------------------------------------------------


def over_the_socket(socket: Path) -> httpx2.BaseTransport:
    return httpx2.HTTPTransport(uds=str(socket), verify=False)


@dataclass
class Engine:
    """Asks the model once through the meter, as every engine does, then changes the folder as the story says."""

    socket: Path
    change: Callable[[Path, EngineJob], EngineRun | None]  # None: it edited
    way: Callable[[Path], httpx2.BaseTransport]  # to the meter at this socket
    name: str = "scripted"
    jobs: list[EngineJob] = field(default_factory=list)

    def run(self, job: EngineJob, stop: Callable[[], bool] = never) -> EngineRun:
        named_files(job)
        self.jobs.append(job)
        status, text = self._ask(job)
        if status != 200:
            return EngineRun("api error", text, (), text, 0.0)
        said = self.change(job.folder, job)
        if said is not None:
            return said
        return EngineRun("edited", "", job.edit, text, 0.0)

    def _ask(self, job: EngineJob) -> tuple[int, str]:
        body = {
            "model": job.model.model,
            "max_tokens": 1_000,
            "system": "You are the Coder of a test.",
            "messages": [{"role": "user", "content": job.message}],
        }
        headers = {"x-api-key": job.ticket, "anthropic-version": "2023-06-01"}
        with httpx2.Client(transport=self.way(self.socket), timeout=60, trust_env=False) as client:
            answer = client.post("http://meter/v1/messages", json=body, headers=headers)
        return answer.status_code, answer.text


def mends(folder: Path, job: EngineJob) -> None:
    """The right change."""
    for name in (*job.edit, *job.create):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text((path.read_text() if path.exists() else "") + f"# changed for {job.message.split()[-1]}\n")


# --- tests that say what a story tells them to ---------------------------------------------------------------


@dataclass
class ScriptedBench:
    """Runs nothing: a function of all files says how each test ends. `only` and overlays are kept to the letter."""

    mirror: Mirror
    tests: Callable[[Mapping[str, str]], Mapping[str, str]]
    quality: str = "full"
    trace: str = "AssertionError"  # of every test that fails
    unrun: Callable[[Mapping[str, str]], Mapping[str, Sequence[int]]] | None = None  # lines that no test runs, by file
    crashes: bool = False

    def label(self, commit: str) -> str:
        return f"{self.quality} box of a story"

    def run(self, order: SuiteOrder, stop: Callable[[], bool] = never) -> RawTestRun:
        files = {e.path: (self.mirror.read(order.commit, e.path) or b"") for e in self.mirror.tree(order.commit)}
        files |= {path: data for path, data in order.overlay.items() if data is not None}
        there = {path: data.decode() for path, data in files.items() if order.overlay.get(path, data) is not None}
        found = {
            test: outcome
            for test, outcome in self.tests(there).items()
            if not order.only or test.split("::")[0] in order.only
        }
        failed = sum(outcome == "failed" for outcome in found.values())
        code = 1 if failed else 0 if found else 5
        lines: list[dict[str, object]] = [{"collected": len(found)}]
        for test, outcome in found.items():
            place = {"where": "app.py:1", "text": self.trace} if outcome == "failed" else {}
            lines.append({"test": test, "outcome": outcome, **place})
        if not self.crashes:
            lines.append({"end": code, "ran": len(found)})
        report = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
        return RawTestRun("exited", code, 0.1, "", report, self._counted(there))

    def _counted(self, files: Mapping[str, str]) -> bytes | None:
        if self.unrun is None:
            return None
        missing = {path: {"missing_lines": list(lines)} for path, lines in self.unrun(files).items()}
        for path, entry in missing.items():
            entry["executed_lines"] = list({*range(1, files[path].count("\n") + 1)} - {*entry["missing_lines"]})
        return json.dumps({"totals": {"percent_covered": 50.0}, "files": missing}).encode()


# --- the stage -----------------------------------------------------------------------------------------------


MORNING = datetime(2026, 11, 20, 8, tzinfo=UTC)


class HurriedClock:
    """Begins at eight on some morning and goes as fast as the real one, but nobody waits: to sleep is to be later."""

    def __init__(self) -> None:
        self._ahead = MORNING - datetime.now(UTC)

    def now(self) -> datetime:
        return datetime.now(UTC) + self._ahead

    def sleep(self, seconds: float) -> None:
        self._ahead += timedelta(seconds=seconds)


@dataclass
class Stage:
    root: Path
    model_url: str
    change: Callable[[Path, EngineJob], EngineRun | None] = mends
    tests: Callable[[Mapping[str, str]], Mapping[str, str]] = lambda _: {}
    said: list[str] = field(default_factory=list)
    engines: list[Engine] = field(default_factory=list)
    clock: HurriedClock = field(default_factory=HurriedClock)
    trace: str = "AssertionError"  # what each test that fails ends with
    unrun: Callable[[Mapping[str, str]], Mapping[str, Sequence[int]]] | None = None  # None: nobody counts
    crashes: bool = False  # whether no run of the tests comes to its end
    lints: Callable[[Mapping[str, str]], Sequence[Lint]] = lambda _: ()  # what a linter finds in these files
    services: list[Notifier] = field(default_factory=list)  # where the owner reads messages
    prepared: list[str] = field(default_factory=list)  # commits whose tests' needs were asked for ahead

    @property
    def home(self) -> Home:
        return Home(self.root / "home")

    def set_up(self, vision: str = VISION, files: Mapping[str, str] = FILES) -> Stage:
        repository(self.root / "site", files)
        self._make_home(vision)
        return self

    def _make_home(self, vision: str) -> None:
        """As `init` makes it for the target beside it."""
        shutil.copytree(_template(), self.home.root)
        target = self.home.targets / "site.yaml"
        target.write_text(target.read_text().replace(str(_template().parent), str(self.root)))
        self.given_key()
        self.given_config("policy", capacity="{parallel: 1}", upkeep="{tasks: 0}", goals="{read: false}")
        self.given_vision(vision)

    def given_key(self) -> None:
        keys = self.home.config / ".env"
        keys.write_text(f"ANTHROPIC_API_KEY={KEY}\nANTHROPIC_BASE_URL={self.model_url}\n")
        keys.chmod(0o600)

    def given_vision(self, text: str) -> None:
        self.home.vision.write_text(text)

    def given_config(self, file: str, **lines: str) -> None:
        """`given_config("policy", budget="{task: 1, day: 1, month: 2}")` replaces that line of config/policy.yaml."""
        path = self.home.config / f"{file}.yaml"
        text = path.read_text()
        for name, value in lines.items():
            text = re.sub(rf"^{name}:.*$", f"{name}: {value}", text, flags=re.MULTILINE)
        path.write_text(text)

    def owner_commits(self, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            (self.root / "site" / name).write_text(text)
        git(self.root / "site", "commit", "-q", "-a", "-m", "the owner's own")

    def run_day(
        self, until: str = "", sandbox: Callable[[], object] = lambda: None, wait: timedelta = timedelta()
    ) -> list[str]:
        """The problems of the day. `sandbox` is asked for before anything works in it."""

        def make(records: Records, *_: object) -> ScriptedWorkshop:
            return ScriptedWorkshop(self, records.home.meter_socket, sandbox)

        said = self.said.append
        with self.records() as records, self.open_team(records, said, make, lambda _: self.services) as team:
            team.run_day(until, wait)
            return team.problems

    open_team = staticmethod(open_team)
    way = staticmethod(over_the_socket)

    def records(self, clock: Clock | None = None) -> AbstractContextManager[Records]:
        return open_records(self.home.root, {}, clock or self.clock)

    @property
    def jobs(self) -> list[EngineJob]:
        """Every task that an engine was given."""
        return [job for engine in self.engines for job in engine.jobs]

    # -- what there is to see ---------------------------------------------------------------------------------

    def states(self) -> dict[str, str]:
        """Task id -> folder."""
        with self.records() as records:
            return {id_: state.value for state, ids in records.store.names().items() for id_ in ids}

    def pulls(self) -> list[Any]:
        with self.records() as records:
            forge = records.forge()
            return list(forge.list_pulls(every=True)) if forge else []

    def note(self, task: str) -> str:
        with self.records() as records:
            return records.journal.history(task)[-1].note

    def forge(self, *words: str) -> str:
        return git(self.home.forge("site"), *words)

    def log(self) -> str:
        return "".join(path.read_text() for path in sorted(self.home.logs.glob("*.jsonl")))

    def everything_written(self) -> bytes:
        """All bytes below the home, but for the owner's own file of keys."""
        files = (path for path in sorted(self.home.root.rglob("*")) if path.is_file() and path.name != ".env")
        return b"\0".join((*(path.read_bytes() for path in files), everything_said(self.home.talk)))


@cache
def _template() -> Path:
    """A home as `init` makes it, with the database of its first day, once for this process."""
    root = Path(mkdtemp(prefix="stage-template-")).resolve()
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    site = repository(root / "site")
    with redirect_stdout(StringIO()):
        assert init(Arguments("init", root / "home", target=str(site))) == 0
    home = Home(root / "home")
    new_book(home.database).close()
    return home.root


@dataclass
class ScriptedWorkshop:
    """No sandbox: nothing here runs code of anybody."""

    stage: Stage
    socket: Path
    sandbox: Callable[[], object]

    def engine(self) -> Engine:
        self.sandbox()
        self.stage.engines.append(Engine(self.socket, self.stage.change, self.stage.way))
        return self.stage.engines[-1]

    def bench(self, mirror: Mirror) -> Bench:
        self.sandbox()
        return ScriptedBench(
            mirror, self.stage.tests, trace=self.stage.trace, unrun=self.stage.unrun, crashes=self.stage.crashes
        )

    def prepare(self, mirror: Mirror, commit: str) -> None:
        """Nothing is installed."""
        self.stage.prepared.append(commit)

    def linter(self) -> ScriptedWorkshop:
        return self

    def lint(self, files: Mapping[str, str]) -> tuple[Lint, ...]:
        return tuple(self.stage.lints(files))

    def tools(self) -> Mapping[str, Lints]:
        return {"ruff": lambda files, *_: self.lint(files)}

    def formats(self, files: Mapping[str, str], configuration: Mapping[str, str]) -> Mapping[str, str]:
        return unformatted(files, configuration)

    def close(self) -> None:
        """Nothing goes on."""
