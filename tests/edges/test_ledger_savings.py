"""What was saved, by the rows of the money book and what the journal says came of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sisimpur.shared.model.lifecycle import Event, State
from sisimpur.shared.model.work import Run, TaskSpec
from sisimpur.shared.money.ledger import Ledger
from sisimpur.shared.money.pricing import Pricing
from sisimpur.shared.money.savings import FirstTry, LedgerSavings, Saved
from sisimpur.shared.money.ticket import CallEnding, Reservation, TicketOrder
from sisimpur.shared.money.token_budget import Ask, Caps, TokenUsage, cost
from sisimpur.shared.store.database import Database
from sisimpur.shared.store.journal import Journal, MoveReason
from tests.books import new_book

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
DAY = "2026-11-20"
SONNET, HAIKU = "claude-sonnet-5-5", "claude-haiku-5-5"
CAPS = Caps(10**15, 10**15, 10**15)
USAGE = TokenUsage(input=3_000, output=400)
WORTH, CHEAP = 3_000 * 2_000 + 400 * 10_000, 3_000 * 100 + 400 * 500


@dataclass
class Books:
    db: Database
    now: datetime = NOON
    pricing: Pricing = field(default_factory=Pricing)

    def __post_init__(self) -> None:
        self.ledger, self.journal = Ledger(self.db), Journal(self.db)
        self.savings = LedgerSavings(self.db, self.pricing)

    def call(self, order: TicketOrder, usage: TokenUsage = USAGE, seconds: int = 60) -> int:
        """Of a ticket that is opened for it -> what it cost."""
        return self.calls(order, [usage], seconds)

    def calls(self, order: TicketOrder, usages: list[TokenUsage], seconds: int = 60, state: str = "settled") -> int:
        token = self.ledger.open_ticket(order, self.now)
        ticket = self.ledger.ticket(token)
        assert ticket
        total = 0
        for usage in usages:
            rates = self.pricing.rates(order.models[0], usage.prompt, self.now)
            ask = Ask(order.models[0], rates, "v", 1_000_000, 100_000, hour_cache=True)
            reservation = self.ledger.reserve(ticket, ask, CAPS, self.now)
            assert isinstance(reservation, Reservation)
            self.now += timedelta(seconds=seconds)
            if state == "settled":
                self.ledger.settle(reservation, amount := cost(rates, usage), CallEnding(usage=usage), self.now)
                total += amount
        self.ledger.close_ticket(token, self.now)
        return total

    def first_try(self, task: str, model: str = HAIKU, beside: str = SONNET) -> int:
        """Begun, and paid for."""
        self.journal.born(TaskSpec(task, "T", "x"), State.BACKLOG, "", self.now)
        return self.again(task, model, beside)

    def again(self, task: str, model: str = SONNET, beside: str = "") -> int:
        self.moves(task, State.BACKLOG, Event.STARTED)
        number = self.journal.attempts(task)[-1].number
        return self.call(order("coder", task, number, model, beside))

    def reviewed(self, task: str) -> int:
        return self.call(order("reviewer", task, 0, SONNET))

    def moves(self, task: str, at: State, event: Event, outcome: str | None = None) -> None:
        self.now += timedelta(seconds=1)
        self.journal.moved(self.journal.plan_move(task, at, MoveReason(event, "", outcome), self.now))  # type: ignore[arg-type]

    def merged(self, task: str) -> None:
        self.moves(task, State.IN_PROGRESS, Event.SUBMITTED, "ok")
        self.moves(task, State.IN_REVIEW, Event.MERGED)

    def sent_back(self, task: str) -> None:
        self.moves(task, State.IN_PROGRESS, Event.SUBMITTED, "ok")
        self.moves(task, State.IN_REVIEW, Event.CHANGES, "sent back")

    def record(self) -> tuple[FirstTry, ...]:
        return self.savings.record(HAIKU, SONNET)


def order(agent: str, task: str, attempt: int, model: str, beside: str = "") -> TicketOrder:
    expires = NOON + timedelta(days=99)
    return TicketOrder(Run(1, agent, DAY, task, attempt), 10**15, (model,), expires, 99, beside=beside)


@pytest.fixture
def books(tmp_path: Path) -> Iterator[Books]:
    db = new_book(tmp_path / "agents.db")
    yield Books(db)
    db.close()


# --- first tries ---------------------------------------------------------------------------------------------


def test_a_first_try_counts_when_it_is_known_what_came_of_it(books: Books) -> None:
    assert books.first_try("t1") == CHEAP
    assert books.record() == ()
    checks = books.reviewed("t1")
    books.moves("t1", State.IN_PROGRESS, Event.SUBMITTED, "ok")
    assert books.record() == (), "it waits for somebody"
    books.moves("t1", State.IN_REVIEW, Event.MERGED)
    assert books.record() == (FirstTry("cheap", True, CHEAP, checks, WORTH),)
    assert books.savings.by_day() == {DAY: Saved(routing=WORTH - CHEAP)}


def test_one_that_was_sent_back_costs_its_run_and_its_review_and_not_what_came_after(books: Books) -> None:
    books.first_try("t1")
    checks = books.reviewed("t1")
    books.sent_back("t1")
    bad = FirstTry("cheap", False, CHEAP, checks, WORTH)
    assert books.record() == (bad,)
    assert books.again("t1") == WORTH
    books.reviewed("t1")
    books.merged("t1")
    assert books.record() == (bad,)
    assert books.savings.by_day() == {DAY: Saved(routing=-CHEAP - checks)}


def test_one_that_failed_has_come_to_nothing(books: Books) -> None:
    books.first_try("t1")
    books.moves("t1", State.IN_PROGRESS, Event.STUMBLED, "failed")
    assert [(one.good, one.checks) for one in books.record()] == [(False, 0)]


@pytest.mark.parametrize("outcome", ["lost", "void"])
def test_one_that_was_cut_off_or_had_no_money_is_no_try(books: Books, outcome: str) -> None:
    books.first_try("t1")
    books.moves("t1", State.IN_PROGRESS, Event.STUMBLED, outcome)
    assert books.record() == () and books.savings.by_day() == {}
    assert books.savings.tries("t1", 2) == 0
    books.again("t1", HAIKU, SONNET)
    books.merged("t1")
    assert [(one.good, one.cost) for one in books.record()] == [(True, CHEAP)]


def test_what_was_brought_up_to_date_and_merged_is_still_the_first_try_s(books: Books) -> None:
    books.first_try("t1")
    books.moves("t1", State.IN_PROGRESS, Event.SUBMITTED, "ok")
    books.moves("t1", State.IN_REVIEW, Event.REFRESHED, "stale")
    books.merged("t1")
    assert [one.good for one in books.record()] == [True]


def test_what_another_run_was_needed_for_is_not(books: Books) -> None:
    """Its base had moved, its rebase had a conflict: nothing says how good it was."""
    books.first_try("t1")
    books.moves("t1", State.IN_PROGRESS, Event.SUBMITTED, "ok")
    books.moves("t1", State.IN_REVIEW, Event.REFRESHED, "stale")
    books.moves("t1", State.IN_PROGRESS, Event.STUMBLED, "sent back")
    books.again("t1")
    books.merged("t1")
    assert books.record() == ()


def test_what_was_rolled_back_has_come_to_nothing_and_what_the_owner_wants_again_has_not(books: Books) -> None:
    for task in ("sick", "retried"):
        books.first_try(task)
        books.merged(task)
    books.moves("sick", State.COMPLETED, Event.SICK)
    books.moves("retried", State.COMPLETED, Event.RETRIED)
    assert [one.good for one in books.record()] == [True, False], "the newest first"
    for task in ("sick", "retried"):
        books.again(task)
        books.merged(task)
    books.moves("retried", State.COMPLETED, Event.SICK)
    assert [one.good for one in books.record()] == [True, False], "what came later is not its doing"


def test_tries_with_the_dear_model_are_known_too_and_other_pairs_are_not_mixed_in(books: Books) -> None:
    for task, model, beside in (("t1", HAIKU, SONNET), ("t2", SONNET, SONNET), ("t3", HAIKU, "claude-opus-5-5")):
        books.first_try(task, model, beside)
        books.merged(task)
    assert [(one.lane, one.cost) for one in books.record()] == [("cheap", CHEAP), ("dear", WORTH)]
    assert books.savings.record(HAIKU, "claude-opus-5-5")[0].worth == 2 * WORTH


def test_a_failure_of_the_dear_model_is_no_loss_by_routing(books: Books) -> None:
    books.first_try("t1", SONNET, SONNET)
    books.moves("t1", State.IN_PROGRESS, Event.STUMBLED, "failed")
    assert [one.good for one in books.record()] == [False] and books.savings.by_day() == {}


@pytest.mark.parametrize(
    ("outcome", "count"), [("ok", 1), ("failed", 1), ("sent back", 1), ("stale", 1), ("lost", 0), ("void", 0)]
)
def test_tries_so_far_are_those_of_which_something_came(books: Books, outcome: str, count: int) -> None:
    books.first_try("t1")
    books.moves("t1", State.IN_PROGRESS, Event.STUMBLED, outcome)
    books.moves("t1", State.BACKLOG, Event.STARTED)
    assert (books.savings.tries("t1", 1), books.savings.tries("t1", 2)) == (0, count)
    assert books.savings.tries("t2", 2) == 0


def test_a_call_without_an_answer_is_worth_what_it_is_booked_at(books: Books) -> None:
    books.journal.born(TaskSpec("t1", "T", "x"), State.BACKLOG, "", NOON)
    books.moves("t1", State.BACKLOG, Event.STARTED)
    books.calls(order("coder", "t1", 1, HAIKU, SONNET), [USAGE], state="open")
    books.ledger.reconcile(books.now)
    books.merged("t1")
    (one,) = books.record()
    assert one.good and one.worth == one.cost > 0


# --- prompt caching ------------------------------------------------------------------------------------------


def test_what_caching_saved_is_summed_by_day_and_may_be_a_loss(books: Books) -> None:
    books.call(order("researcher", "r", 1, SONNET), TokenUsage(write_5m=10_000, output=100))
    assert books.savings.by_day() == {DAY: Saved(caching=-5_000_000)}
    books.call(order("researcher", "r", 1, SONNET), TokenUsage(input=50, read=10_000, output=100))
    assert books.savings.total("2026-11") == Saved(caching=-5_000_000 + 19_000_000)
    books.now += timedelta(days=20)
    books.call(order("coder", "t", 1, HAIKU), TokenUsage(write_1h=1_000, read=2_000))
    assert books.savings.by_day("2026-12") == {"2026-12-10": Saved(caching=-100_000 + 180_000)}
    assert set(books.savings.by_day()) == {DAY, "2026-12-10"}


def test_a_large_prompt_is_counted_at_the_price_of_its_size(books: Books) -> None:
    books.call(order("coder", "t", 1, HAIKU), TokenUsage(input=1_000, read=150_000))
    assert books.savings.total(DAY).caching == 150_000 * (500 - 50)


def test_calls_without_marks_and_without_a_price_save_nothing(books: Books) -> None:
    books.call(order("coder", "t", 1, SONNET))
    own = Books(books.db, pricing=Pricing({"mine": Own()}))
    own.call(order("coder", "t", 1, "mine"), TokenUsage(read=10_000))
    assert own.savings.by_day() == {DAY: Saved()}
    assert books.savings.by_day() == {}, "nobody knows its price any more"


class Own:
    input, output = 1_000_000_000, 2_000_000_000


# --- whether a prompt is used again --------------------------------------------------------------------------


def test_calls_soon_after_another_one_on_the_same_task_begin_as_that_one_did(books: Books) -> None:
    books.calls(order("coder", "t1", 1, SONNET), [USAGE])
    assert books.savings.begun_again("coder", SONNET) == (1, 0)
    books.calls(order("coder", "t1", 2, SONNET), [USAGE] * 3)
    assert books.savings.begun_again("coder", SONNET) == (4, 3), "in a run of its own, too"
    books.calls(order("coder", "t1", 3, HAIKU), [USAGE])
    books.calls(order("coder", "t2", 1, SONNET), [USAGE])
    books.calls(order("reviewer", "t1", 1, SONNET), [USAGE])
    assert books.savings.begun_again("coder", SONNET) == (5, 3), "another task has kept nothing of it"
    assert books.savings.begun_again("coder", HAIKU) == (1, 0), "nor has another model"
    assert books.savings.begun_again("planner", SONNET) == (0, 0)


@pytest.mark.parametrize(("seconds", "again"), [(300, 2), (301, 0)])
def test_what_is_asked_after_more_than_five_minutes_is_not_asked_again(books: Books, seconds: int, again: int) -> None:
    books.calls(order("coder", "t1", 1, SONNET), [USAGE] * 3, seconds)
    assert books.savings.begun_again("coder", SONNET) == (3, again)
    assert books.savings.gone_on("coder", 1) == (1, again // 2)


def test_only_the_newest_calls_tell_how_a_run_goes(books: Books) -> None:
    books.calls(order("coder", "old", 1, SONNET), [USAGE] * 30)
    for number in range(50):
        books.calls(order("coder", f"t{number}", 1, SONNET), [USAGE])
    assert books.savings.begun_again("coder", SONNET) == (50, 0)


def test_it_is_known_how_many_runs_went_on_after_each_of_their_calls(books: Books) -> None:
    """Each call of a question has a ticket of its own; a search is no call of a model."""
    for run, calls in ((11, 3), (12, 2), (13, 1)):
        for _ in range(calls):
            books.call(replace(order("researcher", "r", 1, SONNET), run=Run(run, "researcher", DAY, "r", 1)))
    assert [books.savings.gone_on("researcher", nth) for nth in (1, 2, 3, 4)] == [(3, 2), (2, 1), (1, 0), (0, 0)]
    books.db.rows("update calls set model = 'search/recorded' where id in (select min(id) from calls)")
    assert books.savings.gone_on("researcher", 1) == (3, 2)
    assert books.savings.gone_on("researcher", 3) == (0, 0)


# --- room for an answer --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("outputs", "longest"),
    [
        pytest.param([], 0, id="none"),
        pytest.param([300], 0, id="one short answer says nothing of a whole plan"),
        pytest.param([300] * 4, 0, id="nor do four"),
        pytest.param([300] * 4 + [5_000], 5_000, id="the longest of five"),
        pytest.param([300] * 4 + [4_000], 4_000, id="one that was cut is remembered by the room that it had"),
    ],
)
def test_the_longest_answer_is_told_once_enough_are_known(books: Books, outputs: list[int], longest: int) -> None:
    books.calls(order("planner", "", 0, SONNET), [TokenUsage(input=9_000, output=output) for output in outputs])
    books.calls(order("reviewer", "", 0, SONNET), [TokenUsage(input=9_000, output=99_000)])
    assert books.savings.longest("planner", SONNET) == longest
