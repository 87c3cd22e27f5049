"""What came of a goal, in the words of the bench's table. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from bench.goals.goals import Goal
from sisimpur.shared.model.work import Question

RIGHT = "right"
UNTRUE = ("falsely done",)  # "wrong shipped": something merged, and nobody is told that it is done


@dataclass(frozen=True)
class Result:
    """What came of a goal. `missing`: "role: path" -> how many prompts lacked a needed line of it."""

    id: str
    repository: str
    kind: str
    outcome: str
    why: str  # what the check said
    asked: str  # the question to the owner
    tasks: tuple[str, ...]  # title: state, rounds
    merged: int
    rounds: int  # of the merged tasks
    approved: int  # by the owner
    cost: float
    tokens_in: int
    did: tuple[str, ...]  # what the reader did, in order
    missing: Mapping[str, int]
    written: int = 0  # rounds of the merged tasks in which only tests were written
    small: tuple[int, int] = (0, 0)  # small files that the goal names: whole in the planner's first prompt, all


@dataclass
class Ran:
    """A repository's days. `shares`: role -> tokens in; `problems`: what went wrong on the way."""

    results: list[Result] = field(default_factory=list)
    shares: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    seconds: float = 0.0


@dataclass(frozen=True)
class Told:
    """What the owner hears of a goal."""

    is_merged: bool
    is_done: bool
    question: Question | None
    has_tasks: bool


def outcome(goal: Goal, holds: bool, told: Told) -> str:
    """In words of the table. A false premise is right if it is proven and nothing was done."""
    if goal.outcome in ("false premise", "question") and holds and told.question and not told.is_merged:
        proven = told.question.evidence and not told.question.evidence.startswith("unverified")
        return RIGHT if proven or goal.outcome == "question" else "asked without proof"
    if goal.outcome not in ("false premise", "question") and holds and told.is_merged:
        return RIGHT
    if told.is_done:
        return "falsely done"
    if told.is_merged:
        return "wrong shipped"
    if told.question:
        return "asked"
    return "not shipped" if told.has_tasks else "not planned"
