"""What stands beside a task whenever the owner decides on it: the goal in their own words, and what the planner saw."""

from __future__ import annotations

from sisimpur.agents.orchestrator.goals.standing import beside
from sisimpur.cli.wiring.records import Records

OF_THE_PLANNER = ("remark", "left")


def goal_words(records: Records, goal: str) -> str:
    """The owner's own, or those of a proposal; empty: it is not wanted any more."""
    goals = wanted.goals if (wanted := records.wanted()) else ()
    return next(("\n".join((one.title, *one.details)) for one in goals if one.id == goal), "")


def planners_words(records: Records, goal: str, task: str) -> list[str]:
    """What the owner should know, and what is left for later."""
    return list(beside((one for one in records.words.of([goal]) if one.kind in OF_THE_PLANNER), task))
