"""Spans of time, the begin included and the end not."""

from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True, order=True)
class Interval:
    """Both ends know their time zone."""

    start: datetime
    end: datetime

    def __post_init__(self):
        if self.start.tzinfo is None or self.end.tzinfo is None:
            raise ValueError("an interval needs times with a time zone")
        if self.end <= self.start:
            raise ValueError("an interval must end after it begins")

    @property
    def duration(self) -> timedelta:
        return self.end - self.start

    def overlaps(self, other: "Interval") -> bool:
        return self.start < other.end and other.start < self.end

    def contains(self, moment: datetime) -> bool:
        return self.start <= moment < self.end

    def intersection(self, other: "Interval") -> "Interval | None":
        if not self.overlaps(other):
            return None
        return Interval(max(self.start, other.start), min(self.end, other.end))


def merge(intervals):
    """The same time in as few intervals as possible, in order. Those that touch become one."""
    merged = []
    for interval in sorted(intervals):
        if merged and interval.start <= merged[-1].end:
            merged[-1] = Interval(merged[-1].start, max(merged[-1].end, interval.end))
        else:
            merged.append(interval)
    return merged


def gaps(within, taken):
    """What is left of `within`, in order."""
    free, start = [], within.start
    for interval in merge(taken):
        if interval.end <= within.start:
            continue
        if interval.start >= within.end:
            break
        if interval.start > start:
            free.append(Interval(start, interval.start))
        start = max(start, interval.end)
    if start < within.end:
        free.append(Interval(start, within.end))
    return free
