"""Door to what one question found. The only module that keeps searches and pages: each is asked for once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from shared.model.errors import Refused, Stopping, Unavailable
from shared.model.research import Inquiry, NotRead, SearchHit, WebSource
from shared.model.work import Run
from shared.store.research_book import ResearchRepository

MOST_HITS = 8  # of one search


class Searches(Protocol):
    """A search service, with what it costs booked."""

    def search(self, run: Run, query: str, most: int) -> tuple[SearchHit, ...]: ...


class ReadsPage(Protocol):
    """Refused: the page may not or cannot be used. Unavailable: it does not answer now."""

    def read(self, url: str, day: str) -> WebSource: ...


class Library:
    """`clean`: the filter for outgoing text; a query leaves this machine. `stopping`: whether we are asked to end."""

    def __init__(
        self,
        book: ResearchRepository,
        searches: Searches,
        reads: ReadsPage,
        clean: Callable[[str], str],
        stopping: Callable[[], bool],
        run: Run,
        inquiry: Inquiry,
    ) -> None:
        self._book = book
        self._searches = searches
        self._reads = reads
        self._clean = clean
        self._stopping = stopping
        self._run = run
        self._inquiry = inquiry

    def search(self, query: str) -> Sequence[SearchHit]:
        """Errors: those of the service, and OutOfBudget."""
        query = self._clean(query)
        self._stop_if_asked()
        kept = self._book.hits(self._inquiry, query, self._run.day)
        if kept is None:
            kept = self._searches.search(self._run, query, MOST_HITS)
            self._book.keep_hits(self._inquiry, query, self._run.day, kept)
        return kept

    def read(self, hit: SearchHit) -> WebSource | str:
        """The page, or why it cannot be used. What does not answer now is not kept: it may answer next time."""
        self._stop_if_asked()
        found = self._book.page(self._inquiry, hit.url)
        if found is None:
            try:
                found = self._reads.read(hit.url, self._run.day)
            except Refused as reason:
                found = NotRead(hit.url, str(reason))
            except Unavailable as reason:
                return str(reason)
            self._book.keep_page(self._inquiry, found, self._run.day)
        return found.why if isinstance(found, NotRead) else found

    def _stop_if_asked(self) -> None:
        if self._stopping():
            raise Stopping("looking up goes on with the next start")
