"""Which edits of a test file make its tests weaker, and which only look like it."""

from __future__ import annotations

from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sisimpur.agents.qa.analysis.test_changes import EMPTY, GONE, WEAKER, renamed, weakenings

PATH = "tests/test_shop.py"
OLD = dedent('''\
    import pytest
    from shop import total

    RATES = [1, 2, 3]

    def check(value):
        assert value > 0
        assert value < 100

    def test_total():
        """The sum."""
        result = total([1, 2])
        assert result == 3
        assert result != 4

    @pytest.mark.parametrize("one", [1, 2, 3, 4])
    def test_each(one):
        assert total([one]) == one

    def test_rates():
        for rate in [1, 2, 3]:
            assert total([rate]) == rate

    def test_refused():
        with pytest.raises(ValueError):
            total(None)

    def test_checked():
        check(total([1]))

    class TestShop:
        def test_open(self):
            self.assertEqual(total([]), 0)
            self.assertTrue(total([1]) > 0)
    ''')

TOTAL = OLD[OLD.index("    assert result == 3") : OLD.index("@pytest")]


def edited(old: str, new: str) -> str:
    assert OLD.count(old) == 1, old
    return OLD.replace(old, new)


WEAKER_ROWS = [
    ("def test_total(", "def total_of(", GONE, "it is not there any more", "no longer called a test"),
    ("def test_total(", "def test_sum(", GONE, "it is not there any more", "another name: nobody can compare"),
    ("def test_total(", "@pytest.mark.skip\ndef test_total(", WEAKER, "skipped", "a mark"),
    ("def test_total(", "@pytest.mark.skipif(True, reason='')\ndef test_total(", WEAKER, "skipped", "a condition"),
    ("def test_total(", "@pytest.mark.xfail(strict=False)\ndef test_total(", WEAKER, "skipped", "may fail"),
    ("def test_total(", "@unittest.expectedFailure\ndef test_total(", WEAKER, "skipped", "shall fail"),
    ("RATES = [1, 2, 3]", "RATES = [1, 2, 3]\npytestmark = pytest.mark.skip", WEAKER, "pytestmark", "the whole file"),
    ("RATES = [1, 2, 3]", "pytest.skip('x', allow_module_level=True)", WEAKER, "a skip of all", "while it is imported"),
    ("RATES = [1, 2, 3]", "pytest.importorskip('nothing')", WEAKER, "a skip of all", "if something is missing"),
    ("RATES = [1, 2, 3]", "__test__ = False", WEAKER, "__test__", "not collected"),
    ("RATES = [1, 2, 3]", "collect_ignore = ['test_a.py']", WEAKER, "collect_ignore", "others not collected"),
    ("RATES = [1, 2, 3]", "def load_tests(*a):\n    return []", WEAKER, "load_tests", "unittest's own loader"),
    ("class TestShop:", "@pytest.mark.skip\nclass TestShop:", WEAKER, "skipped", "the class"),
    ("class TestShop:", "class TestShop:\n    __test__ = False", WEAKER, "__test__", "the class is not collected"),
    (
        "class TestShop:",
        "class TestShop:\n    def setUp(self):\n        self.skipTest('x')",
        WEAKER,
        "setUp",
        "in setUp",
    ),
    ("    result = total([1, 2])", "    pytest.skip('later')\n    result = 3", WEAKER, "skipped", "while it runs"),
    ("    result = total([1, 2])", "    raise SkipTest\n    result = 3", WEAKER, "skipped", "raised"),
    ("self.assertEqual(total([]), 0)", "self.skipTest('x')", WEAKER, "skipped", "unittest's way"),
    ("    assert result != 4\n", "", WEAKER, "1 assertions are sure to run instead of 2", "one assertion less"),
    (TOTAL, "    pass\n\n", WEAKER, "0 assertions", "none is left"),
    (OLD[OLD.index("    result =") : OLD.index("@pytest")], "    ...\n\n", WEAKER, "empty", "an empty body"),
    ("assert result == 3", "assert True", WEAKER, "always true", "a constant"),
    ("assert result == 3", "assert result == 3 or True", WEAKER, "always true", "or True"),
    ("assert result == 3", "assert result == result", WEAKER, "always true", "equal to itself"),
    ("assert result == 3", "assert (result == 4, 'message')", WEAKER, "always true", "a tuple is true"),
    ("assert result == 3", "assert not False", WEAKER, "always true", "not False"),
    ("self.assertEqual(total([]), 0)", "x = 1; self.assertEqual(x, x)", WEAKER, "always true", "assertEqual(x, x)"),
    ("self.assertEqual(total([]), 0)", "self.assertTrue(True)", WEAKER, "always true", "assertTrue(True)"),
    ("    assert result == 3", "    if result: return\n    assert result == 3", WEAKER, "returns", "out before it"),
    ("    assert result == 3", "    return\n    assert result == 3", WEAKER, "returns", "never reached"),
    (
        "    assert result == 3\n",
        "    try:\n        assert result == 3\n    except AssertionError:\n        pass\n",
        WEAKER,
        "caught",
        "swallowed",
    ),
    (
        "    assert result == 3\n",
        "    with contextlib.suppress(Exception):\n        assert result == 3\n",
        WEAKER,
        "caught",
        "suppressed",
    ),
    ("    assert result == 3", "    if result == 3:\n        assert result", WEAKER, "1 assertions", "only sometimes"),
    ("    assert result == 3", "    if False:\n        assert result == 3", WEAKER, "1 assertions", "never"),
    ("    assert result == 3", "    for one in []:\n        assert result == 3", WEAKER, "1 assertions", "no turn"),
    ("assert result == 3", "assert result", WEAKER, "only asks", "no value any more"),
    ("assert result == 3", "assert result is not None", WEAKER, "only asks", "anything but None"),
    ("assert result == 3", "assert isinstance(result, int)", WEAKER, "only asks", "only the type"),
    ("assert total([one]) == one", "assert total([one])", WEAKER, "only asks", "only that it is true"),
    ("[1, 2, 3, 4]", "[1]", WEAKER, "1 cases instead of 4", "fewer cases"),
    ("in [1, 2, 3]:", "in [1]:", WEAKER, "fewer cases", "a shorter loop"),
    ("raises(ValueError)", "raises(Exception)", WEAKER, "any exception", "any exception will do"),
    ("    assert value < 100\n", "", WEAKER, "1 assertions", "its helper asserts less"),
    ("def test_total(", "slow = pytest.mark.skip\n\n@slow\ndef test_total(", WEAKER, "skipped", "by another name"),
]


