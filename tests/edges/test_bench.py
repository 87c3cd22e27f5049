"""The target's tests: what is laid out, what each runner reports, which lines ran. Attacks: test_bench_attacked.py."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from sisimpur.agents.qa.runner.bench import lay
from sisimpur.agents.qa.runner.suite import RawTestRun
from sisimpur.agents.qa.test_runner import read_run
from sisimpur.shared.model.errors import Refused
from tests.edges.bench_scene import (
    DJANGO,
    DJANGO_FILES,
    PYTEST,
    UNITTEST,
    Files,
    Scene,
    failure,
    frame,
    lines,
    make_scene,
    outcomes,
)

SITE = Path(__file__).parents[2] / "examples" / "exam_site"


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    return make_scene(tmp_path_factory)


# --- what each runner reports --------------------------------------------------------------------------------

CASES = {  # name -> (body of a TestCase, outcome, line of the failure)
    "passes": ("def test_it(self): pass", "passed", None),
    "fails": ("def test_it(self):\n        self.assertEqual(1, 2)", "failed", 4),
    "fails in a helper": ("def test_it(self):\n        self.help()\n    def help(self):\n        1 / 0", "failed", 6),
    "error in setUp": ("def setUp(self):\n        raise OSError\n    def test_it(self): pass", "failed", 4),
    "error in tearDown": ("def tearDown(self):\n        raise OSError\n    def test_it(self): pass", "failed", 4),
    "skips": ("def test_it(self): self.skipTest('not here')", "skipped", None),
    "is skipped": ("@unittest.skip('no')\n    def test_it(self): pass", "skipped", None),
    "expected failure": ("@unittest.expectedFailure\n    def test_it(self): self.fail()", "skipped", None),
    "unexpected success": ("@unittest.expectedFailure\n    def test_it(self): pass", "failed", None),
    "a subtest fails": (
        "def test_it(self):\n        for n in range(3):\n            with self.subTest(n=n):\n"
        "                self.assertNotEqual(n, 1)",
        "failed",
        6,
    ),
    "subtests pass": (
        "def test_it(self):\n        for n in range(3):\n            with self.subTest(n=n): pass",
        "passed",
        None,
    ),
    "a class cannot be set up": (
        "@classmethod\n    def setUpClass(cls):\n        raise OSError\n    def test_it(self): pass",
        "failed",
        5,
    ),
    "a class that is skipped": (
        "@classmethod\n    def setUpClass(cls):\n        raise unittest.SkipTest\n    def test_it(self): pass",
        "skipped",
        None,
    ),
}


def module(name: str) -> str:
    return "test_" + name.replace(" ", "_").lower()


def all_cases() -> Files:
    return {"tests/__init__.py": ""} | {
        f"tests/{module(name)}.py": f"import unittest\nclass Case(unittest.TestCase):\n    {body}\n"
        for name, (body, *_) in CASES.items()
    }


RUNNERS = {
    "pytest": (PYTEST, {}),
    "pytest with workers": (f"{PYTEST} -n2", {}),
    "unittest": (UNITTEST, {}),
    "Django": (DJANGO, DJANGO_FILES),
}


@pytest.fixture(scope="module", params=list(RUNNERS))
def reported(request: pytest.FixtureRequest, scene: Scene) -> RawTestRun:
    """Every case at once, by each runner."""
    command, files = RUNNERS[request.param]
    return scene.run({**all_cases(), **files}, command)


def of(name: str, raw: RawTestRun) -> list[dict[str, Any]]:
    """The lines of a case's test, under either runner's id."""
    ids = (f"tests/{module(name)}.py::Case::test_it", f"tests.{module(name)}.Case.test_it")
    return [line for line in lines(raw) if line.get("test") in ids]


@pytest.mark.parametrize("name", CASES)
def test_every_runner_reports_every_way_to_end(reported: RawTestRun, name: str) -> None:
    _, outcome, number = CASES[name]
    [line] = of(name, reported)
    assert line["outcome"] == outcome
    if outcome == "failed":
        assert line["where"] == (f"tests/{module(name)}.py:{number}" if number else "")
        assert line["text"]


def test_a_report_has_a_frame(reported: RawTestRun) -> None:
    assert frame(reported) == (len(CASES), len(CASES), 1, 1)


def test_all_green_is_zero(scene: Scene) -> None:
    files = {"tests/__init__.py": "", "tests/test_a.py": all_cases()["tests/test_passes.py"]}
    for command, more in RUNNERS.values():
        raw = scene.run({**files, **more}, command)
        assert frame(raw) == (1, 1, 0, 0)
        assert raw.end == "exited"


BROKEN = {"tests/__init__.py": "", "tests/test_a.py": "import unittest\n\nimport nothing_there\n"}


@pytest.mark.parametrize(
    ("runner", "test", "code"),
    [
        ("pytest", "tests/test_a.py", 2),
        ("pytest with workers", "tests/test_a.py", 1),
        ("unittest", "tests.test_a (import)", 1),
        ("Django", "tests.test_a (import)", 1),
    ],
)
def test_a_file_that_cannot_be_imported_has_failed_by_its_name(scene: Scene, runner: str, test: str, code: int) -> None:
    command, files = RUNNERS[runner]
    raw = scene.run({**BROKEN, **files}, command)
    line = failure(raw)
    assert (line["test"], line["where"]) == (test, "tests/test_a.py:3")
    assert "nothing_there" in line["text"]
    assert lines(raw)[-1]["end"] == raw.code == code


def test_the_setting_up_of_a_class_has_a_line_of_its_own_where_the_runner_says_so(scene: Scene) -> None:
    raw = scene.run({**all_cases()}, UNITTEST)
    extra = outcomes(raw).keys() - {f"tests.{module(name)}.Case.test_it" for name in CASES}
    assert extra == {"tests.test_a_class_cannot_be_set_up.Case (setUpClass)"}


PYTEST_ONLY = """
import pytest

