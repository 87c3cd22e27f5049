"""Door to what a run of Aider finds. The only module that lays out its folders, and puts back what was in the way."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from agents.coder.engine import aider_command
from agents.coder.engine.engine import EngineJob, named_files
from shared.model.errors import Refused
from shared.sandbox.box import Mount, hand_over
from shared.system.paths import remove_folder

CODE = "/run/engine/code"  # as a box sees it
GIT = {"HEAD": "ref: refs/heads/main\n", "config": "[user]\n\tname = Coder\n\temail = coder@localhost\n"}


@dataclass(frozen=True)
class Given:
    """A run's folders: our files, the launcher's result, its home."""

    files: Path
    result: Path
    home: Path


def line_ends(job: EngineJob) -> str:
    """The line ends to write, or Refused: Aider cannot be given this task."""
    for path in (*job.edit, *job.read):
        if aider_command.reserved(path):
            raise Refused(f"{path}: is never given to a model; it may hold keys, or settings of the engine itself")
    files = named_files(job)
    return aider_command.line_ends({path: files[path] for path in job.edit})


def lay_out(place: Path, job: EngineJob) -> Given:
    """Make all that a run needs in `place` (ours, empty) and in the task's folder, and give it to the box's user.

    Aider wants a .git and gets a throw-away one: an empty repository that tracks nothing, so that no file is sent to
    the model because somebody mentions it.
    """
    given = Given(place / "given", place / "result", place / "home")
    _write(given.files, aider_command.files(job))
    _write(given.result, {})
    _write(given.home, {})
    _throw_away_git(job.folder)
    for folder in (given.files, given.result, given.home, job.folder):
        hand_over(folder)
    return given


def code_mounts(program: Path, *modules: Path) -> tuple[Mount, ...]:
    """A program of ours at CODE, and beside it what it imports, under the names that it has here."""
    root = Path(__file__).parents[3]
    imported = (root / "shared" / "model", *modules)
    beside = (Mount(path, f"{CODE}/{path.relative_to(root)}") for path in imported)
    return Mount(program, f"{CODE}/{program.name}"), *beside


@contextmanager
def set_aside(folder: Path, names: tuple[str, ...], place: Path) -> Iterator[None]:
    """These files lie in `place` meanwhile. What then stands under their names is removed. Refused: not plain files."""
    for name in names:
        if not stat.S_ISREG((folder / name).lstat().st_mode):
            raise Refused(f"{name!r} is not a plain file; it cannot be kept from the engine")
    place.mkdir(mode=0o700)
    for name in names:
        os.rename(folder / name, place / name)
    try:
        yield
    finally:
        for name in names:
            remove_folder(folder / name)
            os.rename(place / name, folder / name)


def _write(folder: Path, files: dict[str, str]) -> None:
    folder.mkdir()
    for name, text in files.items():
        try:
            (folder / name).write_text(text, "utf-8", newline="\n")
        except UnicodeEncodeError:
            raise Refused("the task's text is not valid text (half of a surrogate pair)") from None


def _throw_away_git(folder: Path) -> None:
    """The least that git takes for a repository, without running git."""
    for inside in ("objects", "refs"):
        os.makedirs(folder / ".git" / inside)
    for name, text in GIT.items():
        (folder / ".git" / name).write_text(text, "ascii")
