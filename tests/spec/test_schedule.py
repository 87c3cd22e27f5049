"""When phases are due: once a day, in order, never before their time, whatever is done to the clock and to us."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.shared.model.schedule import (
    WORK,
    Due,
    Outlook,
    Ran,
    Schedule,
    Slot,
    Standing,
    clock_is_behind,
    outlook,
)

DAY, YESTERDAY = "2026-11-20", "2026-11-19"
BERLIN, NEW_YORK = ZoneInfo("Europe/Berlin"), ZoneInfo("America/New_York")
SLOTS = (Slot("morning", time(7)), Slot("planning", time(7, 45)), Slot(WORK, time(8)), Slot("wrap_up", time(23)))
USUAL = Schedule(SLOTS, timedelta(hours=16))
RESEARCH = Slot("research", time(7, 15))
FIVE = Schedule((SLOTS[0], RESEARCH, *SLOTS[1:]), timedelta(hours=16))

Rows = Mapping[str, Standing]


def at(text: str, day: str = DAY, zone: ZoneInfo = BERLIN) -> datetime:
    return datetime.fromisoformat(f"{day}T{text}").replace(tzinfo=zone)


def seen(text: str, today: Rows, yesterday: Rows | None = None, schedule: Schedule = USUAL) -> Outlook:
    return outlook(schedule, at(text), {DAY: today, YESTERDAY: yesterday or {}}.get)  # type: ignore[arg-type]


def names(found: Outlook) -> tuple[str, list[str], bool]:
    return found.due.name if found.due else "", [phase.name for phase in found.missed], found.working


@pytest.mark.parametrize(
    ("text", "today", "due", "missed", "working"),
    [
        pytest.param("06:59", {}, "", [], False, id="nothing before its time"),
        pytest.param("07:00", {}, "morning", [], False, id="the morning, to the minute"),
        pytest.param("07:30", {"morning": "begun"}, "morning", [], False, id="what a kill cut off is resumed"),
        pytest.param("07:50", {"morning": "begun"}, "morning", [], False, id="and the next one waits for it"),
        pytest.param("07:30", {"morning": "ended"}, "", [], False, id="once a day"),
        pytest.param("07:45", {"morning": "ended"}, "planning", [], False, id="the next in its turn"),
        pytest.param("07:45", {"morning": "failed"}, "planning", [], False, id="a failed one holds up nothing"),
        pytest.param("07:59", {"morning": "ended", "planning": "ended"}, "", [], False, id="no work before its time"),
        pytest.param("08:00", {"morning": "ended", "planning": "ended"}, "", [], True, id="work, to the minute"),
        pytest.param("08:00", {"morning": "ended", "planning": "begun"}, "planning", [], False, id="not while planned"),
        pytest.param("08:00", {"morning": "ended", "planning": "failed"}, "", [], True, id="without a plan: the rest"),
        pytest.param("15:00", {}, "morning", [], False, id="a first start in the afternoon begins with the morning"),
        pytest.param("15:00", {"morning": "ended"}, "planning", [], False, id="then plans"),
        pytest.param("22:59", {"morning": "ended", "planning": "ended"}, "", [], True, id="works to the end"),
        pytest.param("22:59", {}, "morning", [], False, id="in the last minute still"),
        pytest.param("23:00", {"morning": "ended", "planning": "ended"}, "wrap_up", [], False, id="sums up"),
        pytest.param("23:00", {}, "wrap_up", ["morning", "planning"], False, id="late in the evening it only sums up"),
        pytest.param("23:10", {"morning": "ended"}, "wrap_up", ["planning"], False, id="half a day was missed"),
        pytest.param("23:10", {"morning": "ended", "planning": "begun"}, "wrap_up", [], False, id="too late to resume"),
        pytest.param("23:10", {"morning": "ended", "planning": "failed"}, "wrap_up", [], False, id="not missed"),
        pytest.param("23:30", {"wrap_up": "ended"}, "", ["morning", "planning"], False, id="the evening comes once"),
        pytest.param("23:30", {"morning": "ended", "planning": "ended", "wrap_up": "begun"}, "wrap_up", [], False,
                     id="the evening is resumed"),
        pytest.param("15:00", {"planning": "ended"}, "", ["morning"], True, id="never after a later one"),
        pytest.param("15:00", {"morning": "begun", "planning": "ended"}, "morning", [], False, id="but resumed"),
        pytest.param("15:00", {"morning": "ended", "planning": "ended", "work": "begun", "morning report": "ended"},
                     "", [], True, id="other rows mean nothing"),
    ],
)  # fmt: skip
def test_a_day_in_its_order(text: str, today: Rows, due: str, missed: list[str], working: bool) -> None:
    assert names(seen(text, today)) == (due, missed, working)


@pytest.mark.parametrize(
    ("text", "yesterday", "due", "missed"),
    [
        pytest.param("00:10", {"morning": "ended"}, "wrap_up", [], id="after midnight"),
        pytest.param("06:59", {"planning": "failed"}, "wrap_up", [], id="until the morning"),
        pytest.param("07:00", {"morning": "ended"}, "morning", ["wrap_up"], id="then the new day counts"),
        pytest.param("07:00", {"morning": "ended", "wrap_up": "begun"}, "morning", [], id="cut off for good"),
        pytest.param("00:10", {"morning": "ended", "wrap_up": "begun"}, "wrap_up", [], id="resumed after midnight"),
        pytest.param("00:10", {"morning": "ended", "wrap_up": "ended"}, "", [], id="done"),
        pytest.param("00:10", {"morning": "ended", "wrap_up": "failed"}, "", [], id="failed"),
        pytest.param("00:10", {}, "", [], id="nobody was there yesterday"),
    ],
)
def test_yesterdays_evening_is_caught_up_until_the_morning(
    text: str, yesterday: Rows, due: str, missed: list[str]
) -> None:
    found = seen(text, {}, yesterday)
    assert names(found) == (due, missed, False)
    days = {phase.name: phase.day for phase in (*found.missed, *([found.due] if found.due else []))}
    assert days.get("wrap_up", YESTERDAY) == YESTERDAY
    assert days.get("morning", DAY) == DAY


def test_what_is_due_says_how_late_it_is() -> None:
    assert seen("09:30", {}).due == Due(DAY, "morning", timedelta(hours=2, minutes=30))
    assert seen("00:30", {}, {"morning": "ended"}).due == Due(YESTERDAY, "wrap_up", timedelta(hours=1, minutes=30))


def test_what_is_too_late_is_missed_and_does_not_keep_from_work() -> None:
    strict = Schedule(SLOTS, timedelta(hours=1))
    assert names(seen("07:59", {}, schedule=strict)) == ("morning", [], False)
    assert names(seen("08:00", {}, schedule=strict)) == ("planning", ["morning"], False)
    assert names(seen("08:45", {}, schedule=strict)) == ("", ["morning", "planning"], True)
    assert names(seen("08:45", {"morning": "begun"}, schedule=strict)) == ("morning", ["planning"], False)
    assert names(seen("00:01", {}, {"morning": "ended"}, strict)) == ("", ["wrap_up"], False)
    both_days = seen("09:00", {}, {"morning": "ended"}, strict)
    assert names(both_days) == ("", ["wrap_up", "morning", "planning"], True)
    assert [phase.day for phase in both_days.missed] == [YESTERDAY, DAY, DAY]
    assert names(seen("00:01", {}, {"wrap_up": "begun"}, strict)) == ("wrap_up", [], False)


def test_a_phase_more_is_one_more_in_the_row() -> None:
    assert names(seen("07:50", {"morning": "ended"}, schedule=FIVE)) == ("research", [], False)
    assert names(seen("07:50", {"morning": "ended", "research": "failed"}, schedule=FIVE)) == ("planning", [], False)
    assert names(seen("08:30", {"morning": "ended", "planning": "ended"}, schedule=FIVE)) == ("", ["research"], True)
    beside = Schedule((*SLOTS[:3], Slot("tidy", time(12)), SLOTS[3]), timedelta(hours=16))
    ready: Rows = {"morning": "ended", "planning": "ended"}
    assert names(seen("12:00", ready, schedule=beside)) == ("tidy", [], True)
    assert names(seen("12:30", {**ready, "tidy": "begun"}, schedule=beside)) == ("tidy", [], True)


@pytest.mark.parametrize(
    ("text", "name", "then"),
    [
        pytest.param("00:10", "morning", "2026-11-20T07:00+01:00", id="night"),
        pytest.param("07:00", "planning", "2026-11-20T07:45+01:00", id="after the morning"),
        pytest.param("12:00", "wrap_up", "2026-11-20T23:00+01:00", id="while we work"),
        pytest.param("23:00", "morning", "2026-11-21T07:00+01:00", id="tomorrow"),
    ],
)
def test_the_next_time_is_told(text: str, name: str, then: str) -> None:
    found = seen(text, {"morning": "ended"})
    assert (found.next_name, found.next_at) == (name, datetime.fromisoformat(then))


@pytest.mark.parametrize(
    ("now", "newest", "behind"),
    [
        pytest.param("2026-11-20", "", False, id="a first start"),
        pytest.param("2026-11-20", "2026-11-20", False, id="today"),
        pytest.param("2026-11-20", "2026-11-21", False, id="a journey over the date line"),
        pytest.param("2026-11-20", "2026-11-22", True, id="two days"),
        pytest.param("2026-11-20", "2027-11-20", True, id="a year"),
        pytest.param("2026-11-20", "2026-10-01", False, id="a long holiday"),
    ],
)
def test_a_clock_behind_the_last_day_is_noticed(now: str, newest: str, behind: bool) -> None:
    assert clock_is_behind(at("23:59", now), newest) is behind


def test_a_record_says_where_its_phase_stands() -> None:
    begun = at("07:00")
    assert Ran(begun, None).standing == "begun"
    assert Ran(begun, None, "no answer").standing == "failed"
    assert Ran(begun, begun, "no answer").standing == "ended"


# --- over days: a team that obeys the outlook


@dataclass
class Team:
    """Asks for the outlook and does as it says, until nothing is due."""

    schedule: Schedule = USUAL
    rows: dict[str, dict[str, Standing]] = field(default_factory=dict)
    begun: list[tuple[str, str]] = field(default_factory=list)
    missed: list[tuple[str, str]] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def tick(self, now: datetime, end: Standing = "ended") -> None:
        if clock_is_behind(now, max(self.rows, default="")):
            return
        while True:
            found = outlook(self.schedule, now, lambda day: self.rows.get(day, {}))
            for phase in found.missed:
                assert phase.name not in self.of(phase.day)
                self.of(phase.day)[phase.name] = "ended"
                self.missed.append((phase.day, phase.name))
            if found.due is None:
                self._check_work(found, now)
                return
            if self._run(found.due, now, end) == "begun":
                return

    def of(self, day: str) -> dict[str, Standing]:
        return self.rows.setdefault(day, {})

    def _run(self, phase: Due, now: datetime, end: Standing) -> Standing:
        rows, slots = self.of(phase.day), [slot for slot in self.schedule.slots if slot.name != WORK]
        number = [slot.name for slot in slots].index(phase.name)
        assert phase.late >= timedelta(0) and now.replace(tzinfo=None) - phase.late == datetime.combine(
            datetime.fromisoformat(phase.day), slots[number].at
        )
        assert rows.get(phase.name) in (None, "begun")
        if phase.name not in rows:
            self.begun.append((phase.day, phase.name))
            self.said.append(f"{now:%m-%d %H:%M} {phase.name}")
            assert not {slot.name for slot in slots[number + 1 :]} & set(rows), "a later one was begun before"
            assert number == len(slots) - 1 or all(rows.get(s.name) in ("ended", "failed") for s in slots[:number])
        rows[phase.name] = end
        return end

    def _check_work(self, found: Outlook, now: datetime) -> None:
        slots, rows = self.schedule.slots, self.rows.get(f"{now:%Y-%m-%d}", {})
        before = slots[: [slot.name for slot in slots].index(WORK)]
        is_behind_us = all(rows.get(slot.name) in ("ended", "failed") for slot in before)
        assert found.working == (time(8) <= now.time() < time(23) and is_behind_us)


def through(team: Team, since: datetime, hours: float, step: timedelta = timedelta(minutes=10)) -> None:
    """Time as it really goes by, looked at every few minutes; shown by the owner's clock."""
    start, count = since.astimezone(UTC), int(timedelta(hours=hours) / step)
    for number in range(count):
        team.tick((start + number * step).astimezone(since.tzinfo))


