"""The order in which the orchestrator does things."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from sisimpur.agents.orchestrator.decide import (
    AbandonAttempt,
    AdoptTask,
    ApplyOwnerMove,
    CancelTask,
    CodeTask,
    Deliver,
    Gate,
    GiveUp,
    Move,
    Rebase,
    Rest,
    next_move,
)
from sisimpur.shared.model.evidence import Escalated, Evidence, Reviewed
from sisimpur.shared.model.gate import AskOwner, Judge, Refresh, ReviewState, RunTests
from sisimpur.shared.model.lifecycle import Board, Card, Event, State, TaskLimits, Tried, pause_after, waits_for
from sisimpur.shared.model.work import Priority, TaskSpec

UNKNOWN = "no task is ready: a depends on x, which does not exist; a waits for you; see: python main.py status"
NOW = datetime(2026, 11, 20, 8, tzinfo=UTC)


def card(
    id_: str = "a",
    state: State = State.BACKLOG,
    *,
    seen_in: State | str | None = "the same",
    priority: Priority = Priority.MEDIUM,
    after: tuple[str, ...] = (),
    readable: bool = True,
    tried: Tried = Tried(),  # noqa: B008
    attempt: int | None = None,
    commit: str = "",
    rests_until: datetime | None = None,
    unwanted: str = "",
    refreshes: str = "",
    at_gate: ReviewState | None = None,
) -> Card:
    spec = TaskSpec(id_, f"task {id_}", "do it", priority, files=("a.py",), depends_on=after) if readable else None
    seen = state if seen_in == "the same" else State(seen_in) if seen_in else None
    return Card(id_, state, spec, seen, tried, attempt, commit, refreshes, at_gate, rests_until, unwanted)


READY = ReviewState("c1", "s1", is_current=True, in_full_box=True, in_budget=True)
PARKED = replace(
    READY,
    evidence=Evidence("c1", "t1", "b1", "pytest", "full box"),
    reviewed=Reviewed("c1", Escalated("a question")),
    told="the reviewer asks you: a question",
)


@pytest.mark.parametrize(
    ("cards", "move"),
    [
        pytest.param([], Rest("no task is ready"), id="an empty board"),
        pytest.param([card()], CodeTask("a"), id="a task in backlog is coded"),
        pytest.param([card("a"), card("b", priority=Priority.CRITICAL)], CodeTask("b"), id="the most urgent first"),
        pytest.param([card("b"), card("a")], CodeTask("a"), id="then the oldest"),
        pytest.param([card(seen_in=None)], AdoptTask("a"), id="a dropped file is welcomed before it is worked on"),
        pytest.param([card(seen_in=None, readable=False)], Rest("no task is ready"), id="an unreadable one is left"),
        pytest.param([card(seen_in="failed")], ApplyOwnerMove("a", Event.RETRIED), id="failed to backlog is a retry"),
        pytest.param([card(state=State.GONE, seen_in="backlog")], ApplyOwnerMove("a", Event.DELETED), id="deleted"),
        pytest.param([card("a"), card("b", State.IN_PROGRESS, commit="c0ffee")], Deliver("b"), id="delivery first"),
        pytest.param(
            [card("a"), card("b", State.IN_PROGRESS)], AbandonAttempt("b"), id="a cut attempt is closed first"
        ),
        pytest.param([card("b", State.IN_PROGRESS, readable=False)], Rest("no task is ready"), id="unreadable at work"),
        pytest.param(
            [card(unwanted="goal gone"), card("b")], CancelTask("a", "goal gone"), id="an unwanted task is dropped"
        ),
        pytest.param([card(state=State.IN_REVIEW, unwanted="x")], Rest("no task is ready"), id="not once it is begun"),
        pytest.param([card(tried=Tried(3, 0))], GiveUp("a"), id="three failures: give up"),
        pytest.param([card(tried=Tried(0, 5))], GiveUp("a"), id="five crashes: give up"),
        pytest.param([card("a", after=("b",)), card("b")], CodeTask("b"), id="what is needed comes first"),
        pytest.param(
            [card("a", after=("b",)), card("b", State.COMPLETED)], CodeTask("a"), id="what is done is no obstacle"
        ),
        pytest.param([card("a", after=("x",))], Rest(UNKNOWN), id="an unknown dependency blocks"),
    ],
)
def test_what_comes_next(cards: list[Card], move: Move) -> None:
    assert next_move(Board(tuple(cards), TaskLimits(3, 5)), NOW) == move


def test_a_circle_blocks_its_members_and_nobody_else() -> None:
    board = Board((card("a", after=("b",)), card("b", after=("a",)), card("c"), card("d", after=("d",))))
    assert next_move(board, NOW) == CodeTask("c")
    assert [waits_for(c, board) for c in board.cards] == ["its dependencies form a circle"] * 2 + [
        "",
        "its dependencies form a circle",
    ]


def test_without_money_the_team_rests_but_finishes_what_stands() -> None:
    broke = "the day's cap is reached"
    assert next_move(Board((card(),), no_model=broke), NOW) == Rest(broke)
    begun = card("b", State.IN_PROGRESS, commit="c0ffee")
    assert next_move(Board((card(), begun), no_model=broke), NOW) == Deliver("b")


def test_what_nobody_asked_for_comes_after_all_that_is_wanted() -> None:
    older, own = card("20261119-u1", priority=Priority.CRITICAL), card("20261120-01", priority=Priority.LOW)
    assert next_move(Board((older, own)), NOW) == CodeTask("20261120-01")
    assert next_move(Board((older,)), NOW) == CodeTask("20261119-u1")


def test_without_its_share_upkeep_rests_and_the_owners_tasks_go_on() -> None:
    broke = replace(card("20261120-u1"), no_model="the share is used up")
    assert next_move(Board((broke, card("a"))), NOW) == CodeTask("a")
    assert next_move(Board((broke,)), NOW) == Rest("no task is ready: 20261120-u1 the share is used up")
    refused = replace(broke, no_model="the engine's request was refused: " + "why " * 40)
    assert len(str(next_move(Board((refused,)), NOW))) < 150, "what was told when it happened is not told in full again"
    read = card("20261120-u1", State.IN_REVIEW, at_gate=replace(PARKED, reviewed=None, told=""))
    assert next_move(Board((read,)), NOW) == Gate("20261120-u1", Judge())
    assert isinstance(next_move(Board((replace(read, no_model="the share is used up"),)), NOW), Rest)
    asking = card("20261120-u1", State.IN_REVIEW, at_gate=replace(PARKED, approved=True))
    assert isinstance(next_move(Board((replace(asking, no_model="x"),)), NOW), Gate), "what he approved is merged"


def test_the_long_runs_for_a_proposal_of_ours_wait_for_what_is_wanted() -> None:
    ours = card("20261120-u1", State.IN_REVIEW, at_gate=replace(READY, evidence=None))
    tested = Gate(ours.id, RunTests())
    assert next_move(Board((ours,)), NOW) == tested
    assert next_move(Board((ours, card("a"))), NOW) == CodeTask("a")
    at_work = Board((ours, card("a", State.IN_PROGRESS, attempt=1)), busy=frozenset({"a"}), free_workers=1)
    assert isinstance(next_move(at_work, NOW), Rest)
    resting = card("a", rests_until=NOW + timedelta(hours=1))
    stuck = card("b", after=("x",))
    assert next_move(Board((ours, resting, stuck)), NOW) == tested, "nobody waits for what cannot begin"


def test_a_resting_task_lets_others_pass_and_wakes_in_time() -> None:
    later = NOW + timedelta(seconds=30)
    resting = card("a", rests_until=later)
    assert next_move(Board((resting, card("b"))), NOW) == CodeTask("b")
    assert next_move(Board((resting,)), NOW) == Rest("waiting before the next attempt", later)
    assert next_move(Board((resting,)), later) == CodeTask("a")


@pytest.mark.parametrize(
    ("tried", "seconds"),
    [
        pytest.param(Tried(2, 0), 0, id="what failed may go on at once: attempts are counted"),
        pytest.param(Tried(0, 1), 0, id="one crash is bad luck"),
        pytest.param(Tried(0, 2), 30, id="two: half a minute"),
        pytest.param(Tried(0, 4), 120, id="then twice as long each time"),
        pytest.param(Tried(0, 50), 600, id="but at most ten minutes"),
    ],
)
def test_the_pause_after_an_attempt(tried: Tried, seconds: int) -> None:
    assert pause_after(tried) == timedelta(seconds=seconds)


# --- the gates -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cards", "move"),
    [
        pytest.param(
            [card(state=State.IN_REVIEW, at_gate=READY)], Gate("a", RunTests()), id="what was coded is tested"
        ),
        pytest.param(
            [card("a"), card("b", State.IN_REVIEW, at_gate=READY)],
            Gate("b", RunTests()),
            id="before anything new is coded",
        ),
        pytest.param(
            [card("a", State.IN_REVIEW, at_gate=PARKED), card("b")],
            CodeTask("b"),
            id="who waits for the owner stops nobody",
        ),
        pytest.param(
            [card(state=State.IN_REVIEW, at_gate=replace(PARKED, told=""))],
            Gate("a", AskOwner(("the reviewer asks you: a question",))),
            id="the owner is told once",
        ),
        pytest.param(
            [card(state=State.IN_PROGRESS, attempt=2, refreshes="c1")],
            Rebase("a"),
            id="brought up to date without a model",
        ),
        pytest.param(
            [card(state=State.IN_PROGRESS, attempt=2, refreshes="c1", commit="c2")], Deliver("a"), id="and delivered"
        ),
        pytest.param([card(state=State.IN_REVIEW)], Rest("no task is ready"), id="a commit that we do not have"),
    ],
)
def test_the_gates_have_their_turn(cards: list[Card], move: Move) -> None:
    assert next_move(Board(tuple(cards)), NOW) == move


def test_a_review_waits_for_money_while_tests_do_not() -> None:
    unread = replace(PARKED, reviewed=None)
    board = Board((card("a", State.IN_REVIEW, at_gate=unread),), no_model="the cap of the day is reached")
    assert next_move(board, NOW) == Rest("the cap of the day is reached")
    assert next_move(replace(board, no_model=""), NOW) == Gate("a", Judge())
    untested = Board((card("a", State.IN_REVIEW, at_gate=READY),), no_model="the cap of the day is reached")
    assert next_move(untested, NOW) == Gate("a", RunTests())


@pytest.mark.parametrize(
    ("cards", "why"),
    [
        pytest.param(["w1"], "w1 waits for you; see: python main.py status", id="one"),
        pytest.param(["w1", "w2"], "w1, w2 wait for you; see: python main.py status", id="two"),
        pytest.param([f"w{n}" for n in range(7)], "w0, w1, w2, w3, w4, ... wait for you; see", id="many"),
    ],
)
def test_who_rests_while_the_owner_is_asked_says_so(cards: list[str], why: str) -> None:
    move = next_move(Board(tuple(card(id_, State.IN_REVIEW, at_gate=PARKED) for id_ in cards), open_pulls=9), NOW)
    assert isinstance(move, Rest)
    assert move.why.startswith(f"no task is ready: {why}")


def test_as_many_pull_requests_as_a_person_can_read() -> None:
    waiting = [card(f"w{n}", State.IN_REVIEW, at_gate=PARKED) for n in range(2)]
    board = Board((*waiting, card("z")), open_pulls=2)
    assert next_move(board, NOW) == Rest("2 pull requests wait for you (limit 2); see: python main.py status")
    assert next_move(replace(board, open_pulls=3), NOW) == CodeTask("z")


def test_what_is_stale_is_brought_up_to_date_when_it_can_be_tested() -> None:
    """Sooner, another merge would make it stale once more, for each merge and each task in review."""
    stale = card("b", State.IN_REVIEW, at_gate=replace(READY, is_current=False))
    busy = Board((stale, card("a", State.IN_REVIEW, at_gate=READY)), busy=frozenset({"a"}), free_workers=0)
    assert isinstance(next_move(busy, NOW), Rest)
    assert next_move(replace(busy, free_workers=1), NOW) == Gate("b", Refresh())
