"""The accepted vision -> today's plan: which goals are asked about together, on which branch, and what is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sisimpur.agents.orchestrator.board.plan_approval import unapproved
from sisimpur.agents.orchestrator.board.session import AgentRuns
from sisimpur.agents.orchestrator.board.stuck import StuckTask, stuck_tasks, told_once
from sisimpur.agents.orchestrator.goals.standing import GoalBooks, GoalEnds
from sisimpur.agents.orchestrator.integration.feature_branches import Apart, FeatureBranches, open_branches
from sisimpur.agents.orchestrator.integration.partial_goals import branches_for, planned, planner_heard
from sisimpur.agents.orchestrator.memory.learning import Recall
from sisimpur.agents.orchestrator.planning.daily_planner import merged
from sisimpur.agents.orchestrator.planning.plan_files import OpenGoals, PlanFiles
from sisimpur.agents.orchestrator.roadmap.roadmap import forecast
from sisimpur.agents.orchestrator.vision.goal_ids import wordings
from sisimpur.agents.orchestrator.vision.named_paths import goal_guards
from sisimpur.shared.model.errors import Misconfigured, Refused, Stumble, TeamError
from sisimpur.shared.model.lifecycle import OPEN, State, worded, wording
from sisimpur.shared.model.research import inquiry
from sisimpur.shared.model.text import counted, one_line
from sisimpur.shared.model.work import DailyPlan, Goal, GoalWord, Guard, PlanAnswer, PlanOrder, Question, Run, TaskSpec
from sisimpur.shared.money.ledger_reader import LedgerReader
from sisimpur.shared.store.journal import Journal
from sisimpur.shared.store.plan_book import Accepted, PlanRepository
from sisimpur.shared.store.research_book import ResearchRepository
from sisimpur.shared.store.task_store import TaskStore

Goals = Sequence[Goal]

LONGEST_TASK = 1_200  # characters of a task that could not be done, as the planner sees it again
MOST_PLANNINGS = 5  # per day: an owner who edits all day, or a model that never answers well


@dataclass(frozen=True)
class PlanningRules:
    """Of the owner's configuration. `per_token`: the coder's price, sent and received, in nano-dollars."""

    capacity: int  # tasks per day
    depth: int  # of dependencies
    allow: tuple[str, ...]
    per_token: tuple[int, int]
    protected: tuple[str, ...] = ()  # the owner's own list, besides the built-in one
    long_goals: bool = True  # what one day is too short for has a branch of its own until it is whole


@dataclass(frozen=True)
class PlanBooks:
    """What is known of earlier plans and tasks, and what was spent on them."""

    plans: PlanRepository
    journal: Journal
    store: TaskStore
    ledger: LedgerReader
    research: ResearchRepository
    goals: GoalBooks

    def open_tasks(self) -> tuple[TaskSpec, ...]:
        filed = self.store.all(*OPEN)
        return tuple(file.spec for file in filed if isinstance(file.spec, TaskSpec))

    def spec(self, task: str) -> TaskSpec | None:
        """A task's file, wherever it lies; None: there is none that can be read."""
        found = (self.store.read(state, task).spec for state in (self.store.find(task) if task else ()))
        return next((spec for spec in found if isinstance(spec, TaskSpec)), None)

    def first_number(self, day: str) -> int:
        """The lowest that no task of that day has."""
        prefix = day.replace("-", "") + "-"
        seen = self.journal.ids_beginning(prefix) | self.store.names_beginning(prefix)
        taken = [id_.removeprefix(prefix) for id_ in seen]
        return max((int(number) for number in taken if number.isdecimal()), default=0) + 1

    def experience(self) -> tuple[int, int]:
        """How many tasks are finished, and what they have cost, in nano-dollars."""
        places = self.journal.places()
        over = places[State.IN_REVIEW] | places[State.COMPLETED]
        return len(over), self.ledger.settled_for(over)


