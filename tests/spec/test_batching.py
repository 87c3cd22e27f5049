"""A batch's life is one table, its money follows it, and asking ahead goes on only while it pays."""

from __future__ import annotations

import graphlib
from datetime import UTC, datetime, timedelta

import pytest

from shared.domain.batching import (
    ENOUGH,
    KEPT,
    MONEY,
    NEWEST,
    ONE_IN,
    TABLE,
    Batch,
    Night,
    Stage,
    Word,
    after,
    asks_ahead,
    balance,
    saved,
)
from shared.domain.ticket import State
from shared.domain.token_budget import Ask, Caps, Grant, Rates, Refusal, Standing, decide, half

SENT = datetime(2026, 11, 20, 23, tzinfo=UTC)
RATES = Rates(input=3, write_5m=4, write_1h=6, read=1, output=15)
GOOD, BAD = Night(used=True, cost=50, full=100), Night(used=False, cost=50, full=100)


def batch(state: State = "open", vendor: str = "") -> Batch:
    return Batch(1, "key", "2026-11-21", "m", SENT, RATES, "v", 100, False, state, vendor)


# --- the table


def test_every_stage_is_reached_and_none_can_go_round_for_ever() -> None:
    steps = {stage: {then for (begin, _), then in TABLE.items() if begin is stage} for stage in Stage}
    assert {then for ends in steps.values() for then in ends} == set(Stage) - {Stage.PLANNED}
    assert list(graphlib.TopologicalSorter(steps).static_order())
    assert {stage for stage, ends in steps.items() if not ends} == {Stage.COLLECTED, Stage.VOID, Stage.LOST}


def test_money_is_reserved_exactly_as_long_as_more_can_be_heard() -> None:
    assert {stage for stage in Stage if MONEY[stage] == "open"} == {begin for begin, _ in TABLE}


def test_only_an_answer_is_paid_for_and_only_what_nobody_knows_is_lost() -> None:
    assert {word for (_, word), then in TABLE.items() if then is Stage.COLLECTED} == {Word.ANSWERED}
    assert {word for (_, word), then in TABLE.items() if then is Stage.LOST} == {Word.SILENT}
    assert {word for (_, word), then in TABLE.items() if then is Stage.VOID} == {Word.REFUSED, Word.UNANSWERED}


@pytest.mark.parametrize("stage", [Stage.COLLECTED, Stage.VOID, Stage.LOST])
@pytest.mark.parametrize("word", Word)
def test_what_has_ended_stays_as_it_is(stage: Stage, word: Word) -> None:
    assert after(stage, word) is stage


def test_what_was_sent_is_not_refused_any_more_and_what_was_not_is_not_answered() -> None:
    assert after(Stage.SENT, Word.REFUSED) is Stage.SENT
    assert after(Stage.PLANNED, Word.ANSWERED) is after(Stage.PLANNED, Word.UNANSWERED) is Stage.PLANNED


@pytest.mark.parametrize(
    ("state", "vendor", "stage"),
    [
        ("open", "", Stage.PLANNED),
        ("open", "b1", Stage.SENT),
        ("settled", "b1", Stage.COLLECTED),
        ("void", "", Stage.VOID),
        ("void", "b1", Stage.VOID),
        ("lost", "", Stage.LOST),
    ],
)
def test_a_batch_is_where_its_money_is(state: State, vendor: str, stage: Stage) -> None:
    assert batch(state, vendor).stage is stage


def test_a_batch_is_gone_when_the_vendor_keeps_nothing_of_it_any_more() -> None:
    assert not batch().is_gone(SENT + KEPT - timedelta(seconds=1))
    assert batch().is_gone(SENT + KEPT)


# --- half the price


@pytest.mark.parametrize(("nano", "costs"), [(0, 0), (1, 1), (2, 1), (3, 2), (57_000_001, 28_500_001)])
def test_half_is_exact_and_rounded_up(nano: int, costs: int) -> None:
    assert half(nano) == costs


@pytest.mark.parametrize("tokens", [(1, 1), (7, 3), (1_000, 16_000)])
def test_a_batch_reserves_half_of_the_worst_case_and_never_less(tokens: tuple[int, int]) -> None:
    plain = Ask("m", RATES, "v", *tokens)
    ahead = Ask("m", RATES, "v", *tokens, may_clamp=False, batched=True)
    assert ahead.worst == half(plain.worst) and 2 * ahead.worst >= plain.worst
    caps = Caps(ahead.worst, ahead.worst, ahead.worst)
    assert decide(ahead, [Standing("day", caps.day, 0)], 1) == Grant(tokens[1], ahead.worst)
    assert isinstance(decide(ahead, [Standing("day", caps.day, 1)], 1), Refusal), "never a shorter answer"


# --- whether it pays


def test_a_used_answer_saves_what_it_cost_less_and_an_unused_one_costs_what_it_cost() -> None:
    assert (saved(GOOD), saved(BAD)) == (50, -50)
    assert balance([GOOD, GOOD, BAD]) == 50


def test_until_enough_nights_are_known_it_goes_on() -> None:
    assert asks_ahead([], 1) and asks_ahead([BAD] * (ENOUGH - 1), 1)


def test_it_goes_on_only_while_it_has_saved_more_than_it_lost() -> None:
    assert not asks_ahead([BAD] * ENOUGH, 1)
    assert not asks_ahead([GOOD, BAD] * ENOUGH, 1), "nothing won is not enough"
    assert asks_ahead([GOOD, *([GOOD, BAD] * ENOUGH)], 1)


def test_while_it_rests_one_night_in_ten_tries_again() -> None:
    assert [number for number in range(30) if asks_ahead([BAD] * ENOUGH, number)] == [0, ONE_IN, 2 * ONE_IN]


def test_only_the_newest_nights_count() -> None:
    assert asks_ahead([GOOD] * NEWEST + [BAD] * 1_000, 1)
    assert not asks_ahead([BAD] * NEWEST + [GOOD] * 1_000, 1)
