"""What a change takes away: who still knows it is shown by names, and which binding counts by its place."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from sisimpur.agents.reviewer.definitions import MOST_GONE, gone
from tests.spec.reviewing import ScriptedModel, approve, case, file
from tests.spec.test_reviewer_verdict import NEW, OLD, review

OLD_TAX, NEW_TAX = "def tax(x):\n    return 15\n", "def tax(x):\n    return x * 15 // 100\n"
GONE: list[object] = [
    pytest.param("x = 1\n", {}, "a.py: tax: named in no file any more", id="nobody knows it"),
    pytest.param("x = tax\n", {}, "a.py: tax: still named in this file", id="this file does"),
    pytest.param(
        "x = 1\n", {"shop/urls.py": "path('', views.tax)", "t/a.html": "{% url 'tax' %}", "b.py": "taxes = 1"},
        "a.py: tax: still named in shop/urls.py, t/a.html", id="a route and a template do",
    ),
    pytest.param("x = 1\n", {"secrets.py": "tax"}, "a.py: tax: named in no file any more", id="keys are not read"),
    pytest.param(
        "x = 1\n", {f"f{n}.py": "tax()" for n in range(6)},
        "a.py: tax: still named in f0.py, f1.py, f2.py, f3.py and 2 more", id="many do",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("after", "tracked", "told"), GONE)
def test_who_still_knows_what_is_gone_is_told(after: str, tracked: Mapping[str, str], told: str) -> None:
    assert gone(case([file("a.py", after, OLD_TAX + "x = 1\n")], tracked)) == told


def test_of_two_definitions_the_last_one_counts() -> None:
    shadowed = gone(case([file("a.py", NEW_TAX, f"{OLD_TAX}\n\n{NEW_TAX}")]))
    assert shadowed == "a.py: tax: was bound more than once; line 1 binds it last now, which was so before"
    in_force = gone(case([file("a.py", OLD_TAX, f"{OLD_TAX}\n\n{NEW_TAX}")]))
    assert in_force == "a.py: tax: was bound more than once; line 1 binds it last now, which was not so before"
    imported = gone(case([file("a.py", "from b import tax\n", f"{OLD_TAX}from b import tax\n")]))
    assert imported.endswith("binds it last now, which was so before")


def test_what_moved_and_is_imported_from_there_is_told_so() -> None:
    moved = gone(case([file("a.py", "from b import tax\n", OLD_TAX)]))
    assert moved == "a.py: tax: line 1 imports it now: from b import tax"


def test_what_is_changed_added_or_a_test_is_not_gone() -> None:
    changed = [
        file("a.py", NEW_TAX, OLD_TAX),
        file("b.py", OLD_TAX),
        file("tests/test_a.py", "", "def test_a(): ...\n"),
    ]
    assert gone(case(changed)) == ""
    assert gone(case([file("a.py", "def tax(:", OLD_TAX)])) == ""  # nobody can tell


def test_a_deleted_file_takes_its_definitions_along_and_there_are_never_too_many() -> None:
    many = "".join(f"def f{n}(): ...\n" for n in range(MOST_GONE + 9))
    assert gone(case([file("a.py", None, many)])).count("\n") == MOST_GONE - 1


def test_the_reviewer_is_told_only_where_something_is_gone() -> None:
    model = ScriptedModel([approve()])
    review(model=model)
    review(model=model, after={"app.py": NEW.replace(OLD, "")})
    first, second = model.asked
    assert "What is gone" not in first
    assert "```gone\napp.py: price: named in no file any more\n```" in second
