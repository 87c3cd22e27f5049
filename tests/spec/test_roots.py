"""Several packages in one repository: which are found, how each is installed, and whose tests run first."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import pydantic
import pytest

from sisimpur.agents.qa.runner.suite import RawTestRun, SuiteOrder
from sisimpur.agents.qa.survey import findings
from sisimpur.agents.qa.survey.roots import Root, Suites, in_words, setup_of
from sisimpur.agents.qa.survey.target_survey import TargetSurvey
from sisimpur.cli.wiring.workshop import roots_of
from sisimpur.shared.config.settings import TargetFile
from sisimpur.shared.model.evidence import SuiteRun
from sisimpur.shared.sandbox.bubblewrap import never
from sisimpur.shared.system.process import run
from tests.spec.test_qa_agent import SmallBench, Stage, tried

E = "pip install --use-pep517 -e"
param = pytest.param


def survey(files: Mapping[str, str], *asked: Root) -> TargetSurvey:
    return TargetSurvey(frozenset(files), lambda path: files.get(path, ""), asked=asked)


def package(folder: str, needs: str = "", name: str = "") -> dict[str, str]:
    project = f'[project]\nname = "{name or folder}"\ndependencies = [{needs}]\n[build-system]\nrequires = []\n'
    return {f"{folder}/pyproject.toml": project, f"{folder}/tests/test_it.py": ""}


# --- which are found, and how each is installed ---------------------------------------------------------------


def test_each_package_is_installed_with_those_that_it_needs_and_those_that_these_need() -> None:
    files = package("core") | package("mid", '"Core>=1"') | package("top/shop", '"mid", "attrs"', "shop")
    found = {root.folder: root.setup for root in survey(files).roots}
    assert found == {"core": f"{E} .", "mid": f"{E} . -e ../core", "top/shop": f"{E} . -e ../../mid -e ../../core"}


@pytest.mark.parametrize(
    ("named", "needs"),
    [
        param({"b/setup.py": "setup(name='b', install_requires=['a>1'])"}, True, id="setup.py"),
        param({"b/setup.cfg": "[metadata]\nname = b\n[options]\ninstall_requires =\n  x\n  a\n"}, True, id="setup.cfg"),
        param({"b/requirements.txt": "x\na==1\n", "b/setup.py": ""}, True, id="requirements"),
        param({"b/pyproject.toml": '[tool.poetry.dependencies]\na = {path = "../a"}\n'}, True, id="poetry, by a path"),
        param({"b/pyproject.toml": '[tool.pytest.ini_options]\ntestpaths = ["a"]\n'}, False, id="a word"),
        param({"b/requirements.txt": "a-b\n"}, False, id="another name"),
    ],
)
def test_a_package_of_the_repository_is_known_by_its_name_alone(named: Mapping[str, str], needs: bool) -> None:
    found = survey({**package("a"), "b/tests/test_b.py": "", **named}).roots
    assert [root.folder for root in found] == ["a", "b"] and ("-e ../a" in found[1].setup) == needs


@pytest.mark.parametrize(
    "files",
    [
        param({**package("a"), **package("b"), "pyproject.toml": "[project]\nname = 'all'\n"}, id="a package above"),
        param({**package("a"), **package("b"), "tests/test_all.py": ""}, id="tests above"),
        param(package("a"), id="one package"),
        param({path: text for at in "abcdefg" for path, text in package(at).items()}, id="more than six"),
    ],
)
def test_these_share_one_environment(files: Mapping[str, str]) -> None:
    found = survey(files)
    assert found.roots == () and found.suites() == Suites(found.test())


def test_the_owners_word_counts_and_what_he_leaves_out_is_found() -> None:
    files = package("a") | package("b") | {"pyproject.toml": "[project]\nname = 'all'\n"}
    found = survey(files, Root("b", test="make"), Root("a", "pip install x", "none"), Root("gone", "x", "y"))
    assert found.roots == (Root("b", f"{E} .", "make"), Root("a", "pip install x"))
    assert [root.folder for root in found.suites().roots] == ["b"], "`none`: nothing is run there"


def test_his_own_commands_are_for_all_of_them_at_once() -> None:
    files = package("a") | package("b")
    found = TargetSurvey(frozenset(files), lambda path: files.get(path, ""), asked=None)
    assert found.roots == () and found.suites("make") == Suites("make")
    assert found.setup == f"{E} -e ./a -e ./b".replace("-e -e", "-e") and "(cd b && python -m pytest)" in found.test()
    for written in ({"setup": "make"}, {"test": "make"}):
        assert roots_of(TargetFile.model_validate({"repo": "x", **written})) is None
    assert roots_of(TargetFile.model_validate({"repo": "x", "roots": [{"root": "a"}]})) == (Root("a"),)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        param({"roots": [{"root": "a"}, {"root": "a"}]}, "twice", id="twice"),
        param({"roots": [{"root": "a"}, {"root": "a/b"}]}, "in another", id="inside"),
        param({"roots": [{"root": "a"}], "test": "make"}, "its own", id="two words"),
        param({"roots": [{"root": "../a"}]}, "pattern", id="outside"),
        param({"roots": [{"root": "/a"}]}, "pattern", id="absolute"),
    ],
)
def test_what_is_no_word_on_packages_is_refused(said: dict[str, object], why: str) -> None:
    with pytest.raises(pydantic.ValidationError, match=why):
        TargetFile.model_validate({"repo": "x", **said})
    assert TargetFile.model_validate({"repo": "x", "roots": [{"root": "a"}, {"root": "ab"}]}).roots[1].root == "ab"


def test_the_owner_reads_folder_and_command() -> None:
    files = package("core") | package("top/shop", '"core", "attrs"', "shop")
    assert in_words(survey(files).setup) == f"core: {E} .; top/shop: {E} . -e ../../core"
    assert in_words(survey(files).test()) == "core: python -m pytest; top/shop: python -m pytest"
    assert in_words("(cd x && make)") == "(cd x && make)"
    assert in_words(survey({"pyproject.toml": "", "poetry.lock": ""}).setup) == "the versions of poetry.lock"


def test_what_a_package_lacks_comes_with_the_place_to_write_it() -> None:
    found = survey({**package("core"), **package("shop"), "core/coins.py": ""})
    said = [
        findings.to_write(
            SuiteRun("crashed", 2, output=f"ModuleNotFoundError: No module named '{name}'"), found, "", "F"
        )
        for name in ("yaml", "coins")
    ]
    assert said == [
        "ModuleNotFoundError: yaml: add PyYAML to the `setup:` of its package, below `roots:` in F",
        "ModuleNotFoundError: coins: it lies in core; name its package among the requirements of the one that needs it",
    ]


# --- the lines of shell, as a shell runs them -----------------------------------------------------------------

FOLDERS = ("a", "b/c", "d")


@dataclass(frozen=True)
class Scene:
    """Three folders, each with an environment that says its name, and a test that ends with a code."""

    folder: Path

    def ran(self, line: str) -> tuple[list[str], int]:
        """The tests in the order in which they ran, each by its folder and its environment; and the code."""
        (self.folder / "log").write_text("")
        env = {"PATH": os.environ["PATH"], "ROOTS": str(self.folder / "roots"), "LOG": str(self.folder / "log")}
        done = run(("sh", "-c", line), cwd=self.folder, env=env, timeout=60)
        return (self.folder / "log").read_text().split(), done.code


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    for folder in FOLDERS:
        (tmp_path / folder).mkdir(parents=True)
        place = tmp_path / "roots" / folder.replace("/", "+") / "bin"
        place.mkdir(parents=True)
        (place / "activate").write_text(f"IN={folder}\n")
    return Scene(tmp_path)


def suites(codes: Mapping[str, int]) -> Suites:
    line = 'echo "${{PWD##*/}}-$IN" >> "$LOG"; exit {}'
    return Suites.of(Root(folder, "", line.format(code)) for folder, code in codes.items())


def said(folder: str) -> str:
    return f"{folder.rpartition('/')[2]}-{folder}"


def test_the_touched_ones_run_first_and_the_others_only_if_these_pass(scene: Scene) -> None:
    for codes in product((0, 1), repeat=3):
        code = dict(zip(FOLDERS, codes, strict=True))
        for chosen in product((False, True), repeat=3):
            touched = [folder for folder, is_in in zip(FOLDERS, chosen, strict=True) if is_in]
            rest = [folder for folder in FOLDERS if folder not in touched]
            line, roots = suites(code).first([f"{folder}/x.py" for folder in touched])
            if not touched or not rest:
                assert (line, roots) == ("", ())
                continue
            stops = any(code[folder] for folder in touched)
            ran = touched if stops else [*touched, *rest]
            assert scene.ran(line) == ([*map(said, ran)], int(any(code[folder] for folder in ran)))
            assert [root.folder for root in roots] == touched


def test_all_run_whichever_fails_and_those_of_some_files_alone(scene: Scene) -> None:
    for codes in product((0, 1), repeat=3):
        found = suites(dict(zip(FOLDERS, codes, strict=True)))
        assert scene.ran(found.whole) == ([*map(said, FOLDERS)], int(any(codes)))
        assert scene.ran(found.only(["b/c/test_x.py"])) == (["c-b/c"], codes[1])
        assert found.only(["b/c/test_x.py", "README.md"]) == found.only([]) == found.whole


def test_a_folder_that_a_change_removes_fails_nothing(scene: Scene) -> None:
    (scene.folder / "a").rmdir()
    assert scene.ran(suites(dict.fromkeys(FOLDERS, 0)).whole) == (["c-b/c", "d-d"], 0)


def test_each_is_installed_in_an_environment_of_its_own_and_what_fails_ends_it(scene: Scene) -> None:
    roots = [Root("a", 'echo "$IN" >> "$LOG"'), Root("b/c", "exit 3"), Root("d", 'echo "$IN" >> "$LOG"')]
    line = re.sub(r'python -m venv "\$at/([^"]+)"', r'echo "\1" >> "$LOG"', setup_of(roots))
    assert scene.ran(line) == (["a", "a", "b+c"], 3)


# --- QA -------------------------------------------------------------------------------------------------------


@dataclass
class RootsBench(SmallBench):
    """As the shell would: the roots that the command names, up to the first group that fails."""

    def run(self, order: SuiteOrder, stop: Callable[[], bool] = never) -> RawTestRun:
        (self.faults if order.limit else self.orders).append(order)
        files = {one.path: self.mirror.read(order.commit, one.path) for one in self.mirror.tree(order.commit)}
        texts = {path: data.decode() for path, data in {**files, **order.overlay}.items() if data is not None}
        raw, report = RawTestRun("exited", 0, 0.1, ""), b""
        for group in order.command.split("|| exit $code"):
            folders = tuple(f"{at}/" for at in re.findall(r"\(cd (\w+)", group))
            chosen = [path for path in texts if path.startswith(folders) and (path in order.only or not order.only)]
            raw = self.spoils(order, tried(texts, chosen or ["none"]))
            report += raw.report or b""
            if raw.code:
                break
        return replace(raw, report=report)


FILES = {
    **{f"{at}/pyproject.toml": f'[project]\nname = "{at}"\n' for at in "ab"},
    **{f"{at}/code.py": "X = 1\n" for at in "ab"},
    **{f"{at}/test_{at}.py": f'def test_{at}():\n    assert "X" in read("{at}/code.py")\n' for at in "ab"},
}


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    stage = Stage(tmp_path, FILES)
    stage.bench = RootsBench(stage.mirror)
    return stage


def first(stage: Stage) -> list[bool]:
    """Of each run of the change's all tests, whether it was to end early."""
    return ["|| exit $code" in one.command for one in stage.bench.orders if one.commit != stage.base and not one.only]


