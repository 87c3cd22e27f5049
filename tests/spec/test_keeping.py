"""What a home keeps: nothing goes too early, and nothing grows for ever."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.shared.model.lifecycle import State
from sisimpur.shared.system.keeping import (
    FULL_LOG,
    HOLES,
    SCATTERED_OBJECTS,
    SCATTERED_PACKS,
    TRACES,
    has_holes,
    is_long_over,
    is_old_log,
    is_scattered,
    is_turned_over,
    old_talk,
    old_traces,
    packed_name,
)

TODAY, NOW = date(2026, 11, 20), datetime(2026, 11, 20, 23, tzinfo=UTC)
THIS_MONTH = '{"at": "2026-11-01T00:00:00.000+00:00", "event"'


@pytest.mark.parametrize(
    ("size", "beginning", "is_due"),
    [
        pytest.param(FULL_LOG - 1, THIS_MONTH, False, id="of this month, and not large"),
        pytest.param(FULL_LOG, THIS_MONTH, True, id="large"),
        pytest.param(1, THIS_MONTH.replace("-11-", "-10-"), True, id="begun in another month"),
        pytest.param(1, THIS_MONTH.replace("2026", "2025"), True, id="begun a year ago"),
        pytest.param(1, '{"event": "2025-01-01"}', False, id="of an unknown age"),
        pytest.param(FULL_LOG, "garbage", True, id="large garbage"),
        pytest.param(0, "", False, id="empty"),
    ],
)
def test_a_log_is_turned_over_when_it_is_large_or_of_another_month(size: int, beginning: str, is_due: bool) -> None:
    assert is_turned_over(size, beginning, TODAY) is is_due


@pytest.mark.parametrize(
    ("taken", "name"),
    [
        ((), "coder-2026-11-20.jsonl"),
        (("coder-2026-11-19.jsonl.gz", "qa-2026-11-20.jsonl"), "coder-2026-11-20.jsonl"),
        (("coder-2026-11-20.jsonl.gz",), "coder-2026-11-20.1.jsonl"),
        (("coder-2026-11-20.jsonl", "coder-2026-11-20.1.jsonl.gz"), "coder-2026-11-20.2.jsonl"),
    ],
)
def test_a_packed_log_takes_no_name_that_is_taken(taken: tuple[str, ...], name: str) -> None:
    assert packed_name("coder.jsonl", TODAY, taken) == name


@pytest.mark.parametrize(
    ("name", "is_old"),
    [
        ("coder-2026-08-22.jsonl.gz", False),
        ("coder-2026-08-21.jsonl.gz", True),
        ("coder-2026-08-21.3.jsonl.gz", True),
        ("coder-2026-02-31.jsonl.gz", False),
        ("coder-2020-01-01.jsonl", False),
        ("notes-2020-01-01.tar.gz", False),
    ],
)
def test_a_packed_log_goes_after_ninety_days_and_what_is_not_ours_never(name: str, is_old: bool) -> None:
    assert is_old_log(name, TODAY) is is_old


def test_traces_of_bugs_go_when_they_are_old_or_too_many() -> None:
    assert old_traces({}, NOW) == []
    young = {f"bug-{number:02}": NOW - timedelta(hours=number) for number in range(TRACES)}
    old = {"edge": NOW - timedelta(days=90), "old": NOW - timedelta(days=90, seconds=1)}
    assert old_traces(young, NOW) == []
    assert old_traces(old, NOW) == ["old"]
    assert old_traces(young | old, NOW) == ["edge", "old"]
    assert old_traces(young | {"new": NOW}, NOW) == [f"bug-{TRACES - 1}"]


def test_what_was_said_goes_by_days_and_then_by_size_the_oldest_first() -> None:
    sizes = {"2026-10-20": 1, "2026-10-21": 1, "2026-11-19": 5, "2026-11-20": 5, "notes": 99}
    assert old_talk(sizes, TODAY, 30, 11) == ["2026-10-20"]
    assert old_talk(sizes, TODAY, 31, 12) == []
    assert old_talk(sizes, TODAY, 30, 10) == ["2026-10-20", "2026-10-21"]
    assert old_talk(sizes, TODAY, 30, 9) == ["2026-10-20", "2026-10-21", "2026-11-19"]
    assert old_talk({}, TODAY, 30, 9) == []


@given(st.dictionaries(st.dates().map(str), st.integers(0, 100)), st.integers(0, 60), st.integers(0, 300))
def test_what_stays_of_what_was_said_fits_and_is_the_newest(sizes: dict[str, int], days: int, most: int) -> None:
    gone = old_talk(sizes, TODAY, days, most)
    stays = sorted(sizes.keys() - set(gone))
    assert [*gone, *stays] == sorted(sizes)
    assert sum(sizes[day] for day in stays) <= most


@pytest.mark.parametrize(
    ("size", "free", "is_worth_it"),
    [(4 * HOLES, HOLES, False), (4 * HOLES, HOLES + 1, True), (9 * HOLES, 2 * HOLES, False), (HOLES, HOLES, False)],
)
def test_a_database_is_written_anew_for_much_room_only(size: int, free: int, is_worth_it: bool) -> None:
    assert has_holes(size, free) is is_worth_it


@pytest.mark.parametrize("state", State)
def test_the_commits_of_a_task_go_two_months_after_it_is_done_or_gone(state: State) -> None:
    """One that failed may be tried again at any time: its branch at the forge is known by them."""
    is_done = state in (State.COMPLETED, State.GONE)
    assert is_long_over(state, NOW - timedelta(days=60, seconds=1), NOW) is is_done
    assert not is_long_over(state, NOW - timedelta(days=60), NOW)


def test_a_repository_is_packed_when_it_lies_in_many_pieces() -> None:
    assert [is_scattered(*pieces) for pieces in ((SCATTERED_PACKS - 1, SCATTERED_OBJECTS - 1), (0, 0))] == [False] * 2
    assert is_scattered(SCATTERED_PACKS, 0) and is_scattered(0, SCATTERED_OBJECTS)