@pytest.mark.parametrize(
    ("old", "new", "rule", "what"), [row[:4] for row in WEAKER_ROWS], ids=[r[4] for r in WEAKER_ROWS]
)
def test_a_test_that_asks_less_than_before_is_weaker(old: str, new: str, rule: str, what: str) -> None:
    found = weakenings(PATH, OLD, edited(old, new))
    assert [one for one in found if one.rule == rule and what in one.what], found


NEW = "def test_new():\n    assert total([]) == 0\n\ndef test_total("
NEW_ERROR = "def test_new(client):\n    with pytest.raises(ValueError):\n        total(None)\n\ndef test_total("
THREE_RATES = "    for rate in [1, 2, 3]:\n        assert total([rate]) == rate"

HARMLESS_ROWS = [
    ("RATES = [1, 2, 3]", "RATES = [1, 2, 3, 4]", "a constant"),
    ('"""The sum."""', '"""The total."""', "reworded"),
    (
        "result = total([1, 2])\n    assert result == 3\n    assert result != 4",
        "r = total([1, 2])\n    assert r == 3\n    assert r != 4",
        "renamed",
    ),
    ("assert result == 3\n    assert result != 4", "assert result == 3 and result != 4", "two assertions in one"),
    ("assert result == 3\n    assert result != 4", "assert result != 4\n    assert result == 3", "another order"),
    ("assert result == 3", "assert result == 5", "another value: the old test is run as well"),
    ("assert result == 3", "assert result == 3, f'not {result}'", "a message"),
    ("assert result == 3", "assert (\n        result\n        == 3\n    )", "reformatted"),
    ("self.assertTrue(total([1]) > 0)", "assert total([1]) > 0", "in the other style"),
    (
        "self.assertEqual(total([]), 0)",
        "self.assertEqual(total([]), 0)\n        self.assertEqual(total([2]), 2)",
        "more",
    ),
    (THREE_RATES, "    for rate in RATES:\n        assert total([rate]) == rate", "a list with a name"),
    (THREE_RATES, "    assert total([1]) == 1\n    assert total([2]) == 2\n    assert total([3]) == 3", "unrolled"),
    ("[1, 2, 3, 4]", "[4, 3, 2, 1, 0]", "more cases"),
    ("[1, 2, 3, 4]", "range(4)", "cases that are computed"),
    ("def test_total(", "@pytest.fixture\ndef shop():\n    return 1\n\ndef test_total(", "a fixture"),
    ("def test_total(", "@pytest.mark.slow\ndef test_total(", "a mark that skips nothing"),
    ("def test_total(", NEW, "a new test"),
    ("def test_total(", f"@pytest.mark.skipif(WINDOWS, reason='')\n{NEW}", "a new test that skips itself"),
    ("def test_total(", "def test_new():\n    check(total([5]))\n\ndef test_total(", "a new test with a helper"),
    ("def test_total(", NEW_ERROR, "a new test for an error"),
    (
        "def test_total(",
        "def test_new(mock):\n    total([1])\n    mock.assert_called_once()\n\ndef test_total(",
        "a new test with a mock",
    ),
    (
        "    check(total([1]))",
        "    value = total([1])\n    assert value > 0\n    assert value < 100",
        "a helper written out",
    ),
    (
        "    result = total([1, 2])",
        "    result = total([1, 2])\n    def inner():\n        return 1",
        "a function inside",
    ),
    ("    assert result == 3", "    try:\n        assert result == 3\n    finally:\n        print()", "cleaned up"),
    (
        "    assert result == 3",
        "    try:\n        assert result == 3\n    except ValueError:\n        pass",
        "another error",
    ),
    ("    assert result == 3", "    with open('f'):\n        assert result == 3", "in a with"),
    ("assert result == 3", "assert isclose(result, 3)", "nearly the same value"),
    ("import pytest", "import pytest  # tests", "a comment"),
]


