"""What happened -> lessons: by code alone, no model is asked.

An attempt's end is heard before it is booked: a kill in between repeats both, and the book of lessons renews what it
knows. What cannot be learned keeps nobody from working.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice, takewhile

from sisimpur.agents.orchestrator.board.events import (
    AttemptEnded,
    DayPlanned,
    Evening,
    GivenUp,
    Merged,
    Morning,
    RolledBack,
    TaskRejected,
    TeamEvent,
)
from sisimpur.agents.orchestrator.memory import lesson_text
from sisimpur.agents.orchestrator.memory.lesson import LEARNERS, MOST_IN_A_PROMPT, Learner, Lesson, Situation, is_kept
from sisimpur.agents.orchestrator.memory.lesson_book import LessonRepository, as_markdown
from sisimpur.agents.orchestrator.memory.lesson_text import TaskSetback, chosen, named_files, teaches
from sisimpur.agents.orchestrator.memory.setbacks import Setbacks
from sisimpur.shared.model.errors import Replaced, Stopping, TeamError
from sisimpur.shared.model.work import Goal, TaskSpec
from sisimpur.shared.store.task_records import Attempt, TaskRecord
from sisimpur.shared.system.clock import Clock
from sisimpur.shared.system.fault import fault_point
from sisimpur.shared.system.paths import Home, write_text

MOST_AT_ONCE = 3  # that one merge teaches


@dataclass(frozen=True)
class Lessons:
    """The book of lessons: nothing secret enters it. `tell` prints what goes wrong with it, once: it is optional."""

    book: LessonRepository
    clock: Clock
    clean: Callable[[str], str]
    tell: Callable[[str], None]

    @contextmanager
    def optional(self) -> Iterator[None]:
        try:
            yield
        except (Stopping, Replaced):
            raise
        except TeamError as problem:
            self.tell(f"memory: {problem}")

    def day(self) -> str:
        return self.clock.now().date().isoformat()

    def learn(self, lesson: Lesson, theirs: bool = False) -> None:
        """`theirs`: its task is a stranger's, whose words may be in it."""
        clean = self.clean
        lesson = replace(lesson, text=clean(lesson.text), signature=clean(lesson.signature), theirs=theirs)
        words, files = tuple(map(clean, lesson.keywords)), tuple(map(clean, lesson.files))
        self.book.learn(replace(lesson, keywords=words, files=files), self.clock.now())


@dataclass(frozen=True)
class Learning:
    """Hears of each attempt's end and of the evening."""

    lessons: Lessons
    setbacks: Setbacks
    home: Home

    def hear(self, event: TeamEvent) -> None:
        with self.lessons.optional():
            match event:
                case AttemptEnded(task):
                    self._settle(task, self.setbacks.journal.attempts(task))
                case GivenUp():
                    self._gave_up(event)
                case Merged(known, commit):
                    self._merged(known, commit)
                case TaskRejected(known):
                    self._rejected(known)
                case RolledBack(known, commit, note):
                    files, words = self.setbacks.changed(commit), self.setbacks.keywords(known.id)
                    lesson = lesson_text.rolled_back(known.title, note, files, _origin(known), words)
                    self.lessons.learn(lesson, self.setbacks.is_a_strangers(known.goal_id))
                case Evening(day):
                    self._keep(day)
                case Morning() | DayPlanned():
                    pass

    # -- an attempt has ended ---------------------------------------------------------------------------------

    def _merged(self, known: TaskRecord, commit: str) -> None:
        """What went wrong before it was merged, and whether the lessons that its last try was given helped."""
        attempts, seen = self.setbacks.journal.attempts(known.id), dict[str, list[tuple[Attempt, TaskSetback]]]()
        for attempt, setback in self.setbacks.of(known.id):
            if not self.setbacks.facts(known.id, attempt):  # what the environment lacks no change has mended
                seen.setdefault(setback.what, []).append((attempt, setback))
        changed = self.setbacks.changed(commit)
        for (attempt, setback), *earlier in islice(seen.values(), MOST_AT_ONCE):
            files = self.setbacks.other(self.setbacks.commit(known.id, attempt), commit, changed)
            if not teaches(setback, 1 + len(earlier), bool(files)):
                continue
            named = replace(setback, keywords=setback.keywords or self.setbacks.keywords(known.id))
            lesson = lesson_text.mended(known.title, named, files, changed, _origin(known))
            self.lessons.learn(lesson, self.setbacks.is_a_strangers(known.goal_id))
        self._settle(known.id, attempts)

    def _settle(self, task: str, attempts: Sequence[Attempt]) -> None:
        """Say of the lessons of the last attempt, and of those that it only refreshed, whether their failure came.

        Expected is what an earlier try of the task came to: of any other failure nobody knows if it would have come.
        """
        again = len(list(takewhile(lambda attempt: attempt.refreshes, reversed(attempts))))
        first = len(attempts) - again - 1
        if first < 0:
            return
        for fact in self.setbacks.facts(task, attempts[-1]):
            fact_of = Lesson(0, "target", fact, origin=f"{task}.a{attempts[-1].number}")
            self.lessons.learn(fact_of, self.setbacks.is_a_strangers_task(task))
        seen = self.setbacks.seen(task, attempts[-1])
        avoided = seen.avoided(self.setbacks.seen(task, one) for one in attempts[:first])
        for attempt in attempts[first:]:
            for passed, kinds in ((False, seen.came), (True, avoided)):
                clean = map(self.lessons.clean, kinds)
                self.lessons.book.ended(task, attempt.number, passed, clean, self.lessons.day())

    def _gave_up(self, event: GivenUp) -> None:
        known, spec = event.known, event.spec
        lacked = [
            fact for one in self.setbacks.journal.attempts(known.id)[-1:] for fact in self.setbacks.facts(known.id, one)
        ]
        if not lacked and not self.setbacks.is_a_strangers(known.goal_id):
            files, words = (*spec.files, *spec.new_files), self.setbacks.keywords(known.id)
            self.lessons.learn(lesson_text.gave_up(spec.title, files, event.why, _origin(known), words))

    def _rejected(self, known: TaskRecord) -> None:
        """If the owner said why. What a stranger asked for teaches nothing about the owner's goals."""
        said = self.setbacks.gates.rulings(known.id)
        if not said or said[-1].kind != "reject" or not said[-1].why.strip():
            return
        why, words = said[-1].why, self.setbacks.keywords(known.id)
        theirs = self.setbacks.is_a_strangers(known.goal_id)
        learners: tuple[Learner, ...] = ("coder",) if theirs else ("coder", "planner")
        for agent in learners:
            self.lessons.learn(lesson_text.rejected(agent, known.title, why, _origin(known), words), theirs)

    # -- in the evening ---------------------------------------------------------------------------------------

    def _keep(self, day: str) -> None:
        """What came back is learned, what does not help goes, and the rest can be read."""
        book = self.lessons.book
        told = [lesson.text for lesson in book.all("coder")]
        found = [one for one in self.setbacks.complaints(day) if not self.setbacks.is_a_strangers_task(one.task)]
        for lesson in lesson_text.comes_back(found, day, told):
            self.lessons.learn(lesson)
        book.prune(day)
        write_files(book, self.home, self.lessons.clean)


