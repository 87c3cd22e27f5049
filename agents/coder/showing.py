"""What a model is shown of a task's files, and what it asks of us: to see more, to delete, to move."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Literal, get_args

from sisimpur.agents.coder.engine.engine import Engine, EngineJob, EngineRun, text_of
from sisimpur.shared.llm.prompts import quoted
from sisimpur.shared.model.errors import Misconfigured, Refused, Stumble, Unavailable
from sisimpur.shared.model.evidence import is_test_file
from sisimpur.shared.model.work import Correction, TaskSpec
from sisimpur.shared.repo.file_parts import (
    LEFT_OUT,
    changed_lines,
    definitions,
    is_told_of,
    lines_of,
    parse,
    place_of,
    view,
)
from sisimpur.shared.system.fault import fault_point
from sisimpur.shared.system.paths import remove_folder, write_text

LONG_TO_READ, MOST_TO_READ = 9_000, 6_000  # characters of a file that is only read, and of its parts
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
    read = {path: _read_view(path, _text(job.folder, path), words) for path in job.read}
    shown = read | {path: view(path, _text(job.folder, path), words) for path in job.edit}
    kept = {path: text for path, text in shown.items() if text}
    return replace(job, message=job.message + PARTS, views=kept, marks=True) if kept else job


def _read_view(path: str, text: str, words: str) -> str:
    """Of what is only read a part is enough where the task says which."""
    return view(path, text, words, LONG_TO_READ, MOST_TO_READ) if is_told_of(text, words) else view(path, text, words)


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
    """What the files hold that it may edit or create; empty: there is none yet."""
    return {path: _text(job.folder, path) for path in (*job.edit, *job.create)}


def carry_out(job: EngineJob, done: EngineRun, before: Mapping[str, str]) -> EngineRun:
    """Delete and move what the model asked for: then it has edited. Refused: it cannot be done."""
    wanted = orders(done.reply, "DELETE", "MOVE") if done.end in ("edited", "no edits") else ()
    left = rearranged(wanted, before, texts(job))
    for path, text in left.items():
        if text is None:
            (job.folder / path).unlink()
        else:
            (job.folder / path).parent.mkdir(parents=True, exist_ok=True)
            write_text(job.folder / path, text)
        fault_point("engine.rearranged")
    return replace(done, end="edited", edited=(*done.edited, *left)) if left else done


Formats = Callable[[Mapping[str, str], Mapping[str, str]], Mapping[str, str]]  # Python files, configuration -> files
CONFIGURATION = ("pyproject.toml", "ruff.toml", ".ruff.toml")
FORMATS = re.compile(  # a repository that says nothing of a formatter has no form, though a file may look like one
    r"^\s*\[tool\.(?:ruff|black)\b|\b(?:ruff-format|ruff-pre-commit|psf/black|black-pre-commit-mirror)\b", re.MULTILINE
)


def unformatted(_files: Mapping[str, str], _configuration: Mapping[str, str]) -> Mapping[str, str]:
    """There is no formatter."""
    return {}


def keep_form(job: EngineJob, before: Mapping[str, str], formats: Formats) -> None:
    """Write Python files as the formatter does that were so before; new ones, if all that changed were so.

    Only where the repository names ruff or black: elsewhere that a file looks so is chance, and its lines are its own.
    How others should look nobody knows. What cannot be formatted stays as it is: the tests tell more.
    """
    configuration = {path: text for path in CONFIGURATION if (text := _text(job.folder, path))}
    said = configuration.get("pyproject.toml", "") + _text(job.folder, ".pre-commit-config.yaml")
    if not (FORMATS.search(said) or configuration.keys() - {"pyproject.toml"}):
        return
    now = texts(job)
    changed = {path: text for path, text in now.items() if path.endswith(".py") and text and text != before.get(path)}
    old = {path: before[path] for path in changed if before.get(path)}
    try:
        was = formats(old, configuration)
        kept = {path for path in old if was.get(path) == old[path]}
        new = changed.keys() - old.keys() if old and len(kept) == len(old) else set()
        made = formats({path: changed[path] for path in sorted(kept | new)}, configuration)
    except (Misconfigured, Refused, Stumble, Unavailable):
        return
    for path, text in made.items():
        if text != changed[path]:
            write_text(job.folder / path, text)
            fault_point("engine.formatted")


# --- lines of our own in a reply: SHOW, DELETE and MOVE ------------------------------------------------------


Verb = Literal["SHOW", "DELETE", "MOVE"]


ORDER = re.compile(
    r"(?P<verb>SHOW|DELETE|MOVE) (?:(?P<whole>FILE) (?P<file>\S+)"
    r"|(?P<path>[^\s:]+)(?:::(?P<name>[\w.]+)|:(?P<first>\d{1,7})-(?P<last>\d{1,7})))(?: TO (?P<to>\S+))?\s*"
)
SHOW_FILE = re.compile(r"SHOW (?P<path>[^\s:]*[./][^\s:]*)\s*")
EDIT = re.compile(r"<{5,9} SEARCH>?\s*|>{5,9} REPLACE\s*")  # how the engine reads where an edit begins, and ends
MOST_ORDERS = 20


@dataclass(frozen=True)
class PartOrder:
    """One line. Neither a name nor lines: the whole file. `to`: the file that it moves to."""

    verb: Verb
    path: str
    name: str = ""
    first: int = 0
    last: int = 0
    to: str = ""

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


def orders(reply: str, *verbs: Verb) -> tuple[PartOrder, ...]:
    """In their order, each once."""
    found = (order for line in _outside(reply) if (order := _order(line)) and order.verb in verbs)
    return tuple(dict.fromkeys(found))[:MOST_ORDERS]


def _order(line: str) -> PartOrder | None:
    if named := SHOW_FILE.fullmatch(line):
        return PartOrder("SHOW", named["path"])
    one = ORDER.fullmatch(line)
    if one is None or (one["whole"] and one["verb"] != "DELETE") or (one["verb"] == "MOVE") != bool(one["to"]):
        return None
    verb = next(verb for verb in get_args(Verb) if verb == one["verb"])
    lines = int(one["first"] or 0), int(one["last"] or 0)
    return PartOrder(verb, one["file"] or one["path"], one["name"] or "", *lines, one["to"] or "")


def _outside(reply: str) -> Iterator[str]:
    """Lines outside of edits; quotes and bullets around them say nothing."""
    is_edit = False
    for line in reply.split("\n"):
        if EDIT.fullmatch(line):
            is_edit = line.startswith("<")
        elif not is_edit:
            yield line.strip(" `*-")


# --- deleting and moving -------------------------------------------------------------------------------------


def rearranged(
    wanted: tuple[PartOrder, ...], before: Mapping[str, str], now: Mapping[str, str]
) -> dict[str, str | None]:
    """Path -> its text without what is to go, and with what comes; None: the file goes.

    `before`: what the model saw of each file that it may edit or create, `now`: as edited. Refused: there is no such
    place, or what would be left is no program any more.
    """
    left: dict[str, str | None] = {}
    for one in wanted:
        text = left.get(one.path, now.get(one.path))
        if not text:
            why = "it is not there, or the task does not name it to edit"
            raise Refused(f"nothing can be taken out of {one.path}: {why}")
        if not one.name and not one.first:
            left[one.path] = None
            continue
        left[one.path], taken = _without(one, before.get(one.path) or text, text)
        if one.to:
            if one.to not in now or "." in one.name:
                raise Refused(f"{one} cannot move to {one.to}: the task does not name that file, or it is a method")
            left[one.to] = _followed_by(left.get(one.to, now[one.to]) or "", taken)
    for path, text in left.items():
        if text is not None and parse(now[path]) and not parse(text) and path.endswith(".py"):
            raise Refused(f"{path} would be no Python any more without what was to be taken away")
    return left


def _followed_by(text: str, taken: str) -> str:
    """Two blank lines between, as between functions."""
    return "\n\n\n".join(part for part in (text.rstrip("\n"), taken.strip("\n")) if part) + "\n"


def _without(one: PartOrder, before: str, text: str) -> tuple[str, str]:
    """(what is left, what was taken): by name, from what stands there now; by lines, those that the model saw."""
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
    return "".join((*above, *below)), "".join(lines[first - 1 : last])


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
