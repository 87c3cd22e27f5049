"""The books -> what each goal of the vision needs, and the team's pace. Looks and changes nothing."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sisimpur.agents.orchestrator.goals.standing import GoalBooks, GoalEnd, GoalEnds, GoalStanding
from sisimpur.agents.orchestrator.integration.feature_branches import lands, open_branches
from sisimpur.agents.orchestrator.integration.partial_goals import finished, unfinished
from sisimpur.agents.orchestrator.roadmap.roadmap import (
    DONE,
    MOST,
    PROFILE,
    GoalPin,
    Need,
    Roadmap,
    Room,
    lay_out,
    pace,
)
from sisimpur.agents.orchestrator.roadmap.roadmap_book import RoadmapRepository
from sisimpur.agents.orchestrator.vision.goal_ids import BULLET, ISSUE, PROSE, doubles, wordings
from sisimpur.shared.model.lifecycle import OPEN, Event, State, Worded, worded, wording
from sisimpur.shared.model.text import counted, harmless
from sisimpur.shared.model.work import Difficulty, Goal, Question, Vision
from sisimpur.shared.money.ledger_reader import LedgerReader
from sisimpur.shared.store.journal import Journal
from sisimpur.shared.store.plan_book import PlanRepository
from sisimpur.shared.store.task_records import TaskRecord

MOST_FINISHED = 100  # goals that have left the vision: what we write has to be read again


@dataclass(frozen=True)
class Sources:
    """All that a roadmap is made from."""

    plans: PlanRepository
    journal: Journal
    ledger: LedgerReader
    book: RoadmapRepository
    room: Room
    goals: GoalBooks


def room(capacity: int, cap: int, minutes: int, per_token: tuple[int, int]) -> Room:
    """`minutes`: of all hands; `per_token`: the coder's price, sent and received."""
    sent, received = PROFILE[Difficulty.MEDIUM]
    return Room(capacity, cap, minutes, sent * per_token[0] + received * per_token[1])


def wanted(vision: Vision) -> dict[str, str]:
    """Goal -> its wording."""
    return {goal.id: wording(goal) for goal in vision.goals}


def laid_out(gather: BooksOfGoals, pins: Mapping[str, GoalPin]) -> Roadmap:
    """`pins`: of this vision's goals."""
    sources, vision, day = gather.sources, gather.vision, gather.day
    rate = pace([*gather.merged()], sources.room)
    is_summed_up = "wrap_up" in sources.plans.phases_of(day)
    gone = rate.room(1) if is_summed_up else min(rate.room(1), gather.done_of_the_plan())
    return lay_out(_needs(gather, sources.book.finished(), vision, day, pins), pins.values(), rate, day, gone)


def standings(gather: BooksOfGoals) -> Iterator[GoalStanding]:
    """Of each goal, but for those that the owner has ticked. What grows on a branch is not there to be measured."""
    pins = gather.sources.book.pins(wanted(gather.vision))
    for goal in gather.vision.goals:
        if goal.id not in pins or pins[goal.id].place != DONE:
            need = gather.need(goal)
            begun = 0 if [*gather.on(goal)] else need.merged + need.open
            yield GoalStanding(goal, need.merged, begun, need.end, gather.told(goal, need.end))


def open_questions(plans: PlanRepository, book: RoadmapRepository, vision: Vision) -> tuple[Question, ...]:
    """What the owner is still asked: not about a goal that he has ticked."""
    pins = book.pins(wanted(vision))
    ticked = {id_ for id_, pin in pins.items() if pin.place == DONE}
    return tuple(question for question in plans.asked(wordings(vision)) if question.goal_id not in ticked)


def _needs(
    gather: BooksOfGoals, over: Mapping[str, Need], vision: Vision, day: str, pins: Mapping[str, GoalPin]
) -> tuple[Need, ...]:
    """Of each goal, in the order of the vision; then of the newest that were done and have left it."""
    found = []
    for goal in vision.goals:
        need = gather.need(goal)
        if not need.done_on and goal.id in pins and pins[goal.id].place == DONE:
            known = over.get(goal.id)
            note = ", ".join(gather.on(goal))  # until it has landed there too, he reads where it is
            need = replace(need, open=0, to_come=0, note=note, done_on=known.done_on if known else day)
        found.append(need)
    theirs = {goal.id for goal in vision.goals}
    left = [need for id_, need in over.items() if id_ not in theirs]
    return (*found, *left[-MOST_FINISHED:])


