"""Door to the task folders. The only module that reads, writes and moves task files; the folder is the state.

A file is front matter (strict YAML) and Markdown. The owner may drop, edit, move and delete files at any time, so
every look reads the folders anew, and each file that is not surely the one that was read before. A file that cannot be
read is named with its reason and never moved or deleted.
"""

from __future__ import annotations

import json
import os
import re
import threading
import time
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from sisimpur.shared.model.errors import Misconfigured, Refused
from sisimpur.shared.model.lifecycle import FOLDERS, State
from sisimpur.shared.model.naming import is_task_id
from sisimpur.shared.model.scope import is_plain_path
from sisimpur.shared.model.text import printable
from sisimpur.shared.model.work import Difficulty, Priority, TaskKind, TaskSpec
from sisimpur.shared.system import strict_yaml
from sisimpur.shared.system.fault import fault_point
from sisimpur.shared.system.paths import Home, create_text, move, read_text, replace_text

MAX_TASK = 64 * 1024
YOUNG = 1.0  # seconds; a file that was just written may be half of one
ACCEPTANCE = "## Acceptance criteria"
MOST_KEPT = 3  # surveys: what is open, what is done, what failed


def _printable(value: str) -> str:
    if printable(value) != value or not value.strip():
        raise ValueError("is blank, or holds a control character or a line break")
    return value


Line = Annotated[str, Field(min_length=1, max_length=300), AfterValidator(_printable)]
Names = Annotated[tuple[Line, ...], Field(max_length=50)]


