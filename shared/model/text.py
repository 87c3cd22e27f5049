"""Texts of strangers and models, made harmless; counts and lists in words. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from shared.model.defuse import defuse

TITLE, NOTE = 120, 400  # characters that are shown of a title, and of what was said of a task


def harmless(text: str, most: int = NOTE) -> str:
    """One line that ends no code, opens no heading and calls nobody."""
    line = " ".join(defuse(text).replace("`", "'").split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def counted(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or f'{one}s'}"


def bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def one_line(text: str, longest: int) -> str:
    """One printable line of at most `longest` characters, for data: it is cut without a sign."""
    return " ".join("".join(c if c.isprintable() else " " for c in text[:longest]).split())
