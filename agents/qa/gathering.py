"""A commit -> the runs that its evidence is drawn from, and the texts that are read beside them.

As few runs as can answer the questions of docs/gates.md; the change's own files, and those around them, each where it
matters.
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

from sisimpur.agents.qa.analysis.equivalence import is_same_code
from sisimpur.agents.qa.analysis.mutants import Mutant
from sisimpur.agents.qa.analysis.task_words import obsolete
from sisimpur.agents.qa.analysis.test_changes import Weakening, weakenings
from sisimpur.agents.qa.analysis.test_support import SourceTexts, relied_on
from sisimpur.agents.qa.analysis.touched import WORDS, SuiteFiles, Touched, chosen
from sisimpur.agents.qa.analysis.uncovered import Pair, unrun
from sisimpur.agents.qa.evidence_rule import Runs, Texts, Uncounted, is_usable, refused
from sisimpur.agents.qa.runner.suite import NOT_THEIRS, Bench, SuiteOrder
from sisimpur.agents.qa.test_runner import read_run
from sisimpur.agents.qa.tools.checking import KeptAnswers
from sisimpur.shared.model.change import Change, CommitFiles, paths_of
from sisimpur.shared.model.errors import Refused, Unavailable
from sisimpur.shared.model.evidence import Outcome, SuiteRun, configures_tests, is_test_file
from sisimpur.shared.model.scope import matches
from sisimpur.shared.model.work import Branch, Run, TaskSpec
from sisimpur.shared.system.log import Log

# --- runs -----------------------------------------------------------------------------------------------------

COUNTED = "lines of all code, and their number"  # what a kept run of a base holds; any other word is another run
LARGEST = 20_000_000  # bytes of a file of the tests, data included


class CommitSource(CommitFiles, Protocol):
    """The target's commits: the mirror."""

    def tree_id(self, sha: str) -> str: ...
    def changed(self, old: str, new: str) -> tuple[Change, ...]: ...


class KeptRuns(KeptAnswers, Protocol):
    """The runs of base commits that were made before; and of changes: merged as it is, one is the next base's."""

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
    places: SuiteFiles
    alters_nothing: bool = False
    about: tuple[str, ...] = ()


IS_UNKNOWN = """import pathlib, sys, sysconfig
roots = {sysconfig.get_path(one) for one in ("stdlib", "purelib", "platlib")}
name = sys.argv[1].encode()
sys.exit(any(name in path.read_bytes() for root in roots for path in pathlib.Path(root).rglob("*.py")))"""
ASKS_PACKAGES = ("python", "-I", "-c", IS_UNKNOWN)  # -I: no module of the repository answers in their place


@dataclass(frozen=True)
class Gathering:
    """Makes the runs for one subject, and looks at its files."""

    bench: Bench
    source: CommitSource
    kept: KeptRuns
    log: Log
    subject: Subject

    def base(self, is_of_branch: bool = True) -> SuiteRun:
        """BrokenSetup, Misconfigured: the owner's to mend. A run without an end is not believed a second time."""
        commit = self.subject.branch.base
        if kept := self.kept.base_run(self._key(commit)):
            if is_of_branch:
                self.kept.keep_base_run(self._key(commit), kept)  # perhaps of a change that was merged since
            return kept
        order = SuiteOrder(commit, self.subject.command)
        run = self._made("base", order, self._code_of(commit))
        if not is_usable(run):
            return run
        run = _excusing(run, self._flaky(order, run.of("failed")))
        keep = self.kept.keep_base_run if is_of_branch else self.kept.keep_run
        keep(self._key(commit), run)
        return run

    def runs(self, base: SuiteRun) -> Runs:
        """BrokenSetup if the environment of the commit itself cannot be built."""
        commit = self.subject.branch.commit
        order = SuiteOrder(commit, self.subject.command)
        change = self._made("change", order, self._code_of(commit))
        runs = Runs(base, change)
        if not change.is_whole or not is_usable(base):
            return runs
        failing = change.of("failed") - base.of("failed")
        runs = replace(runs, flaky=self._flaky(order, failing))
        if failing - runs.flaky:
            return replace(runs, is_compared=False)
        self.kept.keep_run(self._key(commit), _excusing(change, runs.flaky))
        return self._without(self._restored(runs))

    def timed(self, path: str) -> SuiteRun:
        """The tests of a file of the base, once more: each says how long it took."""
        order = SuiteOrder(self.subject.branch.base, self.subject.command, only=[path], cover=False, time=True)
        return self._made("timed", order)

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

    def is_hook(self, name: str) -> bool:
        """Whether a package of the environment knows this name: it may call a method that is called so."""
        order = SuiteOrder(self.subject.branch.base, shlex.join((*ASKS_PACKAGES, name)), cover=False)
        raw = self.bench.run(order)
        return not (raw.end == "exited" and raw.code == 0)

    # --- runs ------------------------------------------------------------------------------------------------

    def _key(self, commit: str) -> str:
        """The same for commits of one tree: what is merged as it was tested was run already."""
        words = [self.source.tree_id(commit), self.subject.command, self.bench.label(commit), COUNTED]
        return hashlib.sha256(json.dumps(words).encode()).hexdigest()

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
        return replace(runs, unchanged=self._made("unchanged", order, self._code_of(branch.base)), unchanged_on=only)

    def _code_of(self, commit: str) -> list[str]:
        paths = (entry.path for entry in self.source.tree(commit))
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


def text_of(source: CommitFiles, commit: str, path: str) -> str:
    """A file that is no text is a NUL, which nobody can parse."""
    try:
        return (source.read(commit, path, LARGEST) or b"").decode()
    except (Refused, UnicodeDecodeError):
        return "\0"


# --- texts ----------------------------------------------------------------------------------------------------


