"""A commit -> the runs that its evidence is drawn from: as few as can answer the questions of docs/gates.md."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

from sisimpur.agents.qa.analysis.loading import adds_quietly, loads_quietly
from sisimpur.agents.qa.analysis.renames import Renames
from sisimpur.agents.qa.analysis.task_words import bare_name
from sisimpur.agents.qa.analysis.test_changes import Weakening, weakenings
from sisimpur.agents.qa.analysis.touched import SuiteFiles, Touched, chosen, with_moved
from sisimpur.agents.qa.analysis.which_tests import using
from sisimpur.agents.qa.commit_texts import LARGEST, CommitSource, text_of
from sisimpur.agents.qa.differential.calls import Compared
from sisimpur.agents.qa.differential.comparing import calls_compared
from sisimpur.agents.qa.evidence_rule import Runs, is_usable, refused
from sisimpur.agents.qa.new_names import ASKS_PACKAGES, NewNamesAsked
from sisimpur.agents.qa.runner import second_run
from sisimpur.agents.qa.runner.suite import NOT_THEIRS, Bench, RawTestRun, SuiteOrder, is_green
from sisimpur.agents.qa.survey.roots import Suites, held
from sisimpur.agents.qa.test_runner import base_of, passing, read_run, taken_as
from sisimpur.agents.qa.tools.checking import KeptAnswers
from sisimpur.agents.qa.unheld.mutants import FaultsTried, Mutant
from sisimpur.agents.qa.unheld.trying import AskedTests, faults_tried
from sisimpur.shared.model.errors import Unavailable
from sisimpur.shared.model.evidence import SuiteRun, configures_tests
from sisimpur.shared.model.work import Branch, Run
from sisimpur.shared.system.log import Log

# --- runs -----------------------------------------------------------------------------------------------------

COUNTED = (
    "lines of all that may be code, and their number"  # what a kept run of a base holds; any other word is another run
)


class KeptRuns(KeptAnswers, Protocol):
    """The runs of base commits that were made before; and of changes: merged as it is, one is the next base's."""

    def keep_base_run(self, key: str, run: SuiteRun) -> None: ...


@dataclass(frozen=True)
class Subject:
    """Subject of the tests: a commit, against its base. `alters_nothing`: so says its task, and what it changes.

    `about`: modules that nobody but we asked tests for, and for nothing else. `moved`: old names of modules, and new.
    `renames`: other names that the task gives.
    """

    run: Run
    branch: Branch
    suites: Suites
    touched: Touched
    places: SuiteFiles
    alters_nothing: bool = False
    about: tuple[str, ...] = ()
    moved: Mapping[str, str] = field(default_factory=dict)
    renames: Renames = field(default_factory=Renames)

    @property
    def command(self) -> str:
        return self.suites.whole


