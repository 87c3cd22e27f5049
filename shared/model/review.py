"""The words of the review: findings, and the verdict about one commit."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from shared.model.work import Choice

MOST_KEYWORDS = 6  # of one review


class Severity(Choice):
    """Below MEDIUM a finding is a comment; HIGH is what would hurt somebody."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"

    @property
    def rank(self) -> int:
        """2 is the worst."""
        return list(Severity).index(self)


@dataclass(frozen=True)
class Finding:
    """Something about one changed line. `source`: "rule", "ruff" or "model"; `rule`: which, short and stable."""

    path: str
    line: int  # in the new file, from 1; 0: the file as a whole
    severity: Severity
    source: str
    rule: str
    text: str  # one line: what is wrong and what would be right
    quote: str = ""  # the line itself

    @property
    def signature(self) -> str:
        """The same for the same complaint about the same text, wherever the line has moved to."""
        words = "\0".join((self.path, self.source, self.rule, " ".join(self.quote.split())))
        return hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()[:16]


@dataclass(frozen=True)
class Approved:
    """Good as it is. The findings are comments."""

    findings: tuple[Finding, ...] = ()
    kind: Literal["approved"] = "approved"  # told apart also when it comes back from a file


@dataclass(frozen=True)
class ChangesRequested:
    """The coder's turn; at least one finding is no mere comment."""

    findings: tuple[Finding, ...]
    kind: Literal["changes requested"] = "changes requested"


@dataclass(frozen=True)
class Escalated:
    """Not for a machine to decide: the owner's turn."""

    reason: str
    findings: tuple[Finding, ...] = ()
    kind: Literal["escalated"] = "escalated"


Verdict = Approved | ChangesRequested | Escalated


@dataclass(frozen=True)
class Reviewed:
    """A verdict, with what it was about. `lines`: (path, text) of every added line that the reviewer saw.

    `repeated`: (path, text, how often), of those that stand more than once among the added ones. `keywords`: what
    somebody would look for who meets the same trouble again, in the reviewer's words: data, like all that a model says.
    """

    commit: str
    verdict: Verdict
    lines: frozenset[tuple[str, str]] = frozenset()
    repeated: frozenset[tuple[str, str, int]] = frozenset()
    keywords: tuple[str, ...] = ()

    def times(self, line: tuple[str, str]) -> int:
        """How often the reviewer saw this line."""
        often = max((count for path, text, count in self.repeated if (path, text) == line), default=1)
        return often if line in self.lines else 0


def signatures(findings: Iterable[Finding]) -> tuple[str, ...]:
    """Sorted, each once."""
    return tuple(sorted({finding.signature for finding in findings}))
