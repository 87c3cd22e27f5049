"""Rules of what a home keeps, and when it is packed or thrown away: by age, number and size. Money is kept for ever.

Sizes are bytes. A log goes to logs/old at once and whole; there it is packed, and goes when its packed form is on the
disk. Whatever is left of that by a kill is done the next time.
"""

from __future__ import annotations

import fcntl
import gzip
import os
import re
import shutil
import stat
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from sisimpur.shared.model.lifecycle import State
from sisimpur.shared.system.fault import fault_point
from sisimpur.shared.system.paths import move, sync_folder

FULL_LOG = 10_000_000
LOG_DAYS = 90
FULL_OUTPUT, OUTPUT_KEPT = 5_000_000, 1_000_000
TRACES, TRACE_DAYS = 50, 90
ROW_AGE = timedelta(days=400)  # more than a year: this day a year ago can still be looked up
REPLY_AGE = timedelta(days=7)  # they only serve to replay an interrupted day
PAGE_AGE = timedelta(days=60)  # what was read on the web; the note has the quotes
ATTEMPT_AGE = timedelta(days=60)
ENVIRONMENT_AGE = timedelta(days=30)
SCATTERED_PACKS, SCATTERED_OBJECTS = 50, 5_000  # git looks into each of them
HOLES, HOLE_SHARE = 20_000_000, 4  # both: so much is free, and more than a quarter

_BEGAN = re.compile(r'\{"at": ?"([0-9]{4}-[0-9]{2})-')
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_PACKED = re.compile(r".+-([0-9]{4}-[0-9]{2}-[0-9]{2})(\.[0-9]+)?\.jsonl\.gz")


# --- logs ----------------------------------------------------------------------------------------------------


def is_turned_over(size: int, beginning: str, today: date) -> bool:
    """A log that is large, or was begun in another month. `beginning`: of its first line."""
    began = _BEGAN.match(beginning)
    return size >= FULL_LOG or bool(began and began[1] != today.isoformat()[:7])


def packed_name(name: str, today: date, taken: Collection[str]) -> str:
    """`coder.jsonl` -> `coder-2026-11-20.jsonl`, or with a number where that was used on this day already."""
    stem = f"{name.removesuffix('.jsonl')}-{today.isoformat()}"
    names = (f"{stem}{f'.{number}' if number else ''}.jsonl" for number in range(len(taken) + 2))
    return next(name for name in names if name not in taken and f"{name}.gz" not in taken)


def is_old_log(name: str, today: date) -> bool:
    """Tell whether it is old by the day on which it was packed; what does not bear our name is not ours."""
    found = _PACKED.fullmatch(name)
    try:
        return found is not None and date.fromisoformat(found[1]) < today - timedelta(days=LOG_DAYS)
    except ValueError:  # no such day
        return False


def old_traces(written: Mapping[str, datetime], now: datetime) -> list[str]:
    """Choose the files that go: the old ones, and all but the newest. `written`: name -> its time."""
    newest = sorted(written, key=lambda name: (written[name], name), reverse=True)
    young = [name for name in newest[:TRACES] if now - written[name] <= timedelta(days=TRACE_DAYS)]
    return sorted(written.keys() - young)


def old_talk(sizes: Mapping[str, int], today: date, days: int, most: int) -> list[str]:
    """Choose the days that go: the old ones, then the oldest until the rest takes at most so many bytes.

    `sizes`: of the files, by the day that names them; what bears no day is not ours.
    """
    first = (today - timedelta(days=days)).isoformat()
    kept = sorted(day for day in sizes if _DAY.fullmatch(day))
    gone = []
    while kept and (kept[0] < first or sum(sizes[day] for day in kept) > most):
        gone.append(kept.pop(0))
    return gone


# --- rows, commits -------------------------------------------------------------------------------------------


def has_holes(size: int, free: int) -> bool:
    """A database that is worth being written anew."""
    return free > HOLES and free * HOLE_SHARE > size


