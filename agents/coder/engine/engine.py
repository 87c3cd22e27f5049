"""Engine port: what any coding engine is asked, and what it answers.

An engine changes files in a folder that is ours until it runs, and the box's from then on. It holds a ticket, never a
key. What it says about its run is a claim: whether the work was done is for the folder and the meter to show.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from sisimpur.shared.model.change import usually_holds_keys
from sisimpur.shared.model.errors import Refused
from sisimpur.shared.model.scope import is_plain_path
from sisimpur.shared.model.work import ModelChoice
from sisimpur.shared.system.paths import MAX_TEXT, read_bytes

MOST_MESSAGE = 200_000  # characters
MOST_BYTES = 2_000_000  # of all files that a task names; each may have MAX_TEXT

Ended = Literal["timed out", "stopped", "stalled", "killed", "crashed"]  # before it had an answer
End = Literal["edited", "no edits", "edits failed", "token limit", "api error", Ended]


@dataclass(frozen=True)
class EngineJob:
    """One task for an engine. Paths are relative to `folder`, with slashes.

    `stall`: seconds without output, change of a file, work of a processor or another `pulse` after which the run is
    ended; 0: none. `pulse` is asked every few seconds, in the thread that called `run`.
    """

    folder: Path  # plain files, just checked out; the box's afterwards
    message: str
    edit: tuple[str, ...]  # files that it may change
    create: tuple[str, ...]  # paths or patterns (as in shared.model.scope) that it may add
    read: tuple[str, ...]  # files that the model is shown besides
    ticket: str = field(repr=False)
    model: ModelChoice
    views: Mapping[str, str] = field(default_factory=dict)  # path -> what is shown of a long file in place of all of it
    marks: bool = False  # the model's vendor shall keep the prompt for the calls that follow
    seconds: int = 600
    stall: float = 0
    pulse: Callable[[], object] | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class EngineRun:
    """Result of a run, as the engine tells it. After anything but `edited` the folder is of no use any more."""

    end: End
    detail: str  # one line for the owner
    edited: tuple[str, ...]  # as the model spelled them
    output: str  # head and tail of what it printed
    seconds: float
    reply: str = ""  # what the model said last, if the engine tells
    refused: tuple[str, ...] = ()  # paths that it wanted to write and may not, as the model spelled them


def never() -> bool:
    return False


def nothing_happened(job: EngineJob) -> str:
    """The detail of a run that has stalled, whatever the engine."""
    return f"nothing happened for {job.stall:g} seconds: no output, no file, no model call, no work of a processor"


class Engine(Protocol):
    @property
    def name(self) -> str: ...

    def run(self, job: EngineJob, stop: Callable[[], bool] = never) -> EngineRun:
        """Work on the task to its end. `stop` is asked ten times a second.

        Refused: the task cannot be given to an engine; nothing was run, nothing was spent.
        """


def named_files(job: EngineJob) -> dict[str, bytes]:
    """The content of every file that the job names, or Refused naming the first thing that does not fit."""
    for problem in _problems(job):
        raise Refused(problem)
    files = {path: _content(job.folder, path) for path in dict.fromkeys((*job.edit, *job.read))}
    if (size := sum(map(len, files.values()))) > MOST_BYTES:
        raise Refused(f"the files of this task hold {size} bytes together, the limit is {MOST_BYTES}; name fewer")
    return files


def text_of(folder: Path, path: str) -> str:
    """A file's text, as a model may see it. Refused: it may not, or there is none."""
    if not is_plain_path(path) or usually_holds_keys(path) or path.startswith((".git/", ".env", ".aider")):
        raise Refused(f"{path}: is not shown to a model")
    return _content(folder, path).decode()


def _problems(job: EngineJob) -> Iterator[str]:
    if not job.message.strip():
        yield "the task has no text; say what is to be done"
    if len(job.message) > MOST_MESSAGE:
        yield f"the task's text has {len(job.message)} characters, the limit is {MOST_MESSAGE}"
    if not (job.edit or job.create):
        yield "the task names no file to change and none to create; name at least one"
    for path in (*job.edit, *job.read, *(pattern.strip("/") for pattern in job.create)):
        if not is_plain_path(path):
            yield f"{path[:100]!r} is not a path inside the repository"
    for path in (*job.edit, *job.read):
        if usually_holds_keys(path):
            yield f"{path}: is never given to a model; files of this name usually hold keys"
    if os.path.lexists(job.folder / ".git"):
        yield f"{job.folder} has a .git already; an engine works on plain files only"


def _content(folder: Path, path: str) -> bytes:
    """A file of text below `folder`: no link on the way, as it could lead out."""
    place = folder.resolve() / path
    if place.resolve() != place:
        raise Refused(f"{path}: is a symbolic link, or lies behind one")
    try:
        data = read_bytes(place, MAX_TEXT)
    except OSError as error:
        raise Refused(f"{path}: cannot be read ({error.strerror})") from None
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Refused(f"{path}: not UTF-8 text (byte {error.start}); an engine would spoil it") from None
    if b"\0" in data:
        raise Refused(f"{path}: not a text file (it holds NUL bytes)")
    return data
