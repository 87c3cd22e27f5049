import json

from tidylog.output import as_json, as_table

ROWS = [("no answer", 2), ("slow", 10)]


def test_a_table_is_aligned():
    assert as_table(ROWS, ("message", "lines")).splitlines() == [
        "message    lines",
        "no answer  2",
        "slow       10",
    ]


def test_json():
    assert json.loads(as_json(ROWS, ("message", "lines")))[0] == {"message": "no answer", "lines": 2}
