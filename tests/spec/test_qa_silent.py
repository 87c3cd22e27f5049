"""What a change does and no test may notice: read from the code before and after, and from the task's words."""

from __future__ import annotations

import pytest

from sisimpur.agents.qa.unheld.silent import echoed, silent

LINE = """class Line:
    def check(self):
        if self.count < 1 or self.price < 0:
            raise ValueError(self.price)
"""


def said(then: str, now: str, alters_nothing: bool = True) -> list[str]:
    return silent({"a.py": (then, now)}, alters_nothing)


def test_a_value_whose_check_is_gone_is_named() -> None:
    now = LINE.replace(" or self.price < 0", "")
    assert (
        said(LINE, now)
        == said(LINE, now, False)
        == ["whether self.price is right is not asked any more in check, line 2 of a.py"]
    )


@pytest.mark.parametrize(
    "now",
    [
        pytest.param(LINE.replace("self.price < 0", "0 > self.price"), id="said the other way round"),
        pytest.param(LINE.replace(" or self.price < 0", " or is_bad(self.price)"), id="asked of a helper"),
        pytest.param(LINE.replace("self.count < 1 or self.price < 0", "not self.price >= 0 or not self.count >= 1"),
                     id="its opposite"),
        pytest.param("class Line:\n    def check(self):\n        if min(self.count - 1, self.price) < 0:\n"
                     "            raise ValueError(self.price)\n", id="both at once"),
        pytest.param(LINE.replace("check", "checked"), id="another function"),
        pytest.param(LINE.replace(" or self.price < 0", "").replace("self.price", "0"), id="nobody knows it any more"),
        pytest.param("def (", id="no Python"),
    ],
)  # fmt: skip
def test_a_check_that_is_worded_otherwise_is_not_missed(now: str) -> None:
    assert said(LINE, now) == []


def test_a_limit_that_moved_is_named_where_nothing_is_to_change() -> None:
    then = "def f(n):\n    if not 1 <= n <= MOST:\n        raise ValueError\n"
    now = then.replace("1 <= n <= MOST", "0 < n < MOST")
    assert said(then, now) == ["MOST >= n became MOST > n in f, line 1 of a.py"]
    assert said(then, now, alters_nothing=False) == [], "there a small fault shows whether a test stands on it"


@pytest.mark.parametrize("now", ["MOST >= n >= 1", "n >= 1 and n <= MOST", "1 <= n < MOST + 1", "n in ALLOWED"])
def test_a_limit_that_is_worded_otherwise_has_not_moved(now: str) -> None:
    then = "def f(n):\n    if 1 <= n <= MOST:\n        return 1\n"
    assert said(then, then.replace("1 <= n <= MOST", now)) == []


def test_of_a_function_that_is_defined_twice_nothing_is_said() -> None:
    twice = LINE + "    def check(self):\n        return self.price > 1\n"
    assert said(twice, twice.replace(" or self.price < 0", "")) == []


HEAD = "def pay(cents, day, fee=5):\n    return cents, day, fee\n"


def called(head: str, words: str = "") -> list[str]:
    return silent({"a.py": (HEAD, HEAD.replace("cents, day, fee=5", head, 1))}, False, words)


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ("cents, day, fee=7", "fee of pay was 5 by default and is 7"),
        ("day, cents, fee=5", "pay takes what it is given in another order"),
        ("cents, note, day, fee=5", "pay takes what it is given in another order"),
        ("cents, fee=5", "pay no longer takes day"),
    ],
)
def test_a_function_that_old_callers_call_and_mean_something_else_is_named(head: str, said: str) -> None:
    assert called(head) == [f"{said}, line 1 of a.py"]
    assert called(head, "The fee of a day: pay() changes.") == [], "the task says so"


@pytest.mark.parametrize("head", ["cents, day, fee=5, note=None", "cents, day, fee=5, *, note", "cents, day, fee=5"])
def test_a_function_that_takes_more_is_called_as_before(head: str) -> None:
    assert called(head) == []


TEST = "def test_f():\n    assert f(31) == 28\n"
FIX = "def f(n):\n    return min(n, 28)\n"


def told(
    now: str, test: str = TEST, words: str = "The last day of the month.", then: str = "def f(n):\n    return n\n"
) -> list[str]:
    return echoed({"a.py": (then, now)}, {"test_a.py": ("", test)}, words)


def test_a_value_that_decides_and_that_only_the_test_knows_is_named() -> None:
    assert told(FIX) == [
        "no test tries another value than 28, by which line 2 of a.py decides, and no word of the task names it"
    ]
    infinite = 'def f(n):\n    if n == float("inf"):\n        raise ValueError\n'
    assert len(told(infinite, 'def test_f():\n    f(float("inf"))\n')) == 1


@pytest.mark.parametrize(
    ("now", "test", "words", "then"),
    [
        pytest.param(FIX, TEST, "At most 28.", "", id="the task names it"),
        pytest.param(FIX, TEST, "", "LAST = 28\n", id="the code before knows it"),
        pytest.param(FIX, TEST.replace("28", "1"), "", "", id="no test knows it"),
        pytest.param("def f(n):\n    return n + 28\n", TEST, "", "", id="it decides nothing"),
        pytest.param(FIX.replace("28", "2"), TEST.replace("28", "2"), "", "", id="it is small"),
        pytest.param(FIX, TEST, "", FIX, id="it was there"),
    ],
)
def test_a_value_that_others_know_is_an_honest_one(now: str, test: str, words: str, then: str) -> None:
    assert told(now, test, words, then) == []
