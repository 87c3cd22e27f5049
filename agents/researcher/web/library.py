"""Searches and pages of one question: each is asked for once, and a search that costs money is booked.

As with a call of a model: reserve, send, settle, each durable before the next. A search is a call in the same book, so
the same caps hold for it and `budget` shows it; it does not go through the meter, which knows models only. Its model is
`search/<service>`, and its price that of a prompt of one token. A free one has a row too: it is counted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import ClassVar, Protocol

from pydantic import ConfigDict

from sisimpur.agents.researcher.web.search import Search, asked, bounded
from sisimpur.shared.model.errors import Misconfigured, OutOfBudget, Refused, Stopping, Unavailable
from sisimpur.shared.model.research import Inquiry, NotRead, SearchHit, WebSource
from sisimpur.shared.model.work import Run
from sisimpur.shared.money.ledger import Ledger
from sisimpur.shared.money.ticket import CallEnding, Reservation, Ticket, TicketOrder
from sisimpur.shared.money.token_budget import Ask, Caps, Rates, Refusal
from sisimpur.shared.store.research_book import ResearchRepository
from sisimpur.shared.system import strict_yaml
from sisimpur.shared.system.clock import Clock
from sisimpur.shared.system.fault import fault_point
from sisimpur.shared.system.paths import read_text

MOST_HITS = 8  # of one search
Keep = Callable[[Sequence[SearchHit]], None]


class Searches(Protocol):
    """A search service, with what it costs booked. What it found is kept before it is settled: it is paid for once."""

    def search(self, run: Run, query: str, most: int, keep: Keep) -> tuple[SearchHit, ...]: ...


class ReadsPage(Protocol):
    """Refused: the page may not or cannot be used. Unavailable: it does not answer now."""

    def read(self, url: str, day: str) -> WebSource: ...


@dataclass(frozen=True)
class Library:
    """`clean`: the filter for outgoing text; a query leaves this machine. `stopping`: whether we are asked to end."""

    book: ResearchRepository
    searches: Searches
    reads: ReadsPage
    clean: Callable[[str], str]
    stopping: Callable[[], bool]
    run: Run
    inquiry: Inquiry

    def search(self, query: str) -> Sequence[SearchHit]:
        """Errors: those of the service, and OutOfBudget."""
        query = self.clean(query)
        self._stop_if_asked()
        kept = self.book.hits(self.inquiry, query, self.run.day)
        if kept is None:
            keep = partial(self.book.keep_hits, self.inquiry, query, self.run.day)
            kept = self.searches.search(self.run, query, MOST_HITS, keep)
        return kept

    def read(self, hit: SearchHit) -> WebSource | str:
        """The page, or why it cannot be used. What does not answer now is not kept: it may answer next time."""
        self._stop_if_asked()
        found = self.book.page(self.inquiry, hit.url)
        if found is None:
            try:
                found = self.reads.read(hit.url, self.run.day)
            except Refused as reason:
                found = NotRead(hit.url, str(reason))
            except Unavailable as reason:
                return str(reason)
            self.book.keep_page(self.inquiry, found, self.run.day)
        return found.why if isinstance(found, NotRead) else found

    def _stop_if_asked(self) -> None:
        if self.stopping():
            raise Stopping("looking up goes on with the next start")


# --- booked searches ------------------------------------------------------------------------------------------

TICKET_LIFE = timedelta(minutes=10)
OF_THE_TASK = ("meter_task_cap", "meter_ticket_cap")


class BookedSearch:
    """`caps`: the policy's, asked before each search."""

    def __init__(self, search: Search, ledger: Ledger, caps: Callable[[], Caps], clock: Clock) -> None:
        self._search = search
        self._ledger = ledger
        self._caps = caps
        self._clock = clock
        self._model = f"search/{search.name.lower()}"

    def search(self, run: Run, query: str, most: int, keep: Keep) -> tuple[SearchHit, ...]:
        """OutOfBudget: a cap does not allow it, or nothing is spent now; it was not sent. Else as `Search.search`."""
        if not asked(query) or most < 1:
            return ()
        token = self._ledger.open_ticket(self._order(run), self._clock.now())
        try:
            ticket = self._ledger.ticket(token)
            assert ticket
            reservation = self._reserve(ticket)
            fault_point("search.booked")
            hits = self._sent(reservation, query, most)
            fault_point("search.answered")
            keep(hits)
            self._ledger.settle(reservation, reservation.grant.reserved, CallEnding(), self._clock.now())
            return hits
        finally:
            self._ledger.close_ticket(token, self._clock.now())

    def _order(self, run: Run) -> TicketOrder:
        expires = self._clock.now() + TICKET_LIFE
        return TicketOrder(run, self._search.price, (self._model,), expires, max_calls=1)

    def _reserve(self, ticket: Ticket) -> Reservation:
        flat = Rates(input=self._search.price, write_5m=0, write_1h=0, read=0, output=0)
        ask = Ask(self._model, flat, "flat", tokens_in=1, max_tokens=0, may_clamp=False)
        answer = self._ledger.reserve(ticket, ask, self._caps(), self._clock.now())
        if isinstance(answer, Refusal):
            raise OutOfBudget(answer.text, "task" if answer.code in OF_THE_TASK else "")
        return answer

    def _sent(self, reservation: Reservation, query: str, most: int) -> tuple[SearchHit, ...]:
        try:
            return self._search.search(query, most)
        except Misconfigured:
            self._void(reservation, "search_key")
            raise
        except Unavailable as away:
            (self._void if away.unbilled else self._lose)(reservation, "search_away")
            raise
        except BaseException:  # we are stopped, or it is a bug: the service may have counted it
            self._lose(reservation, "search_cut")
            raise

    def _void(self, reservation: Reservation, code: str) -> None:
        self._ledger.void(reservation, CallEnding(code=code), self._clock.now())

    def _lose(self, reservation: Reservation, code: str) -> None:
        self._ledger.lost(reservation, reservation.grant.reserved, None, CallEnding(code=code), self._clock.now())


