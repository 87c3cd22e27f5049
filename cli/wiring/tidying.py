"""Door to order: the only module that knows all that is tidied up in a home, once a day.

Every step can be cut anywhere and is repeated as a whole; what one of them meets keeps no other from its work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime

from agents.qa.runner.environment_store import EnvironmentStore
from cli.wiring.pruning import compact, prune
from shared.model.errors import Refused, Stumble
from shared.repo.mirror import Mirror
from shared.store.database import Database
from shared.store.journal import Journal
from shared.system.fault import fault_point
from shared.system.keeping import ENVIRONMENT_AGE, is_long_over
from shared.system.log_rotation import cut, drop_old, drop_traces, rotate
from shared.system.paths import Home

Step = Callable[[], Iterator[str]]


def tidy(home: Home, db: Database, mirror: Mirror, now: datetime, is_clock_right: bool = True) -> list[str]:
    """Lines that say what was done, and what could not be. Threads that work meanwhile are not disturbed.

    By a wrong clock everything is old: nothing is thrown away then. Replaced if another daemon has taken over.
    """
    if not is_clock_right:
        return ["nothing was tidied up: the clock jumped ahead; check the date, then type: python main.py resume"]
    done: list[str] = []
    for name, step in _steps(home, db, mirror, now).items():
        try:
            done += step()
        except (Stumble, Refused, OSError) as problem:
            done.append(f"{name} could not be tidied up, the next day tries again: {problem}")
        fault_point(f"tidy.{name}")
    return done


def _steps(home: Home, db: Database, mirror: Mirror, now: datetime) -> Mapping[str, Step]:
    """The rows first: they alone can tell that another daemon has taken over."""
    return {
        "database": lambda: prune(db, now),
        "logs": lambda: rotate(home.logs, now.date()),
        "old-logs": lambda: drop_old(home.logs, now.date()),
        "traces": lambda: drop_traces(home.logs, now),
        "output": lambda: cut(home.logs / "daemon.out"),
        "mirror": lambda: mirror.tidy(_over(Journal(db), now), now),
        "environments": lambda: EnvironmentStore(home.environments).retire(now - ENVIRONMENT_AGE),
        "room": lambda: compact(db),
    }


def _over(journal: Journal, now: datetime) -> Callable[[str], bool]:
    """Whether the attempts of a task are needed no more. What has no history is not ours to judge."""

    def is_over(task: str) -> bool:
        known = journal.task(task)
        if known is None or known.newest is None:
            return False
        return is_long_over(known.seen_in, datetime.fromisoformat(known.newest.at), now)

    return is_over
