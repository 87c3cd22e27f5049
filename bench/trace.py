"""Records which modules of the product do some work, which git processes they start, what they read."""

from __future__ import annotations

import contextlib
import inspect
import os
import sqlite3
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from bench.house_static import PRODUCT

ROOT = Path(__file__).parents[1]
DOORS = ("shared/repo/", "shared/system/")


@dataclass
class Trace:
    """`modules`: paths below the root, in the order in which a function of theirs ran first; importing is not running.

    `calls`: git processes that this one started, by git's verb and the two functions of the product that asked for it.
    `statements`: of every connection that was opened meanwhile; `reads`: those of them that begin with SELECT.
    `opened`: every file, by its path. What threads did that ran before is not seen in `modules`.
    """

    root: Path
    modules: list[str] = field(default_factory=list)
    calls: Counter[tuple[str, str]] = field(default_factory=Counter)
    reads: int = 0
    statements: int = 0
    opened: list[str] = field(default_factory=list)
    codes: set[CodeType] = field(default_factory=set)  # each function that ran, comprehensions and lambdas too
    _connections: list[sqlite3.Connection] = field(default_factory=list)  # not listened to yet

    @property
    def git(self) -> int:
        return self.calls.total()

    @property
    def functions(self) -> int:
        """Those with a name."""
        return sum(not code.co_name.startswith("<") for code in self.codes)

    def see(self, frame: FrameType, event: str, _: Any) -> None:
        """A profile function of the interpreter."""
        if self._connections:
            self._listen()
        if event == "call" and frame.f_code not in self.codes:
            self._enter(frame)

    def _enter(self, frame: FrameType) -> None:
        path = self._product_path(frame.f_code)
        if path and not _is_loading(frame):
            self.codes.add(frame.f_code)
            if path not in self.modules:
                self.modules.append(path)

    def _product_path(self, code: CodeType) -> str:
        """Below the root; empty: not the product's."""
        if not code.co_filename.startswith(f"{self.root}/"):
            return ""
        path = code.co_filename[len(f"{self.root}/") :].removeprefix("sisimpur/")  # a folder of links
        return path if path.partition("/")[0] in PRODUCT else ""

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        """An audit event of the interpreter."""
        if event == "subprocess.Popen":
            words = [arguments[1]] if isinstance(arguments[1], str | bytes) else arguments[1]
            if os.path.basename(os.fsdecode(words[0])) == "git":
                self.calls[_verb([*map(os.fsdecode, words)]), self._askers(sys._getframe())] += 1
        elif event == "open" and isinstance(arguments[0], str):
            self.opened.append(arguments[0])
        elif event == "sqlite3.connect/handle":
            self._connections.append(arguments[0])
            if sys.getprofile() is None:
                sys.setprofile(self._see_connection)

    def _askers(self, frame: FrameType | None) -> str:
        """The nearest two functions of the product that are not git's own doors, the nearer first."""
        found: list[str] = []
        while frame and len(found) < 2:
            path = self._product_path(frame.f_code)
            if path and not path.startswith(DOORS):
                found.append(f"{Path(path).stem}.{frame.f_code.co_name}")
            frame = frame.f_back
        return " < ".join(found)

    def _see_connection(self, *_: Any) -> None:
        """A profile function for as long as it takes, where nobody traces."""
        self._listen()
        if not self._connections:
            sys.setprofile(None)

    def _listen(self) -> None:
        """The audit event comes before a connection is whole; the next thing that its thread does comes after."""
        for connection in tuple(self._connections):
            with contextlib.suppress(sqlite3.ProgrammingError):  # not whole yet, or another thread's
                connection.set_trace_callback(self._count)
                self._connections.remove(connection)

    def _count(self, statement: str) -> None:
        """What a trigger does is told as a comment."""
        self.statements += not statement.startswith("--")
        self.reads += statement.lstrip()[:6].upper() == "SELECT"


def _verb(words: list[str]) -> str:
    """What git is to do: the first word that is neither an option nor the value of one."""
    plain = (word for before, word in pairwise(words) if not word.startswith("-") and before != "-c")
    return next(plain, "")


def _is_loading(frame: FrameType) -> bool:
    """Whether it is the body of a module or a class, or runs because a module is being imported."""
    above: FrameType | None = frame
    while above and not above.f_code.co_filename.startswith("<frozen importlib"):
        above = above.f_back
    return above is not None or not frame.f_code.co_flags & inspect.CO_OPTIMIZED


_current: list[Trace] = []


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    for trace in _current:
        trace.hear(event, arguments)


@cache
def _begin() -> None:
    """Once, since a hook stays as long as its process."""
    sys.addaudithook(_hear)


@contextlib.contextmanager
def counting(root: Path = ROOT) -> Iterator[Trace]:
    """Counts processes, statements and files of this one while the block lasts, at nearly no cost."""
    trace = Trace(root)
    _begin()
    _current.append(trace)
    try:
        yield trace
    finally:
        _current.remove(trace)


@contextlib.contextmanager
def tracing(root: Path = ROOT) -> Iterator[Trace]:
    """Traces functions too, which costs much."""
    with counting(root) as trace:
        threading.setprofile(trace.see)
        sys.setprofile(trace.see)
        try:
            yield trace
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
