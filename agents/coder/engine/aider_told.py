"""What Aider's end means. The only module that turns exit code, result and words of a run into an answer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agents.coder.engine import aider_command, aider_launcher
from agents.coder.engine.engine import End, EngineJob, EngineRun, nothing_happened
from shared.model.errors import Refused
from shared.model.text import one_line
from shared.sandbox.box import Finished
from shared.system.paths import read_bytes

MEMORY, PROCESSES, DISK = 1024, 128, 64  # MB, threads, MB that one run may take; a small edit takes 250, 9, 0
MOST_RESULT = 1 << 20  # bytes
LONGEST_DETAIL = 300  # characters
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
    """What the launcher writes. It comes out of a box: checked like any other foreign text."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    version: Text
    policy: bool
    edited: tuple[Text, ...]
    asks: tuple[tuple[Text, Text, bool], ...]
    errors: tuple[Text, ...]
    exception: Text
    reply: Text


Told = tuple[End, str, tuple[str, ...]]  # the end, in words for the owner, the names of edited files


def answer(done: Finished, folder: Path, job: EngineJob, launcher: str) -> EngineRun:
    """`folder`: where the launcher's result is, if it wrote one."""
    end, detail, edited = _told(done, _result(folder / RESULT_FILE), job, launcher)
    output = (done.output + done.errors).decode("utf-8", "replace")
    return EngineRun(end, one_line(detail, LONGEST_DETAIL), edited, output, done.seconds)


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
