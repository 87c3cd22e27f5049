"""What merged goes live beside the tasks: one deploy at a time, by a worker of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sisimpur.agents.orchestrator.board.breaker import CircuitBreaker, Service
from sisimpur.agents.orchestrator.board.session import Session
from sisimpur.agents.orchestrator.deploys.deploying import Deploying
from sisimpur.agents.orchestrator.workers import WorkerPool
from sisimpur.shared.model.errors import Replaced, Stopping, TeamError

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
