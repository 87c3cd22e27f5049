"""Which model tries an easy task first: what it has cost decides, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.shared.model.work import Difficulty
from sisimpur.shared.money.savings import (
    ENOUGH,
    NEWEST,
    ONE_IN,
    FirstTry,
    Lane,
    Saved,
    balance,
    cached,
    choose,
    is_long_enough,
    number_of,
    pays,
    saved,
)
from sisimpur.shared.money.token_budget import Rates, TokenUsage, cost

GOOD = FirstTry("cheap", good=True, cost=10, checks=40, worth=200)
BAD = replace(GOOD, good=False)
DEAR = FirstTry("dear", good=True, cost=150, checks=40, worth=150)
RESTING = (BAD,) * ENOUGH
EVERY_NUMBER = range(3 * ONE_IN)

amounts = st.integers(0, 10**9)
lanes: st.SearchStrategy[Lane] = st.sampled_from(("cheap", "dear"))
tries = st.builds(FirstTry, lanes, st.booleans(), amounts, amounts, amounts)
records = st.lists(tries, max_size=2 * NEWEST).map(tuple)


def goes(record: tuple[FirstTry, ...], number: int = 1) -> Lane:
    return choose(Difficulty.EASY, 0, record, number)


# --- which tasks, which tries --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("difficulty", "so_far"), [pair for pair in product(Difficulty, range(4)) if pair != (Difficulty.EASY, 0)]
)
@given(record=records, number=st.integers(0))
def test_all_but_the_first_try_at_an_easy_task_is_the_dear_models(
    difficulty: Difficulty, so_far: int, record: tuple[FirstTry, ...], number: int
) -> None:
    assert choose(difficulty, so_far, record, number) == "dear"


@pytest.mark.parametrize("count", range(ENOUGH))
def test_the_cheap_model_is_tried_until_enough_is_known(count: int) -> None:
    assert goes((BAD,) * count + (DEAR,) * 20) == "cheap"


def test_after_eight_tries_that_came_to_nothing_it_rests_but_for_one_task_in_ten() -> None:
    assert [number for number in EVERY_NUMBER if goes(RESTING, number) == "cheap"] == [0, ONE_IN, 2 * ONE_IN]


# --- break-even ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("extra", "lane"),
    [
        pytest.param(1, "cheap", id="a nano-dollar saved"),
        pytest.param(0, "dear", id="exactly even: it is not worth the trouble"),
        pytest.param(-1, "dear", id="a nano-dollar lost"),
    ],
)
def test_what_is_saved_must_exceed_what_its_failures_cost(extra: int, lane: Lane) -> None:
    """Three failures cost 10 and 40 each; five good ones save 30 each."""
    record = (BAD,) * 3 + (replace(GOOD, worth=40),) * 4 + (replace(GOOD, worth=40 + extra),)
    assert balance(record) == extra
    assert goes(record) == lane


@given(records, st.integers(0))
def test_from_eight_tries_on_the_sign_of_the_balance_decides(record: tuple[FirstTry, ...], number: int) -> None:
    cheap = sum(one.lane == "cheap" for one in record)
    pays_off = cheap < ENOUGH or balance(record) > 0
    assert (choose(Difficulty.EASY, 0, record, number) == "cheap") is (pays_off or number % ONE_IN == 0)


@given(records, st.data())
def test_a_try_that_had_been_merged_never_makes_the_cheap_model_rest(
    record: tuple[FirstTry, ...], data: st.DataObject
) -> None:
    failed = [place for place, one in enumerate(record) if one.lane == "cheap" and not one.good]
    if failed:
        place = data.draw(st.sampled_from(failed))
        one = record[place]
        merged = replace(one, good=True, worth=max(one.worth, one.cost))
        better = (*record[:place], merged, *record[place + 1 :])
        known = [dear for dear in record if dear.lane == "dear"]
        if len(known) < ENOUGH:  # else what is known of the dear model may be less than the try itself has cost
            assert balance(better) >= balance(record)


@given(records, records)
def test_only_the_newest_fifty_of_each_model_count(record: tuple[FirstTry, ...], older: tuple[FirstTry, ...]) -> None:
    filled = (*record, *(GOOD,) * NEWEST, *(DEAR,) * NEWEST)
    assert balance((*filled, *older)) == balance(filled)


def test_one_that_rests_comes_back_when_its_few_tries_are_worth_more_than_the_old_failures() -> None:
    """Each good try saves 190, each of the eight failures has cost 50."""
    assert [goes((GOOD,) * good + RESTING) for good in range(4)] == ["dear", "dear", "dear", "cheap"]


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.integers(0, 10**6), st.integers(0, 20), st.integers(0, 20))
def test_break_even_is_where_an_account_kept_by_hand_says(
    cheap: int, dear: int, checks: int, good: int, bad: int
) -> None:
    """All tasks tried with the dear model cost `dear`; a failed cheap try is followed by one with the dear model."""
    one = FirstTry("cheap", True, cheap, checks, dear)
    record = (one,) * good + (replace(one, good=False),) * bad
    as_it_was = good * (cheap + checks) + bad * (cheap + checks + dear + checks)
    without = (good + bad) * (dear + checks)
    assert balance(record) == without - as_it_was


# --- what a try is worth -------------------------------------------------------------------------------------


def test_a_model_that_needs_more_words_has_not_saved_what_they_would_cost_elsewhere() -> None:
    """Its tokens would cost 600 at the dear model's prices; but the dear model is known to need 150 for such a task."""
    wordy = replace(GOOD, cost=100, worth=600)
    few, enough = (DEAR,) * (ENOUGH - 1), (DEAR,) * ENOUGH
    assert (balance((wordy, *few)), balance((wordy, *enough))) == (500, 50)
    assert balance((GOOD, *(replace(DEAR, cost=1_000),) * ENOUGH)) == saved(GOOD, None) == 190, (
        "nor more than its tokens"
    )


