"""The words of the flow: VISION.md -> Vision -> DailyPlan -> TaskSpec -> Branch -> PullRequest."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from sisimpur.shared.model.text import sha256_of


class Choice(StrEnum):
    """A word out of a fixed set, found in any spelling of capitals: owners and models differ there."""

    @classmethod
    def _missing_(cls, value: object) -> Choice | None:
        wanted = str(value).strip().lower()
        return next((member for member in cls if member.value == wanted), None)


class Priority(Choice):
    """Priority as the owner writes it in a heading, the most urgent first."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"

    @property
    def rank(self) -> int:
        """0 is the most urgent."""
        return list(Priority).index(self)


class Difficulty(Choice):
    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"


class TaskKind(Choice):
    """Kind of a task, as the planner names it. Code checks it against the difference; UNKNOWN: nobody said."""

    FIX = "fix"
    FEATURE = "feature"
    BEHAVIOUR = "behaviour"  # what is tested today shall be different
    REFACTORING = "refactoring"
    REMOVAL = "removal"
    TESTS = "tests"
    DOCS = "docs"
    UPKEEP = "upkeep"
    UNKNOWN = "unknown"


class MeasureKind(Choice):
    """What is measured of a goal; each is run by us, in the box, and never a line that a model wrote."""

    COVERAGE = "coverage"  # per cent of a package's lines that tests run
    FINDINGS = "findings"  # of a tool in a folder, e.g. `ruff app/api`
    TEST = "test"  # 1: this test passes, 0: it does not
    PROPERTY = "property"  # of a file: `lines PATH`, `bytes PATH`, `matches PATH PATTERN`
    TIMING = "timing"  # milliseconds of a test's body, the median of several runs


# --- what is wanted ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MarkdownLine:
    """A piece of a Markdown text: a heading (`level` 1-6), a bullet (0: not nested), or a text (0: in no bullet)."""

    kind: Literal["heading", "bullet", "text"]
    level: int
    text: str  # one line, blanks collapsed
    line: int  # where it begins, counted from 1


@dataclass(frozen=True)
class Goal:
    """One wish of the owner. `id` stays the same while the text is reworded."""

    id: str
    title: str
    details: tuple[str, ...] = ()
    priority: Priority = Priority.MEDIUM
    line: int = 0
    proposed_by: str = ""  # a stranger's login, if it is his wish; empty: the owner's

    @property
    def said(self) -> tuple[str, ...]:
        """What the owner says, line by line: a title that was cut stands whole below, and is not said twice."""
        is_cut = self.title.endswith("…") and "".join(self.details[:1]).startswith(self.title[:-1])
        return self.details if is_cut else (self.title, *self.details)


@dataclass(frozen=True)
class Measure:
    """A figure that says whether a goal holds: at least or at most so much, both bounds included."""

    kind: MeasureKind
    of: str
    at_least: float | None = None
    at_most: float | None = None

    def holds(self, figure: float) -> bool:
        above = self.at_least is None or figure >= self.at_least
        return above and (self.at_most is None or figure <= self.at_most)


FINDINGS_OPTION = re.compile(
    r"--(?:disable-noqa|strict|(?:max-line-length|line-length|(?:extend-)?(?:select|ignore))=[\w,]{1,200})"
)


@dataclass(frozen=True)
class FindingsOf:
    """Whose findings, and where: `ruff app/api --select=RET`. `refused`: an option that may change what runs."""

    tool: str
    place: str
    options: tuple[str, ...] = ()

    @classmethod
    def read(cls, text: str) -> FindingsOf:
        tool, _, rest = text.strip().partition(" ")
        options = tuple(word for word in rest.split() if word.startswith("-"))
        return cls(tool, " ".join(word for word in rest.split() if word not in options), options)

    @property
    def refused(self) -> str:
        return next((word for word in self.options if not FINDINGS_OPTION.fullmatch(word)), "")


@dataclass(frozen=True)
class GoalWord:
    """A word about a goal that is kept until its end: for the owner, beside what is to be approved. Data.

    `kind`: "remark", what the planner saw beside the task; "left", what it left for later; "answer", why the coder
    changed nothing; "review", the reviewer's word to the owner.
    """

    goal_id: str
    kind: Literal["remark", "left", "answer", "review"]
    text: str  # one line
    task: str = ""


@dataclass(frozen=True)
class Remark:
    """A line of VISION.md that is not a goal: an idea, a note, a text that the grammar cannot read, a warning."""

    text: str
    line: int = 0


