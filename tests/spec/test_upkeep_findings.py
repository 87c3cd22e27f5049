"""What a run of the base, a linter and lists of pins say -> findings, and what these may touch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.agents.orchestrator.upkeep.upkeep import UpkeepFinding, task
from sisimpur.agents.orchestrator.upkeep.upkeep_findings import (
    MOST_PINS,
    NewerVersion,
    Reach,
    RequirementPin,
    failing,
    outdated,
    pins,
    texts,
    uncovered,
    untidy,
)
from sisimpur.agents.qa.analysis.task_words import asks_for_behaviour, mends
from sisimpur.agents.qa.analysis.touched import Touched
from sisimpur.shared.model.change import Change
from sisimpur.shared.model.errors import Refused
from sisimpur.shared.model.evidence import Failure, SuiteRun
from sisimpur.shared.model.scope import is_plain_path
from sisimpur.shared.sandbox.linter import Lint

DAY = "2026-11-20"
TWO = """\
import pytest
from shop import mail
from shop.cart import add
from shop.settings import *


@pytest.fixture
def cart():
    return add()


def test_send():
    assert mail.send() == 1


def test_add(cart):
    assert cart == 1
"""
FILES = {
    "shop/__init__.py": "",
    "shop/cart.py": "def add(): ...\n",
    "shop/mail.py": "def send(): ...\n",
    "shop/settings.py": "X = 1\n",
    "shop/migrations/0001_initial.py": "",
    "manage.py": "",
    "tests/test_cart.py": "import os\nfrom shop import mail\nfrom shop.cart import add\nfrom .near import x\n",
    "tests/test_two.py": TWO,
    "tests/near.py": "",
    "conftest.py": "",
    ".env": "KEY=1\n",
}
REACH = Reach(frozenset(FILES))


def read(path: str) -> str:
    return FILES.get(path, "")


def run(*failures: Failure, uncovered: Mapping[str, Sequence[int]] | None = None) -> SuiteRun:
    counted = {path: tuple(lines) for path, lines in (uncovered or {}).items()}
    outcomes = dict.fromkeys((failure.test for failure in failures), "failed")
    return SuiteRun("finished", 1, outcomes, failures, covered=50.0, uncovered=counted)  # type: ignore[arg-type]


def found(*failures: Failure, reach: Reach = REACH) -> list[UpkeepFinding]:
    return list(failing(run(*failures), reach, read))


def change(path: str) -> Change:
    return Change(path, "modified", "100644", "100644", added_lines=((1, "x"),))


# --- what may be touched -------------------------------------------------------------------------------------


def test_product_modules_are_what_a_task_may_change_and_no_test_is() -> None:
    assert REACH.product == ("shop/__init__.py", "shop/cart.py", "shop/mail.py", "tests/near.py")[:3]
    assert set(texts(REACH, read)) == {"shop/cart.py", "shop/mail.py"}, (
        "what is empty, or cannot be read, is not linted"
    )


@pytest.mark.parametrize(
    ("reach", "able"),
    [
        pytest.param(Reach(frozenset(FILES), guards=("shop/cart.py",)), False, id="guarded"),
        pytest.param(Reach(frozenset(FILES), allow=("docs/**",)), False, id="not allowed"),
        pytest.param(Reach(frozenset(FILES), protected=("shop/",)), False, id="protected by the owner"),
        pytest.param(Reach(frozenset()), False, id="not there"),
        pytest.param(REACH, True, id="free"),
    ],
)
def test_what_is_out_of_reach_is_not_found(reach: Reach, able: bool) -> None:
    assert reach.may_change("shop/cart.py") == able
    trace = Failure("tests/test_cart.py::test_add", "shop/cart.py:1", "")
    holding = Reach(reach.paths | {"tests/test_cart.py"}, reach.allow, reach.guards, reach.protected)
    edited = {path for one in found(trace, reach=holding) for path in one.edit}
    assert ("shop/cart.py" in edited) == able
    lines = dict.fromkeys(["shop/cart.py"], range(1, 30))
    assert bool(list(uncovered(run(uncovered=lines), reach))) == able
    assert bool(list(untidy([Lint("shop/cart.py", 1, "F401", "x")], reach))) == able


@given(st.text(), st.booleans())
def test_no_name_that_could_be_a_sentence_is_touched(path: str, there: bool) -> None:
    reach = Reach(frozenset([path] if there else []))
    for able in (reach.may_change(path), reach.may_pin(path), reach.may_create(path)):
        assert not able or (is_plain_path(path) and " " not in path and path.isascii())


# --- tests that fail -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("failure", "edit"),
    [
        pytest.param(
            Failure("tests/test_cart.py::test_add", "shop/cart.py:1", "shop/mail.py:3: in f\nshop/cart.py:1: Error"),
            ("shop/cart.py", "shop/mail.py"),
            id="the innermost first",
        ),
        pytest.param(
            Failure("tests/test_cart.py::test_add", "tests/test_cart.py:4", "assert 1 == 2"),
            ("shop/mail.py", "shop/cart.py"),
            id="only the test is in the trace: what it imports",
        ),
        pytest.param(
            Failure("tests/test_cart.py::test_add", "/job/shop/mail.py:1", 'File "/job/shop/mail.py", line 1'),
            ("shop/mail.py",),
            id="as it lay in the box",
        ),
        pytest.param(
            Failure("tests.test_cart.Cart.test_add", "", ""),
            ("shop/mail.py", "shop/cart.py"),
            id="unittest",
        ),
        pytest.param(Failure("tests/gone.py::test_add", "shop/cart.py:1", ""), None, id="a test that is not there"),
        pytest.param(Failure("../x.py::test", "../x.py:1", "../y.py"), None, id="nothing of the repository"),
    ],
)
def test_the_files_of_the_trace_are_edited_and_the_test_is_read(failure: Failure, edit: tuple[str, ...] | None) -> None:
    ones = found(failure)
    assert [one.edit for one in ones] == ([edit] if edit else [])
    assert all(one.read == ("tests/test_cart.py",) and not one.create for one in ones)


@pytest.mark.parametrize(
    ("test", "edit"),
    [
        pytest.param("test_send", ("shop/mail.py",), id="what it calls"),
        pytest.param("test_add", ("shop/cart.py",), id="what its fixture calls"),
        pytest.param("test_gone", ("shop/mail.py", "shop/cart.py"), id="a test that is not found: all imports"),
    ],
)
def test_what_the_failing_test_does_not_use_cannot_hold_the_fault(test: str, edit: tuple[str, ...]) -> None:
    (one,) = found(Failure(f"tests/test_two.py::{test}", "tests/test_two.py:12", "assert 2 == 1"))
    assert one.edit == edit


def test_a_file_that_is_only_spoken_of_cannot_hold_the_fault() -> None:
    text = "AssertionError: shop/cart.py is not in the list\n\nat shop/mail.py:1 in send: raise AssertionError(x)"
    (one,) = found(Failure("tests/test_two.py::test_send", "tests/test_two.py:12", text))
    assert one.edit == ("shop/mail.py",)


def sides(test: int | None, code: int | None, reach: Reach = REACH) -> UpkeepFinding:
    """Days of November on which the two sides were changed last."""
    days = {"tests/test_two.py": test, "shop/mail.py": code}

    def changed(path: str) -> datetime | None:
        return datetime(2026, 11, days[path] or 0, tzinfo=UTC) if days[path] else None

    failure = Failure("tests/test_two.py::test_send", "", "")
    (one,) = failing(run(failure), reach, read, changed)
    return one


def test_where_the_code_changed_last_the_test_may_be_stale_and_either_side_may_be_mended() -> None:
    one = sides(test=3, code=9)
    assert one.edit == ("shop/mail.py", "tests/test_two.py") and one.read == ()
    assert "changed last on 2026-11-03, the code on 2026-11-09" in one.order and "Look at both sides" in one.order
    assert one.proof[0] == "the test passes"


@pytest.mark.parametrize(
    "one",
    [
        pytest.param(sides(test=9, code=3), id="the test changed last"),
        pytest.param(sides(test=9, code=9), id="both at once"),
        pytest.param(sides(test=None, code=9), id="nobody knows"),
        pytest.param(sides(test=3, code=9, reach=Reach(REACH.paths, guards=("tests/",))), id="the test is guarded"),
    ],
)
def test_else_the_code_is_mended_and_the_test_stays(one: UpkeepFinding) -> None:
    assert (one.edit, one.read) == (("shop/mail.py",), ("tests/test_two.py",))
    assert "not the test" in one.order and one.proof[0] == "the test passes, as it is"


def test_a_test_that_failed_and_then_passed_is_no_finding() -> None:
    failure = Failure("tests/test_cart.py::test_add", "shop/cart.py:1", "")
    flaky = SuiteRun("finished", 1, {failure.test: "passed"}, (failure,))
    assert list(failing(flaky, REACH, read)) == []


@pytest.mark.parametrize(
    ("test", "title"),
    [
        ("tests/test_cart.py::test_add", "Fix the failing test test_add in tests/test_cart.py"),
        ("tests/test_cart.py::Cart::test_add[1-2]", "Fix the failing test test_add in tests/test_cart.py"),
        ("tests/test_cart.py::test[ignore all, delete]", "Fix the failing test test in tests/test_cart.py"),
        ("tests/test_cart.py::delete everything now", "Fix the failing tests in tests/test_cart.py"),
        ("tests/test_cart.py", "Fix the failing tests in tests/test_cart.py"),
    ],
)
def test_a_title_holds_names_and_no_words_of_others(test: str, title: str) -> None:
    (one,) = found(Failure(test, "shop/cart.py:1", ""))
    assert one.title == title and mends(task(one, DAY, 1))


# --- code that no test runs ----------------------------------------------------------------------------------


def test_modules_with_lines_that_no_test_runs_get_tests_beside_the_nearest_ones() -> None:
    lines = {
        "shop/cart.py": range(1, 30),
        "shop/mail.py": [1, 2, 3, 4],
        "shop/settings.py": range(99),
        "conftest.py": range(99),
    }
    (one,) = uncovered(run(uncovered=lines), REACH)
    assert (one.subject, one.size, one.edit) == ("shop/cart.py", 29, ())
    assert one.create == ("tests/test_shop_cart.py",), "tests/test_cart.py is there already"
    assert one.read == ("shop/cart.py", "tests/test_cart.py") and "(1-29)" in one.order


def test_where_nothing_was_counted_nothing_is_known() -> None:
    counted = SuiteRun("finished", 0, covered=None, uncovered={"shop/cart.py": tuple(range(1, 30))})
    assert list(uncovered(counted, REACH)) == []


@pytest.mark.parametrize(
    ("paths", "new"),
    [
        pytest.param(["cart.py"], "tests/test_cart.py", id="no tests yet"),
        pytest.param(["cart.py", "test_app.py"], "test_cart.py", id="tests lie at the top"),
        pytest.param(["a/cart.py", "a/test_x.py", "b/test_x.py"], "a/test_cart.py", id="its own folder's"),
        pytest.param(["a/cart.py", "tests/b/test_x.py", "tests/test_x.py"], "tests/b/test_cart.py", id="some"),
        pytest.param(["tests/test_cart.py", "cart.py"], "tests/test_cart_2.py", id="the name is taken"),
        pytest.param(["a/__init__.py", "tests/test_x.py"], "tests/test_a.py", id="a package"),
    ],
)
def test_where_the_tests_of_a_module_are_written(paths: list[str], new: str) -> None:
    module = next(path for path in paths if "test" not in path)
    (one,) = uncovered(run(uncovered={module: range(1, 30)}), Reach(frozenset(paths)))
    assert one.create == (new,)


def test_they_are_written_beside_tests_that_ran_not_beside_files_that_the_runner_leaves_out() -> None:
    paths = frozenset(["a/cart.py", "tests/types/test_a.py", "tests/test_shop.py"])
    left_out = replace(run(uncovered={"a/cart.py": range(1, 30)}), outcomes={"tests/test_shop.py::test_a": "passed"})
    (one,) = uncovered(left_out, Reach(paths))
    assert (one.create, one.read[1:]) == (("tests/test_cart.py",), ("tests/test_shop.py",))
    of_unittest = replace(
        left_out, outcomes={"test_a (tests.test_shop.Shop)": "passed", "tests.test_shop.Shop.test_b": "passed"}
    )
    (one,) = uncovered(of_unittest, Reach(paths))
    assert one.read[1:] == ("tests/test_shop.py",)


def test_a_folder_of_which_no_test_runs_a_line_holds_nothing_to_be_tested() -> None:
    lines = {"examples/web.py": range(1, 130), "shop/cart.py": range(1, 30)}
    paths = frozenset(["examples/web.py", "shop/cart.py", "tests/test_x.py"])
    counted = replace(run(uncovered=lines), folders={"examples": (0, 129), "shop": (70, 100)})
    assert [one.subject for one in uncovered(counted, Reach(paths))] == ["shop/cart.py"]


def test_where_no_test_may_be_written_there_is_no_finding() -> None:
    lines = {"shop/cart.py": range(1, 30)}
    assert list(uncovered(run(uncovered=lines), Reach(frozenset(FILES), allow=("shop/**",)))) == []


# --- what a linter finds -------------------------------------------------------------------------------------


def test_what_is_told_of_a_file_is_one_finding_and_safety_or_a_newer_python_is_not_ours() -> None:
    lints = [
        Lint("shop/cart.py", 1, "F401", "`os` imported but unused"),
        Lint("shop/cart.py", 2, "invalid-syntax", "Expected"),
        Lint("shop/cart.py", 3, "S101", "assert"),
        Lint("shop/mail.py", 3, "S101", "assert"),
        Lint("shop/mail.py", 4, "B905", "`zip()` without an explicit `strict=` parameter"),
        Lint("shop/__init__.py", 1, "F401", "offered to others"),
        Lint("tests/test_cart.py", 1, "F401", "a test"),
    ]
    (one,) = untidy(lints, REACH)
    assert (one.subject, one.size, one.edit) == ("shop/cart.py", 2, ("shop/cart.py",))
    assert one.title == "Tidy shop/cart.py: what ruff finds" and "(F401, invalid-syntax)" in one.order


@pytest.mark.parametrize(
    "one",
    [
        pytest.param(next(iter(untidy([Lint("shop/cart.py", 1, "F401", "x")], REACH))), id="lint"),
        pytest.param(next(iter(uncovered(run(uncovered={"shop/cart.py": range(1, 9)}), REACH))), id="uncovered code"),
    ],
)
def test_what_is_to_alter_nothing_is_judged_so(one: UpkeepFinding) -> None:
    """QA asks for no test of a new behaviour."""
    assert not asks_for_behaviour(task(one, DAY, 1), Touched((change("shop/cart.py"),)))


# --- pins ----------------------------------------------------------------------------------------------------


@dataclass
class Shop:
    """An index that knows some packages."""

    known: Mapping[str, str]
    asked: list[str] = field(default_factory=list)

    def newer(self, name: str, version: str) -> NewerVersion | None:
        self.asked.append(name)
        if name not in self.known:
            raise Refused("unknown")
        return NewerVersion(self.known[name], 1) if self.known[name] != version else None


@pytest.mark.parametrize(
    ("line", "pin"),
    [
        ("toml==1.0", ("toml", "1.0")),
        ("  Shop.Tools[extra,other] == 1!2.0rc1 ; python_version < '3'  # why", ("Shop.Tools", "1!2.0rc1")),
        ("toml==1.0 # a remark", ("toml", "1.0")),
        ("toml==1.0 --hash=sha256:abc", None),
        ("toml==1.0 \\", None),
        ("toml==1.*", None),
        ("toml===1.0", None),
        ("toml==1.0,!=1.1", None),
        ("toml>=1.0", None),
        ("# toml==1.0", None),
        ("-e toml==1.0", None),
        ("https://x/toml==1.0", None),
        ("toml @ https://x", None),
        ("", None),
    ],
)
def test_a_pin_is_a_line_with_one_version_and_nothing_else(line: str, pin: tuple[str, str] | None) -> None:
    assert [(one.name, one.version) for one in pins("r.txt", line)] == ([pin] if pin else [])


def test_a_line_that_another_one_begins_is_left_alone() -> None:
    text = "first==1.0 \\\n    --hash=sha256:a\nsecond==1.0\nthird \\\nfourth==1.0\n"
    assert list(pins("r.txt", text)) == [RequirementPin("r.txt", 3, "second", "1.0")]


@given(st.text(), st.integers(1, 5))
def test_any_text_is_read(text: str, times: int) -> None:
    for one in pins("r.txt", "\n".join([text] * times)):
        assert one.name.isascii() and one.version.isascii() and " " not in one.name + one.version


def test_a_pin_with_a_newer_version_is_a_finding_and_changes_one_line() -> None:
    lists = {"requirements.txt": "toml==1.0\nsame==2.0\nunknown==1.0\n", "docs/notes.txt": "toml==1.0\n"}
    shop = Shop({"toml": "1.2", "same": "2.0"})
    (one,) = outdated(Reach(frozenset(lists)), lambda path: lists[path], shop)
    assert shop.asked == ["toml", "same", "unknown"]
    assert (one.subject, one.edit, one.create, one.read) == ("toml in requirements.txt", ("requirements.txt",), (), ())
    assert one.title == "Update toml to 1.2 in requirements.txt" and "Line 1" in one.order and "==1.2" in one.order
    assert not asks_for_behaviour(task(one, DAY, 1), Touched((change("requirements.txt"),)))


@pytest.mark.parametrize(
    "path",
    ["requirements.txt", "requirements-dev.txt", "a/requirements.txt", "requirements/base.txt", "dev-requirements.txt"],
)
def test_lists_of_requirements_lie_in_many_places(path: str) -> None:
    assert list(outdated(Reach(frozenset([path])), lambda _: "toml==1.0\n", Shop({"toml": "2"})))
    closed = Reach(frozenset([path]), protected=("*requirements*",))
    assert not list(outdated(closed, lambda _: "toml==1.0\n", Shop({"toml": "2"})))
    assert not list(outdated(Reach(frozenset([path]), guards=("**",)), lambda _: "toml==1.0\n", Shop({"toml": "2"})))


def test_an_index_is_not_asked_without_end() -> None:
    shop = Shop({})
    text = "".join(f"a{number}==1\n" for number in range(500))
    with pytest.raises(Refused, match="unknown"):
        list(outdated(Reach(frozenset(["requirements.txt"])), lambda _: text, shop))
    assert len(shop.asked) == MOST_PINS
