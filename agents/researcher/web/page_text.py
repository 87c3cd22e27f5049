"""What a page says: bytes of a stranger -> title, text, and the day that it names. Read in a process of its own."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from agents.researcher.web.apart import CPU_SECONDS, read_apart
from shared.model.errors import Refused
from shared.model.text import HIDDEN

TASKS = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "text/plain": "plain",
    "text/markdown": "plain",
    "text/x-markdown": "plain",
}
MOST_TEXT, MOST_TITLE = 200_000, 200  # characters
CONTROL = re.compile("[\x80-\x9f\ud800-\udfff]")


@dataclass(frozen=True)
class PageText:
    """`written`: YYYY-MM-DD, or empty. No control characters; the text keeps its lines."""

    title: str
    text: str
    written: str = ""


def page_text(data: bytes, kind: str, charset: str, cpu_seconds: int = CPU_SECONDS) -> PageText:
    """`kind`: the media type, one of TASKS; `charset`: as the server says, or empty.

    Refused: it cannot be read, or nothing is written there.
    """
    found = read_apart(TASKS[kind], data, charset, cpu_seconds=cpu_seconds)
    if found is None:
        raise Refused("it is in no known encoding")
    try:
        title, text, written = (str(found[part]) for part in ("title", "text", "written"))
    except (KeyError, TypeError):
        raise Refused("it cannot be read") from None
    if not (text := _clean(text)[:MOST_TEXT].strip()):
        raise Refused("there is no text on it")
    return PageText(" ".join(_clean(title).split())[:MOST_TITLE], text, _day(written))


def _clean(text: str) -> str:
    """Without what controls a terminal, and what only machines see."""
    return CONTROL.sub("", HIDDEN.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))


def _day(text: str) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        return ""
