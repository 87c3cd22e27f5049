"""New dependencies, by name, and new files that are found in the place of one: both are for the owner to decide."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Collection, Iterator
from typing import Any

from sisimpur.agents.reviewer.rules.case import Case, ChangedFile
from sisimpur.shared.model.evidence import Finding, Severity, is_test_file
from sisimpur.shared.model.naming import package_name
from sisimpur.shared.model.scope import matches

RULE = "new dependency"
REQUIREMENTS = ("requirements*.txt", "requirements*.in", "requirements/", "constraints*.txt")
NAME = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)")
ELSEWHERE = re.compile(
    r"^\s*(?:-e|--editable|--(?:extra-)?index-url|-i|--find-links|-f|--trusted-host)\b|\w://|^\s*git\+|\s@\s"
)
MOST_NAMED = 30
WELL_KNOWN = frozenset(
    re.findall(
        r"\S+",
        """
        aiohttp anthropic asgiref attrs axios beautifulsoup4 black boto3 botocore celery certifi cffi chalk
        charset-normalizer click colorama commander coverage cryptography django django-environ
        djangorestframework docker eslint express fastapi filelock flask gitpython google-auth gunicorn httpx
        idna jinja2 jquery jsonschema lodash lxml markdown markupsafe matplotlib moment mypy next numpy openai
        openpyxl packaging pandas paramiko pillow pip pluggy prettier protobuf psutil psycopg2 psycopg2-binary
        pyarrow pycryptodome pydantic pygments pyjwt pymysql pyopenssl pytest python-dateutil python-dotenv
        pytz pyyaml react react-dom redis regex requests rich ruff s3transfer scikit-learn scipy selenium
        sentry-sdk setuptools six sqlalchemy sqlparse starlette tabulate tenacity tensorflow toml torch tqdm
        transformers typescript typing-extensions urllib3 uvicorn virtualenv vite vue webpack werkzeug wheel
        whitenoise wrapt
        """,
    )
)


def findings(case: Case) -> Iterator[Finding]:
    yield from _in_place(case)
    for file in case.files:
        if file.after is None:
            continue
        if matches(file.path, REQUIREMENTS):
            yield from _requirements(file)
        elif file.path.rpartition("/")[2] in ("pyproject.toml", "package.json", "Pipfile"):
            for name in sorted(declared(file.path, file.after) - declared(file.path, file.before or ""))[:MOST_NAMED]:
                yield _new(file, next((n for n, text in file.added.items() if name.lower() in text.lower()), 0), name)


def _requirements(file: ChangedFile) -> Iterator[Finding]:
    known = required(file.before or "")
    for number, text in file.added.items():
        name = NAME.match(text)
        if ELSEWHERE.search(text.split("#")[0] if not text.lstrip().startswith("#") else ""):
            yield file.finding(number, Severity.MEDIUM, RULE, "code from somewhere else than the package index")
        elif name and package_name(name[1]) not in known:
            known.add(package_name(name[1]))
            yield _new(file, number, name[1])


def required(text: str) -> set[str]:
    """The names that a list of requirements begins its lines with."""
    return {package_name(found[1]) for line in text.splitlines() if (found := NAME.match(line))}


def _new(file: ChangedFile, line: int, name: str) -> Finding:
    twin = close_to_well_known(name)
    warning = f"; it is one letter away from {twin}: is that what is meant?" if twin else ""
    return file.finding(line, Severity.MEDIUM, RULE, f"{name[:60]} is a new dependency{warning}")


def declared(path: str, text: str) -> set[str]:
    """The names that a project file depends on, and the scripts that an installation runs."""
    try:
        data: Any = json.loads(text) if path.endswith(".json") else tomllib.loads(text)
        return set(_names(data)) if isinstance(data, dict) else set()
    except (ValueError, RecursionError, AttributeError, TypeError):
        return set()


def _names(data: dict[str, Any]) -> Iterator[str]:
    project, poetry = data.get("project", {}), data.get("tool", {}).get("poetry", {})
    lists = [project.get("dependencies", []), data.get("build-system", {}).get("requires", [])]
    lists += [*project.get("optional-dependencies", {}).values(), *data.get("dependency-groups", {}).values()]
    for listed in lists:
        yield from (package_name(found[1]) for one in listed if isinstance(one, str) and (found := NAME.match(one)))
    tables = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies", "packages", "dev-packages")
    for table in (*(data.get(name, {}) for name in tables), poetry.get("dependencies", {})):
        yield from map(package_name, table)
    yield from ({"preinstall", "install", "postinstall", "prepare"} & set(data.get("scripts", {})))


def close_to_well_known(name: str) -> str | None:
    """The well-known name that this one is a letter away from: changed, added, left out, or two swapped."""
    name = package_name(name)
    if name in WELL_KNOWN:
        return None
    return next((known for known in sorted(WELL_KNOWN) if len(known) > 3 and _one_letter_apart(name, known)), None)


def _one_letter_apart(one: str, other: str) -> bool:
    if len(one) > len(other):
        one, other = other, one
    if len(other) - len(one) > 1:
        return False
    at = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one))
    if len(one) < len(other):
        return one[at:] == other[at + 1 :]
    swapped = one[at + 1 : at + 2] + one[at : at + 1] + one[at + 2 :]
    return one[at + 1 :] == other[at + 1 :] or swapped == other[at:]


# --- a file of ours that is imported in the place of somebody else's --------------------------------------------

PLACE = "another's place"
ROOTS = ("", "src", "lib", "python")  # folders from which packages are imported
PATHS = re.compile(
    r"""(?:pythonpath|python_paths|package-dir|mypy_path|\bwhere)["'\s]*[=:]([^\n]*(?:\n[ \t]+[^\n]+)*)"""
)
CONFIGURED = ("pyproject.toml", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "setup.cfg", "tox.ini")
TOOLS_OF_TESTS = frozenset(
    re.findall(
        r"\S+",
        """
        approvaltests assertpy bs4 cv2 dateutil factory faker fakeredis freezegun hypothesis jwt mock model_bakery moto
        nose numpy parameterized pexpect PIL playwright polyfactory pyfakefs requests_mock responses respx schemathesis
        sklearn sure syrupy testcontainers testfixtures time_machine vcr yaml
        """,
    )
)
IMPORTED = re.compile(r"^\s*(?:from\s+(\w+)[\w.]*\s+import\b|import\s+([\w., \t]+))", re.MULTILINE)
MOST_IMPORTING = 400  # files that are read