def _origin(known: TaskRecord) -> str:
    return f"{known.id}.a{known.last.number if known.last else 0}"


def write_files(book: LessonRepository, home: Home, clean: Callable[[str], str]) -> None:
    """memory/<agent>.md of each that has learned something, now or earlier."""
    lessons = book.all()
    for agent in LEARNERS:
        path = home.memory / f"{agent}.md"
        if path.exists() or any(lesson.agent == agent for lesson in lessons):
            write_text(path, clean(as_markdown(agent, lessons)))
            fault_point("memory.written")


# --- lessons -> prompts: those that fit what is about to be done ---------------------------------------------


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
            known = [one for one in self.lessons.book.all("target") if is_kept(one, day) and not one.theirs]
            return tuple(self.lessons.clean(one.text) for one in known[-MOST_FACTS:])
        return ()

    def for_coder(self, spec: TaskSpec, number: int, is_correction: bool) -> tuple[str, ...]:
        """Lines for the prompt of this attempt, booked."""
        with self.lessons.optional():
            _, last = next(self.setbacks.of(spec.id), (None, None))
            kinds = [self.lessons.clean(kind) for kind in (last.kinds if last else ())]
            words = last.keywords if last else ()
            text, files = "\n".join((spec.title, spec.description, *words)), (*spec.files, *spec.new_files)
            theirs = self.setbacks.is_a_strangers(spec.goal_id)
            situations = [Situation("coder", text, kind, files, theirs) for kind in (*kinds, "")]
            most = MOST_IN_A_PROMPT if is_correction else FRESH
            return self._booked(self._found(situations, spec.id, most), spec.id, number)
        return ()

    def _for_goals(self, goals: Sequence[Goal]) -> tuple[Lesson, ...]:
        """Where strangers ask there are none: nothing of the owner stands beside their words."""
        found: list[Lesson] = []
        for goal in () if any(goal.proposed_by for goal in goals) else goals:
            text = "\n".join((goal.title, *goal.details))
            found += self._found([Situation("planner", text, files=named_files(text))], "", FRESH)
        return tuple({lesson.number: lesson for lesson in found}.values())[:MOST_IN_A_PROMPT]

    def _found(self, situations: Sequence[Situation], task: str, most: int) -> tuple[Lesson, ...]:
        book, day = self.lessons.book, self.lessons.day()
        found = [(one, at) for at in situations for one in book.find(at, day, MOST_FOUND)]
        return chosen(sorted(found, key=lambda pair: not _is_same(*pair)), task, most)

    def _booked(self, lessons: Sequence[Lesson], task: str, number: int) -> tuple[str, ...]:
        if lessons:
            self.lessons.book.use(lessons, task, number)
        return tuple(self.lessons.clean(lesson_text.line(lesson)) for lesson in lessons)


def _is_same(lesson: Lesson, situation: Situation) -> bool:
    return bool(situation.signature) and lesson.signature == situation.signature
