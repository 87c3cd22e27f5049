"""Nothing waits for ever in silence: what a task waits for, when that ends, and when the owner is asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from itertools import permutations, product

import pytest

from sisimpur.agents.orchestrator.board.snapshot import Snapshot
from sisimpur.agents.orchestrator.board.stuck import stuck_tasks, told_once
from sisimpur.agents.orchestrator.decide import CodeTask, Rest, next_move
from sisimpur.agents.orchestrator.inbox.answers import begins_without
from sisimpur.agents.orchestrator.reports.report_words import few
from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.model.gate import ReviewState
from sisimpur.shared.model.lifecycle import Board, Card, State, Tried, circles, is_over, waits_for
from sisimpur.shared.model.work import TaskSpec
from sisimpur.shared.store.task_records import TaskRecord

NOW = datetime(2026, 11, 20, 8, tzinfo=UTC)
KINDS = ("depends_on", "after")
LEFT = (State.FAILED, State.GONE)  # what is needed of these will not come


def card(id_: str, state: State = State.BACKLOG, waived: Iterable[str] = (), **waits: tuple[str, ...]) -> Card:
    needs, turns = (waits.get(kind, ()) for kind in KINDS)
    spec = TaskSpec(id_, f"task {id_}", "do it", files=(f"{id_}.py",), depends_on=needs, after=turns)
    return Card(id_, state, spec, state, waived=frozenset(waived))


# --- one task and another that it names ------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "state", "waived"), [*product(KINDS, [*State, None], [False, True])])
def test_a_change_is_waited_for_until_it_is_there_and_a_turn_until_it_is_over(
    kind: str, state: State | None, waived: bool
) -> None:
    """`state` None: there was never such a task."""
    waiting = card("a", State.BACKLOG, ("b",) if waived else (), **{kind: ("b",)})
    board = Board((waiting, *([card("b", state)] if state else [])))
    is_there = state is State.COMPLETED if kind == "depends_on" else state is None or is_over(state)
    assert bool(waits_for(waiting, board)) == (not is_there and not waived)
    is_lost = kind == "depends_on" and (state is None or state in LEFT)
    assert (board.stuck.keys() == {"a"}) == (is_lost and not waived)


@pytest.mark.parametrize(("kind", "told"), [*product(KINDS, ["", "the reviewer asks you: a question"])])
def test_a_turn_ends_when_the_owner_is_asked_and_a_change_is_still_waited_for(kind: str, told: str) -> None:
    """Else one question in the morning would keep all that changes the same file of tests from being begun."""
    waiting, last = card("a", State.BACKLOG, (), **{kind: ("b",)}), card("c", after=("a",))
    at_the_gate = ReviewState("c1", "s1", is_current=True, in_full_box=True, in_budget=True, told=told)
    board = Board((waiting, last, replace(card("b", State.IN_REVIEW), submission=at_the_gate)))
    assert bool(waits_for(waiting, board)) == (kind == "depends_on" or not told)
    assert waits_for(last, board) == "has its turn after a (backlog)"
    assert not board.stuck


@pytest.mark.parametrize("state", State)
def test_what_is_over_and_has_no_card_counts_as_if_it_had_one(state: State) -> None:
    waiting, turn = card("a", depends_on=("b",)), card("c", after=("b",))
    seen = Board((waiting, turn, card("b", state)))
    unseen = Board((waiting, turn), closed={state: {"b"}})
    assert [waits_for(one, seen) for one in (waiting, turn)] == [waits_for(one, unseen) for one in (waiting, turn)]


@pytest.mark.parametrize(
    ("waits", "state", "words"),
    [
        pytest.param("depends_on", State.BACKLOG, "waits for b (backlog)", id="a change that is to come"),
        pytest.param("depends_on", State.FAILED, "needs the change of b, which lies in failed/", id="that failed"),
        pytest.param("depends_on", State.GONE, "depends on b, which does not exist", id="that is gone"),
        pytest.param("after", State.IN_REVIEW, "has its turn after b (in_review)", id="its turn"),
    ],
)
def test_it_says_what_it_waits_for(waits: str, state: State, words: str) -> None:
    board = Board((card("a", State.BACKLOG, (), **{waits: ("b",)}), card("b", state)))
    assert waits_for(board.cards[0], board) == words


def test_who_waits_for_what_is_stuck_says_so_and_asks_nothing_itself() -> None:
    board = Board(
        (card("a", depends_on=("x",)), card("b", after=("a",)), card("c", depends_on=("b",)), card("x", State.FAILED))
    )
    assert [waits_for(one, board) for one in board.cards[1:3]] == [
        "has its turn after a (backlog), which is stuck",
        "waits for b (backlog)",
    ]
    assert (tuple(board.stuck), board.behind("a")) == (("a",), ("b", "c"))


def test_the_team_that_rests_says_that_a_stuck_task_waits_for_the_owner() -> None:
    rest = next_move(Board((card("a", depends_on=("x",)), card("x", State.FAILED))), NOW)
    assert isinstance(rest, Rest)
    assert rest.why.endswith("; a waits for you; see: python main.py status")


# --- all boards of three tasks ---------------------------------------------------------------------------------

PAIRS = tuple(permutations("abc", 2))
Edges = Mapping[tuple[str, str], str]


def board_of(edges: Edges) -> Board:
    def named(id_: str, kind: str) -> tuple[str, ...]:
        return tuple(other for (one, other), found in edges.items() if (one, found) == (id_, kind))

    return Board(tuple(card(id_, State.BACKLOG, (), **{kind: named(id_, kind) for kind in KINDS}) for id_ in "abc"))


def played(board: Board, fails: Iterable[str]) -> Board:
    """Until the team rests: what is begun is completed, or fails."""
    while isinstance(move := next_move(board, NOW), CodeTask):
        state = State.FAILED if move.task in fails else State.COMPLETED
        ended = [replace(one, state=state, seen_in=state) if one.id == move.task else one for one in board.cards]
        board = replace(board, cards=tuple(ended))
    return board


BOARDS = [dict(zip(PAIRS, kinds, strict=True)) for kinds in product(("", *KINDS), repeat=len(PAIRS))]
ENDS = [set(), {"a"}, {"a", "b"}, {"a", "b", "c"}]


@pytest.mark.parametrize("fails", ENDS, ids=lambda fails: f"{len(fails)} fail")
def test_what_never_begins_is_stuck_or_waits_for_what_is_stuck(fails: set[str]) -> None:
    for edges in BOARDS:
        board = played(board_of(edges), fails)
        left = {one.id for one in board.cards if one.state is State.BACKLOG}
        behind = {id_ for one in board.stuck for id_ in board.behind(one)}
        assert left == board.stuck.keys() | behind, edges


@pytest.mark.parametrize("fails", ENDS, ids=lambda fails: f"{len(fails)} fail")
def test_whatever_is_unblocked_as_it_asks_comes_to_its_end(fails: set[str]) -> None:
    for edges in BOARDS:
        board = played(board_of(edges), fails)
        while board.stuck:
            freed = next(iter(board.stuck))
            without = begins_without(board.by_id[freed], board)
            cards = [replace(one, waived=one.waived | {*without}) if one.id == freed else one for one in board.cards]
            board = played(replace(board, cards=tuple(cards)), fails)
        assert all(is_over(one.state) for one in board.cards), edges


def test_where_no_change_is_needed_everything_ends_whatever_fails() -> None:
    """Turns alone hold nobody up, but in a circle."""
    for edges in BOARDS:
        begun = board_of(edges)
        if "depends_on" not in edges.values() and not begun.circle_of:
            assert all(is_over(one.state) for one in played(begun, {"a", "b", "c"}).cards), edges


# --- what the owner is told, and types -------------------------------------------------------------------------


def known(id_: str, since: str) -> TaskRecord:
    return TaskRecord(id_, id_, "g-1", "", State.BACKLOG, Tried(), since=since)


def test_the_owner_is_told_on_what_since_when_and_the_ways_out() -> None:
    board = Board(
        (
            card("a", depends_on=("x",)),
            card("b", after=("a",)),
            card("c", depends_on=("gone",)),
            card("x", State.FAILED),
        )
    )
    records = {"x": known("x", "2026-11-20T08:12:33+06:00"), "c": known("c", "2026-11-19T07:45:00+06:00")}
    failed, gone = stuck_tasks(Snapshot(board, (), records))
    assert failed.words == "needs the change of x, which lies in failed/, since 2026-11-20 08:12; b waits behind it"
    assert failed.ways == ("unblock a", "cancel a", "retry x")
    assert gone.words == "depends on gone, which does not exist, since 2026-11-19 07:45"
    assert gone.ways == ("unblock c", "cancel c")
    (first, _) = stuck_tasks(Snapshot(board, (), {}))
    assert first.words == "needs the change of x, which lies in failed/; b waits behind it", "nobody has seen it before"


@pytest.mark.parametrize(
    ("waiting", "others", "reason"),
    [
        pytest.param(card("a"), (), "a waits for no other task: it begins when its turn comes", id="free"),
        pytest.param(
            card("a", State.COMPLETED, depends_on=("x",)), (), "a lies in completed/ and waits for no other", id="over"
        ),
        pytest.param(
            replace(card("a"), backed_off="the forge is away"), (), "the forge is away: that ends without", id="else"
        ),
    ],
)
def test_there_may_be_nothing_to_unblock(waiting: Card, others: tuple[Card, ...], reason: str) -> None:
    with pytest.raises(Misconfigured, match=reason):
        begins_without(waiting, Board((waiting, *others)))


def test_all_that_it_waits_for_is_dropped_at_once_and_what_is_there_stays() -> None:
    waiting = card("a", depends_on=("x", "y"), after=("z", "y"))
    board = Board((waiting, card("x", State.FAILED), card("y", State.COMPLETED), card("z")))
    assert begins_without(waiting, board) == ("x", "z")


# --- crowds ----------------------------------------------------------------------------------------------------


def ring(size: int) -> Board:
    """Each waits for the next, and the last for the first."""
    ids = [f"t{number:05}" for number in range(size)]
    return Board(tuple(card(one, depends_on=(ids[(at + 1) % size],)) for at, one in enumerate(ids)))


@pytest.mark.parametrize(
    ("waits", "found"),
    [
        ({}, []),
        ({"a": ["b"], "b": ["c"]}, []),
        ({"a": ["a"]}, [("a",)]),
        ({"a": ["b"], "b": ["a"], "c": ["a"], "d": ["c", "e"], "e": ["d"]}, [("a", "b"), ("d", "e")]),
        ({"a": ["b", "c"], "b": ["c"], "c": ["b"], "d": ["a", "d"]}, [("b", "c"), ("d",)]),
    ],
)
def test_circles_are_those_who_wait_for_each_other(waits: dict[str, list[str]], found: list[tuple[str, ...]]) -> None:
    assert sorted(circles(waits)) == found


def test_a_circle_of_thousands_is_found_at_once_and_told_once_with_its_number() -> None:
    board = ring(3_000)
    (told,) = told_once(stuck_tasks(Snapshot(board, (), {})))
    assert told.task == "t00000" and told.together == tuple(sorted(board.by_id))
    assert "its dependencies form a circle (t00000, t00001, t00002, t00003, t00004 and 2995 more)" in told.words


def test_bullets_of_a_crowd_are_taken_as_they_come() -> None:
    lines = [f"line {number}" for number in range(100_000)]
    assert few(lines, most=3).splitlines() == ["- line 0", "- line 1", "- line 2", "- and 99997 more"]
    assert few(iter(lines), room=20).splitlines() == ["- line 0", "- line 1", "- and 99998 more"]
    assert few(["x" * 30, "y"], room=20) == "- and 2 more"
