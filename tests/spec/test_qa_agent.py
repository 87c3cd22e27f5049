"""QA at work: which runs it makes of a commit, and what evidence it draws from them.

The repository is real; the bench runs small test files in this process: functions that begin with `test_`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from sisimpur.agents.orchestrator.publishing import gate_text
from sisimpur.agents.qa.agent import TOO_DEEP, Qa, QaPolicy
from sisimpur.agents.qa.coverage_checker import reach
from sisimpur.agents.qa.runner.suite import RawTestRun, SuiteOrder
from sisimpur.shared.model.errors import BrokenSetup, Unavailable
from sisimpur.shared.model.evidence import EDGE, UNCHANGED, Evidence, SuiteRun, is_test_file, rules
from sisimpur.shared.model.work import Branch, Run, TaskKind, TaskSpec
from sisimpur.shared.repo.git import Remote
from sisimpur.shared.repo.mirror import Mirror
from sisimpur.shared.sandbox.bubblewrap import never
from sisimpur.shared.system.clock import ManualClock
from sisimpur.shared.system.log import Log
from tests.repositories import commit, repository, shell

RUN = Run(1, "qa", "2026-11-21", "t1", 1)
TASK = TaskSpec("t1", "Round the total", "Prices are rounded.")
SHOP = "def total(prices):\n    return sum(prices)\n"
ROUNDED = "def total(prices):\n    return round(sum(prices), 2)\n"
OLD = "from shop import total\n\ndef test_sum():\n    assert total([1, 2]) == 3\n"
NEW = OLD + "\ndef test_rounded():\n    assert total([0.1, 0.2]) == 0.3\n"
FILES = {"shop.py": SHOP, "tests/test_shop.py": OLD, "README.md": "A shop.\n"}


ALL_RUN = json.dumps({"totals": {"percent_covered": 100.0}, "files": {}}).encode()


class Book:
    def __init__(self) -> None:
        self.runs: dict[str, SuiteRun] = {}
        self.told: list[str] = []  # runs of the branch itself

    def base_run(self, key: str) -> SuiteRun | None:
        return self.runs.get(key)

    def keep_run(self, key: str, run: SuiteRun) -> None:
        self.runs[key] = run

    def keep_base_run(self, key: str, run: SuiteRun) -> None:
        self.told.append(key)
        self.keep_run(key, run)


@dataclass
class SmallBench:
    """`broken`: commits without an environment; `spoils`: what becomes of a run.

    `faults`: runs with a small fault; `kept`: those in which calls are kept.
    """

    mirror: Mirror
    quality: str = "full"
    orders: list[SuiteOrder] = field(default_factory=list)
    faults: list[SuiteOrder] = field(default_factory=list)
    kept: list[SuiteOrder] = field(default_factory=list)
    broken: frozenset[str] = frozenset()
    spoils: Callable[[SuiteOrder, RawTestRun], RawTestRun] = lambda order, raw: raw

    def label(self, commit: str) -> str:
        if commit in self.broken:
            raise BrokenSetup("pip says no;\ncorrect requirements.txt")
        return "small bench, k1"

    def run(self, order: SuiteOrder, stop: Callable[[], bool] = never) -> RawTestRun:
        self.label(order.commit)
        keeps = any(b"gate_calls" in (data or b"") for data in order.overlay.values())
        (self.kept if keeps else self.faults if order.limit else self.orders).append(order)
        files = {entry.path: self.mirror.read(order.commit, entry.path) for entry in self.mirror.tree(order.commit)}
        files |= order.overlay
        sources = {path: data.decode("utf-8", "replace") for path, data in files.items() if data is not None}
        return self.spoils(order, replace(tried(sources, order.only), coverage=ALL_RUN if order.cover else None))


def tried(sources: Mapping[str, str], only: Sequence[str]) -> RawTestRun:
    """Every function of every test file, with the modules that it imports from the repository's top."""
    lines: list[dict[str, Any]] = []
    functions = []
    for path in sorted(path for path in sources if is_test_file(path) and (path in only or not only)):
        try:
            names = module(sources[path], sources)
        except Exception as error:  # noqa: BLE001  whatever the file does
            lines.append({"test": path, "outcome": "failed", "where": f"{path}:1", "text": said(error)})
            continue
        functions += [(f"{path}::{name}", names[name]) for name in names if name.startswith("test_")]
    broken = len(lines)
    lines.append({"collected": len(functions)})
    lines += [] if broken else [one(test, function) for test, function in functions]
    failed = any(line.get("outcome") == "failed" for line in lines)
    code = 2 if broken else int(failed) if functions else 5
    lines.append({"end": code, "ran": 0 if broken else len(functions)})
    report = "".join(json.dumps(line) + "\n" for line in lines).encode()
    return RawTestRun("exited", code, 0.1, "printed", report)


def module(source: str, sources: Mapping[str, str]) -> dict[str, Any]:
    found = re.search(r"^from (\w+) import (\w+)\n", source, re.MULTILINE)
    names: dict[str, Any] = {"read": sources.__getitem__}
    if found:
        names[found[2]] = imported(found[1], found[2], sources)
    exec(source.replace(found[0] if found else "", ""), names)
    return names


def imported(name: str, what: str, sources: Mapping[str, str]) -> Any:
    found = module(sources[f"{name}.py"], sources)
    if what not in found:
        raise ImportError(f"cannot import name {what!r} from {name!r}")
    return found[what]


def one(test: str, function: Callable[[], None]) -> dict[str, Any]:
    try:
        function()
    except Exception as error:  # noqa: BLE001  whatever the test does
        return {"test": test, "outcome": "failed", "where": "tests/test_shop.py:4", "text": said(error)}
    return {"test": test, "outcome": "passed"}


def said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


class Stage:
    """A repository, a mirror, and QA."""

    def __init__(self, folder: Path, files: Mapping[str, str], command: str = "") -> None:
        self.source = folder / "source"
        self.base = repository(self.source, files)
        self.mirror = Mirror(folder / "mirror.git", Remote(str(self.source)))
        self.mirror.create()
        self.mirror.fetch("main")
        self.bench, self.book = SmallBench(self.mirror), Book()
        self.folder, self.command = folder, command
        self.branch = Branch("agent/t1", self.base, self.base)
        self.mends: dict[str, str] = {}

    def given_change(self, files: Mapping[str, str], remove: str = "") -> Stage:
        if remove:
            shell(f"rm {remove}", self.source)
        sha = commit(self.source, files)
        self.mirror.fetch("main")
        self.branch = Branch("agent/t1", self.base, sha, (*files, *remove.split()))
        return self

    def check(self, written: Sequence[str] = (), task: TaskSpec = TASK) -> Evidence:
        return self.qa.check(RUN, task, self.branch, written)

    @property
    def qa(self) -> Qa:
        log = Log(self.folder, ManualClock(datetime(2026, 11, 21, tzinfo=UTC)), str)
        policy = QaPolicy(self.command, 1.0)
        return Qa(self.bench, self.mirror, self.book, policy, log, lambda task: self.mends.get(task, ""))

    @property
    def runs(self) -> list[tuple[str, tuple[str, ...], bool]]:
        """(base or commit, the files that were chosen, whether lines were counted)."""
        names = {self.base: "base", self.branch.commit: "commit"}
        return [(names[order.commit], tuple(order.only), order.cover) for order in self.bench.orders]


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path, FILES)


TESTS = ("tests/test_shop.py",)
BASE, CHANGE = ("base", (), True), ("commit", (), True)
RED_TWICE = [("commit", (), False), ("base", TESTS, False)]  # is it flaky? does the base fail now, too?
RESTORED, ALL_RESTORED = ("commit", TESTS, False), ("commit", (), False)


def brought(*files: str) -> list[tuple[str, tuple[str, ...], bool]]:
    """The runs of test files that a change brings: by themselves, and without the change."""
    return [("commit", files, False), ("base", files, False)]


def test_a_fix_with_its_test_is_green_in_three_runs_on_a_known_base_one_of_all_tests(stage: Stage) -> None:
    found = stage.given_change({"shop.py": ROUNDED, "tests/test_shop.py": NEW}).check()
    assert found.problems == ()
    assert (found.passed, found.failed, found.failing_before) == (2, 0, 0)
    assert found.new_tests == found.proving == ("tests/test_shop.py::test_rounded",)
    assert stage.runs == [BASE, CHANGE, *brought(*TESTS)], "the old test stands in the new file, word by word"
    assert [order.elsewhere for order in stage.bench.orders] == [False, False, True, False]


def test_old_tests_that_are_changed_too_cost_one_run_more(stage: Stage) -> None:
    bent = NEW.replace("total([1, 2]) == 3", "total([2, 2]) == 4")
    assert stage.given_change({"shop.py": ROUNDED, "tests/test_shop.py": bent}).check().problems == ()
    assert stage.runs == [BASE, CHANGE, RESTORED, *brought(*TESTS)]


