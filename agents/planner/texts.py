"""A model's texts, made fit for titles, files and pull requests. Pure."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

from shared.model.text import one_line, printable

LONGEST_TITLE = 100
LONGEST_CRITERION = 300
ALIKE = 0.8  # of the words of two titles


def headline(text: str) -> str:
    """A title that begins like a sentence, not like an option or a command, and that calls nobody (@name)."""
    return one_line(re.sub(r"@(?=\w)", "", one_line(text, 10_000)).lstrip("-/!#>*@`~ "), LONGEST_TITLE)


def body(text: str) -> str:
    """Lines without control characters. The first must not read as an option or as a command of a coding engine."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    clean = (printable(line, keep="\t").rstrip() for line in lines)
    return "\n".join(clean).strip().lstrip("-/! ")


def criteria(lines: Sequence[str]) -> tuple[str, ...]:
    """Acceptance criteria, each one line and without a bullet of its own."""
    return tuple(filter(None, (one_line(line, LONGEST_CRITERION).lstrip("-* ") for line in lines)))


def alike(one: str, other: str) -> bool:
    """Whether two titles say about the same."""
    first, second = one.casefold().split(), other.casefold().split()
    return difflib.SequenceMatcher(None, first, second, autojunk=False).ratio() >= ALIKE
