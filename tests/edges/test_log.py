"""Logs: JSON lines that only grow, without secrets."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from shared.domain.work import Run
from shared.edge.clock import ManualClock
from shared.edge.log import LONGEST, Log, read

RUN = Run(7, "coder", "2026-11-20", "t", 1)
CLOCK = ManualClock(datetime(2026, 11, 20, 8, tzinfo=UTC))


def test_each_agent_has_a_file_and_each_line_its_run(tmp_path: Path) -> None:
    log = Log(tmp_path, CLOCK, str)
    log(RUN, "started", files=["a.py"])
    assert list(read(tmp_path, "coder")) == [
        {
            "agent": "coder",
            "at": "2026-11-20T08:00:00.000+00:00",
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
