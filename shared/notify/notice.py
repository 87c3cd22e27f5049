"""A notice to the owner, and what we need of a chat or a mail service that shows it.

Every notice may be sent again: with the answer of the first time the same message is edited, not posted twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Protocol

from sisimpur.shared.model.errors import Unavailable


class Tone(StrEnum):
    GOOD = "good"
    PLAIN = "plain"
    ATTENTION = "attention"  # something waits for the owner
    BAD = "bad"


Asks = Literal["change", "failed", "question", "plan"]


@dataclass(frozen=True)
class Section:
    """A heading and what stands below it, in Markdown."""

    heading: str
    text: str


@dataclass(frozen=True)
class Picture:
    """`png`, `dark`: the bytes of PNG files, for a light and a dark ground; `words`: for who cannot see it."""

    name: str  # a file's name
    png: bytes
    words: str
    dark: bytes = b""  # none: the light one is shown everywhere


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
    foot: str = ""  # said last, small, and never dropped
    waits: str = ""  # of what something waits for the owner: a task, or goals; empty: this tells, and asks nothing
    asks: Asks = "change"  # what is asked about it
    pdf: bytes = b""  # the whole report, for who gets one message a day; empty: there is none


def key_of_day(day: str) -> str:
    """Key of the one message that grows with its day."""
    return f"{day}:day"


# --- the service ----------------------------------------------------------------------------------------------


class DeliveryUnknown(Unavailable):
    """The service may have the message or not, and cannot be asked. To send it again may show it twice."""


AGAIN = "(Perhaps you have this message already: the answer to the first try was lost.)"


class Notifier(Protocol):
    takes_pdf: bool
    """Whether a notice's `pdf` is sent with it."""

    @property
    def name(self) -> str:
        """Name of the service, as the owner calls it."""

    def wants(self, notice: Notice, is_whole: bool) -> bool:
        """Whether it is told here. `is_whole`: no more is to follow in this message."""

    def send(self, notice: Notice, sent: str = "") -> str:
        """The message's id at the service; empty if it keeps none. `sent`: that id, if the notice was sent before.

        Unavailable: not delivered; try again later (`wait` says when). DeliveryUnknown: it may have been delivered.
        Misconfigured: the address is gone or wrong; do not try again until the owner has changed it.
        Refused: the service will never take this notice.
        """
