"""Search and pages without a web, answered from files: for demos and tests.

- query: a python library for dates
  hits:
    - {title: Dates, url: "https://dates.example/", excerpt: "What it can do"}

- {url: "https://dates.example/", title: Dates, text: "What it can do", written: "2026-01-02"}
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from pydantic import ConfigDict

from sisimpur.agents.researcher.web.search import asked, bounded
from sisimpur.shared.model.errors import Misconfigured, Refused
from sisimpur.shared.model.research import SearchHit, WebSource
from sisimpur.shared.system import strict_yaml
from sisimpur.shared.system.paths import read_text

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
    try:
        text = read_text(path, strict_yaml.MAX_BYTES)
    except OSError as error:
        raise Misconfigured(f"the recorded searches {path} cannot be read ({error.strerror}); name another") from None
    return RecordedSearch(strict_yaml.parse(text, path.name).as_type(list[Recording]))


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
    try:
        text = read_text(path, strict_yaml.MAX_BYTES)
    except OSError as error:
        raise Misconfigured(f"the recorded pages {path} cannot be read ({error.strerror}); name another") from None
    return RecordedPages(strict_yaml.parse(text, path.name).as_type(list[RecordedPage]))
