"""Texts of Makefile, tox.ini, noxfile.py and of tools' scripts -> the command that runs a part's tests. Pure.

Of a command that ends in pytest or unittest only words of a short list of signs are kept: whatever else a repository
writes there never reaches a shell.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from sisimpur.agents.qa.survey.manifests import NAMED, Manifests, sections, within
from sisimpur.shared.model.evidence import configures_tests, is_test_file

NONE = "none"  # what the owner writes as `test:` where nothing is to be run
PYTEST_FILES = {"pytest.ini", ".pytest.ini", "conftest.py"}
PYTEST_SECTIONS = {"pyproject.toml": "[tool.pytest", "setup.cfg": "[tool:pytest]", "tox.ini": "[pytest]"}
OWN_RUNNERS = ("runtests.py", "run_tests.py", "tests/runtests.py", "tests/run_tests.py")
RUNS = re.compile(r"\b(?:pytest|py\.test|unittest|django(?:-admin)? test|manage\.py test|run_?tests\.py)\b")
RECIPE = re.compile(r"^(?:unit)?tests?[ \t]*:(?!=)[^\n]*\n((?:\t[^\n]*\n?|\n)+)", re.MULTILINE)
SESSION = re.compile(r"session\.run\(([^()]*)\)")
VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*=[\w./:,-]+")
DEFAULTED = re.compile(
    r"\{posargs:([^{}]*)\}|\$?\$\{\w+:-([^{}]*)\}"
)  # what stands there unless something else is typed
FILLED = re.compile(r"\{[^{}]*\}|\$+\{[^{}]*\}|\$+\([^()]*\)|\$+[\w@*]+")
SAFE = re.compile(r"[\w./:=@,*-]+")
SETTINGS = re.compile(r"""DJANGO_SETTINGS_MODULE["']?\s*[,=]\s*["']?([\w.]+)""")
BY_ITSELF = re.compile(r"__main__|^(?:unittest|pytest)\.main\(|sys\.exit\(", re.MULTILINE)  # a program, no module
FOR_TESTS = re.compile(r"(?:.*/)?(?:settings/(?:tests?|testing)|tests?_settings|settings_tests?|tests?/settings)\.py")
A_TEST = re.compile(r"^\s*(?:async )?def test_", re.MULTILINE)  # tests of settings are no settings for tests
BY_PYTEST = re.compile(r"test_.*\.py|.*_test\.py")  # what it collects unless it is told more
DEEPEST_SITE = 2  # folders above a manage.py
MEANT = ("--ds=", "--import-mode=", "--rootdir=")  # of pytest's options, what decides whether tests are found


@dataclass(frozen=True)
class Part:
    """A folder with manifests of its own. `paths`: of its files, from there; `folder`: empty for the repository's."""

    folder: str
    paths: Collection[str]
    manifests: Manifests

    def read(self, path: str) -> str:
        return self.manifests.read(path) if path in self.paths else ""

    @property
    def names(self) -> set[str]:
        return {path.rpartition("/")[2] for path in self.paths}

    @property
    def configures_pytest(self) -> bool:
        return any(sign in self.read(path) for path, sign in PYTEST_SECTIONS.items()) or "pytest.ini" in self.paths

    @property
    def has_tests(self) -> bool:
        said = within(self.manifests.tool, "pytest", "ini_options", "python_files")
        return any(map(holds_tests, self.paths)) or bool(said and any(map(is_test_file, self.paths)))


def holds_tests(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name.endswith(".py") and "test" in name and is_test_file(path) and not configures_tests(path)


def command_of(part: Part) -> str:
    """What runs its tests, from its own folder; empty: it has none."""
    own = next((path for path in OWN_RUNNERS if BY_ITSELF.search(part.read(path))), "")
    if not (part.has_tests or own):
        return ""
    told = next(filter(None, (_kept(line, part) for line in _told(part))), "")
    if told and not told.startswith("python -m pytest"):
        return _from_folder(told, part)
    if "manage.py" in part.paths and not part.configures_pytest and not part.names & PYTEST_FILES:
        return f"python manage.py test{settings_for_tests(part)}"
    if own and not (told or part.configures_pytest):
        return f"python {own}"
    return told or _site_below(part) or _without_site(part) or _pytest(part)


def _from_folder(command: str, part: Part) -> str:
    """Run a command of tox's from the folder that tox changes to: unittest and Django look for tests from there."""
    env = sections(part.read("tox.ini")).get("testenv", {})
    folder = (env.get("changedir") or env.get("change_dir") or "").strip().removeprefix("{toxinidir}/").strip("/")
    is_plain = folder and SAFE.fullmatch(folder) and ".." not in folder and _is_there(folder, part)
    return f"cd {folder} && {command}" if is_plain and not RECIPE.search(part.read("Makefile")) else command


def _site_below(part: Part) -> str:
    """Django's tests, where only its site lies in a folder and what is installed is named above it; empty: not so."""
    folder = _manage(part).rpartition("/")[0]
    if not folder or not SAFE.fullmatch(folder) or part.configures_pytest or part.names & PYTEST_FILES:
        return ""
    if not all(path.startswith(f"{folder}/") for path in part.paths if holds_tests(path)):
        return ""
    paths = frozenset(path.removeprefix(f"{folder}/") for path in part.paths if path.startswith(f"{folder}/"))
    site = Part(folder, paths, Manifests(lambda path: part.read(f"{folder}/{path}")))
    return f"cd {folder} && python manage.py test{settings_for_tests(site)}"


def _manage(part: Part) -> str:
    """The path of its manage.py; of several below it none is meant."""
    below = [path for path in part.paths if path.endswith("/manage.py") and path.count("/") <= DEEPEST_SITE]
    return "manage.py" if "manage.py" in part.paths else below[0] if len(below) == 1 else ""


def _without_site(part: Part) -> str:
    """An app's tests by Django's runner: no manage.py, but a package of tests with settings; empty: it has none."""
    there = _settings_for_tests(part)
    is_app = "INSTALLED_APPS" in part.read(there) and f"{there.rpartition('/')[0]}/__init__.py" in part.paths
    if not is_app or part.configures_pytest or part.names & PYTEST_FILES:
        return ""
    return f"python -m django test --settings={_module(there)}"


def _pytest(part: Part) -> str:
    """pytest by itself collects nothing of tests.py or testparser.py: it is told, where no other file would say so."""
    names = [path.rpartition("/")[2] for path in part.paths if holds_tests(path)]
    is_told = any("python_files" in part.read(path) for path in (*PYTEST_SECTIONS, "pytest.ini", ".pytest.ini"))
    if is_told or any(map(BY_PYTEST.fullmatch, names)):
        return "python -m pytest"
    return "python -m pytest -o 'python_files=test*.py *_test.py'"


def settings_module(part: Part) -> str:
    """Django's, as the part's own files name it for its tests; empty: it has none, or pytest knows it."""
    texts = (part.read(path) for path in ("Makefile", "tox.ini", "setup.cfg", "pyproject.toml", "pytest.ini"))
    found = next(filter(None, map(SETTINGS.search, texts)), None) or SETTINGS.search(part.read(_manage(part)))
    return found[1] if found else _without_site(part).partition("--settings=")[2]


def settings_for_tests(part: Part) -> str:
    """` --settings=…` where manage.py would choose others than those that lie there for tests."""
    chosen = SETTINGS.search(part.read("manage.py"))
    there = _settings_for_tests(part)
    if not there or (chosen and FOR_TESTS.fullmatch(f"{chosen[1].replace('.', '/')}.py")):
        return ""
    return f" --settings={_module(there)}"


def _settings_for_tests(part: Part) -> str:
    """The shortest path of a settings module that lies there for tests; empty: there is none."""
    called = sorted((path for path in part.paths if FOR_TESTS.fullmatch(path)), key=lambda one: (len(one), one))
    return next((path for path in called if not A_TEST.search(part.read(path))), "")


def _module(path: str) -> str:
    return path.removesuffix(".py").removeprefix("src/").replace("/", ".")


# --- what the repository's own tools run ---------------------------------------------------------------------


def _told(part: Part) -> Iterator[str]:
    """Lines of shell that the repository runs as its tests, with the variables that stand beside them."""
    for recipe in RECIPE.findall(part.read("Makefile")):
        yield from recipe.replace("\\\n", " ").splitlines()
    env = sections(part.read("tox.ini")).get("testenv", {})
    beside = " ".join(line.replace(" ", "") for line in (env.get("setenv") or env.get("set_env") or "").splitlines())
    for line in (env.get("commands") or "").replace("\\\n", " ").splitlines():
        yield f"{' '.join(word for word in beside.split() if VARIABLE.fullmatch(word))} {line}"
    for call in SESSION.findall(part.read("noxfile.py")):
        yield " ".join(NAMED.findall(call))


def _kept(line: str, part: Part) -> str:
    """What of such a line is run; empty: it is not one of tests, or not a plain command."""
    found = RUNS.search(line)
    if found is None or re.search(r"[;&|<>`]", line):
        return ""
    after = DEFAULTED.sub(lambda one: one[1] or one[2] or "", line[found.end() :])
    words = [word for word in FILLED.sub("", after).split() if SAFE.fullmatch(word)]
    if found[0] in ("pytest", "py.test"):
        words = [word for word in words if _is_there(word, part) or word.startswith(MEANT)]
    if not (main := _main(found[0], part)):
        return ""
    return " ".join((*VARIABLE.findall(line[: found.start()]), main, *words))


def _main(named: str, part: Part) -> str:
    if named == "manage.py test":
        return "python manage.py test" if "manage.py" in part.paths else ""
    if named.endswith(".py"):
        own = next((path for path in OWN_RUNNERS if path in part.paths), "")
        return f"python {own}" if own else ""
    return f"python -m {named.replace('py.test', 'pytest').replace('django-admin', 'django')}"


def _is_there(word: str, part: Part) -> bool:
    path = word.rstrip("/").removeprefix("./")
    return path in part.paths or any(one.startswith(f"{path}/") for one in part.paths)
