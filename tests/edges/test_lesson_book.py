"""What is learned is found again where it fits, and goes where it does not help."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench import lessons as bench
from sisimpur.agents.orchestrator.memory.lesson import MOST_KEPT, Lesson, Situation
from sisimpur.agents.orchestrator.memory.lesson_book import LessonRepository, as_markdown
from sisimpur.shared.model.errors import Refused
from sisimpur.shared.store.database import Database
from tests.books import new_book
from tests.killing import EVERY_POINT, killed_at, points, snippet

NOW = datetime(2026, 11, 20, 9, tzinfo=UTC)
DAY = "2026-11-20"
LAST_DAY = "2027-02-18"
KIND = "OperationalError: no such column: exams_exam.title"
SCHEMA = Lesson(0, "coder", "Run makemigrations after each change to models.", KIND, ("migration", "models"))
MAIL = Lesson(0, "coder", "Look at the outbox.", "", ("email", "send_mail"), ("shop/mail.py",), "20261119-02.a1")
STYLE = Lesson(0, "coder", "Lines end at a hundred letters.", "E501 Line too long (0 > 0)", ("format",))


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    db = new_book(tmp_path / "agents.db")
    yield db
    db.close()


@pytest.fixture
def book(db: Database) -> LessonRepository:
    return LessonRepository(db)


def learned(book: LessonRepository, *lessons: Lesson) -> list[Lesson]:
    return [one for lesson in lessons if (one := book.learn(lesson, NOW))]


def texts(
    book: LessonRepository, text: str = "", kind: str = "", files: tuple[str, ...] = (), most: int = 3
) -> list[str]:
    return [lesson.text for lesson in book.find(Situation("coder", text, kind, files), DAY, most)]


def tried(book: LessonRepository, lesson: Lesson, *went_well: bool) -> None:
    for attempt, passed in enumerate(went_well, 1):
        book.use([lesson], "t", attempt)
        book.ended("t", attempt, passed, [lesson.signature])


def is_in_step(path: Path) -> bool:
    """The index holds what the table holds, word for word."""
    with closing(sqlite3.connect(path)) as db:
        try:
            db.execute("insert into lesson_words (lesson_words, rank) values ('integrity-check', 1)")
        except sqlite3.DatabaseError:
            return False
        return True


# --- learning ------------------------------------------------------------------------------------------------


def test_what_was_learned_is_told_as_it_was(book: LessonRepository) -> None:
    (mail,) = learned(book, MAIL)
    assert mail == replace(MAIL, number=1, learned=DAY, expires=LAST_DAY) == book.all()[0]


def test_the_same_again_lives_longer_instead_of_twice(book: LessonRepository) -> None:
    (first,) = learned(book, SCHEMA)
    again = book.learn(replace(SCHEMA, origin="elsewhere", keywords=("x",)), NOW + timedelta(days=10))
    assert again == replace(first, expires="2027-02-28") and book.all() == (again,)
    assert book.learn(SCHEMA, NOW - timedelta(days=10)) == again  # a clock that went back shortens nothing


@pytest.mark.parametrize("other", [{"agent": "qa"}, {"signature": "x"}, {"text": "x"}])
def test_another_agent_failure_or_text_is_another_lesson(other: dict[str, str], book: LessonRepository) -> None:
    changed = replace(SCHEMA, **other)  # type: ignore[arg-type]
    assert len({lesson.number for lesson in learned(book, SCHEMA, changed)}) == 2


@pytest.mark.parametrize("text", ["", " \n", "\x00\u202e"])
def test_a_lesson_without_words_is_refused(text: str, book: LessonRepository) -> None:
    with pytest.raises(Refused, match="without words"):
        book.learn(replace(SCHEMA, text=text), NOW)
    assert book.all() == ()


def test_a_lesson_is_cut_to_size_and_loses_what_no_file_can_hold(book: LessonRepository) -> None:
    (lesson,) = learned(book, replace(SCHEMA, text="a\ud800b\x00 " * 900, keywords=("k\nl",)))
    assert lesson.text.startswith("a b a b") and len(lesson.text) <= 500 and lesson.keywords == ("k l",)
    assert book.all() == (lesson,)


# --- finding -------------------------------------------------------------------------------------------------


def test_the_same_failure_comes_before_the_same_words_and_those_before_the_same_files(book: LessonRepository) -> None:
    learned(book, MAIL, STYLE, SCHEMA)
    assert texts(book, "the format of lines", KIND, MAIL.files) == [SCHEMA.text, STYLE.text, MAIL.text]
    assert texts(book, "the format of lines", KIND, MAIL.files, most=1) == [SCHEMA.text]


def test_of_the_same_failure_the_one_with_the_fitting_words_comes_first(book: LessonRepository) -> None:
    learned(book, SCHEMA, replace(SCHEMA, text="Ask whether the fixtures are old."))
    assert texts(book, "fixtures", KIND) == ["Ask whether the fixtures are old.", SCHEMA.text]


def test_keywords_weigh_more_than_the_text(book: LessonRepository) -> None:
    learned(book, replace(MAIL, text="Look at the outbox, not at the cache."), replace(STYLE, keywords=("cache",)))
    assert texts(book, "cache")[0] == STYLE.text


@pytest.mark.parametrize("said", ["Models", "migrations", "MIGRATE", "NoSuchColumn", "exams_exam", "columns"])
def test_a_word_is_found_in_other_forms(said: str, book: LessonRepository) -> None:
    learned(book, MAIL, SCHEMA)
    assert texts(book, said) == [SCHEMA.text]


def test_a_word_that_stands_for_another_counts_less_than_the_word_itself(book: LessonRepository) -> None:
    learned(book, replace(MAIL, keywords=("image",)), replace(STYLE, keywords=("picture",)))
    assert texts(book, "a picture") == [STYLE.text, MAIL.text]


@pytest.mark.parametrize("said", ["", "the and of", "12 345", "zebra"])
def test_nothing_in_common_is_nothing_found(said: str, book: LessonRepository) -> None:
    learned(book, MAIL, SCHEMA, STYLE)
    assert texts(book, said, files=("else.py",)) == []


def test_each_agent_has_its_own(book: LessonRepository) -> None:
    learned(book, replace(SCHEMA, agent="qa"))
    assert texts(book, "migration", KIND) == []
    assert [lesson.agent for lesson in book.all()] == ["qa"] and book.all("coder") == ()


def test_no_more_are_found_than_asked_for(book: LessonRepository) -> None:
    learned(book, *(replace(SCHEMA, text=f"Advice {number}") for number in range(9)))
    assert [len(texts(book, "models", KIND, most=most)) for most in (-1, 0, 1, 5, 99)] == [0, 0, 1, 5, 9]


def test_only_kept_lessons_are_found(book: LessonRepository) -> None:
    learned(book, SCHEMA)
    situation = Situation("coder", "migration", KIND)
    assert book.find(situation, LAST_DAY) and book.find(situation, "2027-02-19") == ()
    tried(book, book.all()[0], True, False, False, False)
    assert book.find(situation, DAY) == () and len(book.all()) == 1


@pytest.mark.parametrize(
    "said",
    [
        '"',
        "'",
        "a OR",
        "NEAR(a b",
        "text:models",
        "mod*",
        "^models",
        "a AND NOT b",
        "-models",
        "{text}:a",
        ")(",
        '""models"',
        "models\x00x",
        "\ud800 models",
        "models; drop table lessons",
        "m" * 100_000,
        "models " * 50_000,
        "ﬁ ² ⅷ é 漢字 ক",
    ],
)
def test_words_of_strangers_are_words_and_never_a_language(said: str, book: LessonRepository) -> None:
    learned(book, SCHEMA, MAIL)
    found = texts(book, said, kind=said[:500])
    assert (found == [SCHEMA.text]) is ("models" in said or said == "mod*") or found == []
    assert len(book.all()) == 2


@given(st.text(max_size=200), st.text(max_size=50), st.lists(st.text(max_size=20), max_size=3))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_text_makes_it_fail(book: LessonRepository, text: str, kind: str, files: list[str]) -> None:
    assert len(book.find(Situation("coder", text, kind, tuple(files)), DAY)) <= 3


# --- using ---------------------------------------------------------------------------------------------------


def test_a_use_counts_once_and_when_its_try_has_ended(book: LessonRepository) -> None:
    (lesson,) = learned(book, SCHEMA)
    for _ in range(3):
        book.use([lesson, lesson], "t", 1)
    assert (book.all()[0].used, book.all()[0].passed) == (0, 0)
    for passed in (True, False):  # the first word counts
        book.ended("t", 1, passed, [KIND])
        assert (book.all()[0].used, book.all()[0].passed) == (1, 1)
    book.use([lesson], "t", 2)
    book.ended("other", 2, True, [KIND])
    book.ended("t", 2, False, [KIND])
    assert (book.all()[0].used, book.all()[0].passed) == (2, 1)


def test_of_a_lesson_about_another_failure_or_about_none_nobody_knows_whether_it_helped(book: LessonRepository) -> None:
    lessons = learned(book, SCHEMA, MAIL)
    book.use(lessons, "t", 1)
    for passed in (False, True):
        book.ended("t", 1, passed, ["KeyError: 'x'", ""], DAY)
    assert [(one.used, one.passed, one.expires) for one in book.all()] == [(0, 0, LAST_DAY)] * 2


def test_what_is_asked_again_after_its_end_is_no_new_use(book: LessonRepository) -> None:
    (lesson,) = learned(book, SCHEMA)
    tried(book, lesson, False)
    book.use([lesson], "t", 1)
    assert book.all()[0].used == 1


def test_a_lesson_that_helped_lives_on_and_one_that_did_not_does_not(book: LessonRepository) -> None:
    helped, failed, _ = learned(book, SCHEMA, STYLE, MAIL)
    kinds = [KIND, STYLE.signature]
    book.use([helped], "t", 1)
    book.use([failed], "t", 2)
    book.ended("t", 1, True, kinds, "2026-12-20")
    book.ended("t", 2, False, kinds, "2026-12-20")
    for attempt in (1, 2):  # said again, later
        book.ended("t", attempt, True, kinds, "2027-01-01")
    assert [lesson.expires for lesson in book.all()] == ["2027-03-20", LAST_DAY, LAST_DAY]


def test_the_use_of_a_lesson_that_is_gone_is_no_error(book: LessonRepository) -> None:
    (lesson,) = learned(book, SCHEMA)
    book.forget(lesson.number)
    book.use([lesson], "t", 1)
    book.ended("t", 1, True, [KIND], DAY)
    assert book.all() == ()


# --- forgetting ----------------------------------------------------------------------------------------------


def test_what_the_owner_deleted_is_not_learned_again(book: LessonRepository, tmp_path: Path) -> None:
    (lesson,) = learned(book, SCHEMA)
    tried(book, lesson, True)
    assert book.forget(lesson.number) and not book.forget(lesson.number)
    assert book.learn(SCHEMA, NOW) is None and book.all() == () and texts(book, "migration", KIND) == []
    assert is_in_step(tmp_path / "agents.db")


def test_a_number_is_never_given_to_another_lesson(book: LessonRepository) -> None:
    (lesson,) = learned(book, SCHEMA)
    book.forget(lesson.number)
    assert learned(book, MAIL)[0].number > lesson.number


def test_expired_and_useless_lessons_are_pruned_and_may_be_learned_again(
    book: LessonRepository, tmp_path: Path
) -> None:
    tried(book, learned(book, SCHEMA)[0], False, False, False, False)
    learned(book, MAIL)
    assert [book.prune(DAY), book.prune(DAY)] == [1, 0]
    assert [lesson.text for lesson in book.all()] == [MAIL.text]
    assert book.prune("2027-02-19") == 1 and book.all() == ()
    assert (learned(book, SCHEMA)[0].used, is_in_step(tmp_path / "agents.db")) == (0, True)


def test_of_too_many_the_useful_stay(db: Database, book: LessonRepository) -> None:
    (proven,) = learned(book, SCHEMA)
    tried(book, proven, True)
    with db.transaction() as rows:  # as `learn` writes them, three hundred times quicker
        rows.executemany(
            "insert into lessons (agent, signature, text, keywords, files, origin, learned, expires)"
            " values (?, '', ?, '', '', '', ?, ?)",
            [(agent, f"n{n}", DAY, LAST_DAY) for agent in ("coder", "qa") for n in range(MOST_KEPT)],
        )
    assert book.prune(DAY) == 1
    left = [lesson.text for lesson in book.all("coder")]
    assert (len(left), len(book.all("qa"))) == (MOST_KEPT, MOST_KEPT)
    assert SCHEMA.text in left and "n0" not in left


# --- the index -----------------------------------------------------------------------------------------------


def test_without_an_index_lessons_are_found_by_failure_and_files(db: Database) -> None:
    book = LessonRepository(db, indexed=False)
    learned(book, MAIL, SCHEMA)
    assert texts(book, "migration email", KIND, MAIL.files) == [SCHEMA.text, MAIL.text]
    assert texts(book, "migration email") == []


def test_a_python_without_fts5_may_write_and_the_next_one_finds_it(db: Database, tmp_path: Path) -> None:
    learned(LessonRepository(db), MAIL)
    other = LessonRepository(db, indexed=False)
    learned(other, SCHEMA)
    other.forget(1)
    assert not is_in_step(tmp_path / "agents.db")
    assert texts(LessonRepository(db), "models outbox") == [SCHEMA.text]
    assert is_in_step(tmp_path / "agents.db")


def test_a_row_of_another_version_is_left_out(db: Database, book: LessonRepository) -> None:
    learned(book, MAIL)
    with db.transaction() as rows:
        rows.execute("update lessons set agent = 'poet'")
    assert book.all() == () and book.prune("2030-01-01") == 0


# --- for reading ---------------------------------------------------------------------------------------------


def test_a_page_tells_each_lesson_with_where_it_is_from_and_what_it_was_good_for(book: LessonRepository) -> None:
    (mail, _) = learned(book, replace(MAIL, signature=KIND), replace(STYLE, agent="qa"))
    tried(book, mail, True, False)
    page = as_markdown("coder", book.all())
    assert (
        f"## 1\n\n> Look at the outbox.\n\n- after: {KIND}\n- words: email, send_mail\n- files: shop/mail.py\n" in page
    )
    assert f"- learned {DAY} in 20261119-02.a1, kept until {LAST_DAY}\n- used 2 -> passed 1\n" in page
    assert STYLE.text not in page and "Nothing yet." in as_markdown("planner", book.all())


def test_nothing_on_a_page_acts() -> None:
    bad = "@everyone fixes #1\n# Orders\n<script> [x](http://evil.example) <!-- "
    page = as_markdown("coder", [Lesson(1, "coder", bad, bad, (bad,), (bad,), bad, DAY, DAY)])
    for what in ("@everyone", "#1", "\n# Orders", "<script", "](", "http://", "<!--"):
        assert what not in page


# --- kills ---------------------------------------------------------------------------------------------------


def live(path: Path) -> None:
    """Everything that a book can do, once; again it changes nothing."""
    with closing(Database(path)) as db:
        book = LessonRepository(db)
        first, *_ = learned(book, SCHEMA, MAIL, STYLE)
        for attempt in (1, 2, 3):
            book.use([first], "t", attempt)
            book.ended("t", attempt, False, [KIND], DAY)
        book.prune(LAST_DAY)
        for lesson in book.all():
            if lesson.text == MAIL.text:
                book.forget(lesson.number)


LIVE = """
    import sys
    from pathlib import Path
    from tests.edges.test_lesson_book import live
    live(Path(sys.argv[1]))
