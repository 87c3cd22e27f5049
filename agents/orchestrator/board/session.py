"""One run of the program: its clock, its lock, who is told of its progress, and whether it is being stopped."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from threading import Event

from sisimpur.shared.model.errors import Replaced, Stopping, TeamError
from sisimpur.shared.model.work import Run
from sisimpur.shared.store.activity import Activity
from sisimpur.shared.store.journal import Journal
from sisimpur.shared.system.clock import Clock
from sisimpur.shared.system.log import Log


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


@dataclass(frozen=True)
class Session:
    """`tell` prints one line of progress; `keep_bug` keeps a bug's trace, for whoever mends it -> where."""

    clock: Clock
    tell: Callable[[str], None] = field(default=lambda _: None)
    lock: OrchestratorLock = field(default_factory=OrchestratorLock)
    stopping: Callable[[], bool] = field(default=lambda: False)  # nothing new is begun any more
    leaving: Event = field(default_factory=Event)  # set: a new team takes over soon, with a new configuration
    keep_bug: Callable[[Exception], str] = field(default=lambda _: "logs/")
    is_daemon: bool = False  # we are there for months

    def now(self) -> datetime:
        return self.clock.now()

    def day(self) -> str:
        """Today, YYYY-MM-DD in the owner's time zone."""
        return self.clock.now().date().isoformat()

    def yields(self) -> bool:
        """Whether what only waits and looks has to make room: it goes on with the next team."""
        return self.stopping() or self.leaving.is_set()


@dataclass(frozen=True)
class AgentRuns:
    """The runs of the roles: each is booked with its end, and logged."""

    journal: Journal
    activity: Activity
    session: Session
    log: Log

    @contextmanager
    def begin(self, agent: str, task: str = "", attempt: int = 0, day: str = "") -> Iterator[Run]:
        """Book a run. `day`: the one that it belongs to; empty: today."""
        with self.activity.running(agent, day or self.session.day(), self.session.clock, task, attempt) as run:
            self.log(run, "begun")
            try:
                yield run
            except (Stopping, Replaced) as problem:
                self.log(run, "was stopped", why=str(problem))
                raise
            except BaseException as problem:
                is_told = isinstance(problem, TeamError) and str(problem)
                self.log(run, "broke off", why=str(problem) if is_told else f"{type(problem).__name__}: {problem}")
                raise
            self.log(run, "ended")

    @contextmanager
    def unlocked(self, agent: str, task: str = "", attempt: int = 0, day: str = "") -> Iterator[Run]:
        """Book a run that takes long: meanwhile others may act."""
        with self.begin(agent, task, attempt, day) as run, self.session.lock.released():
            yield run
