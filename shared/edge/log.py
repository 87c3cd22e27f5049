"""Door to the logs. The only module that writes them: one file of JSON lines per agent, each line with its run.

Every line passes the filter for outgoing text first, so that a secret cannot reach a log.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from shared.domain.work import Run
from shared.edge.clock import Clock
from shared.edge.fault import fault_point

LONGEST = 8_000  # characters of one value


class Log:
    """`clean` removes secrets from a text. A log that cannot be written never stops the work."""

    def __init__(self, folder: Path, clock: Clock, clean: Callable[[str], str]) -> None:
        self._folder = folder
        self._clock = clock
        self._clean = clean
        self.failed: str = ""  # why lines were lost, for `status`

    def __call__(self, run: Run, event: str, **fields: Any) -> None:
        """One line: when, run, task, what happened."""
        who = {"task": run.task, "attempt": run.attempt} if run.task else {}
        self._write(run.agent, event, {"run": run.id, **who, **fields})

    def of(self, part: str) -> Callable[[str, dict[str, Any]], None]:
        """For a part of the program that belongs to no single run: (event, fields) -> a line in its own file."""
        return lambda event, fields: self._write(part, event, fields)

    def _write(self, part: str, event: str, fields: Mapping[str, Any]) -> None:
        line = {"at": self._clock.now().isoformat(timespec="milliseconds"), "event": event}
        line |= {name: _short(value) for name, value in fields.items()}
        self._append(f"{part}.jsonl", self._clean(json.dumps(line, ensure_ascii=False, default=str)))

    def _append(self, name: str, line: str) -> None:
        data = (line + "\n").encode("utf-8", "replace")
        try:
            descriptor = os.open(self._folder / name, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                os.write(descriptor, data)  # one write: a kill leaves whole lines, but for the last
            finally:
                os.close(descriptor)
        except OSError as error:
            self.failed = f"logs cannot be written: {error.strerror}"
        fault_point("log.append")


def read(folder: Path, agent: str = "") -> Iterator[dict[str, Any]]:
    """All lines in the order of time; a cut last line is passed over."""
    lines: list[dict[str, Any]] = []
    for path in sorted(folder.glob(f"{agent or '*'}.jsonl")):
        for text in path.read_text("utf-8", "replace").splitlines():
            try:
                lines.append({"agent": path.stem} | json.loads(text))
            except (ValueError, TypeError):
                continue
    return iter(sorted(lines, key=lambda line: str(line.get("at", ""))))


def _short(value: Any) -> Any:
    return value[:LONGEST] + "…" if isinstance(value, str) and len(value) > LONGEST else value
