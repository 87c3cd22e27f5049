"""`audit`: who did what, from where; `audit verify`: whether a row was changed or is missing."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from sisimpur.cli.terminal.arguments import DONE, INTERRUPTED, Arguments
from sisimpur.cli.terminal.printing import plain, print_json
from sisimpur.cli.wiring.records import open_records
from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.model.text import counted
from sisimpur.shared.record.audit import AuditBook, AuditRow, moment_of

PAUSE = 0.5  # seconds between two looks
LONGEST_LINE = 300


def audit(arguments: Arguments) -> int:
    """Print rows, the oldest first. With `--json` each is a line of its own."""
    if arguments.verify not in ("", "verify"):
        raise Misconfigured(f"{arguments.verify} is no word of audit; type audit, or audit verify")
    if arguments.head and not arguments.verify:
        raise Misconfigured(f"a head is verified; type: audit verify --head {arguments.head}")
    with open_records(arguments.home, looking=True) as records:
        book = records.audit
        if arguments.verify:
            return _verify(book, arguments)
        since = moment_of(arguments.since, records.clock.now()) if arguments.since else None
        last = 0
        try:
            while True:
                for row in book.rows(since, arguments.kind, last):
                    last = row.seq
                    print(json.dumps(audit_facts(row)) if arguments.json else _in_words(row), flush=arguments.follow)
                if not arguments.follow:
                    if not (last or arguments.json):
                        print("nothing of what you asked for is written down yet")
                    return DONE
                records.clock.sleep(PAUSE)
        except KeyboardInterrupt:
            return INTERRUPTED


def _verify(book: AuditBook, arguments: Arguments) -> int:
    """The chain first: only in a whole one does a head that is there stand for all rows before it."""
    head = book.check()
    told = book.holds(arguments.head) if arguments.head else None
    if arguments.json:
        return print_json(asdict(head) | ({"holds": asdict(told)} if told else {}))
    print(f"{counted(head.rows, 'row')}, chain whole, head {head.hash[:12]}")
    if told:
        print(f"it still holds the head {told.hash[:12]}: row {told.rows}, and all before it, are as they were then")
    return DONE


def audit_facts(row: AuditRow) -> dict[str, Any]:
    """Return a row in the form of `--json`."""
    return asdict(row) | {"detail": json.loads(row.detail)}


def _in_words(row: AuditRow) -> str:
    detail = ", ".join(f"{name} {value}" for name, value in json.loads(row.detail).items() if value not in ("", None))
    commit = f" {row.commit_id[:8]}" if row.commit_id else ""
    who = f"{row.actor} ({row.via})" if row.via else row.actor
    return plain(f"{row.seq:>6}  {row.at[:19]}  {who:<20}  {row.kind:<8}  {row.subject}{commit}: {detail}")[
        :LONGEST_LINE
    ]
