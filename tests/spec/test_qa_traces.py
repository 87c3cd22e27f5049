"""Failures tell their cause: real traces of pytest, unittest and Django, and what is told of them."""

# ruff: noqa: W291  runners leave blanks at the ends of lines

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.agents.orchestrator.publishing import gate_text
from sisimpur.agents.qa.analysis.touched import SuiteFiles, Touched
from sisimpur.agents.qa.evidence_rule import Runs, problems
from sisimpur.agents.qa.runner.suite import RawTestRun
from sisimpur.agents.qa.test_runner import read_run
from sisimpur.agents.qa.traces import cause, excerpt
from sisimpur.shared.model.evidence import Evidence, Failure, Problem, SuiteRun
from sisimpur.shared.model.work import TaskSpec

MOST = 1_500
LIBRARY = "".join(
    f'  File "/opt/env/site-packages/django/db/models/query_{number}.py", line {number}, in _fetch_all\n'
    f"    self._result_cache = list(self._iterable_class(self))\n"
    f"                         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
    for number in range(30)
)

# --- what runners print --------------------------------------------------------------------------------------

PYTEST_CHAINED = """\
path = 'rates.json'

    def rates(path="rates.json"):
        try:
>           return read(path)
                   ^^^^^^^^^^

shop/rates.py:15: 
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ 

path = 'rates.json'

    def read(path):
>       with open(path) as file:
             ^^^^^^^^^^
E       FileNotFoundError: [Errno 2] No such file or directory: 'rates.json'

shop/rates.py:9: FileNotFoundError

The above exception was the direct cause of the following exception:

    def test_direct_cause():
>       assert rates() == {}
               ^^^^^^^

tests/test_pytest.py:7: 
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ 

path = 'rates.json'

    def rates(path="rates.json"):
        try:
            return read(path)
        except OSError as error:
>           raise RatesMissing("no rates") from error
E           shop.rates.RatesMissing: no rates

shop/rates.py:17: RatesMissing
"""
PYTEST_SHORT = """\
shop/rates.py:15: in rates
    return read(path)
           ^^^^^^^^^^
shop/rates.py:9: in read
    with open(path) as file:
         ^^^^^^^^^^
E   FileNotFoundError: [Errno 2] No such file or directory: 'rates.json'

The above exception was the direct cause of the following exception:
tests/test_pytest.py:7: in test_direct_cause
    assert rates() == {}
           ^^^^^^^
shop/rates.py:17: in rates
    raise RatesMissing("no rates") from error
E   shop.rates.RatesMissing: no rates
"""
PYTEST_HANDLING = """\
prices = [1], code = 'xx'

    def total(prices, code):
        try:
>           rate = {"eur": 1}[code]
                   ^^^^^^^^^^^^^^^^
E           KeyError: 'xx'

shop/rates.py:22: KeyError

During handling of the above exception, another exception occurred:

    def test_during_handling():
>       assert total([1], "xx") == 1
               ^^^^^^^^^^^^^^^^

tests/test_pytest.py:11: 
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ 
shop/rates.py:24: in total
    rate = fallback(code)
           ^^^^^^^^^^^^^^
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ 

code = 'xx'

    def fallback(code):
>       return 1 / len(code.strip("x"))
               ^^^^^^^^^^^^^^^^^^^^^^^^
E       ZeroDivisionError: division by zero

shop/rates.py:29: ZeroDivisionError
"""
PYTEST_VALUES = """\
def test_values():
        found = total([1, 2], "eur")
>       assert {"sum": found, "lines": [1, 2]} == {"sum": 4, "lines": [1, 2]}
E       AssertionError: assert {'sum': 3, 'lines': [1, 2]} == {'sum': 4, 'lines': [1, 2]}
E         
E         Omitting 1 identical items, use -vv to show
E         Differing items:
E         {'sum': 3} != {'sum': 4}
E         Use -v to get more diff

tests/test_pytest.py:16: AssertionError
"""
PYTEST_COLLECTING = """\
ImportError while importing test module '/job/tests/test_import.py'.
Hint: make sure your test modules/packages have valid Python names.
Traceback:
/usr/lib/python3.11/importlib/__init__.py:126: in import_module
    return _bootstrap._gcd_import(name[level:], package, level)
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
tests/test_import.py:1: in <module>
    import yaml
E   ModuleNotFoundError: No module named 'yaml'
"""
PYTEST_SYNTAX = """\
/opt/env/lib/python3.11/site-packages/_pytest/python.py:528: in importtestmodule
    mod = import_path(
<frozen importlib._bootstrap>:1204: in _gcd_import
    ???
/usr/lib/python3.11/ast.py:50: in parse
    return compile(source, filename, mode, flags,
E     File "/job/tests/test_syntax.py", line 1
E       def test_a(:
E                  ^
E   SyntaxError: invalid syntax
"""
PYTEST_ENVIRONMENT = """\
def test_environment():
>       import shop.settings_env

tests/test_pytest.py:20: 
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ 
shop/settings_env.py:3: in <module>
    URL = os.environ["SHOP_URL"]
          ^^^^^^^^^^^^^^^^^^^^^^
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ 

self = environ({'SHELL': '/bin/bash', 'PYTEST_CURRENT_TEST': 'tests/test_pytest.py::test_environment (call)'})
key = 'SHOP_URL'

>   ???
E   KeyError: 'SHOP_URL'

<frozen os>:679: KeyError
"""
PYTEST_GROUP = """\
  + Exception Group Traceback (most recent call last):
  |   File "/opt/env/lib/python3.11/site-packages/_pytest/runner.py", line 361, in from_call
  |     result: TResult | None = func()
  |                              ^^^^^^
  |   File "/job/tests/test_pytest.py", line 42, in test_group
  |     raise ExceptionGroup("two", [ValueError("one"), KeyError("b")])
  | ExceptionGroup: two (2 sub-exceptions)
  +-+---------------- 1 ----------------
    | ValueError: one
    +---------------- 2 ----------------
    | KeyError: 'b'
    +------------------------------------
"""
UNITTEST_VALUES = """\
Traceback (most recent call last):
  File "/job/tests/test_unit.py", line 14, in test_values
    self.assertEqual({"sum": total([1, 2], "eur"), "lines": [1, 2]}, {"sum": 4, "lines": [1, 2]})
AssertionError: {'sum': 3, 'lines': [1, 2]} != {'sum': 4, 'lines': [1, 2]}
- {'lines': [1, 2], 'sum': 3}
?                          ^

+ {'lines': [1, 2], 'sum': 4}
?                          ^


Stdout:
KeyError: 'only printed'
"""
UNITTEST_CHAINED = """\
Traceback (most recent call last):
  File "/job/shop/rates.py", line 15, in rates
    return read(path)
           ^^^^^^^^^^
  File "/job/shop/rates.py", line 9, in read
    with open(path) as file:
         ^^^^^^^^^^
FileNotFoundError: [Errno 2] No such file or directory: 'rates.json'

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/usr/lib/python3.11/unittest/case.py", line 579, in _callTestMethod
    if method() is not None:
       ^^^^^^^^
  File "/job/tests/test_unit.py", line 8, in test_direct_cause
    self.assertEqual(rates(), {})
                     ^^^^^^^
  File "/job/shop/rates.py", line 17, in rates
    raise RatesMissing("no rates") from error
shop.rates.RatesMissing: no rates
"""
UNITTEST_IMPORT = """\
ImportError: Failed to import test module: store.tests.test_import
Traceback (most recent call last):
  File "/usr/lib/python3.11/unittest/loader.py", line 419, in _find_test_path
    module = self._get_module_from_name(name)
             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "/usr/lib/python3.11/unittest/loader.py", line 362, in _get_module_from_name
    __import__(name)
  File "/job/store/tests/test_import.py", line 1, in <module>
    import yaml
ModuleNotFoundError: No module named 'yaml'

"""
DJANGO_TABLE = f"""\
Traceback (most recent call last):
  File "/opt/env/site-packages/django/db/backends/utils.py", line 105, in _execute
    return self.cursor.execute(sql, params)
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
sqlite3.OperationalError: no such table: store_order

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/job/store/tests/test_views.py", line 6, in test_index
    self.assertEqual(self.client.get("/").status_code, 200)
                     ^^^^^^^^^^^^^^^^^^^^
  File "/opt/env/site-packages/django/core/handlers/base.py", line 197, in _get_response
    response = wrapped_callback(request, *callback_args, **callback_kwargs)
               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "/job/store/views.py", line 10, in index
    return HttpResponse(str(list(Order.objects.all())))
                            ^^^^^^^^^^^^^^^^^^^^^^^^^
{LIBRARY}  File "/opt/env/site-packages/django/db/utils.py", line 91, in __exit__
    raise dj_exc_value.with_traceback(traceback) from exc_value
django.db.utils.OperationalError: no such table: store_order
"""
DJANGO_SETTING = """\
Traceback (most recent call last):
  File "/job/store/tests/test_views.py", line 12, in test_conf
    self.assertContains(self.client.get("/conf"), "hello")
                        ^^^^^^^^^^^^^^^^^^^^^^^^
  File "/opt/env/site-packages/django/core/handlers/base.py", line 197, in _get_response
    response = wrapped_callback(request, *callback_args, **callback_kwargs)
  File "/job/store/views.py", line 18, in conf
    return HttpResponse(settings.SHOP_CURRENCY)
                        ^^^^^^^^^^^^^^^^^^^^^^
  File "/opt/env/site-packages/django/conf/__init__.py", line 83, in __getattr__
    val = getattr(_wrapped, name)
          ^^^^^^^^^^^^^^^^^^^^^^^
AttributeError: 'Settings' object has no attribute 'SHOP_CURRENCY'
"""
NO_FILE = "FileNotFoundError: [Errno 2] No such file or directory: 'rates.json'"
NO_FILE_IN_WORDS = "the file, folder or program rates.json does not exist"


