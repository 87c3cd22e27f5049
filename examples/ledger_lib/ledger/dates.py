"""Months, due dates and working days."""

from calendar import monthrange
from datetime import date, timedelta

SATURDAY = 5


def month_of(day):
    """The first and the last day of its month."""
    return day.replace(day=1), day.replace(day=monthrange(day.year, day.month)[1])


def add_months(day, count):
    """The same day of a later month."""
    year, month = divmod(day.year * 12 + day.month - 1 + count, 12)
    return date(year, month + 1, day.day)


def is_working_day(day, holidays=()):
    """Monday to Friday, and no holiday."""
    return day.weekday() < SATURDAY and day not in holidays


def due(invoiced, days=30, holidays=()):
    """When an invoice must be paid: `days` later, moved on to a working day."""
    day = invoiced + timedelta(days=days)
    while not is_working_day(day, holidays):
        day += timedelta(days=1)
    return day


def days_late(due_on, today):
    """How many days too late it is today; 0 if it is in time."""
    return max(0, (today - due_on).days)
