"""Overlay: lays files over those of a commit in a laid-out tree."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from shared.model.errors import Refused
from shared.model.scope import reads_as_dot_git

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def lay(files: Mapping[str, bytes | None], folder: Path) -> None:
    """Replace, add, and (None) remove files below `folder`; one that was executable stays so.

    Refused: a path that leaves the folder, or that leads through a link or a file of the commit.
    """
    for path, data in sorted(files.items()):
        try:
            _lay(path, data, folder)
        except (OSError, UnicodeEncodeError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "not a name for a file"
            raise Refused(f"{path[:200]!r} cannot be laid over the commit: {reason}") from None


def _lay(path: str, data: bytes | None, folder: Path) -> None:
    *parents, name = path.split("/")
    for part in (*parents, name):
        if part in ("", ".", "..") or reads_as_dot_git(part):
            raise ValueError(part)
    absent = () if data is not None else (FileNotFoundError,)
    with suppress(*absent):
        parent = _opened(parents, folder, make=data is not None)
        try:
            _replace(name, data, parent)
        finally:
            os.close(parent)


def _opened(parents: list[str], folder: Path, make: bool) -> int:
    """The folder that the path leads to, one step at a time."""
    here = os.open(folder, FOLDER)
    for part in parents:
        try:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(part, 0o755, dir_fd=here)
            inner = os.open(part, FOLDER, dir_fd=here)
        finally:
            os.close(here)
        here = inner
    return here


def _replace(name: str, data: bytes | None, parent: int) -> None:
    mode = 0o644
    with suppress(FileNotFoundError):
        mode = _mode(os.stat(name, dir_fd=parent, follow_symlinks=False))
        os.unlink(name, dir_fd=parent)
    if data is not None:
        with os.fdopen(os.open(name, NEW, mode, dir_fd=parent), "wb") as file:
            file.write(data)


def _mode(seen: os.stat_result) -> int:
    executable = stat.S_ISREG(seen.st_mode) and seen.st_mode & 0o100
    return 0o755 if executable else 0o644
