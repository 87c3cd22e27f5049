"""A goal that is done on its own branch -> one more task, which brings it into the target's branch as one change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sisimpur.agents.orchestrator.board.session import Session
from sisimpur.agents.orchestrator.board.transitions import Transitions
from sisimpur.agents.orchestrator.integration.feature_branches import lands, open_branches
from sisimpur.agents.orchestrator.integration.partial_goals import is_planned_whole
from sisimpur.agents.orchestrator.roadmap.roadmap import DONE
from sisimpur.agents.orchestrator.roadmap.roadmap_book import RoadmapRepository
from sisimpur.agents.orchestrator.roadmap.roadmap_needs import wanted
from sisimpur.shared.model.evidence import is_test_file
from sisimpur.shared.model.lifecycle import OPEN, Event, State, worded, wording
from sisimpur.shared.model.naming import WHO, attempt_ref, landing_task
from sisimpur.shared.model.work import Goal, TaskSpec, Vision
from sisimpur.shared.repo.commit_text import task_text
from sisimpur.shared.repo.mirror import Mirror
from sisimpur.shared.repo.mirror_commits import AlreadyThere, Rebased
from sisimpur.shared.store.journal import Journal
from sisimpur.shared.store.plan_book import PlanRepository
from sisimpur.shared.store.task_records import TaskRecord
from sisimpur.shared.store.task_store import TaskStore

MOST_CRITERIA = 30
MOST_FILES = 50  # that a task's file may name; the gates look at the change itself
LONGEST_TITLE = 300


@dataclass(frozen=True)
class BranchContent:
    """What is on the branch of a goal, as a task and as a commit. `main`: the target's branch."""

    journal: Journal
    store: TaskStore
    mirror: Mirror
    main: str
    clean: Callable[[str], str]  # the filter for outgoing text

    def task(self, goal: Goal, branch: str) -> TaskSpec | None:
        """Without an id. None: there is nothing to bring."""
        tip, there = self.mirror.head(branch), self.mirror.head(self.main)
        done = [*self._done(branch)]
        paths = {path for task in done for path in (*task.files, *task.new_files)}
        first = sorted(paths, key=lambda path: (not is_test_file(path), path))  # the tests are its own, too
        if tip is None or there is None or not paths:
            return None
        before = {entry.path for entry in self.mirror.tree(there)}
        return TaskSpec(
            id="",
            title=goal.title[:LONGEST_TITLE],
            description=_description(goal, branch, done),
            priority=goal.priority,
            goal_id=goal.id,
            files=tuple(path for path in first if path in before)[:MOST_FILES],
            new_files=tuple(path for path in first if path not in before)[:MOST_FILES],
            acceptance=tuple(dict.fromkeys(line for task in done for line in task.acceptance))[:MOST_CRITERIA],
        )

    def _done(self, branch: str) -> Iterator[TaskSpec]:
        """Tasks that are done, as their files say now."""
        ids = [one.id for one in self.journal.tasks_on(branch).values() if not lands(one)]
        for id_ in sorted(ids):
            spec = self.store.read(State.COMPLETED, id_).spec  # none if its file lies elsewhere
            if isinstance(spec, TaskSpec):
                yield spec

    def is_free(self, task: TaskSpec) -> bool:
        """Whether no other task has its id."""
        filed = (self.store.read(state, task.id).spec for state in self.store.find(task.id))
        return self.journal.task(task.id) is None and all(spec == task for spec in filed)

    def gather(self, spec: TaskSpec, number: int, tip: str, onto: str, now: datetime) -> Rebased | AlreadyThere:
        """What is on the branch at `tip`, which holds `onto`, as the commit of this attempt. No model is asked.

        What it is made of is in the book before it stands: a commit that stands is gone on from, whoever was killed.
        """
        text = task_text(spec, number).written(self.clean)
        key = f"{spec.id}.a{number}:gather"
        self.journal.intend(key, "gather", spec.id, tip, now)
        self.journal.achieved(key, tip)
        return self.mirror.gathered(tip, onto, attempt_ref(spec.id, number), WHO, text, now)


def _description(goal: Goal, branch: str, done: Sequence[TaskSpec]) -> str:
    parts = [
        f"All that was done for this goal on `{branch}`, as one change:",
        "\n".join(f"- {task.title} (`{task.id}`)" for task in done),
        "\n".join(f"- {detail}" for detail in goal.details),
    ]
    return "\n\n".join(filter(None, parts))


@dataclass(frozen=True)
class Integrating:
    """Files the task that brings a goal's branch home, when all of the goal is on it."""

    plans: PlanRepository
    pins: RoadmapRepository
    content: BranchContent
    transitions: Transitions
    session: Session

    def file_due(self) -> bool:
        """A task for each goal whose branch holds all of it; whether there was one. Repeatable after a kill."""
        accepted, branches = self.plans.accepted(), open_branches(self.content.journal)
        if accepted is None or not branches:
            return False
        filed = False
        for goal in accepted.vision.goals:
            branch = branches.get(goal.id)
            if branch and self._is_due(accepted.vision, goal, branch) and (task := self._task(goal, branch)):
                self.transitions.file(task, f"all of its goal is on {branch}", wording(goal), branch)
                main = self.content.main
                self.session.tell(f"{task.id}: all of {goal.title!r} is on {branch}; it goes to {main} now")
                filed = True
        return filed

    def _is_due(self, vision: Vision, goal: Goal, branch: str) -> bool:
        journal = self.content.journal
        every = journal.tasks_on(branch).values()
        tasks = [one for one in every if not lands(one)]
        made = [one for one in every if lands(one) and not one.is_dropped]
        merged = max((_ended(one) for one in tasks if one.seen_in is State.COMPLETED), default="")
        if not merged or any(_is_in_work(one) or _ended(one) >= merged for one in made):
            return False  # nothing is there, it is on its way, or the owner does not want what is there
        pin = self.pins.pins(wanted(vision)).get(goal.id)
        if pin and pin.place == DONE:
            return not any(map(_is_in_work, tasks))
        if any(_is_in_work(one) or _is_given_up(one) for one in tasks):
            return False
        is_asked = bool(self.plans.asked(dict([worded(goal)])))
        return not is_asked and is_planned_whole(self.plans, journal, worded(goal), self.session.day())

    def _task(self, goal: Goal, branch: str) -> TaskSpec | None:
        """With an id that no other has: the owner may have dropped such a file, or we before a kill this one.

        None: there is nothing to bring.
        """
        task = self.content.task(goal, branch)
        if task is None:
            return None
        named = (replace(task, id=landing_task(self.session.day(), number)) for number in range(1, 10_000))
        return next(one for one in named if self.content.is_free(one))


def _is_in_work(task: TaskRecord) -> bool:
    return task.seen_in in OPEN


def _is_given_up(task: TaskRecord) -> bool:
    """By the team: it waits for the owner."""
    return task.seen_in is State.FAILED and task.newest is not None and task.newest.event is Event.EXHAUSTED


def _ended(task: TaskRecord) -> str:
    """When; empty: nothing has happened to it yet."""
    return task.newest.at if task.newest else ""
