"""A sample project as a target, with the real committer, tests, rules and sandbox around it."""

from __future__ import annotations

import contextlib
import hashlib
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter

from bench.gate_case import OUR_KEY, ROOT, Edit, GateCase, edited, sample
from bench.pipeline import used
from sisimpur.agents.qa.agent import Qa, QaPolicy
from sisimpur.agents.qa.runner.bench import BoxBench
from sisimpur.agents.qa.runner.environment_store import Environments, Setup
from sisimpur.agents.qa.runner.suite import RawTestRun, SuiteOrder
from sisimpur.agents.reviewer.agent import Reviewer
from sisimpur.shared.llm.prompts import Prompts
from sisimpur.shared.model.errors import BrokenSetup
from sisimpur.shared.model.evidence import SuiteRun
from sisimpur.shared.model.scope import Scope
from sisimpur.shared.model.work import Branch, Run
from sisimpur.shared.repo.commit_text import CommitText
from sisimpur.shared.repo.committer import Author, Committed, Committer
from sisimpur.shared.repo.git import Remote
from sisimpur.shared.repo.mirror import Mirror
from sisimpur.shared.sandbox.box import Box, JobLimits
from sisimpur.shared.sandbox.bubblewrap import never
from sisimpur.shared.sandbox.linter import RuffLinter
from sisimpur.shared.system.clock import SystemClock
from sisimpur.shared.system.log import Log
from sisimpur.shared.system.outgoing import Outgoing
from tests.repositories import commit, repository, write

NEEDED = ("Django==5.2.19", "pytest", "coverage", "hypothesis", "setuptools>=77", "wheel")  # by the samples
PACKAGES = ROOT / ".state" / "bench-packages"
TOLERANCE = 1.0  # points of coverage, as in config/policy.yaml
NOW = datetime(2026, 1, 1, tzinfo=UTC)
T = TypeVar("T")


class Obedient:
    """A reviewer's model that approves of everything. `prompts`: a folder where a person may read what it was asked."""

    prompts: Path | None = None

    def ask(
        self,
        run: Run,
        system: str,
        user: str,
        answer: type[T],
        kept: Sequence[int] = (),  # noqa: ARG002
        least: int = 0,  # noqa: ARG002
    ) -> T:
        if self.prompts:
            name = nameless(run.task)
            text = f"{system}\n\n=====\n\n{user}\n".replace(run.task, name)  # an id often tells what is wrong
            (self.prompts / f"{name}.txt").write_text(text, encoding="utf-8")
        return TypeAdapter(answer).validate_python({"decision": "approve", "reason": "", "findings": []})


class Kept(dict[str, SuiteRun]):
    """The base's runs."""

    base_run = dict.get
    keep_base_run = keep_run = dict.__setitem__


class Stopwatch:
    """A bench, and the seconds that tests ran on it: on the wall, of CPU, and in other surroundings.

    Runs with a planted fault are of few tests: they are counted by themselves.
    """

    def __init__(self, bench: BoxBench) -> None:
        self._bench = bench
        self.label, self.quality = bench.label, bench.quality
        self.restart()

    def restart(self) -> None:
        self.seconds, self.cpu, self.runs, self.first, self.elsewhere = 0.0, 0.0, 0, 0.0, 0.0
        self.faults, self.with_faults = 0, 0.0

    def run(self, order: SuiteOrder, stop: Callable[[], bool] = never) -> RawTestRun:
        before = used()
        raw = self._bench.run(order, stop)
        self.seconds, self.cpu = self.seconds + raw.seconds, self.cpu + used() - before
        self.runs, self.faults = self.runs + (not order.limit), self.faults + bool(order.limit)
        self.with_faults += raw.seconds if order.limit else 0.0
        self.first += raw.seconds if order.time else 0.0
        self.elsewhere += raw.seconds if order.elsewhere else 0.0
        return raw


class Place:
    """One sample as a target, with all gates. `packages`: wheels of what its tests need. `edits`: made before."""

    def __init__(self, name: str, root: Path, box: Box, packages: Path, edits: Sequence[Edit] = ()) -> None:
        self.files = edited(sample(name), edits)
        self._root = root
        repository(root / "source", self.files)
        commit(root / "source", {})  # only a repository's first commit has an environment of its own
        self.mirror = Mirror(root / "mirror.git", Remote(str(root / "source")))
        self.mirror.create()
        self.base = self.mirror.fetch("main")
        outgoing = Outgoing({"ANTHROPIC_API_KEY": OUR_KEY})
        self._committer = Committer(self.mirror, outgoing, Author("Team", "team@localhost"))
        python = Path(sys.base_prefix, "bin", f"python{sys.version_info.major}.{sys.version_info.minor}")
        setup = Setup(name, python, packages=packages)
        self._environments = Environments(box, self.mirror, root / "environments", setup)
        self.watch = Stopwatch(BoxBench(box, self.mirror, self._environments, root / "scratch", JobLimits(seconds=120)))
        for name in ("logs", "work"):
            (root / name).mkdir()
        log = Log(root / "logs", SystemClock(), outgoing.clean)
        self.qa = Qa(self.watch, self.mirror, Kept(), QaPolicy("", TOLERANCE), log)
        linter = RuffLinter(box, root / "lint")
        self.model = Obedient()
        self.reviewer = Reviewer(self.model, Prompts(ROOT / "agents"), self.mirror, linter, outgoing)

    def commit(self, case: GateCase, written: Mapping[str, str] | None = None) -> Branch:
        """Refused: the committer does not take it. `written`: tests that were laid beside it since."""
        written = written or {}
        name = f"{case.id}.a{2 if written else 1}"
        folder = self._root / "work" / name
        self.mirror.check_out(self.base, folder)
        after = {**case.changed(self.files), **written}
        write(folder, {path: text for path, text in after.items() if text != self.files.get(path)})
        for path in self.files.keys() - after.keys():
            (folder / path).unlink()
        task = case.spec
        scope = Scope(task.files, (*task.new_files, *written), guards=task.guards)
        ref = f"refs/attempts/{name}"
        made = self._committer.commit(
            folder, base=self.base, ref=ref, text=CommitText(task.title), scope=scope, now=NOW
        )
        assert isinstance(made, Committed), f"{case.id} changes nothing"
        return Branch(f"agents/{case.id}", self.base, made.sha, made.changed, made.protected)

    def install(self, commit: str) -> None:
        """The environment that the commit needs: it is kept, and no part of a gate's time."""
        with contextlib.suppress(BrokenSetup):  # the gates will say so
            self._environments.ready(commit)


def nameless(case: str) -> str:
    """A case's name for who is to judge it."""
    return hashlib.sha256(case.encode()).hexdigest()[:10]


def wheels(folder: Path = PACKAGES) -> Path:
    """What the samples' tests need, fetched once; an environment is then built without any network."""
    if not folder.is_dir():
        fetched = folder.with_name(folder.name + ".new")  # what was cut off is fetched again
        argv = [sys.executable, "-m", "pip", "download", "--quiet", "--only-binary", ":all:", "--dest", str(fetched)]
        home = {"HOME": str(folder.parent)}  # pip asks for versions of compilers, and those leave files there
        subprocess.run([*argv, *NEEDED], check=True, env={**os.environ, **home})
        fetched.rename(folder)
    return folder