def test_an_old_test_beside_a_new_one_is_run_elsewhere_with_it(stage: Stage) -> None:
    stage.bench.spoils = failing(SUM, lambda order: order.elsewhere and order.commit != stage.base)
    found = stage.given_change({"shop.py": ROUNDED, "tests/test_shop.py": NEW}).check()
    assert rules(found.problems) == ("a test depends on its surroundings",) and found.problems[0].tests == (SUM,)
    stage.bench.spoils = failing(SUM, lambda order: order.elsewhere)
    assert stage.check().problems == (), "it did so before"


def test_the_base_is_run_once_for_all_tasks_of_a_morning(stage: Stage) -> None:
    for number in range(3):
        stage.given_change({"shop.py": ROUNDED + f"# {number}\n", f"tests/test_{number}.py": NEW}).check()
    whole = [order for order in stage.bench.orders if not order.only]
    assert len(whole) == 1 + 3 and [order.commit for order in whole].count(stage.base) == 1
    assert len(stage.bench.orders) == 1 + 3 * 3, "the rest is of the tests that each brings"


MANY = {f"tests/test_{name}.py": OLD.replace("sum()", f"{name}()") for name in ("far", "near", "slow")}


def timed(order: SuiteOrder, raw: RawTestRun, seconds: float = 6.0) -> RawTestRun:
    """A first run of so many seconds, in which one file of three takes the most."""
    if order.time != "all":
        return raw
    lines = [json.loads(line) for line in (raw.report or b"").splitlines()]
    took = {"far": 1.0, "near": 1.0, "slow": seconds - 2.5}
    said = [
        {**one, "seconds": took.get(one["test"].rpartition("_")[2], 0.1)} if "test" in one else one for one in lines
    ]
    return replace(raw, seconds=seconds, report="".join(json.dumps(one) + "\n" for one in said).encode())


def test_old_tests_run_once_more_elsewhere_as_far_as_the_share_of_time_allows(tmp_path: Path) -> None:
    files = {**MANY, "shop.py": SHOP, "tests/test_far.py": MANY["tests/test_far.py"].replace("from shop", "from till")}
    stage = Stage(tmp_path, {**files, "till.py": SHOP})
    stage.bench.spoils = timed
    found = stage.given_change({"shop.py": ROUNDED, "tests/test_new.py": NEW.replace("sum()", "new()")}).check()
    assert found.problems == ()
    assert [order.only for order in stage.bench.orders if order.elsewhere] == [
        ["tests/test_new.py", "tests/test_near.py"]
    ]
    assert found.elsewhere == "2 of 4 files of tests, 21% of the time that tests take"
    assert stage.runs == [
        BASE,
        CHANGE,
        ("commit", ("tests/test_new.py", "tests/test_near.py"), False),
        brought("tests/test_new.py")[1],
    ]


def test_a_change_without_tests_has_a_second_run_of_old_ones_if_there_is_time(tmp_path: Path) -> None:
    stage = Stage(tmp_path, {**MANY, "shop.py": SHOP})
    stage.bench.spoils = lambda order, raw: timed(order, raw, 12.0)
    quiet = replace(TASK, title="Refactor the total")
    found = stage.given_change({"shop.py": SHOP.replace("prices", "all_prices")}).check(task=quiet)
    assert found.problems == () and found.elsewhere.startswith("2 of 3 files")
    passes = stage.bench.spoils
    now = failing("tests/test_far.py::test_far", lambda order: order.elsewhere and order.commit != stage.base)
    stage.bench.spoils = lambda order, raw: now(order, passes(order, raw))
    assert rules(stage.check(task=quiet).problems) == ("a test depends on its surroundings",)
    ever = failing("tests/test_far.py::test_far", lambda order: order.elsewhere)
    stage.bench.spoils = lambda order, raw: ever(order, passes(order, raw))
    assert stage.check(task=quiet).problems == (), "it did so before"


def test_a_test_file_that_the_runner_leaves_out_is_a_finding_of_its_own(stage: Stage) -> None:
    left_out = "class Rounded:\n    def test_it(self):\n        assert 1 == 2\n"
    found = stage.given_change({"shop.py": ROUNDED, "tests/test_more.py": left_out}).check()
    assert rules(found.problems) == ("nothing shows the new behaviour", "a test file is not run")
    assert "call the class Rounded TestRounded" in found.problems[1].text
    assert found.is_red, "the coder mends it where it is, before QA writes other tests"


def test_the_evidence_names_what_was_tested_with_what_and_where(stage: Stage) -> None:
    found = stage.given_change({"shop.py": ROUNDED, "tests/test_shop.py": NEW}).check()
    assert (found.commit, found.base) == (stage.branch.commit, stage.base)
    assert found.tree == stage.mirror.tree_id(stage.branch.commit)
    assert (found.command, found.box) == ("python -m pytest", "full small bench, k1")
    assert len(found.digest) == 64


def test_a_refactoring_needs_two_runs_and_the_second_time_one(stage: Stage) -> None:
    quiet = replace(TASK, title="Refactor the total")
    stage.given_change({"shop.py": SHOP.replace("prices", "all_prices")})
    assert stage.check(task=quiet).problems == stage.check(task=quiet).problems == ()
    assert stage.runs == [BASE, CHANGE, CHANGE]


def test_what_is_merged_as_it_was_tested_is_not_run_again_as_the_next_base(stage: Stage) -> None:
    stage.given_change({"shop.py": ROUNDED, "tests/test_shop.py": NEW}).check()
    merged = commit(stage.source, {})  # another commit, the same tree
    stage.mirror.fetch("main")
    assert merged != stage.branch.commit
    stage.base, stage.bench.orders = merged, []
    stage.given_change({"shop.py": ROUNDED + "# tidy\n"})
    assert stage.check(task=replace(TASK, title="Refactor the total")).problems == ()
    assert stage.runs == [CHANGE], "the base's lines are known, too"


def test_a_red_change_goes_back_without_being_compared_any_further(stage: Stage) -> None:
    found = stage.given_change({"shop.py": SHOP.replace("sum", "len"), "tests/test_shop.py": NEW}).check()
    assert stage.runs == [BASE, CHANGE, *RED_TWICE]
    assert rules(found.problems) == ("a test fails", "a new test fails"), "no word on what was not looked at"


def test_annotations_need_no_new_test(stage: Stage) -> None:
    found = stage.given_change({"shop.py": SHOP.replace("(prices):", "(prices: list[float]) -> float:")}).check()
    assert found.problems == ()


def test_the_base_is_run_again_for_another_command_or_another_environment(stage: Stage) -> None:
    stage.given_change({"shop.py": SHOP + "\n"}).check()
    stage.command = "make test"
    stage.check()
    assert stage.runs == [BASE, CHANGE, BASE, CHANGE]
    assert stage.bench.orders[-1].command == "make test"


def test_a_base_without_an_end_is_not_believed_a_second_time(stage: Stage) -> None:
    stage.bench.spoils = lambda order, raw: replace(raw, end="timed out")
    found = stage.given_change({"shop.py": ROUNDED}).check()
    assert [(problem.rule, problem.remedy) for problem in found.problems] == [("no evidence", "ask owner")]
    assert stage.book.runs == {} and found.output == "printed"


def test_a_broken_change_is_red_and_named(stage: Stage) -> None:
    found = stage.given_change({"shop.py": SHOP.replace("sum", "len")}).check()
    assert found.is_red and found.problems[0].rule == "a test fails"
    assert [failure.test for failure in found.failures] == ["tests/test_shop.py::test_sum"]
    assert stage.runs == [BASE, CHANGE, *RED_TWICE]


def test_a_test_that_was_bent_to_broken_code_is_found_by_the_old_one(stage: Stage) -> None:
    bent = {"shop.py": SHOP.replace("sum", "len"), "tests/test_shop.py": OLD.replace("== 3", "== 2")}
    found = stage.given_change(bent).check()
    assert "an old test fails on the new code" in rules(found.problems)
    assert found.failed == 0 and [failure.test for failure in found.failures] == ["tests/test_shop.py::test_sum"]


def test_a_deleted_test_file_is_gone_and_if_the_task_names_it_runs_once_more_on_the_new_code(stage: Stage) -> None:
    stage.given_change(
        {"shop.py": ROUNDED, "tests/test_new.py": NEW.replace("sum()", "other()").replace("[1, 2]", "[2, 1]")},
        remove=TESTS[0],
    )
    found = stage.check()
    assert rules(found.problems) == ("a test is gone",)
    assert stage.runs == [BASE, CHANGE], "it is red already"
    named = replace(TASK, changes_tests=("test_sum",))
    assert [one.remedy for one in stage.check(task=named).problems] == ["ask owner"]
    assert stage.runs[2:] == [CHANGE, RESTORED, *brought("tests/test_new.py")]
    assert stage.bench.orders[3].overlay == {"tests/test_new.py": None, TESTS[0]: OLD.encode()}


