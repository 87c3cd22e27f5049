"""Door to Tavily. The only module that knows its client, and that holds its key.

The key is a secret: it stands in no error and no text of an object, so what goes wrong is a value first, not an
exception that remembers the request. The client gets a session of ours, which takes no key or proxy from the machine's
files, follows no redirect, and reads no more than an answer can be.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from agents.researcher.web.search import MOST_HITS, asked, bounded
from shared.model.errors import Misconfigured, TeamError, Unavailable
from shared.model.research import SearchHit
from shared.system.clock import Clock

if TYPE_CHECKING:
    import requests

ADDRESS = "https://api.tavily.com"
PRICE = 8_000_000  # nano-dollars of one credit, which is what a basic search takes
MAX_ANSWER = 2 * 1024 * 1024  # bytes
PIECE = 64 * 1024

PLAIN: Mapping[str, Any] = {  # one credit, and hits only
    "search_depth": "basic",
    "auto_parameters": False,
    "include_answer": False,
    "include_raw_content": False,
    "include_images": False,
}
WRONG_KEY = "Tavily does not take the key; copy it from app.tavily.com into config/.env as TAVILY_API_KEY=tvly-…"
LATER = "research goes on another day"
REFUSED = {  # by its client's error: surely not billed
    "UsageLimitExceededError": f"Tavily takes no more searches for now (status 429); {LATER}",
    "ForbiddenError": f"Tavily takes no search with this key: a limit of its plan? See app.tavily.com; {LATER}",
    "BadRequestError": f"Tavily does not take this search (status 400); {LATER}, in other words",
}


class TavilySearch:
    """`key`: TAVILY_API_KEY. `price`: nano-dollars of one search. `timeout`: seconds, also for an answer that drips.

    Misconfigured if the key cannot be one.
    """

    def __init__(self, key: str, clock: Clock, price: int = PRICE, timeout: float = 20, address: str = ADDRESS) -> None:
        if not key.isascii() or not key.isprintable() or not key or " " in key:
            raise Misconfigured(WRONG_KEY)
        self._key = key
        self._clock = clock
        self._price = price
        self._timeout = timeout
        self._address = address

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
        found = self._ask(words, most)
        if isinstance(found, TeamError):
            raise found
        return bounded(found, most)

    def _ask(self, words: str, most: int) -> list[SearchHit] | TeamError:
        """An error is returned: raised here, it would remember the client's own."""
        import tavily  # type: ignore[import-untyped]

        with self._session() as session:
            try:
                client = tavily.TavilyClient(self._key, api_base_url=self._address, session=session)
                answer = client.search(words, max_results=most, timeout=self._timeout, **PLAIN)
                return [_hit(row) for row in answer["results"]]
            except Exception as error:  # noqa: BLE001 (its errors have no family, and an answer may have any shape)
                return _told(error)

    def _session(self) -> requests.Session:
        import requests

        session = requests.Session()
        session.trust_env = False  # a ~/.netrc would take the place of the key
        session.max_redirects = 0
        session.headers["accept-encoding"] = "identity"  # what is small on its way is small here
        session.hooks["response"].append(self._read)
        return session

    def _read(self, response: requests.Response, **_: Any) -> requests.Response:
        """The same, read to its end in time and size; what is longer is no answer."""
        import requests

        body, until = b"", self._clock.now() + timedelta(seconds=self._timeout)
        try:
            while piece := response.raw.read1(PIECE, decode_content=False):
                body += piece
                if len(body) > MAX_ANSWER:
                    raise ValueError("too long")
                if self._clock.now() > until:
                    raise requests.Timeout("too slow")
        finally:
            response.close()
        whole = requests.Response()
        whole.status_code, whole.headers, whole.raw = response.status_code, response.headers, io.BytesIO(body)
        whole.url, whole.request = response.url, response.request
        return whole


def _hit(row: Mapping[str, Any]) -> SearchHit:
    title, url, excerpt = (row.get(name) or "" for name in ("title", "url", "content"))
    return SearchHit(str(title), str(url), str(excerpt))


# --- what went wrong -----------------------------------------------------------------------------------------


def _told(error: Exception) -> TeamError:
    """By the client's own errors, which have names and nothing else in common."""
    kind = type(error).__name__
    if kind == "InvalidAPIKeyError":
        return Misconfigured(WRONG_KEY)
    if kind in REFUSED:
        return Unavailable(REFUSED[kind], unbilled=True)
    if kind == "TimeoutError":  # of the client; the one before says of what
        return _away(error.__context__ or error)
    return _away(error) if _is_of_the_line(error) else _unread(kind)


def _is_of_the_line(error: Exception) -> bool:
    import urllib3

    return isinstance(error, OSError | urllib3.exceptions.HTTPError) and not isinstance(error, ValueError)


def _unread(kind: str) -> Unavailable:
    return Unavailable(f"what Tavily answers cannot be read ({kind}); {LATER}")


def _away(error: BaseException) -> Unavailable:
    status = getattr(getattr(error, "response", None), "status_code", None)
    why = f"status {status}" if status else type(error).__name__
    return Unavailable(f"Tavily does not answer ({why}); {LATER}", unbilled=_never_left(error))


def _never_left(error: BaseException) -> bool:
    """Tell whether there was no connection at all."""
    import urllib3

    reason = getattr(error.args[0] if error.args else None, "reason", None)
    return isinstance(reason, urllib3.exceptions.NewConnectionError | urllib3.exceptions.ConnectTimeoutError)
