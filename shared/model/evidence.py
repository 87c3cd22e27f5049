"""Evidence of the target's tests, and the reviewer's verdict: what is known of a commit at the gates."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, Protocol

from sisimpur.shared.model.scope import matches, permits
from sisimpur.shared.model.text import one_line, ranges, sha256_of
from sisimpur.shared.model.work import Choice

# --- tests ----------------------------------------------------------------------------------------------------

Outcome = Literal["passed", "failed", "skipped"]  # an expected failure is skipped; an error is failed
LONGEST_NAME = 200  # characters of a test's name that are told
SURROUNDINGS = "another time zone, hash seed and order of files"
Remedy = Literal["correct", "write tests", "ask owner"]

FAILS, NO_EVIDENCE = "a test fails", "no evidence"
OLD_FAILS, EDGE = "an old test fails on the new code", "an edge is not tested"
UNCHANGED, UNSHOWN = "nothing shows that it changes nothing", "nothing shows the new behaviour"

# Where tests, their data and their configuration live. Without a slash a pattern holds at any depth.
TEST_FILES = (
    *("tests/", "test/", "testing/", "test_*.py", "*_test.py", "test.py", "tests.py", "tests_*.py", "conftest.py"),
    *("testdata/", "test_data/", "test-data/", "golden/", "goldens/"),
    *("cassettes/", "__snapshots__/", "*.ambr", "*.snap"),
)
CONFIGURATION = (
    *("conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml"),
    *("tox.toml", "tox.ini", "setup.cfg", "pyproject.toml", ".coveragerc"),
)


def is_test_file(path: str) -> bool:
    return permits(path, TEST_FILES)


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

    `end` is "finished", or why there is no whole report ("timed out", "memory" ...). `covered`: per cent of executable
    lines. `uncovered`: lines of the files that were asked about; `executable`: how many. `cpu`: seconds of processors.
    """

    end: str
    code: int
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)
    failures: tuple[Failure, ...] = ()
    seconds: float = 0.0
    cpu: float = 0.0
    output: str = ""  # head and tail of what was printed
    digest: str = ""  # SHA-256 of the report
    covered: float | None = None
    uncovered: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    executable: Mapping[str, int] = field(default_factory=dict)
    times: Mapping[str, float] = field(default_factory=dict)  # seconds of each test's body, if that was asked
    folders: Mapping[str, tuple[int, int]] = field(default_factory=dict)  # of code: lines that tests run, and all
    uncounted: str = ""  # why lines were not counted, if that is known

    @property
    def is_whole(self) -> bool:
        """The runner came to its end and reported every test that it had collected."""
        return self.end == "finished"

    def of(self, outcome: Outcome) -> frozenset[str]:
        """The ids that ended so."""
        return frozenset(test for test, found in self.outcomes.items() if found == outcome)


@dataclass(frozen=True)
class Figure:
    """Answer to a Measure. `value` None: it cannot be measured, and `why` says so in one line."""

    value: float | None
    why: str = ""


@dataclass(frozen=True)
class Problem:
    """Problem that keeps a change from being merged by itself, and whose turn it is: the coder, QA or the owner."""

    rule: str  # short and stable: "a test fails", "a test is gone", ...
    text: str  # one line for the owner and the coder, with names and places
    remedy: Remedy
    tests: tuple[str, ...] = ()


MOST_FAILING = 10  # names of tests that failed before or fail now, of each kind


@dataclass(frozen=True)
class FewTests:
    """Names of tests, the first ones; `count`: how many there are. They come from the target: data."""

    names: tuple[str, ...] = ()
    count: int = 0

    @staticmethod
    def of(tests: Collection[str]) -> FewTests:
        return FewTests(tuple(one_line(test, LONGEST_NAME) for test in sorted(tests)[:MOST_FAILING]), len(tests))

    @property
    def told(self) -> str:
        """`a, b and 3 more`."""
        more = self.count - len(self.names)
        return ", ".join(self.names) + (f" and {more} more" if more > 0 else "")


@dataclass(frozen=True)
class BeforeAndNow:
    """Old failures and new ones. What passed when it was run again is none. Empty: nothing fails, or no run is whole.

    `mended`: fails on the base, passes now; `still`: fails on both; `left`: fails on the base, and is skipped or gone
    now; `broken`: fails only now.
    """

    mended: FewTests = FewTests()
    still: FewTests = FewTests()
    left: FewTests = FewTests()
    broken: FewTests = FewTests()

    def told(self) -> Iterator[tuple[str, FewTests]]:
        """In words, those that there are."""
        before = "failed before the change"
        yield from [(f"{before}, passes now", self.mended)] if self.mended.count else []
        yield from [(f"{before}, fails now", self.still)] if self.still.count else []
        yield from [(f"{before}, is skipped or gone now", self.left)] if self.left.count else []
        yield from [("fails only now", self.broken)] if self.broken.count else []