@dataclass(frozen=True)
class Told:
    """`first`: the lines before the first frame. `own`: places of the target, in the order they are told."""

    trace: str
    first: list[str]
    own: list[str]
    ends: str = ""


TO_WRITE = (
    "if it is needed, add what brings it to the requirements, or `pip install …` to `setup:` of the target's file"
)

TOLD = [
    pytest.param(
        Told(
            trace,
            [NO_FILE, NO_FILE_IN_WORDS],
            ["shop/rates.py:9", "shop/rates.py:15", "shop/rates.py:17", test],
            "shop.rates.RatesMissing: no rates",
        ),
        id=f"a chain, {which}",
    )
    for which, trace, test in [
        ("pytest", PYTEST_CHAINED, "tests/test_pytest.py:7"),
        ("pytest in its short style", PYTEST_SHORT, "tests/test_pytest.py:7"),
        ("unittest", UNITTEST_CHAINED, "tests/test_unit.py:8"),
    ]
] + [
    pytest.param(
        Told(
            PYTEST_HANDLING,
            ["KeyError: 'xx'"],
            ["shop/rates.py:22", "shop/rates.py:29", "shop/rates.py:24", "tests/test_pytest.py:11"],
            "ZeroDivisionError: division by zero",
        ),
        id="an error while another was handled: both are told",
    ),
    pytest.param(
        Told(
            PYTEST_VALUES,
            [
                "AssertionError: assert {'sum': 3, 'lines': [1, 2]} == {'sum': 4, 'lines': [1, 2]}",
                "  Omitting 1 identical items, use -vv to show",
                "  Differing items:",
                "  {'sum': 3} != {'sum': 4}",
                "  Use -v to get more diff",
            ],
            ["tests/test_pytest.py:16"],
        ),
        id="the values of an assertion, pytest",
    ),
    pytest.param(
        Told(
            UNITTEST_VALUES,
            [
                "AssertionError: {'sum': 3, 'lines': [1, 2]} != {'sum': 4, 'lines': [1, 2]}",
                "- {'lines': [1, 2], 'sum': 3}",
                "?                          ^",
                "+ {'lines': [1, 2], 'sum': 4}",
                "?                          ^",
            ],
            ["tests/test_unit.py:14"],
        ),
        id="the values of an assertion, unittest, without what was printed",
    ),
    pytest.param(
        Told(
            PYTEST_COLLECTING,
            [
                "ModuleNotFoundError: No module named 'yaml'",
                f"the package yaml is not installed, and no module here is called so; {TO_WRITE}",
            ],
            ["tests/test_import.py:1"],
        ),
        id="a package is missing, pytest",
    ),
    pytest.param(
        Told(
            UNITTEST_IMPORT,
            [
                "ModuleNotFoundError: No module named 'yaml'",
                f"the package yaml is not installed, and no module here is called so; {TO_WRITE}",
            ],
            ["store/tests/test_import.py:1"],
        ),
        id="a package is missing, unittest",
    ),
    pytest.param(
        Told(PYTEST_SYNTAX, ["SyntaxError: invalid syntax"], ["tests/test_syntax.py:1"]),
        id="a file that is no Python",
    ),
    pytest.param(
        Told(
            PYTEST_ENVIRONMENT,
            ["KeyError: 'SHOP_URL'", "the environment variable SHOP_URL is not set"],
            ["shop/settings_env.py:3", "tests/test_pytest.py:20"],
        ),
        id="a variable of the environment",
    ),
    pytest.param(
        Told(
            PYTEST_GROUP,
            ["ExceptionGroup: two (2 sub-exceptions)", "ValueError: one", "KeyError: 'b'"],
            ["tests/test_pytest.py:42"],
        ),
        id="several errors at once",
    ),
    pytest.param(
        Told(
            DJANGO_TABLE,
            [
                "sqlite3.OperationalError: no such table: store_order",
                "the table store_order does not exist: no migration makes it, or none was run",
            ],
            ["store/views.py:10", "store/tests/test_views.py:6"],
        ),
        id="a table is missing: Django says the same twice, it is told once",
    ),
    pytest.param(
        Told(
            DJANGO_SETTING,
            [
                "AttributeError: 'Settings' object has no attribute 'SHOP_CURRENCY'",
                "the setting SHOP_CURRENCY is not defined",
            ],
            ["store/views.py:18", "store/tests/test_views.py:12"],
        ),
        id="a setting is missing",
    ),
]


