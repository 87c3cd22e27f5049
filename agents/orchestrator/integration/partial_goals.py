"""Goals that are begun: what is planned of them, what is left over, and which get a branch of their own.

A goal counts as it is worded. Of one on a branch of its own every plan since it began is asked, not only the last: it
must not land before all of it is there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from sisimpur.agents.orchestrator.integration.feature_branches import lands, new_branch, open_branches
from sisimpur.shared.model.lifecycle import Event, State, Worded, worded
from sisimpur.shared.model.work import DailyPlan, Goal, PlanAnswer
from sisimpur.shared.store.journal import Journal
from sisimpur.shared.store.plan_book import PlanRepository
from sisimpur.shared.store.task_records import TaskRecord


def worded_as(task: TaskRecord) -> Worded:
    return task.goal_id, task.wording


def planned(journal: Journal, goals: Iterable[Goal]) -> set[Worded]:
    """Those of these goals that have tasks. What went with its goal does not count when the goal is back."""
    return {worded(goal) for goal in goals} & _have_tasks(journal, (goal.id for goal in goals))


def _have_tasks(journal: Journal, ids: Iterable[str]) -> set[Worded]:
    return {worded_as(one) for one in journal.tasks_of(ids).values() if not one.is_dropped}


def is_planned_whole(plans: PlanRepository, journal: Journal, goal: Worded, day: str) -> bool:
    """Whether all of it has tasks, or is there."""
    is_begun = goal in _have_tasks(journal, goal[:1]) or goal in finished(plans, journal, day)
    return is_begun and goal not in unfinished(plans, journal, day)


# --- what is left --------------------------------------------------------------------------------------------


def unfinished(plans: PlanRepository, journal: Journal, day: str) -> set[Worded]:
    """Goals of which a part is to be planned on that day, or was left over by its plan."""
    today = plans.plan(day)
    return left_before(plans, journal, day) | (_rest(today) if today else set())


def left_before(plans: PlanRepository, journal: Journal, day: str) -> set[Worded]:
    """Goals of which the plans before that day have left a part that is not in that day's."""
    today, words = plans.plan(day), _last_words(plans, journal, day)
    ids = {task.goal_id for task in today.tasks} | {goal.id for goal in today.finished} if today else set()
    taken_up = _taken_up(today, journal) if today and words else set()
    left = {worded(goal) for goal in plans.left_over(day) if goal.id not in ids}
    left |= {goal for goal, plan in words.items() if goal in _rest(plan) - taken_up}
    return left | _lost(plans, journal, day) | {worded_as(task) for task in given_back(journal)}


def finished(plans: PlanRepository, journal: Journal, day: str) -> dict[Worded, str]:
    """Goals on branches of their own of which nothing was left to plan -> the day on which that was seen."""
    words, today = _last_words(plans, journal, day), plans.plan(day)
    if today:  # a plan names what it has finished; what else it names counts against an earlier word only
        words |= dict.fromkeys(_named(today, journal) if words else map(worded, today.finished), today)
    return {goal: plan.day for goal, plan in words.items() if goal in map(worded, plan.finished)}


def _lost(plans: PlanRepository, journal: Journal, day: str) -> set[Worded]:
    """Goals on branches whose tasks went with them: should they come back, these are planned anew."""
    branches = open_branches(journal)
    if not branches:
        return set()
    seen, gone = finished(plans, journal, day), journal.lost()
    lost = ((task, gone[task.id]) for task in journal.tasks(gone).values())
    return {
        worded_as(task)
        for task, on in lost
        if task.branch == branches.get(task.goal_id) and not lands(task)
        if seen.get(worded_as(task), "") < on
    }


def _last_words(plans: PlanRepository, journal: Journal, day: str) -> dict[Worded, DailyPlan]:
    """Goals on branches of their own -> the last plan before that day that names them."""
    found: dict[Worded, DailyPlan] = {}
    for id_ in open_branches(journal):
        for plan in plans.naming(id_, day):
            found |= {goal: plan for goal in _named(plan, journal) if goal[0] == id_ and goal not in found}
    return found


def _named(plan: DailyPlan, journal: Journal) -> set[Worded]:
    return _rest(plan) | _taken_up(plan, journal)


def _rest(plan: DailyPlan) -> set[Worded]:
    return {worded(goal) for goal in (*plan.deferred, *plan.held)}


def _taken_up(plan: DailyPlan, journal: Journal) -> set[Worded]:
    tasks = journal.tasks(task.id for task in plan.tasks).values()
    return {*map(worded, plan.finished), *map(worded_as, tasks)}


# --- what the coder gave back --------------------------------------------------------------------------------


def may_be_given_back(journal: Journal, task: TaskRecord) -> bool:
    """The planner hears of it once for each wording of a goal; then it is the owner's turn."""
    before = journal.tasks(journal.times_of(Event.GIVEN_BACK)).values()
    return bool(task.goal_id) and not lands(task) and worded_as(task) not in map(worded_as, before)


def given_back(journal: Journal) -> tuple[TaskRecord, ...]:
    """Tasks of which the planner has not heard yet that they cannot be done as described."""
    failed = journal.places()[State.FAILED]  # where such a task lies until the owner moves it
    tasks = journal.tasks(journal.times_of(Event.GIVEN_BACK).keys() & failed) if failed else {}
    return tuple(
        task
        for task in tasks.values()
        if task.newest and task.newest.event is Event.GIVEN_BACK and not journal.intended(_heard(task))
    )


def planner_heard(journal: Journal, goals: Sequence[Goal], now: datetime) -> None:
    """Whatever the planner has made of it."""
    for task in given_back(journal):
        if worded_as(task) in map(worded, goals):
            journal.intend(_heard(task), "planned anew", task.id, task.wording, now)


def _heard(task: TaskRecord) -> str:
    return f"{task.id}:planned-anew"


# --- branches ------------------------------------------------------------------------------------------------


def branches_for(journal: Journal, answer: PlanAnswer, goals: Sequence[Goal]) -> tuple[tuple[str, str], ...]:
    """(goal, branch): the owner's goals that one day turns out to be too short for, and of which nothing is there yet.

    Not if a task of another goal needs one of it: that would wait until all of the goal has landed, and the goal
    perhaps for that.
    """
    begun, needed = planned(journal, goals), _needed_by_others(answer)
    whose = {task.goal_id for task in answer.tasks}
    return tuple(
        (goal.id, new_branch(journal, goal.id))
        for goal in goals
        if not goal.proposed_by
        and goal.id in answer.deferred
        and goal.id in whose - needed
        and worded(goal) not in begun
    )


def _needed_by_others(answer: PlanAnswer) -> set[str]:
    """Goals, by id."""
    whose = {task.id: task.goal_id for task in answer.tasks}
    return {
        whose[needed]
        for task in answer.tasks
        for needed in task.depends_on
        if whose.get(needed, task.goal_id) != task.goal_id
    }
