"""What was run of a day: begun, ended, failed, missed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sisimpur.shared.model.schedule import Ran
from sisimpur.shared.model.work import Question, Vision
from sisimpur.shared.store.plan_book import Accepted, PlanRepository, Trouble
from tests.books import new_book
from tests.killing import killed_at, snippet

DAY = "2026-11-20"
SEVEN = datetime(2026, 11, 20, 7, tzinfo=UTC)
LATER = SEVEN + timedelta(hours=3)

MISSED = """
    import sys
    from datetime import datetime
    from pathlib import Path
    from sisimpur.shared.store.database import Database
    from sisimpur.shared.store.plan_book import PlanRepository
    now = datetime.now().astimezone()
    PlanRepository(Database(Path(sys.argv[1]))).phase_missed("2026-11-20", "morning", now, "was off")
"""


@pytest.fixture
def book(tmp_path: Path) -> Iterator[PlanRepository]:
    db = new_book(tmp_path / "agents.db")
    yield PlanRepository(db)
    db.close()


def test_each_phase_is_told_as_it_stands(book: PlanRepository) -> None:
    assert dict(book.phases_of(DAY)) == {}
    for name in ("morning", "planning", "wrap_up"):
        book.phase_begins(DAY, name, SEVEN)
    book.phase_ended(DAY, "morning", LATER)
    book.phase_failed(DAY, "planning", "no answer")
    book.phase_begins("2026-11-19", "research", SEVEN)
    found = book.phases_of(DAY)
    assert found == {
        "morning": Ran(SEVEN, LATER),
        "planning": Ran(SEVEN, None, "no answer"),
        "wrap_up": Ran(SEVEN, None),
    }
    assert list(found) == ["morning", "planning", "wrap_up"]
    assert [ran.standing for ran in found.values()] == ["ended", "failed", "begun"]


def test_one_that_was_missed_is_over_and_the_report_says_why(book: PlanRepository) -> None:
    book.phase_missed(DAY, "morning", LATER, "the machine was off")
    book.phase_missed(DAY, "morning", LATER + timedelta(hours=1), "and again")
    assert book.phases_of(DAY) == {"morning": Ran(LATER, LATER, "the machine was off", missed=True)}
    assert book.has_ended(DAY, "morning")
    assert book.troubles(DAY) == (Trouble("morning", "the machine was off"),)


def test_one_that_was_begun_is_not_missed(book: PlanRepository) -> None:
    book.phase_begins(DAY, "morning", SEVEN)
    book.phase_missed(DAY, "morning", LATER, "the machine was off")
    assert book.phases_of(DAY) == {"morning": Ran(SEVEN, None)}


def test_one_that_was_missed_is_not_begun(book: PlanRepository) -> None:
    book.phase_missed(DAY, "morning", LATER, "the machine was off")
    book.phase_begins(DAY, "morning", LATER + timedelta(hours=1))
    assert book.phases_of(DAY)["morning"].standing == "ended"


def test_the_newest_day_may_lie_ahead(book: PlanRepository) -> None:
    assert book.newest_day() == ""
    book.phase_begins("2027-01-01", "morning", SEVEN)
    book.phase_missed(DAY, "morning", SEVEN, "the machine was off")
    assert book.newest_day() == "2027-01-01"


def test_a_kill_right_after_leaves_it_recorded(tmp_path: Path) -> None:
    killed_at("phase.missed", snippet(MISSED, str(tmp_path / "agents.db")))
    db = new_book(tmp_path / "agents.db")
    assert PlanRepository(db).phases_of(DAY)["morning"].problem == "was off"
    db.close()


def test_what_is_asked_anew_about_a_note_takes_the_place_of_what_was_asked(book: PlanRepository) -> None:
    old, new, more = (Question("n-1", f"I could not find it{more}", "") for more in (" (line 5)", "", ", nor that"))
    goal = [Question("g-1", text, "") for text in ("Which one?", "And when?")]
    wording = {"n-1": "", "n-2": "", "g-1": "abc"}
    book.ask(DAY, [old, Question("n-2", "another note", ""), goal[0]], wording)
    book.ask(DAY, [new, more, goal[1]], wording)
    assert {one.text for one in book.asked(wording)} == {
        "another note", new.text, more.text, "Which one?", "And when?",
    }  # fmt: skip


def test_a_note_that_was_read_and_is_asked_about_no_more_is_settled(book: PlanRepository) -> None:
    """A question of one whose file was made since stood there until its words changed."""
    asked = [Question(note, "I found no file", "") for note in ("n-1", "n-2", "n-3")]
    wording = dict.fromkeys(("n-1", "n-2", "n-3"), "")
    book.ask(DAY, asked, wording)
    book.accept(DAY, Accepted("", Vision(), ()), asked[:1], wording, ["n-1", "n-2"])
    assert [one.goal_id for one in book.asked(wording)] == ["n-1", "n-3"], "of n-3 nothing was read"
