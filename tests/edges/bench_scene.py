"""A place to run a target's tests: a real box, a real environment, repositories made of a few files."""

from __future__ import annotations

import fcntl
import functools
import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sisimpur.agents.qa.runner.bench import BoxBench
from sisimpur.agents.qa.runner.suite import Environment, RawTestRun, SuiteOrder
from sisimpur.cli.setup.folders import UV
from sisimpur.shared.repo.git import Remote
from sisimpur.shared.repo.mirror import Mirror
from sisimpur.shared.sandbox.box import Box, JobLimits, Mount, find_box, python_mounts
from sisimpur.shared.system import process
from tests.repositories import repository

PACKAGES = ("pytest>=8,<10", "pytest-xdist>=3.6,<4", "pytest-cov>=6,<8", "coverage>=7.6,<8", "Django==5.2.*")
PYTEST, UNITTEST = "python -m pytest -q", "python -m unittest -q"
DJANGO = "python manage.py test"
SMALL = JobLimits(seconds=120, memory_mb=400, processes=40, tmp_mb=16, disk_mb=32, file_mb=16, output=10_000)
DJANGO_FILES = {
    "manage.py": (
        "import sys\nfrom django.conf import settings\nfrom django.core.management import execute_from_command_line\n"
        "settings.configure(DATABASES={}, INSTALLED_APPS=[])\nexecute_from_command_line(sys.argv)\n"
    ),
}

Files = Mapping[str, str | bytes]


@dataclass(frozen=True)
class Ready:
    """The same environment for every commit."""

    mounts: tuple[Mount, ...]
    path: str

    def ready(self, commit: str) -> Environment:
        return Environment("the-key", self.mounts, {"PATH": f"{self.path}:/usr/bin:/bin"})


def make_environment(folder: Path) -> Ready:
    """A virtual environment with what the targets of these tests need."""
    told = {name: value for name, value in os.environ.items() if name.startswith("UV_") or name.endswith("_proxy")}
    env = {**told, "PATH": os.environ["PATH"], "HOME": str(folder.parent), "UV_SYSTEM_CERTS": "1"}
    uv = str(UV) if UV.exists() else "uv"  # venv and pip take several times as long
    installs = ("pip", "install", "--compile-bytecode", *PACKAGES)  # else each run in a box compiles all of it anew
    for words in (("venv", "--seed", "--python", sys.executable, str(folder)), installs):
        done = process.run((uv, *words), env={**env, "VIRTUAL_ENV": str(folder)}, timeout=300)
        assert done.ok, done.complaint
    return _ready(folder)


def _ready(folder: Path) -> Ready:
    return Ready(python_mounts(folder / "bin/python"), str(folder / "bin"))


@functools.cache
def _environment(folder: Path) -> Ready:
    """One for the whole session: the worker that comes first builds it, the others wait."""
    done = folder / "is whole"
    with folder.with_name("lock of the environment").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            make_environment(folder)
            done.touch()
    return _ready(folder)


def make_scene(factory: pytest.TempPathFactory) -> Scene:
    folder = factory.mktemp("bench")
    ours = factory.getbasetemp()
    everybodys = ours.parent if "PYTEST_XDIST_WORKER" in os.environ else ours
    return Scene(find_box(folder / "box"), _environment(everybodys / "environment of the target"), folder)


@dataclass(frozen=True)
class Scene:
    box: Box
    ready: Ready
    folder: Path  # of ours; repositories lie beside the bench's scratch

    @property
    def scratch(self) -> Path:
        return self.folder / "scratch"

    def commit(self, files: Files, links: Mapping[str, str] | None = None) -> tuple[Mirror, str]:
        place = Path(tempfile.mkdtemp(dir=self.folder, prefix="repository-"))
        (place / "source").mkdir()
        for name, leads_to in (links or {}).items():
            os.symlink(leads_to, place / "source" / name)
        sha = repository(place / "source", files)
        mirror = Mirror(place / "mirror.git", Remote(str(place / "source")))
        mirror.create()
        mirror.fetch("main")
        return mirror, sha

    def bench(self, mirror: Mirror, limits: JobLimits = SMALL) -> BoxBench:
        return BoxBench(self.box, mirror, self.ready, self.scratch, limits)

    def run(
        self,
        files: Files,
        command: str = PYTEST,
        limits: JobLimits = SMALL,
        links: Mapping[str, str] | None = None,
        **order: Any,
    ) -> RawTestRun:
        """One run of these files' tests; nothing of it may be left on our disk."""
        mirror, sha = self.commit(files, links)
        with closing(self.bench(mirror, limits)) as bench:
            raw = bench.run(SuiteOrder(sha, command, **{"cover": False, **order}))
        assert list(self.scratch.iterdir()) == []
        return raw


def lines(raw: RawTestRun) -> list[dict[str, Any]]:
    """The report's lines, but for what it says of our own tests."""
    found = [json.loads(line) for line in (raw.report or b"").splitlines()]
    return [line for line in found if "canary" not in line]


def outcomes(raw: RawTestRun) -> dict[str, str]:
    """id -> outcome; no id may come twice."""
    found = [(line["test"], line["outcome"]) for line in lines(raw) if "test" in line]
    assert len(dict(found)) == len(found), found
    return dict(found)


def failure(raw: RawTestRun) -> dict[str, Any]:
    """The only one."""
    [found] = [line for line in lines(raw) if line.get("outcome") == "failed"]
    return found


def frame(raw: RawTestRun) -> tuple[object, ...]:
    """What was collected, how many ran, the runner's idea of its exit code, and the true one."""
    said = lines(raw)
    assert said, raw.output
    counted: Sequence[object] = [line["collected"] for line in said if "collected" in line]
    last = said[-1]
    return (*counted, last.get("ran"), last.get("end"), raw.code)