@dataclass(frozen=True)
class ToolRun:
    """A tool that checks what has no unit tests. `end`: "ran", "ran; not seen: …", or "not run: why"."""

    name: str
    end: str
    new: tuple[str, ...] = ()  # what it says of the change and did not say of the base


@dataclass(frozen=True)
class Evidence:
    """Evidence: what the tests say of one commit, compared with its base test by test."""

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
    failures: tuple[Failure, ...] = ()  # that the change is to blame for
    still: tuple[Failure, ...] = ()  # of tests that fail with the change as they did before, some of them
    flaky: tuple[str, ...] = ()  # failed, then passed when run again
    astray: tuple[str, ...] = ()  # pass here, and fail in other surroundings, before the change, too
    problems: tuple[Problem, ...] = ()
    covered: float | None = None
    covered_before: float | None = None
    uncovered: Mapping[str, tuple[int, ...]] = field(default_factory=dict)  # changed lines that no test runs
    seconds: float = 0.0
    digest: str = ""  # of the commit's own report
    output: str = ""  # if a run did not finish: what it printed last
    tools: tuple[ToolRun, ...] = ()  # of the changed files that have some
    together: tuple[str, ...] = ()  # the tasks that it was tested with on this base; the rest is of its own test before
    asked: str = ""  # digest of the task's words
    uncounted: str = ""  # why lines were not counted, if that is known
    elsewhere: str = ""  # how much of the tests ran in other surroundings, too; empty: nobody knows
    reach: tuple[str, ...] = ()  # in words: files of which tests run more or fewer lines than before
    independent: str = ""  # what a test says that was written from the task's words alone; empty: none was written
    unheld: tuple[str, ...] = ()  # in words: changed lines that may be another, and no test notices
    faults: str = ""  # how many small faults in changed lines tests notice; empty: none was tried
    calls: tuple[str, ...] = ()  # in words: what calls do that they did not do on the base, or that nothing differs
    not_run: tuple[str, ...] = ()  # suites of other languages, each with the file that shows it
    compared: BeforeAndNow = BeforeAndNow()  # empty, too, in what was kept before there were names

    def needing(self, remedy: Remedy) -> tuple[Problem, ...]:
        return tuple(problem for problem in self.problems if problem.remedy == remedy)

    @property
    def is_red(self) -> bool:
        return bool(self.needing("correct"))

    @property
    def unrun(self) -> tuple[str, ...]:
        """A line for each file with changed lines that no test runs."""
        found = [(path, lines) for path, lines in sorted(self.uncovered.items()) if lines]
        return tuple(
            f"no test runs {'line' if len(lines) == 1 else 'lines'} {ranges(lines)} of {path}" for path, lines in found
        )


def rules(problems: Iterable[Problem]) -> tuple[str, ...]:
    """Return which rules were broken, each once."""
    return tuple(dict.fromkeys(problem.rule for problem in problems))


# --- review ---------------------------------------------------------------------------------------------------

MOST_KEYWORDS = 6  # of one review


class Severity(Choice):
    """Severity: below MEDIUM a finding is a comment; HIGH is what would hurt somebody."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"

    @property
    def rank(self) -> int:
        """2 is the worst."""
        return list(Severity).index(self)


TELLING = 8  # characters of a line that say which one is meant
GUARDED = frozenset({"guarded path", "secret"})  # no answer settles such a finding
# Of these the owner's word alone: they are about what hides, forges, or was written down for a test.
HONESTY = frozenset({"hidden text", "long line", "knows it is tested", "test switched off", "special case"})
# Not for the coder to mend: a person decides.
FOR_THE_OWNER = frozenset({"new dependency", "another's place", "unusual file", "unreadable line", "too big"})


class LintFinding(Protocol):
    """Remark of a linter about a line. `code` may be "invalid-syntax"."""

    @property
    def path(self) -> str: ...
    @property
    def line(self) -> int: ...
    @property
    def code(self) -> str: ...
    @property
    def text(self) -> str: ...


@dataclass(frozen=True)
class Finding:
    """Something about one changed line. `source`: "rule", "ruff" or "model"; `rule`: which, short and stable."""

    path: str
    line: int  # in the new file, from 1; 0: the file as a whole
    severity: Severity
    source: str
    rule: str
    text: str  # one line: what is wrong and what would be right
    quote: str = ""  # the line itself
    rest: str = ""  # digest of the statement, where that has more lines than this one

    @property
    def signature(self) -> str:
        """The same for the same complaint about the same text, wherever the line has moved to."""
        words = "\0".join(
            (self.path, self.source, self.rule, " ".join(self.quote.split()), *filter(None, (self.rest,)))
        )
        return sha256_of(words)[:16]

    def is_named_in(self, words: str) -> bool:
        """Say whether somebody's words are about it: its place, what stands there, or its rule."""
        said, quote = " ".join(words.split()).casefold(), " ".join(self.quote.split())
        names = [f"{self.path.rpartition('/')[2]}:{self.line}", f"line {self.line}"]
        names += [quote] if len(quote) >= TELLING else []
        names += [self.rule] if self.source != "model" else []  # a model calls a finding anything
        return any(re.search(rf"(?<!\w){re.escape(name.casefold())}(?!\w)", said) for name in names)

    @property
    def is_guarded(self) -> bool:
        """Not even the owner's word over it settles it."""
        return self.source == "rule" and self.rule in GUARDED

    @property
    def is_firm(self) -> bool:
        """No base, no coder and no model settles it."""
        return self.source == "rule" and self.rule in GUARDED | HONESTY | FOR_THE_OWNER

    @property
    def is_the_owners(self) -> bool:
        """Not for the coder to mend."""
        return self.source == "rule" and self.rule in FOR_THE_OWNER