def test_a_test_with_another_name_is_not_gone_as_long_as_it_is_run(stage: Stage) -> None:
    renamed = OLD.replace("test_sum", "test_the_sum")
    assert stage.given_change({"tests/test_shop.py": renamed}).check().problems == ()
    away = Stage(stage.folder / "away", FILES).given_change({"tests/odd.txt": renamed}, remove=TESTS[0]).check()
    assert rules(away.problems) == ("a test is gone",)
    moved = Stage(stage.folder / "moved", FILES).given_change({"tests/unit/test_sum.py": renamed}, remove=TESTS[0])
    assert moved.check().problems == ()


def test_a_module_that_moved_is_asked_by_its_old_tests_under_its_new_name(stage: Stage) -> None:
    task = replace(TASK, title="Call it a store", kind=TaskKind.REFACTORING)
    moved = {"store.py": SHOP, "tests/test_shop.py": OLD.replace("from shop", "from store")}
    found = stage.given_change(moved, remove="shop.py").check(task=task)
    assert found.problems == () and stage.bench.orders[2].overlay == {TESTS[0]: moved[TESTS[0]].encode()}
    other = Stage(stage.folder / "other", FILES)
    bent = {**moved, "store.py": SHOP.replace("sum", "len"), TESTS[0]: moved[TESTS[0]].replace("== 3", "== 2")}
    assert "an old test fails on the new code" in rules(
        other.given_change(bent, remove="shop.py").check(task=task).problems
    )


def test_of_a_rename_that_is_asked_for_old_tests_ask_under_the_new_name(stage: Stage) -> None:
    task = replace(TASK, title="Rename total to whole", kind=TaskKind.REFACTORING)
    renamed = {"shop.py": SHOP.replace("total", "whole"), TESTS[0]: OLD.replace("total", "whole")}
    found = stage.given_change(renamed).check(task=task)
    assert found.problems == () and stage.bench.orders[2].overlay == {TESTS[0]: renamed[TESTS[0]].encode()}
    bent = {"shop.py": renamed["shop.py"].replace("sum", "len"), TESTS[0]: renamed[TESTS[0]].replace("== 3", "== 2")}
    for number, (change, words) in enumerate([(bent, task), (renamed, replace(task, title="Tidy up"))]):
        other = Stage(stage.folder / str(number), FILES).given_change(change)
        assert "an old test fails on the new code" in rules(other.check(task=words).problems)


def test_the_tests_of_a_module_go_with_it_if_the_owner_agrees_and_the_task_removes_it(tmp_path: Path) -> None:
    task = replace(TASK, title="Remove shop.py", description="Nobody sells any more.", kind=TaskKind.REMOVAL)
    other = {"tests/test_other.py": "def test_other():\n    assert 1 + 1 == 2\n"}
    for number, (title, remedy) in enumerate([("Remove shop.py", "ask owner"), ("Keep shop.py", "correct")]):
        stage = Stage(tmp_path / str(number), {**FILES, **other})
        stage.given_change({}, remove=f"shop.py {TESTS[0]}")
        found = stage.check(task=replace(task, title=title)).problems
        assert {one.rule: one.remedy for one in found}["a test is gone"] == remedy
        assert {one.remedy for one in found} == {remedy}


@pytest.mark.parametrize(("operands", "is_read"), [(100, True), (450, False), (900, False)])
def test_what_is_nested_too_deeply_to_be_read_is_the_owners(tmp_path: Path, operands: int, is_read: bool) -> None:
    before, after = (f"\n\ndef many(a):\n    return {' + '.join('a' * count)}\n" for count in (operands, operands + 1))
    stage = Stage(tmp_path, {**FILES, "shop.py": SHOP + before})
    found = stage.given_change({"shop.py": ROUNDED + after, TESTS[0]: NEW}).check().problems
    assert found == (() if is_read else (TOO_DEEP,))


def test_a_deleted_module_that_something_still_knows_goes_back_to_the_coder(tmp_path: Path) -> None:
    task = replace(TASK, title="Remove the old shop", kind=TaskKind.REMOVAL)
    stage = Stage(tmp_path, {**FILES, "old.py": SHOP, "use.py": "def use():\n    import old\n\n    return old\n"})
    found = stage.given_change({}, remove="old.py").check(task=task)
    assert [(one.rule, one.remedy) for one in found.problems] == [("what is deleted is still used", "correct")]
    assert found.problems[0].text == "old.py is deleted, and use.py still knows old"
    assert stage.given_change({}, remove="use.py").check(task=task).problems == ()


def test_a_new_conftest_has_all_old_tests_run_without_it(stage: Stage) -> None:
    found = stage.given_change({"shop.py": ROUNDED, "tests/conftest.py": "", "tests/test_new.py": NEW}).check()
    assert rules(found.problems) == ("test configuration changed",)
    assert stage.runs == [BASE, CHANGE, ALL_RESTORED, *brought("tests/test_new.py")]
    assert stage.bench.orders[2].overlay == {"tests/conftest.py": None, "tests/test_new.py": None}


# --- what new test files hide, and what depends on its surroundings ------------------------------------------

ACTS = "import os\n\nos.environ.setdefault('SHOP_ROUNDS', '1')\n"
OTHERWISE = {"shop.py": ROUNDED, "tests/test_round.py": NEW.replace("test_sum", "test_twice") + ACTS}
SUM, ROUND = "tests/test_shop.py::test_sum", "tests/test_round.py::test_rounded"


def failing(test: str, when: Callable[[SuiteOrder], bool]) -> Callable[[SuiteOrder, RawTestRun], RawTestRun]:
    """A bench where one test fails in some runs."""

    def spoiled(order: SuiteOrder, raw: RawTestRun) -> RawTestRun:
        lines = [json.loads(line) for line in (raw.report or b"").splitlines()]
        hit = [line for line in lines if line.get("test") == test and when(order)]
        for line in hit:
            line["outcome"] = "failed"
        lines[-1]["end"] = code = 1 if hit else raw.code
        return replace(raw, code=code, report="".join(json.dumps(line) + "\n" for line in lines).encode())

    return spoiled


def leaves_out_the_new(order: SuiteOrder) -> bool:
    return order.overlay.get("tests/test_round.py", b"") is None


def test_an_old_test_that_passes_only_beside_the_new_files_fails(stage: Stage) -> None:
    stage.bench.spoils = failing(SUM, leaves_out_the_new)
    found = stage.given_change(OTHERWISE).check()
    assert [(one.rule, one.remedy) for one in found.problems] == [("an old test fails on the new code", "correct")]
    assert found.problems[0].text == f"{SUM} passes only beside the new test files"


@pytest.mark.parametrize(
    ("test", "when", "told"),
    [
        pytest.param(SUM, lambda order, base: order.elsewhere and order.commit != base, True, id="an old one, now"),
        pytest.param(SUM, lambda order, base: order.elsewhere, False, id="an old one, as it did before"),
        pytest.param(ROUND, lambda order, base: order.elsewhere, True, id="a new one"),
    ],
)
def test_what_passes_here_alone_is_a_finding_if_the_change_brought_it(
    stage: Stage, test: str, when: Callable[[SuiteOrder, str], bool], told: bool
) -> None:
    stage.bench.spoils = failing(test, lambda order: when(order, stage.base))
    found = stage.given_change(OTHERWISE).check()
    assert ("a test depends on its surroundings" in rules(found.problems)) is told
    assert all(test in one.tests for one in found.problems if one.rule == "a test depends on its surroundings")


def test_what_always_fails_elsewhere_is_not_flaky_and_is_told_with_its_surroundings(stage: Stage) -> None:
    stage.bench.spoils = failing(SUM, lambda order: order.elsewhere)
    found = stage.given_change(OTHERWISE).check()
    assert (found.flaky, found.astray, found.problems) == ((), (SUM,), ())
    told = "fails in other surroundings (another time zone, hash seed and order of files), as before"
    assert f"{told}: {SUM}" in gate_text.evidence(found)


def test_what_fails_once_elsewhere_is_flaky_and_says_nothing(stage: Stage) -> None:
    seen: list[SuiteOrder] = []

    def first(order: SuiteOrder) -> bool:
        seen.extend([order] if order.elsewhere else [])
        return order.elsewhere and len(seen) == 1

    stage.bench.spoils = failing(SUM, first)
    assert stage.given_change(OTHERWISE).check().problems == ()


def test_a_changed_helper_of_the_tests_may_concern_all_of_them(tmp_path: Path) -> None:
    stage = Stage(tmp_path, {**FILES, "tests/data.json": "{}"})
    changed = {"tests/data.json": "[]", "shop.py": ROUNDED, "tests/test_new.py": NEW}
    assert stage.given_change(changed).check().problems == ()
    assert stage.runs == [BASE, CHANGE, ALL_RESTORED, *brought("tests/test_new.py")]


