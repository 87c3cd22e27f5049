"""Environments of the tests: which one a commit needs, made if there is none.

It is kept under a key made of all that decides what is in it: the interpreter, the set-up command, the files that say
what is installed, the packages that are offered. It is read-only for the tests.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sisimpur.agents.qa.runner.environment_build import ENV, INSTALL, SEEN, Builder, Setup
from sisimpur.agents.qa.runner.environment_store import EnvironmentStore, default_setup, dependency_files, key_of
from sisimpur.agents.qa.runner.suite import PACKAGES, Environment
from sisimpur.shared.model.errors import BrokenSetup, CommandFailed
from sisimpur.shared.repo.mirror import Mirror
from sisimpur.shared.sandbox.box import Box, Mount
from sisimpur.shared.sandbox.bubblewrap import never

__all__ = ["INSTALL", "Environments", "Setup"]

VERSION = "1"  # part of each key: with another one all environments are built anew
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
        self._turn = threading.Lock()  # two that need the same one do not both build it

    def ready(self, commit: str) -> Environment:
        """Return what the commit's tests need; install it now if nobody has done so before.

        BrokenSetup: it cannot be built. Unavailable: the package index does not answer, or the build was stopped.
        Refused: the files cannot be laid out. Misconfigured: there is no such interpreter or folder of packages.
        """
        with self._turn:
            recipe = self._recipe(commit)
            while (kept := self._store.take(recipe.key)) is None:
                self._add(recipe)
        offered = (Mount(self._setup.packages, PACKAGES),) if self._setup.packages else ()
        return Environment(recipe.key, (*self._setup.interpreter, Mount(kept / "env", ENV), *offered), SEEN)

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
        return f"{self._version}\ncommit {recipe.commit}\n{recipe.command}\n"

    def _recipe(self, commit: str) -> Recipe:
        """A commit that asks for what its parent asked for gets what its parent's files make.

        Whatever installs is code of the repository, and what it leaves has a say in the tests of many commits. So the
        files of a change are run here only if the change is about the environment; and then for these files alone.
        """
        command, files = self._asks_for(commit)
        self._version = self._version or f"{self._setup.program} {self._builder.version()}"
        made_from = (VERSION, self._version, command, files, self._wheels())
        parent = self._parent(commit)
        if parent is None or self._asks_for(parent) == (command, files):
            return Recipe(key_of(*made_from), parent or commit, command)
        return Recipe(key_of(*made_from, self._mirror.tree_id(commit)), commit, command)

    def _asks_for(self, commit: str) -> tuple[str, tuple[tuple[str, str], ...]]:
        tree = self._mirror.tree(commit)
        pyproject = self._mirror.read(commit, "pyproject.toml") or b""
        paths = (entry.path for entry in tree)
        command = self._setup.command.strip() or default_setup(paths, pyproject.decode("utf-8", "replace"))
        return command, dependency_files(tree, command)

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
