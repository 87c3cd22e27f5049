"""Harvest of a box: the plain files of its folder, without what .gitignore hides, compared with a commit.

The walk goes by descriptors, so that no path is resolved twice, and refuses what is not a plain file, a folder or a
link inside the tree. The box must have ended before it begins. The .gitignore files are those of the commit, never
those of the folder: a box can neither hide a file nor bring one in by editing them.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sisimpur.shared.model.change import EXECUTABLE, LINK, ChangeLimits
from sisimpur.shared.model.errors import Refused
from sisimpur.shared.model.scope import names, reads_as_dot_git
from sisimpur.shared.repo.mirror_tree import CONTROL, LargeFiles, TreeEntry, checked_link, contents, left_alone
from sisimpur.shared.repo.objects import Repository

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
    """Walk, and what it has seen so far."""

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


# --- what is ignored ------------------------------------------------------------------------------------------

# What programs leave behind; a target need not list it. What its base tracks stays tracked all the same.
LEFTOVERS = ("__pycache__/", "*.pyc", ".pytest_cache/", ".mypy_cache/", ".ruff_cache/", ".aider*", ".DS_Store")
MOST_BYTES = 100_000  # of one file; a longer one hides nothing


class GitIgnore:
    """Asked from the top down: a folder first, and what is in it only if the folder is not ignored."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        """`files`: folder ("" is the top) -> content of its .gitignore."""
        self._lines = {folder: _lines(data) for folder, data in files.items()}

    def __call__(self, path: str, is_folder: bool) -> bool:
        """Tell whether git would leave out this path if nobody tracked it."""
        if any(names(path, is_folder, pattern) for pattern in LEFTOVERS):
            return True
        folder = path
        while folder:  # the nearest .gitignore that says something decides
            folder = folder.rpartition("/")[0]
            below = path[len(folder) :].lstrip("/")
            said = _last_word(below, is_folder, self._lines.get(folder, ()))
            if said is not None:
                return said
        return False


def _last_word(path: str, is_folder: bool, lines: Sequence[str]) -> bool | None:
    """Return what the last line that means this path says; None: no line does."""
    for line in reversed(lines):
        if names(path, is_folder, line.removeprefix("!")):
            return not line.startswith("!")
    return None


def _lines(data: bytes) -> list[str]:
    text = data.decode("utf-8", "replace") if len(data) <= MOST_BYTES else ""
    lines = (_without_blanks(line.removesuffix("\r")) for line in text.split("\n"))
    return [line for line in lines if line and not line.startswith("#")]


def _without_blanks(line: str) -> str:
    """Blanks at the end do not count, but for one that is escaped."""
    bare = line.rstrip(" ")
    slashes = len(bare) - len(bare.rstrip("\\"))
    return line[: len(bare) + slashes % 2]


# --- the harvest ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Harvest:
    """The files that the commit does not hold so, and the commit's paths that are gone."""

    altered: tuple[FoundFile, ...]
    missing: tuple[str, ...]


def harvest(repository: Repository, folder: Path, base: Sequence[TreeEntry], limits: ChangeLimits) -> Harvest:
    """List the files of `folder` that differ from the commit whose files are `base`. Refused names file and limit.

    A path that the commit tracks is always compared; others are left out if the commit's own .gitignore says so.
    """
    tracked = {entry.path: entry for entry in base}
    left = left_alone(repository, base, limits)
    skip = _Skip(tracked, GitIgnore(_ignore_files(repository, base)))
    seen: set[str] = set()
    altered: list[FoundFile] = []
    for found in walk(folder, skip, limits):
        seen.add(found.path)
        if above := next((path for path in (found.path, *_folders(found.path)) if path in left), ""):
            raise Refused(f"{found.path}: {left[above]}: it was left alone, and stays as it is")
        if not _is_same(found, tracked.get(found.path)):
            altered.append(found)
            _check_amount(altered, limits)
    if altered:
        kept = LargeFiles.of(repository, base)
        if path := next((found.path for found in altered if kept.keep(found.path)), ""):
            raise Refused(f"{path}: Git LFS keeps such files (filter=lfs): it stays as it is")
    return Harvest(tuple(altered), tuple(path for path in tracked if path not in seen and path not in left))


def _is_same(found: FoundFile, entry: TreeEntry | None) -> bool:
    if entry is None or entry.mode != found.mode or entry.size != len(found.data):
        return False
    blob = hashlib.sha1(b"blob %d\0" % len(found.data), usedforsecurity=False)
    blob.update(found.data)
    return blob.hexdigest() == entry.blob


def _check_amount(altered: Sequence[FoundFile], limits: ChangeLimits) -> None:
    """Already during the walk: what a box wrote must not fill our memory."""
    path = altered[-1].path
    if len(altered) > limits.files:
        raise Refused(f"{path}: more than {limits.files} files changed (limit)")
    if sum(len(found.data) for found in altered) > limits.changed_bytes:
        raise Refused(f"{path}: the changed files take more than {limits.changed_bytes} bytes (limit)")


def _ignore_files(repository: Repository, base: Sequence[TreeEntry]) -> dict[str, bytes]:
    names = [entry for entry in base if entry.path.rpartition("/")[2] == ".gitignore"]
    return {entry.path.rpartition("/")[0]: data for entry, data in contents(repository, names)}


class _Skip:
    """Rule of what the walk leaves out: untracked paths that are ignored, and folders that hold nothing else."""

    def __init__(self, tracked: Mapping[str, TreeEntry], ignored: GitIgnore) -> None:
        self._tracked = tracked
        self._ignored = ignored
        self._folders = {folder for path in tracked for folder in _folders(path)}
        self._hidden: set[str] = set()  # ignored folders that are entered for what is tracked in them

    def __call__(self, path: str, is_folder: bool) -> bool:
        if not is_folder and path in self._tracked:
            return False
        ignored = path.rpartition("/")[0] in self._hidden or self._ignored(path, is_folder)
        if ignored and is_folder and path in self._folders:
            self._hidden.add(path)
            return False
        return ignored


def _folders(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[:end]) for end in range(1, len(parts) + 1)]
