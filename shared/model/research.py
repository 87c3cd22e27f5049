"""The words of research: a question, what was found and read, and the claims that a quote holds up. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sisimpur.shared.model.text import sha256_of

SHORTEST_QUOTE = 12  # characters, once they are compared: less stands in every text
LONGEST_QUOTE = 600

Effort = Literal["hours", "days", "weeks", "unknown"]


@dataclass(frozen=True)
class Inquiry:
    """One question to the web. `goal_id`: the goal that it is about; empty: an idea of the owner's."""

    id: str
    text: str
    goal_id: str = ""


@dataclass(frozen=True)
class SearchHit:
    """Hit of a search; texts from outside, bounded."""

    title: str
    url: str
    excerpt: str = ""


@dataclass(frozen=True)
class WebSource:
    """A page as it was read on a day. `text` is kept word for word: claims are looked up in it."""

    url: str
    title: str
    text: str
    day: str  # YYYY-MM-DD on which it was read
    written: str = ""  # YYYY-MM-DD, as the page says; empty: it does not


@dataclass(frozen=True)
class Claim:
    """A sentence, and the words of a source that it rests on."""

    text: str
    url: str
    quote: str


@dataclass(frozen=True)
class Option:
    name: str
    pros: tuple[str, ...] = ()
    cons: tuple[str, ...] = ()
    effort: Effort = "unknown"


@dataclass(frozen=True)
class Findings:
    """Findings of an inquiry. `dropped`: claims that no source holds up."""

    recommendation: str
    options: tuple[Option, ...] = ()
    claims: tuple[Claim, ...] = ()
    open_points: tuple[str, ...] = ()
    dropped: int = 0


@dataclass(frozen=True)
class Looked:
    """State of an inquiry. `problem`: why its last try came to nothing."""

    inquiry: Inquiry
    asked_on: str
    tries: int = 0
    tried_on: str = ""
    problem: str = ""
    answered_on: str = ""
    slug: str = ""  # of its note
    findings: Findings | None = None


@dataclass(frozen=True)
class NotRead:
    """A page that gave nothing, and why."""

    url: str
    why: str


def inquiry(text: str, goal_id: str = "") -> Inquiry:
    """Make an inquiry. Its id follows its words: reworded, it is another question."""
    words = " ".join(text.split())
    digest = sha256_of(f"{goal_id}\n{words.casefold()}")
    return Inquiry(f"r-{digest[:8]}", words, goal_id)


def supported(claims: Sequence[Claim], sources: Mapping[str, WebSource]) -> tuple[Claim, ...]:
    """Keep the claims whose quote stands in the source that they name. `sources`: by address."""
    return tuple(claim for claim in claims if _stands(claim, sources.get(claim.url)))


def _stands(claim: Claim, source: WebSource | None) -> bool:
    quote = _compared(claim.quote)
    if source is None or not SHORTEST_QUOTE <= len(quote) <= LONGEST_QUOTE:
        return False
    return f" {quote} " in f" {_compared(source.text)} "  # whole words: "able to" does not stand in "unable to"


def _compared(text: str) -> str:
    """Letters and digits in their order: blanks, marks and accents of typography are nobody's claim."""
    return " ".join(re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold()))
