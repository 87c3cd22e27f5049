"""A plan that waits for the owner's yes: which tasks wait, what frees them, and when they go. By enumeration."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product

import pytest

from sisimpur.agents.orchestrator.board.plan_approval import PLAN, PlanApprovals
from sisimpur.agents.orchestrator.board.snapshot import Snapshot
from sisimpur.agents.orchestrator.board.stuck import stuck_tasks, told_once
from sisimpur.agents.orchestrator.decide import CancelTask, CodeTask, Rest, next_move
from sisimpur.agents.orchestrator.inbox.answers import begins_without
from sisimpur.shared.config.settings_policy import ApprovalRules, PlanRule, PolicyFile
from sisimpur.shared.model.lifecycle import Board, Card, Event, State, Tried
from sisimpur.shared.model.naming import is_task_id
from sisimpur.shared.model.work import DailyPlan, TaskSpec
from sisimpur.shared.store.task_records import Attempt, Happened, TaskRecord

NOW = datetime(2026, 11, 20, 8, tzinfo=UTC)
CENT = 10_000_000  # nano-dollars
SPEC = TaskSpec("20261120-01", "Fix the sum", "do it", files=("app.py",))
PLANNED = DailyPlan("2026-11-20", (SPEC,), ("why",), forecast=250 * CENT)


def record(id_: str = SPEC.id, state: State = State.BACKLOG, begun: bool = False, yes: bool = False) -> TaskRecord:
    attempts = (Attempt(1, "failed", "", NOW),) if begun else ()
    waived = frozenset({PLAN} if yes else ())
    return TaskRecord(id_, "Fix the sum", "g-1", "w", state, Tried(), attempts, since=NOW.isoformat(), waived=waived)


def waiting(*known: TaskRecord, rule: str = "always", now: datetime = NOW) -> dict[str, str]:
    plans = {PLANNED.day: PLANNED}
    return PlanApprovals(ApprovalRules(plan=rule).rule, plans.get, lambda: now).waiting(known)


@pytest.mark.parametrize(("state", "begun", "yes"), [*product(State, (False, True), (False, True))])
def test_what_lies_in_the_backlog_and_was_never_begun_waits_until_the_owner_says_yes(
    state: State, begun: bool, yes: bool
) -> None:
    one = record(state=state, begun=begun, yes=yes)
    assert bool(waiting(one)) == (state is State.BACKLOG and not begun and not yes)
    assert waiting(one, rule="never") == {}


@pytest.mark.parametrize("event", Event)
def test_a_retry_by_the_owner_is_a_yes_and_nothing_else_that_happens_is(event: Event) -> None:
    one = replace(record(), newest=Happened(NOW.isoformat(), event, State.BACKLOG, ""))
    assert bool(waiting(one)) == (event is not Event.RETRIED)
    assert bool(waiting(one, now=NOW + timedelta(days=9))) == (event is not Event.RETRIED)


@pytest.mark.parametrize("id_", ["20261120-02", "20261119-01", "20261120-u1", "20261120-l1", "notes", "my-task"])
def test_what_no_plan_holds_never_waits(id_: str) -> None:
    """The owner's own files, upkeep (which never merges without him), and what brings a goal's branch home."""
    assert waiting(record(id_)) == {}


@pytest.mark.parametrize(
    ("rule", "waits"),
    [
        ("never", False),
        ("always", True),
        ("over-2.49", True),
        ("over-$2.49", True),
        ("over-2.5", False),
        ("over-3", False),
    ],
)
def test_above_so_many_dollars_a_plan_waits(rule: str, waits: bool) -> None:
    assert bool(waiting(record(), rule=rule)) == waits


def test_a_plan_that_costs_nothing_waits_if_each_does() -> None:
    rule = ApprovalRules(plan="always").rule
    free = replace(PLANNED, forecast=0)
    assert PlanApprovals(rule, {free.day: free}.get, lambda: NOW).waiting([record()]) == {SPEC.id: ""}


@pytest.mark.parametrize("typed", ["", "yes", "over", "over-", "over--1", "over-1.234", "over-1e3", "Always"])
def test_another_word_is_refused(typed: str) -> None:
    with pytest.raises(ValueError, match="pattern"):
        ApprovalRules(plan=typed)


def test_by_itself_no_plan_waits() -> None:
    assert PolicyFile.model_validate({"budget": {"task": 1, "day": 1, "month": 1}}).approve.rule == PlanRule(None, 3)


def test_after_three_days_it_goes_and_not_a_second_before() -> None:
    assert waiting(record(), now=NOW + timedelta(days=3)) == {SPEC.id: ""}
    late = NOW + timedelta(days=3, seconds=1)
    assert waiting(record(), now=late) == {SPEC.id: "nobody approved its plan within 3 days"}


# --- on the board ----------------------------------------------------------------------------------------------


def card(id_: str, unapproved: bool, unwanted: str = "") -> Card:
    spec = replace(SPEC, id=id_, title=f"task {id_}", files=(f"{id_}.py",))
    return Card(id_, State.BACKLOG, spec, State.BACKLOG, unapproved=unapproved, unwanted=unwanted)


@pytest.mark.parametrize("unapproved", [*product((False, True), repeat=3)])
def test_it_is_told_once_and_frees_each_alone_or_all(unapproved: tuple[bool, ...]) -> None:
    board = Board(tuple(card(id_, waits) for id_, waits in zip("abc", unapproved, strict=True)))
    free = [one.id for one in board.cards if not one.unapproved]
    move = next_move(board, NOW)
    assert isinstance(move, CodeTask if free else Rest)
    assert not isinstance(move, CodeTask) or move.task == free[0]
    told = told_once(stuck_tasks(Snapshot(board, (), {})))
    held = [one.id for one in board.cards if one.unapproved]
    assert [one.together for one in told] == ([tuple(held)] if held else [])
    for one in told:
        assert one.ways[0] == "approve plan" and one.ways[1] == f"unblock {held[0]}"
        assert one.why == f"its plan waits for your yes ({', '.join(held)})"
    for id_ in held:
        assert begins_without(board.by_id[id_], board) == (PLAN,)


def test_what_goes_is_cancelled_and_its_goal_is_free_again() -> None:
    move = next_move(Board((card("a", True, "nobody approved its plan within 3 days"),)), NOW)
    assert move == CancelTask("a", "nobody approved its plan within 3 days")


def test_the_word_of_the_plan_is_no_tasks_name() -> None:
    assert not is_task_id(PLAN)
