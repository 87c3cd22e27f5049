"""Acts -> threads: as many tasks at once as there are workers. Who acts holds the lock."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from sisimpur.agents.orchestrator.board.breaker import CircuitBreaker, Service
from sisimpur.agents.orchestrator.board.session import OrchestratorLock, Session
from sisimpur.agents.orchestrator.deploys.deploying import Deploying
from sisimpur.shared.model.errors import Replaced, Stopping, TeamError, Unavailable


class WorkerPool:
    """Everything but `end` is called by who holds the lock."""

    def __init__(self, lock: OrchestratorLock, workers: int) -> None:
        self._lock = lock
        self._workers = workers
        self._threads: dict[str, threading.Thread] = {}
        self._background: set[str] = set()
        self._others: dict[str, frozenset[str]] = {}  # what else each of them works on
        self._failures: list[BaseException] = []

    @property
    def busy(self) -> frozenset[str]:
        """What somebody works on: ids of tasks, names of phases."""
        return frozenset(self._threads).union(*self._others.values())

    @property
    def on_tasks(self) -> frozenset[str]:
        """The tasks that are worked on."""
        return self.busy - self._background

    @property
    def free(self) -> int:
        """How many workers are."""
        return max(0, self._workers - len(self._threads.keys() - self._background))

    def give(self, name: str, act: Callable[[], None], background: bool = False, others: Collection[str] = ()) -> None:
        """Begin an act as soon as the lock is free. What it raises is raised again by `raise_failure`.

        `background`: it takes none of the workers. `others`: it works on these, too.
        """
        assert name not in self._threads, f"{name} is being worked on"
        if background:
            self._background.add(name)
        self._others[name] = frozenset(others)
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
        with self._lock:
            try:
                act()
            except BaseException as failure:  # noqa: BLE001  it is raised again where it can be answered
                self._failures.append(failure)
            finally:
                self._forget(name)
                self._lock.wake()

    def _forget(self, name: str) -> None:
        del self._threads[name]
        self._others.pop(name, None)
        self._background.discard(name)


# --- what merged goes live beside the tasks: one deploy at a time, by a worker of its own --------------------


DEPLOY = "a deploy/"  # its name among what the pool works on, where no task has such a one


@dataclass(frozen=True)
class BackgroundDeploys:
    """`deploying` None: nothing is deployed. `kept`: keeps a bug's trace -> what the owner is told."""

    deploying: Deploying | None
    session: Session
    breaker: CircuitBreaker
    pool: WorkerPool
    kept: Callable[[Exception], str]

    @property
    def waits(self) -> Mapping[str, str]:
        """Tasks that were rolled back, and what has to happen first."""
        return self.deploying.waits if self.deploying else {}

    def hear(self) -> None:
        if self.deploying:
            self.deploying.hear()

    def begin(self) -> None:
        """Whenever there is something to deploy, one worker does so. Called by who holds the lock."""
        if not self.deploying or DEPLOY in self.pool.busy:
            return
        try:
            is_due = self.deploying.is_due()
        except TeamError as problem:  # that nothing can be deployed is no reason for the others to stop
            self.breaker.away(Service.DEPLOYS, problem)
            return
        if is_due:
            self.pool.give(DEPLOY, self._deploy, background=True)

    def _deploy(self) -> None:
        assert self.deploying
        try:
            self.deploying.go_on()
        except (Stopping, Replaced):
            raise
        except Exception as bug:
            if not self.session.is_daemon:
                raise
            self.breaker.away(Service.DEPLOYS, TeamError(self.kept(bug)))

    def now(self) -> str:
        """All that is to be deployed, for one caller who waits -> what kept it from its end; empty: nothing."""
        assert self.deploying
        with self.session.lock:
            try:
                self.deploying.hear()
            except TeamError as problem:  # what is known of the branch is good enough for what the owner orders
                self.session.tell(f"the forge was not asked: {problem}")
            self.deploying.go_on()
        outage = self.breaker.rests(Service.DEPLOYS) or self.breaker.rests(Service.FORGE)
        return outage.words if outage else ""
