"""The laws of a task's life, proved over all states and events."""

from __future__ import annotations

import graphlib
from itertools import product

import pytest

from sisimpur.shared.model.lifecycle import (
    FOLDERS,
    OPEN,
    OWNERS,
    TRANSITIONS,
    Event,
    State,
    TaskLimits,
    Transition,
    Tried,
    after,
    is_over,
    owner_moved,
)


def reachable(start: State) -> set[State]:
    found: set[State] = set()
    todo = [start]
    while todo:
        if (state := todo.pop()) not in found:
            found.add(state)
            todo += [row.to for (at, _), row in TRANSITIONS.items() if at is state]
    return found


def test_every_state_is_reachable() -> None:
    assert reachable(State.BACKLOG) == set(State)


@pytest.mark.parametrize("state", State)
def test_from_every_state_a_task_can_end(state: State) -> None:
    assert any(is_over(end) for end in reachable(state))


def test_no_task_can_go_round_for_ever() -> None:
    """Without the rows that cost an attempt, and without the owner, there is no circle: the budget's safety proof."""
    free = {
        state: {
            row.to
            for (at, event), row in TRANSITIONS.items()
            if at is state and row.attempts == "kept" and event not in OWNERS
        }
        for state in State
    }
    assert list(graphlib.TopologicalSorter(free).static_order())


def test_whoever_begins_work_pays_an_attempt() -> None:
    ways_in = [row for row in TRANSITIONS.values() if row.to is State.IN_PROGRESS]
    assert ways_in and all(row.attempts == "plus one" for row in ways_in)


@pytest.mark.parametrize(("state", "event"), [key for key, row in TRANSITIONS.items() if row.attempts == "zero"])
def test_only_the_owner_gives_attempts_back(state: State, event: Event) -> None:
    assert event in OWNERS


@pytest.mark.parametrize("state", OPEN)
def test_every_worker_may_give_up(state: State) -> None:
    assert after(state, Event.EXHAUSTED).to is State.FAILED


def test_whoever_is_at_work_may_stumble() -> None:
    assert after(State.IN_PROGRESS, Event.STUMBLED).to is State.BACKLOG


@pytest.mark.parametrize("event", [Event.RED, Event.CHANGES])
def test_what_the_gates_send_back_begins_anew_and_pays_then(event: Event) -> None:
    assert after(State.IN_REVIEW, event) == Transition(State.BACKLOG)


def test_bringing_a_change_up_to_date_is_an_attempt_of_its_own() -> None:
    assert after(State.IN_REVIEW, Event.REFRESHED) == Transition(State.IN_PROGRESS, "plus one")


@pytest.mark.parametrize("state", State)
def test_what_is_over_belongs_to_nobody(state: State) -> None:
    assert is_over(state) == (state not in OPEN)


@pytest.mark.parametrize(("state", "event"), [key for key in product(State, Event) if key not in TRANSITIONS])
def test_what_is_not_in_the_table_is_a_bug(state: State, event: Event) -> None:
    with pytest.raises(ValueError):
        after(state, event)


@pytest.mark.parametrize("state", FOLDERS)
def test_the_owner_may_delete_every_file(state: State) -> None:
    assert owner_moved(state, State.GONE) is Event.DELETED


@pytest.mark.parametrize(
    ("seen", "found", "event"),
    [
        pytest.param(State.FAILED, State.BACKLOG, Event.RETRIED, id="failed to backlog: try again"),
        pytest.param(State.COMPLETED, State.BACKLOG, Event.RETRIED, id="completed to backlog: do it again"),
        pytest.param(State.IN_PROGRESS, State.BACKLOG, Event.WITHDRAWN, id="out of in_progress: stop it"),
        pytest.param(State.IN_PROGRESS, State.FAILED, Event.CANCELLED, id="to failed: cancel"),
        pytest.param(State.BACKLOG, State.COMPLETED, Event.DONE_BY_OWNER, id="to completed: I did it myself"),
        pytest.param(State.BACKLOG, State.IN_REVIEW, None, id="a move that means nothing"),
    ],
)
def test_what_the_owner_says_by_moving_a_file(seen: State, found: State, event: Event | None) -> None:
    assert owner_moved(seen, found) is event


@pytest.mark.parametrize(
    ("tried", "over"),
    [
        pytest.param(Tried(2, 4), False, id="one more of each is allowed"),
        pytest.param(Tried(3, 0), True, id="three failures"),
        pytest.param(Tried(0, 5), True, id="five crashes"),
        pytest.param(Tried(sent_back=3), False, id="sent back three times: the third correction may begin"),
        pytest.param(Tried(sent_back=4), True, id="and the third correction was sent back too"),
        pytest.param(Tried(stale=21), True, id="a branch that moves all the time"),
        pytest.param(Tried(minutes=239), False, id="nearly four hours of work"),
        pytest.param(Tried(minutes=240), True, id="four hours of work, however few attempts"),
        pytest.param(Tried(tokens=3_000_000), True, id="three million tokens, also where they cost nothing"),
    ],
)
def test_attempts_have_an_end(tried: Tried, over: bool) -> None:
    assert bool(tried.exhausted(TaskLimits(failed=3, lost=5))) is over