class FrontMatter(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    id: Line | None = None  # only to be compared with the file's name
    title: Line
    goal: str = Field(default="", max_length=100)
    priority: Priority = Priority.MEDIUM
    difficulty: Difficulty = Difficulty.MEDIUM
    kind: TaskKind = TaskKind.UNKNOWN
    files: Names = ()
    new_files: Names = ()
    context: Names = ()
    depends_on: Names = ()
    after: Names = ()
    changes_tests: Names = ()
    guards: Names = ()


@dataclass(frozen=True)
class UnreadableFile:
    """A file that stays where it is until the owner mends it. `reason` names file and line."""

    path: Path
    reason: str


@dataclass(frozen=True)
class Filed:
    """A task's file: where it lies, and what it says, or why it cannot be read."""

    id: str
    state: State
    spec: TaskSpec | UnreadableFile


@dataclass(frozen=True)
class Survey:
    """The tasks as they lie in the folders. `resting`: those that lie where they were expected: these were not read."""

    files: tuple[Filed, ...]
    resting: Mapping[State, AbstractSet[str]]


Stamp = tuple[int, int, int, int, int]  # the last: how many names it has
Listed = tuple[Stamp | None, list[str], frozenset[str]]  # a folder: all names in it, and the ids of its tasks


class TaskStore:
    """`is_unchanged`: whether nothing in the folders has changed since this was asked last; False if nobody knows."""

    def __init__(self, home: Home, is_unchanged: Callable[[], bool] = lambda: False) -> None:
        self._home = home
        self._is_unchanged = is_unchanged
        self._folders = {state: str(home.tasks(state)) for state in State}
        # a home of years has thousands of files, and looks often
        self._understood: dict[tuple[State, str], tuple[Stamp, Filed]] = {}
        self._listed: dict[State, Listed] = {}
        self._surveys: list[tuple[Mapping[State, AbstractSet[str]], Survey]] = []  # the newest first; true if unchanged
        self._surveying = threading.Lock()  # the board asks from several threads: what one reads none reads again

    def names(self) -> dict[State, list[str]]:
        """The ids in each folder, without reading the files."""
        return {state: sorted(self._ids(state)) for state in FOLDERS}

    def names_beginning(self, begin: str) -> set[str]:
        """The ids that begin so, in whichever folder."""
        return {id_ for state in FOLDERS for id_ in self._ids(state) if id_.startswith(begin)}

    def all(self, *states: State) -> list[Filed]:
        """Every task in these folders (default: all)."""
        return [self.read(state, id_) for state in states or FOLDERS for id_ in sorted(self._ids(state))]

    def survey(self, expected: Mapping[State, AbstractSet[str]]) -> Survey:
        """Every task. Of one that lies where it is expected, and nowhere else, the file is not read."""
        with self._surveying:
            if not self._is_unchanged():
                self._surveys.clear()
            if kept := next((survey for known, survey in self._surveys if known == expected), None):
                return kept
            found = self._surveyed(expected)
            if all(map(self._is_sure, found.files)):
                self._surveys = [(expected, found), *self._surveys][:MOST_KEPT]
            return found

    def _is_sure(self, file: Filed) -> bool:
        """Tell whether nobody may be writing it still, nor by another name, which is told of no folder."""
        kept = self._understood.get((file.state, file.id))
        return kept is not None and kept[0][-1] == 1

    def _surveyed(self, expected: Mapping[State, AbstractSet[str]]) -> Survey:
        there: dict[State, frozenset[str]] = {state: self._ids(state) for state in FOLDERS}
        resting = {
            state: (there[state] & ids).difference(*(there[other] for other in FOLDERS if other is not state))
            for state, ids in expected.items()
        }
        found = [(state, id_) for state in FOLDERS for id_ in sorted(there[state] - resting.get(state, frozenset()))]
        self._understood = {key: self._understood[key] for key in found if key in self._understood}
        return Survey(tuple(self.read(state, id_) for state, id_ in found), resting)

    def find(self, id_: str) -> list[State]:
        """The folders that hold the task: none, one, or (after a copy by the owner) several."""
        return [state for state in FOLDERS if os.path.lexists(self._path(state, id_))]

    def read(self, state: State, id_: str) -> Filed:
        path = f"{self._folders[state]}/{id_}.md"
        stamp = _stamp(path)  # before it is read: what changes in between is seen the next time
        kept = self._understood.get((state, id_))
        if kept and kept[0] == stamp:
            return kept[1]
        filed = self._read(state, id_, Path(path))
        if stamp and isinstance(filed.spec, TaskSpec):
            self._understood[state, id_] = stamp, filed
        return filed

    def _read(self, state: State, id_: str, path: Path) -> Filed:
        try:
            return Filed(id_, state, parse(id_, read_text(path, MAX_TASK), f"{state}/{path.name}"))
        except FileNotFoundError:
            return Filed(id_, state, UnreadableFile(path, f"{state}/{path.name}: has just gone"))
        except (Refused, Misconfigured) as error:
            return Filed(id_, state, UnreadableFile(path, str(error)))

    def text(self, state: State, id_: str) -> str:
        """The file as it is, for showing."""
        return read_text(self._path(state, id_), MAX_TASK)

    def is_young(self, state: State, id_: str) -> bool:
        """Somebody may still be writing the file."""
        return _stamp(self._path(state, id_)) is None

    def wait(self) -> None:
        """Wait until what is young now is so no more, or has been written again."""
        time.sleep(YOUNG)

    def add(self, spec: TaskSpec) -> bool:
        """A new file in backlog, complete and durable. False if a task of that name exists in any folder."""
        fault_point("plan.write")
        is_new = self.add_text(spec.id, render(spec))
        fault_point("plan.written")
        return is_new

    def add_text(self, id_: str, text: str) -> bool:
        """As `add`, with a text that `parse` takes."""
        if self.find(id_):
            return False
        try:
            create_text(self._path(State.BACKLOG, id_), text, self._home.temporary)
        except FileExistsError:
            return False
        return True

    def edit(self, id_: str, text: str) -> bool:
        """Replace the text of a task in backlog. False if it does not lie there any more."""
        try:
            replace_text(self._path(State.BACKLOG, id_), text)
        except FileNotFoundError:
            return False
        return True

    def move(self, id_: str, source: State, target: State) -> bool:
        """False if the file is not in `source` any more, or `target` has one of that name: the owner was faster."""
        fault_point(f"move.{target}.planned")
        try:
            move(self._path(source, id_), self._path(target, id_))
        except (FileNotFoundError, FileExistsError):
            return False
        fault_point(f"move.{target}.done")
        return True

    def _path(self, state: State, id_: str) -> Path:
        return self._home.tasks(state) / f"{id_}.md"

    def _ids(self, state: State) -> frozenset[str]:
        folder = self._home.tasks(state)
        stamp = _stamp(folder)  # before it is listed, as with a file
        before, names, ids = self._listed.get(state, (None, [], frozenset()))
        if stamp and before == stamp:
            return ids
        try:
            now = os.listdir(folder)
        except FileNotFoundError:
            return frozenset()
        if now != names:
            ids = frozenset([name[:-3] for name in now if name.endswith(".md") and not name.startswith(".")])
        self._listed[state] = stamp, now, ids
        return ids


def _stamp(path: Path | str) -> Stamp | None:
    """Mark that differs when the file does. None: it is young, and may still change within one tick of its clock."""
    try:
        info = os.lstat(path)
    except OSError:
        return None
    is_young = time.time() - info.st_ctime < YOUNG
    return None if is_young else (info.st_ino, info.st_ctime_ns, info.st_mtime_ns, info.st_size, info.st_nlink)


# --- the file's text -----------------------------------------------------------------------------------------


def parse(id_: str, text: str, name: str) -> TaskSpec:
    """A task file's text, or Refused / Misconfigured with one line that names file, line and reason."""
    if not is_task_id(id_):
        raise Refused(f"{name}: the name is no task id; use small letters, digits, '-', '_' and '.' (at most 80)")
    if not text.strip():
        raise Refused(f"{name}: is empty")
    if "\0" in text:
        raise Refused(f"{name}: holds a NUL byte")
    head, body = _split(text, name)
    front = strict_yaml.parse(head, name, first_line=2).as_type(FrontMatter)
    if front.id not in (None, id_):
        raise Refused(f"{name}: says id {front.id}; the file's name counts: remove the line or rename the file")
    for path in front.files + front.new_files + front.context:
        if not is_plain_path(path):
            raise Refused(f"{name}: {path!r} is not a path inside the repository")
    if not front.files and not front.new_files:
        raise Refused(f"{name}: say which files it may change, e.g. files: [app/views.py]")
    description, acceptance = _body(body)
    if not description:
        raise Refused(f"{name}: has no description below the front matter")
    return _spec(id_, front, description, acceptance)


def render(spec: TaskSpec) -> str:
    """The file's text; `parse` gives the same task back."""
    front: dict[str, Any] = {
        "id": spec.id,
        "title": spec.title,
        "goal": spec.goal_id,
        "priority": spec.priority.value,
        "difficulty": spec.difficulty.value,
        "kind": "" if spec.kind is TaskKind.UNKNOWN else spec.kind.value,
        "files": spec.files,
        "new_files": spec.new_files,
        "context": spec.context,
        "depends_on": spec.depends_on,
        "after": spec.after,
        "changes_tests": spec.changes_tests,
        "guards": spec.guards,
    }
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in front.items() if value]
    criteria = "".join(f"- {line}\n" for line in spec.acceptance)
    tail = f"\n{ACCEPTANCE}\n\n{criteria}" if criteria else ""
    return "---\n" + "\n".join(lines) + f"\n---\n\n{spec.description.strip()}\n{tail}"


