from datetime import date, datetime

import pytest

from booking.recurrence import Rule

FIRST = datetime(2026, 1, 30, 9)


def days(rule, first=FIRST):
    return [(when.month, when.day) for when in rule.occurrences(first)]


def test_weekly():
    assert days(Rule("weekly", count=3)) == [(1, 30), (2, 6), (2, 13)]


def test_each_second_day_until():
    assert days(Rule("daily", every=2, until=date(2026, 2, 3))) == [(1, 30), (2, 1), (2, 3)]


def test_monthly_on_a_day_that_a_month_does_not_have():
    assert days(Rule("monthly", count=3)) == [(1, 30), (2, 28), (3, 30)]


def test_skipped_days_count():
    assert days(Rule("weekly", count=3, skip=(date(2026, 2, 6),))) == [(1, 30), (2, 13)]


def test_the_time_of_day_stays():
    assert {when.hour for when in Rule("daily", count=100).occurrences(FIRST)} == {9}


def test_too_many():
    with pytest.raises(ValueError, match="more than 366"):
        Rule("daily", until=date(2030, 1, 1)).occurrences(FIRST)


@pytest.mark.parametrize(
    "options", [{"frequency": "hourly", "count": 1}, {"frequency": "daily"}, {"frequency": "daily", "count": 1, "every": 0}]
)
def test_rules_that_make_no_sense(options):
    with pytest.raises(ValueError):
        Rule(**options)
