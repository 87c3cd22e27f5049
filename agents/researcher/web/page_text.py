"""What a page says: bytes of a stranger -> title, text, and the day that it names. Read in a process of its own.

Parsers are large programs, some of them in C, and there are texts that keep them busy for hours or break them. There
they find an empty environment and limits of time and memory; what comes back is one JSON value of limited size.
"""

from __future__ import annotations

import json
import re
import signal
import sys
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from shared.model.errors import Misconfigured, Refused
from shared.model.text import HIDDEN
from shared.system.process import run

PROGRAM = Path(__file__).with_name("apart_program.py")
CPU_SECONDS = 6  # of processor time: a page of 2 MB in honest paragraphs takes less than one
WAITING = 5.0  # times as long, on a machine that has much else to do
MOST_SAID = 4_000_000  # bytes
NO_LIBRARY = 3


def read_apart(task: str, data: bytes, *words: str, cpu_seconds: int = CPU_SECONDS) -> Any:
    """`task`: a function of the program that runs there; it is given the data and the words.

    Refused: it came to no end, or to a bad one. Misconfigured: a library is missing.
    """
    argv = (sys.executable, "-I", "-B", str(PROGRAM), str(cpu_seconds), task, *words)
    done = run(argv, env={}, timeout=cpu_seconds * WAITING, data=data, limit=MOST_SAID)
    if done.code == NO_LIBRARY:
        raise Misconfigured("the libraries that read web pages are not installed: type `make setup`")
    if done.end == "timed out" or done.code in (-signal.SIGKILL, -signal.SIGXCPU):
        raise Refused(f"it cannot be read within {cpu_seconds} s")
    try:
        if done.ok and not done.cut:
            return json.loads(done.output)
    except (ValueError, RecursionError):
        pass
    raise Refused("it cannot be read")


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
