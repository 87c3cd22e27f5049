import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from numerics import stats


def test_mean_and_variance():
    assert stats.mean([1, 2, 3, 4]) == 2.5
    assert stats.variance([1, 2, 3, 4]) == pytest.approx(5 / 3)
    assert stats.variance([1, 2, 3, 4], ddof=0) == 1.25


def test_nothing_has_no_mean():
    with pytest.raises(ValueError, match="mean of nothing"):
        stats.mean([])


def test_stdev_is_the_root_of_the_variance():
    assert stats.stdev([2, 4, 4, 4, 5, 5, 7, 9], ddof=0) == 2.0


@pytest.mark.parametrize(("q", "expected"), [(0, 1), (0.25, 1.75), (0.5, 2.5), (1, 4)])
def test_quantiles_lie_on_the_line_between_neighbours(q, expected):
    assert stats.quantile([4, 1, 3, 2], q) == pytest.approx(expected)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30))
def test_the_median_lies_within(values):
    assert min(values) <= stats.median(values) <= max(values)


def test_a_histogram_counts_every_value_once():
    counts = stats.histogram([1, 2, 2, 3, 5], 4)
    assert counts == [1, 2, 1, 1]


def test_correlation():
    assert stats.correlation([1, 2, 3], [2, 4, 6]) == pytest.approx(1)
    assert stats.correlation([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)
    with pytest.raises(ValueError, match="vary"):
        stats.correlation([1, 1], [1, 2])


def test_modes_come_in_order():
    assert stats.modes([3, 1, 3, 2, 1]) == [3, 1]
    assert stats.modes([]) == []


def test_the_mean_of_small_parts_is_exact():
    assert math.isclose(stats.mean([0.1] * 10), 0.1, rel_tol=0, abs_tol=0)
