"""No word about a goal is lost, and what was seen of it belongs to the goal as it is worded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sisimpur.shared.model.work import GoalWord, Measure, MeasureKind
from sisimpur.shared.store.database import Database
from sisimpur.shared.store.goal_book import GoalLook, GoalRepository, GoalWords
from tests.books import new_book

NOW = datetime(2026, 11, 20, 8, tzinfo=UTC)
REMARK = GoalWord("g-1", "remark", "another file starts it too, and stays", "t")
LEFT = GoalWord("g-1", "left", "the second page")
GOAL = ("g-1", "worded")
COVERED = Measure(MeasureKind.COVERAGE, "api", at_least=80)


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    db = new_book(tmp_path / "agents.db")
    yield db
    db.close()


def test_words_come_back_in_their_order_each_once(db: Database) -> None:
    book = GoalWords(db)
    for word in (REMARK, LEFT, REMARK, GoalWord("g-2", "review", "look at the lock")):
        book.keep(word, NOW)
    assert book.of(["g-1"]) == (REMARK, LEFT)
    assert book.of(["g-2", "g-1"])[1:] == (REMARK, LEFT)


def test_a_word_is_one_line_and_belongs_to_a_goal(db: Database) -> None:
    book = GoalWords(db)
    book.keep(replace(REMARK, text="two\nlines  of it"), NOW)
    book.keep(replace(REMARK, goal_id=""), NOW)
    book.keep(replace(REMARK, text=" \n"), NOW)
    assert [word.text for word in book.of(["g-1", ""])] == ["two lines of it"]


def test_what_was_left_is_over_when_the_goal_is_planned_again_unless_it_is_left_again(db: Database) -> None:
    book, third = GoalWords(db), GoalWord("g-1", "left", "the third page")
    for word in (REMARK, LEFT, third):
        book.keep(word, NOW)
    book.planned(["g-1"], [third], NOW)
    assert book.of(["g-1"]) == (REMARK, third)


def test_a_measure_belongs_to_a_wording(db: Database) -> None:
    book = GoalRepository(db)
    book.keep_measures(GOAL, [COVERED])
    book.keep_measures(("g-1", "reworded"), [COVERED, replace(COVERED, at_least=90)])
    assert book.measures() == {
        GOAL: (COVERED,),
        ("g-1", "reworded"): (COVERED, replace(COVERED, at_least=90)),
    }


def test_a_look_is_counted_before_it_begins_and_kept_with_what_was_seen(db: Database) -> None:
    book, look = GoalRepository(db), GoalLook("c1", merged=1, at_end=True)
    book.begin(GOAL, look, NOW)
    book.begin(GOAL, look, NOW)
    assert book.looks() == {GOAL: (replace(look, begun=2),)}
    book.put_off(GOAL, look)
    seen = replace(look, figure=61.2, verdict="not yet", text="61.2 %")
    book.keep(GOAL, seen)
    later = GoalLook("c2", merged=2, at_end=True)
    book.begin(GOAL, later, NOW)
    assert book.looks() == {GOAL: (seen, later)}