def test_a_week_has_its_phases_once_a_day_and_to_the_minute() -> None:
    team = Team()
    through(team, at("00:00", "2026-11-16"), 7 * 24, timedelta(minutes=5))
    times = ("07:00 morning", "07:45 planning", "23:00 wrap_up")
    assert team.said == [f"11-{day} {what}" for day in range(16, 23) for what in times]
    assert team.missed == []


SPRING_BERLIN, AUTUMN_BERLIN = "2027-03-28", "2026-10-25"
SPRING_NEW_YORK, AUTUMN_NEW_YORK = "2027-03-14", "2026-11-01"
NIGHTLY = Schedule(
    (Slot("early", time(1, 30)), Slot("night", time(2, 30)), *SLOTS[1:]), timedelta(hours=16)
)  # what config/ refuses


@pytest.mark.parametrize(
    ("zone", "day", "nightly"),
    [
        pytest.param(BERLIN, SPRING_BERLIN, ("01:30", "03:00"), id="Berlin, spring"),
        pytest.param(BERLIN, AUTUMN_BERLIN, ("01:30", "02:30"), id="Berlin, autumn"),
        pytest.param(NEW_YORK, SPRING_NEW_YORK, ("01:30", "03:00"), id="New York, spring"),
        pytest.param(NEW_YORK, AUTUMN_NEW_YORK, ("01:30", "02:30"), id="New York, autumn"),
    ],
)
def test_summer_time_repeats_nothing_and_skips_nothing(zone: ZoneInfo, day: str, nightly: tuple[str, str]) -> None:
    midnight = at("00:00", day, zone)
    usual, strange = Team(), Team(NIGHTLY)
    for team in (usual, strange):
        through(team, midnight - timedelta(days=1), 72.5, timedelta(minutes=15))
    today = [line[6:] for line in usual.said if line.startswith(day[5:])]
    assert today == ["07:00 morning", "07:45 planning", "23:00 wrap_up"]
    assert [line[6:11] for line in strange.said if line.startswith(day[5:])][:2] == list(nightly)
    assert len(set(strange.begun)) == len(strange.begun) == 3 * 4
    assert usual.missed == strange.missed == []


