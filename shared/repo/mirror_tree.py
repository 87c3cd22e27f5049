"""Door to a commit's files. The only module that lists them, reads them, and writes them out as plain files.

Exact bytes: no filter, no line-end rule and no attribute applies, whatever the repository asks for.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from sisimpur.shared.model.change import EXECUTABLE, LINK, SUBMODULE, Change, ChangeLimits
from sisimpur.shared.model.errors import Refused
from sisimpur.shared.model.scope import reads_as_dot_git
from sisimpur.shared.repo.git import LIMIT
from sisimpur.shared.repo.objects import Repository
from sisimpur.shared.system.fault import fault_point
from sisimpur.shared.system.keeping import is_scattered

AT_ONCE = 32_000_000  # bytes of files that are asked for in one go
CONTROL = re.compile(r"[\x00-\x1f\x7f]")
LFS = re.compile(rb"^[^#\n]*\sfilter=lfs\b", re.MULTILINE)


@dataclass(frozen=True)
class TreeEntry:
    """One file of a commit. `size` in bytes; a submodule (mode 160000) has none."""

    mode: str
    path: str
    size: int
    blob: str


def tree(repository: Repository, sha: str) -> tuple[TreeEntry, ...]:
    """All files of a commit, or Refused if a name is not UTF-8."""
    listing = repository.git("ls-tree", "-r", "-z", "--long", "--full-tree", commit_id(sha))
    return tuple(_entry(row) for row in listing.split(b"\0") if row)


def commit_id(sha: str) -> str:
    """Shas come from task files and databases too: nothing else may reach git's command line."""
    if not re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", sha):
        raise Refused(f"not a commit id: {sha[:80]!r}")
    return sha


def contents(repository: Repository, entries: Iterable[TreeEntry]) -> Iterator[tuple[TreeEntry, bytes]]:
    """Each file with its bytes, in order; at most about 32 MB are held at once."""
    for group in _groups(entries):
        yield from zip(group, repository.contents(entry.blob for entry in group), strict=True)


def check_out(repository: Repository, entries: Sequence[TreeEntry], target: Path, limits: ChangeLimits) -> None:
    """A commit's files below `target`, which is created or empty. Refused: what a box or the committer cannot take.

    All folders come first: where something lies in it, a folder stands, and nothing is ever written through a link.
    """
    _check(entries, limits)
    target.mkdir(exist_ok=True)
    if any(target.iterdir()):
        raise Refused(f"{target.name}: the folder for the check-out is not empty")
    try:
        for folder in sorted({os.path.dirname(entry.path) for entry in entries}):
            os.makedirs(os.path.join(target, folder), exist_ok=True)
        for entry, data in contents(repository, entries):
            _write(target, entry, data)
    except (FileExistsError, NotADirectoryError) as error:
        raise Refused(f"{error.filename}: two names of the repository are one here; not supported") from None


# --- details -------------------------------------------------------------------------------------------------


def _entry(row: bytes) -> TreeEntry:
    head, _, name = row.partition(b"\t")
    mode, _, blob, size = head.decode().split()
    try:
        path = name.decode()
    except UnicodeDecodeError:
        raise Refused(f"the repository holds a file name that is not UTF-8, {name!r}: not supported") from None
    return TreeEntry(mode, path, int(size) if size != "-" else 0, blob)


def _groups(entries: Iterable[TreeEntry]) -> Iterator[list[TreeEntry]]:
    group: list[TreeEntry] = []
    size = 0
    for entry in entries:
        if group and size + entry.size > AT_ONCE:
            yield group
            group, size = [], 0
        group.append(entry)
        size += entry.size
    if group:
        yield group


def _check(entries: Sequence[TreeEntry], limits: ChangeLimits) -> None:
    if len(entries) > limits.entries:
        raise Refused(f"the repository holds {len(entries)} files (limit {limits.entries})")
    if (total := sum(entry.size for entry in entries)) > limits.tree_bytes:
        raise Refused(f"the repository's files take {total} bytes (limit {limits.tree_bytes})")
    for entry in entries:
        if reason := _unfit(entry, limits):
            raise Refused(f"{entry.path!r}: {reason}")


def _unfit(entry: TreeEntry, limits: ChangeLimits) -> str | None:
    if entry.mode == SUBMODULE:
        return "a submodule: not supported"
    if any(name in ("", ".", "..") or reads_as_dot_git(name) for name in entry.path.split("/")):
        return "a name that reads as a git folder, or leaves the tree"
    if CONTROL.search(entry.path):
        return "a control character in a file name: not supported"
    if entry.size > limits.file_bytes:
        return f"{entry.size} bytes (limit {limits.file_bytes})"
    return None


def _write(target: Path, entry: TreeEntry, data: bytes) -> None:
    place = os.path.join(target, entry.path)
    if entry.mode == LINK:
        os.symlink(checked_link(entry.path, os.fsdecode(data)), place)
        return
    if os.path.basename(entry.path) == ".gitattributes" and LFS.search(data):
        raise Refused(f"{entry.path}: files kept by Git LFS (filter=lfs): not supported")
    mode = 0o755 if entry.mode == EXECUTABLE else 0o644
    descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)


