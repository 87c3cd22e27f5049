"""Acts -> threads: as many tasks at once as there are workers. Who acts holds the lock."""

from __future__ import annotations

import threading
from collections.abc import Callable

from sisimpur.agents.orchestrator.board.orchestrator_lock import OrchestratorLock
from sisimpur.shared.model.errors import Unavailable


class WorkerPool:
    """Everything but `end` is called by who holds the lock. `ended`: called by each thread at its end."""

    def __init__(self, lock: OrchestratorLock, workers: int, ended: Callable[[], None]) -> None:
        self._lock = lock
        self._workers = workers
        self._ended = ended
        self._threads: dict[str, threading.Thread] = {}
        self._background: set[str] = set()
        self._failures: list[BaseException] = []

    @property
    def busy(self) -> frozenset[str]:
        """What somebody works on: ids of tasks, names of phases."""
        return frozenset(self._threads)

    @property
    def on_tasks(self) -> frozenset[str]:
        """Who takes one of the workers."""
        return self.busy - self._background

    @property
    def free(self) -> int:
        """How many workers are."""
        return max(0, self._workers - len(self.on_tasks))

    def give(self, name: str, act: Callable[[], None], background: bool = False) -> None:
        """Begin an act as soon as the lock is free. What it raises is raised again by `raise_failure`.

        `background`: it takes none of the workers.
        """
        assert name not in self._threads, f"{name} is being worked on"
        if background:
            self._background.add(name)
        thread = threading.Thread(target=self._work, args=(name, act), name=name)
        self._threads[name] = thread
        try:
            thread.start()
        except RuntimeError:  # the machine has no thread left
            self._forget(name)
            raise Unavailable(f"{name} was not begun: this machine starts no more threads") from None

    def raise_failure(self) -> None:
        """What broke one act off is everybody's: it is the caller's to decide."""
        if self._failures:
            raise self._failures.pop(0)

    def end(self) -> None:
        """Waits for all. By who does not hold the lock: they need it to book their ends."""
        for thread in tuple(self._threads.values()):
            thread.join()

    def _work(self, name: str, act: Callable[[], None]) -> None:
        try:
            with self._lock:
                try:
                    act()
                except BaseException as failure:  # noqa: BLE001  it is raised again where it can be answered
                    self._failures.append(failure)
                finally:
                    self._forget(name)
                    self._lock.wake()
        finally:
            self._ended()

    def _forget(self, name: str) -> None:
        del self._threads[name]
        self._background.discard(name)
