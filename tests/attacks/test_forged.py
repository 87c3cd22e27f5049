"""Promise 4: what a dependency forges of a test's end is noticed.

Before the canary each of these runs was "finished", with every test passed.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from sisimpur.agents.qa.test_runner import read_run
from tests.edges.bench_scene import PYTEST, SMALL, UNITTEST, Scene, make_scene

WRONG = {
    "tests/__init__.py": "",
    "tests/test_sum.py": (
        "import unittest\n\n\nclass TestSum(unittest.TestCase):\n"
        "    def test_one(self):\n        self.assertEqual(1 + 1, 3)\n"
        "    def test_two(self):\n        self.assertEqual(2 + 2, 5)\n"
    ),
}
PLUGIN = "import pytest\n@pytest.hookimpl(hookwrapper=True)\ndef {}\n    outcome = yield\n    {}\n"
FORGERS = {
    "the report of each test": PLUGIN.format(
        "pytest_runtest_makereport(item):",
        "outcome.get_result().outcome = 'passed'; outcome.get_result().longrepr = None",
    ),
    "what runs a test": "import unittest\nunittest.TestCase.run = lambda self, result=None: result.addSuccess(self)\n"
    "import _pytest.runner as r\nr.TestReport.from_item_and_call = classmethod(lambda cls, item, call: "
    "cls(item.nodeid, item.location, {}, 'passed', None, call.when))\n",
    "every assertion": "import unittest\nunittest.TestCase.assertEqual = lambda *_: None\n"
    "unittest.TestCase._callTestMethod = lambda *_: None\n",
}


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    return make_scene(tmp_path_factory)


@pytest.mark.parametrize("name", [name for name in FORGERS if name != "every assertion"])
def test_a_plugin_that_forges_passes_is_noticed(scene: Scene, name: str) -> None:
    run = read_run(scene.run({**WRONG, "evil.py": FORGERS[name]}, f"{PYTEST} -p evil"))
    assert set(run.outcomes.values()) <= {"passed"}
    assert (run.end, run.is_whole) == ("forged", False)


@pytest.mark.parametrize("name", ["every assertion"])
def test_what_makes_every_assertion_true_is_noticed(scene: Scene, name: str) -> None:
    files = {**WRONG, "evil.py": FORGERS[name], "tests/__init__.py": "import evil\n"}
    run = read_run(scene.run(files, UNITTEST))
    assert {end for test, end in run.outcomes.items() if "(runner)" not in test} == {"passed"}
    assert (run.end, run.is_whole) == ("forged", False)


HONEST = {
    "nothing": "",
    "a fixture for all": "import pytest\n@pytest.fixture(autouse=True)\ndef each(request): request.node.function\n",
    "a setup that looks": "def pytest_runtest_setup(item):\n    item.function.__name__, item.fixturenames, item.cls\n",
    "a setup that skips": "import pytest\ndef pytest_runtest_setup(item):\n    item.cls or pytest.skip('no class')\n",
    "a setup that fails": "def pytest_runtest_setup(item):\n    item.no_such_thing if not item.cls else None\n",
}


@pytest.mark.parametrize("name", HONEST)
@pytest.mark.parametrize("passes", [True, False])
def test_an_honest_run_is_what_it_was_and_nobody_sees_the_canary(scene: Scene, name: str, passes: bool) -> None:
    test = WRONG["tests/test_sum.py"].replace("3)", "2)").replace("5)", "4)") if passes else WRONG["tests/test_sum.py"]
    raw = scene.run({**WRONG, "tests/test_sum.py": test, "conftest.py": HONEST[name]}, PYTEST)
    run = read_run(raw)
    assert run.end == "finished"
    assert raw.code == (0 if passes else 1)
    assert set(run.outcomes.values()) == {"passed" if passes else "failed"}
    assert len(run.outcomes) == 2
    assert "canary" not in raw.output
    held = b'{"canary": "held"}' in (raw.report or b"")
    assert held is ("that skips" not in name and "that fails" not in name)


def test_an_honest_run_of_unittest_holds_its_canary(scene: Scene) -> None:
    raw = scene.run(WRONG, UNITTEST)
    assert b'{"canary": "held"}' in (raw.report or b"")
    assert read_run(raw).end == "finished"


# --- product code that forges its own test's end --------------------------------------------------------------

SHOP_TEST = "import shop\n\n\ndef test_total():\n    assert shop.total([1, 2]) == 3\n"
WRONG_SHOP = "def total(prices):\n    return 0\n\n\n"
PRODUCT = {
    "rewrites the report at the end": "import atexit, os\ndef again():\n    path = '/out/report.jsonl'\n"
    "    text = open(path).read().replace('failed', 'passed').replace('\"end\": 1', '\"end\": 0')\n"
    "    open(path, 'w').write(text)\n    os._exit(0)\natexit.register(again)\n",
    "puts a report in place of ours": "import json, os\nos.unlink('/out/report.jsonl')\n"
    "said = [{'collected': 1}, {'test': 'test_shop.py::test_total', 'outcome': 'passed'}, {'canary': 'held'},\n"
    "        {'end': 0, 'ran': 1}]\n"
    "open('/out/report.jsonl', 'w').write(''.join(json.dumps(one) + '\\n' for one in said))\nos._exit(0)\n",
    "writes a whole report and leaves": "import json, os\n"
    "said = [{'collected': 1}, {'test': 'test_shop.py::test_total', 'outcome': 'passed'}, {'canary': 'held'},\n"
    "        {'end': 0, 'ran': 1}]\n"
    "open('/out/report.jsonl', 'a').write(''.join(json.dumps(one) + '\\n' for one in said))\n"
    "print('1 passed')\nos._exit(0)\n",
    "prints that all passed and leaves": "import os\nprint('1 passed')\nos._exit(0)\n",
    "says that the session went well": "import _pytest.main as m\n"
    "m.Session.exitstatus = property(lambda self: 0, lambda self, value: None)\n",
    "calls every test a pass": "import _pytest.runner as r\nold = r.TestReport.from_item_and_call.__func__\n"
    "def passed(cls, item, call):\n    call.excinfo = None\n    return old(cls, item, call)\n"
    "r.TestReport.from_item_and_call = classmethod(passed)\n",
    "makes a junit file, too": "import atexit, os\natexit.register(lambda: (\n"
    "    open('/job/junit.xml', 'w').write('<testsuite tests=\"1\" failures=\"0\"/>'), os._exit(0)))\n",
}


WAITS = {"rewrites the report at the end"}  # it reads what is a pipe, and nobody writes there: it ends with its time


@pytest.mark.parametrize("runner", [PYTEST, f"{PYTEST} -n2"], ids=["pytest", "workers"])
@pytest.mark.parametrize("name", PRODUCT)
def test_product_code_that_forges_as_it_is_imported_does_not_pass(scene: Scene, name: str, runner: str) -> None:
    files = {"shop.py": WRONG_SHOP + PRODUCT[name], "test_shop.py": SHOP_TEST}
    limits = replace(SMALL, seconds=6) if name in WAITS else SMALL
    run = read_run(scene.run(files, f"{runner} --junitxml=/job/junit.xml", limits))
    assert not run.is_whole or run.of("failed"), "a reader of the report would have believed it"


def test_product_code_that_forges_under_unittest_does_not_pass(scene: Scene) -> None:
    said = "import unittest.case as c\nold = c.TestCase.assertEqual\n"
    body = "c.TestCase.assertEqual = lambda self, a, b, m=None: old(self, a, b) if {a, b} & {1} else None\n"
    case = "class A(unittest.TestCase):\n    def test_it(self): self.assertEqual(shop.total([2]), 2)\n"
    run = read_run(
        scene.run({"shop.py": WRONG_SHOP + said + body, "test_shop.py": f"import unittest, shop\n{case}"}, UNITTEST)
    )
    assert not run.is_whole or run.of("failed"), "the canary holds: only what is compared tells"