def checked_link(path: str, leads_to: str) -> str:
    """The link's text, or Refused if it leads out of the tree."""
    landing = os.path.normpath(os.path.join("/tree", os.path.dirname(path), leads_to))
    if not leads_to or "\0" in leads_to or leads_to.startswith("/") or not f"{landing}/".startswith("/tree/"):
        raise Refused(f"{path}: a symbolic link that leads out of the tree ({leads_to[:100]!r}): not supported")
    return leads_to


# --- our copy, kept small: attempts of long ago are forgotten, many small packs become one -------------------


LONG = 600.0  # seconds for one step
GRACE = "2.weeks.ago"  # a commit may be in the making: it has its reference last
LEFT_OVER = timedelta(days=1)  # no git works that long on one pack


def forget(repository: Repository, is_over: Callable[[str], bool]) -> Iterator[str]:
    """Deletes the references of the attempts of tasks that are over, all in one transaction."""
    listed = repository.git("for-each-ref", "--format=%(objectname) %(refname)", "refs/attempts/").decode()
    found = re.findall(r"^([0-9a-f]+) (refs/attempts/(\S+)\.a[0-9]+)$", listed, re.MULTILINE)
    over = {task for task in {task for _, _, task in found} if is_over(task)}
    gone = [f"delete {name} {sha}\n" for sha, name, task in found if task in over]
    if gone:
        repository.git("update-ref", "--stdin", data="".join(gone).encode())
        fault_point("tidy.references")
        yield f"the mirror: {len(gone)} attempts of {len(over)} tasks forgotten"


def pack(repository: Repository, now: datetime) -> Iterator[str]:
    """One pack instead of many. Whoever reads or writes meanwhile is not disturbed."""
    _sweep(repository.path / "objects" / "pack", (now - LEFT_OVER).timestamp())
    counted = dict(re.findall(r"^(\S+): ([0-9]+)$", repository.git("count-objects", "-v").decode(), re.MULTILINE))
    packs, loose = int(counted.get("packs", 0)), int(counted.get("count", 0))
    if not is_scattered(packs, loose):
        return
    repository.git("pack-refs", "--all", "--prune", timeout=LONG)
    fault_point("tidy.references-packed")
    repository.git("repack", "-d", "-A", "-l", "-q", f"--unpack-unreachable={GRACE}", timeout=LONG)
    fault_point("tidy.repacked")
    repository.git("prune", f"--expire={GRACE}", timeout=LONG)
    fault_point("tidy.pruned")
    yield f"the mirror: {packs} packs and {loose} loose objects made one pack"


def _sweep(packs: Path, before: float) -> None:
    """Remove what a git that was killed has left half written."""
    for path in (*packs.glob(".tmp-*"), *packs.glob("tmp_*")):
        if path.lstat().st_mtime < before:
            path.unlink(missing_ok=True)


# --- differences between two commits -------------------------------------------------------------------------


SWITCHES = ("-r", "--text", "--no-ext-diff", "--no-textconv", "--no-renames", "--no-color")
INDEX = re.compile(rb"index ([0-9a-f]+)\.\.([0-9a-f]+)")
HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
NO_MODE, NO_BLOB = "000000", "0" * 40
EMPTY_BLOB = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"

Lines = tuple[tuple[int, str], ...]
Row = tuple[str, str, str, str, str]  # path, modes before and now (empty: no file), blobs before and now


def diff(repository: Repository, old: str, new: str, limit: int = LIMIT) -> bytes:
    """The whole change as a patch. Bytes: it may be binary. CommandFailed beyond `limit` bytes."""
    return repository.git("diff-tree", "-p", *SWITCHES, commit_id(old), commit_id(new), limit=limit)


def changed(repository: Repository, old: str, new: str) -> tuple[Change, ...]:
    """One Change for each path that differs, in git's order."""
    rows = _rows(repository, old, new)
    if not rows:
        return ()
    added, binary = _added_lines(repository, old, new), _binary(repository, rows)
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


def _rows(repository: Repository, old: str, new: str) -> list[Row]:
    answer = repository.git("diff-tree", "--raw", "-z", *SWITCHES, commit_id(old), commit_id(new)).decode()
    words = answer.split("\0")[:-1]
    rows = []
    for head, path in zip(words[::2], words[1::2], strict=True):
        mode_old, mode_new, blob_old, blob_new, _ = head[1:].split()
        rows.append((path, mode_old.replace(NO_MODE, ""), mode_new.replace(NO_MODE, ""), blob_old, blob_new))
    return rows


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


def _added_lines(repository: Repository, old: str, new: str) -> dict[tuple[str, str], Lines]:
    """The added lines of each (old blob, new blob). Deleted files are not shown: nothing is added there."""
    switches = ("-p", "-U0", "--full-index", "--irreversible-delete", *SWITCHES)
    lines = iter(repository.git("diff-tree", *switches, commit_id(old), commit_id(new)).split(b"\n"))
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
