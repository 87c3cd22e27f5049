"""Rules for what keys of others look like: those of gitleaks, and a few of our own. Pure, but for reading them once.

`packaging/secret_rules.py` makes secret_rules.json of a newer gitleaks. A rule is asked only where one of its words
stands, so that most texts ask few.
"""

from __future__ import annotations

import bisect
import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

NEAR = 400  # characters around a word
RULES = Path(__file__).with_name("secret_rules.json")
# Shapes of detect-secrets (Apache-2.0) that gitleaks has not.
MORE: tuple[dict[str, Any], ...] = (
    {
        "id": "aws-secret-access-key",
        "shape": r"(?i)aws.{0,20}?(?:key|pw|pass|token).{0,20}?['\"=:\s]([0-9a-zA-Z/+]{40})(?![0-9a-zA-Z/+=])",
        "words": ["aws"],
        "entropy": 3.5,
    },
    {
        "id": "azure-storage-account-key",
        "shape": r"AccountKey=([A-Za-z0-9+/=]{88})",
        "words": ["accountkey="],
        "entropy": 3.5,
    },
)
# Keys of manuals and of test suites: they open nothing.
EXAMPLE = re.compile(r"EXAMPLE|example|(.)\1{7}|0123456789|1234567890|(?i:your[-_]|xxxx|dummy|placeholder|changeme)")
SPLIT = re.compile(r"[\"'][ \t]*(?:[+.,\\][ \t]*)*\n?[ \t]*(?:[+.,\\][ \t]*)*(?:[fFrRbBuU]{0,2})[\"']|\\\n[ \t]*")


@dataclass(frozen=True)
class FoundSecret:
    """`begin`: where in the text. `digest`: of the value, by which the owner may allow it."""

    name: str
    begin: int
    digest: str


@dataclass(frozen=True)
class SecretRule:
    name: str
    shape: str
    words: Sequence[str]
    group: int = 0
    entropy: float = 0
    allow: Sequence[str] = ()

    def find(self, text: str, low: str) -> Iterator[tuple[int, str]]:
        """Where one of its words stands, in that line and the next. `low`: the text in small letters."""
        for begin, end in _lines_with(self.words, low) if self.words else ((0, len(text)),):
            for hit in _compiled(self.shape).finditer(text[begin:end]):
                value = hit[self.group] if self.group else next(filter(None, hit.groups()), hit[0])
                is_allowed = EXAMPLE.search(value) or any(_compiled(one).search(value) for one in self.allow)
                if not is_allowed and _entropy(value) >= self.entropy:
                    yield begin + hit.start(), value


def find_secrets(text: str) -> tuple[FoundSecret, ...]:
    """Each value once, also where quotes and line ends stand in the middle of it."""
    found: dict[str, FoundSecret] = {}
    for one, place in ((text, None), _joined(text)):
        for name, begin, value in _found(one):
            digest = digest_of(value)
            found.setdefault(digest, FoundSecret(name, begin if place is None else _place(begin, place), digest))
    return tuple(sorted(found.values(), key=lambda one: one.begin))


def digest_of(value: str) -> str:
    return hashlib.sha256(value.encode("utf-8", "replace")).hexdigest()[:16]


def _found(text: str) -> Iterator[tuple[str, int, str]]:
    low = text.lower()
    for rule in _rules():
        for begin, value in rule.find(text, low):
            yield rule.name, begin, value


def _lines_with(words: Sequence[str], low: str) -> Iterator[tuple[int, int]]:
    """Each a line and the one behind it; of long lines, what stands near."""
    for word in words:
        at = low.find(word)
        while at >= 0:
            begin = max(low.rfind("\n", 0, at) + 1, at - NEAR)
            end = low.find("\n", low.find("\n", at) + 1) if "\n" in low[at : at + NEAR] else -1
            end = min(end if end > at else len(low), at + NEAR)
            yield begin, end
            at = low.find(word, at + 1)


@cache
def _rules() -> tuple[SecretRule, ...]:
    told = [*json.loads(RULES.read_text("utf-8"))["rules"], *MORE]
    return tuple(
        SecretRule(one["id"], one["shape"], one["words"], one.get("group", 0), one["entropy"], one.get("allow", ()))
        for one in told
    )


@cache
def _compiled(shape: str) -> re.Pattern[str]:
    return re.compile(shape)


def _entropy(value: str) -> float:
    """Bits of a character."""
    return -sum(count / len(value) * math.log2(count / len(value)) for count in Counter(value).values())


def _joined(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Put together what is written in parts; and (place in it, how much was left out before) for each part."""
    parts, cuts, at, out = [], [(0, 0)], 0, 0
    for hit in SPLIT.finditer(text):
        parts.append(text[at : hit.start()])
        out += hit.start() - at
        at = hit.end()
        cuts.append((out, at - out))
    return "".join([*parts, text[at:]]), cuts


def _place(begin: int, cuts: Sequence[tuple[int, int]]) -> int:
    number = bisect.bisect_right(cuts, (begin, 1 << 60)) - 1
    return begin + cuts[number][1]