@dataclass(frozen=True)
class Answers:
    """Answers to findings: the words of coder and owner, data both, and the findings that the owner has settled."""

    coder: tuple[str, ...] = ()
    owner: tuple[str, ...] = ()
    over: frozenset[str] = frozenset()  # signatures: the same line under the same rule

    @property
    def is_said(self) -> bool:
        """Somebody has said that a finding is wrong, or what to do instead."""
        return bool(self.coder or self.owner)

    @property
    def digest(self) -> str:
        """Empty: nobody has answered what was found. The owner's words are of the attempt that they came before."""
        words = repr((self.coder, sorted(self.over))) if self.coder or self.over else ""
        return sha256_of(words)[:16] if words else ""


NOBODY = Answers()


@dataclass(frozen=True)
class Approved:
    """Good as it is. The findings are comments."""

    findings: tuple[Finding, ...] = ()
    kind: Literal["approved"] = "approved"  # told apart also when it comes back from a file


@dataclass(frozen=True)
class ChangesRequested:
    """The coder's turn; at least one finding is no mere comment."""

    findings: tuple[Finding, ...]
    kind: Literal["changes requested"] = "changes requested"


@dataclass(frozen=True)
class Escalated:
    """Verdict that it is not for a machine to decide: the owner's turn."""

    reason: str
    findings: tuple[Finding, ...] = ()
    kind: Literal["escalated"] = "escalated"


Verdict = Approved | ChangesRequested | Escalated

UNSEEN_EFFECT = "nothing"  # the reviewer's word for a change that users do not notice


@dataclass(frozen=True)
class Reviewed:
    """A verdict, with what it was about. `lines`: (path, text) of every added line that the reviewer saw.

    `repeated`: (path, text, how often), of those that stand more than once among the added ones. In its own words,
    which are data: `keywords`, what somebody would look for who meets the same trouble again; `word`, what the owner
    should know before approving it; `effect`, what users notice (UNSEEN_EFFECT: nothing; empty: nobody said);
    `acceptance`, each criterion with the test that shows it, or nothing. `heard`: digest of the answers that it knew;
    `holds`: what weighs after them was found in the same commit before them. `asked`: digest of the task's words.
    """

    commit: str
    verdict: Verdict
    lines: frozenset[tuple[str, str]] = frozenset()
    repeated: frozenset[tuple[str, str, int]] = frozenset()
    keywords: tuple[str, ...] = ()
    word: str = ""
    heard: str = ""
    holds: bool = False
    asked: str = ""
    effect: str = ""
    acceptance: tuple[tuple[str, str], ...] = ()

    def times(self, line: tuple[str, str]) -> int:
        """Return how often the reviewer saw this line."""
        often = max((count for path, text, count in self.repeated if (path, text) == line), default=1)
        return often if line in self.lines else 0


@dataclass(frozen=True)
class ReviewContext:
    """What is known besides a change. `before`: earlier reviews of its task, oldest first; `goal`: what is wished.

    `refused`: paths that the coder's engine wanted to write and may not; `proposed_by`: who wishes it, if no owner.
    """

    before: tuple[Reviewed, ...] = ()
    answers: Answers = NOBODY
    goal: str = ""
    refused: tuple[str, ...] = ()
    proposed_by: str = ""


NO_CONTEXT = ReviewContext()
NO_LINES: Mapping[str, Collection[int]] = MappingProxyType({})  # of no file
