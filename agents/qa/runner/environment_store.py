"""Environment store: the files of the tests' environments, and the key that names what each was made from.

<key>/         complete, or it would not have this name
    made       how it was made, for people; its time is that of the last use; locked by whoever uses it
    hooks      what starts there by itself and nobody has named, a line each
    env/       what a box wrote: never looked into from here, no link in it is followed
.new-*, .old-* half built or half removed by somebody who is gone
.lock          held by the one who adds or removes
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from sisimpur.agents.qa.runner.environment_build import ENV, INSTALL, SEEN, Builder, Setup
from sisimpur.agents.qa.runner.suite import PACKAGES, Environment
from sisimpur.agents.qa.survey.findings import lacking_python, tested_python
from sisimpur.agents.qa.survey.target_survey import TargetSurvey, survey_at
from sisimpur.shared.model.errors import BrokenSetup, CommandFailed
from sisimpur.shared.model.naming import package_name
from sisimpur.shared.model.scope import matches
from sisimpur.shared.model.text import one_line
from sisimpur.shared.repo.mirror import Mirror
from sisimpur.shared.repo.mirror_tree import TreeEntry
from sisimpur.shared.sandbox.box import Box, Mount
from sisimpur.shared.sandbox.bubblewrap import never
from sisimpur.shared.system.fault import fault_point
from sisimpur.shared.system.paths import move, remove_folder, write_text

KEPT = 5  # environments
MADE = "made"
READ, WRITE = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC


class EnvironmentStore:
    """Store of environments.

    What was taken stays as long as this process does, unless it has taken `KEPT` others since.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._taken: dict[str, int] = {}
        self._guard = threading.Lock()

    def take(self, key: str) -> Path | None:
        """The folder of a complete environment, which is in use from now on; None: there is none."""
        made = self._folder / key / MADE
        with self._guard, suppress(FileNotFoundError):
            if key not in self._taken:
                self._taken[key] = _shared(made)
            if os.path.samestat(os.fstat(self._taken[key]), made.lstat()):
                os.utime(self._taken[key])
                return made.parent
        self._release(key)  # it was removed meanwhile
        return None

    def add(self, key: str, fill: Callable[[Path], str]) -> None:
        """Have a new folder filled, unless somebody else was first; `fill` answers how it was made.

        One at a time, whatever the key: a second one would only slow down the first.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        with self._alone():
            if (self._folder / key / MADE).exists():
                return
            remove_folder(self._folder / key)  # somebody removed a part of it by hand
            self._sweep()
            place = Path(tempfile.mkdtemp(prefix=".new-", dir=self._folder))
            try:
                write_text(place / MADE, fill(place))
                os.sync()  # a power cut must not leave a complete name with empty files
                fault_point("environment.built")
                move(place, self._folder / key)
                fault_point("environment.ready")
            finally:
                remove_folder(place)
            self._retire()

    def retire(self, before: datetime) -> Iterator[str]:
        """Removes those that nobody has used since, nor uses now. While one is being built, nothing is done."""
        if not self._folder.is_dir():
            return
        with suppress(BlockingIOError), self._alone(fcntl.LOCK_NB):
            self._sweep()
            unused = [path for path in self._made() if path.lstat().st_mtime < before.timestamp()]
            if gone := sum(map(self._remove, unused)):
                yield f"{gone} environments for tests removed, unused since {before:%Y-%m-%d}"

    # --- what is removed -------------------------------------------------------------------------------------

    def _sweep(self) -> None:
        for folder in [*self._folder.glob(".new-*"), *self._folder.glob(".old-*")]:
            remove_folder(folder)

    def _retire(self) -> None:
        """All but the newest, unless somebody uses them."""
        for path in self._made()[KEPT:]:
            self._release(path.parent.name)
            self._remove(path)

    def _made(self) -> list[Path]:
        """The one used last first."""
        return sorted(self._folder.glob(f"[!.]*/{MADE}"), key=lambda path: path.lstat().st_mtime, reverse=True)

    def _remove(self, path: Path) -> bool:
        """False: somebody uses it."""
        with suppress(BlockingIOError), _opened(path, READ) as descriptor:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            old = Path(tempfile.mkdtemp(prefix=".old-", dir=self._folder))
            move(path.parent, old / "environment")
            fault_point("environment.retired")
            remove_folder(old)
            return True
        return False

    def _release(self, key: str) -> None:
        with self._guard:
            if (descriptor := self._taken.pop(key, None)) is not None:
                os.close(descriptor)

    @contextmanager
    def _alone(self, waiting: int = 0) -> Iterator[None]:
        """`waiting`: LOCK_NB for whoever would rather not; BlockingIOError if somebody else is at it."""
        with _opened(self._folder / ".lock", WRITE) as descriptor:
            fcntl.flock(descriptor, fcntl.LOCK_EX | waiting)
            yield


def _shared(path: Path) -> int:
    """A descriptor that says: in use. Whoever removes the folder at this moment is waited for."""
    descriptor = os.open(path, READ, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    return descriptor


@contextmanager
def _opened(path: Path, flags: int) -> Iterator[int]:
    descriptor = os.open(path, flags, 0o600)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


# --- what an environment is made from ------------------------------------------------------------------------

# A file too many builds an environment too many; a file too few keeps an old one.
DEPENDENCIES = (
    *("pyproject.toml", "setup.py", "setup.cfg", "MANIFEST.in", "tox.ini", "Makefile", "hatch.toml", "noxfile.py"),
    *("*requirements*.txt", "*requirements*.in", "requirements/", "reqs/", "*constraints*.txt"),
    *("*.lock", "*-lock.*", "*.lock.*", "pylock.*", "Pipfile", "environment*.y*ml"),
)
LIKELY = re.compile("|".join(re.escape(max(re.split("[*/]", one), key=len)) for one in DEPENDENCIES), re.IGNORECASE)


def dependency_files(tree: Iterable[TreeEntry], setup: str) -> tuple[tuple[str, str], ...]:
    """(path, id of the content) of each file that may say what is installed: listed above, or named by the command."""
    listed = (entry for entry in tree if entry.path in setup or _is_listed(entry.path))
    return tuple(sorted((entry.path, f"{entry.mode} {entry.blob}") for entry in listed))


def _is_listed(path: str) -> bool:
    """Say no at once to most of very many files: each pattern has letters that must stand in the path."""
    return bool(LIKELY.search(path) and matches(path, DEPENDENCIES))


def key_of(*parts: str | Sequence[object]) -> str:
    """The same for the same parts, another one for any other: 16 hexadecimal digits."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


