"""The evidence rule: each way in which tests can be green for the wrong reason, and each honest change, is a row."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.agents.qa.analysis.equivalence import is_same_code
from sisimpur.agents.qa.analysis.task_words import asks_for_behaviour, bare_name, changes_tests_of, is_declared
from sisimpur.agents.qa.analysis.test_changes import EMPTY, GONE, WEAKER, Weakening
from sisimpur.agents.qa.analysis.touched import SuiteFiles, Touched
from sisimpur.agents.qa.evidence_rule import Runs, Texts, compared, gone, no_base, problems, proving
from sisimpur.agents.qa.unheld.mutants import Mutant, unnoticed
from sisimpur.shared.model.change import Change
from sisimpur.shared.model.evidence import MOST_FAILING, UNCHANGED, BeforeAndNow, Failure, FewTests, Outcome, SuiteRun
from sisimpur.shared.model.work import TaskKind, TaskSpec

A, B, C, NEW = (f"tests/test_shop.py::test_{name}" for name in ("a", "b", "c", "new"))
OTHER = "tests/test_other.py::test_o"
P: Outcome = "passed"
F: Outcome = "failed"
S: Outcome = "skipped"
SHOP, OTHER_FILE, CONFTEST = "tests/test_shop.py", "tests/test_other.py", "tests/conftest.py"
TREE = ("shop.py", SHOP, OTHER_FILE, CONFTEST)

TASK = TaskSpec("t1", "Round the total", "Prices are rounded.", files=("shop.py", SHOP))
QUIET = replace(TASK, title="Refactor the total")


def suite(end: str = "finished", **outcomes: Outcome) -> SuiteRun:
    """Tests are named by their letter: a="passed"."""
    ids = {"a": A, "b": B, "c": C, "new": NEW, "other": OTHER, "file": SHOP, "other_file": OTHER_FILE}
    return ran({ids[name]: outcome for name, outcome in outcomes.items()}, end)


def ran(outcomes: Mapping[str, Outcome], end: str = "finished") -> SuiteRun:
    failed = [test for test, outcome in outcomes.items() if outcome == "failed"]
    failures = tuple(Failure(test, f"{test.partition('::')[0]}:3", "boom") for test in failed)
    return SuiteRun(end, int(bool(failed)), outcomes, failures)


def touched(*paths: str, added: tuple[str, ...] = ()) -> Touched:
    changes = [Change(path, "modified", "100644", "100644", added_lines=((3, "x"),)) for path in paths]
    return Touched((*changes, *(Change(path, "added", "", "100644") for path in added)))


BASE = suite(a="passed", b="passed", other="passed")
GOOD = suite(a="passed", b="passed", other="passed", new="passed")
SHOWN = suite(a="passed", b="passed", new="failed")  # the new test, without the change
STILL = suite(a="passed", b="passed")  # the old tests, on the new code
PROVED = Runs(BASE, GOOD, STILL, SHOWN, restored_on=[SHOP], unchanged_on=[SHOP])


def test_a_test_that_is_named_by_the_moment_of_its_run_is_no_new_one() -> None:
    name = "tests/test_shop.py::test_a[{}]"
    runs = Runs(
        ran({name.format("21:24:09 2026-11-27"): "passed"}), ran({name.format("21:31:02 2026-11-27"): "passed"})
    )
    assert runs.new_tests == frozenset()
    other = ran({name.format("21:31:02 2026-11-27"): "passed", name.format(1): "passed"})
    assert replace(runs, change=other).new_tests == {name.format(1)}


@dataclass(frozen=True)
class Row:
    """What is found, and what the rule makes of it: (rule, remedy)."""

    why: str
    runs: Runs
    found: tuple[tuple[str, str], ...] = ()
    task: TaskSpec = TASK
    touched: Touched = field(default_factory=lambda: touched("shop.py", SHOP))
    weakened: tuple[Weakening, ...] = ()
    obsolete: frozenset[tuple[str, str]] = frozenset()
    unrun: tuple[str, ...] = ()

    @property
    def texts(self) -> Texts:
        return Texts(self.weakened, self.obsolete, self.unrun)


def now(**outcomes: Outcome) -> Runs:
    """The same as PROVED, with another run of the change."""
    return replace(PROVED, change=ran({**GOOD.outcomes, **suite(**outcomes).outcomes}))


def without(*names: str) -> Runs:
    ids = {"a": A, "b": B, "other": OTHER, "new": NEW}
    left = {test: outcome for test, outcome in GOOD.outcomes.items() if test not in [ids[name] for name in names]}
    return replace(PROVED, change=ran(left))


def named(task: TaskSpec, test: str) -> TaskSpec:
    return replace(task, acceptance=(f"{test} is adapted",))


LESS = Weakening(WEAKER, SHOP, 9, "test_a", "1 assertions are sure to run instead of 2")
FAILS, SKIPS, MISSING = ("a test fails", "correct"), ("a test is skipped now", "correct"), (GONE, "correct")
RED_BASE = suite(a="passed", b="failed", other="passed")
NO_BASE = suite("interrupted", file="failed")

UNSHOWN, OLD_FAILS = (
    ("nothing shows the new behaviour", "write tests"),
    ("an old test fails on the new code", "correct"),
)
NO_END, CONFIGURED = ("no evidence", "correct"), ("test configuration changed", "ask owner")
NEW_FAILS, FLAKY = ("a new test fails", "correct"), ("a new test is flaky", "correct")

BOTH = ran({"check_shop.py::test_a": P, "check_shop.py::check_shop.total": P})

ROWS = [
    # honest changes
    Row("a new test that fails without the change", PROVED),
    Row("a refactoring needs no new test", Runs(BASE, BASE), task=QUIET, touched=touched("shop.py")),
    Row("a text needs no new test", Runs(BASE, BASE), touched=touched("README.md", "docs/use.md")),
    Row("tests alone need no proof", Runs(BASE, GOOD, unchanged=GOOD), touched=touched(added=("tests/test_n.py",))),
    Row("of two new tests one proves", replace(PROVED, unchanged=suite(a=P, c=P, new=F))),
    Row("red before, red now", replace(PROVED, base=RED_BASE, change=suite(a=P, b=F, other=P, new=P))),
    Row("red before, green now", replace(PROVED, base=RED_BASE)),
    Row("skipped before, skipped now", replace(now(b=S), base=suite(a=P, b=S, other=P))),
    Row("skipped before, passes now", replace(PROVED, base=suite(a=P, b=S, other=P))),
    Row(
        "the first tests of a repository",
        Runs(suite("no tests"), suite(new=P), unchanged=suite(new=F)),
        touched=touched("shop.py", added=(SHOP,)),
    ),
    Row(
        "without the change the new tests cannot even be imported",
        replace(PROVED, unchanged=suite("interrupted", file=F)),
    ),
    Row("without the change the new test never ends", replace(PROVED, unchanged=suite("timed out", a=P))),
    Row("a changed test fails without the change", replace(PROVED, change=BASE, unchanged=suite(a=F, b=P))),
    Row(
        "an old test that is flaky now is the owner's to judge",
        replace(now(b=F), flaky=frozenset({B})),
        (("an old test is flaky now", "ask owner"),),
    ),
    Row(
        "other values are tested, though no test was touched",
        Runs(ran({"tests/test_shop.py::test_a[1]": P}), ran({"tests/test_shop.py::test_a[2]": P})),
        (("other values are tested", "ask owner"),),
        task=QUIET,
        touched=touched("shop.py"),
    ),
    Row(
        "a test that is named by the moment of its run is no other one",
        Runs(
            ran({"tests/test_shop.py::test_a['-1d..1d'-'2026-11-27T21:24:00'-True]": P}),
            ran({"tests/test_shop.py::test_a['-1d..1d'-'2026-11-27T21:31:00'-True]": P}),
        ),
        (),
        task=QUIET,
        touched=touched("shop.py"),
    ),
    Row(
        "nor is one that writes the moment in another order",
        Runs(
            ran({f"tests/test_shop.py::test_a[{one}]": P for one in ("21:24:09 2026-11-27", "11-27-2026 21:24:09")}),
            ran({f"tests/test_shop.py::test_a[{one}]": P for one in ("21:31:02 2026-11-27", "11-27-2026 21:31:02")}),
        ),
        (),
        task=QUIET,
        touched=touched("shop.py"),
    ),
    *(
        Row(
            f"other values beside a moment are other ones: {now}",
            Runs(
                ran({"tests/test_shop.py::test_a[1-2026-11-27 21:24]": P, "tests/test_shop.py::test_b": P}),
                ran({f"tests/test_shop.py::test_a[{one}]": P for one in now} | {"tests/test_shop.py::test_b": P}),
            ),
            ((rule, "ask owner"),),
            task=QUIET,
            touched=touched("shop.py"),
        )
        for now, rule in (
            (("2-2026-11-27 21:31",), "other values are tested"),
            (("1-2026-11-27 21:23",), "other values are tested"),
            (("1-2027-02-27 21:24",), "other values are tested"),
            (("1-2026-11-31 21:24",), "other values are tested"),
            (("1-2026-11-27 21:242026-11-27 21:24",), "other values are tested"),
            (("1-2026-11-27 21:31", "1-2026-11-27 21:32"), "other values are tested"),
        )
    ),
    *(
        Row(
            f"days that the product names are no moments of a run: {now}",
            Runs(
                ran({f"tests/test_shop.py::test_a[{one}]": P for one in then}),
                ran({f"tests/test_shop.py::test_a[{one}]": P for one in now}),
            ),
            (("other values are tested", "ask owner"),),
            task=QUIET,
            touched=touched("shop.py"),
        )
        for then, now in (
            (("2026-10-01 00:00:00",), ("2026-11-25 00:00:00",)),
            (("2026-10-01T09:00", "2026-10-02T18:30"), ("2026-10-03T09:00", "2026-10-09T18:30")),
        )
    ),
    Row(
        "tests that live in a file which does not look like one",
        Runs(ran({"check_shop.py::test_a": P}), ran({"check_shop.py::test_a": P})),
        (("tests changed in an odd place", "ask owner"),),
        task=QUIET,
        touched=touched("check_shop.py"),
    ),
    Row(
        "a docstring of the product shows the examples that it showed",
        Runs(ran({"shop.py::shop.total": P}), ran({"shop.py::shop.total": P})),
        task=QUIET,
        touched=replace(touched("shop.py"), same_examples=frozenset({"shop.py"})),
    ),
    Row(
        "a docstring of the product shows other examples",
        Runs(ran({"shop.py::shop.total": P}), ran({"shop.py::shop.total": P})),
        (("examples changed", "ask owner"),),
        task=QUIET,
        touched=touched("shop.py"),
    ),
    Row(
        "the same examples say nothing of other tests in that file",
        Runs(BOTH, BOTH),
        (("tests changed in an odd place", "ask owner"),),
        task=QUIET,
        touched=replace(touched("check_shop.py"), same_examples=frozenset({"check_shop.py"})),
    ),
    Row(
        "a flaky old test in the old files is not red", replace(PROVED, restored=suite(a=F, b=P), flaky=frozenset({A}))
    ),
    Row(
        "a task that mends a red test needs no other",
        Runs(RED_BASE, BASE),
        task=replace(TASK, title="Fix the total"),
        touched=touched("shop.py"),
    ),
    # the tests fail
    Row("a test that passed fails", now(b=F), (FAILS,)),
    Row("a test that was skipped fails", replace(now(b=F), base=suite(a=P, b=S, other=P)), (FAILS,)),
    Row("a new test fails", now(new=F), (NEW_FAILS, UNSHOWN)),
    Row("a flaky new test shows nothing", replace(now(new=F), flaky=frozenset({NEW})), (FLAKY, UNSHOWN)),
    Row("the runner does not come to its end", replace(PROVED, change=suite("timed out", a=P)), (NO_END,)),
    Row("os._exit(0) in conftest.py", replace(PROVED, change=suite("no report")), (NO_END,)),
    Row("a hook that sets the exit status", replace(PROVED, change=suite("crashed", a=F)), (NO_END,)),
    Row("--collect-only in addopts", replace(PROVED, change=suite("no tests")), (NO_END,)),
    Row("a json.py beside the tests", replace(PROVED, change=suite("damaged report")), (NO_END,)),
    Row("a test file cannot be collected", replace(PROVED, change=suite("interrupted", file=F)), (NO_END,)),
    Row(
        "the first tests of a repository cannot be collected",
        Runs(suite("no tests"), suite("interrupted", file=F)),
        (NO_END,),
    ),
    Row("the base cannot be collected", Runs(NO_BASE, GOOD), (("no evidence", "ask owner"),)),
    Row("the base takes too long", Runs(suite("timed out"), suite("timed out")), (("no evidence", "ask owner"),)),
    # tests that are not run any more
    Row("a hook that drops a test, collect_ignore, --deselect", without("b"), (MISSING,)),
    Row("a whole file is not collected", without("other"), (MISSING,)),
    Row("a test is gone that the task names", without("b"), ((GONE, "ask owner"),), named(TASK, "test_b")),
    Row(
        "one is gone that the task names, and one that it does not",
        without("b", "a"),
        ((GONE, "correct"), (GONE, "ask owner")),
        named(TASK, "test_b"),
    ),
    Row("xfail on everything", now(a=S, b=S, other=S), (SKIPS,)),
    Row(
        "a test is skipped that the task names",
        now(b=S),
        (("a test is skipped now", "ask owner"),),
        named(TASK, "test_b"),
    ),
    # old tests on the new code
    Row("a test was bent to the new code", replace(PROVED, restored=suite(a=F, b=P)), (OLD_FAILS,)),
    Row(
        "and the task says so",
        replace(PROVED, restored=suite(a=F, b=P)),
        (("an old test fails on the new code", "ask owner"),),
        named(TASK, "test_a"),
    ),
    Row(
        "the old tests cannot be imported any more",
        replace(PROVED, restored=suite("interrupted", file=F)),
        (OLD_FAILS,),
    ),
    Row("the old tests skip themselves on the new code", replace(PROVED, restored=suite(a=S, b=P)), (OLD_FAILS,)),
    Row("the old tests never end on the new code", replace(PROVED, restored=suite("timed out", a=P)), (OLD_FAILS,)),
    Row("a test fails now and as it was: named once", replace(now(a=F), restored=suite(a=F, b=P)), (FAILS,)),
    Row("an old test that was red before may stay red", replace(PROVED, base=RED_BASE, restored=suite(a=P, b=F))),
    # nothing is shown
    Row("no test was added", Runs(BASE, BASE), (UNSHOWN,), touched=touched("shop.py")),
    Row("the new tests pass without the change too", replace(PROVED, unchanged=suite(a=P, b=P, new=P)), (UNSHOWN,)),
    Row("the new test is skipped without the change", replace(PROVED, unchanged=suite(a=P, b=P, new=S)), (UNSHOWN,)),
    Row(
        "another file cannot be imported without the change",
        replace(PROVED, unchanged=suite("interrupted", other_file=F)),
        (UNSHOWN,),
    ),
    Row("the new test is skipped", now(new=S), (UNSHOWN,)),
    Row("a red test of the base turned green by chance", Runs(RED_BASE, BASE), (UNSHOWN,), touched=touched("shop.py")),
    Row("code below docs/ is no text", Runs(BASE, BASE), (UNSHOWN,), touched=touched("docs/examples/pay.py")),
    Row("nor is code that is called as a text is", Runs(BASE, BASE), (UNSHOWN,), touched=touched("licenses.py")),
    # what no run shows
    Row("conftest.py is changed", PROVED, (CONFIGURED,), touched=touched("shop.py", SHOP, CONFTEST)),
    Row("conftest.py is added", PROVED, (CONFIGURED,), touched=touched("shop.py", SHOP, added=("conftest.py",))),
    Row("addopts in pyproject.toml", PROVED, (CONFIGURED,), touched=touched("shop.py", SHOP, "pyproject.toml")),
    Row("a test asks less", PROVED, ((WEAKER, "correct"),), weakened=(LESS,)),
    Row(
        "a test asks less, and the task names it",
        PROVED,
        ((WEAKER, "ask owner"),),
        named(TASK, "test_a"),
        weakened=(LESS,),
    ),
    Row("a new test asserts nothing", PROVED, ((EMPTY, "correct"),), weakened=(replace(LESS, rule=EMPTY),)),
    Row(
        "a new test asserts nothing, though the task names it",
        PROVED,
        ((EMPTY, "correct"),),
        named(TASK, "test_a"),
        weakened=(replace(LESS, rule=EMPTY),),
    ),
    Row(
        "a red test is deleted",
        replace(without("b"), base=RED_BASE),
        ((GONE, "correct"),),
        weakened=(replace(LESS, rule=GONE, test="test_b"),),
    ),
    Row(
        "a test is gone with its subject", without("b"), ((GONE, "ask owner"),), obsolete=frozenset({(SHOP, "test_b")})
    ),
    Row(
        "one of the same name elsewhere is not", without("b"), (MISSING,), obsolete=frozenset({(OTHER_FILE, "test_b")})
    ),
    Row(
        "a red test is deleted with its subject",
        replace(without("b"), base=RED_BASE),
        ((GONE, "ask owner"),),
        weakened=(replace(LESS, rule=GONE, test="test_b"),),
        obsolete=frozenset({(SHOP, "test_b")}),
    ),
    Row(
        "an old test needs what the task has removed",
        replace(PROVED, restored=suite(a=F, b=P)),
        (("an old test fails on the new code", "ask owner"),),
        obsolete=frozenset({(SHOP, "test_a")}),
    ),
    Row(
        "expected values change with the code",
        replace(PROVED, restored=suite(a=F, b=P)),
        (OLD_FAILS,),
        touched=replace(touched("shop.py", "report.csv"), relied=frozenset({"report.csv"})),
    ),
    Row(
        "expected values change with the code, and the task says so",
        replace(PROVED, restored=suite(a=F, b=P)),
        (("an old test fails on the new code", "ask owner"),),
        replace(TASK, description="Bring report.csv up to date."),
        touched=replace(touched("shop.py", "report.csv"), relied=frozenset({"report.csv"})),
    ),
    Row(
        "no test runs a line of a refactoring",
        Runs(BASE, BASE),
        ((UNCHANGED, "write tests"),),
        task=QUIET,
        touched=touched("shop.py"),
        unrun=("shop.py:3",),
    ),
    Row("a line that is new and proved need not be run", PROVED, unrun=("shop.py:3",)),
    Row("a deleted test is named once", without("b"), (MISSING,), weakened=(replace(LESS, rule=GONE, test="test_b"),)),
]


@pytest.mark.parametrize("row", [pytest.param(row, id=row.why) for row in ROWS])
def test_what_the_runs_show_is_what_is_said(row: Row) -> None:
    found = problems(row.task, row.touched, row.runs, SuiteFiles(TREE), row.texts)
    assert tuple((problem.rule, problem.remedy) for problem in found) == row.found, found


@pytest.mark.parametrize("row", [pytest.param(row, id=row.why) for row in ROWS if row.found])
def test_a_problem_is_one_line_that_names_tests_or_places(row: Row) -> None:
    for problem in problems(row.task, row.touched, row.runs, SuiteFiles(TREE), row.texts):
        assert "\n" not in problem.text and len(problem.text) > 20
        assert all(test in problem.text for test in problem.tests[:1] if "::" in test and not row.weakened)


def test_a_failing_test_is_named_with_its_place() -> None:
    (found,) = problems(TASK, touched("shop.py", SHOP), now(b="failed"), SuiteFiles(TREE))
    assert (found.text, found.tests) == (f"{B} fails at {SHOP}:3", (B,))


def test_of_many_tests_five_are_named() -> None:
    many: dict[str, Outcome] = {f"tests/test_shop.py::test_{number}": "passed" for number in range(20)}
    runs = Runs(ran({A: "passed", **many}), ran({A: "passed"}))
    (found,) = problems(QUIET, touched("shop.py"), runs, SuiteFiles(TREE))
    assert found.text.endswith("and 15 more is not run any more") and found.text.count("::") == 5
    assert len(found.tests) == 20


@pytest.mark.parametrize(
    ("before", "after", "missing"),
    [
        (["t[1]", "t[2]"], ["t[1]", "t[3]"], []),
        (["t[1]", "t[2]"], ["t[3]"], ["t[1]", "t[2]"]),
        (["t[1]", "t[2]"], ["t[1]"], ["t[2]"]),
        (["t[1]", "u[1]"], ["u[1]", "u[2]"], ["t[1]"]),
        (["t"], ["t[1]"], ["t"]),
        (["t", "u"], ["u", "v"], ["t"]),
    ],
)
def test_a_case_with_other_values_is_not_gone_if_as_many_pass(
    before: list[str], after: list[str], missing: list[str]
) -> None:
    base, change = (ran(dict.fromkeys(tests, "passed")) for tests in (before, after))
    assert sorted(gone(base, change)) == missing


OUTCOMES = st.dictionaries(
    st.sampled_from([A, B, C, NEW, OTHER]), st.sampled_from(["passed", "failed", "skipped"]), min_size=1
)


@given(OUTCOMES, OUTCOMES)
def test_without_a_problem_every_test_that_passed_passes_still(
    before: dict[str, Outcome], after: dict[str, Outcome]
) -> None:
    """The core of the rule, whatever else: ids passing on the base are ids passing now, and nothing else fails."""
    base, change = ran(before), ran(after)
    found = problems(QUIET, touched("shop.py"), Runs(base, change), SuiteFiles(TREE))
    is_worse = not base.of("passed") <= change.of("passed") or not change.of("failed") <= base.of("failed")
    assert bool(found) == is_worse


@given(OUTCOMES, OUTCOMES, st.none() | OUTCOMES)
def test_what_proves_passes_now_and_failed_without_the_change(
    before: dict[str, Outcome], after: dict[str, Outcome], unchanged: dict[str, Outcome] | None
) -> None:
    runs = Runs(ran(before), ran(after), unchanged=ran(unchanged) if unchanged else None)
    for test in proving(TASK, runs, SuiteFiles(TREE)):
        assert after[test] == "passed" and (unchanged or {})[test] == "failed"


# --- Django's ids --------------------------------------------------------------------------------------------

DJANGO = (
    "manage.py",
    "shop/tests.py",
    "shop/tests/test_a.py",
    "core/tests/__init__.py",
    "web/manage.py",
    "web/a/tests.py",
)


@pytest.mark.parametrize(
    ("test", "path"),
    [
        ("shop.tests.ItemTest.test_x", "shop/tests.py"),
        ("shop.tests.test_a.ItemTest.test_x", "shop/tests/test_a.py"),
        ("core.tests.ItemTest.test_x", "core/tests/__init__.py"),
        ("a.tests.ItemTest.test_x", "web/a/tests.py"),
        ("shop.tests (import)", "shop/tests.py"),
        ("shop.tests.ItemTest (setUpClass)", "shop/tests.py"),
        ("tests/test_a.py::test_x[a.b (c)]", "tests/test_a.py"),
        ("tests/test_a.py", "tests/test_a.py"),
        ("nowhere.ItemTest.test_x", ""),
    ],
)
def test_an_id_tells_its_file(test: str, path: str) -> None:
    assert SuiteFiles(DJANGO).file(test) == path


def test_a_django_module_that_cannot_be_imported_fails_for_its_tests() -> None:
    new = "shop.tests.ItemTest.test_new"
    base, change = ran({"core.tests.T.test_a": "passed"}), ran({"core.tests.T.test_a": "passed", new: "passed"})
    lacking = ran({"shop.tests (import)": "failed"})
    runs = Runs(base, change, unchanged=lacking, unchanged_on=["shop/tests.py"])
    assert proving(TASK, runs, SuiteFiles(DJANGO)) == (new,)


# --- the task's words ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("title", "asks"),
    [
        ("Add a search box", True),
        ("Fix the crash of the slow search", True),
        ("Show the latest test results to students", True),
        ("Add comments to posts", True),
        ("Remove the old button", True),
        ("Move the button to the left", True),
        ("Extract text from uploaded pages", True),
        ("Add practice tests for students", True),
        ("Show a performance chart", True),
        ("Document upload for teachers", True),
        ("Refactor the views", False),
        ("Remove duplicated code", False),
        ("Document the settings", False),
        ("Update the README", False),
        ("Add tests for the login", False),
        ("Write more tests for the login", False),
        ("Make the search faster", False),
        ("docs: explain the search", False),
    ],
)
def test_a_title_tells_whether_something_new_must_work(title: str, asks: bool) -> None:
    assert asks_for_behaviour(replace(TASK, title=title), touched("shop.py")) == asks


ANEW = (TaskKind.FIX, TaskKind.FEATURE, TaskKind.BEHAVIOUR)
GUESSED = (TaskKind.REMOVAL, TaskKind.UNKNOWN)


@pytest.mark.parametrize("kind", [kind for kind in TaskKind if kind not in GUESSED])
@pytest.mark.parametrize("title", ["Fix the total", "Rename the total", "Move the error pages", "Show the total"])
def test_the_kind_decides_whatever_the_title_says(kind: TaskKind, title: str) -> None:
    task, less = replace(TASK, title=title, kind=kind), Touched((Change("shop.py", "modified", "100644", "100644"),))
    assert [asks_for_behaviour(task, one) for one in (touched("shop.py"), less)] == [kind in ANEW] * 2
    assert not asks_for_behaviour(task, touched("a.md"))


@pytest.mark.parametrize("kind", GUESSED)
def test_without_a_kind_words_decide(kind: TaskKind) -> None:
    titles = ("Fix the total", "Rename the total", "Show the total")
    tasks = [replace(TASK, title=title, kind=kind) for title in titles]
    assert [asks_for_behaviour(task, touched("shop.py")) for task in tasks] == [True, False, True]


@pytest.mark.parametrize(
    ("changed", "asks"),
    [(["a.md"], False), (["docs/a.html", SHOP], False), (["requirements.txt"], True), (["a.md", "a.html"], True)],
)
def test_a_change_of_texts_and_tests_alone_can_show_nothing_new(changed: list[str], asks: bool) -> None:
    assert asks_for_behaviour(TASK, touched(*changed)) == asks


@pytest.mark.parametrize(
    ("words", "asks"),
    [
        ("No change of behaviour.", False),
        ("Use the csv module; the output stays the same.", False),
        ("The existing tests still pass.", True),
    ],
)
def test_a_task_may_say_that_nothing_changes(words: str, asks: bool) -> None:
    assert asks_for_behaviour(replace(TASK, acceptance=(words,)), touched("shop.py")) == asks


def test_what_only_takes_away_shows_nothing_new_unless_it_mends() -> None:
    less = Touched((Change("shop.py", "modified", "100644", "100644"),))
    assert not asks_for_behaviour(TASK, less)
    assert asks_for_behaviour(replace(TASK, title="Fix the total"), less)


def test_code_that_does_what_it_did_shows_nothing_new_unless_tests_say_that_it_does() -> None:
    same = frozenset({"shop.py"})
    assert not asks_for_behaviour(TASK, replace(touched("shop.py"), same=same))
    assert asks_for_behaviour(TASK, replace(touched("shop.py", SHOP), same=same))
    assert asks_for_behaviour(replace(TASK, title="Fix the total"), replace(touched("shop.py"), same=same))


CODE = "def _field(x):\n    return x + 1\n\ndef f(x):\n    return _field(x) if x else min(x, 2)\n"


CHECKED = "from __future__ import annotations\nfrom typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    import shop\n"


def test_a_functions_own_variable_may_be_annotated_and_a_field_may_not() -> None:
    body = "def f(x):\n    y = x\n    return y\n\n\nclass Row:\n    z = 1\n"
    assert is_same_code(body, body.replace("y = x", "y: int = x"))
    assert not is_same_code(body, body.replace("y = x", "y: int"))
    assert not is_same_code(body, body.replace("z = 1", "z: int = 1"))


@pytest.mark.parametrize(
    ("new", "is_same"),
    [
        pytest.param(CODE.replace("(x):", "(x: int) -> int:"), True, id="annotated"),
        pytest.param(CODE.replace("def f(x):", 'def f(x):\n    """Text."""'), True, id="described"),
        pytest.param(
            "from collections.abc import Set\n" + CODE.replace("(x):", "(x: Set):"), True, id="imported to annotate"
        ),
        pytest.param("import os\n" + CODE, False, id="imported to be used"),
        pytest.param(
            CHECKED + CODE.replace("(x):", "(x: shop.X):"),
            True,
            id="imported for a type checker",
        ),
        pytest.param("if TYPE_CHECKING:\n    x = 1\n" + CODE, False, id="more than an import"),
        pytest.param(
            CHECKED.replace("\n\nif", "\n\nTYPE_CHECKING = 1\n\nif") + CODE.replace("(x):", "(x: shop.X):"),
            False,
            id="a switch of that name",
        ),
        pytest.param("# a comment\n\n" + CODE, True, id="commented"),
        pytest.param(CODE.replace("_field", "_quoted"), True, id="a private name"),
        pytest.param(CODE.replace("def _field", "def _quoted"), False, id="only half of a rename"),
        pytest.param(CODE.replace("def f", "def g"), False, id="a public name"),
        pytest.param(CODE.replace("min", "max"), False, id="a name of somebody else"),
        pytest.param(CODE.replace("_field", "_quoted").replace("1", "2"), False, id="a rename and more"),
        pytest.param(CODE.replace("_field", "min"), False, id="a name that is taken"),
        pytest.param(CODE.replace("+ 1", "+ 2"), False, id="a number"),
        pytest.param(CODE + "(", False, id="no Python"),
        pytest.param("\0", False, id="no text"),
    ],
)
def test_code_is_the_same_but_for_annotations_texts_and_one_private_name(new: str, is_same: bool) -> None:
    assert is_same_code(CODE, new) == is_same


TYPED = CODE.replace("(x):", "(x: int):")
ROUTE = "@app.get('/')\ndef f(x):\n    return x\n"
GIVEN = "def get(x):\n    return x\n\nserve(get)\n"
FORM = "class Form(Base):\n    def clean(self, x):\n        return x\n\n    def _extra(self):\n        return 1\n"
RECEIVER = "@receiver\ndef _saved(x):\n    return x\n"
FIELD = "class Row:\n    x: int\n"


@pytest.mark.parametrize(
    ("old", "new", "others"),
    [
        pytest.param(ROUTE, ROUTE.replace("(x):", "(x: int):"), (), id="a decorator may read the annotation"),
        pytest.param(GIVEN, GIVEN.replace("(x):", "(x: int):"), (), id="so may who is given the function"),
        pytest.param(CODE, TYPED, ("Depends(f)",), id="somewhere else, too"),
        pytest.param(CODE, TYPED, ("give f to it (",), id="or where nothing can be read"),
        pytest.param(FORM, FORM.replace(", x):", ", x: int):"), (), id="and what a class is made from"),
        pytest.param(CODE, CODE.replace("f(x):", "f(x: run('it')):"), (), id="an annotation that runs code"),
        pytest.param(CODE, CODE.replace("f(x):", "f(x: (min := max)):"), (), id="an annotation that binds a name"),
        pytest.param(CODE, "from typing import cast as min\n" + CODE, (), id="a name that means something else now"),
        pytest.param(CODE, "from .typing import Any\n" + CODE, (), id="a module of the target's own"),
        pytest.param(CODE, "from typing import *\n" + CODE, (), id="whatever a module holds"),
        pytest.param(CODE, "from __future__ import barry_as_FLUFL\n" + CODE, (), id="another language"),
        pytest.param(FIELD, "from __future__ import annotations\n" + FIELD, (), id="annotations that become texts"),
        pytest.param(FIELD, FIELD.replace("int", "str"), (), id="a field's annotation"),
        pytest.param(
            CODE, CODE.replace("_field", "_quoted"), ("from shop import _field",), id="a name in use elsewhere"
        ),
        pytest.param(
            CODE, CODE.replace("_field", "_quoted"), ("getattr(shop, '_quoted')",), id="a name others look for"
        ),
        pytest.param(FORM, FORM.replace("_extra", "_more"), (), id="a name that a base class calls"),
        pytest.param(RECEIVER, RECEIVER.replace("_saved", "_kept"), (), id="a name that a decorator keeps"),
    ],
)
def test_where_a_name_or_an_annotation_could_mean_something_code_is_not_the_same(
    old: str, new: str, others: tuple[str, ...]
) -> None:
    assert not is_same_code(old, new, lambda: others)


COMMENTED = CODE + "# see: \\nimport os\n"
ODD = "# vim: set fileencoding=unicode_escape :\n"


@pytest.mark.parametrize(
    ("old", "new", "is_same"),
    [
        pytest.param(CODE, ODD + COMMENTED, False, id="another coding"),
        pytest.param(ODD + CODE, ODD + COMMENTED, False, id="another one from the beginning"),
        pytest.param(ODD + CODE, CODE, False, id="another one before"),
        pytest.param("\n" + CODE, "\r" + ODD + CODE, False, id="on the second line"),
        pytest.param(CODE, f"\ufeff{ODD}{CODE}", False, id="after a mark"),
        pytest.param(CODE, CODE + "# coding: latin-1\n", False, id="anywhere"),
        pytest.param(CODE, "#!/bin/sh\n" + CODE, False, id="another interpreter"),
        pytest.param("#!/bin/python -O\n" + CODE, "#!/bin/python\n" + CODE, False, id="other options"),
        pytest.param("#!/bin/python\n" + CODE, "#!/bin/python\n" + COMMENTED, True, id="the same interpreter"),
        pytest.param("# -*- coding: UTF-8 -*-\n" + CODE, COMMENTED, True, id="what need not be said"),
        pytest.param("# coding: latin-1\n" + CODE, "# coding: utf8\n" + CODE, False, id="no longer another coding"),
    ],
)
def test_a_comment_that_says_how_a_file_is_read_is_no_mere_comment(old: str, new: str, is_same: bool) -> None:
    assert is_same_code(old, new) == is_same


@pytest.mark.parametrize(
    ("others", "is_same"),
    [
        pytest.param("from typing import Protocol\n", True, id="from its home"),
        pytest.param("import typing as t\nx = t.Protocol\n", True, id="by another name of its home"),
        pytest.param("from typing import *\nx = Protocol\n", True, id="all that its home has"),
        pytest.param("import app\n# Protocol\n", True, id="a comment"),
        pytest.param("from app import Protocol\n", False, id="from here"),
        pytest.param("from .app import Protocol as P\n", False, id="from here, by another name"),
        pytest.param("from .typing import Protocol\n", False, id="from a module that is called like its home"),
        pytest.param("import app\nx = app.Protocol\n", False, id="by the module"),
        pytest.param("from app import *\nx = Protocol\n", False, id="with all that is here"),
        pytest.param("patch('app.Protocol')\n", False, id="by its name as a text"),
        pytest.param("from app import Protocol (\n", False, id="where nothing can be read"),
    ],
)
def test_an_import_that_another_file_has_from_here_is_used(others: str, is_same: bool) -> None:
    new = "from typing import Protocol\n" + CODE
    assert is_same_code(new, CODE, lambda: (others,)) == is_same
    assert is_same_code(CODE, new, lambda: (others,)) == is_same


USAGE = '"""Usage: shop [--fast]"""\n'
SAID = CODE.replace("def f(x):", 'def f(x):\n    """Half of it."""')


@pytest.mark.parametrize(
    ("old", "others", "is_same"),
    [
        pytest.param(USAGE + CODE, (), True, id="nobody reads it"),
        pytest.param(SAID, ("print(__doc__)",), True, id="somebody reads his own"),
        pytest.param(SAID, ("import click\n",), True, id="somebody else has commands"),
        pytest.param(USAGE + "from docopt import docopt\n\nasked = docopt(__doc__)\n", (), False, id="docopt"),
        pytest.param(USAGE + "import docopt as d\n\nd.docopt(globals()['__doc__'])\n", (), False, id="by its name"),
        pytest.param(USAGE + "Parser(description=__doc__)\n", (), False, id="a help text"),
        pytest.param("import click\n\n\n" + SAID, (), False, id="the text of a command"),
        pytest.param("from typer import run\n" + SAID, (), False, id="of another kind of command"),
        pytest.param(SAID + "print(f.__doc__)\n", (), False, id="a function's"),
        pytest.param(SAID + "help(f)\n", (), False, id="help"),
        pytest.param(SAID, ("from inspect import getdoc\n",), False, id="somebody reads those of others"),
        pytest.param(SAID, ("print(shop.f.__doc__)",), False, id="elsewhere"),
        pytest.param(USAGE + CODE, ("from shop import f, __doc__ as usage",), False, id="imported"),
        pytest.param(SAID, ("getattr(f, '__doc__')",), False, id="asked for by its name"),
    ],
)
def test_a_docstring_that_is_read_is_no_mere_text(old: str, others: tuple[str, ...], is_same: bool) -> None:
    new = old.replace("--fast", "--slow").replace("Half", "All")
    assert new != old and is_same_code(old, new, lambda: others) is is_same
    assert is_same_code(old, "# a comment\n" + old, lambda: others)


def test_two_files_that_cannot_be_read_are_not_the_same() -> None:
    assert not is_same_code("(", "[")
    assert not is_same_code("x = 1\n" * 100_000, "x = 2\n" * 100_000)


def test_others_are_read_only_where_all_else_is_the_same() -> None:
    asked: list[str] = []

    def others() -> Sequence[str]:
        asked.append("read")
        return ("shop.f(1)",)

    assert not is_same_code(CODE, CODE.replace("+ 1", "+ 2"), others)
    assert is_same_code(CODE, "# a comment\n" + CODE, others)
    assert asked == []
    assert is_same_code(CODE, CODE.replace("_field", "_quoted"), others)
    assert is_same_code(CODE, TYPED, others)


@pytest.mark.parametrize(
    ("test", "text", "declared"),
    [
        (f"{SHOP}::TestShop::test_a[1]", "Adapt test_a to it.", True),
        ("shop.tests.ShopTest.test_a", "Adapt `test_a`.", True),
        (A, "Adapt test_ab and my_test_a.", False),
        (A, "Adapt the tests in tests/test_shop.py.", False),
    ],
)
def test_only_the_name_of_a_test_announces_that_it_changes(test: str, text: str, declared: bool) -> None:
    assert is_declared(test, replace(TASK, description=text)) == declared


@pytest.mark.parametrize(
    ("named", "test", "file"),
    [
        ("tests/test_shop.py::test_total", True, False),
        ("tests/test_shop.py", False, True),
        ("tests/a.py", False, False),
    ],
)
def test_the_planner_names_tests_that_change_by_id_or_by_file(named: str, test: bool, file: bool) -> None:
    task = replace(TASK, changes_tests=(named,))
    assert is_declared("tests/test_shop.py::test_total[1]", task) == test
    assert changes_tests_of("tests/test_shop.py", task) == file


@pytest.mark.parametrize(
    ("text", "announced"),
    [
        ("Two tests in tests/test_shop.py hold 19: bring them up to date.", True),
        ("Adapt tests/test_shop.py.", True),
        ("Add a test to tests/test_shop.py.", False),
        ("Change the total. Tests are in tests/test_shop.py.", False),
        ("Update tests/test_other.py.", False),
    ],
)
def test_old_tests_may_fail_for_the_owner_where_the_task_says_that_their_file_changes(
    text: str, announced: bool
) -> None:
    runs, task = replace(PROVED, restored=suite(a=F, b=P)), replace(TASK, description=text)
    (found,) = problems(task, touched("shop.py", SHOP), runs, SuiteFiles(TREE))
    assert found.remedy == ("ask owner" if announced else "correct")


GOLDEN = "tests/golden/total.txt"


@pytest.mark.parametrize(
    ("kind", "files", "remedy"),
    [
        pytest.param(TaskKind.BEHAVIOUR, ("shop.py", GOLDEN), "ask owner", id="it is to be different, and is named"),
        pytest.param(TaskKind.BEHAVIOUR, ("shop.py",), "correct", id="it is not named"),
        pytest.param(TaskKind.REFACTORING, ("shop.py", GOLDEN), "correct", id="nothing is to be different"),
    ],
)
def test_what_tests_expect_changes_with_what_is_asked_for_where_the_task_names_it(
    kind: TaskKind, files: tuple[str, ...], remedy: str
) -> None:
    task, runs = replace(TASK, kind=kind, files=files), replace(PROVED, restored=suite(a=F, b=P), restored_on=())
    found = problems(task, touched("shop.py", GOLDEN, SHOP), runs, SuiteFiles(TREE))
    assert [one.remedy for one in found if one.rule == "an old test fails on the new code"] == [remedy]


# --- what failed before, and what fails now ------------------------------------------------------------------


def test_old_failures_and_new_ones_are_told_apart_by_name() -> None:
    before = suite(a=F, b=F, c=F, other=P, file=F)
    told = compared(Runs(before, suite(a=P, b=F, c=S, other=F, new=P)))
    kinds = (told.mended, told.still, told.left, told.broken)
    assert [few.names for few in kinds] == [(A,), (B,), (SHOP, C), (OTHER,)]
    assert [few.count for few in kinds] == [1, 1, 2, 1]


def test_what_passed_when_it_was_run_again_fails_in_no_way() -> None:
    runs = Runs(suite(a=P, b=F), suite(a=F, b=F), flaky=frozenset({A, B}))
    assert compared(runs) == BeforeAndNow(mended=FewTests((B,), 1))


@pytest.mark.parametrize("runs", [Runs(suite("timed out", a=F), suite(a=P)), Runs(suite(a=F), suite("memory", b=F))])
def test_a_run_without_an_end_decides_nothing_about_old_failures(runs: Runs) -> None:
    assert compared(runs) == BeforeAndNow()


def test_names_of_tests_are_few_and_clean() -> None:
    few = FewTests.of([f"t.py::test[{n:02}\nfailing: 0\x1b]{'x' * 999}" for n in range(MOST_FAILING + 3)])
    assert len(few.names) == MOST_FAILING and few.told.endswith(" and 3 more")
    assert all(name.isprintable() and len(name) <= 200 for name in few.names)


def test_the_name_of_a_test_is_its_functions() -> None:
    assert [bare_name(test) for test in (A, f"{A}[x::y.z]", "a.tests.T.test_q")] == ["test_a", "test_a", "test_q"]


# --- planted faults ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("planted", "missed", "by_others", "is_problem"),
    [
        *[(0, 0, 0, False), (10, 4, 4, False), (10, 5, 5, True), (12, 5, 5, True), (12, 4, 4, False), (1, 1, 1, True)],
        *[(12, 5, 0, False), (12, 9, 2, False), (12, 9, 3, True)],  # what others notice does not count
        *[(12, 12, 0, True), (1, 1, 0, True)],  # who notices nothing holds nothing
    ],
)
def test_written_tests_notice_three_faults_of_five(planted: int, missed: int, by_others: int, is_problem: bool) -> None:
    faults = [Mutant("shop.py", number, "== became !=", b"") for number in range(planted)]

    def missed_by(some: Sequence[Mutant], files: Collection[str]) -> Sequence[Mutant]:
        return some[: missed if "ours.py" in files else by_others]

    found = unnoticed(faults, missed_by, ["ours.py"], ["theirs.py"])
    assert (found is not None) == is_problem
    if found:
        assert found.remedy == "correct" and "shop.py:0" in found.text
        assert unnoticed(faults, missed_by, ["ours.py"], ()) is not None, "others never make it worse"


def test_a_base_that_does_not_run_is_told_by_its_cause_and_else_by_how_the_runner_ended() -> None:
    begin = "the tests do not run on the base: "
    missing = "E   ModuleNotFoundError: No module named 'freezegun'\n"
    assert no_base(SuiteRun("crashed", 2, output=missing)).startswith(f"{begin}ModuleNotFoundError: No module named")
    assert no_base(SuiteRun("crashed", 2)) == f"{begin}the runner ended with exit code 2, which does not fit its report"
    failed = Failure("tests/test_a.py", "tests/test_a.py:1", missing)
    told = no_base(SuiteRun("crashed", 2, failures=(failed,)))
    assert told.startswith(f"{begin}tests/test_a.py at tests/test_a.py:1: ModuleNotFoundError: ") and "fit" not in told
