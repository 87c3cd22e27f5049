"""What is known of how a target is set up and tested -> lines for the planner. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from sisimpur.shared.model.evidence import SuiteRun
from sisimpur.shared.model.text import few, one_line

SIGNED_IN = re.compile(r"//[^/@\s]+@")  # who somebody is at an index, with a key perhaps
MOST_NAMED = 5  # tests, folders
MOST_FOLDERS = 8
LONGEST = 500


def environment_lines(setup: str, test: str, base: SuiteRun | None) -> tuple[str, ...]:
    """`setup`, `test`: the commands, empty: nothing to install, or to run; `base`: the newest run."""
    lines = [
        f"set-up: {setup or 'nothing is installed'}",
        f"tests run with: {test}; from the repository's root, in a box without network"
        if test
        else "tests: none that can be run",
        *(_counts(base) if base else ()),
    ]
    return tuple(one_line(SIGNED_IN.sub("//", line), LONGEST) for line in lines)


def _counts(base: SuiteRun) -> Iterator[str]:
    """What the tests of the target's branch said last."""
    if not base.is_whole:
        yield f"their last run before any change did not finish: {base.end}"
        return
    counts = Counter(base.outcomes.values())
    covered = "" if base.covered is None else f"; they run {base.covered:.0f} % of all code"
    told = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())) or "none was collected"
    yield f"their last run before any change: {told}, in {base.seconds:.0f} s{covered}"
    if base.folders:
        missed = sorted(base.folders.items(), key=lambda one: (one[1][0] - one[1][1], one[0]))
        shares = [f"{folder} {100 * run // lines} % of {lines} lines" for folder, (run, lines) in missed]
        yield f"code that tests run, by folder, what lacks most first: {few(shares, MOST_FOLDERS)}"
    if failed := sorted(base.of("failed")):
        yield f"failing before any change: {few(failed, MOST_NAMED)}"
    reached = Counter(test.partition("::")[0].rpartition("/")[0] or "." for test in base.outcomes)
    if reached:
        folders = [f"{folder} ({count})" for folder, count in sorted(reached.items())]
        yield f"collected from: {few(folders, MOST_NAMED)}"
