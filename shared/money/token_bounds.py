"""Bounds of the tokens in a text, without its tokenizer: by what the text is made of. Pure.

`estimate` cuts a text as tokenizers do: words in pieces of five letters, numbers and punctuation in twos, wide blanks
as one. Four tokenizers whose vocabulary is public make 0.6 to 1.2 times as many tokens of prose, code and tables. MOST
and LEAST leave room on both sides: for one that makes a third more of the same text, and for one that knows longer
words. What a vendor counts outside of them is no count of this text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sisimpur.shared.money.token_budget import HIDDEN_TOKENS, TokenUsage

MOST = Fraction(3, 2)  # tokens for one that is estimated
LEAST = Fraction(1, 3)
TOO_LONG = Fraction(3, 5)  # of a stream: as soon as known tokenizers would make more of it than was reserved
FACTOR = MOST / LEAST  # SECURITY.md: what is believed is at least this part of what it can have been
FRAME = 2  # tokens around each text of a prompt: roles, names, brackets


def _kind(byte: int) -> str:
    letter = chr(byte)
    if byte >= 128:
        return "u"
    if letter.isalpha():
        return "A" if letter.isupper() else "a"
    return "0" if letter.isdigit() else " " if letter.isspace() else "."


_KINDS = bytes(ord(_kind(byte)) for byte in range(256))
_PIECES = re.compile(rb"A?a{1,5}|A{1,5}|0{1,2}|\.{1,2}| {2,32}|u{1,3}")
_NO_WORD = re.compile(rb"[Aa]{13,}")  # letters without a gap: base64, minified code
_RULE = re.compile(rb"\.{9,}")  # a line of dashes


def estimate(text: str) -> int:
    """About as many tokens as a tokenizer makes of a text."""
    kinds = text.encode("utf-8", "replace").translate(_KINDS)
    denser = sum(3 * len(run) // 10 for run in _NO_WORD.findall(kinds))
    wider = sum(7 * len(run) // 16 for run in _RULE.findall(kinds))
    return len(_PIECES.findall(kinds)) + denser - wider


@dataclass(frozen=True)
class PromptBounds:
    """Tokens of a prompt: `least`, `most` as far as tokenizers are known, and `strict`, which none of them exceeds."""

    least: int
    most: int
    strict: int


def prompt_bounds(body: Mapping[str, Any], encoded: bytes) -> PromptBounds:
    """Bounds of the prompt in a checked body; `encoded` is the body as it is sent."""
    told, rest = list(_told(body)), list(_rest(body))
    words = estimate("\n".join(told))
    around = estimate("\n".join(rest)) + FRAME * (len(told) + len(rest))
    strict = len(encoded) + HIDDEN_TOKENS  # no token is shorter than a byte
    return PromptBounds(int(words * LEAST), min(int((words + around) * MOST) + HIDDEN_TOKENS, strict), strict)


_PROMPT = ("system", "messages", "tools")
_WORDS = ("system", "content", "text", "description")  # names of what every vendor counts


def _told(body: Mapping[str, Any]) -> Iterator[str]:
    """The words of a prompt, without names, forms and what a vendor may leave out (thoughts of earlier turns)."""
    for key in _PROMPT:
        yield from _texts(body.get(key), key, told=True)


def _rest(body: Mapping[str, Any]) -> Iterator[str]:
    for key, value in body.items():
        yield from _texts(value, key, told=False) if key in _PROMPT else _texts(value, "", told=False)


def _texts(value: Any, key: str, told: bool) -> Iterator[str]:
    """Every text in `value`, names too: of the words (`told`), or of all the rest."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if not told:
                yield name
            yield from _texts(inner, name, told)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for inner in value:
            yield from _texts(inner, key, told)
    elif (key in _WORDS) == told:
        yield str(value)


# --- what a vendor counted, beside what was sent and received ------------------------------------------------


@dataclass(frozen=True)
class CallSize:
    """A call as we saw it ourselves. `received`: the estimate of the answer's text, which may hide its thinking."""

    prompt: PromptBounds
    max_tokens: int
    received: int = 0


def overlong(size: CallSize) -> bool:
    """Tell whether more came than `max_tokens` can be."""
    return int(size.received * TOO_LONG) > size.max_tokens


def doubt(usage: TokenUsage, size: CallSize) -> str:
    """Say why a count cannot be true, in one line; empty: it can."""
    least = int(size.received * LEAST)
    if usage.prompt < size.prompt.least:
        return f"a prompt of at least {size.prompt.least} tokens is counted as {usage.prompt}"
    if usage.prompt > size.prompt.strict:
        return f"a prompt of at most {size.prompt.strict} tokens is counted as {usage.prompt}"
    if usage.output < least:
        return f"an answer of at least {least} tokens is counted as {usage.output}"
    if usage.output > size.max_tokens:
        return f"an answer of at most {size.max_tokens} tokens is counted as {usage.output}"
    return ""
