"""Where goals stand: each once, the owner's word first, no week with more than it has room for, more room no later."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, timedelta
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.agents.orchestrator.roadmap.roadmap import (
    DONE,
    ENOUGH,
    FARTHEST,
    FREE,
    GUESSED_MINUTES,
    LATER,
    SLOWEST,
    WEEK,
    GoalPin,
    Need,
    Pace,
    Roadmap,
    Room,
    applied,
    lay_out,
    next_goals,
    pace,
)
from sisimpur.agents.orchestrator.roadmap.weeks import monday_of
from sisimpur.shared.model.work import Priority

TODAY = "2026-11-20"  # a Friday
MONDAY = date(2026, 11, 16)
FIVE = Pace(Fraction(5), 10, 6, 14)
ONE = replace(FIVE, tasks=Fraction(1))
ROOM = Room(tasks=5, cap=100, minutes=600, guess=10)


def need(id_: str, size: int = 1, priority: Priority = Priority.MEDIUM, **more: object) -> Need:
    return replace(Need(id_, f"Title of {id_}", priority, to_come=size), **more)  # type: ignore[arg-type]


def weeks(roadmap: Roadmap) -> dict[str, list[str]]:
    """Monday -> ids; what is not planned for now stands below `later`."""
    found = {week.monday.isoformat(): [entry.need.id for entry in week.entries] for week in roadmap.weeks}
    return {name: ids for name, ids in {**found, LATER: [entry.need.id for entry in roadmap.later]}.items() if ids}


def monday(number: int) -> str:
    """Of the week that is so many weeks away."""
    return (MONDAY + number * WEEK).isoformat()


# --- the pace ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("merged", "room", "tasks"),
    [
        pytest.param([], ROOM, 5, id="nothing is known: by the guess there is money for ten"),
        pytest.param([(50, 6.0)] * 3, ROOM, 2, id="money for two of them"),
        pytest.param([(50, 6.0)] * 2, ROOM, 5, id="two say nothing yet"),
        pytest.param([(1, 200.0)] * 3, ROOM, 3, id="time for three"),
        pytest.param([(0, 0.0)] * 3, ROOM, 5, id="what costs nothing and takes no time is bounded by the plan alone"),
        pytest.param([(40, 6.0)] * 3, ROOM, Fraction(5, 2), id="five in two days"),
        pytest.param([(10**6, 6.0)] * 3, ROOM, SLOWEST, id="one a week at the least"),
        pytest.param([], replace(ROOM, tasks=0), SLOWEST, id="also where nothing may be planned"),
    ],
)
def test_the_pace_is_the_least_that_plan_money_and_time_allow(
    merged: Sequence[tuple[int, float]], room: Room, tasks: Fraction | int
) -> None:
    assert pace(merged, room).tasks == tasks


def test_the_pace_tells_what_it_rests_on() -> None:
    assert pace([(10, 4.0), (20, 6.0), (30, 5.0)], ROOM) == Pace(Fraction(5), 20, 5, ENOUGH)
    assert pace([(10, 4.0)], ROOM) == Pace(Fraction(5), ROOM.guess, GUESSED_MINUTES, 0)


# --- by examples ---------------------------------------------------------------------------------------------


def test_the_most_urgent_comes_first_and_what_does_not_fit_comes_in_the_next_week() -> None:
    low, high = need("low", 2, Priority.LOW), need("high", 2, Priority.HIGH)
    assert weeks(lay_out([low, high], [], ONE, TODAY)) == {monday(0): ["high"], monday(1): ["low"]}


def test_a_week_that_is_filled_to_the_last_task_is_enough() -> None:
    assert weeks(lay_out([need("a", 1), need("b", 2), need("c", 7)], [], ONE, TODAY)) == {
        monday(0): ["a", "b"],
        monday(1): ["c"],
    }


def test_of_the_same_priority_what_stands_first_in_the_vision_is_first() -> None:
    assert weeks(lay_out([need("b"), need("a")], [], FIVE, TODAY)) == {monday(0): ["b", "a"]}


def test_what_strangers_wish_comes_after_all_that_the_owner_wants() -> None:
    theirs = need("theirs", 1, Priority.CRITICAL, proposed=True)
    assert weeks(lay_out([theirs, need("his", 1, Priority.LOW)], [], FIVE, TODAY)) == {monday(0): ["his", "theirs"]}


def test_a_goal_that_is_larger_than_a_week_stands_where_it_ends_and_the_weeks_before_are_full() -> None:
    roadmap = lay_out([need("a", 15)], [], ONE, TODAY)
    assert [(week.load, week.room, len(week.entries)) for week in roadmap.weeks] == [(3, 3, 0), (7, 7, 0), (5, 7, 1)]
    assert weeks(roadmap) == {monday(2): ["a"]}


def test_the_present_week_has_only_the_room_of_its_days_that_are_left() -> None:
    assert [week.room for week in lay_out([need("a", 9)], [], ONE, "2026-11-22").weeks] == [1, 7, 7]


def test_what_the_owner_put_somewhere_stands_there_and_takes_room_from_the_others() -> None:
    pins = [GoalPin("big", monday(0))]
    roadmap = lay_out([need("a", 1, Priority.CRITICAL), need("big", 5, Priority.LOW)], pins, ONE, TODAY)
    assert weeks(roadmap) == {monday(0): ["big"], monday(1): ["a"]}
    assert [(week.load, week.room) for week in roadmap.weeks] == [(5, 3), (1, 7)]
    assert [entry.yours for entry in roadmap.entries] == [True, False]


def test_what_a_week_has_too_much_of_takes_from_the_next_ones() -> None:
    roadmap = lay_out([need("big", 10), need("a", 1)], [GoalPin("big", monday(0))], ONE, TODAY)
    assert weeks(roadmap) == {monday(0): ["big"], monday(2): ["a"]}


@pytest.mark.parametrize(
    ("ranks", "expected"),
    [
        pytest.param({"c": 0}, ["c", "a", "b"], id="to the front"),
        pytest.param({"a": 2}, ["b", "c", "a"], id="to the end"),
        pytest.param({"a": 1}, ["b", "a", "c"], id="between"),
        pytest.param({"a": 9}, ["b", "c", "a"], id="there are fewer now"),
        pytest.param({"c": 0, "b": 1}, ["c", "b", "a"], id="two of them"),
    ],
)
def test_the_owners_order_in_a_week_is_kept(ranks: dict[str, int], expected: list[str]) -> None:
    pins = [GoalPin(id_, monday(0), rank) for id_, rank in ranks.items()]
    assert weeks(lay_out(map(need, "abc"), pins, FIVE, TODAY)) == {monday(0): expected}


@pytest.mark.parametrize("place", [monday(1), LATER])
def test_what_the_owner_has_put_there_stands_in_his_order(place: str) -> None:
    pins = [GoalPin("a", place, 2), GoalPin("b", place, 0), GoalPin("c", place, 1)]
    assert weeks(lay_out(map(need, "abc"), pins, FIVE, TODAY)) == {place: ["b", "c", "a"]}


def test_what_was_pinned_to_a_week_that_is_over_comes_now() -> None:
    pins = [GoalPin("a", monday(-3)), GoalPin("b", monday(1))]
    assert weeks(lay_out(map(need, "ab"), pins, FIVE, TODAY)) == {monday(0): ["a"], monday(1): ["b"]}


def test_nothing_is_put_farther_than_ten_years_ahead() -> None:
    roadmap = lay_out([need("a")], [GoalPin("a", "9999-12-27")], FIVE, TODAY)
    assert weeks(roadmap) == {(MONDAY + FARTHEST).isoformat(): ["a"]}


def test_what_has_nothing_left_to_do_is_not_planned_unless_the_owner_says_when() -> None:
    assert weeks(lay_out([need("a", 0)], [], FIVE, TODAY)) == {LATER: ["a"]}
    assert weeks(lay_out([need("a", 0)], [GoalPin("a", monday(1))], FIVE, TODAY)) == {monday(1): ["a"]}


def test_what_is_done_stands_in_its_week_first_and_for_eight_weeks() -> None:
    days = {"new": "2026-11-18", "old": "2026-09-28", "gone": monday(-8)}
    done = [need(id_, 9, done_on=day) for id_, day in days.items()]
    roadmap = lay_out([need("a"), *done], [GoalPin("new", monday(3))], FIVE, TODAY)
    assert weeks(roadmap) == {monday(-7): ["old"], monday(0): ["new", "a"]}
    assert [week.done for week in roadmap.weeks] == [1, 1]


def test_what_was_done_in_times_to_come_was_done_now() -> None:
    assert weeks(lay_out([need("a", done_on="2027-01-01")], [], FIVE, TODAY)) == {monday(0): ["a"]}


@pytest.mark.parametrize(
    ("needs", "pins", "end"),
    [
        pytest.param([], [], None, id="nothing is wanted"),
        pytest.param([need("a", done_on=TODAY)], [], None, id="all is done"),
        pytest.param([need("a")], [GoalPin("a", LATER)], None, id="nothing is planned"),
        pytest.param([need("a")], [], "2026-11-22", id="this week"),
        pytest.param([need("a", 4)], [], "2026-11-29", id="the next one"),
    ],
)
def test_the_roadmap_says_when_all_is_done(needs: list[Need], pins: list[GoalPin], end: str | None) -> None:
    found = lay_out(needs, pins, ONE, TODAY).ends
    assert (found.isoformat() if found else None) == end


def test_a_new_word_replaces_the_old_one_and_free_takes_it_back() -> None:
    pins = {"a": GoalPin("a", monday(1)), "b": GoalPin("b", LATER)}
    now = applied(pins, [GoalPin("b", DONE), GoalPin("a", FREE), GoalPin("c", monday(2), 1)])
    assert now == {"b": GoalPin("b", DONE), "c": GoalPin("c", monday(2), 1)}


# --- laws ----------------------------------------------------------------------------------------------------

IDS = "abcdefgh"
DAYS = st.dates(date(2026, 1, 1), date(2027, 12, 31)).map(date.isoformat)
PACES = st.fractions(SLOWEST, 9, max_denominator=30).map(lambda tasks: replace(FIVE, tasks=tasks))
NEEDS = st.lists(
    st.builds(
        need,
        st.sampled_from(IDS),
        st.integers(0, 30),
        st.sampled_from(Priority),
        open=st.integers(0, 4),
        proposed=st.booleans(),
        done_on=st.one_of(st.just(""), st.just(""), DAYS),
    ),
    unique_by=lambda one: one.id,
)
PLACES = st.one_of(st.just(LATER), DAYS.map(lambda day: monday_of(day).isoformat()))
PINS = st.lists(st.builds(GoalPin, st.sampled_from(IDS), PLACES, st.integers(0, 9)), unique_by=lambda pin: pin.goal)
Case = Callable[[list[Need], list[GoalPin], Pace, str], None]


@given(NEEDS, PINS, PACES, DAYS)
def test_every_open_goal_stands_exactly_once(needs: list[Need], pins: list[GoalPin], pace: Pace, today: str) -> None:
    roadmap = lay_out(needs, pins, pace, today)
    stands = [entry.need for entry in roadmap.entries if not entry.is_done]
    assert sorted(stands, key=lambda one: one.id) == sorted((n for n in needs if not n.done_on), key=lambda one: one.id)
    assert lay_out(needs, pins[::-1], pace, today) == roadmap or len({(p.place, p.rank) for p in pins}) < len(pins)


@given(NEEDS, PINS, PACES, DAYS)
def test_a_pin_is_kept_to_the_week(needs: list[Need], pins: list[GoalPin], pace: Pace, today: str) -> None:
    roadmap, own = lay_out(needs, pins, pace, today), {pin.goal: pin.place for pin in pins}
    for week in roadmap.weeks:
        for entry in week.entries:
            place = own.get(entry.need.id)
            assert entry.yours == (place is not None and not entry.is_done)
            if entry.yours:
                assert place != LATER and week.monday == max(monday_of(str(place)), monday_of(today))
    assert all(own.get(entry.need.id) == LATER or not (entry.yours or entry.need.size) for entry in roadmap.later)


@given(NEEDS, PINS, PACES, DAYS)
def test_no_week_holds_more_than_it_has_room_for_but_for_what_the_owner_put_there(
    needs: list[Need], pins: list[GoalPin], pace: Pace, today: str
) -> None:
    roadmap = lay_out(needs, pins, pace, today)
    for week in roadmap.weeks:
        assert week.load <= max(week.room, sum(entry.need.size for entry in week.entries if entry.yours))
    planned = [entry.need for week in roadmap.weeks for entry in week.entries if not entry.is_done]
    assert sum(week.load for week in roadmap.weeks) == sum(one.size for one in planned)


@given(NEEDS, PACES, DAYS)
def test_up_to_each_week_nothing_ends_that_there_was_no_room_for(needs: list[Need], pace: Pace, today: str) -> None:
    ended = 0
    for week in lay_out(needs, [], pace, today).weeks:
        ended += sum(entry.need.size for entry in week.entries if not entry.is_done)
        days = (week.sunday - date.fromisoformat(today)).days + 1
        assert ended <= max(0, pace.room(days))


@given(NEEDS, PINS, PACES, PACES, DAYS)
def test_more_room_makes_no_goal_later(
    needs: list[Need], pins: list[GoalPin], one: Pace, other: Pace, today: str
) -> None:
    slow, fast = sorted((one, other), key=lambda pace: pace.tasks)
    at = [{e.need.id: w.monday for w in lay_out(needs, pins, p, today).weeks for e in w.entries} for p in (slow, fast)]
    assert at[0].keys() == at[1].keys() and all(at[1][id_] <= at[0][id_] for id_ in at[0])


@given(NEEDS, NEEDS, PINS, PACES, DAYS)
def test_what_is_done_takes_no_room(
    needs: list[Need], more: list[Need], pins: list[GoalPin], p: Pace, today: str
) -> None:
    done = [replace(one, id=f"{one.id}2", done_on=today) for one in more]
    before, after = lay_out(needs, pins, p, today), lay_out([*needs, *done], pins, p, today)
    assert next_goals(before, today) == next_goals(after, today)
    assert {w.monday: w.load for w in before.weeks if w.load} == {w.monday: w.load for w in after.weeks if w.load}


@given(NEEDS, PINS, PACES, DAYS)
def test_of_goals_that_we_place_none_stands_after_a_less_urgent_one(
    needs: list[Need], pins: list[GoalPin], pace: Pace, today: str
) -> None:
    roadmap = lay_out(needs, pins, pace, today)
    ours = [e.need for w in roadmap.weeks for e in w.entries if not (e.yours or e.is_done)]
    assert ours == sorted(ours, key=lambda one: (one.proposed, one.priority.rank))


@given(NEEDS, PINS, PACES, DAYS)
def test_the_next_goals_are_those_that_nobody_has_put_off(
    needs: list[Need], pins: list[GoalPin], pace: Pace, today: str
) -> None:
    roadmap = lay_out(needs, pins, pace, today)
    own, end = {pin.goal: pin.place for pin in pins}, monday_of(today) + WEEK - timedelta(days=1)
    put_off = {id_ for id_, place in own.items() if place == LATER or place > end.isoformat()}
    idle = {one.id for one in needs if one.done_on or not (one.size or one.id in own)}
    found = next_goals(roadmap, today)
    assert set(found) == {one.id for one in needs} - put_off - idle and len(found) == len(set(found))
    stands = [entry.need.id for entry in roadmap.entries]
    assert [id_ for id_ in stands if id_ in found] == list(found)


def week_of(roadmap: Roadmap) -> dict[str, str]:
    """Of each open goal that has one."""
    found = {id_: place for place, ids in weeks(roadmap).items() for id_ in ids if place != LATER}
    return {
        entry.need.id: found[entry.need.id] for week in roadmap.weeks for entry in week.entries if not entry.is_done
    }


@given(NEEDS, PINS, PACES, st.integers(0, 30))
def test_what_is_over_today_leaves_less_room_and_makes_nothing_earlier(
    needs: list[Need], pins: list[GoalPin], pace: Pace, used: int
) -> None:
    fresh, late = (week_of(lay_out(needs, pins, pace, TODAY, one)) for one in (0, used))
    assert fresh.keys() == late.keys()
    assert all(fresh[goal] <= late[goal] for goal in fresh)


def test_on_the_evening_of_a_sunday_the_week_has_no_room() -> None:
    """The day's two tasks are over."""
    sunday, two = "2026-11-22", replace(FIVE, tasks=Fraction(2))
    goals = [need("g-a"), need("g-b")]
    assert weeks(lay_out(goals, [], two, sunday)) == {monday(0): ["g-a", "g-b"]}
    assert weeks(lay_out(goals, [], two, sunday, used=2)) == {monday(1): ["g-a", "g-b"]}