@dataclass(frozen=True)
class Planning:
    """`ask` asks the Planner, of what is at a commit. `environment`: how that is set up and tested, in lines."""

    ask: Callable[[Run, PlanOrder, str], PlanAnswer]
    books: PlanBooks
    goals: OpenGoals
    files: PlanFiles
    branches: FeatureBranches
    recall: Recall
    runs: AgentRuns
    rules: PlanningRules
    environment: Callable[[str], tuple[str, ...]] = lambda _: ()

    def plan_day(self, day: str) -> None:
        """Plan what has neither a task nor a question yet, in the roadmap's order. Nothing of that kind: no model call.

        The owner's goals come first. What strangers propose has a call of its own, when the owner's tasks are written:
        no word of a stranger stands beside the owner's goals, and whatever becomes of that call, the plan is kept.
        """
        plans, journal = self.books.plans, self.books.journal
        accepted = plans.accepted()
        if accepted is None:
            return
        goals = self.goals.due(accepted.vision, day)
        proposals = tuple(goal for goal in goals if goal.proposed_by)
        owners = tuple(goal for goal in goals if not goal.proposed_by)
        put_off = [one for one in self.goals.open(accepted.vision, day) if one not in goals]
        planning = _DayPlanning(self, day, accepted, open_branches(journal), held=_begun(journal, put_off))
        if owners or not proposals:
            planning.plan(owners, waiting=_begun(journal, proposals))
            self.files.write(day)
        if proposals:
            planning.plan(proposals, is_booked=bool(owners))
            self.files.write(day)


def _begun(journal: Journal, goals: Goals) -> Goals:
    """Those that have tasks already: that there is more to do is known from the last plan alone."""
    begun = planned(journal, goals)
    return tuple(goal for goal in goals if worded(goal) in begun)


