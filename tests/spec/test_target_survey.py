"""What a target is by its files, what is installed for its tests, and how they run: for each way people do that."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.layouts.samples import SAMPLES, Sample
from sisimpur.agents.orchestrator.publishing.gate_text import evidence as evidence_text
from sisimpur.agents.qa.survey import findings
from sisimpur.agents.qa.survey.commands import VARIABLE
from sisimpur.agents.qa.survey.manifests import from_poetry
from sisimpur.agents.qa.survey.other_suites import with_other_suites
from sisimpur.agents.qa.survey.target_survey import REQUIREMENTS, TargetSurvey
from sisimpur.shared.model.evidence import Evidence, SuiteRun

param = pytest.param
E = "pip install --use-pep517 -e"
PROJECT = '[build-system]\nrequires = []\n[project]\nname = "a"\n'
KEYS = ["project", "tool", "poetry", "pdm", "hatch", "uv", "envs", "test", "dev", "group", "dependencies", "extras",
        "dependency-groups", "optional-dependencies", "dev-dependencies", "include-group", "build-system"]  # fmt: skip
TESTS = {"tests/test_app.py": ""}
APP = {"shop/tests/__init__.py": "", "shop/tests/tests.py": "", "shop/tests/settings.py": "INSTALLED_APPS = ()"}


def survey(files: Mapping[str, str], *, offline: bool = False) -> TargetSurvey:
    return TargetSurvey(frozenset(files), lambda path: files.get(path, ""), offline)


def named(*paths: str) -> dict[str, str]:
    return dict.fromkeys(paths, "")


# --- what is installed ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "command"),
    [
        param(named("README.md", "docs/requirements.txt"), "", id="nothing to install"),
        param(named("requirements.txt"), "pip install -r requirements.txt", id="requirements"),
        param(
            named("requirements-dev.txt", "test-requirements.txt", "requirements.txt", "requirements-docs.txt", "x"),
            "pip install -r requirements.txt -r requirements-dev.txt -r test-requirements.txt",
            id="those for tests too, in one go, the plain one first",
        ),
        param(named("requirements.txt", "dev.requirements.txt"),
                     "pip install -r requirements.txt -r dev.requirements.txt", id="with a dot"),
        param(named("requirements/base.txt", "requirements/local.txt", "requirements/production.txt"),
                     "pip install -r requirements/base.txt -r requirements/local.txt", id="a folder of them"),
        param({"pyproject.toml": "[build-system]\n", "tests/requirements.txt": "pytest-cov", "test/data.txt": ""},
                     f"pip install -r tests/requirements.txt && {E} .", id="beside the tests"),
        param({"requirements.txt": "a==1", "requirements-dev.txt": "b==1 --hash=sha256:0"},
                     "pip install -r requirements-dev.txt && pip install -r requirements.txt", id="hashes apart"),
        param(named("setup.py"), f"{E} '.[test,tests,testing,dev]'", id="setup.py: pip only warns"),
        param({"pyproject.toml": "[project]\nname='a'"}, f"{E} .", id="a project"),
        param({"pyproject.toml": "# x\n[ build-system ]\n"}, f"{E} .", id="a build system"),
        param({"pyproject.toml": "[project]\ndependencies=['b']\n", **named("one/a.py", "two/a.py")},
                     "pip install b", id="two packages and no build system: setuptools would refuse"),
        param({"pyproject.toml": "# x\n[tool.project]\n[projects]\nx='[project]'"}, "", id="only settings of tools"),
        param({"pyproject.toml": "[project\n"}, "", id="damaged"),
        param({"pyproject.toml": f"{PROJECT}[project.optional-dependencies]\ndev=[]\ntest=[]\ndocs=[]"},
                     f"{E} '.[test,dev]'", id="extras for tests that it has"),
        param({"setup.cfg": "[metadata]\nname = a\n[options.extras_require]\ntesting = b"},
                     f"echo 'import setuptools; setuptools.setup()' > setup.py && {E} '.[testing]'", id="setup.cfg"),
        param({"pyproject.toml": f"{PROJECT}[dependency-groups]\n"
                      "dev=['ruff', {include-group='unit'}]\nunit=['pytest>=8', {include-group='dev'}]\ndocs=['x']"},
                     f"pip install ruff 'pytest>=8' && {E} .", id="groups, one including another, and back"),
        param({"pyproject.toml": f"{PROJECT}[tool.hatch.envs.test]\ndependencies=['pytest', '-e ../x', '$(id)']"},
                     f"pip install pytest && {E} .", id="hatch; what is no requirement is left out"),
        param({"pyproject.toml": f"{PROJECT}", "tox.ini": "[testenv]\ndeps =\n  dj4: django<5\n  -r x.txt\n  attrs"},
                     f"pip install attrs && {E} .", id="tox, where nothing else speaks of tests"),
        param({"pyproject.toml": f"{PROJECT}[dependency-groups]\ntest=['b']", "tox.ini": "[testenv]\ndeps = attrs"},
                     f"pip install b && {E} .", id="not tox, where something does"),
        param({"noxfile.py": "session.install('-e', '.', 'pytest', \"attrs>1\")"},
                     "pip install pytest 'attrs>1'", id="nox"),
        param({"requirements.txt": "", "pyproject.toml": PROJECT},
                     f"pip install -r requirements.txt && {E} .", id="both"),
        param(named("requirements.txt; rm -rf ~", "requirements.txt\n"), "", id="no name of a file is a command"),
    ],
)  # fmt: skip
def test_what_is_installed_for_who_says_nothing(files: Mapping[str, str], command: str) -> None:
    assert survey(files).setup == command


GROUPS = "[dependency-groups]\ntest=['b']\nlint=['ruff', 'x', 'mypy']\ntyping=['mypy>=1', 'y']\n'--z'=['mypy']\n"


@pytest.mark.parametrize(
    ("files", "command"),
    [
        param({"pyproject.toml": f"{PROJECT}{GROUPS}[tool.mypy]"}, "b 'mypy>=1' y", id="the smallest that brings it"),
        param({"pyproject.toml": f"{PROJECT}{GROUPS}", "mypy.ini": "[mypy]"}, "b 'mypy>=1' y", id="a file of its own"),
        param({"pyproject.toml": f"{PROJECT}{GROUPS}", "setup.cfg": "[mypy]"}, "b 'mypy>=1' y", id="in setup.cfg"),
        param({"pyproject.toml": f"{PROJECT}{GROUPS}"}, "b", id="nobody asks for it"),
        param({"pyproject.toml": f"{PROJECT}{GROUPS}dev=['mypy']\n[tool.mypy]"}, "b mypy", id="it is there already"),
    ],
)
def test_the_type_checker_that_a_project_configures_is_installed(files: Mapping[str, str], command: str) -> None:
    assert survey(files).setup == f"pip install {command} && {E} ."


def test_a_locked_group_of_the_type_checker_is_exported() -> None:
    files = {"uv.lock": "", "pyproject.toml": f"{PROJECT}{GROUPS}[tool.mypy]"}
    assert " --group test --group typing -o " in survey(files).setup


@pytest.mark.parametrize(
    ("run", "extras"),
    [
        param("uv sync --all-extras\n- run: uv run pytest", "dev,http,'$(id)'", id="all"),
        param("uv sync --extra http --extra nothing\n- run: tox", "dev,http", id="some, by uv"),
        param("pip install -e .[http,docs]\n- run: make test", "dev,http", id="some, by pip"),
        param('poetry install -E "http"\n- run: pytest', "dev,http", id="some, by poetry"),
        param(
            "uv sync --all-extras\n- run: ruff check\n- runs-on: ubuntu-latest", "dev", id="not where no test is run"
        ),
    ],
)
def test_extras_that_its_own_ci_installs_for_tests_are_installed(run: str, extras: str) -> None:
    files = {"pyproject.toml": f"{PROJECT}[project.optional-dependencies]\nhttp=[]\ndev=[]\n'$(id)'=[]",
             ".github/workflows/ci.yml": f"- run: {run}"}  # fmt: skip
    names = extras.replace("'", "").split(",")
    setup = survey(files).setup
    assert f"{E} {shlex.quote(f'.[{chr(44).join(names)}]')}" in setup
    assert (" || " in setup) == (len(names) > 1), "only what tests themselves ask for has to be there"
    locked = survey({**files, "uv.lock": ""}).setup
    assert [f"--extra {shlex.quote(name)}" in locked for name in ("dev", "http", "$(id)")] == [
        name in names for name in ("dev", "http", "$(id)")
    ]


@pytest.mark.parametrize("lock", ["poetry.lock", "pdm.lock", "uv.lock", "Pipfile.lock", "pylock.toml"])
def test_a_lock_file_says_which_versions_but_not_where_packages_come_from_a_folder(lock: str) -> None:
    files = {lock: "", "pyproject.toml": f"{PROJECT}[dependency-groups]\ntest=['b']"}
    assert lock in survey(files).setup or "uv export" in survey(files).setup
    assert survey(files, offline=True).setup == f"pip install b && {E} ."


@pytest.mark.parametrize(
    ("asked", "read"),
    [
        ("^7.1.2", "a~=7.1"), ("^0.4.1", "a~=0.4.1"), ("~1.4", "a~=1.4.0"), ("~=1.4", "a~=1.4"),
        ("*", "a"),
        (">=1,<3", "a>=1,<3"),
        ("1.2", "a==1.2"), ({"version": "^2", "extras": ["x"]}, "a[x]~=2.0"),
        ({"git": "https://example.com/a"}, ""), ([{"version": "^1"}, {"version": "^2"}], "a~=2.0"), ("^x.y", "a~=x.y"),
        ({"path": "../a"}, ""), ("$(id)", ""),
    ],
)  # fmt: skip
def test_versions_as_poetry_writes_them(asked: object, read: str) -> None:
    assert from_poetry("a", asked) == read


JSON = st.recursive(
    st.booleans() | st.integers() | st.sampled_from(["pytest", "$(id)", ""]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
    max_leaves=12,
)


def as_toml(value: object) -> str:
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name} = {as_toml(one)}' for name, one in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(as_toml, value))}]"
    return json.dumps(value)


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(KEYS), JSON, max_size=4))
def test_no_manifest_makes_it_raise_and_none_is_more_than_one_word_of_a_command(found: dict[str, object]) -> None:
    text = "".join(f"{name} = {as_toml(value)}\n" for name, value in found.items())
    command = survey({**TESTS, "pyproject.toml": text, "hatch.toml": text}).setup
    assert all("$(" not in word for word in re.sub("'[^']*'", "", command).split())


# --- how the tests run ---------------------------------------------------------------------------------------

TOLD = "python -m pytest -o 'python_files=test*.py *_test.py'"  # pytest by itself would collect nothing


@pytest.mark.parametrize(
    ("configured", "files", "command"),
    [
        param("make check", named("a.py"), "make check", id="the owner's word"),
        param(" none ", TESTS, "", id="the owner says that there are none"),
        param("", TESTS, "python -m pytest", id="plain tests"),
        param("", named("manage.py", "shop/tests.py"), "python manage.py test", id="Django"),
        param("", {**named("manage.py", "shop/tests.py"), "pytest.ini": "python_files = tests.py"},
                     "python -m pytest", id="Django with pytest"),
        param("", named("manage.py", "pytest.ini", "shop/tests.py"), TOLD, id="pytest without a word about such names"),
        param("", named("manage.py", "conftest.py", "shop/tests.py"), TOLD, id="with conftest.py"),
        param("", named("config.py", "tests.py"), TOLD, id="a web application's one file"),
        param("", named("shop.py", "tests/__init__.py", "tests/testshop.py"), TOLD, id="a name that unittest takes"),
        param("", {"manage.py": "", "shop/tests.py": "", "tox.ini": "[pytest]\npython_files = tests.py"},
                     "python -m pytest", id="section"),
        param("", named("app.py", "README.md"), "", id="no tests"),
        param("", named("manage.py", "shop/views.py"), "", id="Django without tests"),
        param("", named("app.py", "tests/data.json", "tests/__init__.py"), "", id="a folder without tests"),
        param("", named("app.py", "conftest.py"), "", id="only a conftest.py"),
        param("", named("shop.py", "test.py"), TOLD, id="a suite in one file"),
        param("", named("shop.py", "test.py", "tests/test_a.py"), "python -m pytest", id="and others"),
        param("", {"runtests.py": "if __name__ == '__main__': main()"}, "python runtests.py", id="its own runner"),
        param("", {"runtests.py": "def helper(): ..."}, "", id="only called like one"),
        param("", {"manage.py": "setdefault('DJANGO_SETTINGS_MODULE', 'site.settings.dev')",
                          **named("site/settings/dev.py", "site/settings/test.py", "shop/tests.py")},
                     "python manage.py test --settings=site.settings.test", id="settings for tests"),
        param("", {**named("manage.py", "shop/tests.py"), "shop/test_settings.py": "    def test_a(self): ..."},
                     "python manage.py test", id="tests of settings are no settings for tests"),
        param("", named("requirements.txt", "src/manage.py", "src/shop/tests.py"),
                     "cd src && python manage.py test", id="a site below what names its packages"),
        param("", {**named("requirements.txt", "src/shop/tests.py", "src/site/settings/test.py"),
                          "src/manage.py": "setdefault('DJANGO_SETTINGS_MODULE', 'site.settings.dev')"},
                     "cd src && python manage.py test --settings=site.settings.test", id="with settings for tests"),
        param("", named("requirements.txt", "example/manage.py", "tests/test_a.py"),
                     "python -m pytest", id="an example's site"),
        param("", named("requirements.txt", "a/manage.py", "b/manage.py", "a/x/tests.py"), TOLD, id="two sites"),
        param("", {**named("requirements.txt", "src/manage.py", "src/shop/test_a.py"), "pytest.ini": ""},
                     "python -m pytest", id="a site that pytest is set up for"),
        param("", APP, "python -m django test --settings=shop.tests.settings", id="an app without manage.py"),
        param("", {**APP, "conftest.py": ""}, TOLD, id="an app with conftest.py"),
        param("", {**APP, "setup.cfg": "[tool:pytest]"}, TOLD, id="an app that pytest is set up for"),
        param("", {**TESTS, "tests/settings.py": "RETRIES = 3"}, "python -m pytest", id="settings of no app"),
        param("", {"src/a/tests/__init__.py": "", "src/a/tests/tests.py": "",
                          "src/a/tests/settings.py": "INSTALLED_APPS = ()"},
                     "python -m django test --settings=a.tests.settings", id="an app below src"),
        param("", {"tests/settings.py": "INSTALLED_APPS = ()", "tests/test_a.py": ""},
                     "python -m pytest", id="tests that are no package are not found by Django"),
        param("", {**TESTS, "Makefile": "test: lint\n\tPYTHONPATH=src $(PY) -m pytest -x tests && echo done\n"},
                     "python -m pytest", id="two commands in one line are not read"),
        param("", {**TESTS, "Makefile": "test:\n\tA=1 pytest -x --cov $(ARGS) tests nowhere\n"},
                     "A=1 python -m pytest tests", id="make: what is there, and what stands beside it"),
        param("", {**TESTS, "tox.ini": "[testenv]\nsetenv =\n  A = b\ncommands = python -m unittest {posargs:tests}"},
                     "A=b python -m unittest tests", id="tox"),
        param("", {"src/test_a.py": "", "tox.ini": "[testenv]\nchangedir = src\ncommands = python -m unittest"},
                     "cd src && python -m unittest", id="tox: from the folder that it changes to"),
        param("", {**TESTS, "tox.ini": "[testenv]\nchangedir = $(id)\ncommands = python -m unittest"},
                     "python -m unittest", id="tox: no folder"),
        param("", {**TESTS, "noxfile.py": "session.run('pytest', 'tests', *session.posargs)"},
                     "python -m pytest tests", id="nox"),
        param("", named("a/setup.py", "a/tests/test_a.py", "tests/test_all.py"), "python -m pytest", id="over all"),
        param("", named("python/setup.py", "python/tests/test_a.py"), "cd python && python -m pytest", id="below"),
    ],
)  # fmt: skip
def test_a_repository_shows_how_its_tests_are_run(configured: str, files: Mapping[str, str], command: str) -> None:
    assert survey(files).test(configured) == command


WORDS = st.sampled_from(
    ["pytest", "python -m unittest", "`id`", "$(id)", ";", "&&", "x\ty", "A=$(id)", "'", '"', "|", ">f", "\\\n"]
)


@settings(deadline=None)
@given(st.lists(WORDS, max_size=8))
def test_nothing_that_a_repository_writes_is_more_than_words_of_one_command(words: list[str]) -> None:
    line = " ".join(words)
    files = {**TESTS, "Makefile": f"test:\n\t{line}\n", "tox.ini": f"[testenv]\ncommands = {line}\n"}
    assert not set(survey(files).test()) & set("`$;&|<>'\"\n\\")


# --- what it is ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.layout)
def test_every_sample_of_the_bench_has_a_command(sample: Sample) -> None:
    assert survey(sample.files).test()


def test_what_is_not_run_is_named() -> None:
    found = survey({
        **named("app.py", "go.mod", "node_modules/x/package.json", "environment.yml", "docs/package.json"),
        "web/package.json": "{}",
        "docker-compose.yml": "services:\n  db:\n    image: postgres:16\n", "config/settings.py": "'redis://cache'",
    })  # fmt: skip
    assert found.languages == ("Python", "Go", "JavaScript")
    assert found.services() == {"PostgreSQL": "docker-compose.yml", "Redis": "config/settings.py"}
    assert found.conda() == "environment.yml"


def test_only_files_of_known_names_are_requirements() -> None:
    assert not REQUIREMENTS.fullmatch("requirements/production.txt") and not VARIABLE.fullmatch("A=$(id)")


# --- what the owner reads ------------------------------------------------------------------------------------

CRASHED = """
/usr/lib/python3/site-packages/_pytest/python.py:400: in load
tests/test_one.py:1: in <module>
    import freezegun
