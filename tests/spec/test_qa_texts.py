"""What QA reads beside the runs: files that tests rely on, lines that no test ran, tests of what is taken away."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from pathlib import Path

import pytest

from sisimpur.agents.qa.analysis.task_words import names_to_remove, obsolete
from sisimpur.agents.qa.analysis.test_support import SourceTexts, relied_on
from sisimpur.agents.qa.analysis.touched import Touched, moved_modules, with_moved
from sisimpur.agents.qa.analysis.uncovered import Pair, unrun
from sisimpur.agents.qa.analysis.which_tests import still_named
from sisimpur.agents.qa.new_names import ASKS_PACKAGES
from sisimpur.shared.model.change import Change
from sisimpur.shared.model.work import TaskSpec
from sisimpur.shared.system.process import run

TASK = TaskSpec("t1", "Remove the late fee", "Remove `to_pay` and LATE_FEE, with their two tests.")

# --- files that tests rely on --------------------------------------------------------------------------------

READS = "def test_a():\n    assert report() == open('expected/report.csv').read()\n"
HELPS = "import pytest\n\ndef make():\n    return 1\n"


def relied(path: str, tests: Mapping[str, str], product: Mapping[str, str] | None = None, text: str = "") -> bool:
    found = relied_on({path: text}, SourceTexts(lambda: tests, lambda: product or {}))
    assert found <= {path}
    return bool(found)


@pytest.mark.parametrize(
    ("path", "source"),
    [
        pytest.param("expected/report.csv", READS, id="by its path"),
        pytest.param("data/expected/report.csv", "FILE = ROOT / 'report.csv'", id="by its name"),
        pytest.param("expected/deep/a.csv", "FILES = (ROOT / 'expected').rglob('*.csv')", id="by a folder"),
        pytest.param("expected/report.txt", "FILE = f'expected/report.txt'", id="a text file"),
    ],
)
def test_a_data_file_that_only_tests_name_is_one_of_theirs(path: str, source: str) -> None:
    assert relied(path, {"tests/test_a.py": source})
    assert not relied(path, {"tests/test_a.py": source}, {"shop.py": source}), "the product names it too"
    assert not relied(path, {"tests/test_a.py": "def test_a():\n    assert 1\n"})


@pytest.mark.parametrize(
    "path", ["templates/report.csv", "shop/static/report.csv", "README.md", "docs/report.csv", "tests/report.csv"]
)
def test_what_people_read_and_what_lies_with_the_tests_is_sorted_otherwise(path: str) -> None:
    assert not relied(path, {"tests/test_a.py": f"FILE = '{path}', 'report.csv'"})


@pytest.mark.parametrize(
    ("path", "text", "line", "is_theirs"),
    [
        pytest.param("support/making.py", HELPS, "from support.making import make", True, id="it imports pytest"),
        pytest.param("support/factories.py", "x = 1", "from support import factories", True, id="its name says so"),
        pytest.param("support/factories.py", "x = 1", "import factories", True, id="from its own folder"),
        pytest.param("app/support/fakes.py", "x = 1", "from .support.fakes import x", True, id="relative"),
        pytest.param("web/support/fakes.py", "x = 1", "from .support.fakes import x", False, id="another relative"),
        pytest.param("shop.py", "x = 1", "from shop import x", False, id="the product itself"),
        pytest.param("support/factories.py", "x = 1", "from shop import x", False, id="nobody imports it"),
        pytest.param("hooks.py", HELPS, "pytest_plugins = ['hooks']", True, id="a plugin"),
        pytest.param("hooks.py", HELPS, "pytest_plugins: list[str] = ['hooks']", True, id="an annotated one"),
        pytest.param("hooks.py", HELPS, "plugins = ['hooks']", False, id="a word"),
    ],
)
def test_a_module_that_only_helps_tests_is_one_of_theirs(path: str, text: str, line: str, is_theirs: bool) -> None:
    assert relied(path, {"app/test_a.py": line + "\n"}, text=text) == is_theirs


MODULE = {"shop/catalog.py": "def load(name):\n    return read(HERE / f'{name}.json')\n"}


@pytest.mark.parametrize(
    ("path", "product", "is_theirs"),
    [
        pytest.param("shop/prices.json", MODULE, False, id="beside a module"),
        pytest.param("shop/data/prices.json", MODULE, False, id="below one"),
        pytest.param("prices.json", {"shop.py": "x = 1"}, False, id="beside one at the root"),
        pytest.param("expected/prices.json", {"shop.py": "x = 1"}, True, id="below the root"),
        pytest.param("expected/prices.json", {**MODULE, "expected/__init__.py": ""}, True, id="beside nothing"),
        pytest.param("expected/prices.json", {"expected/__init__.py": "x = 1"}, False, id="in a package that does it"),
        pytest.param("shop/order_factory.py", MODULE, False, id="a helper beside a module"),
        pytest.param("shop/parts/order_factory.py", MODULE, False, id="a helper below one"),
        pytest.param("support/order_factory.py", {**MODULE, "support/fakes.py": "x = 1"}, True, id="among helpers"),
        pytest.param("support/order_factory.py", {**MODULE, "support/mocks.py": "x = 1"}, False, id="that none uses"),
    ],
)
def test_what_lies_among_the_products_modules_is_the_products(
    path: str, product: Mapping[str, str], is_theirs: bool
) -> None:
    name = path.removesuffix(".py").replace("/", ".")
    tests = {"tests/test_a.py": f"import {name}, support.fakes\nFILE = 'prices.json'\n"}
    here = {path: "x = 1"} if path.endswith(".py") else {}
    assert relied(path, tests, {**product, **here}) == is_theirs


def test_a_file_is_not_meant_by_its_stem() -> None:
    assert not relied("expected/prices.json", {"tests/test_a.py": "def test_a():\n    assert load('prices')\n"})


def test_a_helper_of_the_product_is_the_products_even_if_tests_use_it() -> None:
    tests, product = {"tests/test_a.py": "from shop.helpers import x"}, {"shop/views.py": "from shop.helpers import x"}
    assert relied("shop/helpers.py", tests) and not relied("shop/helpers.py", tests, product)


def test_a_plugin_is_theirs_whoever_imports_it() -> None:
    hooks = {"shop.py": "import hooks"}
    assert relied("hooks.py", {"conftest.py": "pytest_plugins = 'hooks'"}, hooks, text=HELPS)
    assert relied("hooks.py", {"pytest.ini": "[pytest]\naddopts = -p hooks\n"}, hooks, text=HELPS)


def test_nothing_is_read_for_a_change_of_the_product_alone() -> None:
    def never() -> Mapping[str, str]:
        raise AssertionError

    assert relied_on({"shop.py": "x = 1", "tests/test_a.py": ""}, SourceTexts(never, never)) == frozenset()


def test_what_tests_rely_on_is_no_part_of_the_product() -> None:
    changes = tuple(Change(path, "modified", "100644", "100644", added_lines=((1, "x"),)) for path in ("a.csv", "b.py"))
    relied = Touched(changes, relied=frozenset({"a.csv"}))
    assert [change.path for change in relied.tests] == ["a.csv"] and relied.touches_old_tests
    assert [change.path for change in relied.product] == ["b.py"]


@pytest.mark.parametrize(
    ("path", "is_product"),
    [
        *(("a.txt", True), ("robots.txt", True), ("app/templates/mail.txt", True), ("app/templates/mail.md", True)),
        *(
            ("prompts/task.md", True),
            ("docs/use.txt", False),
            ("README", False),
            ("LICENSE.txt", False),
            ("a.md", False),
        ),
        *(
            ("CHANGELOG.txt", False),
            ("docs/conf.py", True),
            ("news.py", True),
            ("news.html", True),
            ("notice.txt", False),
        ),
    ],
)
def test_a_text_is_documentation_only_where_documentation_lies(path: str, is_product: bool) -> None:
    assert bool(Touched((Change(path, "modified", "100644", "100644"),)).product) == is_product


# --- lines that no test ran ----------------------------------------------------------------------------------

CODE = "def check(price):\n    if price < 0:\n        raise ValueError(\n            price)\n    return price\n"
SHORT = "def check(price):\n    return price\n"
CLASS = "class Shop(Base):\n    def check(self):\n        return 1\n"


def lines(
    before: str | None, after: str | None, then: Collection[int] | None, now: Collection[int] | None, known: str = ""
) -> tuple[str, ...]:
    return unrun({"a.py": Pair(before, after, then, now)}, lambda name: name in known.split())


@pytest.mark.parametrize(
    ("before", "after", "then", "now", "found"),
    [
        pytest.param(CODE, CODE.replace("return price", "return +price"), set(), set(), (), id="all was run"),
        pytest.param(
            CODE, CODE.replace("return price", "return +price"), set(), {5}, ("a.py:5",), id="a new line was not"
        ),
        pytest.param(CODE, SHORT, {3}, set(), ("a.py:3 (before)",), id="a guard that no test has met"),
        pytest.param(CODE, SHORT, {5}, set(), (), id="what was not run is still there"),
        pytest.param(
            CODE,
            CODE.replace("    price)", "    -price)"),
            {3},
            {3},
            ("a.py:3", "a.py:3 (before)"),
            id="a long statement",
        ),
        pytest.param(CODE + "\n\n" + CODE, CODE, {3, 10}, {3}, (), id="one of two copies"),
        pytest.param(CODE + "\n\nx = 1\n", "x = 1\n", {3}, set(), (), id="what nobody knows any more"),
        pytest.param(CLASS, "class Shop(Base):\n    pass\n", {3}, set(), ("a.py:3 (before)",), id="a method"),
        pytest.param("@hook\n" + CODE, "", {4}, set(), ("a.py:4 (before)",), id="what a decorator knows"),
        pytest.param(None, CODE, set(), {3}, ("a.py:3",), id="a new file"),
        pytest.param(CLASS, None, {3}, set(), (), id="a file that the task deletes"),
        pytest.param("(", "x = (", set(), {1}, ("a.py:1",), id="no Python"),
        pytest.param(CODE, SHORT, None, set(), ("a.py:2 (before)", "a.py:3 (before)"), id="nobody counted the old"),
        pytest.param(SHORT, CODE, set(), None, ("a.py:2", "a.py:3"), id="nobody counted the new"),
        pytest.param(CODE, CODE + "\n\n# why\n", None, None, (), id="a comment was never to be run"),
        pytest.param(CODE + "\n\n# why\n" + CODE, CODE, None, None, (), id="a copy, uncounted"),
    ],
)
def test_of_changed_lines_those_are_named_that_no_test_ran(
    before: str | None, after: str | None, then: set[int] | None, now: set[int] | None, found: tuple[str, ...]
) -> None:
    assert lines(before, after, then, now) == found


DEFAULT = "def pay(\n    x,\n    sure=True,\n):\n    return x, sure\n"
ONE_LINE = "def is_admin(user): return user.is_admin\n"
VIEW = "@login_required\ndef view(request):\n    return request\n"
SILENT = VIEW.replace("return request", "'A view.'")
BASES = "class View(LoginRequired, Page):\n    def get(self):\n        return 1\n"
FIELDS = "class Pair(NamedTuple):\n    left: int\n"
MADE = f"{FIELDS}\n\ndef pair():\n    return Pair(1)\n"
LAMBDA = "RULES = (\n    1,\n    lambda user: user.is_admin,\n)\n"
INNER = f"def f():\n    return {LAMBDA[8:]}"
NESTED = "def f():\n    def g():\n        return 1\n    return g\n"
COMMENTED = NESTED.replace("g():\n", "g():\n        # why\n").replace("return g", "return -g")
REBOUND = "check = (\n    min,\n    max,\n)[0]\n"
TWO = "class A:\n    def may(self):\n        return 1\n\n\nclass B(A):\n    def may(self):\n        return 2\n"
SWAPPED = TWO.replace("return 1", "return 3").replace("return 2", "return 1").replace("return 3", "return 2")
OVERRIDE = TWO + "\n\nclass C(A):\n    name = 'c'\n"
MAY = "\n    def may(self):\n        return 2\n"
IMPORTED = "from shop import check\n"
FIRST = ("a.py:1", "a.py:1 (before)")
BOTH = f"{CODE}\n\n{SHORT}"


@pytest.mark.parametrize(
    ("before", "after", "then", "now", "found"),
    [
        pytest.param(DEFAULT, DEFAULT.replace("True", "False"), {5}, {5}, FIRST, id="a default"),
        pytest.param(DEFAULT, DEFAULT.replace("True", "False"), (), (), (), id="a default of what was run"),
        pytest.param(ONE_LINE, ONE_LINE.replace("user.is_admin", "True"), (), (), FIRST, id="a body on the same line"),
        pytest.param(VIEW, VIEW[VIEW.index("def") :], {3}, {2}, ("a.py:2 (before)",), id="a decorator"),
        pytest.param(VIEW, VIEW[VIEW.index("def") :], (), (), (), id="a decorator of what was run"),
        pytest.param(NESTED, COMMENTED, {3}, {4}, (), id="a comment below the head"),
        pytest.param(
            *(SILENT, SILENT.replace("(r", "(a, r"), (), ()),
            ("a.py:2", "a.py:2 (before)"),
            id="a body that nobody can run",
        ),
        pytest.param(BASES, BASES.replace("LoginRequired, ", ""), {3}, {3}, FIRST, id="a base class"),
        pytest.param(BASES, BASES.replace("LoginRequired, ", ""), (), (), (), id="a base of what was run"),
        pytest.param(FIELDS, FIELDS.replace("NamedTuple", "Base"), (), (), FIRST, id="a base of fields"),
        pytest.param("x = 1\n", "x = 1\n" + FIELDS, (), (), (), id="a new class without methods"),
        pytest.param(MADE, MADE.replace("NamedTuple", "Base"), {6}, {6}, FIRST, id="a base, and nobody makes one"),
        pytest.param(MADE, MADE.replace("NamedTuple", "Base"), (), (), (), id="a base of what is made"),
        pytest.param("from b import Pair\n", FIELDS, (), (), ("a.py:1",), id="in the place of another"),
        pytest.param(
            *(LAMBDA, LAMBDA.replace("user.is", "not user.is"), (), ()), ("a.py:1", "a.py:1 (before)"), id="a lambda"
        ),
        pytest.param(LAMBDA, LAMBDA.replace("1,", "2,"), (), (), (), id="what stands beside a lambda"),
        pytest.param(INNER, INNER.replace("is_admin", "admin"), (), (), (), id="a lambda that a function makes"),
        pytest.param(OVERRIDE, OVERRIDE + MAY, {3, 8}, {3, 8, 15}, ("a.py:15",), id="an override like another"),
        pytest.param(
            *(TWO, SWAPPED, {3, 8}, {3, 8}),
            ("a.py:3", "a.py:8", "a.py:3 (before)", "a.py:8 (before)"),
            id="the methods of two classes",
        ),
        pytest.param(f"{CODE}\n\n{TWO}", f"{TWO}\n\n{CODE}", {3, 10, 15}, {3, 8, 13}, (), id="another order"),
        pytest.param(BOTH, f"{BOTH}\n\n{CODE}", {3, 9}, {3, 9, 14}, ("a.py:14",), id="an older one again"),
        pytest.param(
            *(SHORT + REBOUND, REBOUND + SHORT, {2}, {6}),
            ("a.py:6", "a.py:2 (before)"),
            id="the name now means another",
        ),
        pytest.param(IMPORTED, IMPORTED + CODE, (), {4}, ("a.py:4",), id="in the place of an import"),
    ],
)
def test_what_import_alone_runs_and_what_only_looks_moved_needs_a_run(
    before: str, after: str, then: Collection[int], now: Collection[int], found: tuple[str, ...]
) -> None:
    assert lines(before, after, then, now, known="check may Pair") == found


@pytest.mark.parametrize(
    ("before", "made", "found"),
    [
        pytest.param(FIELDS, "Pair", (), id="a test makes one"),
        pytest.param(FIELDS, "Point", FIRST, id="a test makes something else"),
        pytest.param(
            f"{FIELDS}\n\nclass Point(Pair):\n    y: int\n", "Point", (), id="a test makes one of a class below"
        ),
        pytest.param(f"{FIELDS}\n\nclass Point(Base):\n    y: int\n", "Point", FIRST, id="that is below another"),
        pytest.param(f"{FIELDS}    def may(self):\n        return 1\n", "Pair", FIRST, id="its methods are not run"),
        pytest.param("class Pair(NamedTuple): may = lambda self: 1\n", "Pair", FIRST, id="all on one line"),
    ],
)
def test_the_bases_of_a_class_without_methods_are_shown_by_a_test_that_makes_one(
    before: str, made: str, found: tuple[str, ...]
) -> None:
    pair = Pair(before, before.replace("NamedTuple", "Base"), {4}, {4})
    assert unrun({"a.py": pair}, lambda _: False, is_made=lambda name: name == made) == found


def test_of_many_classes_below_each_other_each_is_asked_about_once() -> None:
    asked: list[str] = []

    def is_made(name: str) -> bool:
        asked.append(name)
        return False

    chain = "class C0(Plain):\n    y: int\n" + "".join(f"class C{n}(C{n - 1}):\n    y: int\n" for n in range(1, 200))
    unrun({"a.py": Pair(chain, chain.replace("Plain", "Base"), set(), set())}, lambda _: False, is_made=is_made)
    assert len(asked) == 2 * 200, "before and after"


def test_lines_that_the_interpreter_reads_otherwise_are_not_run() -> None:
    for first in ("# coding: unicode_escape\n", "#!/bin/sh\n"):
        found = lines(SHORT, f"{first}{SHORT}# \\nimport os\n", (), ())
        assert found[:1] == ("a.py:1",) and "a.py:4" in found


def test_a_copy_too_many_was_not_moved() -> None:
    there = {"a.py": Pair(CODE, "x = 1\n", {3}), "b.py": Pair("", CODE, (), {3}), "c.py": Pair("", CODE, (), {3})}
    assert unrun(there, lambda _: True) == ("b.py:3", "c.py:3")


def test_a_method_is_not_moved_to_another_file() -> None:
    method = "class Shop:\n    def may(self):\n        return 1\n"
    there = {"a.py": Pair(method, "class Shop:\n    pass\n", {3}), "b.py": Pair("", "x = 1\n" + method, (), {4})}
    assert unrun(there, lambda _: True) == ("a.py:3 (before)", "b.py:4")


def test_a_name_that_somebody_still_knows_is_missed() -> None:
    assert lines(CODE + "\n\nx = 1\n", "x = 1\n", {3}, set(), known="check") == ("a.py:3 (before)",)


def test_what_is_moved_word_for_word_to_another_file_needs_no_run() -> None:
    moved = {"a.py": Pair(CODE, "x = 1\n", {3}), "b.py": Pair("", CODE, (), {3})}
    assert unrun(moved, lambda _: True) == ()
    changed = {"a.py": Pair(CODE, "x = 1\n", {3}), "b.py": Pair("", CODE.replace("< 0", "< 1"), (), {3})}
    assert unrun(changed, lambda _: True) == ("a.py:3 (before)", "b.py:3")


# --- tests of what is taken away -----------------------------------------------------------------------------

LESS = "class Invoice:\n    def total(self):\n        pass\n"
INVOICE = f"LATE_FEE = 500\n\n{LESS}\n    def to_pay(self):\n        return LATE_FEE\n"
TESTS = {
    "tests/test_invoice.py": "def test_fee():\n    assert invoice().to_pay() == 1\n\n"
    "def test_total():\n    assert invoice().total() == 1\n"
}


def may_go(task: TaskSpec = TASK, after: str = LESS, known: str = "") -> list[str]:
    found = obsolete(task, TESTS, [(INVOICE, after)], lambda name: name in known.split())
    assert all(path in TESTS for path, _ in found)
    return sorted(name for _, name in found)


def test_a_test_may_go_with_what_the_task_removes() -> None:
    assert may_go() == ["test_fee"]


def test_a_test_of_what_is_still_there_may_not_go() -> None:
    assert may_go(after=INVOICE) == []
    assert may_go(known="to_pay") == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Remove `to_pay`.", True),
        ("Drop to_pay, please.", True),
        ("to_pay is to be deleted", True),
        ("Round in to_pay. Remove the comment.", False),
        ("Do not remove to_pay.", False),
        ("Remove the comment, keep to_pay.", False),
    ],
)
def test_only_what_a_sentence_asks_to_remove_is_removed(text: str, names: bool) -> None:
    task = TaskSpec("t1", "Tidy up", text)
    assert ("to_pay" in names_to_remove(task)) == names
    assert may_go(task) == (["test_fee"] if names else [])


# --- methods that nobody knows -------------------------------------------------------------------------------

METHODS = "class Shop(Base):\n    def name(self):\n        return 1\n\n    def old(self):\n        return 2\n"
LEFT = METHODS.partition("\n    def old")[0] + "\n"


@pytest.mark.parametrize(
    ("known", "hooks", "decorator", "is_unseen"),
    [
        pytest.param("", "", "", False, id="nobody knows it"),
        pytest.param("", "", "    @property\n", False, id="as a property"),
        pytest.param("old", "", "", True, id="the product does"),
        pytest.param("", "old", "", True, id="a package may call it"),
        pytest.param("", "", "    @receiver\n", True, id="its decorator may have told somebody"),
    ],
)
def test_a_method_that_goes_needs_no_run_only_if_nobody_can_call_it(
    known: str, hooks: str, decorator: str, is_unseen: bool
) -> None:
    before = METHODS.replace("    def old", f"{decorator}    def old")
    pair = Pair(before, LEFT, {number for number, line in enumerate(before.split("\n"), 1) if "return 2" in line})
    found = unrun({"a.py": pair}, lambda name: name in known.split(), lambda name: name in hooks.split())
    assert bool(found) == is_unseen


@pytest.mark.parametrize(("name", "code"), [("get_things_of_nobody", 0), ("setUp", 1)])
def test_a_name_is_looked_for_in_all_that_is_installed(name: str, code: int, tmp_path: Path) -> None:
    (tmp_path / "pathlib.py").write_text("import sys\nsys.exit(0)\n")  # the repository's word counts for nothing
    asked = run((sys.executable, *ASKS_PACKAGES[1:], name), cwd=tmp_path, env={}, timeout=60)
    assert asked.code == code


# --- files that move, or go ----------------------------------------------------------------------------------

PRICES = "import math\n\n\ndef total(prices):\n    return math.fsum(prices)\n"


@pytest.mark.parametrize(
    ("come", "moves"),
    [
        pytest.param({"shop/prices/core.py": PRICES}, {"shop.prices": "shop.prices.core"}, id="word for word"),
        pytest.param(
            {"shop/sums.py": PRICES + "\n\nx = 1\n"}, {"shop.prices": "shop.sums"}, id="beside something else"
        ),
        pytest.param({"shop/prices/__init__.py": PRICES}, {}, id="its name is the same"),
        pytest.param({"shop/sums.py": PRICES.replace("fsum", "prod")}, {}, id="it does something else"),
        pytest.param({"shop/a.py": PRICES, "shop/b.py": PRICES}, {}, id="nobody knows to where"),
        pytest.param({}, {}, id="it is gone"),
    ],
)
def test_a_module_has_moved_if_all_that_it_defines_stands_in_one_other(
    come: Mapping[str, str], moves: Mapping[str, str]
) -> None:
    assert moved_modules({"src/shop/prices.py": PRICES}, come) == moves


@pytest.mark.parametrize(
    ("moves", "old", "new"),
    [
        ({"a.b": "a.c.d"}, "from a.b import f\n", "from a.c.d import f\n"),
        ({"a.b": "a.c.d"}, "import a.b\n\na.b.f()\n", "import a.c.d\n\na.c.d.f()\n"),
        ({"a.b": "a.c.d"}, "    from a import b\n", "    from a.c import d as b\n"),
        ({"a.b": "a.c.d"}, "from a import b as x\n", "from a.c import d as x\n"),
        ({"a.b": "a.c.d"}, "patch('a.b.f')  # data.b, a.bc\n", "patch('a.c.d.f')  # data.b, a.bc\n"),
        ({"b": "c"}, "from b import f\nimport b\n\nb.b = 'b'\n", "from c import f\nimport c as b\n\nb.b = 'b'\n"),
        ({"a.b": "b"}, "from a import b\n", "import b as b\n"),
    ],
)
def test_an_old_test_is_asked_with_the_new_name_of_a_module(moves: Mapping[str, str], old: str, new: str) -> None:
    assert with_moved(old, moves) == new


@pytest.mark.parametrize(
    ("path", "other", "text", "is_named"),
    [
        pytest.param("shop/old.py", "shop/urls.py", "def go():\n    from . import old\n", True, id="an import inside"),
        pytest.param("shop/old.py", "shop/urls.py", "path('x', include('shop.old.urls'))\n", True, id="a route"),
        pytest.param("shop/old.py", "pyproject.toml", 'x = "shop.old:main"\n', True, id="an entry point"),
        pytest.param("shop/old.py", "shop/urls.py", "# shop.old was there\n", False, id="a comment"),
        pytest.param("shop/old.py", "shop/urls.py", "from shop.older import x\n", False, id="a longer name"),
        pytest.param("shop/old.py", "shop/urls.py", "old = 1\n", False, id="another thing of this name"),
        pytest.param("shop/templatetags/old.py", "shop/a.html", "{% load old %}", True, id="tags of a template"),
        pytest.param("shop/management/commands/old.py", "cron", "manage.py old\n", True, id="a command"),
    ],
)
def test_who_knows_a_deleted_module_misses_it(path: str, other: str, text: str, is_named: bool) -> None:
    assert still_named(path, {other: text, "shop/b.py": "x = 1\n"}) == ([other] if is_named else [])
