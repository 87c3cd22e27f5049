"""Spans of time: 2h, 90m, 1d12h."""

import re
from datetime import timedelta

PART = re.compile(r"(\d+)([dhms])")
UNITS = {"d": "days", "h": "hours", "m": "minutes", "s": "seconds"}


def parse_span(text):
    """Raises ValueError if it is none."""
    found = PART.findall(text)
    if not found or "".join(number + unit for number, unit in found) != text:
        raise ValueError(f"not a span of time: {text!r}")
    return timedelta(**{UNITS[unit]: int(number) for number, unit in found})


def show_span(span):
    """The other way round, without zeros."""
    rest = int(span.total_seconds())
    parts = []
    for unit, seconds in (("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        count, rest = divmod(rest, seconds)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0s"