AGAIN = 5  # runs of a few files, until a test that failed once counts as noise


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
        run = taken_as(run, self._flaky(order, run.of("failed")), "passed")  # only what fails twice excuses a change
        keep = self.kept.keep_base_run if is_of_branch else self.kept.keep_run
        keep(self._key(commit), run)
        return run

    def runs(self, base: SuiteRun, is_red: Callable[[Runs], bool]) -> Runs:
        """BrokenSetup if the commit's own environment cannot be built. `is_red`: then no more has to be seen."""
        if (early := self._touched_first(base)) and early.left_out and is_red(early):
            return replace(early, is_compared=False)
        commit = self.subject.branch.commit
        order = SuiteOrder(commit, self.subject.command)
        change = early.change if early and not early.left_out else self._changed("change", order)
        runs = Runs(base, change, extended=self._extended(base))
        if not change.is_whole or not is_usable(base):
            return runs
        failing = change.of("failed") - base.of("failed")
        runs = replace(runs, flaky=self._flaky(order, failing))
        now = self._failing_now(failing & base.of("passed") - runs.flaky)
        runs = replace(runs, noisy=self._noisy(runs.flaky, base), base=taken_as(base, now, "failed"))
        if not failing - runs.flaky - now:
            self.kept.keep_run(self._key(commit), replace(taken_as(change, runs.flaky | now, "passed"), times={}))
        for compared in (self._restored, self._alone, self._without):
            if is_red(runs):
                return replace(runs, is_compared=False)
            runs = compared(runs)
        return runs

    def _touched_first(self, base: SuiteRun) -> Runs | None:
        """Packages of the change, and the others if these pass. None: it has all, or what failed would tell nothing."""
        paths, places = [one.path for one in self.subject.touched.changes], self.subject.places
        line, roots = self.subject.suites.first(paths)
        if not line or base.of("failed") or not all(map(places.file, base.outcomes)):
            return None
        change = self._changed("touched first", order := SuiteOrder(self.subject.branch.commit, line))
        if not (before := base_of(base, change, lambda test: held(places.file(test), roots))):
            return Runs(base, change) if change.is_whole else None
        flaky = self._flaky(order, change.of("failed"))
        return Runs(before, change, flaky=flaky, left_out=self.subject.suites.left_out(roots))

    def _changed(self, which: str, order: SuiteOrder) -> SuiteRun:
        return self._made(which, replace(order, time="all"), self._code_of(order.commit))

    def timed(self, path: str) -> SuiteRun:
        """The tests of a file of the base, once more: each says how long it took."""
        order = SuiteOrder(self.subject.branch.base, self.subject.command, only=[path], cover=False, time="body")
        return self._made("timed", order)

    def survivors(self, planted: Sequence[Mutant], files: Collection[str]) -> list[Mutant]:
        """The faults that the tests of these files do not notice."""
        return [mutant for mutant in planted if is_green(self._with_fault(mutant, sorted(files)))]

    def tried(self, planted: Sequence[Mutant], runs: Runs) -> FaultsTried:
        """Show small faults to the tests that know what is changed, as far as the share of time allows.

        What is interrupted says nothing: a fault may be one that ends whatever runs it.
        """
        asked = self._asked({one.path for one in planted}, runs)
        failing = runs.change.of("failed") | runs.flaky
        shown = partial(self._with_fault, files=asked.by, limit=asked.limit)
        return faults_tried(planted, asked, shown, lambda run: is_green(run, failing))

    def compared(self, runs: Runs) -> Compared:
        """Make the calls of tests near the change on both commits, if there is time for these tests once more."""
        touched, branch = self.subject.touched, self.subject.branch
        changed = [one.path for one in touched.code if one.path not in touched.same and one.mode_old]
        if not changed or not (asked := self._asked(changed, runs)).fits:
            return Compared()
        order = SuiteOrder(branch.commit, self.subject.command, only=asked.by, cover=False, limit=asked.limit)
        with suppress(Unavailable):
            texts = {path: self.texts(path) for path in changed}
            return calls_compared(self._run, order, branch.base, texts, self.subject.suites.at(changed))
        return Compared()

    def _asked(self, paths: Collection[str], runs: Runs) -> AskedTests:
        """The tests near these files, and what one run of them takes."""
        first, took = runs.change, self._took(runs.change)
        part = second_run.worked(first.cpu, first.seconds)
        work = {file: part * seconds for file, seconds in took.items()}
        by = second_run.asked_of_faults(work, self._brought(runs), self._near(paths, took))
        each = second_run.of_one_fault(took, first.seconds, by)
        return AskedTests(first, by, each, part * each)

    def _run(self, order: SuiteOrder) -> RawTestRun:
        order = order if second_run.sayable(order.only) else replace(order, only=())
        if order.only and order.command == self.subject.command:
            order = replace(order, command=self.subject.suites.only(order.only))
        raw = self.bench.run(order)
        if raw.end in NOT_THEIRS:
            raise Unavailable(f"the tests were interrupted: {raw.end}; they are run again")
        return raw

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
        """The commit with the base's tests, elsewhere: do they accept the new code? Not where no code is new.

        All of them, if a file that it brings does more than define as it is loaded: that may hide what fails.
        """
        touched = self.subject.touched
        if not (touched.product or touched.configuration):
            return runs
        may_hide = bool(runs.base.of("passed")) and self._brings_what_acts(runs.extended)
        old = [one for one in touched.tests if one.kind != "added" and one.path not in runs.extended]
        configures = any(one.kind == "added" and one.path in touched.configuration for one in touched.tests)
        if not (old or configures or may_hide):
            return runs
        holding = self.subject.places.files(runs.base.outcomes)
        only = () if may_hide or configures else chosen([one.path for one in old], holding)
        branch = self.subject.branch
        order = SuiteOrder(branch.commit, self.subject.command, self._old_files(), only, False)
        restored, took = self._made("restored", replace(order, elsewhere=True)), self._took(runs.change)
        elsewhere = second_run.told(took.keys(), took) if restored.is_whole and not only else ""
        if not restored.is_whole:
            restored = self._made("restored", order)
        runs = replace(runs, restored=restored, restored_on=only, elsewhere=elsewhere)
        here = self._flaky(order, refused(runs, self.subject.places) - runs.flaky)
        was = self._passing_elsewhere(SuiteOrder(branch.base, self.subject.command), here)
        dependent = was - self._passing_elsewhere(order, was)
        return replace(runs, flaky=runs.flaky | here, astray=here - was, dependent=dependent)

    def _extended(self, base: SuiteRun) -> frozenset[str]:
        """Old files of tests to which the change only adds what hides nothing: the old tests ran as they were."""
        known = {bare_name(test) for test in base.outcomes}
        old = (one.path for one in self.subject.touched.tests if one.kind == "modified" and one.path.endswith(".py"))
        return frozenset(one for one in old if not configures_tests(one) and adds_quietly(*self.texts(one), known))

    def _brings_what_acts(self, extended: Collection[str]) -> bool:
        touched = self.subject.touched
        added = [change for change in touched.product if change.kind == "added"]
        brought = [change.path for change in (*touched.tests, *added) if change.kind != "deleted"]
        asked = (path for path in brought if path.endswith(".py") and path not in extended)
        texts = (text_of(self.source, self.subject.branch.commit, path) for path in asked)
        return bool(touched.product) and touched.brings_tests and not all(map(loads_quietly, texts))

    def _alone(self, runs: Runs) -> Runs:
        """New tests elsewhere, before any old one; of the old ones those of their files, and what there is time for.

        One that an old file holds may need what stands there.
        """
        brought, branch = frozenset(self._brought(runs)), self.subject.branch
        old_files = self._old_elsewhere(runs, brought)
        if not (brought or old_files) or runs.dependent:
            return runs
        order = SuiteOrder(branch.commit, self.subject.command, only=sorted(brought), cover=False)
        files = {test: self.subject.places.file(test) for test in runs.change.of("passed") - runs.flaky}
        known = {test for test in files.keys() & runs.base.of("passed") if files[test] in brought & runs.extended}
        new = {test for test in files.keys() & runs.new_tests if files[test] in brought}
        old = frozenset(known | {test for test in files.keys() & runs.base.of("passed") if files[test] in old_files})
        second = self._run_elsewhere(order, old | new)
        failing = (old | new) - passing(second, old | new)
        was = self._passing_elsewhere(SuiteOrder(branch.base, self.subject.command), failing & old)
        failing = (failing - old) | was
        told = second_run.told(brought | old_files, self._took(runs.change)) if second and second.is_whole else ""
        dependent = failing - self._passing_elsewhere(order, failing)
        return replace(runs, dependent=dependent, elsewhere=runs.elsewhere or told)

    def _old_elsewhere(self, runs: Runs, brought: Collection[str]) -> frozenset[str]:
        """Old files of tests that nobody has touched, where code is new, and not all of them ran elsewhere already."""
        if not self.subject.touched.product or runs.elsewhere:
            return frozenset()
        took, changed = self._took(runs.change), [one.path for one in self.subject.touched.code]
        return second_run.second_run(took, runs.change.seconds, brought, self._near(changed, took))

    def _near(self, paths: Collection[str], took: Iterable[str]) -> Callable[[], Collection[str]]:
        """Find those of these files of tests that know one of the paths, when it is asked for."""
        return lambda: using(paths, {file: self.texts(file)[1] for file in took if file.endswith(".py")})

    def _took(self, run: SuiteRun) -> Mapping[str, float]:
        """Seconds of each file of tests, as far as the runner told them."""
        return second_run.by_file(run.times, self.subject.places.file)

    def _passing_elsewhere(self, order: SuiteOrder, tests: Collection[str]) -> frozenset[str]:
        return passing(self._run_elsewhere(order, tests), tests)

    def _run_elsewhere(self, order: SuiteOrder, tests: Collection[str]) -> SuiteRun | None:
        """The files of these tests in other surroundings, those of the order first. None: there are none."""
        if not tests:
            return None
        files = {self.subject.places.file(test) for test in tests}
        only = () if "" in files else sorted(sorted(files, reverse=True), key=lambda file: file not in order.only)
        return self._made("elsewhere", replace(order, only=only, cover=False, elsewhere=True))

    def _brought(self, runs: Runs) -> list[str]:
        """Files of tests that the change brings or changes, or whose data it changes: that make their tests."""
        places, touched = self.subject.places, self.subject.touched
        paths = {change.path for change in touched.tests if change.kind != "deleted"}
        by_data = runs.new_tests | refused(runs, places) if touched.expected else ()
        return sorted(paths & places.files(runs.change.outcomes) | places.files(by_data))

    def _without(self, runs: Runs) -> Runs:
        """The base with the commit's tests: do the new ones fail? Where only tests are changed, this was run."""
        if not (only := self._brought(runs)) or not self.subject.touched.product:
            return runs
        branch, count = self.subject.branch, self.subject.alters_nothing
        order = SuiteOrder(branch.base, self.subject.command, self._files(branch.commit), only, count)
        made = self._made("unchanged", order, self._code_of(branch.base))
        return self._stood_in(replace(runs, unchanged=made, unchanged_on=only))

    def _stood_in(self, runs: Runs) -> Runs:
        """The commit, with what is new in it doing nothing: asked of tests that only miss a name without the change."""
        subject = self.subject
        asked = NewNamesAsked(subject.touched, subject.places, self.texts, self.weakenings())
        new = asked.of(runs)
        if not asked.is_needed(runs, new, subject.alters_nothing):
            return replace(runs, new=new)
        order = SuiteOrder(subject.branch.commit, subject.command, asked.stand_ins.texts, asked.files(new), False)
        return replace(runs, new=asked.told(new, self._made("stood in", order) if order.overlay else None))

    def texts(self, path: str) -> tuple[str, str]:
        """A file before and after; empty: it is not there."""
        branch = self.subject.branch
        return text_of(self.source, branch.base, path), text_of(self.source, branch.commit, path)

    def _code_of(self, commit: str) -> list[str]:
        paths = (entry.path for entry in self.source.tree(commit))
        return [path for path in paths if path.endswith(".py") and self.subject.touched.may_be_product(path)]

    def _flaky(self, order: SuiteOrder, failing: Collection[str]) -> frozenset[str]:
        """Failing tests that pass when everything is run once more. Alone, many a broken one would pass."""
        if not failing:
            return frozenset()
        return frozenset(failing) & self._made("again", replace(order, cover=False)).of("passed")

    def _failing_now(self, tests: frozenset[str]) -> frozenset[str]:
        """Those that fail on the base now, too, are no fault of the change: the machine may be busier than it was.

        Their files are asked first, which is quick; then everything, since alone a test may miss what others leave.
        """
        order = SuiteOrder(self.subject.branch.base, self.subject.command, cover=False)
        for only in dict.fromkeys((tuple(sorted(self.subject.places.files(tests))), ())):
            run = self._made("again", replace(order, only=only)) if tests else None
            tests &= run.of("failed") if run and run.is_whole else frozenset()
        return tests

    def _noisy(self, shaky: frozenset[str], base: SuiteRun) -> frozenset[str]:
        """Those of these tests that are no fault of the change, e.g. tests of speed on a busy machine.

        Their files are run some times more by themselves, without lines being counted, which is slow: they pass each
        time, or fail on the base, too. A new one that is only too slow while lines are counted fails so once more; else
        whoever wrote it can mend it.
        """
        files, branch = sorted(self.subject.places.files(shaky)), self.subject.branch

        def steady(commit: str, tests: Collection[str]) -> frozenset[str]:
            order = SuiteOrder(commit, self.subject.command, only=files, cover=False)
            runs = (self._made("again", order).of("passed") for _ in range(AGAIN))
            return frozenset(tests).intersection(*runs) if files and tests else frozenset()

        passing = steady(branch.commit, shaky)
        if new := passing - base.outcomes.keys():
            counted = SuiteOrder(branch.commit, self.subject.command, only=files)
            passing -= new - self._made("again", counted).of("failed")
        old = (shaky - passing) & base.outcomes.keys()
        return passing | (old - steady(branch.base, old))

    def _with_fault(self, mutant: Mutant, files: Sequence[str], limit: float = 0.0) -> SuiteRun:
        overlay = {mutant.path: mutant.source}
        order = SuiteOrder(self.subject.branch.commit, self.subject.command, overlay, files, False, limit=limit)
        return self._made("mutant", order)

    def _made(self, which: str, order: SuiteOrder, asked: Iterable[str] = ()) -> SuiteRun:
        """Unavailable if it was ended for a reason that has nothing to do with it."""
        raw = self._run(order)
        run = read_run(raw, frozenset(asked))
        told = {"end": run.end, "code": run.code, "tests": len(run.outcomes), "seconds": run.seconds}
        self.log(self.subject.run, "tests", which=which, **told)
        return run

    def _files(self, commit: str) -> Mapping[str, bytes | None]:
        """The touched test files as they are in this commit; None: not there."""
        return {change.path: self.source.read(commit, change.path, LARGEST) for change in self.subject.touched.tests}

    def _old_files(self) -> Mapping[str, bytes | None]:
        """Those of the base, with the names of now: of modules that moved, and of what is renamed."""
        files, subject = self._files(self.subject.branch.base), self.subject
        texts = {path: self.texts(path)[0] for path in files if path.endswith(".py")}
        now = {path: subject.renames.applied(with_moved(text, subject.moved)) for path, text in texts.items()}
        return {**files, **{path: text.encode() for path, text in now.items() if text != texts[path]}}
