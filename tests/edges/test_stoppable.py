"""When the program is being stopped: boxes end at once, whoever waits for them learns why, and nothing is half kept."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest

from sisimpur.agents.coder.engine.aider_runner import AiderEngine
from sisimpur.agents.coder.engine.engine import EngineJob
from sisimpur.agents.qa.runner.bench import BoxBench
from sisimpur.agents.qa.runner.environment_store import Environments, Setup
from sisimpur.agents.qa.runner.suite import Environment, SuiteOrder
from sisimpur.shared.model.errors import Stopping
from sisimpur.shared.model.work import ModelChoice
from sisimpur.shared.repo.git import Remote
from sisimpur.shared.repo.mirror import Mirror
from sisimpur.shared.sandbox.box import (
    Box,
    Finished,
    Job,
    JobLimits,
    Mount,
    Stoppable,
    find_box,
    hand_over,
    python_mounts,
)
from sisimpur.shared.sandbox.linter import RuffLinter
from sisimpur.shared.sandbox.selftest import attack
from sisimpur.shared.system.process import End
from tests.repositories import repository

PYTHON = Path(sys.base_prefix, "bin", f"python{sys.version_info.major}.{sys.version_info.minor}")
AT_ONCE = 1.0  # seconds, on a machine that has nothing else to do


def at_once(box: Box) -> float:
    """Seconds; how busy the machine is shows a box that has nothing to do."""
    began = time.monotonic()
    assert box.run(JOB).ok
    return AT_ONCE + 10 * (time.monotonic() - began)


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Box:
    return find_box(tmp_path_factory.mktemp("box"))


def yes() -> bool:
    return True


def no() -> bool:
    return False


# --- the rule ------------------------------------------------------------------------------------------------


@dataclass
class Recorder:
    """A box in which a job lasts until it is stopped, or else ends as it is told to."""

    end: End = "exited"
    before: Callable[[], None] = lambda: None
    jobs: list[Job] = field(default_factory=list)
    name: str = "recorder"
    version: str = "7"
    quality: Literal["full", "reduced"] = "reduced"

    def run(self, job: Job, stop: Callable[[], bool] = no) -> Finished:
        self.jobs.append(job)
        self.before()
        end = "stopped" if stop() else self.end
        return Finished(0 if end == "exited" else -9, b"3.11\n", b"", end, 1.0)


JOB = Job(("true",))


def test_nothing_is_begun_while_the_program_is_being_stopped() -> None:
    recorder = Recorder()
    with pytest.raises(Stopping):
        Stoppable(recorder, yes).run(JOB)
    assert recorder.jobs == []


@pytest.mark.parametrize(
    ("end", "stop"),
    [
        pytest.param("exited", no, id="nobody stops it"),
        pytest.param("timed out", no, id="a limit"),
        pytest.param("stopped", yes, id="whoever started it has it stopped"),
    ],
)
def test_an_end_of_its_own_is_told_as_ever(end: End, stop: Callable[[], bool]) -> None:
    stops: list[bool] = []
    box = Stoppable(Recorder("exited" if end == "stopped" else end), lambda: bool(stops))
    assert box.run(JOB, stop).end == end


@pytest.mark.parametrize("stop", [pytest.param(no, id="alone"), pytest.param(yes, id="and it is stopped besides")])
def test_what_is_cut_because_the_program_stops_has_no_end_at_all(stop: Callable[[], bool]) -> None:
    asked: list[bool] = []
    box = Stoppable(Recorder(before=lambda: asked.append(True)), lambda: bool(asked))
    with pytest.raises(Stopping, match="begun anew"):
        box.run(JOB, stop)


def test_what_ends_by_itself_in_the_last_moment_counts() -> None:
    asked: list[bool] = []

    class Quick(Recorder):
        def run(self, job: Job, stop: Callable[[], bool] = no) -> Finished:
            done = super().run(job, stop)
            asked.append(True)
            return done

    assert Stoppable(Quick(), lambda: bool(asked)).run(JOB).ok


def test_it_says_of_itself_what_the_box_says() -> None:
    box: Box = Stoppable(Recorder(), no)
    assert (box.name, box.version, box.quality) == ("recorder", "7", "reduced")


# --- a real box ----------------------------------------------------------------------------------------------

FORKS = """
import os, time
for _ in range(20):
    if os.fork() == 0:
        while True:
            if os.fork() == 0: os._exit(0)
            os.wait()
