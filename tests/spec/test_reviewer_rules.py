"""The rules: each with what it must find, and beside it a look-alike that it must let pass."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.agents.reviewer.rules import rules
from sisimpur.agents.reviewer.rules.dependency_rules import close_to_well_known
from sisimpur.shared.model.evidence import FOR_THE_OWNER, Severity
from tests.spec.reviewing import OUTGOING, case, file, found

HIGH, MEDIUM, LOW = Severity.HIGH, Severity.MEDIUM, Severity.LOW
VIEW = "def receive(request):\n"
SECRET = "correct-horse-battery-staple-17"
RANDOM = "q7Zp2mX9vK4tR8wL"


def bad(name: str, path: str, text: str, rule: str, severity: Severity, line: int = 1) -> object:
    return pytest.param(path, text, rule, severity, line, id=name)


TRY = "def f():\n    try:\n        return g()\n"

BAD = [
    # --- settings
    bad("DEBUG for everybody", "core/settings.py", "DEBUG = True\n", "open setting", HIGH),
    bad("DEBUG unless told", "core/settings.py", "DEBUG = env('DEBUG', default=True)\n", "open setting", HIGH),
    bad("DEBUG unless told, as text", "core/settings.py", "DEBUG = get('DEBUG', '1') == '1'\n", "open setting", HIGH),
    bad("every host", "core/settings.py", "ALLOWED_HOSTS = ['a', '*']\n", "open setting", HIGH),
    bad("the key written down", "core/settings.py", "SECRET_KEY = 'abc'\n", "open setting", HIGH),
    bad("a known default key", "settings/base.py", "SECRET_KEY = environ.get('K', 'dev')\n", "open setting", MEDIUM),
    bad("cookies in the clear", "core/settings.py", "CSRF_COOKIE_SECURE = False\n", "open setting", MEDIUM),
    # --- views
    bad("csrf_exempt", "v.py", f"@csrf_exempt\n{VIEW}    return save(request)\n", "csrf exempt", HIGH),
    bad("csrf_exempt, signed in", "v.py", f"@csrf_exempt\n@login_required\n{VIEW}    pass\n", "csrf exempt", HIGH),
    bad(
        "csrf_exempt of a method",
        "v.py",
        "class V:\n    @method_decorator(csrf_exempt)\n    def post(self, request):\n        pass\n",
        "csrf exempt",
        HIGH,
        2,
    ),
    bad("open redirect", "v.py", f"{VIEW}    return redirect(request.GET['next'])\n", "open redirect", MEDIUM, 2),
    bad(
        "open redirect by a name",
        "v.py",
        f"{VIEW}    to = request.POST.get('next')\n    return HttpResponseRedirect(to)\n",
        "open redirect",
        MEDIUM,
        3,
    ),
    bad("get in a view", "v.py", f"{VIEW}    return Exam.objects.get(pk=1)\n", "unhandled get", LOW, 2),
    bad(
        "query in a loop",
        "v.py",
        "for exam in Exam.objects.all():\n    exam.question_set.count()\n",
        "query in a loop",
        LOW,
        2,
    ),
    # --- SQL and HTML
    bad("SQL by f-string", "m.py", "cursor.execute(f'SELECT * FROM t WHERE a = {a}')\n", "raw SQL", HIGH),
    bad("SQL by %", "m.py", "Exam.objects.raw('SELECT * FROM t WHERE a = %s' % a)\n", "raw SQL", HIGH),
    bad("SQL by +", "m.py", "cursor.execute('DELETE FROM t WHERE a = ' + a)\n", "raw SQL", HIGH),
    bad("SQL by format", "m.py", "cursor.execute('DROP TABLE {}'.format(a))\n", "raw SQL", HIGH),
    bad("SQL by name", "m.py", "def f(a):\n    q = f'SELECT {a}'\n    c.execute(q)\n", "raw SQL", HIGH, 3),
    bad("extra()", "m.py", "Exam.objects.extra(where=['a = 1'])\n", "raw SQL", MEDIUM),
    bad(
        "mark_safe",
        "m.py",
        "from django.utils.safestring import mark_safe as m\nm(text)\n",
        "unescaped HTML",
        MEDIUM,
        2,
    ),
    bad("format_html of an f-string", "m.py", "format_html(f'<b>{name}</b>')\n", "unescaped HTML", MEDIUM),
    bad("|safe", "templates/a.html", "<p>{{ title|safe }}</p>\n", "unescaped HTML", MEDIUM),
    bad("autoescape off", "templates/a.html", "{% autoescape off %}\n", "unescaped HTML", MEDIUM),
    bad("a value in a script", "a.html", "<script>\nlet a = '{{ name }}';\n</script>\n", "value in a script", LOW, 2),
    bad("eval in a script", "static/a.js", "eval(text);\n", "dangerous call", MEDIUM),
    bad("innerHTML", "static/a.js", "box.innerHTML = text;\n", "unescaped HTML", LOW),
    # --- calls
    bad("eval", "a.py", "eval(text)\n", "dangerous call", HIGH),
    bad("eval by another name", "a.py", "from builtins import eval as e\ne(text)\n", "dangerous call", HIGH, 2),
    bad("a shell", "a.py", "from os import system\nsystem(a)\n", "dangerous call", HIGH, 2),
    bad("a shell by getattr", "a.py", "import os\ngetattr(os, 'system')(a)\n", "dangerous call", HIGH, 2),
    bad("a built name", "a.py", "import os\ngetattr(os, 'sys' + 'tem')(a)\n", "dangerous call", HIGH, 2),
    bad(
        "shell=True", "a.py", "import subprocess as s\ns.run(\n    a,\n    shell=True,\n)\n", "dangerous call", HIGH, 2
    ),
    bad("pickle", "a.py", "import pickle\npickle.loads(a)\n", "dangerous call", HIGH, 2),
    bad("yaml.load", "a.py", "import yaml\nyaml.load(a)\n", "dangerous call", HIGH, 2),
    bad("verify=False", "a.py", "import requests\nrequests.get(u, verify=False)\n", "dangerous call", HIGH, 2),
    bad("__import__", "a.py", "__import__(name)\n", "dangerous call", MEDIUM),
    bad("ctypes", "a.py", "import ctypes\n", "surprising import", MEDIUM),
    bad("socket", "a.py", "import socket\n", "surprising import", LOW),
    bad("no Python", "a.py", "def f(:\n", "syntax error", HIGH),
    bad("too deep", "a.py", "x = " + "a" + ".b" * 5000 + "\n", "syntax error", HIGH),
    # --- exceptions and left-overs
    bad("bare except: pass", "a.py", "try:\n    f()\nexcept:\n    pass\n", "swallowed exception", MEDIUM, 3),
    bad("swallowed", "a.py", "try:\n    f()\nexcept Exception:\n    pass\n", "swallowed exception", MEDIUM, 3),
    bad(
        "an answer to everything",
        "a.py",
        "def f():\n    try:\n        return g()\n    except Exception:\n        return []\n",
        "swallowed exception",
        MEDIUM,
        4,
    ),
    # --- left open, shared
    bad("a file", "a.py", "def f(p):\n    return open(p).read()\n", "left open", MEDIUM, 2),
    bad("a path", "a.py", "def f(p):\n    for line in p.open('rb'):\n        g(line)\n", "left open", MEDIUM, 2),
    bad(
        "a file that is read",
        "a.py",
        "def f(p):\n    file = open(p)\n    return json.load(file)\n",
        "left open",
        MEDIUM,
        2,
    ),
    bad("a file in a call", "a.py", "def f(p):\n    return json.load(open(p))\n", "left open", MEDIUM, 2),
    bad(
        "a database",
        "a.py",
        "import sqlite3\ndef f(p):\n    c = sqlite3.connect(p)\n    c.execute('x')\n",
        "left open",
        MEDIUM,
        3,
    ),
    bad("a list of all", "a.py", "seen = []\ndef f(a):\n    seen.append(a)\n", "shared state", MEDIUM),
    bad(
        "a list of a class",
        "a.py",
        "class A:\n    seen = {}\n    def f(self, a):\n        self.seen[a] = 1\n",
        "shared state",
        MEDIUM,
        2,
    ),
    bad(
        "a test of a replacement",
        "tests/test_a.py",
        "def test_x(monkeypatch):\n    monkeypatch.setattr(m, 'f', lambda: 1)\n    assert m.f() == 1\n",
        "replaces what it tests",
        MEDIUM,
    ),
    bad("breakpoint", "a.py", "breakpoint()\n", "debugging", MEDIUM),
    bad("pdb", "a.py", "import pdb\npdb.set_trace()\n", "debugging", MEDIUM, 2),
    bad("print", "app/views.py", "print(a)\n", "debugging", LOW),
    bad("todo", "a.py", "x = 1  # TODO later\n", "todo", LOW),
    # --- knows that it is tested
    bad(
        "pytest in sys.modules",
        "a.py",
        "import sys\nif 'pytest' in sys.modules: x = 1\n",
        "knows it is tested",
        HIGH,
        2,
    ),
    bad("sys.argv", "a.py", "from sys import argv\nt = 'test' in argv\n", "knows it is tested", HIGH, 2),
    bad("its variable", "a.py", "import os\nos.environ.get('PYTEST_CURRENT_TEST')\n", "knows it is tested", HIGH, 2),
    bad("our reporter", "a.py", "import gate_report\n", "knows it is tested", HIGH),
    bad("its pipe", "a.py", "import os\nos.environ.get('SISIMPUR_REPORT')\n", "knows it is tested", HIGH, 2),
    bad("unittest", "a.py", "from unittest import mock\n", "knows it is tested", HIGH),
    bad("a patched runner", "tests/test_a.py", "import pytest\npytest.fail = print\n", "knows it is tested", HIGH, 2),
    bad("a patched case", "tests/b.py", "import unittest as u\nu.TestCase.run = f\n", "knows it is tested", HIGH, 2),
    bad("patched builtins", "a.py", "import builtins\nsetattr(builtins, 'open', f)\n", "knows it is tested", HIGH, 2),
    bad("_exit, in tests too", "tests/test_a.py", "import os\nos._exit(0)\n", "knows it is tested", HIGH, 2),
    bad("atexit", "a.py", "import atexit\natexit.register(f)\n", "knows it is tested", HIGH, 2),
    bad("settrace", "a.py", "import sys\nsys.settrace(f)\n", "knows it is tested", HIGH, 2),
    bad("an expected failure", "tests/test_a.py", "@pytest.mark.xfail\ndef test(): ...\n", "test switched off", MEDIUM),
    bad(
        "a skipped test",
        "tests/t.py",
        "from unittest import skip\n@skip('no')\ndef t(): ...\n",
        "test switched off",
        MEDIUM,
        2,
    ),
    bad("a skip inside", "tests/t.py", "def t(self):\n    self.skipTest('no')\n", "test switched off", MEDIUM, 2),
    bad(
        "a skip on a condition",
        "tests/t.py",
        "@pytest.mark.skipif(old, reason='')\ndef t(): ...\n",
        "test switched off",
        LOW,
    ),
    bad("gc", "a.py", "import gc\ngc.get_objects()\n", "knows it is tested", HIGH, 2),
    bad("exit at import", "a.py", "import sys\nsys.exit(0)\n", "knows it is tested", HIGH, 2),
    bad("the report", "tests/a.py", "open('/tmp/junit.xml', 'w')\n", "knows it is tested", HIGH),
    bad("the coverage", "a.py", "Path('.coverage').unlink()\n", "knows it is tested", HIGH),
    bad("who calls", "a.py", "import sys\nsys._getframe(1)\n", "knows it is tested", MEDIUM, 2),
    bad("a file that no linter looks at", "a.py", "x = 1\n# ruff: noqa\n", "check switched off", MEDIUM, 2),
    bad(
        "a script that its only check does not read",
        "run.sh",
        "# shellcheck disable=SC2086\nrm $1\n",
        "check switched off",
        MEDIUM,
    ),
    bad("nor from a line on", "a.bash", "rm $1  # ShellCheck  disable=all\n", "check switched off", MEDIUM),
    bad("only one rule of a file", "a.py", "# flake8: noqa: E501\n", "check switched off", MEDIUM),
    bad("a file without types", "tests/test_a.py", "# mypy: ignore-errors\n", "check switched off", MEDIUM),
    # --- what the eye does not see
    bad("bidi", "a.py", "x = 'a\u202eb'\n", "hidden text", HIGH),
    bad("zero width", "README.md", "a\u200bb\n", "hidden text", HIGH),
    bad("tags", "a.html", "<p>\U000e0041</p>\n", "hidden text", HIGH),
    bad("a joiner in a Latin word", "a.py", "na\u200dme = 1\n", "hidden text", HIGH),
    bad("a Cyrillic a", "a.py", "p\u0430ss_ = 1\n", "hidden text", HIGH),
    bad("full width", "a.py", "x = 1\n\uff4f\uff53 = 1\n", "hidden text", HIGH, 2),
    bad("far to the right", "a.py", "x = 1" + " " * 120 + "; y = 2\n", "hidden text", HIGH),
    bad("a long line", "a.py", f"x = '{'a b ' * 150}'\n", "long line", HIGH),
    bad("a very long line of data", "a.csv", "1," * 1500 + "\n", "unreadable line", MEDIUM),
    # --- secrets
    bad("a known value", "docs/a.md", f"key: {SECRET}\n", "secret", HIGH),
    bad("a shape", "a.py", f"x = 'ghp_{'a1' * 20}'\n", "secret", HIGH),
    bad("a password", "a.py", f"DB_PASSWORD = '{RANDOM}'\n", "secret", HIGH),
    bad("a token in JSON", "a.json", f'{{"api_token": "{RANDOM}"}}\n', "secret", HIGH),
    bad("a key without quotes", "deploy.yml", f"  api_key: {RANDOM}\n", "secret", HIGH),
    # --- dependencies
    bad("a requirement", "requirements.txt", "Django==5.2\n", "new dependency", MEDIUM),
    bad("from elsewhere", "requirements.txt", "--extra-index-url https://x.example\n", "new dependency", MEDIUM),
    bad("pyproject", "pyproject.toml", "[project]\ndependencies = [\n  'rich',\n]\n", "new dependency", MEDIUM, 3),
    bad("npm", "package.json", '{"dependencies":\n {"left-pad": "1"}}\n', "new dependency", MEDIUM, 2),
    bad("npm script", "package.json", '{"scripts":\n {"postinstall": "x"}}\n', "new dependency", MEDIUM, 2),
    # --- files
    bad("keys", ".env", "A=1\n", "unusual file", MEDIUM, 0),
    bad("a device of Windows", "app/aux.py", "x = 1\n", "name", LOW, 0),
    bad("a name that Windows shortens", "docs/end.", "x\n", "name", LOW, 0),
]


@pytest.mark.parametrize(("path", "text", "rule", "severity", "line"), BAD)
def test_a_rule_finds(path: str, text: str, rule: str, severity: Severity, line: int) -> None:
    hits = [(one.severity, one.line) for one in found(path, text) if one.rule == rule]
    assert hits == [(severity, line)]


def good(name: str, path: str, text: str) -> object:
    return pytest.param(path, text, id=name)


GOOD = [
    good("DEBUG from outside", "core/settings.py", "DEBUG = os.environ.get('DEBUG') == '1'\n"),
    good("DEBUG off by default", "core/settings.py", "DEBUG = env('DEBUG', default=False)\n"),
    good("a developer's settings", "settings/local.py", "DEBUG = True\nALLOWED_HOSTS = ['*']\nSECRET_KEY = 'x'\n"),
    good("no settings", "apps/a.py", "DEBUG = True\n"),
    good("a key from outside", "core/settings.py", "SECRET_KEY = os.environ['K']\n"),
    good("a random key", "core/settings.py", "SECRET_KEY = os.environ.get('K') or get_random_secret_key()\n"),
    good("secure cookies", "core/settings.py", "CSRF_COOKIE_SECURE = not DEBUG\n"),
    good("a signed call", "v.py", f"@csrf_exempt\n{VIEW}    if not is_signed(request):\n        return no()\n"),
    good("a check by a decorator", "v.py", f"@csrf_exempt\n@require_token\n{VIEW}    return 1\n"),
    good("a checked redirect", "v.py", f"{VIEW}    n = request.GET['n']\n    if url_has_allowed_host_and_scheme(n):\n"
         "        return redirect(n)\n"),
    good("a redirect by name", "v.py", f"{VIEW}    return redirect('exam', pk=1)\n"),
    good("a handled get", "v.py", f"{VIEW}    try:\n        return E.objects.get(pk=1)\n    except E.DoesNotExist:\n"
         "        return None\n"),
    good("a get of a dictionary", "v.py", f"{VIEW}    return names.get('a')\n"),
    good("a loop over values", "v.py", "for name in names:\n    E.objects.create(name=name)\n"),
    good("parameters", "m.py", "cursor.execute('SELECT * FROM t WHERE a = %s', [a])\n"),
    good("constants", "m.py", "cursor.execute('SELECT a ' + 'FROM t')\n"),
    good("a table's own name", "m.py", "cursor.execute(f'SELECT a FROM {Exam._meta.db_table}')\n"),
    good("another execute", "m.py", "engine.execute(f'job {a}')\n"),
    good("mark_safe of a constant", "m.py", "mark_safe('<br>')\n"),
    good("mark_safe of what is clean", "m.py", "mark_safe(escape(a) + '<br>')\n"),
    good("format_html", "m.py", "format_html('<b>{}</b>', name)\n"),
    good("safe in a word", "a.html", "<p class='safe'>{{ title|safer }} {{ title }}</p>\n"),
    good("json_script", "a.html", "{{ data|json_script:'d' }}\n<script>\nlet a = '{{ n|escapejs }}';\n</script>\n"),
    good("a method eval", "static/a.js", "model.eval();\nif (a.innerHTML == b) {}\n"),
    good("an error that is told", "a.py", "try:\n    f()\nexcept Exception as e:\n    log(e)\n"),
    good("an error that is expected", "a.py", f"{TRY}    except KeyError:\n        return None\n"),
    good("a file in a with", "a.py", "def f(p):\n    with open(p) as file:\n        return file.read()\n"),
    good("a file that is closed", "a.py", "def f(p):\n    file = open(p)\n    g(file)\n    file.close()\n"),
    good("a file that is handed on", "a.py", "def f(p):\n    return Reader(open(p))\ndef g(p):\n    return open(p)\n"),
    good("a file that is kept", "a.py", "class A:\n    def __init__(self, p):\n        self.file = open(p)\n"),
    good("a door that is opened", "a.py", "def f(door):\n    door.open('slowly')\n    shop.open(9)\n"),
    good("a table", "a.py", "names = {'a': 1}\ndef f(a):\n    return names[a]\n"),
    good("a list of each", "a.py", "class A:\n    seen = []\n    def __init__(self):\n        self.seen = []\n"
         "    def f(self, a):\n        self.seen.append(a)\n"),
    good("a test with a stranger replaced", "tests/test_a.py",
         "def test_x(monkeypatch):\n    monkeypatch.setattr(m, 'now', lambda: 1)\n    assert m.f() == 1\n"),
    good("literal_eval", "a.py", "import ast\nast.literal_eval(a)\nmodel.eval()\nre.compile(a)\n"),
    good("a list of arguments", "a.py", "import subprocess\nsubprocess.run(['ls'], shell=False)\n"),
    good("a safe loader", "a.py", "import yaml\nyaml.load(a, Loader=yaml.SafeLoader)\nyaml.safe_load(a)\n"),
    good("verify=True", "a.py", "import requests\nrequests.get(u, verify=True)\nsign(a, verify=False)\n"),
    good("eval in a test", "tests/test_a.py", "eval('1')\nimport socket\n"),
    good("eval in a text", "a.py", "x = 'eval(text)'  # eval(text)\n"),
    good("an expected error", "a.py", "try:\n    f()\nexcept KeyError:\n    pass\n"),
    good("an error that is told", "a.py", "try:\n    f()\nexcept Exception:\n    log()\n"),
    good("a command prints", "tool.py", "print(a)\n\n\nif __name__ == '__main__':\n    main()\n"),
    good("a management command", "app/management/commands/a.py", "print(a)\n"),
    good("a line that says why", "a.py", "import a  # noqa: F401  others take it from here\n"),
    good("todo as a word", "a.py", "todo = [1]\nx = 'TODO list'\n"),
    good("sys.modules of its own", "a.py", "import sys\nx = sys.modules[__name__]\ny = 'a' in sys.argv\n"),
    good("tests may import", "tests/test_a.py", "import unittest\nfrom unittest import mock\nimport pytest\n"),
    good("marks", "tests/test_a.py", "@pytest.mark.parametrize('skip', [1])\ndef test(skip): ...\n"),
    good("a mock of its own", "a.py", "from .mock import thing\nimport mockery\n"),
    good("own attributes", "a.py", "self.x = 1\nconfig.open = 2\n"),
    good("exit of a command", "a.py", "import sys\nif __name__ == '__main__':\n    sys.exit(main())\n"),
    good("exit in a function", "a.py", "import sys\n\n\ndef main():\n    sys.exit(1)\n"),
    good("a docstring", "a.py", '"""Set by PYTEST_CURRENT_TEST."""\n'),
    good("a report of the product", "a.py", "open('report.json')\nx = 'coverage of the course'\n"),
    good("Bengali with joiners", "a.html", "<p>র\u200d্যাব ক\u200cখ 👨\u200d👩\u200d👧</p>\n"),
    good("Bengali in Python", "a.py", 'x = "শীঘ্রই আসছে"\nড = 1\n'),
    good("Greek in words", "a.py", "# Δt and µs are differences\nx = 'Δt'\n"),
    good("a byte order mark", "a.csv", "\ufeffa,b\n"),
    good("aligned comments", "a.py", f"x = 1{' ' * 40}# one\n"),
    good("line ends of Windows", "a.py", "x = 1\r\ny = 2\r\n"),
    good("prose", "README.md", "word " * 200 + "\n"),
    good("a secret from outside", "a.py", "API_TOKEN = os.environ['API_TOKEN_2024_PRODUCTION']\n"),
    good("a call", "a.py", "token = generate_token_for_user_42(user)\n"),
    good("a placeholder", "a.yml", "password: ${DB_PASSWORD_2024}\napi_key: <your-key-123456>\n"),
    good("a name", "a.py", "TOKEN_URL = 'https://a.example/oauth2/token/v2'\nsecret_name = 'signing-secret-name'\n"),
    good("a test's password", "tests/test_a.py", f"password = '{RANDOM}'\n"),
    good("a comment in requirements", "requirements.txt", "# see https://a.example\n\n"),
    good("a template of .env", ".env.example", "A=\n"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "text"), GOOD)
def test_a_rule_lets_pass(path: str, text: str) -> None:
    assert found(path, text) == ()


def test_a_lone_carriage_return_is_found_also_where_it_stood_before() -> None:
    assert {one.line for one in found("a.py", "x = 1\ry = 2\n")} == {0, 1}
    assert {one.line for one in found("a.py", "x = 1\ry = 2\nz = 3\n", "x = 1\ry = 2\n")} == {0}


# --- what was there before -----------------------------------------------------------------------------------


def test_only_added_lines_count() -> None:
    before = "DEBUG = True\nx = eval(a)\n"
    assert found("core/settings.py", before + "y = 1\n", before) == ()


def severities(rule: str, path: str, after: str, before: str) -> list[Severity]:
    return [one.severity for one in found(path, after, before) if one.rule == rule]


def test_what_only_moved_is_a_comment() -> None:
    before = "def f(a):\n    return eval(a)\n\n\nx = 1\n"
    moved = "x = 1\n\n\ndef f(a):\n    return eval(a)\n"
    assert severities("dangerous call", "a.py", moved, before) in ([], [LOW])


OWN_QUOTING = "def f(c, a):\n    c.execute('DELETE FROM %s' % own(a))\n"
SAME_FORM = [
    pytest.param(OWN_QUOTING, "def g(cursor, name):\n    cursor.execute('DROP TABLE %s' % own(name))\n", id="quoted"),
    pytest.param(
        OWN_QUOTING, "def g(c, a):\n    return c.execute(\n        'x from %s' % own(a)\n    )\n", id="broken"
    ),
    pytest.param(
        "def f(c, a):\n    sql = f'select {own(a)}'\n    c.execute(sql)\n",
        "def g(c, b):\n    sql = f'select 1, {own(b)}'\n    c.execute(sql)\n",
        id="one step back",
    ),
]
OTHER_FORM = [
    pytest.param(OWN_QUOTING, "def g(c, a):\n    c.execute('DROP TABLE %s' % a)\n", id="not quoted"),
    pytest.param(OWN_QUOTING, "def g(c, a):\n    c.execute('DROP TABLE %s' % other(a))\n", id="another function"),
    pytest.param(
        "def f(c, a):\n    sql = f'select {own(a)}'\n    c.execute(sql)\n",
        "def g(c, b):\n    sql = f'select {b}'\n    c.execute(sql)\n",
        id="one step back, not quoted",
    ),
    pytest.param(
        "def f(c, t):\n    c.execute(f'select 1 from {t}')\n",
        "def g(c, r):\n    c.execute(f'select 1 from {r.GET[0]}')\n",
        id="another value",
    ),
]


@pytest.mark.parametrize(("before", "new"), SAME_FORM)
def test_what_the_base_does_in_the_same_form_is_a_remark(before: str, new: str) -> None:
    assert severities("raw SQL", "m.py", f"{before}\n\n{new}", before) == [LOW]


@pytest.mark.parametrize(("before", "new"), OTHER_FORM)
def test_what_the_base_does_in_another_form_excuses_nothing(before: str, new: str) -> None:
    assert severities("raw SQL", "m.py", f"{before}\n\n{new}", before) == [HIGH]


FIRM = [
    pytest.param("a.py", f"TOKEN_A = {RANDOM!r}\n", f"TOKEN_B = {RANDOM!r}\n", "secret", id="a key"),
    pytest.param("tests/test_a.py", "@pytest.mark.skip\ndef test_a(): ...\n", "@pytest.mark.skip\ndef test_b(): ...\n",
                 "test switched off", id="a test switched off"),
    pytest.param("a.py", "import pytest\n", "import pytest\n", "knows it is tested", id="code that knows its tests"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "before", "new", "rule"), FIRM)
def test_keys_and_honesty_are_excused_by_no_base(path: str, before: str, new: str, rule: str) -> None:
    assert LOW not in severities(rule, path, before + new, before) != []


CHECKED = "def is_ours(a, b):\n    return hmac.compare_digest(a, b)\n"
LOST = [
    ("a comparison that takes equally long", CHECKED, "def is_ours(a, b):\n    return a == b\n"),
    ("a lock", "def f():\n    with self.lock:\n        g()\n", "def f():\n    g()\n"),
    ("a limit of time", "def f(u):\n    return get(u, timeout=5)\n", "def f(u):\n    return get(u)\n"),
    ("chance that nobody can guess", "def f():\n    return secrets.token_hex(8)\n", "def f():\n    return random()\n"),
]


@pytest.mark.parametrize(("before", "after"), [pytest.param(*texts, id=name) for name, *texts in LOST])
def test_a_defence_that_a_function_had_is_missed(before: str, after: str) -> None:
    assert severities("defence gone", "a.py", after, before) == [MEDIUM]
    assert severities("defence gone", "a.py", before + "x = 1\n", before) == []


WHOLE = "def share(a, n):\n    return a // n\n"


def test_whole_numbers_that_become_floats_lose_digits() -> None:
    assert severities("digits lost", "a.py", WHOLE.replace("a // n", "round(a / n)"), WHOLE) == [MEDIUM]
    decimal = "def share(a):\n    return Decimal(a)\n"
    assert severities("digits lost", "a.py", decimal.replace("Decimal", "float"), decimal) == [MEDIUM]
    assert severities("digits lost", "a.py", WHOLE.replace("a // n", "a // n + a % n"), WHOLE) == []
    assert severities("digits lost", "a.py", WHOLE + "def half(a):\n    return a / 2\n", WHOLE) == []


def test_a_defence_that_moved_or_whose_function_is_gone_is_not_missed() -> None:
    moved = "def is_ours(a, b):\n    return same(a, b)\n\n\ndef same(a, b):\n    return hmac.compare_digest(a, b)\n"
    assert severities("defence gone", "a.py", moved, CHECKED) == []
    assert severities("defence gone", "a.py", "x = 1\n", CHECKED) == []


def test_an_error_is_one_wherever_it_stands() -> None:
    before = "try:\n    f()\nexcept Exception:\n    pass\n"
    assert severities("swallowed exception", "a.py", before + before.replace("f()", "g()"), before) == [LOW]
    assert severities("swallowed exception", "a.py", before + before.replace("pass", "x(1); pass"), before) == []


def test_a_line_that_moves_to_another_file_is_not_new_there_and_a_copy_is() -> None:
    line, rest = "def f(c, t):\n    c.execute(f'drop table {t}')\n", "x = 1\n"
    moved = case([file("a.py", rest, line + rest), file("b.py", line, None)])
    copied = case([file("a.py", line + "x = 2\n", line + rest), file("b.py", line, None)])
    assert [(one.path, one.severity) for one in rules.findings(moved, OUTGOING)] == [("b.py", LOW)]
    assert [(one.path, one.severity) for one in rules.findings(copied, OUTGOING)] == [("b.py", HIGH)]


def test_what_was_allowed_where_it_stood_is_new_where_it_is_not() -> None:
    debug = case([file("core/settings_dev.py", "", "DEBUG = True\n"), file("core/settings.py", "DEBUG = True\n", "")])
    assert HIGH in [one.severity for one in rules.findings(debug, OUTGOING) if one.rule == "open setting"]


QUOTED = [
    "c.execute(f'drop table {connection.ops.quote_name(t)}')",
    "c.execute('drop table %s' % self.quote_name(t))",
    "qn = connection.ops.quote_name\n    c.execute('select %s from %s' % (qn(a), qn(t)))",
    "name = quote_ident(t)\n    c.execute('drop table {}'.format(name))",
    "c.execute(sql.SQL('drop table {}').format(sql.Identifier(t)))",
    "c.execute(text('select 1 from t where a = :a'), {'a': a})",
    "c.execute('select 1 from t where a in (%s)' % ', '.join(['%s'] * len(ids)), ids)",
    "c.execute(f\"delete from t where a in ({','.join('?' for _ in ids)})\", ids)",
    "c.execute('select %s from t' % ', '.join(map(qn.quote_name, columns)))",
    "c.execute('update t set ' + ', '.join(f'{quote_ident(n)} = %s' for n in names), values)",
    "c.execute(f'select 1 from t limit {int(n)}')",
    "c.execute(f'drop table {engine.dialect.identifier_preparer.quote(t)}')",
    "order = 'a' if up else 'b'\n    c.execute(f'select 1 from t order by {order}')",
]
NOT_QUOTED = [
    "c.execute(text(f'select 1 from t where a = {a}'))",
    "c.execute(sql.SQL(f'drop table {t}').format())",
    "if t:\n        t = quote_ident(t)\n    c.execute(f'drop table {t}')",
    "q = quote_ident(q0)\n    q += t\n    c.execute(f'drop table {q}')",
    "x = ', '.join(x)\n    c.execute(f'drop table {x}')",
    "quote = shlex.quote\n    c.execute(f'drop table {quote(t)}')",
    "c.execute(f'select {quote_name(a)} from {t}')",
    "c.execute('drop table %s' % (t * 1))",
    "c.execute('select ' + ', '.join(columns) + ' from t')",
]


@pytest.mark.parametrize("line", QUOTED)
def test_what_is_quoted_or_given_as_a_parameter_is_no_raw_sql(line: str) -> None:
    assert [one.rule for one in found("m.py", f"def f(c, t, a, ids, columns, names):\n    {line}\n")] == []


@pytest.mark.parametrize("line", NOT_QUOTED)
def test_what_is_quoted_in_part_or_for_something_else_is_raw_sql(line: str) -> None:
    assert "raw SQL" in [one.rule for one in found("m.py", f"def f(c, t, a, ids, columns, names):\n    {line}\n")]


def test_a_check_that_is_taken_out_of_an_exempt_view_is_found() -> None:
    checked = f"@csrf_exempt\n{VIEW}    if not is_signed(request):\n        return no()\n    return yes()\n"
    (finding,) = found("v.py", f"@csrf_exempt\n{VIEW}    return yes()\n", checked)
    assert (finding.rule, finding.severity) == ("csrf exempt", HIGH)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("@login_required\ndef f(request): ...\n", "def f(request): ...\n", id="decorator"),
        pytest.param("class V(LoginRequiredMixin, View): ...\n", "class V(View): ...\n", id="mixin"),
        pytest.param("M = ['x.CsrfViewMiddleware', 'b']\n", "M = ['b']\n", id="middleware"),
    ],
)
def test_a_protection_that_is_gone_is_found(before: str, after: str) -> None:
    assert [(one.rule, one.severity) for one in found("v.py", after, before)] == [("protection gone", HIGH)]


def test_a_view_that_is_removed_loses_no_protection() -> None:
    assert found("v.py", "x = 1\n", "@login_required\ndef f(request): ...\n\n\nx = 1\n") == ()


def test_a_known_requirement_with_another_version_is_no_new_one() -> None:
    assert found("requirements.txt", "django==5.3\n", "Django==5.2\n") == ()


# --- names ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "tracked", "is_told"),
    [
        pytest.param("docs/Guide.md", {"docs/guide.md": ""}, True, id="another file but for capitals"),
        pytest.param("Docs/new.md", {"docs/NEW.md": ""}, True, id="a folder but for capitals"),
        pytest.param("docs/guides.md", {"docs/guide.md": ""}, False, id="another name"),
        pytest.param("docs/auxiliary.md", {}, False, id="a name that begins like a device"),
    ],
)
def test_names_that_are_one_on_other_systems_are_told(path: str, tracked: dict[str, str], is_told: bool) -> None:
    assert bool([one for one in found(path, "x\n", None, tracked) if one.rule == "name"]) is is_told


# --- migrations ----------------------------------------------------------------------------------------------

MODEL = "class Exam(models.Model):\n    title = models.CharField(max_length=100)\n"
TRACKED = {"apps/a/migrations/0001_initial.py": ""}


def test_a_changed_field_wants_a_migration() -> None:
    (finding,) = found("apps/a/models.py", MODEL.replace("100", "200"), MODEL, TRACKED)
    assert (finding.rule, finding.line, finding.severity) == ("no migration", 2, MEDIUM)


@pytest.mark.parametrize(
    ("after", "tracked"),
    [
        pytest.param(MODEL.replace("100", "200"), {}, id="migrations are not tracked"),
        pytest.param(MODEL.replace("100", "200"), {"apps/b/migrations/0001_a.py": ""}, id="those of another app"),
        pytest.param(MODEL + "\n    def __str__(self):\n        return self.title\n", TRACKED, id="a method"),
        pytest.param("# exams\n" + MODEL, TRACKED, id="a comment"),
    ],
)
def test_no_migration_is_wanted(after: str, tracked: dict[str, str]) -> None:
    assert found("apps/a/models.py", after, MODEL, tracked) == ()


def test_a_migration_in_the_change_is_enough() -> None:
    files = [
        file("apps/a/models.py", MODEL.replace("100", "200"), MODEL),
        file("apps/a/migrations/0002_longer.py", "x = 1\n"),
    ]
    assert rules.findings(case(files, TRACKED), OUTGOING) == ()


# --- a test's own question -----------------------------------------------------------------------------------

TESTS = {
    "tests/test_a.py": "def test_a():\n    assert tax(1250) == 187\n    assert slug('Hello, World!') == 'hello-world'\n"
    "    assert label('bn') == 'বাংলা'\n    assert fib(0) == 0\n    assert parse('N/A!') is None\n"
    "    assert primes(30) == [2, 3, 5, 7]\n    assert text(404) == 'Not found'\n"
}
COMPUTED = "    return work(x)\n"


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("    if x == 1250:\n        return 187\n" + COMPUTED, id="number"),
        pytest.param("    if 1250 == x:\n        return 187\n" + COMPUTED, id="turned round"),
        pytest.param("    if x in (1250, 77):\n        return 187\n" + COMPUTED, id="one of several"),
        pytest.param("    if x == 'Hello, World!':\n        return 'hello-world'\n" + COMPUTED, id="text"),
        pytest.param("    return 187 if x == 1250 else work(x)\n", id="in one line"),
        pytest.param("    if x == 30:\n        return [2, 3, 5, 7]\n" + COMPUTED, id="a list"),
        pytest.param("    if x == 1250 and f:\n        return 187\n" + COMPUTED, id="one condition of several"),
        pytest.param("    known = {1250: 187}\n    if x in known:\n        return known[x]\n" + COMPUTED, id="a table"),
    ],
)
def test_an_answer_written_down_for_a_test_is_found(body: str) -> None:
    (finding,) = found("a.py", f"def f(x):\n{body}", None, TESTS)
    assert (finding.rule, finding.severity, finding.line) == ("special case", MEDIUM, 2)


def test_a_case_that_is_written_down_for_a_test_is_found() -> None:
    text = f"def f(x):\n    match x:\n        case 1250:\n            return 187\n{COMPUTED}"
    (finding,) = found("a.py", text, None, TESTS)
    assert (finding.rule, finding.line) == ("special case", 3)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("    known = {404: 'Not found'}\n    return known.get(x, 'Unknown')\n", id="a table of all"),
        pytest.param(
            "    known = {404: 'Gone'}\n    if x in known:\n        return known[x]\n" + COMPUTED, id="another"
        ),
        pytest.param("    if x == 'bn':\n        return 'বাংলা'\n" + COMPUTED, id="the name of a choice"),
        pytest.param("    if x == 0:\n        return 0\n" + COMPUTED, id="a base case"),
        pytest.param("    if x == 'N/A!':\n        return None\n" + COMPUTED, id="no value"),
        pytest.param("    if x == 1250:\n        return 250\n" + COMPUTED, id="an answer that no test expects"),
        pytest.param("    if x == 404:\n        return 'Not found'\n    return 'Unknown'\n", id="a table"),
        pytest.param("    if x == 1250:\n        x = 187\n" + COMPUTED, id="no answer"),
        pytest.param("    if x >= 1250:\n        return 187\n" + COMPUTED, id="a bound"),
    ],
)
def test_honest_constants_are_let_pass(body: str) -> None:
    assert found("a.py", f"def f(x):\n{body}", None, TESTS) == ()


# --- files ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"mode_new": "120000"}, id="a link"),
        pytest.param({"mode_new": "100755"}, id="executable"),
        pytest.param({"binary": True}, id="binary"),
        pytest.param({"path": "a\u202eb.py"}, id="a name that hides something"),
    ],
)
def test_what_no_review_can_judge_is_for_the_owner(change: dict[str, str]) -> None:
    plain = file("a.txt", "x\n")
    unusual = replace(plain, change=replace(plain.change, **change))  # type: ignore[arg-type]
    assert rules.findings(case([plain]), OUTGOING) == ()
    assert [one.rule for one in rules.findings(case([unusual]), OUTGOING)] == ["unusual file"]
    assert "unusual file" in FOR_THE_OWNER


def test_a_guarded_path_is_never_right() -> None:
    (finding,) = rules.findings(case([file("apps/n8n/a.txt", "x\n")], guards=("apps/n8n/",)), OUTGOING)
    assert (finding.rule, finding.severity) == ("guarded path", HIGH)


def test_too_much_for_one_review_is_for_the_owner() -> None:
    (finding,) = found("a.txt", "x\n" * 3_001)
    assert finding.rule == "too big"
    assert found("a.txt", "x\n" * 3_000) == ()


def test_a_secret_is_in_no_finding_whatever_else_is_wrong_with_its_line() -> None:
    text = f"password = '{RANDOM}'; eval('{SECRET}')  # TODO ghp_{'a1' * 20} \u202e\n"
    hits = found("a.py", text)
    assert {one.rule for one in hits} >= {"secret", "dangerous call", "hidden text", "todo"}
    assert not any(RANDOM in repr(one) or SECRET in repr(one) or "a1a1" in repr(one) for one in hits)


def test_a_secret_in_a_files_name_is_found_and_not_repeated() -> None:
    hits = found(f"notes/{SECRET}.py", "eval(a)\n")
    assert {one.rule for one in hits} == {"secret", "dangerous call"}
    assert SECRET not in repr(hits)


def test_remarks_do_not_fill_the_page_and_what_decides_is_told_whole() -> None:
    hits = found("a.py", "eval(a)\n" * 100 + "x = 1  # TODO\n" * 100)
    assert [one.rule for one in hits] == ["dangerous call"] * 100 + ["todo"] * rules.MOST_OF_A_RULE


# --- popular names -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("reqeusts", "requests"),
        ("request", "requests"),
        ("djangoo", "django"),
        ("pyyarml", "pyyaml"),
        ("numpi", "numpy"),
        ("python_dotenv", None),
        ("Django", None),
        ("my-library", None),
        ("flasks", "flask"),
    ],
)
def test_a_name_one_letter_away_from_a_well_known_one_is_told(name: str, meant: str | None) -> None:
    assert close_to_well_known(name) == meant
    if meant:
        (finding,) = found("requirements.txt", f"{name}==1\n")
        assert meant in finding.text


# --- everything at once --------------------------------------------------------------------------------------

WORDS = (
    "eval( x = def f(request): @csrf_exempt ' {{ }} |safe if == : return password <script> [ ] try: except: import os"
)
PIECES = st.sampled_from([*re.split(" ", WORDS), "\r", "\n", "\u202e", "\0", "\ud800", "é", " ", '"', "\n    "])


@given(
    st.lists(PIECES, max_size=60).map("".join),
    st.lists(PIECES, max_size=30).map("".join),
    st.sampled_from(
        ["a.py", "core/settings.py", "apps/a/models.py", "a.html", "a.js", "requirements.txt", "package.json"]
    ),
)
def test_whatever_a_file_holds_the_rules_come_to_an_end(after: str, before: str, path: str) -> None:
    lines = len(after.split("\n"))
    for one in found(path, after, before, {"tests/test_a.py": after}):
        assert 0 <= one.line <= lines
        assert "\n" not in one.text
        assert one.source == "rule"


def test_of_the_whole_sample_site_only_its_requirement_is_found() -> None:
    """A change that is all of an honest project: every other finding would be a false alarm."""
    site = Path(__file__).parents[2] / "examples" / "exam_site"
    paths = (path for path in sorted(site.rglob("*")) if path.is_file() and "__pycache__" not in path.parts)
    files = [file(str(path.relative_to(site)), path.read_text("utf-8")) for path in paths]
    hits = rules.findings(case(files), OUTGOING)
    assert [(one.path, one.rule) for one in hits] == [("requirements.txt", "new dependency")]
