"""New dependencies, by name. Each brings somebody else's code: that is for the owner to decide."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from typing import Any

from sisimpur.agents.reviewer.rules.case import Case, ChangedFile
from sisimpur.shared.model.evidence import Finding, Severity
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
        elif name and normal(name[1]) not in known:
            known.add(normal(name[1]))
            yield _new(file, number, name[1])


def required(text: str) -> set[str]:
    """The names that a list of requirements begins its lines with."""
    return {normal(found[1]) for line in text.splitlines() if (found := NAME.match(line))}


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
        yield from (normal(found[1]) for one in listed if isinstance(one, str) and (found := NAME.match(one)))
    tables = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies", "packages", "dev-packages")
    for table in (*(data.get(name, {}) for name in tables), poetry.get("dependencies", {})):
        yield from map(normal, table)
    yield from ({"preinstall", "install", "postinstall", "prepare"} & set(data.get("scripts", {})))


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def close_to_well_known(name: str) -> str | None:
    """The well-known name that this one is a letter away from: changed, added, left out, or two swapped."""
    name = normal(name)
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
