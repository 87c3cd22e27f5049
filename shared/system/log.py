"""Door to the logs. The only module that writes them: one file of JSON lines per agent, each line with its run.

Every line passes the filter for outgoing text first, so that a secret cannot reach a log.
"""

from __future__ import annotations

import fcntl
import heapq
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, Literal, get_args

from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.model.text import UNSEEN
from sisimpur.shared.model.work import Run
from sisimpur.shared.system.clock import Clock
from sisimpur.shared.system.fault import fault_point

Line = dict[str, Any]

HIDDEN = re.compile(f"[{UNSEEN}\x7f-\x9f]")
LONGEST = 8_000  # characters of one value


Level = Literal["debug", "info", "warning", "error"]
ORDER: tuple[Level, ...] = get_args(Level)
LEVELS: Mapping[str, Level] = {  # by event; all others are news
    **dict.fromkeys(("begun", "ended"), "debug"),
    **dict.fromkeys(("broke off", "deploy.broke"), "warning"),
    **dict.fromkeys(("meter.failed", "meter.refused", "meter.cut", "meter.untrue", "meter.reconciled"), "warning"),
    **dict.fromkeys(("bug", "meter.bug", "meter.halted"), "error"),
}


def level_of(event: str) -> Level:
    return LEVELS.get(event, "info")


def is_written(event: str, least: Level) -> bool:
    return ORDER.index(level_of(event)) >= ORDER.index(least)


class Log:
    """`clean` removes secrets from a text; `least`: of what is written. Who cannot write it never stops the work."""

    def __init__(self, folder: Path, clock: Clock, clean: Callable[[str], str], least: Level = "info") -> None:
        self._least = least
        self._folder = folder
        self._clock = clock
        self._clean = clean
        self.failed: str = ""  # why lines were lost, for `status`

    def __call__(self, run: Run, event: str, **fields: Any) -> None:
        """One line: when, run, task, what happened."""
        who = {"task": run.task, "attempt": run.attempt} if run.task else {}
        self._write(run.agent, event, {"run": run.id, **who, **fields})

    def of(self, part: str) -> Callable[[str, dict[str, Any]], None]:
        """Log for a part of the program that belongs to no single run: (event, fields) -> a line in its own file."""
        return lambda event, fields: self._write(part, event, fields)

    def _write(self, part: str, event: str, fields: Mapping[str, Any]) -> None:
        if not is_written(event, self._least):
            return
        line = {"at": self._clock.now().isoformat(timespec="milliseconds"), "level": level_of(event), "event": event}
        line |= {name: _short(value) for name, value in fields.items()}
        self._append(f"{part}.jsonl", _shown(self._clean(json.dumps(line, ensure_ascii=False, default=str))))

    def _append(self, name: str, line: str) -> None:
        data = (line + "\n").encode("utf-8", "replace")
        try:
            descriptor = _opened(self._folder / name)
            try:
                os.write(descriptor, data)  # one write: a kill leaves whole lines, but for the last
            finally:
                os.close(descriptor)
        except OSError as error:
            self.failed = f"logs cannot be written: {error.strerror}"
        fault_point("log.append")


def _opened(path: Path) -> int:
    """A descriptor to append to. Whoever packs the log away waits until it is closed. OSError."""
    while True:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        if os.fstat(descriptor).st_nlink:
            return descriptor
        os.close(descriptor)  # it was packed and removed between the two lines before


class Tail:
    """All lines of a folder's logs, and then those that come: also in files that are new, replaced or begun anew."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[Path, BinaryIO] = {}

    def new(self) -> Iterator[Line]:
        """Every whole line since the last time, file by file; what is no line of ours is passed over."""
        there = set(self._folder.glob("*.jsonl"))
        for path in sorted({*there, *self._files}):
            if path in self._files and not _is_still(self._files[path], path):
                with self._files.pop(path) as gone:  # turned over; its last lines were not read yet
                    yield from _lines(gone, path.stem)
            if path in there and (file := self._file(path)):
                yield from _lines(file, path.stem)

    def close(self) -> None:
        for file in self._files.values():
            file.close()
        self._files.clear()

    def _file(self, path: Path) -> BinaryIO | None:
        """None: it has gone between two looks."""
        try:
            if path not in self._files:
                self._files[path] = path.open("rb")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise Misconfigured(f"{path} cannot be read ({error.strerror}); type the command as its owner") from None
        file = self._files[path]
        if os.fstat(file.fileno()).st_size < file.tell():  # emptied in its place
            file.seek(0)
        return file


def newest(lines: Iterable[Line], most: int) -> list[Line]:
    """The last `most` of them by their time, the oldest first."""
    numbered = enumerate(lines)
    found = heapq.nlargest(most, numbered, key=lambda pair: (moment(pair[1]), pair[0]))
    return [line for _, line in reversed(found)]


def moment(line: Line) -> float:
    """Seconds since 1970, whatever the owner's zone was then; a line that does not say comes first."""
    try:
        return datetime.fromisoformat(str(line.get("at"))).timestamp()
    except ValueError:
        return 0.0


def _is_still(file: BinaryIO, path: Path) -> bool:
    try:
        named = path.stat()
    except OSError:
        return False
    held = os.fstat(file.fileno())
    return (held.st_dev, held.st_ino) == (named.st_dev, named.st_ino)


def _lines(file: BinaryIO, agent: str) -> Iterator[Line]:
    """A line that is still being written waits for the next look."""
    while data := file.readline():
        if not data.endswith(b"\n"):
            file.seek(-len(data), os.SEEK_CUR)
            return
        try:
            yield {"agent": agent} | json.loads(data.decode("utf-8", "replace"))
        except (ValueError, TypeError, RecursionError):
            continue


def _short(value: Any) -> Any:
    return value[:LONGEST] + "…" if isinstance(value, str) and len(value) > LONGEST else value


def _shown(line: str) -> str:
    """What nobody sees, and what turns a line round, written as JSON escapes it: a terminal may show the file."""
    return HIDDEN.sub(lambda hit: json.dumps(hit[0])[1:-1], line)
