"""Warm Aider adapter: starts Aider once for many tasks, in the warm box.

A task's folders lie below one folder that the box sees from its start; each run shuts itself in before it reads any of
them (aider_fence.py). Whatever the warm box cannot do, a box of the task's own does: seconds slower, nothing else.
"""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from sisimpur.agents.coder.engine import aider_command, aider_fence, aider_launcher, aider_server, aider_words
from sisimpur.agents.coder.engine.aider_runner import (
    ADDRESSES,
    BASE_URL,
    CODE,
    DISK,
    FILE,
    MEMORY,
    OUTPUT,
    PROCESSES,
    TEMPORARY,
    AiderEngine,
    Given,
    answer,
    code_mounts,
    lay_out,
    line_ends,
    moved_away,
)
from sisimpur.agents.coder.engine.engine import EngineJob, EngineRun, never
from sisimpur.agents.coder.engine.warm_box import WarmBox
from sisimpur.shared.machine.charging import Charge, charge_run
from sisimpur.shared.model.errors import TeamError
from sisimpur.shared.sandbox import box_calls
from sisimpur.shared.sandbox.box import METER_PORT, Box, Finished, Job, JobLimits, Mount, hand_over, python_mounts
from sisimpur.shared.sandbox.box_job import MB
from sisimpur.shared.sandbox.watchdog import watchdog
from sisimpur.shared.system.fault import fault_point
from sisimpur.shared.system.paths import remove_folder
from sisimpur.shared.system.process import Watch

WORK = "/run/engine/work"  # as the box sees it
SERVER = Path(aider_server.__file__)
MODULES = tuple(Path(str(one.__file__)) for one in (aider_fence, aider_launcher, aider_words, box_calls))
OTHERS = 64  # processes that the other tasks may start meanwhile
WEEK = 7 * 24 * 3600.0  # seconds
WHOLE_MEMORY, WHOLE_PROCESSES = 16 * MEMORY, 4 * PROCESSES  # of the box; few tasks take much
MOST_GIVEN = 200  # tasks; then a new server, as memory that is once touched is never shared again
MOST_FAILURES = 3  # starts that fail, one after the other


@dataclass(frozen=True)
class Place:
    """Surroundings of the engine: its interpreter, the meter's socket, and the folder with the tasks' folders."""

    python: Path
    meter: Path
    work: Path


