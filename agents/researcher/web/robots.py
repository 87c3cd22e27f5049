"""Door to what the owners of sites allow. The only module that reads a robots.txt and keeps to it.

As RFC 9309 says: where there is none, all is allowed; where it is not to be had, nothing is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar

from agents.researcher.web.apart import read_apart
from shared.model.errors import Refused, Unavailable
from shared.system.clock import Clock
from shared.system.http import HttpAddress, HttpAnswer, shown

TOKEN = "sisimpur-agents"  # noqa: S105  the name by which a robots.txt speaks to us
MOST_RULES = 500 * 1024  # bytes; what comes after them is not read
CPU_SECONDS = 2  # of processor time; what people write takes a twentieth of one
LONGEST_PAUSE = 10.0  # seconds between two pages of a site
KEPT = timedelta(hours=1)
MOST_SITES = 500

T = TypeVar("T")


@dataclass(frozen=True)
class _Site:
    """`rules`: empty: all is allowed. `problem`: why nothing is known of them."""

    asked: datetime
    rules: bytes = b""
    problem: Refused | Unavailable | None = None


class Robots:
    """In memory only. For one thread at a time."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._sites: dict[str, _Site] = {}
        self._read: dict[str, datetime] = {}

    def admit(self, at: HttpAddress, fetch: Callable[[HttpAddress], HttpAnswer]) -> None:
        """Returns when the page may be read; before that it sleeps as long as the site asks us to.

        `fetch`: gets a robots.txt, redirects followed. Refused: the site does not want it. Unavailable: nobody knows.
        """
        site = self._site(at, fetch)
        if site.problem:
            raise type(site.problem)(f"{shown(at.url)} is not read, its robots.txt is not to be had: {site.problem}")
        if site.rules:
            self._pause(at, _allowed_pause(at, site.rules))
        _keep(self._read, at.origin, self._clock.now())

    def _site(self, at: HttpAddress, fetch: Callable[[HttpAddress], HttpAnswer]) -> _Site:
        now, known = self._clock.now(), self._sites.get(at.origin)
        if known is None or not timedelta(0) <= now - known.asked < KEPT:
            known = _asked(at, fetch, now)
            _keep(self._sites, at.origin, known)
        return known

    def _pause(self, at: HttpAddress, pause: float) -> None:
        last = self._read.get(at.origin)
        if last is not None:
            since = max(0.0, (self._clock.now() - last).total_seconds())
            if pause > since:
                self._clock.sleep(pause - since)


def _asked(at: HttpAddress, fetch: Callable[[HttpAddress], HttpAnswer], now: datetime) -> _Site:
    try:
        answer = fetch(HttpAddress(at.scheme, at.host, at.port, "/robots.txt"))
    except (Refused, Unavailable) as reason:
        return _Site(now, problem=reason.with_traceback(None))
    if answer.status >= 500 or answer.status == 429:
        return _Site(now, problem=Unavailable(f"status {answer.status}"))
    rules = answer.body if answer.whole else answer.body.rpartition(b"\n")[0]  # the last line may be half of one
    return _Site(now, rules)


def _allowed_pause(at: HttpAddress, rules: bytes) -> float:
    try:
        found = read_apart("robots", rules, at.url, TOKEN, cpu_seconds=CPU_SECONDS)
        allowed, pause = found["allowed"] is True, float(found["pause"])
    except (Refused, KeyError, TypeError, ValueError):
        raise Refused(f"{shown(at.url)} is not read: its robots.txt cannot be understood") from None
    if not allowed:
        raise Refused(f"{shown(at.url)} is not read: its robots.txt does not allow it")
    return min(pause, LONGEST_PAUSE)


def _keep(book: dict[str, T], key: str, value: T) -> None:
    """The newest last; the oldest make room."""
    book.pop(key, None)
    book[key] = value
    while len(book) > MOST_SITES:
        del book[next(iter(book))]