def _in_place(case: Case) -> Iterator[Finding]:
    """What is imported as Python's own, as a dependency or as another file was: then tests ask a stand-in."""
    come = {file.path: file for file in case.files if file.change.kind == "added" and file.path.endswith(".py")}
    asked = {path: found for path in come if (found := _imported_as(path, case.tracked))}
    if not asked:
        return
    places = _ImportPlaces(case, come.keys())
    for path, (folder, name) in asked.items():
        if folder in places.roots and (whose := places.owner(name)):
            text = f"it is imported as {name}, in the place of {whose}: call it otherwise, or put it into a package"
            yield come[path].finding(0, Severity.MEDIUM, PLACE, text)


def _imported_as(path: str, tracked: Collection[str]) -> tuple[str, str] | None:
    """(folder, name) of the outermost package or module that this file makes; None: it is a part of another one."""
    folder, _, name = path.rpartition("/")
    if name == "__init__.py":
        folder, _, name = folder.rpartition("/")
    if not name or f"{folder}/__init__.py".lstrip("/") in tracked:
        return None
    return folder, name.removesuffix(".py")


class _ImportPlaces:
    """Whence modules are imported, and whose names are taken. `come`: the paths that are new."""

    def __init__(self, case: Case, come: Collection[str]) -> None:
        self._case = case
        self._before = {*case.tracked.difference(come), *(file.path for file in case.files if file.before is not None)}
        python = [path for path in case.tracked if path.endswith(".py")]
        near = {path.rpartition("/")[0] for path in python if is_test_file(path) or path.endswith("manage.py")}
        self.roots = {*ROOTS, *near, *self._configured()}
        self._declared = {package_name(name) for name in self._names_declared()}

    def _configured(self) -> Iterator[str]:
        for path in CONFIGURED:
            for found in PATHS.finditer(self._case.read(path) or ""):
                yield from (word.strip("./") for word in re.findall(r"[\w./-]+", found[1]))

    def _names_declared(self) -> Iterator[str]:
        for path in sorted(self._before):
            if path in ("pyproject.toml", "Pipfile"):
                yield from declared(path, self._case.read(path) or "")
            elif matches(path, REQUIREMENTS):
                yield from required(self._case.read(path) or "")

    def owner(self, name: str) -> str:
        """Whose the name is; empty: nobody's. What tests alone import, and nobody knows, may be what they ask for."""
        if name in sys.stdlib_module_names:
            return "Python's own"
        if package_name(name) in self._declared:
            return "the package of this name"
        product = [one for one in self._before if one.endswith(".py") and not is_test_file(one)]
        own = [one for one in product if _imported_as(one, self._before) in {(root, name) for root in self.roots}]
        if own:
            return next((one for one in sorted(own) if one in self._case.tracked), "")
        is_known = name in TOOLS_OF_TESTS or package_name(name) in WELL_KNOWN or name.startswith("pytest_")
        asking = [one for one in self._before if one.endswith(".py")] if is_known else product
        return "what is imported so far" if name in self._imported(asking) else ""

    def _imported(self, paths: Collection[str]) -> set[str]:
        """By these files, as they were."""
        before = {file.path: file.before or "" for file in self._case.files}
        texts = (before.get(path) or self._case.read(path) or "" for path in sorted(paths)[:MOST_IMPORTING])
        found = (one for text in texts for one in IMPORTED.finditer(text))
        return {re.split(r"[.\s]", name.strip())[0] for one in found for name in (one[1] or one[2]).split(",")}
