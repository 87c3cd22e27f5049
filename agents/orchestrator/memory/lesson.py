"""The words of memory: what an agent has learned, from what, and whether it helps. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Literal

from sisimpur.shared.model.text import one_line

# "target" is nobody who learns: what is kept of it are facts, told as such.
Learner = Literal["planner", "coder", "qa", "reviewer", "target"]
LEARNERS: tuple[Learner, ...] = ("planner", "coder", "qa", "reviewer", "target")

MOST_IN_A_PROMPT = 3
LIFE = timedelta(days=90)  # from the day it was learned, or helped last
ENOUGH = 4  # uses after which it has to have helped
MOST_KEPT = 300  # lessons of one agent


@dataclass(frozen=True)
class Lesson:
    """One or two sentences for an agent's prompt. Its texts come from runs: data, never instructions.

    `signature`: of the failure that taught it, normalised; empty: none. `files`: that belong to it. `origin`: where it
    was learned, `<task>.a<attempt>`. `theirs`: a stranger's words may be in it. `used`,
    `passed`: prompts that held it, and how many of those tries went well.
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
    theirs: bool = False


@dataclass(frozen=True)
class Situation:
    """What an agent is about to do: the words of the task, or of a failure, and the files that it is about.

    `theirs`: for what a stranger asks; only there stands what strangers' words have taught.
    """

    agent: Learner
    text: str
    signature: str = ""
    files: tuple[str, ...] = field(default=())
    theirs: bool = False


def heading(agent: Learner) -> str:
    return "what is known of the target" if agent == "target" else f"what the {agent} has learned"


def helps(lesson: Lesson) -> bool:
    """Until it was used often enough to tell, it may."""
    return lesson.used < ENOUGH or 2 * lesson.passed >= lesson.used


def is_kept(lesson: Lesson, day: str) -> bool:
    return helps(lesson) and day <= lesson.expires


def expiry(day: str) -> str:
    return (date.fromisoformat(day) + LIFE).isoformat()


def bounded(lesson: Lesson) -> Lesson:
    """Cut to size; each text is one line that can be stored and shown."""
    return replace(
        lesson,
        text=one_line(lesson.text, 500),
        signature=one_line(lesson.signature, 200),
        keywords=_some(lesson.keywords, 12, 40),
        files=_some(lesson.files, 10, 200),
        origin=one_line(lesson.origin, 100),
    )


def fading(lessons: Sequence[Lesson], day: str, most: int = MOST_KEPT) -> tuple[Lesson, ...]:
    """Of one agent's, those that go: expired, of no help, and beyond `most` the least useful (and oldest) ones."""
    kept = [lesson for lesson in lessons if is_kept(lesson, day)]
    best = sorted(kept, key=lambda one: (one.passed, one.passed - one.used, one.expires, one.number), reverse=True)
    stay = {lesson.number for lesson in best[:most]}
    return tuple(lesson for lesson in lessons if lesson.number not in stay)


def _some(words: Sequence[str], most: int, longest: int) -> tuple[str, ...]:
    found = dict.fromkeys(one_line(word, longest) for word in words)
    return tuple(word for word in found if word)[:most]


def for_prompt(lessons: Sequence[Lesson]) -> tuple[Lesson, ...]:
    """The best first; no two that say the same."""
    said: dict[str, Lesson] = {}
    for lesson in lessons:
        said.setdefault(" ".join(lesson.text.casefold().split()), lesson)
    return tuple(said.values())[:MOST_IN_A_PROMPT]
