"""A signal -> the team ends: nothing new begins, boxes end at once, model calls soon, messages in their time."""

from __future__ import annotations

import itertools
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from queue import SimpleQueue

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


@dataclass
class Quitting:
    """Whether we were asked to end. `end_calls`: called after each signal, in a thread of its own."""

    stop: Stop = field(default_factory=Stop)
    end_calls: Callable[[], None] = field(default=lambda: None)

    def asked(self) -> bool:
        return self.stop.asked

    def is_hurried(self) -> bool:
        """Tell whether we were asked a second time."""
        return self.stop.hurried


@contextmanager
def quitting() -> Iterator[Quitting]:
    """Let SIGTERM and Ctrl-C end the team instead of this process, as long as the block lasts."""
    quit_ = Quitting()
    with stopping(lambda: quit_.end_calls()) as stop:
        quit_.stop = stop
        yield quit_