@pytest.mark.parametrize("told", TOLD)
def test_a_failure_begins_with_what_was_raised_first_and_shows_the_target_s_own_lines_only(told: Told) -> None:
    text = excerpt(told.trace, MOST)
    assert text.partition("\n\n")[0].splitlines() == told.first
    places = [line.split()[1].rstrip(":") for line in text.splitlines() if line.startswith("at ")]
    assert places == told.own
    assert text.partition("That led to:\n")[2].partition("\n")[0] == told.ends


def test_a_line_of_the_target_comes_with_its_function_and_its_code() -> None:
    assert "at store/views.py:10 in index: return HttpResponse(str(list(Order.objects.all())))" in excerpt(
        DJANGO_TABLE, MOST
    )
    assert "at shop/rates.py:9: with open(path) as file:" in excerpt(PYTEST_CHAINED, MOST)


@pytest.mark.parametrize(
    ("raised", "words"),
    [
        ("ModuleNotFoundError: No module named 'shop.orders'", "there is no module shop.orders"),
        (
            "ImportError: cannot import name 'Order' from 'shop.models' (/job/shop/models.py)",
            "shop.models has no Order",
        ),
        ('psycopg2.errors.UndefinedTable: relation "shop_order" does not exist', "the table shop_order does not exist"),
        (
            "django.db.utils.OperationalError: no such column: shop_order.sum",
            "the column shop_order.sum does not exist",
        ),
        ("django.template.exceptions.TemplateDoesNotExist: shop/a.html", "the template shop/a.html does not exist"),
        ("django.core.exceptions.ImproperlyConfigured: Set the SHOP_KEY environment variable", "SHOP_KEY is not set"),
        ("ImproperlyConfigured: The SECRET_KEY setting must not be empty.", "the setting SECRET_KEY is empty"),
        (
            "ImproperlyConfigured: Requested setting INSTALLED_APPS, but settings are not configured.",
            "DJANGO_SETTINGS_MODULE is not set",
        ),
        ("NoReverseMatch: Reverse for 'basket' not found.", "no URL has the name basket"),
        ("ConnectionRefusedError: [Errno 111] Connection refused", "tests run without one"),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'git'", "program git does not exist"),
    ],
)
def test_what_is_missing_is_named_in_words(raised: str, words: str) -> None:
    trace = f'Traceback (most recent call last):\n  File "/job/a.py", line 3, in f\n    g()\n{raised}\n'
    assert words in excerpt(trace, MOST).splitlines()[1]
    assert words in cause(trace)


