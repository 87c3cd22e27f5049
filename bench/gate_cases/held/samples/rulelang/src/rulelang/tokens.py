"""Text to tokens."""

import re
from dataclasses import dataclass

KEYWORDS = {"and", "or", "not", "in", "true", "false", "none"}
PATTERN = re.compile(
    r"""(?P<space>\s+)
    |(?P<number>\d+(?:\.\d+)?)
    |(?P<text>"(?:[^"\\]|\\.)*")
    |(?P<name>[A-Za-z_][A-Za-z_0-9.]*)
    |(?P<sign>==|!=|<=|>=|[-+*/<>()\[\],])""",
    re.VERBOSE,
)
ESCAPES = {"n": "\n"}


class RuleError(ValueError):
    """The text is no rule. `place` is the index of the character."""

    def __init__(self, message, place):
        super().__init__(f"{message} at {place}")
        self.place = place


@dataclass(frozen=True)
class Token:
    kind: str
    text: str
    place: int


def tokens(text):
    """All tokens, an `end` last. Raises RuleError."""
    found, place = [], 0
    while place < len(text):
        match = PATTERN.match(text, place)
        if match is None:
            raise RuleError(f"unexpected {text[place]!r}", place)
        kind, word = match.lastgroup, match.group()
        if kind == "name" and word in KEYWORDS:
            kind = "keyword"
        if kind != "space":
            found.append(Token(kind, word, place))
        place = match.end()
    found.append(Token("end", "", place))
    return found


def unquoted(word):
    """The text that a quoted word stands for."""
    return re.sub(r"\\(.)", lambda m: ESCAPES.get(m.group(1), m.group(1)), word[1:-1])
