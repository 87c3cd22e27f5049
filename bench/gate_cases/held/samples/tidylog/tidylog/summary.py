"""What is counted."""

from collections import Counter

from tidylog.reader import LEVELS


def since(records, start):
    """Those from `start` on."""
    return [record for record in records if record.when >= start]


def at_least(records, level):
    """Those of this level or a higher one."""
    lowest = LEVELS.index(level)
    return [record for record in records if LEVELS.index(record.level) >= lowest]


def by_level(records):
    """Counts, all levels, the lowest first."""
    counts = Counter(record.level for record in records)
    return {level: counts[level] for level in LEVELS}


def by_hour(records):
    """Counts by hour, in order: 2026-03-01 12."""
    counts = Counter(record.when.strftime("%Y-%m-%d %H") for record in records)
    return dict(sorted(counts.items()))


def top_messages(records, count=5):
    """The most frequent messages, their first lines; ties by text."""
    counts = Counter(record.message.split("\n")[0] for record in records)
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:count]


def span(records):
    """From the first to the last; None if there are none."""
    if not records:
        return None
    times = [record.when for record in records]
    return max(times) - min(times)
