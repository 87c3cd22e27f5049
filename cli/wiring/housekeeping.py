"""What is tidied up in a home once a day. No row about money, tasks or plans is ever deleted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime

from sisimpur.agents.qa.runner.environment_store import EnvironmentStore
from sisimpur.shared.config.settings_policy import TalkSettings
from sisimpur.shared.llm.llm_call import Replies
from sisimpur.shared.model.errors import Refused, Stumble, Unavailable
from sisimpur.shared.record.conversations import Conversations
from sisimpur.shared.repo.mirror import Mirror
from sisimpur.shared.store.database import Database
from sisimpur.shared.store.journal import Journal
from sisimpur.shared.system.fault import fault_point
from sisimpur.shared.system.keeping import (
    ENVIRONMENT_AGE,
    PAGE_AGE,
    REPLY_AGE,
    ROW_AGE,
    cut,
    drop_old,
    drop_traces,
    has_holes,
    is_long_over,
    rotate,
)
from sisimpur.shared.system.paths import Home

TALK = TalkSettings()
Step = Callable[[], Iterator[str]]


def tidy(
    home: Home, db: Database, mirror: Mirror, now: datetime, is_clock_right: bool = True, talk: TalkSettings = TALK
) -> list[str]:
    """Return lines that say what was done, and what could not be. Threads that work meanwhile are not disturbed.

    By a wrong clock everything looks old: then nothing is deleted. Replaced if another daemon has taken over.
    """
    return _done(_steps(home, db, mirror, now, talk), is_clock_right)


def tidy_talk(home: Home, db: Database, now: datetime, is_clock_right: bool, talk: TalkSettings) -> list[str]:
    """Keep what was said within the size that the owner allows: all that a home without a daemon needs."""
    return _done({"talk": _talk(home, db, now, talk)}, is_clock_right)


def _done(steps: Mapping[str, Step], is_clock_right: bool) -> list[str]:
    if not is_clock_right:
        return ["nothing was tidied up: the clock jumped ahead; check the date, then type: python main.py resume"]
    done: list[str] = []
    for name, step in steps.items():
        try:
            done += step()
        except (Stumble, Unavailable, Refused, OSError) as problem:
            done.append(f"{name} could not be tidied up, the next day tries again: {problem}")
        fault_point(f"tidy.{name}")
    return done


def _steps(home: Home, db: Database, mirror: Mirror, now: datetime, talk: TalkSettings) -> Mapping[str, Step]:
    """Order the steps: rows first, they alone can tell that another daemon has taken over."""
    return {
        "database": lambda: prune(db, now),
        "talk": _talk(home, db, now, talk),
        "logs": lambda: rotate(home.logs, now.date()),
        "old-logs": lambda: drop_old(home.logs, now.date()),
        "traces": lambda: drop_traces(home.logs, now),
        "output": lambda: cut(home.logs / "daemon.out"),
        "mirror": lambda: mirror.tidy(_over(Journal(db), now), now),
        "environments": lambda: EnvironmentStore(home.environments).retire(now - ENVIRONMENT_AGE),
        "room": lambda: compact(db),
    }


def _talk(home: Home, db: Database, now: datetime, talk: TalkSettings) -> Step:
    return lambda: Conversations(home.talk, db).drop_old(now.date(), talk.days, talk.megabytes)


def _over(journal: Journal, now: datetime) -> Callable[[str], bool]:
    """Return a test whether the attempts of a task are needed no more; without history they are kept."""

    def is_over(task: str) -> bool:
        known = journal.task(task)
        if known is None or known.newest is None:
            return False
        return is_long_over(known.seen_in, datetime.fromisoformat(known.newest.at), now)

    return is_over


# --- database rows -------------------------------------------------------------------------------------------


def prune(db: Database, now: datetime) -> Iterator[str]:
    """Delete messages and runs of long ago. The newest run stays, so that no number is ever given twice."""
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
    """Shrink the file if much of it is free; less is used again anyway, and not worth writing it anew."""
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
