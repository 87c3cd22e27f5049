"""Aider adapter: starts Aider anew for each task, in a box whose only way out is the meter.

Two launchers: `shim` starts it through aider_launcher.py, under our policy and with honest exit codes; `plain` is
Aider's own command, for a version that our policy does not fit. aider_warm.py has it started once for many tasks.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sisimpur.agents.coder.engine import aider_command, aider_launcher, aider_words
from sisimpur.agents.coder.engine.engine import End, EngineJob, EngineRun, named_files, never, nothing_happened
from sisimpur.shared.model.errors import Refused
from sisimpur.shared.model.text import one_line
from sisimpur.shared.sandbox.box import METER_PORT, Box, Finished, Job, JobLimits, Mount, hand_over, python_mounts
from sisimpur.shared.system.fault import fault_point
from sisimpur.shared.system.paths import read_bytes, remove_folder

LAUNCHER, WORDS = Path(aider_launcher.__file__), Path(aider_words.__file__)
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
        """One run, to its end. Refused: see Engine.run. Misconfigured: there is no box."""
        ends = line_ends(job)
        with tempfile.TemporaryDirectory(prefix="engine-", dir=self._scratch, ignore_cleanup_errors=True) as name:
            given = lay_out(Path(name), job)
            hand_over(self._meter)
            fault_point("engine.prepared")
            done = self._box.run(self._boxed(job, ends, given), stop)
            fault_point("engine.ran")
            return answer(done, given.result, job, self._launcher)

    def close(self) -> None:
        """Do nothing: nothing is kept between two runs."""

    def _boxed(self, job: EngineJob, ends: str, given: Given) -> Job:
        result = Mount(given.result, RESULT, writable=True)
        mounts = (Mount(given.files, GIVEN), result, Mount(job.folder, TASK, writable=True))
        sizes = JobLimits(
            job.seconds, MEMORY, ADDRESSES, PROCESSES, FILE, TEMPORARY, DISK, output=OUTPUT, stall=job.stall
        )
        return Job(
            command=(*self._program(), *aider_command.arguments(job, BASE_URL, ends, GIVEN)),
            mounts=(*python_mounts(self._python), *code_mounts(LAUNCHER, WORDS), *mounts),
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


# --- folders of a run ----------------------------------------------------------------------------------------

CODE = "/run/engine/code"  # as a box sees it
GIT = {"HEAD": "ref: refs/heads/main\n", "config": "[user]\n\tname = Coder\n\temail = coder@localhost\n"}


@dataclass(frozen=True)
class Given:
    """A run's folders: our files, the launcher's result, its home."""

    files: Path
    result: Path
    home: Path


def line_ends(job: EngineJob) -> str:
    """The line ends to write, or Refused: Aider cannot be given this task."""
    for path in (*job.edit, *job.read):
        if aider_command.reserved(path):
            raise Refused(f"{path}: is never given to a model; it may hold keys, or settings of the engine itself")
    files = named_files(job)
    return aider_command.line_ends({path: files[path] for path in job.edit})


def lay_out(place: Path, job: EngineJob) -> Given:
    """Make all that a run needs in `place` (ours, empty) and in the task's folder, and give it to the box's user.

    Aider wants a .git and gets a throw-away one: an empty repository that tracks nothing, so that no file is sent to
    the model because somebody mentions it.
    """
    given = Given(place / "given", place / "result", place / "home")
    _write(given.files, aider_command.files(job))
    _write(given.result, {})
    _write(given.home, {})
    _throw_away_git(job.folder)
    for folder in (given.files, given.result, given.home, job.folder):
        hand_over(folder)
    return given


def code_mounts(program: Path, *modules: Path) -> tuple[Mount, ...]:
    """A program of ours at CODE, and beside it what it imports, under the names that it has here."""
    root = Path(__file__).parents[4]
    imported = (root / "sisimpur" / "shared" / "model", *modules)
    beside = (Mount(path, f"{CODE}/{path.relative_to(root)}") for path in imported)
    return Mount(program, f"{CODE}/{program.name}"), *beside


@contextmanager
def moved_away(folder: Path, names: tuple[str, ...], place: Path) -> Iterator[None]:
    """These files lie in `place` meanwhile. What then stands under their names is removed. Refused: not plain files."""
    for name in names:
        if not stat.S_ISREG((folder / name).lstat().st_mode):
            raise Refused(f"{name!r} is not a plain file; it cannot be kept from the engine")
    place.mkdir(mode=0o700)
    for name in names:
        os.rename(folder / name, place / name)
    try:
        yield
    finally:
        for name in names:
            remove_folder(folder / name)
            os.rename(place / name, folder / name)


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


# --- what its end means --------------------------------------------------------------------------------------

MEMORY, PROCESSES, DISK = 1024, 128, 64  # MB, threads, MB that one run may take; a small edit takes 250, 9, 0
MOST_RESULT = 1 << 20  # bytes
LONGEST_DETAIL = 300  # characters
MOST_REFUSED = 20  # paths that are told of one run
RESULT_FILE = "result.json"  # in the folder where the launcher writes

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
    """Result that the launcher writes. It comes out of a box: checked like any other foreign text."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    version: Text
    policy: bool
    edited: tuple[Text, ...]
    asks: tuple[tuple[Text, Text, bool], ...]
    errors: tuple[Text, ...]
    exception: Text
    reply: Annotated[str, Field(max_length=aider_launcher.LONGEST_REPLY)]


