"""A signal -> the team ends: nothing new begins, boxes end at once, model calls soon, messages in their time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from shared.system.signals import Stop, stopping


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
