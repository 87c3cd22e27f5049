"""The first lines of a Python file, which say how all others are read: comments only to who ignores them. Pure."""

from __future__ import annotations

import re

COOKIE = re.compile(r"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", re.ASCII)  # as in PEP 263
LINE_END = re.compile(r"\r\n?|\n")
PLAIN = ("utf-8", "utf8")


def is_foreign(text: str) -> bool:
    """Whether some line says that the bytes are not UTF-8: the interpreter may read another program than we do."""
    return any(_coding(line) not in PLAIN for line in _lines(text))


def head(text: str) -> tuple[str, tuple[str, ...]]:
    """(shebang, codings that the first two lines name); UTF-8 need not be named."""
    first = _lines(text)[:2]
    shebang = first[0] if first[0].startswith("#!") else ""
    return shebang, tuple(coding for coding in map(_coding, first) if coding not in PLAIN)


def _lines(text: str) -> list[str]:
    return LINE_END.split(text.removeprefix("\ufeff"))


def _coding(line: str) -> str:
    found = COOKIE.match(line)
    return found[1].lower().replace("_", "-") if found else PLAIN[0]
