import gzip
from datetime import datetime, timezone

from tidylog.reader import Record, read_file, records


def test_a_line_becomes_a_record():
    assert list(records(["2026-03-01T12:00:00Z INFO app.web: started\n"])) == [
        Record(datetime(2026, 3, 1, 12, tzinfo=timezone.utc), "INFO", "app.web", "started")
    ]


def test_what_follows_without_a_time_belongs_to_the_message(log):
    assert read_file(log)[2].message.splitlines()[1:] == ["Traceback (most recent call last):", "  TimeoutError"]


def test_lines_before_the_first_record_are_left_out():
    assert list(records(["junk\n"])) == []


def test_packed_files_are_unpacked(log, tmp_path):
    packed = tmp_path / "app.log.gz"
    packed.write_bytes(gzip.compress(log.read_bytes()))
    assert read_file(packed) == read_file(log)
