"""Door to Aider. The only module that runs it: in a box whose one way out is the meter.

Two launchers: `shim` starts it through aider_launcher.py, under our policy and with honest exit codes; `plain` is
Aider's own command, for a version that our policy does not fit. Both get a throw-away .git, since Aider wants one: an
empty repository that tracks nothing, so that no file is sent to the model because somebody mentions it.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from shared.domain.errors import Refused
from shared.edge.box.box import METER_PORT, Box, Finished, Job, Limits, Mount, hand_over, python_mounts
from shared.edge.engine import aider_command, aider_launcher
from shared.edge.engine.aider_command import GIVEN
from shared.edge.engine.engine import End, EngineJob, EngineRun, named_files, never
from shared.edge.fault import fault_point
from shared.edge.paths import read_bytes

CODE, RESULT, TASK = "/run/engine/code", "/run/engine/result", "/run/engine/task"  # as the box sees them
BASE_URL = f"http://127.0.0.1:{METER_PORT}"
GIT = {"HEAD": "ref: refs/heads/main\n", "config": "[user]\n\tname = Coder\n\temail = coder@localhost\n"}

MEMORY, ADDRESSES, PROCESSES = 1024, 4096, 128  # MB, MB, threads; one small edit takes 250, 400, 9
FILE, TEMPORARY, DISK = 16, 32, 64  # MB
OUTPUT = 20_000  # bytes kept of what it printed
MOST_RESULT = 1 << 20  # bytes
LONGEST_DETAIL = 300  # characters

Text = Annotated[str, Field(max_length=aider_launcher.LONGEST)]
ENDS: dict[int, End] = {
    aider_launcher.EDITED: "edited",
    aider_launcher.API_ERROR: "api error",
    aider_launcher.TOKEN_LIMIT: "token limit",
    aider_launcher.EDITS_FAILED: "edits failed",
    aider_launcher.NO_EDITS: "no edits",
}
REASONS = {
    "memory": f"it took more than {MEMORY} MB of memory",
    "processes": f"it took more than {PROCESSES} processes",
    "disk": f"it wrote more than {DISK} MB",
    "output": "it printed too much",
    "machine": "the machine has no memory or disk left",
}


class Result(BaseModel):
    """What the launcher writes. It comes out of a box: checked like any other foreign text."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    version: Text
    policy: bool
    edited: tuple[Text, ...]
    asks: tuple[tuple[Text, Text, bool], ...]
    errors: tuple[Text, ...]
    exception: Text
    reply: Text


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
        line_ends = _checked(job)
        with tempfile.TemporaryDirectory(prefix="engine-", dir=self._scratch, ignore_cleanup_errors=True) as name:
            given, result = Path(name, "given"), Path(name, "result")
            _write(given, aider_command.files(job))
            _write(result, {})
            _throw_away_git(job.folder)
            for place in (given, result, job.folder, self._meter):
                hand_over(place)
            fault_point("engine.prepared")
            done = self._box.run(self._boxed(job, line_ends, given, result), stop)
            fault_point("engine.ran")
            end, detail, edited = _told(done, _result(result / "result.json"), job, self._launcher)
        output = (done.output + done.errors).decode("utf-8", "replace")
        return EngineRun(end, _one_line(detail), edited, output, done.seconds)

    def _boxed(self, job: EngineJob, line_ends: str, given: Path, result: Path) -> Job:
        mounts = (Mount(given, GIVEN), Mount(result, RESULT, writable=True), Mount(job.folder, TASK, writable=True))
        return Job(
            command=(*self._program(), *aider_command.arguments(job, BASE_URL, line_ends)),
            mounts=(*python_mounts(self._python), *_launcher_mounts(), *mounts),
            cwd=TASK,
            env=aider_command.environment(job.ticket, BASE_URL),
            limits=Limits(job.seconds, MEMORY, ADDRESSES, PROCESSES, FILE, TEMPORARY, DISK, output=OUTPUT),
            mask=aider_command.covered(job.folder, job),
            meter=self._meter,
        )

    def _program(self) -> tuple[str, ...]:
        """-s: no packages of a user's home. The task's folder is on no path that Python imports from."""
        if self._launcher == "plain":
            return str(self._python), "-s", str(self._python.with_name("aider"))
        return str(self._python), "-s", f"{CODE}/aider_launcher.py", f"{GIVEN}/allow.json", f"{RESULT}/result.json"


