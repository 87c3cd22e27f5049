"""What is made once is the same for all threads, however they meet."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier, BrokenBarrierError

import pytest

from sisimpur.cli.wiring.parts import made_once


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_all_who_ask_at_the_same_time_get_the_same(threads: int) -> None:
    """Two workers with a QA each measured the same base at the same time: each has a lock of its own."""
    met, made = Barrier(2), list[object]()

    def make() -> object:
        with suppress(BrokenBarrierError):
            met.wait(0.2)  # a second maker would come in now
        made.append(object())
        return made[-1]

    ask = made_once(make)
    with ThreadPoolExecutor(threads) as pool:
        got = [each.result() for each in [pool.submit(ask) for _ in range(threads)]]
    assert len(made) == 1
    assert all(one is made[0] for one in got)
    assert ask() is made[0]


def test_what_could_not_be_made_is_tried_again() -> None:
    ends = [ValueError("not yet"), None]

    def make() -> str:
        if problem := ends.pop(0):
            raise problem
        return "made"

    ask = made_once(make)
    with pytest.raises(ValueError, match="not yet"):
        ask()
    assert ask() == "made"
