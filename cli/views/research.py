"""`research`: what was looked up on the web, what came of it, what it cost, and where its note is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sisimpur.agents.orchestrator.research.research_note import note_path
from sisimpur.agents.orchestrator.research.researching import MOST_TRIES
from sisimpur.cli.terminal.arguments import Arguments
from sisimpur.cli.terminal.printing import on_screen, print_groups, print_json
from sisimpur.cli.terminal.text import plain
from sisimpur.cli.wiring.records import Records, open_records
from sisimpur.shared.model.research import Looked
from sisimpur.shared.money.token_budget import as_dollars, cents, dollars

LONGEST = 300  # characters of a recommendation


def research(arguments: Arguments) -> int:
    with open_records(arguments.home) as records:
        rows = [_row(records, looked) for looked in reversed(records.research.all())]
        ideas = _ideas(records)
    if arguments.json:
        return print_json(rows)
    print_groups("looked up", (list(_lines(row)) for row in rows))
    if not rows:
        print(f"nothing was looked up yet; {ideas}")
    return 0


def _ideas(records: Records) -> str:
    accepted = records.plans.accepted()
    if accepted and accepted.vision.ideas:
        return f"{len(accepted.vision.ideas)} of VISION.md's ideas wait for the next morning"
    return "write a question below `## Ideas (Research First)` in VISION.md"


def _row(records: Records, looked: Looked) -> dict[str, Any]:
    return {
        "id": looked.inquiry.id,
        "question": looked.inquiry.text,
        "asked": looked.asked_on,
        "answered": looked.answered_on,
        "tries": looked.tries,
        "problem": looked.problem,
        "recommendation": looked.findings.recommendation if looked.findings else "",
        "claims": len(looked.findings.claims) if looked.findings else 0,
        "cost": as_dollars(records.spending.spent_by(looked.inquiry.id).used),
        "tokens": records.spending.used_by([looked.inquiry.id])[looked.inquiry.id].tokens,
        "note": note_path(looked),
    }


def _lines(row: dict[str, Any]) -> Iterator[str]:
    yield plain(on_screen(row["question"], LONGEST))
    if row["answered"]:
        yield plain(f"{row['answered']}, ${cents(dollars(row['cost']))}: {on_screen(row['recommendation'], LONGEST)}")
        yield plain(row["note"])
    elif row["problem"]:
        again = "tried again on another day" if row["tries"] < MOST_TRIES else "not tried again; reword it to ask anew"
        yield plain(f"not looked up: {on_screen(row['problem'], LONGEST)} ({again})")
    else:
        yield "not looked up yet"