@pytest.mark.parametrize(("old", "new"), [row[:2] for row in HARMLESS_ROWS], ids=[row[2] for row in HARMLESS_ROWS])
def test_an_honest_edit_is_not_called_weaker(old: str, new: str) -> None:
    assert weakenings(PATH, OLD, edited(old, new)) == ()


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("total([1])", id="it only calls"),
        pytest.param("assert True", id="always true"),
        pytest.param("pass", id="nothing"),
        pytest.param("print(total([1]) == 1)", id="it only prints"),
        pytest.param("total([1]) == 1", id="compared, not asserted"),
        pytest.param("try:\n        assert total([1]) == 1\n    except:\n        pass", id="swallowed"),
        pytest.param("def inner():\n        assert total([1]) == 1", id="never called"),
    ],
)
def test_a_new_test_without_an_assertion_that_could_fail_is_named(body: str) -> None:
    for old in (OLD, None):
        found = weakenings(PATH, old, f"{OLD if old else ''}\n\ndef test_new():\n    {body}\n")
        assert [(one.rule, one.test) for one in found] == [(EMPTY, "test_new")]


def test_a_weakened_test_is_named_with_its_line() -> None:
    (found,) = weakenings(PATH, OLD, edited("    assert result != 4\n", ""))
    assert (found.place, found.test) == (f"{PATH}:10", "test_total")


def test_a_deleted_file_takes_all_its_tests_along() -> None:
    found = weakenings(PATH, OLD, None)
    assert {one.test for one in found} == {
        *("test_total", "test_each", "test_rates", "test_refused", "test_checked", "TestShop.test_open"),
    }
    assert {(one.rule, one.place) for one in found} == {(GONE, PATH)}


def test_a_file_that_had_no_tests_and_a_class_that_is_new_may_skip_what_is_new() -> None:
    mark = "pytestmark = pytest.mark.skip\n"
    assert weakenings(PATH, "x = 1\n", mark + "x = 1\n") == ()
    skipping = "\n\nclass TestNew:\n    __test__ = False\n"
    assert weakenings(PATH, OLD, OLD + skipping) == ()


def test_a_deleted_class_takes_its_tests_along() -> None:
    found = weakenings(PATH, OLD, OLD[: OLD.index("class TestShop")])
    assert [(one.rule, one.test) for one in found] == [(GONE, "TestShop.test_open")]


