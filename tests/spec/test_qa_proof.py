"""What counts as proof: a test's own assertion, or what code of the base raised; never that a new name is missing."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import pytest

from sisimpur.agents.qa.analysis.stand_ins import StandIns, asks_about
from sisimpur.agents.qa.analysis.touched import SuiteFiles
from sisimpur.agents.qa.proof import Without, said_by
from sisimpur.shared.model.evidence import Failure, Outcome, SuiteRun, is_test_file, rules
from tests.spec.test_qa_agent import FILES, OLD, SHOP, TASK, Stage

TEST = "tests/test_shop.py::test_new"
ADDED = ("halved", "places", "discount")
TESTS = ("tests/test_shop.py",)
HALVED = SHOP + "\ndef halved(cents):\n    return cents // 2\n"
IMPORTS = "from shop import halved\n\n"


def stage_of(folder: Path, product: str, test: str) -> Stage:
    return Stage(folder, FILES).given_change({"shop.py": product, "tests/test_new.py": test})


RIGHT = {
    "a new function, and what it gives": (HALVED, IMPORTS + "def test_new():\n    assert halved(5) == 2\n"),
    "a helper of the tests asserts": (
        HALVED,
        IMPORTS + "def same(a, b):\n    assert a == b\n\ndef test_new():\n    same(halved(5), 2)\n",
    ),
    "a new value": (SHOP + "\nMOST = 5\n", "from shop import MOST\n\ndef test_new():\n    assert MOST == 5\n"),
    "a new parameter": (
        "def total(prices, times=1):\n    return sum(prices) * times\n",
        "from shop import total\n\ndef test_new():\n    assert total([1], times=2) == 2\n",
    ),
    "a new function raises": (
        SHOP + "\ndef check(cents):\n    if cents < 0:\n        raise ValueError\n",
        "from shop import check\n\ndef test_new():\n    check(0)\n    try:\n        check(-1)\n"
        "    except ValueError:\n        return\n    raise AssertionError('it takes less than nothing')\n",
    ),
    "a new generator": (
        SHOP + "\ndef each(prices):\n    for price in prices:\n        yield price\n",
        "from shop import each\n\ndef test_new():\n    assert list(each([1])) == [1]\n",
    ),
    "a new callback": (
        "def total(prices, ready=id):\n    ready(1)\n    return sum(prices)\n",
        "from shop import total\n\ndef test_new():\n    seen = []\n"
        "    total([1], ready=seen.append)\n    assert seen\n",
    ),
}
WRONG = {
    "it asks of the old code what that always did": (
        HALVED,
        "from shop import halved\n\ndef test_new():\n    assert sum([1, 2]) == 3\n",
    ),
    "it imports the new name where it is used": (
        HALVED,
        "def test_new():\n    raise_if_missing()\n    assert 1 + 1 == int('2')\n\n"
        "from shop import halved\n\ndef raise_if_missing():\n    return halved\n",
    ),
    "it calls the new function and asks nothing of it": (
        HALVED,
        IMPORTS + "def test_new():\n    halved(5)\n    assert len('ab') == 2\n",
    ),
    "it hands over a new parameter and asks what was so before": (
        "def total(prices, times=1):\n    return sum(prices)\n",
        "from shop import total\n\ndef test_new():\n    assert total([1, 2], times=2) == 3\n",
    ),
    "a new value beside an assertion about another": (
        SHOP + "\nMOST = 5\n",
        "from shop import MOST\n\ndef test_new():\n    assert sum([1, 2]) == 3\n",
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_test_of_a_new_name_is_proof(tmp_path: Path, name: str) -> None:
    found = stage_of(tmp_path, *RIGHT[name]).check()
    assert found.problems == () and found.proving == ("tests/test_new.py::test_new",)


@pytest.mark.parametrize("name", WRONG)
def test_that_a_new_name_is_missing_proves_nothing(tmp_path: Path, name: str) -> None:
    found = stage_of(tmp_path, *WRONG[name]).check()
    assert found.proving == () and [(one.rule, one.remedy) for one in found.problems] == [
        ("nothing shows the new behaviour", "write tests")
    ]
    assert "for want of a name that it adds" in found.problems[0].text


def test_one_more_run_is_made_of_the_new_tests_and_only_where_nothing_else_is_proof(tmp_path: Path) -> None:
    new = ("tests/test_new.py",)
    stage = stage_of(tmp_path / "a", *RIGHT["a new function, and what it gives"])
    stage.check()
    elsewhere = [("commit", new, False)]
    assert stage.runs[2:] == [*elsewhere, ("base", new, False), ("commit", new, False)]
    inside = "def test_new():\n    import shop\n\ndef test_sum():\n    assert total([]) == 0.5\n"
    product = HALVED.replace("sum(prices)", "sum(prices) or 0.5")
    stage = stage_of(
        tmp_path / "b", product, "from shop import total\n\n" + inside.replace("import shop", "total([1])")
    )
    assert rules(stage.check().problems) == ("a new test asserts nothing",)
    assert stage.runs[2:] == [*elsewhere, ("base", new, False)]


def test_tests_that_another_file_kept_from_running_are_run_with_it(tmp_path: Path) -> None:
    """Without the change no file is run if one of them cannot be imported: that one of a name, this one of a value."""
    free = OLD + "\ndef test_free():\n    assert total([]) == 0.5\n"
    product = HALVED.replace("sum(prices)", "sum(prices) or 0.5")
    both = {"shop.py": product, "tests/test_new.py": IMPORTS + "def test_new():\n    assert halved\n"}
    found = Stage(tmp_path, FILES).given_change({**both, "tests/test_shop.py": free}).check()
    assert found.proving == ("tests/test_shop.py::test_free",) and found.problems == ()


def test_where_a_test_is_proof_that_it_reads_as_if_it_asserted_nothing_does_not_overrule_it(tmp_path: Path) -> None:
    raising = "def total(prices):\n    return sum(prices) / len(prices)\n"
    calls = "from shop import total\n\ndef test_new():\n    total([])\n"
    stage = Stage(tmp_path, {**FILES, "shop.py": raising, "tests/test_shop.py": OLD.replace("3", "1.5")})
    mended = raising.replace("/ len(prices)", "/ (len(prices) or 1)")
    found = stage.given_change({"shop.py": mended, "tests/test_new.py": calls}).check()
    assert found.problems == () and found.proving == ("tests/test_new.py::test_new",)


def test_a_call_of_what_is_new_that_asserts_nothing_is_no_proof_and_is_said(tmp_path: Path) -> None:
    found = stage_of(tmp_path, HALVED, IMPORTS + "def test_new():\n    halved(5).bit_length()\n").check()
    assert rules(found.problems) == ("nothing shows the new behaviour", "a new test asserts nothing")


def test_the_order_to_qa_says_what_is_wrong_with_such_a_test(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, *WRONG["it asks of the old code what that always did"])
    task = replace(stage.qa.tests_for(TASK, stage.branch, stage.check()), context=())
    assert task.files == ("tests/test_new.py",)
    assert "for want of a name that it adds, and would pass if that did nothing" in task.description


# --- the reason of a failure ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "where", "lacks"),
    [
        ("ImportError: cannot import name 'halved' from 'shop' (/job/shop.py)", "tests/test_shop.py:1", True),
        ("ModuleNotFoundError: No module named 'shop.new'", "tests/test_shop.py:1", True),
        ("NameError: name 'halved' is not defined", "tests/test_shop.py:7", True),
        ("AttributeError: module 'shop' has no attribute 'halved'", "tests/test_shop.py:7", True),
        ("AttributeError: <module 'shop'> does not have the attribute 'halved'", "tests/test_shop.py:7", True),
        ("AttributeError: 'Cart' object has no attribute 'discount'", "tests/conftest.py:7", True),
        ("TypeError: total() got an unexpected keyword argument 'places'", "tests/test_shop.py:7", True),
        ("TypeError: Cart.halved() takes 1 positional argument but 2 were given", "tests/test_shop.py:7", True),
        ("", "", True),
        ("AssertionError: assert 1 == 2", "tests/test_shop.py:7", False),
        ("assert 1 == 2", "tests/test_shop.py:7", False),
        ("Failed: DID NOT RAISE <class 'ValueError'>", "tests/test_shop.py:7", False),
        ("AttributeError: 'NoneType' object has no attribute 'split'", "tests/test_shop.py:7", False),
        ("AttributeError: 'Cart' object has no attribute 'discount'", "shop.py:3", False),
        ("ImportError: cannot import name 'halved' from 'other'", "shop.py:1", False),
        ("TypeError: unsupported operand type(s)", "tests/test_shop.py:7", False),
        ("ValueError: no price", "shop.py:2", False),
    ],
)
@pytest.mark.parametrize("failing", [TEST, "tests/test_shop.py"], ids=["a test", "its file"])
def test_which_failures_are_for_want_of_a_name(text: str, where: str, lacks: bool, failing: str) -> None:
    run = SuiteRun("finished", 1, {failing: "failed"}, (Failure(failing, where, text),))
    without = Without(run, TESTS, SuiteFiles(["shop.py", *TESTS]))
    assert without.fails(TEST)
    assert without.lacks(TEST, ADDED, lambda path: is_test_file(path)) is lacks


# --- stand-ins -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "stands"),
    [
        ("", "def f(a):\n    return a", "def f(a):\n    return"),
        ("def f(a):\n    return a", "def f(a, b=1):\n    return a + b", "def f(a, b=1):\n    return a"),
        ("def f(a):\n    return a", "def f(a):\n    return -a", "def f(a):\n    return a"),
        ("def f():\n    return 1", "async def f():\n    return 1", "async def f():\n    return"),
        ("", "def f():\n    yield 1", "def f():\n    return\n    yield"),
        (
            "",
            "class A:\n    def __next__(self):\n        return 1",
            "class A:\n    def __next__(self):\n        raise StopIteration",
        ),
        (
            "class A:\n    pass",
            "class A:\n    def f(self):\n        return 1",
            "class A:\n    def f(self):\n        return",
        ),
        ("", "if True:\n    def f():\n        return 1", "if True:\n    def f():\n        return"),
    ],
)
def test_a_stand_in_has_the_new_names_and_the_old_behaviour(before: str, after: str, stands: str) -> None:
    made = StandIns.of({"a.py": (before, after)})
    assert ast.dump(ast.parse(made.texts["a.py"])) == ast.dump(ast.parse(stands))


@pytest.mark.parametrize(
    "after", ["MOST = 5", "class Point:\n    x: int", "class NoPrice(ValueError):\n    pass", "def f(:"]
)
def test_what_is_no_function_has_no_stand_in(after: str) -> None:
    made = StandIns.of({"a.py": ("", after)})
    assert not made.texts and not made.replaced


@pytest.mark.parametrize(
    ("body", "asks"),
    [
        ("assert new(1) == 2", True),
        ("found = new(1)\n    assert found == 2", True),
        ("found = shop.new(1)\n    self.assertEqual(2, found.size)", True),
        ("with pytest.raises(ValueError):\n        new(1)", True),
        ("assert made_by_helper() == 2", True),
        ("for one in new():\n        assert one", True),
        ("new(1)\n    assert 1 + 1 == 2", False),
        ("new(1)", False),
        ("assert old(1) == 2", False),
    ],
)
def test_whether_an_assertion_is_about_a_new_name(body: str, asks: bool) -> None:
    text = f"from shop import new\n\ndef made_by_helper():\n    return new(2)\n\ndef test_it():\n    {body}\n"
    assert asks_about(text, "test_it", {"new"}) is asks


# --- a test whose writer has not seen the change -------------------------------------------------------------


@pytest.mark.parametrize(
    ("outcomes", "text", "said"),
    [
        pytest.param({"t.py::a": "passed"}, "", "agrees: 1 of its tests pass", id="agrees"),
        pytest.param(
            {"t.py::a": "passed", "t.py::b": "failed"},
            "AssertionError: 3 != 4\nmore",
            "disagrees: 1 of its tests fail: t.py::b: AssertionError: 3 != 4",
            id="disagrees",
        ),
        pytest.param({"t.py::b": "failed"}, "NameError: name 'x'", "says nothing: it could not be run", id="a guess"),
        pytest.param({"t.py": "failed"}, "ImportError: x", "says nothing: it could not be run", id="no import"),
    ],
)
def test_what_an_independent_test_says(outcomes: dict[str, Outcome], text: str, said: str) -> None:
    failures = tuple(Failure(test, "", text) for test, outcome in outcomes.items() if outcome == "failed")
    assert said_by(SuiteRun("finished", int(bool(failures)), outcomes, failures)) == said
