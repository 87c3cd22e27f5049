"""One at a time: who looks, decides, books or acts outward sits on the chair; who waits for somebody else gets up.

So an act reads as if there were one thread, and nothing but its long part goes on beside the others.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class OrchestratorLock:
    """`with chair:` sits down, as soon as nobody else does."""

    def __init__(self) -> None:
        self._free = threading.Condition(threading.Lock())
        self._sitting = 0  # the thread; 0: nobody
        self._woken = False

    def __enter__(self) -> OrchestratorLock:
        assert self._sitting != threading.get_ident(), "who sits already would wait for himself"
        self._free.acquire()
        self._sitting = threading.get_ident()
        return self

    def __exit__(self, *_: object) -> None:
        self._sitting = 0
        self._free.release()

    @contextmanager
    def left(self) -> Iterator[None]:
        """For what takes long. Who does not sit, as a test that asks for one act alone, has nothing to leave."""
        if self._sitting != threading.get_ident():
            yield
            return
        self.__exit__()
        try:
            yield
        finally:
            self.__enter__()

    def wait(self, seconds: float) -> None:
        """Get up until somebody wakes us, or for so long. A wake that came while we sat counts."""
        if not self._woken:
            self._sitting = 0
            self._free.wait(seconds)
            self._sitting = threading.get_ident()
        self._woken = False

    def wake(self) -> None:
        """By who sits."""
        self._woken = True
        self._free.notify_all()
