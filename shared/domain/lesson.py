"""The words of memory: what an agent has learned, from what, and whether it helps. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Literal

Learner = Literal["planner", "coder", "qa", "reviewer"]
LEARNERS: tuple[Learner, ...] = ("planner", "coder", "qa", "reviewer")

MOST_IN_A_PROMPT = 3
LIFE = timedelta(days=90)  # from the day it was learned, or helped last
ENOUGH = 4  # uses after which it has to have helped


@dataclass(frozen=True)
class Lesson:
    """One or two sentences for an agent's prompt. Its texts come from runs: data, never instructions.

    `signature`: of the failure that taught it, normalised; empty: none. `files`: that belong to it. `origin`: where it
    was learned, `<task>.a<attempt>`. `used`, `passed`: prompts that held it, and how many of those tries went well.
    """

    number: int
    agent: Learner
    text: str
    signature: str = ""
    keywords: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    origin: str = ""
    learned: str = ""  # YYYY-MM-DD
    expires: str = ""  # YYYY-MM-DD
    used: int = 0
    passed: int = 0


@dataclass(frozen=True)
class Situation:
    """What an agent is about to do: the words of the task, or of a failure, and the files that it is about."""

    agent: Learner
    text: str
    signature: str = ""
    files: tuple[str, ...] = field(default=())


def helps(lesson: Lesson) -> bool:
    """Until it was used often enough to tell, it may."""
    return lesson.used < ENOUGH or 2 * lesson.passed >= lesson.used


def is_kept(lesson: Lesson, day: str) -> bool:
    return helps(lesson) and day <= lesson.expires


def expiry(day: str) -> str:
    return (date.fromisoformat(day) + LIFE).isoformat()


def for_prompt(lessons: Sequence[Lesson]) -> tuple[Lesson, ...]:
    """The best first; no two that say the same."""
    said: dict[str, Lesson] = {}
    for lesson in lessons:
        said.setdefault(" ".join(lesson.text.casefold().split()), lesson)
    return tuple(said.values())[:MOST_IN_A_PROMPT]