@pytest.fixture
def broken():
    raise OSError("no")

@pytest.fixture
def late():
    yield
    raise OSError("late")

def test_fixture(broken): pass
def test_late(late): pass
@pytest.mark.xfail
def test_xfail(): assert 0
@pytest.mark.xfail
def test_xpass(): pass
@pytest.mark.xfail(strict=True)
def test_strict(): pass
@pytest.mark.parametrize("sign", ["é", "a::b", "\\ud800"])
def test_sign(sign): pass
"""


def test_what_only_pytest_knows(scene: Scene) -> None:
    raw = scene.run({"test_a.py": PYTEST_ONLY})
    found = {test.partition("::")[2]: outcome for test, outcome in outcomes(raw).items()}
    signs = {test: outcome for test, outcome in found.items() if test.startswith("test_sign")}
    assert found.items() - signs.items() == {
        ("test_fixture", "failed"),
        ("test_late", "failed"),
        ("test_xfail", "skipped"),
        ("test_xpass", "passed"),
        ("test_strict", "failed"),
    }
    assert list(signs.values()) == ["passed"] * 3
    places = {line["test"].partition("::")[2]: line["where"] for line in lines(raw) if "where" in line}
    assert (places["test_fixture"], places["test_late"]) == ("test_a.py:6", "test_a.py:11")
    assert frame(raw) == (8, 8, 1, 1)


ONE = "def test_it(): pass\n"


def test_a_test_says_how_long_it_took_if_that_is_asked(scene: Scene) -> None:
    slow = {"tests/test_a.py": "import time\ndef test_it(): time.sleep(0.2)\n"}
    (line,) = [line for line in lines(scene.run(slow, time="body")) if "test" in line]
    assert 0.2 <= line["seconds"] < 20
    assert "seconds" not in [*lines(scene.run(slow))[1]]


@pytest.mark.parametrize("runner", RUNNERS)
def test_every_runner_says_how_long_all_of_a_test_took(scene: Scene, runner: str) -> None:
    command, files = RUNNERS[runner]
    slow = "import time, unittest\nclass A(unittest.TestCase):\n    def setUp(self): time.sleep(0.2)\n"
    test = f"{slow}    def test_it(self): pass\n"
    said = lines(scene.run({"tests/__init__.py": "", "tests/test_a.py": test, **files}, command, time="all"))
    (line,) = [line for line in said if "test" in line]
    assert 0.2 <= line["seconds"] < 20


@pytest.mark.parametrize("runner", ["pytest", "unittest"])
def test_elsewhere_the_chosen_files_are_run_in_the_order_that_is_asked_for(scene: Scene, runner: str) -> None:
    command, asked = RUNNERS[runner][0], ["tests/test_b.py", "tests/test_c.py", "tests/test_a.py"]
    test = "import unittest\nclass A(unittest.TestCase):\n    def test_it(self): pass\n"
    files = {"tests/__init__.py": "", **{f"tests/test_{name}.py": test for name in "abcd"}}
    said = outcomes(scene.run(files, command, only=asked, elsewhere=True))
    assert [test.partition("test_")[2][0] for test in said] == ["b", "c", "a"]


@pytest.mark.parametrize(
    ("command", "files"),
    [
        pytest.param("pytest", {}, id="the program"),
        pytest.param("pytest --version && pytest", {}, id="after it was asked for its version"),
        pytest.param("make test", {"Makefile": "test:\n\tpython -m pytest -q tests\n"}, id="make"),
        pytest.param("sh run.sh", {"run.sh": "set -e\ncd tests\nexec pytest\n"}, id="a script in another folder"),
        pytest.param("cd tests && pytest --rootdir . -c pytest.ini", {"tests/pytest.ini": "[pytest]\n"}, id="a root"),
        pytest.param("pytest -p no:cacheprovider -p no:terminal -p no:xdist", {}, id="without plugins"),
        pytest.param("PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 pytest --tb=no", {}, id="no plugin by itself"),
        pytest.param("pytest", {"pytest.ini": "[pytest]\nfilterwarnings = error\n"}, id="warnings are errors"),
        pytest.param("pytest -p mine", {"mine.py": "", "setup.cfg": ""}, id="a plugin of its own"),
        pytest.param("PYTHONPATH=.:$PYTHONPATH pytest", {}, id="a path beside ours"),
    ],
)
def test_any_command_that_lets_variables_through_is_reported(scene: Scene, command: str, files: Files) -> None:
    if "make" in command and not Path("/usr/bin/make").exists():
        pytest.skip("no make")
    if "-p mine" in command:
        command = command.replace("pytest", "python -m pytest")
    raw = scene.run({"tests/test_a.py": ONE, **files}, command)
    assert outcomes(raw) == {"tests/test_a.py::test_it": "passed"}, raw.output
    assert frame(raw) == (1, 1, 0, 0)


def test_a_command_that_hides_our_path_runs_as_ever_and_has_no_report(scene: Scene) -> None:
    raw = scene.run({"tests/test_a.py": ONE}, "PYTHONPATH=tests pytest")
    assert (raw.code, raw.report) == (0, None)


NESTED = """
import os, subprocess, sys, unittest
import pytest

