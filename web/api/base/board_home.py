"""A home as the board opens it, and what leaves it: JSON without keys."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from sisimpur.cli.terminal.printing import pasteable
from sisimpur.cli.wiring.config_watch import config_stamps
from sisimpur.cli.wiring.records import HomeMemory, PullsSeen, Records, open_records, require_home
from sisimpur.shared.config.settings import load_board
from sisimpur.shared.config.settings_board import BoardFile
from sisimpur.shared.config.settings_sign_in import ListedPerson
from sisimpur.shared.model.lifecycle import FOLDERS
from sisimpur.shared.store.task_store import TaskStore
from sisimpur.shared.system.clock import Clock, SystemClock
from sisimpur.shared.system.outgoing import Outgoing, each_text
from sisimpur.shared.system.paths import Home, stamp
from sisimpur.web.api.base.folder_watch import FolderWatch

MOST_KEPT = 2  # each has its own memory of what it has read
Marks = tuple[object, ...]


@dataclass(frozen=True)
class KeptRecords:
    """Records that stay open between two requests: what they have read is asked of the disk again only if it changed.

    `marks`: of the settings that they were opened with, and which file the books were.
    """

    records: Records
    marks: Marks
    closing: ExitStack


@dataclass(frozen=True)
class BoardHome:
    """A home as the board opens it: each request has records for itself, with files and settings as they are now."""

    root: Path
    clock: Clock | None = None
    _kept: list[KeptRecords] = field(default_factory=list, compare=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, compare=False)
    _files: dict[Marks, BoardFile] = field(default_factory=dict, compare=False)  # config/board.yaml, as last read
    _pulls: dict[Marks, PullsSeen] = field(default_factory=dict, compare=False)  # for all requests with these settings

    def now(self) -> datetime:
        """Return the time, also where the home cannot be opened."""
        return (self.clock or SystemClock()).now()

    def file(self) -> BoardFile:
        """Return config/board.yaml as it stands now. Misconfigured, Refused: it cannot be read."""
        home = Home(self.root)
        mark = stamp(home.config / "board.yaml")
        if (found := self._files.get(mark)) is None:
            found = load_board(home)
            self._files.clear()
            self._files[mark] = found
        return found

    def listed(self, account: str) -> ListedPerson | None:
        """Return who is listed by this account now: whoever was taken from the list is nobody at once."""
        return self.file().sign_in.listed(account)

    @cached_property
    def _store(self) -> TaskStore:
        """One memory of files for all: ten thousand are not read again by each."""
        home = Home(self.root)
        return TaskStore(home, FolderWatch(list(map(home.tasks, FOLDERS))).is_unchanged)

    @contextmanager
    def open(self, looking: bool = True) -> Iterator[Records]:
        home = Home(self.root)
        require_home(home, looking)
        marks = (config_stamps(home), stamp(home.database)[0])
        with ExitStack() as here:
            one = self._taken(marks) or self._opened(marks, looking)
            here.push(one.closing)
            yield one.records
            if one.records.db.path == home.database:  # else a copy, of which nobody would see that it is old
                here.pop_all()
                self._put_back(one)

    def _taken(self, marks: Marks) -> KeptRecords | None:
        with self._lock:
            found, old = [one for one in self._kept if one.marks == marks], []
            if len(found) < len(self._kept):
                old = [one for one in self._kept if one.marks != marks]
                self._kept[:] = found
            taken = self._kept.pop() if self._kept else None
        for one in old:
            one.closing.close()
        return taken

    def _opened(self, marks: Marks, looking: bool) -> KeptRecords:
        known = HomeMemory(self._store, self._pulls_seen(marks))
        with ExitStack() as closing:
            opened = open_records(self.root, clock=self.clock, looking=looking, known=known)
            records = closing.enter_context(opened)
            return KeptRecords(records, marks, closing.pop_all())

    def _pulls_seen(self, marks: Marks) -> PullsSeen:
        with self._lock:
            found = self._pulls.get(marks) or PullsSeen()
            self._pulls.clear()
            self._pulls[marks] = found
        return found

    def _put_back(self, one: KeptRecords) -> None:
        with self._lock:
            if is_kept := len(self._kept) < MOST_KEPT:
                self._kept.append(one)
        if not is_kept:
            one.closing.close()

    def read(self, reader: Callable[[Records], Any]) -> str:
        """Return JSON without keys."""
        with self.open() as records:
            return self.told(reader(records), records)

    def told(self, value: Any, records: Records, **verbatim: str) -> str:
        """Return JSON. `verbatim`: texts of a file, of which the commands are not completed: they are written back."""
        clean = without_keys(records)
        shown = cache(lambda text: pasteable(clean(text), self.root))  # a list says the same words again and again
        told = each_text(value, shown)
        whole = {**told, **{name: clean(text) for name, text in verbatim.items()}} if verbatim else told
        return json.dumps(whole, ensure_ascii=False)


def without_keys(records: Records) -> Callable[[str], str]:
    """Return what takes keys out of a text."""
    return Outgoing(records.settings.secrets.to_hide, records.settings.target.file.allow_secrets).clean
