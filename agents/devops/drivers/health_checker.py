"""Health adapter: looks at a place from outside: asks its pages, and reads its log for bad signs.

It only ever looks: nothing is started, stopped or changed, and only the owner's own address is asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sisimpur.agents.devops.drivers.driver import Driver
from sisimpur.shared.config.settings_deploy import Page, PlaceSettings
from sisimpur.shared.model.deployment import HealthLook, Place, Running
from sisimpur.shared.model.errors import Stopping
from sisimpur.shared.model.text import defuse, one_line, seen_before
from sisimpur.shared.system.clock import Clock
from sisimpur.shared.system.http import Http, HttpAnswer, HttpCall, NoAnswer, Why, is_configured

# --- a page ---------------------------------------------------------------------------------------------------

HEADERS = {"user-agent": "sisimpur-agents/0.1 (health)", "accept-encoding": "identity"}
MAX_BODY = 64 * 1024  # bytes
UNREACHED = "cannot be asked: nobody takes the call at its address"
LATE = "took longer than {seconds:g} s"

WORDS: Mapping[Why, str] = {
    "no address": "cannot be asked: its address is none ({error})",
    "unknown": LATE,
    "no host": UNREACHED,
    "unreached": UNREACHED,
    "certificate": UNREACHED,
    "late": LATE,
    "cut": "was cut off before its answer was whole",
    "no HTTP": "answered something that is not HTTP",
    "broken": "was cut off ({error})",
}


class PageLine:
    """`base_url`: http or https, of the owner's."""

    def __init__(self, base_url: str) -> None:
        self._base = base_url.rstrip("/")
        self._http = Http(is_configured)

    def ask(self, path: str, seconds: float) -> HttpAnswer | str:
        """One GET -> what came, or in words why nothing did: "took longer than 5 s". Never raises."""
        answer = self._http.ask(self._base + path, HttpCall(HEADERS, MAX_BODY, seconds))
        if isinstance(answer, NoAnswer):
            return WORDS[answer.why].format(seconds=seconds, error=answer.error)
        return answer


# --- a place --------------------------------------------------------------------------------------------------

LINES = 500  # of the log, at each look
LONGEST_LINE = 2_000  # characters that are searched
LONGEST_QUOTE = 200  # characters
LAST_WORDS = 3  # lines of its log that are told of what is sick
BETWEEN = 1.0  # seconds between two tries
WHERE = "health.pages in config/targets"


@dataclass(frozen=True)
class SiteChecks:
    """A place as it is seen from outside. `retries`: of a page that fails, a second apart."""

    base_url: str
    pages: Sequence[Page]
    log_patterns: Sequence[str] = ()  # a line of its log that one of them fits says that it is sick
    retries: int = 0


class HealthChecker:
    """Looks at one place. `clean`: takes out what may not leave.

    `stop`: whether the program is being stopped; Stopping is raised then, between two tries.
    """

    def __init__(
        self,
        site: SiteChecks,
        clock: Clock,
        clean: Callable[[str], str] = str,
        stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self._pages = site.pages
        self._line = PageLine(site.base_url)
        self._patterns = [re.compile(pattern) for pattern in site.log_patterns]
        self._retries = site.retries
        self._clock, self._clean, self._stop = clock, clean, stop
        self._log_of: tuple[Place, str] | None = None
        self._seen: Sequence[str] = ()

    def look(self, driver: Driver, place: Place, commit: str, since: float, restarts_before: int = 0) -> HealthLook:
        """`since`: seconds since the start; `restarts_before`: at the start. EngineAway: nobody can look."""
        running = driver.running(place)
        if dead := _death(running, commit):
            return HealthLook(since, dead=self._quoted(dead))
        restarts = max(0, running.restarts - restarts_before) if running else 0
        wrong, tries = self._ask_pages()
        return HealthLook(since, wrong, tries, restarts=restarts, logged=self._bad_line(driver, place, commit))

    # --- pages -----------------------------------------------------------------------------------------------

    def _ask_pages(self) -> tuple[str, int]:
        """Return what is wrong with the first bad one, and the most tries that one needed."""
        most = 1
        for page in self._pages:
            wrong, tries = self._ask(page)
            most = max(most, tries)
            if wrong:
                return wrong, most
        return "", most

    def _ask(self, page: Page) -> tuple[str, int]:
        wrong = self._try(page)
        tries = 1
        while wrong and tries <= self._retries:
            if self._stop():
                raise Stopping("looking goes on with the next start")
            self._clock.sleep(BETWEEN)
            wrong = self._try(page)
            tries += 1
        return wrong, tries

    def _try(self, page: Page) -> str:
        """Empty: it answers as it should."""
        answer = self._line.ask(page.path, page.seconds)
        if isinstance(answer, str):
            wrong = answer
        elif answer.status != page.status:
            whither = " " + self._quoted(f"(to {answer.location})") if answer.location else ""
            wrong = f"answered {answer.status}{whither}, not {page.status}"
        elif page.contains and not re.search(page.contains, answer.text):
            wrong = f"answered {answer.status}, but without {page.contains[:LONGEST_QUOTE]!r}"
        else:
            return ""
        return f"GET {page.path[:LONGEST_QUOTE]} {wrong} ({WHERE})"

    # --- its log ---------------------------------------------------------------------------------------------

    def _bad_line(self, driver: Driver, place: Place, commit: str) -> str:
        """The first new line in which a pattern is found. What was printed before the first look is new, too."""
        if not self._patterns:
            return ""
        if self._log_of != (place, commit):
            self._log_of, self._seen = (place, commit), ()
        now = driver.logs(place, LINES).splitlines()
        new, self._seen = now[seen_before(self._seen, now) :], now
        for line in new:
            if any(pattern.search(line[:LONGEST_LINE]) for pattern in self._patterns):
                return self._quoted(line)
        return ""

    def last_words(self, driver: Driver, place: Place) -> str:
        """The newest of what it printed, on one line, cleaned; empty: nothing."""
        printed = [line for line in driver.logs(place, LINES).splitlines() if line.strip()]
        return self._quoted(" | ".join(printed[-LAST_WORDS:])[-LONGEST_LINE:])

    def _quoted(self, text: str) -> str:
        """Words from outside, on one line, short and harmless; cleaned before they are cut."""
        return one_line(defuse(self._clean(text[: 10 * LONGEST_LINE])), LONGEST_QUOTE)


def base_url(place: PlaceSettings) -> str:
    """Return where its pages are asked for; empty: it has none."""
    return place.url or (f"http://127.0.0.1:{place.port}" if place.port else "")


def _death(running: Running | None, commit: str) -> str:
    """Say how it ended; empty: it runs."""
    if running is None:
        return f"nothing of ours runs, not even {commit[:12]}"
    if not running.is_of(commit):
        return f"{running.commit[:12] or 'something else'} runs, not {commit[:12]}"
    return running.ended