class WarmAider:
    name = "aider"

    def __init__(
        self, box: Box, place: Place, cold: AiderEngine, print_progress: Callable[[str], None] = lambda _: None
    ) -> None:
        """`cold` runs what cannot be run warm; `print_progress` hears why the server did not start."""
        self._box, self._place, self._cold, self._print_progress = box, place, cold, print_progress
        self._lock = threading.Lock()
        self._warm: WarmBox | None = None
        self._failures = 0

    def run(self, job: EngineJob, stop: Callable[[], bool] = never) -> EngineRun:
        """One run, to its end; from many threads at once. Refused: see Engine.run. Misconfigured: there is no box."""
        ends = line_ends(job)
        if job.folder.parent == self._place.work and (warm := self._ready(stop)):
            with self._laid_out(job) as given:
                taken = Charge()  # by this task: the box is shared
                watch = self._watch(job, given, stop, taken)
                done = warm.run(self._order(job, ends, given), job.seconds, OUTPUT, watch)
                charge_run(taken.use)
                fault_point("engine.ran")
                if done:
                    return answer(_as_a_shell_says(done), given.result, job, "warm")
                remove_folder(job.folder / ".git")  # as it was
        return self._cold.run(job, stop)

    def close(self) -> None:
        """End the server, and all that runs in its box."""
        with self._lock:
            warm, self._warm = self._warm, None
        if warm:
            warm.close()

    # --- the server ------------------------------------------------------------------------------------------

    def _ready(self, stop: Callable[[], bool]) -> WarmBox | None:
        """The box, with Aider loaded; None: the task is run cold."""
        warm = self._current()
        if warm is None:
            return None
        said = warm.ready(stop)
        if said.get("version") == aider_launcher.VERSION and said.get("threads") == 1:
            self._failures = 0
            return warm
        if "version" in said:
            self._failed(warm, f"it is Aider {said['version']} with {said.get('threads')} threads", MOST_FAILURES)
        elif not stop():
            warm.raise_if_stopping()
            self._failed(warm, warm.problem(), 1)
        return None

    def _current(self) -> WarmBox | None:
        with self._lock:
            if self._warm and self._warm.given >= MOST_GIVEN and not self._warm.active:
                self._warm.close()
            if self._warm is None or not self._warm.alive:
                self._warm = self._started() if self._failures < MOST_FAILURES else None
            return self._warm

    def _failed(self, warm: WarmBox, why: str, counts: int) -> None:
        with self._lock:
            if self._warm is not warm:
                return  # somebody else has seen it
            self._warm, self._failures = None, self._failures + counts
        warm.close()
        self._print_progress(f"the engine is started anew for each task: its server did not start ({why})")

    def _started(self) -> WarmBox | None:
        place = self._place
        try:
            if os.geteuid() == 0:
                place.work.chmod(0o711)  # the box's user passes through, and cannot look around
            hand_over(place.meter)
            return WarmBox(self._box, self._boxed)
        except (TeamError, OSError) as problem:
            self._failures += 1
            self._print_progress(f"the engine is started anew for each task: {problem}")
            return None

    def _boxed(self, channel: int) -> Job:
        place, environment = self._place, aider_command.environment("none", BASE_URL)
        whole = JobLimits(WEEK, WHOLE_MEMORY, ADDRESSES, WHOLE_PROCESSES, FILE, TEMPORARY, output=OUTPUT)
        return Job(
            command=(str(place.python), "-s", f"{CODE}/{SERVER.name}", str(channel)),
            mounts=(*self._programs(), Mount(place.work, WORK, writable=True)),
            env=environment,
            limits=whole,
            meter=place.meter,
            channel=channel,
        )

    def _programs(self) -> tuple[Mount, ...]:
        return *python_mounts(self._place.python), *code_mounts(SERVER, *MODULES)

    # --- one task --------------------------------------------------------------------------------------------

    @contextmanager
    def _laid_out(self, job: EngineJob) -> Iterator[Given]:
        work = self._place.work
        with tempfile.TemporaryDirectory(prefix="engine-", dir=work, ignore_cleanup_errors=True) as name:
            place = Path(name)
            with moved_away(job.folder, aider_command.covered(job.folder, job), place / "aside"):
                given = lay_out(place, job)
                place.chmod(0o711)
                fault_point("engine.prepared")
                yield given

    def _order(self, job: EngineJob, ends: str, given: Given) -> dict[str, object]:
        files = self._inside(given.files)
        return {
            "task": self._inside(job.folder),
            "files": files,
            "result": self._inside(given.result),
            "home": self._inside(given.home),
            "see": [mount.target for mount in self._programs()],
            "environment": aider_command.environment(job.ticket, BASE_URL),
            "arguments": aider_command.arguments(job, BASE_URL, ends, files),
            "port": METER_PORT,
            "memory": MEMORY * MB,
            "processes": PROCESSES + OTHERS,
        }

    def _inside(self, path: Path) -> str:
        return f"{WORK}/{path.relative_to(self._place.work)}"

    def _watch(self, job: EngineJob, given: Given, stop: Callable[[], bool], taken: Charge) -> Watch:
        """Watch this task alone: it is ended by itself."""
        limits = JobLimits(job.seconds, MEMORY, processes=PROCESSES, disk_mb=DISK, stall=job.stall)
        return watchdog(limits, (job.folder, given.result, given.home), stop, taken, job.pulse)


def _as_a_shell_says(done: Finished) -> Finished:
    """A signal inside a box ends its command with a code."""
    return replace(done, code=128 - done.code) if done.end == "exited" and done.code < 0 else done
