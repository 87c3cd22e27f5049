"""What goes on: runs without an end, runs that broke off, phases, and since when somebody works."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sisimpur.shared.model.errors import Stopping, Unavailable
from sisimpur.shared.store.activity import Activity, BadEnd, OpenRun, Phase, locked_since
from sisimpur.shared.store.database import Database
from sisimpur.shared.store.plan_book import PlanRepository
from sisimpur.shared.system import lock
from sisimpur.shared.system.clock import ManualClock
from tests.books import new_book

DAY = "2026-11-20"
MORNING = datetime(2026, 11, 20, 8, tzinfo=UTC)
CLOCK = ManualClock(MORNING)


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    db = new_book(tmp_path / "agents.db")
    yield db
    db.close()


def run(db: Database, agent: str, task: str = "", problem: BaseException | None = None, day: str = DAY) -> None:
    with suppress(BaseException), Activity(db).running(agent, day, CLOCK, task, 1):
        if problem:
            raise problem


def killed(db: Database, agent: str, task: str = "") -> None:
    """As kill -9 leaves it: begun, and no end."""
    run(db, agent, task)
    with db.transaction() as connection:
        connection.execute(
            "update agent_runs set ended_at = null, result = null where id = (select max(id) from agent_runs)"
        )


def test_a_run_is_open_until_it_ends(db: Database) -> None:
    with Activity(db).running("coder", DAY, CLOCK, "t", 1) as at_work:
        assert Activity(db).open_runs() == (OpenRun(at_work.id, "coder", "t", MORNING),)
    assert Activity(db).open_runs() == ()


def test_what_was_cut_off_and_taken_up_again_is_not_open_any_more(db: Database) -> None:
    killed(db, "coder", "t")
    killed(db, "qa", "t")
    run(db, "coder", "t")
    assert [(run.agent, run.task) for run in Activity(db).open_runs()] == [("qa", "t")]


def test_only_runs_that_began_later_are_asked_for(db: Database) -> None:
    assert Activity(db).newest_run() == 0
    killed(db, "coder", "t1")
    newest = Activity(db).newest_run()
    killed(db, "coder", "t2")
    assert [run.task for run in Activity(db).open_runs(newest)] == ["t2"]


def test_what_broke_off_counts_until_it_is_done_again(db: Database) -> None:
    run(db, "planner", problem=Unavailable("no answer"))
    run(db, "coder", "t", Unavailable("no answer"))
    run(db, "coder", "t")
    run(db, "qa", "t", KeyboardInterrupt())
    run(db, "deployer", "t", Stopping("the program is being stopped"))
    run(db, "reviewer", "t", Unavailable("of yesterday"), "2026-11-19")
    assert Activity(db).bad_ends(DAY) == (BadEnd("planner", "", "Unavailable: no answer"),)


def test_a_phase_with_a_problem_has_no_end(db: Database) -> None:
    plans = PlanRepository(db)
    for name in ("morning", "planning"):
        plans.phase_begins(DAY, name, MORNING)
    plans.phase_ended(DAY, "morning", MORNING)
    plans.phase_begins("2026-11-19", "work", MORNING)
    assert Activity(db).phases(DAY) == (Phase("morning", True), Phase("planning", False))


def test_the_lock_knows_since_when_somebody_works(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with lock.hold(path):
        assert abs(locked_since(path) - datetime.now(UTC)) < timedelta(seconds=10)
