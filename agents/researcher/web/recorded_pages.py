"""Door to pages without a web. The only module that reads pages from a file: for demos and tests.

- {url: "https://dates.example/", title: Dates, text: "What it can do", written: "2026-01-02"}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from pydantic import ConfigDict

from shared.model.errors import Misconfigured, Refused
from shared.model.research import WebSource
from shared.system import strict_yaml
from shared.system.paths import read_text


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