time.sleep(100)
"""
DEAF = (
    "import os, signal, time; signal.signal(15, signal.SIG_IGN); os.setsid() if os.fork() == 0 else 0; time.sleep(100)"
)
FILES = "import time\nfor n in range(20_000): open(str(n), 'w').close()\nopen('/dev/shm/x', 'w'); time.sleep(100)"


@dataclass
class Stop:
    """Comes that long after it was first asked for; `at`: when it was first told."""

    after: float
    first: float = 0.0
    at: float = 0.0

    def __call__(self) -> bool:
        now = time.monotonic()
        self.first = self.first or now
        if now < self.first + self.after:
            return False
        self.at = self.at or self.first + self.after
        return True


@pytest.mark.parametrize(
    "script",
    [
        pytest.param("import time; time.sleep(100)", id="it sleeps"),
        pytest.param(FORKS, id="twenty that fork without a pause"),
        pytest.param(DEAF, id="it does not listen, and has a child that ran away"),
        pytest.param(FILES, id="many files to count"),
        pytest.param("held = bytearray(b'1' * (400 << 20)); import time; time.sleep(100)", id="much memory"),
    ],
)
def test_a_box_ends_at_once(box: Box, tmp_path: Path, script: str) -> None:
    hand_over(tmp_path)
    mounts = (*python_mounts(PYTHON), Mount(tmp_path, "/work", writable=True))
    job = Job((str(PYTHON), "-I", "-c", script), mounts, "/work", limits=JobLimits(seconds=60))
    stop = Stop(1.5)
    with pytest.raises(Stopping):
        Stoppable(box, stop).run(job)
    took = time.monotonic() - stop.at
    assert took < at_once(box)


# --- those who wait for a box --------------------------------------------------------------------------------


@dataclass
class Place:
    """A repository, our copy of it, and a folder for what runs in boxes."""

    folder: Path

    def __post_init__(self) -> None:
        self.commit = repository(self.folder / "forge", {"a.py": "A = 1\n", "requirements.txt": "x\n"})
        self.mirror = Mirror(self.folder / "mirror.git", Remote(str(self.folder / "forge")))
        self.mirror.create()
        self.mirror.fetch("main")
        self.scratch.mkdir()

    @property
    def scratch(self) -> Path:
        return self.folder / "scratch"

    def ready(self, commit: str) -> Environment:
        return Environment("key", (), {})

    def environments(self, box: Box, packages: Path | None, command: str = "true") -> Environments:
        return Environments(box, self.mirror, self.folder / "kept", Setup("demo", PYTHON, command, packages))


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    yield Place(tmp_path)


def an_engine(box: Box, place: Place) -> object:
    folder, meter = place.folder / "task", place.folder / "meter.sock"
    place.mirror.check_out(place.commit, folder)
    meter.touch()
    job = EngineJob(folder, "Fix it.", ("a.py",), (), (), "ticket", ModelChoice("m"))
    return AiderEngine(box, PYTHON, meter, place.scratch).run(job)


def the_suite(box: Box, place: Place) -> object:
    with closing(BoxBench(box, place.mirror, place, place.scratch)) as bench:
        return bench.run(SuiteOrder(place.commit, "true"))


def the_linter(box: Box, place: Place) -> object:
    return RuffLinter(box, place.scratch).lint({"a.py": "A = 1\n"})


def the_self_test(box: Box, place: Place) -> object:
    return attack(box, place.scratch)


def a_set_up(box: Box, place: Place) -> object:
    return place.environments(box, place.scratch).ready(place.commit)


def a_set_up_through_the_index(box: Box, place: Place) -> object:
    return place.environments(box, None).ready(place.commit)


@pytest.mark.parametrize(
    ("waits", "runs"),
    [
        *((waits, 1) for waits in (an_engine, the_suite, the_linter, the_self_test)),
        *((waits, runs) for waits in (a_set_up, a_set_up_through_the_index) for runs in (1, 2, 3)),
    ],
)
def test_whoever_waits_for_a_box_lets_it_pass_and_leaves_nothing(
    place: Place, waits: Callable[[Box, Place], object], runs: int
) -> None:
    """`runs`: in which of its runs it is cut."""
    recorder = Recorder()
    with pytest.raises(Stopping):
        waits(Stoppable(recorder, lambda: len(recorder.jobs) >= runs), place)
    assert len(recorder.jobs) == runs
    assert list(place.scratch.iterdir()) == []
    assert {path.name for path in place.folder.glob("kept/*")} <= {".lock"}


def test_a_set_up_that_was_cut_counts_as_none(place: Place) -> None:
    recorder, stops = Recorder(), [True]
    environments = place.environments(Stoppable(recorder, lambda: bool(stops) and len(recorder.jobs) > 1), None)
    for _ in range(3):
        del recorder.jobs[1:]
        with pytest.raises(Stopping):
            environments.ready(place.commit)
    stops.clear()
    environments.ready(place.commit)


@pytest.mark.parametrize("after", [0.1, 1.0])
def test_a_real_set_up_is_cut_at_once_and_not_kept(box: Box, place: Place, after: float) -> None:
    stop = Stop(after)
    with pytest.raises(Stopping):
        place.environments(Stoppable(box, stop), None, "sleep 100").ready(place.commit)
    took = time.monotonic() - stop.at
    assert took < 5 * at_once(box)  # all that it wrote is removed meanwhile
    assert {path.name for path in place.folder.glob("kept/*")} <= {".lock"}  # none yet if it was cut that early
