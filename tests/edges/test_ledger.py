"""The money book: whatever happens, the rows add up, and what they hold fits below every cap."""

from __future__ import annotations

import dataclasses
import os
import sqlite3
import tempfile
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule

from sisimpur.cli.commands.check import MEMORY
from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.model.naming import is_upkeep
from sisimpur.shared.model.work import Run
from sisimpur.shared.money.ledger import Ledger, OwnerAdjustments, uptime
from sisimpur.shared.money.ledger_rows import OF_UPKEEP, REFUSED_ROWS
from sisimpur.shared.money.ticket import CallEnding, Reservation, Ticket, TicketOrder
from sisimpur.shared.money.token_budget import NANO, Ask, Caps, Rates, Refusal, TokenUsage, Totals, Uptime
from tests.books import new_book
from tests.edges.ledger_sums import kept, reckoned

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
RATES = Rates(input=1, write_5m=1, write_1h=2, read=1, output=1)
CAPS = Caps(task=1_000, day=2_000, month=3_000)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    ledger = Ledger(new_book(tmp_path / "agents.db"))
    yield ledger
    ledger.close()


def order(task: str = "t1", budget: int = 10**15, **more: Any) -> TicketOrder:
    run = Run(7, "coder", "2026-11-20", task, 1)
    return dataclasses.replace(TicketOrder(run, budget, ("m",), NOON + timedelta(days=999), 10**6, 1), **more)


def owner(ledger: Ledger) -> OwnerAdjustments:
    return OwnerAdjustments(ledger._db)


def opened(ledger: Ledger, task: str = "t1", budget: int = 10**15, **more: Any) -> Ticket:
    ticket = ledger.ticket(ledger.open_ticket(order(task, budget, **more), NOON))
    assert ticket
    return ticket


