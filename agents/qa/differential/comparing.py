"""Calls of a change's functions on both commits: kept while tests run, then made again in two boxes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from sisimpur.agents.qa.differential.calls import Compared, compared, kept, results
from sisimpur.agents.qa.differential.comparable import Comparable
from sisimpur.agents.qa.runner.suite import GATE, RawTestRun, SuiteOrder

ASKED = "sisimpur_calls.json"  # laid beside the target's files
AGAIN = f"python {GATE}/gate_calls.py"
LONGEST = 60.0  # seconds of the box; the calls themselves end sooner


def calls_compared(
    made: Callable[[SuiteOrder], RawTestRun],
    tests: SuiteOrder,
    base: str,
    files: Mapping[str, tuple[str, str]],
    at: str = "",
) -> Compared:
    """`tests`: the run of the change in which calls are kept. `files`: changed code, before and after.

    `at`: the line that enters the files' own environment; empty: there is one for all.
    """
    comparable = Comparable.of(files)
    if not comparable.texts:
        return Compared()
    calls = kept(made(replace(tests, overlay=comparable.texts)).calls, comparable)
    if not calls.calls:
        return Compared()
    asked = {ASKED: calls.order(comparable.remade)}
    orders = [SuiteOrder(commit, at + AGAIN, asked, cover=False, limit=LONGEST) for commit in (base, tests.commit)]
    before, after = (results(made(order).calls) for order in orders)
    return compared(calls, before, after)
