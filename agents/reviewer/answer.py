"""The reviewer model's answer, and what is left of it once code has looked. Nothing in it is believed.

Reviews come to an end: in a later round only this may send a task back: what was complained about last time and still
holds, and what is said about lines that nobody had seen. A new complaint about an old line comes too late: it is a
comment; if it is a grave one, the owner decides, not another round. Findings of rules always count. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import ClassVar

from sisimpur.agents.reviewer.diff_analyzer import Chunk, PatchRow
from sisimpur.agents.reviewer.rules.case import LONGEST_QUOTE, ChangedFile
from sisimpur.shared.model.evidence import (
    MOST_KEYWORDS,
    UNSEEN_EFFECT,
    Approved,
    ChangesRequested,
    Escalated,
    Finding,
    Reviewed,
    Severity,
    Verdict,
)
from sisimpur.shared.model.text import one_line

MOST_FINDINGS = 20
NEAR = 3  # lines: a finding that names one that is not shown, beside an added one, means that one
LONGEST_REMOVED = 80  # characters of a removed line in a text
LONGEST_TEXT, LONGEST_RULE, LONGEST_REASON, LONGEST_WORD = 400, 40, 400, 600
LONGEST_KEYWORD, WORDS_OF_A_KEYWORD, LONGEST_EFFECT = 40, 3, 240


class Decision(StrEnum):
    """Read by its exact form: what is only like a verdict is none."""

    APPROVE = "approve"
    REQUEST_CHANGES = "request_changes"
    ESCALATE = "escalate"


@dataclass(frozen=True)
class FindingReply:
    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}
    path: str
    line: int
    severity: Severity
    rule: str
    text: str
    removed: bool = False  # `line` is one of the old file


@dataclass(frozen=True)
class SetAside:
    """A rule's finding that was answered, and why the code is right there."""

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}
    finding: int
    reason: str


@dataclass(frozen=True)
class ShownBy:
    """An acceptance criterion, by its number, and the test that shows it."""

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}
    criterion: int
    test: str


@dataclass(frozen=True)
class ReviewReply:
    """`unresolved`: numbers of the earlier findings that still hold. `for_owner`: what to know before approving it.

    `effect`: what users notice; `nothing`: it is not noticed; empty: it was not said.
    """

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}
    decision: Decision
    reason: str
    findings: list[FindingReply]
    unresolved: list[int] = field(default_factory=list)
    keywords: list[str] = field(default_factory=list)
    set_aside: list[SetAside] = field(default_factory=list)
    for_owner: str = ""
    effect: str = ""
    shown: list[ShownBy] = field(default_factory=list)


@dataclass(frozen=True)
class Read:
    """A reply about one chunk, checked. `set_aside`: findings of rules, with the reasons."""

    decision: Decision
    reason: str
    findings: tuple[Finding, ...]
    keywords: tuple[str, ...] = ()
    set_aside: tuple[tuple[Finding, str], ...] = ()
    for_owner: str = ""
    effect: str = ""
    shown: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class AskedAbout:
    """Findings that a chunk was asked about, as they were numbered: earlier ones, and those of rules now.

    `criteria` of the task, as they were numbered; `proving`: tests that fail without the change.
    """

    earlier: tuple[Finding, ...] = ()
    rules: tuple[Finding, ...] = ()
    answered: bool = False  # somebody has said that a finding is wrong
    criteria: tuple[str, ...] = ()
    proving: tuple[str, ...] = ()


def read(reply: ReviewReply, chunk: Chunk, files: Mapping[str, ChangedFile], asked: AskedAbout) -> Read:
    """Nothing in the reply is believed: what it names must have been asked about."""
    known = {path: files[path] for path in chunk.paths}
    bound = (_bound(complaint, known, chunk) for complaint in reply.findings)
    kept = sorted(filter(None, bound), key=lambda finding: -finding.severity.rank)
    still = {number for number in reply.unresolved if 0 < number <= len(asked.earlier)}
    carried = (_carried(asked.earlier[number - 1], known) for number in sorted(still))
    found = tuple(dict.fromkeys((*carried, *kept)))[:MOST_FINDINGS]
    return Read(
        reply.decision,
        one_line(reply.reason, LONGEST_REASON),
        found,
        tuple(map(_keyword, reply.keywords)),
        tuple(_set_aside(reply.set_aside, asked)),
        one_line(reply.for_owner, LONGEST_REASON),
        _effect(reply.effect),
        tuple(_shown(reply.shown, asked)),
    )


def _shown(said: Iterable[ShownBy], asked: AskedAbout) -> Iterator[tuple[str, str]]:
    """(criterion, test), where the test is one that fails without the change; it may be named by its end."""
    for one in said:
        tests = [test for test in asked.proving if test == one.test or test.endswith((f"::{one.test}", f".{one.test}"))]
        if len(tests) == 1 and 0 < one.criterion <= len(asked.criteria):
            yield asked.criteria[one.criterion - 1], tests[0]


def _set_aside(said: Iterable[SetAside], asked: AskedAbout) -> Iterator[tuple[Finding, str]]:
    """Only what somebody has answered, and what a model may judge; never without a reason."""
    for one in said:
        reason = one_line(one.reason, LONGEST_REASON)
        if asked.answered and reason and 0 < one.finding <= len(asked.rules):
            finding = asked.rules[one.finding - 1]
            if not finding.is_firm:
                yield finding, reason


