"""The accepted vision -> today's plan, its task files and DAILY_PLAN.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from agents.orchestrator.board.snapshot import load_snapshot
from agents.orchestrator.board.transitions import file_task
from agents.orchestrator.integration.feature_branches import BranchConflict, FeatureBranches, open_branches
from agents.orchestrator.integration.partial_goals import branches_for, finished, left_before, planned, worded
from agents.orchestrator.memory import learning
from agents.orchestrator.planning import daily_planner
from agents.orchestrator.planning.daily_planner import goals_to_plan, merged
from agents.orchestrator.research.research_note import note_path
from agents.orchestrator.roadmap import roadmapping
from agents.orchestrator.roadmap.roadmap import forecast
from agents.orchestrator.team import Desk, Team
from agents.orchestrator.upkeep import upkeep
from agents.orchestrator.vision.goal_ids import wordings
from shared.model.errors import Refused, Stumble, TeamError, Unavailable
from shared.model.lifecycle import State, wording
from shared.model.research import inquiry
from shared.model.text import counted
from shared.model.work import DailyPlan, Goal, PlanAnswer, PlanOrder, TaskSpec, Vision
from shared.store.journal import Journal
from shared.store.plan_book import Accepted, PlanRepository
from shared.system.paths import write_text

Goals = Sequence[Goal]

MOST_PLANNINGS = 5  # per day: an owner who edits all day, or a model that never answers well


def plan_day(desk: Desk, team: Team, day: str) -> None:
    """Plans what has neither a task nor a question yet, in the roadmap's order. Nothing of that kind: no model call.

    The owner's goals come first. What strangers propose has a call of its own, when his tasks are written: no word of a
    stranger stands beside his goals, and whatever becomes of that call, his plan is kept.
    """
    accepted = desk.plans.accepted()
    if accepted is None:
        return
    goals = due_goals(desk, accepted.vision, day)
    proposals = tuple(goal for goal in goals if goal.proposed_by)
    his = tuple(goal for goal in goals if not goal.proposed_by)
    put_off = [one for one in open_goals(desk.plans, desk.journal, accepted.vision, day) if one not in goals]
    branches = open_branches(desk.journal)
    planning = _Planning(desk, team, day, accepted, branches, held=_begun(desk.journal, put_off))
    if his or not proposals:
        planning.plan(his, waiting=_begun(desk.journal, proposals))
        _write(desk, accepted, day)
    if proposals:
        planning.plan(proposals, is_booked=bool(his))
        _write(desk, accepted, day)


def due_goals(desk: Desk, vision: Vision, day: str) -> tuple[Goal, ...]:
    """Open goals in the order of their turn, without those that the owner has put off."""
    by_id = {goal.id: goal for goal in open_goals(desk.plans, desk.journal, vision, day)}
    return tuple(by_id[id_] for id_ in roadmapping.turns(desk, day) if id_ in by_id)


def _begun(journal: Journal, goals: Goals) -> Goals:
    """Those that have tasks already: that there is more to do is known from the last plan alone."""
    begun = planned(journal, goals)
    return tuple(goal for goal in goals if worded(goal) in begun)


def _write(desk: Desk, accepted: Accepted, day: str) -> None:
    write_tasks(desk, day)
    write_plan_file(desk, accepted, day)


def open_goals(plans: PlanRepository, journal: Journal, vision: Vision, day: str) -> tuple[Goal, ...]:
    """What is to be planned on that day; also the rest of what an earlier plan cut in half."""
    before = plans.plan(day)
    begun = planned(journal, vision.goals) | finished(plans, journal, day).keys()
    whole = begun - left_before(plans, journal, day)
    asked = plans.asked(wordings(vision))
    return goals_to_plan(vision, whole, asked, before.deferred if before else ())


@dataclass(frozen=True)
class _Planning:
    """Of one day, on an accepted vision. The goals of one call are all the owner's, or all proposals.

    `held`: what the owner has put off, although it is begun: that there is more to do only the plan knows.
    """

    desk: Desk
    team: Team
    day: str
    accepted: Accepted
    branches: Mapping[str, str]  # of goals that have one of their own
    held: Goals = ()

    def plan(self, goals: Goals, waiting: Goals = (), is_booked: bool = False) -> None:
        """As many as there is room for: each needs a task at least. The others are left for another day.

        `waiting`: left, too, if nobody comes to plan them. `is_booked`: the attempt is counted.
        """
        before = self.desk.plans.plan(self.day)
        free = self.desk.rules.capacity - len(before.tasks if before else ())
        if goals and free > 0:
            self._ask_each(goals[:free], (*goals[free:], *waiting), is_booked)
            self._fill_up(goals[free:], waiting)
        elif before is None or any(goal.proposed_by for goal in goals):
            guards = self.accepted.guards
            self._keep(before, DailyPlan(self.day, guards=guards, deferred=(*goals, *waiting)), goals)

    def _fill_up(self, goals: Goals, waiting: Goals) -> None:
        """What turned out to be a question, or to be done, leaves its room to the next goals: one call more."""
        before = self.desk.plans.plan(self.day)
        free = self.desk.rules.capacity - len(before.tasks if before else ())
        if goals and free > 0 and self.desk.plans.planning_attempts(self.day) < MOST_PLANNINGS:
            _write(self.desk, self.accepted, self.day)  # whatever becomes of this call; and it goes on from there
            self._ask_each(goals[:free], (*goals[free:], *waiting), is_booked=False)

    def _ask_each(self, goals: Goals, waiting: Goals, is_booked: bool) -> None:
        """A call for each branch that they stand on: the planner reads one commit. Each goal has room for a task."""
        rest = goals
        while rest:
            some, rest, branch = _together(rest, self.branches)
            before = self.desk.plans.plan(self.day)
            free = self.desk.rules.capacity - len(before.tasks if before else ()) - len(rest)
            is_booked = self._ask(before, some, free, (*rest, *waiting), is_booked, branch)
            if rest:
                _write(self.desk, self.accepted, self.day)

    def _base(self, branch: str, tip: str) -> str:
        """What the planner reads. Where the branches do not go together, the rest of a goal is planned all the same."""
        branches = FeatureBranches(self.desk, self.team.sync)
        try:
            return branches.fresh(branch, tip) if branch else tip
        except BranchConflict as problem:
            self.desk.tell(str(problem))
            return branches.ensured(branch)

    def _put_off(self, before: DailyPlan | None, goals: Goals, waiting: Goals, problem: TeamError) -> None:
        """What is wrong with their branch keeps no other goal from being planned."""
        self.desk.tell(str(problem))
        notes = tuple(f"{goal.title}: {problem}" for goal in goals)
        plan = DailyPlan(self.day, guards=self.accepted.guards, deferred=(*goals, *waiting), notes=notes)
        self._keep(before, plan, (*goals, *waiting))

    def _ask(
        self, before: DailyPlan | None, goals: Goals, free: int, waiting: Goals, is_booked: bool, branch: str
    ) -> bool:
        """Whether the attempt is counted: what stands on a branch that cannot be read is put off, without a call."""
        desk, day, accepted = self.desk, self.day, self.accepted
        if not is_booked and desk.plans.planning_attempts(day) >= MOST_PLANNINGS:
            raise Stumble(f"planned {MOST_PLANNINGS} times today already; the rest waits for tomorrow")
        tip = self.team.sync()
        try:
            commit = self._base(branch, tip)
        except Unavailable:
            raise  # it is the forge that does not answer
        except (Stumble, Refused) as problem:
            self._put_off(before, goals, waiting, problem)
            return is_booked
        if not is_booked:
            desk.plans.book_planning(day)
        desk.tell(f"planning {counted(len(goals), 'proposal' if goals[0].proposed_by else 'goal')}")
        order = _order(desk, day, accepted, goals, free)
        lessons = learning.for_planner(desk, goals, f"plan-{day}", order.first_number)
        with desk.journal.running("planner", day, desk.clock) as run, desk.chair.left():
            answer = self.team.plan(run, replace(order, lessons=lessons), commit)
        desk.research.ask([inquiry(unknown.text, unknown.goal_id) for unknown in answer.unknowns], day)
        plan = _as_plan(desk, day, accepted, answer, goals)
        plan = _on_branch(plan, answer, goals, branch) if branch else replace(plan, branches=_new(desk, answer, goals))
        if lessons:
            learning.planned(desk, f"plan-{day}", order.first_number, is_whole=not answer.notes)
        self._keep(before, replace(plan, deferred=(*plan.deferred, *waiting)), (*goals, *waiting))
        for goal in () if branch else goals:
            if goal.id in dict(plan.branches):
                desk.tell(f"{goal.title!r} is more than one day: it grows on a branch of its own")
        desk.log(run, "planned", tasks=[task.id for task in plan.tasks], notes=plan.notes)
        return True

    def _keep(self, before: DailyPlan | None, plan: DailyPlan, goals: Goals) -> None:
        """What `before` has left of these goals is in `plan` now."""
        if before:
            deferred, held, over = (
                tuple(one for one in some if one not in goals)
                for some in (before.deferred, before.held, before.finished)
            )
            before = replace(before, deferred=deferred, held=held, finished=over)
        plan = merged(before, replace(plan, held=tuple(self.held)))
        self.desk.plans.keep_plan(plan, wordings(self.accepted.vision))


def _together(goals: Goals, branches: Mapping[str, str]) -> tuple[Goals, Goals, str]:
    """(the goals of the first call, those of later ones, the branch that the first stand on; empty: the target's)."""
    branch = branches.get(goals[0].id, "")
    some = [goal for goal in goals if branches.get(goal.id, "") == branch]
    return some, [goal for goal in goals if goal not in some], branch


def _order(desk: Desk, day: str, accepted: Accepted, goals: Goals, free: int) -> PlanOrder:
    return PlanOrder(
        goals=tuple(goals),
        capacity=free,
        first_number=_first_number(desk, day),
        open_tasks=_open_tasks(desk),
        guards=accepted.guards,
        notes=accepted.vision.notes,
        allow=desk.rules.allow,
        depth=desk.rules.depth,
    )


def _as_plan(desk: Desk, day: str, accepted: Accepted, answer: PlanAnswer, goals: Goals) -> DailyPlan:
    return DailyPlan(
        day=day,
        tasks=answer.tasks,
        reasons=answer.reasons,
        deferred=tuple(goal for goal in goals if goal.id in answer.deferred),
        questions=answer.questions,
        guards=accepted.guards,
        forecast=forecast(answer.tasks, desk.rules.per_token, _experience(desk)),
        notes=answer.notes,
    )


def _new(desk: Desk, answer: PlanAnswer, goals: Goals) -> tuple[tuple[str, str], ...]:
    return branches_for(desk.journal, answer, goals) if desk.rules.long_goals else ()


def _on_branch(plan: DailyPlan, answer: PlanAnswer, goals: Goals, branch: str) -> DailyPlan:
    """Of what stands on a branch nobody has to be asked whether it is done: the whole of it is tested and reviewed."""
    over = tuple(goal for goal in goals if goal.id in answer.done)
    seen = {question.goal_id: question.evidence for question in answer.questions}
    return replace(
        plan,
        branches=tuple((goal.id, branch) for goal in goals),
        finished=over,
        questions=tuple(question for question in plan.questions if question.goal_id not in answer.done),
        notes=(*plan.notes, *(f"{goal.title}: nothing is left to plan ({seen[goal.id]})" for goal in over)),
    )


def _open_tasks(desk: Desk) -> tuple[TaskSpec, ...]:
    filed = desk.store.all(State.BACKLOG, State.IN_PROGRESS, State.IN_REVIEW)
    return tuple(file.spec for file in filed if isinstance(file.spec, TaskSpec))


def _first_number(desk: Desk, day: str) -> int:
    prefix = day.replace("-", "") + "-"
    seen = desk.journal.ids_beginning(prefix) | desk.store.names_beginning(prefix)
    taken = [id_.removeprefix(prefix) for id_ in seen]
    return max((int(number) for number in taken if number.isdecimal()), default=0) + 1


def _experience(desk: Desk) -> tuple[int, int]:
    """How many tasks are finished, and what they have cost."""
    places = desk.journal.places()
    over = places[State.IN_REVIEW] | places[State.COMPLETED]
    return len(over), desk.ledger.settled_for(over)


# --- the plan's files ----------------------------------------------------------------------------------------


def write_tasks(desk: Desk, day: str) -> None:
    """A file for each task of that day's plan that history does not know yet; repeatable after a kill."""
    plan, accepted = desk.plans.plan(day), desk.plans.accepted()
    if plan is None or accepted is None:
        return
    goals = {goal.id: goal for goal in accepted.vision.goals}
    known, branches = desk.journal.tasks(task.id for task in plan.tasks), dict(plan.branches)
    for task in plan.tasks:
        if task.id in known:
            continue
        goal = goals.get(task.goal_id)
        file_task(desk, task, "planned", wording(goal) if goal else "", branches.get(task.goal_id, ""))


def write_plan_file(desk: Desk, accepted: Accepted, day: str) -> None:
    plan = desk.plans.plan(day)
    if plan is None:
        return
    board = load_snapshot(desk.store, desk.journal, desk.wanted(), desk.rules.limits).board
    questions = desk.plans.asked(wordings(accepted.vision))
    cap = desk.ledger.cap_of(day, desk.rules.day_cap)
    notes = {looked.inquiry.id: note_path(looked) for looked in desk.research.all() if looked.slug}
    proposed = upkeep.lines(desk.upkeep.look(day))
    text = daily_planner.render(plan, accepted.vision, board, questions, cap, notes, proposed)
    write_text(desk.home.daily_plan, desk.delivery.clean(text))
