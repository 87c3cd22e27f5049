"""Which paths of the target a task may touch. Patterns are git's: `*` stays in a folder, `**` crosses folders."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal

Where = Literal["allowed", "outside", "guarded", "protected"]


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    """Without regard to case: on some file systems `.GitHub` is `.github`."""
    anchored = "/" in pattern.strip("/") or pattern.startswith("/")
    parts = []
    for piece in re.split(r"(\*\*/|\*\*|\*|\?)", pattern.strip("/")):
        parts.append({"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}.get(piece) or re.escape(piece))
    head = "" if anchored else "(?:.*/)?"
    return re.compile(head + "".join(parts) + "(?:/.*)?", re.IGNORECASE | re.DOTALL)


def matches(path: str, patterns: Iterable[str]) -> str | None:
    """The first pattern that covers `path` (relative, with slashes), or None. A folder covers what is in it."""
    return next((p for p in patterns if p.strip("/") and _compiled(p).fullmatch(path)), None)


def is_plain_path(path: str) -> bool:
    """A relative path below the repository's root, in the one spelling that git knows, of printable text."""
    if not path or path != path.strip() or not path.isprintable() or "\\" in path or len(path.encode()) > 400:
        return False
    parts = path.split("/")
    return not any(part in ("", ".", "..") or part.lower() == ".git" or part.startswith("~") for part in parts)
