"""How often memory finds the right lesson, and how long it takes. `python -m bench.lessons`.

bench/data/lessons.yaml holds lessons, and questions in other words: outputs of failed runs and texts of tasks. Beside
the lessons lie 200 about other things. Every second question was used to tune; the goal is about the other half. One
hand wrote both, and after them the words of the trade (kindred.py): the third part, written when all that was done, is
what to expect of questions that nobody knew.

A lesson's `keywords` there are such as a reviewer names. It is learned with these and, after them, with the words that
code takes from its text; to compare, once more with the words of code alone.
"""

from __future__ import annotations

import itertools
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from sisimpur.agents.orchestrator.memory.learning import FRESH, MOST_FOUND
from sisimpur.agents.orchestrator.memory.lesson import MOST_IN_A_PROMPT, Lesson, Situation, signature
from sisimpur.agents.orchestrator.memory.lesson_book import LessonRepository
from sisimpur.agents.orchestrator.memory.lesson_text import chosen, title_words
from sisimpur.shared.model.evidence import MOST_KEYWORDS
from sisimpur.shared.store.database import Database
from sisimpur.shared.system import strict_yaml

DATA = Path(__file__).parent / "data" / "lessons.yaml"
NOW = datetime(2026, 11, 20, tzinfo=UTC)
DAY = "2026-11-20"
TUNED_ON, KEPT_ASIDE, AFTERWARDS = "tuned on", "kept aside", "written afterwards"
OTHERS, MANY = 200, 1_000
FIRST = 5
GOAL, GOAL_MS = 0.7, 20.0

# What the other lessons are made of: the same trade, other advice.
ACTS = (
    *("Rename", "Move", "Document", "Split", "Cache", "Log", "Test", "Remove", "Review", "Sort"),
    *("Translate", "Count", "Archive", "Export", "Hide", "Lock", "Copy", "Group", "Check", "Announce"),
)
THINGS = (
    *("a view", "a model", "a form", "a migration", "a template", "a fixture", "a serializer", "a signal", "a setting"),
    *("a course", "an exam", "a student list", "a report", "a queue", "an image", "a container", "a column", "a page"),
    *("an invoice", "a price", "a webhook", "a test", "a query", "a user", "a translation", "a branch", "a lock file"),
)
REASONS = (
    "before the release, and tell the owner in the pull request",
    "together with its admin page, since both are shown side by side",
    "in a change of its own; the reviewer found the mixed one too large",
    "only after the old one was unused for a month",
    "with the helper in core/tools.py, which does the rest",
    "as the style guide says, and mention it in CHANGES.md",
    "unless the goal forbids it; ask when it is not clear",
)


@dataclass(frozen=True)
class Query:
    right: tuple[str, ...]  # ids of lessons: one of them is wanted
    situation: Situation


@dataclass(frozen=True)
class Score:
    """Shares of the queries whose right lesson is among the first ones, and stands in the prompt in the end.

    `wrong`: how many other lessons stand in the prompts of all of them together.
    """

    queries: int
    in_three: float
    in_five: float
    told: float
    wrong: int


def by_reviewer(lesson: Lesson) -> Lesson:
    """As a task teaches it that was reviewed."""
    return replace(lesson, keywords=(*lesson.keywords[:MOST_KEYWORDS], *title_words(lesson.text)))


def by_code(lesson: Lesson) -> Lesson:
    """As it is learned when no reviewer has named a word."""
    return replace(lesson, keywords=title_words(lesson.text))


Worded = Callable[[Lesson], Lesson]


def read() -> tuple[dict[str, Lesson], dict[str, list[Query]]]:
    """Lessons by id; questions by what they are for."""
    data = strict_yaml.parse(DATA.read_text("utf-8"), DATA.name).value
    queries = [_query(one) for one in data["queries"]]
    afterwards = [_query(one) for one in data["afterwards"]]
    parts = {TUNED_ON: queries[::2], KEPT_ASIDE: queries[1::2], AFTERWARDS: afterwards}
    return {one["id"]: _lesson(one) for one in data["lessons"]}, parts


def others(number: int) -> Iterator[Lesson]:
    """Lessons about other things, each of its own words."""
    mixed = itertools.product(range(len(REASONS)), range(len(THINGS)), range(len(ACTS)))
    for step, (reason, thing, act) in enumerate(itertools.islice(mixed, 0, number * 3, 3)):
        name = THINGS[(thing + step) % len(THINGS)]
        text = f"{ACTS[act]} {name} {REASONS[(reason + step) % len(REASONS)]}."
        yield Lesson(0, "coder", text, keywords=(ACTS[act].lower(), name.split(" ", 1)[1]), origin=f"t{step}.a1")


