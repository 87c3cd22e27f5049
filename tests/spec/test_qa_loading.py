"""Which test files only define, and what is added to them: loading it can hide nothing."""

from __future__ import annotations

import pytest

from sisimpur.agents.qa.analysis.loading import adds_quietly, loads_quietly

QUIET = {
    "tests": "from shop import total\n\ndef test_sum():\n    assert total([1]) == 1\n",
    "a class, marks and parameters": "import pytest\nCASES = [(1, 2), (3, 4)]\n\n"
    "class TestA:\n    @pytest.mark.parametrize(('a', 'b'), CASES)\n    def test_it(self, a, b): assert a < b\n",
    "a fixture": "import pytest\n\n@pytest.fixture\ndef shop(tmp_path):\n    return tmp_path / 'shop'\n",
    "its own attributes": "class A:\n    def setup_method(self):\n        self.x = 1\n",
}
ACTS = {
    "a variable": "import os\nos.environ['A'] = '1'\n",
    "a variable, within a test": "import os\n\ndef test_it():\n    os.environ['A'] = '1'\n",
    "a function is replaced": "import shop\nshop.total = len\n",
    "within a test": "import shop as s\n\ndef test_it():\n    s.total = len\n",
    "something is called": "from shop import use\nuse('plain')\n",
    "a decorator of its own": "from shop import register\n\n@register\ndef test_it(): pass\n",
    "a default": "from shop import use\n\ndef test_it(a=use()): pass\n",
    "a class that calls": "from shop import use\n\nclass A:\n    x = use()\n",
    "a fixture for all": "import pytest\n\n@pytest.fixture(autouse=True, scope='session')\ndef shop(): yield\n",
    "a plugin": "pytest_plugins = ['shop.plugin']\n",
    "a hook": "def pytest_runtest_setup(item): pass\n",
    "a branch": "import sys\nif sys.flags.debug:\n    x = 1\n",
    "no Python": "def (:\n",
}


@pytest.mark.parametrize("name", QUIET)
def test_what_only_defines_loads_quietly(name: str) -> None:
    assert loads_quietly(QUIET[name])


@pytest.mark.parametrize("name", ACTS)
def test_what_may_change_something_for_others_does_not(name: str) -> None:
    assert not loads_quietly(ACTS[name])


# --- what is added to a file of tests ------------------------------------------------------------------------

OLD = """\
import pytest
from shop import total

RATES = {"a": 1}


class TestShop:
    def test_sum(self):
        assert total([1]) == RATES["a"]
"""
SOUND = {
    "a test": OLD + "\n\ndef test_more():\n    assert total([2]) == 2\n",
    "a test in a class": OLD
    + "\n    def test_more(self):\n        found = []\n        found.append(3)\n        assert found\n",
    "a name of an import": OLD.replace("import total", "import tax, total") + "\ndef test_tax():\n    assert tax(1)\n",
    "an import, values and a helper": "import json\n"
    + OLD
    + "\nCASES = [1]\n\ndef made():\n    return json.loads('1')\n\n"
    + "@pytest.mark.slow\ndef test_made():\n    assert made()\n",
    "a comment": OLD.replace("RATES =", "# rates\nRATES ="),
}
UNSOUND = {
    "an old test asks something else": OLD.replace("[1]", "[2]") + "\n\ndef test_more():\n    assert total([2]) == 2\n",
    "one is gone": OLD.partition("class")[0] + "def test_more():\n    assert total([2]) == 2\n",
    "the order is another": OLD.replace('RATES = {"a": 1}\n', "") + '\n\nRATES = {"a": 1}\n',
    "a name that old tests use": OLD + "\n\ndef total(prices):\n    return 1\n",
    "a built-in": OLD + "\n\ndef sum(prices):\n    return 1\n",
    "an import of everything": OLD.replace("RATES =", "from shop.odd import *\n\nRATES ="),
    "another value": OLD + '\n\nRATES = {"a": 2}\n',
    "a value of theirs changes": OLD + "\n\ndef test_a():\n    RATES.update(a=2)\n    assert RATES\n",
    "an item of it": OLD + '\n\ndef test_a():\n    RATES["a"] = 2\n    assert RATES\n',
    "something stays replaced": OLD.replace("import total", "import total, patcher")
    + "\n\ndef test_a():\n    patcher(total).start()\n    assert total\n",
    "a fixture": OLD + "\n\n@pytest.fixture\ndef client():\n    return 1\n",
    "a set-up": OLD + "\n    def setup_method(self):\n        self.x = 1\n",
    "a set-up of all": OLD + "\n\ndef setup_function():\n    pass\n",
    "a name that a base brings": OLD + "\n    def test_inherited(self):\n        assert 1\n",
    "something runs as it is loaded": OLD + "\n\ntotal([1])\n",
    "another base of the class": OLD.replace("TestShop:", "TestShop(Other):"),
    "no Python": OLD + "def (:\n",
}


@pytest.mark.parametrize("name", SOUND)
def test_what_is_added_beside_old_tests_leaves_them_as_they_were(name: str) -> None:
    assert adds_quietly(OLD, SOUND[name], {"test_inherited"})


@pytest.mark.parametrize("name", UNSOUND)
def test_what_could_reach_old_tests_of_its_file_does_not(name: str) -> None:
    assert not adds_quietly(OLD, UNSOUND[name], {"test_inherited"})
