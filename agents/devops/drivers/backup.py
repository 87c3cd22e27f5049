"""Backups: has data saved before a deploy, proves it readable, and keeps the newest.

<folder>/<place>/20260102T030405Z-<commit12>    one that was checked
<folder>/<place>/.making/                       what is being written, or was when we were killed
"""

from __future__ import annotations

import os
import re
import sqlite3
import stat
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import closing
from datetime import UTC
from pathlib import Path
from urllib.parse import quote

from sisimpur.agents.devops.drivers.owner_command import OwnerCommand, surroundings
from sisimpur.shared.config.settings_deploy import DeploySettings
from sisimpur.shared.model.deployment import PLACES, Place
from sisimpur.shared.model.errors import Misconfigured, Stumble
from sisimpur.shared.model.text import legible
from sisimpur.shared.system.clock import Clock
from sisimpur.shared.system.fault import fault_point
from sisimpur.shared.system.paths import move, remove_folder, sync_folder

LEAST_KEPT = 3
NAME = re.compile(r"[0-9]{8}T[0-9]{6}Z-[0-9a-f]{12}(\.[0-9]+)?")
HOLES = ("backup", "commit", "place")


class Backups:
    """`folder`: ours alone. `environment`, `stop`: as of CommandDriver.

    Misconfigured: a command holds a {name} that is none, or `backup` does not say where to write.
    """

    def __init__(
        self,
        folder: Path,
        settings: DeploySettings,
        clock: Clock,
        environment: Mapping[str, str] = os.environ,
        stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self._folder, self._settings, self._clock = folder, settings, clock
        self._environment, self._stop = environment, stop
        self._backup = {name: _backup(name, place.backup) for name, place in settings.places.items()}
        self._verify = {
            name: OwnerCommand(f"{name}.verify", place.verify, HOLES) for name, place in settings.places.items()
        }

    def is_wanted(self, place: Place) -> bool:
        """Say whether the owner has named a command for it."""
        return bool(self._backup[place])

    def save(self, place: Place, commit: str) -> Path:
        """Save and check the place's data of now -> where it lies; always a new one. Stumble: it is not to be read."""
        folder = self._folder / place
        made = self._made(folder, self._free_name(folder, commit))
        self._run(self._backup[place], place, commit, made)
        self._check(self._backup[place], made)
        if self._verify[place]:
            self._run(self._verify[place], place, commit, made)
            self._check(self._verify[place], made)
        fault_point("deploy.backup-made")
        kept = folder / made.name
        _make_durable(made)
        move(made, kept)
        fault_point("deploy.backup")
        remove_folder(made.parent)
        return kept

    def clean(self, keep: Collection[str] = ()) -> int:
        """Throws away all but the newest of each place, and `keep`, which are paths, e.g. of deploys that are stuck."""
        return sum(self._clean(self._folder / place, {Path(path) for path in keep}) for place in PLACES)

    def _made(self, folder: Path, name: str) -> Path:
        """Path where the command writes: nothing lies there, nor beside it."""
        making = folder / ".making"
        folder.mkdir(parents=True, exist_ok=True)
        remove_folder(making)
        making.mkdir(mode=0o700)
        fault_point("deploy.backup-begun")
        return making / name

    def _free_name(self, folder: Path, commit: str) -> str:
        name = f"{self._clock.now().astimezone(UTC):%Y%m%dT%H%M%SZ}-{commit[:12]}"
        number = 0
        while os.path.lexists(folder / (found := f"{name}.{number}" if number else name)):
            number += 1
        return found

    def _run(self, command: OwnerCommand, place: Place, commit: str, made: Path) -> None:
        given = surroundings(self._settings.places[place], self._environment)
        fill = {"backup": str(made), "commit": commit, "place": place}
        done = command.run(fill, cwd=made.parent, given=given, minutes=self._settings.minutes, stop=self._stop)
        fault_point("deploy.backup-command")
        if not done.ok:
            raise Stumble(command.problem(done, given))

    def _check(self, command: OwnerCommand, made: Path) -> None:
        problem = _problem(made) or (sqlite_problem(made, self._settings.minutes) if is_sqlite(made) else "")
        if problem:
            raise Stumble(f"`{command.name}` ended well, but {problem}")

    def _clean(self, folder: Path, keep: Collection[Path]) -> int:
        found = sorted(name for name in os.listdir(folder) if NAME.fullmatch(name)) if folder.is_dir() else []
        most = max(LEAST_KEPT, self._settings.keep)
        gone = [folder / name for name in found[:-most] if folder / name not in keep]
        for path in gone:
            path.unlink()
            fault_point("deploy.backup-removed")
        return len(gone)


def _backup(place: Place, argv: tuple[str, ...]) -> OwnerCommand:
    command = OwnerCommand(f"{place}.backup", argv, HOLES)
    if command and not any("{backup}" in word for word in argv):
        raise Misconfigured(f"{command.name} has to hold {{backup}}, the path to write to; add it in config/targets")
    return command


def _problem(made: Path) -> str:
    """Say why this file may not be kept; empty: it may."""
    try:
        info = made.lstat()
    except FileNotFoundError:
        return "there is no file at {backup}"
    if not stat.S_ISREG(info.st_mode):
        return "what it left at {backup} is no plain file"
    if info.st_nlink > 1:
        return "what it left at {backup} is another name of a file elsewhere, which goes on changing; let it copy"
    return "" if info.st_size else "the file at {backup} is empty"


def _make_durable(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        os.fchmod(descriptor, 0o600)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    sync_folder(path.parent)


# --- SQLite files --------------------------------------------------------------------------------------------

MAGIC = b"SQLite format 3\0"
STEPS = 100_000  # of SQLite's machine between two looks at the time
LONGEST = 200  # characters


def is_sqlite(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def sqlite_problem(path: Path, minutes: float) -> str:
    """Say what is wrong with a SQLite file; empty: it is whole, and holds a table.

    What a program of its own has added to SQLite (an order of letters, a kind of table) is not there to be checked.
    """
    until = time.monotonic() + minutes * 60
    try:
        # immutable: this very file is judged, without what may lie beside it
        with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro&immutable=1", uri=True)) as db:
            db.set_progress_handler(lambda: time.monotonic() > until, STEPS)
            for setting in ("trusted_schema=off", "cell_size_check=on", "ignore_check_constraints=on"):
                db.execute(f"pragma {setting}")
            (tables,) = db.execute("select count(*) from sqlite_master where type = 'table'").fetchone()
            found = _check(db)
    except sqlite3.Error as error:
        return f"the SQLite file cannot be read: {_words(str(error))}"
    if found != "ok":
        return f"the SQLite file is damaged: {_words(found)}"
    return "" if tables else "the SQLite file holds no table; is its path the right one?"


def _check(db: sqlite3.Connection) -> str:
    try:
        return str(db.execute("pragma integrity_check(1)").fetchone()[0])
    except sqlite3.OperationalError as error:
        if not str(error).startswith("no such "):
            raise
        return "ok"


def _words(text: str) -> str:
    return " ".join(legible(text).split())[:LONGEST]