def is_long_over(state: State, since: datetime, now: datetime) -> bool:
    """Tell whether nobody comes back to its attempts. A task that failed waits for the owner, however long."""
    return state in (State.COMPLETED, State.GONE) and now - since > ATTEMPT_AGE


def is_scattered(packs: int, loose: int) -> bool:
    """A repository that is worth being packed."""
    return packs >= SCATTERED_PACKS or loose >= SCATTERED_OBJECTS


# --- old logs, packed -----------------------------------------------------------------------------------------

BEGINNING = 200  # bytes of a log that tell when it was begun


def rotate(logs: Path, today: date) -> Iterator[str]:
    """One line per log that was turned over. Whoever has it open writes on into it until it is packed."""
    old = logs / "old"
    for path in sorted(logs.glob("*.jsonl")):
        if _is_plain(path) and is_turned_over(path.stat().st_size, _beginning(path), today):
            old.mkdir(exist_ok=True)
            target = old / packed_name(path.name, today, os.listdir(old))
            move(path, target)
            fault_point("tidy.log-moved")
            yield f"logs/{path.name}: packed as logs/old/{target.name}.gz"
    for path in sorted(old.glob("*.jsonl")):
        if _is_plain(path):
            _pack(path)


def drop_old(logs: Path, today: date) -> Iterator[str]:
    gone = [path for path in sorted((logs / "old").glob("*.gz")) if is_old_log(path.name, today)]
    for path in gone:
        path.unlink(missing_ok=True)
        fault_point("tidy.old-log-removed")
    if gone:
        yield f"logs/old: {len(gone)} logs of long ago thrown away"


def drop_traces(logs: Path, now: datetime) -> Iterator[str]:
    """Stack traces of our bugs, which nobody may ever have reported."""
    found = {path.name: datetime.fromtimestamp(path.lstat().st_mtime, UTC) for path in logs.glob("bug-*.txt")}
    gone = old_traces(found, now)
    for name in gone:
        (logs / name).unlink(missing_ok=True)
        fault_point("tidy.trace-removed")
    if gone:
        yield f"logs: {len(gone)} old traces of bugs thrown away"


def cut(output: Path) -> Iterator[str]:
    """Keeps the end of a file that somebody may be appending to just now: it stays the same file.

    Its end is written over its beginning before it is cut, so that a kill leaves the end twice, and never less.
    """
    try:
        descriptor = os.open(output, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        size = os.fstat(descriptor).st_size
        if size <= FULL_OUTPUT:
            return
        end = os.pread(descriptor, OUTPUT_KEPT, size - OUTPUT_KEPT)
        end = end[end.find(b"\n") + 1 :]  # whole lines
        os.pwrite(descriptor, end, 0)
        fault_point("tidy.output-copied")
        os.ftruncate(descriptor, len(end))
    finally:
        os.close(descriptor)
    fault_point("tidy.output-cut")
    yield f"{output.parent.name}/{output.name}: cut to its last {len(end):,} bytes"


def _pack(path: Path) -> None:
    """A line that somebody wrote into it meanwhile begins it anew."""
    temporary, packed = path.with_name(f".{path.name}.gz.tmp"), path.with_name(f"{path.name}.gz")
    while True:
        size = _compress(path, temporary)
        os.replace(temporary, packed)
        sync_folder(path.parent)
        fault_point("tidy.log-packed")
        with path.open("rb") as log:
            fcntl.flock(log, fcntl.LOCK_EX)  # who has opened it to write a line ends it first: see log.py
            if os.fstat(log.fileno()).st_size == size:
                path.unlink()
                break
    fault_point("tidy.log-removed")


def _compress(source: Path, target: Path) -> int:
    """Pack it -> how many bytes of it were packed."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    with source.open("rb") as lines, os.fdopen(os.open(target, flags, 0o600), "wb") as file:
        with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packing:
            shutil.copyfileobj(lines, packing)
        file.flush()
        os.fsync(file.fileno())
        return lines.tell()


def _beginning(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(BEGINNING).decode("utf-8", "replace")


def _is_plain(path: Path) -> bool:
    return stat.S_ISREG(path.lstat().st_mode)
