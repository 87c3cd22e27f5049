"""A home -> the web as the Researcher sees it: who searches, who reads pages, and what that costs."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from agents.researcher.web.library import Library, ReadsPage, Searches
from agents.researcher.web.search import Search
from cli.wiring.records import Records
from shared.config.settings import LiveCaps, Settings
from shared.model.research import Inquiry
from shared.model.work import Run
from shared.system.clock import Clock
from shared.system.outgoing import Outgoing
from shared.system.paths import Home


def make_library(
    records: Records, outgoing: Outgoing, stopping: Callable[[], bool]
) -> Callable[[Run, Inquiry], Library]:
    """Nothing of it is made, or can be wrong, before the first question."""

    @cache
    def searches() -> Searches:
        from agents.researcher.web.booked_search import BookedSearch

        caps = LiveCaps(records.home, records.settings.policy.caps)
        search = make_search(records.home, records.settings, records.clock)
        return BookedSearch(search, records.ledger, caps, records.clock)

    reads = cache(lambda: make_reader(records.home, records.settings, records.clock))

    def library(run: Run, inquiry: Inquiry) -> Library:
        return Library(records.research, searches(), reads(), outgoing.clean, stopping, run, inquiry)

    return library


def make_search(home: Home, settings: Settings, clock: Clock) -> Search:
    """Recorded answers if the owner names some; Tavily with a key, DuckDuckGo without one. Misconfigured."""
    rules, key = settings.policy.research, settings.secrets.get("TAVILY_API_KEY")
    if rules.recorded:
        from agents.researcher.web.recorded_search import read_recordings

        return read_recordings(home.root / rules.recorded / "searches.yaml")
    if key:
        from agents.researcher.web.tavily_search import TavilySearch

        return TavilySearch(key, clock, rules.search_price)
    from agents.researcher.web.duckduckgo_search import DuckDuckGoSearch

    return DuckDuckGoSearch()


def make_reader(home: Home, settings: Settings, clock: Clock) -> ReadsPage:
    if recorded := settings.policy.research.recorded:
        from agents.researcher.web.recorded_pages import read_pages

        return read_pages(home.root / recorded / "pages.yaml")
    from agents.researcher.web.web_page import WebReader

    return WebReader(clock)
