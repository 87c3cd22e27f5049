"""Which lines of a log are new, when all that is seen of it is its end, now and then. Pure."""

from __future__ import annotations

from collections.abc import Hashable, Sequence


def seen_before(before: Sequence[Hashable], now: Sequence[Hashable]) -> int:
    """How many lines `now` begins with that are the end of `before`, as many as possible; the ones after are new.

    A line may be given by its digest.
    """
    longest = min(len(before), len(now))
    return next((size for size in range(longest, 0, -1) if now[:size] == before[len(before) - size :]), 0)
