"""Roots: packages of one repository that are installed and tested each by itself -> two lines of shell. Pure.

`Root` is the port to a language: who finds roots in a commit's paths, and reports as `runner/suite.py` says, is one.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

FOLDER = re.compile(r"[\w.-]+(/[\w.-]+)*", re.ASCII)
PLACE = "${ROOTS:-/tmp/roots}"  # of their environments; a box says where, a workflow has none of ours
FETCHED_ONCE = "export PIP_NO_CACHE_DIR=0 PIP_CACHE_DIR=/tmp/pip"
TOOLS_OF_ROOTS = (
    f'for one in "{PLACE}"/*; do "$one/bin/python" -m pip install pytest hypothesis; done'  # where no box adds them
)
STEP = re.compile(r"\(cd (\S+) \|\| exit 0; \. \S+ && (.*?)\)(?= (?:&&|\|\|)|$)")
HEAD = f'at="{PLACE}"; code=0;'
PINNED_BY = re.compile(r"python -c '[^']*' (\S+) > \S+")  # a program that reads versions from a lock file


@dataclass(frozen=True)
class Root:
    """A folder, what installs what its tests need, and what runs them; both from there. Empty: nothing is done."""

    folder: str
    setup: str = ""
    test: str = ""

    @property
    def slug(self) -> str:
        """No two folders have the same."""
        return self.folder.replace("/", "+")

    def holds(self, path: str) -> bool:
        return path.startswith(f"{self.folder}/")

    def line(self, command: str) -> str:
        """Run it there, in its own environment; nothing, where a change has removed the folder."""
        return f"(cd {shlex.quote(self.folder)} || exit 0; {self.enter} && {command})"

    @property
    def enter(self) -> str:
        return f'. "$at/{self.slug}/bin/activate"'


@dataclass(frozen=True)
class Suites:
    """How the tests of a commit are run. `whole`: one line of shell for all; empty: it has none. `roots`: its parts."""

    whole: str
    roots: tuple[Root, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.whole)

    @staticmethod
    def of(roots: Iterable[Root]) -> Suites:
        tested = tuple(root for root in roots if root.test)
        return Suites(_all(tested), tested) if tested else Suites("")

    def only(self, paths: Collection[str]) -> str:
        """The tests of the roots that hold these files; all, if one lies in none of them, or none is named."""
        return _all(self._holding(paths) or self.roots) if self.roots else self.whole

    def first(self, paths: Collection[str]) -> tuple[str, tuple[Root, ...]]:
        """The roots of these files, then the others if these pass; and these roots. Empty: there is no such order."""
        touched = self._holding(paths)
        rest = tuple(root for root in self.roots if root not in touched)
        if not (touched and rest):
            return "", ()
        return f"{HEAD} {_runs(touched)} [ $code = 0 ] || exit $code; {_runs(rest)} exit $code", touched

    def at(self, paths: Collection[str]) -> str:
        """Enter the environment of the first root that holds one of these files; empty: there is one for all."""
        root = next((one for one in self.roots if any(map(one.holds, paths))), None)
        return f'at="{PLACE}"; {root.enter} && ' if root else ""

    def left_out(self, first: Collection[Root]) -> tuple[str, ...]:
        """The other roots, with the reason, as the evidence tells it."""
        why = ", ".join(root.folder for root in first)
        return tuple(f"{root.folder} (what fails in {why} comes first)" for root in self.roots if root not in first)

    def _holding(self, paths: Collection[str]) -> tuple[Root, ...]:
        touched = tuple(root for root in self.roots if any(map(root.holds, paths)))
        return touched if all(any(root.holds(path) for root in touched) for path in paths) else ()


def _all(roots: Iterable[Root]) -> str:
    return f"{HEAD} {_runs(roots)} exit $code"


def _runs(roots: Iterable[Root]) -> str:
    return " ".join(f"{root.line(root.test)} || code=$?;" for root in roots)


def setup_of(roots: Iterable[Root]) -> str:
    """Install what each needs, in an environment of its own; what several need is fetched once."""
    steps = (step for root in roots for step in _steps(root))
    return " && ".join((f'at="{PLACE}"', FETCHED_ONCE, *steps))


def _steps(root: Root) -> Iterator[str]:
    yield f'python -m venv "$at/{root.slug}"'
    if root.setup:
        yield root.line(root.setup)


def in_words(line: str) -> str:
    """The same for people: `libs/coins: pip install …; …`, and no program of ours. Other commands stay."""
    line = PINNED_BY.sub(r"the versions of \1", line)
    if PLACE not in line:
        return line
    return "; ".join(f"{folder.strip(chr(39))}: {command}" for folder, command in STEP.findall(line))


def held(path: str, roots: Iterable[Root]) -> bool:
    return any(root.holds(path) for root in roots)
