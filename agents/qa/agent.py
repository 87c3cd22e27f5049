"""Branch -> Evidence. Runs the target's tests in boxes, compares with the base test by test, and says what it shows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Lock
from typing import Protocol

from sisimpur.agents.qa import test_writer
from sisimpur.agents.qa.analysis.task_words import asks_for_behaviour, bare_name
from sisimpur.agents.qa.analysis.touched import SuiteFiles, Touched, is_text
from sisimpur.agents.qa.commit_texts import CommitSource, CommitTexts, text_of
from sisimpur.agents.qa.coverage_checker import Sought, drop, newly_run, reach, uncovered_changes, unproven
from sisimpur.agents.qa.evidence_rule import Runs, Texts, compared, is_red, is_usable, no_base, problems, proving
from sisimpur.agents.qa.gathering import Gathering, KeptRuns, Subject
from sisimpur.agents.qa.measuring import Finds, Measuring
from sisimpur.agents.qa.proof import said_by
from sisimpur.agents.qa.runner.suite import NOT_THEIRS, Bench, SuiteOrder
from sisimpur.agents.qa.survey.other_suites import with_other_suites
from sisimpur.agents.qa.survey.roots import Root, Suites
from sisimpur.agents.qa.survey.target_survey import TargetSurvey, survey_at
from sisimpur.agents.qa.test_runner import read_run
from sisimpur.agents.qa.tools import versions
from sisimpur.agents.qa.tools.checking import Toolbox
from sisimpur.agents.qa.uncollected import Suite, uncollected
from sisimpur.agents.qa.unheld.mutants import mutants, unnoticed
from sisimpur.agents.qa.unheld.silent import echoed, silent
from sisimpur.shared.model.change import paths_of
from sisimpur.shared.model.errors import BrokenSetup, Refused
from sisimpur.shared.model.evidence import EDGE, NO_LINES, UNCHANGED, Evidence, Failure, Figure, Problem, SuiteRun
from sisimpur.shared.model.naming import is_upkeep
from sisimpur.shared.model.work import Branch, Measure, Run, TaskSpec
from sisimpur.shared.system.log import Log

MOST_FAILURES = 20
MOST_STILL = 3  # of tests that failed before, too
LONGEST_OUTPUT = 4_000  # characters of what an unfinished run printed last

TOO_DEEP = Problem(
    "no evidence",
    "a changed file is nested too deeply to be read (hundreds of operands in one expression): compare it yourself",
    "ask owner",
)


@dataclass(frozen=True)
class QaPolicy:
    """The owner's: the command of the tests, if he has one; points that coverage may fall by; what is a test."""

    command: str
    tolerance: float
    tests: tuple[str, ...] = ()
    roots: tuple[Root, ...] | None = ()


@dataclass(frozen=True)
class OurTests:
    """Tests of ours. `unrun`: changed lines that no test ran before them, by file; `newly`: others that they run."""

    tests: Collection[str]
    unrun: Mapping[str, Collection[int]]
    newly: Mapping[str, Collection[int]]


class DiffSource(CommitSource, Protocol):
    """The target's commits, and what one changes, as a text."""

    def diff(self, old: str, new: str, limit: int = ...) -> bytes: ...


