"""The scheduler as our clock: it ticks, whatever the tick does, and whatever is done to the machine's clock."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from apscheduler.schedulers.background import BackgroundScheduler  # type: ignore[import-untyped]

from sisimpur.cli.wiring.lifetime import patient_store, ticking
from sisimpur.shared.system.process import run
from tests.killing import REPOSITORY, snippet

SOON = 5.0  # seconds, for what takes milliseconds


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SOON
    while not holds():
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.005)


def nothing_fails(problem: Exception) -> None:
    raise AssertionError(problem)


def test_the_first_tick_comes_at_once() -> None:
    ticked = threading.Event()
    with ticking(3_600, ticked.set, nothing_fails):
        assert ticked.wait(SOON)


def test_the_others_follow_and_none_comes_after_the_end() -> None:
    ticks: list[float] = []
    with ticking(0.05, lambda: ticks.append(time.monotonic()), nothing_fails):
        until(lambda: len(ticks) >= 4)
    assert ticks[3] - ticks[0] >= 0.1
    count = len(ticks)
    time.sleep(0.15)
    assert len(ticks) == count
    assert "APScheduler" not in {thread.name for thread in threading.enumerate()}


def test_what_a_tick_raises_is_told_and_the_next_one_comes(capfd: pytest.CaptureFixture[str]) -> None:
    told: list[str] = []

    def tick() -> None:
        raise RuntimeError("the disk is full")

    with ticking(0.05, tick, lambda problem: told.append(str(problem))):
        until(lambda: len(told) >= 3)
    assert set(told) == {"the disk is full"}
    assert capfd.readouterr() == ("", "")


def test_also_if_that_cannot_be_told(capfd: pytest.CaptureFixture[str]) -> None:
    tries: list[int] = []

    def tick() -> None:
        tries.append(1)
        raise RuntimeError("the disk is full")

    def failed(problem: Exception) -> None:
        raise OSError("and the log too") from problem

    with ticking(0.05, tick, failed):
        until(lambda: len(tries) >= 3)
    assert capfd.readouterr() == ("", "")


def test_a_slow_tick_is_never_doubled_and_what_it_kept_away_is_not_made_up_for() -> None:
    inside, most, ends = 0, 0, list[float]()

    def tick() -> None:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        time.sleep(0 if ends else 0.5)
        inside -= 1
        ends.append(time.monotonic())

    with ticking(0.05, tick, nothing_fails):
        until(lambda: len(ends) >= 4)
    assert most == 1
    assert ends[3] - ends[0] >= 0.08


def test_the_end_waits_for_a_tick_that_is_under_way() -> None:
    began, ended = threading.Event(), threading.Event()

    def tick() -> None:
        began.set()
        time.sleep(0.2)
        ended.set()

    with ticking(3_600, tick, nothing_fails):
        assert began.wait(SOON)
    assert ended.is_set()


def test_a_tick_that_hangs_holds_up_nobodys_end() -> None:
    code = """
        import threading, time
        from sisimpur.cli.wiring.lifetime import ticking
        began = threading.Event()
        def tick():
            began.set()
            time.sleep(60)
        with ticking(3600, tick, print):
            began.wait()
        print("ended", flush=True)
    """
    done = run(snippet(code), cwd=REPOSITORY, env={}, timeout=20)
    assert (done.text, done.code) == ("ended\n", 0), done.complaint
    assert done.seconds < 10


def test_the_library_itself_says_nothing() -> None:
    with ticking(3_600, lambda: None, nothing_fails):
        assert not logging.getLogger("apscheduler.scheduler").isEnabledFor(logging.CRITICAL)


@pytest.mark.parametrize(
    "moved",
    [
        pytest.param(timedelta(hours=-1), id="back by an hour"),
        pytest.param(timedelta(days=-366), id="back by a year"),
        pytest.param(timedelta(days=7), id="ahead by a week"),
        pytest.param(timedelta(days=366 * 56), id="ahead by half a century: a machine that began in 1970"),
    ],
)
def test_a_clock_that_is_set_costs_no_tick(moved: timedelta) -> None:
    store, now = patient_store(30), datetime.now(UTC)
    scheduler = BackgroundScheduler(timezone=UTC)
    scheduler.add_jobstore(store)
    scheduler.start(paused=True)
    try:
        job = scheduler.add_job(lambda: None, "interval", seconds=30, next_run_time=now + timedelta(seconds=20))
        assert store.get_due_jobs(now) == []
        assert [one.id for one in store.get_due_jobs(now + moved)] == [job.id]
        assert job.next_run_time == store.get_next_run_time() == now + moved
    finally:
        scheduler.shutdown()


def test_it_is_not_loaded_before_it_is_needed() -> None:
    code = "import sys, sisimpur.cli.wiring.lifetime; print('apscheduler' in sys.modules)"
    assert run((sys.executable, "-c", code), cwd=REPOSITORY, env={}, timeout=20).text == "False\n"
