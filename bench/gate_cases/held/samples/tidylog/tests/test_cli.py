import json
from datetime import datetime, timezone

import pytest

from tidylog.cli import main

NOW = datetime(2026, 3, 1, 14, tzinfo=timezone.utc)


def test_summary(log, capsys):
    assert main(["summary", str(log)], NOW) == 0
    assert capsys.readouterr().out.splitlines() == [
        "level    lines",
        "DEBUG    1",
        "INFO     1",
        "WARNING  1",
        "ERROR    2",
        "span: 2h59s",
    ]


def test_hours_since(log, capsys):
    assert main(["hours", str(log), "--since", "1h"], NOW) == 0
    assert capsys.readouterr().out.splitlines()[1:] == ["2026-03-01 13  2"]


def test_errors_are_told_by_the_exit_code(log, capsys):
    assert main(["errors", str(log), "--format", "json"], NOW) == 1
    assert json.loads(capsys.readouterr().out) == [{"message": "no answer", "lines": 2}]


@pytest.mark.parametrize("argv", [["summary", "none.log"], ["summary", "LOG", "--since", "soon"]])
def test_wrong_use_is_told(log, capsys, argv):
    assert main([str(log) if word == "LOG" else word for word in argv], NOW) == 2
    assert capsys.readouterr().err.startswith("tidylog: ")


def test_an_unknown_command_is_refused(capsys):
    with pytest.raises(SystemExit) as raised:
        main(["tidy", "x"])
    assert raised.value.code == 2