E   ModuleNotFoundError: No module named 'freezegun.api'
"""
FILE = "config/targets/site.yaml"


def crashed(output: str) -> SuiteRun:
    return SuiteRun("crashed", 2, output=output)


@pytest.mark.parametrize(
    ("output", "files", "said"),
    [
        param(CRASHED, {"requirements.txt": ""},
                     "ModuleNotFoundError: freezegun.api (tests/test_one.py:1): add freezegun to `setup:` in "
                     f'{FILE}: setup: "pip install -r requirements.txt && pip install freezegun"', id="a package"),
        param(CRASHED.replace("freezegun.api", "yaml"), {},
                     f"ModuleNotFoundError: yaml (tests/test_one.py:1): add PyYAML to `setup:` in {FILE}: "
                     'setup: "pip install PyYAML"', id="one of another name"),
        param(CRASHED, named("lib/freezegun/__init__.py", "test_a.py"),
                     "ModuleNotFoundError: freezegun.api (tests/test_one.py:1): no file here is that module; if a "
                     f"command makes it, add that to `setup:` in {FILE}", id="its own, which a build makes"),
        param(CRASHED, named("tests/freezegun/__init__.py"),
                     "ModuleNotFoundError: freezegun.api (tests/test_one.py:1): add freezegun to `setup:` in "
                     f'{FILE}: setup: "pip install freezegun"', id="a folder that is only called so"),
        param(CRASHED, named("lib/freezegun/__init__.py", "lib/freezegun/api.py", "test_a.py"),
                     "ModuleNotFoundError: freezegun.api (tests/test_one.py:1): it lies in lib; write into "
                     f'{FILE}: test: "PYTHONPATH=lib python -m pytest"', id="its own"),
        param("Segmentation fault", {}, f"mend `setup:` or `test:` in {FILE}", id="anything else"),
    ],
)  # fmt: skip
def test_what_does_not_run_comes_with_the_line_to_write(output: str, files: Mapping[str, str], said: str) -> None:
    found = survey(files)
    assert findings.to_write(crashed(output), found, found.setup, FILE) == said
    told = findings.why_not(crashed(output), found, found.setup, FILE).splitlines()
    assert told[0] == f"the tests came to no end (crashed): {said}" and told[-1].strip() == output.splitlines()[-1]


@pytest.mark.parametrize(
    ("pyproject", "lacks"),
    [("", 0), (">=3.9", 0), (">=3.11,<4", 0), (">=3.12", 12), ("^3.13", 13), ("~3.12", 12), ("==2.7", 0),
     (">=3.8,<3.11", 10), ("<=3.9", 9), (">=3.9,<3.12", 0), ("~3.10", 10), ("~=3.9", 0), ("==3.10.*", 10)],
)  # fmt: skip
def test_a_python_that_is_too_old_or_too_new_is_known_before_anything_is_installed(pyproject: str, lacks: int) -> None:
    found = survey({"pyproject.toml": f"[project]\nrequires-python = '{pyproject}'" if pyproject else ""})
    assert findings.lacking_python(found, 11) == lacks


@pytest.mark.parametrize(
    ("versions", "begins"),
    [("python-version: ['3.12', '3.13', pypy3.10]", 12), ("python-version:\n  - 3.13\n  - '3.14'\nx: 3.12", 13),
     ("python: [3.9, '3.12']", 0), ("python-version: ${{ matrix.python-version }}", 0), ("image: x:3.14", 0)],
)  # fmt: skip
def test_without_a_word_in_a_manifest_the_oldest_python_of_its_ci_is_the_one(versions: str, begins: int) -> None:
    ci = {".github/workflows/ci.yml": f"{versions}\nrun: manage.py test"}
    assert findings.tested_python(survey(ci), 11) == begins
    assert findings.tested_python(survey({**ci, ".python-version": "3.11"}), 11) == 0


COMMAND = "pip install -r requirements.txt -r requirements-dev.txt"
BUILT = "mysqlclient cannot be built here: install what it needs on this machine, then try again"


@pytest.mark.parametrize(
    ("printed", "command", "said"),
    [
        param("ERROR: Ignored the following versions: 6.0 Requires-Python >=3.12; 6.0.6 Requires-Python >=3.13; 7.0\n"
              "ERROR: No matching distribution found for Django[argon2]==6.0.6", COMMAND,
              f'Django 6.0.6 wants Python 3.13: write into {FILE}: python: "3.13"', id="a newer Python"),
        param("Collecting a\nCollecting mysqlclient==2.2.8 (from x)\n  Getting requirements: started\n"
              "  Getting requirements: finished with status 'error'\n  ╰─> See above for output.", COMMAND,
              f"{BUILT}; or leave it out: write into {FILE}: setup: sed -i /^mysqlclient/Id requirements.txt "
              f"requirements-dev.txt && {COMMAND}", id="what cannot be built"),
        param("error: metadata-generation-failed\n╰─> mysqlclient", "pip install -e .", BUILT, id="of no file"),
        param("ERROR: Failed building wheel for mysqlclient", "pip install -e .", BUILT, id="its wheel"),
        param("Collecting sniffio==1.3.1\nProcessing /job\n  Preparing metadata: finished with status 'error'\n"
              "RuntimeError: This does not appear to be a Git project\n╰─> See above for output.", "pip install .",
              f"the project itself cannot be built here: mend `setup:` in {FILE}", id="the project itself"),
        param("Processing /job\nCollecting mysqlclient\n  Preparing: finished with status 'error'", "pip install .",
              BUILT, id="a package that comes after it"),
        param("error: no space left", COMMAND, f"mend `setup:` in {FILE}", id="anything else"),
    ],
)  # fmt: skip
def test_a_set_up_that_failed_comes_with_the_line_to_write(printed: str, command: str, said: str) -> None:
    assert findings.what_mends(printed, command, "setup", FILE) == said


@pytest.mark.parametrize(
    ("run", "line"),
    [
        ("sudo apt-get update && sudo apt-get install -y libsasl2-dev libldap2-dev", "libsasl2-dev libldap2-dev"),
        ("apt-get -q install --no-install-recommends \\\n  gcc \\\n  g++ || true", "gcc g++"),
        ("apt install $(cat x) `id` libxml2-dev; echo b", "libxml2-dev"),
        ("pip install c", ""),
        ("apt-get install sudo- .+ l.+ a.. gcc-12 libstdc++ python3.11-dev", "gcc-12 libstdc++ python3.11-dev"),
    ],
)
def test_what_its_ci_installs_on_the_machine_is_one_line_of_plain_names(run: str, line: str) -> None:
    found = survey({".github/workflows/ci.yml": f"steps:\n- run: |\n    {run}\n    make"}).system_packages()
    assert found == ((f"apt-get install {line}", ".github/workflows/ci.yml") if line else ("", ""))


def test_a_workflows_name_forges_no_line_and_its_packages_fill_no_screen() -> None:
    workflow = f"run: apt-get install {' '.join(f'lib{number}' for number in range(1000))}"
    line, path = survey({".github/workflows/a\nok    sandbox\x1b[2J.yml": workflow}).system_packages()
    assert path.isprintable() and len(line) < 500


def test_what_is_not_run_comes_with_what_follows() -> None:
    found = survey({"go.mod": "", ".gitattributes": "*.bin filter=lfs", "environment.yml": ""})
    assert [line.partition(":")[0] for line in findings.what_is_not_run(found)] == [
        "Go (go.mod)",
        "conda (environment.yml)",
        "Git LFS (.gitattributes)",
    ]


# --- suites of other languages -------------------------------------------------------------------------------

MIXED = named("app.py", "web/package.json", "web/app.ts", "tools/go.mod", "svc/go.mod", "static/menu.js")


@pytest.mark.parametrize(
    ("changed", "needs_owner"),
    [
        param(["app.py"], [], id="Python only"),
        param(["app.py", "web/app.ts"], ["web/app.ts: JavaScript is not tested here"], id="both"),
        param(["web/app.test.ts", "web/app.ts"], ["web/app.test.ts, web/app.ts: JavaScript is not tested here"],
              id="with a test of its own, which nobody runs"),
        param(["svc/main.go", "web/a.vue"],
              ["web/a.vue: JavaScript is not tested here", "svc/main.go: Go is not tested here"],
              id="two of them"),
        param(["static/menu.js"], [], id="a script in no such part: other rules judge it"),
    ],
)  # fmt: skip
def test_a_change_says_which_suites_did_not_run_and_in_their_part_is_the_owners(
    changed: list[str], needs_owner: list[str]
) -> None:
    green = Evidence("c", "t", "b", "pytest", "box", passed=5, proving=("tests/test_app.py::test_x",))
    told = with_other_suites(green, survey(MIXED), changed)
    assert sorted(told.not_run) == ["Go (svc/go.mod)", "JavaScript (web/package.json)"]
    assert sorted(problem.text for problem in told.needing("ask owner")) == sorted(needs_owner)
    assert not told.is_red
    assert "not run: the suites of Go (svc/go.mod); JavaScript (web/package.json)" in evidence_text(told)


def test_what_no_box_gets_is_told_with_what_follows() -> None:
    told = list(findings.left_alone({"out": "a symbolic link that leads out of the tree ('/etc')"}))
    assert told == [
        "out (a symbolic link that leads out of the tree ('/etc')): is left alone; tests run without it, "
        "no task changes it, and nothing is deployed"
    ]


def test_names_that_another_system_cannot_hold_are_told() -> None:
    found = list(
        findings.not_everywhere(["src/aux.py", "README.md", "readme.MD", "a/b.py", "a/nul", "auxiliary.py", "x."])
    )
    assert found == [
        "README.md and readme.MD: one file where capitals do not count (macOS, Windows)",
        "a/nul, src/aux.py, x.: Windows takes no such name",
    ]
    assert not list(findings.not_everywhere(["a.py", "src/b.py", "aux_.py"]))
