"""Door to a small database. The only module that deletes rows of long ago, and gives back the room of deleted ones.

No row about money, tasks or plans is ever deleted.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from shared.llm.llm_replies import Replies
from shared.store.database import Database
from shared.system.fault import fault_point
from shared.system.keeping import PAGE_AGE, REPLY_AGE, ROW_AGE, has_holes


def prune(db: Database, now: datetime) -> Iterator[str]:
    """Messages and runs of long ago. The newest run stays, so that no number is ever given twice."""
    before = (now - ROW_AGE).isoformat()
    with db.transaction() as rows:
        notices = rows.execute("delete from notices where at < ?", (before,)).rowcount
        runs = rows.execute(
            "delete from agent_runs where started_at < ? and id < (select max(id) from agent_runs)", (before,)
        ).rowcount
        read = (now - PAGE_AGE).date().isoformat()
        pages = rows.execute("delete from sources where day < ?", (read,)).rowcount
        rows.execute("delete from searches where day < ?", (read,))
    fault_point("tidy.rows")
    replies = Replies(db).prune(now - REPLY_AGE)
    fault_point("tidy.replies")
    told = {"old messages": notices, "old runs": runs, "old pages": pages, "remembered answers": replies}
    if any(told.values()):
        yield f"forgotten: {', '.join(f'{count} {what}' for what, count in told.items() if count)}"


def compact(db: Database) -> Iterator[str]:
    """The room of deleted rows is used again in any case; only much of it is worth writing the whole file anew."""
    db.rows("pragma optimize")
    fault_point("tidy.optimized")
    size, free = (_pragma(db, name) * _pragma(db, "page_size") for name in ("page_count", "freelist_count"))
    if has_holes(size, free):
        db.rows("vacuum")
        fault_point("tidy.vacuumed")
        yield f"the database: {free:,} of {size:,} bytes given back"
    db.rows("pragma wal_checkpoint(truncate)")  # readers that are busy keep it for the next time
    fault_point("tidy.checkpointed")


def _pragma(db: Database, name: str) -> int:
    row = db.row(f"pragma {name}")
    return int(row[0]) if row else 0
