"""Door to web search. The only module that says what we need of a search service.

What a service answers was written by strangers: it is data, bounded and cleaned here, whichever service it came from.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from sisimpur.shared.model.errors import Unavailable
from sisimpur.shared.model.research import SearchHit
from sisimpur.shared.model.text import one_line

if TYPE_CHECKING:
    from ddgs.results import TextResult


import json
from collections.abc import Mapping
from typing import Any

from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.system.http import Http, HttpAnswer, HttpCall, NoAnswer, is_configured

MOST_HITS = 10
LONGEST_QUERY, LONGEST_TITLE, LONGEST_EXCERPT = 200, 200, 600  # characters
LONGEST_URL, LONGEST_HOST = 2000, 253
NO_PART_OF_A_URL = re.compile(r"""[\s<>"\\]""")  # programs do not agree where such an address leads


class Search(Protocol):
    @property
    def name(self) -> str:
        """Name of the service, as the owner calls it."""

    @property
    def price(self) -> int:
        """Nano-dollars of one search; 0: free."""

    def search(self, query: str, most: int) -> tuple[SearchHit, ...]:
        """Return what `asked` makes of the query, sent; at most `most` hits as `bounded` leaves them, the best first.

        A query without words finds nothing, and is not sent. Unavailable: the service does not answer, or takes
        nothing now: try on another day; its text names the service and what the owner can do. Nothing else comes of
        whatever the service does. Misconfigured: it does not take our key; nothing was billed.
        """


def asked(query: str) -> str:
    """One line of at most 200 characters, without control characters; empty: there is nothing to ask."""
    return one_line(query, LONGEST_QUERY, end="")


def bounded(found: Iterable[SearchHit], most: int) -> tuple[SearchHit, ...]:
    """Return at most `most`, never more than ten. Each address once, and only one that leads to a host of the web."""
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


# --- DuckDuckGo ----------------------------------------------------------------------------------------------
# Of the package `ddgs` only the engine for DuckDuckGo's plain page is taken. Its front would ask other services as
# well, in threads of its own, and makes one error of "nothing was found" and "you ask too often".

ADDRESS = "https://html.duckduckgo.com/html/"
TO_DO = "research goes on another day, or write TAVILY_API_KEY into config/.env"


class DuckDuckGoSearch:
    """`timeout`: seconds for all of a search."""

    def __init__(self, timeout: float = 20, address: str = ADDRESS) -> None:
        self._timeout = timeout
        self._address = address

    @property
    def name(self) -> str:
        return "DuckDuckGo"

    @property
    def price(self) -> int:
        return 0

    def search(self, query: str, most: int) -> tuple[SearchHit, ...]:
        """Search as `Search.search` says."""
        words = asked(query)
        if not words or most < 1:
            return ()
        rows = self._ask(words)
        if rows is None:  # any status but 200; too many searches are a 202
            raise Unavailable(f"DuckDuckGo takes no searches now; {TO_DO}", unbilled=True)
        return bounded((SearchHit(row.title, row.href, row.body) for row in rows), most)

    def _ask(self, words: str) -> list[TextResult] | None:
        from ddgs.engines.duckduckgo import Duckduckgo
        from ddgs.exceptions import DDGSException
        from lxml.etree import LxmlError  # type: ignore[import-untyped]

        # A new one each time: no cookie is kept. Its client takes parts of seconds, though it does not say so.
        engine = Duckduckgo(timeout=self._timeout)  # type: ignore[arg-type]
        engine.search_url = self._address
        try:
            return engine.search(words)
        except DDGSException as error:
            raise Unavailable(f"DuckDuckGo does not answer ({_kind(error)}); {TO_DO}", unbilled=True) from None
        except (LxmlError, ValueError, TypeError, AttributeError, RecursionError) as error:
            why = f"what DuckDuckGo answers cannot be read ({_kind(error)})"
            raise Unavailable(f"{why}; {TO_DO}", unbilled=True) from None


