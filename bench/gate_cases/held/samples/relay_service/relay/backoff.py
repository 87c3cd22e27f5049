"""How long to wait between two attempts."""

import random

FIRST = 1.0
FACTOR = 2.0
LONGEST = 300.0


def delay(attempt):
    """Seconds before the attempt of this number; the first one (0) waits `FIRST`."""
    return min(LONGEST, FIRST * FACTOR**attempt)


def jittered(attempt, rng=random):
    """The delay, up to a quarter more, so that not all come back at once."""
    return delay(attempt) * (1 + rng.random() / 4)


def schedule(attempts):
    """All the pauses of a delivery."""
    return [delay(n) for n in range(attempts)]