# --- what starts by itself -----------------------------------------------------------------------------------

HOOKS = "hooks"
OURS = ("pip", "setuptools", "wheel", "pytest", "coverage", "hypothesis")  # and what many a package brings along
WELL_KNOWN = (*OURS, "anyio", "faker", "typeguard")
NAMES = re.compile(r"[a-z0-9]+(?:[-_.]+[a-z0-9]+)*")


def undeclared(hooks: Iterable[tuple[str, str]], named: str) -> tuple[str, ...]:
    """Hooks that no package declares which the target's own files name, or which is well known; each in words."""
    known = {*map(package_name, NAMES.findall(named.lower())), *WELL_KNOWN}
    return tuple(
        f"{one_line(what, 200)} of {one_line(who, 100)}, which no file of yours names"
        if who
        else f"{one_line(what, 200)}, which no package declares as it is"
        for what, who in hooks
        if who not in known
    )


# --- environments of the tests: which one a commit needs, made if there is none ------------------------------


__all__ = ["INSTALL", "Environments", "Setup"]

VERSION = "2"  # part of each key: with another one all environments are built anew
MOST_ASKED = 1_000  # commits whose wishes are remembered
Asked = tuple[str, tuple[tuple[str, str], ...]]  # the command, and the files that say what is installed
MOST_TRIES = 2  # of one environment, as long as this process lives


@dataclass(frozen=True)
class Recipe:
    """Under which key an environment is kept, and from what it is made."""

    key: str
    commit: str
    command: str


