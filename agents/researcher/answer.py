"""The researcher model's answer, once code has looked, and the passages of a page that it is shown. Pure.

Nothing in an answer is believed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, get_args

from sisimpur.shared.model.research import Claim, Effort, Findings, Option, WebSource, supported
from sisimpur.shared.model.text import one_line

MOST_SEARCHES, MOST_PAGES = 2, 3  # per turn
LONGEST_QUERY = 200  # characters
MOST_OPTIONS, MOST_CLAIMS, MOST_POINTS = 5, 10, 4
LONGEST_TEXT, LONGEST_LINE, LONGEST_QUOTE = 1_500, 300, 600


@dataclass(frozen=True)
class OptionReply:
    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}
    name: str
    pros: list[str]
    cons: list[str]
    effort: str


@dataclass(frozen=True)
class ClaimReply:
    """`source`: the number of a page that was shown."""

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}
    text: str
    source: int
    quote: str


@dataclass(frozen=True)
class ResearchReply:
    """Look further, or answer."""

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}
    searches: list[str] = field(default_factory=list)
    read: list[int] = field(default_factory=list)
    recommendation: str = ""
    options: list[OptionReply] = field(default_factory=list)
    claims: list[ClaimReply] = field(default_factory=list)
    open_points: list[str] = field(default_factory=list)

    @property
    def answers(self) -> bool:
        return bool(self.recommendation.strip())


def queries(reply: ResearchReply) -> tuple[str, ...]:
    """Queries that are searched for next."""
    asked = (one_line(query, LONGEST_QUERY) for query in reply.searches)
    return tuple(dict.fromkeys(filter(None, asked)))[:MOST_SEARCHES]


def wanted(reply: ResearchReply, count: int) -> tuple[int, ...]:
    """Numbers of the results (of `count`, from 1) that are read next."""
    return tuple(dict.fromkeys(number for number in reply.read if 0 < number <= count))[:MOST_PAGES]


def settled(reply: ResearchReply, sources: Sequence[WebSource]) -> Findings:
    """Findings that may be told: claims only with a quote that stands in the page that they name."""
    claims = [_claim(claim, sources) for claim in reply.claims[:MOST_CLAIMS]]
    kept = supported([claim for claim in claims if claim], _by_url(sources))
    points = (one_line(point, LONGEST_LINE) for point in reply.open_points[:MOST_POINTS])
    return Findings(
        recommendation=one_line(reply.recommendation, LONGEST_TEXT),
        options=tuple(filter(None, map(_option, reply.options[:MOST_OPTIONS]))),
        claims=tuple(dict.fromkeys(kept)),
        open_points=tuple(filter(None, points)),
        dropped=len(reply.claims) - len(kept),
    )


def _claim(reply: ClaimReply, sources: Sequence[WebSource]) -> Claim | None:
    if not 0 < reply.source <= len(sources):
        return None
    text, quote = one_line(reply.text, LONGEST_LINE), one_line(reply.quote, LONGEST_QUOTE)
    return Claim(text, sources[reply.source - 1].url, quote) if text else None


def _option(reply: OptionReply) -> Option | None:
    name = one_line(reply.name, LONGEST_LINE)
    effort: Effort = next((one for one in get_args(Effort) if one == reply.effort.strip().lower()), "unknown")
    return Option(name, _lines(reply.pros), _lines(reply.cons), effort) if name else None


def _lines(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(filter(None, (one_line(text, LONGEST_LINE) for text in texts[:4])))


def _by_url(sources: Sequence[WebSource]) -> Mapping[str, WebSource]:
    return {source.url: source for source in sources}


# --- passages of a page --------------------------------------------------------------------------------------

LONGEST = 900  # characters of one passage
GAP = "[…]"
COMMON = re.compile("and|are|but|can|for|from|has|have|how|not|should|that|the|this|use|was|what|when|with|you")


def passages(text: str, about: Sequence[str], room: int) -> str:
    """Return at most `room` bytes of the text, word for word, with a mark where something was left out.

    Bytes tell tokens better than characters do: a letter of Bengali is three of them, and about a token.
    """
    pieces = list(_pieces(text))
    words = frozenset(word for line in about for word in _words(line))
    ranked = sorted(range(len(pieces)), key=lambda place: (-_score(pieces[place], words), place))
    chosen: set[int] = set()
    for place in ranked:
        if (size := len(f"{pieces[place]}\n{GAP}\n".encode())) <= room:
            chosen.add(place)
            room -= size
    return "\n".join(_joined(pieces, sorted(chosen)))


def _pieces(text: str) -> Iterator[str]:
    """Lines; a long one in parts that end between words."""
    for line in filter(None, (" ".join(line.split()) for line in text.splitlines())):
        rest = line
        while len(rest) > LONGEST:
            cut = rest.rfind(" ", 1, LONGEST)
            cut = cut if cut > 0 else LONGEST
            yield rest[:cut]
            rest = rest[cut:].lstrip()
        yield rest


def _joined(pieces: Sequence[str], chosen: Sequence[int]) -> Iterator[str]:
    last = -1
    for place in chosen:
        if place != last + 1:
            yield GAP
        yield pieces[place]
        last = place
    if chosen and last < len(pieces) - 1:
        yield GAP


def _score(piece: str, words: frozenset[str]) -> int:
    return len(words & set(_words(piece)))


def _words(text: str) -> list[str]:
    return [word for word in re.findall(r"\w{3,}", text.casefold()) if not COMMON.fullmatch(word)]