@pytest.mark.parametrize(
    "text", ["def test_(:\n", "\0", "(" * 5000, "x = 1\n" * 100_000], ids=["a fault", "NUL", "depth", "length"]
)
def test_what_cannot_be_read_is_weaker(text: str) -> None:
    assert [one.what for one in weakenings(PATH, OLD, text)] == ["it cannot be read"]


def test_helpers_that_call_each_other_without_end_are_survived() -> None:
    text = "def a():\n    b()\n    b()\ndef b():\n    a()\n    assert 1 < x\ndef test_x():\n    a()\n"
    assert weakenings(PATH, text, text) == ()


def test_many_helpers_that_call_many_helpers_are_measured_in_one_go() -> None:
    rows = [f"def h{n}():\n" + f"    h{n + 1}()\n" * 40 for n in range(60)]
    text = "".join(rows) + "def h60():\n    assert x\ndef test_x():\n    h0()\n"
    assert weakenings(PATH, text, text) == ()


@settings(deadline=None)
@given(st.text(), st.text())
def test_no_text_makes_it_raise(old: str, new: str) -> None:
    weakenings(PATH, old, new)


STATEMENTS = st.sampled_from(
    ["assert x == 1", "assert True", "pass", "return", "assert f(x)", "self.assertEqual(x, 1)", "x = f(2)", "helper()"]
)


@settings(deadline=None)
@given(st.lists(STATEMENTS, min_size=1), st.integers(0, 3))
def test_a_file_is_never_weaker_than_itself(lines: list[str], blanks: int) -> None:
    text = "def test_a():\n    " + "\n    ".join(lines) + "\n"
    assert weakenings(PATH, text, "\n" * blanks + text.replace("    ", "  ")) == ()


# --- tests with another name ---------------------------------------------------------------------------------

NAMED = (
    "import pytest\nfrom shop import total\n\nRATES = [1]\n\n\n"
    "class TestShop:\n    def setup_method(self):\n        self.rates = RATES\n\n"
    "    def test_rates(self):\n        assert self.rates\n\n\ndef test_total():\n    assert total(RATES) == 1\n"
)
OF_TOTAL, OF_CLASS = (PATH, "test_total"), (PATH, "TestShop.test_rates")


@pytest.mark.parametrize(
    ("new", "found"),
    [
        pytest.param(NAMED, {}, id="nothing"),
        pytest.param(NAMED.replace("test_total", "test_sum"), {OF_TOTAL: (PATH, "test_sum")}, id="a name"),
        pytest.param(
            NAMED.replace("_total():", '_sum():\n    """It is the sum."""'),
            {OF_TOTAL: (PATH, "test_sum")},
            id="a docstring",
        ),
        pytest.param(NAMED.replace("TestShop", "TestRates"), {OF_CLASS: (PATH, "TestRates.test_rates")}, id="a class"),
        pytest.param(NAMED.replace("test_total", "test_sum").replace("== 1", ">= 1"), {}, id="it asks less"),
        pytest.param(NAMED.replace("test_total", "test_sum").replace("[1]", "[]"), {}, id="a value that it uses"),
        pytest.param(
            NAMED.replace("TestShop", "TestRates").replace("= RATES", "= [2]"), {}, id="what is set up for its class"
        ),
        pytest.param(
            NAMED.replace("def test_total", "@pytest.mark.skip\ndef test_sum"), {}, id="it is not run under that name"
        ),
    ],
)
def test_a_test_is_known_by_its_words_when_its_name_is_another(new: str, found: dict[object, object]) -> None:
    assert renamed({PATH: (NAMED, new)}) == found


def test_a_test_may_stand_in_another_file_with_what_it_uses() -> None:
    assert renamed({PATH: (NAMED, ""), "tests/unit/test_a.py": ("", NAMED)}).keys() == {OF_TOTAL, OF_CLASS}
    assert renamed({PATH: (NAMED, ""), "tests/unit/test_a.py": ("", NAMED.replace("[1]", "[2]"))}) == {}


def test_of_two_tests_with_the_same_words_one_name_is_for_one() -> None:
    twice = "def test_a():\n    assert f()\n\n\ndef test_b():\n    assert f()\n"
    assert renamed({PATH: (twice, "def test_c():\n    assert f()\n")}) == {(PATH, "test_a"): (PATH, "test_c")}
