"""What a home keeps, and when it is packed or thrown away: by age, number and size. Money is kept for ever.

Sizes are bytes.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from datetime import date, datetime, timedelta

from shared.model.lifecycle import State

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
    """By the day on which it was packed; what does not bear our name is not ours."""
    found = _PACKED.fullmatch(name)
    try:
        return found is not None and date.fromisoformat(found[1]) < today - timedelta(days=LOG_DAYS)
    except ValueError:  # no such day
        return False


def old_traces(written: Mapping[str, datetime], now: datetime) -> list[str]:
    """Which of these files go: the old ones, and all but the newest. `written`: name -> its time."""
    newest = sorted(written, key=lambda name: (written[name], name), reverse=True)
    young = [name for name in newest[:TRACES] if now - written[name] <= timedelta(days=TRACE_DAYS)]
    return sorted(written.keys() - young)


# --- rows, commits -------------------------------------------------------------------------------------------


def has_holes(size: int, free: int) -> bool:
    """A database that is worth being written anew."""
    return free > HOLES and free * HOLE_SHARE > size


def is_long_over(state: State, since: datetime, now: datetime) -> bool:
    """Nobody comes back to the attempts of such a task. One that failed waits for its owner, however long."""
    return state in (State.COMPLETED, State.GONE) and now - since > ATTEMPT_AGE


def is_scattered(packs: int, loose: int) -> bool:
    """A repository that is worth being packed."""
    return packs >= SCATTERED_PACKS or loose >= SCATTERED_OBJECTS
