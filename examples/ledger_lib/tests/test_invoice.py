"""Invoices."""

from datetime import date

import pytest

from ledger.invoice import Invoice, Line, next_number

DAY = date(2026, 1, 5)
LINES = (Line("Chair", 2, 4500), Line("Table", 1, 11000))


def invoice(**changes):
    return Invoice("2026-0001", "Ada", DAY, **{"lines": LINES, **changes})


def test_tax_is_added_to_the_net_price():
    assert (invoice().net, invoice().tax, invoice().total) == (20000, 3800, 23800)


def test_a_discount_comes_before_the_tax():
    assert invoice(discount=10).total == 21420


@pytest.mark.parametrize("discount", [-1, 101])
def test_a_discount_is_a_part_of_the_price(discount):
    with pytest.raises(ValueError, match="discount"):
        invoice(discount=discount)


def test_a_line_has_a_quantity():
    with pytest.raises(ValueError, match="Chair"):
        Line("Chair", 0, 4500)


def test_who_pays_in_time_pays_no_fee():
    assert invoice().to_pay(date(2026, 2, 4)) == 23800


def test_each_begun_week_costs_a_fee():
    assert [invoice().to_pay(date(2026, 2, day)) - 23800 for day in (5, 11, 12)] == [500, 500, 1000]


def test_numbers_go_on_within_a_year():
    numbers = ["2025-0107", "2026-0001", "2026-0009"]
    assert next_number(numbers, 2026) == "2026-0010"
    assert next_number(numbers, 2027) == "2027-0001"
