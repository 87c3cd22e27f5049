"""Tomorrow's first question to the planner, asked tonight at half price; and its answer, fetched before it is asked.

The question is the one that the morning asks if nothing has changed until then; any other is asked as ever. Whatever
goes wrong here keeps nobody from planning.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, timedelta

from agents.orchestrator import learning
from agents.orchestrator.goal_branches import open_branches
from agents.orchestrator.morning import is_read
from agents.orchestrator.planning import due_goals, order_for, together
from agents.orchestrator.team import Desk, Team
from shared.domain.batching import asks_ahead
from shared.domain.errors import Replaced, Stopping, TeamError
from shared.domain.routing import number_of
from shared.domain.work import PlanOrder
from shared.edge.fault import fault_point


def ask_ahead(desk: Desk, team: Team, day: str) -> None:
    """In the evening of a day, when all else is done and told. Once, whatever comes of it."""
    with _optional(desk):
        fetch(desk, team, day, give_up=False)
        close(desk, day)
        tomorrow = (date.fromisoformat(day) + timedelta(days=1)).isoformat()
        order = _question(desk, tomorrow) if _is_worth_it(desk, tomorrow) else None
        if order is None:
            return
        commit = team.sync()
        fault_point("ahead.ready")
        with desk.journal.running("planner", day, desk.clock) as run, desk.chair.left():
            team.ahead.send(replace(run, day=tomorrow), order, commit)
        fault_point("ahead.sent")
        desk.tell("tomorrow's planning is asked ahead, at half price")


def fetch(desk: Desk, team: Team, day: str, give_up: bool = True) -> None:
    """What was asked ahead for that day, if it is there. `give_up`: if it is not, nobody waits for it."""
    with _optional(desk):
        if not desk.ledger.batches_to_fetch(day):
            return
        with desk.journal.running("planner", day, desk.clock) as run, desk.chair.left():
            lines = team.ahead.fetch(run, give_up)
        for line in lines:
            desk.tell(f"planning ahead: {line}")


def close(desk: Desk, day: str) -> None:
    """That day is planned: what was asked ahead for it and is not used will not be."""
    desk.ledger.batches_unused(day)


def _is_worth_it(desk: Desk, tomorrow: str) -> bool:
    """The owner wants it, it pays so far, and nothing speaks against it yet."""
    if not desk.rules.ahead or desk.ledger.batches_of(tomorrow) or desk.plans.plan(tomorrow):
        return False
    record = [night for _, night in desk.savings.nights()]
    return asks_ahead(record, number_of(tomorrow)) and is_read(desk)


def _question(desk: Desk, tomorrow: str) -> PlanOrder | None:
    """What is planned first tomorrow. None: nothing, or what stands on a branch that the morning brings up to date."""
    accepted = desk.plans.accepted()
    goals = due_goals(desk, accepted.vision, tomorrow) if accepted else ()
    his = [goal for goal in goals if not goal.proposed_by][: desk.rules.capacity]
    some, rest, branch = together(his, open_branches(desk.journal))
    if accepted is None or not some or branch:
        return None
    order = order_for(desk, tomorrow, accepted, some, desk.rules.capacity - len(rest))
    return replace(order, lessons=learning.shown_to_planner(desk, some, tomorrow))


@contextmanager
def _optional(desk: Desk) -> Iterator[None]:
    try:
        yield
    except (Stopping, Replaced):
        raise
    except TeamError as problem:
        desk.tell(f"planning ahead: {problem}")
    except Exception as bug:  # noqa: BLE001 - the day is planned all the same
        desk.keep_bug(bug)
        words = f"a bug of ours ({type(bug).__name__}): please report what lies in {desk.home.logs}"
        desk.tell(f"planning ahead: {words}")
