"""A repository and its owner's commands -> the text of .github/workflows/ci.yml, and of the pull request for it. Pure.

What comes from the repository is data: versions, branch and rules are checked against a short list of signs, and a
command holds whole lines only, and nothing that GitHub would replace before the shell sees it. Commands are laid into
blocks whose indentation is stated, not guessed: no line of theirs can end one.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sisimpur.shared.model.errors import Misconfigured

RUNNER = "ubuntu-24.04"
LOOKED_UP = "2026-11-21"  # docs/ci.md says where
RUFF, BUILD = "ruff==0.17.6", "build==1.6.1"


@dataclass(frozen=True)
class ActionPin:
    """An action at exactly one commit. `version`: the tag of that commit, for people."""

    name: str
    sha: str
    version: str

    def __str__(self) -> str:
        return f"{self.name}@{self.sha} # {self.version}"


CHECKOUT = ActionPin("actions/checkout", "3d3c42e5aac5ba805825da76410c181273ba90b1", "v7.0.1")
SETUP_PYTHON = ActionPin("actions/setup-python", "5fda3b95a4ea91299a34e894583c3862153e4b97", "v7.0.0")

# --- the workflow --------------------------------------------------------------------------------------------

HEAD = """\
# Proposed by the team (`python main.py propose-ci`); what is merged is yours, and the team never changes it by itself.
# Actions are pinned to commits; the tags beside them were looked up on {looked_up}.
name: CI

on:
  pull_request:
  push:
    branches: ['{branch}']

permissions:
  contents: read

concurrency:
  group: ci-${{{{ github.ref }}}}
  cancel-in-progress: ${{{{ github.event_name == 'pull_request' }}}}

defaults:
  run:
    shell: sh

jobs:
"""
JOB = """\
  {id}:
    name: {name}
    runs-on: {runner}
    timeout-minutes: {minutes}
{matrix}    steps:
{steps}"""
MATRIX = """\
    strategy:
      fail-fast: false
      matrix:
        python: [{versions}]
"""
USE_CHECKOUT = f"""\
      - name: Check out
        uses: {CHECKOUT}
        with:
          persist-credentials: false
"""
USE_PYTHON = f"""\
      - name: Set up Python
        uses: {SETUP_PYTHON}
        with:
          python-version: {{version}}
"""


def render(order: CiOrder) -> str:
    """The file. The same order gives the same text."""
    jobs = [job for job in (_lint(order), _test(order), _build(order)) if job]
    return HEAD.format(looked_up=LOOKED_UP, branch=order.branch) + "\n".join(jobs)


def _lint(order: CiOrder) -> str:
    if not order.lint:
        return ""
    check = f"ruff check --select {order.rules} ." if order.rules else "ruff check ."
    steps = _python(order.pythons[-1]) + _run("Lint", (f"python -m pip install {RUFF}", check))
    return _job("lint", "Lint", 10, steps)


def _test(order: CiOrder) -> str:
    if not order.test:
        return ""
    steps = _python("${{ matrix.python }}", quoted=False)
    steps += _run("Install what the tests need", order.setup) if order.setup else ""
    steps += _run("Test", order.test)
    versions = ", ".join(f"'{version}'" for version in order.pythons)
    return _job("test", "Test", order.minutes, steps, MATRIX.format(versions=versions))


def _build(order: CiOrder) -> str:
    if not (order.package or order.image):
        return ""
    steps = USE_CHECKOUT
    if order.package:
        steps = _python(order.pythons[-1])
        steps += _run("Build the package", (f"python -m pip install {BUILD}", "python -m build"))
    if order.image:
        steps += _run("Build the image", ("docker build .",))
    return _job("build", "Build", order.minutes, steps)


def _job(id_: str, name: str, minutes: int, steps: str, matrix: str = "") -> str:
    return JOB.format(id=id_, name=name, runner=RUNNER, minutes=minutes, matrix=matrix, steps=steps)


def _python(version: str, quoted: bool = True) -> str:
    return USE_CHECKOUT + USE_PYTHON.format(version=f"'{version}'" if quoted else version)


def _run(name: str, lines: Sequence[str]) -> str:
    """`|2`: where the block begins is said, not guessed from its first line."""
    return f"      - name: {name}\n        run: |2\n" + "".join(f"          {line}\n" for line in lines)


# --- the pull request ----------------------------------------------------------------------------------------

TITLE = "Run the checks on every pull request"
LABELS = ("agents",)


def body(order: CiOrder) -> str:
    """Text of the pull request: what CI runs, with which rights, and why nobody but the owner merges it."""
    return "\n".join(
        (
            f"This adds `{PATH}`, a GitHub workflow that runs on every pull request and on pushes to `{order.branch}`:",
            "",
            *_what_it_runs(order),
            "",
            "It may read the code and nothing else: no secrets, no token that stays on the disk, every action pinned",
            f"to one commit (looked up on {LOOKED_UP}), a time limit for each job.",
            "",
            "**You merge it yourself.** A workflow decides what is run with your account's rights, so the team never",
            "merges or changes one: this pull request belongs to no task and waits for you as long as you like. If you",
            "close it, it is not opened again.",
        )
    )


def _what_it_runs(order: CiOrder) -> Iterator[str]:
    if order.lint:
        rules = f"only plain errors ({order.rules})" if order.rules else "with the rules of this repository"
        yield f"- lint: ruff, {rules}"
    if order.test:
        yield f"- tests, with Python {', '.join(order.pythons)}:"
        yield from _quoted((*order.setup, *order.test))
    else:
        yield "- no tests: there are none in this repository yet"
    if order.package:
        yield "- build: the package (`python -m build`)"
    if order.image:
        yield "- build: the image (`docker build .`)"


def _quoted(lines: Sequence[str]) -> Iterator[str]:
    yield ""
    yield from (f"      {line}" for line in lines)
    yield ""


# --- what CI is to run ---------------------------------------------------------------------------------------

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


@dataclass(frozen=True)
class TeamTests:
    """Tests as the team runs them: the commands of its environment and tests, and its version of Python.

    `minutes`: the longest that a job may take.
    """

    setup: str
    test: str
    python: str
    minutes: int


def order_for(paths: Collection[str], pyproject: str, branch: str, team: TeamTests) -> CiOrder:
    """Derive the order for a repository with these files.

    The team's version of Python is used where pyproject.toml promises none.
    """
    told = _toml(pyproject)
    has_rules = bool(set(RUFF_FILES) & set(paths)) or "ruff" in _table(told, "tool")
    return CiOrder(
        pythons=_promised(told) or (team.python,),
        setup=(*lines_of(team.setup), TEST_TOOLS),
        test=lines_of(team.test),
        branch=branch,
        lint=any(path.endswith(".py") for path in paths),
        rules="" if has_rules else PLAIN_ERRORS,
        package="build-system" in told,
        image="Dockerfile" in paths,
        minutes=team.minutes,
    )


def runs_on_pulls(workflow: str) -> bool:
    """Say whether a workflow's events include `pull_request`."""
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