def _kind(error: Exception) -> str:
    """Of the client's own error, where one stands behind it."""
    return type(error.__cause__ or error).__name__


# --- Tavily --------------------------------------------------------------------------------------------------
# The key stands in no error and no text of an object. Our own HTTP adapter asks no proxy, follows no redirect with the
# key, and reads no more than an answer can be.

TAVILY = "https://api.tavily.com"
PRICE = 8_000_000  # nano-dollars of one credit, which is what a basic search takes
MAX_ANSWER = 2 * 1024 * 1024  # bytes

HEADERS = {  # what is small on its way is small here
    "user-agent": "sisimpur-agents/0.1",
    "content-type": "application/json",
    "accept-encoding": "identity",
}
PLAIN: Mapping[str, Any] = {  # one credit, and hits only
    "search_depth": "basic",
    "auto_parameters": False,
    "include_answer": False,
    "include_raw_content": False,
    "include_images": False,
}
WRONG_KEY = "Tavily does not take the key; copy it from app.tavily.com into config/.env as TAVILY_API_KEY=tvly-…"
LATER = "research goes on another day"
FORBIDDEN = f"Tavily takes no search with this key: a limit of its plan? See app.tavily.com; {LATER}"
REFUSED = {  # surely not billed
    400: f"Tavily does not take this search (status 400); {LATER}, in other words",
    403: FORBIDDEN,
    429: f"Tavily takes no more searches for now (status 429); {LATER}",
    432: FORBIDDEN,  # the plan's limit
    433: FORBIDDEN,  # the limit of what is paid as one goes
}


class TavilySearch:
    """`key`: TAVILY_API_KEY. `price`: nano-dollars of one search. `timeout`: seconds, also for an answer that drips.

    Misconfigured if the key cannot be one.
    """

    def __init__(self, key: str, price: int = PRICE, timeout: float = 20, address: str = TAVILY) -> None:
        if not key.isascii() or not key.isprintable() or not key or " " in key:
            raise Misconfigured(WRONG_KEY)
        self._key = key
        self._price = price
        self._timeout = timeout
        self._url = f"{address}/search"
        self._http = Http(is_configured)

    @property
    def name(self) -> str:
        return "Tavily"

    @property
    def price(self) -> int:
        return self._price

    def search(self, query: str, most: int) -> tuple[SearchHit, ...]:
        """Search as `Search.search` says."""
        words, most = asked(query), min(most, MOST_HITS)
        if not words or most < 1:
            return ()
        headers = {**HEADERS, "authorization": f"Bearer {self._key}"}
        body = json.dumps({"query": words, "max_results": most, **PLAIN}).encode()
        call = HttpCall(headers, MAX_ANSWER, self._timeout, "POST", {"content": body}, patient=True)
        answer = self._http.ask(self._url, call)
        if isinstance(answer, NoAnswer):
            never_left = not answer.sent and answer.why != "certificate"  # there was no connection at all
            raise Unavailable(f"Tavily does not answer ({answer.error}); {LATER}", unbilled=never_left)
        return bounded(_hits(answer), most)


def _hits(answer: HttpAnswer) -> list[SearchHit]:
    if answer.status == 401:
        raise Misconfigured(WRONG_KEY)
    if answer.status in REFUSED:
        raise Unavailable(REFUSED[answer.status], unbilled=True)
    if answer.status != 200:
        raise Unavailable(f"Tavily does not answer (status {answer.status}); {LATER}")
    if not answer.whole and len(answer.body) < MAX_ANSWER:
        raise Unavailable(f"Tavily does not answer (its answer broke off); {LATER}")
    try:
        return [_hit(row) for row in json.loads(answer.body)["results"]]
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        kind = type(error).__name__
    raise Unavailable(f"what Tavily answers cannot be read ({kind}); {LATER}")


def _hit(row: Mapping[str, Any]) -> SearchHit:
    title, url, excerpt = (row.get(name) or "" for name in ("title", "url", "content"))
    return SearchHit(str(title), str(url), str(excerpt))
