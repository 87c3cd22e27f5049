"""Acts -> hands: as many tasks at once as there are hands, each in a thread of its own, each act on the chair."""

from __future__ import annotations

import threading
from collections.abc import Callable

from agents.orchestrator.orchestrator_lock import OrchestratorLock
from shared.model.errors import Unavailable


class WorkerPool:
    """Everything but `end` is called by who sits on the chair. `ended`: called by each thread at its end."""

    def __init__(self, chair: OrchestratorLock, hands: int, ended: Callable[[], None]) -> None:
        self._chair = chair
        self._hands = hands
        self._ended = ended
        self._threads: dict[str, threading.Thread] = {}
        self._beside: set[str] = set()
        self._failures: list[BaseException] = []

    @property
    def busy(self) -> frozenset[str]:
        """What somebody works on: ids of tasks, names of phases."""
        return frozenset(self._threads)

    @property
    def on_tasks(self) -> frozenset[str]:
        """Who takes one of the hands."""
        return self.busy - self._beside

    @property
    def free(self) -> int:
        """How many hands are."""
        return max(0, self._hands - len(self.on_tasks))

    def give(self, name: str, act: Callable[[], None], beside: bool = False) -> None:
        """It begins when the chair is free. What it raises is raised again by `raise_failure`.

        `beside`: it takes none of the hands.
        """
        assert name not in self._threads, f"{name} is being worked on"
        if beside:
            self._beside.add(name)
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
        """Waits for all. By who does not sit: they need the chair to book their ends."""
        for thread in tuple(self._threads.values()):
            thread.join()

    def _work(self, name: str, act: Callable[[], None]) -> None:
        try:
            with self._chair:
                try:
                    act()
                except BaseException as failure:  # noqa: BLE001  it is raised again where it can be answered
                    self._failures.append(failure)
                finally:
                    self._forget(name)
                    self._chair.wake()
        finally:
            self._ended()

    def _forget(self, name: str) -> None:
        del self._threads[name]
        self._beside.discard(name)
