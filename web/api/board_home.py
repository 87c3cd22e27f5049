"""A home as the board opens it, and what leaves it: JSON without keys."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sisimpur.cli.terminal.printing import pasteable
from sisimpur.cli.wiring.records import Records, open_records
from sisimpur.shared.system.clock import Clock
from sisimpur.shared.system.outgoing import Outgoing, each_text


@dataclass(frozen=True)
class BoardHome:
    """A home as the board opens it: anew for each request, so that files and settings count as they are now."""

    root: Path
    clock: Clock | None = None

    @contextmanager
    def open(self, looking: bool = True) -> Iterator[Records]:
        with open_records(self.root, clock=self.clock, looking=looking) as records:
            yield records

    def read(self, reader: Callable[[Records], Any]) -> str:
        """Return JSON without keys."""
        with self.open() as records:
            return self.told(reader(records), records)

    def told(self, value: Any, records: Records, **verbatim: str) -> str:
        """Return JSON. `verbatim`: texts of a file, of which the commands are not completed: they are written back."""
        clean = without_keys(records)
        told = each_text(value, lambda text: pasteable(clean(text), self.root))
        whole = {**told, **{name: clean(text) for name, text in verbatim.items()}} if verbatim else told
        return json.dumps(whole, ensure_ascii=False)


def without_keys(records: Records) -> Callable[[str], str]:
    """Return what takes keys out of a text."""
    return Outgoing(records.settings.secrets.to_hide, records.settings.target.file.allow_secrets).clean
