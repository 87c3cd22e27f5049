"""What a model is shown of a task's files, and what it asks for in lines of our own: more to see, large deletions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Literal

from sisimpur.agents.coder.engine.engine import Engine, EngineJob, EngineRun, text_of
from sisimpur.shared.llm.prompts import quoted
from sisimpur.shared.model.errors import Refused
from sisimpur.shared.model.evidence import is_test_file
from sisimpur.shared.model.work import Correction, TaskSpec
from sisimpur.shared.repo.definitions import definitions, parse
from sisimpur.shared.repo.file_parts import LEFT_OUT, changed_lines, lines_of, place_of, view
from sisimpur.shared.system.fault import fault_point
from sisimpur.shared.system.paths import remove_folder, write_text

MOST_FIXTURES = 10_000  # characters of a conftest.py that comes along
MOST_ASKED = 2  # times that a model may ask to see more, in one attempt
MOST_SEEN = 30_000  # characters of what is shown then
LEAST_SECONDS = 60  # that are left for an answer after it
PARTS = """
Long files are shown by their parts. A line that begins with ⋮ is ours and not in the file: it says which lines are left
out, and what stands there. Edits are made to the whole file.
"""


# --- what it is shown ----------------------------------------------------------------------------------------


def with_fixtures(asked: TaskSpec, folder: Path) -> TaskSpec:
    """The conftest.py of each test file that the task names, of its folder and those above, is read, too."""
    named, found = (*asked.files, *asked.new_files, *asked.context), []
    for path in (path for path in (*asked.files, *asked.new_files) if is_test_file(path)):
        found += [str(above / "conftest.py") for above in PurePosixPath(path).parents]
    small = [
        path for path in dict.fromkeys(found) if path not in named and 0 < len(_text(folder, path)) <= MOST_FIXTURES
    ]
    return replace(asked, context=(*asked.context, *small))


def with_views(job: EngineJob, words: str) -> EngineJob:
    """Of long files the parts that matter. Where much is left out a second call is likely: the prompt shall be kept."""
    shown = {path: view(path, _text(job.folder, path), words) for path in dict.fromkeys((*job.read, *job.edit))}
    kept = {path: text for path, text in shown.items() if text}
    return replace(job, message=job.message + PARTS, views=kept, marks=True) if kept else job


def words_of(asked: TaskSpec, correction: Correction | None, patch: bytes) -> str:
    """All that says which parts matter. `patch`: the change that is to be corrected."""
    told = (asked.title, asked.description, *asked.acceptance, correction.findings if correction else "")
    return "\n".join((*told, *changed_lines(patch.decode("utf-8", "replace"))))


def _text(folder: Path, path: str) -> str:
    """Empty: there is none that may be shown; whether that is wrong is for the engine's door to say."""
    try:
        return text_of(folder, path)
    except Refused:
        return ""


# --- what it asks for ----------------------------------------------------------------------------------------


def run_and_show(engine: Engine, job: EngineJob) -> EngineRun:
    """One run; if the model asks to see more before it edits, another one in the same folder. Refused: see Engine."""
    done = engine.run(job)
    for asked in range(MOST_ASKED + 1):
        wanted = orders(done.reply, "SHOW") if done.end == "no edits" else ()
        if not wanted:
            break
        if asked == MOST_ASKED:
            return replace(done, detail=f"it asked to see {', '.join(map(str, wanted))}, and edited nothing", reply="")
        remove_folder(job.folder / ".git")  # the throw-away one
        fault_point("engine.asked")
        left = max(LEAST_SECONDS, int(job.seconds - done.seconds))
        job = replace(job, message=f"{job.message}\n\n{_shown(job.folder, wanted)}", seconds=left)
        done = engine.run(job)
    return done


def _shown(folder: Path, wanted: tuple[PartOrder, ...]) -> str:
    """What there is of it, as far as it fits."""
    found = []
    for one in wanted:
        try:
            text = part_of(one, text_of(folder, one.path))
        except Refused as reason:
            text = str(reason)
        found.append(f"{one.path}\n{quoted(text[:MOST_SEEN], 'part')}")
    whole = "\n\n".join(found)
    return f"You asked to see:\n\n{whole if len(whole) <= 2 * MOST_SEEN else whole[: 2 * MOST_SEEN]}"


def texts(job: EngineJob) -> Mapping[str, str]:
    """What the files to edit hold."""
    return {path: text for path in job.edit if (text := _text(job.folder, path))}


def delete(job: EngineJob, done: EngineRun, before: Mapping[str, str]) -> EngineRun:
    """Delete what the model asked for, in files that it may edit: then it has edited. Refused: it cannot be done."""
    wanted = orders(done.reply, "DELETE") if done.end in ("edited", "no edits") else ()
    left = deleted(wanted, before, texts(job))
    for path, text in left.items():
        if text is None:
            (job.folder / path).unlink()
        else:
            write_text(job.folder / path, text)
        fault_point("engine.deleted")
    return replace(done, end="edited", edited=(*done.edited, *left)) if left else done


