"""A commit -> the runs that its evidence is drawn from. As few as can answer the questions of docs/gates.md."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from agents.qa.analysis.mutants import Mutant
from agents.qa.analysis.test_changes import Weakening, weakenings
from agents.qa.analysis.touched import Places, Touched, chosen
from agents.qa.evidence_rule import Runs, is_usable, refused
from agents.qa.runner.suite import Bench, SuiteOrder
from agents.qa.test_runner import read_run
from shared.model.change import Change, HasPath
from shared.model.errors import Refused, Unavailable
from shared.model.evidence import Outcome, SuiteRun
from shared.model.work import Branch, Run
from shared.system.log import Log

COUNTED = "lines of all code"  # what a kept run of a base holds; another word here, and none is believed
LARGEST = 20_000_000  # bytes of a file of the tests, data included
NOT_THEIRS = ("stopped", "machine")  # the run was ended for a reason that is not its own


class CommitSource(Protocol):
    """The target's commits: the mirror."""

    def tree(self, sha: str) -> Sequence[HasPath]: ...
    def tree_id(self, sha: str) -> str: ...
    def read(self, sha: str, path: str, limit: int = ...) -> bytes | None: ...
    def changed(self, old: str, new: str) -> tuple[Change, ...]: ...


class KeptRuns(Protocol):
    """The runs of base commits that were made before."""

    def base_run(self, key: str) -> SuiteRun | None: ...
    def keep_base_run(self, key: str, run: SuiteRun) -> None: ...


@dataclass(frozen=True)
class Subject:
    """Subject of the tests: a commit, against its base. `alters_nothing`: so says its task, and what it changes.

    `about`: modules that nobody but we asked tests for, and for nothing else.
    """

    run: Run
    branch: Branch
    command: str
    touched: Touched
    places: Places
    alters_nothing: bool = False
    about: tuple[str, ...] = ()


@dataclass(frozen=True)
class Gathering:
    """Makes the runs for one subject, and looks at its files."""

    bench: Bench
    source: CommitSource
    kept: KeptRuns
    log: Log
    subject: Subject

    def base(self) -> SuiteRun:
        """BrokenSetup, NoSandbox: the owner's to mend. A run without an end is not believed a second time."""
        commit, label = self.subject.branch.base, self.bench.label(self.subject.branch.base)
        key = hashlib.sha256(json.dumps([commit, self.subject.command, label, COUNTED]).encode()).hexdigest()
        if kept := self.kept.base_run(key):
            return kept
        order = SuiteOrder(commit, self.subject.command)
        run = self._made("base", order, self._code_of_base())
        if is_usable(run):
            now_and_then: dict[str, Outcome] = dict.fromkeys(self._flaky(order, run.of("failed")), "passed")
            run = replace(run, outcomes={**run.outcomes, **now_and_then})  # only what fails twice excuses a change
            self.kept.keep_base_run(key, run)
        return run

    def runs(self, base: SuiteRun) -> Runs:
        """BrokenSetup if the environment of the commit itself cannot be built."""
        commit, touched = self.subject.branch.commit, self.subject.touched
        order = SuiteOrder(commit, self.subject.command)
        change = self._made("change", order, [*(one.path for one in touched.code), *self.subject.about])
        runs = Runs(base, change)
        if not change.is_whole or not is_usable(base):
            return runs
        runs = replace(runs, flaky=self._flaky(order, change.of("failed") - base.of("failed")))
        return self._without(self._restored(runs))

    def survivors(self, planted: Sequence[Mutant], written: Collection[str]) -> list[str]:
        """The faults that the written tests do not notice."""
        return [str(mutant) for mutant in planted if self._survives(mutant, written)]

    def weakenings(self) -> list[Weakening]:
        """Find weaker tests in what was done to the test files."""
        branch = self.subject.branch
        return [
            weakening
            for change in self.subject.touched.tests
            if change.path.endswith(".py")
            for weakening in weakenings(
                change.path,
                text_of(self.source, branch.base, change.path) if change.mode_old else None,
                text_of(self.source, branch.commit, change.path) if change.mode_new else None,
            )
        ]

    # --- runs ------------------------------------------------------------------------------------------------

    def _restored(self, runs: Runs) -> Runs:
        """The commit with the base's tests: do they accept the new code?"""
        touched = self.subject.touched
        if not touched.touches_old_tests:
            return runs
        holding = self.subject.places.files(runs.base.outcomes)
        only = chosen([change.path for change in touched.tests if change.kind != "added"], holding)
        if any(change.kind == "added" and change.path in touched.configuration for change in touched.tests):
            only = ()
        branch = self.subject.branch
        order = SuiteOrder(branch.commit, self.subject.command, self._files(branch.base), only, False)
        runs = replace(runs, restored=self._made("restored", order), restored_on=only)
        return replace(runs, flaky=runs.flaky | self._flaky(order, refused(runs, self.subject.places) - runs.flaky))

    def _without(self, runs: Runs) -> Runs:
        """The base with the commit's tests: do the new ones fail?"""
        touched = self.subject.touched
        paths = {change.path for change in touched.tests if change.kind != "deleted"}
        only = sorted(paths & self.subject.places.files(runs.change.outcomes))
        if not only:
            return runs
        branch, count = self.subject.branch, self.subject.alters_nothing
        order = SuiteOrder(branch.base, self.subject.command, self._files(branch.commit), only, count)
        return replace(runs, unchanged=self._made("unchanged", order, self._code_of_base()), unchanged_on=only)

    def _code_of_base(self) -> list[str]:
        paths = (entry.path for entry in self.source.tree(self.subject.branch.base))
        return [path for path in paths if path.endswith(".py") and not self.subject.touched.is_for_tests(path)]

    def _flaky(self, order: SuiteOrder, failing: Collection[str]) -> frozenset[str]:
        """Failing tests that pass when everything is run once more. Alone, many a broken one would pass."""
        if not failing:
            return frozenset()
        return frozenset(failing) & self._made("again", replace(order, cover=False)).of("passed")

    def _survives(self, mutant: Mutant, written: Collection[str]) -> bool:
        overlay = {mutant.path: mutant.source}
        order = SuiteOrder(self.subject.branch.commit, self.subject.command, overlay, sorted(written), False)
        run = self._made("mutant", order)
        return run.is_whole and not run.of("failed")

    def _made(self, which: str, order: SuiteOrder, asked: Iterable[str] = ()) -> SuiteRun:
        """Unavailable if it was ended for a reason that has nothing to do with it."""
        raw = self.bench.run(order)
        if raw.end in NOT_THEIRS:
            raise Unavailable(f"the tests were interrupted: {raw.end}; they are run again")
        run = read_run(raw, frozenset(asked))
        self.log(
            self.subject.run,
            "tests",
            which=which,
            end=run.end,
            code=run.code,
            tests=len(run.outcomes),
            seconds=run.seconds,
        )
        return run

    def _files(self, commit: str) -> Mapping[str, bytes | None]:
        """The touched test files as they are in this commit; None: not there."""
        return {change.path: self.source.read(commit, change.path, LARGEST) for change in self.subject.touched.tests}


def text_of(source: CommitSource, commit: str, path: str) -> str:
    """A file that is no text is a NUL, which nobody can parse."""
    try:
        return (source.read(commit, path, LARGEST) or b"").decode()
    except (Refused, UnicodeDecodeError):
        return "\0"
