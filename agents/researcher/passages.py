"""Which passages of a page are shown: those that speak of the question, in their order, while there is room. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

LONGEST = 900  # characters of one passage
GAP = "[…]"
COMMON = re.compile("and|are|but|can|for|from|has|have|how|not|should|that|the|this|use|was|what|when|with|you")


def passages(text: str, about: Sequence[str], room: int) -> str:
    """At most `room` bytes of the text, word for word, with a mark where something was left out.

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
