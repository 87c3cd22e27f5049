"""Trees: check-outs of the target that stay, for many runs to read and none to write.

    scratch/trees-*/<n>    all files of one commit, owned by the box's user; a box writes over them, not on them

A run whose commit differs from a kept one in a few files shares that one, and gets these few besides.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from threading import Lock

from sisimpur.shared.model.change import ChangeLimits
from sisimpur.shared.repo.mirror import Mirror
from sisimpur.shared.repo.mirror_tree import TreeEntry, difference
from sisimpur.shared.sandbox.box import hand_over
from sisimpur.shared.sandbox.box_job import MB
from sisimpur.shared.system.paths import remove_folder

KEPT = 3  # trees, and those in use
MOST_DIFFERENT = 500  # files, in which a commit may differ from the tree that it shares
MOST_BYTES = 16 * MB  # of these files


@dataclass
class KeptTree:
    """A kept check-out. `users`: the runs that see it now."""

    commit: str
    folder: Path
    users: int = 0


@dataclass(frozen=True)
class Near:
    """What a run starts from: a kept folder, what is to be written over it, and the paths that are to go."""

    folder: Path
    written: Sequence[TreeEntry]
    gone: Sequence[str]

    @property
    def is_near(self) -> bool:
        few = len(self.written) + len(self.gone) <= MOST_DIFFERENT
        return few and sum(entry.size for entry in self.written) <= MOST_BYTES


@dataclass
class Trees:
    """`scratch`: a folder of ours. `limits`: of each tree."""

    mirror: Mirror
    scratch: Path
    limits: ChangeLimits
    _kept: list[KeptTree] = field(default_factory=list)  # the one used last at the end
    _names: Iterator[int] = field(default_factory=count)
    _place: Path | None = None
    _turn: Lock = field(default_factory=Lock)  # two that need the same one do not both write it

    @contextmanager
    def near(self, commit: str) -> Iterator[Near]:
        """The kept tree that the commit is like, or a new one; it stays while it is in use. Refused: see check_out."""
        with self._turn:
            tree, near = self._nearest(commit) or self._new(commit)
            self._kept.remove(tree)
            self._kept.append(tree)
            tree.users += 1
            self._retire()
        try:
            yield near
        finally:
            with self._turn:
                tree.users -= 1

    def close(self) -> None:
        """Remove them all. Nobody may use one any more."""
        with self._turn:
            self._kept.clear()
            if self._place is not None:
                remove_folder(self._place)
                self._place = None

    def _nearest(self, commit: str) -> tuple[KeptTree, Near] | None:
        for tree in reversed(self._kept):
            near = Near(tree.folder, *difference(self._files(tree.commit), self._files(commit)))
            if near.is_near and tree.folder.is_dir():  # somebody may have emptied the folder
                return tree, near
        return None

    def _files(self, commit: str) -> Sequence[TreeEntry]:
        """Those that are laid out."""
        return self.mirror.laid_out(commit, self.limits)[0]

    def _new(self, commit: str) -> tuple[KeptTree, Near]:
        if self._place is None:
            self.scratch.mkdir(parents=True, exist_ok=True)
            self._place = Path(tempfile.mkdtemp(prefix="trees-", dir=self.scratch))
        tree = KeptTree(commit, self._place / str(next(self._names)))
        try:
            self.mirror.check_out_all(commit, tree.folder, self.limits)
            hand_over(tree.folder)
        except BaseException:
            remove_folder(tree.folder)
            raise
        self._kept.append(tree)
        return tree, Near(tree.folder, (), ())

    def _retire(self) -> None:
        """All but the newest, unless somebody uses them: what lies under a box must not change."""
        for tree in self._kept[:-KEPT]:
            if not tree.users:
                self._kept.remove(tree)
                remove_folder(tree.folder)
