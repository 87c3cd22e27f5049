"""What the tests' environment is made from: the set-up command, and the files that say what it installs."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Sequence

from shared.model.scope import matches
from shared.repo.mirror_tree import TreeEntry

# A file too many builds an environment too many; a file too few keeps an old one.
DEPENDENCIES = (
    *("pyproject.toml", "setup.py", "setup.cfg", "MANIFEST.in", "tox.ini", "Makefile"),
    *("*requirements*.txt", "*requirements*.in", "requirements/", "reqs/", "*constraints*.txt"),
    *("*.lock", "*-lock.*", "*.lock.*", "pylock.*", "Pipfile", "environment*.y*ml"),
)
REQUIREMENTS = re.compile(
    r"(requirements([-_](dev|tests?|testing|develop))?|(dev|tests?|testing)[-_]requirements)\.txt"
)
PACKAGE = re.compile(r"^\s*\[\s*(project|build-system)\s*\]", re.MULTILINE)


def default_setup(paths: Iterable[str], pyproject: str = "") -> str:
    """The command for a repository with these files that says nothing itself; empty: nothing is to be installed.

    `pyproject`: the text of its pyproject.toml. The package is installed as a reference to its files, so that what is
    tested is what lies there; with its tests' extras, if it has them (pip warns about those that it has not).
    """
    there = set(paths)
    files = sorted((path for path in there if REQUIREMENTS.fullmatch(path)), key=lambda path: (len(path), path))
    steps = ["pip install" + "".join(f" -r {file}" for file in files)] if files else []
    if "setup.py" in there or PACKAGE.search(pyproject):
        steps.append("pip install --use-pep517 -e '.[test,tests,testing]'")
    return " && ".join(steps)


def dependency_files(tree: Iterable[TreeEntry], setup: str) -> tuple[tuple[str, str], ...]:
    """(path, id of the content) of each file that may say what is installed: listed above, or named by the command."""
    listed = (entry for entry in tree if matches(entry.path, DEPENDENCIES) or entry.path in setup)
    return tuple(sorted((entry.path, f"{entry.mode} {entry.blob}") for entry in listed))


def key_of(*parts: str | Sequence[object]) -> str:
    """The same for the same parts, another one for any other: 16 hexadecimal digits."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]
