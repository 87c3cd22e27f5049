"""What is made the first time that somebody asks, and only once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from threading import Lock
from typing import TypeVar

T = TypeVar("T")


def made_once(make: Callable[[], T]) -> Callable[[], T]:
    """`functools.cache` makes two where two threads ask at the same time; here the second waits for the first's."""
    lock, known = Lock(), cache(make)

    def asked() -> T:
        with lock:
            return known()

    return asked
