"""Runs of the tests -> what keeps the change from being merged, and whose turn it is. Pure.

A target's base is often red: every rule compares test by test with the base, and only what became worse counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from sisimpur.agents.qa.analysis.task_words import Announced, asks_for_behaviour, bare_name, with_class, without_values
from sisimpur.agents.qa.analysis.test_changes import EMPTY, GONE, Named, Weakening
from sisimpur.agents.qa.analysis.touched import SuiteFiles, Touched
from sisimpur.agents.qa.analysis.uncovered import in_ranges
from sisimpur.agents.qa.analysis.which_tests import is_example
from sisimpur.agents.qa.differential.moments import MOMENT, later_names, of_another_minute
from sisimpur.agents.qa.proof import NewNames, Without, proven, without_change
from sisimpur.agents.qa.traces import cause
from sisimpur.shared.model.evidence import (
    FAILS,
    NO_EVIDENCE,
    OLD_FAILS,
    UNCHANGED,
    UNSHOWN,
    BeforeAndNow,
    FewTests,
    Problem,
    Remedy,
    SuiteRun,
)
from sisimpur.shared.model.text import few, signal_of
from sisimpur.shared.model.work import TaskSpec

Uncounted = Literal["", "the base", "the change"]

MOST_NAMED = 5
DEPENDS = "passes among all tests, and not with another hash seed, time zone and order of files"
LACKS = "fails without the change for want of a name that it adds, and would pass if that did nothing"
REASONS = {
    "timed out": "they took too long",
    "memory": "they took too much memory",
    "processes": "they started too many processes",
    "disk": "they wrote too much",
    "output": "they printed too much",
    "no report": "the runner did not report",
    "damaged report": "their report is damaged",
    "forged": "a test that must fail passed there: something in the environment or the tests forges how they end",
    "interrupted": "not every collected test was run",
    "no tests": "no test was found",
}


@dataclass(frozen=True)
class Runs:
    """`restored`: the commit with the base's tests, `unchanged`: the base with the commit's tests; None: not needed.

    `restored_on`, `unchanged_on`: the test files that were run, empty: all. `flaky`: failed, and passed when run again;
    `noisy`: those of them that then passed each time, or fail now and then on the base, too.
    `astray`: those of them that fail in other surroundings, always and on the base, too.
    `dependent`: passed here, and failed twice in other surroundings; an old one did not do so on the base.
    `is_compared`: what is red needs no further run to go back. `new`: of tests that name what the change adds.
    `extended`: old files of tests to which the change only adds what hides nothing. `elsewhere`: how much of the tests
    ran in other surroundings, too; empty: nobody knows. `left_out`: packages whose tests were not run, and why.
    """

    base: SuiteRun
    change: SuiteRun
    restored: SuiteRun | None = None
    unchanged: SuiteRun | None = None
    restored_on: Collection[str] = ()
    unchanged_on: Collection[str] = ()
    flaky: frozenset[str] = frozenset()
    astray: frozenset[str] = frozenset()
    noisy: frozenset[str] = frozenset()
    dependent: frozenset[str] = frozenset()
    is_compared: bool = True
    new: NewNames = field(default_factory=NewNames)
    extended: frozenset[str] = frozenset()
    elsewhere: str = ""
    left_out: tuple[str, ...] = ()

    @property
    def new_tests(self) -> frozenset[str]:
        """Those that the base has not; one that is named by the moment of its run it has under another."""
        gone, new = (
            a.outcomes.keys() - b.outcomes.keys() for a, b in ((self.base, self.change), (self.change, self.base))
        )
        return frozenset(new - set(later_names(frozenset(filter(MOMENT.search, gone)), new).values()))


@dataclass(frozen=True)
class Texts:
    """Readings beside the runs: tests that ask less, tests whose subject the task removes, lines that none ran.

    `uncounted`: on which side the lines that tests run were not counted; there, no line is known to be run.
    `uncollected`: of test files of the change that the runner leaves out. `renamed`: old tests, by their names, that
    stand word by word under another. `missed`: deleted files that others still know, and who.
    """

    weakened: Sequence[Weakening] = ()
    obsolete: frozenset[Named] = frozenset()
    unrun: Sequence[str] = ()
    uncounted: Uncounted = ""
    uncollected: Sequence[Problem] = ()
    renamed: Mapping[Named, Named] = field(default_factory=dict)
    missed: Sequence[str] = ()


def problems(
    task: TaskSpec, touched: Touched, runs: Runs, places: SuiteFiles, texts: Texts | None = None
) -> tuple[Problem, ...]:
    """Empty: the tests speak for the change."""
    texts = texts or Texts()
    told = Announced(task, places, touched.relied, texts.obsolete, touched.expected)
    return tuple(_problems(touched, runs, told, texts))


def _problems(touched: Touched, runs: Runs, told: Announced, texts: Texts) -> Iterator[Problem]:
    here = {_named(test, told.places) for test in runs.change.outcomes}
    renamed = {old: new for old, new in texts.renamed.items() if new in here}
    yield from _configuration(touched)
    if not is_usable(runs.base):
        yield Problem(NO_EVIDENCE, no_base(runs.base), "ask owner")
    elif not runs.change.is_whole:
        yield Problem(NO_EVIDENCE, f"the tests do not run: {_reason(runs.change)}", "correct")
    else:
        yield from _compared(told, runs, moved_tests(runs, told.places, renamed))
        yield from _odd_places(touched, runs, told.places)
        yield from _old_tests(told, touched, runs)
        yield from _about("a test depends on its surroundings", DEPENDS, runs.dependent)
        yield from _unshown(told, touched, runs, texts) if runs.is_compared else ()
    yield from texts.uncollected
    yield from (Problem("what is deleted is still used", one, "correct") for one in texts.missed)
    shown = {(told.places.file(test), bare_name(test)) for test in proving(told.task, runs, told.places)}
    doubts = (one for one in texts.weakened if one.rule != EMPTY or (one.path, bare_name(one.test)) not in shown)
    yield from _weakened(told, runs, [one for one in doubts if not _is_renamed(one, renamed)])


def is_red(task: TaskSpec, touched: Touched, places: SuiteFiles, texts: Texts, runs: Runs) -> bool:
    """Whether the coder has something to mend already: what further runs might show does not matter then.

    They may show that a test asks something, although it does not read so. Whether the code or an old test is right
    may become the owner's question, who needs to know what the new tests show.
    """
    doubts = [one for one in texts.weakened if one.rule != EMPTY]
    found = problems(task, touched, replace(runs, is_compared=False), places, replace(texts, weakened=doubts))
    return any(one.remedy == "correct" and one.rule != OLD_FAILS for one in found)


def is_usable(base: SuiteRun) -> bool:
    """A base without tests is nothing to compare with, and needs nothing."""
    return base.is_whole or base.end == "no tests"


def compared(runs: Runs) -> BeforeAndNow:
    """Which tests failed before and fail now, by name; nothing where a run without an end would decide."""
    if not (is_usable(runs.base) and runs.change.is_whole):
        return BeforeAndNow()
    before, now = runs.base.of("failed"), runs.change.of("failed") - runs.flaky
    mended = before & (runs.change.of("passed") | runs.flaky)
    sides = (mended, before & now, before - mended - now, now - before)
    return BeforeAndNow(*map(FewTests.of, sides))


def no_base(base: SuiteRun) -> str:
    return f"the tests do not run on the base: {_reason(base)}"


# --- the change against its base -----------------------------------------------------------------------------


def _compared(told: Announced, runs: Runs, elsewhere: Collection[str]) -> Iterator[Problem]:
    """`elsewhere`: old tests that pass under another name."""
    base, change = runs.base, runs.change
    failing = change.of("failed") - base.of("failed")
    old, new = failing - runs.new_tests, failing & runs.new_tests
    yield from _about(FAILS, f"fails{_where(old - runs.flaky, change)}", old - runs.flaky)
    yield from _about("a new test fails", f"is new and fails{_where(new - runs.flaky, change)}", new - runs.flaky)
    yield from _about("a new test is flaky", "is new and fails only now and then", (new & runs.flaky) - runs.noisy)
    if shaky := (old & runs.flaky) - runs.noisy:
        text = f"{named(sorted(shaky))} fails now and then; on the base it did not, as often as it was run there"
        yield Problem("an old test is flaky now", text, "ask owner", tuple(sorted(shaky)))
    yield from _split("a test is skipped now", "is skipped now", base.of("passed") & change.of("skipped"), told)
    yield from _split(GONE, "is not run any more", gone(base, change) - {*elsewhere}, told)


def _odd_places(touched: Touched, runs: Runs, places: SuiteFiles) -> Iterator[Problem]:
    """Tests in files that do not look like tests, or with values from elsewhere: no old version of them was run.

    Examples in docstrings stand in the product: each change of it would be one of tests. What they show decides.
    """
    passed = runs.base.of("passed")
    changed = [change.path for change in touched.changes if not touched.is_for_tests(change.path)]
    holding = places.files(test for test in passed if not is_example(test))
    showing = places.files(filter(is_example, passed)) - touched.same_examples - holding
    if odd := [path for path in changed if path in holding]:
        yield Problem("tests changed in an odd place", f"{', '.join(odd)} holds tests and is changed", "ask owner")
    if shown := [path for path in changed if path in showing]:
        text = f"{', '.join(shown)} shows other examples than before, and your tests run them"
        yield Problem("examples changed", text, "ask owner")
    other = {test for test in runs.base.of("passed") - runs.change.outcomes.keys() if "[" in test}
    other -= of_another_minute(other, runs.change.of("passed") - runs.base.outcomes.keys())
    if other and not touched.touches_old_tests:
        text = f"{named(sorted(other))} is not run any more, although no test file was changed"
        yield Problem("other values are tested", text, "ask owner", tuple(sorted(other)))


def gone(base: SuiteRun, change: SuiteRun) -> frozenset[str]:
    """Tests that passed and are not there. With other values in its brackets a test is the same if as many pass."""
    before = Counter(map(without_values, base.of("passed")))
    after = Counter(map(without_values, change.of("passed")))
    missing = base.of("passed") - change.outcomes.keys()
    return frozenset(
        test for test in missing if "[" not in test or after[without_values(test)] < before[without_values(test)]
    )


def moved_tests(runs: Runs, places: SuiteFiles, renamed: Mapping[Named, Named]) -> frozenset[str]:
    """Tests that passed and whose words pass under another name, with as many values."""
    if not renamed:
        return frozenset()
    before, after = ({one: _named(one, places) for one in run.of("passed")} for run in (runs.base, runs.change))
    then, now = Counter(before.values()), Counter(after.values())
    return frozenset(one for one, name in before.items() if name in renamed and now[renamed[name]] >= then[name])


def _named(test: str, places: SuiteFiles) -> Named:
    return places.file(test), with_class(test)


def _is_renamed(one: Weakening, renamed: Mapping[Named, Named]) -> bool:
    """An old test that is called otherwise, or what it is called: a run tells whether it passes there."""
    names = renamed if one.rule == GONE else renamed.values() if one.rule == EMPTY else ()
    return (one.path, one.test) in names


# --- the old tests on the new code ---------------------------------------------------------------------------


def _old_tests(told: Announced, touched: Touched, runs: Runs) -> Iterator[Problem]:
    if runs.restored is None:
        return
    failing = refused(runs, told.places) - runs.flaky - (runs.change.of("failed") - runs.base.of("failed"))
    if failing:
        paths = {change.path for change in touched.tests}
        bent = {test for test in failing if touched.touches_old_tests and told.places.file(test) in paths}
        yield from _split(OLD_FAILS, "as it was before the change does not pass", bent, told, told.adapted(bent))
        hidden = failing - bent
        yield from _split(OLD_FAILS, "passes only beside the new test files", hidden, told, told.adapted(hidden))
    elif not runs.restored.is_whole and expected(runs, told.places):
        text = f"the tests as they were before the change do not run on the new code: {_reason(runs.restored)}"
        yield Problem(OLD_FAILS, text, "correct")


def refused(runs: Runs, places: SuiteFiles) -> frozenset[str]:
    """Tests that passed on the base and, word by word as they were, do not pass on the new code."""
    if runs.restored is None:
        return frozenset()
    broken = places.broken_files(runs.restored)
    bad = runs.restored.of("failed") | runs.restored.of("skipped")
    return frozenset(test for test in expected(runs, places) if test in bad or places.file(test) in broken)


def expected(runs: Runs, places: SuiteFiles) -> frozenset[str]:
    """Tests that have to pass in the restored run."""
    passed = runs.base.of("passed")
    return frozenset(test for test in passed if not runs.restored_on or places.file(test) in runs.restored_on)


# --- new tests prove something -------------------------------------------------------------------------------


def _unshown(told: Announced, touched: Touched, runs: Runs, texts: Texts) -> Iterator[Problem]:
    if not asks_for_behaviour(told.task, touched):
        yield from _unkept(texts)
    elif not proving(told.task, runs, told.places):
        what = "no test that it brings is run" if texts.uncollected else "no test was added or changed"
        if runs.unchanged:
            what = "no new or changed test fails without the change"
        lacking = tuple(sorted(runs.new.lacking))
        if lacking:
            what = f"{named(lacking)} {LACKS}"
        yield Problem(UNSHOWN, f"nothing shows what the change does: {what}", "write tests", lacking)


def _unkept(texts: Texts) -> Iterator[Problem]:
    """New tests are counted on the base too; where nothing is counted of the change itself, they could show nothing."""
    if not texts.unrun:
        return
    text = f"no test runs {in_ranges(texts.unrun)}"
    if texts.uncounted:
        text = f"the lines that tests run were not counted on {texts.uncounted}: {in_ranges(texts.unrun)}"
    remedy: Remedy = "ask owner" if texts.uncounted == "the change" else "write tests"
    yield Problem(UNCHANGED, f"it is to change nothing that shows, but {text}", remedy)


def proving(task: TaskSpec, runs: Runs, places: SuiteFiles) -> tuple[str, ...]:
    """Tests that pass with the change, and for a reason that counts not without it."""
    passing = (runs.change.of("passed") | runs.noisy) - (runs.flaky - runs.noisy) - runs.dependent
    without = Without(runs.unchanged, runs.unchanged_on, places) if runs.unchanged else None
    failing = {test for test in passing if without_change(test, task, runs.base, without)}
    return tuple(sorted(proven(failing | (runs.new.lacking & passing), runs.new, places)))


# --- what no run shows ---------------------------------------------------------------------------------------


def _configuration(touched: Touched) -> Iterator[Problem]:
    if paths := touched.configuration:
        yield Problem("test configuration changed", f"it changes how tests are run: {', '.join(paths)}", "ask owner")


def _weakened(told: Announced, runs: Runs, weakened: Sequence[Weakening]) -> Iterator[Problem]:
    """A test that is known to be gone is not named twice."""
    known = set(map(bare_name, gone(runs.base, runs.change)))
    found: dict[tuple[str, Remedy], list[Weakening]] = {}
    for one in weakened:
        if one.rule != GONE or bare_name(one.test) not in known:
            remedy: Remedy = "ask owner" if one.test and one.rule != EMPTY and told.names(one) else "correct"
            found.setdefault((one.rule, remedy), []).append(one)
    for (rule, remedy), ones in found.items():
        text = "; ".join(f"{one.place} {one.test}: {one.what}".replace(" :", ":") for one in ones)
        yield Problem(rule, text, remedy, tuple(f"{one.path}::{one.test}" for one in ones))


# --- texts ---------------------------------------------------------------------------------------------------


def _split(
    rule: str, what: str, tests: Iterable[str], told: Announced, announced: Collection[str] = ()
) -> Iterator[Problem]:
    """Split by who is asked: the owner judges what the task announced, all else is to be corrected."""
    tests = frozenset(tests)
    known = told.of(tests).union(announced)
    yield from _about(rule, what, tests - known)
    yield from _about(rule, f"{what}, as the task says", known, "ask owner")


def _about(rule: str, what: str, tests: Collection[str], remedy: Remedy = "correct") -> Iterator[Problem]:
    if tests:
        names = tuple(sorted(tests))
        yield Problem(rule, f"{named(names)} {what}", remedy, names)


def _where(tests: Collection[str], run: SuiteRun) -> str:
    places = [failure.where for failure in run.failures if failure.test in tests and failure.where]
    return f" at {named(sorted(set(places)))}" if places else ""


def named(names: Sequence[str]) -> str:
    """Return at most five of them; a Problem has all."""
    return few(names, MOST_NAMED)


def _reason(run: SuiteRun) -> str:
    by = f"was ended by {signal_of(run.code)}" if signal_of(run.code) else f"ended with exit code {run.code}"
    reason = REASONS.get(run.end, f"the runner {by}, which does not fit its report")
    failing = [f"{failure.test} at {failure.where or 'an unknown place'}" for failure in run.failures]
    printed = "" if run.outcomes else run.output  # tests that ran may print traces of what they expect
    why = next(filter(None, map(cause, [*(one.text for one in run.failures), printed])), "")
    if why:  # the cause says more than how the runner ended
        return ": ".join(filter(None, (named(failing), why)))
    return f"{reason} ({named(failing)})" if failing else reason
