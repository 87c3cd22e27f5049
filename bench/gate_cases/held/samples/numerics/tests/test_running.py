import pytest

from numerics import stats
from numerics.running import Running, moving_average

VALUES = [2, 4, 4, 4, 5, 5, 7, 9]


def running(values):
    found = Running()
    for value in values:
        found.add(value)
    return found


def test_it_agrees_with_the_whole_sample():
    found = running(VALUES)
    assert (found.mean, found.stdev) == (pytest.approx(stats.mean(VALUES)), pytest.approx(stats.stdev(VALUES)))


def test_nothing_has_no_mean():
    with pytest.raises(ValueError, match="no values"):
        Running().mean


def test_two_become_one():
    assert running(VALUES[:3]).merged(running(VALUES[3:])).mean == pytest.approx(5)


def test_moving_average():
    assert moving_average([1, 2, 3, 4], 2) == [1.5, 2.5, 3.5]
