"""What rules may call."""

import re

LONGEST = 1000


def lower(text):
    return text.lower()


def contains(text, part):
    return part in text


def matches(text, pattern):
    """Does the whole text fit? Only `*` is special: any characters."""
    if len(pattern) > LONGEST:
        raise ValueError("the pattern is too long")
    parts = [re.escape(part) for part in pattern.split("*")]
    return re.fullmatch(".*".join(parts), text) is not None


def words(text):
    return text.split()


FUNCTIONS = {
    "abs": abs,
    "contains": contains,
    "len": len,
    "lower": lower,
    "matches": matches,
    "max": max,
    "min": min,
    "words": words,
}
