"""`trace NAME`: what was done for a goal, as a tree, from its line in VISION.md to where its changes run."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from sisimpur.cli.terminal.arguments import Arguments
from sisimpur.cli.terminal.printing import on_screen, print_json, short
from sisimpur.cli.views.daemon_state import in_zone
from sisimpur.cli.wiring.records import Records, open_records
from sisimpur.shared.model.text import counted
from sisimpur.shared.money.token_budget import as_dollars
from sisimpur.shared.record.trace import TraceCost, TraceNode, tree
from sisimpur.shared.record.trace_reader import TraceReader

LONGEST_TEXT = 140  # on the screen
COMMITS = ("commit", "merge", "tests", "review", "ruling")  # their names are shown by the first digits
ASKED = "=>"


def trace(arguments: Arguments) -> int:
    with open_records(arguments.home, looking=True) as records:
        root = traced(records, arguments.id, arguments.number)
    if arguments.json:
        return print_json(trace_facts(root))
    for line in drawn(root):
        print(line)
    return 0


def traced(records: Records, name: str, number: int | None = None) -> TraceNode:
    """Return the goal of what is called so, with all that was done for it. Misconfigured: nothing is, or several."""
    reader = TraceReader(records.db)
    anchor = reader.find(name, number)
    return _in_zone(tree(*reader.read(anchor), anchor), records)


def _in_zone(node: TraceNode, records: Records) -> TraceNode:
    at = in_zone(datetime.fromisoformat(node.at), records) if len(node.at) > len("2026-11-20") else node.at
    return TraceNode(**{**vars(node), "at": at, "parts": tuple(_in_zone(part, records) for part in node.parts)})


def trace_facts(node: TraceNode) -> dict[str, Any]:
    """Return it in the form of `--json`."""
    cost = vars(node.cost) | {"amount": as_dollars(node.cost.amount)}
    return {**vars(node), "cost": cost, "parts": [trace_facts(part) for part in node.parts]}


def drawn(node: TraceNode, before: str = "", branch: str = "") -> Iterator[str]:
    """Draw a node and what belongs to it, a line each; what was asked for stands at an arrow."""
    mark = ASKED if node.is_asked else ""
    yield f"{mark:<3}{node.at[:16].replace('T', ' '):<16}  {before}{branch}{_line(node)}".rstrip()
    inside = before + {"": "", "├─ ": "│  ", "└─ ": "   "}[branch]
    for number, part in enumerate(node.parts, 1):
        yield from drawn(part, inside, "└─ " if number == len(node.parts) else "├─ ")


def _line(node: TraceNode) -> str:
    name = node.name[:8] if node.kind in COMMITS else node.name
    said = ": ".join(filter(None, (on_screen(node.outcome), on_screen(node.text, LONGEST_TEXT))))
    return "  ".join(filter(None, (f"{node.kind} {on_screen(name)}", said, _money(node.cost))))


def _money(cost: TraceCost) -> str:
    tokens = f"{cost.tokens_in + cost.tokens_out:,} tokens"
    return f"({counted(cost.calls, 'call')}, {tokens}, ${short(cost.amount)})" if cost.calls else ""