def test_a_failure_costs_its_run_and_its_checks_whatever_the_tokens_are_worth() -> None:
    assert saved(BAD, None) == saved(replace(BAD, worth=0), None) == -50


def test_one_task_in_ten_is_the_same_ones_each_time() -> None:
    ids = [f"2026{month:02d}{day:02d}-{n:02d}" for month in range(1, 13) for day in range(1, 29) for n in range(1, 6)]
    chosen = {id_ for id_ in ids if number_of(id_) % ONE_IN == 0}
    assert chosen == {id_ for id_ in reversed(ids) if number_of(id_) % ONE_IN == 0}
    assert 0.08 < len(chosen) / len(ids) < 0.12


# --- prompt caching ------------------------------------------------------------------------------------------

SONNET = Rates(input=2_000, write_5m=2_500, write_1h=4_000, read=100, output=10_000)
HAIKU = Rates(input=100, write_5m=125, write_1h=200, read=10, output=500)
LOCAL = Rates(0, 0, 0, 0, 0)
OWN = Rates(10, 10, 10, 10, 20)

rates = st.builds(
    lambda read, more, write, output: Rates(read + more, read + more + write, read + more + write, read, output),
    *[st.integers(0, 10_000)] * 4,
)


@pytest.mark.parametrize(
    ("of", "calls", "again", "does"),
    [
        pytest.param(SONNET, 50, 0, False, id="single calls: written and never read"),
        pytest.param(SONNET, 50, 10, False, id="every fifth"),
        pytest.param(SONNET, 24, 5, False, id="five of 24: even, with reads at a twentieth"),
        pytest.param(SONNET, 23, 5, True, id="five of 23"),
        pytest.param(HAIKU, 50, 10, False, id="a read at a tenth: the turn is at 0.217"),
        pytest.param(HAIKU, 50, 11, True, id="eleven of fifty"),
        pytest.param(SONNET, 2, 1, True, id="asked twice"),
        pytest.param(LOCAL, 2, 1, False, id="what costs nothing saves nothing"),
        pytest.param(OWN, 2, 1, False, id="reading is as dear as asking"),
    ],
)
def test_marks_pay_where_a_prompt_is_used_again(of: Rates, calls: int, again: int, does: bool) -> None:
    assert pays(of, calls, again) is does


@given(rates, st.integers(1, 50), st.data())
def test_marks_pay_exactly_where_the_calls_with_them_cost_less(of: Rates, calls: int, data: st.DataObject) -> None:
    """Each call has the same 1,000 tokens; the first of each run writes them, the others read them."""
    again = data.draw(st.integers(0, calls))
    without = calls * cost(of, TokenUsage(input=1_000))
    marked = (calls - again) * cost(of, TokenUsage(write_5m=1_000)) + again * cost(of, TokenUsage(read=1_000))
    assert pays(of, calls, again) is (marked < without)


@given(rates, *[st.integers(0, 10**6)] * 5)
def test_what_caching_saved_is_the_price_without_it_less_the_price_with_it(
    of: Rates, plain: int, short: int, hour: int, read: int, output: int
) -> None:
    usage = TokenUsage(plain, short, hour, read, output)
    without = TokenUsage(input=usage.prompt, output=output)
    assert cached(of, usage) == cost(of, without) - cost(of, usage)


@pytest.mark.parametrize(
    ("model", "size", "long_enough"),
    [
        ("claude-sonnet-5-5", 4_095, False),
        ("claude-sonnet-5-5", 4_096, True),
        ("claude-haiku-5-5", 16_383, False),
        ("claude-haiku-5-5", 16_384, True),
    ],
)
def test_a_short_beginning_is_not_kept_by_any_model(model: str, size: int, long_enough: bool) -> None:
    assert is_long_enough(model, size) is long_enough


def test_savings_add_up_by_kind() -> None:
    assert sum((Saved(3, -5), Saved(-1, 2)), Saved()) == Saved(caching=2, routing=-3)
