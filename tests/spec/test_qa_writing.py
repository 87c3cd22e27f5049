"""The order to write missing tests, and the faults that are planted to try them."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sisimpur.agents.qa.analysis.mutants import MOST, Mutant, mutants
from sisimpur.agents.qa.test_writer import Sample, new_file, order, sample_of
from sisimpur.shared.model.evidence import Evidence
from sisimpur.shared.model.scope import is_plain_path
from sisimpur.shared.model.work import Branch, TaskSpec

TASK = TaskSpec("t7", "Round the total", "Prices are {rounded}.", files=("shop/prices.py",), guards=("secret/",))
BRANCH = Branch("agent/t7", "b", "c", ("shop/prices.py", "shop/gone.py"))
TREE = ("shop/prices.py", "tests/test_a.py", "tests/test_b.py", "tests/conftest.py", "docs/test_x.py")
EVIDENCE = Evidence("c", "t", "b", "pytest", "box", uncovered={"shop/prices.py": (4, 5)})
PYTEST = Sample("tests/test_a.py", "def test_a():\n    assert 1\n")


# --- the order -----------------------------------------------------------------------------------------------


def test_one_new_file_is_ordered_and_nothing_may_be_edited() -> None:
    told = order(TASK, BRANCH, EVIDENCE, TREE, PYTEST)
    assert (told.files, told.new_files) == ((), ("tests/test_round_the_total.py",))
    assert told.context == ("shop/prices.py", "tests/test_a.py")
    assert (told.id, told.guards) == (TASK.id, TASK.guards)


def test_the_order_says_what_is_missing_and_what_was_asked_for() -> None:
    text = order(TASK, BRANCH, EVIDENCE, TREE, PYTEST).description
    for words in ("tests/test_round_the_total.py", "shop/prices.py:4, shop/prices.py:5", "Prices are {rounded}."):
        assert words in text
    for words in ("hypothesis", "fail without the change", "Do not change any other file"):
        assert words in text


@pytest.mark.parametrize(
    ("sample", "words"),
    [
        (PYTEST, "plain functions"),
        (Sample("shop/tests.py", "from django.test import TestCase\n"), "django.test.TestCase"),
        (Sample("tests/test_a.py", "import unittest\n"), "unittest.TestCase"),
        (None, "plain functions"),
    ],
)
def test_the_style_is_the_repositorys(sample: Sample | None, words: str) -> None:
    assert words in order(TASK, BRANCH, EVIDENCE, TREE, sample).description


@pytest.mark.parametrize(
    ("paths", "path"),
    [
        pytest.param(TREE, "tests/test_round_the_total.py", id="where most tests are"),
        pytest.param(("shop/tests/test_a.py", *TREE), "shop/tests/test_round_the_total.py", id="the package's own"),
        pytest.param(("shop/tests.py", *TREE), "shop/test_round_the_total.py", id="beside Django's tests.py"),
        pytest.param(("test_a.py",), "test_round_the_total.py", id="at the top"),
        pytest.param(("shop/prices.py",), "tests/test_round_the_total.py", id="there is none yet"),
        pytest.param(
            (*TREE, "tests/test_round_the_total.py"), "tests/test_round_the_total_2.py", id="the name is taken"
        ),
    ],
)
def test_the_new_file_lies_where_the_repository_keeps_its_tests(paths: tuple[str, ...], path: str) -> None:
    assert new_file(TASK, BRANCH.changed, paths) == path


def test_the_sample_lies_beside_the_new_file() -> None:
    assert sample_of(BRANCH.changed, TREE) == "tests/test_a.py"
    assert sample_of(BRANCH.changed, ("shop/tests.py", *TREE)) == "shop/tests.py"
    assert sample_of(BRANCH.changed, ("shop/prices.py",)) == ""


@given(st.text())
def test_no_title_leads_to_a_strange_path(title: str) -> None:
    path = new_file(replace(TASK, title=title), BRANCH.changed, TREE)
    assert is_plain_path(path) and path.startswith("tests/test_") and path.endswith(".py")


# --- planted faults ------------------------------------------------------------------------------------------


def whats(text: str, lines: range | None = None) -> list[str]:
    changed = lines or range(1, text.count("\n") + 2)
    return [mutant.what for mutant in mutants([("a.py", text, changed)], most=100)]


def sources(text: str) -> list[str]:
    return [mutant.source.decode() for mutant in mutants([("a.py", text, range(1, 100))], most=100)]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("x = a == b", "x = ((a) != (b))"),
        ("x = a < b", "x = ((a) >= (b))"),
        ("x = a in b", "x = ((a) not in (b))"),
        ("x = a is None", "x = ((a) is not (None))"),
        ("x = a + b", "x = ((a) - (b))"),
        ("x = a - b", "x = ((a) + (b))"),
        ("x = a and b", "x = ((a) or (b))"),
        ("x = a or b", "x = ((a) and (b))"),
        ("x = not a", "x = bool((a))"),
        ("x = 0", "x = 1"),
        ("x = 7", "x = 0"),
        ("x = True", "x = False"),
        ("x = 'ü'", 'x = ""'),
        ("def f():\n    return 'ü' + g(\n        x)", "def f():\n    return None"),
        ("def f():\n    g(x)", "def f():\n    pass"),
    ],
)
def test_a_fault_is_planted(text: str, fault: str) -> None:
    assert fault in sources(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('"""A text."""', id="a docstring"),
        pytest.param("def f(x: 'int') -> 'str': ...", id="annotations"),
        pytest.param("@route('/')\ndef f(): ...", id="decorators"),
        pytest.param("raise ValueError('message')", id="messages of errors"),
        pytest.param("log.info(x)", id="the log"),
        pytest.param("def f():\n    return None", id="returns None already"),
        pytest.param("x = None", id="None"),
        pytest.param("def f(:", id="no Python"),
        pytest.param("\0", id="no text"),
        pytest.param("import a", id="an import"),
        pytest.param("x = 1\ry = a == b", id="line ends of another age"),
    ],
)
def test_no_fault_is_planted_where_no_test_looks(text: str) -> None:
    assert whats(text) == []


TWENTY = "".join(f"def f{number}(x):\n    return x + {number + 2}\n\n" for number in range(20))


def test_only_changed_lines_get_faults() -> None:
    assert {mutant.line for mutant in mutants([("a.py", TWENTY, [2, 8])])} == {2, 8}


def test_at_most_twelve_are_planted_spread_over_the_lines_and_always_the_same() -> None:
    found = mutants([("a.py", TWENTY, range(1, 61))])
    assert len(found) == MOST == len({mutant.line for mutant in found})
    assert found[0].line == 2 and found[-1].line > 50
    assert found == mutants([("a.py", TWENTY, range(1, 61))])


def test_few_lines_get_several_faults_each() -> None:
    assert [mutant.what for mutant in mutants([("a.py", TWENTY, [2])])] == [
        *("returns None", "arithmetic became -", "2 became 0")
    ]


def test_a_fault_is_named_with_its_place() -> None:
    assert str(Mutant("a.py", 3, "== became !=", b"")) == "a.py:3 == became !="


SOME = st.sampled_from(
    [
        "x = a == b",
        "if a < b and not c:\n    d()",
        "for i in 3, 4:\n    i += 1",
        "x = f'{a + 1}' 'b'",
        "x = [1, 'ä']",
        "y = '''\nß\n''' + z",
    ]
)


@settings(deadline=None)
@given(st.lists(SOME, min_size=1, max_size=8))
def test_every_faulty_file_is_python_and_differs_in_one_place(parts: list[str]) -> None:
    text = "\n".join(parts)
    for mutant in mutants([("a.py", text, range(1, 1000))], most=50):
        assert ast.dump(ast.parse(mutant.source)) != ast.dump(ast.parse(text))


@given(st.text())
def test_no_text_makes_it_raise(text: str) -> None:
    mutants([("a.py", text, range(100))])
