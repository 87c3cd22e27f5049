"""Index -> what is so of a repository whatever is asked: its stack, its tests. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from posixpath import basename, dirname

from sisimpur.agents.planner.facts.code_index import TESTS, CodeIndex
from sisimpur.agents.planner.facts.views import clean
from sisimpur.shared.model.scope import matches

STACK: tuple[
    tuple[str, tuple[str, ...], str], ...
] = (  # name, files that show it, words that must stand in one of them
    ("Django", ("manage.py",), ""),
    ("pytest", ("pytest.ini", "conftest.py"), ""),
    ("pytest", ("pyproject.toml", "setup.cfg", "tox.ini"), "pytest"),
    ("Python requirements", ("requirements*.txt", "pyproject.toml", "Pipfile", "setup.py"), ""),
    ("Docker", ("Dockerfile*", "docker-compose*.y*ml", "compose.y*ml"), ""),
    ("GitHub Actions", ("/.github/workflows/*.y*ml",), ""),
    ("Node.js", ("package.json",), ""),
)
TEST_SETTINGS = ("pytest.ini", "pyproject.toml", "setup.cfg", "tox.ini", "package.json")
TEST_SECTION = re.compile(r"^\[(?:tool[.:])?pytest[^\]\n]*\]\n(?:(?!\[).*\n?)*", re.MULTILINE)
TEST_SCRIPT = re.compile(r'"test"\s*:\s*"[^"\n]*"')
MODEL = re.compile(r"^class \w+\([^)\n]{0,300}\bModel\)", re.MULTILINE)
MOST_SETTINGS = 12  # lines of how tests are set up


def stack(index: CodeIndex) -> Iterator[str]:
    shown: dict[str, list[str]] = {}
    for name, patterns, word in STACK:
        for path in index.paths:
            is_said = not word or (path in index.files and word in index.files[path].text)
            if is_said and matches(path, patterns):
                shown.setdefault(name, []).append(path)
    for name, paths in shown.items():
        yield f"{name}: {', '.join(paths[:5])}{' …' if len(paths) > 5 else ''}"


def tests(index: CodeIndex) -> Iterator[str]:
    """Where they lie, and what says how they run."""
    folders = Counter(dirname(path) or "." for path in index.paths if matches(path, TESTS))
    if not folders:
        yield "tests: none found"
    else:
        listed = [f"{folder} ({count})" for folder, count in sorted(folders.items())]
        yield f"tests: {', '.join(listed[:15])}{' …' if len(listed) > 15 else ''}"
    for path, file in sorted(index.files.items()):
        if basename(path) in TEST_SETTINGS:
            pattern = TEST_SCRIPT if path.endswith(".json") else TEST_SECTION
            if found := pattern.search(file.text):
                lines = [clean(line) for line in found.group().splitlines() if line.strip()]
                yield f"how tests run, by {path}: {'; '.join(lines[:MOST_SETTINGS])}"


def without_tables(index: CodeIndex) -> Iterator[str]:
    """Django's models whose tables no migration makes: a test that needs one fails, whatever it says."""
    if not any(basename(path) == "manage.py" for path in index.paths):
        return
    for path in sorted(index.files):
        app = dirname(path)
        if basename(path) == "models.py" and MODEL.search(index.files[path].text):
            made = [other for other in index.paths if dirname(other) == f"{app}/migrations"]
            if not [other for other in made if basename(other) != "__init__.py"]:
                why = "its migrations folder is empty: tests find no table" if made else "it has no migrations folder"
                yield f"{path} has models without a migration in git; {why}"
            if not _is_installed(index, basename(app)):
                yield f"{path} has models, and no INSTALLED_APPS names {basename(app) or 'its app'}: they have no table"
    for path, file in sorted(index.files.items()):
        if basename(path) == ".gitignore":
            yield from (
                f"{path} keeps migrations out of git: {clean(line)}" for line in file.lines if "migrations" in line
            )


def _is_installed(index: CodeIndex, app: str) -> bool:
    settings = [index.files[path].text for path in index.definers.get("INSTALLED_APPS", ())]
    named = re.compile(rf"""["'](?:[\w.]*\.)?{re.escape(app)}(?:\.apps\.\w+)?["']""")
    return not settings or any(named.search(text) for text in settings)
