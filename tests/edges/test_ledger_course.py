"""When a day's money was spent."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from sisimpur.shared.money.ledger import Ledger
from sisimpur.shared.money.ticket import CallEnding, Spending
from tests.books import new_book
from tests.edges.test_ledger import NOON, opened, refusal, taken

DAY = "2026-11-20"


def test_each_amount_stands_at_its_minute_and_all_together_are_what_the_cap_has_lost(tmp_path: Path) -> None:
    ledger = Ledger(new_book(tmp_path / "agents.db"))
    ticket = opened(ledger)
    ledger.settle(taken(ledger, ticket, 500), 300, CallEnding(), NOON)
    ledger.lost(taken(ledger, ticket, 100, now=NOON + timedelta(minutes=61)), 100, None, CallEnding(), NOON)
    taken(ledger, ticket, 50, now=NOON + timedelta(hours=3))
    refusal(ledger, ticket, 10**9)
    assert ledger.reader.course(DAY) == (Spending(720, 300), Spending(781, 100), Spending(900, 50))
    assert sum(one.amount for one in ledger.reader.course(DAY)) == ledger.reader.totals(DAY, 0).used
    assert ledger.reader.course("2026-11-19") == ()


def test_a_clock_set_back_books_at_the_beginning_of_the_newer_day(tmp_path: Path) -> None:
    ledger = Ledger(new_book(tmp_path / "agents.db"))
    ticket = opened(ledger)
    taken(ledger, ticket, 10)
    taken(ledger, ticket, 20, now=NOON - timedelta(days=1))
    assert ledger.reader.course(DAY) == (Spending(0, 20), Spending(720, 10))
