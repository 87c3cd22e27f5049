"""Door to a commit's files. The only module that lists them, reads them, and writes them out as plain files.

Exact bytes: no filter, no line-end rule and no attribute applies, whatever the repository asks for.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from sisimpur.shared.model.change import LINK, SUBMODULE, ChangeLimits
from sisimpur.shared.model.errors import Refused
from sisimpur.shared.model.scope import names, reads_as_dot_git
from sisimpur.shared.repo.objects import Repository
from sisimpur.shared.system.fault import fault_point
from sisimpur.shared.system.keeping import is_scattered

AT_ONCE = 32_000_000  # bytes of files that are asked for in one go
ENTRY = 400  # bytes that one takes in memory, about
CONTROL = re.compile(r"[\x00-\x1f\x7f]")
MOST_ATTRIBUTES = 100_000  # bytes of one .gitattributes
LFS = re.compile(rb"^[^#\n]*\sfilter=lfs\b", re.MULTILINE)


@dataclass(frozen=True)
class TreeEntry:
    """One file of a commit. `size` in bytes; a submodule (mode 160000) has none."""

    mode: str
    path: str
    size: int
    blob: str


def tree(repository: Repository, sha: str) -> tuple[TreeEntry, ...]:
    """All files of a commit or tree, or Refused if a name is not UTF-8. They never change: they are asked for once."""

    def ask() -> tuple[TreeEntry, ...]:
        listing = repository.git("ls-tree", "-r", "-z", "--long", "--full-tree", commit_id(sha))
        return tuple(_entry(row) for row in listing.split(b"\0") if row)

    return repository.answers.once(("tree", sha), ask, lambda found: ENTRY * len(found))


def commit_id(sha: str) -> str:
    """Shas come from task files and databases too: nothing else may reach git's command line."""
    if not re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", sha):
        raise Refused(f"not a commit id: {sha[:80]!r}")
    return sha


def contents(repository: Repository, entries: Iterable[TreeEntry]) -> Iterator[tuple[TreeEntry, bytes]]:
    """Each file with its bytes, in order; at most about 32 MB are held at once."""
    for group in _groups(entries):
        yield from zip(group, repository.contents(entry.blob for entry in group), strict=True)


def check_out(
    repository: Repository, entries: Sequence[TreeEntry], target: Path, limits: ChangeLimits, whole: bool = False
) -> None:
    """These files below `target`, which is created or empty, but for what is left alone. Refused: what no box can take.

    `whole`: what would be left alone is refused, as is what only Git LFS has.
    """
    laid, left = laid_out(repository, entries, limits)
    if whole:
        left = {**left, **dict.fromkeys(LargeFiles.of(repository, entries).files, "files kept by Git LFS (filter=lfs)")}
    if whole and left:
        path = min(left)
        raise Refused(f"{path}: {left[path]}: not supported")
    target.mkdir(exist_ok=True)
    if any(target.iterdir()):
        raise Refused(f"{target.name}: the folder for the check-out is not empty")
    if laid:
        repository.write_out(((entry.mode, entry.blob, entry.path) for entry in laid), target)


Laid = tuple[Sequence[TreeEntry], Mapping[str, str]]


def laid_out(repository: Repository, entries: Sequence[TreeEntry], limits: ChangeLimits) -> Laid:
    """(what a check-out writes, path -> why of what it leaves alone). Refused: what nobody here can take."""
    left = left_alone(repository, entries, limits)
    laid = [entry for entry in entries if entry.path not in left] if left else entries
    _check(laid, limits)
    _check_names([entry.path for entry in entries])
    return laid, left


def left_alone(repository: Repository, entries: Sequence[TreeEntry], limits: ChangeLimits) -> dict[str, str]:
    """Path -> why it is not given to a box. It does not concern a task that leaves it as it is."""
    left = {entry.path: reason for entry in entries if (reason := _unfit_for_boxes(entry, limits))}
    links = [entry for entry in entries if entry.mode == LINK]
    for entry, data in contents(repository, links):
        try:
            checked_link(entry.path, os.fsdecode(data))
        except Refused:
            left[entry.path] = f"a symbolic link that leads out of the tree ({os.fsdecode(data)[:100]!r})"
    return left