@dataclass(frozen=True)
class Qa:
    """`mends`: the id of a task -> the failing test that upkeep began it for; empty: none. `tools`: see Measuring."""

    bench: Bench
    source: DiffSource
    kept: KeptRuns
    policy: QaPolicy
    log: Log
    mends: Callable[[str], str] = lambda _: ""
    tools: Mapping[str, Finds] = field(default_factory=dict)
    in_turn: Lock = field(default_factory=Lock, compare=False)

    def check(
        self,
        run: Run,
        task: TaskSpec,
        branch: Branch,
        written: Collection[str] = (),
        unrun: Mapping[str, Collection[int]] = NO_LINES,
    ) -> Evidence:
        """`written`: test files of a round of ours; only these are tried with planted faults. `unrun`: changed lines
        that no test ran before that round, by file: of a change that is to alter nothing it had to run only these.

        BrokenSetup, Misconfigured: no environment for the base, or no box. Unavailable: somebody interrupted a run.
        """
        try:
            return self._checked(run, task, branch, written, unrun)
        except RecursionError:
            evidence = Evidence(branch.commit, self.source.tree_id(branch.commit), branch.base, "", "")
            return self._told(run, replace(evidence, problems=(TOO_DEEP,)))

    def _checked(
        self,
        run: Run,
        task: TaskSpec,
        branch: Branch,
        written: Collection[str],
        unrun: Mapping[str, Collection[int]],
    ) -> Evidence:
        texts = CommitTexts(self.source, branch, self.policy.tests, task.words)
        subject = self._subject(run, task, branch, texts)
        evidence = Evidence(branch.commit, self.source.tree_id(branch.commit), branch.base, subject.command, "")
        if not subject.command:
            text = "there are no tests in this repository, and none in the change: nothing can be shown"
            evidence = replace(evidence, problems=(Problem("there are no tests", text, "ask owner"),))
            return self._told(run, self._by_tools(evidence, subject))
        gathering = Gathering(self.bench, self.source, self.kept, self.log, subject)
        base = gathering.base()
        texts.learn(base, subject.places)
        gathering = replace(gathering, subject=(subject := self._subject(run, task, branch, texts)))
        known = texts.without_runs(task, gathering.weakenings())
        try:
            evidence = replace(evidence, box=self._box(branch.commit))
            runs = gathering.runs(base, partial(is_red, task, subject.touched, subject.places, known))
        except BrokenSetup as reason:
            broken = Problem("the environment cannot be built", " ".join(str(reason).split()), "correct")
            return self._told(run, replace(evidence, box=self._box(branch.base), problems=(broken,)))
        read = partial(text_of, self.source, branch.commit)
        left_out = uncollected(subject.touched, Suite(subject.command, texts.after, runs.change, subject.places), read)
        told = replace(texts.read(known, runs, gathering.is_hook), uncollected=tuple(left_out))
        evidence = self._judged(evidence, task, subject, runs, told)
        less = unproven(Sought(task, self.mends(task.id), subject.about), runs, read)
        evidence = self._by_tools(replace(evidence, problems=(*evidence.problems, *less)), subject)
        ours = OurTests(written, unrun, newly_run(runs.base, runs.change, subject.about) or {})
        evidence = self._held(self._tried(evidence, subject, gathering, ours), gathering, runs, written)
        return self._told(run, self._unasked(self._called(evidence, gathering, runs, task), gathering, task, written))

    def base(self, run: Run, commit: str) -> SuiteRun:
        """Run the tests of a commit of the branch, with the lines of its code that none runs; kept, or run now.

        BrokenSetup, Misconfigured, Unavailable: as `check`.
        """
        gathering = self._of_commit(run, commit)
        return gathering.base() if gathering.subject.command else SuiteRun("no tests", 0)

    def require_base(self, run: Run, commit: str) -> None:
        """BrokenSetup if nothing can be measured by this commit: no model is paid for what nobody could test.

        One at a time: who comes second finds the run kept. Misconfigured, Unavailable: as `check`.
        """
        with self.in_turn:
            try:
                found = self.base(run, commit)
            except Refused as reason:  # a submodule, a link that leads out
                raise BrokenSetup(f"the target cannot be laid out: {reason}; `doctor` says what follows") from None
        if not is_usable(found):
            raise BrokenSetup(f"{no_base(found)}; mend `setup:` or `test:` in config/targets, or write `test: none`")

    def together(self, run: Run, commit: str) -> SuiteRun:
        """As `base`, of a commit that stands on no branch: nobody is told that the target's own tests said so."""
        gathering = self._of_commit(run, commit)
        return gathering.base(is_of_branch=False) if gathering.subject.command else SuiteRun("no tests", 0)

    def _of_commit(self, run: Run, commit: str) -> Gathering:
        paths = paths_of(self.source, commit)
        suites, nothing = self._survey(commit).suites(self.policy.command), Touched((), patterns=self.policy.tests)
        subject = Subject(run, Branch("", commit, commit), suites, nothing, SuiteFiles(paths))
        return Gathering(self.bench, self.source, self.kept, self.log, subject)

    def measure(self, run: Run, measure: Measure, commit: str) -> Figure:
        """Take a goal's figure of a commit of the branch. Misconfigured, Unavailable: as `check`."""
        timed = self._of_commit(run, commit).timed
        measuring = Measuring(
            self.source,
            commit,
            partial(self.base, run, commit),
            timed,
            self.tools,
            lambda line: self.bench.run(SuiteOrder(commit, line, cover=False, programs=True)),
        )
        figure = measuring.figure(measure)
        self.log(run, "measured", commit=commit, of=f"{measure.kind} {measure.of}", figure=figure.value, why=figure.why)
        return figure

    def tests_for(
        self,
        task: TaskSpec,
        branch: Branch,
        evidence: Evidence,
        planned: Collection[str] = (),
        own: Collection[str] = (),
    ) -> TaskSpec:
        """The order to write the tests that `branch` lacks, in none of the `planned` files, or to correct its `own`."""
        paths = paths_of(self.source, branch.commit)
        changes = self.source.changed(branch.base, branch.commit)
        lines = {one.path: [number for number, _ in one.added_lines] for one in changes if one.path in paths}
        brought = SuiteFiles(paths).files(evidence.new_tests) & lines.keys()
        diff = self.source.diff(branch.base, branch.commit).decode("utf-8", "replace")
        there = test_writer.Site(
            paths, lines, brought, diff, partial(text_of, self.source, branch.commit), planned, own
        )
        return test_writer.order(task, branch, evidence, there)

    def blind_order(self, task: TaskSpec, branch: Branch, command: str) -> TaskSpec | None:
        """The order for a test from the task's words alone, on the base of `branch`. None: there is nothing to test."""
        paths = paths_of(self.source, branch.base) | paths_of(self.source, branch.commit)
        return test_writer.blind_order(task, command, paths, partial(text_of, self.source, branch.base))

    def heard(self, run: Run, branch: Branch, command: str, files: Mapping[str, bytes | None]) -> str:
        """What these files of tests say of the change of `branch`, in one line; empty: they were interrupted."""
        order = SuiteOrder(branch.commit, command, files, sorted(files), cover=False)
        raw = self.bench.run(order)
        found = read_run(raw)
        self.log(run, "tests", which="independent", end=found.end, code=found.code, tests=len(found.outcomes))
        return "" if raw.end in NOT_THEIRS else said_by(found)

    def _by_tools(self, evidence: Evidence, subject: Subject) -> Evidence:
        product = {change.path for change in subject.touched.product}
        evidence = with_other_suites(evidence, self._survey(subject.branch.base), subject.branch.changed)
        evidence = Toolbox(self.bench, self.kept, self.source, subject.branch, product).check(evidence)
        paths = [change.path for change in subject.touched.changes if not is_text(change.path)]
        return self._by_versions(evidence, subject.branch, paths) if versions.may_be(paths) else evidence

    def _by_versions(self, evidence: Evidence, branch: Branch, paths: Collection[str]) -> Evidence:
        """`paths`: all that the change touches are files that name versions."""
        beside = paths_of(self.source, branch.commit).intersection(map(versions.lock_beside, paths)) - {*paths}
        both, asked = (branch.base, branch.commit), (*paths, *beside)
        texts = [{path: text_of(self.source, one, path) for path in asked} for one in both]
        files = {path: (texts[0][path], texts[1][path]) for path in texts[0]}
        there = {path: files.pop(path) for path in beside}
        return versions.with_versions(evidence, files, there)

    def _subject(self, run: Run, task: TaskSpec, branch: Branch, texts: CommitTexts) -> Subject:
        """A change does not choose its own command, unless it brings the first tests."""
        found = (self._survey(one).suites(self.policy.command) for one in (branch.base, branch.commit))
        touched = texts.touched
        return Subject(
            run,
            branch,
            next(filter(None, found), Suites("")),
            touched,
            SuiteFiles(texts.before | texts.after),
            alters_nothing=not asks_for_behaviour(task, touched),
            about=_about(task, touched, texts.after),
            moved=texts.moved,
            renames=texts.renames,
        )

    def _survey(self, commit: str) -> TargetSurvey:
        return survey_at(self.source, commit, asked=self.policy.roots)

    def _box(self, commit: str) -> str:
        return f"{self.bench.quality} {self.bench.label(commit)}"

    def _judged(self, evidence: Evidence, task: TaskSpec, subject: Subject, runs: Runs, texts: Texts) -> Evidence:
        change, base = runs.change, runs.base
        uncovered = uncovered_changes(subject.touched.code, change.uncovered)
        found = problems(task, subject.touched, runs, subject.places, texts)
        less = drop(base.covered, change.covered, uncovered, self.policy.tolerance)
        return replace(
            evidence,
            passed=len(change.of("passed")),
            failed=len(change.of("failed")),
            skipped=len(change.of("skipped")),
            failing_before=len(base.of("failed")),
            new_tests=tuple(sorted(runs.new_tests)),
            proving=proving(task, runs, subject.places),
            failures=_failures(runs),
            still=_still(task, runs, self.mends(task.id)),
            flaky=tuple(sorted(runs.flaky - runs.astray)),
            astray=tuple(sorted(runs.astray)),
            problems=(*found, *([less] if less else [])),
            covered=change.covered,
            covered_before=base.covered,
            uncounted=change.uncounted,
            uncovered=uncovered,
            seconds=change.seconds,
            not_run=runs.left_out,
            digest=change.digest,
            output=_output(runs),
            elsewhere=runs.elsewhere,
            reach=tuple(reach(base, change)),
            compared=compared(runs),
        )

    def _tried(
        self,
        evidence: Evidence,
        subject: Subject,
        gathering: Gathering,
        written: OurTests,
    ) -> Evidence:
        """Try the tests with planted faults, if they are ours and nothing is wrong with them yet."""
        ours = {change.path for change in subject.touched.tests} if subject.about else set(written.tests)
        brought = subject.places.files([*evidence.new_tests, *evidence.proving])
        if evidence.is_red or evidence.needing("write tests") or not brought & ours:
            return evidence
        commit = subject.branch.commit
        added = {change.path: [number for number, _ in change.added_lines] for change in subject.touched.code}
        if subject.alters_nothing and written.unrun:
            added = {
                path: [line for line in some if line in written.unrun.get(path, ())] for path, some in added.items()
            }
        lines = {**added, **written.newly}
        planted = mutants([(path, text_of(self.source, commit, path), found) for path, found in lines.items()])
        problem = unnoticed(planted, gathering.survivors, brought & ours, brought - ours)
        return replace(evidence, problems=(*evidence.problems, problem)) if problem else evidence

    def _held(self, evidence: Evidence, gathering: Gathering, runs: Runs, written: Collection[str]) -> Evidence:
        """Ask the tests of small faults in the changed lines that they run: who reads the change hears of the rest.

        An edge that is asked for needs a test; QA is asked for it once.
        """
        subject = gathering.subject
        if evidence.is_red or evidence.needing("write tests") or evidence.covered is None:
            return evidence
        lines = {
            change.path: {number for number, _ in change.added_lines} - {*evidence.uncovered.get(change.path, ())}
            for change in subject.touched.code
            if change.path not in subject.touched.same
        }
        texts = {path: gathering.texts(path) for path in lines}
        files = [(path, texts[path][1], found) for path, found in lines.items()]
        before = {path: then for path, (then, _) in texts.items()}
        tried = gathering.tried(mutants(files, are_small=True, before=before), runs)
        is_asked = not (written or subject.about or subject.alters_nothing)
        less = tried.untested_edge if is_asked else None
        found = (*evidence.problems, less) if less else evidence.problems
        return replace(evidence, unheld=tried.unheld, faults=tried.told, problems=found)

    def _called(self, evidence: Evidence, gathering: Gathering, runs: Runs, task: TaskSpec) -> Evidence:
        """Ask what calls near those of the tests do on both commits. What nobody can have meant goes back."""
        if evidence.is_red:
            return evidence
        found = gathering.compared(runs)
        now = "\n".join(gathering.texts(change.path)[1] for change in gathering.subject.touched.code)
        problem = found.problem(gathering.subject.alters_nothing, task.words, now)
        problems = (*evidence.problems, problem) if problem else evidence.problems
        return replace(evidence, calls=found.told, problems=problems)

    def _unasked(self, evidence: Evidence, gathering: Gathering, task: TaskSpec, written: Collection[str]) -> Evidence:
        """What only a reading of the code shows. QA is asked for a test of it once; then the reviewer hears of it."""
        subject = gathering.subject
        if evidence.is_red or evidence.needing("write tests") or subject.about:
            return evidence
        code, tests = (
            {one.path: gathering.texts(one.path) for one in changes if one.mode_new and one.path.endswith(".py")}
            for changes in (subject.touched.code, subject.touched.tests)
        )
        code = {path: both for path, both in code.items() if path not in subject.touched.same}
        found = [*silent(code, subject.alters_nothing, task.words), *echoed(code, tests, task.words)]
        if found and written:
            return replace(evidence, unheld=(*evidence.unheld, *found))
        less = (Problem(UNCHANGED if subject.alters_nothing else EDGE, "; ".join(found), "write tests"),)
        return replace(evidence, problems=(*evidence.problems, *less)) if found else evidence

    def _told(self, run: Run, evidence: Evidence) -> Evidence:
        rules = [problem.rule for problem in evidence.problems]
        self.log(run, "evidence", commit=evidence.commit, box=evidence.box, problems=rules)
        return evidence


