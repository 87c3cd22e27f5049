"""Durations: numbers are seconds, texts are like "1h30m"."""

import re

UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")


def parse_duration(value):
    """Return seconds. Raises ValueError for a text that is no duration, and for one below zero."""
    if isinstance(value, (int, float)):
        if value < 0:
            raise ValueError(f"negative duration: {value}")
        return float(value)
    text = value.strip().lower().replace(" ", "")
    parts = _PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise ValueError(f"not a duration: {value!r}")
    return float(sum(float(number) * UNITS[unit] for number, unit in parts))


def format_duration(seconds):
    """The shortest exact text in whole units down to seconds: 5400 is "1h30m"."""
    rest = int(seconds)
    found = []
    for unit in ("d", "h", "m", "s"):
        count, rest = divmod(rest, UNITS[unit])
        if count:
            found.append(f"{count}{unit}")
    return "".join(found) or "0s"