"""


def test_a_kill_at_any_point_leaves_table_and_index_in_step_and_counts_nothing_twice(tmp_path: Path) -> None:
    passed = points(snippet(LIVE, str(tmp_path / "clean.db")))
    assert passed[-1] == "lesson.forgotten"
    begins = passed.index("lesson.indexed")
    sample = [begins, *(passed.index(f"lesson.{what}") for what in ("learned", "ended", "forgotten"))]
    for number in range(begins, len(passed)) if EVERY_POINT else sample:
        path = tmp_path / f"{number}.db"
        killed_at(number + 1, snippet(LIVE, str(path)))
        assert is_in_step(path)
        live(path)
        assert is_in_step(path)
        with closing(Database(path)) as db:
            assert [(one.text, one.used) for one in LessonRepository(db).all()] == [(SCHEMA.text, 3), (STYLE.text, 0)]


# --- how well ------------------------------------------------------------------------------------------------


def test_the_right_lesson_is_among_the_first_five() -> None:
    scores = bench.measured()
    assert scores[bench.KEPT_ASIDE].in_five >= bench.GOAL
    assert scores[bench.KEPT_ASIDE].queries >= 40


@pytest.mark.parametrize("part", [bench.KEPT_ASIDE, bench.AFTERWARDS])
def test_with_the_reviewer_s_words_more_right_lessons_reach_a_prompt(part: str) -> None:
    named, plain = bench.measured()[part], bench.measured(bench.by_code)[part]
    assert named.told >= plain.told + 0.08 and named.in_five > plain.in_five
    more_right = round((named.told - plain.told) * named.queries)
    assert named.wrong - plain.wrong < more_right, "and fewer wrong ones than right ones come with them"
