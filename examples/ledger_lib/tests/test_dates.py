"""Months, due dates, working days."""

from datetime import date

from ledger import dates


def test_a_month_has_a_first_and_a_last_day():
    assert dates.month_of(date(2024, 2, 10)) == (date(2024, 2, 1), date(2024, 2, 29))


def test_months_are_added_across_the_year():
    assert dates.add_months(date(2025, 11, 15), 3) == date(2026, 2, 15)


def test_weekends_and_holidays_are_no_working_days():
    holidays = {date(2026, 1, 1)}
    days = [date(2026, 1, day) for day in (1, 2, 3, 4, 5)]
    assert [dates.is_working_day(day, holidays) for day in days] == [False, True, False, False, True]


def test_an_invoice_is_due_thirty_days_later():
    assert dates.due(date(2026, 1, 5)) == date(2026, 2, 4)


def test_what_is_due_at_the_weekend_is_due_on_monday():
    assert dates.due(date(2026, 1, 1)) == date(2026, 2, 2)


def test_nothing_is_late_before_it_is_due():
    assert dates.days_late(date(2026, 2, 2), date(2026, 1, 20)) == 0