# --- a web of files: for demos and tests ----------------------------------------------------------------------
# searches.yaml:
# - query: a python library for dates
#   hits:
#     - {title: Dates, url: "https://dates.example/", excerpt: "What it can do"}
# pages.yaml:
# - {url: "https://dates.example/", title: Dates, text: "What it can do", written: "2026-01-02"}

# --- searches -------------------------------------------------------------------------------------------------

STRICT = ConfigDict(extra="forbid")


@dataclass(frozen=True)
class RecordedHit:
    title: str
    url: str
    excerpt: str = ""
    __pydantic_config__: ClassVar[ConfigDict] = STRICT


@dataclass(frozen=True)
class Recording:
    """Recording of what is found with the words of `query`, or some of them."""

    query: str
    hits: tuple[RecordedHit, ...] = ()
    __pydantic_config__: ClassVar[ConfigDict] = STRICT


class RecordedSearch:
    def __init__(self, recordings: Sequence[Recording]) -> None:
        self._recordings = recordings

    @property
    def name(self) -> str:
        return "Recorded"

    @property
    def price(self) -> int:
        return 0

    def search(self, query: str, most: int) -> tuple[SearchHit, ...]:
        """The recording that shares the most words with the query, the first among equals; none: nothing is found."""
        wanted = _words(asked(query))
        best = max(self._recordings, key=lambda one: len(wanted & _words(one.query)), default=None)
        if best is None or not wanted & _words(best.query):
            return ()
        return bounded((SearchHit(hit.title, hit.url, hit.excerpt) for hit in best.hits), most)


def read_recordings(path: Path) -> RecordedSearch:
    """Misconfigured or Refused, naming file and line, if it is not what stands above."""
    return RecordedSearch(_recorded(path, "searches").as_type(list[Recording]))


def _recorded(path: Path, what: str) -> strict_yaml.Document:
    try:
        text = read_text(path, strict_yaml.MAX_BYTES)
    except OSError as error:
        raise Misconfigured(f"the recorded {what} {path} cannot be read ({error.strerror}); name another") from None
    return strict_yaml.parse(text, path.name)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


# --- pages ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RecordedPage:
    url: str
    title: str
    text: str
    written: str = ""
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")


class RecordedPages:
    def __init__(self, pages: Sequence[RecordedPage]) -> None:
        self._pages: Mapping[str, RecordedPage] = {page.url: page for page in pages}

    def read(self, url: str, day: str) -> WebSource:
        """Refused if it is not recorded."""
        page = self._pages.get(url)
        if page is None:
            raise Refused("this page was not recorded")
        return WebSource(page.url, page.title, page.text, day, page.written)


def read_pages(path: Path) -> RecordedPages:
    """Misconfigured or Refused, naming file and line, if it is not what stands above."""
    return RecordedPages(_recorded(path, "pages").as_type(list[RecordedPage]))
