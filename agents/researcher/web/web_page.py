"""Web page adapter: reads what strangers publish, as far as the owners of the sites allow.

Parsers are large programs, some of them in C, and there are texts that keep them busy for hours or break them. So pages
and rules are read in a process of its own, with an empty environment and limits of time and memory; what comes back is
one JSON value of limited size. A robots.txt is kept to as RFC 9309 says: where there is none, all is allowed; where it
is not to be had, nothing is.
"""

from __future__ import annotations

import json
import re
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from sisimpur.shared.model.errors import Misconfigured, Refused, Unavailable
from sisimpur.shared.model.research import WebSource
from sisimpur.shared.model.text import legible
from sisimpur.shared.system.clock import Clock
from sisimpur.shared.system.http import Http, HttpAddress, HttpAnswer, shown
from sisimpur.shared.system.process import RunOptions, run
from sisimpur.shared.system.web_line import PORTS, WebLine, followed, web_address

# --- read in a process of its own -----------------------------------------------------------------------------

PROGRAM = Path(__file__).with_name("apart_program.py")
CPU_SECONDS = 6  # of processor time: a page of 2 MB in honest paragraphs takes less than one
WAITING = 5.0  # times as long, on a machine that has much else to do
MOST_SAID = 4_000_000  # bytes
NO_LIBRARY = 3


def read_apart(task: str, data: bytes, *words: str, cpu_seconds: int = CPU_SECONDS) -> Any:
    """`task`: a function of the program that runs there; it is given the data and the words.

    Refused: it came to no end, or to a bad one. Misconfigured: a library is missing.
    """
    argv = (sys.executable, "-I", str(PROGRAM), str(cpu_seconds), task, *words)
    done = run(argv, env={}, timeout=cpu_seconds * WAITING, data=data, how=RunOptions(limit=MOST_SAID))
    if done.code == NO_LIBRARY:
        raise Misconfigured("the libraries that read web pages are not installed: type `make setup`")
    if done.end == "timed out" or done.code in (-signal.SIGKILL, -signal.SIGXCPU):
        raise Refused(f"it cannot be read within {cpu_seconds} s")
    try:
        if done.ok and not done.cut:
            return json.loads(done.output)
    except (ValueError, RecursionError):
        pass
    raise Refused("it cannot be read")


# --- robots.txt -----------------------------------------------------------------------------------------------

TOKEN = "sisimpur-agents"  # noqa: S105  the name by which a robots.txt speaks to us
MOST_RULES = 500 * 1024  # bytes; what comes after them is not read
ROBOTS_CPU_SECONDS = 2  # of processor time; what people write takes a twentieth of one
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
    """Rules of sites, in memory only. For one thread at a time."""

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
        found = read_apart("robots", rules, at.url, TOKEN, cpu_seconds=ROBOTS_CPU_SECONDS)
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


# --- the text of a page ---------------------------------------------------------------------------------------

TASKS = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "text/plain": "plain",
    "text/markdown": "plain",
    "text/x-markdown": "plain",
}
MOST_TEXT, MOST_TITLE = 200_000, 200  # characters
CONTROL = re.compile("[\x80-\x9f\ud800-\udfff]")


@dataclass(frozen=True)
class PageText:
    """`written`: YYYY-MM-DD, or empty. No control characters; the text keeps its lines."""

    title: str
    text: str
    written: str = ""


def page_text(data: bytes, kind: str, charset: str, cpu_seconds: int = CPU_SECONDS) -> PageText:
    """`kind`: the media type, one of TASKS; `charset`: as the server says, or empty.

    Refused: it cannot be read, or nothing is written there.
    """
    found = read_apart(TASKS[kind], data, charset, cpu_seconds=cpu_seconds)
    if found is None:
        raise Refused("it is in no known encoding")
    try:
        title, text, written = (str(found[part]) for part in ("title", "text", "written"))
    except (KeyError, TypeError):
        raise Refused("it cannot be read") from None
    if not (text := _clean(text)[:MOST_TEXT].strip()):
        raise Refused("there is no text on it")
    return PageText(" ".join(_clean(title).split())[:MOST_TITLE], text, _day(written))


def _clean(text: str) -> str:
    """Remove what controls a terminal, and what only machines see."""
    return CONTROL.sub("", legible(text))


def _day(text: str) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        return ""


# --- a page ---------------------------------------------------------------------------------------------------

ACCEPT = "text/html, application/xhtml+xml, text/plain, text/markdown"
MOST_REDIRECTS = 4


@dataclass(frozen=True)
class PageBounds:
    """Bounds of what one page may take of us."""

    size: int = 2 * 1024 * 1024  # bytes, unpacked
    seconds: float = 20  # for all that is sent and received
    robots_seconds: float = 10  # of these
    cpu_seconds: int = CPU_SECONDS  # to read its text out
    ports: frozenset[int] = PORTS


class WebReader:
    """Reader of pages, for one thread at a time."""

    def __init__(self, clock: Clock, bounds: PageBounds = PageBounds(), http: Http | None = None) -> None:
        self._bounds, self._http = bounds, http or Http()
        self._robots = Robots(clock)

    def read(self, url: str, day: str) -> WebSource:
        """The page at an address of the web, found on a day (YYYY-MM-DD), under the address that was asked for.

        Refused: it may not be read, or is no page that we can use. Unavailable: its site does not answer now.
        Misconfigured: a library of ours is missing. Nothing else, whatever the site does.
        """
        line = WebLine(self._http, self._bounds.seconds)
        at, answer = self._followed(web_address(url, self._bounds.ports), lambda step: self._page(step, line))
        self._check(at, answer)
        try:
            found = page_text(answer.body, answer.kind, answer.charset, self._bounds.cpu_seconds)
        except Refused as reason:
            raise Refused(f"{shown(at.url)} is not used: {reason}") from None
        written = found.written if found.written <= day else ""  # tomorrow has not been written
        return WebSource(url, found.title, found.text, day, written)

    def _page(self, at: HttpAddress, line: WebLine) -> HttpAnswer:
        """Each step of a redirect asks its own site first."""
        self._robots.admit(at, lambda rules: self._rules(rules, line))
        return line.get(at, ACCEPT, self._bounds.size, self._bounds.seconds)

    def _rules(self, at: HttpAddress, line: WebLine) -> HttpAnswer:
        seconds = self._bounds.robots_seconds
        return self._followed(at, lambda step: line.get(step, "text/plain", MOST_RULES, seconds))[1]

    def _followed(self, at: HttpAddress, get: Callable[[HttpAddress], HttpAnswer]) -> tuple[HttpAddress, HttpAnswer]:
        return followed(at, get, MOST_REDIRECTS, self._bounds.ports)

    def _check(self, at: HttpAddress, answer: HttpAnswer) -> None:
        """Refuse what is no page of ours to read: it is not even looked at."""
        if answer.status >= 500 or answer.status == 429:
            raise Unavailable(f"{shown(at.url)} answers with status {answer.status}: try again later")
        if answer.status != 200:
            raise Refused(f"{shown(at.url)} is not there: status {answer.status}")
        if answer.kind not in TASKS:
            raise Refused(f"{shown(at.url)} is not read: {shown(answer.kind) or 'what has no type'} is no page of text")
        if not answer.whole:
            raise Refused(f"{shown(at.url)} is not read: it is larger than {self._bounds.size / 1e6:.2g} MB")
