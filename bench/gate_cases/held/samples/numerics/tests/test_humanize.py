import pytest

from numerics import humanize


@pytest.mark.parametrize(("count", "text"), [(0, "0 B"), (999, "999 B"), (1536, "1.5 kB"), (2_000_000, "2.0 MB")])
def test_sizes(count, text):
    assert humanize.size(count) == text


def test_ordinals():
    assert [humanize.ordinal(n) for n in (1, 2, 3, 4, 21)] == ["1st", "2nd", "3rd", "4th", "21st"]


@pytest.mark.parametrize(("seconds", "text"), [(0, "0 s"), (90, "1 min 30 s"), (3600, "1 h")])
def test_durations(seconds, text):
    assert humanize.duration(seconds) == text
