"""Tests that fail without a change for want of a name which it adds -> whether they run once more, what that says.

Pure: the run itself is made where the others are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from sisimpur.agents.qa.analysis.stand_ins import StandIns, asks_about
from sisimpur.agents.qa.analysis.task_words import bare_name
from sisimpur.agents.qa.analysis.test_changes import EMPTY, Named, Weakening
from sisimpur.agents.qa.analysis.touched import SuiteFiles, Touched
from sisimpur.agents.qa.evidence_rule import Runs
from sisimpur.agents.qa.proof import NewNames, Without
from sisimpur.shared.model.evidence import SuiteRun

IS_UNKNOWN = """import pathlib, sys, sysconfig
roots = {sysconfig.get_path(one) for one in ("stdlib", "purelib", "platlib")} | {sys.prefix + "/roots"}
name = sys.argv[1].encode()
sys.exit(any(name in path.read_bytes() for root in roots for path in pathlib.Path(root).rglob("*.py")))"""
ASKS_PACKAGES = ("python", "-I", "-c", IS_UNKNOWN)  # -I: no module of the repository answers in their place


@dataclass(frozen=True)
class NewNamesAsked:
    """`texts`: a path -> its texts before and after; empty: there is no such file."""

    touched: Touched
    places: SuiteFiles
    texts: Callable[[str], tuple[str, str]]
    weakened: Sequence[Weakening]

    @cached_property
    def stand_ins(self) -> StandIns:
        return StandIns.of({change.path: self.texts(change.path) for change in self.touched.code})

    def of(self, runs: Runs) -> NewNames:
        """Those that nobody knows a better reason of."""
        passed = runs.change.of("passed") - runs.flaky
        lacking = frozenset(one for one in passed if self._lacks(one, runs))
        idle = {(one.path, bare_name(one.test)) for one in self.weakened if one.rule == EMPTY}
        return NewNames(lacking, idle=frozenset(idle.intersection(map(self._place, lacking))))

    def is_needed(self, runs: Runs, new: NewNames, alters_nothing: bool) -> bool:
        """Where another test is proof, or none is wanted, only those are run that seem to assert nothing."""
        is_shown = alters_nothing or bool(self._failing(runs) - new.lacking)
        return bool(new.idle) or bool(new.lacking and not is_shown)

    def files(self, new: NewNames) -> Sequence[str]:
        return sorted(self.places.files(new.lacking))

    def told(self, new: NewNames, run: SuiteRun | None) -> NewNames:
        """`run`: of the tests where new names do nothing; None: nothing could stand in for any."""
        known = run.outcomes if run else {}
        rest = self.stand_ins.added - self.stand_ins.replaced
        names = {test: rest if test in known else self.stand_ins.added for test in new.lacking}
        asking = (test for test in new.lacking if self._asks(test, names[test]))
        return replace(new, stood_in=run, asking=frozenset(asking))

    def _failing(self, runs: Runs) -> frozenset[str]:
        without = self._without(runs)
        if without is None:
            return frozenset()
        passed = runs.change.of("passed") - runs.flaky
        return frozenset(one for one in passed if self.places.file(one) in without.on and without.fails(one))

    def _lacks(self, test: str, runs: Runs) -> bool:
        without = self._without(runs)
        if without is None or self.places.file(test) not in without.on:
            return False
        return without.lacks(test, self.stand_ins.added, self.touched.is_for_tests)

    def _without(self, runs: Runs) -> Without | None:
        return Without(runs.unchanged, runs.unchanged_on, self.places) if runs.unchanged else None

    def _place(self, test: str) -> Named:
        return self.places.file(test), bare_name(test)

    def _asks(self, test: str, names: frozenset[str]) -> bool:
        path, name = self._place(test)
        return asks_about(self.texts(path)[1], name, names)
