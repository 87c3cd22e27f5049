"""The laws of money: no call costs more than was reserved for it, and what is reserved fits below every cap."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.shared.money.token_budget import (
    NANO,
    Ask,
    Caps,
    CapUsage,
    Grant,
    Moment,
    Rates,
    Refusal,
    TokenUsage,
    Totals,
    Uptime,
    amount,
    as_dollars,
    budget_day,
    clock_jumped,
    cost,
    decide,
    dollars,
    in_cents,
    month_of,
    nearly_used,
    next_cap,
    raise_forbidden,
    raised,
)

SONNET = Rates(input=2_000, write_5m=2_500, write_1h=4_000, read=100, output=10_000)
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)

amounts = st.integers(min_value=0, max_value=20 * 10**9)
tokens = st.integers(min_value=0, max_value=300_000)
prices = st.integers(min_value=0, max_value=100_000)
some_rates = st.builds(Rates, prices, prices, prices, prices, prices)


# --- amounts


@pytest.mark.parametrize(
    ("text", "nano"),
    [("0", 0), ("5", 5_000_000_000), ("5.00", 5_000_000_000), ("0.25", 250_000_000), ("0.000000001", 1)],
)
def test_an_amount_of_dollars_is_exact(text: str, nano: int) -> None:
    assert dollars(text) == nano


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param("-1", id="a debt"),
        pytest.param("+1", id="a sign"),
        pytest.param("1e3", id="an exponent"),
        pytest.param("inf", id="no cap at all"),
        pytest.param("nan", id="no number"),
        pytest.param("5 $", id="a currency"),
        pytest.param("5,00", id="a comma"),
        pytest.param(".5", id="no whole dollars"),
        pytest.param("5.", id="no cents after the point"),
        pytest.param("0.0000000001", id="less than a nano-dollar"),
        pytest.param("10000000", id="more than anybody means"),
        pytest.param("\u0665", id="a digit of another script"),
        pytest.param("5\n", id="a line end"),
    ],
)
def test_everything_else_is_no_amount(text: str) -> None:
    with pytest.raises(ValueError, match="not an amount"):
        dollars(text)


@given(st.integers(min_value=0, max_value=9_999_999 * 10**9))
def test_an_amount_survives_being_written_and_read(nano: int) -> None:
    assert dollars(as_dollars(nano)) == nano


def test_amounts_are_written_with_nine_decimals() -> None:
    assert [as_dollars(n) for n in (1, 1_500_000_000, -1)] == ["0.000000001", "1.500000000", "-0.000000001"]


# --- the worst case


@given(
    rates=some_rates,
    kinds=st.tuples(tokens, tokens, tokens, tokens),
    output=tokens,
    spare=tokens,
    hour_cache=st.booleans(),
)
def test_no_call_costs_more_than_its_worst_case(
    rates: Rates, kinds: tuple[int, int, int, int], output: int, spare: int, hour_cache: bool
) -> None:
    """However the prompt splits into fresh, written and read tokens, and whatever of the answer is used."""
    plain, write_5m, write_1h, read = kinds
    usage = TokenUsage(plain, write_5m, write_1h if hour_cache else 0, read, output)
    ask = Ask("m", rates, "v", usage.prompt + spare, output + spare, hour_cache)
    assert cost(rates, usage) <= ask.worst


def test_the_example_of_the_price_list_is_right_to_the_nano_dollar() -> None:
    usage = TokenUsage(input=100, write_5m=10, write_1h=20, read=1_000, output=50)
    assert cost(SONNET, usage) == 100 * 2_000 + 10 * 2_500 + 20 * 4_000 + 1_000 * 100 + 50 * 10_000


def test_an_hours_cache_is_reserved_only_if_it_was_asked_for() -> None:
    asks = [Ask("m", SONNET, "v", 1_000, 10, hour_cache) for hour_cache in (False, True)]
    assert [ask.worst_input for ask in asks] == [2_500_000, 4_000_000]


# --- the caps


@given(
    rates=some_rates,
    tokens_in=tokens,
    max_tokens=st.integers(min_value=1, max_value=200_000),
    may_clamp=st.booleans(),
    caps=st.lists(st.tuples(amounts, st.integers(min_value=-10, max_value=250)), min_size=1, max_size=5),
    min_out=st.integers(min_value=0, max_value=5_000),
)
def test_what_is_granted_fits_below_every_cap(
    rates: Rates, tokens_in: int, max_tokens: int, may_clamp: bool, caps: list[tuple[int, int]], min_out: int
) -> None:
    """Caps around the edge: what is left is a part or a multiple of what the call can cost."""
    ask = Ask("m", rates, "v", tokens_in, max_tokens, may_clamp=may_clamp)
    standings = [CapUsage("day", used + ask.worst * percent // 100, used) for used, percent in caps]
    answer = decide(ask, standings, min_out)
    fits = all(standing.used + ask.worst <= standing.cap for standing in standings)
    assert fits == (isinstance(answer, Grant) and not answer.clamped)
    if isinstance(answer, Grant):
        assert all(standing.used + answer.reserved <= standing.cap for standing in standings)
        assert answer.reserved == ask.worst_input + answer.max_tokens * rates.output
        assert answer.max_tokens <= max_tokens
        assert not answer.clamped or (may_clamp and max(min_out, 1) <= answer.max_tokens < max_tokens)


def _one(left: int, name: str = "day") -> list[CapUsage]:
    return [CapUsage("ticket", 10**12, 0), CapUsage(name, 5_000_000_000, 5_000_000_000 - left)]


def test_the_last_money_goes_into_a_shorter_answer() -> None:
    ask = Ask("m", SONNET, "v", 1_000, 16_000)
    assert decide(ask, _one(2_500_000 + 2_000 * 10_000 + 9_999), 1_024) == Grant(2_000, 22_500_000, clamped=True)


def test_an_answer_that_would_be_too_short_is_refused() -> None:
    refusal = decide(Ask("m", SONNET, "v", 1_000, 16_000), _one(2_500_000 + 1_023 * 10_000), 1_024)
    assert isinstance(refusal, Refusal)
    assert refusal.code == "meter_day_cap"


def test_half_a_structured_answer_is_worthless_and_refused() -> None:
    ask = Ask("m", SONNET, "v", 1_000, 16_000, may_clamp=False)
    assert isinstance(decide(ask, _one(ask.worst - 1), 1_024), Refusal)
    assert isinstance(decide(ask, _one(ask.worst), 1_024), Grant)


def test_a_share_is_not_used_up_by_shorter_answers() -> None:
    ask, left = Ask("m", SONNET, "v", 1_000, 16_000), 2_500_000 + 2_000 * 10_000
    refusal = decide(ask, _one(left, "upkeep"), 1_024)
    assert isinstance(refusal, Refusal) and refusal.code == "meter_upkeep_cap"
    assert decide(ask, _one(ask.worst, "upkeep"), 1_024) == Grant(16_000, ask.worst)


@pytest.mark.parametrize("name", ["ticket", "task", "day", "month", "total", "upkeep"])
def test_a_refusal_names_the_cap_and_the_amounts(name: str) -> None:
    answer = decide(Ask("m", SONNET, "v", 1_000, 100), [CapUsage(name, 10**9, 993 * 10**6 + 5 * 10**6)], 1)
    assert isinstance(answer, Refusal)
    assert answer.code == f"meter_{name}_cap"
    assert "cap $1.00, used $0.998; the next call may cost up to $0.0035; $0.002 is left; for more, " in answer.text


def test_a_cap_below_what_is_spent_lets_nothing_through_not_even_what_is_free() -> None:
    free = Ask("local", Rates(0, 0, 0, 0, 0), "v", 1_000, 100)
    assert isinstance(decide(free, [CapUsage("day", 10, 11)], 1), Refusal)
    assert decide(free, [CapUsage("day", 10, 10)], 1) == Grant(100, 0)


def test_reserved_and_lost_money_is_as_gone_as_spent_money() -> None:
    assert Totals(cap=10, spent=1, reserved=2, lost=3).used == 6


def test_the_owner_is_warned_from_the_percentage_on() -> None:
    assert [nearly_used(spent, 1_000, 80) for spent in (799, 800, 1_001)] == [False, True, True]


# --- a day that may cost more

CAPS = Caps(task=NANO, day=5 * NANO, month=12 * NANO, total=99 * NANO, upkeep=2 * NANO)


@pytest.mark.parametrize(
    ("nano", "typed"), [(NANO, "1.00"), (1, "0.000000001"), (12_340_000_000, "12.34"), (0, "0.00")]
)
def test_an_amount_is_typed_as_it_is_read(nano: int, typed: str) -> None:
    assert amount(nano) == typed
    assert dollars(typed) == nano


@pytest.mark.parametrize("to", [0, 4 * NANO, 5 * NANO, 6 * NANO])
def test_a_raised_day_changes_no_other_cap_and_is_never_lower_than_other_days(to: int) -> None:
    assert raised(CAPS, to) == Caps(NANO, max(to, 5 * NANO), 12 * NANO, 99 * NANO, 2 * NANO)


@pytest.mark.parametrize(
    ("to", "is_taken"), [(5 * NANO - 1, False), (5 * NANO, True), (12 * NANO, True), (12 * NANO + 1, False)]
)
def test_a_day_is_raised_between_its_own_cap_and_that_of_the_month(to: int, is_taken: bool) -> None:
    assert (not raise_forbidden(to, CAPS)) == is_taken


@pytest.mark.parametrize(("cap", "to"), [(5, 10), (10, 12), (12, 0), (20, 0)])
def test_a_cap_that_is_reached_has_a_next_one_within_the_month(cap: int, to: int) -> None:
    assert next_cap(cap * NANO, CAPS) == to * NANO
    assert not to or not raise_forbidden(to * NANO, CAPS)


# --- the day


@given(st.lists(st.datetimes(datetime(2026, 1, 1), datetime(2027, 1, 1)), min_size=2))
def test_a_day_never_runs_backwards(moments: list[datetime]) -> None:
    days = [""]
    for moment in moments:
        days.append(budget_day(moment.replace(tzinfo=UTC), days[-1]))
    assert days == sorted(days)


def test_a_day_is_the_date_on_the_owners_clock() -> None:
    assert budget_day(datetime.fromisoformat("2026-11-20T23:59:59-08:00"), "2026-11-19") == "2026-11-20"
    assert month_of("2026-11-20") == "2026-11"


@pytest.mark.parametrize(
    ("hours", "up", "boot", "jumped"),
    [
        pytest.param(25, 0, "a", False, id="a day of 25 hours is a calendar's doing"),
        pytest.param(27, 0, "a", True, id="27 hours that the machine did not live through"),
        pytest.param(72, 72, "a", False, id="the machine was asleep over the weekend"),
        pytest.param(72, 40, "a", True, id="more than a day too much"),
        pytest.param(72, 0, "b", False, id="after a reboot nothing can tell"),
        pytest.param(-72, 0, "a", False, id="backwards: the day stays anyway"),
    ],
)
def test_a_clock_that_jumps_ahead_opens_no_new_days(hours: int, up: int, boot: str, jumped: bool) -> None:
    anchor = Moment(NOON, Uptime("a", 1_000))
    now = Moment(NOON + timedelta(hours=hours), Uptime(boot, 1_000 + up * 3600))
    assert clock_jumped(anchor, now) == jumped


@pytest.mark.parametrize(
    ("nano", "said"),
    [(0, "$0.00"), (1, "under $0.01"), (4_999_999, "under $0.01"), (5_000_000, "$0.01"), (14_999_999, "$0.01"),
     (15_000_000, "$0.02"), (999_999_999, "$1.00"), (12_345_000_000, "$12.35"), (-15_000_000, "-$0.02")],
)  # fmt: skip
def test_a_message_rounds_to_cents_and_tells_no_cost_as_none(nano: int, said: str) -> None:
    assert in_cents(nano) == said