class Environments:
    """`folder`: of ours, for the environments of one target. `print_progress`, `stop`: see Builder."""

    def __init__(
        self,
        box: Box,
        mirror: Mirror,
        folder: Path,
        setup: Setup,
        print_progress: Callable[[str], None] = lambda _line: None,
        stop: Callable[[], bool] = never,
    ) -> None:
        self._mirror, self._setup = mirror, setup
        self._store = EnvironmentStore(folder)
        self._builder = Builder(box, mirror, setup, print_progress, stop)
        self._version = ""
        self._failed: dict[str, list[str]] = {}
        self._asked: dict[str, Asked] = {}  # by commit, which never changes
        self._turn = threading.Lock()
        self._building: dict[str, threading.Lock] = {}  # by key: two that need the same one do not both build it

    def ready(self, commit: str) -> Environment:
        """Return what the commit's tests need; install it now if nobody has done so before.

        BrokenSetup: it cannot be built. Unavailable: the package index does not answer, or the build was stopped.
        Refused: the files cannot be laid out. Misconfigured: there is no such interpreter or folder of packages.
        """
        with self._turn:
            self._choose_python(commit)
            recipe = self._recipe(commit)
            building = self._building.setdefault(recipe.key, threading.Lock())
        with building:
            while (kept := self._store.take(recipe.key)) is None:
                self._add(recipe)
        offered = (Mount(self._setup.packages, PACKAGES),) if self._setup.packages else ()
        return Environment(recipe.key, (*self._setup.interpreter, Mount(kept / "env", ENV), *offered), SEEN)

    def _choose_python(self, commit: str) -> None:
        """Once: what one commit wants of its Python is what all get, as long as this process lives."""
        if (interpreters := self._setup.interpreters) is None:
            return
        survey, minor = self._survey(commit), sys.version_info.minor
        lacking, tested = lacking_python(survey, minor), tested_python(survey, minor)
        python = interpreters.chosen(f"3.{lacking}" if lacking else "", f"3.{tested}" if tested else "")
        self._setup = replace(self._setup, python=python, interpreters=None)
        self._builder = replace(self._builder, setup=self._setup)

    def _add(self, recipe: Recipe) -> None:
        failed = self._failed.setdefault(recipe.key, [])
        if len(failed) >= MOST_TRIES:
            raise BrokenSetup(failed[-1])
        try:
            self._store.add(recipe.key, lambda place: self._fill(recipe, place))
        except BrokenSetup as error:
            failed.append(str(error))
            raise

    def _fill(self, recipe: Recipe, place: Path) -> str:
        self._builder.build(recipe.commit, recipe.command, place)
        found = undeclared(self._builder.hooks(place), self._named(recipe.commit))
        write_text(place / HOOKS, "".join(f"{line}\n" for line in found))
        for line in found:
            self._builder.print_progress(f"{self._setup.name}: the tests' environment starts by itself: {line}")
        return f"{self._version}\ncommit {recipe.commit}\n{recipe.command}\n"

    def _recipe(self, commit: str) -> Recipe:
        """A commit that asks for what its parent asked for gets what its parent's files make; a merged one, its own.

        Whatever installs is code of the repository, and what it leaves has a say in the tests of many commits. So the
        files of a change are run here only if the change is about the environment; and then for these files alone.
        """
        command, files = self._asks_for(commit)
        self._version = self._version or f"{self._setup.program} {self._builder.version()}"
        made_from = (VERSION, self._version, command, files, self._wheels())
        parent = self._parent(commit)
        if parent is None or self._asks_for(parent) == (command, files):
            return Recipe(key_of(*made_from), parent or commit, command)
        alone = () if self._is_merged(commit) else (self._mirror.tree_id(commit),)
        return Recipe(key_of(*made_from, *alone), commit, command)

    def _is_merged(self, commit: str) -> bool:
        tip = self._mirror.head(self._setup.branch) if self._setup.branch else None
        return tip is not None and self._mirror.is_ancestor(commit, tip)

    def _asks_for(self, commit: str) -> Asked:
        if (asked := self._asked.get(commit)) is None:
            if len(self._asked) >= MOST_ASKED:
                self._asked.clear()
            asked = self._asked[commit] = self._read(commit)
        return asked

    def _read(self, commit: str) -> Asked:
        tree = self._mirror.tree(commit)
        command = self._setup.command.strip() or self._survey(commit).setup
        return command, dependency_files(tree, command)

    def _survey(self, commit: str) -> TargetSurvey:
        return survey_at(self._mirror, commit, self._setup.packages is not None, self._setup.roots)

    def _named(self, commit: str) -> str:
        """The text of all files that say what is installed, and the command."""
        command, files = self._asks_for(commit)
        texts = (self._mirror.read(commit, path) or b"" for path, _ in files)
        return "\n".join((command, *(text.decode("utf-8", "replace") for text in texts)))

    def _parent(self, commit: str) -> str | None:
        try:
            return self._mirror.parent(commit)
        except CommandFailed:  # the repository's first commit
            return None

    def _wheels(self) -> list[tuple[str, int, int]]:
        """List what the folder of packages offers: name, bytes, time."""
        folder = self._setup.packages
        if folder is None:
            return []
        try:
            with os.scandir(folder) as entries:
                return sorted((one.name, one.stat().st_size, one.stat().st_mtime_ns) for one in entries)
        except OSError as error:
            raise self._setup.wrong("packages", f"the folder {folder} cannot be read ({error.strerror})") from None
