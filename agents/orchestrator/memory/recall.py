"""Lessons -> prompts: those that fit what is about to be done, booked, so that it is seen whether they help."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sisimpur.agents.orchestrator.memory import lesson_text
from sisimpur.agents.orchestrator.memory.learning import Lessons
from sisimpur.agents.orchestrator.memory.lesson import MOST_IN_A_PROMPT, Lesson, Situation, is_kept
from sisimpur.agents.orchestrator.memory.lesson_text import chosen, named_files
from sisimpur.agents.orchestrator.memory.setbacks import Setbacks
from sisimpur.shared.model.work import Goal, TaskSpec

MOST_FOUND = 20  # that are looked at, the best first
MOST_FACTS = 20
FRESH = 1  # for what was not tried yet: what it has in common with earlier work is weak


@dataclass(frozen=True)
class Recall:
    lessons: Lessons
    setbacks: Setbacks

    def for_planner(self, goals: Sequence[Goal], plan: str, number: int) -> tuple[str, ...]:
        """Lines for the prompt, booked. `plan`, `number`: the same again after a kill."""
        with self.lessons.optional():
            return self._booked(self._for_goals(goals), plan, number)
        return ()

    def facts(self) -> tuple[str, ...]:
        """What the target's environment cannot do, as tests have met it of late: for whoever plans."""
        with self.lessons.optional():
            day = self.lessons.day()
            known = [one for one in self.lessons.book.all("target") if is_kept(one, day)]
            return tuple(self.lessons.clean(one.text) for one in known[-MOST_FACTS:])
        return ()

    def for_coder(self, spec: TaskSpec, number: int, is_correction: bool) -> tuple[str, ...]:
        """Lines for the prompt of this attempt, booked."""
        with self.lessons.optional():
            _, last = next(self.setbacks.of(spec.id), (None, None))
            kinds = [self.lessons.clean(kind) for kind in (last.kinds if last else ())]
            words = last.keywords if last else ()
            text, files = "\n".join((spec.title, spec.description, *words)), (*spec.files, *spec.new_files)
            situations = [Situation("coder", text, kind, files) for kind in (*kinds, "")]
            most = MOST_IN_A_PROMPT if is_correction else FRESH
            return self._booked(self._found(situations, spec.id, most), spec.id, number)
        return ()

    def _for_goals(self, goals: Sequence[Goal]) -> tuple[Lesson, ...]:
        """Where strangers ask there are none: nothing of the owner stands beside their words."""
        found: list[Lesson] = []
        for goal in () if any(goal.proposed_by for goal in goals) else goals:
            text = "\n".join((goal.title, *goal.details))
            found += self._found([Situation("planner", text, files=named_files(text))], "", FRESH)
        return chosen_once(found)

    def _found(self, situations: Sequence[Situation], task: str, most: int) -> tuple[Lesson, ...]:
        book, day = self.lessons.book, self.lessons.day()
        found = [(one, at) for at in situations for one in book.find(at, day, MOST_FOUND)]
        return chosen(sorted(found, key=lambda pair: not _is_same(*pair)), task, most)

    def _booked(self, lessons: Sequence[Lesson], task: str, number: int) -> tuple[str, ...]:
        if lessons:
            self.lessons.book.use(lessons, task, number)
        return tuple(self.lessons.clean(lesson_text.line(lesson)) for lesson in lessons)


def chosen_once(found: Sequence[Lesson]) -> tuple[Lesson, ...]:
    return tuple({lesson.number: lesson for lesson in found}.values())[:MOST_IN_A_PROMPT]


def _is_same(lesson: Lesson, situation: Situation) -> bool:
    return bool(situation.signature) and lesson.signature == situation.signature