def test_where_tests_alone_are_changed_the_old_ones_are_not_asked_about_the_code_that_they_know(
    stage: Stage,
) -> None:
    """So a test that fails now and then can be mended: the old one may do so once more."""
    steady = OLD.replace("assert total", "found = total").replace(" == 3", "\n    assert found == 3")
    assert stage.given_change({"tests/test_shop.py": steady}).check().problems == ()
    assert stage.runs == [BASE, CHANGE]


def test_a_change_without_a_test_is_sent_to_write_one(stage: Stage) -> None:
    found = stage.given_change({"shop.py": ROUNDED}).check()
    assert [(problem.rule, problem.remedy) for problem in found.problems] == [
        ("nothing shows the new behaviour", "write tests")
    ]
    assert not found.is_red


def test_a_weakened_test_is_named_though_everything_passes(stage: Stage) -> None:
    weak = NEW.replace("assert total([1, 2]) == 3", "assert total([1, 2])")
    found = stage.given_change({"shop.py": ROUNDED, "tests/test_shop.py": weak}).check()
    assert rules(found.problems) == ("tests are weaker",)
    assert found.problems[0].text.startswith("tests/test_shop.py:3 test_sum: ")


def test_a_test_file_that_is_no_text_is_weaker(stage: Stage) -> None:
    path = stage.source / "tests/test_shop.py"
    path.write_bytes(OLD.encode() + b"# \xff\n")
    assert "tests are weaker" in rules(stage.given_change({}).check().problems)


@pytest.mark.parametrize(
    ("on_change", "on_base", "told"),
    [
        pytest.param((1,), (), False, id="once, and never again: a busy machine"),
        pytest.param((1, 4), (), True, id="now and then"),
        pytest.param((1, 4), (3,), False, id="now and then, but without the change, too"),
    ],
)
def test_an_old_test_that_fails_now_and_then_is_the_owners_if_the_base_has_it_steady(
    stage: Stage, on_change: Collection[int], on_base: Collection[int], told: bool
) -> None:
    """Speed is tested with limits; a test that only a change makes shaky fails again soon."""
    seen = Counter[str]()

    def shaky(order: SuiteOrder) -> bool:
        seen[order.commit] += 1
        return seen[order.commit] in (on_base if order.commit == stage.base else on_change)

    stage.bench.spoils = failing(SUM, shaky)
    found = stage.given_change({"shop.py": SHOP + "\n"}).check(task=replace(TASK, title="Refactor the total"))
    assert found.flaky == (SUM,) and not found.is_red
    assert ("an old test is flaky now" in rules(found.problems)) is told


@pytest.mark.parametrize(
    ("is_seen", "runs"),
    [
        pytest.param(lambda order: True, 2, id="it waits for a second, and the machine is busier than it was"),
        pytest.param(lambda order: bool(order.only), 2, id="alone it misses what other tests leave"),
        pytest.param(lambda order: not order.only, 1, id="its file passes on the base"),
    ],
)
def test_an_old_test_that_fails_twice_is_asked_of_the_base_once_more(
    stage: Stage, is_seen: Callable[[SuiteOrder], bool], runs: int
) -> None:
    seen = Counter[str]()

    def slower(order: SuiteOrder) -> bool:
        seen[order.commit] += 1
        return is_seen(order) if order.commit == stage.base and seen[order.commit] > 1 else order.commit != stage.base

    stage.bench.spoils = failing(SUM, slower)
    found = stage.given_change({"shop.py": SHOP + "\n"}).check(task=replace(TASK, title="Refactor the total"))
    is_excused = all(is_seen(SuiteOrder("base", "pytest", only=only)) for only in ((), TESTS))
    assert found.is_red is not is_excused and found.failing_before == int(is_excused)
    assert stage.runs[3 : 3 + runs] == [("base", TESTS, False), ("base", (), False)][:runs]
    assert all("failed" not in run.outcomes.values() for run in stage.book.runs.values()), "no later change is excused"


def test_a_new_test_that_is_too_slow_only_while_lines_are_counted_is_proof(stage: Stage) -> None:
    stage.bench.spoils = failing(ROUND, lambda order: order.cover)
    found = stage.given_change(OTHERWISE).check()
    assert (found.flaky, found.proving, found.problems) == ((ROUND,), (ROUND,), ())


def test_a_new_test_that_failed_once_is_for_its_writer_to_mend(stage: Stage) -> None:
    """It is not excused as an old one is: nobody has seen it pass before."""
    seen = Counter[str]()

    def once(order: SuiteOrder) -> bool:
        seen[order.commit] += 1
        return order.commit != stage.base and seen[order.commit] == 1

    stage.bench.spoils = failing(ROUND, once)
    found = stage.given_change(OTHERWISE).check()
    assert found.flaky == (ROUND,) and "a new test is flaky" in rules(found.problems) and found.is_red


def test_of_each_file_it_is_told_what_tests_run_of_it_before_and_now() -> None:
    def counted(*missed: int, every: int = 9) -> SuiteRun:
        files = {"a.py": missed, "b.py": (1,)}
        return SuiteRun("finished", 0, covered=90.0, uncovered=files, executable={"a.py": every, "b.py": 4})

    assert list(reach(counted(1, 2, 3), counted(2))) == ["a.py: tests run 8 of 9 lines, 6 of 9 before"]
    assert list(reach(counted(1), counted(1))) == []
    assert list(reach(SuiteRun("finished", 0, covered=1.0), counted())) == [
        "a.py: tests run 9 of 9 lines",
        "b.py: tests run 3 of 4 lines",
    ]
    assert list(reach(SuiteRun("finished", 0), counted())) == [], "nothing was counted"


CASES = """from shop import total

def tries(prices, expected):
    def case():
        assert total(prices) == expected
    return case

globals().update({f"test_{n}": tries(*case) for n, case in enumerate(eval(read("tests/cases.txt")))})
"""


@pytest.mark.parametrize(
    ("cases", "proving", "rule"),
    [
        ("([1, 2], 3), ([0.1, 0.2], 0.3)", ("tests/test_cases.py::test_1",), ()),
        ("([1, 2], 3), ([2, 2], 4)", (), ("nothing shows the new behaviour",)),
    ],
)
def test_tests_that_are_made_of_data_count_as_those_that_are_written(
    tmp_path: Path, cases: str, proving: Sequence[str], rule: Sequence[str]
) -> None:
    stage = Stage(tmp_path, {**FILES, "tests/test_cases.py": CASES, "tests/cases.txt": "([1, 2], 3),"})
    found = stage.given_change({"shop.py": ROUNDED, "tests/cases.txt": cases}).check()
    assert (found.proving, rules(found.problems)) == (proving, rule)


def test_a_repository_without_tests_is_the_owners_and_nothing_is_run(tmp_path: Path) -> None:
    stage = Stage(tmp_path, {"shop.py": SHOP}).given_change({"shop.py": ROUNDED})
    found = stage.check()
    assert [(problem.rule, problem.remedy) for problem in found.problems] == [("there are no tests", "ask owner")]
    assert stage.runs == [] and found.command == ""


def test_the_first_tests_of_a_repository_are_run(tmp_path: Path) -> None:
    stage = Stage(tmp_path, {"shop.py": SHOP}).given_change({"shop.py": ROUNDED, "tests/test_shop.py": NEW})
    found = stage.check()
    assert found.problems == () and found.proving == ("tests/test_shop.py::test_rounded",)


def test_a_change_does_not_choose_its_own_command(tmp_path: Path) -> None:
    stage = Stage(tmp_path, {**FILES, "manage.py": ""}).given_change({"shop.py": ROUNDED, "pytest.ini": "[pytest]\n"})
    assert stage.check().command == "python manage.py test"


def test_pytest_in_pyproject_is_how_a_django_project_is_tested(tmp_path: Path) -> None:
    files = {**FILES, "manage.py": "", "pyproject.toml": "[tool.pytest.ini_options]\n"}
    assert Stage(tmp_path, files).given_change({"shop.py": ROUNDED}).check().command == "python -m pytest"


def test_a_shell_script_is_checked_by_its_tools_and_no_unit_test_of_it_is_asked_for(tmp_path: Path) -> None:
    stage = Stage(tmp_path, FILES).given_change({"run.sh": "echo sum\n"})
    evidence = stage.check()
    assert [run.name for run in evidence.tools] == ["bash -n", "shellcheck"] and evidence.problems == ()
    assert {order.command.count("run.sh") for order in stage.bench.orders if order.programs} == {1}
    also_code = stage.given_change({"shop.py": ROUNDED}).check()
    assert "nothing shows the new behaviour" in rules(also_code.problems), "of code tests are asked for as ever"


