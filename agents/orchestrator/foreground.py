"""The work phase with somebody waiting for its end: round after round until nothing is left to do."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from sisimpur.agents.orchestrator.board.breaker import CircuitBreaker, Service
from sisimpur.agents.orchestrator.board.session import Session
from sisimpur.agents.orchestrator.decide import Rest
from sisimpur.agents.orchestrator.loop import Work
from sisimpur.agents.orchestrator.workers import WorkerPool
from sisimpur.shared.forge.forge import RateLimited

PATIENCE = timedelta(minutes=10)  # the longest rest that is waited for
MOST_PAUSES = 6  # for a model that does not answer
FORGE_PATIENCE = 1_800.0  # seconds that all limits of the forge together may cost
BEAT = 60.0  # seconds between two looks while others work


class Foreground:
    """One phase of one day, for one caller who waits.

    `hear`: looks at the forge. `background`: after each round, begins what goes on beside the tasks.
    """

    def __init__(
        self,
        work: Work,
        hear: Callable[[], None],
        background: Callable[[], None],
        session: Session,
        breaker: CircuitBreaker,
        pool: WorkerPool,
    ) -> None:
        self._work = work
        self._hear = hear
        self._background = background
        self._session = session
        self._breaker = breaker
        self._pool = pool
        self._forge_patience = FORGE_PATIENCE

    def until_quiet(self, hears: bool = True) -> str:
        """Every move there is -> why it rests now. `hears`: the forge is looked at first."""
        try:
            with self._session.lock:
                while hears and not self._heard():
                    pass
                return self._until_quiet()
        finally:
            self._pool.end()

    def pause(self, seconds: float) -> None:
        """Whoever asks us to end is heard within a second."""
        self._sleep(self._session.now() + timedelta(seconds=seconds))

    def _until_quiet(self) -> str:
        while True:
            rest = self._work.round()
            self._background()
            if self._pool.busy:
                self._session.lock.wait(BEAT)
            elif not self._waited(rest):
                if outage := self._breaker.rests(Service.DEPLOYS):
                    self._work.problems.append(outage.words)
                return rest.why

    def _heard(self) -> bool:
        """False: after a pause that the forge has asked for, once more."""
        try:
            self._hear()
        except RateLimited as limit:
            if limit.wait > self._forge_patience:
                raise
            self._breaker.took(limit)
            if not self._wait_for_forge(self._session.now() + timedelta(seconds=limit.wait), str(limit)):
                raise
            return False
        return True

    def _waited(self, rest: Rest) -> bool:
        """False: it rests for longer than anybody would wait here."""
        if outage := self._breaker.rests(Service.FORGE):
            return self._wait_for_forge(outage.until, outage.words)
        until, now = rest.until or self._model_is_asked_again(rest.why), self._session.now()
        if until is None or until > now + PATIENCE or self._session.stopping():
            return False
        self._session.tell(f"resting until {until:%H:%M:%S}: {rest.why}")
        self._sleep(until)
        return True

    def _model_is_asked_again(self, why: str) -> datetime | None:
        """None: we rest for another reason, or it was away too often."""
        outage = self._breaker.rests(Service.MODEL)
        return outage.until if outage and outage.words == why and outage.times <= MOST_PAUSES else None

    def _wait_for_forge(self, until: datetime, words: str) -> bool:
        """As long as it says; half an hour in all."""
        seconds = (until - self._session.now()).total_seconds()
        if seconds > self._forge_patience or self._session.stopping():
            self._work.problems.append(words)
            return False
        self._forge_patience -= max(seconds, 1.0)
        self._session.tell(f"{words}; waiting")
        self._sleep(until)
        return True

    def _sleep(self, until: datetime) -> None:
        """Whoever asks us to end is heard within a second."""
        clock = self._session.clock
        with self._session.lock.released():
            while not self._session.stopping() and (left := (until - clock.now()).total_seconds()) > 0:
                clock.sleep(min(left, 1.0))
