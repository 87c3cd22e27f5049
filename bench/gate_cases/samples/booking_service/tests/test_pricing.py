from datetime import UTC, datetime, timedelta

import pytest

from booking.intervals import Interval
from booking.pricing import Tariff, refund, show

NOW = datetime(2026, 3, 2, 8, tzinfo=UTC)


def span(day, start, end):
    """UTC, in winter an hour behind the house."""
    return Interval(datetime(2026, 3, day, start, tzinfo=UTC), datetime(2026, 3, day, end, tzinfo=UTC))


def test_by_day():
    assert Tariff().price(span(2, 9, 11)) == 4000


def test_in_the_evening():
    assert Tariff().price(span(2, 16, 18)) == 2000 + 3000


def test_at_the_weekend():
    assert Tariff().price(span(7, 9, 10)) == 3000


def test_part_of_an_hour():
    start = datetime(2026, 3, 2, 9, tzinfo=UTC)
    assert Tariff().price(Interval(start, start + timedelta(minutes=90))) == 3000


def test_members_pay_less():
    assert Tariff().price(span(2, 9, 10), is_member=True) == 1800


@pytest.mark.parametrize(("hours", "back"), [(72, 1001), (48, 1001), (47, 500), (24, 500), (23, 0)])
def test_what_comes_back(hours, back):
    assert refund(1001, NOW + timedelta(hours=hours), NOW) == back


def test_amounts_are_shown():
    assert (show(1250), show(5), show(-205)) == ("12.50", "0.05", "-2.05")
