"""Faults of the local GitHub: what goes wrong on the wire, planted before the work is done or after it."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from sisimpur.simulators.github.call import Answer, Request, pattern

When = Literal["before", "after"]
HTML = "<!DOCTYPE html><html><body><h1>We had issues producing the response to your request.</h1></body></html>"


@dataclass(frozen=True)
class Fault:
    """`status` 0: the work's own answer (after it), or none at all (before it): the connection is closed.

    `body`: what becomes JSON, or text that is sent as it is. `delay`: seconds of silence first. `cut`: the connection
    ends in the middle of the body. `close`: it ends without an answer.
    """

    status: int = 0
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    cut: bool = False
    close: bool = False

    def answer(self, work: Answer | None) -> Answer | None:
        """What is sent instead of what the work answered (None: it was not done); None: nothing is sent."""
        if self.close or not (self.status or work):
            return None
        if not self.status:
            return work
        body = {"message": "Server Error"} if self.body is None else self.body
        kind = {"content-type": "text/html"} if isinstance(self.body, str) else {}
        return Answer(self.status, body, kind | {name.lower(): value for name, value in self.headers.items()})


def html(status: int = 502) -> Fault:
    """A page for people, where JSON is expected."""
    return Fault(status, HTML)


def silence(seconds: float) -> Fault:
    """Nothing is said for so long, then the connection ends."""
    return Fault(delay=seconds, close=True)


def closed() -> Fault:
    return Fault(close=True)


def cut(status: int = 200) -> Fault:
    """Half of an answer."""
    return Fault(status, {"message": "half of this is never sent"}, cut=True)


@dataclass(frozen=True)
class _Planted:
    fault: Fault
    when: When
    method: str
    path: re.Pattern[str] | None  # None: every one
    skip: int
    times: int

    def meets(self, request: Request) -> bool:
        return self.method in (request.method, "") and (self.path is None or bool(self.path.fullmatch(request.path)))


class Faults:
    """Planted ones are used up in the order in which they were planted."""

    def __init__(self) -> None:
        self._planted: list[_Planted] = []
        self._lock = threading.Lock()

    def before(self, fault: Fault, where: str = "", times: int = 1, skip: int = 0) -> None:
        """Answered INSTEAD of doing the work.

        `where`: "POST /repos/{r}/pulls", a method alone, or nothing: every request. {r} is OWNER/NAME, git's paths are
        "/{r}.git/git-receive-pack" and so on. The first `skip` that meet it are let through, the next `times` not.
        """
        self._plant(fault, "before", where, times, skip)

    def after(self, fault: Fault, where: str = "", times: int = 1, skip: int = 0) -> None:
        """The work is done, and its answer is lost or wrong."""
        self._plant(fault, "after", where, times, skip)

    def clear(self) -> None:
        with self._lock:
            self._planted.clear()

    @property
    def left(self) -> int:
        """How many are planted and not used up."""
        return len(self._planted)

    def take(self, when: When, request: Request) -> Fault | None:
        """What happens to this request. Called by the server, once at each moment."""
        with self._lock:
            for place, planted in enumerate(self._planted):
                if planted.when == when and planted.meets(request):
                    return self._use(place, planted)
        return None

    def _use(self, place: int, planted: _Planted) -> Fault | None:
        if planted.skip:
            self._planted[place] = replace(planted, skip=planted.skip - 1)
            return None
        self._planted[place : place + 1] = [replace(planted, times=planted.times - 1)] if planted.times > 1 else []
        return planted.fault

    def _plant(self, fault: Fault, when: When, where: str, times: int, skip: int) -> None:
        method, _, path = where.partition(" ")
        shape = pattern(path.replace("{owner}/{repo}", "{r}")) if path else None
        with self._lock:
            self._planted.append(_Planted(fault, when, method, shape, skip, times))
