"""Acts -> threads: as many tasks at once as there are workers. Who acts holds the lock."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping

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


class BackgroundDeploys:
    """`deploying` None: nothing is deployed. `kept`: keeps a bug's trace -> what the owner is told."""

    def __init__(
        self,
        deploying: Deploying | None,
        session: Session,
        breaker: CircuitBreaker,
        pool: WorkerPool,
        kept: Callable[[Exception], str],
    ) -> None:
        self._deploying = deploying
        self._session = session
        self._breaker = breaker
        self._pool = pool
        self._kept = kept

    @property
    def waits(self) -> Mapping[str, str]:
        """Tasks that were rolled back, and what has to happen first."""
        return self._deploying.waits if self._deploying else {}

    def hear(self) -> None:
        if self._deploying:
            self._deploying.hear()

    def begin(self) -> None:
        """Whenever there is something to deploy, one worker does so. Called by who holds the lock."""
        if not self._deploying or DEPLOY in self._pool.busy:
            return
        try:
            is_due = self._deploying.is_due()
        except TeamError as problem:  # that nothing can be deployed is no reason for the others to stop
            self._breaker.away(Service.DEPLOYS, problem)
            return
        if is_due:
            self._pool.give(DEPLOY, self._deploy, background=True)

    def _deploy(self) -> None:
        assert self._deploying
        try:
            self._deploying.go_on()
        except (Stopping, Replaced):
            raise
        except Exception as bug:
            if not self._session.is_daemon:
                raise
            self._breaker.away(Service.DEPLOYS, TeamError(self._kept(bug)))

    def now(self) -> str:
        """All that is to be deployed, for one caller who waits -> what kept it from its end; empty: nothing."""
        assert self._deploying
        with self._session.lock:
            try:
                self._deploying.hear()
            except TeamError as problem:  # what is known of the branch is good enough for what the owner orders
                self._session.tell(f"the forge was not asked: {problem}")
            self._deploying.go_on()
        outage = self._breaker.rests(Service.DEPLOYS) or self._breaker.rests(Service.FORGE)
        return outage.words if outage else ""