def test_a_key_of_some_dictionary_is_no_variable_of_the_environment() -> None:
    trace = "Traceback (most recent call last):\n  File \"/job/a.py\", line 3, in f\n    rates[key]\nKeyError: 'eur'\n"
    assert excerpt(trace, MOST).splitlines() == ["KeyError: 'eur'", "", "at a.py:3 in f: rates[key]"]


def test_the_cause_of_a_long_chain_is_not_cut_off() -> None:
    trace = DJANGO_TABLE.replace(LIBRARY, LIBRARY * 20)
    assert len(trace) > 60_000
    assert excerpt(trace, MOST).startswith("sqlite3.OperationalError: no such table: store_order\n")


def test_long_values_are_shortened_in_their_middle_and_leave_room_for_the_place() -> None:
    trace = PYTEST_VALUES.replace("{'sum': 3}", "{'sum': 3, " + "'x': 1, " * 500 + "'end': 7}")
    text = excerpt(trace, MOST)
    assert "'end': 7} != {'sum': 4}" in text and "at tests/test_pytest.py:16" in text and len(text) <= MOST


def test_two_test_modules_of_one_name_are_told_with_the_line_that_mends_it() -> None:
    mismatch = """\
import file mismatch:
imported module 'test_a' has this __file__ attribute:
  /job/one/test_a.py
which is not the same as the test file we want to collect:
  /job/two/test_a.py
HINT: remove __pycache__ / .pyc files and/or use a unique basename for your test file modules
"""
    assert excerpt(mismatch, MOST).startswith("two test modules have one name: add an empty __init__.py beside one")


