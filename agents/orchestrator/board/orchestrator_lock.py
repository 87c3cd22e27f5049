"""One at a time: who looks, decides, books or acts outward holds the lock; who waits for somebody else releases it.

So an act reads as if there were one thread, and nothing but its long part goes on beside the others.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class OrchestratorLock:
    """`with lock:` takes it, as soon as nobody else holds it."""

    def __init__(self) -> None:
        self._free = threading.Condition(threading.Lock())
        self._holder = 0  # the thread; 0: nobody
        self._woken = False

    def __enter__(self) -> OrchestratorLock:
        assert self._holder != threading.get_ident(), "who holds it would wait for himself"
        self._free.acquire()
        self._holder = threading.get_ident()
        return self

    def __exit__(self, *_: object) -> None:
        self._holder = 0
        self._free.release()

    @contextmanager
    def released(self) -> Iterator[None]:
        """Release it for what takes long. Who does not hold it, as a test of one act alone, releases nothing."""
        if self._holder != threading.get_ident():
            yield
            return
        self.__exit__()
        try:
            yield
        finally:
            self.__enter__()

    def wait(self, seconds: float) -> None:
        """Release it until somebody wakes us, or for so long. A wake that came while we held it counts."""
        if not self._woken:
            self._holder = 0
            self._free.wait(seconds)
            self._holder = threading.get_ident()
        self._woken = False

    def wake(self) -> None:
        """Wake who waits. Called by who holds it."""
        self._woken = True
        self._free.notify_all()
