"""Keys and logs: what others could read, and what a terminal would show otherwise than it is.

Before, a `.env` that others can read was used by every command, and a log file held the letters that turn a
line round as they are.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sisimpur.cli.app import main
from sisimpur.shared.system.clock import ManualClock
from sisimpur.shared.system.log import Log
from sisimpur.shared.system.paths import Home
from tests.journey.stage import Stage


@pytest.mark.parametrize("command", [("run-day",), ("start",)], ids=" ".join)
def test_a_key_that_others_can_read_is_not_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    home = Stage(tmp_path, "http://127.0.0.1:9").set_up().home
    (home.config / ".env").chmod(0o644)
    assert main(["--home", str(home.root), *command]) == 1
    assert f"chmod 600 {home.config}/.env" in capsys.readouterr().err.replace("\n", " ")


def test_a_new_home_is_its_owners_alone(tmp_path: Path) -> None:
    Home(tmp_path / "home").make()
    assert (tmp_path / "home").stat().st_mode & 0o777 == 0o700


def test_a_log_file_shows_what_stands_in_it(tmp_path: Path) -> None:
    log = Log(tmp_path, ManualClock(datetime(2026, 11, 25, tzinfo=UTC)), lambda text: text)
    said = "a\u202eb\u200bc\u2066d\U000e0041e\x9b31m"
    log.of("part")("said", {"text": said})
    [line] = (tmp_path / "part.jsonl").read_text("utf-8").splitlines()
    assert not {*"\u202e\u200b\u2066\U000e0041\x9b"} & {*line}
    assert json.loads(line)["text"] == said
