"""The books -> lessons, and lessons -> prompts: by code alone, no model is asked.

Whoever settles a try says so here, before its end is booked: a kill in between repeats both, and the book of lessons
renews what it knows. What cannot be learned or read keeps nobody from working.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from itertools import islice, takewhile

from agents.orchestrator.memory import lesson_text
from agents.orchestrator.memory.lesson import LEARNERS, MOST_IN_A_PROMPT, Lesson, Situation
from agents.orchestrator.memory.lesson_book import LessonRepository, as_markdown
from agents.orchestrator.memory.lesson_text import ReviewComplaint, TaskSetback, chosen, named_files
from agents.orchestrator.team import Desk
from agents.orchestrator.vision.issue_goals import number_of
from shared.model.errors import Replaced, Stopping, TeamError
from shared.model.evidence import ChangesRequested
from shared.model.lifecycle import Event
from shared.model.naming import attempt_ref
from shared.model.work import Goal, TaskSpec
from shared.store.task_records import Attempt, TaskRecord
from shared.system.fault import fault_point
from shared.system.paths import Home, write_text

MOST_FOUND = 20  # that are looked at, the best first
MOST_AT_ONCE = 3  # that one merge teaches
FRESH = 1  # for what was not tried yet: what it has in common with earlier work is weak


@contextmanager
def _optional(desk: Desk) -> Iterator[None]:
    try:
        yield
    except (Stopping, Replaced):
        raise
    except TeamError as problem:
        desk.tell(f"memory: {problem}")


def _learn(desk: Desk, lesson: Lesson) -> None:
    clean = desk.delivery.clean
    lesson = replace(lesson, text=clean(lesson.text), signature=clean(lesson.signature))
    words, files = tuple(map(clean, lesson.keywords)), tuple(map(clean, lesson.files))
    desk.memory.learn(replace(lesson, keywords=words, files=files), desk.clock.now())


# --- a try has ended -----------------------------------------------------------------------------------------


def merged(desk: Desk, known: TaskRecord, commit: str) -> None:
    """What went wrong before it was merged, and that the lessons which its tries were given helped."""
    with _optional(desk):
        attempts = desk.journal.attempts(known.id)
        seen: dict[str, tuple[Attempt, TaskSetback]] = {}
        for attempt, setback in _setbacks(desk, known.id, attempts):
            seen.setdefault(setback.what, (attempt, setback))
        for attempt, setback in islice(seen.values(), MOST_AT_ONCE):
            changed = _changed(desk, commit)
            files = _other(desk, desk.mirror.attempt(attempt_ref(known.id, attempt.number)), commit, changed)
            named = replace(setback, keywords=setback.keywords or _keywords(desk, known.id))
            _learn(desk, lesson_text.mended(known.title, named, files, changed, _origin(known)))
        for attempt in attempts:
            if attempt.round == attempts[-1].round and attempt.outcome not in ("failed", "lost", "void"):
                desk.memory.ended(known.id, attempt.number, True, desk.day())


def sent_back(desk: Desk, task: str) -> None:
    """Its last change did not pass: nor did those that it has only brought up to date."""
    with _optional(desk):
        attempts = desk.journal.attempts(task)[::-1]
        again = len(list(takewhile(lambda attempt: attempt.refreshes, attempts)))
        for attempt in attempts[: again + 1]:
            desk.memory.ended(task, attempt.number, False)


def gave_up(desk: Desk, known: TaskRecord, spec: TaskSpec, why: str) -> None:
    with _optional(desk):
        if not _is_a_strangers(desk, known):
            files, words = (*spec.files, *spec.new_files), _keywords(desk, known.id)
            _learn(desk, lesson_text.gave_up(spec.title, files, why, _origin(known), words))


def rejected(desk: Desk, known: TaskRecord) -> None:
    """By the owner, if he said why. What a stranger asked for teaches nothing about the owner's goals."""
    with _optional(desk):
        said = desk.gates.rulings(known.id)
        if not said or said[-1].kind != "reject" or not said[-1].why.strip():
            return
        why, words = said[-1].why, _keywords(desk, known.id)
        _learn(desk, lesson_text.rejected("coder", known.title, why, _origin(known), words))
        if not _is_a_strangers(desk, known):
            _learn(desk, lesson_text.rejected("planner", known.title, why, _origin(known), words))


def rolled_back(desk: Desk, known: TaskRecord, commit: str, note: str) -> None:
    """`note`: as it is booked: by it the next one that ends so is known again."""
    with _optional(desk):
        files, words = _changed(desk, commit), _keywords(desk, known.id)
        _learn(desk, lesson_text.rolled_back(known.title, note, files, _origin(known), words))


def _origin(known: TaskRecord) -> str:
    return f"{known.id}.a{known.last.number if known.last else 0}"


def _keywords(desk: Desk, task: str) -> tuple[str, ...]:
    """Of the task's newest review that names any."""
    return next((one.keywords for one in reversed(desk.gates.reviews(task)) if one.keywords), ())


def _is_a_strangers(desk: Desk, known: TaskRecord) -> bool:
    """Of a goal from an issue that is no wish of the owner's, or that nobody knows any more."""
    accepted = desk.plans.accepted()
    his = [goal.id for goal in (accepted.vision.goals if accepted else ()) if not goal.proposed_by]
    return bool(number_of(known.goal_id)) and known.goal_id not in his


