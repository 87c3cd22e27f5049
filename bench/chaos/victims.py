"""Who can be killed: a program, and what it has started."""

from __future__ import annotations

import os
import random
import signal
from contextlib import suppress
from pathlib import Path


class Victims:
    """A program and all below it, as /proc says at this moment."""

    def __init__(self, program: int) -> None:
        self._program = program

    def kill_one(self, luck: random.Random) -> str:
        """One of those below -> its name; empty: there is none."""
        below = self._below(self._program)
        if not below:
            return ""
        victim = luck.choice(below)
        name = _name(victim)
        _signal(victim, signal.SIGKILL)
        return name

    def kill_all(self) -> None:
        """At one moment: who is stopped starts nobody."""
        stopped: set[int] = set()
        while new := {self._program, *self._below(self._program)} - stopped:
            for pid in new:
                _signal(pid, signal.SIGSTOP)
            stopped |= new
        for pid in stopped:
            _signal(pid, signal.SIGKILL)

    def _below(self, pid: int) -> list[int]:
        found = []
        for path in Path(f"/proc/{pid}/task").glob("*/children"):
            with suppress(OSError):
                for child in map(int, path.read_text().split()):
                    found += [child, *self._below(child)]
        return found


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip() or "unknown"
    except OSError:
        return "unknown"


def _signal(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)
