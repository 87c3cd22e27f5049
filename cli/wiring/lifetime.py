"""How long a team works: the signals that end it, and the ticks of the daemon.

A signal: nothing new begins, boxes end at once, model calls soon, messages in their time. APScheduler is our clock, and
never our memory.
"""

from __future__ import annotations

import itertools
import logging
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from queue import SimpleQueue
from typing import Any

SIGNALS = (signal.SIGTERM, signal.SIGINT)


@dataclass
class Stop:
    """`asked`: end well; `hurried`: somebody asked a second time, end at once."""

    asked: bool = False
    hurried: bool = False


@contextmanager
def stopping(wake: Callable[[], None]) -> Iterator[Stop]:
    """While the block runs, SIGTERM and SIGINT ask instead of ending us. In the main thread only (else ValueError).

    `wake`: called after each of them, in a thread of its own. So it may wait for a lock, also for one that the main
    thread holds: the handler itself, which interrupts that thread anywhere, takes none.
    """
    stop, news, counted = Stop(), SimpleQueue[bool](), itertools.count()

    def asked(*_: object) -> None:
        stop.asked = True
        if next(counted) > 0:  # counted in one step: the second may come while the first is in here
            stop.hurried = True
        news.put(True)

    before = {number: signal.signal(number, asked) for number in SIGNALS}
    threading.Thread(target=_tell, args=(news, wake), name="signals", daemon=True).start()
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        news.put(False)


def _tell(news: SimpleQueue[bool], wake: Callable[[], None]) -> None:
    while news.get():
        wake()


# --- the team -------------------------------------------------------------------------------------------------


def nobody_calls() -> None:
    """Nothing is under way that a signal would have to end."""


@dataclass
class Quitting:
    """Whether we were asked to end. `end_calls`: called after each signal, in a thread of its own."""

    stop: Stop = field(default_factory=Stop)
    end_calls: Callable[[], None] = nobody_calls

    def asked(self) -> bool:
        return self.stop.asked


@contextmanager
def quitting() -> Iterator[Quitting]:
    """Let SIGTERM and Ctrl-C end the team instead of this process, as long as the block lasts."""
    quit_ = Quitting()
    with stopping(lambda: quit_.end_calls()) as stop:
        quit_.stop = stop
        yield quit_


LONG_AGO = datetime.fromtimestamp(0, UTC)
LAST_TICK = 1.0  # seconds for a tick that is under way at the end


@contextmanager
def ticking(seconds: float, tick: Callable[[], None], failed: Callable[[Exception], None]) -> Iterator[None]:
    """Call `tick` at once and every so many seconds while the block runs: in its own thread, never two at a time.

    What it raises goes to `failed`, and it is called again. After the block none begins, and one that hangs delays
    no end.
    """
    logging.getLogger("apscheduler").setLevel(logging.CRITICAL + 1)  # it would write to our terminal
    at_work, over = threading.Lock(), threading.Event()

    def guarded() -> None:
        with at_work:
            if not over.is_set():
                try:
                    tick()
                except Exception as problem:  # noqa: BLE001  the next tick may do better
                    failed(problem)

    scheduler = _scheduler(seconds, guarded)
    scheduler.start()
    try:
        yield
    finally:
        over.set()
        if at_work.acquire(timeout=LAST_TICK):
            at_work.release()
            scheduler.shutdown()


def _scheduler(seconds: float, tick: Callable[[], None]) -> Any:
    """Make it run the job in its own daemon thread (executor "debug"): no pool that our end would wait for."""
    from apscheduler.schedulers.background import BackgroundScheduler  # type: ignore[import-untyped]

    scheduler = BackgroundScheduler(timezone=UTC)
    scheduler.add_executor("debug")
    scheduler.add_jobstore(patient_store(seconds))
    often = {"seconds": seconds, "timezone": UTC, "next_run_time": LONG_AGO}
    scheduler.add_job(tick, "interval", max_instances=1, coalesce=True, misfire_grace_time=None, **often)
    return scheduler


def patient_store(seconds: float) -> Any:
    """Make a store in memory that dates its job anew when somebody has set the machine's clock.

    The scheduler dates its next run by the wall clock. Set back by an hour, it would be silent for so long; set ahead
    by years, it would first count every run that it has missed.
    """
    from apscheduler.jobstores.memory import MemoryJobStore  # type: ignore[import-untyped]

    class PatientStore(MemoryJobStore):  # type: ignore[misc]  # it has no types
        def get_due_jobs(self, now: datetime) -> Any:
            for job in self.get_all_jobs():
                if abs(job.next_run_time - now) > timedelta(seconds=seconds):
                    job.modify(next_run_time=now)
            return super().get_due_jobs(now)

    return PatientStore()
