"""Where the month is going, by plain arithmetic."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from sisimpur.cli.views.budget import Forecast, forecast

TODAY = "2026-11-20"  # ten days of November are left


@pytest.mark.parametrize(
    ("used", "expected"),
    [
        pytest.param({}, None, id="nothing is known yet"),
        pytest.param({TODAY: 0}, None, id="a day without work is no pace"),
        pytest.param({TODAY: 5}, Forecast(1, 5, 10, 55), id="today alone"),
        pytest.param({"2026-11-19": 10, TODAY: 4}, Forecast(1, 10, 10, 114), id="today is not over, so it is no pace"),
        pytest.param({"2026-11-01": 10, "2026-11-19": 20}, Forecast(2, 15, 10, 180), id="days without work between"),
        pytest.param(
            {"2026-10-31": 30, TODAY: 1}, Forecast(1, 30, 10, 301), id="the pace of last month, not its money"
        ),
        pytest.param(
            {"2026-11-01": 800} | {f"2026-11-{day:02}": 10 for day in range(2, 9)},
            Forecast(7, 10, 10, 970),
            id="only the last seven days make the pace",
        ),
    ],
)
def test_the_month_ends_at_what_was_spent_and_the_pace_of_the_days_left(
    used: Mapping[str, int], expected: Forecast | None
) -> None:
    assert forecast(TODAY, used) == expected


def test_on_the_last_day_of_a_month_nothing_is_left() -> None:
    found = forecast("2028-02-29", {"2028-02-29": 7})
    assert found == Forecast(1, 7, 0, 7)
