"""An engine without Aider, for tests: it asks the model once, in a box, and applies the edit blocks of the answer."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from sisimpur.agents.coder.engine.engine import End, EngineJob, EngineRun, named_files, never, nothing_happened
from sisimpur.shared.sandbox.box import METER_PORT, Box, Job, JobLimits, Mount, hand_over, python_mounts

PYTHON = Path(sys.base_prefix, "bin", f"python{sys.version_info.major}.{sys.version_info.minor}")
INSIDE = "/run/engine"
ENDS: dict[int, End] = {0: "edited", 3: "api error", 5: "edits failed", 6: "no edits"}


class FakeEngine:
    name = "fake"

    def __init__(self, box: Box, meter_socket: Path, scratch: Path) -> None:
        self._box = box
        self._meter = meter_socket
        self._scratch = scratch

    def run(self, job: EngineJob, stop: Callable[[], bool] = never) -> EngineRun:
        named_files(job)
        with tempfile.TemporaryDirectory(prefix="engine-", dir=self._scratch) as name:
            told = Path(name, "job.json")
            told.write_text(_as_json(job), "utf-8")
            hand_over(Path(name))
            hand_over(job.folder)
            done = self._box.run(self._boxed(job, told), stop)
        words = done.text.splitlines()
        edited = tuple(sorted(line.removeprefix("edited ") for line in words if line.startswith("edited ")))
        end = _end(done.end, done.code)
        detail = nothing_happened(job) if end == "stalled" else words[0] if words else end
        return EngineRun(end, detail, edited, done.text + done.complaint, done.seconds)

    def _boxed(self, job: EngineJob, told: Path) -> Job:
        program = Path(__file__).with_name("fake_engine_inside.py")
        mounts = (Mount(program, f"{INSIDE}/engine.py"), Mount(told, f"{INSIDE}/job.json"))
        return Job(
            command=(str(PYTHON), "-I", f"{INSIDE}/engine.py", f"{INSIDE}/job.json"),
            mounts=(*python_mounts(PYTHON), *mounts, Mount(job.folder, f"{INSIDE}/task", writable=True)),
            cwd=f"{INSIDE}/task",
            env={"ANTHROPIC_API_BASE": f"http://127.0.0.1:{METER_PORT}", "ANTHROPIC_API_KEY": job.ticket},
            limits=JobLimits(job.seconds, stall=job.stall),
            meter=self._meter,
            pulse=job.pulse,
        )


def _as_json(job: EngineJob) -> str:
    asked = {"message": job.message, "edit": job.edit, "create": job.create, "read": job.read}
    return json.dumps(asked | {"model": job.model.model, "max_tokens": job.model.max_tokens})


def _end(end: str, code: int) -> End:
    if end == "timed out":
        return "timed out"
    if end == "stopped":
        return "stopped"
    if end == "stalled":
        return "stalled"
    return ENDS.get(code, "crashed")
