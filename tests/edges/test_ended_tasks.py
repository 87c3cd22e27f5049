"""Tasks that are over: read once, and again if anything happens to them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sisimpur.shared.model.lifecycle import Event, State
from sisimpur.shared.model.work import TaskSpec
from sisimpur.shared.store.database import Database
from sisimpur.shared.store.ended_tasks import EndedTasks, EndedWanted, TaskLife
from sisimpur.shared.store.journal import Journal, MoveReason
from tests.books import new_book

NOW = datetime(2026, 11, 20, 8, tzinfo=UTC)
TODAY, TOMORROW = "2026-11-20", "2026-11-21"


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    with closing(new_book(tmp_path / "agents.db")) as db:
        yield db


def born(db: Database, task: str, now: datetime = NOW) -> None:
    Journal(db).born(TaskSpec(task, "Fix it", "do it", goal_id="g-1"), State.BACKLOG, "planned", now, "wording")


def go(db: Database, task: str, source: State, event: Event, now: datetime = NOW) -> None:
    journal = Journal(db)
    journal.moved(journal.plan_move(task, source, MoveReason(event), now))


def lives(ended: EndedTasks, db: Database, today: str, since: str = TODAY) -> dict[str, TaskLife]:
    return ended.lives(EndedWanted(["g-2"], [], since), Journal(db), today)


def is_kept(ended: EndedTasks, db: Database, today: str) -> bool:
    """The very same object, although a table that it is read from was written meanwhile."""
    before = lives(ended, db, today)["t"]
    born(db, f"another-{today}", NOW)
    return lives(ended, db, today)["t"] is before


def test_what_ended_today_may_change_and_what_ended_before_today_is_read_once(db: Database) -> None:
    ended = EndedTasks(db)
    born(db, "t")
    assert not is_kept(ended, db, TOMORROW)  # it is open
    go(db, "t", State.BACKLOG, Event.CANCELLED)
    assert not is_kept(ended, db, TODAY)
    assert is_kept(ended, db, TOMORROW)


def test_a_task_that_is_given_back_is_read_again(db: Database) -> None:
    ended = EndedTasks(db)
    born(db, "t")
    go(db, "t", State.BACKLOG, Event.CANCELLED)
    assert is_kept(ended, db, TOMORROW)
    go(db, "t", State.FAILED, Event.RETRIED, NOW + timedelta(days=1))
    found = lives(ended, db, "2026-11-22")["t"]
    assert found.record.seen_in is State.BACKLOG and found.history[-1].event is Event.RETRIED


def test_a_move_that_is_not_done_yet_keeps_nothing(db: Database) -> None:
    ended = EndedTasks(db)
    born(db, "t")
    Journal(db).plan_move("t", State.BACKLOG, MoveReason(Event.CANCELLED), NOW)
    assert not is_kept(ended, db, TOMORROW)


def test_who_is_asked_for_comes_in_the_order_of_first_sight_and_the_same_when_kept(db: Database) -> None:
    ended = EndedTasks(db)
    for task in ("b", "a", "c"):
        born(db, task)
    go(db, "c", State.BACKLOG, Event.CANCELLED)
    go(db, "b", State.BACKLOG, Event.CANCELLED)
    assert [*lives(ended, db, TOMORROW)] == [*lives(ended, db, TOMORROW)] == ["b", "a", "c"]
    assert [*lives(ended, db, TOMORROW, "2026-11-21")] == []