def word(reads: Sequence[Read], findings: Sequence[Finding]) -> str:
    """Return the reviewer's best sentence for the owner: what was asked for, else a reason, else the gravest remark."""
    told = dict.fromkeys(filter(None, (one.for_owner for one in reads)))
    reasons = dict.fromkeys(filter(None, (one.reason for one in reads)))
    remarks = [one.text for one in findings if one.source == "model"]
    return one_line(" ".join(told or reasons) or next(iter(remarks), ""), LONGEST_WORD)


def acceptance(reads: Iterable[Read], criteria: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Return each criterion with the first test that a part names for it; empty: none does."""
    tests = dict(pair for one in reversed([*reads]) for pair in reversed(one.shown))
    return tuple((criterion, tests.get(criterion, "")) for criterion in criteria)


def effect(reads: Sequence[Read]) -> str:
    """Return what users notice, of the first part that has any; else that they notice nothing; empty: nobody said."""
    told = [one.effect for one in reads if one.effect]
    return next((text for text in told if text != UNSEEN_EFFECT), UNSEEN_EFFECT if told else "")


def _effect(text: str) -> str:
    said = one_line(text, LONGEST_EFFECT)
    return UNSEEN_EFFECT if said.strip(" .`'\"").casefold() == UNSEEN_EFFECT else said


def keywords(reads: Iterable[Read]) -> tuple[str, ...]:
    """Keywords of all chunks together: each once, in small letters or large, and not too many."""
    found: dict[str, str] = {}
    for word in (word for one in reads for word in one.keywords if word):
        found.setdefault(word.casefold(), word)
    return tuple(found.values())[:MOST_KEYWORDS]


def verdict(reads: Sequence[Read], findings: Sequence[Finding], floor: Severity) -> Verdict:
    """`findings`: all that counts, rules and settled complaints together. Approved only if every chunk is.

    What the coder can mend is mended before the owner is asked.
    """
    comments = tuple(findings)
    grave = [finding for finding in findings if finding.severity.rank >= floor.rank]
    if asking := next((one for one in reads if one.decision is Decision.ESCALATE), None):
        return Escalated(asking.reason or "the reviewer gives no reason", comments)
    if not all(finding.is_the_owners for finding in grave):
        return ChangesRequested(comments)
    if asking := next((one for one in reads if one.decision is Decision.REQUEST_CHANGES), None):
        return Escalated(_no_line(asking.reason), comments)
    if grave:
        return Escalated(f"{grave[0].path}: {grave[0].text}", comments)
    return Approved(comments)


def _no_line(reason: str) -> str:
    return "the reviewer asks for changes but names no line" + (f": {reason}" if reason else "")


def _keyword(text: str) -> str:
    return " ".join(one_line(text, LONGEST_TEXT).split()[:WORDS_OF_A_KEYWORD])[:LONGEST_KEYWORD].strip()


# --- binding -------------------------------------------------------------------------------------------------


def _bound(complaint: FindingReply, files: Mapping[str, ChangedFile], chunk: Chunk) -> Finding | None:
    """Bind a finding to a line that the chunk shows, or to the added one nearby.

    Near none, it is a comment on the file; an unknown path is nothing.
    """
    file = files.get(complaint.path)
    text = one_line(complaint.text, LONGEST_TEXT)
    if file is None or not text:
        return None
    row = chunk.shown.get((file.path, complaint.removed, complaint.line)) or _beside(complaint, chunk)
    rule = one_line(complaint.rule, LONGEST_RULE) or "review"
    if row is None:
        return Finding(file.path, 0, Severity.LOW, "model", rule, text)
    quote, line = row.text.strip()[:LONGEST_QUOTE], row.number if row.number <= len(file.lines) else 0
    text = text if row.sign != "-" else f"{text} (of what was removed: `{one_line(quote, LONGEST_REMOVED)}`)"
    return Finding(file.path, line, complaint.severity, "model", rule, text, quote)


def _beside(complaint: FindingReply, chunk: Chunk) -> PatchRow | None:
    added = (row for (path, _, _), row in chunk.shown.items() if path == complaint.path and row.sign == "+")
    nearest = min(added, key=lambda row: abs(row.number - complaint.line), default=None)
    return nearest if nearest and abs(nearest.number - complaint.line) <= NEAR else None


def _carried(finding: Finding, files: Mapping[str, ChangedFile]) -> Finding:
    """An earlier finding, where its line is now; 0: it is gone, and the finding is about what took its place."""
    file = files.get(finding.path)
    lines = [*file.added.items(), *enumerate(file.lines, 1)] if file else []
    same = (number for number, text in lines if text.strip()[:LONGEST_QUOTE] == finding.quote)
    return replace(finding, line=next(same, 0))


def about(chunk: Chunk, findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings that this chunk can answer."""
    return tuple(finding for finding in findings if finding.path in chunk.paths)


# --- later rounds ---------------------------------------------------------------------------------------------


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
    if text is None or text.strip()[:LONGEST_QUOTE] != finding.quote:  # it was there in the first round, or is gone
        return any(path == finding.path for path, _ in past.seen)
    return _times(finding.path, text, lines) <= past.seen.get((finding.path, text), 0)


def _times(path: str, text: str, lines: dict[tuple[str, int], str]) -> int:
    """Count a line.

    If it stands there more often than it was seen, nobody can tell which one is new: then all of them are.
    """
    return sum(one == path and line == text for (one, _), line in lines.items())


def _same(one: Finding, other: Finding) -> bool:
    """Say whether both are about the same line, however it is worded now."""
    return one.path == other.path and one.quote.split() == other.quote.split()
