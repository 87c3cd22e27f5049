"""Case -> deterministic findings. Nothing that a model says can overrule them.

Each is bound to an added line, or to the file (line 0) if a whole file is meant or something is gone. The line that a
secret stands on is quoted by no finding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from sisimpur.agents.reviewer.rules import (
    dependency_rules,
    django_rules,
    honesty_rules,
    python_rules,
    query_rules,
    text_rules,
)
from sisimpur.agents.reviewer.rules.case import Case
from sisimpur.shared.model.evidence import Finding, Severity
from sisimpur.shared.system.outgoing import Outgoing

# Not for the coder to mend: a person decides.
FOR_THE_OWNER = frozenset({"new dependency", "unusual file", "unreadable line", "too big"})
# What only moved within its file was accepted once; elsewhere the same words may mean something else.
MAY_MOVE = frozenset({"dangerous call", "raw SQL", "unescaped HTML", "swallowed exception", "surprising import"})
MOST_OF_A_RULE = 5  # per file
MOST = 60


def findings(case: Case, outgoing: Outgoing) -> tuple[Finding, ...]:
    """The worst first."""
    found = [
        *text_rules.findings(case, outgoing),
        *honesty_rules.findings(case),
        *python_rules.findings(case),
        *django_rules.findings(case),
        *query_rules.findings(case),
        *dependency_rules.findings(case),
    ]
    return tidy(_moved(case, found), outgoing)


def tidy(found: Iterable[Finding], outgoing: Outgoing) -> tuple[Finding, ...]:
    """Each once, the worst first, not too many, and without a secret."""
    unique = list(dict.fromkeys(found))
    secret = {(one.path, one.line) for one in unique if one.rule == "secret"}
    ordered = sorted(unique, key=lambda one: (-one.severity.rank, one.path, one.line, one.rule))
    kept = list(_few(ordered))[:MOST]
    return tuple(
        replace(
            one,
            path=outgoing.clean(one.path),
            quote="" if (one.path, one.line) in secret else outgoing.clean(one.quote),
            text=outgoing.clean(one.text),
        )
        for one in kept
    )


def _few(found: Iterable[Finding]) -> Iterator[Finding]:
    seen: Counter[tuple[str, str]] = Counter()
    for one in found:
        seen[one.path, one.rule] += 1
        if seen[one.path, one.rule] <= MOST_OF_A_RULE:
            yield one


def _moved(case: Case, found: Iterable[Finding]) -> Iterator[Finding]:
    """A line that stood in the file before, and that the file does not hold more often now, is no news."""
    before = {file.path: _counted(file.before or "") for file in case.files}
    after = {file.path: _counted(file.after or "") for file in case.files}
    for one in found:
        quote = one.quote
        known = 0 < after[one.path][quote] <= before[one.path][quote]
        if one.rule in MAY_MOVE and quote and known:
            one = replace(one, severity=Severity.LOW, text=f"{one.text} (moved, not new)")
        yield one


def _counted(text: str) -> Counter[str]:
    return Counter(line.strip()[:200] for line in text.split("\n"))