# --- environments --------------------------------------------------------------------------------------------


def test_a_change_that_breaks_its_environment_is_sent_back(stage: Stage) -> None:
    stage.given_change({"requirements.txt": "nothing==0\n"})
    stage.bench.broken = frozenset({stage.branch.commit})
    found = stage.check()
    assert [(problem.rule, problem.remedy) for problem in found.problems] == [
        ("the environment cannot be built", "correct")
    ]
    assert found.problems[0].text == "pip says no; correct requirements.txt"
    assert found.box == "full small bench, k1"


def test_a_base_without_an_environment_is_the_owners_to_mend(stage: Stage) -> None:
    stage.given_change({"shop.py": ROUNDED})
    stage.bench.broken = frozenset({stage.base, stage.branch.commit})
    with pytest.raises(BrokenSetup):
        stage.check()


@pytest.mark.parametrize("end", ["stopped", "machine"])
def test_a_run_that_we_ended_ourselves_says_nothing(stage: Stage, end: str) -> None:
    stage.bench.spoils = lambda order, raw: replace(raw, end=end)
    with pytest.raises(Unavailable):
        stage.given_change({"shop.py": ROUNDED}).check()
    assert stage.book.runs == {}


def test_a_reduced_sandbox_is_named_first(stage: Stage) -> None:
    stage.bench.quality = "reduced"
    assert stage.given_change({"shop.py": ROUNDED}).check().box.startswith("reduced ")


# --- coverage ------------------------------------------------------------------------------------------------


def test_less_coverage_by_the_changes_own_lines_is_named_with_them(stage: Stage) -> None:
    def count(order: SuiteOrder, raw: RawTestRun) -> RawTestRun:
        share = 90.0 if order.commit == stage.base else 60.0
        counted = {"totals": {"percent_covered": share}, "files": {"shop.py": {"missing_lines": [1, 2, 9]}}}
        return replace(raw, coverage=json.dumps(counted).encode() if order.cover else None)

    stage.bench.spoils = count
    found = stage.given_change({"shop.py": ROUNDED, "tests/test_shop.py": NEW}).check()
    assert (found.covered, found.covered_before, found.uncovered) == (60.0, 90.0, {"shop.py": (2,)})
    assert rules(found.problems) == ("coverage drops",) and "shop.py:2" in found.problems[0].text


def counting(missing: Mapping[str, list[int]]) -> Callable[[SuiteOrder, RawTestRun], RawTestRun]:
    """Lines of shop.py that no test runs, by the commit's name or, for the old files with new tests, "unchanged"."""

    def count(order: SuiteOrder, raw: RawTestRun) -> RawTestRun:
        name = "unchanged" if order.only else order.commit
        counted = {"totals": {"percent_covered": 90.0}, "files": {"shop.py": {"missing_lines": missing.get(name, [])}}}
        return replace(raw, coverage=json.dumps(counted).encode() if order.cover else None)

    return count


REFACTORED = SHOP.replace("prices", "all_prices")
KEPT = ("nothing shows that it changes nothing", "write tests")


@pytest.mark.parametrize("side", ["base", "commit"])
def test_a_refactoring_of_lines_that_no_test_runs_is_sent_to_write_one(stage: Stage, side: str) -> None:
    stage.given_change({"shop.py": REFACTORED})
    stage.bench.spoils = counting({stage.base if side == "base" else stage.branch.commit: [2]})
    found = stage.check(task=replace(TASK, title="Refactor the total"))
    assert [(one.rule, one.remedy) for one in found.problems] == [KEPT]
    assert ("shop.py:2 (before)" if side == "base" else "shop.py:2") in found.problems[0].text


def test_the_order_for_a_refactoring_asks_for_what_was(stage: Stage) -> None:
    stage.given_change({"shop.py": REFACTORED})
    stage.bench.spoils = counting({stage.base: [2]})
    quiet = replace(TASK, title="Refactor the total")
    order = stage.qa.tests_for(quiet, stage.branch, stage.check(task=quiet))
    assert "shop.py:2 (before)" in order.description and "must fail without" not in order.description
    assert order.acceptance[-1].endswith("holds tests that pass, with the change and without it")


def test_tests_that_run_the_old_lines_too_show_that_nothing_changed(stage: Stage) -> None:
    kept = "from shop import total\n\ndef test_more():\n    assert total([5]) == 5\n"
    stage.given_change({"shop.py": REFACTORED, "tests/test_more.py": kept})
    quiet = replace(TASK, title="Refactor the total")
    stage.bench.spoils = counting({stage.base: [2]})
    assert stage.check(task=quiet).problems == ()
    assert stage.bench.orders[-1].cover, "the old lines are counted under the new tests"
    stage.bench.spoils = counting({stage.base: [2], "unchanged": [2]})
    assert rules(stage.check(task=quiet).problems) == (KEPT[0],)


PINNED = "from shop import total\n\ndef test_more():\n    assert total([5]) == 5\n"


@pytest.mark.parametrize(
    ("lost", "remedy"),
    [
        pytest.param({"base", "change", "unchanged"}, "ask owner", id="the target counts by itself"),
        pytest.param({"change"}, "ask owner", id="the change loses what was counted"),
        pytest.param({"base", "unchanged"}, "write tests", id="only the base is not counted"),
        pytest.param({"base"}, "", id="new tests run the old lines, and are counted"),
        pytest.param({"unchanged"}, "", id="the base says enough"),
    ],
)
def test_lines_that_nobody_counted_are_not_taken_as_run(stage: Stage, lost: set[str], remedy: str) -> None:
    stage.given_change({"shop.py": REFACTORED, "tests/test_more.py": PINNED})

    def lose(order: SuiteOrder, raw: RawTestRun) -> RawTestRun:
        name = "unchanged" if order.only else "base" if order.commit == stage.base else "change"
        return replace(raw, coverage=None) if name in lost else raw

    stage.bench.spoils = lose
    found = stage.check(task=replace(TASK, title="Refactor the total")).problems
    assert [(one.rule, one.remedy) for one in found] == ([(KEPT[0], remedy)] if remedy else [])
    side = "change" if "change" in lost else "base"
    assert all(f"were not counted on the {side}: shop.py:" in one.text for one in found)


def test_without_a_count_the_same_code_and_what_is_moved_or_dead_need_no_run(tmp_path: Path) -> None:
    dead = SHOP + "\n\n# of old times\ndef _old(x):\n    return x\n"
    stage = Stage(tmp_path, {**FILES, "shop.py": dead, "pay.py": SHOP.replace("prices", "bills")})
    stage.given_change(
        {"shop.py": SHOP, "pay.py": SHOP.replace("prices", "bills").replace("(bills):", "(bills: list):")}
    )
    stage.bench.spoils = lambda order, raw: replace(raw, coverage=None)
    assert stage.check().problems == ()


def test_code_that_is_known_to_do_the_same_need_not_be_run(stage: Stage) -> None:
    stage.given_change({"shop.py": SHOP.replace("(prices):", "(prices: list[float]) -> float:")})
    stage.bench.spoils = counting({stage.base: [1, 2], stage.branch.commit: [1, 2]})
    assert stage.check().problems == ()


@pytest.mark.parametrize(("end", "remedy"), [("timed out", "ask owner"), ("exited", "correct")])
def test_a_refactoring_on_a_base_without_tests_or_without_an_end_is_no_error(
    tmp_path: Path, end: str, remedy: str
) -> None:
    stage = Stage(tmp_path, {"shop.py": SHOP, "tests/test_shop.py": ""}).given_change({"shop.py": REFACTORED})
    count = counting({stage.base: [2]})
    stage.bench.spoils = lambda order, raw: replace(count(order, raw), end=end)
    found = stage.check(task=replace(TASK, title="Refactor the total"))
    assert [(one.rule, one.remedy) for one in found.problems] == [("no evidence", remedy)]


def test_what_is_taken_away_is_named_if_no_test_ran_it(tmp_path: Path) -> None:
    guarded = SHOP.replace("    return", "    if not prices:\n        raise ValueError\n    return")
    stage = Stage(tmp_path, {**FILES, "shop.py": guarded}).given_change({"shop.py": SHOP})
    stage.bench.spoils = counting({stage.base: [3]})
    assert "shop.py:3 (before)" in stage.check().problems[0].text


# --- what tests rely on --------------------------------------------------------------------------------------

READING = OLD.replace("== 3", "== int('3' or 'expected/total.csv')")


def test_expected_values_outside_of_the_tests_are_laid_back_under_the_new_code(tmp_path: Path) -> None:
    files = {**FILES, "tests/test_shop.py": READING, "expected/total.csv": "3\n"}
    stage = Stage(tmp_path, files).given_change({"shop.py": REFACTORED, "expected/total.csv": "4\n"})
    stage.check(task=replace(TASK, title="Refactor the total"))
    assert stage.bench.orders[-1].overlay == {"expected/total.csv": b"3\n"}
    assert stage.runs == [BASE, CHANGE, ("commit", (), False)]