@dataclass(frozen=True)
class Vision:
    """VISION.md as the grammar reads it."""

    goals: tuple[Goal, ...] = ()
    ideas: tuple[Remark, ...] = ()
    notes: tuple[Remark, ...] = ()
    unread: tuple[Remark, ...] = ()  # prose: only a model can read it
    warnings: tuple[Remark, ...] = ()  # for the owner
    guard_lines: tuple[Remark, ...] = ()  # below "Don't touch", or behind `guards:`; they are notes, too
    wishes: tuple[Remark, ...] = ()  # sentences of the notes that protect nothing
    done: tuple[Goal, ...] = ()  # goals that were known, and are ticked off


@dataclass(frozen=True)
class VisionChange:
    """The difference to the vision that was accepted last; it drives the day."""

    new: tuple[Goal, ...] = ()
    changed: tuple[Goal, ...] = ()
    removed: tuple[Goal, ...] = ()
    unchanged: tuple[Goal, ...] = ()
    remarks_changed: bool = False  # notes, ideas or prose differ
    fresh: tuple[Remark, ...] = ()  # notes and prose that were not there before
    done: tuple[Goal, ...] = ()  # of the removed ones, those that are ticked off

    @property
    def is_empty(self) -> bool:
        return not (self.new or self.changed or self.removed or self.remarks_changed)


@dataclass(frozen=True)
class Guard:
    """A "don't touch" of the owner as path patterns of the target; enforced by code on every diff."""

    note: str
    patterns: tuple[str, ...]
    unseen: str = ""  # YYYY-MM-DD: only a model found it on that day, and the owner has not seen it yet
    is_read: bool = True  # a model has been asked about its note, too
    goal_id: str = ""  # of whose tasks alone it holds; empty: of all


@dataclass(frozen=True)
class Question:
    """Question that the team asks the owner instead of guessing. `evidence` is what was seen in the code."""

    goal_id: str
    text: str
    evidence: str = ""


# --- what is to be done --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TaskSpec:
    """One unit of work: small enough for one branch and one review."""

    id: str
    title: str
    description: str
    priority: Priority = Priority.MEDIUM
    goal_id: str = ""  # empty: the owner dropped the task himself
    files: tuple[str, ...] = ()  # existing files it may edit
    new_files: tuple[str, ...] = ()  # files it may create
    context: tuple[str, ...] = ()  # files it should read, not edit
    acceptance: tuple[str, ...] = ()
    difficulty: Difficulty = Difficulty.MEDIUM
    depends_on: tuple[str, ...] = ()  # tasks whose change it needs
    guards: tuple[str, ...] = ()  # path patterns it must not touch
    after: tuple[str, ...] = ()  # tasks that only have their turn before it: it begins when they end, however
    kind: TaskKind = TaskKind.UNKNOWN
    changes_tests: tuple[str, ...] = ()  # tests (ids or files) that are expected to change or to go

    @property
    def words(self) -> str:
        """All that it says to people."""
        return "\n".join((self.title, self.description, *self.acceptance))

    @property
    def asked(self) -> str:
        """Digest of what is wanted and what may be touched; not of when, after what, and how hard it is."""
        lists = (self.files, self.new_files, self.acceptance, self.guards, self.changes_tests)
        words = [" ".join(text.split()) for text in (self.title, self.description, self.kind, self.goal_id)]
        return sha256_of(repr((words, lists)))[:16]


@dataclass(frozen=True)
class PlanOrder:
    """Order of what is to be planned, and within which limits. The day comes with the run."""

    goals: tuple[Goal, ...]
    capacity: int  # the most tasks
    first_number: int = 1  # of the first task's id
    open_tasks: tuple[TaskSpec, ...] = ()  # not over yet: not to be planned twice
    guards: tuple[Guard, ...] = ()
    notes: tuple[Remark, ...] = ()
    allow: tuple[str, ...] = ("**",)  # patterns: what tasks may touch
    protected: tuple[str, ...] = ()  # patterns of the owner's own list: a change of such a path waits for him
    depth: int = 3  # the longest chain of tasks that depend on each other
    lessons: tuple[str, ...] = ()  # of earlier work, one line each: data
    environment: tuple[str, ...] = ()  # what the target's environment is and cannot do, one line each
    words: tuple[GoalWord, ...] = ()  # kept of these goals: what the coder answered, what was left
    figures: tuple[str, ...] = ()  # measured of these goals, one line each
    stuck: tuple[str, ...] = ()  # open tasks that wait, on what and since when, one line each

    def guarded(self, goal_id: str = "") -> tuple[str, ...]:
        """Patterns that hold for all tasks, and for those of this goal."""
        return tuple(dict.fromkeys(p for one in self.guards if one.goal_id in ("", goal_id) for p in one.patterns))


