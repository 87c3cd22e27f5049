"""The memory's door: one connection per thread, for as long as the thread lives."""

from __future__ import annotations

import gc
import os
import threading
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pydantic import ValidationError

from sisimpur.shared.store.database import SCHEMA, Database, row_to

pytestmark = pytest.mark.disk


def test_the_files_of_the_schema_are_numbered_without_a_gap() -> None:
    """Of two with one number, or after a gap, an older home would miss one for ever."""
    numbers = [int(path.name[:4]) for path in sorted(SCHEMA.glob("*.sql"))]
    assert numbers == list(range(1, len(numbers) + 1))


def test_threads_that_come_and_go_leave_nothing_open(tmp_path: Path) -> None:
    """Also if nobody collects garbage: a daemon lives for months."""
    db = Database(tmp_path / "agents.db")
    gc.disable()
    try:
        come_and_go(db, 2)
        before = len(os.listdir("/proc/self/fd"))
        come_and_go(db, 10)
        assert len(os.listdir("/proc/self/fd")) == before
    finally:
        gc.enable()


def come_and_go(db: Database, threads: int) -> None:
    for _ in range(threads):
        thread = threading.Thread(target=db.rows, args=("select 1",))
        thread.start()
        thread.join()


@dataclass(frozen=True)
class Kept:
    name: str
    at: datetime
    is_old: bool
    words: tuple[str, ...]


def test_a_row_becomes_a_dataclass_by_the_names_of_its_columns(tmp_path: Path) -> None:
    with closing(Database(tmp_path / "agents.db")) as db:
        row = db.row("select 'a' name, '2026-11-22T20:00:00+00:00' at, 1 is_old, 'b c' words, 'x' other")
        assert row
        made = row_to(Kept, row, words=row["words"].split())
        assert made == Kept("a", datetime(2026, 11, 22, 20, tzinfo=UTC), True, ("b", "c"))
        with pytest.raises(ValidationError):
            row_to(Kept, row)
