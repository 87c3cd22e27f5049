"""What the books say of goals that are begun: what is left of them, and which get a branch of their own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from sisimpur.agents.orchestrator.integration.partial_goals import (
    branches_for,
    finished,
    is_planned_whole,
    left_before,
    planned,
    unfinished,
)
from sisimpur.shared.model.lifecycle import Event, State, worded
from sisimpur.shared.model.naming import goal_branch
from sisimpur.shared.model.work import DailyPlan, Goal, PlanAnswer, TaskSpec
from sisimpur.shared.store.journal import Journal, MoveReason
from sisimpur.shared.store.plan_book import MOST_PLANS, PlanRepository
from tests.books import new_book

GOAL = Goal("g-1", "Number all rooms")
OTHER = Goal("g-2", "Light the lamp")
BRANCH = goal_branch("g-1", 1)
FIRST = date(2026, 11, 20)


def day(number: int) -> str:
    """Counted from 1."""
    return (FIRST + timedelta(days=number - 1)).isoformat()


def spec(id_: str, goal: str = "g-1", *needs: str) -> TaskSpec:
    return TaskSpec(id_, id_, "do it", goal_id=goal, files=("a.py",), depends_on=needs)


@dataclass
class Books:
    plans: PlanRepository
    journal: Journal

    def plan(self, number: int, *tasks: str, goal: Goal = GOAL, branch: str = BRANCH, **more: tuple[Goal, ...]) -> None:
        """On that day: these tasks for the goal."""
        specs = tuple(spec(id_, goal.id) for id_ in tasks)
        self.plans.keep_plan(DailyPlan(day(number), specs, ("so",) * len(specs), **more), {})  # type: ignore[arg-type]
        for one in specs:
            self.journal.born(one, State.BACKLOG, "planned", self.at(number), worded(goal)[1], branch)

    def drop(self, number: int, task: str) -> None:
        """With its goal."""
        self.journal.moved(
            self.journal.plan_move(task, State.BACKLOG, MoveReason(Event.GOAL_REMOVED, "gone"), self.at(number))
        )

    def at(self, number: int) -> datetime:
        return datetime.fromisoformat(day(number)).replace(hour=9, tzinfo=UTC)

    def left(self, number: int) -> bool:
        return worded(GOAL) in left_before(self.plans, self.journal, day(number))

    def is_whole(self, number: int) -> bool:
        return is_planned_whole(self.plans, self.journal, worded(GOAL), day(number))


@pytest.fixture
def books(tmp_path: Path) -> Iterator[Books]:
    db = new_book(tmp_path / "agents.db")
    yield Books(PlanRepository(db), Journal(db))
    db.close()


# --- what is left --------------------------------------------------------------------------------------------


def test_what_was_left_is_not_forgotten_on_days_that_do_not_name_it(books: Books) -> None:
    books.plan(1, "t-1", deferred=(GOAL,))
    assert not books.left(1) and books.is_whole(1) is False
    books.plan(2)
    books.plan(3, "o-1", goal=OTHER, branch="")
    assert books.left(4) and not books.is_whole(4)
    books.plan(4, "t-2")
    assert not books.left(4) and books.is_whole(4)
    assert not books.left(5)


def test_of_a_goal_on_main_the_last_plan_alone_is_asked(books: Books) -> None:
    books.plan(1, "t-1", branch="", deferred=(GOAL,))
    assert books.left(2)
    books.plan(2)
    assert not books.left(3)


def test_what_a_plan_says_of_goals_on_main_beside_it_is_not_kept(books: Books) -> None:
    books.plan(1, "t-1", deferred=(OTHER,))
    books.plan(2)
    assert left_before(books.plans, books.journal, day(3)) == set()


def test_each_wording_is_asked_about_for_itself(books: Books) -> None:
    """What was left of it as it was worded before is left when it is worded so again."""
    books.plan(1, "t-1", deferred=(GOAL,))
    books.plan(2, "t-2", goal=replace(GOAL, title="Number all the rooms"))
    assert books.left(2) and books.left(3)


def test_what_went_with_its_goal_is_planned_once_more_and_not_again(books: Books) -> None:
    books.plan(1, "t-1", "t-2")
    assert books.is_whole(1)
    books.drop(1, "t-2")
    assert books.left(1) and not books.is_whole(1)
    books.plan(1, "t-1", "t-2", "t-3")
    assert not books.left(1) and books.is_whole(1)


def test_a_landing_that_went_with_its_goal_is_nothing_to_plan(books: Books) -> None:
    books.plan(1, "t-1")
    books.journal.born(spec("20261120-l1"), State.BACKLOG, "all is there", books.at(1), worded(GOAL)[1], BRANCH)
    books.drop(1, "20261120-l1")
    assert not books.left(2) and books.is_whole(2)


def test_what_went_on_another_branch_does_not_count(books: Books) -> None:
    """That one has landed, or the goal was begun on main."""
    books.plan(1, "t-0", branch="")
    books.drop(1, "t-0")
    books.plan(2, "t-1", deferred=(OTHER,), goal=replace(GOAL, title="Number all the rooms"))
    assert not books.left(3)


def test_nothing_is_left_of_what_is_there(books: Books) -> None:
    books.plan(1, "t-1", deferred=(GOAL,))
    books.plan(2, finished=(GOAL,))
    assert not books.left(2) and books.is_whole(2)
    assert finished(books.plans, books.journal, day(3)) == {worded(GOAL): day(2)}


def test_what_went_with_its_goal_later_is_left_although_nothing_was(books: Books) -> None:
    books.plan(1, "t-1", "t-2", deferred=(GOAL,))
    books.plan(2, finished=(GOAL,))
    books.drop(3, "t-2")
    assert books.left(4)
    books.plan(4, finished=(GOAL,))
    assert not books.left(4) and not books.left(5)


def test_what_went_with_its_goal_is_there_if_that_is_seen_when_the_goal_is_back(books: Books) -> None:
    books.plan(1, "t-1", "t-2")
    books.drop(2, "t-2")
    books.plan(2, finished=(GOAL,))
    assert not books.left(2) and books.is_whole(2)


def test_what_went_with_its_goal_is_not_made_up_for_by_tasks_of_another_wording(books: Books) -> None:
    books.plan(1, "t-1", "t-2")
    books.drop(2, "t-2")
    books.plan(2, "t-3", goal=replace(GOAL, title="Number all the rooms"))
    assert books.left(3)


def test_a_reworded_goal_that_is_there_needs_no_task(books: Books) -> None:
    new = replace(GOAL, title="Number all the rooms")
    books.plan(1, "t-1", deferred=(GOAL,))
    books.plan(2, finished=(new,))
    assert planned(books.journal, [GOAL, new]) == {worded(GOAL)}
    assert is_planned_whole(books.plans, books.journal, worded(new), day(2))


def test_what_the_plan_of_the_day_leaves_is_unfinished(books: Books) -> None:
    books.plan(1, "t-1", held=(GOAL,))
    assert unfinished(books.plans, books.journal, day(1)) == {worded(GOAL)}


def test_plans_that_name_a_goal_are_found_the_newest_first_and_not_without_end(books: Books) -> None:
    for number in range(1, MOST_PLANS + 5):
        books.plan(number, deferred=(GOAL, OTHER) if number % 2 else (GOAL,))
    found = [plan.day for plan in books.plans.naming("g-1", day(MOST_PLANS + 4))]
    assert found == [day(number) for number in range(MOST_PLANS + 3, 3, -1)]
    assert [plan.day for plan in books.plans.naming("g-2", day(4))] == [day(3), day(1)]
    assert [*books.plans.naming("g-", day(9))] == []


# --- branches ------------------------------------------------------------------------------------------------


def test_a_goal_gets_a_branch_if_a_part_is_left_and_no_other_goal_needs_it(books: Books) -> None:
    tasks = (spec("t-1"), spec("t-2", "g-1", "t-1"), spec("o-1", "g-2", "older"))
    answer = PlanAnswer(tasks, deferred=("g-1",))
    assert branches_for(books.journal, answer, (GOAL, OTHER)) == (("g-1", BRANCH),)
    needs = replace(answer, tasks=(*tasks, spec("o-2", "g-2", "t-1")))
    assert branches_for(books.journal, needs, (GOAL, OTHER)) == ()


@pytest.mark.parametrize("answer", [PlanAnswer((spec("t-1"),)), PlanAnswer(deferred=("g-1",))])
def test_a_goal_that_is_planned_whole_or_not_at_all_gets_none(books: Books, answer: PlanAnswer) -> None:
    assert branches_for(books.journal, answer, (GOAL,)) == ()


def test_a_goal_that_is_begun_on_main_or_somebody_elses_gets_none(books: Books) -> None:
    answer = PlanAnswer((spec("t-2"),), deferred=("g-1",))
    assert branches_for(books.journal, answer, (replace(GOAL, proposed_by="mallory"),)) == ()
    books.plan(1, "t-1", branch="")
    assert branches_for(books.journal, answer, (GOAL,)) == ()
