"""CiOrder -> the text of .github/workflows/ci.yml, and of the pull request that proposes it. Pure.

Commands are laid into blocks whose indentation is said and not guessed: no line of theirs can end one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.devops.ci.ci_order import PATH, CiOrder

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
    """What it runs, with which rights, and why nobody but the owner merges it."""
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
