"""Calls that tests make, made again on both commits in real boxes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from sisimpur.agents.qa.differential.calls import Compared
from sisimpur.agents.qa.differential.comparing import calls_compared
from sisimpur.agents.qa.runner.bench import BoxBench
from sisimpur.agents.qa.runner.suite import SuiteOrder
from tests.edges.bench_scene import PYTEST, Scene, make_scene
from tests.repositories import commit

SHOP = '''"""A shop."""
import datetime
import enum
import functools
import time
from dataclasses import dataclass


def loud(function):
    @functools.wraps(function)
    def wrapper(*args):
        print(function.__name__)
        return function(*args)

    return wrapper


def told_once(function):
    known = {}

    def wrapper(*args):
        if args not in known:
            known[args] = function(*args)
        return known[args]

    return wrapper


class Size(enum.Enum):
    SMALL = 1
    LARGE = 2


@dataclass(frozen=True)
class Line:
    name: str
    cents: int

    def with_tax(self, percent=20):
        return self.cents + self.cents * percent // 100


class Basket:
    def __init__(self, lines=()):
        self.lines = list(lines)

    def add(self, line):
        self.lines.append(line)
        return self

    @property
    def total(self):
        return sum(line.cents for line in self.lines)


def largest(lines):
    best = None
    for line in lines:
        if best is None or line.cents > best.cents:
            best = line
    return best


def words(text):
    for one in text.split():
        yield one


def due(day, size):
    return day + datetime.timedelta(30 if size is Size.SMALL else 60)


def wait(n):
    while n < 0:
        pass
    return n


def now():
    return datetime.datetime.now()


def stamped(text):
    return f"{text}.{int(time.time() / 3600)}"


@dataclass
class Sales:
    sold: int
    shown: int

    @functools.cached_property
    def rate(self):
        return self.sold / self.shown if self.shown else 0


async def joined(parts):
    return " ".join(part for part in parts if part)


@loud
def share(total, people):
    return total // people


@told_once
def half(total):
    return total // 2


def row(**values):
    return [*sorted(values.items())]
'''
TEST = """import asyncio
import datetime
import shop


def test_all():
    basket = shop.Basket().add(shop.Line("tea", 300)).add(shop.Line("jam", 500))
    assert basket.total == 800
    assert shop.Line("tea", 300).with_tax() == 360
    assert shop.largest(basket.lines).name == "jam"
    assert list(shop.words("a b")) == ["a", "b"]
    assert shop.due(datetime.date(2026, 1, 1), shop.Size.SMALL) == datetime.date(2026, 1, 31)
    assert shop.wait(1) == 1
    assert shop.now().year > 2000
    assert shop.stamped("a").startswith("a.")
    assert shop.Sales(3, 4).rate == 0.75
    assert asyncio.run(shop.joined(["a", "b"])) == "a b"
    assert shop.share(4, 2) == shop.half(4) == 2
    assert shop.row(a=1, b=2) == [("a", 1), ("b", 2)]
