"""SIGTERM and SIGINT ask; nobody is interrupted, and nobody waits for a lock that he holds himself."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from sisimpur.cli.wiring.lifetime import SIGNALS, Stop, stopping
from tests.killing import REPOSITORY

WAITING = """
import threading, time
from sisimpur.cli.wiring.lifetime import stopping
woken = threading.Condition(threading.Lock())

def wake():
    with woken:
        woken.notify_all()

def say(*words):
    print(*words, flush=True)

with stopping(wake) as stop, woken:
    say("ready")
    woken.wait_for(lambda: stop.asked, 20)
    say("asked", stop.asked, stop.hurried)
    woken.wait_for(lambda: stop.hurried, 20)
    say("hurried", stop.asked, stop.hurried)
say("restored")
time.sleep(20)
"""

BUSY = """
import threading
from sisimpur.cli.wiring.lifetime import stopping
chair = threading.Lock()
woken = threading.Event()

def wake():
    with chair:
        woken.set()

with stopping(wake) as stop:
    with chair:
        print("ready", flush=True)
        while not stop.asked:  # at work, on the chair
            sum(range(1000))
    print("woken", woken.wait(20), flush=True)
"""


@contextmanager
def program(code: str) -> Iterator[subprocess.Popen[str]]:
    """One that has said that it is ready."""
    argv = (sys.executable, "-c", code)
    with subprocess.Popen(argv, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert said(process) == "ready"
            yield process
        finally:
            process.kill()


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    return process.stdout.readline().rstrip("\n")


@pytest.mark.parametrize(
    ("first", "second"),
    [(signal.SIGTERM, signal.SIGTERM), (signal.SIGINT, signal.SIGINT), (signal.SIGTERM, signal.SIGINT)],
)
def test_the_first_one_asks_the_second_hurries_and_then_they_end_us_again(
    first: signal.Signals, second: signal.Signals
) -> None:
    with program(WAITING) as process:
        process.send_signal(first)
        assert said(process) == "asked True False"
        process.send_signal(second)
        assert said(process) == "hurried True True"
        assert said(process) == "restored"
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == -signal.SIGTERM


def test_who_sits_on_the_chair_is_not_stopped_by_his_own_waking() -> None:
    with program(BUSY) as process:
        process.send_signal(signal.SIGTERM)
        assert said(process) == "woken True"
        assert process.wait(20) == 0


def test_nothing_is_asked_while_nobody_asks() -> None:
    before = [signal.getsignal(number) for number in SIGNALS]
    woken: list[int] = []
    with stopping(lambda: woken.append(1)) as stop:
        assert [signal.getsignal(number) for number in SIGNALS] != before
    assert (stop, woken) == (Stop(asked=False, hurried=False), [])
    assert [signal.getsignal(number) for number in SIGNALS] == before


def test_what_goes_wrong_inside_leaves_the_signals_as_they_were() -> None:
    before = [signal.getsignal(number) for number in SIGNALS]
    with pytest.raises(KeyError), stopping(lambda: None):
        raise KeyError
    assert [signal.getsignal(number) for number in SIGNALS] == before


def test_only_the_main_thread_may_ask_for_it() -> None:
    problems: list[Exception] = []

    def elsewhere() -> None:
        try:
            stopping(lambda: None).__enter__()
        except ValueError as problem:
            problems.append(problem)

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert "main thread" in str(problems[0])