def _about(task: TaskSpec, touched: Touched, paths: Collection[str]) -> tuple[str, ...]:
    """The modules that a task of upkeep wants tests for."""
    if not is_upkeep(task.id) or task.files:
        return ()
    modules = (path for path in task.context if path.endswith(".py") and path in paths)
    return tuple(path for path in modules if not touched.is_for_tests(path))


def _failures(runs: Runs) -> tuple[Failure, ...]:
    """Failures that the change is to blame for, each cause once before others that share it.

    Of a run without an end whatever it said.
    """
    known = runs.base.of("failed")
    found = [failure for failure in runs.change.failures if failure.test not in known or not runs.change.is_whole]
    told = {failure.test for failure in found}
    restored = runs.restored.failures if runs.restored else ()
    found += [failure for failure in restored if failure.test not in known | told]
    first = {failure.text.partition("\n\n")[0]: failure.test for failure in reversed(found)}
    return tuple(sorted(found, key=lambda one: one.test not in first.values())[:MOST_FAILURES])


def _still(task: TaskSpec, runs: Runs, sought: str) -> tuple[Failure, ...]:
    """Tests that fail as before: what the task names first, and of a red base not all."""
    known = runs.base.of("failed") if runs.change.is_whole else frozenset()
    words = f"{sought}\n{task.title}\n{task.description}"
    named = [one for one in runs.change.failures if one.test in known - runs.flaky]
    return tuple(sorted(named, key=lambda one: bare_name(one.test) not in words)[:MOST_STILL])


def _output(runs: Runs) -> str:
    """End of the output of the first run that came to no end."""
    shown = (runs.base, runs.change) if not is_usable(runs.base) else (runs.change,)
    return next((run.output[-LONGEST_OUTPUT:] for run in shown if not run.is_whole), "")
