"""What a task costs in git processes does not grow with the tasks that are in review beside it."""

from __future__ import annotations

from bench.looks import GOAL, day_of

FEW, MANY = 3, 6  # two can be no stack yet


def test_a_task_among_many_in_review_starts_no_more_gits_than_one_among_few() -> None:
    """All are approved together, so that each merge makes all others stale. The bench's own days, so seconds long."""
    few, many = (day_of(count, together=True).git for count in (FEW, MANY))
    assert many / MANY <= few / FEW
    assert many - few <= GOAL * (MANY - FEW)
