"""The rules of the house: who may book what, when, and for how much."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from booking.errors import BookingError, Conflict, NotFound
from booking.intervals import Interval, gaps
from booking.pricing import Tariff, refund
from booking.store import dump_interval, load_interval
from booking.zones import is_open, opening, to_local, to_utc

SHORTEST, LONGEST = timedelta(minutes=15), timedelta(hours=12)


@dataclass(frozen=True)
class Room:
    name: str
    capacity: int


@dataclass(frozen=True)
class Booking:
    number: int
    room: str
    guest: str
    interval: Interval
    price: int
    series: int | None = None  # the number of the first booking of its series


def utc_now():
    return datetime.now(UTC)


class BookingService:
    def __init__(self, store, tariff=None, clock=utc_now):
        self.store = store
        self.tariff = tariff or Tariff()
        self.clock = clock

    # --- rooms

    def add_room(self, name, capacity):
        if not name.strip():
            raise BookingError("a room needs a name")
        if capacity < 1:
            raise BookingError("a room needs at least one seat")
        if name in self.store.rooms:
            raise BookingError(f"there is a room {name} already")
        self.store.rooms[name] = capacity
        self.store.commit()
        return Room(name, capacity)

    def rooms(self, seats=1):
        """Rooms with at least so many seats, the smallest first."""
        found = [Room(name, capacity) for name, capacity in self.store.rooms.items() if capacity >= seats]
        return sorted(found, key=lambda room: (room.capacity, room.name))

    # --- bookings

    def book(self, room, guest, interval, is_member=False):
        """Raises BookingError, which says why it cannot be."""
        self._check(room, interval)
        booking = self._keep(room, guest, interval, is_member)
        self.store.commit()
        return booking

    def book_series(self, room, guest, first, duration, rule, is_member=False):
        """Each time of the rule, or none at all. `first`: local time, without a zone."""
        zone = self.tariff.zone
        starts = [to_utc(when, zone) for when in rule.occurrences(first)]
        intervals = [Interval(start, start + duration) for start in starts]
        for interval in intervals:
            self._check(room, interval)
        booked, series = [], None
        for interval in intervals:
            booked.append(self._keep(room, guest, interval, is_member, series))
            series = series or booked[0].number
        self.store.commit()
        return booked

    def cancel(self, number):
        """Remove a booking; returns the cents that come back."""
        booking = self.get(number)
        now = self.clock()
        if booking.interval.start <= now:
            raise BookingError(f"booking {number} has begun already")
        del self.store.bookings[number]
        self.store.commit()
        return refund(booking.price, booking.interval.start, now)

    def cancel_series(self, number):
        """Remove what has not begun yet of the series that a booking belongs to; returns the cents that come back."""
        series = self.get(number).series or number
        now, total = self.clock(), 0
        for booking in self.bookings():
            if series in (booking.number, booking.series) and booking.interval.start > now:
                del self.store.bookings[booking.number]
                total += refund(booking.price, booking.interval.start, now)
        self.store.commit()
        return total

    def get(self, number):
        if number not in self.store.bookings:
            raise NotFound(f"there is no booking {number}")
        return self._booking(number)

    def bookings(self, room=None, within=None):
        """In the order of their begin; of one room, or those that overlap an interval."""
        found = (self._booking(number) for number in self.store.bookings)
        wanted = (
            booking
            for booking in found
            if (room is None or booking.room == room) and (within is None or booking.interval.overlaps(within))
        )
        return sorted(wanted, key=lambda booking: (booking.interval.start, booking.room, booking.number))

    def free(self, room, day):
        """The gaps between the bookings of a day, while the house is open."""
        self._room(room)
        hours = opening(day, self.tariff.zone)
        return gaps(hours, [booking.interval for booking in self.bookings(room, hours)])

    def revenue(self, within):
        """Cents of what begins in an interval."""
        return sum(booking.price for booking in self.bookings() if within.contains(booking.interval.start))

    # --- inside

    def _room(self, name):
        if name not in self.store.rooms:
            raise NotFound(f"there is no room {name}")
        return Room(name, self.store.rooms[name])

    def _check(self, room, interval):
        self._room(room)
        if interval.start <= self.clock():
            raise BookingError("a booking must begin in the future")
        if not SHORTEST <= interval.duration <= LONGEST:
            raise BookingError("a booking lasts from 15 minutes to 12 hours")
        if not is_open(interval, self.tariff.zone):
            local = to_local(interval.start, self.tariff.zone)
            raise BookingError(f"the house is closed then ({local:%Y-%m-%d %H:%M})")
        if taken := self.bookings(room, interval):
            raise Conflict(room, taken)

    def _keep(self, room, guest, interval, is_member, series=None):
        number = self.store.next_number()
        price = self.tariff.price(interval, is_member)
        booking = Booking(number, room, guest, interval, price, series)
        self.store.bookings[number] = {
            "room": room,
            "guest": guest,
            "interval": dump_interval(interval),
            "price": price,
            "series": series,
        }
        return booking

    def _booking(self, number):
        kept = self.store.bookings[number]
        interval = load_interval(kept["interval"])
        return Booking(number, kept["room"], kept["guest"], interval, kept["price"], kept.get("series"))