def ask(worst: int, may_clamp: bool = False) -> Ask:
    """A call whose worst case is `worst`: half of it the prompt, half of it the answer."""
    return Ask("m", RATES, "v1", worst - worst // 2, worst // 2, may_clamp=may_clamp)


def taken(ledger: Ledger, ticket: Ticket, worst: int, caps: Caps = CAPS, now: datetime = NOON) -> Reservation:
    answer = ledger.reserve(ticket, ask(worst), caps, now)
    assert isinstance(answer, Reservation)
    return answer


def refusal(ledger: Ledger, ticket: Ticket, worst: int = 1, caps: Caps = CAPS, now: datetime = NOON) -> str:
    answer = ledger.reserve(ticket, ask(worst), caps, now)
    assert isinstance(answer, Refusal)
    return answer.code


# --- tickets


def test_a_ticket_is_found_by_its_token_and_by_nothing_else(ledger: Ledger) -> None:
    wanted = order(budget=42, max_calls=3, min_out=9, retry_s=1.5, models=("a", "b"))
    token = ledger.open_ticket(wanted, NOON)
    found = ledger.ticket(token)
    assert token.startswith("mt-")
    assert found and found.order == wanted and not found.closed
    assert [ledger.ticket(other) for other in ("", "mt-", token[:-1], token + "x", "\ud800")] == [None] * 5


def test_a_token_is_not_in_the_database(ledger: Ledger, tmp_path: Path) -> None:
    token = ledger.open_ticket(order(), NOON)
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"coder" in stored
    assert token[3:].encode() not in stored


# --- reserving


@pytest.mark.parametrize(
    ("caps", "budget", "code"),
    [
        pytest.param(CAPS, 99, "meter_ticket_cap", id="the run's own budget"),
        pytest.param(Caps(99, 10**9, 10**9), 10**9, "meter_task_cap", id="the task"),
        pytest.param(Caps(10**9, 99, 10**9), 10**9, "meter_day_cap", id="the day"),
        pytest.param(Caps(10**9, 10**9, 99), 10**9, "meter_month_cap", id="the month"),
        pytest.param(Caps(10**9, 10**9, 10**9, 99), 10**9, "meter_total_cap", id="all spending"),
        pytest.param(Caps(10**9, 10**9, 10**9, upkeep=0), 99, "meter_ticket_cap", id="not that of others"),
        pytest.param(Caps(0, 0, 0), 0, "meter_ticket_cap", id="no money at all"),
    ],
)
def test_a_call_that_does_not_fit_below_a_cap_is_refused_by_its_name(
    ledger: Ledger, caps: Caps, budget: int, code: str
) -> None:
    ticket = opened(ledger, budget=budget)
    assert refusal(ledger, ticket, 100, caps) == code


def test_a_task_cap_counts_all_its_runs_and_a_run_without_a_task_none(ledger: Ledger) -> None:
    first, second, other, planner = (opened(ledger, task) for task in ("t1", "t1", "t2", ""))
    caps = Caps(task=300, day=2_000, month=3_000)
    taken(ledger, first, 200, caps)
    assert refusal(ledger, second, 101, caps) == "meter_task_cap"
    taken(ledger, second, 100, caps)
    taken(ledger, other, 300, caps)
    taken(ledger, planner, 1_400, caps)
    assert refusal(ledger, planner, 1, caps) == "meter_day_cap"


# --- the share of upkeep

SHARED = Caps(task=1_000, day=2_000, month=9_000, upkeep=300)


def test_all_tasks_of_upkeep_together_have_a_share_of_each_day_and_what_the_owner_wants_takes_none(
    ledger: Ledger,
) -> None:
    first, second, own = (opened(ledger, task) for task in ("20261120-u1", "20261119-u2", "20261120-01"))
    taken(ledger, own, 900, SHARED)
    taken(ledger, first, 200, SHARED)
    assert refusal(ledger, second, 101, SHARED) == "meter_upkeep_cap"
    taken(ledger, second, 100, SHARED)
    assert refusal(ledger, first, 1, SHARED) == "meter_upkeep_cap"
    taken(ledger, own, 100, SHARED)
    taken(ledger, first, 300, SHARED, NOON + timedelta(days=1))


def test_what_was_not_spent_of_the_share_is_there_again_and_what_is_lost_is_not(ledger: Ledger) -> None:
    ticket = opened(ledger, "20261120-u1")
    ledger.settle(taken(ledger, ticket, 300, SHARED), 100, CallEnding(), NOON)
    ledger.lost(taken(ledger, ticket, 200, SHARED), 200, None, CallEnding(), NOON)
    assert refusal(ledger, ticket, 1, SHARED) == "meter_upkeep_cap"


def test_a_raised_day_is_meant_for_what_the_owner_wants(ledger: Ledger) -> None:
    ticket = opened(ledger, "20261120-u1")
    owner(ledger).raise_cap(4_000, SHARED, "a big day", NOON)
    assert refusal(ledger, ticket, 301, SHARED) == "meter_upkeep_cap"
    taken(ledger, opened(ledger, ""), 4_000, SHARED)
    assert refusal(ledger, ticket, 1, SHARED) == "meter_day_cap", "it lies within the day's cap"


def test_the_last_of_the_share_buys_no_shorter_answer(ledger: Ledger) -> None:
    """Half an answer would end the task for good; tomorrow there is a whole one."""
    answer = ledger.reserve(opened(ledger, "20261120-u1"), ask(301, may_clamp=True), SHARED, NOON)
    assert isinstance(answer, Refusal) and answer.code == "meter_upkeep_cap"
    assert isinstance(ledger.reserve(opened(ledger, "t1"), ask(1_001, may_clamp=True), SHARED, NOON), Reservation)


@given(
    task=st.one_of(
        st.from_regex(r"[0-9]{8}-u[0-9]*[a-z-]?", fullmatch=True),
        st.text("0123456789u-*[]%_\n", max_size=14),
        st.sampled_from(["20261120-01", "20261120-u0", "20261120-U1", "20261120-u1", "20261120-u12", "20261120-u1-x"]),
    )
)
def test_the_book_and_the_name_agree_on_what_upkeep_is(task: str) -> None:
    with sqlite3.connect(":memory:") as db:
        (found,) = db.execute(f"select {OF_UPKEEP} from (select ? as task)", (task,)).fetchone()
    db.close()
    assert bool(found) == is_upkeep(task)


@pytest.mark.parametrize(
    ("prepare", "code"),
    [
        pytest.param(lambda book, token: book.close_ticket(token, NOON), "meter_ticket_closed", id="closed"),
        pytest.param(lambda book, token: book.pause("the key was refused", NOON), "meter_paused", id="paused"),
        pytest.param(lambda book, token: book.halt("wrong prices", NOON), "meter_halted", id="halted"),
    ],
)
def test_nothing_is_reserved_when_spending_is_over(
    ledger: Ledger, prepare: Callable[[Ledger, str], None], code: str
) -> None:
    token = ledger.open_ticket(order(), NOON)
    ticket = ledger.ticket(token)
    assert ticket
    prepare(ledger, token)
    assert refusal(ledger, ticket) == code


def test_a_ticket_expires(ledger: Ledger) -> None:
    ticket = opened(ledger, expires=NOON)
    assert refusal(ledger, ticket, now=NOON) == "meter_ticket_closed"
    taken(ledger, ticket, 1, now=NOON - timedelta(milliseconds=1))


def test_a_run_has_its_number_of_calls_and_repetitions_of_the_meter_do_not_count(ledger: Ledger) -> None:
    ticket = opened(ledger, max_calls=2)
    for retry in (0, 1, 2, 0):
        assert isinstance(ledger.reserve(ticket, ask(1), CAPS, NOON, retry=retry), Reservation)
    assert refusal(ledger, ticket) == "meter_call_cap"


def test_a_shorter_answer_is_marked(ledger: Ledger) -> None:
    token = ledger.open_ticket(order(budget=80), NOON)
    ticket = ledger.ticket(token)
    assert ticket
    answer = ledger.reserve(ticket, ask(100, may_clamp=True), CAPS, NOON)
    assert isinstance(answer, Reservation)
    assert (answer.grant.max_tokens, answer.grant.reserved) == (30, 80)
    assert ledger.calls_of(token)[0].clamped


def test_two_hundred_callers_share_the_last_cent_exactly(ledger: Ledger) -> None:
    """Each in a thread and with a connection of its own: what is served is what can be afforded, 40 of 200."""
    worst, caps = NANO // 4_000, Caps(NANO, NANO // 100, NANO)
    ticket, served = opened(ledger), []
    start = threading.Barrier(200)

    def caller() -> None:
        start.wait()
        if isinstance(ledger.reserve(ticket, ask(worst), caps, NOON), Reservation):
            served.append(1)

    threads = [threading.Thread(target=caller) for _ in range(200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(served) == 40
    assert ledger.reader.totals("2026-11-20", caps.day) == Totals(caps.day, reserved=caps.day)


# --- booking

ENDS: dict[str, Callable[[Ledger, Reservation], bool]] = {
    "settled": lambda book, call: book.settle(call, 30, CallEnding(), NOON),
    "void": lambda book, call: book.void(call, CallEnding(), NOON),
    "lost": lambda book, call: book.lost(call, 80, 10, CallEnding(), NOON),
    "lost at start": lambda book, call: bool(book.reconcile(NOON)),
}


@pytest.mark.parametrize("second", ENDS)
@pytest.mark.parametrize(
    ("first", "totals"),
    [
        ("settled", Totals(2_000, spent=30)),
        ("void", Totals(2_000)),
        ("lost", Totals(2_000, lost=80)),
        ("lost at start", Totals(2_000, lost=100)),
    ],
)
def test_a_call_has_exactly_one_final_state(ledger: Ledger, first: str, second: str, totals: Totals) -> None:
    call = taken(ledger, opened(ledger), 100)
    assert ENDS[first](ledger, call)
    assert not ENDS[second](ledger, call)
    assert ledger.reader.totals("2026-11-20", 2_000) == totals


def test_what_was_reserved_too_much_can_be_spent_again(ledger: Ledger) -> None:
    ticket = opened(ledger)
    call = taken(ledger, ticket, 1_000)
    assert refusal(ledger, ticket) == "meter_task_cap"
    ledger.settle(call, 300, CallEnding(), NOON)
    taken(ledger, ticket, 700)


def test_an_unknown_outcome_is_never_booked_above_what_was_reserved(ledger: Ledger) -> None:
    ledger.lost(taken(ledger, opened(ledger), 100), 5_000, None, CallEnding(), NOON)
    assert ledger.reader.totals("2026-11-20", 2_000).lost == 100


@pytest.mark.parametrize(
    "dearer",
    [
        pytest.param(lambda book, call: book.settle(call, 101, CallEnding(), NOON), id="settled"),
        pytest.param(lambda book, call: book.lost(call, 120, 101, CallEnding(), NOON), id="cut, and already dearer"),
    ],
)
def test_a_call_that_cost_more_than_was_reserved_stops_all_spending_also_after_a_restart(
    ledger: Ledger, dearer: Callable[[Ledger, Reservation], bool]
) -> None:
    ticket = opened(ledger)
    dearer(ledger, taken(ledger, ticket, 100))
    ledger.reconcile(NOON)
    assert refusal(ledger, ticket) == "meter_halted"
    assert "at most $0.000000100 was expected; its prices are wrong" in ledger.reader.paused()
    assert ledger.reader.totals("2026-11-20", 2_000).used >= 101  # the truth, not what was hoped for
    ledger.resume()
    taken(ledger, ticket, 100)


@pytest.mark.parametrize(("model", "is_a_model"), [("m", True), ("search/tavily", False)])
def test_only_a_model_that_answers_says_that_models_answer(ledger: Ledger, model: str, is_a_model: bool) -> None:
    """A search that was paid for says nothing of them."""
    answer = ledger.reserve(opened(ledger), dataclasses.replace(ask(100), model=model), CAPS, NOON)
    assert isinstance(answer, Reservation)
    ledger.settle(answer, 50, CallEnding(), NOON)
    assert ledger.reader.was_answered(NOON - timedelta(minutes=1)) is is_a_model


def test_a_pause_ends_with_the_process_and_is_told_in_one_line(ledger: Ledger) -> None:
    ledger.pause("the upstream refused our key", NOON)
    ledger.pause("again", NOON)
    assert ledger.reader.paused() == "the upstream refused our key"
    ledger.reconcile(NOON)
    assert ledger.reader.paused() == ""


def test_a_dead_process_leaves_its_open_calls_at_their_worst_case(ledger: Ledger, tmp_path: Path) -> None:
    taken(ledger, opened(ledger), 100)
    after = Ledger(new_book(tmp_path / "agents.db"))
    assert [after.reconcile(NOON), after.reconcile(NOON)] == [1, 0]
    assert after.reader.totals("2026-11", 3_000) == Totals(3_000, lost=100)
    after.close()


@pytest.mark.parametrize("vendor", [pytest.param("msgbatch_1", id="sent"), pytest.param(None, id="perhaps not sent")])
def test_what_an_earlier_version_has_reserved_for_a_batch_is_lost_at_its_worst_case(
    tmp_path: Path, vendor: str | None
) -> None:
    """It asked ahead in the evening, and kept what the vendor had taken reserved over its restarts."""
    db = new_book(tmp_path / "agents.db")
    ledger = Ledger(db)
    call = taken(ledger, opened(ledger, task=""), 100)
    with db.transaction() as old:
        old.execute("update tickets set batches = 1")
        sql = (
            "insert into batches (call, key, day, hour_cache, rates, vendor) values (?, 'k', '2026-11-21', 0, '[]', ?)"
        )
        old.execute(sql, (call.id, vendor))
    assert [ledger.reconcile(NOON), ledger.reconcile(NOON)] == [1, 0]
    assert ledger.reader.totals("2026-11", 3_000) == Totals(3_000, lost=100)
    assert [(lost.number, lost.amount) for lost in ledger.reader.lost_calls()] == [(call.id, 100)]
    assert owner(ledger).write_off(call.id, 40, "not on the bill", NOON) == 100
    ledger.close()


# --- reading


def test_a_run_is_judged_by_the_meters_own_record(ledger: Ledger) -> None:
    token = ledger.open_ticket(order(), NOON)
    ticket = ledger.ticket(token)
    assert ticket
    usage = TokenUsage(1, 2, 3, 4, 5, 6)
    ledger.settle(taken(ledger, ticket, 100), 15, CallEnding(200, 200, usage, "max_tokens", "req_1", ms=9), NOON)
    ledger.refused(ticket, "m", Refusal("meter_prefill", "no"), NOON)
    first, second = ledger.calls_of(token)
    assert (first.state, first.cost, first.answered, first.stop_reason) == ("settled", 15, 200, "max_tokens")
    assert first.usage == usage
    assert (second.state, second.cost, second.answered, second.code) == ("refused", 0, 400, "meter_prefill")


def test_days_agents_and_tasks_add_up(ledger: Ledger) -> None:
    first, second = opened(ledger, "t1"), opened(ledger, "t2")
    ledger.settle(taken(ledger, first, 100), 40, CallEnding(usage=TokenUsage(3, output=4)), NOON)
    ledger.lost(taken(ledger, second, 50), 50, None, CallEnding(), NOON)
    tomorrow = NOON + timedelta(days=1)
    taken(ledger, first, 50, CAPS, tomorrow)
    taken(ledger, first, 20, Caps(1_000, 1_500, 3_000), tomorrow)
    assert ledger.reader.by_day() == (
        ("2026-11-20", Totals(2_000, spent=40, lost=50)),
        ("2026-11-21", Totals(1_500, reserved=70)),
    )
    assert ledger.reader.totals("2026-11", 3_000) == Totals(3_000, spent=40, reserved=70, lost=50)
    assert ledger.reader.spent_by("t1") == Totals(0, spent=40, reserved=70)
    assert ledger.reader.by_month() == (("2026-11", Totals(3_000, spent=40, reserved=70, lost=50)),)
    shares = [
        (s.day[-2:], s.task, s.calls, s.spent, s.reserved, s.lost, s.tokens_in) for s in ledger.reader.breakdown()
    ]
    assert shares == [("20", "t2", 1, 0, 0, 50, 0), ("20", "t1", 1, 40, 0, 0, 3), ("21", "t1", 2, 0, 70, 0, 0)]
    assert {(share.agent, share.model) for share in ledger.reader.breakdown()} == {("coder", "m")}
    assert [share.task for share in ledger.reader.breakdown("2026-11-21")] == ["t1"]
    assert [share.day for share in ledger.reader.breakdown("2026-11")] == ["2026-11-20", "2026-11-20", "2026-11-21"]
    assert ledger.reader.breakdown("2026-12") == ()


def test_months_are_told_apart_each_with_its_own_cap(ledger: Ledger) -> None:
    ticket = opened(ledger)
    taken(ledger, ticket, 100, Caps(1_000, 2_000, 3_000), NOON)
    taken(ledger, ticket, 20, Caps(1_000, 2_000, 4_000), datetime(2026, 12, 1, tzinfo=UTC))
    assert ledger.reader.by_month() == (
        ("2026-11", Totals(3_000, reserved=100)),
        ("2026-12", Totals(4_000, reserved=20)),
    )


def test_the_last_words_of_an_upstream_are_those_of_the_last_call(ledger: Ledger) -> None:
    token = ledger.open_ticket(order(), NOON)
    ticket = ledger.ticket(token)
    assert ticket
    assert ledger.last_words(token) == ""
    for note in ("first", "x" * 5_000):
        ledger.void(taken(ledger, ticket, 100), CallEnding(400, note=note), NOON)
    assert ledger.last_words(token) == "x" * 600
    assert ledger.last_words("another") == ""


def test_a_month_ends_with_its_last_day(ledger: Ledger) -> None:
    ticket, caps = opened(ledger), Caps(10**9, 10**9, 100)
    taken(ledger, ticket, 100, caps, NOON)
    assert refusal(ledger, ticket, 1, caps, datetime(2026, 11, 30, 23, 59, tzinfo=UTC)) == "meter_month_cap"
    taken(ledger, ticket, 100, caps, datetime(2026, 12, 1, tzinfo=UTC))


def test_a_caller_in_a_loop_does_not_fill_the_disk(ledger: Ledger) -> None:
    token = ledger.open_ticket(order(budget=0), NOON)
    ticket = ledger.ticket(token)
    assert ticket
    for _ in range(REFUSED_ROWS + 20):
        assert refusal(ledger, ticket) == "meter_ticket_cap"
    assert len(ledger.calls_of(token)) == REFUSED_ROWS


def test_the_owner_is_warned_once_a_day_and_once_a_month(ledger: Ledger) -> None:
    ticket, caps = opened(ledger), Caps(10**9, 1_000, 2_000)
    call, other = taken(ledger, ticket, 900, caps), taken(ledger, ticket, 50, caps)
    assert ledger.reader.warnings("2026-11-20") == ()  # reserved only: most of it may come back
    ledger.settle(call, 799, CallEnding(), NOON)
    assert ledger.reader.warnings("2026-11-20") == ()
    ledger.void(other, CallEnding(), NOON)
    for _ in range(3):
        ledger.settle(taken(ledger, ticket, 1, caps), 1, CallEnding(), NOON)
    assert [(w.scope, w.period, w.used, w.cap) for w in ledger.reader.warnings("2026-11-20")] == [
        ("day", "2026-11-20", 800, 1_000)
    ]
    tomorrow = NOON + timedelta(days=1)
    ledger.lost(taken(ledger, ticket, 800, caps, tomorrow), 800, None, CallEnding(), tomorrow)
    assert [(w.scope, w.used) for w in ledger.reader.warnings("2026-11-21")] == [("day", 800), ("month", 1_602)]


# --- a day that may cost more


def test_a_raised_day_counts_for_the_next_call_and_for_that_day_alone(ledger: Ledger) -> None:
    ticket, caps, tomorrow = opened(ledger), Caps(10**9, 100, 1_000), NOON + timedelta(days=1)
    taken(ledger, ticket, 100, caps)
    assert refusal(ledger, ticket, 1, caps) == "meter_day_cap"
    for _ in range(2):
        assert owner(ledger).raise_cap(250, caps, "a release", NOON) == "2026-11-20"
    taken(ledger, ticket, 150, caps)
    assert refusal(ledger, ticket, 1, caps) == "meter_day_cap"
    assert (ledger.reader.day_cap(NOON, caps.day), ledger.reader.why_raised("2026-11-20")) == (250, "a release")
    taken(ledger, ticket, 100, caps, tomorrow)
    assert refusal(ledger, ticket, 1, caps, tomorrow) == "meter_day_cap"
    assert (ledger.reader.day_cap(tomorrow, caps.day), ledger.reader.why_raised("2026-11-21")) == (100, "")
    assert dict(ledger.reader.by_day())["2026-11-20"].cap == 250


def test_a_raised_day_is_the_one_that_calls_are_booked_on(ledger: Ledger) -> None:
    """The clock was set back since: it opens no old day, so none is raised."""
    ticket, caps, before = opened(ledger), Caps(10**9, 100, 1_000), NOON - timedelta(days=1)
    taken(ledger, ticket, 100, caps)
    assert owner(ledger).raise_cap(250, caps, "", before) == "2026-11-20"
    assert ledger.reader.day_cap(before, caps.day) == 250
    taken(ledger, ticket, 150, caps, before)


@pytest.mark.parametrize(
    ("to", "says"),
    [
        pytest.param(
            99,
            "lower budget.day in config/policy.yaml, or type an amount from 0.0000001 to 0.000001",
            id="less than on any other day",
        ),
        pytest.param(1_001, "raise budget.month in config/policy.yaml, or type", id="more than the month"),
    ],
)
def test_a_day_is_raised_within_the_policy_or_the_owner_hears_what_to_type(ledger: Ledger, to: int, says: str) -> None:
    caps = Caps(10**9, 100, 1_000)
    with pytest.raises(Misconfigured) as refused:
        owner(ledger).raise_cap(to, caps, "", NOON)
    assert says in str(refused.value)
    assert ledger.reader.day_cap(NOON, caps.day) == 100


def test_the_last_word_about_a_day_counts_and_takes_nothing_from_the_policy(ledger: Ledger) -> None:
    caps = Caps(10**9, 100, 1_000)
    for to in (500, 300):
        owner(ledger).raise_cap(to, caps, "", NOON)
    assert ledger.reader.day_cap(NOON, caps.day) == 300
    assert ledger.reader.day_cap(NOON, 400) == 400  # the policy was raised since
    owner(ledger).raise_cap(100, caps, "as usual", NOON)
    assert ledger.reader.day_cap(NOON, caps.day) == 100


def test_a_cap_is_reached_when_it_has_stopped_a_call_until_it_is_raised(ledger: Ledger) -> None:
    ticket, caps, day = opened(ledger), Caps(10**9, 100, 1_000), "2026-11-20"
    taken(ledger, ticket, 100, caps)
    assert not ledger.reader.is_reached(day, 100)  # all of it is used, and nobody was stopped
    refusal(ledger, ticket, 1, caps)
    assert ledger.reader.is_reached(day, 100)
    assert not ledger.reader.is_reached("2026-11-21", 100)
    owner(ledger).raise_cap(250, caps, "", NOON)
    assert not ledger.reader.is_reached(day, ledger.reader.day_cap(NOON, caps.day))
    refusal(ledger, ticket, 200, caps)
    assert ledger.reader.is_reached(day, 250)


@pytest.mark.parametrize("cap", ["task", "month"])
def test_another_cap_is_not_that_of_the_day(ledger: Ledger, cap: str) -> None:
    caps = dataclasses.replace(Caps(10**9, 10**9, 10**9), **{cap: 1})
    assert refusal(ledger, opened(ledger), 2, caps) == f"meter_{cap}_cap"
    assert not ledger.reader.is_reached("2026-11-20", caps.day)


def test_a_raised_day_is_warned_of_once_more_against_its_new_cap(ledger: Ledger) -> None:
    ticket, caps, day = opened(ledger), Caps(10**9, 1_000, 10**6), "2026-11-20"
    early = taken(ledger, ticket, 10, caps)  # reserved under the old cap, ends under the new one
    ledger.settle(taken(ledger, ticket, 800, caps), 800, CallEnding(), NOON)
    assert [(warning.used, warning.cap) for warning in ledger.reader.warnings(day)] == [(800, 1_000)]
    for _ in range(2):
        owner(ledger).raise_cap(2_000, caps, "", NOON)
    assert ledger.reader.warnings(day) == ()
    ledger.settle(early, 10, CallEnding(), NOON)
    assert ledger.reader.warnings(day) == ()
    for cost in (790, 100):
        ledger.settle(taken(ledger, ticket, cost, caps), cost, CallEnding(), NOON)
    assert [(warning.used, warning.cap) for warning in ledger.reader.warnings(day)] == [(1_600, 2_000)]
    owner(ledger).raise_cap(2_000, caps, "the same again", NOON)
    assert len(ledger.reader.warnings(day)) == 1


# --- a lost call that was not billed


def test_a_lost_call_is_written_off_with_its_reason_and_stays_lost(ledger: Ledger) -> None:
    token = ledger.open_ticket(order(), NOON)
    ticket = ledger.ticket(token)
    assert ticket
    lost, other = taken(ledger, ticket, 100), taken(ledger, ticket, 50)
    for call in (lost, other):
        ledger.lost(call, 10**6, 7, CallEnding(code="meter_cut"), NOON)
    assert [(call.number, call.amount, call.estimate) for call in ledger.reader.lost_calls("2026-11")] == [
        (other.id, 50, 7),
        (lost.id, 100, 7),
    ]
    assert owner(ledger).write_off(lost.id, 30, "on the bill with less", NOON) == 100
    assert owner(ledger).write_off(lost.id, 0, "not on the bill", NOON) == 30
    assert owner(ledger).write_off(lost.id, 0, "said twice", NOON) == 0
    assert [call.state for call in ledger.calls_of(token)] == ["lost", "lost"]
    assert ledger.reader.totals("2026-11-20", 2_000).lost == 50
    assert [(call.number, call.amount, call.written_off) for call in ledger.reader.lost_calls("2026-11-20")] == [
        (other.id, 50, ""),
        (lost.id, 0, "not on the bill"),
    ]
    assert ledger.reader.lost_calls("2026-12") == ()
    taken(ledger, ticket, 950)  # the task's cap of 1,000 has it back


@pytest.mark.parametrize("end", ["open", "settled", "void", "unknown"])
def test_only_a_lost_call_is_written_off(ledger: Ledger, end: str) -> None:
    call = taken(ledger, opened(ledger), 100)
    if end in ENDS:
        ENDS[end](ledger, call)
    number = call.id + 1 if end == "unknown" else call.id
    before = ledger.reader.totals("2026-11-20", 0)
    with pytest.raises(Misconfigured, match=r"python main\.py budget"):
        owner(ledger).write_off(number, 0, "not on the bill", NOON)
    assert ledger.reader.totals("2026-11-20", 0) == before


def test_a_call_is_never_written_up(ledger: Ledger) -> None:
    call = taken(ledger, opened(ledger), 100)
    ledger.lost(call, 80, None, CallEnding(), NOON)
    with pytest.raises(Misconfigured, match="booked at less"):
        owner(ledger).write_off(call.id, 81, "dearer", NOON)
    assert ledger.reader.totals("2026-11-20", 0).lost == 80


# --- clocks


def test_a_clock_set_back_opens_no_old_day_again(ledger: Ledger) -> None:
    ticket, caps = opened(ledger), Caps(10**9, 100, 10**9)
    taken(ledger, ticket, 100, caps, NOON)
    assert refusal(ledger, ticket, 1, caps, NOON - timedelta(days=40)) == "meter_day_cap"


def test_a_clock_that_jumps_ahead_is_believed_only_when_the_owner_confirms_it(tmp_path: Path) -> None:
    up = [Uptime("boot-1", 100)]
    ledger = Ledger(new_book(tmp_path / "agents.db"), uptime=lambda: up[0])
    ticket, future = opened(ledger), NOON + timedelta(days=3)
    taken(ledger, ticket, 1)
    taken(ledger, ticket, 1, now=NOON + timedelta(hours=20))
    assert refusal(ledger, ticket, now=NOON + timedelta(hours=40)) == "meter_clock"  # two small jumps are a large one
    assert refusal(ledger, ticket, now=future) == "meter_clock"
    taken(ledger, ticket, 1, now=NOON + timedelta(hours=21))
    assert [day for day, _ in ledger.reader.by_day()] == ["2026-11-20", "2026-11-21"]  # a refusal opens no day
    assert (ledger.believes(NOON + timedelta(hours=21)), ledger.believes(future)) == (True, False)
    ledger.confirm_clock(future)
    assert ledger.believes(future)
    taken(ledger, ticket, 1, now=future)
    up[0] = Uptime("boot-1", 100 + 5 * 86_400)
    taken(ledger, ticket, 1, now=future + timedelta(days=5))  # the machine slept
    up[0] = Uptime("boot-2", 3)
    taken(ledger, ticket, 1, now=future + timedelta(days=50))  # the machine was off
    ledger.close()


def test_the_machine_knows_how_long_it_is_up() -> None:
    first, second = uptime(), uptime()
    assert first.boot == second.boot != ""
    assert 0 < first.seconds <= second.seconds


# --- anything, in any order


UPKEEP = ("20261120-u1", "20261120-u2")


ENDING = CallEnding(usage=TokenUsage(3, 5, 7, 11, 13))


class MoneyBook(RuleBasedStateMachine):
    """The book against a list of exact integers, through crashes, clock jumps, new prices and new caps."""

    tickets = Bundle("tickets")
    calls = Bundle("calls")

    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory(dir=MEMORY if os.access(MEMORY, os.W_OK) else None)
        self.ledger = self.fresh()
        self.now = NOON
        self.last_day = ""
        self.caps = Caps(500, 700, 1_000, 1_800, 150)
        self.price = 1
        self.rows: dict[int, list[object]] = {}  # id -> [ticket, task, day, amount, state]
        self.raises: dict[str, int] = {}

    def fresh(self) -> Ledger:
        return Ledger(new_book(Path(self.folder.name) / "agents.db"))

    def sum(self, column: int, value: str | int, start: bool = False) -> int:
        fits = (lambda row: str(row[column]).startswith(str(value))) if start else (lambda row: row[column] == value)
        return sum(row[3] for row in self.rows.values() if fits(row))  # type: ignore[misc]

    def standings(self, ticket: Ticket, day: str) -> list[tuple[str, int, int]]:
        task = ticket.order.run.task
        found = [
            ("ticket", ticket.order.budget, self.sum(0, ticket.id)),
            ("task", self.caps.task, self.sum(1, task)),
            ("day", max(self.caps.day, self.raises.get(day, 0)), self.sum(2, day)),
            ("month", self.caps.month, self.sum(2, day[:7], start=True)),
            ("total", self.caps.total or 0, self.sum(1, "", start=True)),
            ("upkeep", self.caps.upkeep or 0, self.of_upkeep(day)),
        ]
        counts = {"task": bool(task), "upkeep": task in UPKEEP}
        return [standing for standing in found if counts.get(standing[0], True)]

    def of_upkeep(self, day: str) -> int:
        return sum(row[3] for row in self.rows.values() if row[1] in UPKEEP and row[2] == day)  # type: ignore[misc]

    @rule(target=tickets, task=st.sampled_from(["", "t1", "t2", *UPKEEP]), budget=st.sampled_from([300, 10**6, 10**6]))
    def open(self, task: str, budget: int) -> Ticket:
        return opened(self.ledger, task, budget)

    @rule(target=calls, ticket=tickets, tokens=st.integers(1, 200), may_clamp=st.booleans())
    def reserve(self, ticket: Ticket, tokens: int, may_clamp: bool) -> Reservation | None:
        rates = Rates(*[self.price] * 5)
        wanted = Ask("m", rates, "v", tokens, tokens, may_clamp=may_clamp)
        day = max(self.now.date().isoformat(), self.last_day)
        standings = self.standings(ticket, day)
        answer = self.ledger.reserve(ticket, wanted, self.caps, self.now)
        if isinstance(answer, Refusal):
            assert any(used + 2 * tokens * self.price > cap for _, cap, used in standings)
            return None
        assert all(used + answer.grant.reserved <= cap for _, cap, used in standings)
        assert not answer.grant.clamped or may_clamp
        assert answer.grant.clamped or answer.grant.reserved == 2 * tokens * self.price
        assert answer.day == day
        self.last_day = day
        self.rows[answer.id] = [ticket.id, ticket.order.run.task, day, answer.grant.reserved, "open"]
        return answer

    @rule(call=consumes(calls), part=st.integers(0, 100))
    def settle(self, call: Reservation | None, part: int) -> None:
        self.finish(call, "settled", part, lambda call, amount: self.ledger.settle(call, amount, ENDING, self.now))

    @rule(call=consumes(calls), part=st.integers(0, 100))
    def lose(self, call: Reservation | None, part: int) -> None:
        self.finish(call, "lost", part, lambda call, amount: self.ledger.lost(call, amount, None, ENDING, self.now))

    @rule(call=consumes(calls))
    def void(self, call: Reservation | None) -> None:
        self.finish(call, "void", 0, lambda call, _: self.ledger.void(call, CallEnding(), self.now))

    def finish(
        self, call: Reservation | None, state: str, part: int, entry: Callable[[Reservation, int], bool]
    ) -> None:
        if call is None:
            return
        amount = call.grant.reserved * part // 100
        was_open = self.rows[call.id][4] == "open"
        assert entry(call, amount) == was_open  # a call that a crash lost stays lost
        if was_open:
            self.rows[call.id][3:] = [amount, state]

    @rule()
    def crash_and_restart(self) -> None:
        self.ledger.close()
        self.ledger = self.fresh()
        left = [row for row in self.rows.values() if row[4] == "open"]
        assert self.ledger.reconcile(self.now) == len(left)
        for row in left:
            row[4] = "lost"

    @rule(hours=st.integers(-100, 100))
    def clock_jumps(self, hours: int) -> None:
        self.now += timedelta(hours=hours)

    @rule(price=st.integers(1, 3))
    def prices_change(self, price: int) -> None:
        self.price = price

    @rule(day=st.integers(0, 1_200), month=st.integers(0, 1_600), upkeep=st.integers(0, 400))
    def caps_change(self, day: int, month: int, upkeep: int) -> None:
        self.caps = dataclasses.replace(self.caps, day=day, month=month, upkeep=upkeep)

    @rule(to=st.integers(0, 1_400))
    def the_owner_raises_the_day(self, to: int) -> None:
        day = max(self.now.date().isoformat(), self.last_day)
        if self.caps.day <= to <= self.caps.month:
            assert owner(self.ledger).raise_cap(to, self.caps, "a big day", self.now) == day
            self.raises[day] = to
        else:
            with pytest.raises(Misconfigured):
                owner(self.ledger).raise_cap(to, self.caps, "a big day", self.now)
        assert self.ledger.reader.day_cap(self.now, self.caps.day) == max(self.caps.day, self.raises.get(day, 0))

    @rule(which=st.integers(0, 30), part=st.integers(0, 120))
    def the_owner_writes_off(self, which: int, part: int) -> None:
        row = self.rows.get(which, [0, "", "", 0, "unknown"])
        amount = int(str(row[3])) * part // 100
        if row[4] == "lost" and amount <= int(str(row[3])):
            assert owner(self.ledger).write_off(which, amount, "not on the bill", self.now) == row[3]
            row[3] = amount
        else:
            with pytest.raises(Misconfigured):
                owner(self.ledger).write_off(which, amount, "not on the bill", self.now)

    @invariant()
    def the_book_says_what_happened(self) -> None:
        for period in {str(row[2]) for row in self.rows.values()} | {"2026-11"}:
            sums = dict.fromkeys(("settled", "open", "lost", "void"), 0)
            for row in self.rows.values():
                if str(row[2]).startswith(period):
                    sums[str(row[4])] += row[3]  # type: ignore[operator]
            assert self.ledger.reader.totals(period, 0) == Totals(0, sums["settled"], sums["open"], sums["lost"])

    @invariant()
    def the_sums_are_those_of_the_rows(self) -> None:
        assert kept(self.ledger._db) == reckoned(self.ledger._db)

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            self.ledger.close()
            self.folder.cleanup()


TestMoneyBook = MoneyBook.TestCase
TestMoneyBook.settings = settings(stateful_step_count=40)


def test_amounts_in_the_book_are_integers(ledger: Ledger, tmp_path: Path) -> None:
    call = taken(ledger, opened(ledger), 100)
    with pytest.raises(sqlite3.IntegrityError):
        ledger.settle(call, 0.5, CallEnding(), NOON)  # type: ignore[arg-type]
    assert ledger.reader.totals("2026-11-20", 0).reserved == 100
