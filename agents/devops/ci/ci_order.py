"""A repository and its owner's commands -> CiOrder: what CI is to run. Pure.

What comes from there is data: versions, branch and rules are checked against a short list of signs, and a command holds
whole lines only, and nothing that GitHub would replace before the shell sees it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from shared.model.errors import Misconfigured

PATH = ".github/workflows/ci.yml"
FOLDER = ".github/workflows/"
PLAIN_ERRORS = "E9,F63,F7,F82"  # what is wrong in every style; for a repository that has no rules of its own
RUFF_FILES = ("ruff.toml", ".ruff.toml")
TEST_TOOLS = "python -m pip install pytest hypothesis"  # the team's own environment has them too

VERSION = re.compile(r"3\.[0-9]{1,2}(\.[0-9]{1,2})?")
CLASSIFIER = re.compile(r"Programming Language :: Python :: 3\.([0-9]{1,2})")
BRANCH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._/-]{0,199}")  # without the signs of GitHub's patterns: ! * + ? [ ]
RULES = re.compile(r"([A-Z]+[0-9]*(,[A-Z]+[0-9]*)*)?")
OLDEST = 10  # of Python 3, on that runner
MOST_VERSIONS, MOST_LINES, LONGEST_LINE, LONGEST_RUN = 6, 40, 2_000, 360

# From the line of `on:` to the next key of the same rank; then an event's name in there.
EVENTS = re.compile(r"""^['"]?on['"]?[ \t]*:(.*(?:\n(?:[ \t#\]}-].*|))*)""", re.MULTILINE)
COMMENT = re.compile(r"(?:^|(?<=\s))#.*$", re.MULTILINE)
PULL_REQUEST = re.compile(r"(?<![\w.-])pull_request(?![\w.-])")


@dataclass(frozen=True)
class CiOrder:
    """`setup` and `test`: lines of shell; without `test` there is no test job, without anything no workflow.

    `rules`: what ruff is to look for; empty: what the repository itself says. `package`: it can be built by
    `python -m build`; `image`: it has a Dockerfile. `minutes`: the longest that a job may take.
    Misconfigured: a part of it cannot stand in a workflow; the text names the setting.
    """

    pythons: tuple[str, ...]
    setup: tuple[str, ...]
    test: tuple[str, ...]
    branch: str
    lint: bool
    rules: str = ""
    package: bool = False
    image: bool = False
    minutes: int = 30

    def __post_init__(self) -> None:
        if not 1 <= len(self.pythons) <= MOST_VERSIONS or not all(map(VERSION.fullmatch, self.pythons)):
            raise Misconfigured(f"not versions of Python 3: {self.pythons!r}; write them as 3.12")
        if not BRANCH.fullmatch(self.branch):
            raise Misconfigured(f"a workflow cannot name the branch {self.branch[:80]!r}; write {PATH} by hand")
        if not RULES.fullmatch(self.rules):
            raise Misconfigured(f"not rules of ruff: {self.rules[:80]!r}; write them as E9,F63")
        if not 1 <= self.minutes <= LONGEST_RUN:
            raise Misconfigured(f"a job cannot run for {self.minutes} minutes; correct `minutes:` in config/targets")
        _check_lines("setup", self.setup)
        _check_lines("test", self.test)
        if not (self.lint or self.test or self.package or self.image):
            raise Misconfigured("there is nothing for CI to run; write the command of your tests as `test:`")


def lines_of(command: str) -> tuple[str, ...]:
    """A command as the owner writes it -> its lines."""
    return tuple(command.strip().split("\n")) if command.strip() else ()


def order_for(
    paths: Collection[str], pyproject: str, setup: str, test: str, branch: str, pythons: Sequence[str], minutes: int
) -> CiOrder:
    """For a repository with these files. `setup`, `test`: the commands of the team's own environment and tests.

    `pythons`: the versions to be used where pyproject.toml promises none.
    """
    told = _toml(pyproject)
    has_rules = bool(set(RUFF_FILES) & set(paths)) or "ruff" in _table(told, "tool")
    return CiOrder(
        pythons=_promised(told) or tuple(pythons),
        setup=(*lines_of(setup), TEST_TOOLS),
        test=lines_of(test),
        branch=branch,
        lint=any(path.endswith(".py") for path in paths),
        rules="" if has_rules else PLAIN_ERRORS,
        package="build-system" in told,
        image="Dockerfile" in paths,
        minutes=minutes,
    )


def runs_on_pulls(workflow: str) -> bool:
    """Whether a workflow's events include `pull_request`."""
    events = EVENTS.search(workflow.replace("\r\n", "\n"))
    return bool(events and PULL_REQUEST.search(COMMENT.sub("", events[1])))


def _check_lines(setting: str, lines: Sequence[str]) -> None:
    if len(lines) > MOST_LINES:
        raise Misconfigured(f"`{setting}:` has {len(lines)} lines (limit {MOST_LINES}); put them into a script")
    for line in lines:
        if "${{" in line:
            raise Misconfigured(f"`{setting}:` holds ${{{{, which GitHub replaces before the shell sees it; remove it")
        if not line.replace("\t", " ").isprintable() or len(line) > LONGEST_LINE:
            raise Misconfigured(f"`{setting}:` has a line that cannot stand in a workflow: {line[:80]!r}")


def _toml(text: str) -> dict[str, Any]:
    """Empty if it cannot be read: then it promises nothing."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def _table(document: dict[str, Any], name: str) -> dict[str, Any]:
    found = document.get(name)
    return found if isinstance(found, dict) else {}


def _promised(pyproject: dict[str, Any]) -> tuple[str, ...]:
    """The versions of Python that the project says it works with, the newest of them, oldest first."""
    said = _table(pyproject, "project").get("classifiers")
    rows = [CLASSIFIER.fullmatch(row) for row in said if isinstance(row, str)] if isinstance(said, list) else []
    minors = sorted({int(row[1]) for row in rows if row})
    return tuple(f"3.{minor}" for minor in minors if minor >= OLDEST)[-MOST_VERSIONS:]
