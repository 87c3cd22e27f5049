"""Whether a task's commit may stand: one case per reason."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.shared.model.change import Change, ChangeLimits, refusal
from sisimpur.shared.model.scope import Scope

SCOPE = Scope(files=("a.py", "old.py"), new_files=("new.py",))
EDIT = Change("a.py", "modified", "100644", "100644", added_lines=((3, "x = 1"),))
NEW = Change("new.py", "added", "", "100644", added_lines=((1, "x = 1"),))
GONE = Change("old.py", "deleted", "100644", "")
LIMITS = ChangeLimits(files=3, added_lines=5, added_bytes=100)


def said(*changes: Change, scope: Scope = SCOPE, tracked: tuple[str, ...] = ("a.py", "old.py")) -> str | None:
    return refusal(changes, scope, LIMITS, tracked)


def test_an_edit_a_new_file_and_a_deletion_that_the_task_names_may_stand() -> None:
    assert said(EDIT, NEW, GONE) is None


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        pytest.param(replace(EDIT, path="b.py"), "b.py: the task does not name it", id="outside"),
        pytest.param(replace(GONE, path="b.py"), "b.py: the task does not name it", id="deletes what it does not name"),
        pytest.param(replace(NEW, mode_new="120000"), "new.py: it is a symbolic link", id="link"),
        pytest.param(replace(EDIT, mode_new="120000"), "a.py: it is a symbolic link", id="a file becomes a link"),
        pytest.param(replace(NEW, mode_new="100755"), "new.py: it became executable", id="new and executable"),
        pytest.param(replace(EDIT, mode_new="100755"), "a.py: it became executable", id="becomes executable"),
        pytest.param(replace(NEW, binary=True), "new.py: it is binary or not UTF-8 text", id="binary"),
        pytest.param(replace(EDIT, emptied=True, added_lines=()), "a.py: it was emptied", id="emptied"),
        pytest.param(
            replace(EDIT, added_lines=((7, "<<<<<<< SEARCH"),)), "a.py: line 7 is a conflict marker", id="failed edit"
        ),
        pytest.param(
            replace(EDIT, added_lines=((9, ">>>>>>> REPLACE"),)), "a.py: line 9 is a conflict marker", id="its end"
        ),
        pytest.param(
            replace(EDIT, added_lines=tuple((n, "x") for n in range(1, 7))),
            "6 lines added (limit 5), most of them in a.py",
            id="too many lines",
        ),
        pytest.param(
            replace(EDIT, added_lines=((1, "é" * 50),)),
            "101 bytes added (limit 100), many of them in a.py",
            id="too long",
        ),
    ],
)
def test_each_reason_names_the_file_and_the_limit(change: Change, reason: str) -> None:
    assert said(change) == reason


def test_deleting_needs_a_name_even_where_a_task_may_touch_everything() -> None:
    assert said(GONE, scope=Scope()) == "old.py: it is deleted, but the task does not name it"


def test_too_many_files_are_refused_before_they_are_looked_at() -> None:
    assert said(EDIT, EDIT, EDIT, EDIT) == "4 files changed (limit 3)"


def test_a_file_that_was_executable_may_stay_so() -> None:
    assert said(replace(EDIT, mode_old="100755", mode_new="100755")) is None


def test_a_heading_of_seven_signs_is_no_conflict_marker() -> None:
    assert said(replace(EDIT, added_lines=((1, "======="), (2, "<<<<<<<"), (3, "  <<<<<<< SEARCH")))) is None


@pytest.mark.parametrize(
    ("path", "tracked", "other"),
    [
        pytest.param("SRC/b.py", ("src/a.py",), "src", id="a folder in another case"),
        pytest.param("src/A.py", ("src/a.py",), "src/a.py", id="a file in another case"),
        pytest.param("cafe\u0301.py", ("caf\u00e9.py",), "caf\u00e9.py", id="an accent in two parts"),
        pytest.param("straße.py", ("STRASSE.py",), "STRASSE.py", id="a letter that is two in capitals"),
    ],
)
def test_two_spellings_of_one_name_are_refused(path: str, tracked: tuple[str, ...], other: str) -> None:
    change = replace(NEW, path=path)
    assert said(change, scope=Scope(), tracked=tracked) == f"{path}: differs from {other} only in case or accents"


def test_a_file_may_be_renamed_to_another_case() -> None:
    gone, new = replace(GONE, path="Readme.md"), replace(NEW, path="README.md")
    scope = Scope(files=("Readme.md",), new_files=("README.md",))
    assert said(gone, new, scope=scope, tracked=("Readme.md", "a.py")) is None


@given(st.lists(st.sampled_from(["b.py", "a.py", "c/x.py"]), min_size=1, max_size=3))
def test_the_order_of_changes_does_not_decide(paths: list[str]) -> None:
    changes = [replace(EDIT, path=path) for path in paths]
    assert (said(*changes) is None) == (said(*reversed(changes)) is None)


# --- what makes a folder of tests a package ------------------------------------------------------------------

TESTING = Scope(files=("a.py",), new_files=("shop/tests/api/test_new.py",))
MARK = Change("shop/tests/api/__init__.py", "added", "", "100644")


@pytest.mark.parametrize(
    "mark",
    [
        pytest.param(MARK, id="empty"),
        pytest.param(replace(MARK, added_lines=((1, ""),)), id="a line end"),
        pytest.param(replace(MARK, added_lines=((1, "# tests of the API"),)), id="a comment"),
        pytest.param(replace(MARK, path="shop/tests/__init__.py"), id="in the folder of tests above"),
    ],
)
def test_an_empty_init_beside_tests_that_the_task_names_may_always_be_added(mark: Change) -> None:
    assert said(mark, scope=TESTING) is None


@pytest.mark.parametrize(
    "mark",
    [
        pytest.param(replace(MARK, added_lines=((1, "import os"),)), id="with code"),
        pytest.param(replace(MARK, added_lines=((1, "x = '#'"),)), id="with code, and a sign of comments in it"),
        pytest.param(replace(MARK, path="shop/__init__.py"), id="a package of the product"),
        pytest.param(replace(MARK, path="shop/tests/other/__init__.py"), id="beside no test of the task"),
        pytest.param(replace(MARK, path="shop/tests/api/more.py"), id="another file"),
        pytest.param(replace(MARK, kind="modified", mode_old="100644"), id="one that is there"),
    ],
)
def test_any_other_file_that_the_task_does_not_name_stays_refused(mark: Change) -> None:
    assert "the task does not name it" in str(said(mark, scope=TESTING))


def test_a_guard_and_the_owner_s_limits_hold_for_it_too() -> None:
    assert "the owner guards" in str(said(MARK, scope=replace(TESTING, guards=("shop/tests/",))))
    assert "lies outside" in str(said(MARK, scope=replace(TESTING, allow=("lib/**",))))
