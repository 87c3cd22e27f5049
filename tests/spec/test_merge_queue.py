"""Approved changes whose branch has moved are tested together, and merged one by one in that order."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product

import pytest

from sisimpur.agents.orchestrator.board.merge_queue import MOST, has_to_wait, is_ready, stack
from sisimpur.agents.orchestrator.decide import CodeTask, Gate, Move, Rest, StackRun, next_move
from sisimpur.shared.model.evidence import Approved, ChangesRequested, Evidence, Finding, Reviewed, Severity
from sisimpur.shared.model.gate import CheckedByOthers, Merge, Refresh, ReviewState, RunTests
from sisimpur.shared.model.lifecycle import Board, Card, State
from sisimpur.shared.model.work import TaskSpec

NOW = datetime(2026, 11, 20, 9, tzinfo=UTC)
APPROVED = ReviewState(
    "c1",
    "s1",
    is_current=False,
    in_full_box=True,
    in_budget=True,
    evidence=Evidence("c1", "t1", "b1", "pytest", "full box"),
    reviewed=Reviewed("c1", Approved()),
    into="main",
)


def waiting(id_: str, found: ReviewState = APPROVED, *paths: str, **more: object) -> Card:
    found = replace(found, paths=paths or (f"{id_}.py",), **more)  # type: ignore[arg-type]
    spec = TaskSpec(id_, f"task {id_}", "do it", files=found.paths)
    return Card(id_, State.IN_REVIEW, spec, State.IN_REVIEW, submission=found)


def board(*cards: Card, **more: object) -> Board:
    return Board(cards, **more)  # type: ignore[arg-type]


def move(*cards: Card, **more: object) -> Move:
    return next_move(board(*cards, **more), NOW)


def test_two_approved_changes_of_an_older_base_are_tested_together() -> None:
    assert move(waiting("a"), waiting("b")) == StackRun(("a", "b"))
    assert move(waiting("a")) == Gate("a", Refresh()), "one alone is brought up to date and tested, as ever"


def test_what_stands_on_what_is_there_now_is_merged_first() -> None:
    assert move(waiting("a"), waiting("b"), waiting("c", is_current=True)) == Gate("c", Merge())


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(waiting("b", APPROVED, "a.py", "b.py"), id="it changes the same file"),
        pytest.param(waiting("b", into="goal/x"), id="it goes into another branch"),
        pytest.param(waiting("b", into=""), id="it brings a goal's branch home"),
        pytest.param(waiting("b", turn="alone"), id="it was red in a stack"),
        pytest.param(waiting("20261120-u1"), id="the team's own"),
        pytest.param(waiting("b", evidence=None), id="not tested yet"),
        pytest.param(waiting("b", protected=("Dockerfile",)), id="the owner decides"),
    ],
)
def test_what_is_not_tested_together(other: Card) -> None:
    assert stack([waiting("a"), other], board(waiting("a"), other)) == ()


def test_a_stack_has_its_bound() -> None:
    cards = [waiting(f"t{number}") for number in range(MOST + 3)]
    assert len(stack(cards, board(*cards))) == MOST


def test_while_a_stack_is_tested_nothing_else_is_merged_and_other_work_goes_on() -> None:
    tested = [waiting("a"), waiting("b")]
    busy = frozenset({"a", "b"})
    assert isinstance(move(*tested, waiting("c", is_current=True), busy=busy), Rest)
    new = Card("d", State.BACKLOG, TaskSpec("d", "d", "d", files=("d.py",)), State.BACKLOG)
    assert move(*tested, waiting("c", is_current=True), new, busy=busy) == CodeTask("d")


def test_what_came_out_green_is_merged_in_its_order_before_anything_else() -> None:
    first, second, other = waiting("b", turn="now"), waiting("a", turn="later"), waiting("0", is_current=True)
    assert move(second, first, other) == Gate("b", Refresh())
    again = replace(APPROVED, is_current=True, is_again=True, turn="now", evidence=None)
    assert move(second, waiting("b", again), other) == Gate("b", RunTests())
    assert move(second, waiting("b", replace(APPROVED, is_current=True, turn="now")), other) == Gate("b", Merge())


def test_what_others_still_check_holds_its_place_and_what_is_red_there_holds_nobody_up() -> None:
    here, later = replace(APPROVED, is_current=True, turn="now"), waiting("a", turn="later")
    awaited = CheckedByOthers("c1", awaited=("ci",), read_again=NOW + timedelta(minutes=1))
    rest = move(waiting("b", here, others=awaited), later)
    assert isinstance(rest, Rest) and rest.until == awaited.read_again and "b: others check it" in rest.why
    due = replace(awaited, read_again=NOW)
    assert move(waiting("b", here, others=due), later) == Gate("b", Merge())
    red = CheckedByOthers("c1", against=("ci is red",))
    asked = waiting("b", here, others=red, told="ci is red")
    assert move(asked, later) == Gate("a", Refresh())


def test_a_queue_whose_first_is_gone_holds_nobody_up() -> None:
    assert move(waiting("a", turn="later"), waiting("b", turn="later")) == StackRun(("a", "b"))
    assert move(waiting("a", turn="later")) == Gate("a", Refresh())


def test_what_is_tested_again_before_its_merge_holds_up_other_merges_until_it_was() -> None:
    again = waiting("a", is_again=True, evidence=None, is_current=True)
    ready = waiting("b", is_current=True)
    assert has_to_wait(ready, board(again, ready)) and move(again, ready) == Gate("a", RunTests())
    assert not has_to_wait(ready, board(waiting("a", is_again=True, evidence=None, pull_state="closed"), ready))
    red = Reviewed("c1", ChangesRequested((Finding("a.py", 1, Severity.HIGH, "rule", "bad", "It is wrong."),)))
    assert not has_to_wait(ready, board(waiting("a", is_again=True, reviewed=red), ready))


def test_nobody_waits_for_who_waits_for_money() -> None:
    again, ready = waiting("a", is_again=True, reviewed=None, is_current=True), waiting("b", is_current=True)
    assert has_to_wait(ready, board(again, ready))
    assert not has_to_wait(ready, board(again, ready, no_model="the day's cap is reached"))


def test_somebody_always_goes_on() -> None:
    """Of all boards of two and three approved changes in every state of the queue, none rests for ever."""
    states: list[dict[str, object]] = [
        {"turn": turn, "is_current": current, "is_again": again, **({} if tested else {"evidence": None})}
        for turn in ("", "now", "later", "alone")
        for current in (True, False)
        for again in (True, False)
        for tested in (True, False)
    ]
    for chosen in (*product(states, repeat=2), *product(states[::3], repeat=3)):
        cards = [waiting(f"t{number}", APPROVED, **state) for number, state in enumerate(chosen)]
        assert not isinstance(move(*cards), Rest), chosen
        assert all(is_ready(card, board().policy) or card.submission.evidence is None for card in cards)  # type: ignore[union-attr]
