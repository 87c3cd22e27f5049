"""Differences between two commits: the paths with their modes, the lines that were added, and the whole patch.

They never change, so each is asked of git once while it is remembered, by whoever asks first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from sisimpur.shared.model.change import SUBMODULE, Change
from sisimpur.shared.model.errors import CommandFailed
from sisimpur.shared.repo.git import LIMIT
from sisimpur.shared.repo.mirror_tree import TreeEntry, commit_id, contents, utf8
from sisimpur.shared.repo.objects import Repository

SWITCHES = ("-r", "--text", "--no-ext-diff", "--no-textconv", "--no-renames", "--no-color")
CLOSE = ("-U0", "--full-index", "--irreversible-delete")  # what was added, and nothing around it
INDEX = re.compile(rb"index ([0-9a-f]+)\.\.([0-9a-f]+)")
HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
NO_MODE, NO_BLOB = "000000", "0" * 40
EMPTY_BLOB = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"

Lines = tuple[tuple[int, str], ...]
Row = tuple[str, str, str, str, str]  # path, modes before and now (empty: no file), blobs before and now


def diff(repository: Repository, old: str, new: str, limit: int = LIMIT) -> bytes:
    """The whole change as a patch. Bytes: it may be binary. CommandFailed beyond `limit` bytes."""
    words = ("-p", *SWITCHES, *_trees(repository, old, new))
    patch = repository.answers.once(words, lambda: repository.git("diff-tree", *words, limit=limit), len)
    if len(patch) > limit:
        raise CommandFailed(f"git diff-tree: the answer is longer than {limit} bytes")
    return patch


def changed(repository: Repository, old: str, new: str) -> tuple[Change, ...]:
    """One Change for each path that differs, in git's order. Refused if a name is not UTF-8."""
    words = ("--raw", "-p", "-z", *CLOSE, *SWITCHES, *_trees(repository, old, new))

    def ask() -> tuple[Change, ...]:
        return _changed(repository, repository.git("diff-tree", *words))

    return repository.answers.once(words, ask, _size)


def paths(repository: Repository, old: str, new: str) -> set[str]:
    """All that differ."""
    return {change.path for change in changed(repository, old, new)}


def _trees(repository: Repository, old: str, new: str) -> list[str]:
    """The ids of their trees: a change that was only brought elsewhere, as in a stack, is not asked about again."""
    return [repository.one(f"{commit_id(sha)}^{{tree}}") for sha in (old, new)]


def _changed(repository: Repository, answer: bytes) -> tuple[Change, ...]:
    rows, patch = _read(answer)
    added, binary = _added_lines(patch), _binary(repository, rows)
    return tuple(
        Change(
            path=path,
            kind="added" if not mode_old else "modified" if mode_new else "deleted",
            mode_old=mode_old,
            mode_new=mode_new,
            binary=path in binary,
            emptied=blob_new == EMPTY_BLOB and blob_old not in (NO_BLOB, EMPTY_BLOB),
            # a file that becomes a link is shown as one deleted and one added
            added_lines=added.get((blob_old, blob_new)) or added.get((NO_BLOB, blob_new), ()),
        )
        for path, mode_old, mode_new, blob_old, blob_new in rows
    )


def _size(changes: tuple[Change, ...]) -> int:
    """About so many bytes."""
    return sum(500 + sum(100 + len(text) for _, text in change.added_lines) for change in changes)


def _read(answer: bytes) -> tuple[list[Row], bytes]:
    """Rows, each a head and a path that end with NUL; one more NUL; the patch."""
    rows, at = [], 0
    while answer.startswith(b":", at):
        end = answer.index(b"\0", at)
        after = answer.index(b"\0", end + 1)
        mode_old, mode_new, blob_old, blob_new, _ = answer[at + 1 : end].decode().split()
        path = utf8(answer[end + 1 : after])
        rows.append((path, mode_old.replace(NO_MODE, ""), mode_new.replace(NO_MODE, ""), blob_old, blob_new))
        at = after + 1
    return rows, answer[at + 1 :]


def _binary(repository: Repository, rows: Iterable[Row]) -> set[str]:
    """The paths of new files that are no text."""
    new = [(path, mode, blob) for path, _, mode, _, blob in rows if mode not in ("", SUBMODULE)]
    sizes = [found.size if found else 0 for found in repository.find(blob for _, _, blob in new)]
    entries = (TreeEntry(mode, path, size, blob) for (path, mode, blob), size in zip(new, sizes, strict=True))
    return {entry.path for entry, data in contents(repository, entries) if not _is_text(data)}


def _is_text(data: bytes) -> bool:
    try:
        return "\0" not in data.decode()
    except UnicodeDecodeError:
        return False


# --- reading a patch -----------------------------------------------------------------------------------------


def _added_lines(patch: bytes) -> dict[tuple[str, str], Lines]:
    """The added lines of each (old blob, new blob). Deleted files are not shown: nothing is added there."""
    lines = iter(patch.split(b"\n"))
    found: dict[tuple[str, str], list[tuple[int, str]]] = {}
    blobs = ("", "")
    for line in lines:
        if head := INDEX.match(line):
            blobs = (head[1].decode(), head[2].decode())
            found[blobs] = []
        elif hunk := HUNK.match(line):
            found[blobs] += _hunk(lines, int(hunk[1] or 1), int(hunk[2]), int(hunk[3] or 1))
    return {blobs: tuple(added) for blobs, added in found.items()}


def _hunk(lines: Iterator[bytes], removed: int, first: int, added: int) -> Iterator[tuple[int, str]]:
    """Read its added lines. No line can be mistaken for a head, since the lines are counted."""
    while removed or added:
        line = next(lines)
        if line.startswith(b"-"):
            removed -= 1
        elif line.startswith(b"+"):
            added -= 1
            yield first, line[1:].decode("utf-8", "replace")
            first += 1
