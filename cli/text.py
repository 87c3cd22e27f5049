"""Texts for the terminal. What comes from files, models and forges is shown, never obeyed."""

from __future__ import annotations


def plain(text: str) -> str:
    """One line without control characters: no text can move the cursor, ring, or recolour the screen."""
    return "".join(c if c.isprintable() else " " for c in text)


def plain_block(text: str) -> str:
    """As plain(), but lines and tabs stay."""
    return "".join(c if c.isprintable() or c in "\n\t" else "\ufffd" for c in text)
