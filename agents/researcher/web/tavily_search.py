"""Tavily adapter: a search of its API with the owner's key.

The key is a secret: it stands in no error and no text of an object. Our own HTTP adapter asks no proxy, follows no
redirect with the key, and reads no more than an answer can be.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sisimpur.agents.researcher.web.search import MOST_HITS, asked, bounded
from sisimpur.shared.model.errors import Misconfigured, Unavailable
from sisimpur.shared.model.research import SearchHit
from sisimpur.shared.system.http import Http, HttpAnswer, HttpCall, NoAnswer, is_configured

ADDRESS = "https://api.tavily.com"
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

    def __init__(self, key: str, price: int = PRICE, timeout: float = 20, address: str = ADDRESS) -> None:
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
            raise Unavailable(f"Tavily does not answer ({answer.error}); {LATER}", unbilled=_never_left(answer))
        return bounded(_hits(answer), most)


def _never_left(answer: NoAnswer) -> bool:
    """Whether there was no connection at all."""
    return not answer.sent and answer.why != "certificate"


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
