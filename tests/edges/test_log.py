"""Logs: JSON lines that only grow, without secrets."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sisimpur.shared.model.work import Run
from sisimpur.shared.system.clock import ManualClock
from sisimpur.shared.system.log import LEVELS, LONGEST, ORDER, Level, Line, Log, Tail, is_written, level_of, newest

pytestmark = pytest.mark.disk

RUN = Run(7, "coder", "2026-11-20", "t", 1)
CLOCK = ManualClock(datetime(2026, 11, 20, 8, tzinfo=UTC))


def read(folder: Path) -> list[Line]:
    tail = Tail(folder)
    found = list(tail.new())
    tail.close()
    return found


@pytest.fixture
def tail(tmp_path: Path) -> Iterator[Tail]:
    tail = Tail(tmp_path)
    yield tail
    tail.close()


def events(tail: Tail) -> list[str]:
    return [line["event"] for line in tail.new()]


def test_each_agent_has_a_file_and_each_line_its_run(tmp_path: Path) -> None:
    log = Log(tmp_path, CLOCK, str)
    log(RUN, "started", files=["a.py"])
    assert read(tmp_path) == [
        {
            "agent": "coder",
            "at": "2026-11-20T08:00:00.000+00:00",
            "level": "info",
            "run": 7,
            "event": "started",
            "task": "t",
            "attempt": 1,
            "files": ["a.py"],
        }
    ]


def test_every_line_passes_the_filter(tmp_path: Path) -> None:
    Log(tmp_path, CLOCK, lambda text: text.replace("sk-secret", "[removed]"))(RUN, "said", text="my sk-secret")
    assert "sk-secret" not in (tmp_path / "coder.jsonl").read_text()


def test_a_long_value_is_cut(tmp_path: Path) -> None:
    Log(tmp_path, CLOCK, str)(RUN, "said", text="x" * 100_000)
    assert (tmp_path / "coder.jsonl").stat().st_size < LONGEST + 1_000


def test_a_cut_last_line_is_passed_over(tmp_path: Path) -> None:
    log = Log(tmp_path, CLOCK, str)
    log(RUN, "one")
    with (tmp_path / "coder.jsonl").open("a") as file:
        file.write('{"at": "2026-')
    assert [line["event"] for line in read(tmp_path)] == ["one"]


def test_a_folder_that_cannot_be_written_stops_no_work(tmp_path: Path) -> None:
    log = Log(tmp_path / "absent", CLOCK, str)
    log(RUN, "started")
    assert log.failed == "logs cannot be written: No such file or directory"


@pytest.mark.parametrize("least", ORDER)
def test_what_is_less_than_the_owner_wants_is_not_written(tmp_path: Path, least: Level) -> None:
    log = Log(tmp_path, CLOCK, str, least)
    for event in ("begun", "engine", "broke off"):
        log(RUN, event)
    log.of("bugs")("bug", {})
    written = {line["event"]: line["level"] for line in read(tmp_path)}
    all_ = {"begun": "debug", "engine": "info", "broke off": "warning", "bug": "error"}
    assert written == {event: level for event, level in all_.items() if ORDER.index(level) >= ORDER.index(least)}


def test_every_event_has_a_level_that_there_is() -> None:
    assert {level_of(event) for event in (*LEVELS, "any other")} <= set(ORDER)
    assert all(is_written("bug", least) for least in ORDER)


# --- what is added while somebody looks ------------------------------------------------------------------------


def test_what_comes_is_read_once_also_from_a_new_file(tail: Tail, tmp_path: Path) -> None:
    log = Log(tmp_path, CLOCK, str)
    log(RUN, "one")
    assert events(tail) == ["one"]
    assert events(tail) == []
    log(RUN, "two")
    log.of("meter")("three", {})
    assert events(tail) == ["two", "three"]


def test_a_line_that_is_still_being_written_waits_until_it_is_whole(tail: Tail, tmp_path: Path) -> None:
    with (tmp_path / "coder.jsonl").open("w") as file:
        file.write('{"event": ')
        file.flush()
        assert events(tail) == []
        file.write('"whole"}\n')
    assert events(tail) == ["whole"]


def test_a_file_that_is_turned_over_loses_no_line(tail: Tail, tmp_path: Path) -> None:
    log, path = Log(tmp_path, CLOCK, str), tmp_path / "coder.jsonl"
    log(RUN, "one")
    assert events(tail) == ["one"]
    log(RUN, "unseen")
    path.rename(tmp_path / "coder.jsonl.1")
    log(RUN, "of the new file")
    assert events(tail) == ["unseen", "of the new file"]
    log(RUN, "last")
    path.unlink()
    assert events(tail) == ["last"]
    log(RUN, "again")
    assert events(tail) == ["again"]


def test_a_file_that_is_emptied_in_its_place_is_read_from_its_beginning(tail: Tail, tmp_path: Path) -> None:
    log, path = Log(tmp_path, CLOCK, str), tmp_path / "coder.jsonl"
    log(RUN, "a rather long line that is gone soon")
    assert len(events(tail)) == 1
    path.write_text("")
    log(RUN, "new")
    assert events(tail) == ["new"]


@pytest.mark.parametrize("text", ["[]", "7", "null", "{", "\x1b[2J", "[" * 100_000, '"text"'])
def test_what_is_no_line_of_ours_is_passed_over(tail: Tail, tmp_path: Path, text: str) -> None:
    (tmp_path / "coder.jsonl").write_text(f'{text}\n{{"event": "ours"}}\n')
    assert events(tail) == ["ours"]


def test_the_newest_are_those_with_the_latest_time_whatever_file_they_are_in() -> None:
    lines = [{"at": f"2026-11-20T0{at}:00+00:00", "event": at + name} for name in "ab" for at in ("1", "2", "3")]
    assert [line["event"] for line in newest(lines, 3)] == ["2b", "3a", "3b"]
    elsewhere = {"at": "2026-11-20T00:30-02:00", "event": "half past two, as others count"}
    assert newest([*lines, elsewhere], 3)[0] == elsewhere
    assert newest(lines, 0) == []
