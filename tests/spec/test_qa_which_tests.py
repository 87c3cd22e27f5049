"""What is a test: what held tests when the base's were run and what only these import, whatever it is called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from sisimpur.agents.qa.agent import Qa, QaPolicy
from sisimpur.agents.qa.analysis.touched import SuiteFiles
from sisimpur.agents.qa.analysis.which_tests import PythonTexts, holding_tests, keeps_examples, misnamed, unnamed
from sisimpur.shared.model.evidence import Outcome, SuiteRun, rules
from tests.spec.test_qa_agent import FILES, NEW, OLD, ROUNDED, RUN, SHOP, TASK, Stage

UNSHOWN = ("nothing shows the new behaviour",)
SHARE = "def share(cents):\n    return cents // 2\n"
OTHER = SHARE.replace("// 2", "// 3")
HELD = frozenset({"tests/test_shop.py"})


@pytest.mark.parametrize(
    "path", ["ab_test.py", "test.py", "testing/client.py", "test_writer.py", "web/tests_of_prices.py"]
)
def test_what_only_looks_like_a_test_is_the_product_and_needs_proof(tmp_path: Path, path: str) -> None:
    stage = Stage(tmp_path, {**FILES, path: SHARE}).given_change({path: OTHER})
    assert rules(stage.check().problems) == UNSHOWN


def test_with_a_test_of_its_own_it_goes_through(tmp_path: Path) -> None:
    tests = "from ab_test import share\n\ndef test_share():\n    assert share(9) == 3\n"
    stage = Stage(tmp_path, {**FILES, "ab_test.py": SHARE})
    found = stage.given_change({"ab_test.py": OTHER, "tests/test_share.py": tests}).check()
    assert found.problems == () and found.proving == ("tests/test_share.py::test_share",)


def test_new_code_may_not_call_itself_a_test_where_the_product_imports_it(tmp_path: Path) -> None:
    dummy = SHARE + "\ndef test_nothing():\n    assert share(2) == 1\n"
    shop = "from price_test import share\n" + SHOP
    found = Stage(tmp_path, FILES).given_change({"shop.py": shop, "price_test.py": dummy}).check()
    assert rules(found.problems) == UNSHOWN


def test_code_that_gains_a_test_does_not_become_one(tmp_path: Path) -> None:
    stage = Stage(tmp_path, {**FILES, "testing/client.py": SHARE})
    dummy = OTHER + "\ndef test_nothing():\n    assert share(2) == 0\n"
    assert UNSHOWN[0] in rules(stage.given_change({"testing/client.py": dummy}).check().problems)


@pytest.mark.parametrize("path", ["tests/helpers.py", "tests/__init__.py", "test_support.py"])
def test_a_helper_of_the_tests_needs_none(tmp_path: Path, path: str) -> None:
    uses = "from test_support import share\n\ndef test_it():\n    assert share(6) > 1\n"
    stage = Stage(tmp_path, {**FILES, "tests/test_uses.py": uses, "test_support.py": SHARE, path: SHARE})
    assert stage.given_change({path: OTHER}).check().problems == ()


def test_a_file_that_waited_for_its_first_tests_is_one_of_tests(tmp_path: Path) -> None:
    stage = Stage(tmp_path, {**FILES, "web/tests.py": "# Create your tests here.\n"})
    found = stage.given_change({"shop.py": ROUNDED, "web/tests.py": NEW.replace("test_sum", "test_web")}).check()
    assert found.problems == () and found.proving == ("web/tests.py::test_rounded",)


def test_a_suite_in_one_file_works_like_one_in_a_folder(tmp_path: Path) -> None:
    stage = Stage(tmp_path, {"shop.py": SHOP, "test.py": OLD}).given_change({"shop.py": ROUNDED, "test.py": NEW})
    found = stage.check()
    assert found.problems == () and found.proving == ("test.py::test_rounded",)
    assert stage.runs[2:] == [("commit", ("test.py",), False), ("base", ("test.py",), False)]


def test_a_test_of_qas_may_lie_beside_it_or_in_it(tmp_path: Path) -> None:
    stage = Stage(tmp_path, {"shop.py": SHOP, "test.py": OLD}).given_change({"shop.py": ROUNDED})
    order = stage.qa.tests_for(TASK, stage.branch, stage.check())
    assert order.new_files == ("test_shop.py",), "the command finds it there, too"
    stage.command = "python -m unittest test"
    order = stage.qa.tests_for(TASK, stage.branch, stage.check())
    assert (order.files, order.new_files) == (("test.py",), ()), "this command runs nothing else"


def test_the_owners_word_on_what_is_a_test_decides(tmp_path: Path) -> None:
    def checked(folder: str, path: str, *patterns: str) -> tuple[str, ...]:
        stage = Stage(tmp_path / folder, {**FILES, path: SHARE}).given_change({path: OTHER})
        qa: Qa = replace(stage.qa, policy=QaPolicy("", 1.0, patterns))
        return rules(qa.check(RUN, TASK, stage.branch).problems)

    assert checked("a", "tests/site.py", "tests/test_*.py") == UNSHOWN
    assert checked("b", "bench/site.py", "tests/", "bench/") == ()
    assert checked("c", "bench/site.py") == UNSHOWN


# --- the rule itself -----------------------------------------------------------------------------------------


def sources(path: str, product: Mapping[str, str], tests: Mapping[str, str], text: str = SHARE) -> PythonTexts:
    return PythonTexts({path: (text, text + "\n")}, lambda: product, lambda: tests)


@pytest.mark.parametrize(
    ("path", "importer", "is_product"),
    [
        ("shop/ab_test.py", ("shop/views.py", "from shop.ab_test import share"), True),
        ("shop/ab_test.py", ("shop/views.py", "from .ab_test import share"), True),
        ("tests/seed.py", ("shop/seed.py", "from tests.seed import share"), True),
        ("tests/utils.py", ("shop/views.py", "import utils"), False),
        ("tests/deep/seed.py", ("shop/views.py", "import json"), False),
        ("shop/testing/client.py", ("tests/test_shop.py", "from shop.testing.client import share"), True),
        ("shop/test_utils.py", ("tests/test_shop.py", "from shop.test_utils import share"), False),
        ("testing/seed.py", ("tests/test_shop.py", "from testing.seed import share"), False),
        ("testing/seed.py", ("shop/views.py", "import json"), True),
    ],
)
def test_who_imports_it_says_what_it_is(path: str, importer: tuple[str, str], is_product: bool) -> None:
    other, text = importer
    product = {"shop/models.py": "", **({other: text} if other.startswith("shop") else {})}
    found = misnamed(HELD, sources(path, product, {} if other in product else {other: text}))
    assert found == ({path} if is_product else frozenset())


@pytest.mark.parametrize(
    ("path", "importer", "is_test"),
    [("checks/shop.py", "", True), ("app.py", "", False), ("checks/shop.py", "from checks.shop import share", False)],
)
def test_a_suite_by_another_name_is_one_unless_the_product_imports_it(path: str, importer: str, is_test: bool) -> None:
    found = unnamed({path}, sources(path, {"shop.py": importer}, {}))
    assert found == ({path} if is_test else frozenset())


def test_examples_in_docstrings_make_no_test_of_the_product() -> None:
    passed: dict[str, Outcome] = {"shop.py::shop.total": "passed", "tests/test_shop.py::test_a[1.5]": "passed"}
    places = SuiteFiles(["shop.py", "tests/test_shop.py"])
    assert holding_tests(SuiteRun("finished", 0, passed), places) == HELD
    assert holding_tests(SuiteRun("finished", 0, {"nowhere.T.test_a": "passed"}), places) is None


SHOWS = '''def total(cents):
    """Add them.

    >>> total([1, 2])
    3
    """
    return sum(cents)
'''


@pytest.mark.parametrize(
    ("path", "then", "now", "keeps"),
    [
        ("shop.py", SHOWS, SHOWS.replace("sum(cents)", "sum(cents, 0)"), True),
        ("shop.py", SHOWS, "import math\n\n" + SHOWS + SHOWS.replace("total", "most"), True),
        ("shop.py", SHOWS, SHOWS.replace("Add them", "Sum them"), True),
        ("shop.py", SHOWS, SHOWS.replace("    3", "    4"), False),
        ("shop.py", SHOWS, SHOWS.replace("[1, 2])", "[1, 2])  # doctest: +SKIP"), False),
        ("shop.py", SHOWS, SHOWS.replace(">>> ", ""), False),
        ("shop.py", SHOWS, SHOWS.replace("    3\n", "    3\n    >>> total([])\n    0\n"), False),
        ("shop.py", SHOWS, SHOWS.replace("def total", "def added"), False),
        ("shop.py", SHOWS, "def total(", False),
        ("shop.py", SHOWS, SHOWS + "__test__ = {}\n", False),
        ("shop.py", SHARE, OTHER, False),
        ("README.rst", "Use it:\n\n>>> 1 + 1\n2\n", "Use it so:\n\n>>> 1 + 1\n2\n", True),
        ("README.rst", "Use it:\n\n>>> 1 + 1\n2\n", "Use it:\n\n>>> 2 + 0\n2\n", False),
    ],
)
def test_the_examples_of_a_file_are_compared_definition_by_definition(
    path: str, then: str, now: str, keeps: bool
) -> None:
    assert keeps_examples(path, then, now) is keeps
