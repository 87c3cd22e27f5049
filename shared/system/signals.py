"""Door to the system's wish that we end. The only module that handles signals."""

from __future__ import annotations

import itertools
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
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