# --- lines of our own in a reply: SHOW and DELETE ------------------------------------------------------------


ORDER = re.compile(
    r"(?P<verb>SHOW|DELETE) (?:(?P<whole>FILE) (?P<file>\S+)"
    r"|(?P<path>[^\s:]+)(?:::(?P<name>[\w.]+)|:(?P<first>\d{1,7})-(?P<last>\d{1,7})))\s*"
)
SHOW_FILE = re.compile(r"SHOW (?P<path>[^\s:]*[./][^\s:]*)\s*")
EDIT = re.compile(r"<{5,9} SEARCH>?\s*|>{5,9} REPLACE\s*")  # how the engine reads where an edit begins, and ends
MOST_ORDERS = 20


@dataclass(frozen=True)
class PartOrder:
    """One line. Neither a name nor lines: the whole file."""

    verb: Literal["SHOW", "DELETE"]
    path: str
    name: str = ""
    first: int = 0
    last: int = 0

    def __str__(self) -> str:
        if self.name:
            return f"{self.path}::{self.name}"
        return f"{self.path}:{self.first}-{self.last}" if self.first else self.path

    def lines_in(self, text: str) -> range:
        """Lines of it, counted from 1. Refused: there is no such place."""
        count = text.count("\n") + (not text.endswith("\n"))
        found = place_of(text, self.name) if self.name else range(self.first, min(self.last, count) + 1)
        if not self.name and not self.first:
            found = range(1, count + 1)
        if not found or not 1 <= found.start <= count:
            raise Refused(f"there is no {self}")
        return found


def orders(reply: str, verb: Literal["SHOW", "DELETE"]) -> tuple[PartOrder, ...]:
    """In their order, each once."""
    found = (order for line in _outside(reply) if (order := _order(line)) and order.verb == verb)
    return tuple(dict.fromkeys(found))[:MOST_ORDERS]


def _order(line: str) -> PartOrder | None:
    if named := SHOW_FILE.fullmatch(line):
        return PartOrder("SHOW", named["path"])
    one = ORDER.fullmatch(line)
    if one is None or (one["whole"] and one["verb"] == "SHOW"):
        return None
    verb: Literal["SHOW", "DELETE"] = "SHOW" if one["verb"] == "SHOW" else "DELETE"
    return PartOrder(verb, one["file"] or one["path"], one["name"] or "", int(one["first"] or 0), int(one["last"] or 0))


def _outside(reply: str) -> Iterator[str]:
    """Lines outside of edits; quotes and bullets around them say nothing."""
    is_edit = False
    for line in reply.split("\n"):
        if EDIT.fullmatch(line):
            is_edit = line.startswith("<")
        elif not is_edit:
            yield line.strip(" `*-")


# --- deleting ------------------------------------------------------------------------------------------------


def deleted(wanted: tuple[PartOrder, ...], before: Mapping[str, str], now: Mapping[str, str]) -> dict[str, str | None]:
    """Path -> its text without what is to go; None: the file goes. `before`: as the model saw it, `now`: as edited.

    Refused: there is no such place, or what would be left is no program any more.
    """
    left: dict[str, str | None] = {}
    for one in wanted:
        text = left.get(one.path, now.get(one.path))
        if text is None:
            raise Refused(f"{one.path} cannot be deleted from: it is not there, or the task does not name it to edit")
        left[one.path] = _without(one, before.get(one.path, text), text) if one.name or one.first else None
    for path, text in left.items():
        if text is not None and parse(now[path]) and not parse(text) and path.endswith(".py"):
            raise Refused(f"{path} would be no Python any more without what was to be deleted")
    return left


def _without(one: PartOrder, before: str, text: str) -> str:
    """By name, from what stands there now; by lines, those that the model saw."""
    lines = lines_of(text)
    if one.name:
        place = one.lines_in(text)
        first, last = place.start, place.stop - 1
    else:
        seen = one.lines_in(before)
        gone = "".join(lines_of(before)[seen.start - 1 : seen.stop - 1])
        if text.count(gone) != 1:
            raise Refused(f"{one} was changed by an edit, or stands there more than once")
        first = text[: text.index(gone)].count("\n") + 1
        last = first + len(seen) - 1
    above, below = lines[: first - 1], lines[last:]
    while below and not below[0].strip() and (not above or not above[-1].strip()):
        below = below[1:]
    return "".join((*above, *below))


# --- showing -------------------------------------------------------------------------------------------------


def part_of(one: PartOrder, text: str) -> str:
    """The lines, letter by letter. Refused: there is no such place; the names that there are."""
    try:
        place = one.lines_in(text)
    except Refused as reason:
        names = ", ".join(each.name for each in definitions(text))
        raise Refused(f"{reason}; the file has {names or 'no definitions'}") from None
    lines = lines_of(text)[place.start - 1 : place.stop - 1]
    return f"{LEFT_OUT} lines {place.start}-{place.stop - 1}\n{''.join(lines)}"
