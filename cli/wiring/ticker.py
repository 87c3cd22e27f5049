"""Scheduler adapter: APScheduler as our clock, and never as our memory."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

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
