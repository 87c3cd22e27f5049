"""Remembered replies: what a model answered, so that a crash replays for free.

Only answers that were understood are kept, each under its whole question and attempt: another attempt asks anew.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from sisimpur.shared.model.work import Run
from sisimpur.shared.store.database import Database
from sisimpur.shared.system.fault import fault_point


def key_of(run: Run, question: Mapping[str, Any]) -> str:
    """The key of a reply. `question` is all it depends on; runs that are one attempt at one thing share the key."""
    whole = {"agent": run.agent, "day": run.day, "task": run.task, "attempt": run.attempt, "question": question}
    return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()


class Replies:
    """`db` is the database of the home."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def find(self, key: str) -> str | None:
        row = self._db.row("select text from replies where key = ?", (key,))
        return row["text"] if row else None

    def keep(self, key: str, text: str, now: datetime) -> None:
        fault_point("reply.understood")
        with self._db.transaction() as db:
            db.execute("insert or replace into replies (key, text, at) values (?, ?, ?)", (key, text, _utc(now)))
        fault_point("reply.kept")

    def prune(self, before: datetime) -> int:
        """Forget what was kept earlier than `before` -> how many."""
        with self._db.transaction() as db:
            return db.execute("delete from replies where at < ?", (_utc(before),)).rowcount


def _utc(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="milliseconds")
