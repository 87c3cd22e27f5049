"""The runs of a change that upkeep began -> what it was begun for and does not show. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from agents.qa.coverage_checker import newly_run, no_gain
from agents.qa.evidence_rule import Runs, is_usable
from shared.model.evidence import Problem
from shared.model.naming import is_upkeep
from shared.model.work import TaskSpec

PINS = re.compile(r"(?P<path>[\w./-]+) pins (?P<name>[\w.-]+)==(?P<version>[\w.!-]+)", re.ASCII)  # a line of its proof


@dataclass(frozen=True)
class Sought:
    """Subject of a task of upkeep. `mends`: the id of a test; `covers`: modules that it wants tests for."""

    task: TaskSpec
    mends: str = ""
    covers: Collection[str] = ()


def unproven(sought: Sought, runs: Runs, read: Callable[[str], str]) -> Iterator[Problem]:
    """`read`: a path of the change -> its text. Runs without an end show nothing, and that is said elsewhere."""
    if not runs.change.is_whole or not is_usable(runs.base):
        return
    if sought.mends and sought.mends not in runs.change.of("passed"):
        yield _still_failing(sought.mends, runs)
    yield from _unpinned(sought.task, read)
    newly = newly_run(runs.base, runs.change, sought.covers)
    if newly is None and sought.covers:
        text = f"the lines that tests run were not counted: nobody knows which of {', '.join(sought.covers)} they run"
        yield Problem("nothing shows that the new tests run anything", text, "ask owner")
    elif less := no_gain(newly or {}):
        yield less


def _still_failing(test: str, runs: Runs) -> Problem:
    """Report a test that still fails; no coder brings back what is not on the base any more."""
    if test not in runs.base.outcomes:
        text = f"{test} is what this is about, and it is not on the base any more"
        return Problem("the test still fails", text, "ask owner", (test,))
    return Problem("the test still fails", f"{test} is what this is about, and it does not pass", "correct", (test,))


def _unpinned(task: TaskSpec, read: Callable[[str], str]) -> Iterator[Problem]:
    promised = map(PINS.fullmatch, task.acceptance if is_upkeep(task.id) else ())
    for found in filter(None, promised):
        name, version = re.escape(found["name"]), re.escape(found["version"])
        line = re.compile(rf"\s*{name}\s*(?:\[[^\]]*\])?\s*==\s*{version}\s*(?:[;#].*)?")
        if not any(map(line.fullmatch, read(found["path"]).splitlines())):
            text = f"{found['path']} does not pin {found['name']}=={found['version']}"
            yield Problem("the pin is still the old one", text, "correct")
