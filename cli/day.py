"""`run-day` and `plan --dry-run`: a day in the foreground, or a look at what it would be."""

from __future__ import annotations

import os
from collections.abc import Mapping

from agents.orchestrator.planning import open_goals
from agents.orchestrator.vision_parser import difference, parse
from cli.arguments import Arguments
from cli.records import Records, open_records
from cli.text import plain
from shared.domain.errors import Misconfigured
from shared.domain.work import Vision
from shared.edge.markdown import outline
from shared.edge.paths import read_text


def run_day(arguments: Arguments, environment: Mapping[str, str] = os.environ) -> int:
    """1 if a phase had a problem; the others were run all the same."""
    from cli.team import open_team

    with open_records(arguments.home, environment) as records:

        def tell(text: str) -> None:
            print(f"{records.clock.now():%H:%M:%S}  {plain(text)}", flush=True)

        with open_team(records, tell) as orchestrator:
            orchestrator.run_day(arguments.until)
    return 1 if orchestrator.problems else 0


def plan(arguments: Arguments) -> int:
    """What the grammar reads and what would be planned. Asks no model, changes nothing."""
    with open_records(arguments.home) as records:
        vision, before = _vision(records)
        change = difference(before, vision)
        goals = open_goals(records.plans, records.journal, vision, records.day())
    for name, some in (("new", change.new), ("changed", change.changed), ("removed", change.removed)):
        for goal in some:
            print(f"{name:<8} {goal.id}  {plain(goal.title)} ({goal.priority})")
    for warning in vision.warnings:
        print(f"warning  line {warning.line}: {plain(warning.text)}")
    for remark in vision.unread:
        print(f"prose    line {remark.line}: {plain(remark.text)} (a model will be asked what it means)")
    capacity = records.settings.policy.capacity.tasks_per_day
    print(f"{len(goals)} goals would be planned (at most {capacity} tasks a day):")
    for goal in goals:
        print(f"  {goal.id}  {plain(goal.title)} ({goal.priority})")
    return 0


def _vision(records: Records) -> tuple[Vision, Vision | None]:
    accepted = records.plans.accepted()
    before = accepted.vision if accepted else None
    try:
        return parse(outline(read_text(records.home.vision)), before), before
    except FileNotFoundError:
        raise Misconfigured(f"{records.home.vision} is missing; write your goals there") from None
