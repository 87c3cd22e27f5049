"""A notice to the owner, whatever service shows it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Tone(StrEnum):
    GOOD = "good"
    PLAIN = "plain"
    ATTENTION = "attention"  # something waits for the owner
    BAD = "bad"


@dataclass(frozen=True)
class Section:
    """A heading and what stands below it, in Markdown."""

    heading: str
    text: str


@dataclass(frozen=True)
class Picture:
    """`png`: the bytes of a PNG file; `words`: what it shows, for who cannot see it."""

    name: str  # a file's name
    png: bytes
    words: str


@dataclass(frozen=True)
class Notice:
    """One message. Its key is its identity: the same key again brings the message that was sent up to date.

    All text is Markdown that was made harmless and cleaned of secrets before.
    """

    key: str  # "2026-11-20:day", "2026-11-20:20261120-03:waiting"
    title: str
    text: str
    tone: Tone = Tone.PLAIN
    sections: tuple[Section, ...] = ()
    picture: Picture | None = None