def _checked(job: EngineJob) -> str:
    """The line ends to write, or Refused."""
    for path in (*job.edit, *job.read):
        if aider_command.reserved(path):
            raise Refused(f"{path}: is never given to a model; it may hold keys, or settings of the engine itself")
    files = named_files(job)
    return aider_command.line_ends({path: files[path] for path in job.edit})


def _launcher_mounts() -> tuple[Mount, ...]:
    launcher = Path(aider_launcher.__file__)
    words = launcher.parents[2] / "domain"
    return Mount(launcher, f"{CODE}/{launcher.name}"), Mount(words, f"{CODE}/shared/domain")


def _write(folder: Path, files: dict[str, str]) -> None:
    folder.mkdir()
    for name, text in files.items():
        try:
            (folder / name).write_text(text, "utf-8", newline="\n")
        except UnicodeEncodeError:
            raise Refused("the task's text is not valid text (half of a surrogate pair)") from None


def _throw_away_git(folder: Path) -> None:
    """The least that git takes for a repository, without running git."""
    for inside in ("objects", "refs"):
        os.makedirs(folder / ".git" / inside)
    for name, text in GIT.items():
        (folder / ".git" / name).write_text(text, "ascii")


# --- what it answers -----------------------------------------------------------------------------------------

Told = tuple[End, str, tuple[str, ...]]  # the end, in words for the owner, the names of edited files


def _result(path: Path) -> Result | None:
    try:
        return Result.model_validate_json(read_bytes(path, MOST_RESULT))
    except (OSError, Refused, ValidationError):
        return None  # none, or one that the launcher did not write


def _told(done: Finished, result: Result | None, job: EngineJob, launcher: str) -> Told:
    if done.end == "timed out":
        return "timed out", f"ended after {job.seconds} seconds, the limit of a run", ()
    if done.end == "stopped":
        return "stopped", "stopped by us", ()
    if done.end != "exited" or done.code < 0:
        return "crashed", f"it was ended: {REASONS.get(done.end, f'code {done.code}')}", ()
    if launcher == "plain" or (result and not result.policy):
        return _by_words(done, f"Aider {result.version}" if result else "Aider")
    if result is None:
        return "crashed", f"code {done.code} and no result: {_last_line(done)}", ()
    return _by_result(result, done)


def _by_result(result: Result, done: Finished) -> Told:
    end = ENDS.get(done.code, "crashed")
    words = {
        "edited": f"edited {', '.join(result.edited)}{_refused(result)}",
        "no edits": _refused(result).strip("; ") or f"the model answered without an edit: {result.reply or 'nothing'}",
        "edits failed": "its edits do not fit the files, also after three repetitions",
        "token limit": "the prompt or the answer is too long for the model",
        "api error": aider_command.api_message(result.errors[-1] if result.errors else ""),
        "crashed": result.exception or f"Aider ended with code {done.code}: {_last_line(done)}",
    }
    return end, words[end], result.edited


def _refused(result: Result) -> str:
    """The paths that it wanted to write and may not."""
    paths = [
        subject for question, subject, yes in result.asks if not yes and question.startswith(aider_launcher.WRITES)
    ]
    return f"; refused {', '.join(dict.fromkeys(paths))}" if paths else ""


def _by_words(done: Finished, who: str) -> Told:
    if done.code:
        return "crashed", f"{who} ended with code {done.code}: {_last_line(done)}", ()
    end, edited = aider_command.from_words(done.text)
    return end, f"by the words of {who}, without our policy", edited


def _last_line(done: Finished) -> str:
    return (done.complaint.splitlines() or ["it printed nothing"])[-1]


def _one_line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:LONGEST_DETAIL]
