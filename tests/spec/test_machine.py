"""The machine: what is over its limit for long enough, once, and what that keeps from being begun."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.agents.orchestrator.reports.report_notice import tight as notice
from sisimpur.shared.machine.pressure import FOR, MachineReading, Over, Part, Tight, forbids, over, tight
from sisimpur.shared.model.work import ResourceUse

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
MOST = 0.9


def reading(minutes: float, disk: float = 0.1, memory: float = 0.1, cpu: float | None = None) -> MachineReading:
    return MachineReading(NOON + timedelta(minutes=minutes), memory, disk, 0.1, 1.0, 2, cpu)


def told(readings: Sequence[MachineReading]) -> list[list[Part]]:
    """What is tight after each reading."""
    since: Over = {}
    found: list[list[Part]] = []
    for one in readings:
        since = over(since, one, MOST)
        found.append([part.part for part in tight(since, one)])
    return found


@pytest.mark.parametrize(
    ("readings", "after"),
    [
        pytest.param([reading(m, disk=0.95) for m in range(6)], [[]] * 5 + [["disk"]], id="after five minutes"),
        pytest.param([reading(m, disk=0.9) for m in range(9)], [[]] * 9, id="at the limit is not over it"),
        pytest.param(
            [reading(0, disk=0.95), reading(4), reading(5, disk=0.95), reading(9, disk=0.95)], [[]] * 4, id="a break"
        ),
        pytest.param(
            [reading(m, cpu=1.0, memory=0.99) for m in (0, 6)], [[], ["cpu", "memory"]], id="each part by itself"
        ),
        pytest.param([reading(0, cpu=None), reading(9, cpu=None)], [[], []], id="processors that nobody has read"),
        pytest.param(
            [reading(0, disk=1), reading(-600, disk=1), reading(-594, disk=1)],
            [[], [], ["disk"]],
            id="a clock set back",
        ),
    ],
)
def test_what_is_over_its_limit_for_five_minutes_is_tight(
    readings: Sequence[MachineReading], after: list[list[Part]]
) -> None:
    assert told(readings) == after


shares = st.floats(0, 1)


@given(st.lists(st.tuples(st.floats(0.1, 10), shares, shares), min_size=1, max_size=30))
def test_nothing_is_tight_that_was_under_its_limit_within_the_last_five_minutes(
    steps: list[tuple[float, float, float]],
) -> None:
    now, readings = 0.0, []
    for minutes, disk, memory in steps:
        now += minutes
        readings.append(reading(now, disk, memory))
    for at, parts in enumerate(told(readings)):
        lately = [one for one in readings[: at + 1] if readings[at].at - one.at < FOR]
        for part in parts:
            assert all(one.shares()[part] > MOST for one in lately)


@pytest.mark.parametrize(
    ("part", "holds"), [("cpu", False), ("memory", True), ("disk", True), ("inodes", True)], ids=str
)
def test_without_memory_or_disk_nothing_new_is_begun(part: Part, holds: bool) -> None:
    found = Tight(part, 0.934, NOON)
    assert bool(forbids([found])) is holds
    said = notice("2026-11-20", found)
    assert "93%" in said.text and "since 12:00" in said.text
    assert ("Nothing new is begun" in said.text) is holds


def test_a_part_is_told_once_a_day() -> None:
    keys = [notice(day, Tight("disk", share, NOON)).key for day in ("2026-11-20", "2026-11-21") for share in (0.91, 1)]
    assert keys[0] == keys[1] and len(set(keys)) == 2
    assert keys[0].partition(":")[2] != keys[2].partition(":")[2]  # what was said on another day is said again


uses = st.builds(ResourceUse, st.integers(0, 9).map(float), st.integers(0, 9), st.integers(0, 9))


@given(uses, uses, uses)
def test_what_boxes_take_adds_up_in_any_order(a: ResourceUse, b: ResourceUse, c: ResourceUse) -> None:
    assert a.then(b).then(c) == c.then(a.then(b))
    assert a.then(b).memory == max(a.memory, b.memory)
    assert a.or_more(a) == a
