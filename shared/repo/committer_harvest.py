"""Door to what a box left behind. The only module that compares a folder with a commit."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from shared.model.change import SUBMODULE, ChangeLimits
from shared.model.errors import Refused
from shared.repo.committer_ignore import GitIgnore
from shared.repo.committer_walk import FoundFile, walk
from shared.repo.mirror_tree import TreeEntry, contents
from shared.repo.objects import Repository


@dataclass(frozen=True)
class Harvest:
    """The files that the commit does not hold so, and the commit's paths that are gone."""

    altered: tuple[FoundFile, ...]
    missing: tuple[str, ...]


def harvest(repository: Repository, folder: Path, base: Sequence[TreeEntry], limits: ChangeLimits) -> Harvest:
    """Which files of `folder` differ from the commit whose files are `base`. Refused names file and limit.

    A path that the commit tracks is always compared; others are left out if the commit's own .gitignore says so.
    """
    tracked = {entry.path: entry for entry in base}
    for entry in base:
        if entry.mode == SUBMODULE:
            raise Refused(f"{entry.path}: a submodule: not supported")
    skip = _Skip(tracked, GitIgnore(_ignore_files(repository, base)))
    seen: set[str] = set()
    altered: list[FoundFile] = []
    for found in walk(folder, skip, limits):
        seen.add(found.path)
        if not _is_same(found, tracked.get(found.path)):
            altered.append(found)
            _check_amount(altered, limits)
    return Harvest(tuple(altered), tuple(path for path in tracked if path not in seen))


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
    """What the walk leaves out: untracked paths that are ignored, and folders that hold nothing else."""

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