def test_of_what_is_no_trace_the_end_is_shown() -> None:
    assert excerpt("boom", MOST) == "boom"
    assert excerpt("x" * 5_000 + "the end", 10) == "xxxthe end"
    assert cause("boom") == ""


@given(st.lists(st.sampled_from([*DJANGO_TABLE.splitlines(), *PYTEST_CHAINED.splitlines(), "E", ">", "\0", "é: "])))
def test_nothing_in_a_trace_raises_and_no_excerpt_is_longer_than_asked(lines: list[str]) -> None:
    assert len(excerpt("\n".join(lines), 200)) <= 200
    assert "\n" not in cause("\n".join(lines))


# --- where it is told ----------------------------------------------------------------------------------------


def test_a_run_is_kept_with_causes_instead_of_ends_of_traces() -> None:
    test = {"test": "a.A.test_b", "outcome": "failed", "where": "store/views.py:10", "text": DJANGO_TABLE}
    written = "".join(json.dumps(one) + "\n" for one in ({"collected": 1}, test, {"end": 1, "ran": 1}))
    run = read_run(RawTestRun("exited", 1, 1.0, "", written.encode()))
    assert run.failures[0].text == excerpt(DJANGO_TABLE, MOST)


def failing(*texts: str) -> Evidence:
    failures = tuple(Failure(f"tests.T.test_{n}", f"tests/t.py:{n}", text) for n, text in enumerate(texts))
    red = Problem("a test fails", "tests.T.test_0 fails", "correct")
    return Evidence("c" * 40, "t", "b", "pytest", "box", failures=failures, problems=(red,))


def test_failures_with_the_same_cause_are_told_once_with_a_count() -> None:
    same = [excerpt(DJANGO_TABLE.replace("line 6, in test_index", f"line {n}, in test_{n}"), MOST) for n in range(12)]
    told = gate_text.findings(failing(*same, excerpt(PYTEST_VALUES, MOST)), None, [])
    assert told.count("sqlite3.OperationalError: no such table: store_order") == 1
    assert "For the same cause 11 more: tests.T.test_1 at tests/t.py:1" in told
    assert "Differing items" in told, "another cause is not crowded out"


def test_the_pull_request_names_the_cause_beside_each_failing_test() -> None:
    told = gate_text.evidence(failing(excerpt(DJANGO_SETTING, MOST)))
    assert "`tests.T.test_0` at tests/t.py:0: AttributeError: 'Settings' object has no attribute" in told


def test_a_run_that_ends_before_any_test_says_why() -> None:
    printed = (
        "ImportError while loading conftest '/job/tests/conftest.py'.\ntests/conftest.py:1: in <module>\n"
        "    import yaml\nE   ModuleNotFoundError: No module named 'yaml'\n"
    )
    base = SuiteRun("finished", 0, {"tests/t.py::test_a": "passed"})
    runs = Runs(base, SuiteRun("no report", 4, output=printed))
    (problem,) = problems(TaskSpec("a1", "Add it", "It."), Touched(()), runs, SuiteFiles(()))
    assert "the package yaml is not installed" in problem.text