def test_what_fails_where_it_is_touched_goes_back_before_the_others_run(stage: Stage) -> None:
    found = stage.given_change({"a/code.py": "Y = 1\n"}).check()
    assert found.is_red and [one.test for one in found.failures] == ["a/test_a.py::test_a"]
    assert found.not_run == ("b (what fails in a comes first)",) and (found.passed, found.failed) == (0, 1)
    assert all(first(stage)) and not any("b/test_b.py" in one.tests for one in found.problems)


def test_what_passes_where_it_is_touched_has_run_with_all_others_at_once(stage: Stage) -> None:
    found = stage.given_change({"a/code.py": "X = 2\n"}).check()
    assert (found.passed, found.failed, found.not_run) == (2, 0, ()) and first(stage)[:1] == [True]


def test_another_package_that_it_breaks_is_seen(stage: Stage) -> None:
    stage = stage.given_change({"a/code.py": "X = 2\n", "a/test_a.py": FILES["a/test_a.py"] + "\n# more\n"})
    stage.bench.spoils = lambda order, raw: _failing(raw, "b/test_b.py::test_b") if order.commit != stage.base else raw
    found = stage.check()
    assert found.is_red and [one.test for one in found.failures] == ["b/test_b.py::test_b"] and found.not_run == ()


def test_noise_where_it_is_touched_costs_a_run_of_all_and_nothing_goes_back(stage: Stage) -> None:
    stage.given_change({"a/code.py": "X = 2\n"})
    noisy = iter([True])
    stage.bench.spoils = lambda order, raw: (
        _failing(raw, "a/test_a.py::test_a") if order.commit != stage.base and next(noisy, False) else raw
    )
    found = stage.check()
    assert not found.is_red and (found.passed, found.failed, found.not_run) == (2, 0, ()) and False in first(stage)


def test_where_something_failed_before_all_run(stage: Stage, tmp_path: Path) -> None:
    broken = Stage(tmp_path / "broken", {**FILES, "b/code.py": "Y = 1\n"})
    broken.bench = RootsBench(broken.mirror)
    found = broken.given_change({"a/code.py": "Z = 1\n"}).check()
    assert found.is_red and not any(first(broken)) and found.not_run == ()


def _failing(raw: RawTestRun, test: str) -> RawTestRun:
    lines = [json.loads(line) for line in (raw.report or b"").splitlines()]
    if not any(line.get("test") == test for line in lines):
        return raw
    failed = [{**line, "outcome": "failed"} if line.get("test") == test else line for line in lines]
    at = next(number for number, line in enumerate(failed) if line.get("test") == test)
    end = next(number for number in range(at, len(failed)) if "end" in failed[number])
    failed[end] = {**failed[end], "end": 1}
    return replace(raw, code=1, report="".join(json.dumps(line) + "\n" for line in failed).encode())
