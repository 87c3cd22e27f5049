"""Texts for the model besides the change. Pure, and free of everything that differs between two days."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import groupby
from operator import itemgetter

from sisimpur.shared.model.evidence import Evidence, Finding
from sisimpur.shared.model.text import one_line
from sisimpur.shared.model.work import TaskSpec

LONGEST = 6_000  # characters of a block
MOST_NAMED = 20


def task_text(task: TaskSpec, changed: Collection[str]) -> str:
    """Text of the task without its id, which holds a date.

    `changed`: paths; that no other path was touched, code has checked.
    """
    criteria = [f"- {line}" for line in task.acceptance] or ["- the description is met"]
    words = [task.title, "", task.description, "", "Acceptance:", *criteria]
    allowed = {"May change": task.files, "may create": task.new_files, "must not touch": task.guards}
    if named := [f"{word}: {', '.join(paths)}" for word, paths in allowed.items() if paths]:
        words += ["", "; ".join(named)]
    if left := [path for path in (*task.files, *task.new_files) if path not in changed]:
        words += ["", f"Named by the task, and not changed: {', '.join(left)}"]
    return "\n".join(words)[:LONGEST]


def evidence_text(evidence: Evidence) -> str:
    """Evidence about this change. The suite's whole counts are left out: other tasks change them too."""
    lines = [
        f"failing: {evidence.failed}",
        f"new or changed tests that fail without the change: {_named(evidence.proving)}",
        f"other new tests: {_named(test for test in evidence.new_tests if test not in evidence.proving)}",
        f"coverage: {_coverage(evidence)}",
        *(f"{path}: no test runs lines {_numbers(lines)}" for path, lines in sorted(evidence.uncovered.items())),
        *(f"problem: {one_line(problem.text, 300)}" for problem in evidence.problems),
    ]
    return "\n".join(lines)[:LONGEST]


def findings_text(findings: Sequence[Finding]) -> str:
    """Numbered from 1, as the answer names them. A rule's has its weight: a model's has it by being shown at all."""
    return "\n".join(
        f"{number}. {'' if one.source == 'model' else f'{one.severity}, {one.rule}: '}{_place(one)}: {one.text}"
        for number, one in enumerate(findings, 1)
    )


def _place(finding: Finding) -> str:
    return f"{finding.path}, at `{finding.quote}`" if finding.quote else finding.path


def part_text(number: int, count: int) -> str:
    if count == 1:
        return ""
    return f", part {number + 1} of {count}: the other parts are read too; judge this one"


def _named(tests: Iterable[str]) -> str:
    """`tests/test_a.py::Tests: test_one, test_two; …`: where tests stand is said once for all that follow."""
    names = [one_line(test, 200) for test in tests]
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    places = groupby(map(_parted, names[:MOST_NAMED]), key=itemgetter(0))
    return "; ".join(place + ", ".join(name for _, name in parts) for place, parts in places) + more or "none"


def _parted(name: str) -> tuple[str, str]:
    """The place of a test, ready to be written before it, and its own name; a parameter may hold anything."""
    plain, bracket, parameter = name.partition("[")
    place, colons, own = plain.rpartition("::")
    return f"{place}: " if colons else "", own + bracket + parameter


def _coverage(evidence: Evidence) -> str:
    if evidence.covered is None or evidence.covered_before is None:
        return "not measured"
    return "lower than before" if evidence.covered < evidence.covered_before - 0.05 else "not lower than before"


def _numbers(lines: Sequence[int]) -> str:
    return ", ".join(map(str, lines[:MOST_NAMED])) + (" …" if len(lines) > MOST_NAMED else "")