"""


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    return make_scene(tmp_path_factory)


@contextmanager
def both(scene: Scene, after: str, test: str = TEST) -> Iterator[tuple[BoxBench, str, str]]:
    """A bench, the commit with SHOP, and the one with `after`."""
    files = {"src/shop.py": SHOP, "tests/test_shop.py": test, "pytest.ini": "[pytest]\npythonpath = src\n"}
    mirror, base = scene.commit(files)
    changed = commit(Path(mirror.remote.url), {"src/shop.py": after})
    mirror.fetch("main")
    with closing(scene.bench(mirror)) as bench:
        yield bench, base, changed


def compared(scene: Scene, old: str, new: str, command: str = PYTEST, test: str = TEST) -> Compared:
    """What the calls of the test say of a change of SHOP."""
    assert SHOP.count(old) == 1
    after = SHOP.replace(old, new)
    with both(scene, after, test) as (bench, base, changed):
        order = SuiteOrder(changed, command, cover=False, limit=60)
        return calls_compared(bench.run, order, base, {"src/shop.py": (SHOP, after)})


LARGEST = SHOP[SHOP.index("    best = None") : SHOP.index("def words")]


# (old, new): all of them at once, for each alone says nothing
OF_A_BASKET = "list(lines)\n\n    def add(self, line):\n        self.lines.append(line)"
THE_SAME = {
    "a right refactoring": (LARGEST, "    return max(lines, key=lambda line: line.cents, default=None)\n\n\n"),
    "what is never the same twice": ("return datetime.datetime.now()", "return datetime.datetime.now().replace()"),
    # two turns of a commit lie in one second: 55 calls of a signer with a time "did something else"
    "what another hour makes": ("time.time() / 3600", "time.time() / 3600 - 2"),
    # both do the same: what stands in a field of one would say something else in the other
    "no object crosses over to a class that keeps it otherwise": (
        OF_A_BASKET,
        OF_A_BASKET.replace("list(lines)", "list(reversed(lines))").replace("append(line)", "insert(0, line)"),
    ),
}


def changed(changes: Iterable[tuple[str, str]]) -> str:
    """SHOP with all of these."""
    after = SHOP
    for old, new in changes:
        assert after.count(old) == 1
        after = after.replace(old, new)
    return after


def test_what_does_the_same_says_nothing(scene: Scene) -> None:
    found = compared(scene, SHOP, changed(THE_SAME.values()))
    assert [one.told for one in found.differences] == []
    assert found.count > 20


# (old, new, what is told): all of them at once, for each is another function's, or told of another one
OTHERWISE = {
    "a method of an object with fields, another type": (
        "percent // 100",
        "percent / 100",
        "Line.with_tax(Line(cents=300, name='tea')) returns 360 before the change, and now returns 360.0",
    ),
    "what an object is afterwards": (
        "        self.lines.append(line)\n        return self",
        "        self.lines.insert(0, line)\n        return self",
        "Basket.add(Basket(lines=[Line(cents=300, name='tea')]), Line(cents=500, name='jam')) returns "
        "Basket(lines=[Line(cents=300, name='tea'), Line(cents=500, name='jam')]) and changes what it was given "
        "before the change, and now returns ",
    ),
    "what a generator yields": (
        "text.split()",
        "text.split(' ')",
        "words('') returns [] before the change, and now returns ['']",
    ),
    "another member of an enumeration": (
        "else 60",
        "else 61",
        "due(2026-01-01, Size.LARGE) returns 2026-03-02 before the change, and now returns 2026-03-03",
    ),
    "what is awaited": (
        "part for part in parts if part",
        "parts",
        "joined(['a', '']) returns 'a' before the change, and now returns 'a '",
    ),
    "what a decorator wraps": (
        "total // people",
        "total / people",
        "share(4, 2) returns 2 before the change, and now returns 2.0",
    ),
    "what a decorator hides": (
        "total // 2",
        "total / 2",
        "half(4) returns 2 before the change, and now returns 2.0",
    ),
    "a record with another field, and a property that is kept": (
        "self.sold / self.shown if self.shown else 0",
        "self.sold / self.shown",
        "Sales.rate(Sales(shown=0, sold=3)) returns 0 before the change, and now raises ZeroDivisionError",
    ),
    "names in another order": (
        "sorted(values.items())",
        "values.items()",
        "row(b=2, a=1) returns",
    ),
    "the caller's list is sorted": (
        "    best = None",
        "    lines.sort(key=lambda line: line.cents)\n    best = None",
        "largest([Line(cents=500, name='jam'), Line(cents=300, name='tea')]) returns ",
    ),
}


@pytest.fixture(scope="module")
def otherwise(scene: Scene) -> Compared:
    return compared(scene, SHOP, changed((old, new) for old, new, _ in OTHERWISE.values()))


@pytest.mark.parametrize("name", OTHERWISE)
def test_what_a_call_does_otherwise_is_told(otherwise: Compared, name: str) -> None:
    lines = [one.told for one in otherwise.differences]
    assert any(line.startswith(OTHERWISE[name][2]) for line in lines), lines


def test_a_call_that_comes_to_no_end_any_more_is_told(scene: Scene) -> None:
    lines = compared(scene, "while n < 0", "while n < 1").told
    told = "wait(0) returns 0 before the change, and now came to no end"
    assert any(line.startswith(told) for line in lines), lines


def test_a_path_that_no_test_takes_is_found_by_an_input_nearby_also_from_unittest(scene: Scene) -> None:
    loads = TEST.replace("import shop", "import sys, unittest\nsys.path.insert(0, 'src')\nimport shop")
    test = loads.replace("def test_all():", "class T(unittest.TestCase):\n  def test_all(self):")
    new = "    return max(lines, key=lambda line: line.cents)\n\n\n"
    found = compared(scene, LARGEST, new, "python -m unittest discover -q -s tests", test)
    (one,) = found.differences
    assert one.turn == "raises"
    assert one.told.startswith("largest([]) returns None before the change, and now raises ValueError: ")
    assert found.problem(True, "", "")


def test_an_argument_that_is_changed_goes_back_and_a_method_s_own_object_does_not(otherwise: Compared) -> None:
    of_largest = tuple(one for one in otherwise.differences if one.name == "largest")
    assert {one.turn for one in of_largest} == {"changes its input"}
    assert Compared(len(of_largest), of_largest).problem(False, "the largest line", "")
    assert {one.turn for one in otherwise.differences if one.name == "Basket.add"} == {"other value"}


def test_who_waits_is_not_taken_for_one_without_an_end(scene: Scene) -> None:
    found = compared(scene, "    while n < 0:\n        pass", "    import time\n    time.sleep(9 * (n == 2))")
    assert all(one.turn != "no end" for one in found.differences)
