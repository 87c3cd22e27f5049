"""Differences between two commits: the paths with their modes, the lines that were added, and the whole patch.

They never change, so each is asked of git once while it is remembered, by whoever asks first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from sisimpur.shared.model.change import SUBMODULE, Change
from sisimpur.shared.model.errors import CommandFailed
from sisimpur.shared.model.scope import other_names
from sisimpur.shared.repo.git import LIMIT
from sisimpur.shared.repo.mirror_tree import TreeEntry, commit_id, contents, links, tree, utf8
from sisimpur.shared.repo.objects import Repository

SWITCHES = ("-r", "--text", "--no-ext-diff", "--no-textconv", "--no-renames", "--no-color")
CLOSE = ("-U0", "--full-index", "--irreversible-delete")  # what was added, and nothing around it
BEGIN = b"diff --git "  # of what a patch says of one file
HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
NO_MODE, NO_BLOB = "000000", "0" * 40
EMPTY_BLOB = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"

Lines = tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class _Row:
    """A path that differs. The modes before and now, empty where there is no file; the blobs."""

    path: str
    mode_old: str
    mode_new: str
    blob_old: str
    blob_new: str
    sections: int  # of the patch: a file that becomes a link is shown as one deleted and one added


def diff(repository: Repository, old: str, new: str, limit: int = LIMIT) -> bytes:
    """The whole change as a patch. Bytes: it may be binary. CommandFailed beyond `limit` bytes."""
    _, patch = _whole(repository, _trees(repository, old, new))
    if len(patch) > limit:
        raise CommandFailed(f"git diff-tree: the answer is longer than {limit} bytes")
    return patch


def changed(repository: Repository, old: str, new: str) -> tuple[Change, ...]:
    """One Change for each path that differs, in git's order. Refused if a name is not UTF-8."""
    trees = _trees(repository, old, new)

    def ask() -> tuple[Change, ...]:
        leads = links(repository, tree(repository, trees[0]))
        try:
            rows, patch = _whole(repository, trees)
        except CommandFailed:  # it may be too long by what it takes away
            rows, patch = _parted(repository.git("diff-tree", "--raw", "-p", *CLOSE, *SWITCHES, *trees))
        return _changed(repository, _rows(rows), patch, leads)

    return repository.answers.once(("changed", *trees), ask, _size)


def _whole(repository: Repository, trees: Sequence[str]) -> tuple[bytes, bytes]:
    """(a line for each path, the patch): whoever wants the one mostly wants the other, and git is started once."""
    words = ("--raw", "-p", *SWITCHES, *trees)
    return repository.answers.once(
        words, lambda: _parted(repository.git("diff-tree", *words)), lambda parts: sum(map(len, parts))
    )


def _parted(answer: bytes) -> tuple[bytes, bytes]:
    """Lines that begin with a colon; an empty one; the patch."""
    rows, _, patch = answer.partition(b"\n\n")
    return rows, patch


def paths(repository: Repository, old: str, new: str) -> set[str]:
    """All that differ."""
    return {change.path for change in changed(repository, old, new)}


def _trees(repository: Repository, old: str, new: str) -> list[str]:
    """The ids of their trees: a change that was only brought elsewhere, as in a stack, is not asked about again."""
    return [repository.one(f"{commit_id(sha)}^{{tree}}") for sha in (old, new)]


def _changed(
    repository: Repository, rows: Sequence[_Row], patch: bytes, leads: Mapping[str, str]
) -> tuple[Change, ...]:
    added, binary = _added_lines(patch), _binary(repository, rows)
    if len(added) != sum(row.sections for row in rows):
        raise CommandFailed("git diff-tree: its patch is not of the files that it names")
    parts = iter(added)
    return tuple(
        Change(
            path=row.path,
            kind="added" if not row.mode_old else "modified" if row.mode_new else "deleted",
            mode_old=row.mode_old,
            mode_new=row.mode_new,
            binary=row.path in binary,
            emptied=row.blob_new == EMPTY_BLOB and row.blob_old not in (NO_BLOB, EMPTY_BLOB),
            added_lines=tuple(chain.from_iterable(islice(parts, row.sections))),
            also=other_names(row.path, leads) if leads else (),
        )
        for row in rows
    )


def _size(changes: tuple[Change, ...]) -> int:
    """About so many bytes."""
    return sum(500 + sum(100 + len(text) for _, text in change.added_lines) for change in changes)


def _rows(lines: bytes) -> list[_Row]:
    rows = []
    for head, _, path in (line.partition(b"\t") for line in lines.splitlines()):
        mode_old, mode_new, blob_old, blob_new, letter = head[1:].decode().split()
        modes = mode_old.replace(NO_MODE, ""), mode_new.replace(NO_MODE, "")
        rows.append(_Row(_path(path), *modes, blob_old, blob_new, 2 if letter == "T" else 1))
    return rows


def _path(shown: bytes) -> str:
    """Read a path as git shows it: what is no plain letter stands in quotes, as in C."""
    return utf8(shown[1:-1].decode("unicode_escape").encode("latin-1") if shown.startswith(b'"') else shown)


def _binary(repository: Repository, rows: Iterable[_Row]) -> set[str]:
    """The paths of new files that are no text."""
    new = [(row.path, row.mode_new, row.blob_new) for row in rows if row.mode_new not in ("", SUBMODULE)]
    sizes = [found.size if found else 0 for found in repository.find(blob for _, _, blob in new)]
    entries = (TreeEntry(mode, path, size, blob) for (path, mode, blob), size in zip(new, sizes, strict=True))
    return {entry.path for entry, data in contents(repository, entries) if not _is_text(data)}


def _is_text(data: bytes) -> bool:
    try:
        return "\0" not in data.decode()
    except UnicodeDecodeError:
        return False


# --- reading a patch -----------------------------------------------------------------------------------------


def _added_lines(patch: bytes) -> list[Lines]:
    """The added lines of each file, in the order of the patch."""
    lines = iter(patch.split(b"\n"))
    found: list[list[tuple[int, str]]] = []
    for line in lines:
        if line.startswith(BEGIN):
            found.append([])
        elif hunk := HUNK.match(line):
            found[-1] += _hunk(lines, int(hunk[1] or 1), int(hunk[2]), int(hunk[3] or 1))
    return [tuple(added) for added in found]


def _hunk(lines: Iterator[bytes], removed: int, first: int, added: int) -> Iterator[tuple[int, str]]:
    """Read its added lines. No line can be mistaken for a head, since the lines are counted."""
    while removed or added:
        line = next(lines)
        removed -= line.startswith((b"-", b" "))
        added -= line.startswith((b"+", b" "))
        if line.startswith(b"+"):
            yield first, line[1:].decode("utf-8", "replace")
        first += line.startswith((b"+", b" "))
