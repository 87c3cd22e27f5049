"""Balances."""

from datetime import date

from ledger import accounts
from ledger.journal import read

BOOK = read("""\
2026-02-01 Sale
    assets:bank          80.00
    income:sales
2026-01-05 Rent
    expenses:rent        50.00
    assets:bank
2026-01-31 Paper
    expenses:office:paper 5.00
    assets:bank
""")


def test_balances_are_sorted_by_account():
    assert accounts.balances(BOOK) == {
        "assets:bank": 2500,
        "expenses:office:paper": 500,
        "expenses:rent": 5000,
        "income:sales": -8000,
    }


def test_all_balances_together_are_zero():
    assert sum(accounts.balances(BOOK).values()) == 0


def test_a_branch_is_the_sum_of_what_is_below_it():
    assert accounts.branch(BOOK, "expenses") == 5500


def test_a_running_balance_goes_by_day():
    assert accounts.running(BOOK, "assets:bank") == [
        (date(2026, 1, 5), -5000),
        (date(2026, 1, 31), -5500),
        (date(2026, 2, 1), 2500),
    ]


def test_a_month_has_its_first_and_its_last_day():
    assert [entry.title for entry in accounts.in_month(BOOK, date(2026, 1, 15))] == ["Rent", "Paper"]
