"""The planner model's answer: a verdict for each goal, drafts of tasks, and texts made fit for titles and files. Pure.

Nothing in it is believed yet.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from sisimpur.agents.planner.facts.asking import FactAsk
from sisimpur.shared.model.text import one_line, printable, shortened
from sisimpur.shared.model.work import Choice, Difficulty, MeasureKind, TaskKind


class GoalVerdict(Choice):
    TASKS = "tasks"
    PREMISE_FALSE = "premise_false"
    ALREADY_DONE = "already_done"
    QUESTION = "question"


class Proof(Choice):
    LINE = "line"  # this line stands in this file
    NO_FILE = "no_file"  # there is no such file
    NO_TEXT = "no_text"  # no file holds this text


@dataclass(frozen=True)
class ClaimedEvidence:
    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}
    kind: Proof
    path: str
    line: int
    quote: str


@dataclass(frozen=True)
class ClaimedMeasure:
    """How the model would measure a goal; code says whether it can be measured so."""

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}
    kind: MeasureKind
    of: str
    bound: Literal["at_least", "at_most"]
    figure: float


@dataclass(frozen=True)
class GoalReply:
    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}
    goal_id: str
    verdict: GoalVerdict
    text: str
    evidence: list[ClaimedEvidence]
    look_up: str = ""  # what public pages may know, of a question
    remarks: list[str] = field(default_factory=list)  # to the owner, kept until the goal's end
    left: str = ""  # of the goal, what no task of this answer does
    measures: list[ClaimedMeasure] = field(default_factory=list)


@dataclass(frozen=True)
class Draft:
    """A task as the model proposes it. `key` is its own name for it, only good for `depends_on`."""

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}
    key: str
    goal_id: str
    title: str
    description: str
    files: list[str]
    new_files: list[str]
    context: list[str]
    acceptance: list[str]
    difficulty: Difficulty
    depends_on: list[str]
    reason: str
    after: list[str] = field(default_factory=list)  # keys or ids: order only
    kind: TaskKind = TaskKind.UNKNOWN
    changes_tests: list[str] = field(default_factory=list)

    @property
    def paths(self) -> list[str]:
        """All that it wants to change."""
        return [*self.files, *self.new_files]


@dataclass(frozen=True)
class PlanReply:
    """The whole answer."""

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}
    goals: list[GoalReply]
    tasks: list[Draft]
    asks: list[FactAsk] = field(default_factory=list)  # not empty: the rest of the answer is not looked at yet


# --- texts made fit ------------------------------------------------------------------------------------------

LONGEST_TITLE = 100
LONGEST_CRITERION = 300
BULLET = re.compile(r"\A\s*[-*](?:\s+|\Z)")
MARKS = re.compile(r"\A(?:[-*>#]+(?:\s+|\Z))+")
ALIKE = 0.8  # of the words of two titles


def headline(text: str) -> str:
    """A title, letter by letter but for the marks of a list or heading before it. What acts somewhere is defused there.

    Empty: there is no letter and no digit in it.
    """
    return one_line(MARKS.sub("", one_line(text, 10_000)), LONGEST_TITLE) if any(map(str.isalnum, text)) else ""


def body(text: str) -> str:
    """Lines without control characters; else letter by letter: no prompt begins with them."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    clean = (printable(line, keep="\t").rstrip() for line in lines)
    return "\n".join(clean).strip()


def criteria(lines: Sequence[str]) -> tuple[str, ...]:
    """Acceptance criteria, each one line and without a bullet of its own; else letter by letter, blanks included."""
    plain = (BULLET.sub("", printable(line)).strip() for line in lines)
    return tuple(shortened(line, LONGEST_CRITERION) for line in plain if line)


def alike(one: str, other: str) -> bool:
    """Say whether two titles mean about the same."""
    first, second = one.casefold().split(), other.casefold().split()
    return difflib.SequenceMatcher(None, first, second, autojunk=False).ratio() >= ALIKE
