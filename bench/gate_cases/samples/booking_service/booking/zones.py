"""Local time and UTC."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from booking.intervals import Interval

DEFAULT = "Europe/Berlin"
OPENS, CLOSES = time(8), time(22)


def to_utc(local, zone=DEFAULT):
    """A local time without a zone, as UTC. A time that was skipped by the clocks is an hour later."""
    if local.tzinfo is not None:
        return local.astimezone(UTC)
    return local.replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)


def to_local(moment, zone=DEFAULT):
    return moment.astimezone(ZoneInfo(zone))


def day_of(day: date, zone=DEFAULT) -> Interval:
    """From midnight to midnight, local time: 23 to 25 hours."""
    following = day + timedelta(days=1)
    return Interval(to_utc(datetime.combine(day, time()), zone), to_utc(datetime.combine(following, time()), zone))


def opening(day: date, zone=DEFAULT) -> Interval:
    return Interval(to_utc(datetime.combine(day, OPENS), zone), to_utc(datetime.combine(day, CLOSES), zone))


def is_open(interval, zone=DEFAULT):
    """Does the house open before it and close after it, on one day?"""
    hours = opening(to_local(interval.start, zone).date(), zone)
    return hours.start <= interval.start and interval.end <= hours.end