def test_a_change_does_not_claim_expected_values_by_naming_them(tmp_path: Path) -> None:
    files = {**FILES, "tests/test_shop.py": READING, "expected/total.csv": "3\n"}
    claimed = {"shop.py": REFACTORED + "\n\nFILE = 'expected/total.csv'\n", "expected/total.csv": "4\n"}
    stage = Stage(tmp_path, files).given_change(claimed)
    stage.check()
    assert stage.bench.orders[-1].overlay == {"expected/total.csv": b"3\n"}


def test_a_data_file_of_the_product_is_its_own_though_tests_name_it(tmp_path: Path) -> None:
    shop = SHOP + "\n\nFILE = 'expected/total.csv'\n"
    files = {**FILES, "shop.py": shop, "tests/test_shop.py": READING, "expected/total.csv": "3\n"}
    stage = Stage(tmp_path, files).given_change({"expected/total.csv": "4\n"})
    assert rules(stage.check().problems) == ("nothing shows the new behaviour",)


def test_newer_versions_with_their_lock_ask_nobody_for_a_test_and_the_owner_is_told_which(tmp_path: Path) -> None:
    old = {"requirements.in": "toml.kit>=0.10\n", "requirements.txt": "toml.kit==0.10\n"}
    stage = Stage(tmp_path, {**FILES, **old})
    stage.given_change({"requirements.in": "toml.kit>=0.11\n", "requirements.txt": "toml.kit==0.11\n"})
    (problem,) = stage.check(task=replace(TASK, title="Update toml.kit", kind=TaskKind.FEATURE)).problems
    assert problem.remedy == "ask owner"
    assert "toml-kit from >=0.10 to >=0.11 (requirements.in), toml-kit from 0.10 to 0.11" in problem.text
    stage.given_change({"requirements.in": "toml.kit>=0.12\n", "shop.py": ROUNDED})
    assert "nothing shows the new behaviour" in rules(stage.check().problems), "code with it is asked for its tests"


def test_a_test_goes_with_its_subject_and_the_owner_is_asked(tmp_path: Path) -> None:
    fee = SHOP + "\n\ndef fee(x):\n    return x\n"
    tests = OLD.replace("import total", "import fee").replace("total([1, 2])", "fee(3)")
    stage = Stage(tmp_path, {**FILES, "shop.py": fee, "tests/test_fee.py": tests})
    stage.given_change({"shop.py": SHOP}, remove="tests/test_fee.py")
    found = stage.check(task=replace(TASK, title="Remove the fee", description="Remove `fee` and its test."))
    assert {(one.rule, one.remedy) for one in found.problems} == {
        ("a test is gone", "ask owner"),
        ("an old test fails on the new code", "ask owner"),
    }
    assert stage.check(task=TASK).is_red


def test_a_rename_is_no_rename_if_another_file_knows_the_name(tmp_path: Path) -> None:
    shop = SHOP + "\n\ndef _fee(x):\n    return x\n"
    files = {**FILES, "shop.py": shop, "pay.py": "import shop\n\nprint(shop._fee(1))\n"}
    stage = Stage(tmp_path, files).given_change({"shop.py": shop.replace("_fee", "_cost")})
    assert rules(stage.check().problems) == ("nothing shows the new behaviour",)


# --- tests that we wrote -------------------------------------------------------------------------------------

WRITTEN = "from shop import total\n\ndef test_rounded():\n    assert total([0.1, 0.2]) == 0.3\n"
LAX = "from shop import total\n\ndef test_rounded():\n    assert str(total([0.1, 0.2]))[2:] == '3' or total is None\n"
STEPS = """\
def total(prices):
    if prices == [1, 2]:
        return 3
    if len(prices) > 40:
        return 1 + 1
    return round(sum(prices), 2)
"""


def test_written_tests_are_tried_with_planted_faults(stage: Stage) -> None:
    stage.given_change({"shop.py": ROUNDED, "tests/test_round.py": WRITTEN})
    assert stage.check(written=["tests/test_round.py"]).problems == ()
    tried_faults = stage.runs[4:]
    assert tried_faults == [("commit", ("tests/test_round.py",), False)] * len(tried_faults) and tried_faults
    assert {tuple(order.overlay) for order in stage.bench.orders[4:]} == {("shop.py",)}


def test_written_tests_that_miss_most_faults_are_to_be_corrected(stage: Stage) -> None:
    stage.given_change({"shop.py": STEPS, "tests/test_round.py": WRITTEN})
    found = stage.check(written=["tests/test_round.py"])
    assert rules(found.problems) == ("the written tests do not notice faults",) and found.is_red
    assert "shop.py:3 returns None" in found.problems[0].text or "shop.py:4" in found.problems[0].text


CALLS = "[total(prices) for prices in ([1, 2], [1] * 41, [1] * 40)]"
BY_STEPS = f"from shop import total\n\n\ndef test_steps():\n    assert {CALLS} == [3, 2, 40]\n"


def test_what_the_tests_of_the_change_hold_need_not_be_held_twice(stage: Stage) -> None:
    stage.given_change({"shop.py": STEPS, "tests/test_round.py": WRITTEN, "tests/test_steps.py": BY_STEPS})
    assert stage.check(written=["tests/test_round.py"]).problems == ()
    lazy = "from shop import total\n\ndef test_lazy():\n    assert str(total([1])) != 'x'\n"
    stage.given_change({"shop.py": STEPS, "tests/test_round.py": lazy, "tests/test_steps.py": BY_STEPS})
    found = stage.check(written=["tests/test_round.py"])
    assert "the written tests do not notice faults" in rules(found.problems)


def test_of_what_alters_nothing_only_the_lines_that_no_other_test_ran_have_to_be_noticed(stage: Stage) -> None:
    """What old tests run on both sides is held by them; faults there would be asked of who wrote about other lines."""
    quiet, shown = replace(TASK, title="Refactor the total"), SHOP.replace("sum(prices)", "sum([*prices])")
    stage.given_change({"shop.py": shown, "tests/test_round.py": OLD.replace("test_sum", "test_more")})

    def faults(unrun: Mapping[str, Sequence[int]]) -> int:
        stage.bench.orders.clear()
        stage.qa.check(RUN, quiet, stage.branch, ["tests/test_round.py"], unrun)
        return sum("shop.py" in order.overlay for order in stage.bench.orders)

    assert faults({}) == faults({"shop.py": (2,)}) > 0
    assert faults({"shop.py": (1,)}) == 0


def test_tests_of_the_coder_need_not_notice_most_faults(stage: Stage) -> None:
    stage.given_change({"shop.py": STEPS, "tests/test_round.py": WRITTEN})
    assert not stage.check().is_red and len(stage.runs) == 4


# --- small faults in the changed lines -----------------------------------------------------------------------

FEW = "def total(prices):\n    if len(prices) > 3:\n        return 0\n    return sum(prices)\n"
FAR = OLD + "\ndef test_many():\n    assert total([1] * 9) == 0\n"
NEAR = FAR + "\ndef test_edge():\n    assert total([1] * 3) == 3 and total([1] * 4) == 0\n"
EDGE_LINE = "no test notices if line 2 of shop.py is another: > became >=, 3 became 4"


def test_an_edge_that_no_test_stands_on_is_told_and_needs_a_test(stage: Stage) -> None:
    found = stage.given_change({"shop.py": FEW, "tests/test_shop.py": FAR}).check()
    assert rules(found.problems) == (EDGE,) and found.problems == found.needing("write tests")
    assert found.unheld == (EDGE_LINE,) and found.faults == "2 of 4 small faults in changed lines are noticed"
    assert stage.runs == [BASE, CHANGE, *brought(*TESTS)], "a run with a fault is none of the suite"
    assert {tuple(order.overlay) for order in stage.bench.faults} == {("shop.py",)}


def test_where_tests_hold_every_changed_line_nothing_is_told(stage: Stage) -> None:
    found = stage.given_change({"shop.py": FEW, "tests/test_shop.py": NEAR}).check()
    assert (found.problems, found.unheld) == (
        (),
        (),
    ) and found.faults == "4 of 4 small faults in changed lines are noticed"


def test_qa_is_asked_for_a_test_on_the_edge_once(stage: Stage) -> None:
    stage.given_change({"shop.py": FEW, "tests/test_far.py": FAR})
    found = stage.check(written=["tests/test_far.py"])
    assert found.problems == () and found.unheld == (EDGE_LINE,)


