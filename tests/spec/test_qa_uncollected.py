"""Tests that never run are no tests: each reason why a runner leaves a file out, and the line that mends it."""

from __future__ import annotations

import pytest

from sisimpur.agents.qa.analysis.touched import SuiteFiles, Touched
from sisimpur.agents.qa.evidence_rule import Runs, Texts, problems
from sisimpur.agents.qa.uncollected import RULE, Suite, uncollected
from sisimpur.shared.model.change import Change
from sisimpur.shared.model.evidence import Outcome, Problem, SuiteRun
from sisimpur.shared.model.work import TaskSpec

DJANGO, PYTEST = "python manage.py test", "python -m pytest"
CASE = "from django.test import TestCase\n\nclass Prices(TestCase):\n    def test_a(self):\n        assert 1 == 2\n"
PLAIN = "def test_a():\n    assert 1 == 2\n"
IN_CLASS = "class {}:\n    def test_a(self):\n        assert 1 == 2\n"
SITE = ("manage.py", "shop/__init__.py", "shop/views.py", "shop/tests/__init__.py", "shop/tests/test_old.py")
OF_DJANGO = "shop.tests.test_old.Old.test_a"
LIBRARY = ("lib/prices.py", "tests/test_old.py")
OF_PYTEST = "tests/test_old.py::test_a"


def found(
    path: str, text: str, command: str, tree: tuple[str, ...], *ran: str, end: str = "finished", new: str = ""
) -> list[Problem]:
    paths = {*tree, path, *([new] if new else [])}
    outcomes: dict[str, Outcome] = dict.fromkeys(ran, "passed")
    suite = Suite(command, paths, SuiteRun(end, 0, outcomes), SuiteFiles(paths))
    touched = Touched((Change(path, "added", "", "100644", added_lines=((1, "x"),)),))
    return list(uncollected(touched, suite, {path: text}.__getitem__))


@pytest.mark.parametrize(
    ("path", "text", "command", "tree", "ran", "remedy", "mend"),
    [
        pytest.param(
            *("api/tests/test_new.py", CASE, DJANGO, ("manage.py", "api/__init__.py"), (), "correct"),
            "add api/tests/__init__.py, empty",
            id="Django: a folder that is no package, and nothing else is there",
        ),
        pytest.param(
            *("site/api/tests/test_new.py", CASE, DJANGO, ("site/manage.py",), (), "correct"),
            "add site/api/__init__.py, site/api/tests/__init__.py, empty",
            id="Django: two such folders, below that of manage.py",
        ),
        pytest.param(
            *("shop/more/test_new.py", CASE, DJANGO, (*SITE, "shop/more.py"), (OF_DJANGO,), "ask owner"),
            "shop/more.py has the name of its folder",
            id="Django: a package there would hide a module",
        ),
        pytest.param(
            *("shop/tests/prices_test.py", CASE, DJANGO, SITE, (OF_DJANGO,), "ask owner"),
            "call it test_prices_test.py",
            id="Django: another name than its pattern",
        ),
        pytest.param(
            *("shop/tests/test_new.py", PLAIN, DJANGO, SITE, (OF_DJANGO,), "correct"),
            "make them methods of a class on TestCase",
            id="Django: functions",
        ),
        pytest.param(
            *("tests/prices.py", PLAIN, PYTEST, LIBRARY, (OF_PYTEST,), "ask owner"),
            "call it test_prices.py",
            id="pytest: another name than its pattern",
        ),
        pytest.param(
            *("tests/test_new.py", IN_CLASS.format("PricesTests"), PYTEST, LIBRARY, (OF_PYTEST,), "correct"),
            "call the class PricesTests TestPrices",
            id="pytest: a class without Test in front",
        ),
        pytest.param(
            "tests/test_new.py",
            IN_CLASS.format("TestPrices") + "\n    def __init__(self):\n        pass\n",
            *(PYTEST, LIBRARY, (OF_PYTEST,), "correct", "take __init__ out of TestPrices"),
            id="pytest: a class with a constructor",
        ),
        pytest.param(
            *("lib/test_new.py", PLAIN, PYTEST, LIBRARY, (OF_PYTEST,), "ask owner"),
            "`python -m pytest` leaves it out; it does collect tests/test_old.py",
            id="pytest: elsewhere than its testpaths",
        ),
        pytest.param(
            *("tests/test_new.py", IN_CLASS.format("Prices"), "make test", LIBRARY, (OF_PYTEST,), "correct"),
            "call the class Prices TestPrices",
            id="what make starts is told by the ids of tests",
        ),
    ],
)
def test_a_test_file_of_which_nothing_is_collected_is_told_with_the_line_that_mends_it(
    path: str, text: str, command: str, tree: tuple[str, ...], ran: tuple[str, ...], remedy: str, mend: str
) -> None:
    (problem,) = found(path, text, command, tree, *ran, end="finished" if ran else "no tests")
    assert (problem.rule, problem.remedy) == (RULE, remedy)
    assert path in problem.text and mend in problem.text


@pytest.mark.parametrize(
    ("path", "text", "ran", "end"),
    [
        pytest.param("tests/test_new.py", PLAIN, ("tests/test_new.py::test_a",), "finished", id="it is run"),
        pytest.param("tests/test_new.py", PLAIN, ("tests/test_new.py",), "finished", id="it fails to be collected"),
        pytest.param("tests/helpers.py", "def price():\n    return 1\n", (OF_PYTEST,), "finished", id="no test in it"),
        pytest.param("tests/conftest.py", PLAIN, (OF_PYTEST,), "finished", id="it configures tests"),
        pytest.param("tests/base.py", IN_CLASS.format("BaseTests"), (OF_PYTEST,), "finished", id="others inherit them"),
        pytest.param("tests/test_new.py", PLAIN, (OF_PYTEST,), "timed out", id="nobody knows what was still to come"),
        pytest.param("tests/test_new.py", PLAIN, ("odd.Id.test_a",), "finished", id="nobody knows whose ids these are"),
    ],
)
def test_nothing_is_said_of_other_files(path: str, text: str, ran: tuple[str, ...], end: str) -> None:
    assert found(path, text, PYTEST, LIBRARY, *ran, end=end) == []


def test_the_missing_proof_is_not_called_a_missing_test() -> None:
    code = Change("lib/prices.py", "modified", "100644", "100644", added_lines=((1, "x = 1"),))
    left_out = Problem(RULE, "tests/prices.py holds tests …", "ask owner")
    run = SuiteRun("finished", 0, {OF_PYTEST: "passed"})
    told = problems(
        TaskSpec("a1", "Add a price", "It."),
        Touched((code,)),
        Runs(run, run),
        SuiteFiles(LIBRARY),
        Texts(uncollected=[left_out]),
    )
    assert [one.text.rpartition(": ")[2] for one in told] == ["no test that it brings is run", left_out.text]
