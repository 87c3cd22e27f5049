"""Bookings of rooms."""

from booking.errors import BookingError, Conflict, NotFound
from booking.intervals import Interval
from booking.pricing import Tariff
from booking.recurrence import Rule
from booking.service import Booking, BookingService, Room
from booking.store import JsonStore

__all__ = [
    "Booking",
    "BookingError",
    "BookingService",
    "Conflict",
    "Interval",
    "JsonStore",
    "NotFound",
    "Room",
    "Rule",
    "Tariff",
]
