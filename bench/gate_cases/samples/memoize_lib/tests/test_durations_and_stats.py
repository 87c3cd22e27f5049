import io
import json

import pytest

from memoize import LRUCache, Stats, format_duration, load, parse_duration, save
from memoize.snapshot import main


@pytest.mark.parametrize(
    ("text", "seconds"), [("45s", 45), ("1h30m", 5400), ("250ms", 0.25), ("1.5h", 5400), (" 2 D ", 172800), (7, 7)]
)
def test_durations(text, seconds):
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "5", "5 parsecs", "1h-5m", "m", -1])
def test_no_durations(text):
    with pytest.raises(ValueError):
        parse_duration(text)


@pytest.mark.parametrize(("seconds", "text"), [(0, "0s"), (59, "59s"), (5400, "1h30m"), (90061, "1d1h1m1s")])
def test_a_duration_as_text(seconds, text):
    assert format_duration(seconds) == text


def test_stats_add_up():
    both = Stats(3, 1, 2, 0) + Stats(1, 1, 0, 5)
    assert both == Stats(4, 2, 2, 5)
    assert both.hit_ratio == pytest.approx(2 / 3)
    assert Stats().hit_ratio == 0


def test_a_snapshot_of_stats_stays():
    stats = Stats(1)
    copy = stats.snapshot()
    stats.reset()
    assert copy.hits == 1


def test_save_and_load(tmp_path):
    cache, other = LRUCache(), LRUCache()
    cache.set("a", [1, 2])
    cache.set((1, "b"), None)
    save(cache, tmp_path / "cache.json")
    assert load(other, tmp_path / "cache.json") == 2
    assert other.items() == cache.items()
    assert [path.name for path in tmp_path.iterdir()] == ["cache.json"]


def test_a_file_that_is_no_snapshot(tmp_path):
    path = tmp_path / "cache.json"
    path.write_text(json.dumps({"version": 2, "entries": []}))
    with pytest.raises(ValueError, match="not a snapshot"):
        load(LRUCache(), path)


def test_inspecting(tmp_path):
    cache, out = LRUCache(), io.StringIO()
    cache.set("a", "xyz")
    save(cache, tmp_path / "cache.json")
    assert main([str(tmp_path / "cache.json")], out) == 0
    assert out.getvalue() == "a\t5 bytes\n1 entries\n"


def test_inspecting_nothing(tmp_path):
    out = io.StringIO()
    assert main([str(tmp_path / "missing.json")], out) == 2
    assert out.getvalue().startswith("memoize-inspect: ")
