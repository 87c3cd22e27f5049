"""What the owner wants where, what we wrote last, and what is done: remembered, also over a kill."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from sisimpur.agents.orchestrator.roadmap.roadmap import DONE, FREE, LATER, GoalPin, Need
from sisimpur.agents.orchestrator.roadmap.roadmap_book import RoadmapRepository, RoadmapText
from sisimpur.shared.model.work import Priority
from sisimpur.shared.store.database import Database
from tests.books import new_book
from tests.killing import killed_at, points, snippet

TODAY = "2026-11-20"
WANTED = {"g-1": "w1", "g-2": "w2", "g-3": "w3"}
WEEK = GoalPin("g-1", "2026-11-23", 2)
GREET = Need("g-2", "Greet", Priority.HIGH, merged=3, cost=5, done_on="2026-11-18")


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    db = new_book(tmp_path / "agents.db")
    yield db
    db.close()


@pytest.fixture
def book(db: Database) -> RoadmapRepository:
    return RoadmapRepository(db)


# --- the owner's words ---------------------------------------------------------------------------------------


def test_the_newest_word_about_a_goal_counts(book: RoadmapRepository) -> None:
    book.pin([WEEK, GoalPin("g-2", LATER)], WANTED)
    book.pin([GoalPin("g-1", "2026-11-30", 1)], WANTED)
    assert book.pins(WANTED) == {"g-1": GoalPin("g-1", "2026-11-30", 1), "g-2": GoalPin("g-2", LATER)}
    book.pin([GoalPin("g-1", FREE)], WANTED)
    assert book.pins(WANTED) == {"g-2": GoalPin("g-2", LATER)}


def test_only_what_is_new_to_the_book_is_news(book: RoadmapRepository) -> None:
    done, free = GoalPin("g-2", DONE), GoalPin("g-1", FREE)
    assert book.pin([free], WANTED) == (), "it has no pin"
    assert book.pin([WEEK, done], WANTED) == (WEEK, done)
    assert book.pin([WEEK, done], WANTED) == ()
    turned = replace(WEEK, rank=0)
    assert book.pin([turned, done, GoalPin("g-9", LATER)], WANTED) == (turned,), "g-9 is no goal"
    assert book.pin([done], {**WANTED, "g-2": "other"}) == (done,), "it was another goal that was done"
    assert book.pin([free], WANTED) == (free,)
    assert book.pin([free], WANTED) == ()


def test_a_goal_that_has_left_the_vision_has_no_pin_also_when_it_comes_back(book: RoadmapRepository) -> None:
    book.pin([WEEK], WANTED)
    without = {"g-2": "w2"}
    assert book.pins(without) == {} and book.pins(WANTED) == {"g-1": WEEK}, "to look changes nothing"
    book.pin([], without)
    assert book.pins(WANTED) == {}
    book.pin([WEEK], without)
    assert book.pins(WANTED) == {}


def test_a_reworded_goal_keeps_its_week_but_is_not_done(book: RoadmapRepository) -> None:
    book.pin([WEEK, GoalPin("g-2", DONE)], WANTED)
    reworded = {"g-1": "other", "g-2": "other"}
    assert book.pins(reworded) == {"g-1": WEEK}
    book.pin([], reworded)
    assert book.pins(WANTED) == {"g-1": WEEK}


# --- what we wrote -------------------------------------------------------------------------------------------


def test_until_it_is_known_to_stand_there_the_text_before_may_stand_there_too(book: RoadmapRepository) -> None:
    assert book.texts() == ()
    book.intend("one")
    assert book.texts() == (RoadmapText("one", "one"), RoadmapText("", ""))
    book.stands("one")
    book.intend("two", "one, edited")
    assert book.texts() == (RoadmapText("two", "two"), RoadmapText("one, edited", "one"))
    book.stands("two")
    assert book.texts() == (RoadmapText("two", "two"),)


def test_of_two_texts_that_were_intended_the_first_was_never_written(book: RoadmapRepository) -> None:
    for text in ("one", "two"):
        book.intend(text)
        book.stands(text)
    book.intend("three", "x")
    book.intend("four", "y")
    assert book.texts() == (RoadmapText("four", "four"), RoadmapText("y", "two"))
    book.withdraw()
    assert book.texts() == (RoadmapText("two", "two"),)
    book.stands("two")
    book.stands("nobody wrote this")
    assert book.texts() == (RoadmapText("two", "two"),)


def test_the_same_text_written_again_is_one(book: RoadmapRepository) -> None:
    for _ in range(2):
        book.intend("one")
        book.stands("one")
    assert book.texts() == (RoadmapText("one", "one"),)


# --- what is done --------------------------------------------------------------------------------------------


def test_what_is_done_is_told_as_it_was_also_when_it_has_left_the_vision(book: RoadmapRepository) -> None:
    book.finish([GREET], WANTED, TODAY)
    assert book.finished() == {"g-2": GREET}
    book.finish([GREET], {}, TODAY)
    book.finish([], {}, TODAY)
    assert book.finished() == {"g-2": GREET}


def test_what_is_open_again_is_not_done(book: RoadmapRepository) -> None:
    book.finish([GREET], WANTED, TODAY)
    book.finish([replace(GREET, cost=7)], WANTED, TODAY)
    assert book.finished()["g-2"].cost == 7
    book.finish([], WANTED, TODAY)
    assert book.finished() == {}


def test_after_eight_weeks_what_has_left_the_vision_is_forgotten(book: RoadmapRepository) -> None:
    book.finish([GREET, replace(GREET, id="g-3")], WANTED, TODAY)
    book.finish([replace(GREET, id="g-3")], {"g-3": ""}, "2027-01-17")
    assert set(book.finished()) == {"g-2", "g-3"}
    book.finish([replace(GREET, id="g-3")], {"g-3": ""}, "2027-01-18")
    assert set(book.finished()) == {"g-3"}, "one that still stands there is not"


# --- kills ---------------------------------------------------------------------------------------------------


def live(path: Path) -> None:
    """Everything that a book can do; again it changes nothing."""
    with closing(Database(path)) as db:
        book = RoadmapRepository(db)
        book.pin([WEEK, GoalPin("g-2", DONE)], WANTED)
        book.intend("one")
        book.stands("one")
        book.finish([GREET], WANTED, TODAY)
        book.intend("two")
        book.withdraw()


LIVE = """
    import sys
    from pathlib import Path
    from tests.edges.test_roadmap_book import live
    live(Path(sys.argv[1]))
"""
OURS = ["pinned", "intended", "written", "finished", "intended", "withdrawn"]


def test_a_kill_at_any_point_leaves_books_that_lead_to_the_same(tmp_path: Path) -> None:
    passed = points(snippet(LIVE, str(tmp_path / "clean.db")))
    assert passed[-len(OURS) :] == [f"roadmap.{name}" for name in OURS]
    for number in range(len(passed) - len(OURS), len(passed)):
        path = tmp_path / f"{number}.db"
        killed_at(number + 1, snippet(LIVE, str(path)))
        live(path)
        with closing(Database(path)) as db:
            book = RoadmapRepository(db)
            assert book.pins(WANTED) == {"g-1": WEEK, "g-2": GoalPin("g-2", DONE)}
            assert (book.texts(), book.finished()) == ((RoadmapText("one", "one"),), {"g-2": GREET})