def _split(text: str, name: str) -> tuple[str, str]:
    first, _, rest = text.partition("\n")
    if first.rstrip() != "---":
        raise Refused(f"{name}:1: must begin with front matter: a line '---', then title: and files:, then '---'")
    found = re.search(r"^---[ \t]*$", rest, re.MULTILINE)
    if not found:
        raise Refused(f"{name}: the front matter is not closed; end it with a line '---'")
    return rest[: found.start()], rest[found.end() :]


def _body(text: str) -> tuple[str, tuple[str, ...]]:
    description, found, criteria = text.rpartition(ACCEPTANCE)
    if not found:
        return text.strip(), ()
    bullets = (line.strip()[2:].strip() for line in criteria.splitlines() if line.strip().startswith(("- ", "* ")))
    return description.strip(), tuple(bullet for bullet in bullets if bullet)


def _spec(id_: str, front: FrontMatter, description: str, acceptance: tuple[str, ...]) -> TaskSpec:
    return TaskSpec(
        id=id_,
        title=front.title,
        description=description,
        priority=front.priority,
        goal_id=front.goal,
        files=front.files,
        new_files=front.new_files,
        context=front.context,
        acceptance=acceptance,
        difficulty=front.difficulty,
        depends_on=front.depends_on,
        after=front.after,
        kind=front.kind,
        changes_tests=front.changes_tests,
        guards=front.guards,
    )