@dataclass(frozen=True)
class PlanAnswer:
    """Answer of the planner to an order."""

    tasks: tuple[TaskSpec, ...] = ()  # in the order of work
    reasons: tuple[str, ...] = ()  # one per task: why it is in the plan
    deferred: tuple[str, ...] = ()  # ids of goals of which something is left for another day
    done: tuple[str, ...] = ()  # ids of goals all of which is there already, as the code bears out
    questions: tuple[Question, ...] = ()
    notes: tuple[str, ...] = ()  # what was cut, and why
    unknowns: tuple[Question, ...] = ()  # what the web may know about goals that have a question
    words: tuple[GoalWord, ...] = ()  # remarks to the owner, and what is left for later
    measures: tuple[tuple[str, Measure], ...] = ()  # (goal, how it is measured)


@dataclass(frozen=True)
class DailyPlan:
    """Plan of a day. `forecast` is in nano-dollars."""

    day: str  # YYYY-MM-DD in the owner's time zone
    tasks: tuple[TaskSpec, ...] = ()
    reasons: tuple[str, ...] = ()  # one per task: why it is in the plan
    deferred: tuple[Goal, ...] = ()  # goals beyond the day's capacity
    held: tuple[Goal, ...] = ()  # goals that are begun, and that the owner has put off with what is left of them
    finished: tuple[Goal, ...] = ()  # goals on branches of their own of which nothing is left to plan
    branches: tuple[tuple[str, str], ...] = ()  # (goal, branch): their tasks do not go into the target's own
    questions: tuple[Question, ...] = ()
    guards: tuple[Guard, ...] = ()
    forecast: int = 0
    notes: tuple[str, ...] = ()  # what was cut, and why


# --- what was done -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """One agent at work, once: whom a log line and a model call belong to."""

    id: int
    agent: str
    day: str
    task: str = ""
    attempt: int = 0


@dataclass(frozen=True)
class ResourceUse:
    """What boxes took: seconds of processors, the most memory at once, and by how much their folders grew, in bytes.

    It is counted while they run, to within a tenth.
    """

    cpu: float = 0.0
    memory: int = 0
    written: int = 0

    def then(self, other: ResourceUse) -> ResourceUse:
        """Add what another box took after it."""
        return ResourceUse(self.cpu + other.cpu, max(self.memory, other.memory), self.written + other.written)

    def or_more(self, other: ResourceUse) -> ResourceUse:
        """Take the larger of each: the same box was counted once more."""
        return ResourceUse(max(self.cpu, other.cpu), max(self.memory, other.memory), max(self.written, other.written))


@dataclass(frozen=True)
class Branch:
    """A commit on a task's branch, and what it changes against `base`."""

    name: str
    base: str
    commit: str
    changed: tuple[str, ...] = ()
    protected: tuple[str, ...] = ()  # changed paths that need the owner's approval


@dataclass(frozen=True)
class Coded:
    """The coder's good answer."""

    branch: Branch


@dataclass(frozen=True)
class CoderSaid:
    """The coder's word instead of a change: it cannot be done as described, or a finding is wrong. Data of a model."""

    words: str  # one line


@dataclass(frozen=True)
class NotCoded:
    """The coder's other answer: no commit, and the reason. `retry` is False when trying again cannot help."""

    reason: str
    retry: bool = True


CodeAnswer = Coded | CoderSaid | NotCoded


@dataclass(frozen=True)
class Correction:
    """Start of the coder: a commit on top of the task's base (empty: afresh), and what was found in it.

    `tests`: only tests are to be written, as this order says; everything else stays as it is in `start`. Who writes
    them is told nothing else: what was found may be for others to mend.
    `reviewed`: the reviewer has sent it back; if the coder contradicts, that is for the reviewer to judge.
    """

    start: str
    findings: str
    tests: TaskSpec | None = None
    reviewed: bool = False


@dataclass(frozen=True)
class ModelChoice:
    """Model that an agent uses. `fallback` is tried in order when the model is gone, overloaded or refuses."""

    model: str
    fallback: tuple[str, ...] = ()
    effort: str = ""  # low | medium | high; empty: the model's default
    max_tokens: int = 8_000


@dataclass(frozen=True)
class Policy:
    """The owner's rules for merging without a question (config/policy.yaml, `merge`)."""

    auto: bool = True
    write_tests: bool = True  # where a change brings none