class CommitTexts:
    """Errors are those of the source."""

    def __init__(self, source: CommitSource, branch: Branch) -> None:
        self._source = source
        self._branch = branch
        self.changes = source.changed(branch.base, branch.commit)

    @cached_property
    def before(self) -> frozenset[str]:
        """The paths of the base."""
        return paths_of(self._source, self._branch.base)

    @cached_property
    def after(self) -> frozenset[str]:
        """The paths of the commit."""
        return paths_of(self._source, self._branch.commit)

    @cached_property
    def touched(self) -> Touched:
        same = frozenset(change.path for change in self.changes if self._does_the_same(change))
        return Touched(self.changes, same, self._relied())

    def _relied(self) -> frozenset[str]:
        """Files that only tests rely on.

        Of old files the product before decides: a change cannot claim a file by naming it.
        """
        texts = {change.path: self._both(change.path) for change in self.changes if not change.binary}
        old = {path: text for path, text in texts.items() if path in self.before}
        new = {path: text for path, text in texts.items() if path not in self.before}
        then = SourceTexts(self._of_tests, lambda: self._of_product(self.before, self._then))
        now = SourceTexts(self._of_tests, lambda: self._of_product(self.after, self._now))
        return relied_on(old, then) | relied_on(new, now)

    def read(self, task: TaskSpec, weakened: Sequence[Weakening], runs: Runs, is_hook: Callable[[str], bool]) -> Texts:
        """Read what the rule of evidence is told of them."""
        tests = [one.path for one in self.touched.tests if one.path.endswith(".py") and one.path in self.before]
        code = [one.path for one in self.touched.product if one.path.endswith(".py")]
        pairs = ((self._then(path), self._now(path)) for path in code)
        gone = obsolete(task, {path: self._then(path) for path in tests}, pairs, self._knows)
        lines = _Lines.of(runs)
        return Texts(weakened, gone, self._unrun(lines, is_hook), lines.uncounted)

    def _unrun(self, lines: _Lines, is_hook: Callable[[str], bool]) -> tuple[str, ...]:
        """Changed lines that no test is known to have run, of code that is not known to do the same."""
        code = [one for one in self.touched.product if one.path.endswith(".py") and one.path not in self.touched.same]
        pairs = {
            one.path: Pair(
                self._then(one.path) if one.mode_old else None,
                self._now(one.path) if one.mode_new else None,
                lines.missing_before(one.path),
                lines.missing_after(one.path),
            )
            for one in code
        }
        return unrun(pairs, self._knows, is_hook)

    # --- files -----------------------------------------------------------------------------------------------

    def _then(self, path: str) -> str:
        return text_of(self._source, self._branch.base, path)

    def _now(self, path: str) -> str:
        return text_of(self._source, self._branch.commit, path)

    def _both(self, path: str) -> str:
        return self._then(path) + "\n" + self._now(path)

    def _does_the_same(self, change: Change) -> bool:
        if change.kind != "modified" or not change.path.endswith(".py"):
            return False
        then, now = self._then(change.path), self._now(change.path)
        return is_same_code(then, now, lambda: self._texts(_python(self.after - {change.path})).values())

    def _of_tests(self) -> Mapping[str, str]:
        """Texts of the base's tests, and of those that the change brings."""
        paths = [path for path in self.before if _asks(path)]
        mine = [change.path for change in self.changes if change.mode_new and _asks(change.path)]
        now = {path: self._now(path) for path in mine}
        return {path: self._then(path) + "\n" + now.pop(path, "") for path in paths} | now

    def _of_product(self, paths: Iterable[str], text: Callable[[str], str]) -> Mapping[str, str]:
        return {path: text(path) for path in _python(paths) if not is_test_file(path)}

    def _knows(self, name: str) -> bool:
        """Say whether the product still has this word somewhere: documentation is not asked."""
        word = re.compile(rf"\b{re.escape(name)}\b")
        return any(name in text and word.search(text) for text in self._product.values())

    @cached_property
    def _product(self) -> Mapping[str, str]:
        return self._texts(path for path in self.after if not is_test_file(path) and not matches(path, WORDS))

    def _texts(self, paths: Iterable[str]) -> dict[str, str]:
        return {path: self._now(path) for path in sorted(paths)}


@dataclass(frozen=True)
class _Lines:
    """Lines that were not run, by file: on the base by several runs, on the commit by one."""

    before: Sequence[Mapping[str, Sequence[int]]]
    after: Mapping[str, Sequence[int]] | None

    @classmethod
    def of(cls, runs: Runs) -> _Lines:
        without = [run for run in (runs.base, runs.unchanged) if run and is_usable(run)]
        counted = [run.uncovered for run in without if run.covered is not None]
        return cls(counted, runs.change.uncovered if runs.change.covered is not None else None)

    @property
    def uncounted(self) -> Uncounted:
        return "the change" if self.after is None else "" if self.before else "the base"

    def missing_before(self, path: str) -> Collection[int] | None:
        return set.intersection(*(set(lines.get(path, ())) for lines in self.before)) if self.before else None

    def missing_after(self, path: str) -> Collection[int] | None:
        return None if self.after is None else self.after.get(path, ())


def _python(paths: Iterable[str]) -> list[str]:
    return [path for path in paths if path.endswith(".py")]


def _asks(path: str) -> bool:
    """A test's source, or what configures tests."""
    return configures_tests(path) or (is_test_file(path) and path.endswith(".py"))


def _excusing(run: SuiteRun, flaky: Collection[str]) -> SuiteRun:
    """As the run of a base: only what fails twice excuses a change."""
    now_and_then: dict[str, Outcome] = dict.fromkeys(flaky, "passed")
    return replace(run, outcomes={**run.outcomes, **now_and_then})
