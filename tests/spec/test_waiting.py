"""How long until another try."""

from __future__ import annotations

from datetime import timedelta

import pytest

from sisimpur.shared.model.schedule import back_off

MINUTE = timedelta(minutes=1)


@pytest.mark.parametrize(("failed", "minutes"), [(0, 1), (1, 2), (3, 8), (4, 15), (5_000, 15)])
def test_a_try_waits_twice_as_long_as_the_one_before_up_to_the_longest(failed: int, minutes: int) -> None:
    assert back_off(failed, MINUTE, 15 * MINUTE) == minutes * MINUTE
    assert back_off(failed, 1.0, 15.0) == minutes
