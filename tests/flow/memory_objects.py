"""What git keeps, in memory: blobs, trees and commits under their true names, and the merge of three texts."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import lru_cache

EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
FOLDER = "40000"

Files = Mapping[str, tuple[str, str]]  # path -> mode and blob
Span = tuple[int, int]


def hashed(kind: str, data: bytes) -> str:
    return hashlib.sha1(b"%s %d\0" % (kind.encode(), len(data)) + data, usedforsecurity=False).hexdigest()


@dataclass
class Objects:
    """The objects of one repository."""

    held: dict[str, tuple[str, bytes]] = field(default_factory=dict)

    def keep(self, kind: str, data: bytes) -> str:
        sha = hashed(kind, data)
        self.held[sha] = (kind, data)
        return sha

    def kind(self, sha: str) -> str | None:
        return self.held[sha][0] if sha in self.held else None

    def data(self, sha: str) -> bytes:
        return self.held[sha][1]

    def tree_of(self, sha: str) -> str:
        """The tree of a commit, or the tree itself."""
        return sha if self.kind(sha) == "tree" else _head(self.data(sha), "tree")[0]

    def parents(self, commit: str) -> list[str]:
        return _head(self.data(commit), "parent")

    def message(self, commit: str) -> bytes:
        return self.data(commit).partition(b"\n\n")[2]

    def subject(self, commit: str) -> str:
        first = self.message(commit).decode("utf-8", "replace").lstrip("\n").partition("\n\n")[0]
        return " ".join(first.split("\n")).strip()

    def date(self, commit: str) -> int:
        found = re.search(rb"^committer .*> (\d+) ", self.data(commit).partition(b"\n\n")[0], re.MULTILINE)
        return int(found[1]) if found else 0

    # -- trees ------------------------------------------------------------------------------------------------

    def files(self, sha: str) -> Files:
        """All files of a commit or a tree."""
        return dict(self._walk(self.tree_of(sha), ""))

    def _walk(self, tree: str, before: str) -> Iterator[tuple[str, tuple[str, str]]]:
        for mode, name, sha in _entries(self.data(tree)) if tree in self.held else ():
            if mode == FOLDER:
                yield from self._walk(sha, f"{before}{name}/")
            else:
                yield before + name, (mode, sha)

    def keep_tree(self, files: Files) -> str:
        """The tree with these files -> its name."""
        here: dict[str, tuple[str, str]] = {}
        below: dict[str, dict[str, tuple[str, str]]] = {}
        for path, found in files.items():
            name, is_deeper, rest = path.partition("/")
            if is_deeper:
                below.setdefault(name, {})[rest] = found
            else:
                here[name] = found
        here |= {name: (FOLDER, self.keep_tree(inner)) for name, inner in below.items()}
        ordered = sorted(here.items(), key=lambda one: one[0].encode() + (b"/" if one[1][0] == FOLDER else b""))
        return self.keep(
            "tree", b"".join(f"{mode} {name}\0".encode() + bytes.fromhex(sha) for name, (mode, sha) in ordered)
        )

    # -- history ----------------------------------------------------------------------------------------------

    def history(self, commit: str) -> dict[str, None]:
        """The commit and all before it, the newest first."""
        seen: dict[str, None] = {}
        waiting = [commit]
        while waiting:
            waiting.sort(key=self.date)
            newest = waiting.pop()
            if newest not in seen:
                seen[newest] = None
                waiting += self.parents(newest)
        return seen

    def merge_bases(self, one: str, other: str) -> list[str]:
        """The best common ancestors."""
        common = [sha for sha in self.history(one) if sha in self.history(other)]
        worse = {older for sha in common for older in self.history(sha) if older != sha}
        return [sha for sha in common if sha not in worse]

    def copy_to(self, other: Objects, sha: str) -> None:
        """The object, and all that it leads to."""
        if sha in other.held or sha not in self.held:
            return
        kind, data = self.held[sha]
        if kind == "commit":
            for inner in (self.tree_of(sha), *self.parents(sha)):
                self.copy_to(other, inner)
        elif kind == "tree":
            for _, _, inner in _entries(data):
                self.copy_to(other, inner)
        other.held[sha] = (kind, data)

    # -- both together ----------------------------------------------------------------------------------------

    def merged(self, ours: str, theirs: str) -> tuple[str, list[str]]:
        """The tree of two commits, and the paths that conflict. A renamed file is one deleted and one added."""
        (base, *_) = [*self.merge_bases(ours, theirs), ""]
        old, mine, yours = ({} if not sha else self.files(sha) for sha in (base, ours, theirs))
        result: dict[str, tuple[str, str]] = {}
        conflicts: list[str] = []
        for path in sorted({*old, *mine, *yours}, key=str.encode):
            was, a, b = old.get(path), mine.get(path), yours.get(path)
            found = a if b in (was, a) else b if a == was else self._both(was, a, b)
            if found is None and not (b is None and a in (was, None)) and not (a is None and b == was):
                conflicts.append(path)
                found = a or b
            if found:
                result[path] = found
        return self.keep_tree(result), conflicts

    def _both(
        self, was: tuple[str, str] | None, a: tuple[str, str] | None, b: tuple[str, str] | None
    ) -> tuple[str, str] | None:
        """None: they conflict."""
        if not a or not b or a[0] != b[0]:
            return None
        old = self.data(was[1]) if was else b""
        text = merged_text(*(data.splitlines(keepends=True) for data in (old, self.data(a[1]), self.data(b[1]))))
        return None if text is None else (a[0], self.keep("blob", b"".join(text)))


def _head(data: bytes, name: str) -> list[str]:
    head = data.partition(b"\n\n")[0]
    return [sha.decode() for sha in re.findall(rb"^%s ([0-9a-f]{40})$" % name.encode(), head, re.MULTILINE)]


@lru_cache(1_000)
def _entries(data: bytes) -> tuple[tuple[str, str, str], ...]:
    """Mode, name and sha of each entry of a tree."""
    found, at = [], 0
    while at < len(data):
        blank, end = data.index(b" ", at), data.index(b"\0", at)
        found.append((data[at:blank].decode(), data[blank + 1 : end].decode(), data[end + 1 : end + 21].hex()))
        at = end + 21
    return tuple(found)


# --- three texts ---------------------------------------------------------------------------------------------


def merged_text(base: Sequence[bytes], ours: Sequence[bytes], theirs: Sequence[bytes]) -> list[bytes] | None:
    """The lines of both changes; None: they touch each other and are not the same."""
    result: list[bytes] = []
    at_base = at_ours = at_theirs = 0
    for base_span, ours_span, theirs_span in _in_common(base, ours, theirs):
        old = base[at_base : base_span[0]]
        mine, yours = ours[at_ours : ours_span[0]], theirs[at_theirs : theirs_span[0]]
        if mine != yours and old not in (mine, yours):
            return None
        result += mine if yours in (old, mine) else yours
        result += base[slice(*base_span)]
        at_base, at_ours, at_theirs = base_span[1], ours_span[1], theirs_span[1]
    return result


def _in_common(
    base: Sequence[bytes], ours: Sequence[bytes], theirs: Sequence[bytes]
) -> Iterator[tuple[Span, Span, Span]]:
    """Runs of lines that all three hold, in order; the last one is the empty end."""
    mine = SequenceMatcher(None, base, ours, autojunk=False).get_matching_blocks()
    yours = SequenceMatcher(None, base, theirs, autojunk=False).get_matching_blocks()
    for a in mine:
        for b in yours:
            begin, end = max(a.a, b.a), min(a.a + a.size, b.a + b.size)
            if begin < end:
                size, left, right = end - begin, a.b + begin - a.a, b.b + begin - b.a
                yield (begin, end), (left, left + size), (right, right + size)
    yield (len(base), len(base)), (len(ours), len(ours)), (len(theirs), len(theirs))
