"""The words of the tests: a run of the target's suite, and the evidence that is drawn from several runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from shared.model.scope import matches

Outcome = Literal["passed", "failed", "skipped"]  # an expected failure is skipped; an error is failed
Remedy = Literal["correct", "write tests", "ask owner"]

# Where tests, their data and their configuration live. Without a slash a pattern holds at any depth.
TEST_FILES = (
    *("tests/", "test/", "testing/", "test_*.py", "*_test.py", "tests.py", "tests_*.py", "conftest.py"),
    *(
        "testdata/",
        "test_data/",
        "test-data/",
        "golden/",
        "goldens/",
        "cassettes/",
        "__snapshots__/",
        "*.ambr",
        "*.snap",
    ),
)
CONFIGURATION = (
    *("conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml"),
    *("tox.toml", "tox.ini", "setup.cfg", "pyproject.toml", ".coveragerc"),
)


def is_test_file(path: str) -> bool:
    return bool(matches(path, TEST_FILES))


def configures_tests(path: str) -> bool:
    """A file that decides which tests run and what their results mean."""
    return bool(matches(path, CONFIGURATION))


@dataclass(frozen=True)
class Failure:
    """`where` is `path:line` in the repository (empty: not known); `text`: the end of the trace, trimmed."""

    test: str
    where: str
    text: str


@dataclass(frozen=True)
class SuiteRun:
    """The target's tests, run once on one set of files. Ids are the runner's own (`tests/test_a.py::test_b`).

    `end` is "finished", or why there is no whole report: "timed out", "memory", "processes", "disk", "output",
    "no report", "crashed" ... `covered`: per cent of all executable lines. `uncovered`: lines, by file, of the files
    that were asked about.
    """

    end: str
    code: int
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)
    failures: tuple[Failure, ...] = ()
    seconds: float = 0.0
    output: str = ""  # head and tail of what was printed
    digest: str = ""  # SHA-256 of the report
    covered: float | None = None
    uncovered: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    @property
    def is_whole(self) -> bool:
        """The runner came to its end and reported every test that it had collected."""
        return self.end == "finished"

    def of(self, outcome: Outcome) -> frozenset[str]:
        """The ids that ended so."""
        return frozenset(test for test, found in self.outcomes.items() if found == outcome)


@dataclass(frozen=True)
class Problem:
    """What keeps a change from being merged by itself, and whose turn it is: the coder's, QA's or the owner's."""

    rule: str  # short and stable: "a test fails", "a test is gone", ...
    text: str  # one line for the owner and the coder, with names and places
    remedy: Remedy
    tests: tuple[str, ...] = ()


@dataclass(frozen=True)
class Evidence:
    """What the tests say of one commit, compared with its base test by test."""

    commit: str
    tree: str  # the commit's tree id: what was tested is what is merged
    base: str
    command: str
    box: str  # the sandbox, and the environment's key
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    failing_before: int = 0  # on the base
    new_tests: tuple[str, ...] = ()  # ids that the base does not have
    proving: tuple[str, ...] = ()  # new or changed ones that fail without the change
    failures: tuple[Failure, ...] = ()
    flaky: tuple[str, ...] = ()  # failed, then passed when run again
    problems: tuple[Problem, ...] = ()
    covered: float | None = None
    covered_before: float | None = None
    uncovered: Mapping[str, tuple[int, ...]] = field(default_factory=dict)  # changed lines that no test runs
    seconds: float = 0.0
    digest: str = ""  # of the commit's own report
    output: str = ""  # if a run did not finish: what it printed last

    def needing(self, remedy: Remedy) -> tuple[Problem, ...]:
        return tuple(problem for problem in self.problems if problem.remedy == remedy)

    @property
    def is_red(self) -> bool:
        return bool(self.needing("correct"))


def rules(problems: Iterable[Problem]) -> tuple[str, ...]:
    """Which rules were broken, each once."""
    return tuple(dict.fromkeys(problem.rule for problem in problems))
