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
    install_rules,
    lost_rules,
    python_rules,
    query_rules,
    text_rules,
)
from sisimpur.agents.reviewer.rules.case import Case
from sisimpur.agents.reviewer.rules.known import settled_by_base
from sisimpur.shared.model.evidence import Finding, Severity
from sisimpur.shared.system.outgoing import Outgoing

MOST_OF_A_RULE = 5  # remarks per file; what decides is told whole
MOST = 300


def findings(case: Case, outgoing: Outgoing) -> tuple[Finding, ...]:
    """The worst first."""
    found = [
        *text_rules.findings(case, outgoing),
        *honesty_rules.findings(case),
        *python_rules.findings(case),
        *lost_rules.findings(case),
        *django_rules.findings(case),
        *query_rules.findings(case),
        *dependency_rules.findings(case),
        *install_rules.findings(case),
    ]
    return tidy(settled_by_base(found, case, _of_lines), outgoing)


def _of_lines(case: Case) -> Iterator[Finding]:
    """The rules that judge a line by what it says, wherever it stands."""
    for rule in (
        text_rules.of_lines,
        python_rules.findings,
        lost_rules.of_lines,
        django_rules.of_lines,
        query_rules.findings,
    ):
        yield from rule(case)


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
        if one.severity is not Severity.LOW or seen[one.path, one.rule] <= MOST_OF_A_RULE:
            yield one
