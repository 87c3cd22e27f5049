"""What answers about what is wanted look like: the vision, the roadmap, plans, what was looked up."""

from __future__ import annotations

from typing import Literal

from pydantic.dataclasses import dataclass

from sisimpur.shared.model.work import Goal, Priority, Question, Remark
from sisimpur.web.api.reading.task_answers import Dollars, FileAnswer

# --- the vision ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class WishedGoalAnswer(Goal):
    change: Literal["new", "changed", ""]


@dataclass
class NamedGoalAnswer:
    id: str
    text: str
    line: int


@dataclass
class NoteGuardAnswer:
    """What a note of the owner's protects."""

    note: str
    patterns: list[str]


@dataclass
class AskedInVisionAnswer:
    goal: str
    text: str
    evidence: str


@dataclass
class VisionPreviewAnswer:
    """What is read of a text without a model. `model_asked`: what only a model can read; `wishes`: protect nothing."""

    goals: list[WishedGoalAnswer]
    done: list[str]
    removed: list[NamedGoalAnswer]
    planned_next: list[str]
    ideas: list[Remark]
    notes: list[Remark]
    prose: list[Remark]
    guards: list[NoteGuardAnswer]
    lost_guards: list[str]
    wishes: list[Remark]
    questions: list[AskedInVisionAnswer]
    model_asked: list[NamedGoalAnswer | Remark]
    warnings: list[Remark]
    files_known: bool


@dataclass
class VisionAnswer(FileAnswer, VisionPreviewAnswer):
    pass


# --- the roadmap ---------------------------------------------------------------------------------------------


@dataclass
class RoadmapGoalAnswer:
    """`to_come`: tasks that are still to be planned; null: nobody knows. `yours`: the owner has put it there."""

    id: str
    title: str
    priority: Priority
    yours: bool
    done: str | None
    merged: int
    open: int
    to_come: int | None
    cost: Dollars
    note: str


@dataclass
class PlacedGoalAnswer(RoadmapGoalAnswer):
    """`week`: its Monday; null: later."""

    week: str | None


@dataclass
class PaceAnswer:
    tasks_per_day: float
    cost_per_task: Dollars
    minutes_per_task: int
    merged: int


@dataclass
class WeekAnswer:
    """`load`: tasks of its goals; `room`: how many there is time and money for."""

    monday: str
    load: int
    room: int
    goals: list[RoadmapGoalAnswer]


@dataclass
class RoadmapAnswer:
    pace: PaceAnswer
    ends: str | None
    weeks: list[WeekAnswer]
    later: list[RoadmapGoalAnswer]
    own: list[str]
    problem: str


@dataclass
class RoadmapFileAnswer(FileAnswer):
    lines: int


# --- plans ---------------------------------------------------------------------------------------------------


@dataclass
class PlannedTaskAnswer:
    id: str
    title: str
    goal: str
    priority: Priority
    why: str


@dataclass
class DayPlanAnswer:
    tasks: list[PlannedTaskAnswer]
    deferred: list[Goal]
    held: list[Goal]
    finished: list[Goal]
    questions: list[Question]
    forecast: Dollars
    notes: list[str]


@dataclass
class TodaysPlanAnswer:
    """`plan`: null: nothing is planned yet; `page`: what was written of it."""

    day: str
    plan: DayPlanAnswer | None
    page: str


@dataclass
class WaitingTaskAnswer:
    """`priority`: empty: its file cannot be read; `goal_words`, `said`: as beside a review."""

    id: str
    title: str
    text: str
    goal: str
    goal_words: str
    said: list[str]
    priority: Priority | Literal[""]
    files: list[str]
    after: list[str]
    why: str


@dataclass
class WaitingDayAnswer:
    """`forecast`: of all that was planned that day; null: nobody knows."""

    day: str
    forecast: Dollars | None
    planned: int
    tasks: list[WaitingTaskAnswer]


@dataclass
class PlanReviewAnswer:
    """`mark`: what a ruling names; empty: no plan waits."""

    mark: str
    days: list[WaitingDayAnswer]
    until: str


# --- what was looked up --------------------------------------------------------------------------------------


@dataclass
class ResearchAnswer:
    """`answered`: empty: not yet; `problem`: why the last try came to nothing; `note`: the file with all of it."""

    id: str
    question: str
    asked: str
    answered: str
    tries: int
    problem: str
    recommendation: str
    claims: int
    cost: Dollars
    tokens: int
    note: str


@dataclass
class ResearchNoteAnswer(ResearchAnswer):
    text: str