def test_a_value_that_no_test_holds_is_only_told(stage: Stage) -> None:
    apart = ROUNDED.replace("prices), 2", "prices), 7")
    found = stage.given_change({"shop.py": apart, "tests/test_shop.py": NEW}).check()
    assert found.problems == () and found.unheld == ("no test notices if line 2 of shop.py is another: 7 became 8",)


LIMITED = "def total(prices):\n    if len(prices) > 90:\n        raise ValueError\n    return sum(prices)\n"
AT_LIMIT = OLD + "\ndef test_many():\n    assert total([1] * 89) == 89\n"


def test_a_check_that_is_gone_where_nothing_is_to_change_needs_a_test(tmp_path: Path) -> None:
    stage = Stage(tmp_path, {**FILES, "shop.py": LIMITED}).given_change({"shop.py": LIMITED.replace(" > ", " >= ")})
    quiet = replace(TASK, title="Refactor the total", kind=TaskKind.REFACTORING)
    found = stage.check(task=quiet)
    moved = "90 < len(prices) became 90 <= len(prices) in total, line 1 of shop.py"
    assert rules(found.problems) == (UNCHANGED,) and moved in found.problems[0].text
    assert found.problems == found.needing("write tests")
    stage.given_change({"shop.py": LIMITED.replace(" > ", " >= "), "tests/test_many.py": AT_LIMIT})
    written = stage.check(task=quiet, written=["tests/test_many.py"])
    assert written.problems == () and moved in written.unheld, "QA is asked once; then the reviewer hears of it"


def test_a_value_that_only_the_changes_own_test_knows_needs_another_test(stage: Stage) -> None:
    """The fix of the one value that is tested."""
    capped = "def total(prices):\n    return min(sum(prices), 28)\n"
    test = OLD + "\ndef test_cap():\n    assert total([31]) == 28\n"
    stage.given_change({"shop.py": capped, "tests/test_shop.py": test})
    assert rules(stage.check().needing("write tests")) == (EDGE,)
    assert stage.check(task=replace(TASK, description="A total is 28 at most.")).problems == ()


def test_no_fault_is_planted_in_what_is_red_or_where_lines_are_not_counted(stage: Stage) -> None:
    stage.given_change({"shop.py": FEW.replace("sum", "len"), "tests/test_shop.py": FAR}).check()
    stage.bench.spoils = lambda _, raw: replace(raw, coverage=None)
    found = stage.given_change({"shop.py": FEW, "tests/test_shop.py": FAR}).check()
    assert stage.bench.faults == [] and found.faults == ""


def test_lines_that_no_test_runs_and_the_same_code_get_no_fault(stage: Stage) -> None:
    stage.given_change({"shop.py": FEW, "tests/test_shop.py": FAR})
    counts(stage, [], [3])
    stage.check()
    assert {(order.overlay["shop.py"] or b"").splitlines()[2] for order in stage.bench.faults} == {b"        return 0"}
    stage.bench.faults.clear()
    stage.given_change({"shop.py": SHOP + "# the total\n"}).check(task=replace(TASK, title="Refactor the total"))
    assert stage.bench.faults == []


def test_faults_take_their_share_of_time_and_no_more(stage: Stage) -> None:
    stage.given_change({"shop.py": FEW, "tests/test_shop.py": NEAR})
    stage.bench.spoils = lambda order, raw: replace(raw, seconds=4.0 if order.limit else 30.0)
    assert stage.check().faults == "" and stage.bench.faults == [], "a run may take longer than the share of it"
    stage.bench.spoils = lambda order, raw: replace(raw, seconds=4.0 if order.limit else 2.0)
    assert stage.check().faults.startswith("2 of 2 small faults")
    assert [order.limit for order in stage.bench.faults] == [15.0, 15.0], "one that hangs is ended"


def test_what_a_fault_does_to_its_run_is_noticed_and_an_interruption_says_nothing(stage: Stage) -> None:
    stage.given_change({"shop.py": FEW, "tests/test_shop.py": FAR})
    stage.bench.spoils = lambda order, raw: replace(raw, end="timed out") if order.limit else raw
    assert stage.check().faults.startswith("4 of 4")
    stage.bench.spoils = lambda order, raw: replace(raw, end="killed") if order.limit else raw
    assert stage.check().problems == () and len(stage.bench.faults) == 5


def test_a_new_test_that_shows_nothing_is_corrected_in_its_file(stage: Stage) -> None:
    mute = "from shop import total\n\ndef test_more():\n    assert total([2, 2]) == 4\n"
    stage.given_change({"shop.py": ROUNDED, "tests/test_more.py": mute})
    found = stage.check()
    assert rules(found.problems) == ("nothing shows the new behaviour",)
    order = stage.qa.tests_for(TASK, stage.branch, found)
    assert (order.files, order.new_files) == (("tests/test_more.py",), ())


def test_missing_tests_are_ordered_in_the_repositorys_style(stage: Stage) -> None:
    stage.given_change({"shop.py": ROUNDED})
    order = stage.qa.tests_for(TASK, stage.branch, stage.check())
    assert (order.files, order.new_files) == ((), ("tests/test_shop_total.py",))
    assert order.context == ("shop.py", "tests/test_shop.py")


def test_a_file_that_another_task_is_to_create_is_left_to_it(stage: Stage) -> None:
    stage.given_change({"shop.py": ROUNDED})
    order = stage.qa.tests_for(TASK, stage.branch, stage.check(), {"tests/test_shop_total.py"})
    assert order.new_files == ("tests/test_shop_2.py",)


# --- suites as they should not be ----------------------------------------------------------------------------

RED = "from shop import total\n\ndef test_cents():\n    assert total([0.5]) == 1\n"


def test_a_suite_that_is_red_on_main_excuses_what_was_red_and_nothing_else(tmp_path: Path) -> None:
    stage = Stage(tmp_path, {**FILES, "tests/test_cents.py": RED})
    found = stage.given_change({"shop.py": ROUNDED, "tests/test_more.py": NEW.replace("sum()", "more()")}).check()
    assert (found.problems, found.failed, found.failing_before) == ((), 1, 1)
    assert list(found.compared.told()) == [("failed before the change, fails now", found.compared.still)]
    assert found.failures == () and [one.test for one in found.still] == ["tests/test_cents.py::test_cents"]
    assert found.still[0].text.startswith("AssertionError"), "why, also of what the change is not to blame for"
    worse = stage.given_change({"shop.py": SHOP.replace("sum", "len")}).check()
    assert [one.tests for one in worse.problems if one.rule == "a test fails"] == [(SUM,)]


def test_a_suite_that_is_flaky_on_main_excuses_no_failure(stage: Stage) -> None:
    first: list[SuiteOrder] = []

    def now_and_then(order: SuiteOrder, raw: RawTestRun) -> RawTestRun:
        first.append(order)
        return failing(SUM, lambda _: len(first) == 1)(order, raw)

    stage.bench.spoils = now_and_then
    found = stage.given_change({"shop.py": SHOP.replace("sum", "len")}).check()
    assert found.failing_before == 0 and [one.tests for one in found.problems] == [(SUM,)]


def test_a_suite_that_is_empty_on_main_begins_with_the_changes_tests(tmp_path: Path) -> None:
    stage = Stage(tmp_path, {"shop.py": SHOP, "tests/test_shop.py": ""})
    found = stage.given_change({"shop.py": ROUNDED, "tests/test_new.py": NEW}).check()
    assert found.problems == () and found.proving == ("tests/test_new.py::test_rounded",)


@pytest.mark.parametrize("seconds", [1.0, 3_000.0])
def test_a_test_that_passes_only_alone_fails_and_is_no_proof(stage: Stage, seconds: float) -> None:
    only_alone = failing("tests/test_new.py::test_rounded", lambda order: not order.only)
    stage.bench.spoils = lambda order, raw: only_alone(order, timed(order, raw, seconds))
    found = stage.given_change({"shop.py": ROUNDED, "tests/test_new.py": NEW.replace("sum()", "new()")}).check()
    assert rules(found.problems) == ("a new test fails",) and found.proving == ()


def test_where_more_test_files_are_changed_than_a_run_can_be_told_all_are_run(stage: Stage) -> None:
    body = "():\n    assert total([0.1, 0.2]) == 0.3\n"
    folder = f"tests/{'x' * 200}/{'x' * 200}"
    files = {f"{folder}/test_{n}.py": f"from shop import total\n\ndef test_{n}{body}" for n in range(260)}
    assert len(json.dumps([*files])) > 100_000
    stage.given_change({**files, "shop.py": ROUNDED, "tests/test_new.py": NEW.replace("sum()", "new()")})
    assert stage.check().problems == ()
    assert all(len(json.dumps(order.only)) < 100_000 for order in stage.bench.orders)


