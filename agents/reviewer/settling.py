"""Reviews that come to an end. Pure.

In a later round only this may send a task back: what was complained about last time and still holds, and what is said
about lines that nobody had seen. A new complaint about an old line comes too late: it is a comment; if it is a grave
one, the owner decides, not another round. Findings of rules always count.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from shared.model.review import Approved, Finding, Reviewed, Severity


@dataclass(frozen=True)
class History:
    """Traces of earlier rounds: the lines that a model has read, and its complaints that were not settled.

    `seen`: (path, text) -> how often the line stood in the change that was read.
    """

    seen: Mapping[tuple[str, str], int] = field(default_factory=dict)
    open: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class Settled:
    findings: tuple[Finding, ...]
    late: tuple[Finding, ...] = ()  # grave, new, and about lines that had passed


def history(before: Sequence[Reviewed], floor: Severity) -> History:
    """Oldest first. A round in which rules spoke alone leaves the complaints of the round before it open."""
    lines = frozenset[tuple[str, str]]().union(*(one.lines for one in before))
    seen = {line: max(one.times(line) for one in before) for line in lines}
    last = next((one for one in reversed(before) if one.lines), None)
    if last is None or isinstance(last.verdict, Approved):
        return History(seen)
    blocking = (one for one in last.verdict.findings if one.source == "model" and one.severity.rank >= floor.rank)
    return History(seen, tuple(blocking))


def settle(findings: Iterable[Finding], past: History, lines: dict[tuple[str, int], str]) -> Settled:
    """`findings`: the model's; `lines`: the text of each added line, by path and number."""
    kept, late = [], []
    for finding in findings:
        if not _comes_late(finding, past, lines):
            kept.append(finding)
            continue
        kept.append(replace(finding, severity=Severity.LOW, text=f"{finding.text} (said late: this line had passed)"))
        if finding.severity is Severity.HIGH:
            late.append(finding)
    return Settled(tuple(kept), tuple(late))


def _comes_late(finding: Finding, past: History, lines: dict[tuple[str, int], str]) -> bool:
    if finding.severity is Severity.LOW or any(_same(finding, one) for one in past.open):
        return False
    text = lines.get((finding.path, finding.line))
    return text is not None and _times(finding.path, text, lines) <= past.seen.get((finding.path, text), 0)


def _times(path: str, text: str, lines: dict[tuple[str, int], str]) -> int:
    """Count a line.

    If it stands there more often than it was seen, nobody can tell which one is new: then all of them are.
    """
    return sum(one == path and line == text for (one, _), line in lines.items())


def _same(one: Finding, other: Finding) -> bool:
    """Say whether both are about the same line, however it is worded now."""
    return one.path == other.path and one.quote.split() == other.quote.split()