def _setbacks(desk: Desk, task: str, attempts: Sequence[Attempt]) -> Iterator[tuple[Attempt, TaskSetback]]:
    """The newest first. That a base has moved under a change is nobody's mistake."""
    for attempt in reversed(attempts):
        if attempt.outcome not in ("failed", "sent back"):
            continue
        commit = desk.mirror.attempt(attempt_ref(task, attempt.number)) or ""
        if attempt.refreshes and not commit:
            continue
        said = desk.gates.evidence(task, commit), desk.gates.reviewed(task, commit)
        if found := lesson_text.setback(attempt.note, *said):
            yield attempt, found


def _changed(desk: Desk, commit: str) -> tuple[str, ...]:
    return tuple(change.path for change in desk.mirror.changed(desk.mirror.parent(commit), commit))


def _other(desk: Desk, before: str | None, commit: str, changed: Sequence[str]) -> tuple[str, ...]:
    """Which of the changed files are not as the earlier try had left them."""
    if not before:
        return tuple(changed)
    other = {change.path for change in desk.mirror.changed(before, commit)}
    return tuple(path for path in changed if path in other)


# --- used ----------------------------------------------------------------------------------------------------


def for_planner(desk: Desk, goals: Sequence[Goal], plan: str, number: int) -> tuple[str, ...]:
    """Lines for the prompt, booked. `plan`, `number`: the same again after a kill."""
    with _optional(desk):
        return _booked(desk, _for_goals(desk, goals), plan, number)
    return ()


def _for_goals(desk: Desk, goals: Sequence[Goal]) -> tuple[Lesson, ...]:
    """Where strangers ask there are none: nothing of the owner stands beside their words."""
    found: list[Lesson] = []
    for goal in () if any(goal.proposed_by for goal in goals) else goals:
        text = "\n".join((goal.title, *goal.details))
        found += _found(desk, [Situation("planner", text, files=named_files(text))], "", FRESH)
    return chosen_once(found)


def chosen_once(found: Sequence[Lesson]) -> tuple[Lesson, ...]:
    return tuple({lesson.number: lesson for lesson in found}.values())[:MOST_IN_A_PROMPT]


def for_coder(desk: Desk, spec: TaskSpec, number: int, is_correction: bool) -> tuple[str, ...]:
    """Lines for the prompt of this attempt, booked."""
    with _optional(desk):
        _, last = next(_setbacks(desk, spec.id, desk.journal.attempts(spec.id)), (None, None))
        kinds = [desk.delivery.clean(kind) for kind in (last.kinds if last else ())]
        words = last.keywords if last else ()
        text, files = "\n".join((spec.title, spec.description, *words)), (*spec.files, *spec.new_files)
        situations = [Situation("coder", text, kind, files) for kind in (*kinds, "")]
        most = MOST_IN_A_PROMPT if is_correction else FRESH
        return _booked(desk, _found(desk, situations, spec.id, most), spec.id, number)
    return ()


def _found(desk: Desk, situations: Sequence[Situation], task: str, most: int) -> tuple[Lesson, ...]:
    found = [(one, at) for at in situations for one in desk.memory.find(at, desk.day(), MOST_FOUND)]
    return chosen(sorted(found, key=lambda pair: not _is_same(*pair)), task, most)


def _is_same(lesson: Lesson, situation: Situation) -> bool:
    return bool(situation.signature) and lesson.signature == situation.signature


def _booked(desk: Desk, lessons: Sequence[Lesson], task: str, number: int) -> tuple[str, ...]:
    if lessons:
        desk.memory.use(lessons, task, number)
    return tuple(desk.delivery.clean(lesson_text.line(lesson)) for lesson in lessons)


def planned(desk: Desk, plan: str, number: int, is_whole: bool) -> None:
    """`is_whole`: nothing had to be cut from the plan."""
    with _optional(desk):
        desk.memory.ended(plan, number, is_whole, desk.day())


# --- in the evening ------------------------------------------------------------------------------------------


def keep(desk: Desk, day: str) -> None:
    """What came back is learned, what does not help goes, and the rest can be read."""
    with _optional(desk):
        told = [lesson.text for lesson in desk.memory.all("coder")]
        for lesson in lesson_text.comes_back(list(_complaints(desk, day)), day, told):
            _learn(desk, lesson)
        desk.memory.prune(day)
        write_files(desk.memory, desk.home, desk.delivery.clean)


def _complaints(desk: Desk, day: str) -> Iterator[ReviewComplaint]:
    """Of the tasks that the reviewer has sent back of late; nothing if none was today."""
    first = (date.fromisoformat(day) - lesson_text.WINDOW).isoformat()
    last = {task: at[:10] for task, at in desk.journal.times_of(Event.CHANGES, first).items()}
    for task, sent in last.items() if day in last.values() else ():
        for reviewed in desk.gates.reviews(task) if lesson_text.is_of_late(sent, day) else ():
            if isinstance(reviewed.verdict, ChangesRequested):
                found, words = reviewed.verdict.findings, reviewed.keywords
                yield from (ReviewComplaint(task, sent, finding, words) for finding in found)


def write_files(book: LessonRepository, home: Home, clean: Callable[[str], str]) -> None:
    """memory/<agent>.md of each that has learned something, now or earlier."""
    lessons = book.all()
    for agent in LEARNERS:
        path = home.memory / f"{agent}.md"
        if path.exists() or any(lesson.agent == agent for lesson in lessons):
            write_text(path, clean(as_markdown(agent, lessons)))
            fault_point("memory.written")
