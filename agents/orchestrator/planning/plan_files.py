"""The day's plan -> its task files and DAILY_PLAN.md; and which goals are still to be planned."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path

from sisimpur.agents.orchestrator.board.events import DayPlanned, Evening, TeamEvent
from sisimpur.agents.orchestrator.board.snapshot import Snapshot
from sisimpur.agents.orchestrator.board.stuck import stuck_tasks, told_once
from sisimpur.agents.orchestrator.board.transitions import Transitions
from sisimpur.agents.orchestrator.goals.standing import GoalBooks, GoalEnds, beside
from sisimpur.agents.orchestrator.integration.partial_goals import finished, left_before, planned
from sisimpur.agents.orchestrator.planning import daily_planner
from sisimpur.agents.orchestrator.planning.daily_planner import goals_to_plan
from sisimpur.agents.orchestrator.planning.researching import note_path
from sisimpur.agents.orchestrator.roadmap.roadmap_book import RoadmapRepository
from sisimpur.agents.orchestrator.roadmap.roadmap_needs import open_questions
from sisimpur.agents.orchestrator.roadmap.roadmapping import Roadmapping
from sisimpur.agents.orchestrator.upkeep import upkeep
from sisimpur.agents.orchestrator.upkeep.upkeep_book import UpkeepRepository
from sisimpur.agents.orchestrator.vision.goal_ids import own_words_of, wordings
from sisimpur.shared.model.lifecycle import Worded, worded, wording
from sisimpur.shared.model.text import defuse, with_own_words
from sisimpur.shared.model.work import Goal, Vision
from sisimpur.shared.store.journal import Journal
from sisimpur.shared.store.plan_book import PlanRepository
from sisimpur.shared.store.research_book import ResearchRepository
from sisimpur.shared.system.paths import write_text


@dataclass(frozen=True)
class OpenGoals:
    """Which goals are to be planned, and how many tasks a day has room for. `capacity`: tasks per day."""

    plans: PlanRepository
    journal: Journal
    roadmap: Roadmapping
    capacity: int

    def due(self, vision: Vision, day: str) -> tuple[Goal, ...]:
        """Open goals in the order of their turn, without those that the owner has put off."""
        by_id = {goal.id: goal for goal in self.open(vision, day)}
        return tuple(by_id[id_] for id_ in self.roadmap.turns(day) if id_ in by_id)

    def open(self, vision: Vision, day: str) -> tuple[Goal, ...]:
        """What is to be planned on that day; also what was planned to its end, and does not hold yet.

        Of what the owner is asked about, only what was answered: a question that is open keeps its goal away.
        """
        again = {worded(one.goal) for one in self.roadmap.standings(day) if one.end in ("plan again", "ask")}
        return open_goals(self.plans, self.journal, vision, day, again)

    def capacity_left(self, day: str) -> int:
        """Room of the day, when all that is wanted now is planned; 0: something is left to plan."""
        accepted, plan = self.plans.accepted(), self.plans.plan(day)
        if accepted is None or plan is None or plan.deferred:
            return 0
        return 0 if self.due(accepted.vision, day) else max(0, self.capacity - len(plan.tasks))


def open_goals(
    plans: PlanRepository, journal: Journal, vision: Vision, day: str, again: Collection[Worded] = ()
) -> tuple[Goal, ...]:
    """What is to be planned on that day; also the rest of what an earlier plan cut in half, and these `again`."""
    before = plans.plan(day)
    begun = planned(journal, vision.goals) | finished(plans, journal, day).keys()
    whole = begun - left_before(plans, journal, day) - {*again}
    asked = plans.asked(wordings(vision))
    return goals_to_plan(vision, whole, asked, before.deferred if before else ())


@dataclass(frozen=True)
class PlanPage:
    """DAILY_PLAN.md. `seen`: where things stand now; `cap`: what that day may cost, in nano-dollars."""

    path: Path
    plans: PlanRepository
    research: ResearchRepository
    upkeep: UpkeepRepository
    seen: Callable[[], Snapshot]
    pins: RoadmapRepository
    goals: GoalBooks
    cap: Callable[[str], int]
    clean: Callable[[str], str]  # the filter for outgoing text

    def write(self, day: str) -> None:
        """Nothing is written before that day has a plan."""
        plan, accepted = self.plans.plan(day), self.plans.accepted()
        if plan is None or accepted is None:
            return
        questions = open_questions(self.plans, self.pins, accepted.vision)
        notes = {looked.inquiry.id: note_path(looked) for looked in self.research.all() if looked.slug}
        proposed = upkeep.lines(self.upkeep.look(day))
        known, seen = GoalEnds(self.goals), self.seen()
        said = {
            goal.id: (*filter(None, [known.seen(goal)]), *beside(known.words(goal))) for goal in accepted.vision.goals
        }
        more = daily_planner.Beside(questions, self.cap(day), notes, proposed, told_once(stuck_tasks(seen)), said)
        more = replace(more, guards_before=self.plans.guards_before(day))
        text = daily_planner.render(plan, accepted.vision, seen.board, more)
        own = map(self.clean, own_words_of(accepted.vision))
        write_text(self.path, with_own_words(defuse(self.clean(text)), own))  # an editor shows pictures, follows links


@dataclass(frozen=True)
class PlanFiles:
    """Hears of each plan and evening, and writes DAILY_PLAN.md anew."""

    plans: PlanRepository
    journal: Journal
    transitions: Transitions
    page: PlanPage

    def hear(self, event: TeamEvent) -> None:
        if isinstance(event, DayPlanned | Evening):
            self.page.write(event.day)

    def write(self, day: str) -> None:
        self.write_tasks(day)
        self.page.write(day)

    def write_tasks(self, day: str) -> None:
        """A file for each task of that day's plan that history does not know yet; repeatable after a kill."""
        plan, accepted = self.plans.plan(day), self.plans.accepted()
        if plan is None or accepted is None:
            return
        goals = {goal.id: goal for goal in accepted.vision.goals}
        known, branches = self.journal.tasks(task.id for task in plan.tasks), dict(plan.branches)
        for task in plan.tasks:
            if task.id in known:
                continue
            goal = goals.get(task.goal_id)
            named = replace(task, title=self.page.clean(task.title))  # its branch is named after it
            self.transitions.file(named, "planned", wording(goal) if goal else "", branches.get(task.goal_id, ""))
