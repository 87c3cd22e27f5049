"""Files of the owner's that the board reads and writes as an editor would: VISION.md, ROADMAP.md, settings, tasks.

Who writes says which text he has seen; another one is told what is there. The audit has its row before the file is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

from sisimpur.cli.wiring.records import Records
from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.model.lifecycle import State
from sisimpur.shared.model.text import sha256_of
from sisimpur.shared.store.task_store import MAX_TASK, parse
from sisimpur.shared.system.fault import fault_point
from sisimpur.shared.system.paths import read_text, write_text
from sisimpur.web.api.base.board_home import without_keys


def file_tag(text: str) -> str:
    """Return the ETag of a text as it lies there."""
    return f'"{sha256_of(text)}"'


@dataclass(frozen=True)
class OwnersFile:
    """One of them as it lies there now. `write` returns False if it has just been moved away."""

    name: str  # as the audit calls it
    text: str
    write: Callable[[str], bool]
    is_editable: bool = True

    @property
    def tag(self) -> str:
        return file_tag(self.text)

    def is_shown_whole(self, records: Records) -> bool:
        """Tell whether it holds no key: what was taken out of it cannot be written back."""
        return without_keys(records)(self.text) == self.text

    def replace(self, records: Records, text: str) -> None:
        """Misconfigured: it cannot be written from here, or not any more."""
        if not self.is_editable:
            raise Misconfigured(
                f"{self.name} cannot be changed any more: somebody has begun it; see: python main.py tasks"
            )
        if not self.is_shown_whole(records):
            raise Misconfigured(f"{self.name} holds what looks like a key; change it where it lies, in an editor")
        _booked(records, self.name, self.text, text)
        if not self.write(text):
            raise Misconfigured(f"{self.name} has just been moved; look again")


def vision_file(records: Records) -> OwnersFile:
    path = records.home.vision
    try:
        text = read_text(path)
    except FileNotFoundError:
        text = ""

    def write(new: str) -> bool:
        write_text(path, new)
        return True

    return OwnersFile(path.name, text, write)


def roadmap_file(records: Records) -> OwnersFile:
    """FileNotFoundError: there is none yet."""
    path = records.home.roadmap

    def write(new: str) -> bool:
        write_text(path, new)
        return True

    return OwnersFile(path.name, read_text(path), write)


def setting_file(records: Records, name: str) -> OwnersFile:
    """One of those that pages may change, e.g. `config/policy.yaml`."""
    path = records.home.root / name

    def write(new: str) -> bool:
        write_text(path, new)
        return True

    return OwnersFile(name, read_text(path), write)


def task_file(records: Records, id_: str, state: State) -> OwnersFile:
    """Only what lies in backlog is written: of all else somebody has begun."""

    def write(new: str) -> bool:
        return records.store.edit(id_, new)

    text = records.store.text(state, id_)
    return OwnersFile(f"{state.value}/{id_}.md", text, write, state is State.BACKLOG)


def add_task(records: Records, id_: str, text: str) -> str:
    """Put a new file into backlog. Return its id: the one that was asked for, or the next free one of today."""
    day = records.day().replace("-", "")
    names = [id_] if id_ else (f"own-{day}-{number}" for number in count(1))
    free = next((name for name in names if not records.store.find(name) and not records.journal.task(name)), "")
    if not free:
        raise Misconfigured(f"there is a task {id_} already; choose another name")
    require_task(free, text)
    _booked(records, f"{State.BACKLOG.value}/{free}.md", "", text)
    if not records.store.add_text(free, text):
        raise Misconfigured(f"there is a task {free} already; choose another name")
    return free


def require_task(id_: str, text: str) -> None:
    """Refused, Misconfigured: as of a file that was written by hand, with its line and its reason."""
    if len(text.encode("utf-8", "surrogatepass")) > MAX_TASK:
        raise Misconfigured(f"{id_}.md: a task has at most {MAX_TASK} bytes")
    parse(id_, text, f"{id_}.md")


def _booked(records: Records, name: str, before: str, after: str) -> None:
    digests = (file_tag(before).strip('"') if before else "", file_tag(after).strip('"'))
    with records.db.transaction() as db:
        values = (records.clock.now().isoformat(), name, *digests)
        db.execute("insert into file_edits (at, file, before, after) values (?, ?, ?, ?)", values)
    fault_point("board.file-booked")