@pytest.mark.parametrize("hour", range(24))
def test_a_start_at_any_hour_loses_and_repeats_nothing(hour: int) -> None:
    team = Team()
    through(team, at(f"{hour:02}:00"), 48, timedelta(minutes=15))
    of_the_day = [name for day, name in team.begun if day == DAY]
    assert of_the_day == (["wrap_up"] if hour == 23 else ["morning", "planning", "wrap_up"])
    assert [name for day, name in team.missed if day == DAY] == (["morning", "planning"] if hour == 23 else [])
    assert [name for day, name in team.begun if day == "2026-11-21"] == ["morning", "planning", "wrap_up"]


@pytest.mark.parametrize(
    "back", [timedelta(hours=1), timedelta(days=1), timedelta(days=365)], ids=["an hour", "a day", "a year"]
)
@pytest.mark.parametrize("when", ["07:10", "12:00", "23:10", "00:10"])
def test_a_clock_set_back_begins_nothing_again(back: timedelta, when: str) -> None:
    team = Team()
    through(team, at("00:00", "2026-11-16"), 4 * 24)
    through(team, at("00:00"), 24 if when == "00:10" else float(when[:2]) + 0.5)
    before = list(team.begun)
    through(team, at(when) + timedelta(days=when == "00:10") - back, 1.0)
    assert team.begun == before


