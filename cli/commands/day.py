"""`run-day` and `plan --dry-run`: a day in the foreground, or a look at what it would be."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from agents.orchestrator.planning.planning import open_goals
from agents.orchestrator.roadmap.roadmap import next_goals
from agents.orchestrator.vision.issue_goals import is_from_issue, with_issues
from agents.orchestrator.vision.vision_parser import difference, parse
from cli.commands.progress import showing
from cli.terminal.arguments import DONE, PROBLEM, Arguments
from cli.terminal.text import command, pasteable, plain
from cli.views.pulls import pulls
from cli.views.roadmap import laid_out
from cli.wiring.records import Records, open_records
from cli.wiring.shutdown import quitting
from shared.model.errors import Misconfigured
from shared.model.lifecycle import Event, State
from shared.model.text import counted
from shared.model.work import Vision
from shared.system.markdown import outline
from shared.system.paths import read_text

MOST_NAMED = 5  # problems of a day in its last line
LONGEST_NAMED = 200  # characters of each


def run_day(arguments: Arguments, environment: Mapping[str, str] = os.environ) -> int:
    """1 if a phase had a problem or a task has failed today, said in the last line; all else was done all the same."""
    from cli.wiring.team import open_team

    with open_records(arguments.home, environment) as records, showing(records) as show, quitting() as quit_:

        def tell(text: str) -> None:
            show(f"{records.clock.now():%H:%M:%S}  {plain(pasteable(text, arguments.home))}")

        with open_team(records, tell, quit_=quit_) as orchestrator:
            orchestrator.run_day(arguments.until)
        if quit_.asked():
            raise KeyboardInterrupt
        pulls(records)  # for looking at them while the forge is away
        wrong = [*orchestrator.problems, *failed_today(records)]
    if wrong:
        more = f"; and {len(wrong) - MOST_NAMED} more" if len(wrong) > MOST_NAMED else ""
        text = "; ".join(line[:LONGEST_NAMED] for line in wrong[:MOST_NAMED])
        told = f"{plain(pasteable(text, arguments.home))}{more}; see: {command(arguments.home, 'status')}"
        print(f"run-day: {told}", file=sys.stderr)
    return PROBLEM if wrong else DONE


def failed_today(records: Records) -> list[str]:
    """Those that came to nothing; what the owner cancelled is no problem."""
    found = []
    for task in records.store.names()[State.FAILED]:
        history = records.journal.history(task)
        if history and history[-1].event is Event.EXHAUSTED and history[-1].at[:10] == records.day():
            found.append(f"{task} has failed: {history[-1].note}")
    return found


def plan(arguments: Arguments) -> int:
    """What the grammar reads and what would be planned. Asks no model, changes nothing."""
    with open_records(arguments.home) as records:
        vision, before = _vision(records)
        change = difference(before, vision)
        wanted = {goal.id: goal for goal in open_goals(records.plans, records.journal, vision, records.day())}
        _, roadmap = laid_out(records, vision)
        goals = [wanted[id_] for id_ in next_goals(roadmap, records.day()) if id_ in wanted]
    for name, some in (("new", change.new), ("changed", change.changed), ("removed", change.removed)):
        for goal in some:
            print(f"{name:<8} {goal.id}  {plain(goal.title)} ({goal.priority})")
    for warning in vision.warnings:
        print(f"warning  line {warning.line}: {plain(warning.text)}")
    for remark in vision.unread:
        print(f"prose    line {remark.line}: {plain(remark.text)} (a model will be asked what it means)")
    capacity, inbox = records.settings.policy.capacity.tasks_per_day, records.settings.target.file.inbox
    if inbox.owners or inbox.label:
        print("issues are as they were read last; run-day reads them anew")
    print(f"{counted(len(goals), 'goal')} to be planned (at most {capacity} tasks a day){':' if goals else ''}")
    for goal in goals:
        print(f"  {goal.id}  {plain(goal.title)} ({goal.priority})")
    return 0


def _vision(records: Records) -> tuple[Vision, Vision | None]:
    accepted = records.plans.accepted()
    before = accepted.vision if accepted else None
    try:
        vision = parse(outline(read_text(records.home.vision)), before)
    except FileNotFoundError:
        raise Misconfigured(f"{records.home.vision} is missing; write your goals there") from None
    asked = (goal for goal in (before.goals if before else ()) if is_from_issue(goal))  # as they were read last
    return with_issues(vision, asked), before