def filled(
    folder: Path, lessons: Mapping[str, Lesson], besides: int, worded: Worded = by_reviewer
) -> tuple[LessonRepository, dict[int, str]]:
    """-> a book of all of them, and which number is whose."""
    book, numbers = LessonRepository(Database(folder / "agents.db")), {}
    for name, lesson in lessons.items():
        learned = book.learn(worded(lesson), NOW)
        assert learned
        numbers[learned.number] = name
    for lesson in others(besides):
        book.learn(worded(lesson), NOW)
    return book, numbers


def score(book: LessonRepository, numbers: Mapping[int, str], queries: Sequence[Query]) -> Score:
    places = [_place(book, numbers, query) for query in queries]
    asked = max(1, len(places))
    three, five = (sum(place < most for place in places) / asked for most in (3, FIRST))
    told = [(name in query.right, query) for query in queries for name in _told(book, numbers, query)]
    right = {id(query) for is_right, query in told if is_right}
    return Score(len(places), three, five, len(right) / asked, sum(not is_right for is_right, _ in told))


def measured(worded: Worded = by_reviewer) -> dict[str, Score]:
    """By part, and within it by what is asked about: a failure, or a task."""
    lessons, parts = read()
    with tempfile.TemporaryDirectory() as folder:
        book, numbers = filled(Path(folder), lessons, OTHERS, worded)
        found = {}
        for name, queries in parts.items():
            failures, tasks = (
                [query for query in queries if bool(query.situation.signature) is failed] for failed in (True, False)
            )
            for kind, some in (("", queries), (", failures", failures), (", tasks", tasks)):
                found[name + kind] = score(book, numbers, some)
        return found


def time_of_find() -> float:
    """Median milliseconds of processor for one, with a thousand lessons."""
    lessons, parts = read()
    with tempfile.TemporaryDirectory() as folder:
        book, _ = filled(Path(folder), lessons, MANY - len(lessons))
        assert len(book.all()) == MANY
        times = []
        for query in itertools.chain(*parts.values()):
            began = time.process_time()
            book.find(query.situation, DAY)
            times.append(time.process_time() - began)
    return statistics.median(times) * 1000


def main() -> int:
    """Prints two tables and a time; 1 if a goal is missed."""
    scores = measured()
    for title, found in (("with the reviewer's keywords", scores), ("with words of code alone", measured(by_code))):
        print(
            f"{title:<32}{'asked':>7}{'in 3':>7}{f'in {FIRST}':>7}{'told':>7}{'wrong':>7}   goal: {GOAL:.0%} in {FIRST}"
        )
        for name, one in found.items():
            shares = "".join(f"{share:>7.0%}" for share in (one.in_three, one.in_five, one.told))
            print(f"{name:<32}{one.queries:>7}{shares}{one.wrong:>7}")
        print()
    took = time_of_find()
    print(f"one find among {MANY} lessons: {took:.1f} ms of processor   goal: {GOAL_MS:g} ms")
    return int(scores[KEPT_ASIDE].in_five < GOAL or took > GOAL_MS)


def _place(book: LessonRepository, numbers: Mapping[int, str], query: Query) -> int:
    found = [numbers.get(lesson.number, "") for lesson in book.find(query.situation, DAY, FIRST)]
    return next((place for place, name in enumerate(found) if name in query.right), FIRST)


def _told(book: LessonRepository, numbers: Mapping[int, str], query: Query) -> list[str]:
    """Whose lessons would stand in the prompt: of a correction, or of what was not tried yet."""
    at = query.situation
    found = [(lesson, at) for lesson in book.find(at, DAY, MOST_FOUND)]
    most = MOST_IN_A_PROMPT if at.signature else FRESH
    return [numbers.get(lesson.number, "") for lesson in chosen(found, "", most)]


def _lesson(one: Mapping[str, object]) -> Lesson:
    return Lesson(
        0,
        "coder",
        str(one["text"]),
        signature(str(one.get("error", ""))),
        _texts(one, "keywords"),
        _texts(one, "files"),
    )


def _query(one: Mapping[str, object]) -> Query:
    situation = Situation("coder", str(one["text"]), files=_texts(one, "files"))
    return Query(_texts(one, "right"), replace(situation, signature=signature(situation.text)))


def _texts(one: Mapping[str, object], key: str) -> tuple[str, ...]:
    found = one.get(key, [])
    assert isinstance(found, list)
    return tuple(map(str, found))


if __name__ == "__main__":
    raise SystemExit(main())
