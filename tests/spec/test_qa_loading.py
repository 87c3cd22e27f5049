"""Which test files only define: loading them can hide nothing."""

from __future__ import annotations

import pytest

from sisimpur.agents.qa.analysis.loading import loads_quietly

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
