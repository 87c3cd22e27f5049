"""Web search: what we need of a service, and how a search is booked.

What a service answers was written by strangers: it is data, bounded and cleaned here, whichever service it came from.

As with a call of a model, a search is reserved, sent and settled, each durable before the next. It is a call in the
same book, so the same caps hold for it and `budget` shows it; the meter is not in its way: that knows models only.
Its model is `search/<service>`, and its price that of a prompt of one token. A free one has a row too: it is counted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Protocol
from urllib.parse import urlsplit

from shared.model.errors import Misconfigured, OutOfBudget, TaskCapReached, Unavailable
from shared.model.research import SearchHit
from shared.model.text import one_line
from shared.model.work import Run
from shared.money.ledger import Ledger
from shared.money.ticket import CallEnding, Reservation, Ticket, TicketOrder
from shared.money.token_budget import Ask, Caps, Rates, Refusal
from shared.system.clock import Clock
from shared.system.fault import fault_point

MOST_HITS = 10
LONGEST_QUERY, LONGEST_TITLE, LONGEST_EXCERPT = 200, 200, 600  # characters
LONGEST_URL, LONGEST_HOST = 2000, 253
NO_PART_OF_A_URL = re.compile(r"""[\s<>"\\]""")  # programs do not agree where such an address leads


class SearchAway(Unavailable):
    """The service does not answer, or takes nothing now: try on another day.

    `unbilled`: it is certain that this search costs nothing. The text names the service and what the owner can do.
    """

    def __init__(self, text: str, unbilled: bool = False) -> None:
        super().__init__(text)
        self.unbilled = unbilled


class Search(Protocol):
    @property
    def name(self) -> str:
        """Of the service, as the owner calls it."""

    @property
    def price(self) -> int:
        """Nano-dollars of one search; 0: free."""

    def search(self, query: str, most: int) -> tuple[SearchHit, ...]:
        """What `asked` makes of the query, sent; at most `most` hits as `bounded` leaves them, the best first.

        A query without words finds nothing, and is not sent. SearchAway: see there; nothing else comes of whatever the
        service does. Misconfigured: it does not take our key; nothing was billed.
        """


def asked(query: str) -> str:
    """One line of at most 200 characters, without control characters; empty: there is nothing to ask."""
    return one_line(query, LONGEST_QUERY, end="")


def bounded(found: Iterable[SearchHit], most: int) -> tuple[SearchHit, ...]:
    """At most `most`, never more than ten. Each address once, and only one that leads to a host of the web."""
    kept: dict[str, SearchHit] = {}
    for hit in found:
        if len(kept) >= min(most, MOST_HITS):
            break
        url = hit.url.strip()
        if leads_to_a_host(url):
            title, excerpt = one_line(hit.title, LONGEST_TITLE, end=""), one_line(hit.excerpt, LONGEST_EXCERPT, end="")
            kept.setdefault(url, SearchHit(title, url, excerpt))
    return tuple(kept.values())


def leads_to_a_host(url: str) -> bool:
    """http or https, with a host and without a user; whether one may go there is not asked here."""
    if len(url) > LONGEST_URL or not url.isprintable() or NO_PART_OF_A_URL.search(url):
        return False
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and 0 < len(host or "") <= LONGEST_HOST and "@" not in parts.netloc


# --- a search that costs money ---------------------------------------------------------------------------------------


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

    def search(self, run: Run, query: str, most: int) -> tuple[SearchHit, ...]:
        """OutOfBudget: a cap does not allow it, or nothing is spent now; it was not sent. Else as `Search.search`."""
        if not asked(query) or most < 1:
            return ()
        token = self._ledger.open_ticket(self._order(run), self._clock.now())
        try:
            ticket = self._ledger.ticket(token)
            assert ticket
            reservation = self._reserve(ticket)
            fault_point("search.booked")
            return self._send(reservation, query, most)
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
            raise (TaskCapReached if answer.code in OF_THE_TASK else OutOfBudget)(answer.text)
        return answer

    def _send(self, reservation: Reservation, query: str, most: int) -> tuple[SearchHit, ...]:
        try:
            hits = self._search.search(query, most)
        except Misconfigured:
            self._void(reservation, "search_key")
            raise
        except SearchAway as away:
            (self._void if away.unbilled else self._lose)(reservation, "search_away")
            raise
        except BaseException:  # we are stopped, or it is a bug: the service may have counted it
            self._lose(reservation, "search_cut")
            raise
        fault_point("search.answered")
        self._ledger.settle(reservation, reservation.grant.reserved, CallEnding(), self._clock.now())
        return hits

    def _void(self, reservation: Reservation, code: str) -> None:
        self._ledger.void(reservation, CallEnding(code=code), self._clock.now())

    def _lose(self, reservation: Reservation, code: str) -> None:
        self._ledger.lost(reservation, reservation.grant.reserved, None, CallEnding(code=code), self._clock.now())
