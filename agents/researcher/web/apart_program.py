"""Runs in a process of its own, with limits: reads what a stranger wrote, and prints one JSON value.

It is started with a number of seconds, the name of a task and that task's words; what is to be read comes as input.
"""

from __future__ import annotations

import importlib
import json
import resource
import sys
from collections.abc import Callable, Iterator
from typing import Any

MB = 1 << 20
MEMORY, PRINTED = 1024 * MB, 8 * MB
MOST_TEXT, MOST_TITLE = 200_000, 200  # characters
MOST_BROKEN = 0.002  # the share of characters that a text may lack and still be in that encoding
BOMS = {b"\xef\xbb\xbf": "utf_8_sig", b"\xff\xfe": "utf_16", b"\xfe\xff": "utf_16"}
WIDER = {"latin_1": "cp1252", "ascii": "cp1252"}  # what the web means by these names
NO_LIBRARY = 3


def html(data: bytes, charset: str) -> dict[str, str] | None:
    """Title, text and day of a page; None: it is in no known encoding."""
    from trafilatura import bare_extraction

    if (text := decoded(data, charset)) is None:
        return None
    options: dict[str, Any] = {"include_comments": False, "include_tables": True, "include_links": False}
    dates = {"original_date": True, "extensive_search": False}  # what the page says, no guess from its sentences
    found = bare_extraction(text, with_metadata=True, date_extraction_params=dates, **options)
    if found is None or isinstance(found, dict):
        return {"title": "", "text": "", "written": ""}
    return _bounded(found.title or "", found.text or "", found.date or "")


def plain(data: bytes, charset: str) -> dict[str, str] | None:
    """The same of a page that is text already: its first line is the title."""
    if (text := decoded(data, charset)) is None:
        return None
    return _bounded(text.lstrip()[:MOST_TITLE].partition("\n")[0].lstrip("# "), text, "")


def robots(data: bytes, url: str, agent: str) -> dict[str, Any]:
    """Tell whether the rules of a robots.txt allow the address, and the pause that they ask for, in seconds."""
    from protego import Protego

    rules = Protego.parse(data.decode("utf-8-sig", "replace"))
    return {"allowed": bool(rules.can_fetch(url, agent)), "pause": float(rules.crawl_delay(agent) or 0)}


def decoded(data: bytes, charset: str) -> str | None:
    """In the first encoding that fits: as the bytes begin, as the server says, as the page says, as it looks."""
    for name in _encodings(data, charset):
        try:
            text = data.decode(name, "replace")
        except (LookupError, UnicodeError):  # zlib, idna: Python's words for what is no encoding of a text
            continue
        if text.count("\ufffd") <= MOST_BROKEN * len(text):
            return text
    return None


def _encodings(data: bytes, charset: str) -> Iterator[str]:
    from charset_normalizer import from_bytes
    from charset_normalizer.utils import any_specified_encoding, iana_name

    yield from (name for mark, name in BOMS.items() if data.startswith(mark))
    try:
        named = iana_name(charset, strict=True) if charset else ""
    except ValueError:  # the server says something that nobody knows
        named = ""
    for name in (named, any_specified_encoding(data)):
        if name:
            yield WIDER.get(name, name)
    yield "utf_8"
    yield from (found.encoding for found in from_bytes(data))


def _bounded(title: str, text: str, written: str) -> dict[str, str]:
    return {"title": title[:MOST_TITLE], "text": text[:MOST_TEXT], "written": written[:10]}


def _limit(seconds: int) -> None:
    for what, most in (
        (resource.RLIMIT_AS, MEMORY),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, PRINTED),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(what, (most, most))


TASKS: dict[str, tuple[Callable[..., object], str]] = {
    "html": (html, "trafilatura"),
    "plain": (plain, "charset_normalizer"),
    "robots": (robots, "protego"),
}

if __name__ == "__main__":
    _limit(int(sys.argv[1]))
    task, library = TASKS[sys.argv[2]]
    try:
        importlib.import_module(library)
    except ImportError:
        sys.exit(NO_LIBRARY)
    sys.stdout.write(json.dumps(task(sys.stdin.buffer.read(), *sys.argv[3:])))