def test_a_clock_set_ahead_by_a_week_and_back_begins_nothing_until_it_was_right_again() -> None:
    team = Team()
    through(team, at("00:00"), 10)
    team.tick(at("10:00", "2026-11-27"))
    before = list(team.begun)
    through(team, at("10:00"), 24)
    assert team.begun == before
    assert before[-2:] == [("2026-11-27", "morning"), ("2026-11-27", "planning")]


minutes = st.integers(0, 3_000)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("on"), minutes),
        st.tuples(st.just("back"), minutes),
        st.tuples(st.just("killed"), minutes),
        st.tuples(st.just("failed"), minutes),
    ),
    max_size=40,
)


@given(steps, st.sampled_from([USUAL, FIVE, Schedule(SLOTS, timedelta(hours=1))]), st.sampled_from([BERLIN, NEW_YORK]))
def test_whatever_is_done_to_the_clock_a_phase_is_begun_once_in_order_and_never_before_its_time(
    course: list[tuple[str, int]], schedule: Schedule, zone: ZoneInfo
) -> None:
    """The checks stand in Team: begun once, in order, in time; after a kill the phase stays begun."""
    team, now = Team(schedule), at("05:00", "2026-10-24", zone).astimezone(UTC)
    ends: dict[str, Standing] = {"killed": "begun", "failed": "failed"}
    for what, amount in course:
        now += timedelta(minutes=-amount if what == "back" else amount)
        team.tick(now.astimezone(zone), ends.get(what, "ended"))
        assert not set(team.begun) & set(team.missed)
        assert len(set(team.begun)) == len(team.begun)