@dataclass(frozen=True)
class _DayPlanning:
    """Of one day, on an accepted vision. The goals of one call are all the owner's, or all proposals.

    `held`: what the owner has put off, although it is begun: that there is more to do only the plan knows.
    """

    of: Planning
    day: str
    accepted: Accepted
    branches: Mapping[str, str]  # of goals that have one of their own
    held: Goals = ()

    def plan(self, goals: Goals, waiting: Goals = (), is_booked: bool = False) -> None:
        """As many as there is room for: each needs a task at least. The others are left for another day.

        `waiting`: left, too, if nobody comes to plan them. `is_booked`: the attempt is counted.
        """
        before = self._plans.plan(self.day)
        free = self.of.rules.capacity - len(before.tasks if before else ())
        if goals and free > 0:
            self._ask_each(goals[:free], (*goals[free:], *waiting), is_booked)
            self._fill_up(goals[free:], waiting)
        elif before is None or any(goal.proposed_by for goal in goals):
            guards = self.accepted.guards
            self._keep(before, DailyPlan(self.day, guards=guards, deferred=(*goals, *waiting)), goals)

    def _fill_up(self, goals: Goals, waiting: Goals) -> None:
        """What turned out to be a question, or to be done, leaves its room to the next goals: one call more."""
        before = self._plans.plan(self.day)
        free = self.of.rules.capacity - len(before.tasks if before else ())
        if goals and free > 0 and self._plans.planning_attempts(self.day) < MOST_PLANNINGS:
            self.of.files.write(self.day)  # whatever becomes of this call; and it goes on from there
            self._ask_each(goals[:free], (*goals[free:], *waiting), is_booked=False)

    def _ask_each(self, goals: Goals, waiting: Goals, is_booked: bool) -> None:
        """A call for each branch that they stand on: the planner reads one commit. Each goal has room for a task."""
        rest = goals
        while rest:
            some, rest, branch = _together(rest, self.branches)
            before = self._plans.plan(self.day)
            free = self.of.rules.capacity - len(before.tasks if before else ()) - len(rest)
            is_booked = self._ask(before, some, free, (*rest, *waiting), is_booked, branch)
            if rest:
                self.of.files.write(self.day)

    def _base(self, branch: str, tip: str) -> str:
        """What the planner reads. Where the branches do not go together, the rest of a goal is planned all the same."""
        match self.of.branches.joined(branch, tip) if branch else tip:
            case Apart(newest, why):
                self._tell(why)
                return newest
            case newest:
                return newest

    def _put_off(self, before: DailyPlan | None, goals: Goals, waiting: Goals, problem: TeamError) -> None:
        """What is wrong with their branch keeps no other goal from being planned."""
        self._tell(str(problem))
        notes = tuple(f"{goal.title}: {problem}" for goal in goals)
        plan = DailyPlan(self.day, guards=self.accepted.guards, deferred=(*goals, *waiting), notes=notes)
        self._keep(before, plan, (*goals, *waiting))

    def _ask(
        self, before: DailyPlan | None, goals: Goals, free: int, waiting: Goals, is_booked: bool, branch: str
    ) -> bool:
        """Whether the attempt is counted: what stands on a branch that cannot be read is put off, without a call."""
        if not is_booked and self._plans.planning_attempts(self.day) >= MOST_PLANNINGS:
            raise Stumble(f"planned {MOST_PLANNINGS} times today already; the rest waits for tomorrow")
        tip = self.of.branches.main.sync()
        try:
            commit = self._base(branch, tip)
        except (Stumble, Refused, Misconfigured) as problem:
            if isinstance(problem, Misconfigured) and problem.of != "task":
                raise  # no goal goes on without that
            self._put_off(before, goals, waiting, problem)
            return is_booked
        if not is_booked:
            self._plans.book_planning(self.day)
        self._tell(f"planning {counted(len(goals), 'proposal' if goals[0].proposed_by else 'goal')}")
        self._ask_at(commit, before, goals, free, waiting, branch)
        return True

    def _ask_at(
        self, commit: str, before: DailyPlan | None, goals: Goals, free: int, waiting: Goals, branch: str
    ) -> None:
        of, day = self.of, self.day
        files = [entry.path for entry in of.branches.mirror.tree(commit)]
        order = self._order(goals, free, goal_guards(map(self._with_said, goals), files))
        lessons = of.recall.for_planner(goals, f"plan-{day}", order.first_number)
        known = of.environment(commit) + of.recall.facts()
        with of.runs.unlocked("planner", day=day) as run:
            answer = of.ask(run, replace(order, lessons=lessons, environment=known), commit)
        of.books.research.ask([inquiry(unknown.text, unknown.goal_id) for unknown in answer.unknowns], day)
        self._keep_words(answer, goals)
        plan = self._as_plan(answer, goals)
        if branch:
            plan = _on_branch(plan, answer, goals, branch)
        elif of.rules.long_goals:
            plan = replace(plan, branches=branches_for(of.books.journal, answer, goals))
        self._keep(before, replace(plan, deferred=(*plan.deferred, *waiting)), (*goals, *waiting))
        planner_heard(of.books.journal, goals, of.runs.session.now())
        for goal in () if branch else goals:
            if goal.id in dict(plan.branches):
                self._tell(f"{goal.title!r} is more than one day: it grows on a branch of its own")
        of.runs.log(run, "planned", tasks=[task.id for task in plan.tasks], notes=plan.notes)

    def _keep_words(self, answer: PlanAnswer, goals: Goals) -> None:
        """What was said of these goals, and how they are measured; a word about another goal is nobody's."""
        by_id, books = {goal.id: goal for goal in goals}, self.of.books.goals
        said = [word for word in answer.words if word.goal_id in by_id]
        books.words.planned(by_id, said, self.of.runs.session.now())
        for goal in goals:
            if named := [measure for goal_id, measure in answer.measures if goal_id == goal.id]:
                books.looks.keep_measures(worded(goal), named)

    def _keep(self, before: DailyPlan | None, plan: DailyPlan, goals: Goals) -> None:
        """What `before` has left of these goals is in `plan` now."""
        if before:
            deferred, held, over = (
                tuple(one for one in some if one not in goals)
                for some in (before.deferred, before.held, before.finished)
            )
            before = replace(before, deferred=deferred, held=held, finished=over)
        plan = merged(before, replace(plan, held=tuple(self.held)))
        self._plans.keep_plan(plan, wordings(self.accepted.vision))

    def _order(self, goals: Goals, free: int, own: Iterable[Guard]) -> PlanOrder:
        words = self.of.books.goals.words.of([goal.id for goal in goals])
        return PlanOrder(
            goals=tuple(map(self._plans.answered, goals)),
            capacity=free,
            first_number=self.of.books.first_number(self.day),
            open_tasks=self.of.books.open_tasks(),
            guards=(*self.accepted.guards, *own),
            notes=self.accepted.vision.notes,
            allow=self.of.rules.allow,
            protected=self.of.rules.protected,
            depth=self.of.rules.depth,
            words=tuple(_with_task(word, self.of.books.spec) for word in words),
            stuck=tuple(f"{one.task} ({one.title}): {one.words}" for one in told_once(self._lost())),
            figures=tuple(self._figures(goals)),
        )

    def _lost(self) -> Iterator[StuckTask]:
        """What is stuck for a reason that a plan can help: no word of the owner is waited for."""
        seen = self.of.files.page.seen()
        return (one for one in stuck_tasks(seen) if one.task not in unapproved(seen.board))

    def _figures(self, goals: Goals) -> Iterator[str]:
        """A line of each goal that was measured, or that somebody has read to its end."""
        known = GoalEnds(self.of.books.goals)
        for goal in goals:
            if line := known.seen(goal):
                yield f"{goal.id}: {line}"

    def _as_plan(self, answer: PlanAnswer, goals: Goals) -> DailyPlan:
        return DailyPlan(
            day=self.day,
            tasks=answer.tasks,
            reasons=answer.reasons,
            deferred=tuple(goal for goal in goals if goal.id in answer.deferred),
            questions=tuple(map(self._asked_again, answer.questions)),
            guards=self.accepted.guards,
            forecast=forecast(answer.tasks, self.of.rules.per_token, self.of.books.experience()),
            notes=answer.notes,
        )

    def _with_said(self, goal: Goal) -> Goal:
        """With his answers alone: no word of a question guards anything."""
        said = self._plans.answers(goal.id, wording(goal))
        return replace(goal, details=(*goal.details, *(one.text for one in said)))

    def _asked_again(self, question: Question) -> Question:
        """In words that were not answered yet."""
        worded_now = wordings(self.accepted.vision).get(question.goal_id, "")
        for one in self._plans.answers(question.goal_id, worded_now):
            if one.question == question.text:
                return replace(question, text=f"{question.text} (Your answer of {one.at[:16]} did not settle it.)")
        return question

    @property
    def _plans(self) -> PlanRepository:
        return self.of.books.plans

    def _tell(self, words: str) -> None:
        self.of.runs.session.tell(words)


def _with_task(word: GoalWord, find: Callable[[str], TaskSpec | None]) -> GoalWord:
    """Why the coder changed nothing, with the task that it was about: the planner does not know it any more."""
    spec = find(word.task) if word.kind == "answer" else None
    if spec is None:
        return word
    tests = f"; may change {', '.join(spec.changes_tests)}" if spec.changes_tests else ""
    task = f'It was told: "{spec.title}" ({spec.kind}; {", ".join((*spec.files, *spec.new_files))}{tests}).'
    return replace(word, text=f"{word.text} {one_line(f'{task} {spec.description}', LONGEST_TASK)}")


def _together(goals: Goals, branches: Mapping[str, str]) -> tuple[Goals, Goals, str]:
    """(the goals of the first call, those of later ones, the branch that the first stand on; empty: the target's)."""
    branch = branches.get(goals[0].id, "")
    some = [goal for goal in goals if branches.get(goal.id, "") == branch]
    return some, [goal for goal in goals if goal not in some], branch


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
