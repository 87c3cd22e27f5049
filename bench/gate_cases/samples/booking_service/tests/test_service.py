import io
import tempfile
import unittest
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from booking import BookingError, BookingService, Conflict, Interval, JsonStore, NotFound, Rule
from booking.cli import main
from booking.zones import to_local


def span(start, end, day=2):
    """UTC, in winter an hour behind the house."""
    return Interval(datetime(2026, 3, day, start, tzinfo=UTC), datetime(2026, 3, day, end, tzinfo=UTC))


class HouseTestCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "rooms.json"
        self.now = datetime(2026, 2, 20, 12, tzinfo=UTC)
        self.service = self.open()
        self.service.add_room("attic", 8)

    def open(self):
        return BookingService(JsonStore(self.path), clock=lambda: self.now)


class RoomTests(HouseTestCase):
    def test_the_smallest_first(self):
        self.service.add_room("hall", 40)
        self.service.add_room("cellar", 6)
        self.assertEqual([room.name for room in self.service.rooms()], ["cellar", "attic", "hall"])
        self.assertEqual([room.name for room in self.service.rooms(seats=7)], ["attic", "hall"])

    def test_refused(self):
        for name, capacity in [("attic", 3), ("", 3), ("loft", 0)]:
            with self.assertRaises(BookingError):
                self.service.add_room(name, capacity)


class BookTests(HouseTestCase):
    def test_a_booking_is_kept(self):
        booking = self.service.book("attic", "ada", span(9, 11))
        self.assertEqual((booking.number, booking.price), (1, 4000))
        self.assertEqual(self.open().bookings(), [booking])

    def test_taken(self):
        self.service.book("attic", "ada", span(9, 11))
        with self.assertRaisesRegex(Conflict, "attic is taken by booking 1"):
            self.service.book("attic", "bob", span(10, 12))
        self.service.book("attic", "bob", span(11, 12))

    def test_another_room_is_not_taken(self):
        self.service.add_room("hall", 40)
        self.service.book("attic", "ada", span(9, 11))
        self.service.book("hall", "bob", span(9, 11))
        self.assertEqual(len(self.service.bookings()), 2)

    def test_too_late(self):
        self.now = datetime(2026, 3, 2, 9, tzinfo=UTC)
        with self.assertRaisesRegex(BookingError, "future"):
            self.service.book("attic", "ada", span(9, 11))

    def test_closed(self):
        with self.assertRaisesRegex(BookingError, "closed"):
            self.service.book("attic", "ada", span(20, 22))

    def test_too_short(self):
        start = datetime(2026, 3, 2, 9, tzinfo=UTC)
        with self.assertRaisesRegex(BookingError, "15 minutes"):
            self.service.book("attic", "ada", Interval(start, start + timedelta(minutes=14)))

    def test_no_such_room(self):
        with self.assertRaises(NotFound):
            self.service.book("moon", "ada", span(9, 11))

    def test_free(self):
        self.service.book("attic", "ada", span(9, 11))
        self.assertEqual(self.service.free("attic", date(2026, 3, 2)), [span(7, 9), span(11, 21)])

    def test_revenue(self):
        self.service.book("attic", "ada", span(9, 11))
        self.service.book("attic", "bob", span(9, 10, day=3))
        self.assertEqual(self.service.revenue(span(0, 23)), 4000)


class SeriesTests(HouseTestCase):
    def test_the_local_time_stays_when_the_clocks_change(self):
        first = datetime(2026, 3, 23, 9)
        booked = self.service.book_series("attic", "ada", first, timedelta(hours=1), Rule("weekly", count=2))
        self.assertEqual([to_local(one.interval.start).hour for one in booked], [9, 9])
        self.assertEqual([one.series for one in booked], [None, 1])

    def test_all_or_none(self):
        self.service.book("attic", "bob", span(8, 9, day=9))
        with self.assertRaises(Conflict):
            self.service.book_series("attic", "ada", datetime(2026, 3, 2, 9), timedelta(hours=1), Rule("weekly", count=2))
        self.assertEqual(len(self.service.bookings()), 1)

    def test_cancelled_as_a_whole(self):
        booked = self.service.book_series(
            "attic", "ada", datetime(2026, 3, 2, 9), timedelta(hours=1), Rule("weekly", count=3)
        )
        self.now = datetime(2026, 3, 3, tzinfo=UTC)
        self.assertEqual(self.service.cancel_series(booked[1].number), 4000)
        self.assertEqual(self.service.bookings(), booked[:1])


class CancelTests(HouseTestCase):
    def test_long_before(self):
        booking = self.service.book("attic", "ada", span(9, 11))
        self.assertEqual(self.service.cancel(booking.number), 4000)
        self.assertEqual(self.service.bookings(), [])

    def test_too_late(self):
        booking = self.service.book("attic", "ada", span(9, 11))
        self.now = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
        with self.assertRaisesRegex(BookingError, "begun"):
            self.service.cancel(booking.number)

    def test_numbers_are_not_given_twice(self):
        self.service.cancel(self.service.book("attic", "ada", span(9, 11)).number)
        self.assertEqual(self.open().book("attic", "ada", span(9, 11)).number, 2)


class CommandLineTests(HouseTestCase):
    def run_with(self, *argv):
        out = io.StringIO()
        code = main(["--store", str(self.path), *argv], out, lambda: self.now)
        return code, out.getvalue()

    def test_book_list_free_cancel(self):
        times = ("2026-03-02T09:00", "2026-03-02T11:00")
        self.assertEqual(self.run_with("book", "attic", "ada", *times), (0, "booking 1: 40.00\n"))
        line = "1\t2026-03-02 09:00-11:00\tattic\tada\t40.00\n"
        self.assertEqual(self.run_with("list", "--day", "2026-03-02"), (0, line))
        self.assertEqual(self.run_with("list", "--day", "2026-03-03"), (0, ""))
        free = "2026-03-02 08:00-09:00\n2026-03-02 11:00-22:00\n"
        self.assertEqual(self.run_with("free", "attic", "2026-03-02"), (0, free))
        self.assertEqual(self.run_with("cancel", "1"), (0, "cancelled, 40.00 comes back\n"))

    def test_problems_are_said(self):
        self.assertEqual(self.run_with("cancel", "7"), (1, "booking: there is no booking 7\n"))
        times = ("2026-03-02T11:00", "2026-03-02T09:00")
        code, said = self.run_with("book", "attic", "ada", *times)
        self.assertEqual((code, said), (1, "booking: an interval must end after it begins\n"))