class BooksOfGoals:
    """What the books say of goals, as they are worded now: read once for all that is told of one moment."""

    def __init__(self, sources: Sources, vision: Vision, day: str) -> None:
        self.sources = sources
        self.vision = vision
        self.day = day
        self.doubles = doubles(vision.goals)
        self._journal = sources.journal
        self._asked = {question.goal_id for question in sources.plans.asked(wordings(vision))}
        self._left = unfinished(sources.plans, sources.journal, day)
        self._finished = finished(sources.plans, sources.journal, day)
        plan = sources.plans.plan(day)
        self._planned = [task.id for task in plan.tasks] if plan else []
        self._ends = sources.journal.merged_last(MOST)
        goals = {*(goal.id for goal in vision.goals), *(goal for goal, _ in self._left)}
        self._known = sources.journal.tasks_of(goals, (*self._planned, *self._ends))
        self._tasks: dict[Worded, list[TaskRecord]] = {}
        for known in self._known.values():
            if not known.is_dropped:
                self._tasks.setdefault((known.goal_id, known.wording), []).append(known)
        self._used = sources.ledger.used_by(self._known)
        self._goal_ends = GoalEnds(sources.goals)
        self._over = sources.book.finished()
        self._usual = _usual(sources.journal, self._tasks, self._left)
        self._branches = open_branches(sources.journal)

    def merged(self) -> Iterator[tuple[int, float]]:
        """(cost, minutes) of the tasks that were merged last."""
        for id_ in self._ends:
            yield self._used[id_].amount, self._known[id_].tried.minutes

    def done_of_the_plan(self) -> int:
        """How many of the day's tasks are over."""
        return sum(self._known[id_].seen_in not in OPEN for id_ in self._planned if id_ in self._known)

    def need(self, goal: Goal) -> Need:
        if first := self.doubles.get(goal.id):
            return Need(goal.id, goal.title, goal.priority, note=f"the same as line {first.line} of VISION.md")
        now = worded(goal)
        tasks, asked = self._tasks.get(now, []), goal.id in self._asked
        merged = [task for task in tasks if task.seen_in is State.COMPLETED]
        failed = [task for task in tasks if task.seen_in is State.FAILED and _is_given_up(task)]
        open_ = [*failed, *(task for task in tasks if task.seen_in in OPEN)]
        branch = self._branches.get(goal.id, "")
        to_come = self._to_come(now, asked)
        is_to_land = bool(branch) and not open_ and not to_come  # and its landing is not made yet, or was cancelled
        need = Need(
            id=goal.id,
            title=goal.title,
            priority=goal.priority,
            merged=len(merged),
            open=len(open_) + is_to_land,
            to_come=to_come,
            cost=sum(self._used[task.id].amount for task in tasks),
            proposed=bool(goal.proposed_by),
            asked=asked,
            note=", ".join((*_notes(goal, len(failed), asked, bool(tasks) and not (merged or open_)), *self.on(goal))),
        )
        return self._at_its_end(goal, need, merged) if merged and not need.size else self._with_note(goal, need)

    def _at_its_end(self, goal: Goal, need: Need, merged: Sequence[TaskRecord]) -> Need:
        """It is done when it holds: until then it is open, and it is said what is next."""
        before = self._over.get(goal.id)
        need = replace(
            need, end=self._goal_ends.end(goal, need.merged, before is not None and before.merged == need.merged)
        )
        need = self._with_note(goal, need)
        match need.end:
            case "done":
                return replace(need, done_on=max(_ended(task) for task in merged))
            case "look":
                return replace(need, open=1)
            case _:
                return replace(need, to_come=1)

    def _with_note(self, goal: Goal, need: Need) -> Need:
        return replace(need, note=", ".join(filter(None, (need.note, self.told(goal, need.end)))))

    def told(self, goal: Goal, end: GoalEnd | None) -> str:
        """What was seen of it, in words."""
        return harmless(self._goal_ends.told(goal, end))

    def on(self, goal: Goal) -> Iterator[str]:
        """Where it is, as long as it is not on the target's branch."""
        if branch := self._branches.get(goal.id, ""):
            made = (one for one in self._journal.tasks_on(branch).values() if lands(one) and not one.is_dropped)
            is_rejected = any(one.seen_in in (State.FAILED, State.GONE) and not _is_given_up(one) for one in made)
            yield (
                f"its landing was cancelled, it stays on {branch}" if is_rejected else f"on {branch} until it is whole"
            )

    def _to_come(self, goal: Worded, asked: bool) -> int:
        """Tasks that are not planned yet, as many as goals needed so far; of what is begun at least one."""
        tasks, is_left = self._tasks.get(goal, []), goal in self._left
        if not tasks and goal not in self._finished:
            return self._usual
        return max(1, self._usual - len(tasks)) if asked or is_left else 0


def _notes(goal: Goal, failed: int, asked: bool, is_dropped: bool) -> Iterator[str]:
    if goal.proposed_by:
        yield "somebody else's wish"
    if asked:
        yield "a question waits for you"
    if failed:
        yield f"{counted(failed, 'failed task waits', 'failed tasks wait')} for you"
    if is_dropped:
        yield "its tasks were cancelled"


def _usual(journal: Journal, tasks: Mapping[Worded, Collection[TaskRecord]], left: Collection[Worded]) -> int:
    """How many tasks a goal needed so far, rounded up; what is not planned to its end says nothing.

    `tasks`: at least those of the goals that are `left`.
    """
    kinds = (BULLET, PROSE, ISSUE)
    made, goals = journal.sizes(kinds)
    halves = [tasks[goal] for goal in left if goal in tasks and goal[0].startswith(kinds)]
    made -= sum(not lands(task) for half in halves for task in half)
    goals -= len(halves)
    return max(1, math.ceil(made / goals)) if goals else 1


def _is_given_up(task: TaskRecord) -> bool:
    """By the team; what the owner cancelled is no task any more."""
    return task.newest is not None and task.newest.event is Event.EXHAUSTED


def _ended(task: TaskRecord) -> str:
    """The day of it, YYYY-MM-DD."""
    assert task.newest
    return task.newest.at[:10]
