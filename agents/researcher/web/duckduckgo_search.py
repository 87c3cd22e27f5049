"""Door to DuckDuckGo. The only module that knows the package `ddgs`, which reads DuckDuckGo's plain HTML page.

Of that package only the engine for this page is taken. Its front would ask other services as well, in threads of its
own, and makes one error of "nothing was found" and "you ask too often". It costs nothing and promises nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sisimpur.agents.researcher.web.search import asked, bounded
from sisimpur.shared.model.errors import Unavailable
from sisimpur.shared.model.research import SearchHit

if TYPE_CHECKING:
    from ddgs.results import TextResult

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
