"""Tests that are named by the moment of their run -> those that another run only names by another moment. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, time, timedelta

DAY, HOUR = r"(?:\d{4}-\d\d-\d\d|\d\d-\d\d-\d{4})", r"\d\d:\d\d(?::\d\d)?(?:\.\d+)?"
MOMENT = re.compile(f"{DAY}[T ]{HOUR}|{HOUR} {DAY}")
LONGEST_KEPT = timedelta(days=60)  # the run of a base that is kept is not older
ONE_RUN, MIDNIGHT = timedelta(hours=1), time(0)


def of_another_minute(before: Collection[str], after: Collection[str]) -> frozenset[str]:
    """Tests named by the moment of their run: in each one's place another, named alike but for a later moment."""
    return frozenset(later_names(before, after))


def later_names(before: Collection[str], after: Collection[str]) -> Mapping[str, str]:
    """What those are called after.

    One run is as much later as the other in each of them; and what begins at midnight is a day that somebody wrote.
    """
    kept: dict[str, str] = {}
    apart: list[timedelta] = []
    for shape in {MOMENT.sub("", test) for test in before}:
        then, now = (sorted(one for one in tests if MOMENT.sub("", one) == shape) for tests in (before, after))
        found = [_apart(*both) for both in zip(then, now, strict=True)] if len(then) == len(now) else [()]
        kept |= zip(then, now, strict=True) if all(found) else ()
        apart += [one for each in found for one in each]
    return kept if apart and max(apart) - min(apart) <= ONE_RUN else {}


def _apart(then: str, now: str) -> Sequence[timedelta]:
    """How much later each moment is; empty: they are none of two runs."""
    try:
        both = [[_moment(one) for one in MOMENT.findall(test)] for test in (then, now)]
        apart = [after - before for before, after in zip(*both, strict=True)]
    except ValueError:  # the 31st of February, or more moments than before
        return ()
    is_written = any(moment.time() == MIDNIGHT for moments in both for moment in moments)
    return () if is_written or not all(timedelta(0) <= one <= LONGEST_KEPT for one in apart) else apart


def _moment(text: str) -> datetime:
    """Whichever stands first, day or hour, year or day; of day and month the month."""
    first, second = re.split("[T ]", text)
    day, hour = (second, first) if ":" in first else (first, second)
    parts = day.split("-")
    year, month, date = parts if len(parts[0]) == 4 else (parts[2], *parts[:2])
    if int(month) > 12:
        month, date = date, month
    return datetime.fromisoformat(f"{year}-{month}-{date}T{hour}")
