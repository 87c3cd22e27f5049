"""Changes that were built to pass for what they are not: known, moved, constant, or too much to be looked at."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from sisimpur.agents.reviewer.definitions import MOST_FILES, called, gone
from sisimpur.agents.reviewer.diff_analyzer import chunks
from sisimpur.agents.reviewer.rules import rules
from sisimpur.agents.reviewer.rules.case import ChangedFile
from sisimpur.shared.model.change import Change
from sisimpur.shared.model.evidence import Severity
from tests.spec.reviewing import OUTGOING, case, file, found, patch

LOW, HIGH = Severity.LOW, Severity.HIGH
ENDS_WITHIN = 60  # CPU seconds, so that a busy machine does not count; each of these took hours, or all of the memory


@contextmanager
def bounded() -> Iterator[None]:
    """What never comes to its end fails."""

    def too_long(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGPROF, too_long)
    signal.setitimer(signal.ITIMER_PROF, ENDS_WITHIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def weights(rule: str, *files: ChangedFile) -> list[Severity]:
    return [one.severity for one in rules.findings(case(files), OUTGOING) if one.rule == rule]


# --- SQL that only looks constant ----------------------------------------------------------------------------

BUILT = [
    pytest.param("def f(r):\n    Q = r.GET['q']\n    c.execute(f'select {Q}')\n", id="capitals in a function"),
    pytest.param("def f(r):\n    for Q in r:\n        c.execute(f'select {Q}')\n", id="capitals in a loop"),
    pytest.param("def f(Q):\n    c.execute(f'select {Q}')\n", id="a parameter in capitals"),
    pytest.param("def f(q):\n    c.execute(f'select a from {q or A._meta.db_table}')\n", id="a table beside it"),
    pytest.param("def f(q):\n    c.execute(f'select a from {g(q, A._meta)}')\n", id="a table given to a call"),
    pytest.param("def f(q):\n    c.execute(f'select {q.float()}')\n", id="a method called as a number is"),
    pytest.param("q = 'a'\ndef f(v):\n    global q\n    q = v\ndef g():\n    c.execute(f'select {q}')\n", id="global"),
    pytest.param(
        "def f(g):\n    q = 'a'\n    match g:\n        case {'q': q}:\n            c.execute(f'select {q}')\n",
        id="a match",
    ),
    pytest.param(
        "def quote_name(x):\n    return x\ndef f(q):\n    c.execute(f'select {quote_name(q)}')\n", id="its own quoting"
    ),
    pytest.param("def f(q):\n" + "    s = 'select 1'\n" * 60 + "    c.execute(s)\n", id="a name of too many values"),
]
CONSTANT = [
    pytest.param("FIELDS = 'a, b'\ndef f():\n    c.execute(f'select {FIELDS} from t')\n", id="a module's constant"),
    pytest.param("from .t import TABLE\ndef f():\n    c.execute(f'select {TABLE}')\n", id="another module's constant"),
    pytest.param("c.execute(f'select {A._meta.get_field(\"a\").column}')\n", id="a column's own name"),
    pytest.param("c.execute(f'select {int(a)}')\n", id="a number"),
]


@pytest.mark.parametrize("text", BUILT)
def test_sql_that_only_looks_constant_is_built(text: str) -> None:
    assert weights("raw SQL", file("m.py", text)) == [HIGH]


@pytest.mark.parametrize("text", CONSTANT)
def test_sql_that_nobody_outside_decides_is_not_built(text: str) -> None:
    assert weights("raw SQL", file("m.py", text)) == []


# --- what only looks known -----------------------------------------------------------------------------------

SHELL = "import subprocess\nsubprocess.run(\n    'make docs',\n    shell=True,\n)\n"
OTHER = [
    pytest.param("eval('1 + 1')\n", "eval('__import__(\"os\").abort()')\n", id="another program"),
    pytest.param("import os\nos.system('make')\n", "os.system('curl x | sh')\n", id="another command"),
    pytest.param("a = 1; eval('2')\n", "a = 1; eval(b)\n", id="behind another statement"),
    pytest.param("if a: eval('2')\n", "if a: eval(b)\n", id="behind a condition"),
    pytest.param(SHELL, SHELL.partition("\n")[2].replace("'make docs'", "cmd"), id="a call over many lines"),
]


@pytest.mark.parametrize(("before", "new"), OTHER)
def test_a_dangerous_call_is_known_only_by_all_that_it_says(before: str, new: str) -> None:
    assert weights("dangerous call", file("a.py", before + new, before)) == [HIGH]
    assert weights("dangerous call", file("a.py", before + before, before)) == [LOW]


def test_another_open_setting_is_a_new_one() -> None:
    before = "SESSION_COOKIE_SECURE = False\n"
    (found_now,) = found("core/settings.py", f"{before}CSRF_COOKIE_SECURE = False\n", before)
    assert found_now.severity is Severity.MEDIUM


def test_a_call_over_many_lines_has_moved_only_if_all_of_it_has() -> None:
    gone_from, rest = file("a.py", "x = 1\n", f"x = 1\n{SHELL}"), "import subprocess\n"
    assert weights("dangerous call", gone_from, file("b.py", SHELL, rest)) == [LOW]
    other = SHELL.replace("'make docs'", "request.GET['c']")
    assert weights("dangerous call", gone_from, file("b.py", other, rest)) == [HIGH]


# --- what only looks moved -----------------------------------------------------------------------------------

LINES = "for user in users:\n    delete(user)\n    tell(user)\n"
NOT_MOVED = [
    pytest.param("notes.md", LINES, "app.py", LINES, id="a text that becomes code"),
    pytest.param("tests/test_a.py", LINES, "app.py", LINES, id="a test that becomes code"),
    pytest.param("a.py", LINES, "app.py", LINES.replace("    tell", "tell"), id="another indentation"),
    pytest.param("a.py", LINES, "app.py", f"{LINES}x = 1\n{LINES}", id="a copy"),
]


@pytest.mark.parametrize(("source", "gone_there", "target", "come"), NOT_MOVED)
def test_what_is_not_the_same_in_its_new_place_has_not_moved(
    source: str, gone_there: str, target: str, come: str
) -> None:
    files = [file(source, "x\n", f"x\n{gone_there}"), file(target, f"y\n{come}", "y\n")]
    (chunk,) = chunks(patch(files), files, 10_000)
    assert not re.search(r"^\d+[<>]", chunk.text, re.MULTILINE)


# --- too much to be looked at --------------------------------------------------------------------------------


def grown(base: str, new: str) -> ChangedFile:
    """A file to whose end lines were added."""
    first = base.count("\n") + 1
    lines = tuple(enumerate(new.removesuffix("\n").split("\n"), first))
    return ChangedFile(Change("a.py", "modified", "100644", "100644", added_lines=lines), base, base + new)


LARGE = [
    pytest.param("f()\n" * 60_000, id="calls"),
    pytest.param("eval(x)\n" * 30_000, id="findings"),
    pytest.param("x = eval(x)\n" * 20_000, id="values of one name"),
]


@pytest.mark.parametrize("base", LARGE)
def test_a_large_file_that_was_there_is_looked_at_in_seconds(base: str) -> None:
    with bounded():
        assert HIGH in weights("dangerous call", grown(base, "eval(y)\n" * 10))


def nested(part: str, depth: int = 2_000) -> str:
    return "(\n" + "+\n".join([part] * depth) + "\n)"


def test_what_is_nested_deeply_is_judged_as_if_it_were_dangerous() -> None:
    assert weights("raw SQL", file("a.py", f"c.execute{nested('q', 900)[:-1]} + 'select'\n)\n")) == [HIGH]
    assert weights("unescaped HTML", file("a.py", f"mark_safe{nested('q')}\n")) == [Severity.MEDIUM]
    deep = f"def f():\n    return {nested('a')}\n"
    told = gone(case([file("a.py", f"{deep}x = 1\n", deep + deep)]))
    assert told.endswith("which was not so before")


def test_a_name_that_was_not_searched_for_everywhere_is_not_said_to_be_gone() -> None:
    many = {f"f{number:05}.py": "" for number in range(MOST_FILES + 1)}
    told = gone(case([file("a.py", "x = 1\n", "def tax(): ...\nx = 1\n")], many))
    assert told == f"a.py: tax: named in none of the {MOST_FILES} files that were searched"


def test_a_change_that_calls_into_many_large_files_is_read_in_seconds() -> None:
    large = "def f():\n    return [a, b, c(1), d[2]]\n" * 5_000
    tracked = {f"m{number}.py": large for number in range(190)}
    calls = "".join(f"import m{number}\nm{number}.nothing()\n" for number in range(190))
    files = [file("app.py", f"{calls}m0.f()\n")]
    (chunk,) = chunks(patch(files), files, 100_000)
    with bounded():
        assert called(case(files, tracked), chunk).startswith("=== m0.py")