@pytest.mark.parametrize("product", [SHOP, ROUNDED], ids=["tests alone", "with a fix"])
def test_a_suite_that_moves_as_a_whole_is_not_gone(tmp_path: Path, product: str) -> None:
    more = OLD.replace("test_sum", "test_more")
    stage = Stage(tmp_path, {**FILES, "tests/test_more.py": more})
    moved = {"suite/test_shop.py": OLD, "suite/test_more.py": more}
    fix = {"shop.py": ROUNDED, "suite/test_new.py": NEW.replace("sum()", "new()")} if product != SHOP else {}
    (stage.source / "tests" / "test_more.py").unlink()
    assert stage.given_change({**moved, **fix}, remove=TESTS[0]).check().problems == ()


# --- the branch as it is, without any change -----------------------------------------------------------------


def test_a_commit_of_the_branch_is_run_once_and_its_run_serves_the_changes_on_top_of_it(stage: Stage) -> None:
    first = stage.qa.base(RUN, stage.base)
    assert first.of("passed") == {"tests/test_shop.py::test_sum"} and first.covered == 100.0
    assert stage.qa.base(RUN, stage.base) == first and len(stage.runs) == 1
    stage.given_change({"shop.py": ROUNDED, "tests/test_shop.py": NEW})
    stage.check()
    assert stage.runs.count(BASE) == 1
    assert stage.qa.base(RUN, stage.branch.commit).of("passed") > first.of("passed")


def test_what_stands_on_no_branch_is_run_once_and_not_told_as_the_branchs_own(stage: Stage) -> None:
    stage.given_change({"shop.py": ROUNDED, "tests/test_shop.py": NEW})
    top = stage.branch.commit
    assert stage.qa.together(RUN, top) == stage.qa.together(RUN, top) and len(stage.runs) == 1
    assert stage.book.told == []
    assert stage.qa.base(RUN, top).is_whole and len(stage.runs) == 1, "merged as it is, it needs no run"
    assert len(stage.book.told) == 1


def test_a_branch_without_tests_needs_no_run(tmp_path: Path) -> None:
    stage = Stage(tmp_path, {"shop.py": SHOP})
    assert stage.qa.base(RUN, stage.base).end == "no tests" and stage.runs == []


def test_a_run_of_the_branch_without_an_end_is_told_and_not_kept(stage: Stage) -> None:
    stage.bench.spoils = lambda order, raw: replace(raw, end="timed out")
    assert stage.qa.base(RUN, stage.base).end == "timed out" and not stage.book.runs
    stage.bench.broken = frozenset([stage.base])
    with pytest.raises(BrokenSetup):
        stage.qa.base(RUN, stage.base)


# --- tests that nobody but we asked for ----------------------------------------------------------------------

COVER = TaskSpec(
    "20261121-u1",
    "Add tests for shop.py",
    "The behaviour stays the same.",
    new_files=("tests/test_shop_more.py",),
    context=("shop.py", "tests/test_shop.py"),
)
MORE = "from shop import total\n\ndef test_more():\n    assert total([5]) == 5\n"
IDLE = "def test_more():\n    assert 1 + 1 == 2\n"


def counts(stage: Stage, before: Sequence[int], after: Sequence[int]) -> None:
    """Lines of shop.py that no test runs."""

    def spoils(order: SuiteOrder, raw: RawTestRun) -> RawTestRun:
        missing = list(before if order.commit == stage.base else after)
        data = {"totals": {"percent_covered": 50.0}, "files": {"shop.py": {"missing_lines": missing}}}
        return replace(raw, coverage=json.dumps(data).encode() if order.cover else None)

    stage.bench.spoils = spoils


def test_tests_that_run_new_lines_and_notice_faults_in_them_are_good(stage: Stage) -> None:
    stage.given_change({"tests/test_shop_more.py": MORE})
    counts(stage, [1, 2], [])
    found = stage.check(task=COVER)
    assert rules(found.problems) == ()
    planted = [order for order in stage.bench.orders if "shop.py" in order.overlay]
    assert planted and all(order.only == ["tests/test_shop_more.py"] for order in planted)


def test_tests_that_run_nothing_new_go_back(stage: Stage) -> None:
    stage.given_change({"tests/test_shop_more.py": MORE})
    counts(stage, [1, 2], [1, 2])
    assert rules(stage.check(task=COVER).problems) == ("the new tests run nothing new",)
    assert rules(stage.check(task=replace(COVER, id="20261121-01")).problems) == (), "the owner's are his own"


def test_tests_that_notice_no_fault_in_what_they_run_go_back(stage: Stage) -> None:
    stage.given_change({"tests/test_shop_more.py": IDLE})
    counts(stage, [1, 2], [])
    assert rules(stage.check(task=COVER).problems) == ("the written tests do not notice faults",)


@pytest.mark.parametrize("lost", ["base", "change"])
def test_where_nobody_counted_what_new_tests_run_the_owner_is_asked(stage: Stage, lost: str) -> None:
    stage.given_change({"tests/test_shop_more.py": MORE})
    counts(stage, [1, 2], [])
    counted = stage.bench.spoils

    def spoils(order: SuiteOrder, raw: RawTestRun) -> RawTestRun:
        is_lost = (order.commit == stage.base) == (lost == "base")
        return replace(raw, coverage=None) if is_lost else counted(order, raw)

    stage.bench.spoils = spoils
    found = stage.check(task=COVER)
    assert "nothing shows that the new tests run anything" in rules(found.needing("ask owner"))
    assert "shop.py" in found.problems[-1].text
    owns = stage.check(task=replace(COVER, id="20261121-01"))
    assert "nothing shows that the new tests run anything" not in rules(owns.problems), "the owner's are his own"


MEND = TaskSpec(
    "20261121-u1", "Fix the failing test test_sum in tests/test_shop.py", "A test fails.", files=("shop.py",)
)
SUM = "tests/test_shop.py::test_sum"
WRONG = "def total(prices):\n    return 0\n"


@pytest.mark.parametrize(
    ("shop", "found"),
    [
        pytest.param(SHOP, (), id="it passes"),
        pytest.param("def total(prices):\n    return 7\n", ("the test still fails",), id="only another one passes"),
    ],
)
def test_what_is_to_mend_a_test_has_to_mend_that_very_test(tmp_path: Path, shop: str, found: tuple[str, ...]) -> None:
    tests = OLD + "\ndef test_some():\n    assert total([1, 2])\n"
    stage = Stage(tmp_path, {**FILES, "shop.py": WRONG, "tests/test_shop.py": tests}).given_change({"shop.py": shop})
    stage.mends = {MEND.id: SUM}
    evidence = stage.check(task=MEND)
    assert rules(evidence.problems) == rules(evidence.needing("correct")) == found
    assert all(problem.tests == (SUM,) for problem in evidence.problems)
    assert all("it does not pass: AssertionError" in problem.text for problem in evidence.problems), "and why"
    assert rules(stage.check(task=replace(MEND, id="20261121-u2")).problems) == (), "that one is about something else"


def test_a_test_that_is_gone_from_the_base_is_the_owners_to_judge(tmp_path: Path) -> None:
    stage = Stage(tmp_path, {**FILES, "shop.py": WRONG}).given_change({"shop.py": SHOP})
    stage.mends = {MEND.id: "tests/test_shop.py::test_gone"}
    assert rules(stage.check(task=MEND).needing("ask owner")) == ("the test still fails",)
    stage.bench.spoils = lambda order, raw: raw if order.commit == stage.base else replace(raw, end="timed out")
    assert rules(stage.check(task=MEND).problems) == ("no evidence",), "without an end nothing is known of it"


PIN = TaskSpec(
    "20261121-u1",
    "Update Toml.kit to 0.11 in requirements.txt",
    "The behaviour stays the same.",
    files=("requirements.txt",),
    acceptance=("requirements.txt pins Toml.kit==0.11", "the tests pass with it"),
)


@pytest.mark.parametrize(
    ("line", "is_new"),
    [
        ("Toml.kit==0.11", True),
        ("Toml.kit[x] == 0.11 ; python_version > '3'  # settings", True),
        ("Toml.kit==0.11  # settings", True),
        ("Toml.kit==0.9", False),
        ("Toml.kit==0.11.1", False),
        ("Toml.kit>=0.11", False),
        ("Tomlxkit==0.11", False),
        ("# Toml.kit==0.11", False),
        ("other-Toml.kit==0.11", False),
        ("", False),
    ],
)
def test_a_newer_pin_has_to_stand_in_its_file(tmp_path: Path, line: str, is_new: bool) -> None:
    stage = Stage(tmp_path, {**FILES, "requirements.txt": "# ours\nToml.kit==0.10\n"})
    stage.given_change({"requirements.txt": f"# ours\n{line}\n"})
    found = stage.check(task=PIN)
    assert rules(found.needing("correct")) == (() if is_new else ("the pin is still the old one",))
    assert not stage.check(task=replace(PIN, id="20261121-01")).is_red, "the owner's words are no promise of ours"
