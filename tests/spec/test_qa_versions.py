"""A change of versions alone: what is one, and how it is told. The owner is asked, and nobody for a test."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.agents.qa.tools.versions import moved_in, with_versions
from sisimpur.shared.model.evidence import UNSHOWN, Evidence, Problem, rules

PROJECT = """[project]
name = "shop"
version = "1.0"
dependencies = ["Django>=5.2.18", "toml.kit[fast]==0.10 ; python_version > '3.9'"]

[tool.pytest.ini_options]
addopts = "-q"
"""
POETRY = """[tool.poetry.dependencies]
python = "^3.11"
django = "^5.2.18"
toml = {version = "0.10", extras = ["fast"]}
"""
LOCK = """[[package]]
name = "django"
version = "5.2.18"
source = { registry = "https://pypi.org/simple" }
sdist = { url = "https://files.pythonhosted.org/django-5.2.18.tar.gz", hash = "sha256:aa", size = 10 }

[[package]]
name = "sqlparse"
version = "0.5.1"
"""
SUMS = " \\\n    --hash=sha256:aa \\\n    --hash=sha256:bb\n# via x\n"
PINS = f"--index-url https://pypi.org/simple\nDjango==5.2.18{SUMS}six==1.16\n"


def told(path: str, before: str, after: str) -> list[str] | None:
    moved = moved_in(path, before, after)
    return None if moved is None else [str(one) for one in moved]


@pytest.mark.parametrize(
    ("path", "text", "old", "new", "said"),
    [
        ("requirements.in", "Django>=5.2\n", ">=5.2", ">=5.3", "django from >=5.2 to >=5.3"),
        ("requirements.txt", PINS, "5.2.18", "5.2.19", "django from 5.2.18 to 5.2.19"),
        ("requirements.txt", PINS, "5.2.18", "5.2.9", "django from 5.2.18 back to 5.2.9"),
        ("constraints.txt", "a[x, y] == 1 ; python_version < '3'  # why\n", "== 1", "== 2", "a[x,y] from 1 to 2"),
        ("requirements.txt", "Django\n", "Django", "Django<6", "django from any to <6"),
        ("pyproject.toml", PROJECT, ">=5.2.18", ">=5.2.19", "django from >=5.2.18 to >=5.2.19"),
        ("pyproject.toml", PROJECT, "==0.10", "==0.11", "toml-kit[fast] from 0.10 to 0.11"),
        ("pyproject.toml", POETRY, "^5.2.18", "^5.2.19", "django from ^5.2.18 to ^5.2.19"),
        ("pyproject.toml", POETRY, '"0.10"', '"0.11"', "toml from 0.10 to 0.11"),
        ("uv.lock", LOCK, "5.2.18", "5.2.19", "django from 5.2.18 to 5.2.19"),
        ("poetry.lock", LOCK, "0.5.1", "0.5.3", "sqlparse from 0.5.1 to 0.5.3"),
    ],
)
def test_a_change_of_versions_is_told_by_name_from_and_to(path: str, text: str, old: str, new: str, said: str) -> None:
    assert told(path, text, text.replace(old, new)) == [said]


@pytest.mark.parametrize(
    ("path", "text", "old", "new"),
    [
        pytest.param("requirements.txt", PINS, "six", "sixx", id="another package"),
        pytest.param("requirements.txt", PINS, "six==1.16\n", "", id="a package less"),
        pytest.param("requirements.txt", PINS, "six==1.16", "six @ https://x.example/six.whl", id="from elsewhere"),
        pytest.param("requirements.txt", PINS, "pypi.org", "evil.example", id="another index"),
        pytest.param("requirements.txt", PINS, "six==1.16", "six==1.16 ; python_version > '3'", id="another marker"),
        pytest.param("requirements.txt", PINS, "six==1.16", "six[all]==1.16", id="another extra"),
        pytest.param("requirements.txt", PINS, "# via x", "-r more.txt", id="another file"),
        pytest.param("pyproject.toml", PROJECT, '"1.0"', '"1.1"', id="our own version is a release"),
        pytest.param("pyproject.toml", PROJECT, '"-q"', '"-q -k not_slow"', id="how tests run"),
        pytest.param("pyproject.toml", PROJECT, "Django>=5.2.18", "Djnago>=5.2.18", id="another name"),
        pytest.param("pyproject.toml", POETRY, '["fast"]', '["slow"]', id="another extra in a table"),
        pytest.param("pyproject.toml", PROJECT, "[project]", "[project", id="no TOML"),
        pytest.param("uv.lock", LOCK, "sqlparse", "sqlparser", id="another package in the lock"),
        pytest.param("uv.lock", LOCK, "files.pythonhosted.org", "evil.example", id="another host in the lock"),
        pytest.param(
            "uv.lock", LOCK, '"https://pypi.org/simple"', '"https://pypi.org/other"', id="another index there"
        ),
        pytest.param("requirements.txt", PINS, "six==1.16", "six==1.16 --global-option=x", id="an option"),
        pytest.param("uv.lock", LOCK, "[[package]]", "[[packages]]", id="no lock"),
    ],
)
def test_whatever_else_differs_is_more_than_versions(path: str, text: str, old: str, new: str) -> None:
    assert told(path, text, text.replace(old, new)) is None


@given(st.text(), st.text(), st.sampled_from(["requirements.txt", "pyproject.toml", "uv.lock", "package.json"]))
def test_no_text_makes_it_raise_and_the_same_text_has_moved_nothing(before: str, after: str, path: str) -> None:
    moved_in(path, before, after)
    assert moved_in(path, before, before) in ((), None)


ASKED = Evidence("c", "t", "b", "pytest", "full", problems=(Problem(UNSHOWN, "no test was added", "write tests"),))
BOTH = {
    "requirements.in": ("Django==5.2.18\n", "Django==5.2.19\n"),
    "requirements.txt": ("Django==5.2.18\nsix==1\n", "Django==5.2.19\nsix==2\n"),
}


def test_versions_and_their_lock_are_the_owners_question_and_nobody_asks_for_a_test() -> None:
    (problem,) = with_versions(ASKED, BOTH, {}).problems
    assert problem.remedy == "ask owner"
    assert problem.text == (
        "it changes versions alone, and no code: django from 5.2.18 to 5.2.19 (requirements.in, requirements.txt), "
        "six from 1 to 2 (requirements.txt)"
    )


def test_a_lock_that_still_has_the_old_version_goes_back() -> None:
    alone = {"requirements.in": BOTH["requirements.in"]}
    stale = {"requirements.txt": (BOTH["requirements.txt"][0],) * 2}
    found = with_versions(ASKED, alone, stale)
    assert rules(found.needing("correct")) == ("the lock is left behind",)
    assert "requirements.txt still says ==5.2.18" in found.problems[0].text
    assert not with_versions(ASKED, BOTH, {}).is_red


def test_where_more_differs_all_stays_as_it_was() -> None:
    assert with_versions(ASKED, {**BOTH, "requirements.txt": ("a==1\n", "b==1\n")}, {}) == ASKED
    red = Problem("a test fails", "it fails", "correct")
    both = Evidence("c", "t", "b", "pytest", "full", problems=(red, *ASKED.problems))
    assert rules(with_versions(both, BOTH, {}).problems) == ("a test fails", "other versions")
