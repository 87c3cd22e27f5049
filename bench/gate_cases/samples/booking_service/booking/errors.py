"""What can go wrong. The message is for the person who books."""


class BookingError(Exception):
    """Cannot be booked as it was asked for."""


class Conflict(BookingError):
    """The room is taken. `bookings`: those that are in the way."""

    def __init__(self, room, bookings):
        numbers = ", ".join(str(booking.number) for booking in bookings)
        super().__init__(f"{room} is taken by booking {numbers}")
        self.bookings = bookings


class NotFound(BookingError):
    """There is no such room or booking."""
