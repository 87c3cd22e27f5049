"""A goal that is done on its own branch -> one more task, which brings it into the target's branch as one change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from agents.orchestrator.board.transitions import file_task
from agents.orchestrator.integration.feature_branches import OPEN, lands, open_branches
from agents.orchestrator.integration.partial_goals import is_planned_whole
from agents.orchestrator.roadmap.roadmap import DONE
from agents.orchestrator.roadmap.roadmap_needs import wanted
from agents.orchestrator.team import WHO, Desk
from shared.model.evidence import is_test_file
from shared.model.lifecycle import Event, State, wording
from shared.model.naming import attempt_ref, landing_task
from shared.model.work import Goal, TaskSpec, Vision
from shared.repo.mirror_commits import AlreadyThere, Rebased
from shared.store.task_records import TaskRecord

MOST_CRITERIA = 30
MOST_FILES = 50  # that a task's file may name; the gates look at the change itself
LONGEST_TITLE = 300


def file_due(desk: Desk) -> bool:
    """A task for each goal whose branch holds all of it; whether there was one. Repeatable after a kill."""
    accepted, branches = desk.plans.accepted(), open_branches(desk.journal)
    if accepted is None or not branches:
        return False
    filed = False
    for goal in accepted.vision.goals:
        branch = branches.get(goal.id)
        if branch and _is_due(desk, accepted.vision, goal, branch) and (task := _task(desk, goal, branch)):
            file_task(desk, task, f"all of its goal is on {branch}", wording(goal), branch)
            desk.tell(f"{task.id}: all of {goal.title!r} is on {branch}; it goes to {desk.rules.branch} now")
            filed = True
    return filed


def _is_due(desk: Desk, vision: Vision, goal: Goal, branch: str) -> bool:
    every = desk.journal.tasks_on(branch).values()
    tasks = [one for one in every if not lands(one)]
    made = [one for one in every if lands(one) and not one.is_dropped]
    merged = max((_ended(one) for one in tasks if one.seen_in is State.COMPLETED), default="")
    if not merged or any(_is_in_work(one) or _ended(one) >= merged for one in made):
        return False  # nothing is there, it is on its way, or the owner does not want what is there
    now, day = (goal.id, wording(goal)), desk.day()
    pin = desk.roadmap.pins(wanted(vision)).get(goal.id)
    if pin and pin.place == DONE:
        return not any(map(_is_in_work, tasks))
    if any(_is_in_work(one) or _is_given_up(one) for one in tasks):
        return False
    is_asked = any(one.goal_id == goal.id for one in desk.plans.asked({goal.id: wording(goal)}))
    return not is_asked and is_planned_whole(desk.plans, desk.journal, now, day)


def _is_in_work(task: TaskRecord) -> bool:
    return task.seen_in in OPEN


def _is_given_up(task: TaskRecord) -> bool:
    """By the team: it waits for the owner."""
    return task.seen_in is State.FAILED and task.newest is not None and task.newest.event is Event.EXHAUSTED


def _ended(task: TaskRecord) -> str:
    """When; empty: nothing has happened to it yet."""
    return task.newest.at if task.newest else ""


# --- the task ------------------------------------------------------------------------------------------------


def _task(desk: Desk, goal: Goal, branch: str) -> TaskSpec | None:
    """None: there is nothing to bring."""
    mirror, main = desk.mirror, desk.rules.branch
    tip, there = mirror.head(branch), mirror.head(main)
    done = [*_done(desk, branch)]
    paths = {path for task in done for path in (*task.files, *task.new_files)}
    first = sorted(paths, key=lambda path: (not is_test_file(path), path))  # the tests are its own, too
    if tip is None or there is None or not paths:
        return None
    before = {entry.path for entry in mirror.tree(there)}
    return _with_id(
        desk,
        TaskSpec(
            id="",
            title=goal.title[:LONGEST_TITLE],
            description=_description(goal, branch, done),
            priority=goal.priority,
            goal_id=goal.id,
            files=tuple(path for path in first if path in before)[:MOST_FILES],
            new_files=tuple(path for path in first if path not in before)[:MOST_FILES],
            acceptance=tuple(dict.fromkeys(line for task in done for line in task.acceptance))[:MOST_CRITERIA],
        ),
    )


def _done(desk: Desk, branch: str) -> Iterator[TaskSpec]:
    """As their files say now."""
    ids = [one.id for one in desk.journal.tasks_on(branch).values() if not lands(one)]
    for id_ in sorted(ids):
        spec = desk.store.read(State.COMPLETED, id_).spec  # none if its file lies elsewhere
        if isinstance(spec, TaskSpec):
            yield spec


def _description(goal: Goal, branch: str, done: Sequence[TaskSpec]) -> str:
    parts = [
        f"All that was done for this goal on `{branch}`, as one change:",
        "\n".join(f"- {task.title} (`{task.id}`)" for task in done),
        "\n".join(f"- {detail}" for detail in goal.details),
    ]
    return "\n\n".join(filter(None, parts))


def _with_id(desk: Desk, task: TaskSpec) -> TaskSpec:
    """One that no other task has: the owner may have dropped a file of such a name, or we before a kill this one."""
    named = (replace(task, id=landing_task(desk.day(), number)) for number in range(1, 10_000))
    return next(one for one in named if desk.journal.task(one.id) is None and _is_free(desk, one))


def _is_free(desk: Desk, task: TaskSpec) -> bool:
    return all(desk.store.read(state, task.id).spec == task for state in desk.store.find(task.id))


# --- its commit ----------------------------------------------------------------------------------------------


def gather(desk: Desk, spec: TaskSpec, number: int, tip: str, onto: str) -> Rebased | AlreadyThere:
    """What is on the branch at `tip`, which holds `onto`, as the commit of this attempt. No model is asked.

    What it is made of is in the book before it stands: a commit that stands is gone on from, whoever was killed.
    """
    text, now = desk.delivery.clean(f"{spec.title}\n\n{spec.description}\n\nTask: {spec.id}\n"), desk.clock.now()
    key = f"{spec.id}.a{number}:gather"
    desk.journal.intend(key, "gather", spec.id, tip, now)
    desk.journal.achieved(key, tip)
    return desk.mirror.gathered(tip, onto, attempt_ref(spec.id, number), WHO, text, now)
