"""The board's memory of the task files: after any change of a file it reads what a process reads that is just started.

All files rest for as long as a young one is read anew each time, else nothing would be remembered that could be wrong.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path

import pytest

from sisimpur.shared.model.lifecycle import FOLDERS, State
from sisimpur.shared.store.task_store import YOUNG, TaskStore
from sisimpur.shared.system.paths import Home
from sisimpur.web.api.base.folder_watch import FolderWatch

pytestmark = pytest.mark.disk

TEXT = "---\ntitle: Say it\nfiles: [app.py]\n---\n\nSay it.\n"
FIRST, SECOND, OVER = "20261120-01", "20261120-02", "20261119-01"
WANTED: tuple[Mapping[State, AbstractSet[str]], ...] = ({}, {State.COMPLETED: {OVER}}, {State.COMPLETED: {FIRST}})


@dataclass(frozen=True)
class WatchedHome:
    home: Home
    store: TaskStore

    def file(self, id_: str = FIRST, state: State = State.BACKLOG) -> Path:
        return self.home.tasks(state) / f"{id_}.md"

    def agrees(self) -> bool:
        """Tell whether it reads what is there, however much it is asked for."""
        fresh = TaskStore(self.home)
        return all(self.store.survey(one) == fresh.survey(one) for one in WANTED)

    def remembers(self) -> bool:
        return all(self.store.survey(one) is self.store.survey(one) for one in WANTED)


def in_place(one: WatchedHome) -> None:
    """As long as before, and as old as before, as far as a program can say so."""
    if not one.file().exists():
        return
    before = one.file().stat()
    one.file().write_text(one.file().read_text().replace("say", "sin").replace("Say", "Sin"))
    os.utime(one.file(), ns=(before.st_atime_ns, before.st_mtime_ns))


def folder_replaced(one: WatchedHome) -> None:
    folder, away = one.home.tasks(State.BACKLOG), one.home.root / "away"
    shutil.rmtree(away, ignore_errors=True)
    folder.rename(away)
    shutil.copytree(away, folder)
    one.file(SECOND).write_text(TEXT.replace("Say", "Whisper"))


def all_tasks_replaced(one: WatchedHome) -> None:
    tasks, away = one.home.tasks(State.BACKLOG).parent, one.home.root / "all-away"
    shutil.rmtree(away, ignore_errors=True)
    tasks.rename(away)
    one.home.make()


def moved(one: WatchedHome) -> None:
    if one.file().exists():
        one.file().rename(one.file(state=State.COMPLETED))


CHANGES: tuple[Callable[[WatchedHome], object], ...] = (
    lambda one: None,
    lambda one: one.file().write_text(TEXT),
    lambda one: one.file(SECOND).write_text(TEXT.replace("Say", "Sing")),
    lambda one: one.file(OVER, State.COMPLETED).write_text(TEXT.replace("Say", "Shout")),
    lambda one: one.file().write_text("---\n"),
    lambda one: one.file().chmod(0o600),
    in_place,
    lambda one: one.file().unlink(missing_ok=True),
    lambda one: one.file("20261121-01").write_text(TEXT),
    moved,
    folder_replaced,
    all_tasks_replaced,
)


SHIFTS = (0, 1, 5)  # a user may have a hundred watches


def watched(folder: Path) -> WatchedHome:
    home = Home(folder)
    home.make()
    one = WatchedHome(home, TaskStore(home, FolderWatch([home.tasks(state) for state in FOLDERS]).is_unchanged))
    for path in (one.file(), one.file(SECOND), one.file(OVER, State.COMPLETED)):
        path.write_text(TEXT)
    return one


def test_after_any_two_changes_it_reads_what_is_there(tmp_path: Path) -> None:
    pairs = [(first, (first + shift) % len(CHANGES)) for first in range(len(CHANGES)) for shift in SHIFTS]
    every = {pair: watched(tmp_path / f"{pair[0]}-{pair[1]}") for pair in pairs}
    assert all(one.agrees() for one in every.values())
    for at in range(2):
        time.sleep(YOUNG + 0.1)
        assert [pair for pair, one in every.items() if not one.agrees()] == []
        assert at or all(one.remembers() for one in every.values())
        for pair, one in every.items():
            CHANGES[pair[at]](one)
        assert [pair for pair, one in every.items() if not one.agrees()] == []


def test_a_file_that_has_another_name_elsewhere_is_looked_at_each_time(tmp_path: Path) -> None:
    one, other = watched(tmp_path), tmp_path / "elsewhere"
    os.link(one.file(), other)
    time.sleep(YOUNG + 0.1)
    assert one.agrees() and one.agrees()
    other.write_text(TEXT.replace("Say", "Sing"))
    assert one.agrees()


def test_where_another_machine_may_write_nothing_is_taken_for_unchanged() -> None:
    watch = FolderWatch([Path("/proc/self/fdinfo")])
    assert not watch.is_unchanged() and not watch.is_unchanged()


def test_what_is_told_of_once_is_not_told_of_again_and_after_a_while_all_is_looked_at(tmp_path: Path) -> None:
    watch = FolderWatch([tmp_path], 0.5)
    assert [watch.is_unchanged() for _ in range(3)] == [False, True, True]
    (tmp_path / "one").touch()
    assert [watch.is_unchanged() for _ in range(3)] == [False, True, True]
    time.sleep(0.6)
    assert [watch.is_unchanged() for _ in range(2)] == [False, True]


def test_what_is_not_watched_any_more_leaves_no_descriptor(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    watch = FolderWatch([tmp_path])
    for _ in range(3):
        watch.is_unchanged()
        tmp_path.rename(tmp_path.with_name("away"))
        assert not watch.is_unchanged()
        tmp_path.with_name("away").rename(tmp_path)
    watch.close()
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_folder_that_was_deleted_and_made_again_is_listened_to_again(tmp_path: Path) -> None:
    """A disk may give the new one the old one's number."""
    folder = tmp_path / "tasks"
    folder.mkdir()
    watch = FolderWatch([folder])
    assert [watch.is_unchanged() for _ in range(2)] == [False, True]
    folder.rmdir()
    folder.mkdir()
    assert not watch.is_unchanged()
    assert [watch.is_unchanged() for _ in range(2)] == [False, True], "begun anew"
    for name in ("one", "two"):
        (folder / name).touch()
        assert not watch.is_unchanged(), name
