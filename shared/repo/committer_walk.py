"""Door to a folder that a box could write. The only module that reads one.

The walk goes by descriptors, so that no path is resolved twice, and refuses what is not a plain file, a folder or a
link inside the tree. The box must have ended before it begins.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from shared.model.change import EXECUTABLE, LINK, ChangeLimits
from shared.model.errors import Refused
from shared.model.scope import reads_as_dot_git
from shared.repo.mirror_tree import CONTROL, checked_link

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

Skip = Callable[[str, bool], bool]  # (path, is it a folder?) -> leave it out


@dataclass(frozen=True)
class FoundFile:
    """A file as git would keep it; a link's data is its text."""

    path: str
    mode: str
    data: bytes


def walk(root: Path, skip: Skip, limits: ChangeLimits) -> Iterator[FoundFile]:
    """Every file below `root` in order, or Refused naming the file and the limit. The top-level `.git` is not ours."""
    try:
        top = os.open(root, FOLDER)
        try:
            yield from _Walk(skip, limits).visit(top, "", limits.depth)
        finally:
            os.close(top)
    except OSError as error:
        raise Refused(f"{error.filename or root.name}: cannot be read ({error.strerror})") from None


class _Walk:
    """What one walk has seen so far."""

    def __init__(self, skip: Skip, limits: ChangeLimits) -> None:
        self._skip = skip
        self._limits = limits
        self._deadline = time.monotonic() + limits.seconds
        self._entries = self._bytes = 0

    def visit(self, folder: int, prefix: str, depth: int) -> Iterator[FoundFile]:
        for name in sorted(os.listdir(folder)):
            self._count(prefix + _clean(name, prefix))
            if not prefix and name == ".git":
                continue
            if reads_as_dot_git(name):
                raise Refused(f"{prefix}{name}: a repository inside the repository")
            info = os.stat(name, dir_fd=folder, follow_symlinks=False)
            is_folder = stat.S_ISDIR(info.st_mode)
            if self._skip(prefix + name, is_folder):
                continue
            if not is_folder:
                yield self._file(folder, name, prefix + name, info)
                continue
            if not depth:
                raise Refused(f"{prefix}{name}: folders deeper than {self._limits.depth} (limit)")
            inner = os.open(name, FOLDER, dir_fd=folder)
            try:
                yield from self.visit(inner, f"{prefix}{name}/", depth - 1)
            finally:
                os.close(inner)

    def _count(self, path: str) -> None:
        self._entries += 1
        if self._entries > self._limits.entries:
            raise Refused(f"{path}: more than {self._limits.entries} files and folders (limit)")
        if time.monotonic() > self._deadline:
            raise Refused(f"{path}: reading the folder took longer than {self._limits.seconds:g} s (limit)")

    def _file(self, folder: int, name: str, path: str, info: os.stat_result) -> FoundFile:
        if stat.S_ISLNK(info.st_mode):
            return FoundFile(path, LINK, os.fsencode(checked_link(path, os.readlink(name, dir_fd=folder))))
        if not stat.S_ISREG(info.st_mode):
            raise Refused(f"{path}: neither a file nor a folder nor a link")
        with os.fdopen(os.open(name, FILE, dir_fd=folder), "rb", buffering=0) as source:
            return self._regular(source.fileno(), path)

    def _regular(self, descriptor: int, path: str) -> FoundFile:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode) or info.st_nlink > 1:
            raise Refused(f"{path}: a hard link")
        if info.st_size > self._limits.file_bytes:
            raise Refused(f"{path}: {info.st_size} bytes (limit {self._limits.file_bytes})")
        self._bytes += info.st_size
        if self._bytes > self._limits.tree_bytes:
            raise Refused(f"{path}: all files together take more than {self._limits.tree_bytes} bytes (limit)")
        data = os.read(descriptor, info.st_size)
        return FoundFile(path, EXECUTABLE if info.st_mode & stat.S_IXUSR else "100644", data)


def _clean(name: str, prefix: str) -> str:
    """A name that git, a terminal and a report can hold."""
    try:
        name.encode()  # one that is not UTF-8 arrives with lone surrogates
    except UnicodeEncodeError:
        raise Refused(f"{prefix}{os.fsencode(name)!r}: a file name that is not UTF-8") from None
    if CONTROL.search(name):
        raise Refused(f"{prefix}{name!r}: a control character in a file name")
    return name
