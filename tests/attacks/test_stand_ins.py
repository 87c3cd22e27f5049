"""Promise 4: tests ask what they name, and code is what it looks like.

Before the rule each of these new files was imported in the place of what it is called like, its tests passed, and no
rule, no list of protected files and no report said a word of it.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sisimpur.agents.qa.test_runner import read_run
from sisimpur.agents.reviewer.rules import dependency_rules
from sisimpur.shared.model.change import marks_tests
from sisimpur.shared.model.evidence import Severity
from tests.edges.bench_scene import PYTEST, Scene, make_scene
from tests.spec.reviewing import Texts, case, file, found

GIVEN = "def given(*_):\n    return lambda test: lambda: None\n"
ASKS = {
    "property": "from hypothesis import given\n\n\n@given(1)\ndef test_one(x):\n    assert x == 2\n",
    "mean": "import statistics\n\n\ndef test_mean():\n    assert statistics.mean([1, 2]) == 7\n",
    "shop": "import shop\n\n\ndef test_total():\n    assert shop.total([1, 2]) == 3\n",
}
WRONG_SHOP = {"shop.py": "def total(prices):\n    return 0\n"}
RIGHT_SHOP = "def total(prices):\n    return sum(prices)\n"
STAND_INS = [
    pytest.param("property", "hypothesis.py", GIVEN, {}, "imported so far", id="a tool of tests"),
    pytest.param("mean", "statistics.py", "def mean(_):\n    return 7\n", {}, "Python's own", id="a module of Python"),
    pytest.param(
        "mean", "tests/statistics.py", "def mean(_):\n    return 7\n", {}, "Python's own", id="beside the tests"
    ),
    pytest.param(
        "shop", "tests/shop.py", RIGHT_SHOP, WRONG_SHOP, "place of shop.py", id="the product beside its tests"
    ),
    pytest.param(
        "shop", "shop/__init__.py", RIGHT_SHOP, WRONG_SHOP, "place of shop.py", id="a package before a module"
    ),
]


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    return make_scene(tmp_path_factory)


@pytest.mark.parametrize(("asks", "path", "text", "there", "whose"), STAND_INS)
def test_a_file_in_the_place_of_what_is_imported_is_the_owners(
    scene: Scene, asks: str, path: str, text: str, there: Texts, whose: str
) -> None:
    tests = {"tests/test_it.py": ASKS[asks]}
    assert set(read_run(scene.run({**there, **tests, path: text}, PYTEST)).outcomes.values()) == {"passed"}
    (one,) = (one for one in found(path, text, tracked={**there, **tests}) if one.rule == "another's place")
    assert (one.is_the_owners, one.severity, whose in one.text) == (True, Severity.MEDIUM, True)


HONEST = [
    pytest.param("shop/statistics.py", {"shop/__init__.py": ""}, id="in a package"),
    pytest.param("prices.py", {"tests/test_prices.py": "import prices\n"}, id="what a test asks for"),
    pytest.param("tests/helpers.py", {"tests/test_a.py": "import helpers\n"}, id="a helper of tests"),
    pytest.param("tests/factory.py", {"tests/test_a.py": "import shop\n"}, id="called like a tool that nobody uses"),
    pytest.param("web/calendar.py", {"web/main.py": "from web.pages import page\n"}, id="in a folder that is no root"),
    pytest.param("poetry.py", {"pyproject.toml": "[tool.poetry.dependencies]\npython = '3'\n"}, id="no dependency"),
]


@pytest.mark.parametrize(("path", "there"), HONEST)
def test_a_name_of_ones_own_is_nothing_to_ask_about(path: str, there: Texts) -> None:
    assert found(path, "def total(prices):\n    return sum(prices)\n", tracked=there) == ()


@pytest.mark.parametrize(
    ("path", "configured"),
    [("backend/yaml.py", "[tool.pytest.ini_options]\npythonpath = ['backend']\n"), ("lib/markdown_it.py", "")],
)
def test_other_roots_and_declared_packages_are_known(path: str, configured: str) -> None:
    there = {"pyproject.toml": f"[project]\ndependencies = ['markdown-it']\n{configured}", "app.py": "import yaml\n"}
    assert [one.rule for one in found(path, "A = 1\n", tracked=there)] == ["another's place"]


def test_a_module_that_moves_takes_nobodys_place() -> None:
    gone = file("shop.py", None, RIGHT_SHOP)
    assert not list(dependency_rules.findings(case([gone, file("src/shop.py", RIGHT_SHOP)])))


# --- a comment that is code -------------------------------------------------------------------------------------

HIDDEN = [
    pytest.param("# coding: unicode_escape\n# Totals.\\u000aprint(17)\n", id="escapes"),
    pytest.param("#!/usr/bin/env python3\n# vim: set fileencoding=utf-7 :\n# Totals.+AAo-print(17)\n", id="UTF-7"),
]
PLAIN = ["utf-8", "UTF_8", "latin-1", "iso-8859-15", "cp1252", "ascii", "utf-8-unix"]


@pytest.mark.parametrize("text", HIDDEN)
def test_a_file_of_comments_that_python_reads_as_code_is_hidden_text(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.py").write_text(text)
    ran = subprocess.run([sys.executable, tmp_path / "a.py"], capture_output=True, check=True, text=True)
    assert ran.stdout == "17\n"
    for path in ("app/a.py", "tests/test_a.py", "tests/__init__.py"):
        assert [(one.rule, one.severity) for one in found(path, text)] == [("hidden text", Severity.HIGH)]
    if text.startswith("#!"):
        assert [one.rule for one in found("bin/tool", text)] == ["hidden text"]


@pytest.mark.parametrize("text", [one.values[0] for one in HIDDEN] + ["# Totals.\rprint(17)\n"])
def test_a_mark_of_a_package_that_no_task_names_holds_no_code(text: str) -> None:
    assert not marks_tests(file("tests/__init__.py", str(text)).change, ["tests/test_a.py"])
    assert marks_tests(file("tests/__init__.py", "# Tests.\n").change, ["tests/test_a.py"])


@pytest.mark.parametrize("coding", PLAIN)
def test_a_coding_in_which_ascii_is_ascii_hides_nothing(coding: str) -> None:
    assert found("app/a.py", f"# -*- coding: {coding} -*-\nTOTAL = 1\n") == ()
