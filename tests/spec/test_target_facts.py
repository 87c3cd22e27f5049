"""What failures say of the tests' environment: facts of the target in our own words, and no lessons."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.agents.orchestrator.memory.setbacks import facts_of_target, is_module_of, touches_tables

OURS = is_module_of(["shop/views.py", "src/core/__init__.py", "tool.py"])


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        (
            "E   ModuleNotFoundError: No module named 'PIL.Image'",
            "the tests' environment has no package with the module PIL",
        ),
        ("ModuleNotFoundError: No module named 'shop.urls'", None),
        ("ModuleNotFoundError: No module named 'core.urls'", None),
        ("ModuleNotFoundError: No module named 'tool'", None),
        (
            "django.db.utils.OperationalError: no such table: exams_exam",
            "the tests' database has no table exams_exam: no migration in git makes it",
        ),
        (
            'psycopg.errors.UndefinedTable: relation "shop_item" does not exist',
            "the tests' database has no table shop_item: no migration in git makes it",
        ),
        ("sh: 1: convert: not found", "the tests' environment has no program convert"),
        ("bash: line 3: gs: command not found", "the tests' environment has no program gs"),
        ("docker.errors.DockerException: Error while fetching server API version", "the tests run without Docker"),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'docker'", "the tests run without Docker"),
        ("socket.gaierror: [Errno -2] Name or service not known", "the tests run without a network"),
        (
            'OperationalError: connection to server at "localhost" (127.0.0.1), port 5432 failed: Connection refused',
            "the tests run without a database server",
        ),
        ("AssertionError: 404 page not found", None),
        ("KeyError: 'total'", None),
        ("", None),
    ],
)
def test_a_failure_that_no_change_can_mend_is_a_fact(text: str, fact: str | None) -> None:
    assert facts_of_target([text, text], OURS) == ((fact,) if fact else ())


def test_a_table_that_a_change_of_models_lacks_is_its_own_fault() -> None:
    text = "OperationalError: no such table: shop_item"
    assert facts_of_target([text], OURS, touches_tables(["shop/models.py"])) == ()
    assert facts_of_target([text], OURS, touches_tables(["shop/migrations/0002_item.py"])) == ()
    assert facts_of_target([text], OURS, touches_tables(["shop/views.py", "shop/remodels.py"])) != ()


@given(st.text())
def test_of_a_failure_a_fact_holds_a_name_at_most(text: str) -> None:
    for said in (f"No module named '{text}'", f"ModuleNotFoundError: No module named '{text}'", f"{text}: not found"):
        for fact in facts_of_target([said], lambda _: False):
            assert fact.isprintable() and len(fact) < 150
