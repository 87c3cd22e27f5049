"""What each answer looks like, by its address: openapi.json, and with it the types of the pages, are made of these.

What is a value of the team's own, as the evidence of a change, is described by its own class. A test holds answers of
real days against all this, so that neither a word that is missing here nor one that is too much stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sisimpur.agents.orchestrator.memory.lesson import Lesson
from sisimpur.web.api.reading import plan_answers as plan
from sisimpur.web.api.reading import task_answers as task
from sisimpur.web.api.reading import team_answers as team

ANSWERS: Mapping[str, Any] = {
    "status": team.StatusAnswer,
    "waiting": team.WaitingAnswer,
    "system": team.SystemAnswer,
    "agents": list[team.AgentAnswer],
    "audit": team.AuditAnswer,
    "settings": team.SettingsAnswer,
    "money": list[team.MoneyDayAnswer],
    "metrics": list[team.MetricAnswer],
    "deploys": team.DeploysAnswer,
    "memory": list[Lesson],
    "plan": plan.TodaysPlanAnswer,
    "plan/review": plan.PlanReviewAnswer,
    "roadmap": plan.RoadmapAnswer,
    "goals": list[plan.PlacedGoalAnswer],
    "research": list[plan.ResearchAnswer],
    "research/{id}": plan.ResearchNoteAnswer,
    "pulls": task.PullsAnswer,
    "tasks": task.TaskPageAnswer,
    "tasks/{id}": task.TaskAnswer,
    "tasks/{id}/review": task.ReviewAnswer,
    "tasks/{id}/attempts": list[task.AttemptAnswer],
    "tasks/{id}/diff": task.DiffAnswer,
    "tasks/{id}/talk": task.TalkAnswer,
    "tasks/{id}/trace": task.TraceAnswer | task.NothingAnswer,
}