class Inner(unittest.TestCase):
    def runTest(self): self.fail()

@pytest.mark.parametrize("path", [os.environ["PYTHONPATH"], ""])
def test_in_a_process(tmp_path, path):
    (tmp_path / "test_inner.py").write_text("def test_inner(): assert 0")
    command = [sys.executable, "-m", "pytest", str(tmp_path)]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, stdout=subprocess.PIPE)
    assert b"1 failed" in done.stdout

def test_in_this_process():
    assert not unittest.TextTestRunner().run(unittest.TestSuite([Inner()])).wasSuccessful()

def test_in_a_fork():
    os.fork()  # and both go on
"""


def test_a_runner_that_the_tests_start_themselves_is_not_reported(scene: Scene) -> None:
    raw = scene.run({"tests/test_a.py": NESTED}, "pytest -k test_in_")
    assert set(outcomes(raw).values()) == {"passed"}, raw.output
    assert frame(raw) == (4, 4, 0, 0)


def test_two_runners_one_after_the_other_have_a_frame_each(scene: Scene) -> None:
    files = {"tests/__init__.py": "", "tests/test_a.py": all_cases()["tests/test_passes.py"]}
    raw = scene.run(files, f"{PYTEST} && {UNITTEST}")
    assert set(outcomes(raw)) == {"tests/test_a.py::Case::test_it", "tests.test_a.Case.test_it"}
    assert [line for line in lines(raw) if "test" not in line] == [{"collected": 1}, {"end": 0, "ran": 1}] * 2


def test_a_repository_without_tests_says_so(scene: Scene) -> None:
    assert frame(scene.run({"a.py": ""})) == (0, 0, 5, 5)


# --- which files are run -------------------------------------------------------------------------------------


@pytest.mark.parametrize("runner", RUNNERS)
def test_only_the_chosen_files_are_run(scene: Scene, runner: str) -> None:
    command, files = RUNNERS[runner]
    raw = scene.run({**all_cases(), **files}, command, only=["tests/test_skips.py", "tests/test_passes.py"])
    assert sorted(outcomes(raw).values()) == ["passed", "skipped"]
    assert frame(raw) == (2, 2, 0, 0)


def test_more_files_than_can_be_said_are_refused(scene: Scene) -> None:
    with pytest.raises(Refused, match="20000 test files"):
        scene.run({"test_a.py": ONE}, only=[f"tests/test_{n}.py" for n in range(20_000)])


SHOW = "find . -type f -o -type l | sort | xargs ls -ld | awk '{print substr($1, 1, 4), $9}'; cat a b/c 2>&1"


def test_the_files_are_the_commits_with_others_laid_over_them(scene: Scene) -> None:
    files = {"a": "old a\n", "b/c": "old c\n", "d/e": "gone\n", ".gitignore": "b\n"}
    raw = scene.run(files, SHOW, overlay={"a": b"new a\n", "d/e": None, "none/at/all": None, "f/g/h": b"added\n"})
    assert raw.output.splitlines() == [
        "-rw- ./.gitignore",
        "-rw- ./a",
        "-rw- ./b/c",
        "-rw- ./f/g/h",
        "new a",
        "old c",
    ]


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        pytest.param("link/x.py", "Not a directory", id="through a link to a folder"),
        pytest.param("../x.py", "not a name", id="out of the folder"),
        pytest.param("/etc/x", "not a name", id="from the root"),
        pytest.param("a//b", "not a name", id="a name that is empty"),
        pytest.param(".git/hooks/x", "not a name", id="a git folder"),
        pytest.param("file/x", "Not a directory", id="below a file"),
        pytest.param("folder", "Is a directory", id="over a folder"),
        pytest.param("a\0b", "not a name", id="a NUL"),
        pytest.param("a\ud800", "not a name", id="half of a pair"),
        pytest.param("n" * 300, "too long", id="too long"),
    ],
)
@pytest.mark.parametrize("data", [b"mine", None], ids=["written", "removed"])
def test_nothing_is_laid_elsewhere_than_below_the_folder(tmp_path: Path, path: str, reason: str, data: Any) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "job"
    for place in (outside, folder / "folder"):
        place.mkdir(parents=True)
    (outside / "x.py").write_text("theirs")
    (folder / "file").write_text("theirs")
    os.symlink("../outside", folder / "link")
    with pytest.raises(Refused, match=f"cannot be laid over the commit: .*{reason}"):
        lay({path: data}, folder)
    assert (outside / "x.py").read_text() == (folder / "file").read_text() == "theirs"
    assert sorted(found.name for found in tmp_path.rglob("*")) == ["file", "folder", "job", "link", "outside", "x.py"]


def test_a_link_itself_is_replaced_not_followed(tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("theirs")
    (tmp_path / "job").mkdir()
    os.symlink("../outside", tmp_path / "job" / "link")
    os.symlink("../outside", tmp_path / "job" / "other")
    lay({"link": b"mine", "other": None}, tmp_path / "job")
    assert (tmp_path / "outside").read_text() == "theirs"
    assert [path.read_text() for path in (tmp_path / "job").iterdir()] == ["mine"]


def test_a_script_that_is_replaced_stays_executable(tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text("old")
    (tmp_path / "run.sh").chmod(0o755)
    lay({"run.sh": b"new", "new.sh": b"new"}, tmp_path)
    assert [(tmp_path / name).stat().st_mode & 0o111 for name in ("run.sh", "new.sh")] == [0o111, 0]


def test_an_overlay_through_a_link_of_the_commit_is_refused_before_anything_runs(scene: Scene) -> None:
    with pytest.raises(Refused, match=r"'link/test_a\.py' cannot"):
        scene.run({"tests/test_a.py": ONE}, links={"link": "tests"}, overlay={"link/test_a.py": b""})
    assert list(scene.scratch.iterdir()) == []


def test_a_file_that_is_too_large_for_the_box_is_left_alone_and_the_tests_run_without_it(scene: Scene) -> None:
    without = "import os\ndef test_a(): assert not os.path.exists('blob')\n"
    raw = scene.run({"blob": b"\0" * 17_000_000, "tests/test_a.py": without})
    assert set(outcomes(raw).values()) == {"passed"}, raw.output


# --- which lines ran -----------------------------------------------------------------------------------------

LIB = "def used():\n    return 1\n\n\ndef unused():\n    return 2\n"
COUNTED: Files = {
    "lib.py": LIB,
    "never/imported.py": "a = 1\n",
    "not python.py": "def (:\n",
    "tests/__init__.py": "",
    "tests/test_a.py": (
        "import unittest\nimport lib\nclass A(unittest.TestCase):\n    def test_a(self):\n        lib.used()\n"
    ),
    "tests/test_b.py": (
        "import subprocess, sys, unittest\nclass B(unittest.TestCase):\n    def test_b(self):\n"
        "        subprocess.run([sys.executable, '-c', 'import lib; lib.unused()'], check=True)\n"
    ),
}


def counted(raw: RawTestRun) -> dict[str, tuple[list[int], list[int]]]:
    """Of each file the lines that ran, and those that did not."""
    assert raw.coverage is not None, raw.output
    files = json.loads(raw.coverage)["files"]
    return {path: (found["executed_lines"], found["missing_lines"]) for path, found in files.items()}


@pytest.mark.parametrize("command", [*(RUNNERS[name][0] for name in RUNNERS), f"{DJANGO} --parallel 2"])
def test_the_lines_that_ran_are_counted(scene: Scene, command: str) -> None:
    raw = scene.run({**COUNTED, **DJANGO_FILES}, f"{command}", only=["tests/test_a.py"], cover=True)
    found = counted(raw)
    assert found["lib.py"] == ([1, 2, 5], [6])
    assert found["never/imported.py"] == ([], [1])
    assert found["tests/test_a.py"] == ([1, 2, 3, 4, 5], [])
    assert frame(raw) == (1, 1, 0, 0)


def test_lines_that_a_process_of_the_tests_runs_count_too(scene: Scene) -> None:
    assert counted(scene.run(COUNTED, cover=True))["lib.py"] == ([1, 2, 5, 6], [])


def test_a_line_that_asks_not_to_be_counted_is_counted(scene: Scene) -> None:
    shy = {**COUNTED, "lib.py": LIB.replace("def unused():", "def unused():  # pragma: no cover")}
    raw = scene.run({**shy, "tests/test_b.py": ""}, cover=True)
    assert counted(raw)["lib.py"] == ([1, 2, 5], [6])


@pytest.mark.parametrize(
    ("command", "itself"),
    [("python -m pytest -q --cov=lib", True), ("coverage run -m pytest -q", True), ("true", False)],
)
def test_where_the_target_counts_by_itself_that_is_said_and_no_line(scene: Scene, command: str, itself: bool) -> None:
    raw = scene.run(COUNTED, command, cover=True)
    run = read_run(raw, ["lib.py"])
    assert (raw.code, run.covered, run.uncovered, "--cov" in run.uncounted) == (0, None, {}, itself)


def test_lines_are_not_counted_unless_asked(scene: Scene) -> None:
    assert scene.run(COUNTED).coverage is None


# --- the sample site -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def site() -> Files:
    found = (path for path in sorted(SITE.rglob("*")) if path.is_file() and path.suffix != ".pyc")
    return {path.relative_to(SITE).as_posix(): path.read_bytes() for path in found}


@pytest.mark.slow
@pytest.mark.parametrize("command", [PYTEST, DJANGO])
def test_the_sample_site_has_the_same_ids_on_each_run(scene: Scene, site: Files, command: str) -> None:
    first, again = scene.run(site, command), scene.run(site, command, cover=True)
    assert set(outcomes(first).values()) == {"passed"}
    assert outcomes(first) == outcomes(again)
    assert frame(first) == frame(again) == (26, 26, 0, 0)
    assert counted(again)["apps/brain/services.py"][0]


def test_the_label_names_the_box_and_the_environment(scene: Scene) -> None:
    mirror, sha = scene.commit({"a": ""})
    bench = scene.bench(mirror)
    assert bench.label(sha) == f"bubblewrap {scene.box.version}, the-key"
    assert bench.quality == "full"