Told = tuple[End, str, tuple[str, ...]]  # the end, in words for the owner, the names of edited files


def answer(done: Finished, folder: Path, job: EngineJob, launcher: str) -> EngineRun:
    """`folder`: where the launcher's result is, if it wrote one."""
    result = _result(folder / RESULT_FILE)
    end, detail, edited = _told(done, result, job, launcher)
    output = (done.output + done.errors).decode("utf-8", "replace")
    reply = result.reply if result and result.policy else ""
    refused = _refused(result) if result and result.policy else ()
    return EngineRun(end, one_line(detail, LONGEST_DETAIL), edited, output, done.seconds, reply, refused)


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
    if done.end == "stalled":
        return "stalled", nothing_happened(job), ()
    if done.is_killed:
        return "killed", f"the engine was ended by {done.signal}", ()
    if done.end != "exited" or done.code < 0:
        return "crashed", f"it was ended: {REASONS.get(done.end, f'code {done.code}')}", ()
    if launcher == "plain" or (result and not result.policy):
        return _by_words(done, f"Aider {result.version}" if result else "Aider")
    if result is None:
        return "crashed", f"code {done.code} and no result: {_last_line(done)}", ()
    return _by_result(result, done)


def _by_result(result: Result, done: Finished) -> Told:
    end = ENDS.get(done.code, "crashed")
    refused = f"refused {', '.join(paths)}" if (paths := _refused(result)) else ""
    words = {
        "edited": "; ".join(filter(None, (f"edited {', '.join(result.edited)}", refused))),
        "no edits": refused or f"the model answered without an edit: {result.reply or 'nothing'}",
        "edits failed": "its edits do not fit the files, also after three repetitions",
        "token limit": "the prompt or the answer is too long for the model",
        "api error": aider_command.api_message(result.errors[-1] if result.errors else ""),
        "crashed": result.exception or f"Aider ended with code {done.code}: {_last_line(done)}",
    }
    return end, words[end], result.edited


def _refused(result: Result) -> tuple[str, ...]:
    """The paths that it wanted to write and may not, each once."""
    asks = (ask for ask in result.asks if ask[0].startswith(aider_launcher.WRITES))
    paths = dict.fromkeys(one_line(subject, LONGEST_DETAIL) for _, subject, yes in asks if not yes)
    return tuple(paths)[:MOST_REFUSED]


def _by_words(done: Finished, who: str) -> Told:
    if done.code:
        return "crashed", f"{who} ended with code {done.code}: {_last_line(done)}", ()
    end, edited = aider_command.from_words(done.text)
    return end, f"by the words of {who}, without our policy", edited


def _last_line(done: Finished) -> str:
    return (done.complaint.splitlines() or ["it printed nothing"])[-1]