def links(repository: Repository, entries: Sequence[TreeEntry]) -> dict[str, str]:
    """Path of a symbolic link -> path that it leads to in the tree ("": its top); none that leads out of it."""
    found = {}
    for entry, data in contents(repository, (one for one in entries if one.mode == LINK)):
        with suppress(Refused):
            beside = os.path.join(os.path.dirname(entry.path), checked_link(entry.path, os.fsdecode(data)))
            leads_to = os.path.normpath(beside)
            found[entry.path] = "" if leads_to == "." else leads_to
    return found


def _unfit_for_boxes(entry: TreeEntry, limits: ChangeLimits) -> str:
    if entry.mode == SUBMODULE:
        return "a submodule"
    return f"{entry.size} bytes (limit {limits.file_bytes})" if entry.size > limits.file_bytes else ""


@dataclass(frozen=True)
class LargeFiles:
    """Rules of Git LFS in a commit. `files`: those of .gitattributes; what they mean is kept elsewhere, and what lies
    here only points to it."""

    files: tuple[str, ...] = ()
    patterns: tuple[tuple[str, str], ...] = ()  # folder, pattern

    @classmethod
    def of(cls, repository: Repository, entries: Iterable[TreeEntry]) -> LargeFiles:
        named = (entry for entry in entries if _is_attributes(entry) and entry.size <= MOST_ATTRIBUTES)
        found = [(entry.path, data) for entry, data in contents(repository, named) if LFS.search(data)]
        rules = (
            (path.rpartition("/")[0], line.split()[0])
            for path, data in found
            for line in data.decode("utf-8", "replace").splitlines()
            if LFS.match(line.encode())
        )
        return cls(tuple(path for path, _ in found), tuple(rules))

    def keep(self, path: str) -> bool:
        """Whether git would give this file to Git LFS."""
        return any(
            path.startswith(f"{folder}/" if folder else "") and names(path[len(folder) :].lstrip("/"), False, pattern)
            for folder, pattern in self.patterns
        )


def difference(old: Sequence[TreeEntry], new: Sequence[TreeEntry]) -> tuple[list[TreeEntry], list[str]]:
    """(what is to be written, the paths that are to go) where the old files lie and the new ones are wanted. Pure."""
    if old == new:
        return [], []
    before, after = set(old), set(new)
    gone = {entry.path for entry in before - after} - {entry.path for entry in after}
    return sorted(after - before, key=lambda entry: entry.path), sorted(gone)


def _entry(row: bytes) -> TreeEntry:
    head, _, name = row.partition(b"\t")
    mode, _, blob, size = head.decode().split()
    return TreeEntry(mode, utf8(name), int(size) if size != "-" else 0, blob)


def utf8(name: bytes) -> str:
    """A path, or Refused."""
    try:
        return name.decode()
    except UnicodeDecodeError:
        raise Refused(f"the repository holds a file name that is not UTF-8, {name!r}: not supported") from None


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
        if reason := _unfit(entry):
            raise Refused(f"{entry.path!r}: {reason}")


def _check_names(paths: Sequence[str]) -> None:
    """Nothing may be written through a link or a file: where something lies in it, a folder stands."""
    there, todo = set(paths), {os.path.dirname(path) for path in paths}
    twice = {path for path, number in Counter(paths).items() if number > 1} if len(there) < len(paths) else set()
    while todo - {""}:
        twice |= todo & there
        todo = {os.path.dirname(folder) for folder in todo}
    if twice:
        raise Refused(f"{min(twice)}: two names of the repository are one here; not supported")


def _unfit(entry: TreeEntry) -> str | None:
    if any(name in ("", ".", "..") or reads_as_dot_git(name) for name in entry.path.split("/")):
        return "a name that reads as a git folder, or leaves the tree"
    if CONTROL.search(entry.path):
        return "a control character in a file name: not supported"
    return None


def _is_attributes(entry: TreeEntry) -> bool:
    return entry.mode not in (LINK, SUBMODULE) and os.path.basename(entry.path) == ".gitattributes"


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
