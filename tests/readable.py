"""Whether the record of a home can be read from its first line to its last, whatever was killed between two writes."""

from __future__ import annotations

import json
import re

from sisimpur.cli.wiring.records import Records
from sisimpur.shared.record.conversations import Conversations
from sisimpur.shared.record.metrics_reader import MetricDays

NO_RECORD = "there is no record of it, or none any more"  # its call was just being answered


def check_record(records: Records) -> None:
    """Each row follows, each head holds, each call is told or said to be missing, each day has its figures."""
    rows = records.audit.check().rows
    for report in records.home.reports.glob("*.md"):
        for head in re.findall(r"^- head `([0-9a-f]{64})`", report.read_text(), re.MULTILINE):
            records.audit.holds(head)
    tasks = [row["task"] for row in records.db.rows("select distinct task from calls")]
    said = [one for task in tasks for one in Conversations(records.home.talk, records.db).of(task)]
    assert {one.trouble for one in said} <= {"", NO_RECORD}
    kept = {row["day"]: json.loads(row["counts_json"]) for row in records.db.rows("select * from metric_days")}
    counted = MetricDays(records.db).days()
    assert {day for day, counts in kept.items() if not counts.keys() <= counted[day].keys()} == set()
    if records.settings.policy.events.file:
        check_events(records, rows)


def check_events(records: Records, rows: int) -> None:
    """Whole lines; each event is there, in order, also if some came twice."""
    lines = (records.home.root / records.settings.policy.events.file).read_text().splitlines()
    ids = list(dict.fromkeys(int(json.loads(line)["id"]) for line in lines))
    assert ids == [*range(1, len(ids) + 1)] and 0 < len(ids) <= rows
