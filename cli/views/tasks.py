"""`tasks`: what is to be done, what ended of late, and where it stands."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Any

from sisimpur.agents.orchestrator.board.snapshot import Snapshot
from sisimpur.agents.orchestrator.board.stuck import StuckTask, stuck_tasks
from sisimpur.agents.orchestrator.integration.feature_branches import own_target
from sisimpur.cli.terminal.arguments import Arguments
from sisimpur.cli.terminal.printing import command, on_screen, pasteable, plain, print_json, print_line, print_list
from sisimpur.cli.wiring.records import Records, open_records
from sisimpur.shared.model.lifecycle import Card, State
from sisimpur.shared.model.text import counted
from sisimpur.shared.store.ended_tasks import EndedTasks
from sisimpur.shared.store.gate_book import AwaitingOwner


def tasks(arguments: Arguments) -> int:
    """Print what is open, what waits for the owner, and what ended last. `--json` and `--all`: every task."""
    with open_records(arguments.home, looking=True) as records:
        every = arguments.json or arguments.all
        seen = records.snapshot(None if every else EndedTasks(records.db).of_late())
        rows = task_rows(seen, records)
    if arguments.json:
        return print_json(rows)
    if not rows:
        print("no tasks yet")
    for row in rows:
        print_line(f"{row['id']:<14} {row['state']:<12} {row['priority']:<9} {row['title']}", 38)
        if row["note"]:
            print_line(f"{'':<14} {on_screen(pasteable(row['note'], arguments.home))}", 15)
        if row["stuck"]:
            print(plain(f"{'':<14} since {row['stuck']['since']}; to go on, type one of:"))
            for typed in row["stuck"]["commands"]:
                print(plain(f"{'':<16} {typed}"))
    if more := sum(map(len, seen.board.closed.values())):
        print(f"… and {counted(more, 'task')} that ended before; all: {command(arguments.home, 'tasks', '--all')}")
    print_list("unreadable", seen.unreadable)
    return 0


def task_rows(seen: Snapshot, records: Records, only: AbstractSet[str] | None = None) -> list[dict[str, Any]]:
    """Return each task that is there, in the form of `--json`. `only`: of these ids."""
    stuck = {one.task: one for one in stuck_tasks(seen)}
    return [
        _row(card, seen, records) | {"stuck": stuck_row(stuck.get(card.id), records)}
        for card in seen.board.cards
        if card.state is not State.GONE and (only is None or card.id in only)
    ]


def _row(card: Card, seen: Snapshot, records: Records) -> dict[str, Any]:
    known = seen.known.get(card.id)
    parked = awaiting(card, records)
    waiting = seen.waits.get(card.id, "")
    waiting = f"waits for you: {'; '.join(parked.reasons)}" if parked else waiting
    return {
        "id": card.id,
        "state": card.state.value,
        "title": card.spec.title if card.spec else "",
        "priority": card.spec.priority.value if card.spec else "",
        "goal": card.spec.goal_id if card.spec else "",
        "branch": own_target(records.journal, known) if known else "",
        "attempts": sum(one.outcome != "void" for one in known.attempts) if known else 0,
        "note": waiting or (known.newest.note if known and known.newest else ""),
    }


def awaiting(card: Card, records: Records) -> AwaitingOwner | None:
    """Why it waits for the owner's answer; None: it does not."""
    parked = records.gates.parked(card.id) if card.state is State.IN_REVIEW else None
    return parked if parked and not records.gates.is_approved(parked) else None


def stuck_row(one: StuckTask | None, records: Records) -> dict[str, Any] | None:
    """What it is stuck on, since when, and what to type; None: it is not."""
    if one is None:
        return None
    commands = [command(records.home.root, *way.split()) for way in one.ways]
    return {"on": one.on, "why": one.why, "since": one.since, "behind": list(one.behind), "commands": commands}
