from datetime import datetime, timedelta, timezone

from tidylog import summary
from tidylog.reader import read_file


def test_levels_come_in_order_and_all_of_them(log):
    assert list(summary.by_level(read_file(log)).items()) == [("DEBUG", 1), ("INFO", 1), ("WARNING", 1), ("ERROR", 2)]
    assert summary.by_level([])["ERROR"] == 0


def test_hours(log):
    assert summary.by_hour(read_file(log)) == {"2026-03-01 11": 1, "2026-03-01 12": 2, "2026-03-01 13": 2}


def test_since_includes_its_start(log):
    assert len(summary.since(read_file(log), datetime(2026, 3, 1, 13, tzinfo=timezone.utc))) == 2


def test_messages_are_counted_by_their_first_line(log):
    assert summary.top_messages(read_file(log), 2) == [("no answer", 2), ("connected", 1)]


def test_the_span(log):
    assert summary.span(read_file(log)) == timedelta(hours=2, seconds=59)
    assert summary.span([]) is None
