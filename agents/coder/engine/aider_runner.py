"""Door to Aider, started anew for each task. The only module that runs it in a box of its own: its way out, the meter.

Two launchers: `shim` starts it through aider_launcher.py, under our policy and with honest exit codes; `plain` is
Aider's own command, for a version that our policy does not fit. aider_warm.py has it started once for many tasks.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from agents.coder.engine import aider_command, aider_launcher
from agents.coder.engine.aider_given import CODE, Given, code_mounts, lay_out, line_ends
from agents.coder.engine.aider_told import DISK, MEMORY, PROCESSES, RESULT_FILE, answer
from agents.coder.engine.engine import EngineJob, EngineRun, never
from shared.sandbox.box import METER_PORT, Box, Job, JobLimits, Mount, hand_over, python_mounts
from shared.system.fault import fault_point

LAUNCHER = Path(aider_launcher.__file__)
GIVEN, RESULT, TASK = "/run/engine/given", "/run/engine/result", "/run/engine/task"  # as the box sees them
BASE_URL = f"http://127.0.0.1:{METER_PORT}"

ADDRESSES = 4096  # MB of address space; one small edit takes 400
FILE, TEMPORARY = 16, 32  # MB
OUTPUT = 20_000  # bytes kept of what it printed


class AiderEngine:
    name = "aider"

    def __init__(
        self, box: Box, python: Path, meter_socket: Path, scratch: Path, launcher: Literal["shim", "plain"] = "shim"
    ) -> None:
        """`python`: the interpreter of Aider's own environment; `scratch`: a folder of ours for a run's small files."""
        self._box = box
        self._python = python
        self._meter = meter_socket
        self._scratch = scratch
        self._launcher = launcher

    def run(self, job: EngineJob, stop: Callable[[], bool] = never) -> EngineRun:
        """One run, to its end. Refused: see Engine.run. NoSandbox: there is no box."""
        ends = line_ends(job)
        with tempfile.TemporaryDirectory(prefix="engine-", dir=self._scratch, ignore_cleanup_errors=True) as name:
            given = lay_out(Path(name), job)
            hand_over(self._meter)
            fault_point("engine.prepared")
            done = self._box.run(self._boxed(job, ends, given), stop)
            fault_point("engine.ran")
            return answer(done, given.result, job, self._launcher)

    def close(self) -> None:
        """Nothing is kept between two runs."""

    def _boxed(self, job: EngineJob, ends: str, given: Given) -> Job:
        result = Mount(given.result, RESULT, writable=True)
        mounts = (Mount(given.files, GIVEN), result, Mount(job.folder, TASK, writable=True))
        sizes = JobLimits(
            job.seconds, MEMORY, ADDRESSES, PROCESSES, FILE, TEMPORARY, DISK, output=OUTPUT, stall=job.stall
        )
        return Job(
            command=(*self._program(), *aider_command.arguments(job, BASE_URL, ends, GIVEN)),
            mounts=(*python_mounts(self._python), *code_mounts(LAUNCHER), *mounts),
            cwd=TASK,
            env=aider_command.environment(job.ticket, BASE_URL),
            limits=sizes,
            mask=aider_command.covered(job.folder, job),
            meter=self._meter,
            pulse=job.pulse,
        )

    def _program(self) -> tuple[str, ...]:
        """-s: no packages of a user's home. The task's folder is on no path that Python imports from."""
        if self._launcher == "plain":
            return str(self._python), "-s", str(self._python.with_name("aider"))
        return str(self._python), "-s", f"{CODE}/{LAUNCHER.name}", f"{GIVEN}/allow.json", f"{RESULT}/{RESULT_FILE}"
