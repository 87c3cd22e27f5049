"""A goal whose tasks are merged -> what is seen of it: its figure, or what a model misses. One look, one record."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

from sisimpur.agents.orchestrator.board.breaker import CircuitBreaker, Service
from sisimpur.agents.orchestrator.board.session import AgentRuns
from sisimpur.agents.orchestrator.goals.evaluator import EndReading, GoalWork, MergedTree
from sisimpur.agents.orchestrator.goals.standing import GoalBooks, GoalEnds, GoalStanding, all_of, is_measured, question
from sisimpur.agents.orchestrator.integration.feature_branches import TargetBranch, lands
from sisimpur.shared.model.errors import (
    BrokenSetup,
    Misconfigured,
    ModelAway,
    OutOfBudget,
    Refused,
    Replaced,
    Stopping,
    Stumble,
    TeamError,
    Unavailable,
)
from sisimpur.shared.model.evidence import Figure
from sisimpur.shared.model.lifecycle import State, worded, wording
from sisimpur.shared.model.naming import attempt_ref
from sisimpur.shared.model.text import one_line
from sisimpur.shared.model.work import Goal, Measure, Question, Run, TaskSpec
from sisimpur.shared.repo.mirror import Mirror
from sisimpur.shared.store.goal_book import GoalLook
from sisimpur.shared.store.plan_book import PlanRepository
from sisimpur.shared.store.task_records import TaskRecord
from sisimpur.shared.store.task_store import TaskStore

LONGEST_MISSING = 1_200  # characters of what a reader misses: the planner plans from them
LOOK = "a goal"  # its name among what the pool works on, where no task has such a one
Standings = Callable[[str], Sequence[GoalStanding]]  # of a day


class TakesWork(Protocol):
    """The pool of workers."""

    @property
    def free(self) -> int: ...
    @property
    def busy(self) -> frozenset[str]: ...
    def give(self, name: str, act: Callable[[], None]) -> None: ...


class TakesFigures(Protocol):
    def measure(self, run: Run, measure: Measure, commit: str) -> Figure: ...


class ReadsEnds(Protocol):
    def read(self, run: Run, work: GoalWork, tree: MergedTree, commit: str) -> EndReading: ...


@dataclass(frozen=True)
class GoalEyes:
    """What looks. `qa` is made when it is first needed: without a sandbox the rest of the day goes on."""

    mirror: Mirror
    main: TargetBranch
    qa: Callable[[], TakesFigures]
    reader: ReadsEnds
    breaker: CircuitBreaker


@dataclass(eq=False)
class GoalLooks:
    """Looks before a goal's first task, after each merge, and at its end. `standings`: what the roadmap knows."""

    _books: GoalBooks
    _eyes: GoalEyes
    _plans: PlanRepository
    _store: TaskStore
    _runs: AgentRuns
    _standings: Standings
    _resting: set[tuple[str, str]] = field(default_factory=set)  # (day, goal): it cannot be looked at on that day
    _known: object = None  # what was so when nothing was due

    def begin(self, pool: TakesWork) -> bool:
        """Whether a look was begun: it takes a worker. Called by who holds the lock, as often as anything happens."""
        if not pool.free or LOOK in pool.busy or not self._has_changed():
            return False
        standings = self._standings(self._runs.session.day())
        self._ask(standings)
        due = next(self._due(standings), None)
        if due is None:
            return False
        self._known = None
        pool.give(LOOK, partial(self._try, *due))
        return True

    def anew(self) -> None:
        """Something may have happened that moved no task: a plan, a word of the owner."""
        self._known = None

    def _has_changed(self) -> bool:
        now = (self._runs.journal.places(), self._eyes.breaker.no_model())
        if now == self._known:
            return False
        self._known = now
        return True

    def _ask(self, standings: Sequence[GoalStanding]) -> None:
        """Whoever was asked about it has no end to wait for: it is the owner's turn, once."""
        known, session = GoalEnds(self._books), self._runs.session
        for goal, merged in [(one.goal, one.merged) for one in standings if one.end == "ask"]:
            text = question(known.looks(goal), known.measure(goal), merged)
            now = dict([worded(goal)])
            self._plans.ask(session.day(), (Question(goal.id, text),), now)
            if self._plans.asked(now):
                session.tell(f"{goal.title}: a question for you")

    def _due(self, standings: Sequence[GoalStanding]) -> Iterator[tuple[GoalStanding, GoalLook]]:
        """Each with the look that is to be made, on what is merged now."""
        day, known = self._runs.session.day(), GoalEnds(self._books)
        tip = self._eyes.mirror.head(self._eyes.main.name)
        for standing in standings if tip else ():
            is_end = standing.end == "look" and self._may_end(known, standing.goal)
            if (day, standing.goal.id) not in self._resting and (is_end or _to_measure(known, standing)):
                yield standing, GoalLook(tip or "", standing.merged, is_end)

    def _may_end(self, known: GoalEnds, goal: Goal) -> bool:
        """A model is asked when there is money and it answers; what needs none is looked at all the same."""
        return bool(known.measures(goal) or known.left(goal)) or not self._eyes.breaker.no_model()

    # -- one look ---------------------------------------------------------------------------------------------

    def _try(self, standing: GoalStanding, look: GoalLook) -> None:
        """What goes wrong with one goal is its own affair: it stays merged, and not yet looked at."""
        goal, breaker = standing.goal, self._eyes.breaker
        key = worded(goal)
        self._books.looks.begin(key, look, self._runs.session.now())
        try:
            self._keep(standing, self._seen(standing, look))
            return
        except OutOfBudget as problem:
            breaker.spent(problem)
            self._rest(goal, problem)
        except ModelAway as problem:
            breaker.away(Service.MODEL, problem)
            self._rest(goal, problem)
        except (Stopping, Replaced):
            self._books.looks.put_off(key, look)
            raise
        except (Misconfigured, Unavailable) as problem:
            self._rest(goal, problem)
        except TeamError as problem:  # counted: the third is the last
            self._runs.session.tell(f"{goal.title}: {problem}")
            return
        self._books.looks.put_off(key, look)

    def _rest(self, goal: Goal, problem: TeamError) -> None:
        self._resting.add((self._runs.session.day(), goal.id))
        self._runs.session.tell(f"{goal.title}: not looked at today: {problem}")

    def _keep(self, standing: GoalStanding, look: GoalLook) -> None:
        goal = standing.goal
        self._books.looks.keep(worded(goal), look)
        known = GoalEnds(self._books)
        end = known.end(goal, standing.merged, was_done=False) if look.at_end else None
        self._runs.session.tell(f"{goal.title}: {known.told(goal, end)}")

    def _seen(self, standing: GoalStanding, look: GoalLook) -> GoalLook:
        """A figure settles it; else what was left for later; else a model reads it, once."""
        goal, known = standing.goal, GoalEnds(self._books)
        left, why = known.left(goal), ""
        if look.at_end and left:
            return replace(look, verdict="not yet", text=f"left for later: {left}")
        if measures := known.measures(goal):
            taken, why = self._figures(measures, look)
            if not why:
                short = [value for measure, value in taken if not measure.holds(value)]
                text, value = all_of(taken), (short or [taken[0][1]])[0]
                return replace(look, figure=value, verdict="not yet" if short else "holds", text=text)
        if not look.at_end or not self._books.is_read:
            return replace(look, verdict="cannot tell", text=one_line(why, 600))
        found = self._read(goal, look, why)
        return replace(look, verdict=found.verdict, text=one_line(found.missing, LONGEST_MISSING))

    def _figures(self, measures: Sequence[Measure], look: GoalLook) -> tuple[list[tuple[Measure, float]], str]:
        """Each with its figure; and why one cannot be taken, which leaves the goal to a reader."""
        taken: list[tuple[Measure, float]] = []
        for measure in measures:
            figure = self._measured(measure, look)
            if figure.value is None:
                return taken, figure.why
            taken.append((measure, figure.value))
        return taken, ""

    def _measured(self, measure: Measure, look: GoalLook) -> Figure:
        try:
            qa = self._eyes.qa()
            with self._runs.unlocked("qa") as run:
                return qa.measure(run, measure, look.commit)
        except BrokenSetup as problem:
            return Figure(None, str(problem))

    def _read(self, goal: Goal, look: GoalLook, why: str) -> EndReading:
        work = self._work(goal, why)
        with self._runs.unlocked("orchestrator") as run:
            return self._eyes.reader.read(run, work, self._eyes.mirror, look.commit)

    def _work(self, goal: Goal, why: str) -> GoalWork:
        journal = self._runs.journal
        of_it = [one for one in journal.tasks_of([goal.id]).values() if one.wording == wording(goal)]
        done = [one for one in of_it if one.seen_in is State.COMPLETED]
        specs = (self._store.read(State.COMPLETED, one.id).spec for one in done if not lands(one))
        tasks = [spec for spec in specs if isinstance(spec, TaskSpec)]
        changes = [ends_ for one in done if not lands(one) and (ends_ := self._change(one))]
        return GoalWork(goal, tasks, changes, self._books.words.of([goal.id]), why)

    def _change(self, task: TaskRecord) -> tuple[str, str] | None:
        """Of the commit that was merged, and where it began; None: it is not here any more."""
        mirror = self._eyes.mirror
        ok = [attempt.number for attempt in task.attempts if attempt.outcome == "ok"]
        commit = mirror.attempt(attempt_ref(task.id, ok[-1])) if ok else None
        try:
            return (mirror.parent(commit), commit) if commit else None
        except (Refused, Stumble, Unavailable):
            return None


def _to_measure(known: GoalEnds, standing: GoalStanding) -> bool:
    """Its figure is taken before the first task, and after each merge."""
    goal = standing.goal
    is_under_way = standing.end is None and bool(standing.begun) and bool(known.measures(goal))
    return is_under_way and not is_measured(known.looks(goal), standing.merged)
