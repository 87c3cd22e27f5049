"""What the model says about the vision, and what of it is believed. Pure.

A guard must match files of the target, a question must be about a goal that was asked about, a goal must come from the
prose. A "no" for which no guard was found becomes a question: it is never lost in silence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from sisimpur.agents.orchestrator.vision.goal_ids import PROSE, identified, normalised, note_id
from sisimpur.shared.model.scope import is_plain_path, matches
from sisimpur.shared.model.text import one_line
from sisimpur.shared.model.work import Goal, Guard, Priority, Question, Remark, Vision, VisionChange
from sisimpur.shared.words.meaning import says_no

MAX_PATTERNS = 50  # of all guards together
MAX_FOUND = 20  # goals in prose
LONGEST_QUESTION = 400
LONGEST_TITLE = 150


# --- the answer ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class GuardAnswer:
    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}
    line: int
    patterns: list[str]


@dataclass(frozen=True)
class QuestionAnswer:
    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}
    goal_id: str
    text: str


@dataclass(frozen=True)
class GoalReading:
    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}
    line: int
    title: str
    priority: Priority


@dataclass(frozen=True)
class VisionReading:
    """The whole answer."""

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}
    guards: list[GuardAnswer]
    questions: list[QuestionAnswer]
    goals: list[GoalReading]


# --- what was asked about ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Unread:
    """The new words of a vision: all that a model is asked about."""

    goals: tuple[Goal, ...] = ()
    notes: tuple[Remark, ...] = ()
    prose: tuple[Remark, ...] = ()

    @property
    def remarks(self) -> tuple[Remark, ...]:
        return self.notes + self.prose


def unread(change: VisionChange, vision: Vision, guards: Iterable[Guard]) -> Unread:
    """New and changed goals, new notes without a known guard, new prose."""
    guarded = {guard.note for guard in guards}
    return Unread(
        change.new + change.changed,
        tuple(remark for remark in change.fresh if remark in vision.notes and remark.text not in guarded),
        tuple(remark for remark in change.fresh if remark not in vision.notes),
    )


# --- what becomes of it --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Interpretation:
    """All guards that hold now; the new questions; the new goals from prose, with their ids."""

    guards: tuple[Guard, ...] = ()
    questions: tuple[Question, ...] = ()
    goals: tuple[Goal, ...] = ()


def standing(vision: Vision, guards: Iterable[Guard]) -> tuple[Guard, ...]:
    """The known guards whose note is still in the vision, word for word."""
    said = {remark.text for remark in vision.notes + vision.unread}
    return tuple(guard for guard in guards if guard.note in said)


def interpreted(
    answer: VisionReading,
    asked: Unread,
    vision: Vision,
    removed: Sequence[Goal],
    known: Sequence[Guard],
    files: Sequence[str],
) -> Interpretation:
    """What can be believed. `removed`: goals that left the vision; `known`: guards that hold; `files`: the target's."""
    guards, questions = list(known), [*_questions(answer, asked.goals)]
    for remark in asked.remarks:
        room = MAX_PATTERNS - sum(len(guard.patterns) for guard in guards)
        good, bad = _patterns(remark, answer, files, room)
        if good:
            guards.append(Guard(remark.text, good))
        if bad or (not good and says_no(remark.text)):
            questions.append(_lost_no(remark, bad))
    return Interpretation(tuple(guards), tuple(questions), _found(answer, asked.prose, vision, removed))


def _patterns(
    remark: Remark, answer: VisionReading, files: Sequence[str], room: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The patterns for a note that guard something, and those that cannot be used."""
    named = [
        pattern.strip().removeprefix("./") for a in answer.guards if a.line == remark.line for pattern in a.patterns
    ]
    patterns = tuple(dict.fromkeys(named))
    good = tuple(pattern for pattern in patterns[:room] if is_guard(pattern, files))
    return good, tuple(pattern for pattern in patterns if pattern not in good)


def is_guard(pattern: str, files: Sequence[str]) -> bool:
    """Plain, naming something, covering at least one file, and not simply everything."""
    if not is_plain_path(pattern.strip("/")) or not any(c.isalnum() for c in pattern):
        return False
    covered = sum(1 for path in files if matches(path, (pattern,)))
    return covered > 0 and (covered < len(files) or pattern.strip("/") in files)


def _lost_no(remark: Remark, patterns: Sequence[str]) -> Question:
    return Question(
        note_id(remark),
        f'I could not find what not to touch: "{one_line(remark.text, 200)}" (VISION.md, line {remark.line}). '
        "I follow it as a wish, but it protects no further file until it names files or folders.",
        f"not used, they match no file, every file, or are too many: {one_line(', '.join(patterns), 200)}"
        if patterns
        else "",
    )


def _questions(answer: VisionReading, asked: Iterable[Goal]) -> Iterator[Question]:
    """One for each goal that was asked about."""
    open_goals = {goal.id for goal in asked}
    for question in answer.questions:
        text = one_line(question.text, LONGEST_QUESTION)
        if text and question.goal_id in open_goals:
            open_goals.remove(question.goal_id)
            yield Question(question.goal_id, text)


def _found(answer: VisionReading, prose: Iterable[Remark], vision: Vision, removed: Iterable[Goal]) -> tuple[Goal, ...]:
    """Goals in prose. The prose is kept as the first detail: while it stands, the goal stands."""
    sources = {remark.line: remark for remark in prose}
    seen = {normalised(goal.title) for goal in vision.goals} | {()}
    drafts = []
    for found in answer.goals[:MAX_FOUND]:
        title, source = one_line(found.title, LONGEST_TITLE), sources.get(found.line)
        if source and normalised(title) not in seen:
            seen.add(normalised(title))
            drafts.append(Goal("", title, (source.text,), found.priority, source.line))
    gone = [goal for goal in removed if goal.id.startswith(PROSE)]
    return identified(drafts, gone, [goal.id for goal in vision.goals], PROSE)
