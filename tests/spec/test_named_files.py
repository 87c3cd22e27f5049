"""Which files of the owner's own commands no change may touch without the owner."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.cli.wiring.parts import named_files


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("python -m pytest test/test_ui.py test/test_types.py", ()),
        ("pytest -q tests/test_a.py::TestA::test_b tests/b_test.py && sh ci/after.sh", ("ci/after.sh",)),
        ("pytest tests/test_a.py; python tests/test_run.py", ("tests/test_run.py",)),
        ("python tests/test_run.py", ("tests/test_run.py",)),
        ("sh -c 'pytest tests/test_a.py'", ("tests/test_a.py",)),
        ('pytest -c ci.ini -k "$(python tests/test_b.py)" tests/test_a.py', ("ci.ini", "tests/test_b.py")),
        ("pytest tests/conftest.py tests/helper.py test.py", ("tests/conftest.py", "tests/helper.py", "test.py")),
        ("python ci.py pytest tests/test_a.py", ("ci.py",)),
        ("pytest tests/test_a.py | python test_count.py", ("test_count.py",)),
        ("uv run --with pytest python tests/test_all.py", ("tests/test_all.py",)),
        ("uv run --with pytest --with pip pytest tests/test_a.py", ()),
        ("pytest -n $( python tests/test_count.py ) tests/test_a.py", ("tests/test_count.py",)),
        ("pytest -n ` python tests/test_count.py ` tests/test_a.py", ("tests/test_count.py",)),
        ("pip install -r requirements-dev.txt", ("requirements-dev.txt",)),
    ],
)
def test_what_pytest_is_told_to_collect_is_no_part_of_how_tests_run(command: str, files: tuple[str, ...]) -> None:
    """beets: the owner named five files of tests, and each change with a test waited for him."""
    assert named_files(command) == files


def test_what_one_command_installs_is_not_what_the_next_one_runs() -> None:
    assert named_files("pip install pytest", "python tests/test_all.py") == ("tests/test_all.py",)


WORDS = [
    "pytest",
    "python",
    "-q",
    "-c",
    "tests/test_a.py",
    "test_b.py",
    "run.sh",
    "conftest.py",
    "tox.ini",
    "&&",
    ";",
    "|",
]


@given(st.lists(st.sampled_from(WORDS), max_size=8))
def test_whatever_may_run_by_itself_stays_the_owners(words: list[str]) -> None:
    found, is_told, before = named_files(" ".join(words)), False, ""
    for word in words:
        is_told = word not in ("&&", ";", "|") and (is_told or (word == "pytest" and not before.startswith("-")))
        before = word
        if "." in word and not (is_told and word in ("tests/test_a.py", "test_b.py")):
            assert word in found
