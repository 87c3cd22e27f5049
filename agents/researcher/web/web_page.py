"""Door to the web's pages. The only module that reads what strangers publish."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from agents.researcher.web.apart import CPU_SECONDS
from agents.researcher.web.page_text import TASKS, page_text
from agents.researcher.web.robots import MOST_RULES, Robots
from shared.model.errors import Refused, Unavailable
from shared.model.research import WebSource
from shared.system.clock import Clock
from shared.system.http import Http, HttpAddress, HttpAnswer, shown
from shared.system.web_line import PORTS, WebLine, followed, web_address

ACCEPT = "text/html, application/xhtml+xml, text/plain, text/markdown"
MOST_REDIRECTS = 4


@dataclass(frozen=True)
class PageBounds:
    """What one page may take of us."""

    size: int = 2 * 1024 * 1024  # bytes, unpacked
    seconds: float = 20  # for all that is sent and received
    robots_seconds: float = 10  # of these
    cpu_seconds: int = CPU_SECONDS  # to read its text out
    ports: frozenset[int] = PORTS


class WebReader:
    """For one thread at a time."""

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
        """What is no page of ours to read is not even looked at."""
        if answer.status >= 500 or answer.status == 429:
            raise Unavailable(f"{shown(at.url)} answers with status {answer.status}: try again later")
        if answer.status != 200:
            raise Refused(f"{shown(at.url)} is not there: status {answer.status}")
        if answer.kind not in TASKS:
            raise Refused(f"{shown(at.url)} is not read: {shown(answer.kind) or 'what has no type'} is no page of text")
        if not answer.whole:
            raise Refused(f"{shown(at.url)} is not read: it is larger than {self._bounds.size / 1e6:.2g} MB")
