import unittest
from datetime import UTC, date, datetime, timedelta

from booking.intervals import Interval, gaps, merge
from booking.zones import day_of, is_open, opening, to_local, to_utc


def at(hour, minute=0, day=2):
    return datetime(2026, 3, day, hour, minute, tzinfo=UTC)


def span(start, end):
    return Interval(at(start), at(end))


class IntervalTests(unittest.TestCase):
    def test_overlaps(self):
        self.assertTrue(span(9, 11).overlaps(span(10, 12)))
        self.assertTrue(span(9, 12).overlaps(span(10, 11)))
        self.assertFalse(span(9, 10).overlaps(span(10, 11)))

    def test_contains_its_begin_and_not_its_end(self):
        self.assertTrue(span(9, 10).contains(at(9)))
        self.assertFalse(span(9, 10).contains(at(10)))

    def test_intersection(self):
        self.assertEqual(span(9, 11).intersection(span(10, 12)), span(10, 11))
        self.assertIsNone(span(9, 10).intersection(span(10, 11)))

    def test_an_empty_interval_is_refused(self):
        with self.assertRaisesRegex(ValueError, "end after"):
            span(9, 9)

    def test_a_time_without_a_zone_is_refused(self):
        with self.assertRaisesRegex(ValueError, "time zone"):
            Interval(datetime(2026, 3, 2, 9), at(10))

    def test_merge(self):
        self.assertEqual(merge([span(11, 12), span(9, 10), span(10, 11)]), [span(9, 12)])
        self.assertEqual(merge([span(9, 12), span(10, 11), span(14, 15)]), [span(9, 12), span(14, 15)])

    def test_gaps(self):
        self.assertEqual(gaps(span(8, 22), []), [span(8, 22)])
        self.assertEqual(gaps(span(8, 12), [span(9, 10), span(7, 8)]), [span(8, 9), span(10, 12)])
        self.assertEqual(gaps(span(8, 12), [span(7, 13)]), [])


class ZoneTests(unittest.TestCase):
    def test_local_time_and_back(self):
        moment = to_utc(datetime(2026, 7, 1, 12))
        self.assertEqual(moment, datetime(2026, 7, 1, 10, tzinfo=UTC))
        self.assertEqual(to_local(moment).hour, 12)

    def test_days_are_longer_or_shorter_when_the_clocks_change(self):
        self.assertEqual(day_of(date(2026, 3, 29)).duration, timedelta(hours=23))
        self.assertEqual(day_of(date(2026, 10, 25)).duration, timedelta(hours=25))

    def test_open(self):
        hours = opening(date(2026, 3, 2))
        self.assertEqual(hours, Interval(at(7), at(21)))
        self.assertTrue(is_open(hours))
        self.assertFalse(is_open(Interval(at(20), at(22))))
        self.assertFalse(is_open(Interval(at(6), at(8))))
