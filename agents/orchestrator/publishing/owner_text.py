"""What the owner has to know before a word on a change: its risk, before and after, what no gate saw. Pure."""

from __future__ import annotations

import re

from sisimpur.shared.model.evidence import Escalated, Evidence, Failure, Reviewed, Severity, is_test_file
from sisimpur.shared.model.text import few

MOST_NAMED = 5  # tests of a line
SECTION = re.compile(r"^(?=diff --git )", re.MULTILINE)
CHANGED = re.compile(r"diff --git (?:a/.* b/(?P<path>.*)|\"a/.*\" \"b/(?P<quoted>.*)\")")


def risk(found: Evidence | None, reviewed: Reviewed | None) -> tuple[int, int, int]:
    """The higher the riskier: the worst finding, what the tests and the reviewer left open, lines that no test runs.

    What nobody has tested comes before all else.
    """
    worst = max((one.severity.rank for one in reviewed.verdict.findings), default=0) if reviewed else 0
    if found is None:
        return Severity.HIGH.rank + 1, 0, 0
    left_open = len(found.problems) + isinstance(reviewed.verdict if reviewed else None, Escalated)
    left_open += found.independent.startswith("disagrees")
    return worst, left_open, sum(map(len, found.uncovered.values())) + len(found.unheld)


def before_and_after(found: Evidence) -> list[str]:
    """What failed without the change, and what fails with it, with its cause: a line for each."""
    fails = [f"fails with the change: {one.test}: {cause_of(one)}" for one in found.failures[:MOST_NAMED]]
    more = len(found.failures) - len(fails)
    fails += [f"{more} more fail with the change"] if more > 0 else []
    return [*without_it(found), *fails, *(f"fails still: {one.test}: {cause_of(one)}" for one in found.still)]


def without_it(found: Evidence) -> list[str]:
    """What failed before, what shows the change, and what was asked without seeing it, or in other surroundings."""
    old = [f"{words}: {tests.told}" for words, tests in found.compared.told() if tests is not found.compared.broken]
    lines = old or ([f"{found.failing_before} failed before the change"] if found.failing_before else [])
    if found.proving:
        lines.append(f"fails without the change, passes with it: {few(found.proving, MOST_NAMED)}")
    lines += [f"a test from the task's words alone {found.independent}"] if found.independent else []
    lines += [f"ran with another hash seed, time zone and order, too: {found.elsewhere}"] if found.elsewhere else []
    return [*lines, *([found.faults] if found.faults else []), *found.calls]


def cause_of(failure: Failure) -> str:
    """The first line of its text."""
    return failure.text.partition("\n")[0]


def unseen(found: Evidence) -> list[str]:
    """What the gates could not see, a line for each; empty: nothing that they know of."""
    lines = [*found.unrun, *found.unheld]
    if found.covered is None and found.command:
        why = f": {found.uncounted}" if found.uncounted else ""
        lines.append(f"which lines the tests run was not counted{why}")
    lines += [f"{run.name} was {run.end}" for run in found.tools if run.end.startswith("not run")]
    return lines


def tests_first(diff: str) -> str:
    """The same difference, that of tests at its head: it says what is asked of the rest."""
    head, *sections = SECTION.split(diff)
    return "".join([head, *sorted(sections, key=lambda section: not is_test_file(_path(section)))])


def _path(section: str) -> str:
    found = CHANGED.match(section)
    return (found["path"] or found["quoted"] or "") if found else ""
